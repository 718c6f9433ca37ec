// Quantisation and dequantisation by 16 lanes: blocks of 64 where scale and zero point stand still,
// masked tails.
#include <immintrin.h>

#include "kernels/edge/edge_lanes.h"
#include "kernels/edge/entry.h"

namespace qrt {
namespace {

constexpr size_t kLanes = 16, kBlock = 64;
constexpr size_t kAhead = 1024;  // elements that are fetched before their use

inline __mmask16 first_lanes(size_t n) {
  return static_cast<__mmask16>(n >= kLanes ? 0xffff : (1u << n) - 1);
}

// HE(clamp(quotient, lo, hi)), limits less the zero point. MAXPS gives its second operand where the
// first is NaN.
inline __m512i steps(__m512 quotient, __m512 lo, __m512 hi) {
  const __m512 v = _mm512_max_ps(quotient, lo);
  return _mm512_cvtps_epi32(_mm512_min_ps(v, hi));
}

// HA(clamp(quotient, lo, hi)), see EdgeLanes::round_away().
inline __m512i steps_away(__m512 quotient, __m512 lo, __m512 hi) {
  const __m512 v = _mm512_min_ps(_mm512_max_ps(quotient, lo), hi);
  const __m512i half =  // 0x3effffff | (v & sign)
      _mm512_ternarylogic_epi32(_mm512_set1_epi32(0x3effffff), _mm512_castps_si512(v),
                                _mm512_set1_epi32(INT32_MIN), 0xf8);
  return _mm512_cvttps_epi32(_mm512_add_ps(v, _mm512_castsi512_ps(half)));
}

// x / scale, correctly rounded, without the divider, which is slower than memory. Markstein: where
// r is 1 / scale rounded and q less than one unit in the last place from x / scale, q + (x - q *
// scale)
// * r, rounded, is the quotient rounded. The first step makes such a q, the second uses it. What is
// far beyond every limit, infinite or NaN stays as the product made it: it ends at the same limit.
struct Reciprocal {
  __m512 scale, r;

  static bool is_exact_for(float scale) { return scale >= 0x1p-60f && scale <= 0x1p60f; }

  // Of a float16 x, which leaves nothing to overflow but an infinity: that and NaN give NaN.
  inline __m512 quotient_of_half(__m512 x) const {
    const __m512 q = _mm512_mul_ps(x, r);
    const __m512 q1 = _mm512_fmadd_ps(_mm512_fnmadd_ps(q, scale, x), r, q);
    return _mm512_fmadd_ps(_mm512_fnmadd_ps(q1, scale, x), r, q1);
  }

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

// Lanes of 32 bits, see edge_lanes.h.
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

// What a lane's value is in steps of the grid, limits less the zero point: of floats, and of
// float16, whose quotients beyond int32 and NaN end at `high` where kWrapsHigh, else at `low`.
template <class Division, bool kAway>
struct FloatSteps {
  using Element = float;
  Division by;
  __m512 low, high;

  inline __m512i at(const float* x) const { return of(_mm512_loadu_ps(x)); }
  inline __m512i part(__mmask16 m, const float* x) const { return of(_mm512_maskz_loadu_ps(m, x)); }
  inline __m512i of(__m512 x) const {
    const __m512 q = by.quotient(x);
    return kAway ? steps_away(q, low, high) : steps(q, low, high);
  }
};

template <bool kWrapsHigh>
struct HalfSteps {
  using Element = uint16_t;
  Reciprocal by;
  __m512 low, high;

