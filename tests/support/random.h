// SPDX-License-Identifier: Apache-2.0
// One source of randomness for tests: seeded by QRT_TEST_SEED (default 1); the seed stands in every
// failure's trace.
#ifndef QRT_TESTS_SUPPORT_RANDOM_H_
#define QRT_TESTS_SUPPORT_RANDOM_H_

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace qrt::testing {

class Random {
 public:
  Random()
      : seed_(getenv("QRT_TEST_SEED") ? strtoull(getenv("QRT_TEST_SEED"), nullptr, 0) : 1),
        engine_(seed_) {}

  // Inclusive.
  int64_t integer(int64_t lo, int64_t hi) {
    return std::uniform_int_distribution<int64_t>(lo, hi)(engine_);
  }
  float real(float lo, float hi) { return std::uniform_real_distribution<float>(lo, hi)(engine_); }
  bool coin() { return integer(0, 1) != 0; }
  // Returns a requantisation scale around 2^exponent, one in four an exact power of two.
  float scale(int exponent) {
    const float m = integer(0, 3) == 0 ? 1.0f : real(1.0f, 2.0f);
    return std::ldexp(m, exponent);
  }
  // Fills with bytes: random, or for a third of the calls all extremes.
  template <class Container>
  void fill(Container& c, int64_t lo, int64_t hi) {
    const bool extremes = integer(0, 2) == 0;
    for (auto& v : c) {
      const int64_t x = extremes ? (coin() ? lo : hi) : integer(lo, hi);
      v = static_cast<std::remove_reference_t<decltype(v)>>(x);
    }
  }
  std::string trace() const { return "QRT_TEST_SEED=" + std::to_string(seed_); }

 private:
  uint64_t seed_;
  std::mt19937_64 engine_;
};

// n values, inclusive.
template <class T>
std::vector<T> random_values(Random* random, int64_t n, int64_t lo, int64_t hi) {
  std::vector<T> values(static_cast<size_t>(n));
  for (T& v : values) v = static_cast<T>(random->integer(lo, hi));
  return values;
}

// Returns n values of the whole of T.
template <class T>
std::vector<T> random_integers(Random* random, size_t n) {
  using Limits = std::numeric_limits<T>;
  return random_values<T>(random, static_cast<int64_t>(n), Limits::min(), Limits::max());
}

}  // namespace qrt::testing

#endif  // QRT_TESTS_SUPPORT_RANDOM_H_
