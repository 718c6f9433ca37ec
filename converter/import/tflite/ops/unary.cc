// Operators of one 8-bit tensor become tables, evaluated here byte by byte as the reference kernels
// compute them; of one int16 tensor, stages on either side of the zero point, or greater tables.
// QUANTIZE and DEQUANTIZE stand at the model's edges, or change an integer's scale.
#include <algorithm>
#include <cmath>
#include <functional>
#include <initializer_list>

#include "converter/import/tflite/ops/handlers.h"
#include "converter/portable_math.h"
#include "kernels/fixed_point.h"
#include "kernels/recurrent/recurrent.h"

namespace qrt::convert::from_tflite {
namespace {

int clamp_to(int64_t v, Limits limits) {
  return static_cast<int>(std::clamp<int64_t>(v, limits.lo, limits.hi));
}

// f: a source integer of `in` -> a source integer of `out`.
std::vector<uint8_t> tabulate(const Quant& in, const Quant& out, const std::function<int(int)>& f) {
  std::vector<uint8_t> table(256);
  for (int stored = 0; stored < 256; ++stored)
    table[static_cast<size_t>(stored)] =
        static_cast<uint8_t>(f(stored - in.offset()) + out.offset());
  return table;
}

Status check_same_shape(const Importer& importer, const Op& op) {
  return check_output_shape(importer, op, importer.input(op, 0).shape);
}

// A table as output 0.
Status finish_table(Importer& importer, const Op& op, const Quant& in, const Quant& out,
                    const std::function<int(int)>& f) {
  QRT_TRY(check_same_shape(importer, op));
  importer.set_output(op, importer.lut(op, importer.value(op, 0), tabulate(in, out, f),
                                       importer.output(op).name, &out));
  importer.became(op, "Lut", "I0");
  return Status();
}

bool refuse_legacy(Importer& importer, const Op& op, const Quant& in) {
  if (in.type == TensorType::INT8) return false;
  (void)importer.refuse(op, "the input is uint8: only the int8 form of this operator is defined",
                        importer.input(op, 0).name, "quantise the model to int8");
  return true;
}

// The reference shifts x * 2^shift within int32: |x| may be below 2^bits. False: refused.
bool usable(Importer& importer, const Op& op, int bits,
            std::initializer_list<Multiplier> multipliers) {
  for (const Multiplier& m : multipliers) {
    if (m.shift <= 31 - bits) continue;
    (void)importer.refuse(op, "the output's scale is too small beside the input's",
                          importer.output(op).name, "quantise the model with scales of usual size");
    return false;
  }
  return true;
}

// Of int16: the scaled input as a multiple of 3 * 2^-12, and a table with interpolation.
// `greatest_shift`: scales of a power of two up to 2^(shift - 12) are taken exactly.
Status import_saturating_16(Importer& importer, const Op& op, const Quant& in, const Quant& out,
                            int greatest_shift, int32_t (*f)(int32_t)) {
  // The reference's float logarithms, rounded to the nearest.
  const auto log_of = [](float v) {
    return static_cast<float>(portable_log(static_cast<double>(v)));
  };
  const auto log2_of = [&](float scale) { return log_of(scale) * (1.0f / log_of(2.0f)); };
  const float out_log2 = log2_of(out.scale);
  if (in.zero_point != 0 || out.zero_point != 0 || std::fabs(out_log2 + 15.0f) >= 1e-3f)
    return importer.refuse(op,
                           "the zero points are not 0 or the output's scale is not 2^-15, which "
                           "the reference refuses",
                           importer.output(op).name, "quantise the output with scale 1/32768");
  QRT_TRY(check_same_shape(importer, op));
  const float in_log2 = log2_of(in.scale);
  int shift = 12 + static_cast<int>(std::round(in_log2));
  double multiplier = 3;
  if (std::fabs(in_log2 - std::round(in_log2)) < 1e-3f && shift >= 0 && shift <= greatest_shift) {
    multiplier *= 1 << shift;
    shift = 0;
  } else {
    multiplier = static_cast<double>(in.scale) * 4096.0 * 3.0;
    for (shift = 0; multiplier <= 32767.0 / 2.0 && shift <= 30; ++shift) multiplier *= 2;
  }
  if (multiplier > 65535)
    return importer.refuse(op, "the input's scale is beyond 5.33, where the reference overflows",
                           importer.input(op, 0).name, "quantise the input with a smaller scale");
  const int64_t m = static_cast<int64_t>(multiplier),
                half = shift > 0 ? int64_t{1} << (shift - 1) : 0;
  std::vector<int16_t> table;
  for (int64_t x = INT16_MIN; x <= INT16_MAX; ++x)
    table.push_back(static_cast<int16_t>(f(static_cast<int32_t>((x * m + half) >> shift))));
  importer.set_output(op, importer.lut_16(op, importer.value(op, 0), table, out));
  importer.became(op, "Lut", "I0");
  return Status();
}

// Logistic and tanh share their range reduction: a Q4.27 number, or beyond +-15 * 2^27 / 2^left the
// limit.
Status import_saturating(Importer& importer, const Op& op, const Quant& in, const Quant& out,
                         int32_t (*f)(int32_t), int result_shift, int result_offset) {
  if (refuse_legacy(importer, op, in)) return Status();
  const Multiplier m = importer.multiplier(std::ldexp(static_cast<double>(in.scale), 27));
  const double radius = std::floor(std::ldexp(15.0, 27 - m.shift));
  const Rounding rounding = importer.rounding();
  return finish_table(importer, op, in, out, [&](int x) {
    const int v = x - in.zero_point;
    if (v <= -radius) return -128;
    if (v >= radius) return 127;
    return clamp_to(
        fixed::shift_half_away(f(multiply(v, m, rounding)), result_shift) + result_offset,
        out.limits());
  });
}

// What lies below the zero point has stages of its own, of its product with a slope; negated.
struct Below {
  Multiplier multiplier;
  bool negate = false;
  std::vector<int16_t> slopes;  // none: 1
};

// y = clamp(x * m) as output 0, below the input's zero point by `below`, if any. Of 16 or 32 bits.
Status finish_requantize(Importer& importer, const Op& op, const Quant& in, const Quant& out,
                         Multiplier m, const Below* below, Limits limits) {
  QRT_TRY(check_same_shape(importer, op));
  auto requant = importer.requant(op, {m}, out, limits);
  if (!requant) return Status();
  std::vector<ValueId> inputs = {importer.value(op, 0)};
  if (below && !below->slopes.empty())
    inputs.push_back(importer.graph().add_constant(
        "", DType::kInt16, {static_cast<int64_t>(below->slopes.size())}, below->slopes));
  auto& o = importer.add_node<fb::RequantizeOptionsT>(op, inputs, importer.new_output(op, out));
  o.input_zero_point = in.stored_zero_point();
  o.requant = std::move(requant);
  if (below) {
    o.negative = requant_stages({below->multiplier}, importer.rounding());
    o.negate_negative = below->negate;
  }
  importer.became(op, "Requantize", "I0");
  return Status();
}

// Bits that |x - zero point| takes at most.
int reach_bits(const Quant& q) { return q.is_wide() ? 16 : 8; }

Status import_relu_within(Importer& importer, const Op& op,
                          tflite::ActivationFunctionType activation) {
  Quant in, out;
  if (!importer.read_quants(op, 0, &in, &out)) return Status();
  const Multiplier m = importer.multiplier(static_cast<double>(in.scale / out.scale));
  if (!usable(importer, op, reach_bits(in), {m})) return Status();
  const Limits limits = activation_limits(activation, out.scale, out.zero_point, out.limits());
  if (in.is_wide()) return finish_requantize(importer, op, in, out, m, nullptr, limits);
  const Rounding rounding = importer.rounding();
  return finish_table(importer, op, in, out, [&](int x) {
    return clamp_to(int64_t{multiply(x - in.zero_point, m, rounding)} + out.zero_point, limits);
  });
}

int32_t product16(int32_t a, int32_t b) { return (a * b + (1 << 14)) >> 15; }

int32_t saturate16(int64_t v) {
  return static_cast<int32_t>(std::clamp<int64_t>(v, -32768, 32767));
}

// The high half of a multiplier, rounded.
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
  if (in.is_wide()) return import_saturating_16(importer, op, in, out, 0, sigmoid_q15);
  return import_saturating(importer, op, in, out, logistic_q4, 23, -128);
}

Status import_tanh(Importer& importer, const Op& op) {
  Quant in, out;
  if (!importer.read_quants(op, 0, &in, &out)) return Status();
  if (in.is_wide()) return import_saturating_16(importer, op, in, out, 1, tanh_q15);
  return import_saturating(importer, op, in, out, tanh_q4, 24, 0);
}

Status import_relu(Importer& importer, const Op& op) {
  return import_relu_within(importer, op, tflite::ActivationFunctionType::RELU);
}

Status import_relu_n1_to_1(Importer& importer, const Op& op) {
  return import_relu_within(importer, op, tflite::ActivationFunctionType::RELU_N1_TO_1);
}

// No change of scale: the reference clamps by the input's parameters and never reads the output's.
Status import_relu6(Importer& importer, const Op& op) {
  Quant in, out;
  if (!importer.read_quants(op, 0, &in, &out)) return Status();
  const Limits limits = activation_limits(tflite::ActivationFunctionType::RELU6, in.scale,
                                          in.zero_point, in.limits());
  if (in.is_wide()) {
    QRT_TRY(check_same_shape(importer, op));
    const ValueId y = importer.limit(op, importer.value(op, 0), out, limits);
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
  const Multiplier identity = importer.multiplier(static_cast<double>(in.scale / out.scale));
  const float scaled = in.scale * alpha;
  Multiplier slope = importer.multiplier(static_cast<double>(scaled / out.scale));
  const bool negative = slope.value < 0;
  if (negative) slope.value = -slope.value;
  if (!usable(importer, op, reach_bits(in), {identity, slope})) return Status();
  if (in.is_wide()) {
    const Below below{slope, negative, {}};
    return finish_requantize(importer, op, in, out, identity, &below, out.limits());
  }
  return finish_table(importer, op, in, out, [&](int x) {
    const int v = x - in.zero_point;
    const int64_t steps = v >= 0 ? multiply(v, identity, rounding)
                                 : (negative ? -1 : 1) * int64_t{multiply(v, slope, rounding)};
    return clamp_to(steps + out.zero_point, out.limits());
  });
}

namespace {

// A slope of PRELU less its zero point; 8 bits.
int slope_at(const Tensor& slopes, const Quant& quant, int64_t c) {
  const uint8_t byte = slopes.data[c];
  return (quant.type == TensorType::INT8 ? static_cast<int8_t>(byte) : byte) - quant.zero_point;
}

}  // namespace

// One slope for each index of the last dimension, or one for all.
Status import_prelu(Importer& importer, const Op& op) {
  Quant in, out, alpha;
  if (!importer.read_quants(op, 0, &in, &out)) return Status();
  const Tensor& a = importer.input(op, 1);
  if (!importer.read_quant(op, a, &alpha)) return Status();
  if (alpha.is_wide())
    return importer.refuse(op, importer.quoted_input(op, 1) + " is int16: the reference takes int8",
                           a.name, "quantise the slopes to int8");
  QRT_TRY(check_same_shape(importer, op));
  const Shape& x = importer.input(op, 0).shape;
  const int64_t slopes = a.shape.elements();
  const bool last_only = a.shape.rank() == 0 || a.shape[a.shape.rank() - 1] == slopes;
  if (!a.is_constant || !last_only || (slopes != 1 && (x.rank() == 0 || x[x.rank() - 1] != slopes)))
    return importer.refuse(op, importer.quoted_input(op, 1) + " is not one constant per channel",
                           a.name, "share the slopes over all dimensions but the last");
  const double in_scale = in.scale, out_scale = out.scale;
  const Multiplier positive = importer.multiplier(in_scale / out_scale);
  const Multiplier negative =
      importer.multiplier(in_scale * static_cast<double>(alpha.scale) / out_scale);
  if (!usable(importer, op, reach_bits(in), {positive}) ||
      !usable(importer, op, reach_bits(in) + 8, {negative}))
    return Status();
  if (in.is_wide()) {
    Below below{negative, false, {}};
    for (int64_t c = 0; c < slopes; ++c)
      below.slopes.push_back(static_cast<int16_t>(slope_at(a, alpha, c)));
    return finish_requantize(importer, op, in, out, positive, &below, out.limits());
  }
  const Rounding rounding = importer.rounding();
  std::vector<uint8_t> tables;
  for (int64_t c = 0; c < slopes; ++c) {
    const int slope = slope_at(a, alpha, c);
    const auto table = tabulate(in, out, [&](int q) {
      const int v = q - in.zero_point;
      const int64_t steps =
          v >= 0 ? multiply(v, positive, rounding) : multiply(v * slope, negative, rounding);
      return clamp_to(steps + out.zero_point, out.limits());
    });
    tables.insert(tables.end(), table.begin(), table.end());
  }
  importer.set_output(
      op, importer.lut(op, importer.value(op, 0), tables, importer.output(op).name, &out));
  importer.became(op, "Lut", "I0");
  return Status();
}

Status import_hard_swish(Importer& importer, const Op& op) {
  Quant in, out;
  if (!importer.read_quants(op, 0, &in, &out)) return Status();
  const float fine = (1.0f / 128.0f) * in.scale, relu_scale = 3.0f / 32768.0f;
  const Multiplier to_output = importer.multiplier(static_cast<double>(fine / out.scale));
  const Multiplier to_relu = importer.multiplier(static_cast<double>(fine / relu_scale));
  if (to_output.shift > 0)
    return importer.refuse(op,
                           "the output's scale is below 1/128 of the input's, which the "
                           "reference refuses",
                           importer.output(op).name, "quantise the output with a greater scale");
  const int32_t output_factor = high16(to_output), relu_factor = high16(to_relu);
  const int left = to_relu.shift;
  return finish_table(importer, op, in, out, [&](int x) {
    const int32_t v = (x - in.zero_point) * 128;
    const int32_t linear = product16(v, output_factor);
    int32_t relu = v;
    if (left > 0) relu = saturate16(int64_t{relu} * (int64_t{1} << std::min(left - 1, 31)));
    relu = product16(relu, relu_factor);
    if (left > 0) relu = saturate16(int64_t{relu} * 2);
    if (left < 0) relu = static_cast<int32_t>(fixed::shift_half_away(relu, -left));
    relu = (relu + 32768) >> 1;
    const int32_t product = relu * linear / 32768;  // towards zero
    return clamp_to(fixed::shift_half_away(product, -to_output.shift) + out.zero_point,
                    out.limits());
  });
}

// Computed in float by the reference, exp by its C library: here the float nearest to the real one.
Status import_elu(Importer& importer, const Op& op) {
  Quant in, out;
  if (!importer.read_quants(op, 0, &in, &out) || refuse_legacy(importer, op, in)) return Status();
  const float inverse = 1 / out.scale;
  return finish_table(importer, op, in, out, [&](int x) {
    const float real = in.scale * static_cast<float>(x - in.zero_point);
    // exp(-100) is 0 beside 1.
    const double bounded = std::max(static_cast<double>(real), -100.0);
    const float value = real < 0 ? static_cast<float>(portable_exp(bounded)) - 1.0f : real;
    const float steps = std::round(value * inverse) + static_cast<float>(out.zero_point);
    return static_cast<int>(std::clamp(steps, -128.0f, 127.0f));
  });
}

Status import_abs(Importer& importer, const Op& op) {
  Quant in, out;
  if (!importer.read_quants(op, 0, &in, &out)) return Status();
  if (!in.is_wide() && refuse_legacy(importer, op, in)) return Status();
  const Multiplier m =
      importer.multiplier(static_cast<double>(in.scale) / static_cast<double>(out.scale));
  if (!usable(importer, op, reach_bits(in), {m})) return Status();
  const bool rescale = in.scale != out.scale;
  if (in.is_wide()) {
    const Below below{m, false, {-1}};
    return finish_requantize(importer, op, in, out, m, &below, out.limits());
  }
  const Rounding rounding = importer.rounding();
  return finish_table(importer, op, in, out, [&](int x) {
    const int v = std::abs(x - in.zero_point);
    return clamp_to(int64_t{rescale ? multiply(v, m, rounding) : v} + out.zero_point, out.limits());
  });
}

namespace {

// The parameters of an integer that QUANTIZE reads or makes: also int32, without a zero point.
bool read_integer_quant(Importer& importer, const Op& op, const Tensor& tensor, Quant* quant) {
  if (tensor.type != TensorType::INT32) return importer.read_quant(op, tensor, quant);
  quant->type = tensor.type;
  if (tensor.scale.size() == 1 && std::isnormal(tensor.scale[0]) && tensor.scale[0] > 0 &&
      tensor.zero_point[0] == 0) {
    quant->scale = tensor.scale[0];
    return true;
  }
  (void)importer.refuse(op, "the int32 tensor '" + tensor.name + "' has no scale or a zero point",
                        tensor.name, "quantise it with one scale and zero point 0");
  return false;
}

// Between integers of which one has 16 or 32 bits. The reference has no uint8 here.
Status import_wide_requantize(Importer& importer, const Op& op, const Quant& in, const Quant& out) {
  const auto allowed = [](TensorType from, TensorType to) {
    if (from == TensorType::INT8) return to == TensorType::INT16 || to == TensorType::INT32;
    if (from == TensorType::INT32) return to == TensorType::INT8 || to == TensorType::INT16;
    return from == TensorType::INT16 &&
           (to == TensorType::INT8 || to == TensorType::INT16 || to == TensorType::INT32);
  };
  if (!allowed(in.type, out.type))
    return importer.refuse(op,
                           std::string(type_name(in.type)) + " to " + type_name(out.type) +
                               " is not defined by the reference kernels",
                           importer.output(op).name, "quantise the model to int8 or int16");
  const Multiplier m =
      importer.multiplier(static_cast<double>(in.scale) / static_cast<double>(out.scale));
  const bool from_32 = in.type == TensorType::INT32;
  if (!usable(importer, op, from_32 ? 31 : reach_bits(in), {m})) return Status();
  return finish_requantize(importer, op, in, out, m, nullptr, out.limits());
}

}  // namespace

Status import_quantize(Importer& importer, const Op& op) {
  Quant in, out;
  if (!read_integer_quant(importer, op, importer.output(op), &out)) return Status();
  if (importer.input(op, 0).type == TensorType::FLOAT32) {
    if (out.type == TensorType::INT32)
      return importer.refuse(op, "float32 to int32 is not defined by the reference kernels",
                             importer.output(op).name, "quantise to int8 or int16");
    QRT_TRY(check_same_shape(importer, op));
    const ValueId x = importer.value(op, 0);
    if (x == kNoValue)
      return importer.refuse(op, importer.quoted_input(op, 0) + " is a float constant",
                             importer.input(op, 0).name, "quantise the constant");
    auto& o = importer.add_node<fb::QuantizeOptionsT>(op, {x}, importer.new_output(op, out));
    uint32_t bits;
    __builtin_memcpy(&bits, &out.scale, sizeof bits);
    o.scale = {bits};
    o.zero_point = {out.stored_zero_point()};
    o.rounding = fb::Rounding::HALF_AWAY;
    importer.became(op, "Quantize", "edge");
    return Status();
  }
  if (!read_integer_quant(importer, op, importer.input(op, 0), &in)) return Status();
  if (in.is_wide() || out.is_wide() || in.type == TensorType::INT32 ||
      out.type == TensorType::INT32)
    return import_wide_requantize(importer, op, in, out);
  if (in.type == TensorType::UINT8 && out.type == TensorType::UINT8)
    return importer.refuse(op, "uint8 to uint8 is not defined by the reference kernels",
                           importer.input(op, 0).name, "quantise the model to int8");
  const Multiplier m =
      importer.multiplier(static_cast<double>(in.scale) / static_cast<double>(out.scale));
  if (!usable(importer, op, 8, {m})) return Status();
  const Rounding rounding = importer.rounding();
  return finish_table(importer, op, in, out, [&](int x) {
    return clamp_to(int64_t{multiply(x - in.zero_point, m, rounding)} + out.zero_point,
                    out.limits());
  });
}

Status import_dequantize(Importer& importer, const Op& op) {
  Quant in;
  if (!importer.read_quant(op, importer.input(op, 0), &in)) return Status();
  if (importer.output(op).type != TensorType::FLOAT32)
    return importer.refuse(op, std::string("the output is ") + type_name(importer.output(op).type),
                           importer.output(op).name, "dequantise to float32");
  QRT_TRY(check_same_shape(importer, op));
  const ValueId x = importer.value(op, 0);
  const ValueId y =
      importer.new_value(importer.output(op).name, DType::kFloat32, importer.output(op).shape);
  auto& o = importer.add_node<fb::DequantizeOptionsT>(op, {x}, y);
  uint32_t bits;
  __builtin_memcpy(&bits, &in.scale, sizeof bits);
  o.scale = {bits};
  o.zero_point = {in.stored_zero_point()};
  importer.set_output(op, y);
  importer.became(op, "Dequantize", "edge");
  return Status();
}

}  // namespace qrt::convert::from_tflite
