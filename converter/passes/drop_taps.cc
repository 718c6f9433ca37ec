// SPDX-License-Identifier: Apache-2.0
// Pass: removes taps of a kernel that only read padding, as with DeepLab's dilations, which can be
// as wide as the image. Padding is the input's zero point and adds nothing.
#include <cstring>

#include "converter/passes/passes.h"

namespace qrt::convert {
namespace {

// One axis of a convolution.
struct Window {
  int64_t in, out, kernel, stride, dilation, pad_before;

  bool meets_image(int64_t tap) const {
    const int64_t at = tap * dilation - pad_before;  // of output 0
    const int64_t y = at >= 0 ? 0 : (-at + stride - 1) / stride;
    return y < out && y * stride + at < in;
  }
};

// The taps first..last of a window that are kept, with the padding that keeps taps and outputs
// aligned.
struct Kept {
  int64_t first, last, dilation, pad_before, pad_after;
  int64_t taps() const { return last - first + 1; }
};

Kept kept_of(const Window& w, int64_t pad_after) {
  Kept k = {0, w.kernel - 1, w.dilation, w.pad_before, pad_after};
  while (k.first < k.last && w.pad_before >= (k.first + 1) * w.dilation && !w.meets_image(k.first))
    ++k.first;
  k.pad_before = w.pad_before - k.first * w.dilation;
  const auto needed_after = [&](int64_t last) {
    return (w.out - 1) * w.stride - w.pad_before + last * w.dilation + 1 - w.in;
  };
  while (k.last > k.first && needed_after(k.last - 1) >= 0 && !w.meets_image(k.last)) --k.last;
  if (k.last < w.kernel - 1) k.pad_after = needed_after(k.last);
  if (k.taps() == 1) k.dilation = 1;
  return k;
}

// Returns the kept taps of weights [outer][kernel_h][kernel_w][inner].
std::vector<int16_t> cropped(const Value& weights, int64_t outer, int64_t inner, int64_t kernel_h,
                             int64_t kernel_w, const Kept& h, const Kept& w) {
  std::vector<int16_t> left;
  left.reserve(static_cast<size_t>(outer * h.taps() * w.taps() * inner));
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t y = h.first; y <= h.last; ++y) {
      const int16_t* row =
          weights.as<int16_t>() + ((o * kernel_h + y) * kernel_w + w.first) * inner;
      left.insert(left.end(), row, row + w.taps() * inner);
    }
  }
  return left;
}

template <class Options>
void drop(Graph* graph, Node* node, Options* o) {
  constexpr bool kDepthwise = std::is_same_v<Options, fb::DepthwiseConv2DOptionsT>;
  const Value& weights = graph->values[node->inputs[1]];
  const Shape x = graph->values[node->inputs[0]].type.shape,
              y = graph->values[node->outputs[0]].type.shape, shape = weights.type.shape;
  // A zero point that is computed in the run makes the padding unknown here.
  if (node->inputs.size() > 3 || !weights.is_constant || weights.type.dtype != DType::kInt16 ||
      weights.packing != fb::Packing::NONE || y.elements() == 0)
    return;
  constexpr int kHeight = kDepthwise ? 0 : 1;
  const int height = x.rank() - 3, width = height + 1;
  const Window rows = {x[height],   y[height],     shape[kHeight],
                       o->stride_h, o->dilation_h, o->pad_top};
  const Window columns = {x[width],    y[width],      shape[kHeight + 1],
                          o->stride_w, o->dilation_w, o->pad_left};
  const Kept h = kept_of(rows, o->pad_bottom), w = kept_of(columns, o->pad_right);
  if (h.taps() == rows.kernel && w.taps() == columns.kernel) return;
  const int64_t outer = kDepthwise ? 1 : shape[0], inner = kDepthwise ? shape[2] : shape[3];
  const Shape left =
      kDepthwise ? Shape{h.taps(), w.taps(), inner} : Shape{outer, h.taps(), w.taps(), inner};
  Value crop = weights;
  crop.type.shape = left;
  const std::vector<int16_t> elements =
      cropped(weights, outer, inner, rows.kernel, columns.kernel, h, w);
  crop.data.resize(elements.size() * sizeof elements[0]);
  memcpy(crop.data.data(), elements.data(), crop.data.size());
  node->inputs[1] = graph->add_value(std::move(crop));
  o->dilation_h = static_cast<uint16_t>(h.dilation);
  o->dilation_w = static_cast<uint16_t>(w.dilation);
  o->pad_top = static_cast<uint16_t>(h.pad_before);
  o->pad_bottom = static_cast<uint16_t>(h.pad_after);
  o->pad_left = static_cast<uint16_t>(w.pad_before);
  o->pad_right = static_cast<uint16_t>(w.pad_after);
}

}  // namespace

void drop_taps(Graph* graph) {
  for (Node& node : graph->nodes) {
    if (auto* conv = node.options.AsConv2D()) drop(graph, &node, conv);
    if (auto* depthwise = node.options.AsDepthwiseConv2D()) drop(graph, &node, depthwise);
  }
}

}  // namespace qrt::convert
