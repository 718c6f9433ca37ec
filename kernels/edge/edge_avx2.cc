// Quantisation and dequantisation by 8 lanes: blocks of 32 where scale and zero point stand still.
// Tails load and store under masks where elements have 32 bits, through 8 bytes on the stack where
// they are bytes.
#include <immintrin.h>
#include <string.h>

#include "kernels/edge/edge_lanes.h"
#include "kernels/edge/entry.h"

namespace qrt {
namespace {

constexpr size_t kLanes = 8, kBlock = 32;

constexpr int32_t kMasks[2 * kLanes] = {-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0};

inline size_t lanes(size_t n) { return n < kLanes ? n : kLanes; }

// The first n of the 8 lanes.
inline __m256i first_lanes(size_t n) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(kMasks + kLanes - n));
}

// HE(clamp(x / scale, lo, hi)), limits less the zero point. MAXPS gives its second operand where
// the first is NaN.
inline __m256i steps(__m256 x, __m256 scale, __m256 lo, __m256 hi) {
  const __m256 v = _mm256_max_ps(_mm256_div_ps(x, scale), lo);
  return _mm256_cvtps_epi32(_mm256_min_ps(v, hi));
}

// The same with HA, see EdgeLanes::round_away().
inline __m256i steps_away(__m256 x, __m256 scale, __m256 lo, __m256 hi) {
  const __m256 v = _mm256_min_ps(_mm256_max_ps(_mm256_div_ps(x, scale), lo), hi);
  const __m256 half =
      _mm256_or_ps(_mm256_and_ps(v, _mm256_set1_ps(-0.0f)), _mm256_set1_ps(0x1.fffffep-2f));
  return _mm256_cvttps_epi32(_mm256_add_ps(v, half));
}

// The low bytes of the eight lanes.
inline void store_bytes(uint8_t* y, __m256i v) {
  const __m256i low = _mm256_and_si256(v, _mm256_set1_epi32(255));
  const __m128i words =
      _mm_packs_epi32(_mm256_castsi256_si128(low), _mm256_extracti128_si256(low, 1));
  _mm_storel_epi64(reinterpret_cast<__m128i*>(y), _mm_packus_epi16(words, words));
}

// Stores n bytes only.
inline void store_bytes(uint8_t* y, __m256i v, size_t n) {
  uint8_t bytes[kLanes];
  store_bytes(bytes, v);
  memcpy(y, bytes, n);
}

// steps() and the zero point, which is the lane's own.
inline __m256i quantize(__m256 x, __m256 scale, __m256i zp, __m256i lo, __m256i hi) {
  const __m256 low = _mm256_cvtepi32_ps(_mm256_sub_epi32(lo, zp));
  const __m256 high = _mm256_cvtepi32_ps(_mm256_sub_epi32(hi, zp));
  return _mm256_add_epi32(steps(x, scale, low, high), zp);
}

template <bool kSigned>
inline __m256i widen(const uint8_t* x) {
  const __m128i bytes = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(x));
  return kSigned ? _mm256_cvtepi8_epi32(bytes) : _mm256_cvtepu8_epi32(bytes);
}

// Reads n bytes only.
template <bool kSigned>
inline __m256i widen(const uint8_t* x, size_t n) {
  uint8_t bytes[kLanes] = {};
  memcpy(bytes, x, n);
  return widen<kSigned>(bytes);
}

inline __m256 real(__m256i x, __m256i zp, __m256 scale) {
  return _mm256_mul_ps(_mm256_cvtepi32_ps(_mm256_sub_epi32(x, zp)), scale);
}

