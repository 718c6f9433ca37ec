// SPDX-License-Identifier: Apache-2.0
// Decides when a node is made in float.
#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include "converter/import/onnx/float_fallback/float_fallback.h"
#include "converter/import/onnx/float_fallback/float_graph.h"
#include "converter/import/onnx/ops/handlers.h"

namespace qrt::convert::from_onnx {
namespace {

// Operators whose Float form has ONNX Runtime's bits.
constexpr const char* kExact[] = {"Add",     "Sub",         "Mul",           "Div",
                                  "Min",     "Max",         "Relu",          "Clip",
                                  "Sigmoid", "HardSigmoid", "HardSwish",     "LeakyRelu",
                                  "Tanh",    "MaxPool",     "GlobalMaxPool", "Round"};

// Returns whether the node takes the least or greatest of all elements of a float tensor, with
// which dynamic quantisation written as single nodes begins.
bool measures_range(Importer& importer, const NodeView& node) {
  const Tensor& x = importer.input(node, 0);
  return (node.op() == "ReduceMin" || node.op() == "ReduceMax") && x.is_value() &&
         x.type == kFloat && !node.has("axes") && !node.has_input(1);
}

// Returns whether the node has ONNX Runtime's bits in float and reads tensors of dynamic quantisation, and
// beside them only constants.
bool scales_dynamically(Importer& importer, const NodeView& node) {
  if (!(node.domain().empty() || node.domain() == "ai.onnx")) return false;
  if (measures_range(importer, node)) return true;
  if (std::none_of(std::begin(kExact), std::end(kExact),
                   [&](const char* op) { return node.op() == op; }))
    return false;
  bool any = false;
  for (int i = 0; i < node.input_count(); ++i) {
    const Tensor& t = importer.input(node, i);
    if (!node.has_input(i)) continue;
    any |= t.is_dynamic;
    if (!t.is_dynamic && !t.is_plain_constant()) return false;
  }
  return any;
}

// Comparisons give truth values.
Tensor float_tensor(Importer& importer, ValueId y) {
  Tensor t;
  t.kind = Tensor::Kind::kValue;
  t.type = importer.builder().type_of(y) == DType::kUInt8 ? kBool : kFloat;
  t.value = y;
  t.shape = importer.builder().shape_of(y);
  return t;
}

// Makes the float value y the node's output 0, and withdraws its refusal.
void set_float(Importer& importer, const NodeView& node, ValueId y, bool is_dynamic) {
  Outcomes& outcomes = importer.outcomes();
  outcomes.forget(node.index());
  importer.became(node, "Float", is_dynamic ? "edge" : "F");
  std::string depends;
  for (int i = 0; i < node.input_count() && depends.empty(); ++i)
    if (node.has_input(i)) depends = outcomes.origin(node.input(i));
  outcomes.set_origin(node.output(0), depends);
  Tensor t = float_tensor(importer, y);
  t.is_dynamic = is_dynamic;
  importer.set_output(node, 0, std::move(t));
}

}  // namespace

namespace {

// Makes a pending operator in float, with the limits and the data movement behind it. *y stays
// kNoValue where that is impossible.
Status make_pending_float(Importer& importer, const Pending& pending, ValueId* y) {
  QRT_TRY(charge_function(importer));
  FloatGraph f(importer, *pending.node);
  ValueId made = kNoValue;
  // A product of integers stays one, whatever reads its floats (emit_float). Where a table of pairs
  // would make the floats, the float operator is shorter.
  const bool of_integers = pending.emit_float && !pending.pair_function;
  if (!importer.allows_float() && !of_integers) return Status();
  if (of_integers)
    QRT_TRY(pending.emit_float(&made));
  else if (pending.make_float)
    QRT_TRY(pending.make_float(&made));
  else
    QRT_TRY(make_float(importer, *pending.node, &made));
  if (made == kNoValue) return Status();
  const char* level = of_integers ? "I0" : "F";
  if (!of_integers) importer.became(*pending.node, "Float", level);
  if (pending.lo > -std::numeric_limits<float>::infinity())
    QRT_TRY(f.binary(fb::FloatFunction::MAXIMUM, f.constant({}, {pending.lo}), made, &made));
  if (pending.hi < std::numeric_limits<float>::infinity())
    QRT_TRY(f.binary(fb::FloatFunction::MINIMUM, f.constant({}, {pending.hi}), made, &made));
  for (int follower : pending.followers)
    importer.outcomes().became(follower, "fused into " + pending.node->op(), level);
  for (const auto& move : pending.moves) {
    QRT_TRY(move(nullptr, &made));
    if (made == kNoValue) return Status();
  }
  *y = made;
  return Status();
}

}  // namespace

Status float_function(Importer& importer, const Pending& pending, ValueId* y) {
  return make_pending_float(importer, pending, y);
}

Status step_in_float(Importer& importer, const NodeView& node, ValueId* x) {
  const ValueId floats = std::exchange(*x, kNoValue);
  const bool has_form = has_float_form(node);
  // A maximum of floats is one of them, so nothing is computed.
  const bool selects = node.op() == "MaxPool" || node.op() == "GlobalMaxPool";
  if (has_form && (selects || importer.allows_float())) {
    QRT_TRY(make_float_of(importer, node, floats, x));
    if (*x != kNoValue) importer.became(node, "Float", selects ? "I1" : "F");
    if (*x != kNoValue) return Status();
  }
  return importer.refuse(node,
                         "its input '" + node.input(0) +
                             "' is float, of which nothing quantises "
                             "the result",
                         node.output(0), "put QuantizeLinear behind it");
}

bool make_producer_float(Importer& importer, const std::string& tensor, ValueId* y) {
  if (!importer.allows_float()) return false;
  const Tensor t = importer.tensors().at(tensor);
  ValueId made = kNoValue;
  if (t.is_pending()) {
    const bool has_form = t.pending->emit_float || has_float_form(*t.pending->node);
    if (!has_form || !make_pending_float(importer, *t.pending, &made).ok() || made == kNoValue)
      return false;
    importer.tensors().at(tensor) = float_tensor(importer, made);
    *y = made;
    return true;
  }
  const int at = importer.model().producer(tensor);
  if (at < 0 || !t.is_refused() || !importer.outcomes().is_refused(at) ||
      importer.outcomes().is_float_form_refused(at))
    return false;
  const NodeView& maker = importer.node(at);
  if (maker.output(0) != tensor || !has_float_form(maker) ||
      !make_float(importer, maker, &made).ok() || made == kNoValue)
    return false;
  set_float(importer, maker, made, false);
  *y = made;
  return true;
}

namespace {

Status assess_again(Importer& importer, const NodeView& node) {
  importer.outcomes().forget(node.index());
  for (int i = 0; i < node.output_count(); ++i)
    if (node.has_output(i)) importer.outcomes().set_origin(node.output(i), "");
  return importer.assess(node);
}

bool any_waits(const Importer& importer, const NodeView& node) {
  for (int i = 0; i < node.input_count(); ++i)
    if (importer.input(node, i).waits()) return true;
  return false;
}

// Returns whether the node takes floats of the run as well as what waits, which it prefers.
bool selects_of_floats(const NodeView& node) {
  return node.op() == "TopK" || node.op() == "ArgMax" || node.op() == "ArgMin" ||
         node.op() == "Cast";
}

// Judges a node that takes floats as they are with floats in the place of what waits.
Status assess_with_floats(Importer& importer, const NodeView& node) {
  std::vector<TensorView> views;
  for (int i = 0; i < node.input_count(); ++i) {
    ValueId x = kNoValue;
    if (!importer.input(node, i).waits()) continue;
    if (!FloatGraph(importer, node).read(i, &x)) return Status();
    views.emplace_back(&importer.tensors(), node.input(i), float_tensor(importer, x));
  }
  return assess_again(importer, node);
}

}  // namespace

Status retry_in_float(Importer& importer, const NodeView& node) {
  Outcomes& outcomes = importer.outcomes();
  ValueId y = kNoValue;
  // The pending operator in front of this QuantizeLinear has no integer form after all.
  if (!outcomes.is_made(node.index()) && node.op() == "QuantizeLinear" &&
      make_producer_float(importer, node.input(0), &y))
    return assess_again(importer, node);
  if (!outcomes.is_refused(node.index()) || outcomes.is_float_form_refused(node.index()))
    return Status();
  const bool is_dynamic = scales_dynamically(importer, node);
  if (!importer.allows_float() && !is_dynamic) return Status();
  const bool waits = any_waits(importer, node);
  if (has_float_form(node)) {
    Status made = make_float(importer, node, &y);
    // A limit is exceeded: the node stays refused with its reason.
    if (made.code() == Code::kUnsupported) return Status();
    QRT_TRY(std::move(made));
  }
  if (y != kNoValue) {
    set_float(importer, node, y, is_dynamic);
    return importer.tensors().check_growth(importer.graph());
  }
  const OpEntry* entry = find_op_entry(node.domain(), node.op());
  if (waits && entry && (takes_floats(entry->reads) || selects_of_floats(node)))
    return assess_with_floats(importer, node);
  if (importer.allows_float())
    outcomes.add_remedy(node.index(), " (--allow-float does not change that)");
  return Status();
}

}  // namespace qrt::convert::from_onnx
