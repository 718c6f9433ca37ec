// SPDX-License-Identifier: Apache-2.0
// The common part of convolutions, matrix products and transposed convolutions: constant weights and
// biases, and the proof that their sums stay within what the reference defines.
#ifndef QRT_CONVERTER_IMPORT_TFLITE_OPS_LINEAR_H_
#define QRT_CONVERTER_IMPORT_TFLITE_OPS_LINEAR_H_

#include <functional>
#include <memory>
#include <vector>

#include "converter/import/tflite/ops/handlers.h"

namespace qrt::convert::from_tflite {

// Weights and bias as the graph takes them, with what the requantisation needs.
struct Linear {
  Quant in, out;
  int64_t channels = 0;
  std::vector<int16_t> weights;  // less their zero point, as the file arranges them
  std::vector<int64_t> bias;
  // int16: accumulators of 64 bits, multiplied with 16; else of 32 bits.
  bool is_64 = false;
  std::vector<Multiplier> multipliers;
  std::unique_ptr<fb::RequantT> requant;
};

// Returns element i of a constant of UINT8, INT8, INT4 or INT2.
int element(const Tensor& t, size_t i);

enum class Layer { kConv, kFullyConnected };

// Sets zero points to 0, which the reference's convolutions of int16 assume, whatever the file says.
void ignore_zero_points(Linear* linear);

// Reads the weights, input 1. `channel_axis`: their dimension of output channels. Returns false
// where the operator was refused.
bool read_weights(Importer& importer, const Op& op, Layer layer, int channel_axis, Linear* linear);

// The biases that a layer takes beside int16 activations: int64 and int32, for TRANSPOSE_CONV int16 too.
// The reference adds 64 bits, or 32 where these say so.
struct BiasTypes {
  bool takes_int16 = false;
  bool int32_adds_32 = false;    // an int32 bias is added in 32 bits
  bool missing_adds_32 = false;  // without a bias sums have 32 bits
};

// Reads the bias, input 2: one int32 for each output channel, or none; with int16 activations as `types`
// says. Returns false where the operator was refused, or where *status says what is wrong with the file.
bool read_bias(Importer& importer, const Op& op, const BiasTypes& types, Linear* linear,
               Status* status);

// Checks that sums of `weights` weights in `taps` runs, whose output channel `channel_of` gives, stay
// within what the reference defines. Returns false where they may not; the operator was refused then.
bool prove_sums(Importer& importer, const Op& op, const Linear& linear, size_t weights, size_t taps,
                const std::function<size_t(size_t)>& channel_of);

// Sets `requant`. False: refused.
bool finish_linear(Importer& importer, const Op& op, tflite::ActivationFunctionType activation,
                   Linear* linear);

// Adds the weights and biases to the graph. `axis`: of the output channels, in `shape`.
ValueId add_weights(Importer& importer, const Op& op, const Linear& linear, const Shape& shape,
                    int axis);
ValueId add_bias(Importer& importer, const Op& op, const Linear& linear);

// Checks that input and weights have four dimensions and elements; else kInvalidModel.
Status check_image(const Importer& importer, const Op& op);

}  // namespace qrt::convert::from_tflite

#endif  // QRT_CONVERTER_IMPORT_TFLITE_OPS_LINEAR_H_
