// SPDX-License-Identifier: Apache-2.0
// WebAssembly's simd128 for the kernel families: stores of part of a vector, and the fused multiply-add
// that it lacks.
#ifndef QRT_KERNELS_ISA_WASM128_H_
#define QRT_KERNELS_ISA_WASM128_H_

#include <wasm_simd128.h>

#include <cstddef>
#include <cstdint>

#include "kernels/isa/inline.h"

namespace qrt {
inline namespace QRT_KERNEL_SET {
namespace wasm128 {

// Stores the first n bytes of v, n <= 16.
QRT_INLINE void store_bytes(uint8_t* p, v128_t v, size_t n) {
  if (n == 16) {
    wasm_v128_store(p, v);
    return;
  }
  if (n & 8) {
    wasm_v128_store64_lane(p, v, 0);
    v = wasm_i64x2_shuffle(v, v, 1, 1);
    p += 8;
  }
  if (n & 4) {
    wasm_v128_store32_lane(p, v, 0);
    v = wasm_u64x2_shr(v, 32);
    p += 4;
  }
  if (n & 2) {
    wasm_v128_store16_lane(p, v, 0);
    v = wasm_u64x2_shr(v, 16);
    p += 2;
  }
  if (n & 1) wasm_v128_store8_lane(p, v, 0);
}

#ifdef __wasm_relaxed_simd__
// Returns a * b + c, rounded once: where the set is there, the engine's relaxed instruction does so (isa/relaxed.h).
QRT_INLINE v128_t fused_multiply_add(v128_t a, v128_t b, v128_t c) {
  return wasm_f32x4_relaxed_madd(a, b, c);
}
#else
// Returns two lanes of a * b + c, rounded to odd. The product is exact in double; where the sum is not,
// the result is the neighbour towards the exact value whose last bit is 1. Rounded again to float32, whose
// significand has less than half as many bits, it is the sum rounded once (Boldo and Melquiond, 2008).
QRT_INLINE v128_t sum_to_odd(v128_t product, v128_t c) {
  const v128_t sum = wasm_f64x2_add(product, c);
  const v128_t added = wasm_f64x2_sub(sum, product);
  const v128_t lost =
      wasm_f64x2_add(wasm_f64x2_sub(product, wasm_f64x2_sub(sum, added)), wasm_f64x2_sub(c, added));
  const v128_t zero = wasm_f64x2_const_splat(0);
  // NaN where a sum is no number: then neither comparison holds.
  const v128_t above = wasm_f64x2_gt(lost, zero), below = wasm_f64x2_lt(lost, zero);
  const v128_t one = wasm_i64x2_const_splat(1);
  const v128_t is_even = wasm_i64x2_eq(wasm_v128_and(sum, one), wasm_i64x2_const_splat(0));
  const v128_t is_changed = wasm_v128_and(wasm_v128_or(above, below), is_even);
  // Bits of greater magnitude where sum and loss have one sign.
  const v128_t is_negative = wasm_f64x2_lt(sum, zero);
  const v128_t is_less = wasm_v128_xor(is_negative, below);  // -1 or 0
  const v128_t step = wasm_v128_or(is_less, one);            // -1 or 1
  return wasm_i64x2_add(sum, wasm_v128_and(step, is_changed));
}

// Returns a * b + c, rounded once, of any numbers. Not inline: it is long, and seldom needed.
__attribute__((noinline)) inline v128_t fused_multiply_add_to_odd(v128_t a, v128_t b, v128_t c) {
  const auto half = [](v128_t x, v128_t y, v128_t z) QRT_INLINE_LAMBDA {
    const v128_t product =
        wasm_f64x2_mul(wasm_f64x2_promote_low_f32x4(x), wasm_f64x2_promote_low_f32x4(y));
    return wasm_f32x4_demote_f64x2_zero(sum_to_odd(product, wasm_f64x2_promote_low_f32x4(z)));
  };
  const auto upper = [](v128_t x) QRT_INLINE_LAMBDA { return wasm_i64x2_shuffle(x, x, 1, 1); };
  return wasm_i64x2_shuffle(half(a, b, c), half(upper(a), upper(b), upper(c)), 0, 2);
}

// Returns a * b + c, rounded once. The product is exact in double. Rounding its sum to double and then to float32
// differs from rounding once only where the double lies in the middle of two floats, which the sum may have missed:
// where the 29 bits that float32 lacks are 1 and zeros, or, below its normal numbers, more bits. Such sums are rounded
// again.
QRT_INLINE v128_t fused_multiply_add(v128_t a, v128_t b, v128_t c) {
  const auto sum = [](v128_t x, v128_t y, v128_t z) QRT_INLINE_LAMBDA {
    return wasm_f64x2_add(
        wasm_f64x2_mul(wasm_f64x2_promote_low_f32x4(x), wasm_f64x2_promote_low_f32x4(y)),
        wasm_f64x2_promote_low_f32x4(z));
  };
  const auto upper = [](v128_t x) QRT_INLINE_LAMBDA { return wasm_i64x2_shuffle(x, x, 1, 1); };
  const v128_t low = sum(a, b, c), high = sum(upper(a), upper(b), upper(c));
  const v128_t y = wasm_i64x2_shuffle(wasm_f32x4_demote_f64x2_zero(low),
                                      wasm_f32x4_demote_f64x2_zero(high), 0, 2);
  // 0 where it lies in the middle.
  const v128_t lacking = wasm_i32x4_shl(wasm_i32x4_shuffle(low, high, 0, 2, 4, 6), 3);
  const v128_t off_middle = wasm_v128_xor(lacking, wasm_i32x4_const_splat(INT32_MIN));
  // 0 for magnitudes up to the least normal number but 0: a sum that becomes 0 is exact, or has another sign alone.
  const v128_t less_one = wasm_i32x4_add(wasm_i32x4_shl(y, 1), wasm_i32x4_const_splat(-1));
  const v128_t size = wasm_u32x4_shr(less_one, 24);
  if (__builtin_expect(!wasm_i32x4_all_true(wasm_u32x4_min(off_middle, size)), 0))
    return fused_multiply_add_to_odd(a, b, c);
  return y;
}
#endif

}  // namespace wasm128
}  // namespace QRT_KERNEL_SET
}  // namespace qrt

#endif  // QRT_KERNELS_ISA_WASM128_H_
