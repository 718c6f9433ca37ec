// SPDX-License-Identifier: Apache-2.0
// A line y = factor * x + shift for each channel becomes part of the layer that wrote x or reads y.
#include <algorithm>
#include <cmath>
#include <set>

#include "converter/quantize/float/graph.h"
#include "converter/quantize/float/passes.h"

namespace qrt::quantize {
namespace {

struct ChannelAffine {
  std::vector<double> factor, shift;
};

class Folder {
 public:
  explicit Folder(FloatModel* model) : model_(model), editor_(model) {}

  // Walks from the first node to the last, until nothing changes: all nodes, then those whose neighbours
  // changed.
  void run() {
    for (size_t i = 0; i < model_->nodes.size(); ++i) waiting_.insert(waiting_.end(), i);
    while (!waiting_.empty()) {
      while (!waiting_.empty()) {
        at_ = *waiting_.begin();
        waiting_.erase(waiting_.begin());
        fold(at_);
      }
      editor_.drop_unread_constants();
      waiting_.swap(next_walk_);
    }
    editor_.finish();
  }

 private:
  const Tensor* constant(const Node& node, size_t i) const {
    const Tensor* c = node.has_input(i) ? model_->constant(node.inputs[i]) : nullptr;
    return c && c->is_real() ? c : nullptr;
  }
  size_t rank_of(const std::string& name) const {
    const auto found = model_->values.find(name);
    return found == model_->values.end() ? 0 : found->second.shape.size();
  }

  void revisit(size_t i) {
    if (i != at_) (i > at_ ? waiting_ : next_walk_).insert(i);
  }
  // Removes node i: the readers of its result read x. A line behind it may be part of the writer of x
  // now, and the node before it part of the readers.
  void take_out(size_t i, const std::string& x) {
    const Reads readers = editor_.readers(model_->nodes[i].outputs[0]);
    const int w = editor_.writer(x);
    editor_.bypass(i, x);
    if (w >= 0) revisit(static_cast<size_t>(w));
    for (const Read& r : readers) {
      revisit(r.node);
      const Node& reader = model_->nodes[r.node];
      if (reader.op == "Concat" && editor_.is_read_once(reader.outputs[0]))
        revisit(editor_.readers(reader.outputs[0]).begin()->node);
    }
  }

  // Folds node i into the layer before it, also past a Concat, or into the layers behind it.
  void fold(size_t i) {
    const Node node = model_->nodes[i];
    const bool is_norm = node.op == "BatchNormalization";
    const bool is_sum = node.op == "Add" || node.op == "Sub";
    if (!is_norm && !is_sum && node.op != "Mul" && node.op != "Div") return;
    const size_t at = !is_norm && constant(node, 0) ? 1 : 0;
    if (!is_norm && !constant(node, 1 - at)) return;  // no lines
    const std::string& x = node.inputs[at];
    const int w = editor_.writer(x);
    if (w >= 0 && editor_.is_read_once(x)) {
      const Node& layer = model_->nodes[static_cast<size_t>(w)];
      ChannelAffine lines;
      const int64_t channels = outputs_of(layer);
      if (channels > 0 && read_affine(node, at, layer, channels, &lines)) {
        scale_outputs(lines, static_cast<size_t>(w));
        take_out(i, x);
        return;
      }
      if (is_norm && layer.op == "Concat") {
        split_at_concat(i, layer);
        return;
      }
    }
    if (is_norm) fold_forward(i);
  }

  // Channels of the result, where the layer has weights to scale; else 0.
  int64_t outputs_of(const Node& layer) const {
    const Tensor* w = constant(layer, 1);
    if (!layer.domain.empty() || !w || (layer.has_input(2) && !constant(layer, 2))) return 0;
    if (layer.op == "Conv") return w->shape[0];
    if (layer.op == "ConvTranspose") return w->shape[1] * layer.integer("group", 1);
    if (layer.op == "Gemm" && layer.real("alpha", 1) == 1 && layer.real("beta", 1) == 1) {
      const int64_t columns = w->shape[layer.integer("transB", 0) != 0 ? 0 : 1];
      const Tensor* addend = constant(layer, 2);
      const bool by_column = !addend || addend->size() == 1 ||
                             (addend->size() == columns && addend->shape.back() == columns);
      return by_column ? columns : 0;
    }
    if (layer.op == "MatMul" && w->shape.size() == 2 && rank_of(layer.outputs[0]) == 2)
      return w->shape[1];
    return 0;
  }

