// Products of an activation and constant weights (Gemm, MatMul and their kin): what ONNX Runtime
// makes of their bias, and the FullyConnected that has its numbers.
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
  ValueId x_zero_point = kNoValue;  // of the run; x_quant's is 0 then
  Shape x_shape;  // what FullyConnected reads, [..., in]; a reshape or transpose of x where it
                  // differs
  bool transpose_x = false;
  Quant x_quant, w_quant;
  ConstantPtr weights;
  bool out_first = false;  // weights are [out, in], else [in, out]
  int64_t in = 0, out = 0;
  float alpha = 1.0f;
  std::vector<float> products;  // alpha * x_scale * w_scale
  std::vector<int32_t> bias;
  std::vector<double> real_bias;
  // What ONNX Runtime makes of a bias that is not in integers of x * w: rounds it to them; takes its
  // integers for such where its operator is of integers, else adds it in a sum of floats; always
  // that; adds it to the float of the accumulator.
  enum class FloatBias { kNone, kRounded, kTaken, kInSum, kAdded } float_bias = FloatBias::kNone;
  bool has_limit = false;  // a Relu or Clip reads the result, whether it bites or not
  Shape result;
};

// The bias in integers of x * w, of which ONNX Runtime has a sum of floats.
void add_in_sum(Product* p);

// What ONNX Runtime makes of the bias of this node, of the product that `p` describes: Gemm, or Add
// behind the MatMul `product`.
Status read_float_bias(Importer& importer, const NodeView& node, const NodeView& product,
                       const Tensor& bias, Product* p);

// The int32 accumulators, bias and all.
ValueId emit_sums(Importer& importer, const NodeView& node, const std::string& ops,
                  const Product& p);
// The product quantised to `out`; *result stays kNoValue where it is refused.
Status emit_product(Importer& importer, const NodeView& node, const std::string& ops, Product p,
                    const Quant& out, Limits limits, ValueId* result);
// Its floats.
Status emit_product_float(Importer& importer, const NodeView& node, const std::string& ops,
                          const Product& p, ValueId* result);

// Output 0 of `node` waits for its quantisation as the product that `owner` makes.
std::shared_ptr<Pending> defer_product(Importer& importer, const NodeView& node,
                                       const NodeView& owner, Product p);

}  // namespace qrt::convert::from_onnx

#endif  // QRT_CONVERTER_IMPORT_ONNX_ARITHMETIC_PRODUCT_H_
