// SPDX-License-Identifier: Apache-2.0
// One import of an ONNX file, node by node in execution order. For each node a handler
// (ops/handlers.h) reads its inputs' states and writes its outputs'. The import's data have classes
// of their own, which handlers reach through here: the tensors' states (tensors.h), the graph that
// grows from them (common/graph_builder.h) and the outcome of each node (common/outcomes.h).
#ifndef QRT_CONVERTER_IMPORT_ONNX_IMPORTER_H_
#define QRT_CONVERTER_IMPORT_ONNX_IMPORTER_H_

#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include "converter/import/common/graph_builder.h"
#include "converter/import/common/outcomes.h"
#include "converter/import/onnx/double_qdq.h"
#include "converter/import/onnx/open_dimensions.h"
#include "converter/import/onnx/run_lengths.h"
#include "converter/import/onnx/tensors.h"

namespace qrt::convert::from_onnx {

struct OpEntry;

class Importer {
 public:
  // `batch`: the number that stands for a symbolic one. `sizes`: those of other symbolic dimensions, and of
  // the batch where it is not alone, by name (open_dimensions.h).
  Importer(const Model& model, bool allow_float, int64_t batch, Graph* graph, Report* report,
           const OpenSizes& sizes = {});

  Status run();

  // --- the file
  const Model& model() const { return model_; }
  const NodeView& node(int index) const { return *nodes_[static_cast<size_t>(index)]; }
  int64_t opset(const NodeView& node) const { return model_.opset(node.index()); }
  int uses(const std::string& tensor) const { return model_.uses(tensor); }
  // Returns the node that makes a tensor; null for inputs and initialisers.
  const NodeView* producer(const std::string& tensor) const {
    const int index = model_.producer(tensor);
    return index < 0 ? nullptr : nodes_[static_cast<size_t>(index)].get();
  }
  bool is_output(const std::string& tensor) const;
  bool allows_float() const { return allow_float_; }
  // Returns the number that stands for a symbolic batch.
  int64_t batch() const { return batch_; }
  // Returns the numbers that stand for the symbolic dimensions; empty where only the batch may be symbolic.
  const OpenSizes& sizes() const { return sizes_; }
  // The batch that a node needs where it differs from `batch`.
  struct NeededBatch {
    int64_t batch = 0;  // 0: none is known
    std::string node;   // the node's name in messages
  };
  void note_batch(const NodeView& node, int64_t batch) {
    if (needed_batch_.batch == 0) needed_batch_ = {batch, node.label() + " (" + node.op() + ")"};
  }
  const NeededBatch& needed_batch() const { return needed_batch_; }
  // Returns whether the model's batch is symbolic and this tensor, not known at conversion, has as
  // many elements in dimension 0.
  bool may_have_symbolic_batch(const Tensor& tensor) const {
    return builder_.graph().batch_is_symbolic && !tensor.is_constant() && tensor.shape.rank() > 0 &&
           tensor.shape[0] == batch_;
  }

  bool has_open_sizes() const { return !sizes_.empty(); }
  // Returns a value that is 1 in every run, or kNoValue as long as nothing needs one (run_integers.h).
  ValueId& run_one() { return run_one_; }
  RunLengths& run_lengths() { return run_lengths_; }
  // Returns whether input i of the node, a constant in this import, may be another at other sizes.
  bool may_differ_at_other_sizes(const NodeView& node, int i) const {
    return has_open_sizes() && node.has_input(i) && !is_free_of_inputs(node.input(i));
  }
  // Notes how far a number is from where the node does something else; what means "all" is no such number.
  void note_distance(const NodeView& node, int64_t distance) {
    constexpr int64_t kMost = int64_t{1} << 30;
    if (has_open_sizes() && distance > -kMost && distance < kMost)
      builder_.graph().distances.push_back({node.index(), distance});
  }