template <bool kSigned>
inline void dequantize(const uint8_t* x, size_t n, float scale, int32_t zp, float* y) {
  const __m256 s = _mm256_set1_ps(scale);
  const __m256i z = _mm256_set1_epi32(zp);
  if (n >= kWrittenPastFrom) {
    const size_t head = -reinterpret_cast<uintptr_t>(y) % 32 / sizeof(float);
    _mm256_maskstore_ps(y, first_lanes(head), real(widen<kSigned>(x), z, s));
    n -= head, x += head, y += head;
    for (; n >= kBlock; n -= kBlock, x += kBlock, y += kBlock)
      for (size_t i = 0; i < kBlock; i += kLanes)
        _mm256_stream_ps(y + i, real(widen<kSigned>(x + i), z, s));
    _mm_sfence();
  }
  for (; n >= kBlock; n -= kBlock, x += kBlock, y += kBlock)
    for (size_t i = 0; i < kBlock; i += kLanes)
      _mm256_storeu_ps(y + i, real(widen<kSigned>(x + i), z, s));
  for (size_t i = 0; i < n; i += kLanes) {
    const size_t k = lanes(n - i);
    _mm256_maskstore_ps(y + i, first_lanes(k), real(widen<kSigned>(x + i, k), z, s));
  }
}

template <bool kSigned>
inline void dequantize_channels(const uint8_t* x, size_t rows, size_t channels, const float* scale,
                                const int32_t* zp, float* y) {
  for (size_t r = 0; r < rows; ++r, x += channels, y += channels) {
    size_t c = 0;
    for (; c + kLanes <= channels; c += kLanes) {
      const __m256i z = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(zp + c));
      _mm256_storeu_ps(y + c, real(widen<kSigned>(x + c), z, _mm256_loadu_ps(scale + c)));
    }
    if (c < channels) {
      const size_t k = channels - c;
      const __m256i m = first_lanes(k);
      _mm256_maskstore_ps(y + c, m,
                          real(widen<kSigned>(x + c, k), _mm256_maskload_epi32(zp + c, m),
                               _mm256_maskload_ps(scale + c, m)));
    }
  }
}

// Lanes of 32 bits, see edge_lanes.h.
struct Lanes {
  static constexpr size_t kLanes = 8;
  static inline __m256 load_half(const uint16_t* x) {
    return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(x)));
  }
  static inline void store_half(uint16_t* y, __m256 v) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(y), _mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT));
  }
};

// What a lane's value is in steps of the grid, limits less the zero point: of floats, and of
// float16, whose quotients beyond int32 and NaN end at `high` where kWrapsHigh, else at `low`.
template <bool kAway>
struct FloatSteps {
  using Element = float;
  __m256 scale, low, high;

  inline __m256i at(const float* x) const { return of(_mm256_loadu_ps(x)); }
  inline __m256i part(const float* x, size_t n) const {
    return of(_mm256_maskload_ps(x, first_lanes(n)));
  }
  inline __m256i of(__m256 x) const {
    return kAway ? steps_away(x, scale, low, high) : steps(x, scale, low, high);
  }
};

template <bool kWrapsHigh>
struct HalfSteps {
  using Element = uint16_t;
  __m256 scale, low, high;

  inline __m256i at(const uint16_t* x) const {
    __m256 v = _mm256_div_ps(Lanes::load_half(x), scale);
    // What has no int32 becomes NaN, which MINPS and MAXPS replace by their second operand.
    if (kWrapsHigh) {
      v = _mm256_or_ps(v, _mm256_cmp_ps(v, _mm256_set1_ps(-0x1p31f), _CMP_NGE_UQ));
      return _mm256_cvtps_epi32(_mm256_max_ps(_mm256_min_ps(v, high), low));
    }
    v = _mm256_or_ps(v, _mm256_cmp_ps(v, _mm256_set1_ps(0x1p31f), _CMP_NLT_UQ));
    return _mm256_cvtps_epi32(_mm256_min_ps(_mm256_max_ps(v, low), high));
  }
  inline __m256i part(const uint16_t* x, size_t n) const {
    uint16_t in[8] = {};
    memcpy(in, x, n * sizeof *x);
    return at(in);
  }
};