  bool read_affine(const Node& node, size_t at, const Node& layer, int64_t channels,
                   ChannelAffine* lines) const {
    const auto n = static_cast<size_t>(channels);
    if (node.op == "BatchNormalization") return read_norm(node, n, lines);
    // A MatMul and the sum behind it become one layer without this pass.
    if (layer.op == "MatMul") return false;
    const Tensor* c = constant(node, 1 - at);
    if (!c || (node.op == "Div" && at != 0)) return false;
    // One element, or one for each channel of the result's dimension 1 (the last one of a Gemm).
    const size_t rank = rank_of(layer.outputs[0]), behind = layer.op == "Gemm" ? 0 : rank - 2;
    if (rank == 0 || c->shape.size() > rank) return false;
    for (size_t d = 0; d < c->shape.size(); ++d) {
      const bool is_channel = c->shape.size() - 1 - d == behind;
      if (c->shape[d] != 1 && !(is_channel && c->shape[d] == channels)) return false;
    }
    lines->factor.assign(n, 1.0);
    lines->shift.assign(n, 0.0);
    for (size_t i = 0; i < n; ++i) {
      const double v = static_cast<double>(c->reals[c->reals.size() == 1 ? 0 : i]);
      if (node.op == "Mul") lines->factor[i] = v;
      if (node.op == "Div") lines->factor[i] = 1.0 / v;
      if (node.op == "Add") lines->shift[i] = v;
      if (node.op == "Sub") {
        lines->shift[i] = at == 0 ? -v : v;
        lines->factor[i] = at == 0 ? 1.0 : -1.0;
      }
      if (!std::isfinite(lines->factor[i]) || !std::isfinite(lines->shift[i])) return false;
    }
    return true;
  }

  bool read_norm(const Node& node, size_t n, ChannelAffine* lines) const {
    const double epsilon = static_cast<double>(node.real("epsilon", 1e-5f));
    for (size_t i = 1; i < 5; ++i)
      if (!constant(node, i) || constant(node, i)->reals.size() != n) return false;
    lines->factor.resize(n);
    lines->shift.resize(n);
    for (size_t c = 0; c < n; ++c) {
      const auto value = [&](size_t i) { return static_cast<double>(constant(node, i)->reals[c]); };
      lines->factor[c] = value(1) / std::sqrt(value(4) + epsilon);
      lines->shift[c] = value(2) - value(3) * lines->factor[c];
      if (!std::isfinite(lines->factor[c]) || !std::isfinite(lines->shift[c])) return false;
    }
    return true;
  }

  void scale_outputs(const ChannelAffine& lines, size_t at) {
    Node* layer = &model_->nodes[at];
    const size_t n = lines.factor.size();
    Tensor w = *constant(*layer, 1);
    const bool columns =
        layer->op == "MatMul" || (layer->op == "Gemm" && layer->integer("transB", 0) == 0);
    // Weights as [outer, channels, inner]; those of a ConvTranspose start again with each group.
    const size_t own = layer->op == "ConvTranspose" ? static_cast<size_t>(w.shape[1]) : n;
    size_t inner = 1;
    const size_t axis = columns || layer->op == "ConvTranspose" ? 1 : 0;
    for (size_t d = axis + 1; d < w.shape.size(); ++d) inner *= static_cast<size_t>(w.shape[d]);
    const size_t inputs_of_group = axis == 0 ? 1 : static_cast<size_t>(w.shape[0]) / (n / own);
    for (size_t i = 0; i < w.reals.size(); ++i) {
      const size_t c = i / inner % own;
      const size_t group = axis == 0 ? 0 : i / inner / own / inputs_of_group;
      w.reals[i] =
          static_cast<float>(static_cast<double>(w.reals[i]) * lines.factor[group * own + c]);
    }
    Tensor bias = real_tensor({static_cast<int64_t>(n)}, std::vector<float>(n, 0.0f));
    const Tensor* old = constant(*layer, 2);
    for (size_t c = 0; c < n; ++c) {
      const double b = old ? static_cast<double>(old->reals[old->reals.size() == 1 ? 0 : c]) : 0.0;
      bias.reals[c] = static_cast<float>(b * lines.factor[c] + lines.shift[c]);
    }
    if (layer->op == "MatMul") {
      layer->op = "Gemm";  // which has a bias, and takes up the lines before it
      const int before = editor_.writer(layer->inputs[0]);
      if (before >= 0) revisit(static_cast<size_t>(before));
    }
    editor_.set_constant(at, 1, std::move(w));
    editor_.set_constant(at, 2, std::move(bias));
  }

