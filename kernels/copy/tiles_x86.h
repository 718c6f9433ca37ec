// Tiles of bytes and words in 128- and 256-bit vectors, whose unpacks zip each 128 bits by themselves.
// Included by copy_<isa>.cc; everything here is local to the including file.
#ifndef QRT_KERNELS_COPY_TILES_X86_H_
#define QRT_KERNELS_COPY_TILES_X86_H_

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "kernels/copy/plane_blocks.h"

namespace qrt {
namespace {

inline __m128i load16(const void* p) { return _mm_loadu_si128(static_cast<const __m128i*>(p)); }
inline __m128i load8(const void* p) { return _mm_loadl_epi64(static_cast<const __m128i*>(p)); }
inline void store16(void* p, __m128i v) { _mm_storeu_si128(static_cast<__m128i*>(p), v); }
inline void store32(void* p, __m256i v) { _mm256_storeu_si256(static_cast<__m256i*>(p), v); }

inline __m256i load_lanes(const void* low, const void* high) {
  return _mm256_inserti128_si256(_mm256_castsi128_si256(load16(low)), load16(high), 1);
}

struct Zip8 {
  static __m256i low(__m256i a, __m256i b) { return _mm256_unpacklo_epi8(a, b); }
  static __m256i high(__m256i a, __m256i b) { return _mm256_unpackhi_epi8(a, b); }
  static __m128i low(__m128i a, __m128i b) { return _mm_unpacklo_epi8(a, b); }
  static __m128i high(__m128i a, __m128i b) { return _mm_unpackhi_epi8(a, b); }
};

struct Zip32 {
  static __m256i low(__m256i a, __m256i b) { return _mm256_unpacklo_epi32(a, b); }
  static __m256i high(__m256i a, __m256i b) { return _mm256_unpackhi_epi32(a, b); }
  static __m128i low(__m128i a, __m128i b) { return _mm_unpacklo_epi32(a, b); }
  static __m128i high(__m128i a, __m128i b) { return _mm_unpackhi_epi32(a, b); }
};

// 32 input rows of 16 bytes: rows 0 to 15 in the low lanes, 16 to 31 in the high ones. The eight
// output rows of either half are made by themselves, so that nothing leaves the registers.
struct ByteTile16x32 {
  static constexpr size_t kRows = 16, kCols = 32;

  template <bool kHigh>
  static void half(const uint8_t* in, size_t input_stride, uint8_t* out, size_t output_stride) {
    __m256i v[8], w[8];
#pragma GCC unroll 8
    for (size_t i = 0; i < 8; ++i) {
      const __m256i a = load_lanes(in + i * input_stride, in + (i + 16) * input_stride);
      const __m256i b = load_lanes(in + (i + 8) * input_stride, in + (i + 24) * input_stride);
      v[i] = kHigh ? _mm256_unpackhi_epi8(a, b) : _mm256_unpacklo_epi8(a, b);
    }
    zip_round<Zip8>(v, w);
    zip_round<Zip8>(w, v);
    zip_round<Zip8>(v, w);
#pragma GCC unroll 8
    for (size_t i = 0; i < 8; ++i) store32(out + i * output_stride, w[i]);
  }
  static void transpose(const uint8_t* in, size_t input_stride, uint8_t* out, size_t output_stride,
                        size_t) {
    half<false>(in, input_stride, out, output_stride);
    half<true>(in, input_stride, out + 8 * output_stride, output_stride);
  }
};

struct ByteTile8x8 {
  static constexpr size_t kRows = 8, kCols = 8;

  static void transpose(const uint8_t* in, size_t input_stride, uint8_t* out, size_t output_stride,
                        size_t) {
    __m128i v[4], w[4];
#pragma GCC unroll 4
    for (size_t i = 0; i < 4; ++i)
      v[i] = _mm_unpacklo_epi8(load8(in + i * input_stride), load8(in + (i + 4) * input_stride));
    zip_round<Zip8>(v, w);
    zip_round<Zip8>(w, v);
#pragma GCC unroll 4
    for (size_t i = 0; i < 4; ++i) {
      uint8_t* p = out + 2 * i * output_stride;
      _mm_storel_epi64(reinterpret_cast<__m128i*>(p), v[i]);
      _mm_storel_epi64(reinterpret_cast<__m128i*>(p + output_stride),
                       _mm_unpackhi_epi64(v[i], v[i]));
    }
  }
};

// Input rows 0 to 3 in the low lanes, 4 to 7 in the high ones.
struct WordTile4x8 {
  static constexpr size_t kRows = 4, kCols = 8;

  static void transpose(const uint32_t* in, size_t input_stride, uint32_t* out,
                        size_t output_stride, size_t) {
    __m256i v[4], w[4];
#pragma GCC unroll 4
    for (size_t i = 0; i < 4; ++i)
      v[i] = load_lanes(in + i * input_stride, in + (i + 4) * input_stride);
    zip_round<Zip32>(v, w);
    zip_round<Zip32>(w, v);
#pragma GCC unroll 4
    for (size_t i = 0; i < 4; ++i) store32(out + i * output_stride, v[i]);
  }
};

struct WordTile4x4 {
  static constexpr size_t kRows = 4, kCols = 4;

  static void transpose(const uint32_t* in, size_t input_stride, uint32_t* out,
                        size_t output_stride, size_t) {
    __m128i v[4], w[4];
#pragma GCC unroll 4
    for (size_t i = 0; i < 4; ++i) v[i] = load16(in + i * input_stride);
    zip_round<Zip32>(v, w);
    zip_round<Zip32>(w, v);
#pragma GCC unroll 4
    for (size_t i = 0; i < 4; ++i) store16(out + i * output_stride, v[i]);
  }
};

}  // namespace
}  // namespace qrt

#endif  // QRT_KERNELS_COPY_TILES_X86_H_
