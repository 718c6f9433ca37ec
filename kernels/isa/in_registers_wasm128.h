// SPDX-License-Identifier: Apache-2.0
// Requantisation of int32 accumulators to bytes in simd128's registers, for the families that multiply: RQ_F32 in
// float32, half to even, zero point after rounding, and fixed point in double.
//
// One rounding of acc * m / 2^(31 + s), half up, and TFLite's two, half up by 2^31 and then half away from zero by
// 2^s, are, as fixed_point_avx512vnni.h says,
//
//   y = floor(acc * M + 1/2 + n)    M = m * 2^-(31+s), n = 0, or 2^-(1+s) with the sign of acc
//
// acc * M + n are multiples of 2^-(31+s). So with e = 2^-44, less than such a step, y is acc * M + n + e rounded to
// the nearest integer, which is never a tie, and adding 1.5 * 2^52 rounds so. For s up to 12 all sums are exact
// in double while they are below 2^9; beyond, they stay beyond, as roundings keep the order, and so do their bytes.
//
// Where no output is below the zero point, negative acc give the least output with either sign of n, which is below
// 1/2: then n + e is one constant. It is also one where there is one rounding.
#ifndef QRT_KERNELS_ISA_IN_REGISTERS_WASM128_H_
#define QRT_KERNELS_ISA_IN_REGISTERS_WASM128_H_

#include <wasm_simd128.h>

#include <cstddef>
#include <cstdint>

#include "kernels/integer_only.h"
#include "kernels/isa/inline.h"
#include "kernels/requant.h"

