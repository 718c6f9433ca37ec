// SPDX-License-Identifier: Apache-2.0
// Depthwise for AVX512-VNNI: VPDPBUSD on 64 channels, or on 32 or 16 of two or four rows.
#include <immintrin.h>

#include "kernels/depthwise/depthwise_tile.h"
#include "kernels/isa/avx512vnni.h"
#include "kernels/isa/requantize_avx512vnni.h"

namespace qrt {
namespace {

// kBandCount: 1, 2 for rows of 32 channels, 4 for rows of 16.
template <int kBandCount>
struct Zmm {
  static constexpr DepthwiseTile kTile = kDepthwiseZmm;
  static constexpr int kBands = kBandCount;
  static constexpr int kOutputs = kBands == 2 ? 2 : 1;
  static constexpr bool kHolds = true;
  static constexpr int kHalfPixels = kBands == 1 ? 4 : 0;
  static constexpr bool kFewRegisters = false;
  static constexpr bool kSlides = true;
  static constexpr bool kFuses = true;
  static constexpr bool kFusesAboveZeroPoint = true;
  static constexpr bool kOwnTaps = false;
  static constexpr bool kFixes = !kIntegerOnly;
  static constexpr bool kHasAffine = kFixes;
  static constexpr bool kStoresWhole = false;
  using Row = __m512i;
  using Acc = __m512i;
  using Lanes = avx512vnni::Lanes;
  using Data = __m512i;

