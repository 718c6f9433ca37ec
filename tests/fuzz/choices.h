// SPDX-License-Identifier: Apache-2.0
// A fuzzer's bytes read as choices. Past the end every choice is the first one.
#ifndef QRT_TESTS_FUZZ_CHOICES_H_
#define QRT_TESTS_FUZZ_CHOICES_H_

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace qrt::fuzz {

class Choices {
 public:
  Choices(const uint8_t* data, size_t size) : data_(data), size_(size) {}

  bool done() const { return at_ == size_; }
  uint8_t byte() { return done() ? 0 : data_[at_++]; }

  // Returns an integer of lo to hi, both included. REQUIRES: lo <= hi, hi - lo < 2^16.
  int integer(int lo, int hi) {
    const uint32_t count = static_cast<uint32_t>(hi - lo) + 1;
    uint32_t value = byte();
    if (count > 256) value = value << 8 | byte();
    return lo + static_cast<int>(value % count);
  }
  bool coin() { return (byte() & 1) != 0; }

  // Returns a dimension, mostly 1 .. `most`, sometimes around a tile's or register's size.
  int dimension(int most) {
    static constexpr int kEdges[] = {15, 16, 17, 31, 32, 33, 47, 48, 63, 64, 65, 79, 80, 127, 128};
    const int v = byte();
    if (v < 192) return 1 + v % most;
    const int edge = kEdges[static_cast<size_t>(v - 192) % (sizeof(kEdges) / sizeof(kEdges[0]))];
    return edge < most ? edge : most;
  }

  // Returns a positive normal number around 2^exponent, often a power of two (where ties are).
  float scale(int lo_exponent, int hi_exponent) {
    const int exponent = integer(lo_exponent, hi_exponent);
    const float mantissa = coin() ? 1.0f : 1.0f + static_cast<float>(integer(0, 65535)) / 65536.0f;
    return std::ldexp(mantissa, exponent);
  }

  // Values in lo .. hi: random, all extremes, or all the same.
  template <class T>
  std::vector<T> values(size_t n, int64_t lo, int64_t hi) {
    const int kind = integer(0, 3);
    std::minstd_rand random(byte() + 1u);
    std::vector<T> result(n);
    for (T& v : result) {
      const auto r = static_cast<int64_t>(random());
      const int64_t span = hi - lo + 1;
      v = static_cast<T>(kind == 0 ? hi : kind == 1 ? (r & 64 ? lo : hi) : lo + r % span);
    }
    return result;
  }

 private:
  const uint8_t* data_;
  size_t size_, at_ = 0;
};

}  // namespace qrt::fuzz

#endif  // QRT_TESTS_FUZZ_CHOICES_H_
