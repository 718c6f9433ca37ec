// SPDX-License-Identifier: Apache-2.0
// libFuzzer's entry point; compiled once per target with QRT_FUZZ_TARGET naming the function.
#include "tests/fuzz/cost.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static qrt::fuzz::CostWatch* const watch = qrt::fuzz::CostWatch::make();
  if (watch != nullptr) watch->begin();
  qrt::fuzz::QRT_FUZZ_TARGET(data, size);
  if (watch != nullptr) watch->end(size);
  return 0;
}
