// SPDX-License-Identifier: Apache-2.0
// DynamicQuantizeMatMul and MatMulIntegerToFloat of com.microsoft, what ONNX Runtime's own optimiser
// makes of dynamic quantisation: taken apart again into the operators it fused, which have its bits.
#include "converter/import/onnx/ops/dynamic_matmul.h"

#include "converter/import/onnx/arithmetic/linear.h"
#include "converter/import/onnx/float_fallback/float_graph.h"
#include "converter/import/onnx/ops/handlers.h"

namespace qrt::convert::from_onnx {
namespace {

// The operand of a product: x is 8 bits with a zero point that is known or of the run, its scale likewise.
struct Operands {
  ValueId x = kNoValue, x_zero_point = kNoValue, x_scale = kNoValue;
  Quant x_quant, w_quant;
};

// Reads input i as floats: one, or one for each of n columns. Returns false where it is something
// else; the node was refused.
bool read_columns(Importer& importer, const NodeView& node, int i, int64_t n,
                  std::vector<float>* values) {
  const Tensor& t = importer.input(node, i);
  const bool fits = t.is_plain_constant() && t.type == kFloat && constant_floats(t, values) &&
                    (values->size() == 1 || static_cast<int64_t>(values->size()) == n);
  if (!fits)
    (void)importer.refuse(node,
                          "input '" + node.input(i) + "' is no float constant for each of the " +
                              std::to_string(n) + " columns, or for all",
                          node.input(i), "make it an initialiser of the model");
  return fits;
}

// Makes f(acc) * (x_scale * w_scale) (+ bias). *product stays kNoValue where the node was refused.
Status multiply(Importer& importer, const NodeView& node, const Operands& p, const MatMulInputs& at,
                ValueId* product) {
  const Tensor& w = importer.input(node, at.w);
  std::vector<float> scale, bias;
  const int64_t n = w.shape[1];
  if (!read_columns(importer, node, at.w_scale, n, &scale) ||
      (node.has_input(at.bias) && !read_columns(importer, node, at.bias, n, &bias)))
    return Status();
  ValueId acc = kNoValue;
  QRT_TRY(import_constant_product(importer, node, p.x, p.x_quant, p.x_zero_point, w.constant,
                                  p.w_quant, &acc));
  if (acc == kNoValue) return Status();
  FloatGraph f(importer, node);
  const auto constant = [&](const std::vector<float>& v) {
    return f.constant({static_cast<int64_t>(v.size())}, v);
  };
  ValueId y = importer.builder().dequantize_accumulators(node, acc, {1.0f}, -1), both;
  QRT_TRY(f.binary(fb::FloatFunction::MUL, p.x_scale, constant(scale), &both));
  QRT_TRY(f.binary(fb::FloatFunction::MUL, y, both, &y));
  if (!bias.empty()) QRT_TRY(f.binary(fb::FloatFunction::ADD, y, constant(bias), &y));
  *product = y;
  return Status();
}

// Makes the product the node's output, if it is one.
Status set_product(Importer& importer, const NodeView& node, ValueId product) {
  if (product == kNoValue) return Status();
  importer.became(node, "FullyConnected", "edge");
  Tensor t;
  t.kind = Tensor::Kind::kValue;
  t.type = kFloat;
  t.shape = importer.builder().shape_of(product);
  t.value = product;
  t.is_dynamic = true;
  importer.set_output(node, 0, std::move(t));
  return Status();
}

bool is_constant_matrix(const Tensor& w) {
  return w.is_plain_constant() && (w.type == kUint8 || w.type == kInt8) && w.shape.rank() == 2;
}

Status refuse_matrix(Importer& importer, const NodeView& node) {
  return importer.refuse(node, "input '" + node.input(1) + "' is no constant matrix of 8 bits",
                         node.input(1), "make the weights an initialiser of two dimensions");
}

}  // namespace

Status import_dynamic_quantize_matmul(Importer& importer, const NodeView& node) {
  const MatMulInputs at = {0, 1, -1, 2, -1, 3, 4};
  const Tensor& w = importer.input(node, at.w);
  if (!is_constant_matrix(w)) return refuse_matrix(importer, node);
  Operands p;
  bool known;
  QRT_TRY(read_zero_point(importer, node, at.w_zero, w.type, w.shape[1], 1, &p.w_quant, &known));
  if (!known) return Status();
  const Tensor x = importer.input(node, 0);
  const ValueId value = plain_value(importer, node.input(0), x);
  if (value == kNoValue || x.type != kFloat) return importer.refuse_float(node, 0);
  p.x = importer.builder().new_value("", DType::kUInt8, x.shape);
  p.x_scale = importer.builder().new_value("", DType::kFloat32, {});
  p.x_zero_point = importer.builder().new_value("", DType::kUInt8, {});
  importer.graph().nodes.push_back(make_node<fb::DynamicQuantizeOptionsT>(
      node.name(), node.op(), {value}, {p.x, p.x_scale, p.x_zero_point}));
  p.x_quant.scale = {1.0f};
  p.x_quant.zero_point = {0};
  p.x = importer.builder().with_quant(node, p.x, p.x_quant);
  ValueId y = kNoValue;
  QRT_TRY(multiply(importer, node, p, at, &y));
  return set_product(importer, node, y);
}

Status quantized_product(Importer& importer, const NodeView& node, const MatMulInputs& at,
                         ValueId* y) {
  const Tensor &x = importer.input(node, at.x), &w = importer.input(node, at.w);
  if (!is_constant_matrix(w)) return refuse_matrix(importer, node);
  if (!x.is_value() || (x.type != kUint8 && x.type != kInt8))
    return importer.refuse_float(node, at.x);
  Operands p;
  bool known;
  QRT_TRY(read_zero_point(importer, node, at.x_zero, x.type, 1, -1, &p.x_quant, &known,
                          &p.x_zero_point));
  if (!known) return Status();
  QRT_TRY(read_zero_point(importer, node, at.w_zero, w.type, w.shape[1], 1, &p.w_quant, &known));
  if (!known) return Status();
  const std::string& name = node.input(at.x_scale);
  const Tensor& scale = importer.input(node, at.x_scale);
  p.x_scale = plain_value(importer, name, scale);
  if (p.x_scale == kNoValue || scale.type != kFloat || scale.shape.elements() != 1)
    return importer.refuse(node, "input '" + name + "' is not one float32 scale", name,
                           "quantise the activations per tensor, with one scale");
  p.x = importer.builder().with_quant(node, x.value, p.x_quant);
  return multiply(importer, node, p, at, y);
}

Status import_matmul_integer_to_float(Importer& importer, const NodeView& node) {
  ValueId y = kNoValue;
  QRT_TRY(quantized_product(importer, node, {0, 1, 2, 3, 4, 5, 6}, &y));
  return set_product(importer, node, y);
}

}  // namespace qrt::convert::from_onnx
