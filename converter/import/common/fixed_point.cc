// SPDX-License-Identifier: Apache-2.0
#include "converter/import/common/fixed_point.h"

#include <algorithm>
#include <cmath>

namespace qrt::convert {
namespace {

template <class T>
T element(const std::vector<T>& values, size_t i) {
  return values[values.size() == 1 ? 0 : i];
}

std::unique_ptr<fb::RequantT> new_requant(fb::RequantKind kind, int zero_point, Limits limits) {
  auto requant = std::make_unique<fb::RequantT>();
  requant->kind = kind;
  requant->zero_point = zero_point;
  requant->lo = limits.lo;
  requant->hi = limits.hi;
  return requant;
}

}  // namespace

bool closest_multiplier(double factor, int64_t bound, Multiplier* m) {
  if (!std::isfinite(factor) || !(factor > 0)) return false;
  const double most =
      std::min(2147483647.0,
               std::floor(static_cast<double>((kMostProduct - 1) / std::max<int64_t>(bound, 1))));
  m->shift = std::min(kMostShift, static_cast<int>(std::floor(std::log2(most / factor))));
  if (m->shift < 0) return false;
  m->value = static_cast<int32_t>(std::min(most, std::nearbyint(std::ldexp(factor, m->shift))));
  return true;
}

std::unique_ptr<fb::RequantStageT> make_stage(const std::vector<Multiplier>& multipliers,
                                              fb::Rounding rounding) {
  auto stage = std::make_unique<fb::RequantStageT>();
  stage->rounding = rounding;
  for (const Multiplier& m : multipliers) {
    stage->multiplier.push_back(m.value);
    stage->shift.push_back(static_cast<uint8_t>(m.shift));
  }
  return stage;
}

std::unique_ptr<fb::RequantStageT> closest_stage(const std::vector<double>& factor,
                                                 const std::vector<int64_t>& bound) {
  std::vector<Multiplier> multipliers(std::max(factor.size(), bound.size()));
  for (size_t i = 0; i < multipliers.size(); ++i)
    if (!closest_multiplier(element(factor, i), element(bound, i), &multipliers[i])) return nullptr;
  return make_stage(multipliers, fb::Rounding::HALF_EVEN);
}

std::unique_ptr<fb::RequantT> int_requant(int zero_point, Limits limits,
                                          std::vector<std::unique_ptr<fb::RequantStageT>> stages) {
  auto requant = new_requant(fb::RequantKind::INT, zero_point, limits);
  requant->stages = std::move(stages);
  return requant;
}

std::unique_ptr<fb::RequantT> int_requant(int zero_point, Limits limits,
                                          std::unique_ptr<fb::RequantStageT> stage) {
  std::vector<std::unique_ptr<fb::RequantStageT>> stages;
  stages.push_back(std::move(stage));
  return int_requant(zero_point, limits, std::move(stages));
}

std::unique_ptr<fb::RequantT> f32_requant(int zero_point, Limits limits,
                                          const std::vector<float>& scale) {
  auto requant = new_requant(fb::RequantKind::F32, zero_point, limits);
  for (float s : scale) requant->scale.push_back(float_bits(s));
  return requant;
}

int64_t int16_reach(int zero_point) {
  return std::max<int64_t>(INT16_MAX - int64_t{zero_point}, zero_point - int64_t{INT16_MIN});
}

}  // namespace qrt::convert
