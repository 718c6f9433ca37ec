// libFuzzer's entry point; compiled once per target with QRT_FUZZ_TARGET naming the function.
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  qrt::fuzz::QRT_FUZZ_TARGET(data, size);
  return 0;
}
