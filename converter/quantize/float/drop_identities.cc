// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "converter/quantize/float/graph.h"
#include "converter/quantize/float/passes.h"

namespace qrt::quantize {
namespace {

class Judge {
 public:
  Judge(const FloatModel& model, const GraphEditor& editor) : model_(model), editor_(editor) {}

  // Returns the input whose elements the node's result has; -1: it computes or moves something.
  int kept_input(const Node& node) const {
    const std::string& op = node.op;
    if (op == "Identity") return 0;
    if (op == "Cast") return element(node.inputs[0]) == element(node.outputs[0]) ? 0 : -1;
    if (op == "Concat" || op == "Sum" || op == "Max" || op == "Min")
      return node.inputs.size() == 1 ? 0 : -1;
    if (op == "Clip") return node.inputs.size() == 1 ? 0 : -1;
    if (op == "Add") return is_all(node, 1, 0) ? 0 : is_all(node, 0, 0) ? 1 : -1;
    if (op == "Mul") return is_all(node, 1, 1) ? 0 : is_all(node, 0, 1) ? 1 : -1;
    if (op == "Sub") return is_all(node, 1, 0) ? 0 : -1;
    if (op == "Div" || op == "Pow") return is_all(node, 1, 1) ? 0 : -1;
    if (op == "Pad") return is_zero(node, 1) && same_shape(node) ? 0 : -1;
    if (op == "Reshape" || op == "Flatten" || op == "Squeeze" || op == "Unsqueeze")
      return same_shape(node) ? 0 : -1;
    if (op == "Expand" || op == "Tile") return same_size(node) ? 0 : -1;
    if (op == "Slice") return same_size(node) && !turns(node) ? 0 : -1;
    if (op == "Transpose") {
      const auto perm = node.integers("perm");
      return !perm.empty() && std::is_sorted(perm.begin(), perm.end()) ? 0 : -1;
    }
    return -1;
  }

 private:
  Element element(const std::string& name) const {
    const Value* v = editor_.value(name);
    return v ? v->element : Element::kFloat;
  }
  // Returns whether the node keeps its input's shape, also where one dimension is open: as many
  // elements have the same size there.
  bool same_shape(const Node& node) const {
    const Value *x = editor_.value(node.inputs[0]), *y = editor_.value(node.outputs[0]);
    return x && y && x->shape == y->shape && std::count(x->shape.begin(), x->shape.end(), -1) <= 1;
  }
  // Returns same_shape() for a node that may change how many elements there are: the batch stays, but a size that was seen to stay
  // may be another at other sizes.
  bool same_size(const Node& node) const {
    return same_shape(node) && (model_.sizes.empty() || !is_open(editor_.value(node.inputs[0])));
  }
  static bool is_open(const Value* v) {
    return std::count(v->shape.begin(), v->shape.end(), -1) > 0;
  }
  // Returns whether input i is a constant of this value, and the other one gives the result its shape.
  bool is_all(const Node& node, size_t i, float what) const {
    if (node.inputs.size() != 2) return false;
    const Tensor* c = model_.constant(node.inputs[i]);
    const Value *x = editor_.value(node.inputs[1 - i]), *y = editor_.value(node.outputs[0]);
    return c && c->is_real() && x && y && x->shape == y->shape &&
           std::all_of(c->reals.begin(), c->reals.end(), [&](float v) { return v == what; });
  }
  bool is_zero(const Node& node, size_t i) const {
    const Tensor* c = node.has_input(i) ? model_.constant(node.inputs[i]) : nullptr;
    return c &&
           std::all_of(c->integers.begin(), c->integers.end(), [](int64_t v) { return v == 0; });
  }
  // Returns whether a Slice runs backwards, from the end to the front, along some axis.
  bool turns(const Node& node) const {
    if (!node.has_input(4)) return false;
    const Tensor* steps = model_.constant(node.inputs[4]);
    return !steps || std::any_of(steps->integers.begin(), steps->integers.end(),
                                 [](int64_t v) { return v < 0; });
  }

  const FloatModel& model_;
  const GraphEditor& editor_;
};

}  // namespace

void drop_identities(FloatModel* model) {
  GraphEditor editor(model);
  const Judge judge(*model, editor);
  for (size_t i = 0; i < model->nodes.size(); ++i) {
    const Node& node = model->nodes[i];
    if (node.inputs.empty()) continue;
    const int kept = judge.kept_input(node);
    if (kept < 0) continue;
    const std::string& x = node.inputs[static_cast<size_t>(kept)];
    if (node.op == "Identity" && editor.is_output(node.outputs[0]) &&
        (editor.writer(x) < 0 || editor.is_output(x)))
      continue;
    editor.bypass(i, x);
  }
  editor.finish();
}

}  // namespace qrt::quantize
