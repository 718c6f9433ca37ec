// Operators of two operands. Add and Mul of two quantised tensors have integer arithmetic of their
// own, Min and Max keep the order of quantised values; with a constant, or of two functions of one
// tensor, every operator is a table, and of two tensors a table of pairs.
#include <algorithm>
#include <cmath>

#include "converter/import/onnx/arithmetic/int16.h"
#include "converter/import/onnx/arithmetic/linear.h"
#include "converter/import/onnx/ops/handlers.h"

namespace qrt::convert::from_onnx {
namespace {

// An operand of QLinearAdd or QLinearMul.
struct Operand {
  ValueId value = kNoValue;  // kNoValue: `constant`
  ConstantPtr constant;
  Quant quant;
  Shape shape;
};

// Whether ONNX Runtime swaps the operands of QLinearAdd: when `a` is one repeated element in the
// innermost run of the broadcast, or both are single elements. `nhwc`: it has brought both to
// channels last.
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
  return o.constant ? importer.stored_constant(*o.constant, o.quant, node.input(input))
                    : importer.with_quant(node, o.value, o.quant);
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
                           node.output(0), "quantise the model with positive scales of usual size");
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
    return importer.refuse(node,
                           "the ratio of input to output scales is not a normal positive number",
                           node.output(0), "quantise the model with positive scales of usual size");
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

Status emit(Importer& importer, const NodeView& node, const std::string& ops, const Operand& a,
            const Operand& b, int b_input, const Quant& out, Limits limits, ValueId* result) {
  Shape shape;
  QRT_MODEL_CHECK(broadcast(a.shape, b.shape, &shape), "shapes %s and %s do not broadcast",
                  a.shape.to_string().c_str(), b.shape.to_string().c_str());
  const bool nhwc =
      (!a.constant && importer.in_nhwc(a.value)) || (!b.constant && importer.in_nhwc(b.value));
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
  *result = importer.new_value("", DType::kUInt8, shape, &out);
  n.outputs = {*result};
  importer.graph().nodes.push_back(std::move(n));
  importer.became(node, is_add ? "Add" : "Mul", "I1");
  if (nhwc) importer.mark_nhwc(*result);
  return Status();
}

// A dequantised tensor or constant of 8 or 16 bits, as a whole: what QLinearAdd and QLinearMul
// take, and what becomes an integer sum or product of 16 bits.
bool as_operand(const Tensor& t, Operand* o) {
  const bool fits = t.type == kUint8 || t.type == kInt8 || t.type == kUint16 || t.type == kInt16;
  if (!t.quant || !t.quant->per_tensor() || !fits) return false;
  if (!t.is_dequantized() && !t.is_constant()) return false;
  o->quant = *t.quant;
  o->shape = t.shape;
  if (t.is_constant()) {
    o->constant = t.constant;
  } else {
    o->value = t.value;
  }
  return true;
}

using Function = float (*)(float a, float b);

Function function_of(const std::string& op) {
  if (op == "Add") return [](float a, float b) { return a + b; };
  if (op == "Sub") return [](float a, float b) { return a - b; };
  if (op == "Mul") return [](float a, float b) { return a * b; };
  if (op == "Div") return [](float a, float b) { return a / b; };
  if (op == "Min") return [](float a, float b) { return b < a ? b : a; };
  if (op == "Max") return [](float a, float b) { return b > a ? b : a; };
  return [](float x, float slope) { return x < 0.0f ? x * slope : x; };  // PRelu
}

// Of a constant broadcast to `shape`: the only axis along which it varies, or -1 for one value.
// False: several axes.
bool varying_axis(const Shape& constant, const Shape& shape, int* axis) {
  *axis = -1;
  for (int i = 0; i < constant.rank(); ++i) {
    if (constant[i] == 1) continue;
    if (*axis >= 0) return false;
    *axis = i + shape.rank() - constant.rank();
  }
  return true;
}

// A table and a constant that varies along at most one axis. *taken: they are that.
Status combine_with_constant(Importer& importer, const NodeView& node, int table_input,
                             bool* taken) {
  Tensor y = importer.input(node, table_input);
  const Tensor& c = importer.input(node, 1 - table_input);
  std::vector<float> values;
  if (!importer.constant_floats(c, &values)) return Status();
  Shape shape;
  QRT_MODEL_CHECK(broadcast(y.shape, c.shape, &shape), "shapes %s and %s do not broadcast",
                  y.shape.to_string().c_str(), c.shape.to_string().c_str());
  int axis;
  const int before = y.table ? y.table_axis : y.quant->axis;
  auto table = std::make_shared<std::vector<float>>();
  *taken = shape == y.shape && varying_axis(c.shape, y.shape, &axis) &&
           !(axis >= 0 && before >= 0 && axis != before) && importer.entries(y, table.get()) &&
           values.size() <= (y.quant->is_wide() ? 1 : size_t{1} << 16);
  if (!*taken) return Status();
  if (axis >= 0 && before < 0) {
    const std::vector<float> one = *table;
    for (size_t i = 1; i < values.size(); ++i) table->insert(table->end(), one.begin(), one.end());
  }
  const Function f = function_of(node.op());
  for (size_t i = 0; i < table->size(); ++i) {
    const float v = values[axis >= 0 ? i / y.quant->codes() : 0];
    float& entry = (*table)[i];
    entry = table_input == 0 ? f(entry, v) : f(v, entry);
  }
  y.table = std::move(table);
  y.table_axis = axis >= 0 ? axis : before;
  importer.set_output(node, 0, std::move(y));
  return Status();
}

// Two functions of the same bytes, such as x * Sigmoid(x).
Status combine_tables(Importer& importer, const NodeView& node, bool* taken) {
  Tensor y = importer.input(node, 0);
  const Tensor& b = importer.input(node, 1);
  auto table = std::make_shared<std::vector<float>>();
  std::vector<float> other;
  *taken = importer.entries(y, table.get()) && importer.entries(b, &other) &&
           table->size() == other.size();
  if (!*taken) return Status();
  const Function f = function_of(node.op());
  std::transform(table->begin(), table->end(), other.begin(), table->begin(), f);
  if (!y.table) y.table_axis = y.quant->axis;
  y.table = std::move(table);
  importer.set_output(node, 0, std::move(y));
  return Status();
}

// Input i is a float constant of several values that are not quantised as a whole.
bool varies_too_much(const Importer& importer, const NodeView& node, int i) {
  std::vector<float> values;
  const Tensor& t = importer.input(node, i);
  return t.is_constant() && importer.constant_floats(t, &values);
}

Status refuse_constant(Importer& importer, const NodeView& node, int i) {
  const std::string shape = importer.input(node, i).shape.to_string();
  return importer.refuse(
      node,
      "the constant '" + node.input(i) + "' of shape " + shape + " varies along more than one axis",
      node.input(i), "quantise the constant");
}

// Whether ONNX Runtime's QLinearAdd and QLinearMul take these: tensors of one type.
bool types_fit(const Operand& a, const Operand& b, const Quant& out) {
  return a.quant.type == b.quant.type && a.quant.type == out.type;
}

bool any_wide(const Operand& a, const Operand& b) { return a.quant.is_wide() || b.quant.is_wide(); }

// Add, Sub or Mul where a tensor has 16 bits.
Status emit_wide(Importer& importer, const NodeView& node, const std::string& ops,
                 const Operand& left, const Operand& right, const Shape& shape, const Quant& out,
                 Limits limits, ValueId* result) {
  WideOperand operand[2];
  for (int i = 0; i < 2; ++i) {
    const Operand& o = i == 0 ? left : right;
    operand[i] = {importer.widened(node, operand_value(importer, node, o, i)), o.quant};
  }
  if (node.op() == "Mul")
    return emit_wide_product(importer, node, ops, operand[0], operand[1], shape, out, limits,
                             result);
  return emit_wide_sum(importer, node, ops, operand[0], operand[1], node.op() == "Sub", shape, out,
                       limits, result);
}

// Operands of which one has 16 bits.
void defer_wide(Importer& importer, const NodeView& node, const Operand& left, const Operand& right,
                const Shape& shape) {
  const auto pending = importer.defer(node, shape);
  const std::string* ops = &pending->ops;
  pending->emit = [&importer, &node, left, right, ops, shape](const Quant& out, Limits limits,
                                                              ValueId* result) {
    return emit_wide(importer, node, *ops, left, right, shape, out, limits, result);
  };
}

// Add and Mul of dequantised tensors: QLinearAdd, QLinearMul, or where ONNX Runtime has none for
// their types, the float operator.
void defer_operands(Importer& importer, const NodeView& node, const Operand& left,
                    const Operand& right, const Shape& shape, std::shared_ptr<const Pairs> pairs) {
  const auto pending = importer.defer(node, shape);
  pending->pairs = pairs;
  const std::string* ops = &pending->ops;
  pending->emit = [&importer, &node, left, right, ops, shape, pairs](
                      const Quant& out, Limits limits, ValueId* result) {
    if (out.is_wide())
      return emit_wide(importer, node, *ops, left, right, shape, out, limits, result);
    if (!types_fit(left, right, out))
      return importer.quantize_pairs(node, *pairs, shape, out, limits, result);
    return emit(importer, node, *ops, left, right, 1, out, limits, result);
  };
}

// Min and Max of any tables: rounding keeps the order, so the operands are quantised first. More
// than two are taken in turn.
Status defer_min_max(Importer& importer, const NodeView& node, const Shape& shape,
                     std::shared_ptr<const Pairs> pairs) {
  const auto pending = importer.defer(node, shape);
  pending->pairs = std::move(pairs);
  std::vector<Tensor> inputs;
  for (int i = 0; i < node.input_count(); ++i) inputs.push_back(importer.input(node, i));
  pending->emit = [&importer, &node, inputs](const Quant& out, Limits limits, ValueId* result) {
    ValueId y = kNoValue;
    for (const Tensor& t : inputs) {
      ValueId x = kNoValue;
      QRT_TRY(importer.quantize_tensor(node, t, out, limits, &x));
      if (x == kNoValue) return Status();
      y = y == kNoValue ? x : importer.min_max(node, y, x, node.op() == "Max", &out);
    }
    importer.became(node, "MinMax", "I0");
    *result = y;
    return Status();
  };
  return Status();
}

// Min and Max where every input is a table, or a constant beside one. *taken: it was one.
Status import_min_max(Importer& importer, const NodeView& node, bool* taken) {
  Shape shape = importer.input(node, 0).shape;
  int tables = 0;
  for (int i = 0; i < node.input_count(); ++i) {
    const Tensor& t = importer.input(node, i);
    std::vector<float> real;
    const bool is_constant = t.is_constant() && importer.constant_floats(t, &real);
    if (!t.is_table() && !is_constant) return Status();
    tables += t.is_table();
    Shape joined;
    QRT_MODEL_CHECK(broadcast(shape, t.shape, &joined), "shapes %s and %s do not broadcast",
                    shape.to_string().c_str(), t.shape.to_string().c_str());
    shape = joined;
  }
  *taken = tables > 0;
  if (!*taken) return Status();
  Pairs a, b;
  std::shared_ptr<const Pairs> pairs;
  if (node.input_count() == 2 && importer.pairs_of(node, 0, &a) && importer.pairs_of(node, 1, &b))
    pairs = importer.joined(node, a, b, function_of(node.op()));
  return defer_min_max(importer, node, shape, std::move(pairs));
}

// The input that is a function of 16 bits, or -1.
int wide_input(const Importer& importer, const NodeView& node) {
  for (int i = 0; i < 2; ++i)
    if (const Tensor& t = importer.input(node, i); t.is_table() && t.quant->is_wide()) return i;
  return -1;
}

// A tensor of 16 bits, input `x_input`, and a constant that varies along one axis of it. *taken:
// they are that.
Status combine_wide_with_constant(Importer& importer, const NodeView& node, int x_input,
                                  const Shape& shape, bool* taken) {
  const Tensor &x = importer.input(node, x_input), &c = importer.input(node, 1 - x_input);
  const std::string& op = node.op();
  std::vector<float> values;
  int axis = -1;
  *taken = x.is_dequantized() && x.quant->per_tensor() && shape == x.shape && c.is_constant() &&
           op != "Min" && op != "Max" && !(op == "Div" && x_input == 1) &&
           !(op == "PRelu" && x_input == 1) && importer.constant_floats(c, &values) &&
           varying_axis(c.shape, shape, &axis) && axis >= 0;
  if (!*taken) return Status();
  const WideOperand operand = {x.value, *x.quant};
  WideAffine f;
  bool is_finite = true;
  for (float v : values) {
    const auto real = static_cast<double>(v);
    const bool adds = op == "Add" || op == "Sub";
    f.factor.push_back(adds          ? (op == "Sub" && x_input == 1 ? -1 : 1)
                       : op == "Div" ? 1 / real
                                     : real);
    f.addend.push_back(!adds ? 0 : op == "Sub" && x_input == 0 ? -real : real);
    is_finite = is_finite && std::isfinite(f.factor.back()) && std::isfinite(v);
  }
  if (!is_finite)
    return importer.refuse(node, "the constant '" + node.input(1 - x_input) + "' makes infinities",
                           node.input(1 - x_input), "correct the constant");
  const auto pending = importer.defer(node, shape);
  const std::string* ops = &pending->ops;
  const bool is_prelu = op == "PRelu";
  pending->emit = [&importer, &node, operand, axis, f, values, is_prelu, ops](
                      const Quant& out, Limits limits, ValueId* result) {
    return is_prelu
               ? emit_wide_prelu(importer, node, *ops, operand, axis, values, out, limits, result)
               : emit_wide_affine(importer, node, *ops, operand, axis, f, out, limits, result);
  };
  return Status();
}

}  // namespace

