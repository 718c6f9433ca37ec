// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "converter/quantize/float/graph.h"
#include "converter/quantize/float/passes.h"

namespace qrt::quantize {
namespace {

// The nodes of (x - mean) / sqrt(mean of (x - mean)^2 + epsilon) * scale + shift from their last one
// backwards.
class SpelledOut {
 public:
  SpelledOut(const FloatModel& model, const GraphEditor& editor) : model_(model), editor_(editor) {}

  // Reads a LayerNormalization written as single nodes from its Div, (x - mean) / deviation.
  // Returns false where `quotient` is something else.
  bool read(const Node& quotient) {
    if (quotient.op != "Div") return false;
    const auto result = model_.values.find(quotient.outputs[0]);
    if (result == model_.values.end() || result->second.shape.empty()) return false;
    channels = result->second.shape.back();
    const Node* d = writer(quotient, 0, "Sub");
    const Node* deviation = writer(quotient, 1, "Sqrt");
    const Node* sum = deviation ? writer(*deviation, 0, "Add") : nullptr;
    if (channels < 1 || !d || !sum) return false;
    for (size_t i : {size_t{0}, size_t{1}}) {
      const Tensor* addend = constant(*sum, i);
      const Node* variance = writer(*sum, 1 - i, "ReduceMean");
      if (!addend || !addend->is_real() || addend->size() != 1 || !variance) continue;
      epsilon = addend->reals[0];
      x = d->inputs[0];
      return epsilon >= 0 && is_last(*variance) && is_square(*variance, x) && is_centred(*d, x);
    }
    return false;
  }

  // The node behind, if it is the only one and joins the value with one constant for each channel.
  const Node* affine_behind(const std::string& value, const char* op) const {
    if (!editor_.is_read_once(value)) return nullptr;
    const Node& node = model_.nodes[editor_.readers(value).begin()->node];
    const Tensor* c = node.op == op ? constant(node, node.inputs[0] == value ? 1 : 0) : nullptr;
    return c && c->is_real() && c->shape == Dims{channels} ? &node : nullptr;
  }

  std::string x;
  int64_t channels = 0;
  float epsilon = 0;

 private:
  const Tensor* constant(const Node& node, size_t i) const {
    return node.has_input(i) ? model_.constant(node.inputs[i]) : nullptr;
  }
  const Node* writer(const Node& of, size_t i, const char* op) const {
    const int w = of.has_input(i) ? editor_.writer(of.inputs[i]) : -1;
    return w >= 0 && model_.nodes[static_cast<size_t>(w)].op == op
               ? &model_.nodes[static_cast<size_t>(w)]
               : nullptr;
  }
  bool is_last(const Node& mean) const {
    const Tensor* axes = constant(mean, 1);
    const auto found = model_.values.find(mean.outputs[0]);
    if (!axes || axes->integers.size() != 1 || found == model_.values.end()) return false;
    const int64_t axis = axes->integers[0];
    return mean.integer("keepdims", 1) != 0 &&
           (axis == -1 || axis + 1 == static_cast<int64_t>(found->second.shape.size()));
  }
  // Returns whether `d` subtracts the mean of `from` from it. Some exporters write two such nodes,
  // so `d` may be either of them.
  bool is_centred(const Node& d, const std::string& from) const {
    const Node* mean = d.op == "Sub" && d.inputs[0] == from ? writer(d, 1, "ReduceMean") : nullptr;
    return mean && mean->inputs[0] == from && is_last(*mean);
  }
  bool is_square(const Node& mean, const std::string& of) const {
    const Node *power = writer(mean, 0, "Pow"), *product = writer(mean, 0, "Mul");
    const Tensor* exponent = power ? constant(*power, 1) : nullptr;
    const bool squares =
        power ? exponent && exponent->is_real() && exponent->reals == std::vector<float>{2}
              : product && product->inputs[0] == product->inputs[1];
    const Node* d = squares ? writer(power ? *power : *product, 0, "Sub") : nullptr;
    return d && is_centred(*d, of);
  }

  const FloatModel& model_;
  const GraphEditor& editor_;
};

}  // namespace

void unify_layer_norms(FloatModel* model) {
  GraphEditor editor(model);
  for (size_t i = 0; i < model->nodes.size(); ++i) {
    SpelledOut form(*model, editor);
    if (!form.read(model->nodes[i])) continue;
    const Node* last = &model->nodes[i];
    Node norm;
    norm.op = "LayerNormalization";
    norm.inputs = {form.x, ""};
    norm.set("axis", int64_t{-1});
    norm.set("epsilon", form.epsilon);
    const auto take = [&](const char* op, size_t at) {
      const Node* line = form.affine_behind(last->outputs[0], op);
      if (!line) return false;
      norm.inputs.resize(at + 1);
      norm.inputs[at] = line->inputs[line->inputs[0] == last->outputs[0] ? 1 : 0];
      last = line;
      return true;
    };
    const bool is_scaled = take("Mul", 1);
    take("Add", 2);
    norm.name = last->name;
    norm.outputs = last->outputs;
    const std::vector<float> ones(static_cast<size_t>(form.channels), 1.0f);
    const auto at = static_cast<size_t>(last - model->nodes.data());
    editor.replace(at, std::move(norm));
    if (!is_scaled) editor.set_constant(at, 1, real_tensor({form.channels}, ones));
  }
  editor.finish();
}

}  // namespace qrt::quantize
