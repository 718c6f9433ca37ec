// SPDX-License-Identifier: Apache-2.0
// Decides which values of a model get a QuantizeLinear and a DequantizeLinear behind them, so that
// the converter (import/onnx) gives every operator its integer form, if it has one. Values between
// operators that the converter merges to one stay as they are: limits behind layers, functions of
// one tensor.
#ifndef QRT_CONVERTER_QUANTIZE_SCHEMES_PLACEMENT_H_
#define QRT_CONVERTER_QUANTIZE_SCHEMES_PLACEMENT_H_

#include <map>
#include <set>
#include <string>
#include <vector>

#include "converter/quantize/float/float_model.h"
#include "converter/quantize/schemes/scheme.h"

namespace qrt::quantize {

// A product with constant weights: Conv, ConvTranspose, Gemm, MatMul.
struct Layer {
  size_t node = 0;
  std::string input;    // the value multiplied
  std::string weights;  // the constant's name
  int axis = -1;        // axis of the weights with the output channels; -1: per tensor only
  // The bias of the layer: input 2 of the node, or for a MatMul the constant of the Add behind it.
  size_t bias_node = 0;
  int bias_input = -1;  // input of bias_node that is the bias; -1: it can have none
  std::string bias;     // the constant's name; "" where there is none yet
  std::string output;   // output of bias_node: the sum with the bias
  int channel_dim = 1;  // dimension of the output with its channels
};

struct Placement {
  // Quantised values, each mapped to the value whose coding it shares: itself, or, among values
  // that differ by data movement only, the one that contains all elements of the others.
  std::map<std::string, std::string> coded;
  // Coded values that the model itself dequantises: their codings are its own, and nothing is written for them.
  std::map<std::string, Coding> kept;
  std::set<std::string> constants;  // constants that are quantised, too, since they are operands
                                    // that no table can hold
  std::vector<Layer> layers;
  // Node that holds a layer's weights or bias -> index of the layer.
  std::map<size_t, size_t> layers_by_node;
  std::set<size_t> float_nodes;  // computed in float, between quantised tensors

  bool is_coded(const std::string& value) const { return coded.count(value) != 0; }
  // Returns the value whose coding `value` has: follows `coded` until a value maps to itself, as
  // chains can arise before settle_roots(). REQUIRES: is_coded(value).
  std::string root(const std::string& value);
  // Sets coded[value] of all values to their root.
  void settle_roots();
  // Returns the layer whose weights or bias the node holds, or null.
  const Layer* layer_at(size_t node) const;
  // Returns the layer whose weights the node holds, or null.
  const Layer* layer_of(size_t node) const;
};

// Decides where quantisation is put. `forced`: values to quantise in any case, as the converter
// refuses their readers otherwise. `excluded`: nodes that stay in float. REQUIRES: the model is
// simplified.
Placement place(const FloatModel& model, const std::set<std::string>& forced,
                const std::set<size_t>& excluded = {});

}  // namespace qrt::quantize

#endif  // QRT_CONVERTER_QUANTIZE_SCHEMES_PLACEMENT_H_
