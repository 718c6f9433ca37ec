// SPDX-License-Identifier: Apache-2.0
// Gemm, MatMul and their QLinear forms with a constant right side: FullyConnected. Without a
// QuantizeLinear behind it the result is the int32 accumulator, dequantised.
#include <algorithm>

#include "converter/import/onnx/arithmetic/int16.h"
#include "converter/import/onnx/arithmetic/product.h"
#include "converter/import/onnx/deferred/table.h"
#include "converter/import/onnx/float_fallback/float_fallback.h"
#include "converter/import/onnx/known_dims.h"
#include "converter/import/onnx/ops/handlers.h"

namespace qrt::convert::from_onnx {
namespace {

// Geometry of Gemm and QGemm.
Status gemm_shape(const NodeView& node, const Shape& x, const Shape& w, Product* p) {
  p->transpose_x = node.integer("transA", 0) != 0;
  p->out_first = node.integer("transB", 0) != 0;
  QRT_MODEL_CHECK(x.rank() == 2 && w.rank() == 2, "shapes %s and %s are not matrices",
                  x.to_string().c_str(), w.to_string().c_str());
  p->in = w[p->out_first ? 1 : 0];
  p->out = w[p->out_first ? 0 : 1];
  const int64_t rows = x[p->transpose_x ? 1 : 0];
  QRT_MODEL_CHECK(x[p->transpose_x ? 0 : 1] == p->in && p->in > 0 && p->out > 0,
                  "shapes %s and %s cannot be multiplied", x.to_string().c_str(),
                  w.to_string().c_str());
  p->x_shape = {rows, p->in};
  p->result = {rows, p->out};
  return Status();
}

// Reads geometry of MatMul and QLinearMatMul. *known stays false where it is refused.
Status matmul_shape(Importer& importer, const NodeView& node, const Shape& x, const Shape& w,
                    Product* p, bool* known) {
  QRT_MODEL_CHECK(x.rank() >= 1 && w.rank() >= 1, "a scalar cannot be multiplied");
  p->in = w[w.rank() == 1 ? 0 : w.rank() - 2];
  p->out = w.rank() == 1 ? 1 : w[w.rank() - 1];
  QRT_MODEL_CHECK(x[x.rank() - 1] == p->in && p->in > 0 && p->out > 0,
                  "shapes %s and %s cannot be multiplied", x.to_string().c_str(),
                  w.to_string().c_str());
  *known = w.elements() == p->in * p->out;
  if (!*known)
    return importer.refuse(node,
                           "the constant of shape " + w.to_string() + " is a batch of matrices",
                           node.input(node.op() == "MatMul" ? 1 : 3),
                           "split the product into one MatMul for each matrix");
  std::vector<int64_t> dims(x.begin(), x.end());
  if (dims.size() == 1) dims.insert(dims.begin(), 1);
  QRT_TRY(make_shape(dims, &p->x_shape));
  // numpy's rules: batch dimensions of both sides, then rows unless x is a vector, then columns
  // unless w is one.
  std::vector<int64_t> result(static_cast<size_t>(std::max(0, w.rank() - std::max(2, x.rank()))),
                              1);
  result.insert(result.end(), x.begin(), x.end() - 1);
  if (w.rank() > 1) result.push_back(p->out);
  return make_shape(result, &p->result);
}

Status check_weights_axis(Importer& importer, const NodeView& node, const Product& p, int input,
                          bool* fits) {
  const int columns = p.out_first ? 0 : p.weights->shape.rank() - 1;
  *fits = p.w_quant.per_tensor() || (p.w_quant.axis == columns && p.weights->shape.rank() > 1);
  if (*fits) return Status();
  // ONNX Runtime takes the scales for those of columns, where there are as many rows as columns.
  if (p.in == p.out) importer.outcomes().refuse_float_form(node.index());
  return importer.refuse(node,
                         "the weights are quantised along axis " + std::to_string(p.w_quant.axis) +
                             ", not per output column",
                         node.input(input), "quantise the weights per tensor or per output column");
}

// Refuses a right side of the run that is quantised along an axis.
Status refuse_columns(Importer& importer, const NodeView& node, int axis) {
  return importer.refuse(node,
                         "input '" + node.input(1) + "' is no constant and quantised along axis " +
                             std::to_string(axis),
                         node.input(1), "quantise that input per tensor");
}

// Returns the axis along which a right side of the run has its scales if that is not the last but as
// long: ONNX Runtime takes them for those of the columns then, so that no form has its numbers. Else
// returns -1.
int axis_taken_for_columns(const Importer& importer, const NodeView& node) {
  const Shape& w = importer.input(node, 1).shape;
  const NodeView* dequantize = importer.producer(node.input(1));
  const int rank = w.rank();
  if (dequantize == nullptr || dequantize->op() != "DequantizeLinear" || rank < 2) return -1;
  if (importer.input(*dequantize, 1).shape.elements() == 1) return -1;
  int64_t axis = dequantize->integer("axis", 1);
  if (axis < 0) axis += rank;
  const bool is_taken = axis >= 0 && axis < rank - 1 && w[static_cast<int>(axis)] == w[rank - 1];
  return is_taken ? static_cast<int>(axis) : -1;
}

bool is_row_bias(const NodeView& node, int input, const Importer& importer) {
  const Shape& shape = importer.input(node, input).shape;
  return node.has_input(input) && shape.rank() == 2 && shape[0] > 1;
}

// Reads a bias of Gemm, or of an Add behind a MatMul that ONNX Runtime makes one, that differs
// between rows: one of floats is added in the sum of floats. *known stays false where it is refused.
Status read_row_bias(Importer& importer, const NodeView& node, int input, Product* p, bool* known) {
  const Tensor& bias = importer.input(node, input);
  *known = false;
  if (!bias.is_constant()) return importer.refuse_float(node, input);
  const Shape& s = bias.shape;
  QRT_MODEL_CHECK(s[0] == p->result[0] && (s[1] == 1 || s[1] == p->out),
                  "the bias has shape %s, which does not broadcast to %s", s.to_string().c_str(),
                  p->result.to_string().c_str());
  const bool has_int16 = p->x_quant.is_int16() || p->w_quant.is_int16();
  if (bias.quant || bias.type != kFloat || has_int16) {
    // ONNX Runtime takes integers as they are, whatever their scale.
    if (bias.quant) importer.outcomes().refuse_float_form(node.index());
    return importer.refuse(
        node, "the bias '" + node.input(input) + "' differs from row to row", node.input(input),
        "give every output column one bias, or add the rest in an Add of its own");
  }
  read_addends(bias, p);
  p->float_bias = Product::FloatBias::kInSum;
  p->bias.assign(static_cast<size_t>(p->out), 0);
  *known = true;
  return Status();
}

// Checks the operands of Gemm and MatMul: x dequantised per tensor, constant quantised weights.
Status read_operands(Importer& importer, const NodeView& node, Product* p, bool* known) {
  const Tensor &x = importer.input(node, 0), &w = importer.input(node, 1);
  *known = false;
  int lo, hi;
  if (!x.is_fusible()) return importer.refuse_float(node, 0);
  if (!w.is_constant() || !w.quant || !quantized_range(w.type, &lo, &hi))
    return refuse_weights(importer, node, 1);
  p->x = x.value;
  p->x_quant = *x.quant;
  p->w_quant = *w.quant;
  p->weights = w.constant;
  *known = true;
  return Status();
}

// Reads the operands of QGemm and QLinearMatMul, inputs 0 to 5.
Status read_qlinear_operands(Importer& importer, const NodeView& node, int64_t w_axis, Product* p,
                             bool* known) {
  const Tensor &x = importer.input(node, 0), &w = importer.input(node, 3);
  *known = false;
  if (!x.is_value()) return importer.refuse_float(node, 0);
  if (!w.is_plain_constant() || !is_byte_weight(w.type)) return importer.refuse_float(node, 3);
  std::optional<Quant> x_quant, w_quant;
  QRT_TRY(read_tensor_quant(importer, node, 1, 2, x.type, &x_quant));
  if (!x_quant) return Status();
  QRT_TRY(read_quant(importer, node, 4, 5, w.type, w.shape, w_axis, &w_quant));
  if (!w_quant) return Status();
  p->x = importer.builder().with_quant(node, x.value, *x_quant);
  p->x_quant = *x_quant;
  p->w_quant = *w_quant;
  p->weights = w.constant;
  *known = true;
  return Status();
}

}  // namespace

Status import_gemm(Importer& importer, const NodeView& node) {
  Product p;
  bool known;
  QRT_TRY(read_operands(importer, node, &p, &known));
  if (!known) return Status();
  QRT_TRY(gemm_shape(node, importer.input(node, 0).shape, p.weights->shape, &p));
  QRT_TRY(check_weights_axis(importer, node, p, 1, &known));
  if (!known) return Status();
  const float alpha = node.real("alpha", 1.0f), beta = node.real("beta", 1.0f);
  p.alpha = alpha;
  p.beta = beta;
  p.products = product_scales(alpha, p.x_quant.scale[0], p.w_quant);
  p.multiplies_floats = !multiplies_integers(importer, node, true, p);
  if (is_row_bias(node, 2, importer)) {
    QRT_TRY(read_row_bias(importer, node, 2, &p, &known));
    if (known) defer_product(importer, node, node, std::move(p));
    return Status();
  }
  std::optional<std::vector<int32_t>> bias;
  QRT_TRY(read_bias(importer, node, 2, p.out, product_scales(1.0f, p.x_quant.scale[0], p.w_quant),
                    BiasScale::kIgnored, &bias));
  if (!bias) return Status();
  p.bias = std::move(*bias);
  p.real_bias = real_bias(importer, node, 2, p.out);
  if (node.has_input(2)) {
    read_addends(importer.input(node, 2), &p);
    QRT_TRY(read_float_bias(importer, node, node, importer.input(node, 2), &p));
    if (p.float_bias == Product::FloatBias::kRounded)
      p.real_bias = bias_of_integers(p.bias, product_scales(1.0f, p.x_quant.scale[0], p.w_quant));
    for (double& b : p.real_bias) b *= static_cast<double>(beta);
    if (p.float_bias == Product::FloatBias::kInSum || alpha != 1.0f || beta != 1.0f) add_in_sum(&p);
  }
  defer_product(importer, node, node, std::move(p));
  return Status();
}

Status import_matmul(Importer& importer, const NodeView& node) {
  const Tensor& w = importer.input(node, 1);
  if (!w.is_constant() || w.shape.rank() > 2) {
    if (const int axis = axis_taken_for_columns(importer, node); axis >= 0) {
      importer.outcomes().refuse_float_form(node.index());
      return refuse_columns(importer, node, axis);
    }
    bool taken;
    QRT_TRY(import_dynamic_matmul(importer, node, &taken));
    if (taken) return Status();
    if (w.is_dequantized() && !w.quant->per_tensor())
      return refuse_columns(importer, node, w.quant->axis);
  }
  Product p;
  bool known;
  QRT_TRY(read_operands(importer, node, &p, &known));
  if (!known) return Status();
  QRT_TRY(
      matmul_shape(importer, node, importer.input(node, 0).shape, p.weights->shape, &p, &known));
  if (!known) return Status();
  QRT_TRY(check_weights_axis(importer, node, p, 1, &known));
  if (!known) return Status();
  p.bias.assign(static_cast<size_t>(p.out), 0);
  p.real_bias.assign(static_cast<size_t>(p.out), 0.0);
  p.products = product_scales(1.0f, p.x_quant.scale[0], p.w_quant);
  p.multiplies_floats = !multiplies_integers(importer, node, false, p);
  defer_product(importer, node, node, std::move(p));
  return Status();
}

namespace {

// Returns whether ONNX Runtime makes one Gemm of a MatMul and the Add of this bias behind it: of a matrix, or
// where it knows all dimensions.
bool becomes_gemm(Importer& importer, const NodeView& matmul, const Shape& bias) {
  const Shape &x = importer.input(matmul, 0).shape, &w = importer.input(matmul, 1).shape;
  const bool has_symbolic_batch =
      importer.graph().batch_is_symbolic && !knows_dims(importer, matmul.input(0));
  const int64_t out = w[1];
  if (bias.rank() == 1 && bias[0] == out) return x.rank() == 2 || !has_symbolic_batch;
  if (x.rank() != 2 || bias.rank() != 2) return false;
  if (bias[0] == 1 && bias[1] == out) return true;
  return !has_symbolic_batch && bias[0] == x[0] && (bias[1] == 1 || bias[1] == out);
}

// Adds the bias of an Add behind a MatMul where that is not one value for each column, as a Gemm has it.
Status add_to_matmul(Importer& importer, const NodeView& add, const NodeView& matmul,
                     int bias_input, bool is_gemm, Product p) {
  const Tensor& bias = importer.input(add, bias_input);
  if (is_gemm) {
    bool known;
    QRT_TRY(read_row_bias(importer, add, bias_input, &p, &known));
    if (!known) return Status();
  } else {
    read_addends(bias, &p);
    p.float_bias = Product::FloatBias::kAdded;
    p.bias.assign(static_cast<size_t>(p.out), 0);
    const int64_t columns = bias.shape.rank() == 0 ? 1 : bias.shape[bias.shape.rank() - 1];
    if (bias.shape.elements() == columns && (columns == p.out || columns == 1))
      p.real_bias = real_bias(importer, add, bias_input, p.out);
  }
  const auto pending = defer_product(importer, add, matmul, std::move(p));
  pending->ops = "MatMul+Add";
  pending->followers.push_back(add.index());
  return Status();
}

}  // namespace

Status import_matmul_add(Importer& importer, const NodeView& add, int product, bool* taken) {
  const Tensor &x = importer.input(add, product), &bias = importer.input(add, 1 - product);
  *taken = false;
  if (!x.is_pending() || x.pending->node->op() != "MatMul" || !bias.is_constant()) return Status();
  const NodeView& matmul = *x.pending->node;
  const Shape &left = importer.input(matmul, 0).shape, &right = importer.input(matmul, 1).shape;
  Shape sum;
  const bool plain = x.pending->followers.empty() && importer.is_sole_reader(add, product) &&
                     importer.input(matmul, 0).is_fusible() &&
                     importer.input(matmul, 1).is_constant() && left.rank() >= 1 &&
                     right.rank() == 2 && broadcast(x.shape, bias.shape, &sum) && sum == x.shape;
  if (!plain) return Status();
  Product p;
  bool known;
  QRT_TRY(read_operands(importer, matmul, &p, &known));
  QRT_TRY(matmul_shape(importer, matmul, left, p.weights->shape, &p, &known));
  p.products = product_scales(1.0f, p.x_quant.scale[0], p.w_quant);
  const bool is_gemm = becomes_gemm(importer, matmul, bias.shape);
  p.multiplies_floats = !multiplies_integers(importer, matmul, is_gemm, p);
  const bool is_int16 = p.x_quant.is_int16() || p.w_quant.is_int16();
  std::vector<float> addends;
  if (!is_gemm && (is_int16 || !constant_floats(bias, &addends))) return Status();
  *taken = true;
  if (!is_gemm || is_row_bias(add, 1 - product, importer))
    return add_to_matmul(importer, add, matmul, 1 - product, is_gemm, std::move(p));
  read_addends(bias, &p);
  std::optional<std::vector<int32_t>> integers;
  QRT_TRY(read_bias(importer, add, 1 - product, p.out, p.products, BiasScale::kIgnored, &integers));
  if (!integers) return Status();
  p.bias = std::move(*integers);
  p.real_bias = real_bias(importer, add, 1 - product, p.out);
  QRT_TRY(read_float_bias(importer, add, matmul, bias, &p));
  if (p.float_bias == Product::FloatBias::kRounded)
    p.real_bias = bias_of_integers(p.bias, p.products);
  if (p.float_bias == Product::FloatBias::kInSum) add_in_sum(&p);
  const auto in_float = [&importer, &matmul, &add, bias = p.real_bias](ValueId* result) {
    QRT_TRY(make_float(importer, matmul, result));
    if (*result == kNoValue) return Status();
    const int last = importer.builder().shape_of(*result).rank() - 1;
    *result = add_float_bias(importer, add, *result, bias, last);
    return Status();
  };
  const auto pending = defer_product(importer, add, matmul, std::move(p));
  pending->make_float = in_float;
  pending->ops = "MatMul+Add";
  pending->followers.push_back(add.index());
  return Status();
}

Status import_qgemm(Importer& importer, const NodeView& node) {
  Product p;
  bool known;
  QRT_TRY(
      read_qlinear_operands(importer, node, node.integer("transB", 0) != 0 ? 0 : 1, &p, &known));
  if (!known) return Status();
  QRT_TRY(gemm_shape(node, importer.input(node, 0).shape, p.weights->shape, &p));
  p.products = product_scales(node.real("alpha", 1.0f), p.x_quant.scale[0], p.w_quant);
  p.bias.assign(static_cast<size_t>(p.out), 0);
  if (is_row_bias(node, 6, importer))
    return importer.refuse(
        node, "the bias '" + node.input(6) + "' differs from row to row", node.input(6),
        "give every output column one bias, or add the rest in an Add of its own");
  if (node.has_input(6)) {
    const Tensor& b = importer.input(node, 6);
    if (!b.is_plain_constant() || b.type != kInt32) return importer.refuse_float(node, 6);
    const int64_t n = b.constant->elements();
    QRT_MODEL_CHECK(n == p.out || n == 1, "the bias has %lld elements, expected %lld",
                    static_cast<long long>(n), static_cast<long long>(p.out));
    for (int64_t i = 0; i < p.out; ++i)
      p.bias[static_cast<size_t>(i)] = b.constant->as<int32_t>()[n == 1 ? 0 : i];
  }
  Tensor y;
  y.kind = Tensor::Kind::kValue;
  y.shape = p.result;
  if (!node.has_input(7)) {
    y.type = kFloat;
    QRT_TRY(emit_product_float(importer, node, node.op(), p, &y.value));
    if (y.value == kNoValue) return Status();
    importer.set_output(node, 0, std::move(y));
    return Status();
  }
  std::optional<Quant> out;
  QRT_TRY(read_tensor_quant(importer, node, 7, 8, kUndefined, &out));
  if (!out) return Status();
  y.type = onnx_type(out->type);
  QRT_TRY(emit_product(importer, node, node.op(), p, *out, Limits(), &y.value));
  if (y.value == kNoValue) return Status();
  y.value = importer.builder().with_quant(node, y.value, *out);
  importer.set_output(node, 0, std::move(y));
  return Status();
}

Status import_constant_product(Importer& importer, const NodeView& node, ValueId x,
                               const Quant& x_quant, ValueId x_zero_point, ConstantPtr w,
                               const Quant& w_quant, ValueId* result) {
  Product p;
  p.x = x;
  p.x_zero_point = x_zero_point;
  p.x_quant = x_quant;
  p.weights = std::move(w);
  p.w_quant = w_quant;
  bool known;
  QRT_TRY(
      matmul_shape(importer, node, importer.builder().shape_of(x), p.weights->shape, &p, &known));
  if (!known) return Status();
  p.bias.assign(static_cast<size_t>(p.out), 0);
  *result = emit_sums(importer, node, node.op(), p);
  if (importer.builder().shape_of(*result) != p.result)
    *result = importer.builder().reshape(node, *result, p.result);
  return Status();
}

Status import_qlinear_matmul(Importer& importer, const NodeView& node) {
  const Tensor& w = importer.input(node, 3);
  if (!w.is_plain_constant() || w.shape.rank() > 2)
    return import_dynamic_qlinear_matmul(importer, node);
  Product p;
  bool known;
  QRT_TRY(read_qlinear_operands(importer, node, -1, &p, &known));
  if (!known) return Status();
  QRT_TRY(
      matmul_shape(importer, node, importer.input(node, 0).shape, p.weights->shape, &p, &known));
  if (!known) return Status();
  p.bias.assign(static_cast<size_t>(p.out), 0);
  p.products = product_scales(1.0f, p.x_quant.scale[0], p.w_quant);
  std::optional<Quant> out;
  QRT_TRY(read_tensor_quant(importer, node, 6, 7, kUndefined, &out));
  if (!out) return Status();
  Tensor y;
  y.kind = Tensor::Kind::kValue;
  y.type = onnx_type(out->type);
  y.shape = p.result;
  QRT_TRY(emit_product(importer, node, node.op(), p, *out, Limits(), &y.value));
  if (y.value == kNoValue) return Status();
  y.value = importer.builder().with_quant(node, y.value, *out);
  importer.set_output(node, 0, std::move(y));
  return Status();
}

}  // namespace qrt::convert::from_onnx
