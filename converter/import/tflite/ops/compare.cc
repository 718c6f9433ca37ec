// SPDX-License-Identifier: Apache-2.0
// Comparisons, the operators that join truth values, and those that choose by them. A truth value is a
// byte of 0 or 1 in the graph.
#include <array>
#include <cmath>

#include "converter/import/tflite/ops/formula.h"
#include "converter/import/tflite/ops/unary.h"

namespace qrt::convert::from_tflite {
namespace {

using B = tflite::BuiltinOperator;

struct Comparison {
  B code;
  float (*of_floats)(float, float);
  bool (*of_integers)(int32_t, int32_t);
  // The comparison as an operator Integer, perhaps of exchanged operands or with its result negated.
  fb::IntegerFunction function;
  bool exchanges, negates;
};

constexpr Comparison kComparisons[] = {
    {B::EQUAL, [](float x, float y) { return x == y ? 1.0f : 0.0f; },
     [](int32_t x, int32_t y) { return x == y; }, fb::IntegerFunction::EQUAL, false, false},
    {B::NOT_EQUAL, [](float x, float y) { return x != y ? 1.0f : 0.0f; },
     [](int32_t x, int32_t y) { return x != y; }, fb::IntegerFunction::EQUAL, false, true},
    {B::LESS, [](float x, float y) { return x < y ? 1.0f : 0.0f; },
     [](int32_t x, int32_t y) { return x < y; }, fb::IntegerFunction::LESS, false, false},
    {B::LESS_EQUAL, [](float x, float y) { return x <= y ? 1.0f : 0.0f; },
     [](int32_t x, int32_t y) { return x <= y; }, fb::IntegerFunction::LESS_OR_EQUAL, false, false},
    {B::GREATER, [](float x, float y) { return x > y ? 1.0f : 0.0f; },
     [](int32_t x, int32_t y) { return x > y; }, fb::IntegerFunction::LESS, true, false},
    {B::GREATER_EQUAL, [](float x, float y) { return x >= y ? 1.0f : 0.0f; },
     [](int32_t x, int32_t y) { return x >= y; }, fb::IntegerFunction::LESS_OR_EQUAL, true, false},
};

const Comparison& comparison_of(const Op& op) {
  const Comparison* c = kComparisons;
  while (c->code != op.code) ++c;
  return *c;
}

Status finish(Importer& importer, const Op& op, ValueId y, const char* result) {
  y = importer.builder().shape_of(y) == importer.output(op).shape
          ? y
          : importer.builder().reshape(op, y, importer.output(op).shape);
  importer.graph().values[y].name = importer.output(op).name;
  importer.set_output(op, y);
  importer.became(op, result, "I0");
  return Status();
}

ValueId negated(Importer& importer, const Op& op, ValueId x) {
  std::vector<uint8_t> table(256, 0);
  table[0] = 1;
  return importer.builder().lut(op, x, table, false, "", nullptr);
}

Status compare_integers(Importer& importer, const Op& op, const Comparison& c, ValueId x,
                        ValueId y) {
  const ValueId truth = importer.builder().new_value("", DType::kUInt8, importer.output(op).shape);
  const ValueId a = c.exchanges ? y : x, b = c.exchanges ? x : y;
  importer.builder().add<fb::IntegerOptionsT>(op, {a, b}, truth).function = c.function;
  return finish(importer, op, c.negates ? negated(importer, op, truth) : truth, "Integer");
}

// The reference compares the operands rescaled to fixed-point numbers of one unit: their scales, which
// need not be alike, times the elements times 2^8.
constexpr int kCompareLeft = 8;

struct Rescaled {
  Quant quant;
  Multiplier multiplier;

