// SPDX-License-Identifier: Apache-2.0
#include "converter/import/onnx/double_qdq.h"

#include <algorithm>

#include "converter/import/onnx/file/borders.h"
#include "converter/import/onnx/file/fused.h"
#include "converter/import/onnx/no_op.h"

namespace qrt::convert::from_onnx {
namespace {

using Kind = QdqNode::Kind;

bool is(const NodeView& node, const char* op) {
  return node.op() == op && node.integer("block_size", 0) == 0;
}

bool is_pair_node(const QdqNode& entry) {
  return entry.kind == Kind::kQuantize || entry.kind == Kind::kDequantize;
}

bool is_permutation(const std::vector<int64_t>& perm) {
  std::vector<bool> seen(perm.size());
  for (int64_t axis : perm) {
    if (axis < 0 || axis >= static_cast<int64_t>(perm.size()) || seen[static_cast<size_t>(axis)])
      return false;
    seen[static_cast<size_t>(axis)] = true;
  }
  return true;
}

// Returns whether `sum` is a pending MatMul and Add that ONNX Runtime makes a Gemm of matrices,
// whose result it reshapes.
bool is_reshaped_product(const Tensor& sum) {
  return sum.is_pending() && sum.pending->ops == "MatMul+Add" && sum.shape.rank() > 2;
}

Status refusal(Outcome outcome) {
  return error(Code::kUnsupported,
               outcome == Outcome::kEmpty
                   ? "it and a pair behind it have only 0 in common: ONNX Runtime makes one pair "
                     "of scale 0 of them"
                   : "it and a pair behind it merge in ONNX Runtime, but for one of the readers");
}

}  // namespace

const Quant* DoubleQdq::quant(const NodeView& node) const {
  const auto found = merged_.find(node.index());
  return found == merged_.end() ? nullptr : &found->second;
}

int DoubleQdq::passed_input(const NodeView& node) const {
  const auto found = passed_.find(node.index());
  return found == passed_.end() ? -1 : found->second;
}

const NodeView* DoubleQdq::producer(const std::string& tensor) const {
  const int index = model_.producer(tensor);
  return index < 0 ? nullptr : nodes_[static_cast<size_t>(index)].get();
}

Status DoubleQdq::find_readers(const std::string& tensor, const Shape& shape,
                               std::vector<const NodeView*>* found, Passed* passed,
                               bool* all) const {
  const std::vector<int>& readers = model_.readers(tensor);
  // Graph outputs and readers within a subgraph count as uses only.
  *all = !readers.empty() && static_cast<int>(readers.size()) == model_.uses(tensor) &&
         passed->size() <= kMostReaders && readers.size() <= kMostReaders;
  for (size_t i = 0; *all && i < readers.size(); ++i) {
    const NodeView& node = *nodes_[static_cast<size_t>(readers[i])];
    bool nothing;
    QRT_TRY(changes_nothing(node, tensor, shape, model_, tensors_, &nothing));
    if (!nothing) {
      found->push_back(&node);
      continue;
    }
    passed->emplace_back(node.index(), node.input(0) == tensor ? 0 : 1);
    QRT_TRY(find_readers(node.output(0), shape, found, passed, all));
  }
  return Status();
}

// Reads a node's parameters. Returns false unless they are as ONNX Runtime requires: constants of
// one element, with an explicit zero point.
bool DoubleQdq::read(const NodeView& node, Quant* quant) const {
  const Tensor &s = tensors_->input(node, 1), &z = tensors_->input(node, 2);
  const bool plain = s.is_plain_constant() && s.type == kFloat && s.constant->elements() == 1 &&
                     z.is_plain_constant() && z.constant->elements() == 1 &&
                     (z.type == kUint8 || z.type == kInt8 || z.type == kUint16 || z.type == kInt16);
  DType type;
  if (!plain || !ir_type(z.type, &type)) return false;
  *quant = tensor_quant(type, s.constant->real(0), static_cast<int32_t>(z.constant->integer(0)));
  return true;
}

Status DoubleQdq::make_qdq_node(const std::vector<const NodeView*>& nodes, QdqNode* entry,
                                bool* is_qdq_node) const {
  *is_qdq_node = false;
  if (nodes.empty()) return Status();
  const NodeView& node = *nodes[0];
  const std::string& op = node.op();
  if (op == "QuantizeLinear" || op == "DequantizeLinear") {
    entry->kind = op == "QuantizeLinear" ? Kind::kQuantize : Kind::kDequantize;
    for (size_t i = 0; i < nodes.size(); ++i) {
      Quant quant;
      if (!is(*nodes[i], op.c_str()) || !read(*nodes[i], &quant) ||
          (i > 0 && quant != entry->quant))
        return Status();
      entry->quant = quant;
    }
    *is_qdq_node = true;
    return Status();
  }
  if (nodes.size() != 1 || !node.domain().empty()) return Status();
  *is_qdq_node = true;
  if (op == "Transpose" && !node.has(kAxisOrder)) {
    entry->kind = Kind::kTranspose;
    entry->numbers = node.integers("perm");
    if (!is_permutation(entry->numbers)) entry->numbers.clear();
  } else if (op == "Squeeze" || op == "Unsqueeze") {
    entry->kind = op == "Squeeze" ? Kind::kSqueeze : Kind::kUnsqueeze;
    entry->numbers = node.integers("axes");
    if (node.has_input(1)) {
      QRT_TRY(tensors_->load_initializer(node.input(1)));
      const Tensor& axes = tensors_->input(node, 1);
      if (axes.is_plain_constant() && axes.constant->is_integer() &&
          axes.constant->elements() <= kMaxTensorRank)
        for (int64_t i = 0; i < axes.constant->elements(); ++i)
          entry->numbers.push_back(axes.constant->integer(i));
    }
  } else if (op == "Slice") {
    entry->kind = Kind::kSlice;
  } else if (op == "Reshape" || (op == "MaxPool" && model_.opset(node.index()) >= 12)) {
    entry->kind = Kind::kMove;
  } else {
    *is_qdq_node = false;
  }
  return Status();
}

// Finds the readers of these tensors, which have the shape of input 0 of `node`. *one: the readers
// are equal, and neither graph outputs nor subgraphs read the tensors.
Status DoubleQdq::find_equal_readers(const std::vector<std::string>& tensors, const NodeView& node,
                                     std::vector<const NodeView*>* readers, bool* one) const {
  Passed passed;
  *one = true;
  for (size_t i = 0; *one && i < tensors.size(); ++i)
    QRT_TRY(find_readers(tensors[i], tensors_->input(node, 0).shape, readers, &passed, one));
  QdqNode entry;
  if (*one) QRT_TRY(make_qdq_node(*readers, &entry, one));
  return Status();
}

Status DoubleQdq::find_top(const NodeView& quantize, Top* top) const {
  *top = {&quantize, quantize.input(0), nullptr};
  const NodeView* below = nullptr;  // behind top->node
  while (const NodeView* node = producer(top->input)) {
    const bool sole = model_.uses(top->input) == 1;
    int through = -1;
    for (int i = 0; sole && through < 0 && i < 2 && node->has_input(i); ++i) {
      bool nothing;
      QRT_TRY(changes_nothing(*node, node->input(i), tensors_->input(*node, i).shape, model_,
                              tensors_, &nothing));
      if (nothing) through = i;
    }
    if (through >= 0) {
      top->input = node->input(through);
      continue;
    }
    QdqNode entry;
    bool goes_on;
    QRT_TRY(make_qdq_node({node}, &entry, &goes_on));
    if (!goes_on) break;
    if (!sole && !is_pair_node(entry)) {
      if (entry.kind == Kind::kTranspose && transposes_.move_from_all_readers(*node))
        top->shared = node;
      break;
    }
    if (!sole) {
      bool one, one_behind = true;
      std::vector<const NodeView*> readers, behind;
      QRT_TRY(find_equal_readers({top->input}, *top->node, &readers, &one));
      if (one && below) {
        std::vector<std::string> outputs;
        for (const NodeView* reader : readers) outputs.push_back(reader->output(0));
        QRT_TRY(find_equal_readers(outputs, *top->node, &behind, &one_behind));
      }
      if (!one && node->op() == "DequantizeLinear") top->shared = node;
      if (one && !one_behind) {
        if (top->node->op() == "DequantizeLinear") top->shared = top->node;
        *top = {below, top->node->output(0), top->shared};
      }
      if (!one || !one_behind) break;
    }
    below = top->node;
    top->node = node;
    top->input = node->input(0);
  }
  return Status();
}

Status DoubleQdq::follow(const Top& top, std::vector<EqualNodes>* steps, LastReaders* end) const {
  Shape shape = tensors_->input(*top.node, 0).shape;
  if (top.shared) {
    bool is_qdq_node;
    steps->emplace_back();
    steps->back().nodes = {top.shared};
    QRT_TRY(make_qdq_node(steps->back().nodes, &steps->back().entry, &is_qdq_node));
    steps->back().entry.is_shared = true;
  }
  end->readers = {top.node};
  for (bool goes_on = true; goes_on;) {
    EqualNodes step;
    QRT_TRY(make_qdq_node(end->readers, &step.entry, &goes_on));
    if (!goes_on) break;
    step.nodes = end->readers;
    // find_readers() needs the shape to see which nodes change nothing, such as a Reshape to the
    // shape that its input has. Behind nodes other than pairs and Transposes it is known if they
    // were visited.
    if (step.entry.kind == Kind::kTranspose &&
        static_cast<int>(step.entry.numbers.size()) == shape.rank()) {
      const Shape from = shape;
      for (int i = 0; i < shape.rank(); ++i)
        shape[i] = from[static_cast<int>(step.entry.numbers[static_cast<size_t>(i)])];
    } else if (!is_pair_node(step.entry)) {
      const std::string& y = step.nodes[0]->output(0);
      shape = tensors_->has(y) ? tensors_->at(y).shape : Shape();
    }
    end->readers.clear();
    for (const NodeView* node : step.nodes) {
      if (goes_on)
        QRT_TRY(find_readers(node->output(0), shape, &end->readers, &step.passed, &goes_on));
    }
    if (!goes_on) {
      end->readers.clear();
      step.passed.clear();
      std::unordered_set<std::string> inputs;
      for (const NodeView* node : step.nodes) {
        end->has_twins = !inputs.insert(node->input(0)).second || end->has_twins;
        for (int i : model_.readers(node->output(0)))
          end->readers.push_back(nodes_[static_cast<size_t>(i)].get());
        end->outputs +=
            model_.uses(node->output(0)) - static_cast<int>(model_.readers(node->output(0)).size());
      }
    }
    steps->push_back(std::move(step));
  }
  return Status();
}

void DoubleQdq::describe_edges(const Top& top, const LastReaders& end, bool all_known,
                               QdqSequence* sequence) {
  const NodeView* made_by = top.shared ? nullptr : producer(top.input);
  sequence->front.is_made = made_by != nullptr;
  sequence->front.has_dequantize = made_by && made_by->op() == "DequantizeLinear";
  sequence->front.takes_pair = !top.shared && (!made_by || model_.uses(top.input) == 1);
  if (all_known && made_by && made_by->op() == "Add" &&
      is_reshaped_product(tensors_->input(*top.node, 0)))
    sequence->entries.push_front({Kind::kMove, {}, {}, false});

  auto& back = sequence->back;
  back.readers = static_cast<int>(end.readers.size());
  back.outputs = end.outputs;
  back.has_twins = end.has_twins;
  back.all_lead = end.outputs == 0;
  for (const NodeView* reader : end.readers) {
    const bool leads = transposes_.lead_on_from(*reader);
    back.quantizes = back.quantizes || reader->op() == "QuantizeLinear";
    back.has_lone_transpose =
        back.has_lone_transpose || (back.readers > 1 && transposes_.gets_pair(*reader));
    back.leads_to_transpose = back.leads_to_transpose || leads;
    back.all_lead = back.all_lead && leads;
  }
  if (back.readers != 1 || !back.all_lead) return;
  // The reader's other inputs have to be transposed, too, which costs nothing for constants.
  const NodeView& reader = *end.readers[0];
  back.takes_transpose = reader.op() != "Transpose";
  for (int i = 1; i < reader.input_count(); ++i)
    back.takes_transpose = back.takes_transpose &&
                           (!reader.has_input(i) || model_.initializers().count(reader.input(i)));
}

// Assigns the pair nodes that are left after merging, in order, to the file's nodes of their types;
// all other nodes of the sequence become nodes without effect.
Status DoubleQdq::apply(const QdqSequence& sequence, const std::vector<EqualNodes>& steps) {
  std::vector<QdqNode> left;
  for (const QdqNode& entry : sequence.entries) {
    if (!is_pair_node(entry)) continue;
    // A DequantizeLinear and a QuantizeLinear of the same parameters have no effect together.
    if (entry.kind == Kind::kQuantize && left.size() > 1 && left.back().quant == entry.quant)
      left.pop_back();
    else
      left.push_back(entry);
  }
  if (left.empty()) {
    left.assign(2, steps[0].entry);
    left[1].kind = Kind::kQuantize;
  }
  std::unordered_map<int, Quant> merged;
  std::unordered_map<int, int> passed;
  size_t at = 0;
  bool passes = false, is_late = false, are_equal = true;
  const Quant* first = nullptr;
  for (const EqualNodes& step : steps) {
    if (is_pair_node(step.entry)) {
      passes = at >= left.size() || left[at].kind != step.entry.kind ||
               left[at].quant.type != step.entry.quant.type;
      if (!first) first = &step.entry.quant;
      are_equal = are_equal && step.entry.quant == *first;
      for (const NodeView* node : step.nodes) {
        if (passes)
          passed[node->index()] = 0;
        else if (left[at].quant != step.entry.quant)
          merged[node->index()] = left[at].quant;
        is_late =
            is_late || (tensors_->has(node->output(0)) && passes != (passed_input(*node) >= 0));
      }
      if (!passes) ++at;
    }
    if (passes) passed.insert(step.passed.begin(), step.passed.end());
  }
  if (at < left.size())
    return error(Code::kUnsupported, "ONNX Runtime makes more pairs of it and those behind it");
  // An earlier node of the sequence was visited before later nodes were known to belong to the
  // sequence. That does not matter if all pairs are equal, since these have no effect, merged or
  // not.
  if (is_late && are_equal) return Status();
  if (is_late)
    return error(Code::kUnsupported,
                 "it merges in ONNX Runtime with a pair in front of nodes that change the shape");
  for (const auto& [node, quant] : merged) merged_.insert_or_assign(node, quant);
  passed_.insert(passed.begin(), passed.end());
  return Status();
}

Status DoubleQdq::merge(const NodeView& quantize, bool all_known) {
  if (settled_.count(quantize.index()) != 0 || quantize.has(kInSubgraph)) return Status();
  Top top;
  QRT_TRY(find_top(quantize, &top));
  std::vector<EqualNodes> steps;
  LastReaders end;
  QRT_TRY(follow(top, &steps, &end));
  QdqSequence sequence;
  int pair_nodes = 0;
  settled_.insert(quantize.index());
  for (const EqualNodes& step : steps) {
    sequence.entries.push_back(step.entry);
    pair_nodes += is_pair_node(step.entry);
    for (const NodeView* node : step.nodes) settled_.insert(node->index());
  }
  if (pair_nodes < 3) return Status();  // no two pairs can meet
  describe_edges(top, end, all_known, &sequence);
  const Outcome outcome = play_rounds(&sequence);
  Status status = outcome == Outcome::kRow ? apply(sequence, steps) : refusal(outcome);
  // A failed sequence is not settled, so that later calls fail with the same message.
  if (!status.ok()) settled_.erase(quantize.index());
  return status;
}

}  // namespace qrt::convert::from_onnx
