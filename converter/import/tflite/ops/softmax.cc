// SPDX-License-Identifier: Apache-2.0
// SOFTMAX and LOG_SOFTMAX. For int16 there are two tables of 513 entries. For bytes every difference to a row's
// greatest value has its exponential in a table, made here as the reference kernel computes it: for int8 in
// integers, for uint8 in float.
#include <algorithm>
#include <cmath>

#include "converter/import/tflite/ops/unary.h"
#include "converter/portable_math.h"
#include "kernels/fixed_point.h"
#include "kernels/softmax/softmax_int.h"
#include "kernels/softmax/softmax_int16.h"

namespace qrt::convert::from_tflite {
namespace {

// Differences d of codes to a row's greatest, -255 to 0, as Q5.26: d * multiplier, from `least` on.
struct Differences {
  Multiplier multiplier;
  double least;

  Differences(double beta_times_scale, Rounding rounding) {
    const double limit = rounding == Rounding::kSingle ? 1073741823.0 : 2147483647.0;
    multiplier = quantize_multiplier(std::min(std::ldexp(beta_times_scale, 26), limit), rounding);
    least = -std::floor(std::ldexp(31.0, 26 - multiplier.exponent()));
  }
};

// Returns exp(d * beta * scale) for d = -255..0 as Q0.31; -1 where the reference counts it as 0.
std::vector<int32_t> exponentials(const Differences& differences, Rounding rounding) {
  std::vector<int32_t> table(256, -1);
  for (int d = -255; d <= 0; ++d)
    if (d >= differences.least)
      table[static_cast<size_t>(d + 255)] =
          fixed::exp_of_negative(multiply(d, differences.multiplier, rounding), 5);
  return table;
}

Status import_softmax_int16(Importer& importer, const Op& op, const Quant& in, const Quant& out) {
  const Tensor &x = importer.input(op, 0), &y = importer.output(op);
  if (in.zero_point[0] != 0 || out.zero_point[0] != 0 ||
      std::fabs(out.scale[0] - 1.0f / 32768) > 0.001f / 32768)
    return importer.refuse(op,
                           "the zero points are not 0 or the output's scale is not 1/32768, which "
                           "the reference takes for granted",
                           y.name, "quantise the output with scale 1/32768 and zero point 0");
  QRT_TRY(check_output_shape(importer, op, x.shape));
  QRT_MODEL_CHECK(x.shape.rank() >= 1 && x.shape.elements() > 0, "the input has shape %s",
                  x.shape.to_string().c_str());
  if (x.shape[x.shape.rank() - 1] > static_cast<int64_t>(kMaxSoftmaxInt16Row))
    return importer.refuse(
        op, "rows of more than 65536 values overflow the reference's sum", x.name,
        "split the rows into shorter ones, or take the class by ARG_MAX instead");
  const double beta = static_cast<double>(op.options<tflite::SoftmaxOptions>().beta);
  QRT_MODEL_CHECK(std::isfinite(beta) && beta >= 0, "beta is %g", beta);
  const Multiplier m =
      importer.multiplier(static_cast<double>(in.scale[0]) * beta / (10.0 / 65535.0));
  // Differences stay below 2^16; the reference shifts them left within int32.
  if (m.exponent() > 15)
    return importer.refuse(op, "the input's scale times beta is beyond 5", x.name,
                           "quantise the input with a smaller scale");
  const float unit = 2.0f / 65535.0f;
  std::vector<int16_t> tables = sampled_table(
      [](float v) { return static_cast<float>(portable_exp(static_cast<double>(v))); },
      10.0f / 65535.0f, INT16_MAX, unit);
  const std::vector<int16_t> reciprocals =
      sampled_table([](float v) { return 1.0f / (1.0f + v); }, 1.0f / 65535.0f, INT16_MIN, unit);
  tables.insert(tables.end(), reciprocals.begin(), reciprocals.end());
  const ValueId table = importer.graph().add_constant(
      "", DType::kInt16, {static_cast<int64_t>(tables.size())}, tables);
  const ValueId value = importer.value(op, 0);
  auto& o =
      importer.builder().add<fb::SoftmaxOptionsT>(op, {value, table}, importer.new_output(op, out));
  o.kind = fb::SoftmaxKind::INT16;
  o.stages = requant_stages({m}, importer.rounding());
  importer.became(op, "Softmax", "I0");
  return Status();
}

// Imports SOFTMAX of uint8. TFLite's interpreter has one kernel for it, whose sums and quotients
// are float32; for exp by its C library, the float nearest to the real number is taken. On aarch64
// the kernel rounds 0.49999997 down, elsewhere up, which is taken here.
Status import_softmax_uint8(Importer& importer, const Op& op, const Quant& in, const Quant& out) {
  const Tensor& y = importer.output(op);
  if (out.scale[0] < 1.0f / 256 || out.scale[0] > 1 || out.zero_point[0] != 0)
    return importer.refuse(op, "the output's zero point is not 0, or its scale below 1/256", y.name,
                           "quantise the output with scale 1/256 and zero point 0");
  const float beta = op.options<tflite::SoftmaxOptions>().beta;
  QRT_MODEL_CHECK(std::isfinite(beta) && beta >= 0, "beta is %g", static_cast<double>(beta));
  const float scale = -in.scale[0] * beta;
  std::vector<float> table(256);
  for (int d = 0; d <= 255; ++d) {
    const double at = static_cast<double>(scale * static_cast<float>(d));
    table[static_cast<size_t>(255 - d)] = static_cast<float>(portable_exp(std::max(at, -200.0)));
  }
  const ValueId exponential = importer.graph().add_constant("", DType::kFloat32, {256}, table);
  const ValueId value = importer.value(op, 0);
  auto& o = importer.builder().add<fb::SoftmaxOptionsT>(op, {value, exponential},
                                                        importer.new_output(op, out));
  o.kind = fb::SoftmaxKind::F32_RECIPROCAL;
  o.output_scale = float_bits(out.scale[0]);
  importer.became(op, "Softmax", "I1");
  return Status();
}

// Imports SOFTMAX of floats that the codes of one tensor of bytes stand for, greater codes for greater floats;
// the floats nearest to the real exponentials.
Status import_softmax_floats(Importer& importer, const Op& op) {
  const Tensor &x = importer.input(op, 0), &y = importer.output(op);
  const Real* real = importer.real(op, 0);
  if (!real || real->is_pair() || real->is_constant() ||
      !std::all_of(real->table.begin(), real->table.end(),
                   [](float v) { return std::isfinite(v); }) ||
      !std::is_sorted(real->table.begin(), real->table.end()))
    return importer.refuse(op,
                           importer.quoted_input(op, 0) +
                               " is float32, and not what DEQUANTIZE makes of one tensor of bytes",
                           x.name,
                           "convert the model with full integer quantisation: "
                           "representative_dataset and TFLITE_BUILTINS_INT8 in TFLite's converter");
  QRT_TRY(check_same_shape(importer, op));
  QRT_MODEL_CHECK(x.shape.rank() >= 1 && x.shape.elements() > 0, "the input has shape %s",
                  x.shape.to_string().c_str());
  const float beta = op.options<tflite::SoftmaxOptions>().beta;
  QRT_MODEL_CHECK(std::isfinite(beta) && beta >= 0, "beta is %g", static_cast<double>(beta));
  std::vector<float> table(65536);
  for (size_t m = 0; m < 256; ++m)
    for (size_t q = 0; q <= m; ++q) {
      const float at = (real->table[q] - real->table[m]) * beta;
      table[256 * m + q] =
          static_cast<float>(portable_exp(std::max(static_cast<double>(at), -200.0)));
    }
  GraphBuilder& builder = importer.builder();
  const ValueId pairs = importer.graph().add_constant("", DType::kFloat32, {65536}, table);
  const ValueId codes =
      builder.shape_of(real->a) == x.shape ? real->a : builder.reshape(op, real->a, x.shape);
  const ValueId made = builder.new_value(y.name, DType::kFloat32, y.shape);
  builder.add<fb::SoftmaxOptionsT>(op, {codes, pairs}, made).kind = fb::SoftmaxKind::F32;
  importer.set_output(op, made);
  importer.became(op, "Softmax", "I1");
  return Status();
}

}  // namespace

Status import_log_softmax(Importer& importer, const Op& op) {
  Quant in, out;
  const Tensor &x = importer.input(op, 0), &y = importer.output(op);
  if (!importer.read_quants(op, 0, &in, &out) || refuse_uint8(importer, op, in)) return Status();
  if (out.scale[0] != 16.0f / 256 || out.zero_point[0] != 127)
    return importer.refuse(op,
                           "the output's scale and zero point are not 1/16 and 127, which the "
                           "reference takes for granted",
                           y.name, "quantise the output with scale 1/16 and zero point 127");
  QRT_TRY(check_same_shape(importer, op));
  QRT_MODEL_CHECK(x.shape.rank() >= 1 && x.shape.elements() > 0, "the input has shape %s",
                  x.shape.to_string().c_str());
  if (x.shape[x.shape.rank() - 1] > static_cast<int64_t>(kMaxSoftmaxIntRow))
    return importer.refuse(
        op, "rows of more than 4095 values overflow the reference's sum", x.name,
        "split the rows into shorter ones, or take the class by ARG_MAX instead");
  const Rounding rounding = importer.rounding();
  const Differences differences(static_cast<double>(in.scale[0]), rounding);
  const Multiplier& m = differences.multiplier;
  // From Q5.26 back to steps of the input.
  const double back =
      m.exponent() >= 1 && m.exponent() <= 31 ? std::ldexp(1.0, 31 - m.exponent()) / m.value : 1;
  if (back >= 1)
    return importer.refuse(op, "the input's scale is 2^-26 or less, which the reference refuses",
                           x.name, "quantise the input with a greater scale");
  std::vector<int32_t> table = exponentials(differences, rounding);
  for (int d = -255; d <= 0; ++d)
    table.push_back(table[static_cast<size_t>(d + 255)] < 0 ? 0 : multiply(d, m, rounding));
  const ValueId tables = importer.graph().add_constant("", DType::kInt32, {512}, table);
  const ValueId value = importer.value(op, 0);
  auto& o = importer.builder().add<fb::SoftmaxOptionsT>(op, {value, tables},
                                                        importer.new_output(op, out));
  o.kind = fb::SoftmaxKind::Q5_26;
  o.stages = requant_stages({importer.multiplier(back)}, rounding);
  importer.became(op, "Softmax", "I0");
  return Status();
}

Status import_softmax(Importer& importer, const Op& op) {
  Quant in, out;
  const Tensor &x = importer.input(op, 0), &y = importer.output(op);
  if (x.type == TensorType::FLOAT32 && y.type == TensorType::FLOAT32)
    return import_softmax_floats(importer, op);
  const bool to_16 = x.type == TensorType::INT8 && y.type == TensorType::INT16;
  const bool known = to_16 ? importer.read_quant(op, x, &in) && importer.read_quant(op, y, &out)
                           : importer.read_quants(op, 0, &in, &out);
  if (!known) return Status();
  if (in.is_int16()) return import_softmax_int16(importer, op, in, out);
  if (to_16 &&
      (std::fabs(out.scale[0] - 1.0f / 65536) > 0.001f / 65536 || out.zero_point[0] != -32768))
    return importer.refuse(op,
                           "the output's scale and zero point are not 1/65536 and -32768, which "
                           "the reference takes for granted",
                           y.name, "quantise the output with scale 1/65536 and zero point -32768");
  const bool legacy = in.type == DType::kUInt8;
  if (!to_16 && !legacy && (out.scale[0] != 1.0f / 256 || out.zero_point[0] != -128))
    return importer.refuse(op,
                           "the output's scale and zero point are not 1/256 and -128, which the "
                           "reference takes for granted",
                           y.name, "quantise the output with scale 1/256 and zero point -128");
  QRT_TRY(check_output_shape(importer, op, x.shape));
  QRT_MODEL_CHECK(x.shape.rank() >= 1 && x.shape.elements() > 0, "the input has shape %s",
                  x.shape.to_string().c_str());
  if (legacy) return import_softmax_uint8(importer, op, in, out);
  if (x.shape[x.shape.rank() - 1] > static_cast<int64_t>(kMaxSoftmaxIntRow))
    return importer.refuse(
        op, "rows of more than 4095 values overflow the reference's sum", x.name,
        "split the rows into shorter ones, or take the class by ARG_MAX instead");
  const double beta = static_cast<double>(op.options<tflite::SoftmaxOptions>().beta);
  QRT_MODEL_CHECK(std::isfinite(beta) && beta >= 0, "beta is %g", beta);
  const double factor = beta * static_cast<double>(in.scale[0]);
  const ValueId table = importer.graph().add_constant(
      "", DType::kInt32, {256},
      exponentials(Differences(factor, importer.rounding()), importer.rounding()));
  const ValueId value = importer.value(op, 0);
  importer.builder()
      .add<fb::SoftmaxOptionsT>(op, {value, table}, importer.new_output(op, out))
      .kind = to_16 ? fb::SoftmaxKind::Q5_26_TO_INT16 : fb::SoftmaxKind::Q5_26;
  importer.became(op, "Softmax", "I0");
  return Status();
}

}  // namespace qrt::convert::from_tflite
