// The walk over the ONNX graph: inputs, nodes in order, report. Outputs: onnx_export.cc. Tables and
// pending operators: onnx_table.cc.
#include "converter/import/onnx_importer.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "converter/import/onnx_ops.h"

namespace qrt::convert::from_onnx {

bool ir_type(int type, DType* dtype) {
  switch (type) {
    case kFloat: *dtype = DType::kFloat32; return true;
    case kUint8: *dtype = DType::kUInt8; return true;
    case kInt8: *dtype = DType::kInt8; return true;
    case kUint16: *dtype = DType::kUInt16; return true;
    case kInt16: *dtype = DType::kInt16; return true;
    case kInt32: *dtype = DType::kInt32; return true;
    case kInt64: *dtype = DType::kInt64; return true;
    case kHalf: *dtype = DType::kFloat16; return true;
    case kBfloat16: *dtype = DType::kBFloat16; return true;
    default: return false;
  }
}

bool operator==(const Quant& a, const Quant& b) {
  return a.type == b.type && a.axis == b.axis && a.zero_point == b.zero_point &&
         a.scale.size() == b.scale.size() &&
         memcmp(a.scale.data(), b.scale.data(), a.scale.size() * sizeof(float)) == 0;
}

Importer::Importer(const Model& model, Graph* graph, Report* report)
    : model_(model),
      graph_(graph),
      report_(report),
      model_bytes_(model.proto().ByteSizeLong()),
      files_(model.path()) {
  for (int i = 0; i < model.graph().node_size(); ++i)
    nodes_.push_back(std::make_unique<NodeView>(model.graph().node(i), i));
  outcomes_.resize(nodes_.size());
}

Status Importer::run() {
  graph_->name = model_.graph().name();
  graph_->source_format = "onnx";
  graph_->source_producer = model_.proto().producer_name();
  if (!model_.proto().producer_version().empty())
    graph_->source_producer += " " + model_.proto().producer_version();
  graph_->reference = "ort-x64-fma";
  QRT_TRY(import_inputs());
  const std::vector<int> constant = constant_nodes();
  std::vector<bool> visited(nodes_.size(), false);
  const auto visit_all = [&](const std::vector<int>& order) {
    for (int i : order) {
      if (visited[static_cast<size_t>(i)]) continue;
      visited[static_cast<size_t>(i)] = true;
      const NodeView& node = *nodes_[static_cast<size_t>(i)];
      QRT_TRY(visit(node));
      if (!node.problem().ok()) return error(Code::kInvalidModel, "%s", node.problem().message());
    }
    return Status();
  };
  QRT_TRY(visit_all(constant));
  QRT_TRY(load_quant_parameters());
  merge_double_pairs();
  QRT_TRY(visit_all(model_.order()));
  QRT_TRY(export_outputs());
  write_report();
  if (report_->has_refusals()) {
    size_t refused = 0;
    for (const Finding& f : report_->findings()) refused += f.outcome == convert::Outcome::kRefused;
    return error(Code::kUnsupported, "%zu of %zu nodes cannot be converted", refused,
                 nodes_.size());
  }
  drop_unread_nodes();
  return Status();
}

// Nodes that depend on no graph input, in execution order.
std::vector<int> Importer::constant_nodes() const {
  std::vector<int> result;
  std::unordered_set<std::string> constant;
  for (int i : model_.order()) {
    const NodeView& node = *nodes_[static_cast<size_t>(i)];
    bool all = true;
    for (int k = 0; k < node.input_count(); ++k)
      all = all && (!node.has_input(k) || constant.count(node.input(k)) ||
                    model_.initializers().count(node.input(k)));
    if (!all) continue;
    result.push_back(i);
    for (int k = 0; k < node.output_count(); ++k) constant.insert(node.output(k));
  }
  return result;
}

// Scales and zero points are needed before their nodes are visited.
Status Importer::load_quant_parameters() {
  for (const auto& node : nodes_) {
    if (node->op() != "QuantizeLinear" && node->op() != "DequantizeLinear") continue;
    for (int i = 1; i < node->input_count(); ++i) QRT_TRY(constant_state(node->input(i)));
  }
  return Status();
}

Status Importer::import_inputs() {
  for (const onnx::ValueInfoProto& info : model_.graph().input()) {
    if (model_.initializers().count(info.name())) continue;
    const char* name = info.name().c_str();
    QRT_MODEL_CHECK(info.has_type() && info.type().has_tensor_type(),
                    "graph input '%s' has no tensor type", name);
    const onnx::TypeProto::Tensor& type = info.type().tensor_type();
    DType dtype;
    if (!ir_type(type.elem_type(), &dtype)) {
      report_->refused(
          info.name(), "input",
          std::string("element type ") + element_type_name(type.elem_type()) + " is not supported",
          info.name(), "declare the input as float32, uint8 or int8");
      tensors_.emplace(info.name(), Tensor());
      continue;
    }
    QRT_MODEL_CHECK(type.has_shape(), "graph input '%s' has no shape", name);
    std::vector<int64_t> dims;
    bool symbolic = false;
    for (int i = 0; i < type.shape().dim_size(); ++i) {
      const auto& dim = type.shape().dim(i);
      if (dim.has_dim_value()) {
        QRT_MODEL_CHECK(dim.dim_value() >= 0, "graph input '%s': dimension %d is %lld", name, i,
                        static_cast<long long>(dim.dim_value()));
        dims.push_back(dim.dim_value());
        continue;
      }
      if (i > 0 && !symbolic) {
        report_->refused(info.name(), "input",
                         "dimension " + std::to_string(i) + " is symbolic" +
                             (dim.dim_param().empty() ? "" : " ('" + dim.dim_param() + "')") +
                             ": only the first, the batch, may be",
                         info.name(), "export the model with this dimension fixed");
        symbolic = true;
      }
      dims.push_back(1);
    }
    if (std::count(dims.begin(), dims.end(), 0) > 0) {
      report_->refused(info.name(), "input", "a dimension is 0: the tensor is empty", info.name(),
                       "give the input at least one element");
      tensors_.emplace(info.name(), Tensor());
      continue;
    }
    Tensor tensor;
    if (Status s = make_shape(dims, &tensor.shape); !s.ok()) {
      report_->refused(info.name(), "input", s.message(), info.name(),
                       "keep tensors below 7 dimensions and 2^31 elements");
      tensors_.emplace(info.name(), Tensor());
      continue;
    }
    if (graph_->inputs.empty() && !dims.empty()) graph_->default_batch = dims[0];
    tensor.type = type.elem_type();
    tensor.value = new_value(info.name(), dtype, tensor.shape);
    graph_->inputs.push_back(tensor.value);
    if (tensor.type == kInt8) {
      tensor.value = flip_sign(info.name(), "input", tensor.value, DType::kUInt8);
    }
    if (!symbolic) tensor.kind = Tensor::Kind::kValue;
    tensors_.emplace(info.name(), std::move(tensor));
  }
  return Status();
}

Status Importer::constant_state(const std::string& name) {
  const auto found = model_.initializers().find(name);
  if (found == model_.initializers().end() || tensors_.count(name)) return Status();
  Tensor tensor;
  Status s = read_constant(*found->second, &files_, &tensor.constant);
  if (s.code() == Code::kUnsupported) {
    report_->refused(name, "initialiser", s.message(), name,
                     "store it with at most 6 dimensions and in a type of up to 64 bits");
  } else if (!s.ok()) {
    return s;
  } else {
    tensor.kind = Tensor::Kind::kConstant;
    tensor.type = tensor.constant->type;
    tensor.shape = tensor.constant->shape;
  }
  tensors_.emplace(name, std::move(tensor));
  return Status();
}

Status Importer::visit(const NodeView& node) {
  const OpEntry* entry = find_op_entry(node.domain(), node.op());
  for (int i = 0; i < node.output_count(); ++i)
    if (node.has_output(i)) tensors_.emplace(node.output(i), Tensor());
  if (!entry)
    return refuse(node, "qrt has no integer form of this operator", node.output(0),
                  "remove it from the exported graph, or keep it outside the model");
  QRT_MODEL_CHECK(node.input_count() >= entry->inputs && (entry->inputs == 0 || node.has_input(0)),
                  "node %s (%s) has %d inputs, expected at least %d", node.label().c_str(),
                  node.op_label().c_str(), node.input_count(), entry->inputs);
  QRT_MODEL_CHECK(node.has_output(0), "node %s (%s) has no output", node.label().c_str(),
                  node.op_label().c_str());
  QRT_MODEL_CHECK(model_.opset(node.domain()) > 0,
                  "node %s (%s): the model imports no operator set '%s'", node.label().c_str(),
                  node.op_label().c_str(), node.domain().c_str());
  for (int i = 0; i < node.input_count(); ++i) {
    if (!node.has_input(i)) continue;
    QRT_TRY(constant_state(node.input(i)));
    if (input(node, i).kind == Tensor::Kind::kRefused)
      outcomes_[static_cast<size_t>(node.index())].skipped = true;
  }
  if (outcomes_[static_cast<size_t>(node.index())].skipped) return Status();
  Status status = entry->handler(*this, node);
  if (status.ok()) status = charge_derived();
  // Shapes that follow from the model but lie beyond qrt's limits are a refusal like any other.
  if (status.code() == Code::kUnsupported)
    return refuse(node, status.message(), node.output(0),
                  "keep tensors below 7 dimensions and 2^31 elements");
  return status.ok() ? Status() : std::move(status).at("node " + node.label());
}

const Tensor& Importer::input(const NodeView& node, int i) const {
  static const Tensor absent;
  const auto found = tensors_.find(node.input(i));
  return node.has_input(i) && found != tensors_.end() ? found->second : absent;
}

void Importer::set_output(const NodeView& node, int i, Tensor tensor) {
  if (tensor.constant) derived_bytes_ += tensor.constant->data.size();
  if (tensor.table) derived_bytes_ += tensor.table->size() * sizeof(float);
  if (node.has_output(i)) tensors_[node.output(i)] = std::move(tensor);
}

// A small file may not unfold without bound, for example by a thousand nodes that transpose one
// constant.
Status Importer::charge_derived() {
  for (; charged_values_ < graph_->values.size(); ++charged_values_)
    derived_bytes_ += graph_->values[charged_values_].data.size();
  constexpr uint64_t kAllowance = uint64_t{1} << 28, kFactor = 16;
  if (derived_bytes_ <= kAllowance ||
      derived_bytes_ <= kFactor * (model_bytes_ + files_.total_bytes()))
    return Status();
  return error(Code::kUnsupported, "the model's constants grow to %llu bytes by here",
               static_cast<unsigned long long>(derived_bytes_));
}

Status Importer::refuse(const NodeView& node, const std::string& rule, const std::string& tensor,
                        const std::string& remedy) {
  for (int i = 0; i < node.output_count(); ++i) set_output(node, i, Tensor());
  outcomes_[static_cast<size_t>(node.index())].skipped = true;
  report_->refused(node.label(), node.op_label(), rule, tensor, remedy);
  return Status();
}

Status Importer::refuse_float(const NodeView& node, int i) {
  const std::string name = node.input(i);
  const Tensor& t = input(node, i);
  const std::string quoted = "input '" + name + "'";
  if (!node.has_input(i))
    return refuse(node, "input " + std::to_string(i) + " is missing", "", "give it a constant");
  if (t.is_pending()) {
    const int readers = uses(name);
    const std::string made = quoted + " is the float result of " + t.pending->ops + " (node " +
                             t.pending->node->label() + ")";
    return refuse(node,
                  readers > 1 ? made + ", which has " + std::to_string(readers) +
                                    " readers: ONNX Runtime fuses it only with one QuantizeLinear"
                              : made + ", which nothing quantises",
                  name,
                  "put QuantizeLinear and DequantizeLinear behind " + t.pending->node->label());
  }
  if (t.is_table() && t.table)
    return refuse(node,
                  quoted + " is the float result of another operator, which nothing quantises",
                  name, "put QuantizeLinear and DequantizeLinear on it");
  if (t.is_constant())
    return refuse(node, quoted + " is a constant of type " + element_type_name(t.type), name,
                  "quantise it behind a DequantizeLinear");
  return refuse(
      node,
      quoted + " is " + element_type_name(t.is_table() ? kFloat : t.type) + " and not quantised",
      name, "put QuantizeLinear and DequantizeLinear on it");
}

void Importer::became(int node_index, const std::string& result, const std::string& level) {
  outcomes_[static_cast<size_t>(node_index)].result = result;
  outcomes_[static_cast<size_t>(node_index)].level = level;
}

void Importer::write_report() {
  for (size_t i = 0; i < nodes_.size(); ++i)
    if (!outcomes_[i].skipped)
      report_->converted(nodes_[i]->label(), nodes_[i]->op_label(), outcomes_[i].result,
                         outcomes_[i].level);
}

}  // namespace qrt::convert::from_onnx
