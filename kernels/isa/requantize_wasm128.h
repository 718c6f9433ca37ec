// SPDX-License-Identifier: Apache-2.0
// The simd128 policy of requantize_tile.h, also that of relaxed SIMD. Shifts have one count for all
// lanes: those of a channel each are done in double, exactly, or in scalar code.
#ifndef QRT_KERNELS_ISA_REQUANTIZE_WASM128_H_
#define QRT_KERNELS_ISA_REQUANTIZE_WASM128_H_

#include <wasm_simd128.h>

#include "kernels/isa/requantize_tile.h"
#include "kernels/isa/wasm128.h"

namespace qrt {
inline namespace QRT_KERNEL_SET {
namespace wasm128 {

struct Lanes {
  static constexpr size_t kLanes = 4;
  using Int = v128_t;

  static Int load(const int32_t* p) { return wasm_v128_load(p); }
  static void save(int32_t* p, Int v) { wasm_v128_store(p, v); }
  static Int clip(Int v, int32_t lo, int32_t hi) {
    return wasm_i32x4_min(wasm_i32x4_max(v, wasm_i32x4_splat(lo)), wasm_i32x4_splat(hi));
  }
  template <bool kAdds>
  static void to_float(const int32_t* acc, const float* scale, const float* addend, uint8_t* y) {
    Int v = wasm_f32x4_mul(wasm_f32x4_convert_i32x4(load(acc)), wasm_v128_load(scale));
    if constexpr (kAdds) v = wasm_f32x4_add(v, wasm_v128_load(addend));
    wasm_v128_store(y, v);
  }

  // 2^-s for two shifts s 0..62.
  static Int powers(const uint8_t* s) {
    const auto bits = [](int64_t shift) { return (1023 - shift) << 52; };
    return wasm_i64x2_make(bits(s[0]), bits(s[1]));
  }

  // ROUND(x * 2^-s) for s 0..31: a product of double loses nothing, nor does its sum with a half.
  template <Round kRound>
  struct Shift {
    Shift(const RequantStage& stage, size_t c) : Shift(stage.shift + c) {}
    explicit Shift(const uint8_t* s) : low(powers(s)), high(powers(s + 2)) {}

    static Int rounded(Int v) {
      const Int half = wasm_f64x2_const_splat(0.5);
      if constexpr (kRound == Round::kFloor) return wasm_f64x2_floor(v);
      if constexpr (kRound == Round::kHalfEven) return wasm_f64x2_nearest(v);
      if constexpr (kRound == Round::kHalfUp) return wasm_f64x2_floor(wasm_f64x2_add(v, half));
      const Int sign = wasm_v128_and(v, wasm_i64x2_const_splat(INT64_MIN));
      return wasm_f64x2_trunc(wasm_f64x2_add(v, wasm_v128_or(half, sign)));
    }
    // Returns the rounded integers in the lower halves of the lanes: the bits of 1.5 * 2^52 plus them.
    static Int integers(Int v) {
      return wasm_f64x2_add(rounded(v), wasm_f64x2_const_splat(6755399441055744.0));
    }
    Int apply(Int x) const {
      const Int upper = wasm_i64x2_shuffle(x, x, 1, 1);
      const Int l = wasm_f64x2_mul(wasm_f64x2_convert_low_i32x4(x), low);
      const Int h = wasm_f64x2_mul(wasm_f64x2_convert_low_i32x4(upper), high);
      return wasm_i32x4_shuffle(integers(l), integers(h), 0, 2, 4, 6);
    }

    Int low, high;
  };

  // A stage of any kind, computed lane by lane in integers of 64 bits, as stages are defined.
  template <bool kClips, Round kRound>
  struct Product {
    Product(const RequantStage& stage, size_t c)
        : multiplier(stage.multiplier + c), shift(stage.shift + c), of(stage) {}

    Int apply(Int x) const {
      int32_t v[kLanes];
      save(v, x);
      QRT_UNROLL
      for (size_t i = 0; i < kLanes; ++i) {
        const int64_t product = static_cast<int64_t>(v[i]) * multiplier[i];
        int64_t y = rounded_shift(product, shift[i]);
        if constexpr (kClips) y = y < of.clip_lo ? of.clip_lo : y > of.clip_hi ? of.clip_hi : y;
        v[i] = static_cast<int32_t>(y);
      }
      return load(v);
    }
    static int64_t rounded_shift(int64_t v, uint8_t s) {
      if constexpr (kRound == Round::kFloor) return v >> s;
      const int64_t half = static_cast<int64_t>(uint64_t{1} << s >> 1), some = half != 0;
      if constexpr (kRound == Round::kHalfAway) v -= some & v >> 63;
      if constexpr (kRound == Round::kHalfEven) v -= some & ~(v >> s);
      return (v + half) >> s;
    }

    const int32_t* multiplier;
    const uint8_t* shift;
    const RequantStage& of;
  };

  template <StageForm kForm, Round kRound>
  struct Stage : Product<kForm == StageForm::kClipped, kRound> {
    using Product<kForm == StageForm::kClipped, kRound>::Product;
  };
  template <Round kRound>
  struct Stage<StageForm::kShift, kRound> : Shift<kRound> {
    using Shift<kRound>::Shift;
  };
  // Returns the low 32 bits of floor((x m + more) / 2^31).
  static Int high_product(Int x, Int m, int64_t more) {
    const Int add = wasm_i64x2_splat(more);
    const Int l = wasm_u64x2_shr(wasm_i64x2_add(wasm_i64x2_extmul_low_i32x4(x, m), add), 31);
    const Int h = wasm_u64x2_shr(wasm_i64x2_add(wasm_i64x2_extmul_high_i32x4(x, m), add), 31);
    return wasm_i32x4_shuffle(l, h, 0, 2, 4, 6);
  }
  template <Round kRound>
  struct Stage<StageForm::kQ31, kRound> {
    Stage(const RequantStage& stage, size_t c) : multiplier(load(stage.multiplier + c)) {}
    Int apply(Int x) const { return high_product(x, multiplier, int64_t{1} << 30); }
    Int multiplier;
  };
  // Floor first and half up last is half up: the product shifted by 31, then by the rest, at least 1.
  template <Round kRound>
  struct Stage<StageForm::kHigh, kRound> {
    Stage(const RequantStage& stage, size_t c)
        : multiplier(load(stage.multiplier + c)), rest(Rest(stage.shift + c).shift) {}
    struct Rest {
      explicit Rest(const uint8_t* s) {
        for (size_t i = 0; i < kLanes; ++i) shift[i] = static_cast<uint8_t>(s[i] - 31);
      }
      uint8_t shift[kLanes];
    };
    Int apply(Int x) const { return rest.apply(high_product(x, multiplier, 0)); }
    Int multiplier;
    Shift<Round::kHalfUp> rest;
  };

  template <FloatOrder kOrder, bool kHalfUp>
  struct FloatStage {
    FloatStage(const Requant& r, size_t c)
        : scale(wasm_v128_load(r.scale + c)),
          zero_point(wasm_f32x4_splat(static_cast<float>(r.zero_point))) {}

    Int apply(Int acc) const {
      const Int x = wasm_f32x4_convert_i32x4(acc);
      Int v;
      if constexpr (kOrder == FloatOrder::kFused) {
        v = fused_multiply_add(x, scale, zero_point);
      } else {
        v = wasm_f32x4_mul(x, scale);
        if constexpr (kOrder == FloatOrder::kBefore) v = wasm_f32x4_add(v, zero_point);
      }
      const Int even = wasm_f32x4_nearest(v), integer = wasm_i32x4_trunc_sat_f32x4(even);
      if constexpr (!kHalfUp) return integer;
      // A tie that went down to the even neighbour goes up instead (a true comparison is -1); the
      // difference is exact.
      const Int down = wasm_f32x4_eq(wasm_f32x4_sub(v, even), wasm_f32x4_const_splat(0.5f));
      return wasm_i32x4_sub(integer, down);
    }

    Int scale, zero_point;
  };

  struct Finish {
    Finish(int32_t offset_value, int32_t lo_value, int32_t hi_value)
        : offset(wasm_i16x8_splat(static_cast<int16_t>(offset_value))),
          lo(wasm_u8x16_splat(static_cast<uint8_t>(lo_value))),
          hi(wasm_u8x16_splat(static_cast<uint8_t>(hi_value))) {}

    void store(const int32_t* v, uint8_t* y, size_t n) const {
      const Int w0 = wasm_i16x8_narrow_i32x4(load(v), load(v + 4));
      const Int w1 = wasm_i16x8_narrow_i32x4(load(v + 8), load(v + 12));
      const Int b =
          wasm_u8x16_narrow_i16x8(wasm_i16x8_add_sat(w0, offset), wasm_i16x8_add_sat(w1, offset));
      store_bytes(y, wasm_u8x16_min(wasm_u8x16_max(b, lo), hi), n);
    }

    Int offset, lo, hi;
  };
};

}  // namespace wasm128
}  // namespace QRT_KERNEL_SET
}  // namespace qrt

#endif  // QRT_KERNELS_ISA_REQUANTIZE_WASM128_H_
