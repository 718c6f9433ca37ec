// SPDX-License-Identifier: Apache-2.0
// A test for every row of edge.inc, and the numbers that tests of the edges share.
#ifndef QRT_TESTS_SUPPORT_EDGE_ROWS_H_
#define QRT_TESTS_SUPPORT_EDGE_ROWS_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>

#include "kernels/edge/edge.h"
#include "tests/support/kernel_rows.h"
#include "tests/support/random.h"

namespace qrt::testing {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

struct Limits {
  int32_t lo, hi;
};
constexpr Limits kUint8{0, 255}, kInt8{-128, 127};

inline uint32_t bits(float f) {
  uint32_t b;
  memcpy(&b, &f, 4);
  return b;
}

inline float from_bits(uint32_t b) {
  float f;
  memcpy(&f, &b, 4);
  return f;
}

inline float dequantized(uint8_t x, bool is_signed, float scale, int32_t zp) {
  const int32_t q = is_signed ? static_cast<int8_t>(x) : x;
  return static_cast<float>(q - zp) * scale;
}

// Returns the nearest float16, ties to even, by rounding to its own last place.
inline uint16_t nearest_half(float v) {
  const uint16_t sign = std::signbit(v) ? 0x8000 : 0;
  const double a = std::fabs(double{v});
  if (a == 0.0) return sign;
  if (a >= 65520.0) return sign | 0x7c00;
  int exponent;
  std::frexp(a, &exponent);
  const int last = std::max(exponent - 11, -24);
  const double rounded = std::nearbyint(std::ldexp(a, -last));  // at most 2048
  return static_cast<uint16_t>(sign | ((last + 24) * 1024 + static_cast<int>(rounded)));
}

class EdgeRowTest : public ::testing::TestWithParam<EdgeKernel> {
 protected:
  void SetUp() override {
    if (!has(detected_isas(), kernel_.isa)) GTEST_SKIP() << "this CPU lacks " << kernel_.name;
  }

  const EdgeKernel& kernel_ = GetParam();
  Random random_;
};

// Test is derived from EdgeRowTest.
#define QRT_FOR_EDGE_ROWS(Test)                                                         \
  INSTANTIATE_TEST_SUITE_P(Rows, Test,                                                  \
                           ::testing::ValuesIn(::qrt::testing::all_rows(edge_kernels)), \
                           [](const auto& info) { return std::string(info.param.name); })

}  // namespace qrt::testing

#endif  // QRT_TESTS_SUPPORT_EDGE_ROWS_H_
