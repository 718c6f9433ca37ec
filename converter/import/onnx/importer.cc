// The walk over the ONNX graph: inputs, nodes in order, report. Outputs: outputs.cc. Tables and
// pending operators: table.cc.
#include "converter/import/onnx/importer.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "converter/import/onnx/ops/handlers.h"
#include "converter/lint.h"

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
    case kBool: *dtype = DType::kBool; return true;
    case kUint32: *dtype = DType::kUInt32; return true;
    case kUint4: *dtype = DType::kUInt4; return true;
    case kInt4: *dtype = DType::kInt4; return true;
    case kUint2: *dtype = DType::kUInt2; return true;
    case kInt2: *dtype = DType::kInt2; return true;
    case kFloat8E4M3FN: *dtype = DType::kFloat8E4M3FN; return true;
    case kFloat8E4M3FNUZ: *dtype = DType::kFloat8E4M3FNUZ; return true;
    case kFloat8E5M2: *dtype = DType::kFloat8E5M2; return true;
    case kFloat8E5M2FNUZ: *dtype = DType::kFloat8E5M2FNUZ; return true;
    case kFloat8E8M0: *dtype = DType::kFloat8E8M0; return true;
    case kFloat4E2M1: *dtype = DType::kFloat4E2M1; return true;
    default: return false;
  }
}

bool operator==(const Quant& a, const Quant& b) {
  return a.type == b.type && a.axis == b.axis && a.zero_point == b.zero_point &&
         a.scale.size() == b.scale.size() &&
         memcmp(a.scale.data(), b.scale.data(), a.scale.size() * sizeof(float)) == 0;
}

Importer::Importer(const Model& model, bool allow_float, Graph* graph, Report* report)
    : model_(model),
      allow_float_(allow_float),
      graph_(graph),
      report_(report),
      model_bytes_(model.proto().ByteSizeLong()),
      files_(model.path()) {
  for (int i = 0; i < model.graph().node_size(); ++i)
    nodes_.push_back(std::make_unique<NodeView>(model.graph().node(i), i));
  outcomes_.resize(nodes_.size());
  for (const auto& info : model.graph().value_info()) value_infos_.emplace(info.name(), &info);
  for (const auto& info : model.graph().output()) value_infos_.emplace(info.name(), &info);
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
  if (report_->has_refusals())
    return error(Code::kUnsupported, "%zu of %zu nodes cannot be converted",
                 report_->count(Outcome::kRefused), nodes_.size());
  if (graph_->outputs.size() != static_cast<size_t>(model_.graph().output_size()))
    return error(Code::kInternal, "an output was lost without a reason");
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

void Importer::refuse_input(const std::string& name, const std::string& rule,
                            const std::string& remedy) {
  report_->refused(name, "input", rule, name, remedy);
  tensors_.emplace(name, Tensor());
  origins_.emplace(name, "refused input '" + name + "'");
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
      refuse_input(
          info.name(),
          std::string("element type ") + element_type_name(type.elem_type()) + " is not supported",
          "declare the input as float32, uint8 or int8");
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
        refuse_input(info.name(),
                     "dimension " + std::to_string(i) + " is symbolic" +
                         (dim.dim_param().empty() ? "" : " ('" + dim.dim_param() + "')") +
                         ": only the first, the batch, may be",
                     "export the model with this dimension fixed");
        symbolic = true;
      }
      dims.push_back(1);
    }
    if (symbolic) continue;
    if (std::count(dims.begin(), dims.end(), 0) > 0) {
      refuse_input(info.name(), "a dimension is 0: the tensor is empty",
                   "give the input at least one element");
      continue;
    }
    Tensor tensor;
    if (Status s = make_shape(dims, &tensor.shape); !s.ok()) {
      refuse_input(info.name(), s.message(), "keep tensors below 7 dimensions and 2^31 elements");
      continue;
    }
    if (graph_->inputs.empty() && !dims.empty()) graph_->default_batch = dims[0];
    tensor.type = type.elem_type();
    tensor.value = new_value(info.name(), dtype, tensor.shape);
    graph_->inputs.push_back(tensor.value);
    if (tensor.type == kInt8) {
      tensor.value = flip_sign(info.name(), "input", tensor.value, DType::kUInt8);
    } else if (tensor.type == kBool) {
      tensor.value = relabel(info.name(), "input", tensor.value, DType::kUInt8);
    } else if (tensor.type == kUint16) {
      tensor.value = stored_uint16(info.name(), tensor.value);
    }
    tensor.kind = Tensor::Kind::kValue;
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
    origins_.emplace(name, "refused initialiser '" + name + "'");
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

bool Importer::is_output(const std::string& tensor) const {
  for (const onnx::ValueInfoProto& info : model_.graph().output())
    if (info.name() == tensor) return true;
  return false;
}

Status Importer::visit(const NodeView& node) {
  QRT_TRY(assess(node));
  return retry_in_float(node).at("node " + node.label());
}

