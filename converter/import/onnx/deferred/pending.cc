// SPDX-License-Identifier: Apache-2.0
#include "converter/import/onnx/deferred/pending.h"

#include <algorithm>
#include <limits>
#include <string>
#include <unordered_set>

#include "converter/import/onnx/deferred/pair_function.h"
#include "converter/import/onnx/deferred/table.h"
#include "converter/import/onnx/move.h"
#include "converter/import/onnx/no_op.h"

namespace qrt::convert::from_onnx {

namespace {

// Bytes charged to the import's budget for a function that is emitted once more, for each operator
// fused into it, and for each of its data movements. The charge bounds the time of these, too,
// which is some nanoseconds a byte.
constexpr size_t kFunctionBytes = 2048, kFollowerBytes = 32, kMoveBytes = 1024;

// Makes a pending operator of the node, which has no limits and no data movement yet.
std::shared_ptr<Pending> fresh_pending(const NodeView& node) {
  auto pending = std::make_shared<Pending>();
  pending->node = &node;
  pending->ops = node.op();
  pending->lo = -std::numeric_limits<float>::infinity();
  pending->hi = std::numeric_limits<float>::infinity();
  return pending;
}

}  // namespace

Tensor pending_tensor(std::shared_ptr<Pending> pending, const Shape& shape) {
  Tensor t;
  t.kind = Tensor::Kind::kPending;
  t.shape = shape;
  t.type = kFloat;
  t.pending = std::move(pending);
  return t;
}

std::shared_ptr<Pending> defer(Importer& importer, const NodeView& node, const Shape& shape) {
  auto pending = fresh_pending(node);
  for (int i = 0; i < node.input_count(); ++i)
    if (const Tensor& t = importer.input(node, i); t.is_pending())
      pending->depth = std::max(pending->depth, t.pending->depth + 1);
  importer.set_output(node, 0, pending_tensor(pending, shape));
  return pending;
}

bool is_clip_dropped(const Quant& out, float lo, float hi) {
  const Limits range = Limits::of_source(out);
  const auto real = [&](int v) { return static_cast<float>(v - out.zero_point[0]) * out.scale[0]; };
  constexpr float kEpsilon = std::numeric_limits<float>::epsilon();
  return lo - real(range.lo) <= kEpsilon && real(range.hi) - hi <= kEpsilon;
}

bool quantize_moves_across(const Importer& importer, const NodeView& node) {
  static const std::unordered_set<std::string> movers = {"Reshape", "Transpose", "Squeeze",
                                                         "Unsqueeze", "MaxPool"};
  return movers.count(node.op()) != 0 && (node.op() != "MaxPool" || importer.opset(node) >= 12);
}

namespace {

// Returns the last node before the place to which ONNX Runtime moves the QuantizeLinear behind `p`.
const NodeView& last_before_quantize(const Importer& importer, const Pending& p) {
  size_t taken = p.followers.size();
  const auto at = [&](size_t i) -> const NodeView& { return importer.node(p.followers[i]); };
  while (taken > 0 && quantize_moves_across(importer, at(taken - 1)) &&
         importer.uses(at(taken - 1).output(0)) == 1)
    --taken;
  return taken == 0 ? *p.node : at(taken - 1);
}

}  // namespace

namespace {

// Returns whether one node at most reads the tensor when ONNX Runtime has made equal nodes one: all
// are QuantizeLinears of the same parameters, and no more than one of them makes a graph output.
Status has_one_reader(Importer& importer, const std::string& tensor, bool* result) {
  *result = importer.uses(tensor) == 1;
  const std::vector<int>& readers = importer.model().readers(tensor);
  if (*result || static_cast<int>(readers.size()) != importer.uses(tensor)) return Status();
  int outputs = 0;
  const Constant* first[3] = {};
  for (const int i : readers) {
    const NodeView& reader = importer.node(i);
    if (reader.op() != "QuantizeLinear" || !reader.has_input(1)) return Status();
    outputs += importer.is_output(reader.output(0));
    for (int k = 1; k <= 2; ++k) {
      QRT_TRY(importer.tensors().load_initializer(reader.input(k)));
      const Tensor& t = importer.input(reader, k);
      const Constant* c = t.is_plain_constant() ? t.constant.get() : nullptr;
      if (i == readers[0]) first[k] = c;
      const bool is_absent = !reader.has_input(k) && !first[k];
      const bool is_equal = c && first[k] && c->type == first[k]->type && c->data == first[k]->data;
      if (!is_absent && !is_equal) return Status();
    }
  }
  *result = outputs <= 1;
  return Status();
}

}  // namespace

Status find_barrier(Importer& importer, const Pending& p, Barrier* barrier) {
  *barrier = Barrier();
  bool is_read_once;
  QRT_TRY(has_one_reader(importer, p.node->output(0), &is_read_once));
  if (!is_read_once) *barrier = {p.node, true};
  for (size_t at = 0; at < p.followers.size() && !barrier->node; ++at) {
    const NodeView& node = importer.node(p.followers[at]);
    const bool is_bias = p.node->op() == "MatMul" && node.op() == "Add" && at == 0;
    bool passes =
        is_bias || node.op() == "Relu" || node.op() == "Clip" || copies_pairs(importer, node);
    for (int k = 0; k < std::min(node.input_count(), 2) && !passes; ++k)
      if (node.has_input(k))
        QRT_TRY(changes_nothing(node, node.input(k), importer.input(node, k).shape,
                                importer.model(), &importer.tensors(), &passes));
    QRT_TRY(has_one_reader(importer, node.output(0), &is_read_once));
    if (!passes || !is_read_once) *barrier = {&node, passes};
  }
  return Status();
}

// Resolves a pending operator. The caller owns `pending`, as refusing the node drops the tensor that holds it.
Status resolve(Importer& importer, const NodeView& quantize,
               const std::shared_ptr<Pending>& pending, const Quant& out, ValueId* result) {
  const Pending& p = *pending;
  auto skip = [&] {
    const std::string origin = importer.outcomes().origin(p.node->output(0));
    for (int follower : p.followers)
      if (follower != p.node->index()) importer.not_assessed(importer.node(follower), origin);
    importer.not_assessed(quantize, origin);
    return Status();
  };
  Limits limits = {quantized(p.lo, out), quantized(p.hi, out)};
  const NodeView& last = last_before_quantize(importer, p);
  const bool clips = last.op() == "Clip" && importer.uses(last.output(0)) == 1;
  // ONNX Runtime keeps a Clip in front of a QuantizeLinear without a zero point.
  if (clips && quantize.has_input(2) && is_clip_dropped(out, p.lo, p.hi)) limits = Limits::of(out);
  ValueId v = kNoValue;
  Barrier barrier;
  QRT_TRY(find_barrier(importer, p, &barrier));
  const bool is_sum_product = p.node->op() == "Add" || p.node->op() == "Mul";
  const bool stays_float = is_sum_product && (barrier.node || limits.cut(out));
  if (p.pair_function && !out.is_int16() && stays_float) {
    const Shape shape = importer.tensors().at(p.node->output(0)).shape;
    QRT_TRY(quantize_pair_function(importer, *p.node, *p.pair_function, shape, out, limits, &v));
  } else if (barrier.node && !p.is_function) {
    const std::string why =
        barrier.has_readers
            ? "several nodes read the result of node " + barrier.node->label()
            : "it fuses no QuantizeLinear across the " + barrier.node->op() + " behind it";
    QRT_TRY(importer.refuse(*p.node, "ONNX Runtime computes it in floats, as " + why,
                            p.node->output(0),
                            "put QuantizeLinear and DequantizeLinear directly behind it, for all "
                            "that read its result"));
  } else {
    QRT_TRY(p.emit(out, limits, &v));
  }
  if (v == kNoValue) return skip();
  for (int follower : p.followers)
    importer.outcomes().became(follower, "fused into " + p.node->op(), "I0");
  for (const auto& move : p.moves) {
    QRT_TRY(move(&out, &v));
    if (v == kNoValue) return skip();
  }
  importer.became(quantize, "fused into " + p.node->op(), "I0");
  *result = importer.builder().with_quant(quantize, v, out);
  return Status();
}

namespace {

std::shared_ptr<Pending> pending_pairs(Importer& importer,
                                       std::shared_ptr<const PairFunction> pairs,
                                       const Shape& shape) {
  const NodeView* owner = pairs->node;
  auto pending = fresh_pending(*owner);
  pending->is_function = true;
  pending->emit = [&importer, owner, pairs, shape](const Quant& out, Limits limits,
                                                   ValueId* result) {
    return quantize_pair_function(importer, *owner, *pairs, shape, out, limits, result);
  };
  pending->emit_float = [&importer, owner, pairs, shape](ValueId* result) {
    return pair_function_to_float(importer, *owner, *pairs, shape, result);
  };
  return pending;
}

}  // namespace

std::shared_ptr<Pending> pending_table(Importer& importer, const NodeView& node,
                                       const Tensor& table) {
  auto pending = fresh_pending(node);
  pending->is_function = true;
  pending->meaning_axis = table.meaning_axis();
  pending->emit = [&importer, &node, table](const Quant& out, Limits limits, ValueId* result) {
    return quantize_table(importer, node, table, out, limits, "", result);
  };
  pending->emit_float = [&importer, &node, table](ValueId* result) {
    return table_to_float(importer, node, table, "", result);
  };
  return pending;
}

std::shared_ptr<Pending> own_pending(Importer& importer, const NodeView& node, int i) {
  const Tensor& t = importer.input(node, i);
  if (t.is_table()) return pending_table(importer, node, t);
  if (t.is_pair_function()) return pending_pairs(importer, t.pair_function, t.shape);
  if (!t.is_pending()) return nullptr;
  if (importer.is_sole_reader(node, i) && node.output_count() == 1) return t.pending;
  importer.tensors().charge(sizeof(Pending) + t.pending->ops.size() +
                            t.pending->followers.size() * kFollowerBytes +
                            t.pending->moves.size() * kMoveBytes);
  auto copy = std::make_shared<Pending>(*t.pending);
  if (!copy->original) copy->original = t.pending;
  return copy;
}

bool read_function(Importer& importer, const NodeView& node, int i, Tensor* t) {
  *t = importer.input(node, i);
  std::vector<float> real;
  if (t->is_table()) return true;
  if (t->is_constant()) return constant_floats(*t, &real);
  auto pending = own_function(importer, node, i);
  const bool waits = pending != nullptr;
  if (waits) *t = pending_tensor(std::move(pending), t->shape);
  return waits;
}

std::shared_ptr<Pending> own_function(Importer& importer, const NodeView& node, int i) {
  const Tensor& t = importer.input(node, i);
  if (!t.is_pending() || t.pending->is_function) return own_pending(importer, node, i);
  PairFunction pairs;
  if (!pair_function_of(importer, node, i, &pairs)) return nullptr;
  auto pending =
      pending_pairs(importer, std::make_shared<const PairFunction>(std::move(pairs)), t.shape);
  pending->followers = t.pending->followers;
  return pending;
}

void follow(Importer& importer, const NodeView& node, std::shared_ptr<Pending> pending,
            const Shape& shape, Pending::Move step) {
  pending->followers.push_back(node.index());
  pending->moves.push_back(std::move(step));
  importer.set_output(node, 0, pending_tensor(std::move(pending), shape));
}

Status charge_function(Importer& importer) {
  importer.tensors().charge(kFunctionBytes);
  return importer.tensors().check_growth(importer.graph());
}

Status quantize_function(Importer& importer, const Pending& p, const Quant& out, Limits limits,
                         ValueId* result) {
  QRT_TRY(charge_function(importer));
  const auto clamped = [&](float v) { return quantized(v, out, limits); };
  QRT_TRY(p.emit(out, {clamped(p.lo), clamped(p.hi)}, result));
  for (int follower : p.followers)
    importer.outcomes().became(follower, "fused into " + p.node->op(), "I0");
  for (size_t i = 0; i < p.moves.size() && *result != kNoValue; ++i)
    QRT_TRY(p.moves[i](&out, result));
  return Status();
}

}  // namespace qrt::convert::from_onnx