namespace qrt {
inline namespace QRT_KERNEL_SET {
namespace wasm128 {

// The constants of four channels: the scale in float, or M and |n| or n + e in double, two channels each.
struct ChannelConstants {
  v128_t scale, low, high, nudge_low, nudge_high;
};

struct RequantInRegisters {
  const Requant* requant;
  bool is_fixed;
  bool has_signs;             // fixed: n has the sign of acc
  v128_t least, most;         // float: lo and hi less the zero point
  v128_t magic_bits;          // float: less the zero point
  v128_t zero_point, lo, hi;  // fixed: int16, uint8

  static bool handles(const Requant& r, size_t channels) {
    if (kIntegerOnly) return false;
    if (r.kind == RequantKind::kF32) return r.round == Round::kHalfEven && !r.zero_point_before;
    if (!is_fixed_point(r)) return false;
    for (size_t c = 0; c < channels; ++c) {
      const int s = shift(r, c);
      if (r.stages[0].multiplier[c] != 0 && (s < 1 || s > 12)) return false;
      if (r.stage_count == 2 && (r.stages[0].shift[c] != 31 || r.stages[1].multiplier[c] != 1))
        return false;
    }
    return true;
  }
  // Keeps the address of r.
  static RequantInRegisters make(const Requant& r, const int32_t*, size_t, size_t) {
    return {&r,
            r.kind == RequantKind::kInt,
            r.stage_count == 2 && r.lo < r.zero_point,
            wasm_f32x4_splat(static_cast<float>(r.lo - r.zero_point)),
            wasm_f32x4_splat(static_cast<float>(r.hi - r.zero_point)),
            wasm_i32x4_splat(kMagicBits - r.zero_point),
            wasm_i16x8_splat(static_cast<int16_t>(r.zero_point)),
            wasm_u8x16_splat(static_cast<uint8_t>(r.lo)),
            wasm_u8x16_splat(static_cast<uint8_t>(r.hi))};
  }
  QRT_INLINE v128_t start(v128_t bias) { return bias; }

  // Returns the constants of the channels from c on.
  ChannelConstants constants(size_t c) const {
    ChannelConstants k = {};
    if (!is_fixed) {
      k.scale = wasm_v128_load(requant->scale + c);
      return k;
    }
    alignas(16) double factor[4], nudge[4];
    for (size_t i = 0; i < 4; ++i) {
      const int32_t m = requant->stages[0].multiplier[c + i];
      const double unit = m == 0 ? 0 : power(-31 - shift(*requant, c + i));
      factor[i] = m * unit;
      nudge[i] = (requant->stage_count == 2 ? unit * 0x1p30 : 0) + (has_signs ? 0 : kBeyondTie);
    }
    k.low = wasm_v128_load(factor);
    k.high = wasm_v128_load(factor + 2);
    k.nudge_low = wasm_v128_load(nudge);
    k.nudge_high = wasm_v128_load(nudge + 2);
    return k;
  }

  // Requantises four vectors of four accumulators to 16 bytes. In float, outputs are limited, and
  // rounded by the addition of 1.5 * 2^23, whose bits then end in the integer.
  __attribute__((always_inline)) v128_t bytes(const v128_t (&acc)[4],
                                              const ChannelConstants (&k)[4]) const {
    if (is_fixed) {
      return has_signs ? fixed_bytes<true>(acc[0], acc[1], acc[2], acc[3], k)
                       : fixed_bytes<false>(acc[0], acc[1], acc[2], acc[3], k);
    }
    v128_t v[4];
    QRT_UNROLL
    for (int i = 0; i < 4; ++i) {
      const v128_t x = wasm_f32x4_mul(wasm_f32x4_convert_i32x4(acc[i]), k[i].scale);
      const v128_t limited = wasm_f32x4_pmin(wasm_f32x4_pmax(x, least), most);
      v[i] = wasm_i32x4_sub(wasm_f32x4_add(limited, wasm_f32x4_const_splat(kMagic)), magic_bits);
    }
    return wasm_u8x16_narrow_i16x8(wasm_i16x8_narrow_i32x4(v[0], v[1]),
                                   wasm_i16x8_narrow_i32x4(v[2], v[3]));
  }

 private:
  static constexpr float kMagic = 12582912;  // 2^23 + 2^22
  static constexpr int32_t kMagicBits = 0x4b400000;
  static constexpr double kBeyondTie = 0x1p-44;  // e

  // s of a channel.
  static int shift(const Requant& r, size_t c) {
    return r.stage_count == 2 ? r.stages[1].shift[c] : r.stages[0].shift[c] - 31;
  }
  static double power(int e) {
    const uint64_t bits = static_cast<uint64_t>(1023 + e) << 52;
    double value;
    __builtin_memcpy(&value, &bits, sizeof value);
    return value;
  }

  // Returns a * b + c, which is exact for all sums that count, so that one rounding and two give the same.
  QRT_INLINE v128_t multiply_add(v128_t a, v128_t b, v128_t c) {
#ifdef __wasm_relaxed_simd__
    return wasm_f64x2_relaxed_madd(a, b, c);
#else
    return wasm_f64x2_add(wasm_f64x2_mul(a, b), c);
#endif
  }

  // The sums as values: an array of them would keep a tile's accumulators in memory.
  template <bool kHasSigns>
  __attribute__((noinline)) v128_t fixed_bytes(v128_t acc0, v128_t acc1, v128_t acc2, v128_t acc3,
                                               const ChannelConstants (&k)[4]) const {
    const v128_t acc[4] = {acc0, acc1, acc2, acc3};
    const auto rounded = [](v128_t sums, v128_t factor, v128_t nudge) QRT_INLINE_LAMBDA {
      const v128_t x = wasm_f64x2_convert_low_i32x4(sums);
      const v128_t magic = wasm_f64x2_const_splat(0x1.8p52);
      if (!kHasSigns) return wasm_f64x2_add(multiply_add(x, factor, nudge), magic);
      const v128_t sign = wasm_v128_and(x, wasm_i64x2_const_splat(INT64_MIN));
      const v128_t sum = multiply_add(x, factor, wasm_v128_or(nudge, sign));
      return wasm_f64x2_add(wasm_f64x2_add(sum, wasm_f64x2_const_splat(kBeyondTie)), magic);
    };
    v128_t v[4];
    QRT_UNROLL
    for (int i = 0; i < 4; ++i) {
      const v128_t low = rounded(acc[i], k[i].low, k[i].nudge_low);
      const v128_t upper = wasm_i64x2_shuffle(acc[i], acc[i], 1, 1);
      v[i] = wasm_i32x4_shuffle(low, rounded(upper, k[i].high, k[i].nudge_high), 0, 2, 4, 6);
    }
    const v128_t w0 = wasm_i16x8_add_sat(wasm_i16x8_narrow_i32x4(v[0], v[1]), zero_point);
    const v128_t w1 = wasm_i16x8_add_sat(wasm_i16x8_narrow_i32x4(v[2], v[3]), zero_point);
    return wasm_u8x16_min(wasm_u8x16_max(wasm_u8x16_narrow_i16x8(w0, w1), lo), hi);
  }
};

}  // namespace wasm128
}  // namespace QRT_KERNEL_SET
}  // namespace qrt

#endif  // QRT_KERNELS_ISA_IN_REGISTERS_WASM128_H_
