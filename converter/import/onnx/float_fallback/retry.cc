// When a node is made in float.
#include <algorithm>
#include <iterator>
#include <limits>

#include "converter/import/onnx/float_fallback/float_fallback.h"
#include "converter/import/onnx/float_fallback/float_graph.h"

namespace qrt::convert::from_onnx {
namespace {

// Operators whose Float form has ONNX Runtime's bits.
constexpr const char* kExact[] = {"Add",     "Sub",         "Mul",           "Div",
                                  "Min",     "Max",         "Relu",          "Clip",
                                  "Sigmoid", "HardSigmoid", "HardSwish",     "LeakyRelu",
                                  "Tanh",    "MaxPool",     "GlobalMaxPool", "Round"};

// The least or greatest of all elements of a float tensor: dynamic quantisation written out begins
// with it.
bool measures_range(Importer& importer, const NodeView& node) {
  const Tensor& x = importer.input(node, 0);
  return (node.op() == "ReduceMin" || node.op() == "ReduceMax") && x.is_value() &&
         x.type == kFloat && !node.has("axes") && !node.has_input(1);
}

// Whether the node has ONNX Runtime's bits in float and reads tensors of dynamic quantisation, and
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

// Nothing is refused any more: the node's output 0 is the float value y.
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

// A pending operator with the limits and the data movement behind it. *y stays kNoValue where that
// cannot be.
Status make_pending_float(Importer& importer, const Pending& pending, ValueId* y) {
  FloatGraph f(importer, *pending.node);
  ValueId made = kNoValue;
  // Products of integers stay such, whatever reads their floats. Where a table of pairs would make
  // the floats, the operator itself is shorter.
  const bool of_integers = pending.emit_float && !pending.pair_function;
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
  for (const auto& move : pending.moves) QRT_TRY(move(&made));
  for (int follower : pending.followers)
    importer.outcomes().became(follower, "fused into " + pending.node->op(), level);
  *y = made;
  return Status();
}

}  // namespace

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

Status retry_in_float(Importer& importer, const NodeView& node) {
  Outcomes& outcomes = importer.outcomes();
  ValueId y = kNoValue;
  // What waited for this QuantizeLinear has no integer form after all.
  if (!outcomes.is_made(node.index()) && node.op() == "QuantizeLinear" &&
      make_producer_float(importer, node.input(0), &y)) {
    outcomes.forget(node.index());
    outcomes.set_origin(node.output(0), "");
    return importer.assess(node);
  }
  if (!outcomes.is_refused(node.index()) || !has_float_form(node) ||
      outcomes.is_float_form_refused(node.index()))
    return Status();
  const bool is_dynamic = scales_dynamically(importer, node);
  if (!importer.allows_float() && !is_dynamic) {
    outcomes.add_remedy(node.index(), "; or let it run in float: --allow-float");
    return Status();
  }
  QRT_TRY(make_float(importer, node, &y));
  if (y == kNoValue) return Status();
  set_float(importer, node, y, is_dynamic);
  return importer.tensors().check_growth(importer.graph());
}

}  // namespace qrt::convert::from_onnx
