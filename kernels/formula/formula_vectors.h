// SPDX-License-Identifier: Apache-2.0
// The policy of formula_loops.h over the vector layers of isa/.
#ifndef QRT_KERNELS_FORMULA_FORMULA_VECTORS_H_
#define QRT_KERNELS_FORMULA_FORMULA_VECTORS_H_

#include "kernels/formula/formula_loops.h"

namespace qrt {
namespace {

template <class Vec>
struct FormulaVectors {
  typedef int32_t Ints __attribute__((vector_size(Vec::kBytes)));
  using Int = typename Vec::Int;
  static constexpr size_t kLanes = Vec::kLanes;

  QRT_INLINE Int raw(Ints v) { return reinterpret_cast<Int>(v); }

  QRT_INLINE Ints widen(const uint8_t* p) {
    return reinterpret_cast<Ints>(Vec::template widen<false>(p));
  }
  QRT_INLINE Ints widen(const int16_t* p) { return reinterpret_cast<Ints>(Vec::widen16(p)); }

  QRT_INLINE Ints multiply16(Ints v, int32_t k) {
    return reinterpret_cast<Ints>(Vec::multiply16(raw(v), k));
  }

  // Narrows to bytes. The saturation to 16 bits in between changes nothing, as zero points are below 2^8.
  QRT_INLINE void narrow(const Ints (&v)[kRegisters], int32_t zero_point, uint8_t* y) {
    const auto zero = Vec::splat16(zero_point);
    QRT_UNROLL
    for (int i = 0; i < kRegisters; i += 4, y += Vec::kBytes) {
      const auto low = Vec::adds16(Vec::packs32(raw(v[i]), raw(v[i + 1])), zero);
      const auto high = Vec::adds16(Vec::packs32(raw(v[i + 2]), raw(v[i + 3])), zero);
      Vec::store(y, Vec::in_order(Vec::packus16(low, high), Vec::order_of_packs()));
    }
  }

  QRT_INLINE void narrow(const Ints (&v)[kRegisters], int32_t zero_point, int16_t* y) {
    QRT_UNROLL
    for (int i = 0; i < kRegisters; i += 2, y += 2 * kLanes)
      Vec::store(y, Vec::pack_sums16(raw(v[i]), raw(v[i + 1]), zero_point));
  }
};

}  // namespace
}  // namespace qrt

#define QRT_VECTOR_ROW(suffix) QRT_FORMULA_LOOPS(suffix, FormulaVectors<suffix::Vec>)

#endif  // QRT_KERNELS_FORMULA_FORMULA_VECTORS_H_
