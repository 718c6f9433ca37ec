// SPDX-License-Identifier: Apache-2.0
// Pass: the scaling that exporters write behind a layer whose input is quantised in the run,
//
//   y = Cast(acc) * (x_scale * w_scale) (+ bias)
//
// goes into the layer, whose kernel stores floats: each step rounded to float32 in that order, as it
// was. Between the layer and the rest may stand the Transpose that brings a convolution's result back
// to [n, c, h, w].
#include <algorithm>
#include <cmath>
#include <optional>

#include "converter/passes/def_use.h"
#include "converter/passes/passes.h"

namespace qrt::convert {
namespace {

class ScalePattern {
 public:
  ScalePattern(Graph* graph, const DefUse& def_use, size_t layer)
      : graph_(*graph), def_use_(def_use), layer_(layer), last_(layer) {}

  // Fuses the nodes behind the layer. Returns false, and changes nothing, where the nodes is another.
  bool fuse() {
    const Node& layer = graph_.nodes[layer_];
    if (layer.inputs.size() != 4) return false;
    channels_ = graph_.values[layer.inputs[1]].type.shape[0];
    axis_ = shape(layer.outputs[0]).rank() - 1;
    int at = next(layer.outputs[0]);
    if (at >= 0 && node(at).options.AsTranspose()) {
      const auto& perm = node(at).options.AsTranspose()->perm;
      axis_ = static_cast<int>(std::find(perm.begin(), perm.end(), axis_) - perm.begin());
      last_ = static_cast<size_t>(at);
      at = next(node(at).outputs[0]);
    }
    if (at < 0 || !is_cast(node(at))) return false;
    gone_ = {at};
    at = next(node(at).outputs[0]);
    if (at < 0 || !read_product(node(at))) return false;
    gone_.push_back(at);
    at = next(node(at).outputs[0]);
    std::optional<std::vector<float>> addend;
    if (at >= 0 && is_float(node(at), fb::FloatFunction::ADD)) addend = constant_beside(node(at));
    if (addend) gone_.push_back(at);
    rewrite(addend);
    return true;
  }

 private:
  const Node& node(int i) const { return graph_.nodes[static_cast<size_t>(i)]; }
  const Shape& shape(ValueId v) const { return graph_.values[v].type.shape; }

  // Returns the only reader of a value that nothing else needs, or -1.
  int next(ValueId v) const {
    const std::vector<int>& readers = def_use_.consumers[v];
    return readers.size() == 1 && !def_use_.is_output[v] ? readers[0] : -1;
  }

  static bool is_float(const Node& n, fb::FloatFunction function) {
    const auto* o = n.options.AsFloat();
    return o && o->function == function;
  }

  static bool is_cast(const Node& n) {
    const auto* o = n.options.AsDequantize();
    constexpr uint32_t kOne = 0x3f800000;
    return o && n.inputs.size() == 1 && o->axis < 0 && o->scale == std::vector<uint32_t>{kOne} &&
           (o->zero_point.empty() || o->zero_point == std::vector<int32_t>{0});
  }

  // Returns a constant that is one number, or one for each channel, as the latter.
  std::optional<std::vector<float>> per_channel(ValueId v, int rank) const {
    const Value& c = graph_.values[v];
    if (!c.is_constant || c.type.dtype != DType::kFloat32 || c.type.shape.rank() > rank)
      return std::nullopt;
    const int64_t n = c.type.shape.elements();
    const int at = axis_ - (rank - c.type.shape.rank());
    if (n != 1 && (at < 0 || c.type.shape[at] != channels_ || n != channels_)) return std::nullopt;
    std::vector<float> values(static_cast<size_t>(channels_));
    for (size_t i = 0; i < values.size(); ++i) {
      values[i] = c.as<float>()[n == 1 ? 0 : i];
      if (!std::isfinite(values[i])) return std::nullopt;
    }
    return values;
  }

  // Returns the operand of an operator of the nodes that the nodes did not make.
  ValueId beside(const Node& n) const {
    return n.inputs[0] == node(gone_.back()).outputs[0] ? n.inputs[1] : n.inputs[0];
  }
  std::optional<std::vector<float>> constant_beside(const Node& n) const {
    return per_channel(beside(n), shape(n.outputs[0]).rank());
  }

  bool read_product(const Node& n) {
    if (!is_float(n, fb::FloatFunction::MUL)) return false;
    const Shape& y = shape(n.outputs[0]);
    const int maker = def_use_.producer[beside(n)];
    if (maker < 0 || y != shape(node(gone_[0]).inputs[0]) || n.inputs[0] == n.inputs[1] ||
        !is_float(node(maker), fb::FloatFunction::MUL))
      return false;
    for (size_t i = 0; i < 2; ++i) {
      const ValueId scale = node(maker).inputs[i];
      const bool is_known = def_use_.producer[scale] < static_cast<int>(layer_);
      if (graph_.values[scale].is_constant || shape(scale).elements() != 1 || !is_known) continue;
      const auto weights = per_channel(node(maker).inputs[1 - i], y.rank());
      if (!weights) continue;
      x_scale_ = scale;
      w_scale_ = *weights;
      return true;
    }
    return false;
  }

  void rewrite(const std::optional<std::vector<float>>& addend) {
    Node& layer = graph_.nodes[layer_];
    const ValueId made = node(gone_.back()).outputs[0];
    for (int i : gone_) {
      layer.source_op += "+" + node(i).source_op;
      graph_.nodes[static_cast<size_t>(i)].outputs.clear();
    }
    graph_.values[layer.outputs[0]].type.dtype = DType::kFloat32;
    graph_.nodes[last_].outputs[0] = made;
    layer.inputs.push_back(x_scale_);
    layer.inputs.push_back(graph_.add_constant("", DType::kFloat32, {channels_}, w_scale_));
    if (addend)
      layer.inputs.push_back(graph_.add_constant("", DType::kFloat32, {channels_}, *addend));
  }

  Graph& graph_;
  const DefUse& def_use_;
  const size_t layer_;
  size_t last_;            // the layer, or the Transpose behind it
  std::vector<int> gone_;  // nodes that the layer stands for
  int axis_ = 0;           // of the channels behind last_
  int64_t channels_ = 0;
  ValueId x_scale_ = kNoValue;
  std::vector<float> w_scale_;
};

}  // namespace

void fuse_dynamic_scales(Graph* graph) {
  const DefUse def_use(*graph);
  bool any = false;
  for (size_t i = 0; i < graph->nodes.size(); ++i) {
    const fb::OpOptionsUnion& o = graph->nodes[i].options;
    if (o.AsFullyConnected() || o.AsConv2D()) any |= ScalePattern(graph, def_use, i).fuse();
  }
  if (!any) return;
  erase_removed(graph);
  drop_dead(graph);
}

}  // namespace qrt::convert
