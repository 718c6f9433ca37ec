// SPDX-License-Identifier: Apache-2.0
// Grouped convolutions on AVX2: VPMADDWD on 16-bit words, exact for every product. Pixels are widened
// once for all taps, as they are copied.
#include "kernels/grouped/vectors_256.h"
#include "kernels/isa/multiply_add_avx2.h"

namespace qrt {
namespace {

struct Words : Vectors256 {
  static constexpr size_t kElementBytes = 2;

  QRT_INLINE void copy(const uint8_t* from, uint8_t* to) {
    const __m128i x = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), _mm256_cvtepu8_epi16(x));
  }
  QRT_INLINE void dot(Vector& acc, Vector a, Vector w) { multiply_add(acc, a, w); }
  template <int kSums>
  QRT_INLINE void order(const Vector* v, Vector* out) {
    out[0] = kSums == 2 ? cross(v[0]) : v[0];
  }
};

}  // namespace

void grouped_u8s8_4_avx2(const GroupedArgs& args) {
  const avx2::RoundDown down(args.requant);
  run_row_range<PartialSums<Words, 2, 2, 6, 6, true>>(args);
}

void grouped_u8s8_8_avx2(const GroupedArgs& args) {
  const avx2::RoundDown down(args.requant);
  run_row_range<PartialSums<Words, 4, 4, 4, 2, true>>(args);
}

void grouped_u8s8_16_avx2(const GroupedArgs& args) {
  const avx2::RoundDown down(args.requant);
  run_row_range<PartialSums<Words, 4, 4, 4, 2, false>>(args);
}

}  // namespace qrt
