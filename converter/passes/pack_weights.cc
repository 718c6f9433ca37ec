// SPDX-License-Identifier: Apache-2.0
// Pass: weights into the packed forms of kernels/gemm/gemm.h and kernels/depthwise/depthwise.h, the
// input's zero point into the bias, and what kernels want to know about the weights beside them.
#include <algorithm>
#include <cstring>
#include <map>
#include <tuple>

#include "converter/import/common/layer_constants.h"
#include "converter/passes/passes.h"
#include "converter/passes/weight_terms.h"
#include "kernels/depthwise/depthwise_int16.h"
#include "kernels/depthwise/pack.h"
#include "kernels/edge/packed.h"
#include "kernels/gemm/pack.h"
#include "runtime/packed_bits.h"

namespace qrt::convert {
namespace {

constexpr int kInt8Min = -128, kInt8Max = 127;

// INT16 activations.
bool is_int16(const Graph& graph, const Node& node) {
  return graph.values[node.inputs[0]].type.dtype == DType::kInt16;
}

// Returns the digits of each weight, lowest first: w = d0 + 256 * (d1 + d2).
std::vector<std::vector<int8_t>> split_digits(const std::vector<int16_t>& weights, int digits) {
  std::vector<std::vector<int8_t>> out(static_cast<size_t>(digits));
  for (int w : weights) {
    const int low = digits == 1 ? w : static_cast<int8_t>(w & 255);
    out[0].push_back(static_cast<int8_t>(low));
    int left = (w - low) / 256;
    for (size_t d = 1; d < out.size(); ++d) {
      const int part = std::clamp(left, kInt8Min, kInt8Max);
      out[d].push_back(static_cast<int8_t>(part));
      left -= part;
    }
  }
  return out;
}

std::vector<int16_t> elements(const Value& weights) {
  const auto* w = weights.as<int16_t>();
  return {w, w + weights.data.size() / sizeof(int16_t)};
}

// Splits [rows][columns] into [rows][terms][columns], whose sum over terms is the weight.
std::vector<int8_t> split(const std::vector<int16_t>& weights, size_t rows, size_t columns,
                          int terms) {
  std::vector<int8_t> out(weights.size() * static_cast<size_t>(terms));
  for (size_t r = 0; r < rows; ++r)
    for (size_t c = 0; c < columns; ++c) {
      int left = weights[r * columns + c];
      for (size_t t = 0; t < static_cast<size_t>(terms); ++t) {
        const int part = std::clamp(left, kInt8Min, kInt8Max);
        out[(r * static_cast<size_t>(terms) + t) * columns + c] = static_cast<int8_t>(part);
        left -= part;
      }
    }
  return out;
}

// Returns the sum of each channel's weights; `channel_of` maps an index of `weights` to its channel.
template <class F>
std::vector<int64_t> sums(const std::vector<int16_t>& weights, size_t channels, F channel_of) {
  std::vector<int64_t> sum(channels, 0);
  for (size_t i = 0; i < weights.size(); ++i) sum[channel_of(i)] += weights[i];
  return sum;
}

// Returns bias - zero_point * sum(w), modulo 2^32 for accumulators of 32 bits, else in 64 bits.
ValueId folded_bias(Graph* graph, ValueId bias, const std::vector<int64_t>& sum, int zero_point) {
  const Value source = graph->values[bias];
  if (source.type.dtype == DType::kInt64) {
    std::vector<int64_t> folded(sum.size());
    for (size_t o = 0; o < sum.size(); ++o)
      folded[o] = source.as<int64_t>()[o] - zero_point * sum[o];
    return graph->add_constant(source.name, DType::kInt64, source.type.shape, folded);
  }
  std::vector<int32_t> folded(sum.size());
  for (size_t o = 0; o < sum.size(); ++o)
    folded[o] =
        static_cast<int32_t>(static_cast<uint32_t>(source.as<int32_t>()[o]) -
                             static_cast<uint32_t>(zero_point) * static_cast<uint32_t>(sum[o]));
  return graph->add_constant(source.name, DType::kInt32, source.type.shape, folded);
}

// Packs int8 weights of `blocks` blocks of 16 channels as codes of `bits` each, less an offset of
// the channel where it needs one. Returns false where the weights of a channel, with the zeros of
// the packing, are too far apart.
bool narrow(const std::vector<int8_t>& packed, size_t blocks, int bits, Value* v) {
  constexpr size_t kLanes = kPackedChannels;
  const int half = 1 << (bits - 1);
  const auto lane_of = [&](size_t i) {
    return i / (packed.size() / blocks) * kLanes + i % kWeightBlock / 4;
  };
  std::vector<int8_t> lowest(blocks * kLanes, 0), highest(lowest), offset(lowest);
  for (size_t i = 0; i < packed.size(); ++i) {
    int8_t &lo = lowest[lane_of(i)], &hi = highest[lane_of(i)];
    lo = std::min(lo, packed[i]);
    hi = std::max(hi, packed[i]);
  }
  for (size_t lane = 0; lane < lowest.size(); ++lane) {
    if (highest[lane] - lowest[lane] >= 2 * half) return false;
    if (lowest[lane] < -half || highest[lane] >= half)
      offset[lane] = static_cast<int8_t>(lowest[lane] + half);
  }
  std::vector<uint8_t> codes(packed.size());
  for (size_t i = 0; i < packed.size(); ++i)
    codes[i] = static_cast<uint8_t>(packed[i] - offset[lane_of(i)]);
  v->type.dtype = bits == 4 ? DType::kInt4 : DType::kInt2;
  v->data.resize(packed.size() * static_cast<size_t>(bits) / 8);
  pack_codes(bits, codes.data(), codes.size(), v->data.data());
  if (std::any_of(offset.begin(), offset.end(), [](int8_t o) { return o != 0; }))
    v->weight_offset = std::move(offset);
  return true;
}

ValueId add_packed(Graph* graph, ValueId weights, const std::vector<int8_t>& packed,
                   fb::Packing packing, size_t blocks) {
  Value v;
  v.name = graph->values[weights].name;
  v.type = {DType::kInt8, graph->values[weights].type.shape};
  v.quantization = graph->values[weights].quantization;
  for (int32_t& zero_point : v.quantization.zero_point) zero_point = 0;  // subtracted already
  v.is_constant = true;
  v.packing = packing;
  const int bits = graph->values[weights].weight_bits;
  if (bits == 0 || !narrow(packed, blocks, bits, &v)) v.data.assign(packed.begin(), packed.end());
  return graph->add_value(std::move(v));
}

struct GemmPacked {
  std::vector<int8_t> bytes;
  size_t blocks;  // of 16 channels
  int terms, digits;
  bool pair_safe;
  std::vector<int32_t> weight_sum;  // [digits][groups * n]
};

// Packs weights [groups][n][taps][k]. Weights beyond int8 are split: beside INT16 activations into
// digits, else into terms.
GemmPacked pack_gemm(const std::vector<int16_t>& weights, bool is_int16, size_t groups, size_t n,
                     size_t taps, size_t k) {
  GemmPacked result{{}, groups * ((n + 15) / 16), 1, 1, true, {}};
  std::vector<std::vector<int8_t>> matrices;
  if (is_int16) {
    result.digits = digits_of(weights);
    matrices = split_digits(weights, result.digits);
    result.blocks *= matrices.size();
  } else {
    result.terms = terms_of(weights.data(), weights.size());
    matrices = {split(weights, groups * n, taps * k, result.terms)};
  }
  const auto terms = static_cast<size_t>(result.terms);
  const size_t group_bytes = gemm_packed_bytes(n, terms * taps, k);
  result.bytes.resize(matrices.size() * groups * group_bytes);
  int8_t* to = result.bytes.data();
  for (const std::vector<int8_t>& matrix : matrices) {
    for (size_t g = 0; g < groups; ++g, to += group_bytes) {
      const int8_t* source = matrix.data() + g * n * terms * taps * k;
      gemm_pack(source, n, terms * taps, k, to);
      result.pair_safe = result.pair_safe && gemm_pair_safe(source, n, terms * taps, k);
    }
    const size_t at = result.weight_sum.size();
    result.weight_sum.resize(at + groups * n, 0);
    for (size_t i = 0; i < matrix.size(); ++i)
      result.weight_sum[at + i / (terms * taps * k)] += matrix[i];
  }
  return result;
}

// Shapes were inferred from these tensors by the front end; a mismatch is a bug of ours.
Status check_constants(const Graph& graph, const Node& node, int rank, int out_dim) {
  const Value &w = graph.values[node.inputs[1]], &bias = graph.values[node.inputs[2]];
  const int64_t count = w.type.shape.elements();
  const DType bias_type = bias.type.dtype;
  if (w.is_constant && bias.is_constant && w.type.dtype == DType::kInt16 &&
      w.type.shape.rank() == rank && count > 0 &&
      w.data.size() == static_cast<size_t>(count) * sizeof(int16_t) &&
      (bias_type == DType::kInt32 || (bias_type == DType::kInt64 && is_int16(graph, node))) &&
      bias.data.size() == static_cast<size_t>(w.type.shape[out_dim]) * dtype_bytes(bias_type))
    return {};
  return error(Code::kInternal,
               "%s '%s': weights or bias do not follow the converter's conventions",
               fb::EnumNameOpOptions(node.options.type), node.name.c_str());
}

// Returns the zero point of a layer's input, of 8 or 16 bits.
template <class Options>
int input_zero_point(const Graph& graph, const Node& node, const Options& o) {
  return is_int16(graph, node) ? o.input_zero_point_16 : o.input_zero_point;
}

// Chooses how taps are laid out. ROW: one tap per kernel row, so that few input channels do not leave
// most of each tap's padding to 4 empty. Fewer taps also mean fewer row pointers, so ROW wins ties.
fb::TapLayout choose_tap_layout(const fb::Conv2DOptionsT& conv, size_t kw, size_t in) {
  const auto padded = [](size_t k) { return (k + 3) / 4 * 4; };
  const bool possible = conv.groups == 1 && conv.dilation_w == 1 && kw > 1 && in <= 4;
  return possible && padded(kw * in) <= kw * padded(in) ? fb::TapLayout::ROW : fb::TapLayout::PIXEL;
}

// Returns how many groups of k inputs and n outputs to merge into one, of a packed block's channels at
// most: the groups of one block take as many steps of a kernel, and as many bytes, as each of them alone,
// whose other channels are padding. Merging saves the work around few steps: 1 where there are many.
size_t groups_to_merge(size_t groups, size_t k, size_t n) {
  constexpr size_t kFew = 256;
  size_t merged = std::min(kPackedChannels / n, kFew / k);
  while (merged > 1 && groups % merged != 0) --merged;
  return std::max<size_t>(merged, 1);
}

// Merges groups: [out][taps][k] of groups of n outputs becomes [out][taps][merged * k]. `merged`
// groups become one, in which outputs have zeros for the inputs of the others.
std::vector<int16_t> merge_groups(const std::vector<int16_t>& weights, size_t merged, size_t n,
                                  size_t taps, size_t k) {
  std::vector<int16_t> y(weights.size() * merged, 0);
  for (size_t row = 0; row < weights.size() / k; ++row) {
    const size_t place = row / (taps * n) % merged;
    std::copy_n(weights.data() + row * k, k, y.data() + (row * merged + place) * k);
  }
  return y;
}

void merge_narrow_groups(Graph* graph, Node* node) {
  auto& conv = options<fb::Conv2DOptionsT>(*node);
  const Value& weights = graph->values[node->inputs[1]];
  const Shape& shape = weights.type.shape;
  const auto n = static_cast<size_t>(shape[0]) / conv.groups, k = static_cast<size_t>(shape[3]);
  const size_t merged = groups_to_merge(conv.groups, k, n);
  // The runtime proves sums of 16-bit activations by the number of their terms.
  if (merged == 1 || is_int16(*graph, *node)) return;
  Value blocks = weights;
  const auto with_zeros =
      merge_groups(elements(weights), merged, n, static_cast<size_t>(shape[1] * shape[2]), k);
  blocks.type.shape[3] = static_cast<int64_t>(merged * k);
  blocks.data.resize(with_zeros.size() * sizeof(int16_t));
  std::memcpy(blocks.data.data(), with_zeros.data(), blocks.data.size());
  node->inputs[1] = graph->add_value(std::move(blocks));
  conv.groups /= static_cast<uint32_t>(merged);
}

Status pack_conv(Graph* graph, Node* node) {
  QRT_TRY(check_constants(*graph, *node, 4, 0));
  auto& conv = options<fb::Conv2DOptionsT>(*node);
  const auto channels = static_cast<size_t>(graph->values[node->inputs[1]].type.shape[0]);
  if (conv.groups == 0 || channels % conv.groups != 0)
    return error(Code::kInternal, "Conv2D '%s': %u groups do not divide %zu channels",
                 node->name.c_str(), conv.groups, channels);
  merge_narrow_groups(graph, node);
  const Shape& shape = graph->values[node->inputs[1]].type.shape;
  const auto out = static_cast<size_t>(shape[0]), kh = static_cast<size_t>(shape[1]),
             kw = static_cast<size_t>(shape[2]), k = static_cast<size_t>(shape[3]);
  const std::vector<int16_t> weights = elements(graph->values[node->inputs[1]]);
  conv.tap_layout = choose_tap_layout(conv, kw, k);
  const bool row = conv.tap_layout == fb::TapLayout::ROW;
  const GemmPacked packed = pack_gemm(weights, is_int16(*graph, *node), conv.groups,
                                      out / conv.groups, row ? kh : kh * kw, row ? kw * k : k);
  conv.terms = static_cast<uint8_t>(packed.terms);
  conv.digits = static_cast<uint8_t>(packed.digits);
  conv.pair_safe = packed.pair_safe;
  conv.weight_sum = packed.weight_sum;
  const auto sum = sums(weights, out, [&](size_t i) { return i / (kh * kw * k); });
  node->inputs[1] =
      add_packed(graph, node->inputs[1], packed.bytes, fb::Packing::GEMM, packed.blocks);
  node->inputs[2] = folded_bias(graph, node->inputs[2], sum, input_zero_point(*graph, *node, conv));
  return {};
}

// The packed form of a layer, which others with its weights, bias and zero point share, as in the steps of an unrolled loop.
struct SharedLayer {
  ValueId weights, bias;
  GemmPacked packed;  // but for the bytes
};
// By weights, bias, whether activations are INT16, and zero point.
using SharedLayers = std::map<std::tuple<ValueId, ValueId, bool, int>, SharedLayer>;

Status pack_fully_connected(Graph* graph, Node* node, SharedLayers* layers) {
  QRT_TRY(check_constants(*graph, *node, 2, 0));
  const Quantization& input = graph->values[node->inputs[0]].quantization;
  if (input.zero_point.size() != 1)
    return error(Code::kInternal, "FullyConnected '%s': its input has %zu zero points, expected 1",
                 node->name.c_str(), input.zero_point.size());
  const int zero_point = input.zero_point[0];
  const bool is_wide = is_int16(*graph, *node);
  const auto [found, is_new] =
      layers->try_emplace({node->inputs[1], node->inputs[2], is_wide, zero_point});
  SharedLayer& layer = found->second;
  if (is_new) {
    const Value& weights_value = graph->values[node->inputs[1]];
    const auto n = static_cast<size_t>(weights_value.type.shape[0]);
    const auto k = static_cast<size_t>(weights_value.type.shape[1]);
    const std::vector<int16_t> weights = elements(weights_value);
    layer.packed = pack_gemm(weights, is_wide, 1, n, 1, k);
    const auto sum = sums(weights, n, [k](size_t i) { return i / k; });
    layer.weights = add_packed(graph, node->inputs[1], layer.packed.bytes, fb::Packing::GEMM,
                               layer.packed.blocks);
    layer.packed.bytes = {};
    layer.bias = folded_bias(graph, node->inputs[2], sum, zero_point);
  }
  auto& fc = options<fb::FullyConnectedOptionsT>(*node);
  fc.terms = static_cast<uint8_t>(layer.packed.terms);
  fc.digits = static_cast<uint8_t>(layer.packed.digits);
  fc.pair_safe = layer.packed.pair_safe;
  fc.weight_sum = layer.packed.weight_sum;
  node->inputs[1] = layer.weights;
  node->inputs[2] = layer.bias;
  return {};
}

// Makes a depthwise layer of int16 activations a convolution with a group for every input channel,
// whose weights may have several digits and whose filters may have any number of taps.
void rewrite_as_conv(Graph* graph, Node* node, const std::vector<int16_t>& weights) {
  const auto depthwise = options<fb::DepthwiseConv2DOptionsT>(*node);
  Value value = graph->values[node->inputs[1]];
  const int64_t kh = value.type.shape[0], kw = value.type.shape[1], out = value.type.shape[2];
  const auto taps = static_cast<size_t>(kh * kw), channels = static_cast<size_t>(out);
  for (size_t t = 0; t < taps; ++t)
    for (size_t o = 0; o < channels; ++o)
      value.as<int16_t>()[o * taps + t] = weights[t * channels + o];
  value.type.shape = {out, kh, kw, 1};
  if (value.quantization.axis >= 0) value.quantization.axis = 0;
  node->inputs[1] = graph->add_value(std::move(value));

  fb::Conv2DOptionsT conv;
  conv.stride_h = depthwise.stride_h;
  conv.stride_w = depthwise.stride_w;
  conv.dilation_h = depthwise.dilation_h;
  conv.dilation_w = depthwise.dilation_w;
  conv.pad_top = depthwise.pad_top;
  conv.pad_left = depthwise.pad_left;
  conv.pad_bottom = depthwise.pad_bottom;
  conv.pad_right = depthwise.pad_right;
  conv.groups = static_cast<uint32_t>(channels / depthwise.multiplier);
  conv.input_zero_point = depthwise.input_zero_point;
  conv.input_zero_point_16 = depthwise.input_zero_point_16;
  conv.requant = std::make_unique<fb::RequantT>(*depthwise.requant);
  node->options.Set(std::move(conv));
}

Status pack_depthwise(Graph* graph, Node* node) {
  QRT_TRY(check_constants(*graph, *node, 3, 2));
  auto& conv = options<fb::DepthwiseConv2DOptionsT>(*node);
  const Shape shape = graph->values[node->inputs[1]].type.shape;
  const auto kh = static_cast<size_t>(shape[0]), kw = static_cast<size_t>(shape[1]),
             channels = static_cast<size_t>(shape[2]);
  if (conv.multiplier == 0 || channels % conv.multiplier != 0)
    return error(Code::kInternal,
                 "DepthwiseConv2D '%s': multiplier %u does not divide %zu channels",
                 node->name.c_str(), conv.multiplier, channels);
  const std::vector<int16_t> weights = elements(graph->values[node->inputs[1]]);
  const int terms = terms_of(weights.data(), weights.size());
  if (is_int16(*graph, *node) && (terms > 1 || kh * kw > kMaxDepthwiseInt16)) {
    rewrite_as_conv(graph, node, weights);
    return pack_conv(graph, node);
  }
  const size_t term_bytes = depthwise_packed_bytes(channels, kh, kw);
  const auto count = static_cast<size_t>(terms);
  std::vector<int8_t> packed(count * term_bytes);
  const std::vector<int8_t> summands = split(weights, 1, weights.size(), terms);
  for (size_t t = 0; t < count; ++t)
    depthwise_pack(summands.data() + t * weights.size(), channels, kh, kw,
                   packed.data() + t * term_bytes);
  conv.terms = static_cast<uint8_t>(terms);
  const auto sum = sums(weights, channels, [&](size_t i) { return i % channels; });
  conv.weight_sum.assign(sum.begin(), sum.end());
  node->inputs[1] = add_packed(graph, node->inputs[1], packed, fb::Packing::DEPTHWISE,
                               count * ((channels + 15) / 16));
  node->inputs[2] = folded_bias(graph, node->inputs[2], sum, input_zero_point(*graph, *node, conv));
  return {};
}

}  // namespace

Status pack_weights(Graph* graph) {
  SharedLayers layers;
  for (Node& node : graph->nodes) {
    if (node.options.AsConv2D())
      QRT_TRY(pack_conv(graph, &node));
    else if (node.options.AsFullyConnected())
      QRT_TRY(pack_fully_connected(graph, &node, &layers));
    else if (node.options.AsDepthwiseConv2D())
      QRT_TRY(pack_depthwise(graph, &node));
  }
  return {};
}

}  // namespace qrt::convert
