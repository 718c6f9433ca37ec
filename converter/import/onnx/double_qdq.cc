#include "converter/import/onnx/double_qdq.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "converter/import/onnx/merged_pairs.h"
#include "converter/import/onnx/move.h"
#include "converter/import/onnx/no_op.h"

namespace qrt::convert::from_onnx {
namespace {

bool is(const NodeView& node, const char* op) {
  return node.op() == op && node.integer("block_size", 0) == 0;
}

bool is_identity(const std::vector<int64_t>& perm) {
  for (size_t i = 0; i < perm.size(); ++i)
    if (perm[i] != static_cast<int64_t>(i)) return false;
  return !perm.empty();
}

bool are_inverse(const std::vector<int64_t>& a, const std::vector<int64_t>& b) {
  for (size_t i = 0; i < a.size(); ++i) {
    const size_t at = static_cast<size_t>(a[i]);
    if (a.size() != b.size() || at >= b.size() || b[at] != static_cast<int64_t>(i)) return false;
  }
  return !a.empty();
}

// What `first` and then `second` do. Empty: not known to be a permutation of as many axes.
std::vector<int64_t> composed(const std::vector<int64_t>& first,
                              const std::vector<int64_t>& second) {
  if (first.empty()) return second;
  std::vector<int64_t> both;
  for (int64_t axis : second) {
    if (axis < 0 || axis >= static_cast<int64_t>(first.size())) return {};
    both.push_back(first[static_cast<size_t>(axis)]);
  }
  return both;
}

Shape turned(const Shape& shape, const std::vector<int64_t>& perm) {
  if (static_cast<int>(perm.size()) != shape.rank()) return shape;
  std::vector<int> axes(perm.begin(), perm.end());
  for (int axis : axes)
    if (axis < 0 || axis >= shape.rank()) return shape;
  return transposed(shape, std::move(axes)).to;
}

// Two Transposes, one behind the other, that ONNX Runtime takes out.
bool cancel(const NodeView& first, const NodeView& second) {
  const std::vector<int64_t> perm = first.integers("perm");
  return first.op() == "Transpose" && second.op() == "Transpose" && !is_identity(perm) &&
         are_inverse(perm, second.integers("perm"));
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

Status DoubleQdq::find_readers(const std::string& tensor, const Shape& shape,
                               std::vector<const NodeView*>* found, Passed* passed,
                               bool* all) const {
  constexpr size_t kMostPassed = 64;  // of a hostile file's thousands
  const std::vector<int>& readers = model_.readers(tensor);
  // Graph outputs and readers within a subgraph count as uses only.
  *all = !readers.empty() && static_cast<int>(readers.size()) == model_.uses(tensor) &&
         passed->size() <= kMostPassed;
  for (size_t i = 0; *all && i < readers.size(); ++i) {
    const NodeView& node = *nodes_[static_cast<size_t>(readers[i])];
    bool nothing;
    QRT_TRY(changes_nothing(node, tensor, shape, model_, tensors_, &nothing));
    if (nothing) {
      passed->emplace_back(node.index(), node.input(0) == tensor ? 0 : 1);
      QRT_TRY(find_readers(node.output(0), shape, found, passed, all));
      continue;
    }
    const std::string& y = node.output(0);
    if (node.op() == "Transpose" && model_.uses(y) == 1 && model_.readers(y).size() == 1) {
      const NodeView& back = *nodes_[static_cast<size_t>(model_.readers(y)[0])];
      if (cancel(node, back)) {
        passed->emplace_back(node.index(), 0);
        passed->emplace_back(back.index(), 0);
        QRT_TRY(find_readers(back.output(0), shape, found, passed, all));
        continue;
      }
    }
    found->push_back(&node);
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

// Whether these are one node to ONNX Runtime: all of one operator and parameters.
bool DoubleQdq::are_one(const std::vector<const NodeView*>& nodes, const char* op,
                        Quant* quant) const {
  for (size_t i = 0; i < nodes.size(); ++i) {
    Quant q;
    if (!is(*nodes[i], op) || !read(*nodes[i], &q) || (i > 0 && q != *quant)) return false;
    *quant = q;
  }
  return !nodes.empty();
}

Status DoubleQdq::begin(const NodeView& quantize, const Shape& shape,
                        std::optional<Pair>* begun) const {
  Quant first;
  if (!is(quantize, "QuantizeLinear") || !read(quantize, &first)) return Status();
  Pair pair{quantize, &quantize, shape, first, MergedPairs(first), {}, {}, {}};
  const NodeView* before = producer(quantize.input(0));
  if (before && before->op() == "Transpose") {
    pair.front = before;
    pair.turn = before->integers("perm");
  }
  Quant other;
  Passed passed;
  bool all;
  QRT_TRY(find_readers(quantize.output(0), shape, &pair.dequantizes, &passed, &all));
  if (!all || !are_one(pair.dequantizes, "DequantizeLinear", &other) || other != pair.quant)
    return Status();
  if (pair.dequantizes.size() == 1) pair.row = {{&quantize, pair.dequantizes[0], first}};
  begun->emplace(std::move(pair));
  return Status();
}

Status DoubleQdq::merge(const NodeView& quantize, const Shape& shape) {
  if (settled_.count(quantize.index()) != 0) return Status();
  std::optional<Pair> pair;
  QRT_TRY(begin(quantize, shape, &pair));
  for (bool goes_on = pair.has_value(); goes_on;) QRT_TRY(merge_next(&*pair, false, &goes_on));
  return pair ? leave_copies(*pair) : Status();
}

// The only node that reads its output, which is no graph output; null for several.
const NodeView* DoubleQdq::sole_reader(const NodeView& node) const {
  const std::vector<int>& readers = model_.readers(node.output(0));
  const bool one = readers.size() == 1 && model_.uses(node.output(0)) == 1;
  return one ? nodes_[static_cast<size_t>(readers[0])].get() : nullptr;
}

const NodeView* DoubleQdq::producer(const std::string& tensor) const {
  const int index = model_.producer(tensor);
  return index < 0 ? nullptr : nodes_[static_cast<size_t>(index)].get();
}

bool DoubleQdq::is_move(const NodeView& node) const {
  const std::string& op = node.op();
  return op == "Slice" || op == "Reshape" || op == "Transpose" || op == "Squeeze" ||
         op == "Unsqueeze" || (op == "MaxPool" && model_.opset("") >= 12);
}

bool DoubleQdq::goes_in_front(const NodeView& node) const {
  const NodeView* move = producer(node.input(0));
  if (!move || model_.uses(node.input(0)) != 1) return false;
  if (!is_move(*move)) return false;
  const NodeView* source = producer(move->input(0));
  return !source || (source->op() != "DequantizeLinear" && model_.uses(move->input(0)) == 1);
}

// A Transpose reads the floats of the pair that begins here.
bool DoubleQdq::is_turned(const NodeView& quantize) const {
  for (int i : model_.readers(quantize.output(0))) {
    const NodeView& d = *nodes_[static_cast<size_t>(i)];
    const NodeView* reader = is(d, "DequantizeLinear") ? sole_reader(d) : nullptr;
    if (reader && reader->op() == "Transpose") return true;
  }
  return false;
}

// Two forms. DQ, Transpose, Q, DQ, Transpose: the first Transpose moves behind the second pair.
// DQ, Transpose, Transpose, Q, and DQ, Transpose, Unsqueeze, Q, DQ, Transpose: ONNX Runtime first
// puts a pair like Q behind the first Transpose.
Status DoubleQdq::merge_across(Pair* pair, bool* merged) {
  *merged = false;
  const NodeView* d = pair->dequantizes.front();
  if (pair->dequantizes.size() != 1) return Status();
  std::vector<const NodeView*> readers;
  Passed passed;
  bool all;
  QRT_TRY(find_readers(d->output(0), pair->shape, &readers, &passed, &all));
  const NodeView* first = all && readers.size() == 1 ? readers[0] : nullptr;
  if (!first || first->op() != "Transpose") return Status();
  const NodeView* q = sole_reader(*first);
  if (q && cancel(*first, *q)) return Status();
  bool turns_again = false;
  while (q && (q->op() == "Transpose" || q->op() == "Squeeze" || q->op() == "Unsqueeze")) {
    turns_again = turns_again || q->op() == "Transpose";
    q = sole_reader(*q);
  }
  Quant second, common;
  if (!q || !are_one({q}, "QuantizeLinear", &second) || second.type != pair->quant.type)
    return Status();
  const auto narrows = [&] {
    return pair->quant != second && !almost_equal(pair->quant, second) &&
           intersect(pair->quant, second, &common);
  };
  const auto mark = [&] { merged_[pair->quantize.index()] = merged_[d->index()] = common; };
  if (turns_again || (q != sole_reader(*first) && is_turned(*q))) {
    if (narrows()) mark();
    return Status();
  }
  if (q != sole_reader(*first)) return Status();
  const Shape shape = turned(pair->shape, first->integers("perm"));
  std::optional<Pair> behind;
  QRT_TRY(begin(*q, shape, &behind));
  if (!behind) return Status();
  for (bool goes_on = true; goes_on;) QRT_TRY(merge_next(&*behind, true, &goes_on));
  second = behind->quant;
  // To move it costs a Transpose for every other reader, unless it changes nothing.
  std::vector<const NodeView*>& next = behind->dequantizes;
  const NodeView* last = next.size() == 1 ? sole_reader(*next[0]) : nullptr;
  const bool turns = last && last->op() == "Transpose";
  bool moves = turns;
  for (const NodeView* node : next)
    for (int i : model_.readers(node->output(0)))
      moves = moves || (is_identity(first->integers("perm")) &&
                        nodes_[static_cast<size_t>(i)]->op() == "Transpose");
  if (!moves || !narrows()) return Status();
  bool stays = false;
  if (turns && !are_inverse(first->integers("perm"), last->integers("perm")))
    QRT_TRY(is_copied_behind(*last, turned(shape, last->integers("perm")), &stays));
  if (stays) {
    mark();
    return Status();
  }
  if (!pair->members.add(second, true, &common)) return Status();
  merged_.erase(d->index());
  merged_.erase(q->index());
  passed_[d->index()] = passed_[q->index()] = 0;
  for (const auto& [node, input] : passed) passed_[node] = input;
  merged_[pair->quantize.index()] = common;
  for (const NodeView* node : next) merged_[node->index()] = common;
  pair->quant = common;
  pair->dequantizes = std::move(next);
  pair->row.clear();
  pair->turn = composed(pair->turn, first->integers("perm"));
  pair->shape = shape;
  *merged = true;
  return Status();
}

// Not in front of a QuantizeLinear or of several readers.
Status DoubleQdq::is_copied_behind(const NodeView& move, const Shape& to, bool* is_copied) const {
  const NodeView* node = &move;
  for (const NodeView* reader; (reader = sole_reader(*node));) {
    bool nothing;
    QRT_TRY(changes_nothing(*reader, node->output(0), to, model_, tensors_, &nothing));
    *is_copied = reader->op() != "QuantizeLinear";
    if (!nothing) return Status();
    node = reader;
  }
  *is_copied = model_.readers(node->output(0)).empty();  // a graph output
  return Status();
}

Status DoubleQdq::leave_copies(const Pair& pair) {
  const std::vector<Pair::Member>& row = pair.row;
  if (row.size() < 3) return Status();
  const auto own_pair = [&](const Pair::Member& member, const Quant& quant) {
    merged_[member.quantize->index()] = merged_[member.dequantize->index()] = quant;
    passed_.erase(member.quantize->index());
    passed_.erase(member.dequantize->index());
  };
  const auto both = [](const Quant& a, const Quant& b) {
    Quant common = a;
    if (a != b) intersect(a, b, &common);
    return common;
  };
  const Pair::Member &first = row[0], &last = row.back();
  const Quant front = both(first.quant, row[1].quant);
  if (front != pair.quant && goes_in_front(*first.quantize)) {
    own_pair(first, front);
    merged_[row[1].quantize->index()] = pair.quant;
    passed_.erase(row[1].quantize->index());
    settled_.insert(row[1].quantize->index());
  }
  const Quant back = row.size() % 2 ? last.quant : both(row[row.size() - 2].quant, last.quant);
  const NodeView* move = sole_reader(*last.dequantize);
  bool is_copied = false;
  if (move && is_move(*move)) {
    const Shape to =
        move->op() == "Transpose" ? turned(pair.shape, move->integers("perm")) : pair.shape;
    QRT_TRY(is_copied_behind(*move, to, &is_copied));
  }
  if (is_copied && back != pair.quant) {
    own_pair(last, back);
    const NodeView* before = row[row.size() - 2].dequantize;
    merged_[before->index()] = pair.quant;
    passed_.erase(before->index());
    settled_.insert(last.quantize->index());
  }
  return Status();
}

const NodeView* DoubleQdq::undoes_turn(const Pair& pair) const {
  const NodeView* behind =
      pair.dequantizes.size() == 1 ? sole_reader(*pair.dequantizes[0]) : nullptr;
  const bool undoes = behind && behind->op() == "Transpose" && !is_identity(pair.turn) &&
                      are_inverse(pair.turn, behind->integers("perm"));
  return undoes ? behind : nullptr;
}

Status DoubleQdq::merge_next(Pair* pair, bool adjacent_only, bool* merged) {
  const NodeView* back = adjacent_only ? nullptr : undoes_turn(*pair);
  *merged = false;
  if (!back && !adjacent_only) QRT_TRY(merge_across(pair, merged));
  if (*merged) return Status();
  const Shape shape = back ? turned(pair->shape, back->integers("perm")) : pair->shape;
  std::vector<const NodeView*> quantizes, next;
  Passed passed;
  bool all;
  for (const NodeView* d : pair->dequantizes) {
    const std::string& real = back ? back->output(0) : d->output(0);
    QRT_TRY(find_readers(real, shape, &quantizes, &passed, &all));
    if (!all) return Status();
  }
  const Quant quant = pair->quant;
  Quant second, third, common = quant;
  if (!are_one(quantizes, "QuantizeLinear", &second) || second.type != quant.type) return Status();
  for (const NodeView* q : quantizes) {
    QRT_TRY(find_readers(q->output(0), shape, &next, &passed, &all));
    if (!all) return Status();
  }
  if (!are_one(next, "DequantizeLinear", &third) || third != second) return Status();
  // Equal nodes that make several graph outputs stay apart.
  const auto outputs = std::count_if(next.begin(), next.end(), [this](const NodeView* d) {
    return model_.uses(d->output(0)) > static_cast<int>(model_.readers(d->output(0)).size());
  });
  if (outputs > 1) return Status();
  const bool stay = quant != second && almost_equal(quant, second);
  if (!stay && quant != second && !intersect(quant, second, &common)) {
    if (common.scale[0] > 0.0f) return Status();
    return error(Code::kUnsupported,
                 "it and the pair behind it have only 0 in common: ONNX Runtime makes one pair of "
                 "scale 0 of them");
  }
  // Pairs between which Transposes are taken out meet late.
  const bool late = back || std::any_of(passed.begin(), passed.end(), [this](const auto& p) {
                      return nodes_[static_cast<size_t>(p.first)]->op() == "Transpose";
                    });
  if (late && adjacent_only) return Status();
  if (late && !stay && goes_in_front(back ? *pair->front : pair->quantize)) {
    for (const auto* nodes : {&quantizes, &next})
      for (const NodeView* node : *nodes) merged_[node->index()] = common;
    return Status();
  }
  // Between two Transposes ONNX Runtime puts a pair like the second before it takes them out; found
  // to count where several nodes read what the second makes.
  int uses = 0;
  for (const NodeView* d : next) uses += model_.uses(d->output(0));
  if (late && !back && !stay && uses > 1 && !pair->members.add(second, true, &common))
    return Status();
  if (!stay && !pair->members.add(second, late, &common)) return Status();
  for (const auto* nodes : {&pair->dequantizes, &quantizes})
    for (const NodeView* node : *nodes) passed.emplace_back(node->index(), 0);
  for (const auto& [node, input] : passed) passed_[node] = input;
  for (const NodeView* d : pair->dequantizes) merged_.erase(d->index());
  if (stay) return Status();
  merged_[pair->quantize.index()] = common;
  for (const NodeView* d : next) merged_[d->index()] = common;
  pair->quant = common;
  if (late || quantizes.size() != 1 || next.size() != 1)
    pair->row.clear();
  else if (!pair->row.empty())
    pair->row.push_back({quantizes[0], next[0], second});
  pair->dequantizes = std::move(next);
  pair->shape = shape;
  if (back) pair->turn.clear();
  *merged = true;
  return Status();
}

}  // namespace qrt::convert::from_onnx
