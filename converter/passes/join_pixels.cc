// SPDX-License-Identifier: Apache-2.0
// Pass: a convolution of few channels computes several pixels of a row as channels of one. The packed
// form has 16 channels, used or not; p outputs side by side, of n channels each, lie in memory as one
// output of p * n channels does. They see a kernel wider by p - 1 strides, with zeros where each of
// them does not look: the same sums, by fewer products where the kernel is wide.
#include <algorithm>
#include <cstring>

#include "converter/passes/passes.h"
#include "kernels/gemm/pack.h"

namespace qrt::convert {
namespace {

int64_t joined_width(int64_t kernel_w, int64_t stride_w, int64_t pixels) {
  return kernel_w + (pixels - 1) * stride_w;
}

// Returns how many pixels of a row to join: 1 where it does not pay.
int64_t pixels_to_join(const fb::Conv2DOptionsT& o, const Shape& weights, int64_t out_w) {
  // On some CPUs 3x3 has a form of its own (kernels/winograd), which counts for twice the speed.
  const bool has_fast_form =
      weights[1] == 3 && weights[2] == 3 && o.stride_h == 1 && o.stride_w == 1;
  // Taps for each pixel.
  double least = static_cast<double>(weights[2]) * (has_fast_form ? 0.45 : 0.75);
  int64_t best = 1;
  for (int64_t p = 2; p * weights[0] <= int64_t{kPackedChannels}; ++p) {
    const double taps =
        static_cast<double>(joined_width(weights[2], o.stride_w, p)) / static_cast<double>(p);
    if (out_w % p != 0 || p * o.stride_w > UINT16_MAX || taps > least) continue;
    best = p;
    least = taps;
  }
  return best;
}

template <class T>
void repeat(std::vector<T>* values, int64_t times) {
  const size_t size = values->size();
  for (int64_t i = 1; i < times; ++i)
    for (size_t j = 0; j < size; ++j) values->push_back((*values)[j]);
}

// Repeats the parameters of each channel for each joined pixel.
void repeat_channels(Quantization* q, int64_t times) {
  if (q->axis < 0) return;
  repeat(&q->scale, times);
  repeat(&q->zero_point, times);
}

// Joins weights [n][kernel_h][kernel_w][k] of p pixels to [p * n][kernel_h][joined_width][k].
Value joined_weights(const Value& weights, int64_t stride_w, int64_t pixels) {
  const Shape& from = weights.type.shape;
  Value joined = weights;
  joined.type.shape = {pixels * from[0], from[1], joined_width(from[2], stride_w, pixels), from[3]};
  repeat_channels(&joined.quantization, pixels);
  joined.data.assign(static_cast<size_t>(joined.type.shape.elements()) * sizeof(int16_t), 0);
  const int64_t row = from[2] * from[3], joined_row = joined.type.shape[2] * from[3];
  const int64_t rows = from[0] * from[1];
  for (int64_t p = 0; p < pixels; ++p) {
    for (int64_t r = 0; r < rows; ++r)
      std::copy_n(weights.as<int16_t>() + r * row, row,
                  joined.as<int16_t>() + (p * rows + r) * joined_row + p * stride_w * from[3]);
  }
  return joined;
}

void repeat_channels(fb::RequantT* requant, int64_t times) {
  if (requant->scale.size() > 1) repeat(&requant->scale, times);
  for (const auto& stage : requant->stages) {
    if (stage->multiplier.size() <= 1) continue;
    repeat(&stage->multiplier, times);
    repeat(&stage->shift, times);
  }
}

ValueId repeated_bias(Graph* graph, ValueId bias, int64_t times) {
  Value repeated = graph->values[bias];
  repeat(&repeated.data, times);
  repeat_channels(&repeated.quantization, times);
  repeated.type.shape = {times * repeated.type.shape[0]};
  return graph->add_value(std::move(repeated));
}

// Joins pixels and returns true where that is faster; `reshape` then splits the node's new pixels
// into those of its old output.
bool join(Graph* graph, Node* node, Node* reshape) {
  auto* o = node->options.AsConv2D();
  // A layer whose zero point a run computes has further inputs that a run computes; it is not joined.
  if (o == nullptr || node->inputs.size() != 3) return false;
  const Value& weights = graph->values[node->inputs[1]];
  const ValueId out = node->outputs[0];
  const TensorType y = graph->values[out].type;
  if (graph->values[node->inputs[0]].type.dtype != DType::kUInt8 || !weights.is_constant ||
      weights.weight_bits != 0 || weights.packing != fb::Packing::NONE || o->groups != 1 ||
      o->dilation_w != 1 || y.shape.elements() == 0)
    return false;
  const int width = y.shape.rank() - 2;
  const int64_t in_w = graph->values[node->inputs[0]].type.shape[width], out_w = y.shape[width];
  const int64_t pixels = pixels_to_join(*o, weights.type.shape, out_w);
  if (pixels == 1) return false;
  // The columns that the kernel reaches; with a stride it may not reach all of the padding.
  const int64_t needed = (out_w - 1) * o->stride_w + weights.type.shape[2];
  o->pad_right = static_cast<uint16_t>(std::max<int64_t>(needed - in_w - o->pad_left, 0));
  node->inputs[1] = graph->add_value(joined_weights(weights, o->stride_w, pixels));
  node->inputs[2] = repeated_bias(graph, node->inputs[2], pixels);
  repeat_channels(o->requant.get(), pixels);
  o->stride_w = static_cast<uint16_t>(pixels * o->stride_w);

  Value joined = graph->values[out];
  if (!joined.name.empty()) joined.name += "/joined";
  joined.source_order.clear();
  repeat_channels(&joined.quantization, pixels);
  joined.type.shape[width] /= pixels;
  joined.type.shape[width + 1] *= pixels;
  node->outputs[0] = graph->add_value(std::move(joined));
  *reshape = make_node<fb::ReshapeOptionsT>(node->name, node->source_op, node->outputs, {out});
  options<fb::ReshapeOptionsT>(*reshape).shape.assign(y.shape.begin(), y.shape.end());
  return true;
}

}  // namespace

void join_pixels(Graph* graph) {
  std::vector<Node> nodes;
  for (Node& node : graph->nodes) {
    Node reshape;
    const bool is_joined = join(graph, &node, &reshape);
    nodes.push_back(std::move(node));
    if (is_joined) nodes.push_back(std::move(reshape));
  }
  graph->nodes = std::move(nodes);
}

}  // namespace qrt::convert