  // Splits a BatchNormalization behind a Concat of channels into one for each operand, if all of
  // these go into their layers.
  void split_at_concat(size_t norm, const Node& concat) {
    if (concat.integer("axis", 0) != 1) return;
    int64_t first = 0;
    std::vector<int64_t> counts;
    for (const std::string& x : concat.inputs) {
      const int w = editor_.writer(x);
      if (w < 0 || !editor_.is_read_once(x)) return;
      counts.push_back(outputs_of(model_->nodes[static_cast<size_t>(w)]));
      if (counts.back() <= 0) return;
      first += counts.back();
    }
    ChannelAffine lines;
    if (!read_norm(model_->nodes[norm], static_cast<size_t>(first), &lines)) return;
    auto at = static_cast<ptrdiff_t>(0);
    for (size_t i = 0; i < counts.size(); ++i) {
      const auto end = at + static_cast<ptrdiff_t>(counts[i]);
      const ChannelAffine part = {{lines.factor.begin() + at, lines.factor.begin() + end},
                                  {lines.shift.begin() + at, lines.shift.begin() + end}};
      scale_outputs(part, static_cast<size_t>(editor_.writer(concat.inputs[i])));
      at = end;
    }
    take_out(norm, concat.outputs[0]);
  }

  // Folds the normalisation into all layers that read its result. A Conv pads with zeros, which
  // only a normalisation without a shift keeps.
  void fold_forward(size_t norm) {
    const Node node = model_->nodes[norm];
    const Tensor* scale = constant(node, 1);
    ChannelAffine lines;
    if (!scale || !read_norm(node, scale->reals.size(), &lines)) return;
    const std::string& y = node.outputs[0];
    const Reads readers = editor_.readers(y);
    if (editor_.is_output(y) || readers.empty()) return;
    const bool shifts =
        std::any_of(lines.shift.begin(), lines.shift.end(), [](double s) { return s != 0; });
    for (const Read& r : readers) {
      const Node& layer = model_->nodes[r.node];
      const Tensor* w = constant(layer, 1);
      const bool is_conv = layer.op == "Conv";
      if (!w || layer.inputs[0] != y || (!is_conv && layer.op != "Gemm") || outputs_of(layer) == 0)
        return;
      if (!is_conv && layer.integer("transA", 0) != 0) return;
      const std::string automatic = layer.text("auto_pad", "NOTSET");
      const auto pads = layer.integers("pads");
      const bool pads_none =
          automatic.rfind("SAME", 0) != 0 &&
          std::all_of(pads.begin(), pads.end(), [](int64_t p) { return p == 0; });
      if (is_conv && shifts && !pads_none) return;
      const int64_t channels = is_conv ? w->shape[1] * layer.integer("group", 1)
                                       : w->shape[layer.integer("transB", 0) != 0 ? 1 : 0];
      if (channels != static_cast<int64_t>(lines.factor.size())) return;
    }
    for (const Read& r : readers) scale_inputs(lines, r.node);
    take_out(norm, node.inputs[0]);
  }

  void scale_inputs(const ChannelAffine& lines, size_t at) {
    const Node* layer = &model_->nodes[at];
    Tensor w = *constant(*layer, 1);
    const auto outputs = static_cast<size_t>(outputs_of(*layer));
    const bool is_conv = layer->op == "Conv";
    const bool rows_are_inputs = !is_conv && layer->integer("transB", 0) == 0;
    const size_t groups = is_conv ? static_cast<size_t>(layer->integer("group", 1)) : 1;
    const size_t channels = lines.factor.size() / groups;  // of one group
    const size_t inner = w.reals.size() / (outputs * channels);
    std::vector<double> sums(outputs, 0.0);
    for (size_t o = 0; o < outputs; ++o)
      for (size_t c = 0; c < channels; ++c)
        for (size_t k = 0; k < inner; ++k) {
          const size_t at = rows_are_inputs ? c * outputs + o : (o * channels + c) * inner + k;
          const size_t line = o / (outputs / groups) * channels + c;
          const auto v = static_cast<double>(w.reals[at]);
          sums[o] += v * lines.shift[line];
          w.reals[at] = static_cast<float>(v * lines.factor[line]);
        }
    Tensor bias = real_tensor({static_cast<int64_t>(outputs)}, std::vector<float>(outputs));
    const Tensor* old = constant(*layer, 2);
    for (size_t o = 0; o < outputs; ++o) {
      const double b = old ? static_cast<double>(old->reals[old->reals.size() == 1 ? 0 : o]) : 0.0;
      bias.reals[o] = static_cast<float>(b + sums[o]);
    }
    editor_.set_constant(at, 1, std::move(w));
    editor_.set_constant(at, 2, std::move(bias));
  }

  FloatModel* const model_;
  GraphEditor editor_;
  size_t at_ = 0;                         // the node that the walk is at
  std::set<size_t> waiting_, next_walk_;  // nodes to visit in this walk, and in the next one
};

}  // namespace

void fold_batch_norms(FloatModel* model) { Folder(model).run(); }

}  // namespace qrt::quantize
