// SPDX-License-Identifier: Apache-2.0
// Writes the models of tests/support/every_op_model.h, frame_model.h, part_models.h and sized_model.h to the
// files named by the arguments, for tests that are not C++ or not of this build.
#include <cstdio>

#include "tests/support/every_op_model.h"
#include "tests/support/frame_model.h"
#include "tests/support/part_models.h"
#include "tests/support/sized_model.h"

namespace {

bool write(const qrt::testing::ModelBuilder& model, const char* path) {
  const std::vector<uint8_t> bytes = model.build();
  FILE* file = fopen(path, "wb");
  const bool ok = file != nullptr && fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
  return file != nullptr && fclose(file) == 0 && ok;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 7) return 2;
  return write(qrt::testing::every_op_model(), argv[1]) &&
                 write(qrt::testing::frame_model(), argv[2]) &&
                 write(qrt::testing::int16_model(), argv[3]) &&
                 write(qrt::testing::dynamic_layer_model(), argv[4]) &&
                 write(qrt::testing::SizedModel(8, 7, true).builder(), argv[5]) &&
                 write(qrt::testing::sized_counter(3), argv[6])
             ? 0
             : 1;
}
