// SPDX-License-Identifier: Apache-2.0
// Grouped convolutions on AVX-VNNI: VPDPBUSD on 256 bits in its VEX encoding.
#include "kernels/grouped/vectors_256.h"
#include "kernels/isa/avxvnni.h"

namespace qrt {
namespace {

struct Bytes : Vectors256 {
  static constexpr size_t kElementBytes = 1;

  QRT_INLINE void copy(const uint8_t* from, uint8_t* to) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to),
                     _mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
  }
  QRT_INLINE void dot(Vector& acc, Vector a, Vector w) {
    __asm__(QRT_AVXVNNI "vpdpbusd %2, %1, %0" : "+x"(acc) : "x"(a), "x"(w));
  }
  template <int kSums>
  QRT_INLINE void order(const Vector* v, Vector* out) {
    if constexpr (kSums == 1) {
      out[0] = cross(_mm256_unpacklo_epi32(v[0], v[1]));
      out[1] = cross(_mm256_unpackhi_epi32(v[0], v[1]));
    } else if constexpr (kSums == 2) {
      out[0] = _mm256_unpacklo_epi64(v[0], v[1]);
      out[1] = _mm256_unpackhi_epi64(v[0], v[1]);
    } else {
      out[0] = v[0];
    }
  }
};

}  // namespace

void grouped_u8s8_4_avxvnni(const GroupedArgs& args) {
  const avx2::RoundDown down(args.requant);
  run_row_range<PartialSums<Bytes, 1, 2, 6, 6, false>>(args);
}

void grouped_u8s8_8_avxvnni(const GroupedArgs& args) {
  const avx2::RoundDown down(args.requant);
  run_row_range<PartialSums<Bytes, 2, 4, 6, 3, false>>(args);
}

void grouped_u8s8_16_avxvnni(const GroupedArgs& args) {
  const avx2::RoundDown down(args.requant);
  run_row_range<PartialSums<Bytes, 4, 4, 6, 3, false>>(args);
}

}  // namespace qrt
