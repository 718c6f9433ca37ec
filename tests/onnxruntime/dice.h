// SPDX-License-Identifier: Apache-2.0
// Random choices that are the same on every machine for one seed.
#ifndef QRT_TESTS_ONNXRUNTIME_DICE_H_
#define QRT_TESTS_ONNXRUNTIME_DICE_H_

#include <cmath>
#include <cstdint>
#include <vector>

namespace qrt::random_onnx {

class Dice {
 public:
  explicit Dice(uint64_t seed) : state_(seed) {}

  // SplitMix64.
  uint64_t bits() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  // Inclusive.
  int64_t integer(int64_t lo, int64_t hi) {
    return lo + static_cast<int64_t>(bits() % static_cast<uint64_t>(hi - lo + 1));
  }
  bool one_in(int n) { return integer(1, n) == 1; }
  bool coin() { return one_in(2); }
  // [lo, hi)
  double real(double lo, double hi) {
    return lo + (hi - lo) * static_cast<double>(bits() >> 11) * 0x1p-53;
  }
  template <class T>
  T pick(const std::vector<T>& from) {
    return from[static_cast<size_t>(integer(0, static_cast<int64_t>(from.size()) - 1))];
  }

 private:
  uint64_t state_;
};

}  // namespace qrt::random_onnx

#endif  // QRT_TESTS_ONNXRUNTIME_DICE_H_
