// SPDX-License-Identifier: Apache-2.0
// Grouped convolutions on AVX-512 VNNI: VPDPBUSD on 512 bits.
#include <immintrin.h>

#include "kernels/gemm/policy512.h"
#include "kernels/grouped/partial_sums.h"

namespace qrt {
namespace {

struct Vectors512 {
  static constexpr int kCells = 4;
  static constexpr size_t kElementBytes = 1;
  using Policy = Avx512Vnni;
  using Vector = __m512i;

  QRT_INLINE void copy(const uint8_t* from, uint8_t* to) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to),
                     _mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
  }
  QRT_INLINE Vector load(const int8_t* p) { return _mm512_loadu_si512(p); }
  QRT_INLINE Vector broadcast(const uint8_t* p) {
    return _mm512_broadcast_i32x4(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
  }
  QRT_INLINE Vector zero() { return _mm512_setzero_si512(); }
  QRT_INLINE Vector add(Vector a, Vector b) { return _mm512_add_epi32(a, b); }
  QRT_INLINE void dot(Vector& acc, Vector a, Vector w) { avx512vnni::dot(acc, a, w); }
  QRT_INLINE Vector swap_dwords(Vector v) {
    return _mm512_shuffle_epi32(v, static_cast<_MM_PERM_ENUM>(0xb1));
  }
  QRT_INLINE Vector swap_pairs(Vector v) {
    return _mm512_shuffle_epi32(v, static_cast<_MM_PERM_ENUM>(0x4e));
  }
  template <int kSums>
  QRT_INLINE void order(const Vector* v, Vector* out) {
    if constexpr (kSums == 1) {
      out[0] = avx512vnni::RequantInRegisters::in_order(v[0]);  // of four cells' dwords, too
    } else if constexpr (kSums == 2) {
      out[0] = _mm512_permutexvar_epi64(_mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7), v[0]);
    } else {
      out[0] = v[0];
    }
  }
};

}  // namespace

void grouped_u8s8_4_avx512vnni(const GroupedArgs& args) {
  run_row_range<PartialSums<Vectors512, 1, 1, 8, 8, false>>(args);
}

void grouped_u8s8_8_avx512vnni(const GroupedArgs& args) {
  run_row_range<PartialSums<Vectors512, 2, 2, 8, 8, false>>(args);
}

void grouped_u8s8_16_avx512vnni(const GroupedArgs& args) {
  run_row_range<PartialSums<Vectors512, 4, 4, 4, 4, false>>(args);
}

}  // namespace qrt
