// SPDX-License-Identifier: Apache-2.0
#include <limits>
#include <unordered_set>

#include "converter/import/onnx/deferred/pair_function.h"
#include "converter/import/onnx/deferred/table.h"
#include "converter/import/onnx/float_fallback/float_fallback.h"
#include "converter/import/onnx/model_edges.h"
#include "converter/import/onnx/ops/handlers.h"
#include "converter/import/onnx/run_integers.h"
#include "onnx/onnx_pb.h"

namespace qrt::convert::from_onnx {
namespace {

// Returns the int8 quantisation of a tensor stored as uint8.
Quantization signed_quantization(Quantization q) {
  for (int32_t& z : q.zero_point) z -= 128;
  return q;
}

Status refuse_output(Importer& importer, const std::string& name, const NodeView* node,
                     const std::string& why,
                     const char* remedy =
                         "end the model with QuantizeLinear and DequantizeLinear, "
                         "or before it by --outputs") {
  const std::string rule = "the model's output '" + name + "' cannot be made: " + why;
  if (node) return importer.refuse(*node, rule, name, remedy);
  importer.outcomes().refuse_outside("output", name, rule, remedy);
  return Status();
}

// Dequantises a table for a float output: by DequantizeLinear, or by a Lut of floats.
Status dequantize_output(Importer& importer, const std::string& name, const Tensor& t,
                         const NodeView* node, ValueId* result) {
  if (node) return table_to_float(importer, *node, t, name, result);
  if (t.table) return refuse_output(importer, name, node, "no node makes the function that it is");
  *result = dequantized_value(importer, name, t);
  return Status();
}

// Returns whether an output that is float here is float16 in the file: as it says, or, where it names
// no type, as the Cast that makes it says.
bool is_half_output(const onnx::ValueInfoProto& info, const NodeView* node) {
  const int type = info.type().tensor_type().elem_type();
  return type == kHalf ||
         (type == kUndefined && node && node->op() == "Cast" && node->integer("to", 0) == kHalf);
}

Status refuse_float_output(Importer& importer, const std::string& name, const NodeView& node) {
  return importer.refuse(
      node, "its float result reaches the model's output '" + name + "' without a QuantizeLinear",
      name, "end the model with QuantizeLinear and DequantizeLinear, or before it by --outputs");
}

}  // namespace

Status export_output(Importer& importer, const std::string& name, const Tensor& t,
                     const NodeView* node, ValueId* result) {
  Graph& graph = importer.graph();
  if (t.is_constant()) {
    std::vector<float> real;
    if (t.shape.elements() == 0)
      return refuse_output(importer, name, node,
                           "a dimension is 0: its shape is " + t.shape.to_string() +
                               ", and a size of 0 is not supported",
                           "end the model before it by --outputs, or give it a size of 1 or more");
    if (t.quant) {
      if (!constant_floats(t, &real))
        return refuse_output(importer, name, node, "it is a constant of an unsupported type");
      *result = graph.add_constant(name, DType::kFloat32, t.shape, real);
      return Status();
    }
    // A few numbers that follow from shapes.
    constexpr int64_t kMostNumbers = 16;
    if (node && importer.has_open_sizes() && !importer.is_free_of_inputs(name) &&
        (t.type == kInt64 || t.type == kInt32) && t.constant->elements() <= kMostNumbers) {
      *result = RunIntegers(importer, *node).numbers(*t.constant);
      return Status();
    }
    DType dtype;
    if (!ir_type(t.type, &dtype))
      return refuse_output(importer, name, node,
                           std::string("it is a constant of type ") + element_type_name(t.type));
    *result = plain_value(importer, name, t);
    if (t.type == kInt8)
      *result = importer.builder().flip_sign({name, "output"}, *result, DType::kInt8);
    return Status();
  }
  if (t.is_pair_function())
    return pair_function_to_float(importer, *t.pair_function->node, *t.pair_function, t.shape,
                                  result);
  if (t.is_pending()) {
    const std::shared_ptr<Pending> pending = t.pending;
    if (pending->pair_function && pending->moves.empty()) {
      for (int f : pending->followers)
        importer.outcomes().became(f, "fused into " + pending->node->op(), "I0");
      return pair_function_to_float(importer, *pending->node, limited_pair_function(*pending),
                                    t.shape, result);
    }
    if (!pending->emit_float) {
      if (make_producer_float(importer, name, result)) return Status();
      return refuse_float_output(importer, name, *pending->node);
    }
    return float_function(importer, *pending, result);
  }
  if (t.is_table()) return dequantize_output(importer, name, t, node, result);
  *result = t.value;
  if (t.type == kBool)
    *result = importer.builder().relabel({name, "output"}, t.value, DType::kBool);
  if (t.type == kUint16) *result = importer.builder().raw_uint16(name, t.value);
  if (t.type != kInt8) return Status();
  *result = importer.builder().flip_sign({name, "output"}, t.value, DType::kInt8);
  graph.values[*result].quantization = signed_quantization(graph.values[t.value].quantization);
  return Status();
}

Status export_outputs(Importer& importer) {
  Graph& graph = importer.graph();
  // Values that have their name already: inputs, and one output for each value.
  std::unordered_set<ValueId> taken(graph.inputs.begin(), graph.inputs.end());
  for (const onnx::ValueInfoProto& info : importer.model().graph().output()) {
    QRT_TRY(importer.tensors().load_initializer(info.name()));
    const Tensor tensor = importer.tensors().at(info.name());
    const int at = importer.model().producer(info.name());
    const NodeView* node = at < 0 ? nullptr : &importer.node(at);
    if (tensor.is_refused()) {
      if (node && importer.outcomes().is_made(node->index()))
        QRT_TRY(importer.refuse(*node, "it does not make the model's output '" + info.name() + "'",
                                info.name(), "end the model at other outputs by --outputs"));
      continue;
    }
    ValueId value = kNoValue;
    Status made = export_output(importer, info.name(), tensor, node, &value);
    if (made.code() == Code::kUnsupported)
      made = refuse_output(importer, info.name(), node, made.message());
    QRT_TRY(std::move(made));
    if (value == kNoValue && node && importer.outcomes().is_made(node->index()))
      QRT_TRY(refuse_float_output(importer, info.name(), *node));
    if (value == kNoValue) continue;
    if (graph.values[value].type.dtype == DType::kFloat32 && is_half_output(info, node)) {
      value = float_to_half_value(importer, {info.name(), "output"}, value);
    }
    const Value& v = graph.values[value];
    if (v.is_constant || !taken.insert(value).second)
      value = importer.builder().reshape({info.name(), "output"}, value,
                                         importer.builder().shape_of(value), info.name());
    graph.values[value].name = info.name();
    graph.outputs.push_back(value);
  }
  // Quantisation of int8 inputs, known from the stored form behind their sign flip.
  for (const Node& node : graph.nodes) {
    const bool flip = node.options.type == fb::OpOptions::Lut && !node.inputs.empty() &&
                      graph.values[node.inputs[0]].type.dtype == DType::kInt8;
    if (flip)
      graph.values[node.inputs[0]].quantization =
          signed_quantization(graph.values[node.outputs[0]].quantization);
  }
  return Status();
}

}  // namespace qrt::convert::from_onnx
