// SPDX-License-Identifier: Apache-2.0
// Operators on integers that no scale belongs to: a model's computations between 8-bit inputs and
// outputs without quantisation. Operators on two 8-bit tensors become a PairLut; wider types have
// the operator Integer; Min, Max and Clip take every integer type. Truth values are bytes 0 and 1.
#include "converter/import/onnx/ops/integer.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "converter/import/onnx/ops/handlers.h"
#include "converter/import/onnx/remedies.h"
#include "converter/import/onnx/run_integers.h"

namespace qrt::convert::from_onnx {

namespace {

// Returns the parameters of integers without a scale.
Quant plain(int type) {
  Quant q;
  ir_type(type, &q.type);
  return q;
}

}  // namespace

bool is_byte(int type) { return type == kUint8 || type == kInt8; }

int offset_of(int type) { return type == kInt8 ? 128 : 0; }

bool is_integer_value(const Tensor& t) {
  return t.is_value() && (is_byte(t.type) || t.type == kUint16 || t.type == kInt16 ||
                          t.type == kInt32 || t.type == kInt64 || t.type == kBool);
}

ValueId integer_value(Importer& importer, const NodeView& node, int i) {
  const Tensor& t = importer.input(node, i);
  if (t.is_value()) return t.value;
  const Constant& c = *t.constant;
  if (is_byte(t.type) || t.type == kBool || t.type == kUint16)
    return stored_constant(importer, c, plain(t.type), node.input(i));
  DType dtype;
  ir_type(t.type, &dtype);
  return importer.graph().add_constant(node.input(i), dtype, t.shape, c.data);
}

bool has_type(const Tensor& t, int type) {
  return t.type == type && (t.is_value() || t.is_plain_constant());
}

void set_value(Importer& importer, const NodeView& node, int type, ValueId value) {
  Tensor y;
  y.kind = Tensor::Kind::kValue;
  y.type = type;
  y.value = value;
  y.shape = importer.builder().shape_of(value);
  importer.set_output(node, 0, std::move(y));
}

Status refuse_types(Importer& importer, const NodeView& node, int type) {
  return importer.refuse(node,
                         std::string("it computes on ") + element_type_name(type) +
                             " without quantisation, of which qrt has no such operator",
                         node.input(0), remedy_to_compute_outside(importer, node));
}

namespace {

// Wraps to two's complement: returns the low byte of v as the type has it.
int wrapped(int v, int type) {
  return type == kInt8 ? static_cast<int8_t>(static_cast<uint8_t>(v)) : static_cast<uint8_t>(v);
}

// Quotients round towards zero; dividing by 0 gives 0.
int quotient(int a, int b) { return b == 0 ? 0 : a / b; }

// Returns the remainder: Mod has the sign of the divisor, with fmod that of the dividend; by 0 it gives 0.
int modulo(int a, int b, bool fmod) {
  if (b == 0) return 0;
  const int r = a % b;
  return !fmod && r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

using ByteFunction = std::function<int(int, int)>;

// Returns the operator's function of bytes, null where it has no such form. *is_truth: it compares.
ByteFunction function_of(const NodeView& node, bool* is_truth) {
  const std::string& op = node.op();
  *is_truth = true;
  if (op == "Equal") return [](int a, int b) { return a == b; };
  if (op == "Less") return [](int a, int b) { return a < b; };
  if (op == "LessOrEqual") return [](int a, int b) { return a <= b; };
  if (op == "Greater") return [](int a, int b) { return a > b; };
  if (op == "GreaterOrEqual") return [](int a, int b) { return a >= b; };
  *is_truth = false;
  if (op == "Add") return [](int a, int b) { return a + b; };
  if (op == "Sub") return [](int a, int b) { return a - b; };
  if (op == "Mul") return [](int a, int b) { return a * b; };
  if (op == "Div") return quotient;
  if (op == "Mod")
    return [fmod = node.integer("fmod", 0) != 0](int a, int b) { return modulo(a, b, fmod); };
  if (op == "BitwiseAnd" || op == "And") return [](int a, int b) { return a & b; };
  if (op == "BitwiseOr" || op == "Or") return [](int a, int b) { return a | b; };
  if (op == "BitwiseXor" || op == "Xor") return [](int a, int b) { return a ^ b; };
  if (op == "BitShift") {
    const bool left = node.text("direction", "") == "LEFT";
    return [left](int a, int b) { return b > 7 ? 0 : left ? a << b : a >> b; };
  }
  return nullptr;
}

// Operands of the operator Integer: uint16 as it is outside the graph. A number that may be another at other sizes is one
// of the run.
ValueId raw_value(Importer& importer, const NodeView& node, int i) {
  const Tensor& t = importer.input(node, i);
  if (t.is_plain_constant() && (t.type == kInt64 || t.type == kInt32) &&
      t.constant->elements() == 1 && importer.may_differ_at_other_sizes(node, i))
    return RunIntegers(importer, node).numbers(*t.constant);
  return plain_value(importer, node.input(i), importer.input(node, i));
}

ValueId raw_scalar(Importer& importer, int type, int64_t v) {
  DType dtype;
  ir_type(type, &dtype);
  std::vector<uint8_t> bytes(dtype_bytes(dtype));
  memcpy(bytes.data(), &v, bytes.size());  // the low bytes
  return importer.graph().add_constant("", dtype, {}, bytes);
}

ValueId add_integer(Importer& importer, const NodeView& node, fb::IntegerFunction function,
                    ValueId a, ValueId b) {
  Graph& graph = importer.graph();
  Shape shape;
  broadcast(importer.builder().shape_of(a), importer.builder().shape_of(b), &shape);
  const bool compares = function >= fb::IntegerFunction::EQUAL;
  const DType dtype = compares ? DType::kUInt8 : graph.values[a].type.dtype;
  const ValueId y = importer.builder().new_value("", dtype, shape);
  Node n = make_node<fb::IntegerOptionsT>(node.name(), node.op(), {a, b}, {y});
  options<fb::IntegerOptionsT>(n).function = function;
  graph.nodes.push_back(std::move(n));
  importer.became(node, "Integer", "I0");
  return y;
}

// A raw value as output 0.
void set_raw(Importer& importer, const NodeView& node, int type, ValueId raw) {
  set_value(importer, node, type,
            type == kUint16 ? importer.builder().stored_uint16("", raw) : raw);
}

// Finds the function that an operator on two integer tensors of more than 8 bits computes. *swap:
// with its operands exchanged. Returns false where there is none.
bool integer_function(const NodeView& node, fb::IntegerFunction* function, bool* swap) {
  using F = fb::IntegerFunction;
  static const struct {
    const char* op;
    F function;
    bool swap;
  } kFunctions[] = {{"Add", F::ADD, false},
                    {"Sub", F::SUB, false},
                    {"Mul", F::MUL, false},
                    {"Div", F::DIV, false},
                    {"Mod", F::MOD, false},
                    {"BitwiseAnd", F::AND, false},
                    {"BitwiseOr", F::OR, false},
                    {"BitwiseXor", F::XOR, false},
                    {"BitShift", F::SHIFT_RIGHT, false},
                    {"Equal", F::EQUAL, false},
                    {"Less", F::LESS, false},
                    {"LessOrEqual", F::LESS_OR_EQUAL, false},
                    {"Greater", F::LESS, true},
                    {"GreaterOrEqual", F::LESS_OR_EQUAL, true}};
  for (const auto& known : kFunctions) {
    if (node.op() != known.op) continue;
    *function = known.function;
    *swap = known.swap;
    if (node.op() == "Mod" && node.integer("fmod", 0) != 0) *function = F::FMOD;
    if (node.op() == "BitShift" && node.text("direction", "") == "LEFT") *function = F::SHIFT_LEFT;
    return true;
  }
  return false;
}

Status import_integer_binary(Importer& importer, const NodeView& node, int type) {
  fb::IntegerFunction function;
  bool swap;
  if (!integer_function(node, &function, &swap)) return refuse_types(importer, node, type);
  const ValueId a = raw_value(importer, node, swap ? 1 : 0);
  const ValueId b = raw_value(importer, node, swap ? 0 : 1);
  const bool compares = function >= fb::IntegerFunction::EQUAL;
  set_raw(importer, node, compares ? static_cast<int>(kBool) : type,
          add_integer(importer, node, function, a, b));
  return Status();
}

// Imports an operator on one integer tensor of more than 8 bits.
Status import_integer_unary(Importer& importer, const NodeView& node) {
  using F = fb::IntegerFunction;
  const std::string& op = node.op();
  const int type = importer.input(node, 0).type;
  const bool is_signed = type != kUint16;
  const ValueId x = raw_value(importer, node, 0);
  const auto scalar = [&](int64_t v) { return raw_scalar(importer, type, v); };
  const auto negated = [&] { return add_integer(importer, node, F::SUB, scalar(0), x); };
  ValueId y = x;
  if (op == "Neg") y = negated();
  if (op == "BitwiseNot") y = add_integer(importer, node, F::XOR, x, scalar(-1));
  if (op == "Abs" && is_signed) y = importer.builder().min_max(node, x, negated(), true);
  if (op == "Relu" && is_signed) y = importer.builder().min_max(node, x, scalar(0), true);
  if (op == "Sign") {
    y = importer.builder().min_max(node, x, scalar(1), false);
    if (is_signed) y = importer.builder().min_max(node, y, scalar(-1), true);
  }
  if (y != x) importer.became(node, op == "Sign" || op == "Relu" ? "MinMax" : "Integer", "I0");
  set_raw(importer, node, type, y);
  return Status();
}

Status import_pair_lut(Importer& importer, const NodeView& node, int type) {
  bool is_truth;
  const ByteFunction f = function_of(node, &is_truth);
  if (!f) return importer.refuse_float(node, 0);
  if (!is_byte(type) && type != kBool) return import_integer_binary(importer, node, type);
  const int to = is_truth ? static_cast<int>(kBool) : type;
  const int from = offset_of(type), back = offset_of(to);
  std::vector<uint8_t> table(65536);
  for (int i = 0; i < 65536; ++i)
    table[static_cast<size_t>(i)] =
        static_cast<uint8_t>(wrapped(f(i / 256 - from, i % 256 - from), to) + back);
  const ValueId a = integer_value(importer, node, 0), b = integer_value(importer, node, 1);
  Shape shape;
  broadcast(importer.builder().shape_of(a), importer.builder().shape_of(b), &shape);
  set_value(importer, node, to,
            importer.builder().pair_lut(node, a, b, shape, DType::kUInt8, table, nullptr));
  importer.became(node, "PairLut", "I0");
  return Status();
}

// Imports min(max(x, lower), upper); a bound may be missing, or computed.
Status import_integer_clip(Importer& importer, const NodeView& node) {
  const Tensor& x = importer.input(node, 0);
  ValueId y = x.value;
  for (int i = 1; i <= 2; ++i) {
    if (!node.has_input(i)) continue;
    const Tensor& bound = importer.input(node, i);
    if (!has_type(bound, x.type)) return importer.refuse_float(node, i);
    QRT_MODEL_CHECK(bound.shape.elements() == 1, "limit %d has shape %s, expected one element", i,
                    bound.shape.to_string().c_str());
    ValueId v = integer_value(importer, node, i);
    if (importer.builder().shape_of(v).rank() > 0 && importer.graph().values[v].is_constant)
      importer.graph().values[v].type.shape = Shape();
    else if (importer.builder().shape_of(v).rank() > 0)
      v = importer.builder().reshape(node, v, Shape());
    y = importer.builder().min_max(node, y, v, i == 1);
    importer.became(node, "MinMax", "I0");
  }
  set_value(importer, node, x.type, y);
  return Status();
}

// A function of one byte.
Status map_bytes(Importer& importer, const NodeView& node, const std::function<int(int)>& f) {
  const Tensor& x = importer.input(node, 0);
  if (!is_byte(x.type) && x.type != kBool) return import_integer_unary(importer, node);
  const int offset = offset_of(x.type);
  std::vector<uint8_t> table(256);
  for (int i = 0; i < 256; ++i)
    table[static_cast<size_t>(i)] = static_cast<uint8_t>(wrapped(f(i - offset), x.type) + offset);
  set_value(importer, node, x.type,
            importer.builder().lut(node, x.value, table, false, "", nullptr));
  importer.became(node, "Lut", "I0");
  return Status();
}

}  // namespace

Status import_integer_operator(Importer& importer, const NodeView& node, bool* taken) {
  int type = kUndefined;
  for (int i = 0; i < node.input_count(); ++i) {
    const Tensor& t = importer.input(node, i);
    if (is_integer_value(t)) type = t.type;
  }
  *taken = type != kUndefined;
  if (!*taken) return Status();
  if (node.op() == "Clip") return import_integer_clip(importer, node);
  if (node.input_count() == 1) {
    if (node.op() == "Abs") return map_bytes(importer, node, [](int v) { return v < 0 ? -v : v; });
    if (node.op() == "Neg") return map_bytes(importer, node, [](int v) { return -v; });
    if (node.op() == "Sign")
      return map_bytes(importer, node, [](int v) { return (v > 0) - (v < 0); });
    if (node.op() == "Relu") return map_bytes(importer, node, [](int v) { return v < 0 ? 0 : v; });
    if (node.op() == "BitwiseNot") return map_bytes(importer, node, [](int v) { return ~v; });
    if (node.op() == "Not") return map_bytes(importer, node, [](int v) { return v == 0; });
  }
  Shape shape = importer.input(node, 0).shape;
  for (int i = 0; i < node.input_count(); ++i) {
    const Tensor& t = importer.input(node, i);
    if (!has_type(t, type)) return importer.refuse_float(node, i);
    Shape joined;
    QRT_MODEL_CHECK(broadcast(shape, t.shape, &joined), "shapes %s and %s do not broadcast",
                    shape.to_string().c_str(), t.shape.to_string().c_str());
    shape = joined;
  }
  if (node.op() == "Min" || node.op() == "Max") {
    ValueId y = integer_value(importer, node, 0);
    for (int i = 1; i < node.input_count(); ++i)
      y = importer.builder().min_max(node, y, integer_value(importer, node, i), node.op() == "Max");
    importer.became(node, "MinMax", "I0");
    set_value(importer, node, type, y);
    return Status();
  }
  if (node.input_count() != 2) return importer.refuse_float(node, 0);
  return import_pair_lut(importer, node, type);
}

Status import_integers(Importer& importer, const NodeView& node) {
  if (fold_node(importer, node)) return Status();
  bool taken;
  QRT_TRY(import_integer_operator(importer, node, &taken));
  return taken ? Status() : importer.refuse_float(node, 0);
}

}  // namespace qrt::convert::from_onnx
