// Quantisation and dequantisation by 16 lanes: blocks of 64 where scale and zero point stand still,
// masked tails.
#include <immintrin.h>

#include "kernels/boundary/boundary_lanes.h"
#include "kernels/boundary/entry.h"

namespace qrt {
namespace {

constexpr size_t kLanes = 16, kBlock = 64;
constexpr size_t kAhead = 1024;  // floats that are fetched before their use

inline __mmask16 first_lanes(size_t n) {
  return static_cast<__mmask16>(n >= kLanes ? 0xffff : (1u << n) - 1);
}

// HE(clamp(quotient, lo, hi)), limits less the zero point. MAXPS gives its second operand where the
// first is NaN.
inline __m512i steps(__m512 quotient, __m512 lo, __m512 hi) {
  const __m512 v = _mm512_max_ps(quotient, lo);
  return _mm512_cvtps_epi32(_mm512_min_ps(v, hi));
}

// x / scale, correctly rounded, without the divider, which is slower than memory. Markstein: where
// r is 1 / scale rounded and q less than one unit in the last place from x / scale, q + (x - q *
// scale)
// * r, rounded, is the quotient rounded. The first step makes such a q, the second uses it. What is
// far beyond every limit, infinite or NaN stays as the product made it: it ends at the same limit.
struct Reciprocal {
  __m512 scale, r;

  static bool is_exact_for(float scale) { return scale >= 0x1p-60f && scale <= 0x1p60f; }

  inline __m512 quotient(__m512 x) const {
    const __m512 q = _mm512_mul_ps(x, r);
    const __mmask16 near =
        _mm512_cmp_ps_mask(_mm512_abs_ps(q), _mm512_set1_ps(0x1p20f), _CMP_LT_OQ);
    const __m512 q1 = _mm512_mask3_fmadd_ps(_mm512_fnmadd_ps(q, scale, x), r, q, near);
    return _mm512_mask3_fmadd_ps(_mm512_fnmadd_ps(q1, scale, x), r, q1, near);
  }
};

struct Divider {
  __m512 scale;
  inline __m512 quotient(__m512 x) const { return _mm512_div_ps(x, scale); }
};

template <bool kSigned>
inline __m512i widen(__m128i x) {
  return kSigned ? _mm512_cvtepi8_epi32(x) : _mm512_cvtepu8_epi32(x);
}

inline __m512 real(__m512i x, __m512i zp, __m512 scale) {
  return _mm512_mul_ps(_mm512_cvtepi32_ps(_mm512_sub_epi32(x, zp)), scale);
}

template <bool kSigned>
inline void dequantize(const uint8_t* x, size_t n, float scale, int32_t zp, float* y) {
  const __m512 s = _mm512_set1_ps(scale);
  const __m512i z = _mm512_set1_epi32(zp);
  const auto at = [&](const uint8_t* from) {
    return real(widen<kSigned>(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from))), z, s);
  };
  if (n >= kWrittenPastFrom) {
    const size_t head = -reinterpret_cast<uintptr_t>(y) % 64 / sizeof(float);
    _mm512_mask_storeu_ps(y, first_lanes(head), at(x));
    n -= head, x += head, y += head;
    for (; n >= kBlock; n -= kBlock, x += kBlock, y += kBlock)
      for (size_t i = 0; i < kBlock; i += kLanes) _mm512_stream_ps(y + i, at(x + i));
    _mm_sfence();
  }
  for (; n >= kBlock; n -= kBlock, x += kBlock, y += kBlock)
    for (size_t i = 0; i < kBlock; i += kLanes) _mm512_storeu_ps(y + i, at(x + i));
  for (size_t i = 0; i < n; i += kLanes) {
    const __mmask16 m = first_lanes(n - i);
    _mm512_mask_storeu_ps(y + i, m, real(widen<kSigned>(_mm_maskz_loadu_epi8(m, x + i)), z, s));
  }
}

template <bool kSigned>
inline void dequantize_channels(const uint8_t* x, size_t rows, size_t channels, const float* scale,
                                const int32_t* zp, float* y) {
  for (size_t r = 0; r < rows; ++r, x += channels, y += channels) {
    for (size_t c = 0; c < channels; c += kLanes) {
      const __mmask16 m = first_lanes(channels - c);
      _mm512_mask_storeu_ps(
          y + c, m,
          real(widen<kSigned>(_mm_maskz_loadu_epi8(m, x + c)), _mm512_maskz_loadu_epi32(m, zp + c),
               _mm512_maskz_loadu_ps(m, scale + c)));
    }
  }
}

// Lanes of 32 bits, see boundary_lanes.h.
struct Lanes {
  static constexpr size_t kLanes = 16;
  static inline __m512 load_half(const uint16_t* x) {
    return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(x)));
  }
  static inline void store_half(uint16_t* y, __m512 v) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(y),
                        _mm512_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
  }
};

