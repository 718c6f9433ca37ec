// Depthwise for AVX2: rows in pairs of int16 for VPMADDWD, which cannot saturate where VPMADDUBSW
// would.
#include "kernels/depthwise/depthwise_ymm.h"

namespace qrt {
namespace {

struct Avx2 : Ymm {
  static constexpr DepthwiseTile kTile = kDepthwiseYmmPairs;
  static constexpr int kOutputs = 1;

  static QRT_INLINE void interleave(const Row row[2], uint8_t* cells) {
    const __m256i zero = _mm256_setzero_si256();
    const __m256i low = _mm256_unpacklo_epi8(row[0], row[1]);
    const __m256i high = _mm256_unpackhi_epi8(row[0], row[1]);
    save(cells, _mm256_unpacklo_epi8(low, zero));
    save(cells + 32, _mm256_unpackhi_epi8(low, zero));
    save(cells + 64, _mm256_unpacklo_epi8(high, zero));
    save(cells + 96, _mm256_unpackhi_epi8(high, zero));
  }

  // Inline assembly keeps g++ 12 from moving the accumulators to memory.
  template <int kPixels>
  static QRT_INLINE void dot(Acc (*acc)[4], int q, const Data* data, const uint8_t* weights) {
    const __m256i products = _mm256_madd_epi16(data[0], load(weights));
    asm("vpaddd %1, %0, %0" : "+x"(acc[0][q]) : "x"(products));
  }
};

}  // namespace

void depthwise_u8s8_avx2(const DepthwiseArgs& args) { run<Avx2>(args); }

}  // namespace qrt