Status Importer::assess(const NodeView& node) {
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
  std::string depends;
  for (int i = 0; i < node.input_count(); ++i) {
    if (!node.has_input(i)) continue;
    QRT_TRY(constant_state(node.input(i)));
    if (depends.empty()) depends = origin(node.input(i));
  }
  for (int i = 0; i < node.input_count(); ++i) {
    if (!node.has_input(i) || input(node, i).kind != Tensor::Kind::kRefused || stand_in(node, i))
      continue;
    not_assessed(node, origin(node.input(i)));
    QRT_TRY(note_shape(node, 0));
    return Status();
  }
  for (int i = 0; i < node.output_count() && !depends.empty(); ++i)
    origins_.emplace(node.output(i), depends);
  Status status = entry->handler(*this, node);
  drop_float_stand_in(node);
  if (status.ok()) status = charge_derived();
  // Shapes that follow from the model but lie beyond qrt's limits are a refusal like any other.
  if (status.code() == Code::kUnsupported)
    return refuse(node, status.message(), node.output(0),
                  "keep tensors below 7 dimensions and 2^31 elements");
  // A stand-in may be wrong where the file says wrong things of a tensor that is never made.
  if (status.code() == Code::kInvalidModel && !depends.empty()) {
    not_assessed(node, depends);
    status = Status();
  }
  QRT_TRY(std::move(status).at("node " + node.label()));
  NodeOutcome& outcome = outcomes_[static_cast<size_t>(node.index())];
  if (const auto y = tensors_.find(node.output(0));
      outcome.result.empty() && y != tensors_.end() && y->second.is_table() && y->second.table)
    outcome.result = "table";
  const bool is_made = outcome.rule.empty() && outcome.not_assessed.empty();
  for (int i = 1; i < node.output_count() && is_made; ++i) {
    if (!node.has_output(i) || uses(node.output(i)) == 0) continue;
    const auto y = tensors_.find(node.output(i));
    if (y != tensors_.end() && y->second.kind == Tensor::Kind::kRefused)
      return refuse(node,
                    "its output " + std::to_string(i) + " '" + node.output(i) +
                        "' is read, which qrt does not make",
                    node.output(i), "export the model without that output");
  }
  for (int i = 0; i < node.output_count(); ++i) QRT_TRY(note_shape(node, i));
  return Status();
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
  NodeOutcome& outcome = outcomes_[static_cast<size_t>(node.index())];
  if (outcome.rule.empty()) {
    outcome.rule = rule;
    outcome.tensor = tensor;
    outcome.remedy = remedy;
  }
  for (int i = 0; i < node.output_count(); ++i) {
    if (!node.has_output(i)) continue;
    const Tensor& was = tensors_[node.output(i)];
    Tensor refused;
    refused.shape = was.shape;
    refused.shape_known = was.shape_known || was.kind != Tensor::Kind::kRefused;
    set_output(node, i, std::move(refused));
    origins_[node.output(i)] = "refused node " + node.label();
    QRT_TRY(note_shape(node, i));
  }
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

void Importer::note_scale(const NodeView& node, const std::string& tensor,
                          const std::vector<float>& scale) {
  if (!noted_scales_.insert(tensor).second) return;
  for (float s : scale)
    if (!std::isnormal(s) || s < 0)
      return lint_scale(node.label(), node.op_label(), tensor, s, report_);
}

void Importer::became(int node_index, const std::string& result, const std::string& level) {
  outcomes_[static_cast<size_t>(node_index)].result = result;
  outcomes_[static_cast<size_t>(node_index)].level = level;
}

// Operators that still wait for a QuantizeLinear when others were refused: what reads them was not
// taken in.
void Importer::report_unresolved() {
  std::unordered_map<std::string, const NodeView*> reader;  // that was refused or not assessed
  for (const auto& node : nodes_) {
    const NodeOutcome& outcome = outcomes_[static_cast<size_t>(node->index())];
    if (outcome.rule.empty() && outcome.not_assessed.empty()) continue;
    for (int i = 0; i < node->input_count(); ++i) reader.emplace(node->input(i), node.get());
  }
  for (const auto& [name, tensor] : tensors_) {
    if (!tensor.is_pending()) continue;
    const auto found = reader.find(name);
    if (found == reader.end()) continue;
    const auto mark = [&, node = found->second](int index) {
      NodeOutcome& outcome = outcomes_[static_cast<size_t>(index)];
      if (outcome.result.empty() && outcome.not_assessed.empty())
        outcome.not_assessed = "its result goes to node " + node->label();
    };
    mark(tensor.pending->node->index());
    for (int follower : tensor.pending->followers) mark(follower);
  }
}

void Importer::write_report() {
  report_unresolved();
  for (size_t i = 0; i < nodes_.size(); ++i) {
    const NodeOutcome& o = outcomes_[i];
    const std::string label = nodes_[i]->label(), op = nodes_[i]->op_label();
    if (!o.rule.empty())
      report_->refused(label, op, o.rule, o.tensor, o.remedy);
    else if (!o.not_assessed.empty())
      report_->not_assessed(label, op, o.not_assessed);
    else
      report_->converted(label, op, o.result.empty() ? "folded" : o.result, o.level);
  }
}

}  // namespace qrt::convert::from_onnx
