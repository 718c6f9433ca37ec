// SPDX-License-Identifier: Apache-2.0
// Products of an activation and constant weights (Gemm, MatMul and similar operators): what ONNX
// Runtime makes of their bias, and the FullyConnected with equal results.
#ifndef QRT_CONVERTER_IMPORT_ONNX_ARITHMETIC_PRODUCT_H_
#define QRT_CONVERTER_IMPORT_ONNX_ARITHMETIC_PRODUCT_H_

#include <memory>
#include <string>
#include <vector>

#include "converter/import/onnx/arithmetic/linear.h"
#include "converter/import/onnx/importer.h"

namespace qrt::convert::from_onnx {

struct Product {
  ValueId x = kNoValue;
  // INT32 value that a run computes; x_quant's zero point is 0 then.
  ValueId x_zero_point = kNoValue;
  Shape x_shape;  // what FullyConnected reads, [..., in]: the shape of x, or of a reshape or
                  // transpose of x
  bool transpose_x = false;
  Quant x_quant, w_quant;
  ConstantPtr weights;
  bool out_first = false;  // weights are [out, in], else [in, out]
  int64_t in = 0, out = 0;
  float alpha = 1.0f, beta = 1.0f;
  std::vector<float> products;  // alpha * x_scale * w_scale
  std::vector<int32_t> bias;
  std::vector<double> real_bias;
  // The bias as ONNX Runtime adds it to floats, without `beta`, and its shape, which broadcasts to
  // the result's. Empty for a product without bias.
  std::vector<float> addends;
  Shape addends_shape;
  // ONNX Runtime has no product of integers for these operands: it multiplies their floats.
  bool multiplies_floats = false;
  // ONNX Runtime's treatment of a bias whose scale is not x_scale * w_scale. kRounded: rounds it to
  // integers of that scale. kTaken: takes its integers for such if the product is one of integers,
  // else as kInSum. kInSum: multiplies floats and adds the bias within their sum. kAdded: adds it
  // to the accumulator converted to float.
  enum class FloatBias { kNone, kRounded, kTaken, kInSum, kAdded } float_bias = FloatBias::kNone;
  bool has_limit = false;  // a Relu or Clip reads the result, whether it changes values or not
  Shape result;
};

// Marks the product as one that ONNX Runtime multiplies as floats, with its bias in their sum. (Where
// 16 bits are involved, integers approximate that sum: their bias is rounded here.)
void add_in_sum(Product* p);

// Reads the bias as floats into p->addends.
void read_addends(const Tensor& bias, Product* p);

// Returns whether ONNX Runtime has a product of integers for these operands, inputs 0 and 1 of
// `product`. Its integer Gemm requires zero points.
bool multiplies_integers(const Importer& importer, const NodeView& product, bool is_gemm,
                         const Product& p);

// Reads the bias of this node as ONNX Runtime takes it, for the product that `p` describes: Gemm,
// or Add behind the MatMul `product`.
Status read_float_bias(Importer& importer, const NodeView& node, const NodeView& product,
                       const Tensor& bias, Product* p);

// Emits the int32 accumulators, which include the bias.
ValueId emit_sums(Importer& importer, const NodeView& node, const std::string& ops,
                  const Product& p);
// Emits the product quantised to `out`; *result stays kNoValue where it is refused.
Status emit_product(Importer& importer, const NodeView& node, const std::string& ops, Product p,
                    const Quant& out, Limits limits, ValueId* result);
// Emits the product as floats.
Status emit_product_float(Importer& importer, const NodeView& node, const std::string& ops,
                          const Product& p, ValueId* result);

// Defers the product, which is output 0 of `node`, until its quantisation is known. `owner` is the
// node that is emitted and reported.
std::shared_ptr<Pending> defer_product(Importer& importer, const NodeView& node,
                                       const NodeView& owner, Product p);

}  // namespace qrt::convert::from_onnx

#endif  // QRT_CONVERTER_IMPORT_ONNX_ARITHMETIC_PRODUCT_H_
