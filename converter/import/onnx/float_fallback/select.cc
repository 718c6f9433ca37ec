// SPDX-License-Identifier: Apache-2.0
#include "converter/import/onnx/float_fallback/select.h"

#include <limits>
#include <string>

#include "converter/import/onnx/arithmetic/where_constant.h"
#include "converter/import/onnx/file/branches.h"
#include "converter/import/onnx/move.h"
#include "converter/import/onnx/run_integers.h"

namespace qrt::convert::from_onnx {
namespace {

using F = fb::FloatFunction;

struct Comparison {
  const char* op;
  F function;
  bool swapped;
};

constexpr Comparison kComparisons[] = {{"Equal", F::EQUAL, false},
                                       {"Less", F::LESS, false},
                                       {"LessOrEqual", F::LESS_OR_EQUAL, false},
                                       {"Greater", F::LESS, true},
                                       {"GreaterOrEqual", F::LESS_OR_EQUAL, true}};

const Comparison* find(const std::string& op) {
  for (const Comparison& c : kComparisons)
    if (op == c.op) return &c;
  return nullptr;
}

// Converts bytes to floats: 0 stays 0, any other byte becomes 1.
ValueId floats(FloatGraph* f, ValueId truth) {
  std::vector<float> table(256, 1);
  table[0] = 0;
  return f->add(F::TABLE, {truth, f->constant({256}, table)}, f->shape_of(truth));
}

// Returns 1 where the condition holds and 0 elsewhere; kNoValue for a condition that this function does not know.
ValueId mask(FloatGraph* f, const Tensor& condition) {
  if (condition.type != kBool) return kNoValue;
  if (condition.is_value()) return floats(f, condition.value);
  if (!condition.is_plain_constant()) return kNoValue;
  std::vector<float> values(static_cast<size_t>(condition.constant->elements()));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = condition.constant->integer(static_cast<int64_t>(i)) != 0;
  return f->constant(condition.shape, values);
}

// Makes bytes of floats that are 0 or 1.
ValueId truths(FloatGraph* f, ValueId truth) {
  const ValueId y = f->builder().new_value("", DType::kUInt8, f->shape_of(truth));
  auto& o = f->builder().add<fb::QuantizeOptionsT>(f->node(), {truth}, y);
  o.scale = {float_bits(1)};
  o.zero_point = {0};
  return y;
}

}  // namespace

bool is_float_comparison(const NodeView& node) { return find(node.op()) != nullptr; }

Status float_comparison(FloatGraph* f, ValueId* y) {
  const Comparison& c = *find(f->node().op());
  ValueId a, b, truth;
  if (!f->read(0, &a) || !f->read(1, &b)) return Status();
  QRT_TRY(f->binary(c.function, c.swapped ? b : a, c.swapped ? a : b, &truth));
  *y = truths(f, truth);
  return Status();
}

Status float_class(FloatGraph* f, ValueId x, ValueId* y) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const NodeView& node = f->node();
  ValueId truth;
  if (node.op() == "IsNaN") {
    QRT_TRY(f->binary(F::EQUAL, x, x, &truth));
    QRT_TRY(f->binary(F::SUB, f->constant({}, {1.0f}), truth, &truth));
  } else {
    const bool positive = node.integer("detect_positive", 1) != 0;
    const bool negative = node.integer("detect_negative", 1) != 0;
    if (positive && negative) {
      ValueId opposite;
      QRT_TRY(f->binary(F::MUL, x, f->constant({}, {-1.0f}), &opposite));
      QRT_TRY(f->binary(F::MAXIMUM, x, opposite, &x));
    }
    // Nothing equals a NaN.
    const float searched = positive   ? kInfinity
                           : negative ? -kInfinity
                                      : std::numeric_limits<float>::quiet_NaN();
    QRT_TRY(f->binary(F::EQUAL, x, f->constant({}, {searched}), &truth));
  }
  *y = truths(f, truth);
  return Status();
}

Status float_sign(FloatGraph* f, ValueId x, ValueId* y) {
  const ValueId zero = f->constant({}, {0});
  ValueId above, below;
  QRT_TRY(f->binary(F::LESS, zero, x, &above));
  QRT_TRY(f->binary(F::LESS, x, zero, &below));
  QRT_TRY(f->binary(F::SUB, above, below, y));
  // A NaN is neither, and not itself: 0 / 0 is a NaN again.
  ValueId is_number;
  QRT_TRY(f->binary(F::EQUAL, x, x, &is_number));
  return f->binary(F::DIV, *y, is_number, y);
}

Status float_hardmax(FloatGraph* f, ValueId x, ValueId* y) {
  const NodeView& node = f->node();
  GraphBuilder& builder = f->builder();
  const Shape given = f->shape_of(x);
  // Before opset 13 a row has all elements from the axis on.
  const bool from_axis_on = f->importer().opset(node) < 13;
  int axis;
  QRT_TRY(read_axis(node.integer("axis", from_axis_on ? 1 : -1), given.rank(), &axis));
  if (from_axis_on) {
    Shape rows = {1, 1};
    for (int d = 0; d < given.rank(); ++d) rows[d < axis ? 0 : 1] *= given[d];
    x = builder.reshape(node, x, rows);
    axis = 1;
  }
  x = builder.axis_last(node, x, axis);
  Shape turned = f->shape_of(x);
  const int64_t n = turned[turned.rank() - 1];
  QRT_TRY(RunIntegers::check_count(n));
  Shape one = turned;
  one[one.rank() - 1] = 1;
  const ValueId greatest = builder.new_value("", DType::kInt64, one);
  builder.add<fb::ArgMaxOptionsT>(node, {x}, greatest).axis =
      static_cast<uint32_t>(turned.rank() - 1);
  RunIntegers r(f->importer(), node);
  *y = floats(f, r.is_equal(greatest, r.indices(n)));
  // A row with a NaN has no greatest element.
  const ValueId most = f->add(F::REDUCE_NAN_MAX, {x}, one);
  ValueId is_number;
  QRT_TRY(f->binary(F::EQUAL, most, most, &is_number));
  QRT_TRY(f->binary(F::MUL, *y, is_number, y));
  *y = builder.reshape(node, builder.axis_back(node, *y, axis, ""), given);
  return Status();
}

// Selects a where the condition holds and b elsewhere: each side is -0 where it is not selected, so that their sum is exactly the
// selected element. An If becomes a Choose.
Status float_where(FloatGraph* f, ValueId* y) {
  const Tensor condition = f->importer().input(f->node(), 0);
  const auto read = [f](int i, ValueId* operand) {
    const Tensor t = where_input(f->importer(), f->node(), i);
    if (!t.is_plain_constant() || t.type != kFloat || t.shape.rank() != 0)
      return f->read(i, operand);
    *operand = f->constant({}, {t.constant->real(0)});
    return true;
  };
  ValueId a, b;
  if (!read(1, &a) || !read(2, &b)) return Status();
  // An If takes one of two whole tensors, of one shape: its choice broadcasts nothing.
  if (f->node().has(kChoice)) {
    if (condition.is_value() && f->shape_of(a) == f->shape_of(b))
      *y = f->builder().choose(f->node(), condition.value, a, b);
    return Status();
  }
  const ValueId chosen = mask(f, condition);
  if (chosen == kNoValue) return Status();
  QRT_TRY(f->binary(F::KEEP_NONZERO, a, chosen, &a));
  QRT_TRY(f->binary(F::KEEP_ZERO, b, chosen, &b));
  return f->binary(F::ADD, a, b, y);
}

}  // namespace qrt::convert::from_onnx
