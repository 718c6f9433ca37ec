// SPDX-License-Identifier: Apache-2.0
#include "converter/import/espdl/arithmetic.h"

#include <algorithm>
#include <cmath>

#include "converter/portable_math.h"
#include "kernels/requant.h"

namespace qrt::convert::from_espdl {

bool parse_target(const std::string& name, Target* target) {
  if (name == "esp32p4" || name == "esp32s31")
    *target = Target::kEsp32P4;
  else if (name == "esp32s3")
    *target = Target::kEsp32S3;
  else if (name == "c")
    *target = Target::kC;
  else
    return false;
  return true;
}

const char* reference_of(Target target) {
  switch (target) {
    case Target::kEsp32P4: return "espdl-p4";
    case Target::kEsp32S3: return "espdl-s3";
    case Target::kC: break;
  }
  return "espdl-c";
}

bool parse_reference(const std::string& name, Target* target) {
  for (const Target t : {Target::kEsp32P4, Target::kEsp32S3, Target::kC})
    if (name == reference_of(t)) {
      *target = t;
      return true;
    }
  return false;
}

float power_of_two(int exponent) { return std::ldexp(1.0f, exponent); }

int32_t round_to(Target target, float x, Limits limits) {
  if (std::isnan(x)) return limits.hi;
  // Numbers up to twice the limits are exact in float32, and of greater ones only the sign counts.
  const float bound = 2.0f * static_cast<float>(limits.hi);
  x = std::clamp(x, -bound, bound);
  const float r = target == Target::kEsp32P4 ? std::nearbyint(x) : std::floor(x + 0.5f);
  return std::clamp(static_cast<int32_t>(r), limits.lo, limits.hi);
}

int32_t shift_to(Target target, int64_t v, int shift, Limits limits) {
  if (shift < 0) {
    // A number other than 0 that is shifted by 16 or more leaves 16 bits.
    const int64_t wide = v * (int64_t{1} << std::min(-shift, 16));
    return static_cast<int32_t>(clamp_int(wide, limits.lo, limits.hi));
  }
  const Round round = target == Target::kEsp32P4 ? Round::kHalfEven : Round::kHalfUp;
  return static_cast<int32_t>(
      clamp_int(rounding_shift(v, std::min(shift, 62), round), limits.lo, limits.hi));
}

std::unique_ptr<fb::RequantStageT> shift_stage(const std::vector<int>& shifts,
                                               fb::Rounding rounding, int most_left) {
  auto stage = std::make_unique<fb::RequantStageT>();
  for (const int shift : shifts) {
    stage->multiplier.push_back(shift < 0 ? 1 << std::min(-shift, most_left) : 1);
    stage->shift.push_back(static_cast<uint8_t>(std::clamp(shift, 0, 62)));
  }
  stage->rounding = rounding;
  return stage;
}

namespace {

// Return float32 results as the C library's expf and logf give them where those round correctly.
float exp_of(float x) {
  if (x > 89.0f) return INFINITY;
  if (x < -104.0f) return 0.0f;
  return static_cast<float>(portable_exp(double{x}));
}

float log_of(float x) {
  if (x <= 0.0f) return x == 0.0f ? -INFINITY : NAN;
  return static_cast<float>(portable_log(double{x}));
}

// Returns the sigmoid, with the sum and the quotient in double.
float sigmoid(float x) { return static_cast<float>(1.0 / (1.0 + static_cast<double>(exp_of(-x)))); }

float clamped_to_one(float x) { return std::max(0.0f, std::min(1.0f, x)); }

float hard_swish(float t) {
  const double x = static_cast<double>(t);
  return static_cast<float>(std::max(0.0, std::min(1.0, 0.166667 * x + 0.5)) * x);
}

}  // namespace

Function function_of(const std::string& op, float alpha, float beta) {
  if (op == "Sigmoid") return sigmoid;
  if (op == "Tanh") return [](float t) { return 2.0f * sigmoid(2.0f * t) - 1.0f; };
  if (op == "Swish") return [](float t) { return sigmoid(t) * t; };
  if (op == "Elu") return [alpha](float t) { return t >= 0 ? t : alpha * (exp_of(t) - 1.0f); };
  if (op == "HardSigmoid")
    return [alpha, beta](float t) { return clamped_to_one(alpha * t + beta); };
  if (op == "HardSwish") return hard_swish;
  if (op == "Exp") return exp_of;
  if (op == "Log") return log_of;
  if (op == "Sqrt") return [](float t) { return std::sqrt(t); };
  return nullptr;
}

std::vector<int16_t> table_of(Target target, const Function& g, Limits in, int in_exponent,
                              Limits out, int out_exponent) {
  const float step = power_of_two(in_exponent), scale = power_of_two(-out_exponent);
  std::vector<int16_t> table;
  for (int32_t q = in.lo; q <= in.hi; ++q)
    table.push_back(
        static_cast<int16_t>(round_to(target, g(static_cast<float>(q) * step) * scale, out)));
  return table;
}

}  // namespace qrt::convert::from_espdl
