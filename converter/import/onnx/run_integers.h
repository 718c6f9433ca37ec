// SPDX-License-Identifier: Apache-2.0
// Integers that a run computes for an operator's own use: numbers that follow from sizes, indices, and what is made of them.
#ifndef QRT_CONVERTER_IMPORT_ONNX_RUN_INTEGERS_H_
#define QRT_CONVERTER_IMPORT_ONNX_RUN_INTEGERS_H_

#include <vector>

#include "converter/import/onnx/importer.h"

namespace qrt::convert::from_onnx {

// Adds operators that compute integers when the model runs. Their results are INT64, except those of comparisons (UINT8, 0 or 1),
// of narrow() (INT32) and of numbers() (the constant's type).
class RunIntegers {
 public:
  RunIntegers(Importer& importer, const NodeView& node) : importer_(importer), node_(node) {}

  // The largest number that is counted, since each takes a table of as many entries.
  static constexpr int64_t kMostCounted = int64_t{1} << 20;
  // Returns kUnsupported where n is above kMostCounted; to be asked before indices() of what a file says.
  static Status check_count(int64_t n);

  // Returns a scalar that is the same at all sizes.
  ValueId constant(int64_t v);
  // Returns a scalar that this import knows and that may be another at other sizes: where sizes are open, the run counts it.
  ValueId number(int64_t v);
  // Returns the numbers of an integer constant, each by number(), as a value of the constant's type.
  ValueId numbers(const Constant& c);
  // Returns 0, 1, ... n - 1.
  ValueId indices(int64_t n);

  ValueId add(ValueId a, ValueId b) { return binary(fb::IntegerFunction::ADD, a, b); }
  ValueId subtract(ValueId a, ValueId b) { return binary(fb::IntegerFunction::SUB, a, b); }
  ValueId multiply(ValueId a, ValueId b) { return binary(fb::IntegerFunction::MUL, a, b); }
  ValueId least(ValueId a, ValueId b);
  ValueId greatest(ValueId a, ValueId b);
  // Returns truths: a < b.
  ValueId is_less(ValueId a, ValueId b) { return binary(fb::IntegerFunction::LESS, a, b); }
  // Returns truths: a <= b.
  ValueId is_at_most(ValueId a, ValueId b) {
    return binary(fb::IntegerFunction::LESS_OR_EQUAL, a, b);
  }
  ValueId is_equal(ValueId a, ValueId b) { return binary(fb::IntegerFunction::EQUAL, a, b); }
  // Return 1 where both are true, or where at least one is, else 0.
  ValueId both(ValueId a, ValueId b) { return binary(fb::IntegerFunction::AND, a, b); }
  ValueId either(ValueId a, ValueId b) { return binary(fb::IntegerFunction::OR, a, b); }
  // Returns an integer or truths as INT64, or as INT32.
  ValueId to_int64(ValueId x) { return cast(x, DType::kInt64); }
  ValueId to_int32(ValueId x) { return cast(x, DType::kInt32); }
  ValueId reshaped(ValueId x, const Shape& shape);
  // Returns the indices, with a number beyond any axis where `is_bad` is true, so that the operator that reads it ends the run.
  ValueId unless(ValueId is_bad, ValueId indices);

 private:
  ValueId binary(fb::IntegerFunction function, ValueId a, ValueId b);
  ValueId cast(ValueId x, DType to);
  // Returns a 1 of shape [1] that follows from an input of the model, so that no pass makes a constant of it.
  ValueId one();
  // Returns n ones.
  ValueId ones(int64_t n);

  Importer& importer_;
  const NodeView& node_;
};

}  // namespace qrt::convert::from_onnx

#endif  // QRT_CONVERTER_IMPORT_ONNX_RUN_INTEGERS_H_
