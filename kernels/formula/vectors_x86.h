// The policy of formula_loops.h for x86, over the vector layers of isa/.
#ifndef QRT_KERNELS_FORMULA_VECTORS_X86_H_
#define QRT_KERNELS_FORMULA_VECTORS_X86_H_

#include "kernels/formula/formula_loops.h"

namespace qrt {
namespace {

template <class Vec>
struct FormulaVectorsX86 {
  typedef int32_t Ints __attribute__((vector_size(Vec::kBytes)));
  using Int = typename Vec::Int;
  static constexpr size_t kLanes = Vec::kLanes;

  QRT_INLINE Int raw(Ints v) { return reinterpret_cast<Int>(v); }

  QRT_INLINE Ints widen(const uint8_t* p) {
    return reinterpret_cast<Ints>(Vec::template widen<false>(Vec::load_bytes(p)));
  }
  QRT_INLINE Ints widen(const int16_t* p) { return reinterpret_cast<Ints>(Vec::widen16(p)); }

  // Pairs of products: of the low words, and of what is above v's with 0.
  QRT_INLINE Ints multiply16(Ints v, int32_t k) {
    return reinterpret_cast<Ints>(Vec::madd16(raw(v), Vec::splat32(k & UINT16_MAX)));
  }

  // Saturating to 16 bits first changes nothing: zero points are below 2^8.
  QRT_INLINE void narrow(const Ints (&v)[kRegisters], int32_t zero_point, uint8_t* y) {
    const Int zero = Vec::splat16(zero_point);
    QRT_UNROLL
    for (int i = 0; i < kRegisters; i += 4, y += Vec::kBytes) {
      const Int low = Vec::adds16(Vec::packs32(raw(v[i]), raw(v[i + 1])), zero);
      const Int high = Vec::adds16(Vec::packs32(raw(v[i + 2]), raw(v[i + 3])), zero);
      Vec::store(y, Vec::in_order(Vec::packus16(low, high), Vec::order_of_packs()));
    }
  }

  // Within limits less the zero point, so that nothing is added to what saturates.
  QRT_INLINE void narrow(const Ints (&v)[kRegisters], int32_t zero_point, int16_t* y) {
    const Ints lo = INT16_MIN - zero_point - Ints{}, hi = INT16_MAX - zero_point - Ints{};
    QRT_UNROLL
    for (int i = 0; i < kRegisters; i += 2, y += 2 * kLanes) {
      Ints low = v[i], high = v[i + 1];
      if (zero_point != 0) {
        low = (low < lo ? lo : low > hi ? hi : low) + zero_point;
        high = (high < lo ? lo : high > hi ? hi : high) + zero_point;
      }
      Vec::store(y, Vec::in_order16(Vec::packs32(raw(low), raw(high))));
    }
  }
};

}  // namespace
}  // namespace qrt

#endif  // QRT_KERNELS_FORMULA_VECTORS_X86_H_
