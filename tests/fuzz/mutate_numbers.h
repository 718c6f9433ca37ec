// SPDX-License-Identifier: Apache-2.0
// Chances, and numbers that are likely to matter in the place of another one.
#ifndef QRT_TESTS_FUZZ_MUTATE_NUMBERS_H_
#define QRT_TESTS_FUZZ_MUTATE_NUMBERS_H_

#include <cstddef>
#include <cstdint>
#include <random>

namespace qrt::fuzz {

class NumberMutator {
 public:
  explicit NumberMutator(unsigned seed) : random_(seed) {}

  int below(int n) { return static_cast<int>(pick(static_cast<size_t>(n))); }
  size_t pick(size_t n) { return random_() % n; }

  int64_t value(int64_t now) {
    constexpr int kNear = 3;
    switch (below(6)) {
      case 0:
        return static_cast<int64_t>(static_cast<uint64_t>(now) +
                                    static_cast<uint64_t>(below(2 * kNear + 1) - kNear));
      case 1: return below(10);
      case 2: return -below(10);
      case 3: return (int64_t{1} << below(33)) - below(2);
      case 4: return -(int64_t{1} << below(33));
      default: return now ^ (int64_t{1} << below(32));
    }
  }

 private:
  std::minstd_rand random_;
};

}  // namespace qrt::fuzz

#endif  // QRT_TESTS_FUZZ_MUTATE_NUMBERS_H_
