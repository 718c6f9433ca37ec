// SPDX-License-Identifier: Apache-2.0
#include "converter/quantize/schemes/scheme.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace qrt::quantize {
namespace {

// The least scale: with smaller ones products of two scales would be denormal.
constexpr float kLeastScale = 0x1p-60f;

}  // namespace

int32_t Coding::code(float x) const {
  // QuantizeLinear computes so: a quotient in float32, rounded half to even.
  const float q = std::nearbyint(x / scale) + static_cast<float>(zero_point);
  const auto lo = static_cast<float>(lowest()), hi = static_cast<float>(highest());
  if (!(q > lo)) return lowest();  // NaN, too
  return q > hi ? highest() : static_cast<int32_t>(q);
}

const std::vector<Scheme>& schemes() {
  static const std::vector<Scheme> rows = {
      {"ort-u8", 8, false, false, false, true, 8},  {"ort-s8", 8, true, false, false, true, 8},
      {"espdl-s8", 8, true, true, true, false, 8},  {"espdl-s16", 16, true, true, true, false, 16},
      {"cvm", 8, true, true, false, true, 8, true},
  };
  return rows;
}

const Scheme* find_scheme(const std::string& name) {
  for (const Scheme& s : schemes())
    if (name == s.name) return &s;
  return nullptr;
}

float allowed_scale(const Scheme& scheme, float scale) {
  scale = std::max(scale, kLeastScale);
  if (!scheme.power_of_two) return scale;
  int exponent;
  const float fraction = std::frexp(scale, &exponent);  // scale = fraction * 2^exponent
  return std::ldexp(1.0f, fraction == 0.5f ? exponent - 1 : exponent);
}

Coding coding_for(const Scheme& scheme, int bits, Range range) {
  Coding c;
  c.bits = bits;
  c.is_signed = scheme.is_signed;
  c.is_narrow = scheme.is_cvm;
  const float lo = std::min(range.lo, 0.0f), hi = std::max(range.hi, 0.0f);
  if (scheme.is_symmetric) {
    const float most = std::max(-lo, hi);
    if (most > 0) c.scale = allowed_scale(scheme, most / static_cast<float>(c.highest()));
    return c;
  }
  c.zero_point = c.lowest();
  if (!(hi > lo)) return c;
  const auto steps = static_cast<double>(c.highest()) - c.lowest();
  const double step = (static_cast<double>(hi) - static_cast<double>(lo)) / steps;
  c.scale = allowed_scale(scheme, static_cast<float>(step));
  const double zero = c.lowest() - static_cast<double>(lo) / static_cast<double>(c.scale);
  c.zero_point = static_cast<int32_t>(std::clamp(
      std::nearbyint(zero), static_cast<double>(c.lowest()), static_cast<double>(c.highest())));
  return c;
}

}  // namespace qrt::quantize
