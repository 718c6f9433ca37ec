// SPDX-License-Identifier: Apache-2.0
// MatMul of two tensors that are both computed, its QLinear form, and MatMulInteger: BatchMatMul,
// or with a constant matrix on the right FullyConnected.
#include <algorithm>

#include "converter/import/onnx/arithmetic/int16.h"
#include "converter/import/onnx/arithmetic/linear.h"
#include "converter/import/onnx/ops/handlers.h"

namespace qrt::convert::from_onnx {
namespace {

// 65,025 * kMaxK < 2^31: no accumulator overflows.
constexpr int64_t kMaxK = 33025;

struct MatrixOperand {
  ValueId value = kNoValue;  // kNoValue: `constant`
  ConstantPtr constant;
  Quant quant;
  Shape shape;
};

struct DynamicProduct {
  MatrixOperand a, b;
  Shape a_matrix, b_matrix;  // at least two dimensions
  Shape made, result;        // the result with and without the dimensions that vectors lack
};

bool as_matrix_operand(const Tensor& t, MatrixOperand* o) {
  const bool fits = t.type == kUint8 || t.type == kInt8 || t.type == kUint16 || t.type == kInt16;
  if (!t.quant || !t.quant->per_tensor() || !fits) return false;
  if (!t.is_fusible() && !t.is_constant()) return false;
  o->quant = *t.quant;
  o->shape = t.shape;
  o->constant = t.constant;
  if (!t.is_constant()) o->value = t.value;
  return true;
}

// Reads the shapes of numpy's matmul. *known stays false where it is refused.
Status read_shapes(Importer& importer, const NodeView& node, DynamicProduct* p, bool* known) {
  const Shape &a = p->a.shape, &b = p->b.shape;
  QRT_MODEL_CHECK(a.rank() >= 1 && b.rank() >= 1, "a scalar cannot be multiplied");
  p->a_matrix = a.rank() == 1 ? Shape{1, a[0]} : a;
  p->b_matrix = b.rank() == 1 ? Shape{b[0], 1} : b;
  const Shape &am = p->a_matrix, &bm = p->b_matrix;
  const int64_t k = am[am.rank() - 1];
  Shape leading_a, leading_b, leading;
  for (int i = 0; i < am.rank() - 2; ++i) leading_a.push_back(am[i]);
  for (int i = 0; i < bm.rank() - 2; ++i) leading_b.push_back(bm[i]);
  QRT_MODEL_CHECK(k == bm[bm.rank() - 2] && broadcast(leading_a, leading_b, &leading),
                  "shapes %s and %s cannot be multiplied", a.to_string().c_str(),
                  b.to_string().c_str());
  *known = k >= 1 && k <= kMaxK;
  if (!*known)
    return importer.refuse(node,
                           "it sums " + std::to_string(k) +
                               " products: beyond 33025 an int32 accumulator may overflow",
                           node.output(0),
                           "split the product along K into several, and add their results");
  p->made = leading;
  p->made.push_back(am[am.rank() - 2]);
  p->made.push_back(bm[bm.rank() - 1]);
  p->result = leading;
  if (a.rank() > 1) p->result.push_back(am[am.rank() - 2]);
  if (b.rank() > 1) p->result.push_back(bm[bm.rank() - 1]);
  return Status();
}

ValueId matrix_operand_value(Importer& importer, const NodeView& node, const MatrixOperand& o,
                             const Shape& as, const std::string& name) {
  const ValueId v = o.constant ? stored_constant(importer, *o.constant, o.quant, name) : o.value;
  return importer.builder().shape_of(v) == as ? v : importer.builder().reshape(node, v, as);
}

ValueId emit(Importer& importer, const NodeView& node, const std::string& ops,
             const DynamicProduct& p, int b_input, std::unique_ptr<fb::RequantT> requant,
             DType dtype, const Quant* out) {
  const ValueId a = matrix_operand_value(importer, node, p.a, p.a_matrix, node.input(0));
  const ValueId b = matrix_operand_value(importer, node, p.b, p.b_matrix, node.input(b_input));
  const ValueId y = importer.builder().new_value("", dtype, p.made, out);
  Node n = make_node<fb::BatchMatMulOptionsT>(node.name(), ops, {a, b}, {y});
  auto& o = options<fb::BatchMatMulOptionsT>(n);
  o.a_zero_point = static_cast<uint8_t>(p.a.quant.stored_zero_point());
  o.b_zero_point = static_cast<uint8_t>(p.b.quant.stored_zero_point());
  o.requant = std::move(requant);
  importer.graph().nodes.push_back(std::move(n));
  importer.became(node, "BatchMatMul", dtype == DType::kInt32 ? "I0" : "I1");
  return p.made == p.result ? y : importer.builder().reshape(node, y, p.result);
}

bool is_int16(const DynamicProduct& p) { return p.a.quant.is_int16() || p.b.quant.is_int16(); }

// Sums of 64 bits and one rounding, as the layers of arithmetic/int16.h have them.
Status emit_int16(Importer& importer, const NodeView& node, const std::string& ops,
                  const DynamicProduct& p, const Quant& out, Limits limits, ValueId* result) {
  const int za = p.a.quant.stored_zero_point(), zb = p.b.quant.stored_zero_point();
  const int64_t k = p.a_matrix[p.a_matrix.rank() - 1];
  const double factor = static_cast<double>(p.a.quant.scale[0]) *
                        static_cast<double>(p.b.quant.scale[0]) / static_cast<double>(out.scale[0]);
  auto requant =
      int16_requant(importer, node, {factor}, {k * int16_reach(za) * int16_reach(zb)}, out, limits);
  if (!requant) return Status();
  const ValueId a = importer.builder().widened(
      node, matrix_operand_value(importer, node, p.a, p.a_matrix, node.input(0)));
  const ValueId b = importer.builder().widened(
      node, matrix_operand_value(importer, node, p.b, p.b_matrix, node.input(1)));
  const ValueId y = importer.builder().new_value("", DType::kInt16, p.made, &out);
  Node n = make_node<fb::BatchMatMulOptionsT>(node.name(), ops, {a, b}, {y});
  auto& o = options<fb::BatchMatMulOptionsT>(n);
  o.a_zero_point_16 = static_cast<int16_t>(za);
  o.b_zero_point_16 = static_cast<int16_t>(zb);
  o.requant = std::move(requant);
  importer.graph().nodes.push_back(std::move(n));
  importer.became(node, "BatchMatMul", "I0");
  *result = as_output(importer, node, y, out);
  if (p.made != p.result) *result = importer.builder().reshape(node, *result, p.result);
  return Status();
}

float product_scale(const DynamicProduct& p) { return p.a.quant.scale[0] * p.b.quant.scale[0]; }

Status emit_quantized(Importer& importer, const NodeView& node, const std::string& ops,
                      const DynamicProduct& p, int b_input, const Quant& out, Limits limits,
                      ValueId* result) {
  if (is_int16(p) || out.is_int16()) return emit_int16(importer, node, ops, p, out, limits, result);
  auto requant = byte_requant(importer, node, {product_scale(p)}, out, limits);
  if (!requant) return Status();
  *result = emit(importer, node, ops, p, b_input, std::move(requant), DType::kUInt8, &out);
  return Status();
}

// The accumulators, dequantised.
Status emit_float(Importer& importer, const NodeView& node, const std::string& ops,
                  const DynamicProduct& p, ValueId* result) {
  if (!is_usable_scale(product_scale(p)))
    return importer.refuse(node, "the product of its scales is not a normal positive number",
                           node.output(0),
                           "calibrate the quantisation again: qrt_convert --lint names the scales "
                           "that are no ordinary positive numbers");
  const ValueId acc =
      emit(importer, node, ops, p, 1, std::make_unique<fb::RequantT>(), DType::kInt32, nullptr);
  *result = importer.builder().dequantize_accumulators(node, acc, {product_scale(p)}, -1);
  return Status();
}

}  // namespace

Status read_zero_point(Importer& importer, const NodeView& node, int i, int type, int64_t channels,
                       int axis, Quant* quant, bool* known, ValueId* of_run) {
  *quant = Quant();
  ir_type(type, &quant->type);
  quant->scale = {1.0f};
  quant->zero_point = {0};
  *known = true;
  if (!node.has_input(i)) return Status();
  const Tensor& t = importer.input(node, i);
  if (of_run && t.is_value() && t.type == type && t.shape.elements() == 1) {
    quant->zero_point = {-quant->offset()};
    *of_run = t.value;
    return Status();
  }
  *known = t.is_plain_constant() && t.constant->is_integer();
  if (!*known)
    return importer.refuse(node, "the zero point '" + node.input(i) + "' is computed",
                           node.input(i), "make the zero point an initialiser of the model");
  const int64_t n = t.constant->elements();
  QRT_MODEL_CHECK(t.type == type, "the zero point '%s' is %s, expected %s", node.input(i).c_str(),
                  element_type_name(t.type), element_type_name(type));
  *known = n == 1 || (axis >= 0 && n == channels);
  if (!*known)
    return importer.refuse(
        node, "the zero point '" + node.input(i) + "' has " + std::to_string(n) + " elements",
        node.input(i), "give the operator one zero point for the whole matrix");
  quant->zero_point.clear();
  for (int64_t c = 0; c < n; ++c)
    quant->zero_point.push_back(static_cast<int32_t>(t.constant->integer(c)));
  quant->scale.assign(static_cast<size_t>(n), 1.0f);
  if (n > 1) quant->axis = axis;
  return Status();
}

Status import_dynamic_matmul(Importer& importer, const NodeView& node, bool* taken) {
  DynamicProduct p;
  *taken = as_matrix_operand(importer.input(node, 0), &p.a) &&
           as_matrix_operand(importer.input(node, 1), &p.b) && !(p.a.constant && p.b.constant);
  if (!*taken) return Status();
  bool known;
  QRT_TRY(read_shapes(importer, node, &p, &known));
  if (!known) return Status();
  const auto pending = defer(importer, node, p.result);
  const std::string* ops = &pending->ops;
  pending->emit = [&importer, &node, p, ops](const Quant& out, Limits limits, ValueId* result) {
    return emit_quantized(importer, node, *ops, p, 1, out, limits, result);
  };
  if (!is_int16(p))
    pending->emit_float = [&importer, &node, p, ops](ValueId* result) {
      return emit_float(importer, node, *ops, p, result);
    };
  return Status();
}

Status import_dynamic_qlinear_matmul(Importer& importer, const NodeView& node) {
  DynamicProduct p;
  for (MatrixOperand* o : {&p.a, &p.b}) {
    const int i = o == &p.a ? 0 : 3;
    const Tensor& t = importer.input(node, i);
    if (!t.is_value() && !t.is_plain_constant()) return importer.refuse_float(node, i);
    std::optional<Quant> quant;
    QRT_TRY(read_tensor_quant(importer, node, i + 1, i + 2, t.type, &quant));
    if (!quant) return Status();
    o->quant = *quant;
    o->shape = t.shape;
    o->constant = t.constant;
    if (t.is_value()) o->value = importer.builder().with_quant(node, t.value, *quant);
  }
  if (p.a.constant && p.b.constant)
    return importer.refuse(node, "both inputs are constants", node.output(0),
                           "fold the model's constants in the exporter: the product is one");
  std::optional<Quant> out;
  QRT_TRY(read_tensor_quant(importer, node, 6, 7, kUndefined, &out));
  if (!out) return Status();
  bool known;
  QRT_TRY(read_shapes(importer, node, &p, &known));
  if (!known) return Status();
  Tensor y;
  y.kind = Tensor::Kind::kValue;
  y.type = onnx_type(out->type);
  y.shape = p.result;
  QRT_TRY(emit_quantized(importer, node, node.op(), p, 3, *out, Limits(), &y.value));
  if (y.value == kNoValue) return Status();
  y.value = importer.builder().with_quant(node, y.value, *out);
  importer.set_output(node, 0, std::move(y));
  return Status();
}

Status import_matmul_integer(Importer& importer, const NodeView& node) {
  DynamicProduct p;
  ValueId zero_of_run = kNoValue;
  for (MatrixOperand* o : {&p.a, &p.b}) {
    const int i = o == &p.a ? 0 : 1;
    const Tensor& t = importer.input(node, i);
    const bool bytes = t.type == kUint8 || t.type == kInt8;
    if (!bytes || (!t.is_value() && !t.is_plain_constant())) return importer.refuse_float(node, i);
    const int last = t.shape.rank() - 1;
    bool known;
    QRT_TRY(read_zero_point(importer, node, 2 + i, t.type, last >= 0 ? t.shape[last] : 0,
                            i == 1 && t.is_constant() ? last : -1, &o->quant, &known,
                            i == 0 ? &zero_of_run : nullptr));
    if (!known) return Status();
    o->shape = t.shape;
    o->constant = t.constant;
    if (t.is_value()) o->value = importer.builder().with_quant(node, t.value, o->quant);
  }
  if (p.a.constant && p.b.constant)
    return importer.refuse(node, "both inputs are constants", node.output(0),
                           "fold the model's constants in the exporter: the product is one");
  Tensor y;
  y.kind = Tensor::Kind::kValue;
  y.type = kInt32;
  y.is_dynamic = true;
  if (p.b.constant && !p.a.constant && p.b.shape.rank() == 2) {
    QRT_TRY(import_constant_product(importer, node, p.a.value, p.a.quant, zero_of_run, p.b.constant,
                                    p.b.quant, &y.value));
    if (y.value == kNoValue) return Status();
  } else {
    if (!p.b.quant.per_tensor())
      return importer.refuse(node, "a batch of matrices has a zero point for each column",
                             node.input(3),
                             "give the operator one zero point for the whole matrix");
    bool known;
    QRT_TRY(read_shapes(importer, node, &p, &known));
    if (!known) return Status();
    y.value = emit(importer, node, node.op(), p, 1, std::make_unique<fb::RequantT>(), DType::kInt32,
                   nullptr);
  }
  y.shape = importer.builder().shape_of(y.value);
  importer.set_output(node, 0, std::move(y));
  return Status();
}

Status read_conv_integer(Importer& importer, const NodeView& node, Quant* x, ValueId* x_zero_point,
                         Quant* w, bool* known) {
  const Tensor &image = importer.input(node, 0), &weights = importer.input(node, 1);
  *known = false;
  for (int i = 0; i < 2; ++i) {
    const Tensor& t = importer.input(node, i);
    const bool bytes = t.type == kUint8 || t.type == kInt8;
    if (!bytes || (i == 0 ? !t.is_value() : !t.is_plain_constant()))
      return importer.refuse_float(node, i);
  }
  QRT_TRY(read_zero_point(importer, node, 2, image.type, 1, -1, x, known, x_zero_point));
  if (!*known) return Status();
  return read_zero_point(importer, node, 3, weights.type,
                         weights.shape.rank() > 0 ? weights.shape[0] : 0, 0, w, known);
}

}  // namespace qrt::convert::from_onnx
