// The graph's outputs, and the removal of what none of them needs.
#include <algorithm>

#include "converter/import/onnx/importer.h"

namespace qrt::convert::from_onnx {
namespace {

// The int8 quantisation of a tensor stored as uint8.
Quantization signed_quantization(Quantization q) {
  for (int32_t& z : q.zero_point) z -= 128;
  return q;
}

}  // namespace

Status Importer::export_outputs() {
  // Values that have their name already: inputs, and one output each.
  std::unordered_set<ValueId> taken(graph_->inputs.begin(), graph_->inputs.end());
  for (const onnx::ValueInfoProto& info : model_.graph().output()) {
    QRT_TRY(constant_state(info.name()));
    const Tensor tensor = tensors_[info.name()];
    if (tensor.kind == Tensor::Kind::kRefused) continue;
    const int at = model_.producer(info.name());
    const NodeView* node = at < 0 ? nullptr : nodes_[static_cast<size_t>(at)].get();
    ValueId value = kNoValue;
    QRT_TRY(export_output(info.name(), tensor, node, &value));
    if (value == kNoValue) continue;
    if (graph_->values[value].type.dtype == DType::kFloat32 &&
        info.type().tensor_type().elem_type() == kHalf) {
      QRT_TRY(refuse_output(info.name(), node, "it is float16, qrt computes float32 there"));
      continue;
    }
    const Value& v = graph_->values[value];
    if (v.is_constant || !taken.insert(value).second) value = copy(info.name(), value);
    graph_->values[value].name = info.name();
    graph_->outputs.push_back(value);
  }
  // Quantisation of int8 inputs, known from the stored form behind their sign flip.
  for (const Node& node : graph_->nodes) {
    const bool flip = node.options.type == fb::OpOptions::Lut && !node.inputs.empty() &&
                      graph_->values[node.inputs[0]].type.dtype == DType::kInt8;
    if (flip)
      graph_->values[node.inputs[0]].quantization =
          signed_quantization(graph_->values[node.outputs[0]].quantization);
  }
  return Status();
}

ValueId Importer::copy(const std::string& name, ValueId x) {
  const Shape shape = shape_of(x);
  const ValueId y = new_value(name, graph_->values[x].type.dtype, shape);
  graph_->values[y].quantization = graph_->values[x].quantization;
  Node n = make_node<fb::ReshapeOptionsT>(name, "output", {x}, {y});
  options<fb::ReshapeOptionsT>(n).shape.assign(shape.begin(), shape.end());
  graph_->nodes.push_back(std::move(n));
  return y;
}

Status Importer::export_output(const std::string& name, const Tensor& t, const NodeView* node,
                               ValueId* result) {
  if (t.is_constant()) {
    std::vector<float> real;
    if (t.quant) {
      if (!constant_floats(t, &real))
        return refuse_output(name, node, "it is a constant of an unsupported type");
      *result = graph_->add_constant(name, DType::kFloat32, t.shape, real);
      return Status();
    }
    DType dtype;
    if (!ir_type(t.type, &dtype))
      return refuse_output(name, node,
                           std::string("it is a constant of type ") + element_type_name(t.type));
    *result = plain_value(name, t);
    if (t.type == kInt8) *result = flip_sign(name, "output", *result, DType::kInt8);
    return Status();
  }
  if (t.is_pairs()) return pairs_to_float(*t.pairs->node, *t.pairs, t.shape, result);
  if (t.is_pending()) {
    const std::shared_ptr<Pending> pending = t.pending;
    const bool limited = pending->lo != -std::numeric_limits<float>::infinity() ||
                         pending->hi != std::numeric_limits<float>::infinity();
    if (pending->pairs && pending->moves.empty()) {
      for (int f : pending->followers) became(f, "fused into " + pending->node->op(), "I0");
      return pairs_to_float(*pending->node, pending->limited_pairs(), t.shape, result);
    }
    if (!pending->emit_float || limited)
      return refuse(
          *pending->node,
          "its float result reaches the model's output '" + name + "' without a QuantizeLinear",
          name, "end the model with QuantizeLinear and DequantizeLinear");
    QRT_TRY(pending->emit_float(result));
    if (*result == kNoValue) return Status();
    for (int f : pending->followers) became(f, "fused into " + pending->node->op(), "I0");
    for (const auto& move : pending->moves) QRT_TRY(move(result));
    return Status();
  }
  if (t.is_table()) return dequantize_output(name, t, node, result);
  *result = t.value;
  if (t.type == kBool) *result = relabel(name, "output", t.value, DType::kBool);
  if (t.type == kUint16) *result = raw_uint16(name, t.value);
  if (t.type != kInt8) return Status();
  *result = flip_sign(name, "output", t.value, DType::kInt8);
  graph_->values[*result].quantization = signed_quantization(graph_->values[t.value].quantization);
  return Status();
}

// A table as a float output: DequantizeLinear, or a Lut of floats.
Status Importer::dequantize_output(const std::string& name, const Tensor& t, const NodeView* node,
                                   ValueId* result) {
  // The raw form of what came in as uint16.
  const bool is_raw = t.quant->type == kUint16 && !t.table && other_16_.count(t.value) != 0;
  ValueId x = is_raw ? raw_uint16("", t.value) : t.value;
  if (t.table) {
    const int last = t.shape.rank() - 1;
    const bool image = t.table_axis == 1 && t.shape.rank() == 4;
    if (!node || (t.table_axis >= 0 && t.table_axis != last && !image))
      return refuse_output(name, node, "its values differ along an axis that is not the last");
    if (image) x = to_nhwc(*node, x);
    *result = new_float_lut(*node, x, *t.table, image ? "" : name);
    if (image) *result = from_nhwc(*node, *result, name);
    became(*node, "Lut", "edge");
    return Status();
  }
  Node d = make_node<fb::DequantizeOptionsT>(name, "DequantizeLinear", {x}, {});
  auto& o = options<fb::DequantizeOptionsT>(d);
  for (size_t i = 0; i < t.quant->scale.size(); ++i) {
    o.scale.push_back(float_bits(t.quant->scale[i]));
    o.zero_point.push_back(is_raw ? t.quant->zero_point[i] : t.quant->stored_zero_point(i));
  }
  o.axis = t.quant->axis;
  *result = new_value(name, DType::kFloat32, t.shape);
  d.outputs.push_back(*result);
  graph_->nodes.push_back(std::move(d));
  if (node) became(*node, "Dequantize", "edge");
  return Status();
}

Status Importer::refuse_output(const std::string& name, const NodeView* node,
                               const std::string& why) {
  const std::string rule = "the model's output '" + name + "' cannot be made: " + why;
  const std::string remedy = "end the model with QuantizeLinear and DequantizeLinear";
  if (node) return refuse(*node, rule, name, remedy);
  report_->refused(name, "output", rule, name, remedy);
  return Status();
}

void Importer::drop_unread_nodes() {
  std::vector<bool> read(graph_->values.size(), false);
  for (ValueId v : graph_->outputs) read[v] = true;
  std::vector<Node> kept;
  for (size_t i = graph_->nodes.size(); i-- > 0;) {
    Node& node = graph_->nodes[i];
    const bool needed =
        std::any_of(node.outputs.begin(), node.outputs.end(), [&](ValueId v) { return read[v]; });
    if (!needed) continue;
    for (ValueId v : node.inputs) read[v] = true;
    for (ValueId v : node.outputs) read[v] = true;
    kept.push_back(std::move(node));
  }
  std::reverse(kept.begin(), kept.end());
  graph_->nodes = std::move(kept);
  for (ValueId v : graph_->inputs) read[v] = true;
  std::vector<ValueId> renumbered(graph_->values.size(), kNoValue);
  std::vector<Value> values;
  for (ValueId v = 0; v < renumbered.size(); ++v) {
    if (!read[v]) continue;
    renumbered[v] = static_cast<ValueId>(values.size());
    values.push_back(std::move(graph_->values[v]));
  }
  graph_->values = std::move(values);
  const auto renumber = [&](std::vector<ValueId>* ids) {
    for (ValueId& v : *ids) v = renumbered[v];
  };
  for (Node& node : graph_->nodes) {
    renumber(&node.inputs);
    renumber(&node.outputs);
  }
  renumber(&graph_->inputs);
  renumber(&graph_->outputs);
}

}  // namespace qrt::convert::from_onnx
