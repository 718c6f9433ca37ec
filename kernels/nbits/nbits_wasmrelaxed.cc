// SPDX-License-Identifier: Apache-2.0
#include <wasm_simd128.h>

#define QRT_FLOAT_LANES 4
#include "kernels/nbits/loops.h"

namespace qrt {
namespace {

// The relaxed dot product of bytes, on engines where it is exact for uint8 (isa/relaxed.h).
struct WasmRelaxed {
  static constexpr bool kLess128 = false;
  QRT_INLINE void dot(Ints& acc, Ints u, int32_t q) {
    acc = (Ints)wasm_i32x4_relaxed_dot_i8x16_i7x16_add(wasm_i32x4_splat(q), (v128_t)u, (v128_t)acc);
  }
  QRT_INLINE void dot8(Ints& acc, Ints u, int32_t q) { dot(acc, u, q); }
};

}  // namespace

QRT_NBITS_ROW(wasmrelaxed, WasmRelaxed, 2, 4)

}  // namespace qrt
