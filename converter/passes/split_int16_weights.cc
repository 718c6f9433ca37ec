// SPDX-License-Identifier: Apache-2.0
// Pass: splits convolutions and FullyConnected of which only some blocks of 16 output channels have
// weights beyond int8. Such weights have two terms, which doubles the products of the whole layer;
// legacy uint8 models have one or two of them in every layer, where a code is further from the zero
// point than 127. The parts are layers of their own, and a Concat that the runtime does without
// copying puts their outputs side by side.
#include <algorithm>
#include <cstring>
#include <utility>

#include "converter/passes/passes.h"
#include "converter/passes/weight_terms.h"

namespace qrt::convert {
namespace {

constexpr size_t kBlock = 16;      // output channels that share packed weights
constexpr size_t kTileWidth = 32;  // output channels that kernels compute together at least
constexpr size_t kMostParts = 5;

// Output channels begin .. end - 1, whose weights all take as many terms.
struct ChannelRange {
  size_t begin, end;
  int terms;

  size_t width() const { return end - begin; }
  // Returns the products of an output pixel and an input channel, with what a tile leaves unused.
  size_t cost() const {
    return (width() + kTileWidth - 1) / kTileWidth * kTileWidth * static_cast<size_t>(terms);
  }
};

std::vector<ChannelRange> channel_ranges(const Value& weights) {
  const auto channels = static_cast<size_t>(weights.type.shape[0]);
  const size_t taps = weights.data.size() / sizeof(int16_t) / channels;
  std::vector<ChannelRange> ranges;
  for (size_t begin = 0; begin < channels; begin += kBlock) {
    const size_t end = std::min(begin + kBlock, channels);
    const int terms = terms_of(weights.as<int16_t>() + begin * taps, (end - begin) * taps);
    if (!ranges.empty() && ranges.back().terms == terms)
      ranges.back().end = end;
    else
      ranges.push_back({begin, end, terms});
  }
  return ranges;
}

// Returns whether the parts take at least a tenth less than the whole.
bool is_worth_it(const std::vector<ChannelRange>& ranges) {
  if (ranges.size() < 2 || ranges.size() > kMostParts) return false;
  ChannelRange whole = {0, ranges.back().end, 1};
  size_t cost = 0;
  for (const ChannelRange& range : ranges) {
    whole.terms = std::max(whole.terms, range.terms);
    cost += range.cost();
  }
  return cost * 10 <= whole.cost() * 9;
}

// Elements begin .. end - 1 of dimension 0 of a constant.
Value slice(const Value& constant, const ChannelRange& range) {
  Value v = constant;
  const size_t row = constant.data.size() / static_cast<size_t>(constant.type.shape[0]);
  v.type.shape[0] = static_cast<int64_t>(range.width());
  v.data.assign(constant.data.begin() + static_cast<ptrdiff_t>(range.begin * row),
                constant.data.begin() + static_cast<ptrdiff_t>(range.end * row));
  return v;
}

template <class T>
void keep(std::vector<T>* per_channel, const ChannelRange& range) {
  if (per_channel->size() <= 1) return;
  *per_channel = {per_channel->begin() + static_cast<ptrdiff_t>(range.begin),
                  per_channel->begin() + static_cast<ptrdiff_t>(range.end)};
}

void keep(fb::RequantT* requant, const ChannelRange& range) {
  keep(&requant->scale, range);
  for (auto& stage : requant->stages) {
    keep(&stage->multiplier, range);
    keep(&stage->shift, range);
  }
}

// Appends the layer of one part to `nodes` and returns its output.
template <class Options>
ValueId append_range(Graph* graph, const Node& whole, const ChannelRange& range,
                     std::vector<Node>* nodes) {
  Node node = whole;
  keep(options<Options>(node).requant.get(), range);
  Value weights = slice(graph->values[whole.inputs[1]], range);
  if (weights.quantization.axis == 0) {
    keep(&weights.quantization.scale, range);
    keep(&weights.quantization.zero_point, range);
  }
  node.inputs[1] = graph->add_value(std::move(weights));
  node.inputs[2] = graph->add_value(slice(graph->values[whole.inputs[2]], range));
  Value output = graph->values[whole.outputs[0]];
  const int last = output.type.shape.rank() - 1;
  output.type.shape[last] = static_cast<int64_t>(range.width());
  output.name += "/channels_" + std::to_string(range.begin);
  node.name += "/channels_" + std::to_string(range.begin);
  node.outputs[0] = graph->add_value(std::move(output));
  nodes->push_back(std::move(node));
  return nodes->back().outputs[0];
}

// Appends to `nodes` what takes the place of a layer: its parts and their Concat, or itself.
template <class Options>
void append(Graph* graph, Node node, std::vector<Node>* nodes) {
  const std::vector<ChannelRange> ranges = channel_ranges(graph->values[node.inputs[1]]);
  if (!is_worth_it(ranges)) {
    nodes->push_back(std::move(node));
    return;
  }
  std::vector<ValueId> outputs;
  for (const ChannelRange& range : ranges)
    outputs.push_back(append_range<Options>(graph, node, range, nodes));
  Node concat =
      make_node<fb::ConcatOptionsT>(node.name, node.source_op, std::move(outputs), node.outputs);
  options<fb::ConcatOptionsT>(concat).axis =
      static_cast<uint32_t>(graph->values[node.outputs[0]].type.shape.rank() - 1);
  nodes->push_back(std::move(concat));
}

// Returns whether a layer has constant weights and bytes on both sides.
bool is_plain(const Graph& graph, const Node& node, const fb::RequantT& requant) {
  const auto is_bytes = [&](ValueId v) { return graph.values[v].type.dtype == DType::kUInt8; };
  return node.inputs.size() == 3 && is_bytes(node.inputs[0]) && is_bytes(node.outputs[0]) &&
         requant.kind != fb::RequantKind::ACC && graph.values[node.inputs[1]].is_constant &&
         graph.values[node.inputs[2]].is_constant;
}

}  // namespace

void split_int16_weights(Graph* graph) {
  std::vector<Node> nodes;
  for (Node& node : graph->nodes) {
    const auto* conv = node.options.AsConv2D();
    const auto* fc = node.options.AsFullyConnected();
    if (conv != nullptr && conv->groups == 1 && is_plain(*graph, node, *conv->requant))
      append<fb::Conv2DOptionsT>(graph, std::move(node), &nodes);
    else if (fc != nullptr && is_plain(*graph, node, *fc->requant))
      append<fb::FullyConnectedOptionsT>(graph, std::move(node), &nodes);
    else
      nodes.push_back(std::move(node));
  }
  graph->nodes = std::move(nodes);
}

}  // namespace qrt::convert
