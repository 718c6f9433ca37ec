// SPDX-License-Identifier: Apache-2.0
// Softmax and LogSoftmax with a QuantizeLinear behind them, and QLinearSoftmax.
#include <cmath>

#include "converter/import/onnx/arithmetic/int16.h"
#include "converter/import/onnx/arithmetic/linear.h"
#include "converter/import/onnx/arithmetic/ort_math.h"
#include "converter/import/onnx/ops/handlers.h"
#include "kernels/softmax/softmax_int16_table.h"

namespace qrt::convert::from_onnx {
namespace {

// exp((i - 65535) * scale) as Q1.30.
std::vector<int32_t> int16_exponentials(float scale) {
  std::vector<int32_t> table(65536);
  for (int i = 0; i < 65536; ++i)
    table[static_cast<size_t>(i)] = static_cast<int32_t>(
        std::nearbyint(0x1p30 * std::exp((i - 65535) * static_cast<double>(scale))));
  return table;
}

// Returns whether log_softmax.h has a form of it: finite differences, and with 16 bits an output
// scale that keeps it within a quantum of the real function.
bool takes_logarithm(float scale, float output_scale, int64_t length, bool is_int16) {
  if (!is_int16) return std::isfinite(scale * 255.0f);
  return std::isfinite(scale * 65535.0f) && length <= static_cast<int64_t>(kMaxSoftmaxTableRow) &&
         static_cast<double>(output_scale) >= 0x1p-30 * static_cast<double>(length) + 0x1p-18;
}

// Returns the stored code of a row's only element. ONNX Runtime's exponential of it is so great that
// k times it is infinite: it makes INT32_MIN of the quotient, NaN, to which it adds the zero point
// without regard to overflow. (A k of 0 makes 0.) Between two different types it computes in float.
int of_one_element(const Quant& in, const Quant& out, float k) {
  if (in.type != out.type) return quantized(1.0f, out);
  const int zero = out.zero_point[0];
  if (out.type == DType::kUInt8 || k < 1.0f) return out.offset() + zero;
  return out.offset() + (zero < 0 ? 127 : -128);
}

Status emit(Importer& importer, const NodeView& node, ValueId x, const Quant& in, int64_t opset,
            int64_t axis, const Quant& out, ValueId* result) {
  const Shape shape = importer.builder().shape_of(x);
  const int rank = shape.rank();
  QRT_MODEL_CHECK(rank > 0 && axis >= -rank && axis < rank, "axis %lld is outside %d dimensions",
                  static_cast<long long>(axis), rank);
  const int at = static_cast<int>(axis < 0 ? axis + rank : axis);
  // Before opset 13 all dimensions from the axis on are one row.
  int64_t length = 1, outer = 1;
  for (int i = 0; i < rank; ++i) (i < at ? outer : length) *= shape[i];
  if (opset >= 13) length = shape[at];
  const bool logarithm = node.op() == "LogSoftmax", is_int16 = in.is_int16() || out.is_int16();
  const float k = std::floor(1.0f / out.scale[0]);
  std::vector<float> table(256);
  const bool scales = is_usable_scale(in.scale[0]) && is_usable_scale(out.scale[0]);
  if (logarithm) {
    for (size_t i = 0; i < table.size(); ++i)
      table[i] = ort_exp((static_cast<float>(i) - 255.0f) * in.scale[0]);
  } else if (length > 0 && is_usable_scale(in.scale[0])) {
    ort_softmax_table(in.scale[0], length, table.data());
  }
  if (length == 1 && !logarithm && !is_int16 && scales &&
      (in.type != out.type || !(k >= 1.0f && std::isfinite(table[255] * k)))) {
    const int stored = of_one_element(in, out, k);
    *result = importer.builder().lut(
        node, x, std::vector<uint8_t>(256, static_cast<uint8_t>(stored)), false, "", &out);
    importer.became(node, "Lut", "I0");
    return Status();
  }
  const bool usable =
      length > 0 && scales &&
      (logarithm ? takes_logarithm(in.scale[0], out.scale[0], length, is_int16)
                 : is_int16 || (k >= 1.0f && std::isfinite(table[255] * k) && table[255] > 0.0f));
  if (!usable) {
    // ONNX Runtime's sums overflow there: its numbers are far from those of floats.
    if (!logarithm && !is_int16) importer.outcomes().refuse_float_form(node.index());
    return importer.refuse(node,
                           "rows of " + std::to_string(length) + " elements with input scale " +
                               std::to_string(in.scale[0]) + " and output scale " +
                               std::to_string(out.scale[0]) + " are beyond its arithmetic",
                           node.output(0),
                           logarithm ? "give the output's QuantizeLinear a greater scale"
                                     : "give the output's QuantizeLinear the scale 1/256");
  }
  std::vector<int> perm, back(static_cast<size_t>(rank));
  for (int i = 0; i < rank; ++i)
    if (i != at) perm.push_back(i);
  perm.push_back(at);
  for (int i = 0; i < rank; ++i) back[static_cast<size_t>(perm[static_cast<size_t>(i)])] = i;
  const bool flat = opset < 13 && at != rank - 1, turned = opset >= 13 && at != rank - 1;
  if (flat) x = importer.builder().reshape(node, x, {outer, length});
  if (turned) x = importer.builder().transpose(node, x, perm);
  if (is_int16) x = importer.builder().widened(node, x);
  Node n = make_node<fb::SoftmaxOptionsT>(node.name(), node.op(), {x}, {});
  auto& o = options<fb::SoftmaxOptionsT>(n);
  if (logarithm || !is_int16) o.k = float_bits(logarithm ? in.scale[0] : k);
  o.zero_point = out.stored_zero_point();
  if (logarithm) {
    o.kind = fb::SoftmaxKind::LOG_F32;
    o.output_scale = float_bits(out.scale[0]);
  }
  if (is_int16 && !logarithm) {
    auto stage = closest_stage({0x1p-30 / static_cast<double>(out.scale[0])}, {int64_t{1} << 30});
    if (!stage || length > static_cast<int64_t>(kMaxSoftmaxTableRow))
      return importer.refuse(node, "its rows or its output scale are beyond integer arithmetic",
                             node.output(0), "give the output's QuantizeLinear the scale 2^-16");
    o.kind = fb::SoftmaxKind::INT16_ANY_SCALE;
    o.stages.push_back(std::move(stage));
  }
  n.inputs.push_back(is_int16 ? importer.graph().add_constant("", DType::kInt32, {65536},
                                                              int16_exponentials(in.scale[0]))
                              : importer.graph().add_constant("", DType::kFloat32, {256}, table));
  ValueId y = importer.builder().new_value("", is_int16 ? DType::kInt16 : DType::kUInt8,
                                           importer.builder().shape_of(x), &out);
  n.outputs = {y};
  importer.graph().nodes.push_back(std::move(n));
  importer.became(node, "Softmax", is_int16 && !logarithm ? "I0" : "I1");
  if (is_int16) y = as_output(importer, node, y, out);
  if (flat) y = importer.builder().reshape(node, y, shape);
  if (turned) y = importer.builder().transpose(node, y, back);
  *result = y;
  return Status();
}

}  // namespace

Status import_softmax(Importer& importer, const NodeView& node) {
  const Tensor& x = importer.input(node, 0);
  if (!x.is_fusible()) return importer.refuse_float(node, 0);
  const int64_t opset = importer.opset(node);
  const int64_t axis = node.integer("axis", opset >= 13 ? -1 : 1);
  const ValueId value = x.value;
  const Quant in = *x.quant;
  const auto pending = defer(importer, node, x.shape);
  pending->emit = [&importer, &node, value, in, opset, axis](const Quant& out, Limits limits,
                                                             ValueId* result) {
    if (limits.cut(out))
      return importer.refuse(
          node, "a Relu or Clip follows it", node.output(0),
          "build the model without that Relu or Clip: results of a Softmax lie between 0 and 1");
    return emit(importer, node, value, in, opset, axis, out, result);
  };
  return Status();
}

Status import_qlinear_softmax(Importer& importer, const NodeView& node) {
  const Tensor& x = importer.input(node, 0);
  if (!x.is_value()) return importer.refuse_float(node, 0);
  std::optional<Quant> in, out;
  QRT_TRY(read_tensor_quant(importer, node, 1, 2, x.type, &in));
  if (!in) return Status();
  QRT_TRY(read_tensor_quant(importer, node, 3, 4, kUndefined, &out));
  if (!out) return Status();
  Tensor y;
  y.kind = Tensor::Kind::kValue;
  y.type = onnx_type(out->type);
  y.shape = x.shape;
  QRT_TRY(emit(importer, node, importer.builder().with_quant(node, x.value, *in), *in,
               node.integer("opset", 13), node.integer("axis", -1), *out, &y.value));
  if (y.value == kNoValue) return Status();
  y.value = importer.builder().with_quant(node, y.value, *out);
  importer.set_output(node, 0, std::move(y));
  return Status();
}

}  // namespace qrt::convert::from_onnx
