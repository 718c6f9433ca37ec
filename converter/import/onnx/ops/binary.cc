// SPDX-License-Identifier: Apache-2.0
// Operators of two operands. Add and Mul of two quantised tensors have integer arithmetic of their
// own, and Min and Max work on quantised values, whose order is that of the reals. Other operators
// become a table if one operand is a constant or both are functions of one tensor, and a PairLut
// for two tensors.
#include <algorithm>
#include <cmath>

#include "converter/import/onnx/arithmetic/int16.h"
#include "converter/import/onnx/arithmetic/linear.h"
#include "converter/import/onnx/move.h"
#include "converter/import/onnx/no_op.h"
#include "converter/import/onnx/ops/handlers.h"
#include "converter/import/onnx/ops/sum_product.h"

namespace qrt::convert::from_onnx {
namespace {

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

// Sets *axis to the only axis along which a constant broadcast to `shape` varies, or -1 for one
// value. Returns false where it varies along several.
bool varying_axis(const Shape& constant, const Shape& shape, int* axis) {
  *axis = -1;
  for (int i = 0; i < constant.rank(); ++i) {
    if (constant[i] == 1) continue;
    if (*axis >= 0) return false;
    *axis = i + shape.rank() - constant.rank();
  }
  return true;
}

// Combines a table with a constant that varies along at most one axis. *taken stays false for other
// inputs.
Status combine_with_constant(Importer& importer, const NodeView& node, int table_input,
                             bool* taken) {
  const Tensor &x = importer.input(node, table_input), &c = importer.input(node, 1 - table_input);
  std::vector<float> values;
  if (!constant_floats(c, &values) || values.empty()) return Status();
  Shape shape;
  QRT_MODEL_CHECK(broadcast(x.shape, c.shape, &shape), "shapes %s and %s do not broadcast",
                  x.shape.to_string().c_str(), c.shape.to_string().c_str());
  int axis;
  if (shape != x.shape || !varying_axis(c.shape, x.shape, &axis)) return Status();
  const Function f = function_of(node.op());
  return map_table_along(
      importer, node, table_input, axis, values.size(),
      [&](float v, size_t at) { return table_input == 0 ? f(v, values[at]) : f(values[at], v); },
      taken);
}

// Repeats a table for each of n indices.
void repeat(size_t n, std::vector<float>* table) {
  const size_t each = table->size();
  table->reserve(n * each);
  for (size_t i = 1; i < n; ++i)
    table->insert(table->end(), table->begin(), table->begin() + static_cast<ptrdiff_t>(each));
}

// Combines two functions of the same bytes, such as x * Sigmoid(x).
Status combine_tables(Importer& importer, const NodeView& node, bool* taken) {
  Tensor y = importer.input(node, 0);
  const Tensor& b = importer.input(node, 1);
  auto table = std::make_shared<std::vector<float>>();
  std::vector<float> other;
  const int axis = std::max(y.meaning_axis(), b.meaning_axis());
  *taken = entries(y, table.get()) && entries(b, &other);
  for (const auto& [t, values] :
       {std::pair<const Tensor*, std::vector<float>*>(&y, table.get()), {&b, &other}}) {
    *taken = *taken && (t->meaning_axis() == axis || t->meaning_axis() < 0);
    if (*taken && t->meaning_axis() < axis) repeat(static_cast<size_t>(t->shape[axis]), values);
  }
  if (!*taken) return Status();
  const Function f = function_of(node.op());
  std::transform(table->begin(), table->end(), other.begin(), table->begin(), f);
  y.table_axis = axis;
  y.table = std::move(table);
  importer.set_output(node, 0, std::move(y));
  return Status();
}

// Returns whether input i is a constant that can be read as floats. Such a constant, which no form
// has taken so far, varies along several axes.
bool varies_too_much(const Importer& importer, const NodeView& node, int i) {
  std::vector<float> values;
  const Tensor& t = importer.input(node, i);
  return t.is_constant() && constant_floats(t, &values);
}

Status refuse_constant(Importer& importer, const NodeView& node, int i) {
  const std::string shape = importer.input(node, i).shape.to_string();
  return importer.refuse(
      node,
      "the constant '" + node.input(i) + "' of shape " + shape + " varies along more than one axis",
      node.input(i), "put the constant behind a DequantizeLinear: integers with a scale");
}

// Defers an operator one of whose operands has 16 bits.
void defer_int16(Importer& importer, const NodeView& node, const Operand& left,
                 const Operand& right, const Shape& shape) {
  const auto pending = defer(importer, node, shape);
  const std::string* ops = &pending->ops;
  pending->emit = [&importer, &node, left, right, ops, shape](const Quant& out, Limits limits,
                                                              ValueId* result) {
    return emit_int16(importer, node, *ops, left, right, shape, out, limits, result);
  };
}

// Defers an Add or Mul of dequantised tensors, which becomes QLinearAdd or QLinearMul, or the float
// operator for types that ONNX Runtime's operators do not take.
void defer_operands(Importer& importer, const NodeView& node, const Operand& left,
                    const Operand& right, const Shape& shape,
                    std::shared_ptr<const PairFunction> pairs) {
  const auto pending = defer(importer, node, shape);
  pending->pair_function = pairs;
  const std::string* ops = &pending->ops;
  pending->emit = [&importer, &node, left, right, ops, shape, pairs](
                      const Quant& out, Limits limits, ValueId* result) {
    if (out.is_int16())
      return emit_int16(importer, node, *ops, left, right, shape, out, limits, result);
    if (!types_fit(left, right, out))
      return quantize_pair_function(importer, node, *pairs, shape, out, limits, result);
    return emit_byte(importer, node, *ops, left, right, 1, out, limits, result);
  };
}

// Defers a Min or Max of functions. Operands are quantised first, since rounding keeps their order.
// More than two operands are combined one after the other.
void defer_min_max(Importer& importer, const NodeView& node, const Shape& shape,
                   std::vector<Tensor> inputs, std::shared_ptr<const PairFunction> pairs) {
  const auto pending = defer(importer, node, shape);
  pending->is_function = true;
  pending->pair_function = std::move(pairs);
  pending->emit = [&importer, &node, inputs](const Quant& out, Limits limits, ValueId* result) {
    ValueId y = kNoValue;
    for (const Tensor& t : inputs) {
      ValueId x = kNoValue;
      QRT_TRY(quantize_tensor(importer, node, t, out, limits, &x));
      if (x == kNoValue) return Status();
      y = y == kNoValue ? x : importer.builder().min_max(node, y, x, node.op() == "Max", &out);
    }
    importer.became(node, "MinMax", "I0");
    *result = y;
    return Status();
  };
}

// Imports a Min or Max whose inputs are all functions, or a function and a constant. *taken stays
// false for others.
Status import_min_max(Importer& importer, const NodeView& node, bool* taken) {
  Shape shape = importer.input(node, 0).shape;
  int functions = 0;
  std::vector<Tensor> inputs;
  for (int i = 0; i < node.input_count(); ++i) {
    Tensor t;
    if (!read_function(importer, node, i, &t)) return Status();
    functions += !t.is_constant();
    Shape joined;
    QRT_MODEL_CHECK(broadcast(shape, t.shape, &joined), "shapes %s and %s do not broadcast",
                    shape.to_string().c_str(), t.shape.to_string().c_str());
    shape = joined;
    inputs.push_back(std::move(t));
  }
  *taken = functions > 0;
  if (!*taken) return Status();
  PairFunction a, b;
  std::shared_ptr<const PairFunction> pairs;
  if (node.input_count() == 2 && pair_function_of(importer, node, 0, &a) &&
      pair_function_of(importer, node, 1, &b))
    pairs = joined(importer, node, a, b, function_of(node.op()));
  defer_min_max(importer, node, shape, std::move(inputs), std::move(pairs));
  return Status();
}

// Returns the input that is a function of 16 bits, or -1.
int int16_input(const Importer& importer, const NodeView& node) {
  for (int i = 0; i < 2; ++i)
    if (const Tensor& t = importer.input(node, i); t.is_table() && t.quant->is_int16()) return i;
  return -1;
}

// Combines a tensor of 16 bits, input `x_input`, with a constant that varies along one axis. *taken
// stays false for other inputs.
Status combine_int16_with_constant(Importer& importer, const NodeView& node, int x_input,
                                   const Shape& shape, bool* taken) {
  const Tensor &x = importer.input(node, x_input), &c = importer.input(node, 1 - x_input);
  const std::string& op = node.op();
  std::vector<float> values;
  int axis = -1;
  *taken = x.is_dequantized() && x.quant->per_tensor() && shape == x.shape && c.is_constant() &&
           op != "Min" && op != "Max" && !(op == "Div" && x_input == 1) &&
           !(op == "PRelu" && x_input == 1) && constant_floats(c, &values) &&
           varying_axis(c.shape, shape, &axis) && axis >= 0;
  if (!*taken) return Status();
  const Int16Operand operand = {x.value, *x.quant};
  Int16Affine f;
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
    return importer.refuse(
        node, "the constant '" + node.input(1 - x_input) + "' makes infinities",
        node.input(1 - x_input),
        "export the model with a finite constant, other than 0 where it divides");
  const auto pending = defer(importer, node, shape);
  const std::string* ops = &pending->ops;
  const bool is_prelu = op == "PRelu";
  pending->emit = [&importer, &node, operand, axis, f, values, is_prelu, ops](
                      const Quant& out, Limits limits, ValueId* result) {
    return is_prelu
               ? emit_int16_prelu(importer, node, *ops, operand, axis, values, out, limits, result)
               : emit_int16_affine(importer, node, *ops, operand, axis, f, out, limits, result);
  };
  return Status();
}

}  // namespace

Status import_binary(Importer& importer, const NodeView& node) {
  if (fold_node(importer, node)) return Status();
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
                           node.output(0), "split it into operators of two inputs each");
  const Tensor &a = importer.input(node, 0), &b = importer.input(node, 1);
  int same;
  QRT_TRY(neutral_operand(node, &importer.tensors(), &same));
  if (same >= 0 &&
      importer.input(node, same).shape.rank() >= importer.input(node, 1 - same).shape.rank()) {
    pass_on(importer, node, same);
    return Status();
  }
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
  const bool is_int16 = known && any_int16(left, right);
  const bool operands = known && !is_int16 && op != "Sub";
  if (!operands) {
    // One table for each index of an axis is smaller than a PairLut.
    if (a.is_table() && b.is_constant()) QRT_TRY(combine_with_constant(importer, node, 0, &taken));
    if (a.is_constant() && b.is_table() && op != "PRelu")
      QRT_TRY(combine_with_constant(importer, node, 1, &taken));
    if (!taken && a.is_table() && b.is_table() && a.value == b.value && a.shape == b.shape)
      QRT_TRY(combine_tables(importer, node, &taken));
    if (!taken && orders) QRT_TRY(import_min_max(importer, node, &taken));
    if (taken) return Status();
  }
  if (is_int16) {
    defer_int16(importer, node, left, right, shape);
    return Status();
  }
  if (const int i = int16_input(importer, node); i >= 0) {
    QRT_TRY(combine_int16_with_constant(importer, node, i, shape, &taken));
    if (taken) return Status();
    return importer.refuse(node,
                           "input '" + node.input(i) +
                               "' has 16 bits, of which only Add, Sub, Mul, Min and Max of two "
                               "tensors have an integer form, and functions of one with constants "
                               "along one axis",
                           node.input(i), "quantise its inputs to 8 bits");
  }
  for (int i = 0; i < 2; ++i) {
    PairFunction one;
    if (pair_function_of(importer, node, i, &one)) continue;
    return varies_too_much(importer, node, i) ? refuse_constant(importer, node, i)
                                              : importer.refuse_float(node, i);
  }
  PairFunction x, y;
  pair_function_of(importer, node, 0, &x);
  pair_function_of(importer, node, 1, &y);
  const auto pairs = joined(importer, node, x, y, function_of(op));
  if (!pairs)
    return importer.refuse(node, "it is a float function of more than two tensors", node.output(0),
                           "put QuantizeLinear and DequantizeLinear on its inputs");
  if (operands) {
    defer_operands(importer, node, left, right, shape, pairs);
    return Status();
  }
  Tensor result;
  result.kind = Tensor::Kind::kPairFunction;
  result.type = kFloat;
  result.shape = shape;
  result.pair_function = pairs;
  importer.set_output(node, 0, std::move(result));
  return Status();
}

}  // namespace qrt::convert::from_onnx
