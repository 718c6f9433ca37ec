// SPDX-License-Identifier: Apache-2.0
// Minima and maxima as loops that compilers turn into vectors of the including file's instruction set.
#ifndef QRT_KERNELS_COMPARE_COMPARE_VECTORS_H_
#define QRT_KERNELS_COMPARE_COMPARE_VECTORS_H_

#include "kernels/compare/entry.h"

namespace qrt {
namespace {

template <class T, bool kMaximum>
inline void min_max(const BinaryArgs& run) {
  const T* a = static_cast<const T*>(run.a);
  const T* b = static_cast<const T*>(run.b);
  T* y = static_cast<T*>(run.y);
  const size_t n = run.n;  // stores of bytes to y might change any object, `run` as well
  const auto choose = [](T u, T v) { return (kMaximum ? u < v : v < u) ? v : u; };
  if (run.a_is_scalar && run.b_is_scalar) {
    const T v = choose(*a, *b);
    for (size_t i = 0; i < n; ++i) y[i] = v;
  } else if (run.a_is_scalar || run.b_is_scalar) {
    const T* x = run.a_is_scalar ? b : a;
    const T v = run.a_is_scalar ? *a : *b;
    for (size_t i = 0; i < n; ++i) y[i] = choose(x[i], v);
  } else {
    for (size_t i = 0; i < n; ++i) y[i] = choose(a[i], b[i]);
  }
}

template <bool kMaximum>
inline void min_max(DType dtype, const BinaryArgs& run) {
  switch (dtype) {
    case DType::kUInt8: return min_max<uint8_t, kMaximum>(run);
    case DType::kInt8: return min_max<int8_t, kMaximum>(run);
    case DType::kUInt16: return min_max<uint16_t, kMaximum>(run);
    case DType::kInt16: return min_max<int16_t, kMaximum>(run);
    case DType::kInt32: return min_max<int32_t, kMaximum>(run);
    default: return min_max<int64_t, kMaximum>(run);  // kInt64
  }
}

}  // namespace
}  // namespace qrt

#define QRT_VECTOR_ROW(suffix)                                                              \
  void minimum_##suffix(DType dtype, const BinaryArgs& run) { min_max<false>(dtype, run); } \
  void maximum_##suffix(DType dtype, const BinaryArgs& run) { min_max<true>(dtype, run); }

#endif  // QRT_KERNELS_COMPARE_COMPARE_VECTORS_H_