  // Returns whether no input of the model has to do with the tensor, not even by its shape.
  bool is_free_of_inputs(const std::string& tensor) const {
    return free_of_inputs_.count(tensor) != 0 || model_.initializers().count(tensor) != 0;
  }
  // Notes an If whose condition turned out to be known.
  void note_condition(const NodeView& node, bool value) { conditions_[node.index()] = value; }
  const KnownConditions& conditions() const { return conditions_; }
  // Notes an If whose condition a run computes.
  void note_run_condition(const NodeView& node) { run_conditions_.insert(node.index()); }
  const std::unordered_set<int>& run_conditions() const { return run_conditions_; }

  // Notes a Loop or Scan whose number of steps turned out to be known.
  void note_loop(const NodeView& node, KnownLoop loop) {
    loops_.emplace(node.index(), std::move(loop));
  }
  const KnownLoops& loops() const { return loops_; }

  // --- tensors
  Tensors& tensors() { return tensors_; }
  const Tensor& input(const NodeView& node, int i) const { return tensors_.input(node, i); }
  void set_output(const NodeView& node, int i, Tensor tensor) {
    tensors_.set_output(node, i, std::move(tensor));
  }
  // Returns whether nothing else reads input i, so that `node` may take over the operator that makes it.
  bool is_sole_reader(const NodeView& node, int i) const { return uses(node.input(i)) == 1; }
  // Returns the Q/DQ pairs in a row, which count as one.
  DoubleQdq& double_qdq() { return double_qdq_; }
  // Returns DoubleQdq::passed_input(), but -1 where that input was refused.
  int passed_input(const NodeView& node) const;

  // --- the graph
  GraphBuilder& builder() { return builder_; }
  Graph& graph() { return builder_.graph(); }

  // --- outcomes
  Outcomes& outcomes() { return outcomes_; }
  // Refuses a node, which is no error: its outputs become refused and the import goes on. Returns
  // OK, for handlers to return.
  Status refuse(const NodeView& node, const std::string& rule, const std::string& tensor,
                const std::string& remedy);
  // Says that a needed input is still float, naming what would help.
  Status refuse_float(const NodeView& node, int i);
  void became(const NodeView& node, const std::string& result, const std::string& level) {
    outcomes_.became(node.index(), result, level);
  }
  // Marks a node that reads the output of a refused node, or a refused input (`origin`), as not
  // assessed, and its outputs, too.
  void not_assessed(const NodeView& node, const std::string& origin);
  // Judges a node, again if need be.
  Status assess(const NodeView& node);

 private:
  Status visit(const std::vector<int>& execution_order, std::vector<bool>* visited);
  std::vector<int> constant_nodes();
  Status load_quant_parameters();
  // Takes quantised outputs that ONNX Runtime fuses with no reader as what it makes of them: floats
  // where they are constant, else tensors that are read in float.
  Status unfuse_outputs(const NodeView& node);
  // Sets *quantizes to whether a QuantizeLinear reads the tensor, of this shape, and *others to whether
  // another node does, each if only behind nodes that change nothing.
  Status find_readers(const std::string& tensor, const Shape& shape, bool* quantizes, bool* others);
  // Replaces tensors whose codes the node would combine along an axis on which codes change their
  // meaning by pending functions.
  void hide_codes(const NodeView& node, const OpEntry& entry, std::vector<TensorView>* views);
  Status check_node(const NodeView& node) const;
  // Turns a handler's status into an outcome of the node.
  Status judge(const NodeView& node, Status status, const std::string& depends);
  void report_unresolved();

  const Model& model_;
  const bool allow_float_;
  const int64_t batch_;
  const OpenSizes sizes_;
  NeededBatch needed_batch_;
  std::vector<std::unique_ptr<NodeView>> nodes_;  // indexed by the node's place in the file
  Outcomes outcomes_;
  Tensors tensors_;
  GraphBuilder builder_;
  DoubleQdq double_qdq_;
  // Tensors made by nodes that depend on no graph input.
  std::unordered_set<std::string> free_of_inputs_;
  KnownConditions conditions_;
  std::unordered_set<int> run_conditions_;
  KnownLoops loops_;
  ValueId run_one_ = kNoValue;
  RunLengths run_lengths_;
};

}  // namespace qrt::convert::from_onnx

#endif  // QRT_CONVERTER_IMPORT_ONNX_IMPORTER_H_
