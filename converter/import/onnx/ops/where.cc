// SPDX-License-Identifier: Apache-2.0
// The operator Where, and the comparisons that make its conditions: of integers and of quantised tensors.
#include "converter/import/onnx/arithmetic/where_constant.h"
#include "converter/import/onnx/file/branches.h"
#include "converter/import/onnx/move.h"
#include "converter/import/onnx/ops/handlers.h"
#include "converter/import/onnx/ops/integer.h"
#include "converter/import/onnx/ops/take.h"
#include "converter/import/onnx/run_integers.h"

namespace qrt::convert::from_onnx {

// Selects y = c ? a : b by truth values c = 0 or 1, for a, b of 8 or 16 bits: max(min(a, mask),
// min(b, ~mask)), where the mask is the greatest value for 1 and the least for 0.
ValueId select_elements(Importer& importer, const NodeView& node, const Tensor& condition,
                        ValueId a, ValueId b, const Quant* quant) {
  const bool is_int16 = importer.graph().values[a].type.dtype == DType::kInt16;
  const int least = is_int16 ? -32768 : 0, most = is_int16 ? 32767 : 255;
  const auto mask = [&](bool of_true) {
    const int32_t zero = of_true ? least : most, one = of_true ? most : least;
    std::vector<int32_t> table(256, one);
    table[0] = zero;
    if (condition.is_value())
      return importer.builder().int16_lut(node, condition.value, table,
                                          is_int16 ? DType::kInt16 : DType::kUInt8, "", nullptr);
    std::vector<int32_t> values(static_cast<size_t>(condition.constant->elements()));
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = condition.constant->integer(static_cast<int64_t>(i)) != 0 ? one : zero;
    if (is_int16)
      return importer.graph().add_constant("", DType::kInt16, condition.shape,
                                           std::vector<int16_t>(values.begin(), values.end()));
    return importer.graph().add_constant("", DType::kUInt8, condition.shape,
                                         std::vector<uint8_t>(values.begin(), values.end()));
  };
  const ValueId from_a = importer.builder().min_max(node, a, mask(true), false);
  const ValueId from_b = importer.builder().min_max(node, b, mask(false), false);
  return importer.builder().min_max(node, from_a, from_b, true, quant);
}

namespace {

// Selects y = b + c * (a - b) by conditions c = 0 or 1, modulo 2^width.
ValueId select_numbers(Importer& importer, const NodeView& node, int type, ValueId a, ValueId b) {
  RunIntegers r(importer, node);
  const ValueId truth = integer_value(importer, node, 0);
  const ValueId c = type == kInt64 ? r.to_int64(truth) : r.to_int32(truth);
  return r.add(b, r.multiply(c, r.subtract(a, b)));
}

// Chooses one of two whole tensors by the condition: the result of an If, whose branches were
// inlined before it. A run computes only the branch that it takes.
Status choose(Importer& importer, const NodeView& node) {
  const Tensor condition = importer.input(node, 0);
  if (condition.is_plain_constant() && condition.constant->elements() == 1) {
    pass_on(importer, node, condition.constant->integer(0) != 0 ? 1 : 2);
    return Status();
  }
  if (!condition.is_value() || condition.type != kBool || condition.shape.elements() != 1)
    return importer.refuse_float(node, 0);
  const Tensor sides[] = {importer.input(node, 1), importer.input(node, 2)};
  const auto disagree = [&](int a, const Shape& of_a, int b, const Shape& of_b) {
    return importer.refuse(
        node,
        std::string("an If, whose condition a run computes, gives ") + element_type_name(a) + " " +
            of_a.to_string() + " or " + element_type_name(b) + " " + of_b.to_string(),
        node.output(0),
        "export both branches with outputs of one type and shape, or a model for each of them");
  };
  GraphBuilder& builder = importer.builder();
  if (sides[0].is_table() && sides[1].is_table()) {
    if (sides[0].shape != sides[1].shape)
      return disagree(kFloat, sides[0].shape, kFloat, sides[1].shape);
    const auto pending = defer(importer, node, sides[0].shape);
    pending->is_function = true;
    pending->emit = [&importer, &node, condition, a = sides[0], b = sides[1]](
                        const Quant& out, Limits limits, ValueId* result) {
      ValueId x = kNoValue, y = kNoValue;
      QRT_TRY(quantize_tensor(importer, node, a, out, limits, &x));
      QRT_TRY(quantize_tensor(importer, node, b, out, limits, &y));
      if (x == kNoValue || y == kNoValue) return Status();
      *result = importer.builder().choose(node, condition.value, x, y, &out);
      importer.became(node, "Choose", "I0");
      return Status();
    };
    return Status();
  }
  int types[2];
  ValueId parts[2];
  for (const int i : {1, 2}) {
    parts[i - 1] = value_of(importer, node, i, &types[i - 1]);
    if (parts[i - 1] == kNoValue) return importer.refuse_float(node, i);
  }
  const Shape shape = builder.shape_of(parts[0]), other = builder.shape_of(parts[1]);
  if (types[0] != types[1] || shape != other) return disagree(types[0], shape, types[1], other);
  importer.became(node, "Choose", "I0");
  set_value(importer, node, types[0], builder.choose(node, condition.value, parts[0], parts[1]));
  return Status();
}

bool is_condition(const Tensor& t) {
  return t.type == kBool && (t.is_value() || t.is_plain_constant());
}

Status check_where(const Shape& c, const Shape& a, const Shape& b, Shape* shape) {
  Shape both;
  QRT_MODEL_CHECK(broadcast(a, b, &both) && broadcast(c, both, shape),
                  "shapes %s, %s and %s do not broadcast", c.to_string().c_str(),
                  a.to_string().c_str(), b.to_string().c_str());
  return Status();
}

using FloatComparison = float (*)(float, float);

FloatComparison float_comparison_of(const std::string& op) {
  if (op == "Equal") return [](float a, float b) { return a == b ? 1.0f : 0.0f; };
  if (op == "Less") return [](float a, float b) { return a < b ? 1.0f : 0.0f; };
  if (op == "LessOrEqual") return [](float a, float b) { return a <= b ? 1.0f : 0.0f; };
  if (op == "Greater") return [](float a, float b) { return a > b ? 1.0f : 0.0f; };
  return [](float a, float b) { return a >= b ? 1.0f : 0.0f; };
}

}  // namespace

// Imports a comparison: of integers as such, of floats between DequantizeLinear and QuantizeLinear
// as a table of booleans.
Status import_comparison(Importer& importer, const NodeView& node) {
  if (fold_node(importer, node)) return Status();
  bool taken;
  QRT_TRY(import_integer_operator(importer, node, &taken));
  if (taken) return Status();
  PairFunction a, b;
  if (!pair_function_of(importer, node, 0, &a)) return importer.refuse_float(node, 0);
  if (!pair_function_of(importer, node, 1, &b)) return importer.refuse_float(node, 1);
  Shape shape;
  QRT_MODEL_CHECK(broadcast(importer.input(node, 0).shape, importer.input(node, 1).shape, &shape),
                  "shapes %s and %s do not broadcast",
                  importer.input(node, 0).shape.to_string().c_str(),
                  importer.input(node, 1).shape.to_string().c_str());
  const auto truth = joined(importer, node, a, b, float_comparison_of(node.op()));
  if (!truth) return importer.refuse_float(node, 0);
  const Quant bytes = tensor_quant(DType::kUInt8, 1, 0);
  ValueId y = kNoValue;
  QRT_TRY(quantize_pair_function(importer, node, *truth, shape, bytes, Limits::of(bytes), &y));
  if (y != kNoValue) set_value(importer, node, kBool, y);
  return Status();
}

Status import_where(Importer& importer, const NodeView& node) {
  if (node.has(kChoice)) return choose(importer, node);
  if (fold_node(importer, node)) return Status();
  const Tensor condition = importer.input(node, 0);
  Tensor a = where_input(importer, node, 1), b = where_input(importer, node, 2);
  if (!is_condition(condition)) return importer.refuse_float(node, 0);
  Shape shape;
  QRT_TRY(check_where(condition.shape, a.shape, b.shape, &shape));
  const bool are_numbers =
      condition.is_value() && a.is_plain_constant() && a.constant->is_integer();
  if (is_integer_value(a) || is_integer_value(b) || are_numbers) {
    const int type = is_integer_value(b) ? b.type : a.type;
    const bool is_wide = type == kInt32 || type == kInt64;
    if (!is_wide && !is_byte(type) && type != kBool && type != kInt16 && type != kUint16)
      return refuse_types(importer, node, type);
    for (int i = 1; i <= 2; ++i)
      if (!has_type(importer.input(node, i), type)) return importer.refuse_float(node, i);
    const ValueId x = integer_value(importer, node, 1), y = integer_value(importer, node, 2);
    set_value(importer, node, type,
              is_wide ? select_numbers(importer, node, type, x, y)
                      : select_elements(importer, node, condition, x, y, nullptr));
    importer.became(node, is_wide ? "Integer" : "MinMax", "I0");
    return Status();
  }
  for (int i = 1; i <= 2; ++i) {
    Tensor& t = i == 1 ? a : b;
    std::vector<float> real;
    const bool is_constant = t.is_constant() && constant_floats(t, &real);
    if (!is_constant && !read_function(importer, node, i, &t))
      return importer.refuse_float(node, i);
  }
  const auto pending = defer(importer, node, shape);
  pending->is_function = true;
  pending->emit = [&importer, &node, condition, a, b](const Quant& out, Limits limits,
                                                      ValueId* result) {
    ValueId x = kNoValue, y = kNoValue;
    QRT_TRY(quantize_tensor(importer, node, a, out, limits, &x));
    QRT_TRY(quantize_tensor(importer, node, b, out, limits, &y));
    if (x == kNoValue || y == kNoValue) return Status();
    *result = select_elements(importer, node, condition, x, y, &out);
    importer.became(node, "MinMax", "I0");
    return Status();
  };
  return Status();
}

Status import_qlinear_where(Importer& importer, const NodeView& node) {
  const Tensor& condition = importer.input(node, 0);
  if (!is_condition(condition)) return importer.refuse_float(node, 0);
  std::optional<Quant> out;
  QRT_TRY(read_tensor_quant(importer, node, 7, 8, kUndefined, &out));
  if (!out) return Status();
  ValueId value[2];
  Shape shape[2], joined;
  for (int k = 0; k < 2; ++k) {
    const int i = 1 + 3 * k;
    Tensor t = importer.input(node, i);
    if (!t.is_value() && !t.is_plain_constant()) return importer.refuse_float(node, i);
    std::optional<Quant> quant;
    QRT_TRY(read_tensor_quant(importer, node, i + 1, i + 2, t.type, &quant));
    if (!quant) return Status();
    t.quant = *quant;
    if (t.is_value()) {
      t.kind = Tensor::Kind::kTable;
      t.value = importer.builder().with_quant(node, t.value, *quant);
    }
    shape[k] = t.shape;
    value[k] = kNoValue;
    QRT_TRY(quantize_tensor(importer, node, t, *out, Limits(), &value[k]));
    if (value[k] == kNoValue) return Status();
  }
  QRT_TRY(check_where(condition.shape, shape[0], shape[1], &joined));
  set_value(importer, node, onnx_type(out->type),
            select_elements(importer, node, condition, value[0], value[1], &*out));
  importer.became(node, "MinMax", "I0");
  return Status();
}

}  // namespace qrt::convert::from_onnx
