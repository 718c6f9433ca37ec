// SPDX-License-Identifier: Apache-2.0
// Products of float32 activations with weights of few bits, as LiteRT's portable reference kernels compute TFLite's dynamic
// range (kernels/hybrid.h): how their weights are read, and the operators that they become.
#ifndef QRT_CONVERTER_IMPORT_TFLITE_FLOATS_HYBRID_H_
#define QRT_CONVERTER_IMPORT_TFLITE_FLOATS_HYBRID_H_

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "converter/import/tflite/floats/float_op.h"

namespace qrt::convert::from_tflite {

// A layer with integer weights [out, ...], each output's side by side.
struct HybridLayer {
  int64_t channels = 0;
  std::vector<int16_t> weights;
  std::vector<float> scale;   // one for each channel
  std::vector<float> addend;  // likewise
  bool asymmetric = false;
  std::string name;
  int weight_bits = 0;  // 4 or 2 where the file stores so few, else 0
};

// Where the weights of an output stand in the file: side by side, or with channels_last along the last dimension.
struct WeightOrder {
  int axis;  // of the channels
  size_t channels;
  bool channels_last;

  size_t channel_of(size_t i, size_t per_channel) const {
    return channels_last ? i % channels : i / per_channel;
  }
  size_t place(size_t i, size_t per_channel) const {
    return channels_last ? i % channels * per_channel + i / channels : i;
  }
};

// Refuses an operator because of its weights, input i. Returns false.
bool refuse_weights(Importer& importer, const Op& op, int i, const std::string& rule,
                    const char* remedy);
// Reads the weights, input i, whose zero points the reference ignores. Returns false where the operator was refused.
bool read_hybrid_weights(Importer& importer, const Op& op, int i, const WeightOrder& order,
                         HybridLayer* layer);
// Reads a bias, input i, behind the addends that the layer has; without one every channel gets `absent`. Returns false where the
// operator was refused.
bool read_addend(FloatOp* f, int i, int64_t channels, float absent, HybridLayer* layer);

// The constants of a layer in the graph, for any number of products.
using HybridConstants = std::array<ValueId, 4>;

HybridConstants add_constants(FloatOp* f, const HybridLayer& layer, const Shape& weights);
// Returns the inputs of a product whose scales only a run knows: x, quantised for each index of dimension 0, and the constants.
std::vector<ValueId> dynamic_inputs(FloatOp* f, const HybridLayer& layer,
                                    const HybridConstants& constants, ValueId x);
std::unique_ptr<fb::FloatStoreT> float_store(bool weights_first, float lo, float hi);
// Multiplies rows x [rows, in] by the weights [out, in].
ValueId hybrid_rows(FloatOp* f, const HybridLayer& layer, const HybridConstants& constants,
                    ValueId x, std::unique_ptr<fb::FloatStoreT> store);

// floats/blocks.cc: multiplies x [..., in] by weights in blocks, input 1 [out, in], and adds the bias, input 2: nbits-seq. *y stays
// kNoValue where the operator was refused.
Status multiply_by_blocks(FloatOp* f, ValueId x, ValueId* y);

}  // namespace qrt::convert::from_tflite

#endif  // QRT_CONVERTER_IMPORT_TFLITE_FLOATS_HYBRID_H_