template <class Division>
inline void quantize(const float* x, size_t n, const Division& by, int32_t zp, int32_t lo,
                     int32_t hi, uint8_t* y) {
  const __m512 low = _mm512_set1_ps(static_cast<float>(lo - zp));
  const __m512 high = _mm512_set1_ps(static_cast<float>(hi - zp));
  // Packed as distances from lo, 0..255; adding lo modulo 256 gives the byte of either type.
  const __m512i to_distance = _mm512_set1_epi16(static_cast<int16_t>(zp - lo));
  const __m512i to_byte = _mm512_set1_epi8(static_cast<char>(lo));
  const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  const auto block = [&](const float* from, uint8_t* to) {
    for (size_t i = 0; i < kBlock; i += kLanes) {
      _mm_prefetch(reinterpret_cast<const char*>(from + kAhead + i), _MM_HINT_T0);
    }
    const __m512i v0 = steps(by.quotient(_mm512_loadu_ps(from)), low, high);
    const __m512i v1 = steps(by.quotient(_mm512_loadu_ps(from + 16)), low, high);
    const __m512i v2 = steps(by.quotient(_mm512_loadu_ps(from + 32)), low, high);
    const __m512i v3 = steps(by.quotient(_mm512_loadu_ps(from + 48)), low, high);
    const __m512i w0 = _mm512_add_epi16(_mm512_packs_epi32(v0, v1), to_distance);
    const __m512i w1 = _mm512_add_epi16(_mm512_packs_epi32(v2, v3), to_distance);
    const __m512i bytes = _mm512_add_epi8(_mm512_packus_epi16(w0, w1), to_byte);
    _mm512_storeu_si512(to, _mm512_permutexvar_epi32(order, bytes));
  };
  if (n >= kStreamedFrom) {
    const size_t part = n / kStreams / kBlock * kBlock;
    for (size_t i = 0; i < part; i += kBlock)
      for (size_t k = 0; k < kStreams; ++k) block(x + k * part + i, y + k * part + i);
    n -= kStreams * part, x += kStreams * part, y += kStreams * part;
  }
  for (; n >= kBlock; n -= kBlock, x += kBlock, y += kBlock) block(x, y);
  for (size_t i = 0; i < n; i += kLanes) {
    const __mmask16 m = first_lanes(n - i);
    const __m512i v = steps(by.quotient(_mm512_maskz_loadu_ps(m, x + i)), low, high);
    _mm512_mask_cvtepi32_storeu_epi8(y + i, m, _mm512_add_epi32(v, _mm512_set1_epi32(zp)));
  }
}

}  // namespace

void boundary_quantize_avx512vnni(const float* x, size_t n, float scale, int32_t zp, int32_t lo,
                                  int32_t hi, uint8_t* y) {
  const __m512 s = _mm512_set1_ps(scale);
  if (Reciprocal::is_exact_for(scale)) {
    quantize(x, n, Reciprocal{s, _mm512_set1_ps(1 / scale)}, zp, lo, hi, y);
  } else {
    quantize(x, n, Divider{s}, zp, lo, hi, y);
  }
}

void boundary_quantize_channels_avx512vnni(const float* x, size_t rows, size_t channels,
                                           const float* scale, const int32_t* zp, int32_t lo,
                                           int32_t hi, uint8_t* y) {
  const __m512i low = _mm512_set1_epi32(lo), high = _mm512_set1_epi32(hi);
  for (size_t r = 0; r < rows; ++r, x += channels, y += channels) {
    for (size_t c = 0; c < channels; c += kLanes) {
      const __mmask16 m = first_lanes(channels - c);
      const __m512i z = _mm512_maskz_loadu_epi32(m, zp + c);
      const Divider by = {_mm512_maskz_loadu_ps(m, scale + c)};
      const __m512i v = steps(by.quotient(_mm512_maskz_loadu_ps(m, x + c)),
                              _mm512_cvtepi32_ps(_mm512_sub_epi32(low, z)),
                              _mm512_cvtepi32_ps(_mm512_sub_epi32(high, z)));
      _mm512_mask_cvtepi32_storeu_epi8(y + c, m, _mm512_add_epi32(v, z));
    }
  }
}

void boundary_dequantize_avx512vnni(const uint8_t* x, bool is_signed, size_t n, float scale,
                                    int32_t zp, float* y) {
  is_signed ? dequantize<true>(x, n, scale, zp, y) : dequantize<false>(x, n, scale, zp, y);
}

void boundary_dequantize_channels_avx512vnni(const uint8_t* x, bool is_signed, size_t rows,
                                             size_t channels, const float* scale, const int32_t* zp,
                                             float* y) {
  is_signed ? dequantize_channels<true>(x, rows, channels, scale, zp, y)
            : dequantize_channels<false>(x, rows, channels, scale, zp, y);
}

void boundary_dequantize_i32_avx512vnni(const int32_t* x, size_t rows, size_t channels,
                                        const float* scale, float* y) {
  for (size_t r = 0; r < rows; ++r, x += channels, y += channels) {
    for (size_t c = 0; c < channels; c += kLanes) {
      const __mmask16 m = first_lanes(channels - c);
      const __m512 v = _mm512_cvtepi32_ps(_mm512_maskz_loadu_epi32(m, x + c));
      _mm512_mask_storeu_ps(y + c, m, _mm512_mul_ps(v, _mm512_maskz_loadu_ps(m, scale + c)));
    }
  }
}

QRT_BOUNDARY_LANES(avx512vnni, Lanes)

}  // namespace qrt
