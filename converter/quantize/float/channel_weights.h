// SPDX-License-Identifier: Apache-2.0
// A layer's weights by its input and output channels, whatever the order they are stored in.
#ifndef QRT_CONVERTER_QUANTIZE_FLOAT_CHANNEL_WEIGHTS_H_
#define QRT_CONVERTER_QUANTIZE_FLOAT_CHANNEL_WEIGHTS_H_

#include "converter/quantize/float/float_model.h"

namespace qrt::quantize {

class ChannelWeights {
 public:
  // Finds the weights of a layer. Returns false where it is no layer with constant weights, or has
  // a bias that is computed.
  static bool of(const FloatModel& model, const Node& node, ChannelWeights* weights);

  size_t inputs() const { return inputs_; }
  size_t outputs() const { return outputs_; }
  // Return the input and the output channel of the weight at `i`.
  size_t input_of(size_t i) const;
  size_t output_of(size_t i) const;

 private:
  enum class Order { kOutputsFirst, kInputsFirst };
  Order order_ = Order::kOutputsFirst;
  size_t groups_ = 1, inputs_ = 0, outputs_ = 0, inner_ = 1;
};

// Returns the greatest magnitude of the weights of each channel.
std::vector<double> output_maxima(const ChannelWeights& weights, const Tensor& w);
std::vector<double> input_maxima(const ChannelWeights& weights, const Tensor& w);

}  // namespace qrt::quantize

#endif  // QRT_CONVERTER_QUANTIZE_FLOAT_CHANNEL_WEIGHTS_H_
