// SPDX-License-Identifier: Apache-2.0
#include <wasm_simd128.h>

#include <cstdint>

#include "kernels/isa/relaxed_dot.h"

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

}  // namespace qrt
