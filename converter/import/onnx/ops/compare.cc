// SPDX-License-Identifier: Apache-2.0
// ArgMax, ArgMin and TopK: on floats of the run, or on integers, which keep the order of the values they stand for.
#include "converter/import/onnx/arithmetic/linear.h"
#include "converter/import/onnx/ops/handlers.h"
#include "converter/import/onnx/remedies.h"

namespace qrt::convert::from_onnx {
namespace {

// Reads input 0 as elements that can be compared: floats or plain integers of the graph, or those
// behind a DequantizeLinear. *known stays false where it was refused.
Status read_ordered(Importer& importer, const NodeView& node, bool* known) {
  const Tensor& x = importer.input(node, 0);
  *known = false;
  const bool is_plain = x.is_value() && x.type != kHalf && x.type != kBfloat16 && x.type != kBool;
  if (!is_plain && !x.is_dequantized()) return importer.refuse_float(node, 0);
  if (x.is_dequantized() && !is_usable_scale(x.quant->scale[0]))
    return importer.refuse(
        node, "the scale of input '" + node.input(0) + "' is no normal positive number",
        node.input(0),
        "calibrate the quantisation again: qrt_convert --lint names the scales that are no "
        "ordinary positive numbers");
  *known = true;
  return Status();
}

Status read_axis(int64_t axis, const Shape& shape, int* at) {
  const int rank = shape.rank();
  QRT_MODEL_CHECK(axis >= -rank && axis < rank, "axis %lld is outside %d dimensions",
                  static_cast<long long>(axis), rank);
  *at = static_cast<int>(axis < 0 ? axis + rank : axis);
  return Status();
}

Tensor index_tensor(Importer& importer, ValueId value) {
  Tensor y;
  y.kind = Tensor::Kind::kValue;
  y.type = kInt64;
  y.value = value;
  y.shape = importer.builder().shape_of(value);
  return y;
}

}  // namespace

Status import_arg_max(Importer& importer, const NodeView& node) {
  const Tensor& x = importer.input(node, 0);
  bool known;
  QRT_TRY(read_ordered(importer, node, &known));
  if (!known) return Status();
  int axis = 0;
  QRT_TRY(read_axis(node.integer("axis", 0), x.shape, &axis));
  Node n = make_node<fb::ArgMaxOptionsT>(node.name(), node.op(), {x.value}, {});
  auto& o = options<fb::ArgMaxOptionsT>(n);
  o.axis = static_cast<uint32_t>(axis);
  o.keep_dims = node.integer("keepdims", 1) != 0;
  o.minimum = node.op() == "ArgMin";
  o.last_index = node.integer("select_last_index", 0) != 0;
  Shape shape;
  for (int i = 0; i < x.shape.rank(); ++i)
    if (i != axis || o.keep_dims) shape.push_back(i == axis ? 1 : x.shape[i]);
  const ValueId y = importer.builder().new_value(node.output(0), DType::kInt64, shape);
  n.outputs = {y};
  importer.graph().nodes.push_back(std::move(n));
  importer.became(node, "ArgMax", "I0");
  importer.set_output(node, 0, index_tensor(importer, y));
  return Status();
}

Status import_top_k(Importer& importer, const NodeView& node) {
  const Tensor x = importer.input(node, 0);
  const Tensor& k = importer.input(node, 1);
  bool known;
  QRT_TRY(read_ordered(importer, node, &known));
  if (!known) return Status();
  if (!k.is_plain_constant() || !k.constant->is_integer() || k.constant->elements() != 1)
    return importer.refuse(node, "k, '" + node.input(1) + "', is not a constant", node.input(1),
                           remedy_for_constant(importer, node, 1));
  int axis = 0;
  QRT_TRY(read_axis(node.integer("axis", -1), x.shape, &axis));
  const int64_t count = k.constant->integer(0);
  QRT_MODEL_CHECK(count >= 1 && count <= x.shape[axis], "k is %lld, expected 1 to %lld",
                  static_cast<long long>(count), static_cast<long long>(x.shape[axis]));
  const int rank = x.shape.rank();
  std::vector<int> to_last, back(static_cast<size_t>(rank));
  for (int i = 0; i < rank; ++i)
    if (i != axis) to_last.push_back(i);
  to_last.push_back(axis);
  for (int i = 0; i < rank; ++i) back[static_cast<size_t>(to_last[static_cast<size_t>(i)])] = i;
  const bool turned = axis != rank - 1;
  const ValueId from = turned ? importer.builder().transpose(node, x.value, to_last) : x.value;
  Shape shape = importer.builder().shape_of(from);
  shape[rank - 1] = count;
  Node n = make_node<fb::TopKOptionsT>(node.name(), node.op(), {from}, {});
  options<fb::TopKOptionsT>(n).k = static_cast<uint32_t>(count);
  options<fb::TopKOptionsT>(n).smallest = node.integer("largest", 1) == 0;
  ValueId values = importer.builder().new_value("", importer.graph().values[from].type.dtype, shape,
                                                x.quant ? &*x.quant : nullptr);
  ValueId indices = importer.builder().new_value("", DType::kInt64, shape);
  n.outputs = {values, indices};
  importer.graph().nodes.push_back(std::move(n));
  importer.became(node, "TopK", "I0");
  if (turned) {
    values = importer.builder().transpose(node, values, back);
    indices = importer.builder().transpose(node, indices, back);
  }
  Tensor y = x;
  y.value = values;
  y.shape = importer.builder().shape_of(values);
  importer.set_output(node, 0, std::move(y));
  if (node.output_count() > 1) importer.set_output(node, 1, index_tensor(importer, indices));
  return Status();
}

}  // namespace qrt::convert::from_onnx
