// SPDX-License-Identifier: Apache-2.0
// Elementwise operators of two tensors of 8 or 16 bits, broadcast as in numpy. integers.cc has those of int32.
#include <algorithm>
#include <cmath>

#include "converter/import/tflite/ops/formula.h"
#include "converter/import/tflite/ops/unary.h"
#include "kernels/fixed_point.h"

namespace qrt::convert::from_tflite {

Status check_broadcast(const Importer& importer, const Op& op) {
  const Shape &a = importer.input(op, 0).shape, &b = importer.input(op, 1).shape;
  const int rank = std::max(a.rank(), b.rank());
  Shape shape;
  for (int i = 0; i < rank; ++i) {
    const int in_a = i - rank + a.rank(), in_b = i - rank + b.rank();
    const int64_t da = in_a < 0 ? 1 : a[in_a], db = in_b < 0 ? 1 : b[in_b];
    QRT_MODEL_CHECK(da == db || da == 1 || db == 1, "shapes %s and %s do not broadcast",
                    a.to_string().c_str(), b.to_string().c_str());
    shape.push_back(std::max(da, db));
  }
  return check_output_shape(importer, op, shape);
}

namespace {

// Refuses int16 operands with zero points, as the reference does for all operators but sums.
// Returns whether the operator was refused.
bool refuse_zero_points(Importer& importer, const Op& op, const Quant& a, const Quant& b,
                        const Quant& out) {
  if (!out.is_int16() || (a.zero_point[0] == 0 && b.zero_point[0] == 0 && out.zero_point[0] == 0))
    return false;
  (void)importer.refuse(
      op, "an int16 tensor has a zero point other than 0, which the reference refuses",
      importer.output(op).name, "quantise 16-bit activations symmetrically");
  return true;
}

// Returns the number of bits by which operands are shifted left before they are added.
int left_shift_of(const Quant& out) { return out.is_int16() ? 15 : 20; }

// The three multipliers of a sum: from either operand's scale to the common scale, 2 * max /
// 2^left_shift, and from that to the output's.
struct SumMultipliers {
  Multiplier a, b, out;
};

// Computes multipliers in double for ADD and SUB of uint8, and in float for other SUB, as the reference does.
template <class Real>
SumMultipliers sum_multipliers(const Importer& importer, const Quant& a, const Quant& b,
                               const Quant& out) {
  const Real sa = a.scale[0], sb = b.scale[0], so = out.scale[0];
  const Real twice = 2 * std::max(sa, sb);
  const Real fine = static_cast<Real>(1 << left_shift_of(out)) * so;
  return {importer.multiplier(static_cast<double>(Real(sa / twice))),
          importer.multiplier(static_cast<double>(Real(sb / twice))),
          importer.multiplier(static_cast<double>(Real(twice / fine)))};
}

Status import_sum_of_two(Importer& importer, const Op& op, bool subtract,
                         tflite::ActivationFunctionType activation) {
  if (importer.output(op).type == TensorType::INT32)
    return import_integers(importer, op,
                           subtract ? fb::IntegerFunction::SUB : fb::IntegerFunction::ADD);
  Quant a, b, out;
  if (!importer.read_quants(op, 0, &a, &out, /*any_scale=*/true) ||
      !importer.read_quants(op, 1, &b, &out, /*any_scale=*/true))
    return Status();
  if (a.scale[0] == 0 || b.scale[0] == 0 || out.scale[0] == 0)
    return importer.refuse(op, "a scale is 0, at which the reference stops",
                           importer.output(op).name,
                           "calibrate again with samples in which this tensor takes its usual "
                           "values: qrt_convert --lint names the scales");
  QRT_TRY(check_broadcast(importer, op));
  const SumMultipliers m = subtract && out.type != DType::kUInt8
                               ? sum_multipliers<float>(importer, a, b, out)
                               : sum_multipliers<double>(importer, a, b, out);
  if (m.a.exponent() > 0 || m.b.exponent() > 0 || m.out.exponent() > 0)
    return importer.refuse(op,
                           "the scales make a multiplier of 1 or more, which the reference "
                           "refuses",
                           importer.output(op).name,
                           "calibrate again with samples in which this tensor takes its usual "
                           "values: qrt_convert --lint names the scales");
  auto requant = make_requant(importer, op, {m.out}, out, activation_limits(activation, out));
  if (!requant) return Status();
  const ValueId x = importer.value(op, 0), y = importer.value(op, 1);
  auto& o = importer.builder().add<fb::AddOptionsT>(op, {x, y}, importer.new_output(op, out));
  o.kind = fb::AddKind::INT;
  o.left_shift = static_cast<uint8_t>(left_shift_of(out));
  set_zero_point(a, &o.a_zero_point, &o.a_zero_point_16);
  set_zero_point(b, &o.b_zero_point, &o.b_zero_point_16);
  o.a_stages = requant_stages({m.a}, importer.rounding());
  o.b_stages = requant_stages({m.b}, importer.rounding());
  o.subtract = subtract;
  o.requant = std::move(requant);
  importer.became(op, "Add", "I0");
  return Status();
}

}  // namespace

Status import_add(Importer& importer, const Op& op) {
  return import_sum_of_two(importer, op, false,
                           op.options<tflite::AddOptions>().fused_activation_function);
}

Status import_sub(Importer& importer, const Op& op) {
  return import_sum_of_two(importer, op, true,
                           op.options<tflite::SubOptions>().fused_activation_function);
}

namespace {

// Returns the upper limit of an activation, as a real number; 0 for one without.
float limit_of(tflite::ActivationFunctionType activation) {
  using A = tflite::ActivationFunctionType;
  return activation == A::RELU6 ? 6.0f : activation == A::RELU_N1_TO_1 ? 1.0f : 0.0f;
}

}  // namespace

// Imports MUL. A scale may be 0 or tiny, for dead channels. The reference does not define the
// result then, so this is what it computes on 64-bit CPUs: with an output scale of 0 the quotient
// is infinite or no number, which becomes the multiplier 0 (x86-64; others stop), and products are
// shifted left modulo 2^32, by the exponent modulo 32.
Status import_mul(Importer& importer, const Op& op) {
  if (importer.output(op).type == TensorType::INT32)
    return import_integers(importer, op, fb::IntegerFunction::MUL);
  Quant a, b, out;
  if (!importer.read_quants(op, 0, &a, &out, /*any_scale=*/true) ||
      !importer.read_quants(op, 1, &b, &out, /*any_scale=*/true))
    return Status();
  if (refuse_zero_points(importer, op, a, b, out)) return Status();
  QRT_TRY(check_broadcast(importer, op));
  const auto activation = op.options<tflite::MulOptions>().fused_activation_function;
  if (activation != tflite::ActivationFunctionType::NONE &&
      !(limit_of(activation) / out.scale[0] <= 2147483648.0f))
    return importer.refuse(op,
                           "the limits of its activation are beyond int32, which the reference "
                           "refuses",
                           importer.output(op).name,
                           "export the activation as an operator of its own");
  const double scale = product_scale(a, b, out);
  const Multiplier m = std::isfinite(scale) ? importer.multiplier(scale) : Multiplier::q31(0, 0);
  // Products stay below 2^16, of int16 at most 2^30.
  const bool wraps = m.exponent() > (out.is_int16() ? 0 : 15);
  if (wraps && importer.rounding() == Rounding::kSingle)
    return importer.refuse(op, "the output's scale is too small beside the inputs'",
                           importer.output(op).name,
                           "calibrate again with samples in which this tensor takes its usual "
                           "values: qrt_convert --lint names the scales");
  auto requant = make_requant(importer, op, {wraps ? Multiplier::q31(m.value, 0) : m}, out,
                              activation_limits(activation, out));
  if (!requant) return Status();
  const ValueId x = importer.value(op, 0), y = importer.value(op, 1);
  if (wraps) {
    const ValueId product = formula(importer, op, {x, a.stored_zero_point(), {}},
                                    fb::FormulaPair::MULTIPLY, {y, b.stored_zero_point(), {}},
                                    {{fb::FormulaFunction::SHIFT_LEFT, m.exponent() % 32}}, {});
    importer.builder()
        .add<fb::RequantizeOptionsT>(op, {product}, importer.new_output(op, out))
        .requant = std::move(requant);
    importer.became(op, "Formula, Requantize", "I0");
    return Status();
  }
  auto& o = importer.builder().add<fb::MulOptionsT>(op, {x, y}, importer.new_output(op, out));
  set_zero_point(a, &o.a_zero_point, &o.a_zero_point_16);
  set_zero_point(b, &o.b_zero_point, &o.b_zero_point_16);
  o.requant = std::move(requant);
  importer.became(op, "Mul", "I0");
  return Status();
}

namespace {

// Returns int16 as int32, times a multiplier below 1.
ValueId scaled_int16(Importer& importer, const Op& op, ValueId x, Multiplier m) {
  GraphBuilder& builder = importer.builder();
  const ValueId y = builder.new_value("", DType::kInt32, builder.shape_of(x));
  builder.add<fb::RequantizeOptionsT>(op, {x}, y).requant =
      int_requant(0, {INT32_MIN, INT32_MAX}, requant_stages({m}, importer.rounding()));
  return y;
}

// Returns the square of the difference of two INT32 values.
ValueId squared_difference(Importer& importer, const Op& op, ValueId x, ValueId y) {
  GraphBuilder& builder = importer.builder();
  const Shape& shape = importer.output(op).shape;
  const ValueId d = builder.new_value("", DType::kInt32, shape);
  builder.add<fb::IntegerOptionsT>(op, {x, y}, d).function = fb::IntegerFunction::SUB;
  const ValueId square = builder.new_value("", DType::kInt32, shape);
  builder.add<fb::IntegerOptionsT>(op, {d, d}, square).function = fb::IntegerFunction::MUL;
  return square;
}

// Imports SQUARED_DIFFERENCE of int32 without quantisation.
Status import_int32_squared_difference(Importer& importer, const Op& op) {
  for (int i = 0; i < 2; ++i)
    if (importer.input(op, i).type != TensorType::INT32)
      return importer.refuse(op,
                             importer.quoted_input(op, i) + " is " +
                                 type_name(importer.input(op, i).type) + ", the output int32",
                             importer.input(op, i).name,
                             "build the model so that input and output have one type");
  QRT_TRY(check_broadcast(importer, op));
  const ValueId x = importer.value(op, 0), y = importer.value(op, 1);
  const ValueId square = squared_difference(importer, op, x, y);
  importer.graph().values[square].name = importer.output(op).name;
  importer.set_output(op, square);
  importer.became(op, "Integer", "I0");
  return Status();
}

}  // namespace

// Imports SQUARED_DIFFERENCE: for int8 as a table of the result of every pair of bytes, for int16
// and int32 as integer operators.
Status import_squared_difference(Importer& importer, const Op& op) {
  if (importer.output(op).type == TensorType::INT32)
    return import_int32_squared_difference(importer, op);
  Quant a, b, out;
  if (!importer.read_quants(op, 0, &a, &out) || !importer.read_quants(op, 1, &b, &out) ||
      refuse_uint8(importer, op, a) || refuse_zero_points(importer, op, a, b, out))
    return Status();
  QRT_TRY(check_broadcast(importer, op));
  constexpr int kLeft = 7;
  const double twice = 2 * static_cast<double>(std::max(a.scale[0], b.scale[0]));
  const float fine = static_cast<float>(out.is_int16() ? 1 : 1 << 2 * kLeft) * out.scale[0];
  const Multiplier of_a = importer.multiplier(static_cast<double>(a.scale[0]) / twice);
  const Multiplier of_b = importer.multiplier(static_cast<double>(b.scale[0]) / twice);
  const Multiplier to_out = importer.multiplier(twice * twice / static_cast<double>(fine));
  // Squares are at most 2^30.
  if (!usable(importer, op, out.is_int16() ? 31 : 30, {to_out})) return Status();
  if (out.is_int16()) {
    auto requant = make_requant(importer, op, {to_out}, out, Limits::of_source(out));
    if (!requant) return Status();
    const ValueId x = scaled_int16(importer, op, importer.value(op, 0), of_a);
    const ValueId y = scaled_int16(importer, op, importer.value(op, 1), of_b);
    const ValueId square = squared_difference(importer, op, x, y);
    importer.builder()
        .add<fb::RequantizeOptionsT>(op, {square}, importer.new_output(op, out))
        .requant = std::move(requant);
    importer.became(op, "Integer, Requantize", "I0");
    return Status();
  }
  const Rounding rounding = importer.rounding();
  const Limits limits = Limits::of_source(out);
  std::vector<uint8_t> table;
  for (int i = -128; i <= 127; ++i) {
    const int32_t x = multiply((i - a.zero_point[0]) * (1 << kLeft), of_a, rounding);
    for (int k = -128; k <= 127; ++k) {
      const int32_t d = x - multiply((k - b.zero_point[0]) * (1 << kLeft), of_b, rounding);
      const int64_t v = int64_t{multiply(d * d, to_out, rounding)} + out.zero_point[0];
      table.push_back(static_cast<uint8_t>(clamp_to(v, limits) + out.offset()));
    }
  }
  const ValueId x = importer.value(op, 0), y = importer.value(op, 1);
  importer.set_output(op, importer.builder().pair_lut(op, x, y, importer.output(op).shape,
                                                      DType::kUInt8, table, &out));
  importer.became(op, "PairLut", "I0");
  return Status();
}

namespace {

// Returns the quotient of two numbers of 8 bits as the reference computes it: x times the
// reciprocal of y, which has 31 bits, times the multiplier. For a division by 0, which the
// reference does not define, returns the int32 limit of x's sign, or 0.
int64_t quotient(int x, int y, Multiplier m, Rounding rounding) {
  if (y == 0) return x == 0 ? 0 : x < 0 ? INT32_MIN : INT32_MAX;
  if (y < 0) x = -x, y = -y;
  if (x == 0) return 0;
  const int leading = __builtin_clz(static_cast<unsigned>(y));
  const auto fraction = static_cast<int32_t>((static_cast<uint32_t>(y) << leading) - (1u << 31));
  const int32_t reciprocal = fixed::reciprocal_of_one_plus(fraction);
  const int headroom = __builtin_clrsb(x);
  const int32_t unscaled = multiply(x, Multiplier::q31(reciprocal, headroom), rounding);
  return multiply(unscaled, Multiplier::q31(m.value, m.exponent() - (31 - leading) - headroom),
                  rounding);
}

}  // namespace

// Imports DIV by a table of the int8 result of every pair of bytes.
Status import_div(Importer& importer, const Op& op) {
  if (importer.output(op).type == TensorType::INT32)
    return import_integers(importer, op, fb::IntegerFunction::DIV);
  Quant a, b, out;
  if (!importer.read_quants(op, 0, &a, &out) || !importer.read_quants(op, 1, &b, &out) ||
      refuse_uint8(importer, op, a))
    return Status();
  QRT_TRY(check_broadcast(importer, op));
  const float divisor = b.scale[0] * out.scale[0];
  const Multiplier m = importer.multiplier(static_cast<double>(a.scale[0] / divisor));
  // A quotient's shift counts 23 digits of a byte's and more, and the reference refuses to shift it left.
  if (!std::isnormal(divisor) || m.exponent() > 23)
    return importer.refuse(op, "the output's scale is too small beside the inputs'",
                           importer.output(op).name,
                           "calibrate again with samples in which this tensor takes its usual "
                           "values: qrt_convert --lint names the scales");
  const Rounding rounding = importer.rounding();
  const Limits limits =
      activation_limits(op.options<tflite::DivOptions>().fused_activation_function, out);
  std::vector<uint8_t> table;
  for (int i = -128; i <= 127; ++i)
    for (int k = -128; k <= 127; ++k) {
      const int64_t v = quotient(i - a.zero_point[0], k - b.zero_point[0], m, rounding);
      table.push_back(static_cast<uint8_t>(clamp_to(v + out.zero_point[0], limits) + out.offset()));
    }
  const ValueId x = importer.value(op, 0), y = importer.value(op, 1);
  importer.set_output(op, importer.builder().pair_lut(op, x, y, importer.output(op).shape,
                                                      DType::kUInt8, table, &out));
  importer.became(op, "PairLut", "I0");
  return Status();
}

}  // namespace qrt::convert::from_tflite
