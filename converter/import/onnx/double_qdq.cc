// SPDX-License-Identifier: Apache-2.0
#include "converter/import/onnx/double_qdq.h"

#include <algorithm>

#include "converter/import/onnx/file/fused.h"
#include "converter/import/onnx/no_op.h"

namespace qrt::convert::from_onnx {
namespace {

using Kind = Link::Kind;

bool is(const NodeView& node, const char* op) {
  return node.op() == op && node.integer("block_size", 0) == 0;
}

bool is_pair_node(const Link& link) {
  return link.kind == Kind::kQuantize || link.kind == Kind::kDequantize;
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

// Returns whether ONNX Runtime makes a Gemm of matrices of the MatMul and Add that this waits for,
// and reshapes its result.
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

// Parameters as ONNX Runtime wants them: constants of one element, with an explicit zero point.
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

Status DoubleQdq::make_link(const std::vector<const NodeView*>& nodes, Link* link,
                            bool* is_link) const {
  *is_link = false;
  if (nodes.empty()) return Status();
  const NodeView& node = *nodes[0];
  const std::string& op = node.op();
  if (op == "QuantizeLinear" || op == "DequantizeLinear") {
    link->kind = op == "QuantizeLinear" ? Kind::kQuantize : Kind::kDequantize;
    for (size_t i = 0; i < nodes.size(); ++i) {
      Quant quant;
      if (!is(*nodes[i], op.c_str()) || !read(*nodes[i], &quant) || (i > 0 && quant != link->quant))
        return Status();
      link->quant = quant;
    }
    *is_link = true;
    return Status();
  }
  if (nodes.size() != 1 || !node.domain().empty()) return Status();
  *is_link = true;
  if (op == "Transpose" && !node.has(kAxisOrder)) {
    link->kind = Kind::kTranspose;
    link->numbers = node.integers("perm");
    if (!is_permutation(link->numbers)) link->numbers.clear();
  } else if (op == "Squeeze" || op == "Unsqueeze") {
    link->kind = op == "Squeeze" ? Kind::kSqueeze : Kind::kUnsqueeze;
    link->numbers = node.integers("axes");
    if (node.has_input(1)) {
      QRT_TRY(tensors_->load_initializer(node.input(1)));
      const Tensor& axes = tensors_->input(node, 1);
      if (axes.is_plain_constant() && axes.constant->is_integer() &&
          axes.constant->elements() <= kMaxTensorRank)
        for (int64_t i = 0; i < axes.constant->elements(); ++i)
          link->numbers.push_back(axes.constant->integer(i));
    }
  } else if (op == "Slice") {
    link->kind = Kind::kSlice;
  } else if (op == "Reshape" || (op == "MaxPool" && model_.opset(node.index()) >= 12)) {
    link->kind = Kind::kMove;
  } else {
    *is_link = false;
  }
  return Status();
}

// Finds the readers of these tensors, of the shape that `node` reads. *one: they are equal, and
// nothing else reads the tensors.
Status DoubleQdq::find_equal_readers(const std::vector<std::string>& tensors, const NodeView& node,
                                     std::vector<const NodeView*>* readers, bool* one) const {
  Passed passed;
  *one = true;
  for (size_t i = 0; *one && i < tensors.size(); ++i)
    QRT_TRY(find_readers(tensors[i], tensors_->input(node, 0).shape, readers, &passed, one));
  Link link;
  if (*one) QRT_TRY(make_link(*readers, &link, one));
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
    Link link;
    bool goes_on;
    QRT_TRY(make_link({node}, &link, &goes_on));
    if (!goes_on) break;
    if (!sole && !is_pair_node(link)) {
      if (link.kind == Kind::kTranspose && transposes_.move_from_all_readers(*node))
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

Status DoubleQdq::follow(const Top& top, std::vector<Step>* steps, End* end) const {
  Shape shape = tensors_->input(*top.node, 0).shape;
  if (top.shared) {
    bool is_link;
    steps->emplace_back();
    steps->back().nodes = {top.shared};
    QRT_TRY(make_link(steps->back().nodes, &steps->back().link, &is_link));
    steps->back().link.is_shared = true;
  }
  end->readers = {top.node};
  for (bool goes_on = true; goes_on;) {
    Step step;
    QRT_TRY(make_link(end->readers, &step.link, &goes_on));
    if (!goes_on) break;
    step.nodes = end->readers;
    // A Transpose changes the shape. Behind nodes other than pairs the shape is known only if they
    // were visited.
    if (step.link.kind == Kind::kTranspose &&
        static_cast<int>(step.link.numbers.size()) == shape.rank()) {
      const Shape from = shape;
      for (int i = 0; i < shape.rank(); ++i)
        shape[i] = from[static_cast<int>(step.link.numbers[static_cast<size_t>(i)])];
    } else if (!is_pair_node(step.link)) {
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

void DoubleQdq::describe_ends(const Top& top, const End& end, bool all_known, Chain* chain) {
  const NodeView* made_by = top.shared ? nullptr : producer(top.input);
  chain->front.is_made = made_by != nullptr;
  chain->front.has_dequantize = made_by && made_by->op() == "DequantizeLinear";
  chain->front.takes_pair = !top.shared && (!made_by || model_.uses(top.input) == 1);
  if (all_known && made_by && made_by->op() == "Add" &&
      is_reshaped_product(tensors_->input(*top.node, 0)))
    chain->links.push_front({Kind::kMove, {}, {}, false});

  auto& back = chain->back;
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

// Assigns the steps that the rounds have left, in order, to the file's nodes of these types; the
// others have no effect.
Status DoubleQdq::apply(const Chain& chain, const std::vector<Step>& steps) {
  std::vector<Link> left;
  for (const Link& link : chain.links) {
    if (!is_pair_node(link)) continue;
    // A DequantizeLinear and a QuantizeLinear of the same parameters have no effect together.
    if (link.kind == Kind::kQuantize && left.size() > 1 && left.back().quant == link.quant)
      left.pop_back();
    else
      left.push_back(link);
  }
  if (left.empty()) {
    left.assign(2, steps[0].link);
    left[1].kind = Kind::kQuantize;
  }
  std::unordered_map<int, Quant> merged;
  std::unordered_map<int, int> passed;
  size_t at = 0;
  bool passes = false, is_late = false, are_equal = true;
  const Quant* first = nullptr;
  for (const Step& step : steps) {
    if (is_pair_node(step.link)) {
      passes = at >= left.size() || left[at].kind != step.link.kind ||
               left[at].quant.type != step.link.quant.type;
      if (!first) first = &step.link.quant;
      are_equal = are_equal && step.link.quant == *first;
      for (const NodeView* node : step.nodes) {
        if (passes)
          passed[node->index()] = 0;
        else if (left[at].quant != step.link.quant)
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
  // A node in front was visited when what is behind it was not known to belong to the row. Pairs that
  // are all equal have no effect, merged or not.
  if (is_late && are_equal) return Status();
  if (is_late)
    return error(Code::kUnsupported,
                 "it merges in ONNX Runtime with a pair in front of nodes that change the shape");
  for (const auto& [node, quant] : merged) merged_.insert_or_assign(node, quant);
  passed_.insert(passed.begin(), passed.end());
  return Status();
}

Status DoubleQdq::merge(const NodeView& quantize, bool all_known) {
  if (settled_.count(quantize.index()) != 0) return Status();
  Top top;
  QRT_TRY(find_top(quantize, &top));
  std::vector<Step> steps;
  End end;
  QRT_TRY(follow(top, &steps, &end));
  Chain chain;
  int pair_nodes = 0;
  settled_.insert(quantize.index());
  for (const Step& step : steps) {
    chain.links.push_back(step.link);
    pair_nodes += is_pair_node(step.link);
    for (const NodeView* node : step.nodes) settled_.insert(node->index());
  }
  if (pair_nodes < 3) return Status();  // no two pairs can meet
  describe_ends(top, end, all_known, &chain);
  const Outcome outcome = play_rounds(&chain);
  Status status = outcome == Outcome::kRow ? apply(chain, steps) : refusal(outcome);
  // A later question gets the same answer: a failure is not remembered as settled.
  if (!status.ok()) settled_.erase(quantize.index());
  return status;
}

}  // namespace qrt::convert::from_onnx