template <class Steps>
inline void quantize(const typename Steps::Element* x, size_t n, const Steps& in, int32_t zp,
                     int32_t lo, int32_t offset, uint8_t* y) {
  using Element = typename Steps::Element;
  // Packed as distances from lo, 0..255; adding lo modulo 256 gives the byte of either type.
  const __m256i to_distance = _mm256_set1_epi16(static_cast<int16_t>(zp - lo));
  const __m256i to_byte = _mm256_set1_epi8(static_cast<char>(lo + offset));
  const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
  const auto block = [&](const Element* from, uint8_t* to) {
    const __m256i v0 = in.at(from), v1 = in.at(from + 8);
    const __m256i v2 = in.at(from + 16), v3 = in.at(from + 24);
    const __m256i w0 = _mm256_add_epi16(_mm256_packs_epi32(v0, v1), to_distance);
    const __m256i w1 = _mm256_add_epi16(_mm256_packs_epi32(v2, v3), to_distance);
    const __m256i bytes = _mm256_add_epi8(_mm256_packus_epi16(w0, w1), to_byte);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), _mm256_permutevar8x32_epi32(bytes, order));
  };
  if (n >= kStreamedFrom) {
    const size_t part = n / kStreams / kBlock * kBlock;
    for (size_t i = 0; i < part; i += kBlock)
      for (size_t k = 0; k < kStreams; ++k) block(x + k * part + i, y + k * part + i);
    n -= kStreams * part, x += kStreams * part, y += kStreams * part;
  }
  for (; n >= kBlock; n -= kBlock, x += kBlock, y += kBlock) block(x, y);
  for (size_t i = 0; i < n; i += kLanes) {
    const size_t k = lanes(n - i);
    const __m256i v = in.part(x + i, k);
    store_bytes(y + i, _mm256_add_epi32(v, _mm256_set1_epi32(zp + offset)), k);
  }
}

template <bool kSigned>
inline __m256i half_block(const uint8_t* x, __m256i zp, __m256 scale) {
  const auto half = [&](const uint8_t* from) {
    return _mm256_cvtps_ph(real(widen<kSigned>(from), zp, scale), _MM_FROUND_TO_NEAREST_INT);
  };
  return _mm256_inserti128_si256(_mm256_castsi128_si256(half(x)), half(x + kLanes), 1);
}

template <bool kSigned>
inline void dequantize_half(const uint8_t* x, size_t n, float scale, int32_t zp, uint16_t* y) {
  constexpr size_t kHalves = 16;
  const __m256 s = _mm256_set1_ps(scale);
  const __m256i z = _mm256_set1_epi32(zp);
  if (n >= kWrittenPastFrom) {
    const size_t head = -reinterpret_cast<uintptr_t>(y) % 32 / sizeof(uint16_t);
    EdgeLanes<Lanes>::dequantize_half(x, kSigned, head, scale, zp, y);
    n -= head, x += head, y += head;
    for (; n >= kHalves; n -= kHalves, x += kHalves, y += kHalves)
      _mm256_stream_si256(reinterpret_cast<__m256i*>(y), half_block<kSigned>(x, z, s));
    _mm_sfence();
  }
  for (; n >= kHalves; n -= kHalves, x += kHalves, y += kHalves)
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(y), half_block<kSigned>(x, z, s));
  EdgeLanes<Lanes>::dequantize_half(x, kSigned, n, scale, zp, y);
}

}  // namespace

void edge_quantize_avx2(const float* x, size_t n, float scale, int32_t zp, int32_t lo, int32_t hi,
                        uint8_t* y) {
  const __m256 low = _mm256_set1_ps(static_cast<float>(lo - zp));
  const __m256 high = _mm256_set1_ps(static_cast<float>(hi - zp));
  quantize(x, n, FloatSteps<false>{_mm256_set1_ps(scale), low, high}, zp, lo, 0, y);
}

