// SPDX-License-Identifier: Apache-2.0
// Contract of the formula family: chains of int32 arithmetic on runs of elements, a block of them at a
// time, which stays in registers through all steps.
//
// All arithmetic is modulo 2^32, so that any list of steps is defined for any values. Exactly the
// elements asked for are read and stored. Thread-safe.
#ifndef QRT_KERNELS_FORMULA_FORMULA_H_
#define QRT_KERNELS_FORMULA_FORMULA_H_

#include <cstddef>
#include <cstdint>

#include "kernels/isa.h"

namespace qrt {

// The functions of a step; schema/qrt_model.fbs says what each gives.
enum class FormulaFunction : uint8_t {
  kAdd,
  kMultiply,
  kShiftRight,
  kShiftLeft,
  kClamp,
  kNegate,
  kAbs,
  kBits,
  kNotZero,
  // Functions that no file can have: bounds.h replaces others by them where they give the same
  // result and take less time.
  kAtLeast,          // max(x, value)
  kAtMost,           // min(x, high)
  kMultiply16,       // x and value are within int16
  kAddAndShiftRight  // (x + high) >> value, no sum leaves int32
};
constexpr int kFormulaFunctions = 9;  // the first ones, which files may have

enum class FormulaPair : uint8_t { kAdd, kSubtract, kMultiply, kMaximum, kDivide, kGreater };
constexpr int kFormulaPairs = 6;

struct FormulaStep {
  FormulaFunction function;
  int32_t value, high;
};

enum class FormulaElement : uint8_t { kUInt8, kInt16, kInt32 };

struct FormulaOperand {
  FormulaElement element;
  int32_t zero_point;
  const FormulaStep* steps;
  size_t count;
};

struct FormulaParams {
  FormulaOperand a, b;
  bool has_b;
  FormulaPair pair;
  FormulaOperand y;  // its steps follow the pair; its zero point is added
};

// y may be a or b where their elements are as wide.
struct FormulaArgs {
  const void* a;
  const void* b;
  bool a_is_scalar, b_is_scalar;  // the operand is one element, repeated
  void* y;
  size_t n;
};

struct FormulaKernel {
  const char* name;  // "formula_avx2"
  Isa isa;
  void (*run)(const FormulaParams& params, const FormulaArgs& run);
};

const FormulaKernel* formula_kernels(size_t* count);
const FormulaKernel* select_formula(IsaSet isas);

}  // namespace qrt

#endif  // QRT_KERNELS_FORMULA_FORMULA_H_
