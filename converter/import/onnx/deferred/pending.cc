#include "converter/import/onnx/deferred/pending.h"

#include <algorithm>
#include <limits>
#include <string>
#include <unordered_set>

#include "converter/import/onnx/deferred/pair_function.h"
#include "converter/import/onnx/deferred/table.h"

namespace qrt::convert::from_onnx {

std::shared_ptr<Pending> defer(Importer& importer, const NodeView& node, const Shape& shape) {
  Tensor t;
  t.kind = Tensor::Kind::kPending;
  t.shape = shape;
  t.type = kFloat;
  t.pending = std::make_shared<Pending>();
  t.pending->node = &node;
  t.pending->ops = node.op();
  t.pending->lo = -std::numeric_limits<float>::infinity();
  t.pending->hi = std::numeric_limits<float>::infinity();
  const std::shared_ptr<Pending> pending = t.pending;
  importer.set_output(node, 0, std::move(t));
  return pending;
}

bool is_clip_dropped(const Quant& out, float lo, float hi) {
  const Limits range = Limits::of_source(out);
  const auto real = [&](int v) { return static_cast<float>(v - out.zero_point[0]) * out.scale[0]; };
  constexpr float kEpsilon = std::numeric_limits<float>::epsilon();
  return lo - real(range.lo) <= kEpsilon && real(range.hi) - hi <= kEpsilon;
}

namespace {

// Whether ONNX Runtime leaves an Add or Mul in float, since between it and its QuantizeLinear
// stands what it does not see through.
bool stays_float(const Importer& importer, const Pending& p, bool limits_cut) {
  static const std::unordered_set<std::string> transparent = {
      "Relu",  "Clip",     "Reshape", "Transpose", "Squeeze", "Unsqueeze",
      "Slice", "Identity", "Dropout", "Cast",      "MaxPool"};
  if (p.node->op() != "Add" && p.node->op() != "Mul") return false;
  return limits_cut || std::any_of(p.followers.begin(), p.followers.end(), [&](int i) {
           return transparent.count(importer.node(i).op()) == 0;
         });
}

}  // namespace

// Refusing the node drops its tensor: `pending` is the caller's own.
Status resolve(Importer& importer, const NodeView& quantize,
               const std::shared_ptr<Pending>& pending, const Quant& out, ValueId* result) {
  const Pending& p = *pending;
  auto skip = [&] {
    const std::string origin = importer.outcomes().origin(p.node->output(0));
    for (int follower : p.followers) importer.not_assessed(importer.node(follower), origin);
    importer.not_assessed(quantize, origin);
    return Status();
  };
  if (!out.per_tensor()) {
    QRT_TRY(importer.refuse(*p.node, "its output is quantised per axis", quantize.output(0),
                            "quantise activations per tensor"));
    return skip();
  }
  Limits limits = {quantized(p.lo, out), quantized(p.hi, out)};
  const NodeView& last = p.followers.empty() ? *p.node : importer.node(p.followers.back());
  const bool clips = last.op() == "Clip" && importer.uses(last.output(0)) == 1;
  // In front of one without a zero point it stays.
  if (clips && quantize.has_input(2) && is_clip_dropped(out, p.lo, p.hi)) limits = Limits::of(out);
  ValueId v = kNoValue;
  if (p.pair_function && !out.is_int16() && stays_float(importer, p, limits.cut(out))) {
    const Shape shape = importer.tensors().at(p.node->output(0)).shape;
    QRT_TRY(quantize_pair_function(importer, *p.node, *p.pair_function, shape, out, limits, &v));
  } else {
    QRT_TRY(p.emit(out, limits, &v));
  }
  if (v == kNoValue) return skip();
  for (int follower : p.followers)
    importer.outcomes().became(follower, "fused into " + p.node->op(), "I0");
  for (const auto& move : p.moves) QRT_TRY(move(&v));
  importer.became(quantize, "fused into " + p.node->op(), "I0");
  *result = importer.builder().with_quant(quantize, v, out);
  return Status();
}

std::shared_ptr<Pending> own_pending(Importer& importer, const NodeView& node, int i) {
  const Tensor& t = importer.input(node, i);
  if (t.is_pending()) {
    if (importer.is_sole_reader(node, i)) return t.pending;
    auto copy = std::make_shared<Pending>(*t.pending);
    if (!copy->original) copy->original = t.pending;
    return copy;
  }
  if (!t.is_pair_function()) return nullptr;
  const NodeView* owner = t.pair_function->node;
  auto pending = std::make_shared<Pending>();
  pending->node = owner;
  pending->ops = owner->op();
  pending->lo = -std::numeric_limits<float>::infinity();
  pending->hi = std::numeric_limits<float>::infinity();
  pending->emit = [&importer, owner, pairs = t.pair_function, shape = t.shape](
                      const Quant& out, Limits limits, ValueId* result) {
    return quantize_pair_function(importer, *owner, *pairs, shape, out, limits, result);
  };
  pending->emit_float = [&importer, owner, pairs = t.pair_function,
                         shape = t.shape](ValueId* result) {
    return pair_function_to_float(importer, *owner, *pairs, shape, result);
  };
  return pending;
}

}  // namespace qrt::convert::from_onnx
