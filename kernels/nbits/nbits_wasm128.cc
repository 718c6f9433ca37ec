// SPDX-License-Identifier: Apache-2.0
#include <wasm_simd128.h>

#define QRT_FLOAT_LANES 4
#include "kernels/nbits/loops.h"

namespace qrt {
namespace {

// Sums of two products of 16 bits: of the even bytes, and of the odd ones.
struct Wasm128 {
  static constexpr bool kLess128 = false;
  QRT_INLINE void dot(Ints& acc, Ints u, int32_t q) {
    const v128_t w = (v128_t)u, four = wasm_i32x4_splat(q);
    const v128_t even = wasm_i32x4_dot_i16x8(wasm_v128_and(w, wasm_i16x8_const_splat(0xff)),
                                             wasm_i16x8_shr(wasm_i16x8_shl(four, 8), 8));
    const v128_t odd = wasm_i32x4_dot_i16x8(wasm_u16x8_shr(w, 8), wasm_i16x8_shr(four, 8));
    acc = acc + (Ints)even + (Ints)odd;
  }
  QRT_INLINE void dot8(Ints& acc, Ints u, int32_t q) { dot(acc, u, q); }
};

}  // namespace

QRT_NBITS_ROW(wasm128, Wasm128, 2, 2)

}  // namespace qrt
