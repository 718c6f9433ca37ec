// SPDX-License-Identifier: Apache-2.0
// libFuzzer's mutator of the formats in mutate.h, of whose functions QRT_MUTATE is one.
#include <algorithm>

#include "tests/fuzz/mutate.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned int seed);

size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned int seed) {
  if (seed % 8 == 0) return LLVMFuzzerMutate(data, size, max_size);
  const std::vector<uint8_t> file = qrt::fuzz::QRT_MUTATE({data, data + size}, seed);
  if (file.empty() || file.size() > max_size) return LLVMFuzzerMutate(data, size, max_size);
  std::copy(file.begin(), file.end(), data);
  return file.size();
}
