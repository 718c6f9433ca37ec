// SPDX-License-Identifier: Apache-2.0
#include "converter/import/onnx/importer.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "converter/import/common/drop_unread.h"
#include "converter/import/onnx/deferred/table.h"
#include "converter/import/onnx/float_fallback/float_fallback.h"
#include "converter/import/onnx/folding/conditions.h"
#include "converter/import/onnx/folding/constants.h"
#include "converter/import/onnx/folding/loops.h"
#include "converter/import/onnx/model_edges.h"
#include "converter/import/onnx/move.h"
#include "converter/import/onnx/no_op.h"
#include "converter/import/onnx/ops/handlers.h"
#include "converter/import/onnx/remedies.h"
#include "converter/import/onnx/stand_in.h"
#include "onnx/onnx_pb.h"

namespace qrt::convert::from_onnx {

Importer::Importer(const Model& model, bool allow_float, int64_t batch, Graph* graph,
                   Report* report, const OpenSizes& sizes)
    : model_(model),
      allow_float_(allow_float),
      batch_(batch),
      sizes_(sizes),
      outcomes_(report),
      tensors_(model, &outcomes_),
      builder_(graph),
      double_qdq_(model, nodes_, &tensors_) {
  for (int i = 0; i < model.graph().node_size(); ++i) {
    nodes_.push_back(std::make_unique<NodeView>(model.graph().node(i), i));
    outcomes_.add_node(nodes_.back()->label(), nodes_.back()->op_label());
  }
}

Status Importer::run() {
  graph().name = model_.graph().name();
  graph().source_format = "onnx";
  graph().source_files = model_.files();
  graph().source_producer = model_.proto().producer_name();
  if (!model_.proto().producer_version().empty())
    graph().source_producer += " " + model_.proto().producer_version();
  graph().reference = "ort-x64-fma";
  QRT_TRY(import_inputs(*this));
  std::vector<bool> visited(nodes_.size(), false);
  QRT_TRY(load_quant_parameters());
  QRT_TRY(visit(constant_nodes(), &visited));
  QRT_TRY(visit(model_.execution_order(), &visited));
  QRT_TRY(export_outputs(*this));
  QRT_TRY(check_taken_branches(*this));
  QRT_TRY(check_unrolled_loops(*this));
  report_unresolved();
  outcomes_.write();
  if (outcomes_.any_refused()) {
    refuse_empty_inputs(*this);
    const bool is_quantized = std::any_of(nodes_.begin(), nodes_.end(),
                                          [](const auto& n) { return is_quantized_op(n->op()); });
    return error(Code::kUnsupported, "the model cannot be converted: %s%s",
                 outcomes_.refusals().c_str(),
                 is_quantized ? ""
                              : "; none is quantised, which qrt_quantize FILE.onnx --calibration "
                                "SAMPLES -o FILE.qrt does with "
                                "float models");
  }
  if (graph().outputs.size() != static_cast<size_t>(model_.graph().output_size()))
    return error(Code::kInternal, "an output was lost without a reason");
  drop_unread(&graph());
  return Status();
}

namespace {

bool is_dequantize(const NodeView& node) {
  const OpEntry* entry = find_op_entry(node.domain(), node.op());
  return entry &&
         (entry->handler == import_dequantize || entry->handler == import_extended_dequantize);
}

}  // namespace

Status Importer::visit(const std::vector<int>& execution_order, std::vector<bool>* visited) {
  for (int i : execution_order) {
    if ((*visited)[static_cast<size_t>(i)]) continue;
    (*visited)[static_cast<size_t>(i)] = true;
    const NodeView& n = node(i);
    if (const int passed = passed_input(n); passed >= 0) {
      Tensor x = input(n, passed);
      if (is_dequantize(n)) x.is_read_in_float = false;
      set_output(n, 0, std::move(x));
      continue;
    }
    if (run_lengths_.are_read_by(n)) {
      QRT_TRY(assess_run_lengths(*this, n));
    } else {
      QRT_TRY(assess(n));
      QRT_TRY(retry_in_float(*this, n).at("node " + n.label()));
      QRT_TRY(unfuse_outputs(n));
    }
    if (!n.problem().ok()) return error(Code::kInvalidModel, "%s", n.problem().message());
  }
  return Status();
}

Status Importer::find_readers(const std::string& tensor, const Shape& shape, bool* quantizes,
                              bool* others) {
  *quantizes = *others = false;
  // Nodes that change nothing may follow each other without end; the search goes so far.
  constexpr size_t kMostTensors = 1000;
  std::vector<std::string> names = {tensor};
  for (size_t at = 0; at < names.size() && names.size() < kMostTensors; ++at) {
    for (const int i : model_.readers(names[at])) {
      const NodeView& reader = node(i);
      bool nothing = false;
      QRT_TRY(changes_nothing(reader, names[at], shape, model_, &tensors_, &nothing));
      const bool passes = nothing && !is_output(reader.output(0));
      const bool is_quantize = reader.op() == "QuantizeLinear";
      if (passes) names.push_back(reader.output(0));
      *quantizes = *quantizes || is_quantize;
      *others = *others || !(is_quantize || passes);
    }
  }
  return Status();
}

Status Importer::unfuse_outputs(const NodeView& node) {
  if (is_dequantize(node)) return Status();
  for (int i = 0; i < node.output_count(); ++i) {
    if (!node.has_output(i)) continue;
    Tensor y = tensors_.at(node.output(i));
    if (y.is_constant() ? !y.quant : !y.is_fusible()) continue;
    bool quantizes, others;
    QRT_TRY(find_readers(node.output(i), y.shape, &quantizes, &others));
    if (!others) continue;  // a QuantizeLinear rounds numbers, whatever they come from
    const bool is_copied_across = copies_pairs(*this, node);
    bool is_fused = is_copied_across && !quantizes;
    const bool may_be_nothing = !is_copied_across && i == 0 && !is_output(node.output(0));
    for (int k = 0; may_be_nothing && k < std::min(node.input_count(), 2) && !is_fused; ++k)
      if (node.has_input(k))
        QRT_TRY(changes_nothing(node, node.input(k), input(node, k).shape, model_, &tensors_,
                                &is_fused));
    if (is_fused) continue;
    std::vector<float> real;
    if (y.is_constant() && constant_floats(y, &real)) {
      y.constant = make_constant(kFloat, y.shape, real);
      y.type = kFloat;
      y.quant.reset();
    }
    y.is_read_in_float = y.is_table();
    set_output(node, i, std::move(y));
  }
  return Status();
}

int Importer::passed_input(const NodeView& node) const {
  const int passed = double_qdq_.passed_input(node);
  const bool is_made = passed >= 0 && !input(node, passed).is_refused() &&
                       outcomes_.origin(node.input(passed)).empty();
  return is_made ? passed : -1;
}

// Nodes that depend on no graph input, in execution order.
std::vector<int> Importer::constant_nodes() {
  std::vector<int> result;
  for (int i : model_.execution_order()) {
    const NodeView& n = node(i);
    bool all = true;
    for (int k = 0; k < n.input_count(); ++k)
      all = all && (!n.has_input(k) || is_free_of_inputs(n.input(k)));
    if (!all) continue;
    result.push_back(i);
    for (int k = 0; k < n.output_count(); ++k) free_of_inputs_.insert(n.output(k));
  }
  return result;
}

// Scales and zero points are needed before their nodes are visited.
Status Importer::load_quant_parameters() {
  for (const auto& n : nodes_) {
    if (n->op() != "QuantizeLinear" && n->op() != "DequantizeLinear") continue;
    for (int i = 1; i < n->input_count(); ++i) QRT_TRY(tensors_.load_initializer(n->input(i)));
  }
  return Status();
}

bool Importer::is_output(const std::string& tensor) const {
  for (const onnx::ValueInfoProto& info : model_.graph().output())
    if (info.name() == tensor) return true;
  return false;
}

Status Importer::check_node(const NodeView& node) const {
  const OpEntry* entry = find_op_entry(node.domain(), node.op());
  QRT_MODEL_CHECK(node.input_count() >= entry->inputs && (entry->inputs == 0 || node.has_input(0)),
                  "node %s (%s) has %d inputs, expected at least %d", node.label().c_str(),
                  node.op_label().c_str(), node.input_count(), entry->inputs);
  bool has_output = node.has_output(0);
  for (int i = 1; entry->handler == import_recurrent && i < node.output_count(); ++i)
    has_output |= node.has_output(i);  // a recurrent layer may leave out each of its outputs
  QRT_MODEL_CHECK(has_output, "node %s (%s) has no output", node.label().c_str(),
                  node.op_label().c_str());
  QRT_MODEL_CHECK(opset(node) > 0, "node %s (%s): the model imports no operator set '%s'",
                  node.label().c_str(), node.op_label().c_str(), node.domain().c_str());
  return Status();
}

namespace {

// Chains of pending operators are made, and destroyed, recursively.
constexpr int kMostDepth = 1000;

bool waits_too_deeply(const Importer& importer, const NodeView& node) {
  for (int i = 0; i < node.input_count(); ++i)
    if (const Tensor& t = importer.input(node, i); t.is_pending() && t.pending->depth > kMostDepth)
      return true;
  return false;
}

}  // namespace

Status Importer::assess(const NodeView& node) {
  for (int i = 0; i < node.output_count(); ++i)
    if (node.has_output(i)) (void)tensors_.at(node.output(i));
  const OpEntry* entry = find_op_entry(node.domain(), node.op());
  if (!entry) return refuse_unknown(*this, node);
  QRT_TRY(check_node(node));
  std::string depends;
  for (int i = 0; i < node.input_count(); ++i) {
    if (!node.has_input(i)) continue;
    QRT_TRY(tensors_.load_initializer(node.input(i)));
    tensors_.charge_reading(input(node, i));
    if (depends.empty()) depends = outcomes_.origin(node.input(i));
  }
  for (int i = 0; i < node.input_count(); ++i) {
    if (!node.has_input(i) || !input(node, i).is_refused() || stand_in(*this, node, i)) continue;
    not_assessed(node, outcomes_.origin(node.input(i)));
    return note_shape(*this, node, 0);
  }
  for (int i = 0; i < node.output_count() && !depends.empty(); ++i)
    if (outcomes_.origin(node.output(i)).empty()) outcomes_.set_origin(node.output(i), depends);
  if (const Status grown = tensors_.check_growth(graph()); !grown.ok()) {
    outcomes_.refuse_float_form(node.index());
    return refuse(
        node, grown.message(), node.output(0),
        "export the model so that fewer nodes expand, transpose or pad the same large constant");
  }
  if (waits_too_deeply(*this, node))
    return refuse(node,
                  "more than " + std::to_string(kMostDepth) +
                      " operators wait, one for another, for the QuantizeLinear behind them",
                  node.output(0), "put QuantizeLinear and DequantizeLinear between them");
  Status status;
  {
    std::vector<TensorView> views;
    hide_codes(node, *entry, &views);
    status = entry->handler(*this, node);
  }
  drop_float_stand_in(*this, node);
  return judge(node, std::move(status), depends);
}

void Importer::hide_codes(const NodeView& node, const OpEntry& entry,
                          std::vector<TensorView>* views) {
  for (int i = 0; i < node.input_count(); ++i) {
    const Tensor& t = input(node, i);
    if (!t.is_table() || t.meaning_axis() < 0 || !mixes(entry.reads, node, t.meaning_axis()))
      continue;
    const Shape shape = t.shape;
    views->emplace_back(&tensors_, node.input(i),
                        pending_tensor(pending_table(*this, node, t), shape));
  }
}

Status Importer::judge(const NodeView& node, Status status, const std::string& depends) {
  // Shapes that follow from the model but lie beyond qrt's limits are a refusal like any other.
  if (status.code() == Code::kUnsupported)
    return refuse(node, status.message(), node.output(0), remedy_for_shapes(*this));
  // A stand-in may be invalid where the file declares something wrong for a tensor that is never made.
  if (status.code() == Code::kInvalidModel && !depends.empty()) {
    not_assessed(node, depends);
    status = Status();
  }
  QRT_TRY(std::move(status).at("node " + node.label()));
  if (const Tensor& y = tensors_.at(node.output(0));
      outcomes_.result(node.index()).empty() && y.is_table() && y.table)
    outcomes_.set_result(node.index(), "table");
  const bool is_made = outcomes_.is_made(node.index());
  for (int i = 1; i < node.output_count() && is_made; ++i) {
    if (!node.has_output(i) || uses(node.output(i)) == 0) continue;
    if (tensors_.at(node.output(i)).is_refused())
      return refuse(
          node,
          "its output " + std::to_string(i) + " '" + node.output(i) +
              "' is read, which qrt does not make",
          node.output(i),
          "export the model without what reads that output, or end it before by --outputs");
  }
  for (int i = 0; i < node.output_count(); ++i) QRT_TRY(note_shape(*this, node, i));
  return Status();
}

namespace {

// Returns a tensor that nothing makes, with the shape that is still known of it.
Tensor refused_form(const Tensor& was) {
  Tensor refused;
  refused.shape = was.shape;
  refused.shape_known = was.shape_known || !was.is_refused();
  return refused;
}

}  // namespace

Status Importer::refuse(const NodeView& node, const std::string& rule, const std::string& tensor,
                        const std::string& remedy) {
  outcomes_.refuse(node.index(), rule, tensor, remedy);
  for (int i = 0; i < node.output_count(); ++i) {
    if (!node.has_output(i)) continue;
    set_output(node, i, refused_form(tensors_.at(node.output(i))));
    outcomes_.set_origin(node.output(i), "refused node " + node.label());
    QRT_TRY(note_shape(*this, node, i));
  }
  return Status();
}

void Importer::not_assessed(const NodeView& node, const std::string& origin) {
  outcomes_.depends_on(node.index(), origin);
  // A copy, as `origin` may refer to a field that is set here.
  const std::string of_outputs = origin;
  for (int i = 0; i < node.output_count(); ++i) {
    if (!node.has_output(i)) continue;
    set_output(node, i, refused_form(tensors_.at(node.output(i))));
    outcomes_.set_origin(node.output(i), of_outputs);
  }
}

Status Importer::refuse_float(const NodeView& node, int i) {
  const std::string name = node.input(i);
  const Tensor& t = input(node, i);
  const std::string quoted = "input '" + name + "'";
  // With --allow-float nothing else can be made of floats here.
  const std::string or_outside =
      allow_float_ ? "; or " + remedy_to_compute_outside(*this, node) : "";
  if (!node.has_input(i))
    return refuse(node, "input " + std::to_string(i) + " is missing", "",
                  "export the model with that input, which the operator needs");
  if (t.is_pending() && t.pending->meaning_axis >= 0 && t.pending->followers.empty())
    return refuse(
        node,
        quoted + " has parameters of its own for each index of axis " +
            std::to_string(t.pending->meaning_axis) + ", which " + node.op() + " brings together",
        name, "put QuantizeLinear and DequantizeLinear with one scale behind it" + or_outside);
  if (t.is_pending()) {
    const int readers = uses(name);
    const std::string made = quoted + " is the float result of " + t.pending->ops + " (node " +
                             t.pending->node->label() + ")";
    return refuse(
        node,
        readers > 1 ? made + ", which has " + std::to_string(readers) +
                          " readers: ONNX Runtime fuses it only with one QuantizeLinear"
                    : made + ", which nothing quantises",
        name,
        "put QuantizeLinear and DequantizeLinear behind " + t.pending->node->label() + or_outside);
  }
  if (t.is_pair_function() || (t.is_table() && t.table))
    return refuse(node,
                  quoted + " is the float result of another operator, which nothing quantises",
                  name, "put QuantizeLinear and DequantizeLinear on it" + or_outside);
  if (t.is_read_in_float)
    return refuse(node,
                  quoted +
                      " comes from a DequantizeLinear by a node across which ONNX Runtime fuses "
                      "nothing, so that it computes the " +
                      node.op() + " in floats",
                  name, "put QuantizeLinear and DequantizeLinear on it" + or_outside);
  if (t.is_constant())
    return refuse(node, quoted + " is a constant of type " + element_type_name(t.type), name,
                  "store it as integers with a DequantizeLinear behind them" + or_outside);
  return refuse(
      node,
      quoted + " is " + element_type_name(t.is_table() ? kFloat : t.type) + " and not quantised",
      name, "put QuantizeLinear and DequantizeLinear on it" + or_outside);
}

// Operators that still wait for a QuantizeLinear when others were refused: what reads them was not
// taken in.
void Importer::report_unresolved() {
  // The refused or unassessed node that reads a tensor.
  std::unordered_map<std::string, const NodeView*> reader;
  for (const auto& n : nodes_) {
    if (outcomes_.is_made(n->index())) continue;
    for (int i = 0; i < n->input_count(); ++i) reader.emplace(n->input(i), n.get());
  }
  for (const auto& [name, tensor] : tensors_.all()) {
    if (!tensor.is_pending()) continue;
    const auto found = reader.find(name);
    if (found == reader.end()) continue;
    const auto mark = [&, label = found->second->label()](int index) {
      if (outcomes_.result(index).empty() && !outcomes_.is_skipped(index))
        outcomes_.skip(index, "its result goes to node " + label);
    };
    mark(tensor.pending->node->index());
    for (int follower : tensor.pending->followers) mark(follower);
  }
}

}  // namespace qrt::convert::from_onnx
