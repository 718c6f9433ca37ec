// SPDX-License-Identifier: Apache-2.0
// Contract of the integer family: arithmetic of integers modulo their width, without quantisation.
// One portable form, which compilers turn into vectors. Thread-safe.
#ifndef QRT_KERNELS_INTEGER_INTEGER_H_
#define QRT_KERNELS_INTEGER_INTEGER_H_

#include "kernels/compare/compare.h"

namespace qrt {

// The functions; schema/qrt_model.fbs says what each gives where it is not plain.
enum class IntegerFunction : uint8_t {
  kAdd,
  kSub,
  kMul,
  kDiv,
  kMod,
  kFmod,
  kAnd,
  kOr,
  kXor,
  kShiftLeft,
  kShiftRight,
  kEqual,
  kLess,
  kLessOrEqual
};
constexpr size_t kIntegerFunctions = 14;

// Comparisons write bytes of 0 and 1.
constexpr bool is_comparison(IntegerFunction f) { return f >= IntegerFunction::kEqual; }

// y[i] = f(a[i], b[i]) as in BinaryArgs; y may equal an operand, for comparisons of bytes only.
using IntegerFn = void (*)(const BinaryArgs& run);
IntegerFn integer_kernel(DType dtype, IntegerFunction function);

}  // namespace qrt

#endif  // QRT_KERNELS_INTEGER_INTEGER_H_
