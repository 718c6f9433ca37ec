// SPDX-License-Identifier: Apache-2.0
// The numbers of a quantised model: codings of its activations, integers of its weights, biases.
#ifndef QRT_CONVERTER_QUANTIZE_SCHEMES_PARAMETERS_H_
#define QRT_CONVERTER_QUANTIZE_SCHEMES_PARAMETERS_H_

#include <map>
#include <string>
#include <vector>

#include "converter/quantize/float/float_model.h"
#include "converter/quantize/schemes/placement.h"
#include "converter/quantize/schemes/scheme.h"

namespace qrt::quantize {

// No bias, as an integer of input scale * weight scale, is beyond this.
constexpr double kMostBias = 0x1p30;

// Scales of the scheme cvm are multiples of a part of a layer's greatest: weights of channels with
// smaller ones than one of so many parts of the greatest are coarser than they could be.
constexpr int32_t kMostFactor = 511;

struct LayerParameters {
  int bits = 0;                // size of the weights' codes; 0: not known yet
  std::vector<float> scale;    // the weights': one, or one for each output channel
  std::vector<int16_t> codes;  // in the order of the weights
  std::vector<float> bias;     // real, one for each output channel; empty: none
};

struct Parameters {
  std::map<std::string, Coding> codings;     // value -> the coding that it and others share
  std::map<size_t, LayerParameters> layers;  // node -> parameters of its layer
  std::map<std::string, Coding> constants;   // operands that are quantised

  // REQUIRES: the value is coded.
  const Coding& coding(const Placement& placement, const std::string& value) const {
    return codings.at(placement.coded.at(value));
  }
};

// The order of the elements of a layer's weights: element i belongs to channel i / inner % channels.
struct ChannelOrder {
  size_t channels = 1, inner = 1;
  size_t of(size_t element) const { return element / inner % channels; }
};
ChannelOrder channel_order(const Tensor& weights, int axis);

// Returns the real bias of a layer, empty where it has none.
std::vector<float> real_bias(const FloatModel& model, const Layer& layer);

// Scales of a layer's weights: those with the least sum of squares, or more where a bias would not
// fit; of channels without weights the layer's median.
std::vector<float> weight_scales(const Scheme& scheme, const Tensor& weights, int axis,
                                 const std::vector<float>& bias, float input_scale);
// Each weight's nearest integer.
std::vector<int16_t> weight_codes(const Tensor& weights, int axis, int bits,
                                  const std::vector<float>& scale);
// Returns the reals that the integers stand for.
Tensor coded_weights(const Tensor& weights, int axis, const LayerParameters& layer);

// Quantises scales, weights and biases of all layers for the codings in *parameters. Weights that
// have no number of bits yet get the scheme's.
void quantise_layers(const FloatModel& model, const Placement& placement, const Scheme& scheme,
                     Parameters* parameters);
void quantise_layer(const FloatModel& model, const Layer& layer, const Scheme& scheme,
                    const Coding& input, Parameters* parameters);

// Returns the integers of a bias; input_scale * weight scale is their unit.
std::vector<int32_t> bias_codes(const LayerParameters& layer, float input_scale);

}  // namespace qrt::quantize

#endif  // QRT_CONVERTER_QUANTIZE_SCHEMES_PARAMETERS_H_
