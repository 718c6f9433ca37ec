// SPDX-License-Identifier: Apache-2.0
// Packing on AVX-512: a block of 16 channels is a register; sums by VPDPBUSD.
#include "kernels/gemm/pack_activations_entry.h"
#include "kernels/gemm/pack_activations_loops.h"
#include "kernels/isa/avx512vnni.h"

namespace qrt {
namespace {

struct Zips512 {
  static constexpr size_t kLanes = 4;
  using Bytes = __m512i;
  struct Partial {
    explicit Partial(size_t n) : mask(~uint64_t{0} >> (64 - n)) {}
    __mmask64 mask;
  };
  struct PartialLanes {
    explicit PartialLanes(size_t n) : mask(static_cast<__mmask16>(0xffff >> (16 - n))) {}
    __mmask16 mask;
  };
  struct Sums {
    __attribute__((always_inline)) void add(Bytes v) {
      avx512vnni::dot(sums, _mm512_set1_epi8(1), v);
    }
    __attribute__((always_inline)) void store(uint32_t factor, uint32_t addend, int32_t* p) const {
      const __m512i of_sums = _mm512_mullo_epi32(sums, _mm512_set1_epi32(static_cast<int>(factor)));
      _mm512_storeu_si512(p,
                          _mm512_add_epi32(of_sums, _mm512_set1_epi32(static_cast<int>(addend))));
    }
    __m512i sums = _mm512_setzero_si512();
  };

  QRT_INLINE Bytes missing() { return _mm512_set1_epi8(-128); }
  QRT_INLINE Bytes load(const uint8_t* p, const Partial& part) {
    return _mm512_mask_loadu_epi8(missing(), part.mask, p);
  }
  QRT_INLINE __m128i load_lane(const uint8_t* p, const PartialLanes& part) {
    return _mm_mask_loadu_epi8(_mm_set1_epi8(-128), part.mask, p);
  }
  QRT_INLINE __m128i load_lane(const uint8_t* p) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
  }
  QRT_INLINE Bytes load_lanes(const uint8_t* p, size_t stride) {
    const Bytes v = _mm512_castsi128_si512(load_lane(p));
    const Bytes v2 = _mm512_inserti32x4(v, load_lane(p + stride), 1);
    const Bytes v3 = _mm512_inserti32x4(v2, load_lane(p + 2 * stride), 2);
    return _mm512_inserti32x4(v3, load_lane(p + 3 * stride), 3);
  }
  // REQUIRES: lanes > 0
  QRT_INLINE Bytes load_lanes(const uint8_t* p, size_t stride, size_t lanes,
                              const PartialLanes& part) {
    Bytes v = _mm512_inserti32x4(missing(), load_lane(p, part), 0);
    if (lanes > 1) v = _mm512_inserti32x4(v, load_lane(p + stride, part), 1);
    if (lanes > 2) v = _mm512_inserti32x4(v, load_lane(p + 2 * stride, part), 2);
    if (lanes > 3) v = _mm512_inserti32x4(v, load_lane(p + 3 * stride, part), 3);
    return v;
  }
  QRT_INLINE Bytes low8(Bytes a, Bytes b) { return _mm512_unpacklo_epi8(a, b); }
  QRT_INLINE Bytes high8(Bytes a, Bytes b) { return _mm512_unpackhi_epi8(a, b); }
  QRT_INLINE Bytes low16(Bytes a, Bytes b) { return _mm512_unpacklo_epi16(a, b); }
  QRT_INLINE Bytes high16(Bytes a, Bytes b) { return _mm512_unpackhi_epi16(a, b); }
  QRT_INLINE Bytes low32(Bytes a, Bytes b) { return _mm512_unpacklo_epi32(a, b); }
  QRT_INLINE Bytes high32(Bytes a, Bytes b) { return _mm512_unpackhi_epi32(a, b); }
  QRT_INLINE Bytes low64(Bytes a, Bytes b) { return _mm512_unpacklo_epi64(a, b); }
  QRT_INLINE Bytes high64(Bytes a, Bytes b) { return _mm512_unpackhi_epi64(a, b); }
  QRT_INLINE void to_blocks(Bytes (&v)[4]) {
    const Bytes l01 = _mm512_shuffle_i32x4(v[0], v[1], 0x44),
                h01 = _mm512_shuffle_i32x4(v[0], v[1], 0xee),
                l23 = _mm512_shuffle_i32x4(v[2], v[3], 0x44),
                h23 = _mm512_shuffle_i32x4(v[2], v[3], 0xee);
    v[0] = _mm512_shuffle_i32x4(l01, l23, 0x88);
    v[1] = _mm512_shuffle_i32x4(l01, l23, 0xdd);
    v[2] = _mm512_shuffle_i32x4(h01, h23, 0x88);
    v[3] = _mm512_shuffle_i32x4(h01, h23, 0xdd);
  }
  QRT_INLINE Bytes signs(Bytes v) { return _mm512_xor_si512(v, missing()); }
  QRT_INLINE void store(int8_t* p, Bytes v) { _mm512_storeu_si512(p, v); }
};

}  // namespace

void pack_activations_avx512vnni(const ActivationPack& pack, size_t begin, size_t end) {
  pack_activations_of<Zips512>(pack, begin, end);
}

}  // namespace qrt
