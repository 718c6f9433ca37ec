// SPDX-License-Identifier: Apache-2.0
// ONNX's 16-bit arithmetic as the tests of its layers compute it.
#ifndef QRT_TESTS_SUPPORT_ONNX_INT16_H_
#define QRT_TESTS_SUPPORT_ONNX_INT16_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "converter/import/onnx/arithmetic/ort_math.h"
#include "qrt_model_generated.h"

namespace qrt::testing {

template <class T>
constexpr int kLo = std::numeric_limits<T>::min();
template <class T>
constexpr int kHi = std::numeric_limits<T>::max();

template <class T>
int quantized(float v, float scale, int zero_point) {
  return convert::from_onnx::quantize_ort(v, scale, zero_point, kLo<T>, kHi<T>);
}

// Returns HE(acc * multiplier / 2^shift), limited, as the graph's requantisation has it.
template <class T>
T requantized(int64_t acc, const fb::RequantT& requant, size_t channel, int zero_point) {
  const fb::RequantStageT& s = *requant.stages.at(0);
  const size_t at = s.multiplier.size() == 1 ? 0 : channel;
  const __int128 product = static_cast<__int128>(acc) * s.multiplier[at];
  const int shift = s.shift[at];
  const __int128 one = __int128{1} << shift, floor = product >> shift;
  const __int128 rest = product - floor * one;
  const bool up = 2 * rest > one || (2 * rest == one && floor % 2 != 0);
  const auto v = static_cast<int64_t>(floor) + (up ? 1 : 0) + zero_point;
  return static_cast<T>(std::clamp<int64_t>(v, kLo<T>, kHi<T>));
}

// Checks that the stage is the real factor to 2^-18 of itself: a quarter of a step of 16 bits.
inline void expect_factor(const fb::RequantT& requant, size_t channel, double factor) {
  const fb::RequantStageT& s = *requant.stages.at(0);
  ASSERT_EQ(s.rounding, fb::Rounding::HALF_EVEN);
  const size_t at = s.multiplier.size() == 1 ? 0 : channel;
  const double is = std::ldexp(static_cast<double>(s.multiplier[at]), -s.shift[at]);
  ASSERT_NEAR(is / factor, 1.0, 0x1p-18);
}

}  // namespace qrt::testing

#endif  // QRT_TESTS_SUPPORT_ONNX_INT16_H_
