// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "converter/quantize/float/broadcast.h"
#include "converter/quantize/float/graph.h"
#include "converter/quantize/float/passes.h"

namespace qrt::quantize {
namespace {

const Tensor* constant(const FloatModel& model, const Node& node, size_t i) {
  return node.has_input(i) ? model.constant(node.inputs[i]) : nullptr;
}

// alpha = beta = 1, and an addend of one element for each column.
void unify_gemm(size_t at, FloatModel* model, GraphEditor* editor) {
  Node* node = &model->nodes[at];
  const Tensor *b = constant(*model, *node, 1), *c = constant(*model, *node, 2);
  if (!b || b->shape.size() != 2 || (node->has_input(2) && !c)) return;
  const float alpha = node->real("alpha", 1.0f), beta = node->real("beta", 1.0f);
  const int64_t n = b->shape[node->integer("transB", 0) != 0 ? 0 : 1];
  if (c && c->size() != 1 && c->shape.back() != n) return;
  if (c && c->size() != 1 && c->size() != n) return;
  if (alpha != 1.0f) {
    Tensor scaled = *b;
    for (float& v : scaled.reals) v *= alpha;
    editor->set_constant(at, 1, std::move(scaled));
  }
  if (c && (beta != 1.0f || c->shape != Dims{n})) {
    Tensor addend = real_tensor({n}, std::vector<float>(static_cast<size_t>(n)));
    for (size_t i = 0; i < addend.reals.size(); ++i)
      addend.reals[i] = beta * c->reals[c->reals.size() == 1 ? 0 : i];
    editor->set_constant(at, 2, std::move(addend));
  }
  node->attributes.erase("alpha");
  node->attributes.erase("beta");
}

// Rewrites a mean over the two last dimensions of images as a global pool.
void unify_mean(size_t at, FloatModel* model, GraphEditor* editor) {
  const Node node = model->nodes[at];
  const Value* x = editor->value(node.inputs[0]);
  const Tensor* axes = constant(*model, node, 1);
  if (!x || x->shape.size() != 4 || !axes) return;
  Dims given = axes->integers;
  for (int64_t& a : given) a += a < 0 ? 4 : 0;
  std::sort(given.begin(), given.end());
  if (given != Dims{2, 3}) return;
  const bool keeps = node.integer("keepdims", 1) != 0;
  const std::string& y = node.outputs[0];
  Node pool = node;
  pool.op = "GlobalAveragePool";
  pool.inputs = {node.inputs[0]};
  pool.attributes.clear();
  if (keeps) {
    editor->replace(at, std::move(pool));
    return;
  }
  pool.outputs = {editor->fresh_name(y + "/mean")};
  Value mean = {pool.outputs[0], {x->shape[0], x->shape[1], 1, 1}, Element::kFloat};
  model->values[mean.name] = mean;
  Node flatten = node;
  flatten.name += "/flatten";
  flatten.op = "Flatten";
  flatten.inputs = pool.outputs;
  flatten.attributes.clear();
  flatten.set("axis", int64_t{1});
  editor->replace(at, std::move(pool));
  editor->insert_behind(at, std::move(flatten));
}

bool all_are(const Dims& list, int64_t what) {
  return std::all_of(list.begin(), list.end(), [&](int64_t v) { return v == what; });
}

// Windows that do not overlap: each element of x becomes a block of s x s, which a 1 x 1 convolution
// gives as channels. A limit behind it goes before the blocks are laid out.
void unify_transposed(size_t at, FloatModel* model, GraphEditor* editor) {
  const Node node = model->nodes[at];
  const Tensor *w = constant(*model, node, 1), *bias = constant(*model, node, 2);
  if (!w || w->shape.size() != 4 || (node.has_input(2) && !bias)) return;
  const int64_t inputs = w->shape[0], outputs = w->shape[1], s = w->shape[2];
  const std::string automatic = node.text("auto_pad", "NOTSET");
  if (s < 2 || w->shape[3] != s || node.integers("strides") != Dims{s, s} ||
      node.integer("group", 1) != 1 || !all_are(node.integers("pads"), 0) ||
      !all_are(node.integers("output_padding"), 0) || !all_are(node.integers("dilations"), 1) ||
      node.has("output_shape") || (automatic != "NOTSET" && automatic != "VALID"))
    return;
  const int64_t made = outputs * s * s;
  Tensor weights = real_tensor({made, inputs, 1, 1}, std::vector<float>(w->reals.size()));
  for (int64_t c = 0; c < inputs; ++c)
    for (int64_t o = 0; o < made; ++o)
      weights.reals[static_cast<size_t>(o * inputs + c)] =
          w->reals[static_cast<size_t>(c * made + o)];
  Tensor biases;
  if (bias) {
    biases = real_tensor({made}, {});
    for (float v : bias->reals)
      biases.reals.insert(biases.reals.end(), static_cast<size_t>(s * s), v);
  }
  std::string y = node.outputs[0];
  Node conv = node, blocks;
  conv.op = "Conv";
  conv.attributes.clear();
  conv.outputs = {editor->fresh_name(y + "/channels")};
  conv.inputs.resize(2);
  blocks.name = node.name + "/blocks";
  blocks.op = "DepthToSpace";
  blocks.inputs = conv.outputs;
  blocks.outputs = {y};
  blocks.set("blocksize", s);
  blocks.set("mode", std::string("CRD"));
  const size_t reader = editor->is_read_once(y) ? editor->readers(y).begin()->node : at;
  editor->replace(at, conv);
  editor->set_constant(at, 1, std::move(weights));
  if (bias) editor->set_constant(at, 2, std::move(biases));
  const Value* x = editor->value(node.inputs[0]);
  if (x) {
    Value v = *x;
    v.name = conv.outputs[0];
    v.shape[1] = made;
    model->values[v.name] = v;
  }
  Node limit = model->nodes[reader];
  if (reader == at || (limit.op != "Relu" && limit.op != "Clip") || limit.inputs[0] != y) {
    editor->insert_behind(at, std::move(blocks));
    return;
  }
  blocks.outputs = limit.outputs;
  limit.inputs[0] = conv.outputs[0];
  limit.outputs = {editor->fresh_name(y + "/limited")};
  blocks.inputs = limit.outputs;
  if (x)
    model->values[limit.outputs[0]] = {limit.outputs[0], model->values[conv.outputs[0]].shape,
                                       Element::kFloat};
  editor->replace(reader, std::move(limit));
  editor->insert_behind(reader, std::move(blocks));
}

// Sizes as scales, where these give the same sizes.
void unify_resize(size_t at, FloatModel* model, GraphEditor* editor) {
  const Node* node = &model->nodes[at];
  const Value *x = editor->value(node->inputs[0]), *y = editor->value(node->outputs[0]);
  if (!node->has_input(3) || node->has("axes") || !x || !y) return;
  if (node->text("keep_aspect_ratio_policy", "stretch") != "stretch") return;
  Tensor scales = real_tensor({static_cast<int64_t>(x->shape.size())}, {});
  for (size_t d = 0; d < x->shape.size(); ++d) {
    const bool same = x->shape[d] == y->shape[d];
    if (x->shape[d] < 0 || y->shape[d] < 0) {
      if (!same || !model->sizes.empty()) return;  // open sizes need not be the same
    }
    const auto in = static_cast<float>(x->shape[d]), out = static_cast<float>(y->shape[d]);
    scales.reals.push_back(same ? 1.0f : out / in);
    if (!same && std::floor(scales.reals.back() * in) != out) return;
  }
  editor->resize_inputs(at, 3);
  editor->set_input(at, 1, "");
  editor->set_constant(at, 2, std::move(scales));
}

// Clip from 0 on and Max with 0.
void unify_limit(size_t at, FloatModel* model, GraphEditor* editor) {
  Node* node = &model->nodes[at];
  const auto is_zero = [&](size_t i) {
    const Tensor* c = constant(*model, *node, i);
    return c && c->is_real() && c->size() == 1 && c->shape.size() <= 1 && c->reals[0] == 0;
  };
  if (node->op == "Clip" && node->has_input(1) && is_zero(1)) {
    const Tensor* hi = constant(*model, *node, 2);
    if (node->has_input(2) &&
        !(hi && hi->is_real() && hi->size() == 1 && std::isinf(hi->reals[0]) && hi->reals[0] > 0))
      return;
    node->op = "Relu";
    editor->resize_inputs(at, 1);
  } else if (node->op == "Max" && node->inputs.size() == 2 && (is_zero(0) || is_zero(1))) {
    const std::string x = node->inputs[is_zero(0) ? 1 : 0];
    const Value* v = editor->value(x);
    if (!v || v->shape.empty()) return;
    node->op = "Relu";
    editor->set_input(at, 0, x);
    editor->resize_inputs(at, 1);
  }
}

// Clip with limits that are computed, as Max and Min of two values.
void unify_computed_limits(size_t at, FloatModel* model, GraphEditor* editor) {
  const Node clip = model->nodes[at];
  const auto is_computed = [&](size_t i) {
    return clip.has_input(i) && constant(*model, clip, i) == nullptr;
  };
  const Value* y = editor->value(clip.outputs[0]);
  if (!y || !(is_computed(1) || is_computed(2))) return;
  const bool has_low = clip.has_input(1), has_high = clip.has_input(2);
  Node first = clip;
  first.op = has_low ? "Max" : "Min";
  first.inputs = {clip.inputs[0], clip.inputs[has_low ? 1 : 2]};
  if (!has_low || !has_high) {
    editor->replace(at, std::move(first));
    return;
  }
  Value between = *y;
  between.name = editor->fresh_name(clip.outputs[0] + "/low");
  model->values[between.name] = between;
  Node second = clip;
  first.name += "/low";
  first.outputs = {between.name};
  second.op = "Min";
  second.inputs = {between.name, clip.inputs[2]};
  editor->insert_behind(at, std::move(second));  // first, lest a constant limit is without a reader
  editor->replace(at, std::move(first));
}

// Rows of all dimensions from the axis on are those of the last one where it is that.
void unify_softmax(Node* node, const GraphEditor& editor) {
  const Value* x = editor.value(node->inputs[0]);
  if (!node->has("flatten") || !x) return;
  const auto rank = static_cast<int64_t>(x->shape.size());
  int64_t axis = node->integer("axis", 1);
  axis += axis < 0 ? rank : 0;
  for (int64_t d = axis + 1; d < rank; ++d)
    if (x->shape[static_cast<size_t>(d)] != 1) return;
  node->attributes.erase("flatten");
}

}  // namespace

void unify_forms(FloatModel* model) {
  GraphEditor editor(model);
  for (size_t i = 0; i < model->nodes.size(); ++i) {
    Node* node = &model->nodes[i];
    if (!node->domain.empty() || node->inputs.empty()) continue;
    if (node->op == "Gemm") unify_gemm(i, model, &editor);
    if (node->op == "Resize") unify_resize(i, model, &editor);
    if (node->op == "Clip") unify_computed_limits(i, model, &editor);
    if (node->op == "Clip" || node->op == "Max") unify_limit(i, model, &editor);
    if (node->op == "Softmax" || node->op == "LogSoftmax") unify_softmax(node, editor);
    if (node->op == "ReduceMean") unify_mean(i, model, &editor);
  }
  editor.finish();
}

void split_transposed(FloatModel* model) {
  GraphEditor editor(model);
  for (size_t i = 0; i < model->nodes.size(); ++i)
    if (model->nodes[i].op == "ConvTranspose") unify_transposed(i, model, &editor);
  editor.finish();
}

}  // namespace qrt::quantize
