// SPDX-License-Identifier: Apache-2.0
// The common part of the grouped kernels of 256 bits.
#ifndef QRT_KERNELS_GROUPED_VECTORS_256_H_
#define QRT_KERNELS_GROUPED_VECTORS_256_H_

#include <immintrin.h>

#include "kernels/gemm/policy256.h"
#include "kernels/grouped/partial_sums.h"

namespace qrt {
namespace {

struct Vectors256 {
  static constexpr int kCells = 2;
  using Policy = Policy256;
  using Vector = __m256i;

  QRT_INLINE Vector load(const int8_t* p) { return Policy256::load(p); }
  QRT_INLINE Vector broadcast(const uint8_t* p) {
    return _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
  }
  QRT_INLINE Vector zero() { return _mm256_setzero_si256(); }
  QRT_INLINE Vector add(Vector a, Vector b) { return _mm256_add_epi32(a, b); }
  QRT_INLINE Vector swap_dwords(Vector v) { return _mm256_shuffle_epi32(v, 0xb1); }
  QRT_INLINE Vector swap_pairs(Vector v) { return _mm256_shuffle_epi32(v, 0x4e); }
  // Qwords 0, 2, 1, 3.
  QRT_INLINE Vector cross(Vector v) { return _mm256_permute4x64_epi64(v, 0xd8); }
};

}  // namespace
}  // namespace qrt

#endif  // QRT_KERNELS_GROUPED_VECTORS_256_H_
