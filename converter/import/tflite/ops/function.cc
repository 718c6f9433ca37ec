// SPDX-License-Identifier: Apache-2.0
// Functions that the reference computes in float when it makes a table: LOGISTIC and TANH of uint8, ELU,
// EXP, LOG, SQRT and GELU. Its C library's exp, log, tanh and erfc are here the floats nearest to the
// real numbers. RSQRT is integer arithmetic.
#include <algorithm>
#include <cmath>

#include "converter/import/tflite/ops/unary.h"
#include "converter/portable_math.h"
#include "kernels/fixed_point.h"

namespace qrt::convert::from_tflite {
namespace {

// Returns exp(x). Beyond these limits the float is 0, or so great that every table refuses it.
float exp_of(float x) {
  return static_cast<float>(portable_exp(std::clamp(static_cast<double>(x), -100.0, 88.0)));
}

float tanh_of(float x) {
  const double v = x, size = std::fabs(v);
  if (size < 1e-4) return static_cast<float>(v - v * v * v / 3);
  const double e = portable_exp(2 * std::min(size, 20.0));
  return static_cast<float>(std::copysign((e - 1) / (e + 1), v));
}

// Returns erf(x) by the series whose terms are all positive, times exp(-x * x).
double erf_of(double x) {
  const double size = std::min(std::fabs(x), 6.0);
  double term = size, sum = size;
  for (int n = 1; term > sum * 1e-17; ++n) {
    term *= 2 * size * size / (2 * n + 1);
    sum += term;
  }
  constexpr double kTwoOverSqrtPi = 1.1283791670955126;
  return std::copysign(kTwoOverSqrtPi * portable_exp(-size * size) * sum, x);
}

constexpr float kSqrtHalf = 0.70710678118654752f, kSqrtTwoOverPi = 0.79788456080286536f;

float gelu_of(float x) {
  const float at = x * -kSqrtHalf;
  return 0.5f * x * static_cast<float>(1 - erf_of(static_cast<double>(at)));
}

float approximate_gelu_of(float x) {
  const float cubic = 0.044715f * x * x * x;
  return 0.5f * x * (1.0f + tanh_of(kSqrtTwoOverPi * (x + cubic)));
}

}  // namespace

Status finish_float_table(Importer& importer, const Op& op, const Quant& in, const Quant& out,
                          const std::function<float(float)>& f) {
  const float inverse = 1 / out.scale[0];
  bool defined = true;
  Status status = finish_table(importer, op, in, out, [&](int x) {
    const float real = in.scale[0] * static_cast<float>(x - in.zero_point[0]);
    const float steps = std::round(f(real) * inverse) + static_cast<float>(out.zero_point[0]);
    defined = defined && std::fabs(steps) < 2147483648.0f;
    const Limits limits = Limits::of_source(out);
    return static_cast<int>(
        std::fmin(std::fmax(steps, static_cast<float>(limits.lo)), static_cast<float>(limits.hi)));
  });
  if (defined || !status.ok()) return status;
  return importer.refuse(op, "a result is beyond int32 steps, where the reference is undefined",
                         importer.output(op).name, "quantise the output with a greater scale");
}

Status import_logistic_uint8(Importer& importer, const Op& op, const Quant& in, const Quant& out) {
  if (out.scale[0] != 1.0f / 256)
    return importer.refuse(op, "the output's scale is not 1/256, which the reference refuses",
                           importer.output(op).name, "quantise the output with scale 1/256");
  return finish_float_table(importer, op, in, out,
                            [](float x) { return 1.0f / (1.0f + exp_of(-x)); });
}

Status import_tanh_uint8(Importer& importer, const Op& op, const Quant& in, const Quant& out) {
  return finish_float_table(importer, op, in, out, tanh_of);
}

Status import_elu(Importer& importer, const Op& op) {
  Quant in, out;
  if (!importer.read_quants(op, 0, &in, &out) || refuse_uint8(importer, op, in)) return Status();
  return finish_float_table(importer, op, in, out,
                            [](float x) { return x < 0 ? exp_of(x) - 1.0f : x; });
}

Status import_exp(Importer& importer, const Op& op) {
  Quant in, out;
  if (!importer.read_quants(op, 0, &in, &out) || refuse_uint8(importer, op, in)) return Status();
  if (in.is_int16()) return finish_sampled_table(importer, op, in, out, exp_of);
  return finish_float_table(importer, op, in, out, exp_of);
}

// Imports LOG. Inputs that are not positive have the least output.
Status import_log(Importer& importer, const Op& op) {
  Quant in, out;
  if (!importer.read_quants(op, 0, &in, &out) || refuse_uint8(importer, op, in)) return Status();
  const int lowest = Limits::of_source(out).lo - out.zero_point[0];
  const float least = static_cast<float>(lowest) * out.scale[0];
  return (in.is_int16() ? finish_sampled_table : finish_float_table)(
      importer, op, in, out, [&](float x) {
        return x <= 0 ? least : static_cast<float>(portable_log(static_cast<double>(x)));
      });
}

// Imports SQRT, which truncates. The reference fails in a run that meets a negative number, whose
// root is 0 here.
Status import_sqrt(Importer& importer, const Op& op) {
  Quant in, out;
  if (!importer.read_quants(op, 0, &in, &out) || refuse_uint8(importer, op, in) ||
      refuse_int16_zero_points(importer, op, in, out))
    return Status();
  return finish_table(importer, op, in, out, [&](int x) {
    const float real = in.scale[0] * static_cast<float>(std::max(x - in.zero_point[0], 0));
    const float steps = std::sqrt(real) / out.scale[0];
    return clamp_to(static_cast<int64_t>(std::min(steps, 65536.0f)) + out.zero_point[0],
                    Limits::of_source(out));
  });
}

// Imports RSQRT. The result for 0 is the greatest output. So is it here for a negative number, at
// which the reference fails in a run.
Status import_rsqrt(Importer& importer, const Op& op) {
  Quant in, out;
  if (!importer.read_quants(op, 0, &in, &out) || refuse_uint8(importer, op, in) ||
      refuse_int16_zero_points(importer, op, in, out))
    return Status();
  constexpr int kBits = 20;  // of the root's fraction
  const float unit = std::sqrt(in.scale[0]) * out.scale[0];
  Multiplier m = importer.multiplier(1.0 / static_cast<double>(unit));
  m.shift += kBits;
  if (m.exponent() < -31 || m.exponent() > 31 - kBits - 1)
    return importer.refuse(op, "the output's scale does not fit the input's",
                           importer.output(op).name,
                           "calibrate again with samples in which this tensor takes its usual "
                           "values: qrt_convert --lint names the scales");
  const Rounding rounding = importer.rounding();
  return finish_table(importer, op, in, out, [&](int x) {
    const int value = x - in.zero_point[0];
    if (value <= 0) return Limits::of_source(out).hi;
    const fixed::InverseRoot inverse = fixed::inverse_square_root(value);
    const Multiplier root = Multiplier::q31(inverse.value, kBits - inverse.right);
    return clamp_to(int64_t{multiply(multiply(1, root, rounding), m, rounding)} + out.zero_point[0],
                    Limits::of_source(out));
  });
}

Status import_gelu(Importer& importer, const Op& op) {
  Quant in, out;
  if (!importer.read_quants(op, 0, &in, &out)) return Status();
  return finish_float_table(
      importer, op, in, out,
      op.options<tflite::GeluOptions>().approximate ? approximate_gelu_of : gelu_of);
}

}  // namespace qrt::convert::from_tflite
