// Writes the model of tests/support/every_op_model.h to the file named by the argument, for tests
// that are not C++ or not of this build.
#include <cstdio>

#include "tests/support/every_op_model.h"

int main(int, char** argv) {
  const std::vector<uint8_t> bytes = qrt::testing::every_op_model().build();
  FILE* file = fopen(argv[1], "wb");
  const bool ok = file != nullptr && fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
  return file != nullptr && fclose(file) == 0 && ok ? 0 : 1;
}
