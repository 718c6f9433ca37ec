// SPDX-License-Identifier: Apache-2.0
// Requantisation of int32 accumulators to bytes in simd128's registers, for the families that multiply.
#ifndef QRT_KERNELS_ISA_IN_FLOAT_WASM128_H_
#define QRT_KERNELS_ISA_IN_FLOAT_WASM128_H_

#include <wasm_simd128.h>

#include <cstddef>
#include <cstdint>

#include "kernels/integer_only.h"
#include "kernels/isa/inline.h"
#include "kernels/requant.h"

namespace qrt {
inline namespace QRT_KERNEL_SET {
namespace wasm128 {

// RQ_F32, half to even, zero point after rounding. Outputs are limited in float, and rounded by the
// addition of 1.5 * 2^23, whose bits then end in the integer.
struct RequantInFloat {
  const float* scale;
  v128_t least, most;  // lo and hi less the zero point
  v128_t magic_bits;   // less the zero point

  static bool handles(const Requant& r, size_t) {
    return !kIntegerOnly && r.kind == RequantKind::kF32 && r.round == Round::kHalfEven &&
           !r.zero_point_before;
  }
  static RequantInFloat make(const Requant& r, const int32_t*, size_t, size_t) {
    return {r.scale, wasm_f32x4_splat(static_cast<float>(r.lo - r.zero_point)),
            wasm_f32x4_splat(static_cast<float>(r.hi - r.zero_point)),
            wasm_i32x4_splat(kMagicBits - r.zero_point)};
  }
  QRT_INLINE v128_t start(v128_t bias) { return bias; }

  // Returns 16 bytes from four vectors of four accumulators each, of the channels from c on.
  __attribute__((always_inline)) v128_t bytes(const v128_t (&acc)[4],
                                              const v128_t (&scales)[4]) const {
    v128_t v[4];
    QRT_UNROLL
    for (int i = 0; i < 4; ++i) {
      const v128_t x = wasm_f32x4_mul(wasm_f32x4_convert_i32x4(acc[i]), scales[i]);
      const v128_t limited = wasm_f32x4_pmin(wasm_f32x4_pmax(x, least), most);
      v[i] = wasm_i32x4_sub(wasm_f32x4_add(limited, wasm_f32x4_const_splat(kMagic)), magic_bits);
    }
    return wasm_u8x16_narrow_i16x8(wasm_i16x8_narrow_i32x4(v[0], v[1]),
                                   wasm_i16x8_narrow_i32x4(v[2], v[3]));
  }

  static constexpr float kMagic = 12582912;  // 2^23 + 2^22
  static constexpr int32_t kMagicBits = 0x4b400000;
};

}  // namespace wasm128
}  // namespace QRT_KERNEL_SET
}  // namespace qrt

#endif  // QRT_KERNELS_ISA_IN_FLOAT_WASM128_H_
