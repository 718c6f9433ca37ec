// SPDX-License-Identifier: Apache-2.0
// Registers of 16 bytes, which every machine has or its compiler takes apart.
#include "kernels/formula/formula_loops.h"

namespace qrt {
namespace {

struct FormulaVectorsScalar {
  typedef int32_t Ints __attribute__((vector_size(16)));
  static constexpr size_t kLanes = 4;

  QRT_INLINE Ints widen(const uint8_t* p) { return Ints{p[0], p[1], p[2], p[3]}; }
  QRT_INLINE Ints widen(const int16_t* p) { return Ints{p[0], p[1], p[2], p[3]}; }

  QRT_INLINE Ints multiply16(Ints v, int32_t k) { return v * k; }

  QRT_INLINE void narrow(const Ints (&v)[kRegisters], int32_t zero_point, uint8_t* y) {
    narrow_to(v, zero_point, 0, UINT8_MAX, y);
  }
  QRT_INLINE void narrow(const Ints (&v)[kRegisters], int32_t zero_point, int16_t* y) {
    narrow_to(v, zero_point, INT16_MIN, INT16_MAX, y);
  }

  // Limits before the zero point is added, to limits less the zero point, so that the sum cannot overflow.
  template <class T>
  QRT_INLINE void narrow_to(const Ints (&v)[kRegisters], int32_t zero_point, int32_t least,
                            int32_t most, T* y) {
    const Ints lo = least - zero_point - Ints{}, hi = most - zero_point - Ints{};
    for (int i = 0; i < kRegisters; ++i, y += kLanes) {
      const Ints x = (v[i] < lo ? lo : v[i] > hi ? hi : v[i]) + zero_point;
      for (size_t k = 0; k < kLanes; ++k) y[k] = static_cast<T>(x[k]);
    }
  }
};

}  // namespace

QRT_FORMULA_LOOPS(scalar, FormulaVectorsScalar)

}  // namespace qrt