  QRT_INLINE __m512i load(const void* p) { return _mm512_loadu_si512(p); }
  QRT_INLINE __m128i load_lane(const uint8_t* p) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
  }
  QRT_INLINE void store_lane(uint8_t* p, __m128i v) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(p), v);
  }
  QRT_INLINE Row load_lanes(const uint8_t* const* p) {
    const __m256i low =
        _mm256_inserti128_si256(_mm256_castsi128_si256(load_lane(p[0])), load_lane(p[1]), 1);
    const __m256i high =
        _mm256_inserti128_si256(_mm256_castsi128_si256(load_lane(p[2])), load_lane(p[3]), 1);
    return _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
  }
  template <int>
  QRT_INLINE Row load_row(const uint8_t* const* p) {
    if constexpr (kBands == 1) {
      return load(p[0]);
    } else if constexpr (kBands == 2) {
      const __m256i* second = reinterpret_cast<const __m256i*>(p[1]);
      return _mm512_inserti64x4(
          _mm512_castsi256_si512(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p[0]))),
          _mm256_loadu_si256(second), 1);
    } else {
      return load_lanes(p);
    }
  }
  QRT_INLINE Row load_repeated(const uint8_t* const* p, Row order) {
    return _mm512_shuffle_epi8(load_lanes(p), order);
  }
  QRT_INLINE Acc load_acc(const uint8_t* p) { return load(p); }
  // Loads by inline assembly: g++ 12 would repeat a load by intrinsic for each row that uses it.
  QRT_INLINE Data load_data(const uint8_t* p) {
    Data v;
    asm("vmovdqu64 %1, %0" : "=v"(v) : "m"(*reinterpret_cast<const __m512i*>(p)));
    return v;
  }
  QRT_INLINE void store_data(uint8_t* p, Data v) { _mm512_storeu_si512(p, v); }

  QRT_INLINE void interleave(const Row row[4], Data cells[4]) {
    Row low[2], high[2];
    interleave_two(row, low);
    interleave_two(row + 2, high);
    interleave_words(low, high, cells);
  }

  // Interleaves: two rows' bytes to words, and two columns' words to cells.
  QRT_INLINE void interleave_two(const Row row[2], Row words[2]) {
    words[0] = _mm512_unpacklo_epi8(row[0], row[1]);
    words[1] = _mm512_unpackhi_epi8(row[0], row[1]);
  }
  QRT_INLINE void interleave_words(const Row a[2], const Row b[2], Data cells[4]) {
    cells[0] = _mm512_unpacklo_epi16(a[0], b[0]);
    cells[1] = _mm512_unpackhi_epi16(a[0], b[0]);
    cells[2] = _mm512_unpacklo_epi16(a[1], b[1]);
    cells[3] = _mm512_unpackhi_epi16(a[1], b[1]);
  }

  QRT_INLINE __m512i load_weights(const uint8_t* p) { return load(p); }
  // Adds dot products by inline assembly, which keeps g++ 12 from moving the accumulators to memory.
  QRT_INLINE void dot(Acc& acc, Data data, __m512i weights) {
    asm("vpdpbusd %2, %1, %0" : "+v"(acc) : "v"(data), "v"(weights));
  }
  QRT_INLINE void dot(Acc& acc, Data data, const uint8_t* weights) {
    const __m512i& w = *reinterpret_cast<const __m512i*>(weights);
    asm("vpdpbusd %2, %1, %0" : "+v"(acc) : "v"(data), "m"(w));
  }

  QRT_INLINE bool is_bounded(const uint8_t* constants, float reach) {
    __mmask16 all = 0xffff;
    for (int q = 0; q < 4; ++q) {
      const __m512 bias = _mm512_abs_ps(_mm512_cvtepi32_ps(load(constants + q * 64)));
      const __m512 scale = _mm512_castsi512_ps(load(constants + 256 + q * 64));
      const __m512 limit = _mm512_mul_ps(_mm512_add_ps(bias, _mm512_set1_ps(reach)), scale);
      all = _mm512_mask_cmp_ps_mask(all, limit, _mm512_set1_ps(2e9f), _CMP_LT_OQ);
    }
    return all == 0xffff;
  }

  // Transposes: lane l of out[i] is lane i of v[l].
  QRT_INLINE void transpose_lanes(const __m512i v[4], __m512i out[4]) {
    const __m512i even0 = _mm512_shuffle_i32x4(v[0], v[1], 0x88);
    const __m512i odd0 = _mm512_shuffle_i32x4(v[0], v[1], 0xdd);
    const __m512i even1 = _mm512_shuffle_i32x4(v[2], v[3], 0x88);
    const __m512i odd1 = _mm512_shuffle_i32x4(v[2], v[3], 0xdd);
    out[0] = _mm512_shuffle_i32x4(even0, even1, 0x88);
    out[1] = _mm512_shuffle_i32x4(odd0, odd1, 0x88);
    out[2] = _mm512_shuffle_i32x4(even0, even1, 0xdd);
    out[3] = _mm512_shuffle_i32x4(odd0, odd1, 0xdd);
  }
  QRT_INLINE void store_acc(const Acc acc[4], int32_t* out) {
    __m512i v[4];
    transpose_lanes(acc, v);
    for (int i = 0; i < 4; ++i) _mm512_storeu_si512(out + i * 16, v[i]);
  }
  QRT_INLINE void load_quads(const uint8_t* const* p, Data quads[4]) {
    const __m512i v[4] = {load(p[0]), load(p[1]), load(p[2]), load(p[3])};
    transpose_lanes(v, quads);
  }

  // Returns whether avx512vnni::rounded_sum() serves, and if so writes its constants.
  QRT_INLINE bool fuse(uint8_t* constants, size_t taps) {
    for (int q = 0; q < 4; ++q) {
      const __m512 scale = _mm512_castsi512_ps(load(constants + 256 + q * 64));
      if (!avx512vnni::can_fuse(load(constants + q * 64), scale, taps)) return false;
    }
    for (int q = 0; q < 4; ++q) {
      uint8_t* bias = constants + q * 64;
      const __m512 scale = _mm512_castsi512_ps(load(bias + 256));
      _mm512_storeu_si512(bias, avx512vnni::start_sum(load(bias)));
      _mm512_storeu_ps(bias + 512, avx512vnni::offset_of(scale));
    }
    return true;
  }

  // The constants that an epilogue reads for every channel: in registers as many as a loop can hold
  // there, the rest in memory.
  template <Store kStore, bool kFixed = kStore == Store::kFixed || kStore == Store::kFixedFromZero>
  struct Constants {
    static constexpr bool kHeld = true;
    explicit __attribute__((always_inline)) Constants(const uint8_t* constants) {
#pragma GCC unroll 4
      for (int q = 0; q < 4; ++q) {
        scale[q] = _mm512_castsi512_ps(load(constants + 256 + q * 64));
        if (kStore != Store::kClamp)
          offset[q] = _mm512_castsi512_ps(load(constants + 512 + q * 64));
      }
    }
    __attribute__((always_inline)) __m512i value(__m512i acc, int q) const {
      if constexpr (kStore == Store::kClamp)
        return _mm512_cvtps_epi32(_mm512_mul_ps(_mm512_cvtepi32_ps(acc), scale[q]));
      if constexpr (kStore == Store::kFused)
        return avx512vnni::rounded_sum(acc, scale[q], offset[q]);
      return avx512vnni::FixedPoint::of_affine(acc, scale[q], offset[q]);
    }
    __m512 scale[4], offset[4];
  };

  template <Store kStore>
  struct Constants<kStore, true> {
    static constexpr bool kHeld = false;
    explicit Constants(const uint8_t* p) : constants(p) {}
    __attribute__((always_inline)) __m512i value(__m512i acc, int q) const {
      const uint8_t* p = constants + q * 64;
      const __m512 high = _mm512_castsi512_ps(load(p + 256));
      const __m512 low = _mm512_castsi512_ps(load(p + 512));
      const __m512 nudge = _mm512_castsi512_ps(load(p + 768));
      return avx512vnni::FixedPoint::doubled<kStore == Store::kFixed>(acc, high, low, nudge);
    }
    const uint8_t* constants;
  };

  static bool can_fix(const Requant& r, size_t c, size_t n) {
    return avx512vnni::FixedPoint::handles(r, c, n);
  }
  static void fix(const Requant& r, size_t c, size_t n, float (*constants)[64]) {
    for (size_t j = 0; j < n; j += 16) {
      const auto k = avx512vnni::FixedPoint::make(r, c + j);
      _mm512_storeu_ps(constants[0] + j, k.high);
      _mm512_storeu_ps(constants[1] + j, k.low);
      _mm512_storeu_ps(constants[2] + j, k.nudge);
    }
  }

  struct Finish {
    Finish(const Requant& r, size_t n)
        : zero_point(_mm512_set1_epi16(static_cast<int16_t>(r.zero_point))),
          lo(_mm512_set1_epi8(static_cast<char>(r.lo))),
          hi(_mm512_set1_epi8(static_cast<char>(r.hi))),
          span(_mm512_set1_epi8(static_cast<char>(r.hi - r.lo))),
          is_limited(r.lo != 0 || r.hi != 255),
          is_full(r.zero_point == 0 && !is_limited),
          mask(~uint64_t{0} >> (64 - n)),
          is_whole(n == 64 / kBands) {}

    // Returns the results of quads q and q + 1 before the zero point is added, in words.
    template <Store kStore>
    __attribute__((always_inline)) static __m512i words(const Acc acc[2],
                                                        const Constants<kStore>& constants, int q) {
      const __m512i v =
          _mm512_packs_epi32(constants.value(acc[0], q), constants.value(acc[1], q + 1));
      const bool is_doubled = kStore == Store::kFixed || kStore == Store::kFixedFromZero;
      return is_doubled ? avx512vnni::FixedPoint::halved(v) : v;
    }

    template <Store kStore>
    __attribute__((always_inline)) void store(const Acc acc[4], const Constants<kStore>& constants,
                                              uint8_t* out, size_t band_bytes, size_t bands) const {
      store<kStore>(words<kStore>(acc, constants, 0), words<kStore>(acc + 2, constants, 2), out,
                    band_bytes, bands);
    }
    template <Store kStore>
    __attribute__((always_inline)) void store(__m512i low, __m512i high, uint8_t* out,
                                              size_t band_bytes, size_t bands) const {
      constexpr bool kClamp = kStore == Store::kClamp || kStore == Store::kFixed;
      if (kClamp) {
        low = _mm512_adds_epi16(low, zero_point);
        high = _mm512_adds_epi16(high, zero_point);
      }
      __m512i bytes = _mm512_packus_epi16(low, high);
      if (kClamp) {
        if (is_limited) bytes = _mm512_min_epu8(_mm512_max_epu8(bytes, lo), hi);
      } else if (!is_full) {  // Store::kFused, and lo is the zero point
        bytes = _mm512_add_epi8(_mm512_min_epu8(bytes, span), lo);
      }
      if constexpr (kBands == 1) {
        _mm512_mask_storeu_epi8(out, mask, bytes);
      } else if constexpr (kBands == 2) {
        if (is_whole) {
          _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), _mm512_castsi512_si256(bytes));
          if (bands > 1)
            _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + band_bytes),
                                _mm512_extracti64x4_epi64(bytes, 1));
          return;
        }
        const __mmask32 half = static_cast<__mmask32>(mask);
        _mm256_mask_storeu_epi8(out, half, _mm512_castsi512_si256(bytes));
        if (bands > 1)
          _mm256_mask_storeu_epi8(out + band_bytes, half, _mm512_extracti64x4_epi64(bytes, 1));
      } else {
        if (is_whole) {
          store_lane(out, _mm512_castsi512_si128(bytes));
          if (bands > 1) store_lane(out + band_bytes, _mm512_extracti32x4_epi32(bytes, 1));
          if (bands > 2) store_lane(out + 2 * band_bytes, _mm512_extracti32x4_epi32(bytes, 2));
          if (bands > 3) store_lane(out + 3 * band_bytes, _mm512_extracti32x4_epi32(bytes, 3));
          return;
        }
        const __mmask16 lane = static_cast<__mmask16>(mask);
        _mm_mask_storeu_epi8(out, lane, _mm512_castsi512_si128(bytes));
        if (bands > 1)
          _mm_mask_storeu_epi8(out + band_bytes, lane, _mm512_extracti32x4_epi32(bytes, 1));
        if (bands > 2)
          _mm_mask_storeu_epi8(out + 2 * band_bytes, lane, _mm512_extracti32x4_epi32(bytes, 2));
        if (bands > 3)
          _mm_mask_storeu_epi8(out + 3 * band_bytes, lane, _mm512_extracti32x4_epi32(bytes, 3));
      }
    }

    __m512i zero_point, lo, hi, span;  // span: hi - lo
    bool is_limited, is_full;
    __mmask64 mask;
    bool is_whole;  // all of pack()'s extractions go to memory then, without a shuffle
  };
};

}  // namespace

void depthwise_u8s8_avx512vnni(const DepthwiseArgs& args) { run<Zmm<1>, Zmm<2>, Zmm<4>>(args); }

}  // namespace qrt
