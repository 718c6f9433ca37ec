// SPDX-License-Identifier: Apache-2.0
// Packing on simd128.
#include <string.h>
#include <wasm_simd128.h>

#include "kernels/gemm/pack_activations_entry.h"
#include "kernels/gemm/pack_activations_loops.h"
#include "kernels/isa/zip_wasm128.h"

namespace qrt {
namespace {

using wasm128::Zip;

struct Zips128 {
  static constexpr size_t kLanes = 1;
  using Bytes = v128_t;
  using Partial = size_t;
  using PartialLanes = size_t;
  struct Sums {
    __attribute__((always_inline)) void add(Bytes v) {
      const v128_t four = wasm_i32x4_extadd_pairwise_i16x8(wasm_i16x8_extadd_pairwise_i8x16(v));
      sums = wasm_i32x4_add(sums, four);
    }
    __attribute__((always_inline)) void store(uint32_t factor, uint32_t addend, int32_t* p) const {
      const v128_t scaled = wasm_i32x4_mul(sums, wasm_u32x4_splat(factor));
      wasm_v128_store(p, wasm_i32x4_add(scaled, wasm_u32x4_splat(addend)));
    }
    v128_t sums = wasm_i32x4_const_splat(0);
  };

  QRT_INLINE Bytes missing() { return wasm_u8x16_const_splat(128); }
  QRT_INLINE Bytes load(const uint8_t* p, Partial n) {
    return n == 16 ? wasm_v128_load(p) : load_partial(p, n);
  }
  __attribute__((noinline)) static Bytes load_partial(const uint8_t* p, Partial n) {
    uint8_t bytes[16];
    memset(bytes, 128, sizeof bytes);
    memcpy(bytes, p, n);
    return wasm_v128_load(bytes);
  }
  QRT_INLINE Bytes load_lanes(const uint8_t* p, size_t) { return wasm_v128_load(p); }
  QRT_INLINE Bytes load_lanes(const uint8_t* p, size_t, size_t, PartialLanes n) {
    return load(p, n);
  }
  QRT_INLINE Bytes low8(Bytes a, Bytes b) { return Zip<1>::low(a, b); }
  QRT_INLINE Bytes high8(Bytes a, Bytes b) { return Zip<1>::high(a, b); }
  QRT_INLINE Bytes low16(Bytes a, Bytes b) { return Zip<2>::low(a, b); }
  QRT_INLINE Bytes high16(Bytes a, Bytes b) { return Zip<2>::high(a, b); }
  QRT_INLINE Bytes low32(Bytes a, Bytes b) { return Zip<4>::low(a, b); }
  QRT_INLINE Bytes high32(Bytes a, Bytes b) { return Zip<4>::high(a, b); }
  QRT_INLINE Bytes low64(Bytes a, Bytes b) { return Zip<8>::low(a, b); }
  QRT_INLINE Bytes high64(Bytes a, Bytes b) { return Zip<8>::high(a, b); }
  QRT_INLINE void to_blocks(Bytes (&)[4]) {}
  QRT_INLINE Bytes signs(Bytes v) { return wasm_v128_xor(v, missing()); }
  QRT_INLINE void store(int8_t* p, Bytes v) { wasm_v128_store(p, v); }
};

}  // namespace

void pack_activations_wasm128(const ActivationPack& pack, size_t begin, size_t end) {
  pack_activations_of<Zips128>(pack, begin, end);
}

}  // namespace qrt
