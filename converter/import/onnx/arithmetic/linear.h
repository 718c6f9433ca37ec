// SPDX-License-Identifier: Apache-2.0
// The common part of convolutions and matrix products: constant weights, biases and the scales of
// their requantisation.
#ifndef QRT_CONVERTER_IMPORT_ONNX_ARITHMETIC_LINEAR_H_
#define QRT_CONVERTER_IMPORT_ONNX_ARITHMETIC_LINEAR_H_

#include <memory>
#include <optional>
#include <vector>

#include "converter/import/common/fixed_point.h"
#include "converter/import/common/layer_constants.h"
#include "converter/import/onnx/importer.h"

namespace qrt::convert::from_onnx {

// Returns fl32(fl32(alpha * x_scale) * w_scale[oc]) for each output channel, or one value where w
// has one scale. alpha 1 is exact.
std::vector<float> product_scales(float alpha, float x_scale, const Quant& w);

// Returns a requantisation to 8 bits with scale[i] = fl32(products[i] / y_scale). Null where a
// scale is not normal and positive; the node was refused.
std::unique_ptr<fb::RequantT> byte_requant(Importer& importer, const NodeView& node,
                                           const std::vector<float>& products, const Quant& out,
                                           Limits limits);

// Returns whether a scale is a normal positive number.
bool is_usable_scale(float scale);

// Returns the constants of a layer of 8-bit activations.
LayerConstants byte_constants(Importer& importer, std::vector<int16_t> weights,
                              const std::vector<int32_t>& bias,
                              std::unique_ptr<fb::RequantT> requant);

// Emits fl32(y + values) for floats y; the constant of `values`, of shape `shape`, broadcasts to y.
ValueId add_float_constant(Importer& importer, const NodeView& node, ValueId y, const Shape& shape,
                           const std::vector<float>& values);
// Adds a bias that has one value for each index of `axis`.
ValueId add_float_bias(Importer& importer, const NodeView& node, ValueId y,
                       const std::vector<double>& bias, int axis);
// Quantises floats to 8-bit integers within the limits.
ValueId quantize_within(Importer& importer, const NodeView& node, ValueId y, const Quant& out,
                        Limits limits);

// Refuses input i as weights, since it is no constant that is quantised per tensor or per axis.
Status refuse_weights(Importer& importer, const NodeView& node, int i);

// The treatment of an integer bias with another scale than that of x * w.
enum class BiasScale {
  kIgnored,  // used as it is
  // Rounded to integers of x * w, as a float bias is, unless the scales are about the same.
  kRounded,
};

// Reads the bias as ONNX Runtime takes it: integers behind a DequantizeLinear, or float constants,
// which are quantised with `products`. *bias gets one value for each of `channels`; a bias of one
// element is repeated. *bias stays empty where the bias is refused.
Status read_bias(Importer& importer, const NodeView& node, int input, int64_t channels,
                 const std::vector<float>& products, BiasScale scale,
                 std::optional<std::vector<int32_t>>* bias);

// Sets *leads to whether one reader of the node's output, not counting the graph, leads to a QuantizeLinear:
// only Relus and Clips and then data movement stand between the two, and nodes that change nothing.
Status leads_to_quantize(Importer& importer, const NodeView& node, bool* leads);

// Returns whether ONNX Runtime has products of integers of these types: int8 activations need int8
// weights, and weights of fewer bits are multiplied as floats.
bool has_integer_product(const Quant& x, const Quant& w);

// Returns whether an integer bias has other scales than these.
bool has_other_scale(const Tensor& bias, const std::vector<float>& products);

// Returns a bias in integers of x * w.
std::vector<int32_t> rounded_bias(const std::vector<double>& real,
                                  const std::vector<float>& products);

// Returns the real numbers that integers of x * w stand for.
std::vector<double> bias_of_integers(const std::vector<int32_t>& bias,
                                     const std::vector<float>& products);

// Returns whether read_bias() with BiasScale::kRounded rounds this bias, since its scales differ
// from `products`.
bool is_rounded(const Tensor& bias, const std::vector<float>& products);

// Returns element(o, i) of a weight matrix [out, in] less the zero point of row o, as the INT16
// constant that FullyConnected takes (T int16_t: 8-bit weights); `offset` finds the source element.
template <class T = int16_t, class Offset>
std::vector<T> centred_weights(const Constant& w, const Quant& quant, int64_t out, int64_t in,
                               const Offset& offset) {
  std::vector<T> centred(static_cast<size_t>(out * in));
  size_t at = 0;
  for (int64_t o = 0; o < out; ++o) {
    const int32_t zero = quant.zero_point[quant.per_tensor() ? 0 : static_cast<size_t>(o)];
    for (int64_t i = 0; i < in; ++i) centred[at++] = static_cast<T>(w.integer(offset(o, i)) - zero);
  }
  return centred;
}

// Returns quantisation of the centred weights, for tools: zero points are 0.
Quantization centred_quantization(const Quant& w, int axis);

}  // namespace qrt::convert::from_onnx

#endif  // QRT_CONVERTER_IMPORT_ONNX_ARITHMETIC_LINEAR_H_
