// SPDX-License-Identifier: Apache-2.0
// Multipliers, limits and fixed-point functions as the reference kernels have them.
#include "converter/import/tflite/arithmetic.h"

#include <algorithm>
#include <cmath>

#include "kernels/fixed_point.h"

namespace qrt::convert::from_tflite {

Multiplier quantize_multiplier(double d, Rounding rounding) {
  if (d == 0) return Multiplier::q31(0, 0);
  constexpr int kGreatest = 1024;  // beyond any finite number's
  const bool single = rounding == Rounding::kSingle;
  if (!std::isfinite(d)) return Multiplier::q31(fixed::kMax32, single ? 30 : kGreatest);
  int exponent;
  const double fraction = std::frexp(d, &exponent);
  int64_t value = static_cast<int64_t>(std::round(std::ldexp(fraction, 31)));
  if (value == int64_t{1} << 31 || value == -(int64_t{1} << 31)) {
    value /= 2;
    ++exponent;
  }
  if (exponent < -31) return Multiplier::q31(0, 0);
  if (single && exponent > 30) return Multiplier::q31(fixed::kMax32, 30);
  return Multiplier::q31(static_cast<int32_t>(value), exponent);
}

double product_scale(const Quant& a, const Quant& b, const Quant& out) {
  if (out.type != DType::kUInt8)
    return static_cast<double>(a.scale[0]) * static_cast<double>(b.scale[0]) /
           static_cast<double>(out.scale[0]);
  const float product = a.scale[0] * b.scale[0];
  return static_cast<double>(product / out.scale[0]);
}

int32_t multiply(int32_t x, Multiplier m, Rounding rounding) {
  if (m.shift > kMostShift) return 0;  // the product has fewer bits
  if (rounding == Rounding::kSingle) {
    const int64_t half = m.shift == 0 ? 0 : int64_t{1} << (m.shift - 1);
    return static_cast<int32_t>((int64_t{x} * m.value + half) >> m.shift);
  }
  const int left = std::max(m.exponent(), 0);
  const auto shifted = static_cast<int32_t>(left > 31 ? 0 : static_cast<uint32_t>(x) << left);
  return static_cast<int32_t>(
      fixed::shift_half_away(fixed::srdhm(shifted, m.value), std::max(-m.exponent(), 0)));
}

Limits activation_limits(tflite::ActivationFunctionType activation, const Quant& quant) {
  const Limits all = Limits::of_source(quant);
  const auto nearest = [&](float real) {
    const float distance = std::round(real / quant.scale[0]);
    return static_cast<int>(std::clamp(static_cast<double>(distance) + quant.zero_point[0],
                                       static_cast<double>(all.lo), static_cast<double>(all.hi)));
  };
  switch (activation) {
    case tflite::ActivationFunctionType::RELU: return {nearest(0), all.hi};
    case tflite::ActivationFunctionType::RELU6: return {nearest(0), nearest(6)};
    case tflite::ActivationFunctionType::RELU_N1_TO_1: return {nearest(-1), nearest(1)};
    default: return all;
  }
}

std::vector<std::unique_ptr<fb::RequantStageT>> requant_stages(
    const std::vector<Multiplier>& multipliers, Rounding rounding) {
  std::vector<Multiplier> first, second;
  bool one = true;
  for (const Multiplier& m : multipliers) {
    const bool left = rounding == Rounding::kSingle || m.exponent() > 0;
    first.push_back({m.value, left ? m.shift : 31});
    second.push_back({1, left ? 0 : -m.exponent()});
    one = one && second.back().shift == 0;
  }
  std::vector<std::unique_ptr<fb::RequantStageT>> stages;
  stages.push_back(make_stage(first, fb::Rounding::HALF_UP));
  if (!one) stages.push_back(make_stage(second, fb::Rounding::HALF_AWAY));
  return stages;
}

std::vector<std::unique_ptr<fb::RequantStageT>> requant_stages_64(
    const std::vector<Multiplier>& multipliers) {
  std::vector<Multiplier> reduced;
  for (const Multiplier& m : multipliers)
    reduced.push_back(
        {m.value < 0x7fff0000 ? (m.value + 0x8000) >> 16 : 0x7fff, 15 - m.exponent()});
  std::vector<std::unique_ptr<fb::RequantStageT>> stages;
  stages.push_back(make_stage(reduced, fb::Rounding::HALF_UP));
  return stages;
}

int32_t logistic_q4(int32_t a) {
  if (a == 0) return 1 << 30;
  const int32_t positive = fixed::reciprocal_of_one_plus(fixed::exp_of_negative(a > 0 ? -a : a, 4));
  return a > 0 ? positive : fixed::kMax32 - positive;
}

int32_t tanh_q4(int32_t a) {
  if (a == 0) return 0;
  // -2|a|: the same raw number with one more bit before the point.
  const int32_t t = fixed::one_minus_over_one_plus(fixed::exp_of_negative(a > 0 ? -a : a, 5));
  return a > 0 ? t : -t;
}

}  // namespace qrt::convert::from_tflite
