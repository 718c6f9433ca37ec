// SPDX-License-Identifier: Apache-2.0
// Arithmetic of integers; see integer.h.
#include "kernels/integer/integer.h"

#include <type_traits>

namespace qrt {
namespace {

// The unsigned type of T's width, and one at least as wide as int: what wraps around without being
// undefined.
template <class T>
struct Traits {
  using Unsigned = std::make_unsigned_t<T>;
  using Promoted = std::conditional_t<(sizeof(T) < 4), uint32_t, Unsigned>;
};

template <class T>
bool is_negative(T v) {
  return static_cast<int64_t>(v) < 0;
}

template <class T>
bool is_minus_one(T v) {
  return static_cast<int64_t>(v) == -1;
}

// Divides. The lowest value over -1 is that value again.
template <class T>
T quotient(T a, T b) {
  using Promoted = typename Traits<T>::Promoted;
  if (b == 0) return 0;
  if (is_minus_one(b)) return static_cast<T>(Promoted{0} - static_cast<Promoted>(a));
  return static_cast<T>(a / b);
}

template <class T>
T remainder(T a, T b) {
  if (b == 0 || is_minus_one(b)) return 0;
  return static_cast<T>(a % b);
}

template <class T, IntegerFunction kFunction>
T compute(T a, T b) {
  using Unsigned = typename Traits<T>::Unsigned;
  using Promoted = typename Traits<T>::Promoted;
  constexpr Unsigned kBits = 8 * sizeof(T);
  const Promoted u = static_cast<Promoted>(a), v = static_cast<Promoted>(b);
  const Unsigned count = static_cast<Unsigned>(b);
  switch (kFunction) {
    case IntegerFunction::kAdd: return static_cast<T>(u + v);
    case IntegerFunction::kSub: return static_cast<T>(u - v);
    case IntegerFunction::kMul: return static_cast<T>(u * v);
    case IntegerFunction::kDiv: return quotient(a, b);
    case IntegerFunction::kMod: {
      const T r = remainder(a, b);
      return r != 0 && is_negative(r) != is_negative(b) ? static_cast<T>(r + b) : r;
    }
    case IntegerFunction::kFmod: return remainder(a, b);
    case IntegerFunction::kAnd: return static_cast<T>(u & v);
    case IntegerFunction::kOr: return static_cast<T>(u | v);
    case IntegerFunction::kXor: return static_cast<T>(u ^ v);
    case IntegerFunction::kShiftLeft: return count >= kBits ? T(0) : static_cast<T>(u << count);
    case IntegerFunction::kShiftRight:
      return count >= kBits ? T(0) : static_cast<T>(static_cast<Unsigned>(a) >> count);
    case IntegerFunction::kEqual: return a == b;
    case IntegerFunction::kLess: return a < b;
    case IntegerFunction::kLessOrEqual: return a <= b;
  }
  return 0;
}

template <class T, class Y, IntegerFunction kFunction>
void each(const BinaryArgs& run) {
  const T* a = static_cast<const T*>(run.a);
  const T* b = static_cast<const T*>(run.b);
  Y* y = static_cast<Y*>(run.y);
  const size_t a_step = run.a_is_scalar ? 0 : 1, b_step = run.b_is_scalar ? 0 : 1;
  for (size_t i = 0; i < run.n; ++i)
    y[i] = static_cast<Y>(compute<T, kFunction>(a[i * a_step], b[i * b_step]));
}

template <class T, IntegerFunction kFunction>
IntegerFn form() {
  return is_comparison(kFunction) ? each<T, uint8_t, kFunction> : each<T, T, kFunction>;
}

template <class T>
IntegerFn kernel_of(IntegerFunction function) {
  switch (function) {
    case IntegerFunction::kAdd: return form<T, IntegerFunction::kAdd>();
    case IntegerFunction::kSub: return form<T, IntegerFunction::kSub>();
    case IntegerFunction::kMul: return form<T, IntegerFunction::kMul>();
    case IntegerFunction::kDiv: return form<T, IntegerFunction::kDiv>();
    case IntegerFunction::kMod: return form<T, IntegerFunction::kMod>();
    case IntegerFunction::kFmod: return form<T, IntegerFunction::kFmod>();
    case IntegerFunction::kAnd: return form<T, IntegerFunction::kAnd>();
    case IntegerFunction::kOr: return form<T, IntegerFunction::kOr>();
    case IntegerFunction::kXor: return form<T, IntegerFunction::kXor>();
    case IntegerFunction::kShiftLeft: return form<T, IntegerFunction::kShiftLeft>();
    case IntegerFunction::kShiftRight: return form<T, IntegerFunction::kShiftRight>();
    case IntegerFunction::kEqual: return form<T, IntegerFunction::kEqual>();
    case IntegerFunction::kLess: return form<T, IntegerFunction::kLess>();
    case IntegerFunction::kLessOrEqual: break;
  }
  return form<T, IntegerFunction::kLessOrEqual>();
}

}  // namespace

IntegerFn integer_kernel(DType dtype, IntegerFunction function) {
  switch (dtype) {
    case DType::kUInt8: return kernel_of<uint8_t>(function);
    case DType::kInt8: return kernel_of<int8_t>(function);
    case DType::kUInt16: return kernel_of<uint16_t>(function);
    case DType::kInt16: return kernel_of<int16_t>(function);
    case DType::kInt32: return kernel_of<int32_t>(function);
    default: break;  // kInt64
  }
  return kernel_of<int64_t>(function);
}

}  // namespace qrt
