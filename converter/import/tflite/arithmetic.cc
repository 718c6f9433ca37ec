// Multipliers, limits and fixed-point functions as the reference kernels have them.
#include "converter/import/tflite/arithmetic.h"

#include <algorithm>
#include <cmath>

#include "kernels/fixed_point.h"

namespace qrt::convert::from_tflite {

Multiplier quantize_multiplier(double d, Rounding rounding) {
  Multiplier m;
  if (d == 0) return m;
  constexpr int kGreatest = 1024;  // beyond any finite number's
  if (!std::isfinite(d)) return {fixed::kMax32, rounding == Rounding::kSingle ? 30 : kGreatest};
  const double fraction = std::frexp(d, &m.shift);
  int64_t value = static_cast<int64_t>(std::round(std::ldexp(fraction, 31)));
  if (value == int64_t{1} << 31 || value == -(int64_t{1} << 31)) {
    value /= 2;
    ++m.shift;
  }
  if (m.shift < -31) return {0, 0};
  if (rounding == Rounding::kSingle && m.shift > 30) return {fixed::kMax32, 30};
  m.value = static_cast<int32_t>(value);
  return m;
}

int32_t multiply(int32_t x, Multiplier m, Rounding rounding) {
  if (rounding == Rounding::kSingle) {
    const int shift = 31 - m.shift;
    return static_cast<int32_t>((int64_t{x} * m.value + (int64_t{1} << (shift - 1))) >> shift);
  }
  const int left = std::max(m.shift, 0);
  const auto shifted = static_cast<int32_t>(left > 31 ? 0 : static_cast<uint32_t>(x) << left);
  return static_cast<int32_t>(
      fixed::shift_half_away(fixed::srdhm(shifted, m.value), std::max(-m.shift, 0)));
}

Limits activation_limits(tflite::ActivationFunctionType activation, float scale, int zero_point,
                         Limits type) {
  const auto step = [&](float real) {
    const float steps = std::round(real / scale);
    return static_cast<int>(std::clamp(static_cast<double>(steps) + zero_point,
                                       static_cast<double>(type.lo), static_cast<double>(type.hi)));
  };
  switch (activation) {
    case tflite::ActivationFunctionType::RELU: return {step(0), type.hi};
    case tflite::ActivationFunctionType::RELU6: return {step(0), step(6)};
    case tflite::ActivationFunctionType::RELU_N1_TO_1: return {step(-1), step(1)};
    default: return type;
  }
}

std::vector<std::unique_ptr<fb::RequantStageT>> requant_stages(
    const std::vector<Multiplier>& multipliers, Rounding rounding) {
  auto first = std::make_unique<fb::RequantStageT>(),
       second = std::make_unique<fb::RequantStageT>();
  bool one = true;
  for (const Multiplier& m : multipliers) {
    const bool left = rounding == Rounding::kSingle || m.shift > 0;
    first->multiplier.push_back(m.value);
    first->shift.push_back(static_cast<uint8_t>(left ? 31 - m.shift : 31));
    second->multiplier.push_back(1);
    second->shift.push_back(static_cast<uint8_t>(left ? 0 : -m.shift));
    one = one && second->shift.back() == 0;
  }
  second->rounding = fb::Rounding::HALF_AWAY;
  std::vector<std::unique_ptr<fb::RequantStageT>> stages;
  stages.push_back(std::move(first));
  if (!one) stages.push_back(std::move(second));
  return stages;
}

std::vector<std::unique_ptr<fb::RequantStageT>> requant_stages_64(
    const std::vector<Multiplier>& multipliers) {
  auto stage = std::make_unique<fb::RequantStageT>();
  for (const Multiplier& m : multipliers) {
    stage->multiplier.push_back(m.value < 0x7fff0000 ? (m.value + 0x8000) >> 16 : 0x7fff);
    stage->shift.push_back(static_cast<uint8_t>(15 - m.shift));
  }
  std::vector<std::unique_ptr<fb::RequantStageT>> stages;
  stages.push_back(std::move(stage));
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
