// SPDX-License-Identifier: Apache-2.0
// Pass: a depthwise convolution of one channel (the first of networks on grey images and on sound, as
// TensorFlow writes them) is a Conv2D of one channel, whose kernels fill their registers with it.
#include <utility>

#include "converter/passes/passes.h"
#include "converter/permutation.h"

namespace qrt::convert {
namespace {

fb::Conv2DOptionsT conv_options(fb::DepthwiseConv2DOptionsT* o) {
  fb::Conv2DOptionsT conv;
  conv.stride_h = o->stride_h;
  conv.stride_w = o->stride_w;
  conv.dilation_h = o->dilation_h;
  conv.dilation_w = o->dilation_w;
  conv.pad_top = o->pad_top;
  conv.pad_left = o->pad_left;
  conv.pad_bottom = o->pad_bottom;
  conv.pad_right = o->pad_right;
  conv.input_zero_point = o->input_zero_point;
  conv.requant = std::move(o->requant);
  return conv;
}

// Reorders weights [kernel_h, kernel_w, out] to [out, kernel_h, kernel_w, 1].
Value conv_weights(Value weights) {
  weights.type.shape.push_back(1);
  return transposed_constant(weights, {2, 0, 1, 3});
}

}  // namespace

void one_channel_depthwise(Graph* graph) {
  for (Node& node : graph->nodes) {
    auto* o = node.options.AsDepthwiseConv2D();
    if (o == nullptr) continue;
    const TensorType& x = graph->values[node.inputs[0]].type;
    if (x.dtype != DType::kUInt8 || x.shape[x.shape.rank() - 1] != 1) continue;
    node.inputs[1] = graph->add_value(conv_weights(graph->values[node.inputs[1]]));
    node.options.Set(conv_options(o));
  }
}

}  // namespace qrt::convert
