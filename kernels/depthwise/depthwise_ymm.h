// SPDX-License-Identifier: Apache-2.0
// The common part of the depthwise family's 256-bit policies; each has products of its own.
#ifndef QRT_KERNELS_DEPTHWISE_DEPTHWISE_YMM_H_
#define QRT_KERNELS_DEPTHWISE_DEPTHWISE_YMM_H_

#include <immintrin.h>

#include "kernels/depthwise/depthwise_tile.h"
#include "kernels/isa/fixed_point_avx2.h"
#include "kernels/isa/requantize_avx2.h"
#include "kernels/isa/vec_avx2.h"

namespace qrt {
namespace {

struct Ymm {
  static constexpr int kBands = 2;
  static constexpr int kOutputs = 1;
  static constexpr bool kSlides = false;
  static constexpr bool kFuses = false;
  static constexpr bool kHolds = true;
  static constexpr int kHalfPixels = 0;
  static constexpr bool kFewRegisters = false;
  static constexpr bool kOwnTaps = false;
  static constexpr bool kFixes = !kIntegerOnly, kHasAffine = false, kStoresWhole = true;
  using Row = __m256i;
  using Acc = __m256i;
  using Lanes = avx2::Lanes;
  using Data = __m256i;

  QRT_INLINE __m256i load(const void* p) {
    return _mm256_loadu_si256(static_cast<const __m256i*>(p));
  }
  QRT_INLINE void save(void* p, __m256i v) { _mm256_storeu_si256(static_cast<__m256i*>(p), v); }
  QRT_INLINE __m128i load_half(const void* p) {
    return _mm_loadu_si128(static_cast<const __m128i*>(p));
  }
  QRT_INLINE Row load_lanes(const uint8_t* const* p) {
    return _mm256_inserti128_si256(_mm256_castsi128_si256(load_half(p[0])), load_half(p[1]), 1);
  }
  template <int kBandCount>
  QRT_INLINE Row load_row(const uint8_t* const* p) {
    return kBandCount == 1 ? load(p[0]) : load_lanes(p);
  }
  QRT_INLINE Row load_repeated(const uint8_t* const* p, Row order) {
    return _mm256_shuffle_epi8(load_lanes(p), order);
  }
  QRT_INLINE Acc load_acc(const uint8_t* p) { return load(p); }
  // Loads by inline assembly: g++ 12 would repeat a load by intrinsic for each product that uses it.
  QRT_INLINE Data load_data(const uint8_t* p) {
    Data v;
    asm("vmovdqu %1, %0" : "=x"(v) : "m"(*reinterpret_cast<const __m256i_u*>(p)));
    return v;
  }
  QRT_INLINE void store_data(uint8_t* p, Data v) { save(p, v); }

  QRT_INLINE bool is_bounded(const uint8_t* constants, float reach) {
    const __m256 magnitude = _mm256_castsi256_ps(_mm256_set1_epi32(0x7fffffff));
    __m256 all = _mm256_castsi256_ps(_mm256_set1_epi32(-1));
    for (int q = 0; q < 4; ++q) {
      const __m256 bias = _mm256_cvtepi32_ps(load(constants + q * 32));
      const __m256 scale = _mm256_castsi256_ps(load(constants + 128 + q * 32));
      const __m256 limit = _mm256_mul_ps(
          _mm256_add_ps(_mm256_and_ps(bias, magnitude), _mm256_set1_ps(reach)), scale);
      all = _mm256_and_ps(all, _mm256_cmp_ps(limit, _mm256_set1_ps(2e9f), _CMP_LT_OQ));
    }
    return _mm256_movemask_ps(all) == 0xff;
  }

  static bool can_fix(const Requant& r, size_t c, size_t n) {
    return avx2::FixedPoint::handles(r, c, n);
  }
  static void fix(const Requant& r, size_t c, size_t n, float (*constants)[32]) {
    for (size_t j = 0; j < (n + 15) / 16 * 16; j += 8) {
      const auto k = avx2::FixedPoint::make(r, c + j);
      _mm256_storeu_ps(constants[0] + j, k.high);
      _mm256_storeu_ps(constants[1] + j, k.low);
      _mm256_storeu_ps(constants[2] + j, k.nudge);
    }
  }

  QRT_INLINE void load_quads(const uint8_t* const* p, Data quads[4]) {
    const __m256i first[2] = {load(p[0]), load(p[0] + 32)},
                  second[2] = {load(p[1]), load(p[1] + 32)};
    for (int i = 0; i < 2; ++i) {
      quads[2 * i] = _mm256_permute2x128_si256(first[i], second[i], 0x20);
      quads[2 * i + 1] = _mm256_permute2x128_si256(first[i], second[i], 0x31);
    }
  }

