// SPDX-License-Identifier: Apache-2.0
// Packing on AVX2.
#include <string.h>

#include "kernels/gemm/pack_activations_entry.h"
#include "kernels/gemm/pack_activations_loops.h"
#include "kernels/isa/avx2.h"

namespace qrt {
namespace {

struct Zips256 {
  static constexpr size_t kLanes = 2;
  using Bytes = __m256i;
  using Partial = size_t;
  using PartialLanes = size_t;
  struct Sums {
    __attribute__((always_inline)) void add(Bytes v) {
      const __m256i pairs = _mm256_maddubs_epi16(_mm256_set1_epi8(1), v);
      sums = _mm256_add_epi32(sums, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
    }
    __attribute__((always_inline)) void store(uint32_t factor, uint32_t addend, int32_t* p) const {
      const __m256i of_sums = _mm256_mullo_epi32(sums, _mm256_set1_epi32(static_cast<int>(factor)));
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(p),
                          _mm256_add_epi32(of_sums, _mm256_set1_epi32(static_cast<int>(addend))));
    }
    __m256i sums = _mm256_setzero_si256();
  };

  QRT_INLINE Bytes missing() { return _mm256_set1_epi8(-128); }
  QRT_INLINE Bytes load(const uint8_t* p, Partial n) {
    return n == 32 ? _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)) : load_partial(p, n);
  }
  __attribute__((noinline)) static Bytes load_partial(const uint8_t* p, Partial n) {
    alignas(32) uint8_t bytes[32];
    memset(bytes, 128, sizeof bytes);
    memcpy(bytes, p, n);
    return _mm256_load_si256(reinterpret_cast<const __m256i*>(bytes));
  }
  QRT_INLINE __m128i load_lane(const uint8_t* p) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
  }
  __attribute__((noinline)) static __m128i load_lane(const uint8_t* p, PartialLanes n) {
    alignas(16) uint8_t bytes[16];
    memset(bytes, 128, sizeof bytes);
    memcpy(bytes, p, n);
    return _mm_load_si128(reinterpret_cast<const __m128i*>(bytes));
  }
  QRT_INLINE Bytes load_lanes(const uint8_t* p, size_t stride) {
    return _mm256_inserti128_si256(_mm256_castsi128_si256(load_lane(p)), load_lane(p + stride), 1);
  }
  // REQUIRES: lanes > 0
  QRT_INLINE Bytes load_lanes(const uint8_t* p, size_t stride, size_t lanes, PartialLanes n) {
    const Bytes v = _mm256_inserti128_si256(missing(), load_lane(p, n), 0);
    return lanes == 1 ? v : _mm256_inserti128_si256(v, load_lane(p + stride, n), 1);
  }
  QRT_INLINE Bytes low8(Bytes a, Bytes b) { return _mm256_unpacklo_epi8(a, b); }
  QRT_INLINE Bytes high8(Bytes a, Bytes b) { return _mm256_unpackhi_epi8(a, b); }
  QRT_INLINE Bytes low16(Bytes a, Bytes b) { return _mm256_unpacklo_epi16(a, b); }
  QRT_INLINE Bytes high16(Bytes a, Bytes b) { return _mm256_unpackhi_epi16(a, b); }
  QRT_INLINE Bytes low32(Bytes a, Bytes b) { return _mm256_unpacklo_epi32(a, b); }
  QRT_INLINE Bytes high32(Bytes a, Bytes b) { return _mm256_unpackhi_epi32(a, b); }
  QRT_INLINE Bytes low64(Bytes a, Bytes b) { return _mm256_unpacklo_epi64(a, b); }
  QRT_INLINE Bytes high64(Bytes a, Bytes b) { return _mm256_unpackhi_epi64(a, b); }
  QRT_INLINE void to_blocks(Bytes (&v)[4]) {
    const Bytes h01 = _mm256_permute2x128_si256(v[0], v[1], 0x31),
                h23 = _mm256_permute2x128_si256(v[2], v[3], 0x31);
    v[0] = _mm256_permute2x128_si256(v[0], v[1], 0x20);
    v[1] = _mm256_permute2x128_si256(v[2], v[3], 0x20);
    v[2] = h01;
    v[3] = h23;
  }
  QRT_INLINE Bytes signs(Bytes v) { return _mm256_xor_si256(v, missing()); }
  QRT_INLINE void store(int8_t* p, Bytes v) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), v);
  }
};

}  // namespace

void pack_activations_avx2(const ActivationPack& pack, size_t begin, size_t end) {
  pack_activations_of<Zips256>(pack, begin, end);
}

}  // namespace qrt
