// SPDX-License-Identifier: Apache-2.0
#include "converter/import/onnx/folding/conditions.h"

#include "converter/import/onnx/folding/loops.h"
#include "converter/import/onnx/ops/handlers.h"
#include "converter/import/onnx/remedies.h"
#include "onnx/onnx_pb.h"

namespace qrt::convert::from_onnx {
namespace {

// Branches lie in branches, and shapes that one computes decide on others: each round costs an import.
constexpr int kMaxRounds = 8;

bool has_loop(const onnx::GraphProto& graph) {
  for (int i = 0; i < graph.node_size(); ++i) {
    const NodeView node(graph.node(i), i);
    const bool is_loop = node.op() == "Loop" || node.op() == "Scan";
    if (is_loop && !node.has(kLoopBegin) && !node.has(kLoopEnd)) return true;
  }
  return false;
}

bool has_if(const onnx::GraphProto& graph) {
  for (const onnx::NodeProto& node : graph.node())
    if (node.op_type() == "If") return true;
  return false;
}

// Reads a condition. Returns false where the tensor is no single bool that is known.
bool read_condition(const Tensor& t, bool* value) {
  if (!t.is_plain_constant() || t.type != kBool || t.constant->elements() != 1) return false;
  *value = t.constant->integer(0) != 0;
  return true;
}

}  // namespace

Status import_if(Importer& importer, const NodeView& node) {
  const std::string& condition = node.input(0);
  bool value;
  const Tensor& t = importer.input(node, 0);
  if (t.is_value() && t.type == kBool && t.shape.elements() == 1) importer.note_run_condition(node);
  if (!read_condition(t, &value))
    return importer.refuse(
        node,
        "its condition '" + condition + "' is computed in the run, qrt takes one branch for all",
        condition,
        "make '" + condition +
            "' a constant of the model, once true and once false: a model for each branch");
  if (importer.graph().batch_is_symbolic && !importer.is_free_of_inputs(condition))
    return importer.refuse(node,
                           "its condition '" + condition +
                               "' follows from shapes, which ONNX Runtime does not know before the "
                               "run where the batch is open",
                           condition, "fix the batch: " + input_shape_option(importer, 1));
  importer.note_condition(node, value);
  return importer.refuse(node, "its branches lie too deep in one another", node.output(0),
                         "export the model with fewer If nodes within one another");
}

Status settle_branches(bool allow_float, const std::vector<OpenDimension>& open, Model* model) {
  Budget budget = Budget::of_files(model->files());
  for (int round = 0; round < kMaxRounds; ++round) {
    const bool may_unroll = has_loop(model->graph());
    if (!may_unroll && !has_if(model->graph())) break;
    Graph graph;
    Report report;
    Importer importer(*model, allow_float, 1, &graph, &report);
    (void)importer.run();
    if (!importer.conditions().empty()) {
      QRT_TRY(model->take_branches(importer.conditions()));
      continue;
    }
    LoopsOfSizes loops = {importer.loops(), {}};
    if (!open.empty() && may_unroll)
      loops = loops_of_all_sizes(*model, allow_float, open, importer.loops());
    for (const auto& [index, loop] : loops.fixed)
      QRT_TRY(charge_steps(model->graph().node(index), loop, &budget));
    if (!loops.fixed.empty()) {
      QRT_TRY(model->unroll_loops(loops.fixed));
    } else if (!loops.open.empty()) {
      QRT_TRY(model->open_loops(loops.open));
    } else {
      if (importer.run_conditions().empty()) break;
      QRT_TRY(model->join_branches(importer.run_conditions()));
    }
  }
  return Status();
}

Status check_taken_branches(Importer& importer) {
  for (const TakenBranch& branch : importer.model().taken_branches()) {
    QRT_TRY(importer.tensors().load_initializer(branch.condition));
    bool value;
    if (read_condition(importer.tensors().at(branch.condition), &value) && value == branch.value)
      continue;
    importer.graph().batch_closed =
        "node " + branch.node + " (If) takes another branch at other batches";
  }
  return Status();
}

}  // namespace qrt::convert::from_onnx
