// Depthwise for AVX512-VNNI: VPDPBUSD on 64 channels, or on 32 for a last block that small.
#include "kernels/depthwise/depthwise_ymm.h"

namespace qrt {
namespace {

struct Narrow : YmmBytes {
  static constexpr int kOutputs = 1;

  template <int kPixels>
  static QRT_INLINE void dot(Acc (*acc)[4], int q, const Data* data, const uint8_t* weights) {
    const __m256i& w = *reinterpret_cast<const __m256i*>(weights);
    asm("vpdpbusd %2, %1, %0" : "+v"(acc[0][q]) : "v"(data[0]), "m"(w));
  }
};

struct Zmm {
  static constexpr DepthwiseTile kTile = kDepthwiseZmm;
  static constexpr int kOutputs = 2;
  using Row = __m512i;
  using Acc = __m512i;
  using Data = __m512i;

  static QRT_INLINE __m512i load(const void* p) { return _mm512_loadu_si512(p); }
  static QRT_INLINE Row load_row(const uint8_t* p) { return load(p); }
  static QRT_INLINE Acc load_acc(const uint8_t* p) { return load(p); }
  static QRT_INLINE Data load_data(const uint8_t* p) { return load(p); }

  static QRT_INLINE void interleave(const Row row[4], uint8_t* cells) {
    const __m512i low01 = _mm512_unpacklo_epi8(row[0], row[1]);
    const __m512i high01 = _mm512_unpackhi_epi8(row[0], row[1]);
    const __m512i low23 = _mm512_unpacklo_epi8(row[2], row[3]);
    const __m512i high23 = _mm512_unpackhi_epi8(row[2], row[3]);
    _mm512_storeu_si512(cells, _mm512_unpacklo_epi16(low01, low23));
    _mm512_storeu_si512(cells + 64, _mm512_unpackhi_epi16(low01, low23));
    _mm512_storeu_si512(cells + 128, _mm512_unpacklo_epi16(high01, high23));
    _mm512_storeu_si512(cells + 192, _mm512_unpackhi_epi16(high01, high23));
  }

  // Inline assembly keeps g++ 12 from moving the accumulators to memory.
  template <int kPixels>
  static QRT_INLINE void dot(Acc (*acc)[4], int q, const Data* data, const uint8_t* weights) {
    const __m512i w = load(weights);
#pragma GCC unroll 4
    for (int x = 0; x < kPixels; ++x)
      asm("vpdpbusd %2, %1, %0" : "+v"(acc[x][q]) : "v"(data[x]), "v"(w));
  }

  static QRT_INLINE bool is_bounded(const uint8_t* constants, float reach) {
    __mmask16 all = 0xffff;
    for (int q = 0; q < 4; ++q) {
      const __m512 bias = _mm512_abs_ps(_mm512_cvtepi32_ps(load(constants + q * 64)));
      const __m512 scale = _mm512_castsi512_ps(load(constants + 256 + q * 64));
      const __m512 limit = _mm512_mul_ps(_mm512_add_ps(bias, _mm512_set1_ps(reach)), scale);
      all = _mm512_mask_cmp_ps_mask(all, limit, _mm512_set1_ps(2e9f), _CMP_LT_OQ);
    }
    return all == 0xffff;
  }

  static QRT_INLINE void store_acc(const Acc acc[4], int32_t* out) {
    for (int q = 0; q < 4; ++q) {
      int32_t lanes[16];
      _mm512_storeu_si512(lanes, acc[q]);
      for (int l = 0; l < 4; ++l) memcpy(out + l * 16 + q * 4, lanes + l * 4, 16);
    }
  }

  struct Finish {
    Finish(const Requant& r, size_t n)
        : zero_point(_mm512_set1_epi16(static_cast<int16_t>(r.zero_point))),
          lo(_mm512_set1_epi8(static_cast<char>(r.lo))),
          hi(_mm512_set1_epi8(static_cast<char>(r.hi))),
          mask(~uint64_t{0} >> (64 - n)) {}

    template <bool kClamp>
    QRT_INLINE void store(const Acc acc[4], const uint8_t* scale, uint8_t* out) const {
      __m512i v[4];
#pragma GCC unroll 4
      for (int q = 0; q < 4; ++q) {
        v[q] = _mm512_cvtps_epi32(
            _mm512_mul_ps(_mm512_cvtepi32_ps(acc[q]), _mm512_castsi512_ps(load(scale + q * 64))));
      }
      __m512i low = _mm512_packs_epi32(v[0], v[1]), high = _mm512_packs_epi32(v[2], v[3]);
      if (kClamp) {
        low = _mm512_adds_epi16(low, zero_point);
        high = _mm512_adds_epi16(high, zero_point);
      }
      __m512i bytes = _mm512_packus_epi16(low, high);
      if (kClamp) bytes = _mm512_min_epu8(_mm512_max_epu8(bytes, lo), hi);
      _mm512_mask_storeu_epi8(out, mask, bytes);
    }

    __m512i zero_point, lo, hi;
    __mmask64 mask;
  };
};

}  // namespace

void depthwise_u8s8_avx512vnni(const DepthwiseArgs& args) { run<Zmm, Narrow>(args); }

}  // namespace qrt