  int32_t of(int q, Rounding rounding) const {
    return multiply((q - quant.zero_point[0]) * (1 << kCompareLeft), multiplier, rounding);
  }
};

// Reads an operand and its rescaling. Returns false where the operator was refused.
bool read_rescaled(Importer& importer, const Op& op, int i, Rescaled* r) {
  const Tensor& t = importer.input(op, i);
  if (!importer.read_quant(op, t, &r->quant)) return false;
  r->multiplier = importer.multiplier(static_cast<double>(r->quant.scale[0]));
  if (r->multiplier.exponent() <= 31 - kCompareLeft - reach_bits(r->quant)) return true;
  (void)importer.refuse(op,
                        "the scale of tensor '" + t.name +
                            "' is too great, the reference's "
                            "numbers would leave int32",
                        t.name,
                        "calibrate again with samples in which this tensor takes its usual values: "
                        "qrt_convert --lint names the scales");
  return false;
}

Status compare_bytes(Importer& importer, const Op& op, const Comparison& c) {
  std::array<Rescaled, 2> in;
  for (int i = 0; i < 2; ++i)
    if (!read_rescaled(importer, op, i, &in[static_cast<size_t>(i)])) return Status();
  const Rounding rounding = importer.rounding();
  std::vector<uint8_t> table;
  for (int i = 0; i < 256; ++i) {
    const int32_t x = in[0].of(i - in[0].quant.offset(), rounding);
    for (int k = 0; k < 256; ++k)
      table.push_back(c.of_integers(x, in[1].of(k - in[1].quant.offset(), rounding)) ? 1 : 0);
  }
  const ValueId x = importer.value(op, 0), y = importer.value(op, 1);
  return finish(importer, op,
                importer.builder().pair_lut(op, x, y, importer.output(op).shape, DType::kUInt8,
                                            table, nullptr),
                "PairLut");
}

// Compares quantised int16 by EQUAL and NOT_EQUAL; the reference compares the integers as they are.
Status compare_int16(Importer& importer, const Op& op, const Comparison& c) {
  std::array<ValueId, 2> x{};
  const bool is_equality = c.code == B::EQUAL || c.code == B::NOT_EQUAL;
  for (int i = 0; i < 2; ++i) {
    const Tensor& t = importer.input(op, i);
    Rescaled r;
    if (!t.scale.empty() && !read_rescaled(importer, op, i, &r)) return Status();
    if (t.scale.empty() && t.is_constant)
      return importer.refuse(
          op, importer.quoted_input(op, i) + " has no quantisation parameters", t.name,
          "convert the model with full integer quantisation: representative_dataset and "
          "TFLITE_BUILTINS_INT8 in TFLite's converter");
    ValueId& v = x[static_cast<size_t>(i)];
    v = importer.value(op, i);
    if (!is_equality || t.scale.empty()) continue;
    const ValueId wide =
        importer.builder().new_value("", DType::kInt32, importer.builder().shape_of(v));
    auto& o = importer.builder().add<fb::RequantizeOptionsT>(op, {v}, wide);
    o.input_zero_point = r.quant.zero_point[0];
    // x * 2^8 of fewer than 32 bits, so the shift goes into the first stage.
    Multiplier shifted = r.multiplier;
    o.requant =
        int_requant(0, {INT32_MIN, INT32_MAX}, requant_stages({shifted}, importer.rounding()));
    o.requant->stages[0]->shift[0] =
        static_cast<uint8_t>(o.requant->stages[0]->shift[0] - kCompareLeft);
    v = wide;
  }
  return compare_integers(importer, op, c, x[0], x[1]);
}

Status compare_floats(Importer& importer, const Op& op, const Comparison& c) {
  Real x, y, truth;
  if (!read_real(importer, op, 0, &x) || !read_real(importer, op, 1, &y)) return Status();
  QRT_TRY(combined(x, y, c.of_floats, &truth));
  if (truth.is_constant())
    return importer.refuse(op, "it computes a constant", importer.output(op).name,
                           "make its result a constant of the model, computed before conversion");
  const std::vector<uint8_t> table(truth.table.begin(), truth.table.end());
  GraphBuilder& builder = importer.builder();
  if (truth.is_pair())
    return finish(importer, op,
                  builder.pair_lut(op, truth.a, truth.b, importer.output(op).shape, DType::kUInt8,
                                   table, nullptr),
                  "PairLut");
  return finish(importer, op, builder.lut(op, truth.a, table, false, "", nullptr), "Lut");
}

// Returns whether inputs `first` to `last` are truth values; refuses the operator where they are not.
bool are_truth_values(Importer& importer, const Op& op, int first, int last) {
  for (int i = first; i <= last; ++i) {
    const Tensor& t = importer.input(op, i);
    if (t.type == TensorType::BOOL) continue;
    (void)importer.refuse(
        op, importer.quoted_input(op, i) + " is " + type_name(t.type) + ", expected bool", t.name,
        "build the model with truth values (bool) there");
    return false;
  }
  return true;
}

Status import_logical(Importer& importer, const Op& op, bool is_or) {
  if (!are_truth_values(importer, op, 0, 1)) return Status();
  QRT_TRY(check_broadcast(importer, op));
  const ValueId x = importer.value(op, 0), y = importer.value(op, 1);
  return finish(importer, op, importer.builder().min_max(op, x, y, is_or), "MinMax");
}

// --- SELECT

// Selects floats: a function of the codes of the condition and the tensors, which are two tensors at most.
Status select_floats(Importer& importer, const Op& op) {
  const Tensor& c = importer.input(op, 0);
  Real condition, x, y, from_x, from_y, result;
  condition.a = importer.value(op, 0);
  condition.table.assign(256, 1);
  condition.table[0] = 0;
  if (c.is_constant && c.shape.elements() == 1) {
    condition.a = kNoValue;
    condition.table.assign(1, c.data[0] != 0 ? 1.0f : 0.0f);
  }
  if (!read_real(importer, op, 1, &x) || !read_real(importer, op, 2, &y)) return Status();
  // An element that is not chosen becomes NaN, which a maximum never takes but where both are NaN.
  QRT_TRY(combined(
      condition, x, [](float c, float v) { return c != 0 ? v : NAN; }, &from_x));
  QRT_TRY(combined(
      condition, y, [](float c, float v) { return c != 0 ? NAN : v; }, &from_y));
  QRT_TRY(combined(
      from_x, from_y, [](float a, float b) { return std::isnan(a) ? b : a; }, &result));
  if (result.is_constant())
    return importer.refuse(op, "it computes a constant", importer.output(op).name,
                           "make its result a constant of the model, computed before conversion");
  importer.became(op, result.is_pair() ? "PairLut" : "Lut", "I0");
  importer.set_real(op, std::move(result));
  return Status();
}

// Returns the condition of SELECT, which may be a vector with an element for each index of dimension 0.
ValueId condition_of(Importer& importer, const Op& op) {
  const ValueId c = importer.value(op, 0);
  const Shape &shape = importer.input(op, 0).shape, &x = importer.input(op, 1).shape;
  if (op.code != B::SELECT || shape.rank() != 1 || shape == x || x.rank() < 2) return c;
  Shape column{shape[0]};
  for (int d = 1; d < x.rank(); ++d) column.push_back(1);
  return importer.builder().reshape(op, c, column);
}

// Checks that the shapes fit: SELECT_V2 broadcasts all three, SELECT the condition alone.
Status check_select(const Importer& importer, const Op& op) {
  const Shape &c = importer.input(op, 0).shape, &x = importer.input(op, 1).shape,
              &y = importer.input(op, 2).shape;
  Shape shape;
  bool fits;
  if (op.code == B::SELECT) {
    shape = x;
    fits =
        x == y && (c == x || c.rank() == 0 || (c.rank() == 1 && x.rank() >= 1 && (c[0] == x[0])));
  } else {
    Shape both;
    fits = broadcast(x, y, &both) && broadcast(c, both, &shape);
  }
  QRT_MODEL_CHECK(fits, "shapes %s, %s and %s do not fit", c.to_string().c_str(),
                  x.to_string().c_str(), y.to_string().c_str());
  // The file says how many dimensions the result has, where all operands are single elements.
  if (shape.elements() == 1 && importer.output(op).shape.elements() == 1) return Status();
  return check_output_shape(importer, op, shape);
}

}  // namespace

Status import_comparison(Importer& importer, const Op& op) {
  const Comparison& c = comparison_of(op);
  const Tensor &x = importer.input(op, 0), &y = importer.input(op, 1), &z = importer.output(op);
  if (x.type != y.type || z.type != TensorType::BOOL)
    return importer.refuse(op,
                           std::string("it compares ") + type_name(x.type) + " with " +
                               type_name(y.type) + " and gives " + type_name(z.type),
                           z.name, "compare tensors of one type, and give bool");
  QRT_TRY(check_broadcast(importer, op));
  switch (x.type) {
    case TensorType::FLOAT32: return compare_floats(importer, op, c);
    case TensorType::INT8:
    case TensorType::UINT8: return compare_bytes(importer, op, c);
    case TensorType::INT16: return compare_int16(importer, op, c);
    case TensorType::BOOL:
      if (c.code == B::EQUAL || c.code == B::NOT_EQUAL) break;
      return importer.refuse(op, "the reference does not order truth values", x.name,
                             "use LOGICAL_AND, LOGICAL_OR and LOGICAL_NOT");
    case TensorType::INT32:
    case TensorType::INT64: break;
    default:
      return importer.refuse(op, importer.quoted_input(op, 0) + " is " + type_name(x.type), x.name,
                             "compare int8, uint8, int16, int32, int64 or bool");
  }
  const ValueId a = importer.value(op, 0), b = importer.value(op, 1);
  return compare_integers(importer, op, c, a, b);
}

Status import_logical_and(Importer& importer, const Op& op) {
  return import_logical(importer, op, false);
}

Status import_logical_or(Importer& importer, const Op& op) {
  return import_logical(importer, op, true);
}

Status import_logical_not(Importer& importer, const Op& op) {
  if (!are_truth_values(importer, op, 0, 0)) return Status();
  QRT_TRY(check_same_shape(importer, op));
  return finish(importer, op, negated(importer, op, importer.value(op, 0)), "Lut");
}

// y = condition * a + (1 - condition) * b.
Status import_select(Importer& importer, const Op& op) {
  if (!are_truth_values(importer, op, 0, 0)) return Status();
  const Tensor &x = importer.input(op, 1), &y = importer.input(op, 2), &z = importer.output(op);
  if (x.type != y.type || x.type != z.type)
    return importer.refuse(op,
                           std::string("it chooses between ") + type_name(x.type) + " and " +
                               type_name(y.type) + " and gives " + type_name(z.type),
                           z.name,
                           "build the model so that both values and the result have one type");
  QRT_TRY(check_select(importer, op));
  if (x.type == TensorType::FLOAT32) return select_floats(importer, op);
  const bool is_plain = x.type == TensorType::INT32 || x.type == TensorType::BOOL;
  for (int i = 1; i <= 2; ++i) {
    const Tensor& t = importer.input(op, i);
    Quant quant;
    if (!is_plain && (t.is_constant || t.type != TensorType::INT16) &&
        !importer.read_quant(op, t, &quant))
      return Status();
  }
  const ValueId condition = condition_of(importer, op), a = importer.value(op, 1),
                b = importer.value(op, 2);
  const FormulaResult result{importer.builder().type_of(a), 0};
  using Join = fb::FormulaPair;
  const ValueId from_a =
      formula(importer, op, {condition, 0, {}}, Join::MULTIPLY, {a, 0, {}}, {}, result);
  const ValueId from_b = formula(
      importer, op, {condition, 0, {{fb::FormulaFunction::NEGATE}, {fb::FormulaFunction::ADD, 1}}},
      Join::MULTIPLY, {b, 0, {}}, {}, result);
  const ValueId chosen =
      formula(importer, op, {from_a, 0, {}}, Join::ADD, {from_b, 0, {}}, {}, result);
  importer.graph().values[chosen].quantization = stored_quantization(z);
  return finish(importer, op, chosen, "Formula");
}

}  // namespace qrt::convert::from_tflite
