// SPDX-License-Identifier: Apache-2.0
// Planes with 256-bit vectors, whose unpacks zip each 128 bits by themselves.
#include <immintrin.h>

#include <cstdint>

#include "kernels/built.h"
#include "kernels/copy/plane_blocks.h"
#include "kernels/copy/transpose.h"

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

// Byte shuffles between three planes of 16 bytes and 48 interleaved ones: byte o of the interleaved
// is byte o / 3 of plane o % 3. A byte of 0x80 shuffles in a zero.
struct ThreePlanes {
  uint8_t join[3][3][16];   // [interleaved vector][plane]
  uint8_t split[3][3][16];  // [plane][interleaved vector]
};

constexpr ThreePlanes three_planes() {
  ThreePlanes t{};
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      for (int b = 0; b < 16; ++b) t.join[i][j][b] = t.split[i][j][b] = 0x80;
  for (int o = 0; o < 48; ++o) {
    t.join[o / 16][o % 3][o % 16] = static_cast<uint8_t>(o / 3);
    t.split[o % 3][o / 16][o / 3] = static_cast<uint8_t>(o % 16);
  }
  return t;
}

constexpr ThreePlanes kThreePlanes = three_planes();

inline __m256i shuffle_three(const __m256i (&v)[3], const uint8_t (&masks)[3][16]) {
  const auto area = [&](size_t i) {
    return _mm256_shuffle_epi8(v[i], _mm256_broadcastsi128_si256(load16(masks[i])));
  };
  return _mm256_or_si256(_mm256_or_si256(area(0), area(1)), area(2));
}

struct Avx2 {
  using ByteTile = ByteTile16x32;
  using SmallByteTile = ByteTile8x8;
  using WordTile = WordTile4x8;
  using SmallWordTile = WordTile4x4;
  static constexpr size_t kPixels = 32;

  static void join_two(const uint8_t* in, size_t plane_stride, uint8_t* out) {
    const __m128i a = load16(in), b = load16(in + plane_stride);
    store16(out, _mm_unpacklo_epi8(a, b));
    store16(out + 16, _mm_unpackhi_epi8(a, b));
  }

  static void split_two(const uint8_t* in, uint8_t* out, size_t plane_stride) {
    const __m128i a = load16(in), b = load16(in + 16), even = _mm_set1_epi16(0xff);
    store16(out, _mm_packus_epi16(_mm_and_si128(a, even), _mm_and_si128(b, even)));
    store16(out + plane_stride, _mm_packus_epi16(_mm_srli_epi16(a, 8), _mm_srli_epi16(b, 8)));
  }

  // Interleaves 32 pixels of three planes to 96 bytes.
  static void join_three(const uint8_t* in, size_t plane_stride, uint8_t* out) {
    __m256i v[3];
#pragma GCC unroll 3
    for (size_t i = 0; i < 3; ++i)
      v[i] = load_lanes(in + i * plane_stride, in + i * plane_stride + 16);
#pragma GCC unroll 3
    for (size_t i = 0; i < 3; ++i) {
      const __m256i joined = shuffle_three(v, kThreePlanes.join[i]);
      store16(out + 16 * i, _mm256_castsi256_si128(joined));
      store16(out + 48 + 16 * i, _mm256_extracti128_si256(joined, 1));
    }
  }

  static void split_three(const uint8_t* in, uint8_t* out, size_t plane_stride) {
    __m256i v[3];
#pragma GCC unroll 3
    for (size_t i = 0; i < 3; ++i) v[i] = load_lanes(in + 16 * i, in + 48 + 16 * i);
#pragma GCC unroll 3
    for (size_t i = 0; i < 3; ++i)
      store32(out + i * plane_stride, shuffle_three(v, kThreePlanes.split[i]));
  }

  static void join_four(const uint8_t* in, size_t plane_stride, uint8_t* out) {
    const auto lanes = [&](size_t i) {
      return load_lanes(in + i * plane_stride, in + i * plane_stride + 16);
    };
    const __m256i a = lanes(0), b = lanes(1), c = lanes(2), d = lanes(3);
    const __m256i ab_low = _mm256_unpacklo_epi8(a, b), ab_high = _mm256_unpackhi_epi8(a, b);
    const __m256i cd_low = _mm256_unpacklo_epi8(c, d), cd_high = _mm256_unpackhi_epi8(c, d);
    const __m256i v[4] = {
        _mm256_unpacklo_epi16(ab_low, cd_low), _mm256_unpackhi_epi16(ab_low, cd_low),
        _mm256_unpacklo_epi16(ab_high, cd_high), _mm256_unpackhi_epi16(ab_high, cd_high)};
#pragma GCC unroll 4
    for (size_t i = 0; i < 4; ++i) {
      store16(out + 16 * i, _mm256_castsi256_si128(v[i]));
      store16(out + 64 + 16 * i, _mm256_extracti128_si256(v[i], 1));
    }
  }

  static void split_four(const uint8_t* in, uint8_t* out, size_t plane_stride) {
    // The bytes of each channel together in every 16, then a transposition of 4 x 4 words.
    const __m256i gather =
        _mm256_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15,  //
                         0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    __m256i v[4], w[4];
#pragma GCC unroll 4
    for (size_t i = 0; i < 4; ++i)
      v[i] = _mm256_shuffle_epi8(load_lanes(in + 16 * i, in + 64 + 16 * i), gather);
    zip_round<Zip32>(v, w);
    zip_round<Zip32>(w, v);
#pragma GCC unroll 4
    for (size_t i = 0; i < 4; ++i) store32(out + i * plane_stride, v[i]);
  }
};

}  // namespace

TransposePlanes planes_avx2() {
  return {plane_bytes1<Avx2>, plane_bytes4<Avx2>, copy_rows,
          built::kPermutations ? &kListedPlanesAvx2 : nullptr};
}

void transpose_avx2(const TransposePlan& plan, const void* input, void* output, size_t begin,
                    size_t end) {
  transpose_by_planes(planes_avx2(), plan, input, output, begin, end);
}

}  // namespace qrt
