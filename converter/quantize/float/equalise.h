// SPDX-License-Identifier: Apache-2.0
// Channels of a value that one layer writes and others read, made alike in size: the writer's weights
// are divided by a factor for each channel, the readers' multiplied by it, and one scale of integers
// fits all channels. The model's function stays the same, to float's rounding.
#ifndef QRT_CONVERTER_QUANTIZE_FLOAT_EQUALISE_H_
#define QRT_CONVERTER_QUANTIZE_FLOAT_EQUALISE_H_

#include <map>
#include <string>
#include <vector>

#include "converter/quantize/float/float_model.h"

namespace qrt::quantize {

struct EqualiseOptions {
  // Greatest magnitude of each channel by value, as samples show it. A value that is not listed counts
  // as large as the weights that make it.
  std::map<std::string, std::vector<float>> maxima;
  // A Clip of 0 to some limit between two layers becomes Relu, so that its channels can be scaled:
  // another function where the limit was reached.
  bool relax_limits = false;
};

// Layers (Conv, ConvTranspose, Gemm) with functions between them that only scale with their input
// (Relu, LeakyRelu, pools, linear Resize), depthwise layers among them; and the scale and shift of a
// LayerNormalization, as one node or as its parts, before MatMul and Gemm. *changed: number of values.
Status equalise(const EqualiseOptions& options, FloatModel* model, int* changed);

}  // namespace qrt::quantize

#endif  // QRT_CONVERTER_QUANTIZE_FLOAT_EQUALISE_H_
