// Operators of two operands. Add and Mul of two quantised tensors have integer arithmetic of their
// own; with a constant, or of two functions of one tensor, every operator is a table.
#include <algorithm>
#include <cmath>

#include "converter/import/onnx_linear.h"
#include "converter/import/onnx_ops.h"

namespace qrt::convert::from_onnx {
namespace {

// An operand of QLinearAdd or QLinearMul.
struct Operand {
  ValueId value = kNoValue;  // kNoValue: `constant`
  ConstantPtr constant;
  Quant quant;
  Shape shape;
};

bool broadcast(const Shape& a, const Shape& b, Shape* result) {
  *result = Shape();
  const int rank = std::max(a.rank(), b.rank());
  for (int i = 0; i < rank; ++i) {
    const int at_a = i - (rank - a.rank()), at_b = i - (rank - b.rank());
    const int64_t da = at_a < 0 ? 1 : a[at_a], db = at_b < 0 ? 1 : b[at_b];
    if (da != db && da != 1 && db != 1) return false;
    result->push_back(da == 1 ? db : da);
  }
  return true;
}

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
  if (a.quant.type != b.quant.type || a.quant.type != out.type)
    return importer.refuse(node,
                           std::string("its tensors are ") + element_type_name(a.quant.type) +
                               ", " + element_type_name(b.quant.type) + " and " +
                               element_type_name(out.type) +
                               ": ONNX Runtime has no integer form for mixed types",
                           node.output(0), "quantise inputs and output to one type");
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

// A dequantised 8-bit tensor or constant, as a whole: what QLinearAdd and QLinearMul take.
bool as_operand(const Tensor& t, Operand* o) {
  if (!t.quant || !t.quant->per_tensor() || (t.type != kUint8 && t.type != kInt8)) return false;
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

Status combine_with_constant(Importer& importer, const NodeView& node, int table_input) {
  Tensor y = importer.input(node, table_input);
  const Tensor& c = importer.input(node, 1 - table_input);
  std::vector<float> values;
  if (!importer.constant_floats(c, &values)) return importer.refuse_float(node, 1 - table_input);
  Shape shape;
  QRT_MODEL_CHECK(broadcast(y.shape, c.shape, &shape), "shapes %s and %s do not broadcast",
                  y.shape.to_string().c_str(), c.shape.to_string().c_str());
  int axis;
  const int before = y.table ? y.table_axis : y.quant->axis;
  if (shape != y.shape || !varying_axis(c.shape, y.shape, &axis) ||
      (axis >= 0 && before >= 0 && axis != before))
    return importer.refuse(node,
                           "the constant '" + node.input(1 - table_input) + "' of shape " +
                               c.shape.to_string() + " varies along more than one axis",
                           node.input(1 - table_input), "quantise the constant");
  auto table = std::make_shared<std::vector<float>>();
  if (!importer.entries(y, table.get()) || values.size() > (size_t{1} << 16))
    return importer.refuse(node, "a table for each index of the axis is too large", node.output(0),
                           "quantise the constant");
  if (axis >= 0 && before < 0) {
    const std::vector<float> one = *table;
    for (size_t i = 1; i < values.size(); ++i) table->insert(table->end(), one.begin(), one.end());
  }
  const Function f = function_of(node.op());
  for (size_t i = 0; i < table->size(); ++i) {
    const float v = values[axis >= 0 ? i / 256 : 0];
    float& entry = (*table)[i];
    entry = table_input == 0 ? f(entry, v) : f(v, entry);
  }
  y.table = std::move(table);
  y.table_axis = axis >= 0 ? axis : before;
  importer.set_output(node, 0, std::move(y));
  return Status();
}

// Two functions of the same bytes, such as x * Sigmoid(x).
Status combine_tables(Importer& importer, const NodeView& node) {
  Tensor y = importer.input(node, 0);
  const Tensor& b = importer.input(node, 1);
  auto table = std::make_shared<std::vector<float>>();
  std::vector<float> other;
  if (!importer.entries(y, table.get()) || !importer.entries(b, &other) ||
      table->size() != other.size())
    return importer.refuse_float(node, 0);
  const Function f = function_of(node.op());
  std::transform(table->begin(), table->end(), other.begin(), table->begin(), f);
  if (!y.table) y.table_axis = y.quant->axis;
  y.table = std::move(table);
  importer.set_output(node, 0, std::move(y));
  return Status();
}

}  // namespace

Status import_binary(Importer& importer, const NodeView& node) {
  if (fold_constants(importer, node)) return Status();
  const std::string& op = node.op();
  if (node.input_count() != 2)
    return importer.refuse(node, "it has " + std::to_string(node.input_count()) + " inputs",
                           node.output(0), "use operators of two inputs");
  const Tensor &a = importer.input(node, 0), &b = importer.input(node, 1);
  Operand left, right;
  if ((op == "Add" || op == "Mul") && as_operand(a, &left) && as_operand(b, &right) &&
      !(left.constant && right.constant)) {
    Shape shape;
    QRT_MODEL_CHECK(broadcast(a.shape, b.shape, &shape), "shapes %s and %s do not broadcast",
                    a.shape.to_string().c_str(), b.shape.to_string().c_str());
    const auto pending = importer.defer(node, shape);
    const std::string* ops = &pending->ops;
    pending->emit = [&importer, &node, left, right, ops](const Quant& out, Limits limits,
                                                         ValueId* result) {
      return emit(importer, node, *ops, left, right, 1, out, limits, result);
    };
    return Status();
  }
  for (int product = 0; op == "Add" && product < 2; ++product) {
    bool taken;
    QRT_TRY(import_matmul_add(importer, node, product, &taken));
    if (taken) return Status();
  }
  if (a.is_table() && b.is_constant()) return combine_with_constant(importer, node, 0);
  if (a.is_constant() && b.is_table() && op != "PRelu")
    return combine_with_constant(importer, node, 1);
  if (a.is_table() && b.is_table()) {
    if (a.value == b.value && a.shape == b.shape) return combine_tables(importer, node);
    if (a.is_dequantized() && b.is_dequantized())
      return importer.refuse(node, "ONNX Runtime computes it in float on two tensors",
                             node.output(0), "use Add or Mul of tensors quantised per tensor");
    return importer.refuse_float(node, a.is_dequantized() ? 1 : 0);
  }
  return importer.refuse_float(node, a.is_table() || a.is_constant() ? 1 : 0);
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
