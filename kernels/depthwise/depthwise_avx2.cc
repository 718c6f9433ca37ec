// SPDX-License-Identifier: Apache-2.0
// Depthwise for AVX2: two rows as int16 for VPMADDWD, which cannot saturate where VPMADDUBSW
// would.
#include "kernels/depthwise/depthwise_ymm.h"

namespace qrt {
namespace {

struct Avx2 : Ymm {
  static constexpr DepthwiseTile kTile = kDepthwiseYmmWords;

  QRT_INLINE void interleave(const __m256i row[2], __m256i cells[4]) {
    const __m256i zero = _mm256_setzero_si256();
    const __m256i low = _mm256_unpacklo_epi8(row[0], row[1]);
    const __m256i high = _mm256_unpackhi_epi8(row[0], row[1]);
    cells[0] = _mm256_unpacklo_epi8(low, zero);
    cells[1] = _mm256_unpackhi_epi8(low, zero);
    cells[2] = _mm256_unpacklo_epi8(high, zero);
    cells[3] = _mm256_unpackhi_epi8(high, zero);
  }

  QRT_INLINE const uint8_t* load_weights(const uint8_t* p) { return p; }
  // Adds dot products by inline assembly, which keeps g++ 12 from moving the accumulators to memory.
  QRT_INLINE void dot(__m256i& acc, __m256i data, const uint8_t* weights) {
    const __m256i products = _mm256_madd_epi16(data, load(weights));
    asm("vpaddd %1, %0, %0" : "+x"(acc) : "x"(products));
  }
};

}  // namespace

void depthwise_u8s8_avx2(const DepthwiseArgs& args) {
  const avx2::RoundDown down(args.requant);
  run<Avx2>(args);
}

}  // namespace qrt
