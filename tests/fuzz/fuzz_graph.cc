// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/compare.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/generator.h"

namespace qrt::fuzz {

void fuzz_graph(const uint8_t* data, size_t size) {
  const std::vector<uint8_t> file = Generator(data, size).run();
  Status status;
  const ModelPtr model = load(file.data(), file.size(), &status);
  if (model != nullptr) compare_runs(model, size);
}

}  // namespace qrt::fuzz
