// Elementwise operators of two tensors of 8 or 16 bits, broadcast as in numpy. Of int32: integers.cc.
#include <algorithm>

#include "converter/import/tflite/ops/unary.h"

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

// The reference refuses int16 operands with zero points. True: the operator was refused.
bool refuse_zero_points(Importer& importer, const Op& op, const Quant& a, const Quant& b,
                        const Quant& out) {
  if (!out.is_int16() || (a.zero_point[0] == 0 && b.zero_point[0] == 0 && out.zero_point[0] == 0))
    return false;
  (void)importer.refuse(
      op, "an int16 tensor has a zero point other than 0, which the reference refuses",
      importer.output(op).name, "quantise 16-bit activations symmetrically");
  return true;
}

// Bits by which operands are scaled up before they meet.
int left_shift_of(const Quant& out) { return out.is_int16() ? 15 : 20; }

// The three multipliers of a sum: of either operand to the common scale 2 * max / 2^left shift, and
// of that to the output's.
struct SumMultipliers {
  Multiplier a, b, out;
};

// The reference computes them in double for ADD and SUB of uint8, in float for other SUB.
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
  if (!importer.read_quants(op, 0, &a, &out) || !importer.read_quants(op, 1, &b, &out))
    return Status();
  if (refuse_zero_points(importer, op, a, b, out)) return Status();
  QRT_TRY(check_broadcast(importer, op));
  const SumMultipliers m = subtract && out.type != DType::kUInt8
                               ? sum_multipliers<float>(importer, a, b, out)
                               : sum_multipliers<double>(importer, a, b, out);
  if (m.a.exponent() > 0 || m.b.exponent() > 0 || m.out.exponent() > 0)
    return importer.refuse(op,
                           "the scales make a multiplier of 1 or more, which the reference "
                           "refuses",
                           importer.output(op).name, "quantise the model with usual scales");
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

Status import_mul(Importer& importer, const Op& op) {
  if (importer.output(op).type == TensorType::INT32)
    return import_integers(importer, op, fb::IntegerFunction::MUL);
  Quant a, b, out;
  if (!importer.read_quants(op, 0, &a, &out) || !importer.read_quants(op, 1, &b, &out))
    return Status();
  if (refuse_zero_points(importer, op, a, b, out)) return Status();
  QRT_TRY(check_broadcast(importer, op));
  const Multiplier m = importer.multiplier(product_scale(a, b, out));
  // Products stay below 2^16, of int16 at most 2^30; the reference shifts them left within int32.
  if (m.exponent() > (out.is_int16() ? 0 : 15))
    return importer.refuse(op, "the output's scale is too small beside the inputs'",
                           importer.output(op).name, "quantise the model with usual scales");
  auto requant = make_requant(
      importer, op, {m}, out,
      activation_limits(op.options<tflite::MulOptions>().fused_activation_function, out));
  if (!requant) return Status();
  const ValueId x = importer.value(op, 0), y = importer.value(op, 1);
  auto& o = importer.builder().add<fb::MulOptionsT>(op, {x, y}, importer.new_output(op, out));
  set_zero_point(a, &o.a_zero_point, &o.a_zero_point_16);
  set_zero_point(b, &o.b_zero_point, &o.b_zero_point_16);
  o.requant = std::move(requant);
  importer.became(op, "Mul", "I0");
  return Status();
}

// int8 only: every pair of bytes has its result in a table.
Status import_squared_difference(Importer& importer, const Op& op) {
  Quant a, b, out;
  if (!importer.read_quants(op, 0, &a, &out) || !importer.read_quants(op, 1, &b, &out) ||
      refuse_uint8(importer, op, a))
    return Status();
  QRT_TRY(check_broadcast(importer, op));
  constexpr int kLeft = 7;
  const double twice = 2 * static_cast<double>(std::max(a.scale[0], b.scale[0]));
  const float fine = static_cast<float>(1 << 2 * kLeft) * out.scale[0];
  const Multiplier of_a = importer.multiplier(static_cast<double>(a.scale[0]) / twice);
  const Multiplier of_b = importer.multiplier(static_cast<double>(b.scale[0]) / twice);
  const Multiplier to_out = importer.multiplier(twice * twice / static_cast<double>(fine));
  if (!usable(importer, op, 30, {to_out})) return Status();
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

}  // namespace qrt::convert::from_tflite
