// Winograd's convolution on AVX2. Its products are of int16, which VPMADDWD multiplies without the
// widening that bytes need: nothing is paid for exactness that the gemm family would not pay.
#include "kernels/gemm/policy256.h"
#include "kernels/isa/multiply_add_avx2.h"
#include "kernels/winograd/winograd_tile.h"

namespace qrt {
namespace {

// gemm_tile.h on int16: a step is two of them from each side, as many bytes as four int8.
struct Pairs : Policy256 {
  static constexpr int kTileRows = 6;
  static constexpr int kTileVectors = 2;

  QRT_INLINE __m256i load_pixels(const uint8_t* p) {
    return _mm256_cvtepu8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
  }
  QRT_INLINE Rhs load_rhs(const int8_t* p, int) { return load(p); }
  QRT_INLINE Lhs splat_lhs(const uint8_t* p, int) { return splat(p); }
  QRT_INLINE void dot(Acc& acc, Lhs a, Rhs b) { multiply_add(acc, a, b); }
};

}  // namespace

void winograd_u8s8_4x4_avx2(const WinogradArgs& args) {
  const avx2::RoundDown down(args.requant);
  run_block<Pairs, 6>(args);
}

void winograd_u8s8_1x4_avx2(const WinogradArgs& args) {
  const avx2::RoundDown down(args.requant);
  run_block<Pairs, 1>(args);
}

}  // namespace qrt
