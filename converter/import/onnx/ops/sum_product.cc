// SPDX-License-Identifier: Apache-2.0
#include "converter/import/onnx/ops/sum_product.h"

#include <algorithm>
#include <cmath>

#include "converter/import/onnx/arithmetic/int16.h"
#include "converter/import/onnx/arithmetic/linear.h"
#include "converter/import/onnx/ops/handlers.h"

namespace qrt::convert::from_onnx {
namespace {

// Returns whether ONNX Runtime swaps the operands of QLinearAdd: when `a` is one repeated element
// in the innermost run of the broadcast, or both are single elements. `nhwc`: it has brought both
// to channels last.
bool a_is_inner(const Shape& a, const Shape& b, bool nhwc) {
  const int rank = std::max(a.rank(), b.rank());
  std::vector<int64_t> da(static_cast<size_t>(rank), 1), db = da;
  std::copy_backward(a.begin(), a.end(), da.end());
  std::copy_backward(b.begin(), b.end(), db.end());
  if (nhwc && rank > 2) {
    std::rotate(da.begin() + 1, da.begin() + 2, da.end());
    std::rotate(db.begin() + 1, db.begin() + 2, db.end());
  }
  for (size_t i = da.size(); i-- > 0;)
    if (da[i] != 1 || db[i] != 1) return da[i] == 1;
  return true;
}

ValueId operand_value(Importer& importer, const NodeView& node, const Operand& o, int input) {
  return o.constant ? stored_constant(importer, *o.constant, o.quant, node.input(input))
                    : importer.builder().with_quant(node, o.value, o.quant);
}

Status emit_add(Importer& importer, const NodeView& node, const Operand& a, const Operand& b,
                bool nhwc, const Quant& out, Limits limits, Node* n) {
  const float ra = a.quant.scale[0] / out.scale[0], rb = b.quant.scale[0] / out.scale[0];
  const float za = static_cast<float>(a.quant.zero_point[0]);
  const float zb = static_cast<float>(b.quant.zero_point[0]);
  const float zc = static_cast<float>(out.zero_point[0]);
  const bool swap = a_is_inner(a.shape, b.shape, nhwc);
  const float inner = swap ? ra * za : rb * zb;
  const float constant = zc - (swap ? std::fma(rb, zb, inner) : std::fma(ra, za, inner));
  const double reach =
      255.0 * (static_cast<double>(ra) + static_cast<double>(rb)) + std::fabs(constant);
  if (!is_usable_scale(ra) || !is_usable_scale(rb) || !(reach < 2147483648.0))
    return importer.refuse(node,
                           "the ratios of input to output scales, " + std::to_string(ra) + " and " +
                               std::to_string(rb) + ", are beyond exact arithmetic",
                           node.output(0),
                           "calibrate the quantisation again: qrt_convert --lint names the scales "
                           "that are no ordinary positive numbers");
  *n = make_node<fb::AddOptionsT>(node.name(), node.op(), {}, {});
  auto& o = options<fb::AddOptionsT>(*n);
  o.kind = fb::AddKind::F32_FMA;
  o.a_scale = float_bits(ra);
  o.b_scale = float_bits(rb);
  o.constant = float_bits(constant);
  o.a_is_inner = swap;
  o.a_offset = -a.quant.offset();
  o.b_offset = -b.quant.offset();
  o.output_offset = out.offset();
  o.lo = limits.lo;
  o.hi = limits.hi;
  return Status();
}

Status emit_mul(Importer& importer, const NodeView& node, const Operand& a, const Operand& b,
                const Quant& out, Limits limits, Node* n) {
  const float product = a.quant.scale[0] * b.quant.scale[0], scale = product / out.scale[0];
  if (!is_usable_scale(a.quant.scale[0]) || !is_usable_scale(b.quant.scale[0]) ||
      !is_usable_scale(scale))
    return importer.refuse(
        node, "the ratio of input to output scales is not a normal positive number", node.output(0),
        "calibrate the quantisation again: qrt_convert --lint names the scales that are no "
        "ordinary positive numbers");
  *n = make_node<fb::MulOptionsT>(node.name(), node.op(), {}, {});
  auto& o = options<fb::MulOptionsT>(*n);
  o.a_zero_point = static_cast<uint8_t>(a.quant.stored_zero_point());
  o.b_zero_point = static_cast<uint8_t>(b.quant.stored_zero_point());
  o.requant = std::make_unique<fb::RequantT>();
  o.requant->kind = fb::RequantKind::F32;
  o.requant->zero_point_before = true;
  o.requant->zero_point = out.zero_point[0];
  o.requant->offset = out.offset();
  o.requant->scale = {float_bits(scale)};
  o.requant->lo = limits.lo;
  o.requant->hi = limits.hi;
  return Status();
}

}  // namespace

Status emit_byte(Importer& importer, const NodeView& node, const std::string& ops, const Operand& a,
                 const Operand& b, int b_input, const Quant& out, Limits limits, ValueId* result) {
  Shape shape;
  QRT_MODEL_CHECK(broadcast(a.shape, b.shape, &shape), "shapes %s and %s do not broadcast",
                  a.shape.to_string().c_str(), b.shape.to_string().c_str());
  const bool nhwc = (!a.constant && importer.builder().is_marked(a.value)) ||
                    (!b.constant && importer.builder().is_marked(b.value));
  Node n;
  const bool is_add = node.op() == "Add" || node.op() == "QLinearAdd";
  if (is_add) {
    QRT_TRY(emit_add(importer, node, a, b, nhwc, out, limits, &n));
  } else {
    QRT_TRY(emit_mul(importer, node, a, b, out, limits, &n));
  }
  if (n.options.type == fb::OpOptions::NONE) return Status();
  n.source_op = ops;
  n.inputs = {operand_value(importer, node, a, 0), operand_value(importer, node, b, b_input)};
  *result = importer.builder().new_value("", DType::kUInt8, shape, &out);
  n.outputs = {*result};
  importer.graph().nodes.push_back(std::move(n));
  importer.became(node, is_add ? "Add" : "Mul", "I1");
  if (nhwc) importer.builder().mark(*result);
  return Status();
}

bool as_operand(const Tensor& t, Operand* o) {
  const bool fits = t.type == kUint8 || t.type == kInt8 || t.type == kUint16 || t.type == kInt16;
  if (!t.quant || !t.quant->per_tensor() || !fits) return false;
  if (!t.is_fusible() && !t.is_constant()) return false;
  o->quant = *t.quant;
  o->shape = t.shape;
  if (t.is_constant()) {
    o->constant = t.constant;
  } else {
    o->value = t.value;
  }
  return true;
}

bool types_fit(const Operand& a, const Operand& b, const Quant& out) {
  return a.quant.type == b.quant.type && a.quant.type == out.type;
}

bool any_int16(const Operand& a, const Operand& b) {
  return a.quant.is_int16() || b.quant.is_int16();
}

Status emit_int16(Importer& importer, const NodeView& node, const std::string& ops,
                  const Operand& left, const Operand& right, const Shape& shape, const Quant& out,
                  Limits limits, ValueId* result) {
  Int16Operand operand[2];
  for (int i = 0; i < 2; ++i) {
    const Operand& o = i == 0 ? left : right;
    operand[i] = {importer.builder().widened(node, operand_value(importer, node, o, i)), o.quant};
  }
  if (node.op() == "Mul")
    return emit_int16_product(importer, node, ops, operand[0], operand[1], shape, out, limits,
                              result);
  return emit_int16_sum(importer, node, ops, operand[0], operand[1], node.op() == "Sub", shape, out,
                        limits, result);
}

Status import_qlinear_binary(Importer& importer, const NodeView& node) {
  Operand operand[2];
  for (int k = 0; k < 2; ++k) {
    const int i = 3 * k;
    const Tensor& t = importer.input(node, i);
    if (!t.is_value() && !t.is_plain_constant()) return importer.refuse_float(node, i);
    std::optional<Quant> quant;
    QRT_TRY(read_tensor_quant(importer, node, i + 1, i + 2, t.type, &quant));
    if (!quant) return Status();
    Operand& o = operand[k];
    o.quant = *quant;
    o.shape = t.shape;
    o.value = t.value;
    o.constant = t.constant;
  }
  std::optional<Quant> out;
  QRT_TRY(read_tensor_quant(
      importer, node, 6, 7,
      node.has_input(7) ? static_cast<int>(kUndefined) : onnx_type(operand[0].quant.type), &out));
  if (!out) return Status();
  if (operand[0].constant && operand[1].constant)
    return importer.refuse(node, "both inputs are constants", node.output(0),
                           "fold the model's constants in the exporter: the product is one");
  if (!types_fit(operand[0], operand[1], *out))
    return importer.refuse(node,
                           std::string("its tensors are ") + dtype_name(operand[0].quant.type) +
                               ", " + dtype_name(operand[1].quant.type) + " and " +
                               dtype_name(out->type) +
                               ": ONNX Runtime has no integer form for mixed types",
                           node.output(0), "quantise its inputs and its output to one type");
  Tensor y;
  y.kind = Tensor::Kind::kValue;
  y.type = onnx_type(out->type);
  QRT_TRY(
      emit_byte(importer, node, node.op(), operand[0], operand[1], 3, *out, Limits(), &y.value));
  if (y.value == kNoValue) return Status();
  y.shape = importer.builder().shape_of(y.value);
  importer.set_output(node, 0, std::move(y));
  return Status();
}

}  // namespace qrt::convert::from_onnx
