// SPDX-License-Identifier: Apache-2.0
// Makes the cost of an input a fuzzer's feedback: libFuzzer keeps inputs that reach a counter that
// none reached, and each power of two of processor time and of peak memory per byte has one.
#ifndef QRT_TESTS_FUZZ_COST_H_
#define QRT_TESTS_FUZZ_COST_H_

#include <cstddef>
#include <cstdint>

namespace qrt::fuzz {

class CostWatch {
 public:
  // Makes a watch; null where the environment's QRT_FUZZ_COST is not 1.
  static CostWatch* make();

  void begin();
  // Sets the counters for an input of this size; ends the process where it took more than a second of
  // processor time or 256 MB.
  void end(size_t size);

 private:
  uint64_t nanoseconds_ = 0, bytes_ = 0;
};

}  // namespace qrt::fuzz

#endif  // QRT_TESTS_FUZZ_COST_H_
