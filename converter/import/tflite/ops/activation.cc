// SPDX-License-Identifier: Apache-2.0
// Activation functions and ABS.
#include <algorithm>
#include <cmath>

#include "converter/import/tflite/ops/unary.h"
#include "converter/portable_math.h"
#include "kernels/fixed_point.h"
#include "kernels/recurrent/recurrent.h"

namespace qrt::convert::from_tflite {
namespace {

// Imports an int16 function: the scaled input as a multiple of 3 * 2^-12, and a table with
// interpolation. `greatest_shift`: scales of a power of two up to 2^(shift - 12) are taken exactly.
Status import_saturating_16(Importer& importer, const Op& op, const Quant& in, const Quant& out,
                            int greatest_shift, int32_t (*f)(int32_t)) {
  // The reference's float logarithms, rounded to the nearest.
  const auto log_of = [](float v) {
    return static_cast<float>(portable_log(static_cast<double>(v)));
  };
  const auto log2_of = [&](float scale) { return log_of(scale) * (1.0f / log_of(2.0f)); };
  const float out_log2 = log2_of(out.scale[0]);
  if (in.zero_point[0] != 0 || out.zero_point[0] != 0 || std::fabs(out_log2 + 15.0f) >= 1e-3f)
    return importer.refuse(op,
                           "the zero points are not 0 or the output's scale is not 2^-15, which "
                           "the reference refuses",
                           importer.output(op).name, "quantise the output with scale 1/32768");
  QRT_TRY(check_same_shape(importer, op));
  const float in_log2 = log2_of(in.scale[0]);
  int shift = 12 + static_cast<int>(std::round(in_log2));
  double multiplier = 3;
  if (std::fabs(in_log2 - std::round(in_log2)) < 1e-3f && shift >= 0 && shift <= greatest_shift) {
    multiplier *= 1 << shift;
    shift = 0;
  } else {
    multiplier = static_cast<double>(in.scale[0]) * 4096.0 * 3.0;
    for (shift = 0; multiplier <= 32767.0 / 2.0 && shift <= 30; ++shift) multiplier *= 2;
  }
  if (multiplier > 65535)
    return importer.refuse(op, "the input's scale is beyond 5.33, where the reference overflows",
                           importer.input(op, 0).name, "quantise the input with a smaller scale");
  const int64_t m = static_cast<int64_t>(multiplier),
                half = shift > 0 ? int64_t{1} << (shift - 1) : 0;
  std::vector<int32_t> table;
  for (int64_t x = INT16_MIN; x <= INT16_MAX; ++x)
    table.push_back(f(static_cast<int32_t>((x * m + half) >> shift)));
  importer.set_output(op,
                      importer.builder().int16_lut(op, importer.value(op, 0), table, DType::kInt16,
                                                   importer.output(op).name, &out));
  importer.became(op, "Lut", "I0");
  return Status();
}

// Imports logistic and tanh, which share their range reduction: to a Q4.27 number, or the limit
// beyond +-15 * 2^27 / 2^left.
Status import_saturating(Importer& importer, const Op& op, const Quant& in, const Quant& out,
                         int32_t (*f)(int32_t), int result_shift, int result_offset) {
  const Multiplier m = importer.multiplier(std::ldexp(static_cast<double>(in.scale[0]), 27));
  if (m.exponent() < 0)
    return importer.refuse(op,
                           "the input's scale is below 2^-28, where the reference shifts by a "
                           "negative number",
                           importer.input(op, 0).name, "quantise the input with a greater scale");
  const double radius = std::floor(std::ldexp(15.0, 27 - m.exponent()));
  const Rounding rounding = importer.rounding();
  return finish_table(importer, op, in, out, [&](int x) {
    const int v = x - in.zero_point[0];
    if (v <= -radius) return -128;
    if (v >= radius) return 127;
    return clamp_to(
        fixed::shift_half_away(f(multiply(v, m, rounding)), result_shift) + result_offset,
        Limits::of_source(out));
  });
}

Status import_relu_within(Importer& importer, const Op& op,
                          tflite::ActivationFunctionType activation) {
  Quant in, out;
  if (!importer.read_quants(op, 0, &in, &out)) return Status();
  const Multiplier m = importer.multiplier(static_cast<double>(in.scale[0] / out.scale[0]));
  if (!usable(importer, op, reach_bits(in), {m})) return Status();
  const Limits limits = activation_limits(activation, out);
  if (in.is_int16()) return finish_requantize(importer, op, in, out, m, nullptr, limits);
  const Rounding rounding = importer.rounding();
  return finish_table(importer, op, in, out, [&](int x) {
    return clamp_to(int64_t{multiply(x - in.zero_point[0], m, rounding)} + out.zero_point[0],
                    limits);
  });
}

int32_t product16(int32_t a, int32_t b) { return (a * b + (1 << 14)) >> 15; }

int32_t saturate16(int64_t v) {
  return static_cast<int32_t>(std::clamp<int64_t>(v, -32768, 32767));
}

// Shifts as the reference does, within 16 bits. From shifts of 16 on, its mask of the bits shifted
// out is all ones: it then rounds every number away from zero, and 0 to 1.
int32_t shift_half_away_16(int32_t v, int s) {
  if (s < 16) return static_cast<int32_t>(fixed::shift_half_away(v, s));
  return v < 0 ? -1 : 1;
}

// Returns the high half of a multiplier, rounded.
int32_t high16(Multiplier m) {
  return m.value >= 0x7fff8000 ? 0x7fff : (m.value + (1 << 15)) >> 16;
}

}  // namespace

Status import_logistic(Importer& importer, const Op& op) {
  const Tensor& y = importer.output(op);
  if (y.type == TensorType::INT8 && !y.zero_point.empty() && y.zero_point[0] != -128)
    return importer.refuse(op, "the output's zero point is not -128", y.name,
                           "quantise the output with scale 1/256 and zero point -128");
  Quant in, out;
  if (!importer.read_quants(op, 0, &in, &out)) return Status();
  if (in.is_int16()) return import_saturating_16(importer, op, in, out, 0, sigmoid_q15);
  if (in.type == DType::kUInt8) return import_logistic_uint8(importer, op, in, out);
  return import_saturating(importer, op, in, out, logistic_q4, 23, -128);
}

Status import_tanh(Importer& importer, const Op& op) {
  Quant in, out;
  if (!importer.read_quants(op, 0, &in, &out)) return Status();
  if (in.is_int16()) return import_saturating_16(importer, op, in, out, 1, tanh_q15);
  if (in.type == DType::kUInt8) return import_tanh_uint8(importer, op, in, out);
  return import_saturating(importer, op, in, out, tanh_q4, 24, 0);
}

Status import_relu(Importer& importer, const Op& op) {
  return import_relu_within(importer, op, tflite::ActivationFunctionType::RELU);
}

Status import_relu_n1_to_1(Importer& importer, const Op& op) {
  return import_relu_within(importer, op, tflite::ActivationFunctionType::RELU_N1_TO_1);
}

// Imports RELU6 without a change of scale, except of uint8, which has other kernels: the reference
// clamps by the input's parameters and never reads the output's.
Status import_relu6(Importer& importer, const Op& op) {
  Quant in, out;
  if (!importer.read_quants(op, 0, &in, &out)) return Status();
  if (in.type == DType::kUInt8)
    return import_relu_within(importer, op, tflite::ActivationFunctionType::RELU6);
  const Limits limits = activation_limits(tflite::ActivationFunctionType::RELU6, in);
  if (in.is_int16()) {
    QRT_TRY(check_same_shape(importer, op));
    const ValueId y = limit(importer, op, importer.value(op, 0), out, limits);
    importer.set_output(op, y);
    importer.became(op, "Requantize", "I0");
    return Status();
  }
  return finish_table(importer, op, in, out, [&](int x) { return clamp_to(x, limits); });
}

Status import_leaky_relu(Importer& importer, const Op& op) {
  Quant in, out;
  if (!importer.read_quants(op, 0, &in, &out)) return Status();
  const float alpha = op.options<tflite::LeakyReluOptions>().alpha;
  QRT_MODEL_CHECK(std::isfinite(alpha), "alpha is %g", static_cast<double>(alpha));
  const Rounding rounding = importer.rounding();
  const Multiplier identity = importer.multiplier(static_cast<double>(in.scale[0] / out.scale[0]));
  const float scaled = in.scale[0] * alpha;
  Multiplier slope = importer.multiplier(static_cast<double>(scaled / out.scale[0]));
  const bool negative = slope.value < 0;
  if (negative) slope.value = -slope.value;
  if (!usable(importer, op, reach_bits(in), {identity, slope})) return Status();
  if (in.is_int16()) {
    const Below below{slope, negative, {}};
    return finish_requantize(importer, op, in, out, identity, &below, Limits::of_source(out));
  }
  return finish_table(importer, op, in, out, [&](int x) {
    const int v = x - in.zero_point[0];
    const int64_t steps = v >= 0 ? multiply(v, identity, rounding)
                                 : (negative ? -1 : 1) * int64_t{multiply(v, slope, rounding)};
    return clamp_to(steps + out.zero_point[0], Limits::of_source(out));
  });
}

namespace {

// Returns a slope of PRELU less its zero point; 8 bits.
int slope_at(const Tensor& slopes, const Quant& quant, int64_t c) {
  const uint8_t byte = slopes.data[c];
  return (quant.type == DType::kInt8 ? static_cast<int8_t>(byte) : byte) - quant.zero_point[0];
}

// One slope for each element of a row of x: the slopes' shape broadcast to x's but for dimension 0.
// Empty where it does not, or where the slopes have more than one row.
std::vector<int64_t> slope_indices(const Shape& x, const Shape& slopes) {
  const int extra = x.rank() - slopes.rank();
  std::vector<int64_t> places = {0};
  if (extra < 0 || (extra == 0 && slopes.rank() > 0 && slopes[0] != 1)) return {};
  int64_t step = 1;  // product of the slopes' dimensions behind d
  for (int d = x.rank() - 1; d > 0; --d) {
    const int64_t size = d < extra ? 1 : slopes[d - extra];
    if (size != 1 && size != x[d]) return {};
    std::vector<int64_t> wider;
    for (int64_t i = 0; i < x[d]; ++i)
      for (const int64_t p : places) wider.push_back(p + (size == 1 ? 0 : i * step));
    places = std::move(wider);
    step *= size;
  }
  return places;
}

}  // namespace

// Imports PRELU, with one slope for all, for each index of the last dimension, or for each element of a row.
Status import_prelu(Importer& importer, const Op& op) {
  Quant in, out, alpha;
  if (!importer.read_quants(op, 0, &in, &out)) return Status();
  const Tensor& a = importer.input(op, 1);
  if (!importer.read_quant(op, a, &alpha)) return Status();
  if (alpha.is_int16())
    return importer.refuse(op, importer.quoted_input(op, 1) + " is int16: the reference takes int8",
                           a.name, "quantise the slopes (alpha) to int8");
  QRT_TRY(check_same_shape(importer, op));
  const Shape& x = importer.input(op, 0).shape;
  const int64_t slopes = a.shape.elements();
  const bool last_only = slopes == 1 || (a.shape[a.shape.rank() - 1] == slopes && x.rank() > 0 &&
                                         x[x.rank() - 1] == slopes);
  // A file of a few bytes may repeat a slope for as many elements as it likes.
  if (!last_only && x.rank() > 0)
    QRT_TRY(importer.reserve(static_cast<uint64_t>(x.elements() / std::max<int64_t>(x[0], 1)) *
                             sizeof(int64_t)));
  const std::vector<int64_t> places =
      last_only ? std::vector<int64_t>{0} : slope_indices(x, a.shape);
  if (!a.is_constant || places.empty())
    return importer.refuse(op,
                           importer.quoted_input(op, 1) +
                               " is no constant that fits the input without its first dimension",
                           a.name,
                           "make the slopes constants of the shape [height, width, channels]");
  const double in_scale = in.scale[0], out_scale = out.scale[0];
  const Multiplier positive =
      importer.multiplier(in.type == DType::kUInt8 ? static_cast<double>(in.scale[0] / out.scale[0])
                                                   : in_scale / out_scale);
  const Multiplier negative = importer.multiplier(product_scale(in, alpha, out));
  if (!usable(importer, op, reach_bits(in), {positive}) ||
      !usable(importer, op, reach_bits(in) + 8, {negative}))
    return Status();
  if (in.is_int16() || !last_only) {
    Below below{negative, false, {}};
    for (int64_t c = 0; last_only && c < slopes; ++c)
      below.slopes.push_back(static_cast<int16_t>(slope_at(a, alpha, c)));
    for (size_t i = 0; !last_only && i < places.size(); ++i)
      below.slopes.push_back(static_cast<int16_t>(slope_at(a, alpha, places[i])));
    return finish_requantize(importer, op, in, out, positive, &below, Limits::of_source(out));
  }
  const Rounding rounding = importer.rounding();
  std::vector<uint8_t> tables;
  for (int64_t c = 0; c < slopes; ++c) {
    const int slope = slope_at(a, alpha, c);
    const auto table = tabulate(in, out, [&](int q) {
      const int v = q - in.zero_point[0];
      const int64_t steps =
          v >= 0 ? multiply(v, positive, rounding) : multiply(v * slope, negative, rounding);
      return clamp_to(steps + out.zero_point[0], Limits::of_source(out));
    });
    tables.insert(tables.end(), table.begin(), table.end());
  }
  importer.set_output(op,
                      importer.builder().lut(op, importer.value(op, 0), tables, tables.size() > 256,
                                             importer.output(op).name, &out));
  importer.became(op, "Lut", "I0");
  return Status();
}

Status import_hard_swish(Importer& importer, const Op& op) {
  Quant in, out;
  if (!importer.read_quants(op, 0, &in, &out)) return Status();
  const float fine = (1.0f / 128.0f) * in.scale[0], relu_scale = 3.0f / 32768.0f;
  const Multiplier to_output = importer.multiplier(static_cast<double>(fine / out.scale[0]));
  const Multiplier to_relu = importer.multiplier(static_cast<double>(fine / relu_scale));
  if (to_output.exponent() > 0)
    return importer.refuse(op,
                           "the output's scale is below 1/128 of the input's, which the "
                           "reference refuses",
                           importer.output(op).name, "quantise the output with a greater scale");
  const int32_t output_factor = high16(to_output), relu_factor = high16(to_relu);
  const int left = to_relu.exponent();
  return finish_table(importer, op, in, out, [&](int x) {
    const int32_t v = (x - in.zero_point[0]) * 128;
    const int32_t linear = product16(v, output_factor);
    int32_t relu = v;
    if (left > 0) relu = saturate16(int64_t{relu} * (int64_t{1} << std::min(left - 1, 31)));
    relu = product16(relu, relu_factor);
    if (left > 0) relu = saturate16(int64_t{relu} * 2);
    if (left < 0) relu = shift_half_away_16(relu, -left);
    relu = (relu + 32768) >> 1;
    const int32_t product = relu * linear / 32768;  // towards zero
    return clamp_to(shift_half_away_16(product, -to_output.exponent()) + out.zero_point[0],
                    Limits::of_source(out));
  });
}

Status import_abs(Importer& importer, const Op& op) {
  Quant in, out;
  if (!importer.read_quants(op, 0, &in, &out)) return Status();
  if (refuse_uint8(importer, op, in) || refuse_int16_zero_points(importer, op, in, out))
    return Status();
  // The reference divides as float.
  const Multiplier m = importer.multiplier(static_cast<double>(in.scale[0] / out.scale[0]));
  if (!usable(importer, op, reach_bits(in), {m})) return Status();
  const bool rescale = in.scale[0] != out.scale[0];
  if (in.is_int16()) {
    const Below below{m, false, {-1}};
    return finish_requantize(importer, op, in, out, m, &below, Limits::of_source(out));
  }
  const Rounding rounding = importer.rounding();
  return finish_table(importer, op, in, out, [&](int x) {
    const int v = std::abs(x - in.zero_point[0]);
    return clamp_to(int64_t{rescale ? multiply(v, m, rounding) : v} + out.zero_point[0],
                    Limits::of_source(out));
  });
}

}  // namespace qrt::convert::from_tflite
