// SPDX-License-Identifier: Apache-2.0
// Tiles of listed planes with 256-bit vectors.
#include <immintrin.h>

#include "kernels/copy/listed_tiles.h"
#include "kernels/copy/transpose.h"

namespace qrt {
namespace {

inline __m128i load16(const void* p) { return _mm_loadu_si128(static_cast<const __m128i*>(p)); }
inline __m128i load8(const void* p) { return _mm_loadl_epi64(static_cast<const __m128i*>(p)); }

template <size_t kBytes>
struct ZipOf;

#define QRT_ZIP(bits, bytes)                                                              \
  template <>                                                                             \
  struct ZipOf<bytes> {                                                                   \
    static __m256i low(__m256i a, __m256i b) { return _mm256_unpacklo_epi##bits(a, b); }  \
    static __m256i high(__m256i a, __m256i b) { return _mm256_unpackhi_epi##bits(a, b); } \
    static __m128i low(__m128i a, __m128i b) { return _mm_unpacklo_epi##bits(a, b); }     \
    static __m128i high(__m128i a, __m128i b) { return _mm_unpackhi_epi##bits(a, b); }    \
  };
QRT_ZIP(8, 1)
QRT_ZIP(16, 2)
QRT_ZIP(32, 4)
#undef QRT_ZIP

struct Two {
  static constexpr size_t kLanes = 2;
  using Register = __m256i;
  template <size_t kBytes>
  using Zip = ZipOf<kBytes>;
  static __m256i load(const uint8_t* input, const size_t* at, size_t step) {
    return _mm256_inserti128_si256(_mm256_castsi128_si256(load16(input + at[0])),
                                   load16(input + at[step]), 1);
  }
  static void store(uint8_t* p, __m256i v) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), v);
  }
};

struct One {
  static constexpr size_t kLanes = 1;
  using Register = __m128i;
  template <size_t kBytes>
  using Zip = ZipOf<kBytes>;
  static __m128i load(const uint8_t* input, const size_t* at, size_t) {
    return load16(input + at[0]);
  }
  static void store(uint8_t* p, __m128i v) { _mm_storeu_si128(reinterpret_cast<__m128i*>(p), v); }
};

struct ByteTile8x8 {
  static constexpr size_t kBytes = 1, kRows = 8, kCols = 8;

  static void transpose(const uint8_t* input, const size_t* input_at, uint8_t* output,
                        const size_t* output_at) {
    __m128i v[4], w[4];
#pragma GCC unroll 4
    for (size_t i = 0; i < 4; ++i)
      v[i] = _mm_unpacklo_epi8(load8(input + input_at[i]), load8(input + input_at[i + 4]));
    zip_round<ZipOf<1>>(v, w);
    zip_round<ZipOf<1>>(w, v);
#pragma GCC unroll 4
    for (size_t i = 0; i < 4; ++i) {
      _mm_storel_epi64(reinterpret_cast<__m128i*>(output + output_at[2 * i]), v[i]);
      _mm_storel_epi64(reinterpret_cast<__m128i*>(output + output_at[2 * i + 1]),
                       _mm_unpackhi_epi64(v[i], v[i]));
    }
  }
};

}  // namespace

constexpr ListedPlanes kListedPlanesAvx2 = {
    {listed_plane<uint8_t, ListedTile<Two, 1>, ByteTile8x8>,
     listed_plane<uint16_t, ListedTile<Two, 2>, ListedTile<One, 2>>,
     listed_plane<uint32_t, ListedTile<Two, 4>, ListedTile<One, 4>>, listed_elements<uint64_t>}};

}  // namespace qrt