void edge_quantize_away_avx2(const float* x, size_t n, float scale, int32_t zp, int32_t lo,
                             int32_t hi, uint8_t* y) {
  const __m256 low = _mm256_set1_ps(static_cast<float>(lo - zp));
  const __m256 high = _mm256_set1_ps(static_cast<float>(hi - zp));
  quantize(x, n, FloatSteps<true>{_mm256_set1_ps(scale), low, high}, zp, lo, 0, y);
}

void edge_quantize_half_avx2(const uint16_t* x, size_t n, float scale, int32_t zp, int32_t lo,
                             int32_t hi, int32_t offset, uint8_t* y) {
  const __m256 s = _mm256_set1_ps(scale);
  const __m256 low = _mm256_set1_ps(static_cast<float>(lo - zp));
  const __m256 high = _mm256_set1_ps(static_cast<float>(hi - zp));
  if (zp < 0)
    quantize(x, n, HalfSteps<true>{s, low, high}, zp, lo, offset, y);
  else
    quantize(x, n, HalfSteps<false>{s, low, high}, zp, lo, offset, y);
}

void edge_dequantize_half_avx2(const uint8_t* x, bool is_signed, size_t n, float scale, int32_t zp,
                               uint16_t* y) {
  is_signed ? dequantize_half<true>(x, n, scale, zp, y)
            : dequantize_half<false>(x, n, scale, zp, y);
}

void edge_quantize_channels_avx2(const float* x, size_t rows, size_t channels, const float* scale,
                                 const int32_t* zp, int32_t lo, int32_t hi, uint8_t* y) {
  const __m256i low = _mm256_set1_epi32(lo), high = _mm256_set1_epi32(hi);
  for (size_t r = 0; r < rows; ++r, x += channels, y += channels) {
    size_t c = 0;
    for (; c + kLanes <= channels; c += kLanes) {
      const __m256i z = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(zp + c));
      store_bytes(y + c,
                  quantize(_mm256_loadu_ps(x + c), _mm256_loadu_ps(scale + c), z, low, high));
    }
    if (c < channels) {
      const size_t n = channels - c;
      const __m256i m = first_lanes(n);
      store_bytes(y + c,
                  quantize(_mm256_maskload_ps(x + c, m), _mm256_maskload_ps(scale + c, m),
                           _mm256_maskload_epi32(zp + c, m), low, high),
                  n);
    }
  }
}

void edge_dequantize_avx2(const uint8_t* x, bool is_signed, size_t n, float scale, int32_t zp,
                          float* y) {
  is_signed ? dequantize<true>(x, n, scale, zp, y) : dequantize<false>(x, n, scale, zp, y);
}

void edge_dequantize_channels_avx2(const uint8_t* x, bool is_signed, size_t rows, size_t channels,
                                   const float* scale, const int32_t* zp, float* y) {
  is_signed ? dequantize_channels<true>(x, rows, channels, scale, zp, y)
            : dequantize_channels<false>(x, rows, channels, scale, zp, y);
}

void edge_dequantize_i32_avx2(const int32_t* x, size_t rows, size_t channels, const float* scale,
                              float* y) {
  for (size_t r = 0; r < rows; ++r, x += channels, y += channels) {
    size_t c = 0;
    for (; c + kLanes <= channels; c += kLanes) {
      const __m256i v = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(x + c));
      _mm256_storeu_ps(y + c, _mm256_mul_ps(_mm256_cvtepi32_ps(v), _mm256_loadu_ps(scale + c)));
    }
    if (c < channels) {
      const __m256i m = first_lanes(channels - c);
      const __m256 v = _mm256_cvtepi32_ps(_mm256_maskload_epi32(x + c, m));
      _mm256_maskstore_ps(y + c, m, _mm256_mul_ps(v, _mm256_maskload_ps(scale + c, m)));
    }
  }
}

QRT_EDGE_LANES(avx2, Lanes)

}  // namespace qrt
