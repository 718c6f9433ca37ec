// SPDX-License-Identifier: Apache-2.0
// gemm on AVX2, exact in two ways. VPMADDWD on weights and activations widened to 16 bits: for
// every product. VPMADDUBSW on bytes: for weights of which no pair of products leaves 16 bits (it
// saturates). 6 x 16 tiles.
//
// Widening splits a group of 4 k into k 0, 2 (the low bytes of its 16-bit halves) and k 1, 3 (the
// high bytes): two phases, so that 6 x 2 accumulators, the weights of one phase and a splat fit
// into 16 registers. Activations are widened once for all panels of weights.
#include "kernels/gemm/gemm_loops.h"
#include "kernels/gemm/kernels.h"
#include "kernels/gemm/policy256.h"
#include "kernels/isa/multiply_add_avx2.h"

namespace qrt {
namespace {

struct Words : Policy256 {
  static constexpr int kNothing = -1;  // rows are widened, or few
  static constexpr int kPhases = 2;
  static constexpr int kHalfVectors = 0;

  QRT_INLINE Rhs load_rhs(const int8_t* p, int phase) {
    const __m256i b = load(p);
    return _mm256_srai_epi16(phase == 0 ? _mm256_slli_epi16(b, 8) : b, 8);
  }
  QRT_INLINE void dot(Acc& acc, Lhs a, Rhs b) { multiply_add(acc, a, b); }
};

struct Avx2 : Words {
  static constexpr int kLhsBytes = 1;

  QRT_INLINE Lhs splat_lhs(const uint8_t* p, int phase) {
    const __m256i a = splat(p);
    return _mm256_srli_epi16(phase == 0 ? _mm256_slli_epi16(a, 8) : a, 8);
  }
};

// Left-hand rows as widen() leaves them, of a product of many rows: a block of few takes tiles, too.
struct Avx2Widened : Words {
  static constexpr int kFewRows = 0;
  static constexpr int kLhsBytes = 2;

  QRT_INLINE Lhs splat_lhs(const uint8_t* p, int phase) { return splat(p + 4 * phase); }
};

struct Avx2Adjacent : Policy256 {
  static constexpr int kPhases = 1;
  static constexpr int kHalfVectors = 0;
  static constexpr int kLhsBytes = 1;

  QRT_INLINE void dot(Acc& acc, Lhs a, Rhs b) {
    __m256i t;
    __asm__("vpmaddubsw %3, %2, %1\n\tvpmaddwd %4, %1, %1\n\tvpaddd %1, %0, %0"
            : "+x"(acc), "=&x"(t)
            : "x"(a), "x"(b), "m"(kOnes));
  }
  alignas(32) static constexpr int16_t kOnes[16] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
};

// Widens kc bytes to 2 * kc bytes: each group of 4 k becomes 16-bit k 0, 2, 1, 3. Reads up to 12
// bytes past the row, writes up to 24 past its end.
QRT_INLINE void widen(const uint8_t* row, size_t kc, uint8_t* out) {
  const __m128i mask = _mm_set1_epi16(0xff);
  for (size_t k = 0; k < kc; k += 16, row += 16, out += 32) {
    const __m128i a = _mm_loadu_si128(reinterpret_cast<const __m128i*>(row));
    const __m128i even = _mm_and_si128(a, mask), odd = _mm_srli_epi16(a, 8);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out), _mm_unpacklo_epi32(even, odd));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + 16), _mm_unpackhi_epi32(even, odd));
  }
}

// Bytes on the stack, of which a thread may have no more than 64 KiB (qrt.h): four rows of the 4608 k of ResNet-50.
constexpr size_t kWidenedBytes = 36 * 1024;
constexpr size_t kGoodWidenedBytes = 20 * 1024;  // stay in L1 beside a panel of weights

// Computes the product in tiles of kTileRows rows, or as many as kWidenedBytes hold.
template <int kTileRows>
QRT_INLINE void run_widened(const GemmArgs& args, size_t row_bytes, uint8_t* widened) {
  size_t block = kGoodWidenedBytes / row_bytes / kTileRows;
  if (block < 1) block = 1;
  // Whole tiles, with rows spread as evenly as possible: a tile of few rows takes as long for its weights.
  const size_t tiles = (args.m + kTileRows - 1) / kTileRows, blocks = (tiles + block - 1) / block;
  const auto row_of = [&](size_t tile) {
    const size_t longer = args.m % tiles;
    return tile * (args.m / tiles) + (tile < longer ? tile : longer);
  };
  for (size_t b = 0; b < blocks; ++b) {
    const size_t begin = row_of(tiles * b / blocks), end = row_of(tiles * (b + 1) / blocks);
    for (size_t i = begin; i < end; ++i) {
      for (size_t t = 0; t < args.taps; ++t) {
        const uint8_t* row[1];
        load_rows<1>(args, i, t, row);
        widen(row[0], args.kc, widened + (i - begin) * row_bytes + 2 * t * args.kc);
      }
    }
    GemmArgs part = args;
    part.m = end - begin;
    part.a = widened;
    part.a_stride = row_bytes;
    part.a_tap_stride = 2 * args.kc;
    part.indirection = nullptr;
    part.c = static_cast<uint8_t*>(args.c) + begin * args.c_stride;
    gemm<Avx2Widened, kTileRows, 2>(part);
  }
}

}  // namespace

void gemm_u8s8_6x16_k4_avx2(const GemmArgs& args) {
  const avx2::RoundDown down(args.requant);
  const size_t row_bytes = 2 * args.taps * args.kc;
  if (args.m <= Avx2::kFewRows || 4 * row_bytes > kWidenedBytes) return gemm<Avx2, 4, 2>(args);
  alignas(64) uint8_t widened[kWidenedBytes + 32];
  if (6 * row_bytes <= kWidenedBytes)
    run_widened<6>(args, row_bytes, widened);
  else
    run_widened<4>(args, row_bytes, widened);
}

void gemm_u8s8_6x16_k4_adjacent_avx2(const GemmArgs& args) {
  const avx2::RoundDown down(args.requant);
  gemm<Avx2Adjacent, 6, 2>(args);
}

}  // namespace qrt
