// Layers on 16-bit activations, and on 8 bits where 32-bit accumulators are too coarse. ONNX
// Runtime computes these in float; the integer arithmetic here is qrt's own (converter/README.md,
// 16-bit activations): exact sums, one rounding half to even by a multiplier of up to 31 bits.
#ifndef QRT_CONVERTER_IMPORT_ONNX_ARITHMETIC_INT16_H_
#define QRT_CONVERTER_IMPORT_ONNX_ARITHMETIC_INT16_H_

#include <memory>
#include <optional>
#include <vector>

#include "converter/import/onnx/arithmetic/linear.h"

namespace qrt::convert::from_onnx {

// The greatest |x - zero_point| of an INT16 x.
int64_t wide_reach(int zero_point);

// 8- and 4-bit weights: what ONNX Runtime's integer operators take.
bool is_narrow_weight(int type);

// v = HE(v * factor), for |v| <= bound and a product with the multiplier below 2^62. Null: the
// factor is beyond what a stage can hold.
std::unique_ptr<fb::RequantStageT> wide_stage(const std::vector<double>& factor,
                                              const std::vector<int64_t>& bound);

// Requantisation by one such stage. Null: refused.
std::unique_ptr<fb::RequantT> wide_requant(Importer& importer, const NodeView& node,
                                           const std::vector<double>& factor,
                                           const std::vector<int64_t>& bound, const Quant& out,
                                           Limits limits);

// The bias of a layer as real numbers, zeros where there is none. REQUIRES: read_bias() took it.
std::vector<double> real_bias(const Importer& importer, const NodeView& node, int input,
                              int64_t channels);

// What it is made of: weights [out][in] less their zero points, `padded_in` of them as they are
// multiplied; one scale of x * w for each output, or one.
struct WideSource {
  std::vector<int32_t> weights;
  int64_t out = 0, padded_in = 0;
  std::vector<double> products;
  std::vector<double> bias;
  int x_zero_point = 0;  // stored
};

// alpha * x_scale * w_scale[o] for each output, or one value where w has one scale.
std::vector<double> wide_products(float alpha, const Quant& x, const Quant& w);

// Quantised to `out`. Nothing: refused.
std::optional<LayerConstants> make_wide_layer(Importer& importer, const NodeView& node,
                                              const WideSource& source, const Quant& out,
                                              Limits limits);

// a + b, a - b or a * b of quantised tensors, one of them or the output of 16 bits. The operands
// are INT16 values with the broadcast `shape`. *result stays kNoValue where it was refused.
struct WideOperand {
  ValueId value = kNoValue;
  Quant quant;
};
Status emit_wide_sum(Importer& importer, const NodeView& node, const std::string& ops,
                     const WideOperand& a, const WideOperand& b, bool subtract, const Shape& shape,
                     const Quant& out, Limits limits, ValueId* result);
Status emit_wide_product(Importer& importer, const NodeView& node, const std::string& ops,
                         const WideOperand& a, const WideOperand& b, const Shape& shape,
                         const Quant& out, Limits limits, ValueId* result);

// x * factor + addend, or x where it is positive and x * slope elsewhere, each factor, addend and
// slope along `axis` of x, an INT16 value. *result stays kNoValue where it was refused.
struct WideAffine {
  std::vector<double> factor, addend;
};
Status emit_wide_affine(Importer& importer, const NodeView& node, const std::string& ops,
                        const WideOperand& x, int axis, const WideAffine& f, const Quant& out,
                        Limits limits, ValueId* result);
Status emit_wide_prelu(Importer& importer, const NodeView& node, const std::string& ops,
                       const WideOperand& x, int axis, const std::vector<float>& slopes,
                       const Quant& out, Limits limits, ValueId* result);

// The output of a layer on INT16 as the type of `out`.
ValueId as_output(Importer& importer, const NodeView& node, ValueId y, const Quant& out);

}  // namespace qrt::convert::from_onnx

#endif  // QRT_CONVERTER_IMPORT_ONNX_ARITHMETIC_INT16_H_
