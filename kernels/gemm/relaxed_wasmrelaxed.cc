// SPDX-License-Identifier: Apache-2.0
#include "kernels/isa/relaxed.h"

#include <wasm_simd128.h>

#include <cstdint>

namespace qrt {

bool is_relaxed_dot_exact() {
  // Volatile, so that nothing but the engine computes them.
  static const volatile int8_t kWeights[] = {127, -128, 1};
  static const volatile uint8_t kInputs[] = {200, 156, 255, 128, 127};
  for (const volatile int8_t& weight : kWeights) {
    for (const volatile uint8_t& input : kInputs) {
      const int8_t w = weight;
      const uint8_t x = input;
      const v128_t sums = wasm_i32x4_relaxed_dot_i8x16_i7x16_add(
          wasm_i8x16_splat(w), wasm_u8x16_splat(x), wasm_i32x4_const_splat(7));
      const v128_t expected = wasm_i32x4_splat(4 * w * x + 7);
      if (!wasm_i32x4_all_true(wasm_i32x4_eq(sums, expected))) return false;
    }
  }
  return true;
}

bool is_relaxed_madd_fused() {
  // (1 + e)^2 - (1 + 2 e) = e^2, which is lost where the product is rounded.
  static const volatile float kParts[] = {0x1p-12f, 0x1p-17f, -0x1p-20f};
  for (const volatile float& part : kParts) {
    const float e = part;
    const v128_t x = wasm_f32x4_splat(1 + e), less = wasm_f32x4_splat(-(1 + 2 * e));
    const v128_t sum = wasm_f32x4_relaxed_madd(x, x, less);
    if (!wasm_i32x4_all_true(wasm_f32x4_eq(sum, wasm_f32x4_splat(e * e)))) return false;
  }
  return true;
}

}  // namespace qrt