  // The address of an epilogue's constants: there are no registers to hold them.
  template <Store kStore>
  struct Constants {
    static constexpr bool kHeld = false;
    static constexpr bool kIsFixed = kStore == Store::kFixed || kStore == Store::kFixedFromZero;
    explicit __attribute__((always_inline)) Constants(const uint8_t* p) : constants(p + 128) {}
    __attribute__((always_inline)) __m256 constant(int i, int q) const {
      return _mm256_castsi256_ps(load(constants + i * 128 + q * 32));
    }
    __attribute__((always_inline)) __m256i value(__m256i acc, int q) const {
      if constexpr (kIsFixed)
        return avx2::FixedPoint::doubled<kStore == Store::kFixed>(acc, constant(0, q),
                                                                  constant(1, q), constant(2, q));
      return _mm256_cvtps_epi32(_mm256_mul_ps(_mm256_cvtepi32_ps(acc), constant(0, q)));
    }
    const uint8_t* constants;
  };

  QRT_INLINE void store_acc(const Acc acc[4], int32_t* out) {
    save(out, _mm256_permute2x128_si256(acc[0], acc[1], 0x20));
    save(out + 8, _mm256_permute2x128_si256(acc[2], acc[3], 0x20));
    save(out + 16, _mm256_permute2x128_si256(acc[0], acc[1], 0x31));
    save(out + 24, _mm256_permute2x128_si256(acc[2], acc[3], 0x31));
  }

  // Stores the first n <= 32 bytes.
  QRT_INLINE void store_partial(uint8_t* p, __m256i v, size_t n) {
    if (n == 32)
      save(p, v);
    else
      avx2::Vec::store_partial(p, v, n);
  }

  struct Finish {
    Finish(const Requant& r, size_t)
        : zero_point(_mm256_set1_epi16(static_cast<int16_t>(r.zero_point))),
          lo(_mm256_set1_epi8(static_cast<char>(r.lo))),
          hi(_mm256_set1_epi8(static_cast<char>(r.hi))) {}

    // Returns the results of quads q and q + 1 before the zero point is added, in words.
    template <Store kStore>
    __attribute__((always_inline)) static __m256i words(const Acc acc[2],
                                                        const Constants<kStore>& constants, int q) {
      const __m256i v =
          _mm256_packs_epi32(constants.value(acc[0], q), constants.value(acc[1], q + 1));
      return Constants<kStore>::kIsFixed ? avx2::FixedPoint::halved(v) : v;
    }

    template <Store kStore>
    __attribute__((always_inline)) void store(const Acc acc[4], const Constants<kStore>& constants,
                                              uint8_t* out, size_t band_bytes, size_t bands) const {
      store<kStore>(words<kStore>(acc, constants, 0), words<kStore>(acc + 2, constants, 2), out,
                    band_bytes, bands);
    }
    template <Store kStore>
    __attribute__((always_inline)) void store(__m256i low, __m256i high, uint8_t* out,
                                              size_t band_bytes, size_t) const {
      constexpr bool kClamp = kStore == Store::kClamp || kStore == Store::kFixed;
      if (kClamp) {
        low = _mm256_adds_epi16(low, zero_point);
        high = _mm256_adds_epi16(high, zero_point);
      }
      __m256i bytes = _mm256_packus_epi16(low, high);
      if (kClamp) bytes = _mm256_min_epu8(_mm256_max_epu8(bytes, lo), hi);
      _mm_storeu_si128(reinterpret_cast<__m128i*>(out), _mm256_castsi256_si128(bytes));
      _mm_storeu_si128(reinterpret_cast<__m128i*>(out + band_bytes),
                       _mm256_extracti128_si256(bytes, 1));
    }

    __m256i zero_point, lo, hi;
  };
};

// Quads of bytes for VPDPBUSD.
struct YmmBytes : Ymm {
  static constexpr DepthwiseTile kTile = kDepthwiseYmm;
  static constexpr int kHalfPixels = 2;
  static constexpr bool kFewRegisters = true;

  QRT_INLINE void interleave(const __m256i row[4], __m256i cells[4]) {
    __m256i low[2], high[2];
    interleave_two(row, low);
    interleave_two(row + 2, high);
    interleave_words(low, high, cells);
  }

  // Interleaves: two rows' bytes to words, and two columns' words to cells.
  QRT_INLINE void interleave_two(const __m256i row[2], __m256i words[2]) {
    words[0] = _mm256_unpacklo_epi8(row[0], row[1]);
    words[1] = _mm256_unpackhi_epi8(row[0], row[1]);
  }
  QRT_INLINE void interleave_words(const __m256i a[2], const __m256i b[2], __m256i cells[4]) {
    cells[0] = _mm256_unpacklo_epi16(a[0], b[0]);
    cells[1] = _mm256_unpackhi_epi16(a[0], b[0]);
    cells[2] = _mm256_unpacklo_epi16(a[1], b[1]);
    cells[3] = _mm256_unpackhi_epi16(a[1], b[1]);
  }
};

}  // namespace
}  // namespace qrt

#endif  // QRT_KERNELS_DEPTHWISE_DEPTHWISE_YMM_H_
