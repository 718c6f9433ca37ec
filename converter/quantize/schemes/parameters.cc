// SPDX-License-Identifier: Apache-2.0
#include "converter/quantize/schemes/parameters.h"

#include <algorithm>
#include <cmath>

namespace qrt::quantize {
namespace {

// The fraction of the whole layer's greatest weight below which a channel's weights are rounding of
// a training that let the channel die.
constexpr float kDeadWeight = 1e-6f;

// Returns the code of a weight, in a form that compilers make vectors of: limits are whole, so that it
// is one whether a quotient is rounded or limited first, and adding 1.5 * 2^23 rounds half to even.
float code_of(float w, float scale, float most) {
  constexpr float kRound = 0x1.8p23f;
  const float q = w / scale;
  const float above = q < -most ? -most : q;
  return ((above > most ? most : above) + kRound) - kRound;
}

// Returns the sum of squares of the errors that rounding and clipping give weights, in four sums;
// the sum of a part of them where that is already `enough`.
double squares_of_errors(const std::vector<float>& weights, float scale, float most,
                         double enough) {
  constexpr size_t kLanes = 4, kAtOnce = 64;
  double sum[kLanes] = {};
  const auto total = [&] { return (sum[0] + sum[1]) + (sum[2] + sum[3]); };
  const auto add = [&](size_t lane, float coded, float w) {
    const double d = static_cast<double>(coded) - static_cast<double>(w);
    sum[lane] += d * d;
  };
  for (size_t first = 0; first < weights.size() && total() < enough; first += kAtOnce) {
    const float* w = weights.data() + first;
    const size_t n = std::min(kAtOnce, weights.size() - first);
    float coded[kAtOnce];
    for (size_t i = 0; i < n; ++i) coded[i] = code_of(w[i], scale, most) * scale;
    size_t i = 0;
    for (; i + kLanes <= n; i += kLanes)
      for (size_t lane = 0; lane < kLanes; ++lane) add(lane, coded[i + lane], w[i + lane]);
    for (; i < n; ++i) add(0, coded[i], w[i]);
  }
  return total();
}

// Returns the scale, at most greatest / most, whose rounding and clipping have the least squares.
float least_squares_scale(const std::vector<float>& weights, const Scheme& scheme, float most) {
  float greatest = 0;
  for (const float w : weights) greatest = std::max(greatest, std::fabs(w));
  float best = allowed_scale(scheme, greatest / most);
  double least = HUGE_VAL;
  // A power of two has few neighbours; other scales shrink by hundredths.
  const int tries = scheme.whole_weights ? 1 : scheme.power_of_two ? 3 : 26;
  for (int i = 0; i < tries; ++i) {
    const float factor =
        scheme.power_of_two ? std::ldexp(1.0f, -i) : 1.0f - 0.01f * static_cast<float>(i);
    const float scale = allowed_scale(scheme, greatest / most * factor);
    const double error = squares_of_errors(weights, scale, most, least);
    if (error < least) {
      least = error;
      best = scale;
    }
  }
  return best;
}

// Enlarges scales to whole multiples of one unit: CVM brings channels to a common scale by integer factors.
void make_multiples(std::vector<float>* scales) {
  if (scales->size() < 2) return;
  const float unit =
      *std::max_element(scales->begin(), scales->end()) / static_cast<float>(kMostFactor);
  const auto most = static_cast<float>(kMostFactor);
  for (float& s : *scales) s = std::clamp(std::ceil(s / unit), 1.0f, most) * unit;
}

}  // namespace

ChannelOrder channel_order(const Tensor& weights, int axis) {
  ChannelOrder order;
  if (axis < 0) {
    order.inner = std::max<size_t>(static_cast<size_t>(weights.size()), 1);
    return order;
  }
  const auto at = static_cast<size_t>(axis);
  order.channels = static_cast<size_t>(weights.shape[at]);
  for (size_t d = at + 1; d < weights.shape.size(); ++d)
    order.inner *= static_cast<size_t>(weights.shape[d]);
  return order;
}

std::vector<float> real_bias(const FloatModel& model, const Layer& layer) {
  return layer.bias.empty() ? std::vector<float>() : model.constant(layer.bias)->reals;
}

std::vector<float> weight_scales(const Scheme& scheme, const Tensor& weights, int axis,
                                 const std::vector<float>& bias, float input_scale) {
  const ChannelOrder order = channel_order(weights, scheme.per_channel ? axis : -1);
  const auto most = static_cast<float>((1 << (scheme.weight_bits - 1)) - 1);
  std::vector<std::vector<float>> by_channel(order.channels);
  float greatest = 0;
  for (size_t i = 0; i < weights.reals.size(); ++i) {
    by_channel[order.of(i)].push_back(weights.reals[i]);
    greatest = std::max(greatest, std::fabs(weights.reals[i]));
  }
  std::vector<float> scales, living;
  for (const auto& channel : by_channel) {
    const bool lives = std::any_of(channel.begin(), channel.end(),
                                   [&](float w) { return std::fabs(w) > kDeadWeight * greatest; });
    scales.push_back(lives ? least_squares_scale(channel, scheme, most) : 0.0f);
    if (lives) living.push_back(scales.back());
  }
  std::sort(living.begin(), living.end());
  const float median = living.empty() ? 1.0f : living[living.size() / 2];
  for (size_t c = 0; c < scales.size(); ++c) {
    if (scales[c] == 0.0f) scales[c] = allowed_scale(scheme, median);
    for (size_t b = 0; b < bias.size(); ++b) {
      if (scales.size() > 1 && b != c) continue;
      const double needed =
          std::fabs(static_cast<double>(bias[b])) / (kMostBias * static_cast<double>(input_scale));
      if (needed > static_cast<double>(scales[c]))
        scales[c] = allowed_scale(scheme, static_cast<float>(needed));
    }
  }
  if (scheme.is_cvm) make_multiples(&scales);
  return scales;
}

std::vector<int16_t> weight_codes(const Tensor& weights, int axis, int bits,
                                  const std::vector<float>& scale) {
  const ChannelOrder order = channel_order(weights, scale.size() > 1 ? axis : -1);
  const auto most = static_cast<float>((1 << (bits - 1)) - 1);
  std::vector<int16_t> codes(weights.reals.size());
  for (size_t i = 0; i < codes.size(); ++i)
    codes[i] = static_cast<int16_t>(code_of(weights.reals[i], scale[order.of(i)], most));
  return codes;
}

Tensor coded_weights(const Tensor& weights, int axis, const LayerParameters& layer) {
  const ChannelOrder order = channel_order(weights, layer.scale.size() > 1 ? axis : -1);
  Tensor result = weights;
  for (size_t i = 0; i < result.reals.size(); ++i)
    result.reals[i] = static_cast<float>(layer.codes[i]) * layer.scale[order.of(i)];
  return result;
}

void quantise_layer(const FloatModel& model, const Layer& layer, const Scheme& scheme,
                    const Coding& input, Parameters* parameters) {
  LayerParameters& p = parameters->layers[layer.node];
  const Tensor& weights = *model.constant(layer.weights);
  if (p.bias.empty()) p.bias = real_bias(model, layer);
  if (p.bits == 0) p.bits = scheme.weight_bits;
  Scheme own = scheme;
  own.weight_bits = p.bits;
  p.scale = weight_scales(own, weights, layer.axis, p.bias, input.scale);
  p.codes = weight_codes(weights, layer.axis, p.bits, p.scale);
}

void quantise_layers(const FloatModel& model, const Placement& placement, const Scheme& scheme,
                     Parameters* parameters) {
  for (const Layer& layer : placement.layers)
    if (placement.is_coded(layer.input))
      quantise_layer(model, layer, scheme, parameters->coding(placement, layer.input), parameters);
}

std::vector<int32_t> bias_codes(const LayerParameters& layer, float input_scale) {
  std::vector<int32_t> codes;
  for (size_t c = 0; c < layer.bias.size(); ++c) {
    const float unit = input_scale * layer.scale[layer.scale.size() > 1 ? c : 0];
    const double q = std::nearbyint(static_cast<double>(layer.bias[c]) / static_cast<double>(unit));
    // Correction may have moved a bias behind the choice of the scales.
    codes.push_back(static_cast<int32_t>(std::clamp(q, -2 * kMostBias + 1, 2 * kMostBias - 1)));
  }
  return codes;
}

}  // namespace qrt::quantize