  inline __m512i of(__m256i x) const {
    __m512 v = by.quotient_of_half(_mm512_cvtph_ps(x));
    if (kWrapsHigh) {
      const __mmask16 m = _mm512_cmp_ps_mask(v, _mm512_set1_ps(-0x1p31f), _CMP_GE_OQ);
      v = _mm512_max_ps(_mm512_mask_min_ps(high, m, v, high), low);
    } else {
      const __mmask16 m = _mm512_cmp_ps_mask(v, _mm512_set1_ps(0x1p31f), _CMP_LT_OQ);
      v = _mm512_min_ps(_mm512_mask_max_ps(low, m, v, low), high);
    }
    return _mm512_cvtps_epi32(v);
  }
  inline __m512i at(const uint16_t* x) const {
    return of(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(x)));
  }
  inline __m512i part(__mmask16 m, const uint16_t* x) const {
    return of(_mm256_maskz_loadu_epi16(m, x));
  }
};

template <class Steps>
inline void quantize(const typename Steps::Element* x, size_t n, const Steps& in, int32_t zp,
                     int32_t lo, int32_t offset, uint8_t* y) {
  using Element = typename Steps::Element;
  // Packed as distances from lo, 0..255; adding lo modulo 256 gives the byte of either type.
  const __m512i to_distance = _mm512_set1_epi16(static_cast<int16_t>(zp - lo));
  const __m512i to_byte = _mm512_set1_epi8(static_cast<char>(lo + offset));
  const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  const auto block = [&](const Element* from, uint8_t* to) {
    for (size_t i = 0; i < kBlock; i += 64 / sizeof(Element)) {
      _mm_prefetch(reinterpret_cast<const char*>(from + kAhead + i), _MM_HINT_T0);
    }
    const __m512i v0 = in.at(from), v1 = in.at(from + 16);
    const __m512i v2 = in.at(from + 32), v3 = in.at(from + 48);
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
    const __m512i v = _mm512_add_epi32(in.part(m, x + i), _mm512_set1_epi32(zp + offset));
    _mm512_mask_cvtepi32_storeu_epi8(y + i, m, v);
  }
}

template <bool kSigned>
inline __m512i half_block(const uint8_t* x, __m512i zp, __m512 scale) {
  const auto half = [&](const uint8_t* from) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
    return _mm512_cvtps_ph(real(widen<kSigned>(bytes), zp, scale),
                           _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  };
  return _mm512_inserti64x4(_mm512_castsi256_si512(half(x)), half(x + kLanes), 1);
}

template <bool kSigned>
inline void dequantize_half(const uint8_t* x, size_t n, float scale, int32_t zp, uint16_t* y) {
  constexpr size_t kHalves = 32;
  const __m512 s = _mm512_set1_ps(scale);
  const __m512i z = _mm512_set1_epi32(zp);
  if (n >= kWrittenPastFrom) {
    const size_t head = -reinterpret_cast<uintptr_t>(y) % 64 / sizeof(uint16_t);
    EdgeLanes<Lanes>::dequantize_half(x, kSigned, head, scale, zp, y);
    n -= head, x += head, y += head;
    for (; n >= kHalves; n -= kHalves, x += kHalves, y += kHalves)
      _mm512_stream_si512(reinterpret_cast<__m512i*>(y), half_block<kSigned>(x, z, s));
    _mm_sfence();
  }
  for (; n >= kHalves; n -= kHalves, x += kHalves, y += kHalves)
    _mm512_storeu_si512(y, half_block<kSigned>(x, z, s));
  EdgeLanes<Lanes>::dequantize_half(x, kSigned, n, scale, zp, y);
}

template <bool kAway>
inline void quantize_floats(const float* x, size_t n, float scale, int32_t zp, int32_t lo,
                            int32_t hi, uint8_t* y) {
  const __m512 s = _mm512_set1_ps(scale);
  const __m512 low = _mm512_set1_ps(static_cast<float>(lo - zp));
  const __m512 high = _mm512_set1_ps(static_cast<float>(hi - zp));
  if (Reciprocal::is_exact_for(scale)) {
    const Reciprocal by = {s, _mm512_set1_ps(1 / scale)};
    quantize(x, n, FloatSteps<Reciprocal, kAway>{by, low, high}, zp, lo, 0, y);
  } else {
    quantize(x, n, FloatSteps<Divider, kAway>{{s}, low, high}, zp, lo, 0, y);
  }
}

}  // namespace

void edge_quantize_avx512vnni(const float* x, size_t n, float scale, int32_t zp, int32_t lo,
                              int32_t hi, uint8_t* y) {
  quantize_floats<false>(x, n, scale, zp, lo, hi, y);
}

void edge_quantize_away_avx512vnni(const float* x, size_t n, float scale, int32_t zp, int32_t lo,
                                   int32_t hi, uint8_t* y) {
  quantize_floats<true>(x, n, scale, zp, lo, hi, y);
}

void edge_quantize_half_avx512vnni(const uint16_t* x, size_t n, float scale, int32_t zp, int32_t lo,
                                   int32_t hi, int32_t offset, uint8_t* y) {
  if (!Reciprocal::is_exact_for(scale))
    return EdgeLanes<Lanes>::quantize_half(x, n, scale, zp, lo, hi, offset, y);
  const Reciprocal by = {_mm512_set1_ps(scale), _mm512_set1_ps(1 / scale)};
  const __m512 low = _mm512_set1_ps(static_cast<float>(lo - zp));
  const __m512 high = _mm512_set1_ps(static_cast<float>(hi - zp));
  if (zp < 0)
    quantize(x, n, HalfSteps<true>{by, low, high}, zp, lo, offset, y);
  else
    quantize(x, n, HalfSteps<false>{by, low, high}, zp, lo, offset, y);
}

void edge_dequantize_half_avx512vnni(const uint8_t* x, bool is_signed, size_t n, float scale,
                                     int32_t zp, uint16_t* y) {
  is_signed ? dequantize_half<true>(x, n, scale, zp, y)
            : dequantize_half<false>(x, n, scale, zp, y);
}

void edge_quantize_channels_avx512vnni(const float* x, size_t rows, size_t channels,
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

void edge_dequantize_avx512vnni(const uint8_t* x, bool is_signed, size_t n, float scale, int32_t zp,
                                float* y) {
  is_signed ? dequantize<true>(x, n, scale, zp, y) : dequantize<false>(x, n, scale, zp, y);
}

void edge_dequantize_channels_avx512vnni(const uint8_t* x, bool is_signed, size_t rows,
                                         size_t channels, const float* scale, const int32_t* zp,
                                         float* y) {
  is_signed ? dequantize_channels<true>(x, rows, channels, scale, zp, y)
            : dequantize_channels<false>(x, rows, channels, scale, zp, y);
}

void edge_dequantize_i32_avx512vnni(const int32_t* x, size_t rows, size_t channels,
                                    const float* scale, float* y) {
  for (size_t r = 0; r < rows; ++r, x += channels, y += channels) {
    for (size_t c = 0; c < channels; c += kLanes) {
      const __mmask16 m = first_lanes(channels - c);
      const __m512 v = _mm512_cvtepi32_ps(_mm512_maskz_loadu_epi32(m, x + c));
      _mm512_mask_storeu_ps(y + c, m, _mm512_mul_ps(v, _mm512_maskz_loadu_ps(m, scale + c)));
    }
  }
}

QRT_EDGE_LANES(avx512vnni, Lanes)

}  // namespace qrt
