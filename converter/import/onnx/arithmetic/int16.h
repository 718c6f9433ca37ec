// SPDX-License-Identifier: Apache-2.0
// Layers on 16-bit activations, and on 8 bits where 32-bit accumulators are too coarse. ONNX
// Runtime computes these in float; the integer arithmetic here is qrt's own (converter/import/onnx/README.md,
// 16-bit activations): exact sums, one rounding half to even by a multiplier of up to 31 bits.
#ifndef QRT_CONVERTER_IMPORT_ONNX_ARITHMETIC_INT16_H_
#define QRT_CONVERTER_IMPORT_ONNX_ARITHMETIC_INT16_H_

#include <memory>
#include <optional>
#include <vector>

#include "converter/import/onnx/arithmetic/linear.h"

namespace qrt::convert::from_onnx {

// Returns whether weights of this type have 8 bits or less, as ONNX Runtime's integer operators take them.
bool is_byte_weight(int type);

// Returns the requantisation by `factor` in one stage, with the closest multipliers
// (closest_stage(), common/fixed_point.h). Null where a factor has none: the node was refused.
std::unique_ptr<fb::RequantT> int16_requant(Importer& importer, const NodeView& node,
                                            const std::vector<double>& factor,
                                            const std::vector<int64_t>& bound, const Quant& out,
                                            Limits limits);

// Returns the bias of a layer as real numbers, zeros where there is none. REQUIRES: read_bias() took it.
std::vector<double> real_bias(const Importer& importer, const NodeView& node, int input,
                              int64_t channels);

// The operands of an INT16 layer: weights [out][in] less their zero points, `padded_in` of them as
// they are multiplied; one scale of x * w for each output, or one.
struct Int16Source {
  std::vector<int32_t> weights;
  int64_t out = 0, padded_in = 0;
  std::vector<double> products;
  std::vector<double> bias;
  int x_zero_point = 0;  // stored
};

// Returns alpha * x_scale * w_scale[o] for each output, or one value where w has one scale.
std::vector<double> int16_products(float alpha, const Quant& x, const Quant& w);

// Quantised to `out`. Nothing: refused.
std::optional<LayerConstants> make_int16_layer(Importer& importer, const NodeView& node,
                                               const Int16Source& source, const Quant& out,
                                               Limits limits);

// Makes of `layer`, which make_int16_layer() made of `source`, one on bytes: first sums of 32 bits,
// then the bias in 256ths of their unit and the same requantisation. It gives the same bits at several
// times the speed. Nothing where the sums do not fit. REQUIRES: x and the weights have 8 bits.
std::optional<LayerConstants> as_byte_sums(Importer& importer, const Int16Source& source,
                                           const LayerConstants& layer);

// a + b, a - b or a * b of quantised tensors, one of them or the output of 16 bits. The operands
// are INT16 values with the broadcast `shape`. *result stays kNoValue where it was refused.
struct Int16Operand {
  ValueId value = kNoValue;
  Quant quant;
};
Status emit_int16_sum(Importer& importer, const NodeView& node, const std::string& ops,
                      const Int16Operand& a, const Int16Operand& b, bool subtract,
                      const Shape& shape, const Quant& out, Limits limits, ValueId* result);
Status emit_int16_product(Importer& importer, const NodeView& node, const std::string& ops,
                          const Int16Operand& a, const Int16Operand& b, const Shape& shape,
                          const Quant& out, Limits limits, ValueId* result);

// x * factor + addend, or x where it is positive and x * slope elsewhere, each factor, addend and
// slope along `axis` of x, an INT16 value. *result stays kNoValue where it was refused.
struct Int16Affine {
  std::vector<double> factor, addend;
};
Status emit_int16_affine(Importer& importer, const NodeView& node, const std::string& ops,
                         const Int16Operand& x, int axis, const Int16Affine& f, const Quant& out,
                         Limits limits, ValueId* result);
Status emit_int16_prelu(Importer& importer, const NodeView& node, const std::string& ops,
                        const Int16Operand& x, int axis, const std::vector<float>& slopes,
                        const Quant& out, Limits limits, ValueId* result);

// Returns the output of a layer on INT16 as the type of `out`.
ValueId as_output(Importer& importer, const NodeView& node, ValueId y, const Quant& out);

}  // namespace qrt::convert::from_onnx

#endif  // QRT_CONVERTER_IMPORT_ONNX_ARITHMETIC_INT16_H_
