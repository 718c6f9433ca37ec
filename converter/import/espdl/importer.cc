// SPDX-License-Identifier: Apache-2.0
// Imports the operators in the file's order, and keeps the states of tensors. Inputs, outputs and
// variables: edges.cc.
#include "converter/import/espdl/importer.h"

#include <algorithm>

#include "converter/import/espdl/ops.h"

namespace qrt::convert::from_espdl {
namespace {

// Files of August 2024 leave out the batch of images: an input of three dimensions goes into a filter of four.
bool lacks_batch(const Model& model) {
  const auto rank = [&](int i) { return model.tensors()[static_cast<size_t>(i)].shape.rank(); };
  for (const Node& node : model.nodes()) {
    if (node.op != "Conv" || !node.has_input(0) || !node.has_input(1)) continue;
    const auto& inputs = model.inputs();
    const bool is_input = std::find(inputs.begin(), inputs.end(), node.inputs[0]) != inputs.end();
    if (is_input && rank(node.inputs[0]) == 3 && rank(node.inputs[1]) == 4) return true;
  }
  return false;
}

}  // namespace

Importer::Importer(const Model& model, Target target, Graph* graph, Report* report)
    : model_(model),
      target_(target),
      report_(report),
      builder_(graph, target),
      outcomes_(report),
      without_batch_(lacks_batch(model)),
      states_(model.tensors().size()) {
  for (const Node& node : model.nodes()) outcomes_.add_node(node.label(), node.op);
}

Status Importer::run(bool float_io) {
  graph().name = model_.name();
  graph().source_format = "espdl";
  graph().source_producer = model_.producer();
  graph().reference = reference_of(target_);
  QRT_TRY(import_inputs(float_io));
  size_t visited = 0;
  Status status = visit_all(&visited);
  outcomes_.write(visited);
  QRT_TRY(std::move(status));
  QRT_TRY(export_outputs(float_io));
  if (s3_unproven_ > 0) graph().reference += " (ESP_S3_ACC20_UNPROVEN)";
  export_variables();
  if (!outcomes_.any_refused()) return Status();
  return error(Code::kUnsupported, "the model cannot be converted: %s",
               outcomes_.refusals().c_str());
}

Status Importer::visit_all(size_t* visited) {
  for (const Node& node : model_.nodes()) {
    Status status = visit(node);
    if (!status.ok()) return std::move(status).at("operator " + node.label());
    ++*visited;
  }
  return Status();
}

Status Importer::visit(const Node& node) {
  QRT_MODEL_CHECK(!node.outputs.empty() && node.outputs[0] >= 0, "has no output");
  for (int i : node.outputs) QRT_MODEL_CHECK(i >= 0, "has an output without a name");
  const Handler* handler = find_handler(node.op);
  if (!handler || (handler->is_specified_only && !is_plain())) {
    const char* why = why_refused(node.op);
    return refuse(node, why ? why : "ESP-DL's runtime has no such operator", "",
                  "export the model up to this operator only, and compute the rest elsewhere; or "
                  "build it of the operators in converter/SUPPORT.md");
  }
  for (int i = 0; i < handler->inputs; ++i)
    QRT_MODEL_CHECK(node.has_input(i), "lacks its input %d", i);
  for (int i : node.inputs) {
    if (i < 0 || states_[static_cast<size_t>(i)].origin.empty()) continue;
    const std::string origin = states_[static_cast<size_t>(i)].origin;
    for (int y : node.outputs) states_[static_cast<size_t>(y)].origin = origin;
    outcomes_.depends_on(node.index, origin);
    return Status();
  }
  for (int i : node.inputs)
    if (i >= 0) growth_.read(model_.tensors()[static_cast<size_t>(i)].bytes);
  Status status = growth_.check(graph(), model_.file_bytes());
  if (status.ok()) status = handler->handle(*this, node);
  if (status.code() == Code::kUnsupported)
    return refuse(
        node, status.message(), output(node).name,
        "build the layer as converter/import/espdl/README.md describes: at most 6 dimensions, "
        "explicit pads, one group or one per channel, windows of up to 65535");
  return status;
}

const Tensor& Importer::input(const Node& node, int i) const {
  return model_.tensors()[static_cast<size_t>(node.inputs[static_cast<size_t>(i)])];
}

const Tensor& Importer::output(const Node& node, int i) const {
  return model_.tensors()[static_cast<size_t>(node.outputs[static_cast<size_t>(i)])];
}

const Tensor* Importer::find(const std::string& name) const {
  const int i = model_.find(name);
  return i < 0 ? nullptr : &model_.tensors()[static_cast<size_t>(i)];
}

std::string Importer::quoted_input(const Node& node, int i) const {
  return "input '" + input(node, i).name + "'";
}

bool Importer::refuse_activation(const Node& node, const Tensor& tensor, const std::string& rule,
                                 const std::string& remedy) {
  (void)refuse(node, "tensor '" + tensor.name + "' " + rule, tensor.name, remedy);
  return false;
}

bool Importer::format_of(const Node& node, const Tensor& tensor, Format* format) {
  if (!tensor.problem.empty())
    return refuse_activation(node, tensor, tensor.problem, "change the model's shapes");
  format->type = tensor.type;
  format->exponent = tensor.exponents.empty() ? 0 : tensor.exponents[0];
  if (tensor.type == DataType::UNDEFINED)
    return refuse_activation(node, tensor,
                             "stands in no value_info: its type and exponent are unknown",
                             "export the model with its value_info");
  if (!format->is_integer() && format->type != DataType::FLOAT && format->type != DataType::BOOL)
    return refuse_activation(
        node, tensor,
        std::string("is ") + type_name(tensor.type) + ", for which the runtime has no kernel",
        "quantise to int8 or int16, as qrt_quantize MODEL --scheme espdl-s8 --onnx FILE does");
  if (format->is_integer() && tensor.exponents.size() != 1)
    return refuse_activation(
        node, tensor, "has " + std::to_string(tensor.exponents.size()) + " exponents, expected one",
        "quantise activations per tensor, with one scale");
  return true;
}

bool Importer::read(const Node& node, int i, Activation* activation) {
  const Tensor& tensor = input(node, i);
  State& state = states_[static_cast<size_t>(node.inputs[static_cast<size_t>(i)])];
  if (state.activation.value == kNoValue) {
    Format format;
    if (!format_of(node, tensor, &format)) return false;
    if (!tensor.is_constant || tensor.bytes == 0)
      return refuse_activation(node, tensor, "has no elements", "remove it from the model");
    state.activation = {format, builder_.constant(tensor, format)};
  }
  *activation = state.activation;
  return true;
}

bool Importer::read_integer(const Node& node, int i, Activation* activation) {
  if (!read(node, i, activation)) return false;
  if (activation->format.is_integer()) return true;
  return refuse_activation(
      node, input(node, i),
      std::string("is ") + type_name(activation->format.type) + ", expected int8 or int16",
      "quantise this operator to int8 or int16");
}

bool Importer::read_format(const Node& node, int i, Format* format) {
  return format_of(node, output(node, i), format);
}

bool Importer::read_pair(const Node& node, Activation* in, Format* out) {
  if (!read_integer(node, 0, in) || !read_format(node, 0, out)) return false;
  if (in->format.type == out->type) return true;
  return refuse_activation(
      node, output(node),
      std::string("is ") + type_name(out->type) + ", the input " + type_name(in->format.type),
      "quantise input and output to one type");
}

bool Importer::read_integers(const Node& node, int i, std::vector<int64_t>* values) {
  const Tensor& t = input(node, i);
  const bool is_known = t.is_constant && t.problem.empty() &&
                        (t.type == DataType::INT64 || t.type == DataType::INT32);
  if (!is_known)
    return refuse_activation(node, t, "is not a constant of int64",
                             "store it as an initialiser of the model");
  *values = t.integers();
  return true;
}

Status Importer::refuse(const Node& node, const std::string& rule, const std::string& tensor,
                        const std::string& remedy) {
  for (int i : node.outputs)
    states_[static_cast<size_t>(i)].origin = "refused operator " + node.label();
  outcomes_.refuse(node.index, rule, tensor, remedy);
  return Status();
}

void Importer::became(const Node& node, const std::string& result, const std::string& level) {
  outcomes_.became(node.index, result, level);
}

void Importer::warn(const Node& node, const std::string& rule, const std::string& what,
                    const std::string& remedy) {
  report_->warn({rule, node.label(), node.op, what, remedy, {}});
}

void Importer::finish(const Node& node, ValueId value, const Format& format, int i) {
  Value& v = graph().values[value];
  if (v.name.empty()) v.name = output(node, i).name;
  states_[static_cast<size_t>(node.outputs[static_cast<size_t>(i)])].activation = {format, value};
}

}  // namespace qrt::convert::from_espdl