Status import_binary(Importer& importer, const NodeView& node) {
  if (fold_constants(importer, node)) return Status();
  bool taken = false;
  QRT_TRY(import_integer_operator(importer, node, &taken));
  if (taken) return Status();
  const std::string& op = node.op();
  const bool orders = op == "Min" || op == "Max";
  if (orders && node.input_count() == 1) return import_identity(importer, node);
  if (orders && node.input_count() > 2) {
    QRT_TRY(import_min_max(importer, node, &taken));
    if (taken) return Status();
  }
  if (node.input_count() != 2)
    return importer.refuse(node, "it has " + std::to_string(node.input_count()) + " inputs",
                           node.output(0), "use operators of two inputs");
  const Tensor &a = importer.input(node, 0), &b = importer.input(node, 1);
  for (int product = 0; op == "Add" && product < 2; ++product) {
    QRT_TRY(import_matmul_add(importer, node, product, &taken));
    if (taken) return Status();
  }
  Shape shape;
  QRT_MODEL_CHECK(broadcast(a.shape, b.shape, &shape), "shapes %s and %s do not broadcast",
                  a.shape.to_string().c_str(), b.shape.to_string().c_str());
  Operand left, right;
  const bool known = (op == "Add" || op == "Mul" || op == "Sub") && as_operand(a, &left) &&
                     as_operand(b, &right) && !(left.constant && right.constant);
  const bool wide = known && any_wide(left, right);
  const bool operands = known && !wide && op != "Sub";
  if (!operands) {
    // One table for each index of one axis is less than a table of pairs.
    if (a.is_table() && b.is_constant()) QRT_TRY(combine_with_constant(importer, node, 0, &taken));
    if (a.is_constant() && b.is_table() && op != "PRelu")
      QRT_TRY(combine_with_constant(importer, node, 1, &taken));
    if (!taken && a.is_table() && b.is_table() && a.value == b.value && a.shape == b.shape)
      QRT_TRY(combine_tables(importer, node, &taken));
    if (!taken && orders) QRT_TRY(import_min_max(importer, node, &taken));
    if (taken) return Status();
  }
  if (wide) {
    defer_wide(importer, node, left, right, shape);
    return Status();
  }
  if (const int i = wide_input(importer, node); i >= 0) {
    QRT_TRY(combine_wide_with_constant(importer, node, i, shape, &taken));
    if (taken) return Status();
    return importer.refuse(node,
                           "input '" + node.input(i) +
                               "' has 16 bits, of which only Add, Sub, Mul, Min and Max of two "
                               "tensors have an integer form, and functions of one with constants "
                               "along one axis",
                           node.input(i), "quantise its inputs to 8 bits");
  }
  for (int i = 0; i < 2; ++i) {
    Pairs one;
    if (importer.pairs_of(node, i, &one)) continue;
    return varies_too_much(importer, node, i) ? refuse_constant(importer, node, i)
                                              : importer.refuse_float(node, i);
  }
  Pairs x, y;
  importer.pairs_of(node, 0, &x);
  importer.pairs_of(node, 1, &y);
  const auto pairs = importer.joined(node, x, y, function_of(op));
  if (!pairs)
    return importer.refuse(node, "it is a float function of more than two tensors", node.output(0),
                           "put QuantizeLinear and DequantizeLinear on its inputs");
  if (operands) {
    defer_operands(importer, node, left, right, shape, pairs);
    return Status();
  }
  Tensor result;
  result.kind = Tensor::Kind::kPairs;
  result.type = kFloat;
  result.shape = shape;
  result.pairs = pairs;
  importer.set_output(node, 0, std::move(result));
  return Status();
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
      node.has_input(7) ? static_cast<int>(kUndefined) : operand[0].quant.type, &out));
  if (!out) return Status();
  if (operand[0].constant && operand[1].constant)
    return importer.refuse(node, "both inputs are constants", node.output(0),
                           "simplify the model (constant folding) before conversion");
  if (!types_fit(operand[0], operand[1], *out))
    return importer.refuse(
        node,
        std::string("its tensors are ") + element_type_name(operand[0].quant.type) + ", " +
            element_type_name(operand[1].quant.type) + " and " + element_type_name(out->type) +
            ": ONNX Runtime has no integer form for mixed types",
        node.output(0), "quantise inputs and output to one type");
  Tensor y;
  y.kind = Tensor::Kind::kValue;
  y.type = out->type;
  QRT_TRY(emit(importer, node, node.op(), operand[0], operand[1], 3, *out, Limits(), &y.value));
  if (y.value == kNoValue) return Status();
  y.shape = importer.shape_of(y.value);
  importer.set_output(node, 0, std::move(y));
  return Status();
}

}  // namespace qrt::convert::from_onnx
