// SPDX-License-Identifier: Apache-2.0
// Elementwise for simd128, which has no fused multiply-add and no product of 64 bits. Sums of bytes are made in
// float32, 64 at a time, and rounded to the nearest integers. Where one is so near a tie that the roundings of
// float32, or those of the definition before its last one, may have moved it to the other side, the 64 sums are made
// anew by the definition's own operations.
#include "kernels/elementwise/elementwise_vectors.h"
#include "kernels/isa/requantize_wasm128.h"
#include "kernels/isa/vec_wasm128.h"
#include "kernels/stage_factor.h"

namespace qrt {
namespace {

using wasm128::Lanes;
using wasm128::Vec;

// y = clamp(nearest(s) + offset, lo, hi), s = a * a_scale + b * b_scale + constant, of stored bytes. `error` is how far
// the number that the definition rounds may be from s.
struct RealSum {
  double a_scale, b_scale, constant, error;
  int32_t offset, lo, hi;
};

double magnitude(double v) { return v < 0 ? -v : v; }

class FloatSum {
 public:
  explicit FloatSum(const RealSum& s)
      : a_scale_(wasm_f32x4_splat(static_cast<float>(s.a_scale))),
        b_scale_(wasm_f32x4_splat(static_cast<float>(s.b_scale))),
        constant_(wasm_f32x4_splat(static_cast<float>(s.constant))),
        offset_(Vec::splat16(s.offset)),
        lo_(Vec::splat8(s.lo)),
        hi_(Vec::splat8(s.hi)) {
    const double greatest =
        255 * (magnitude(s.a_scale) + magnitude(s.b_scale)) + magnitude(s.constant);
    // Seven roundings, of which six are each of at most 2^-24 of the greatest value: the constants, the products, the
    // sums, and the limit itself.
    const double error = s.error + 0x1p-21 * (greatest + 1);
    is_usable_ = !kIntegerOnly && greatest < 0x1p20 && error < 0.25;
    least_far_ = wasm_f32x4_splat(static_cast<float>(0.5 - error));
  }

  bool is_usable() const { return is_usable_; }

  // Makes kBlock outputs; returns false, and leaves y as it is, where a sum is near a tie.
  __attribute__((noinline)) bool make(const uint8_t* a, const uint8_t* b, uint8_t* y) const {
    v128_t outputs[kBlock / 16], farthest = wasm_f32x4_const_splat(0);
    QRT_UNROLL
    for (size_t i = 0; i < kBlock / 16; ++i)
      outputs[i] = sixteen(a + 16 * i, b + 16 * i, &farthest);
    if (wasm_v128_any_true(wasm_f32x4_ge(farthest, least_far_))) return false;
    QRT_UNROLL
    for (size_t i = 0; i < kBlock / 16; ++i) wasm_v128_store(y + 16 * i, outputs[i]);
    return true;
  }

 private:
  static constexpr float kMagic =
      12582912;  // 2^23 + 2^22: sums with it are integers, and so are their last bits
  static constexpr int32_t kMagicBits = 0x4b400000;

  // Returns 16 outputs; *farthest: the greatest distances of sums from integers so far.
  __attribute__((always_inline)) v128_t sixteen(const uint8_t* a, const uint8_t* b,
                                                v128_t* farthest) const {
    Vec::Float x1[4], x2[4];
    Vec::to_floats<false>(a, x1);
    Vec::to_floats<false>(b, x2);
    const v128_t magic = wasm_f32x4_const_splat(kMagic);
    v128_t v[4];
    QRT_UNROLL
    for (int i = 0; i < 4; ++i) {
      const v128_t first =
          wasm_f32x4_add(wasm_f32x4_mul(reinterpret_cast<v128_t>(x1[i]), a_scale_), constant_);
      const v128_t sum =
          wasm_f32x4_add(first, wasm_f32x4_mul(reinterpret_cast<v128_t>(x2[i]), b_scale_));
      const v128_t rounded = wasm_f32x4_add(sum, magic);
      const v128_t distance = wasm_f32x4_abs(wasm_f32x4_sub(sum, wasm_f32x4_sub(rounded, magic)));
      *farthest = wasm_f32x4_pmax(*farthest, distance);
      v[i] = wasm_i32x4_sub(rounded, wasm_i32x4_const_splat(kMagicBits));
    }
    return to_bytes<Vec>(v[0], v[1], v[2], v[3], offset_, lo_, hi_);
  }

  v128_t a_scale_, b_scale_, constant_, least_far_, offset_, lo_, hi_;
  bool is_usable_;
};

template <bool kFma, bool kFirstSigned, bool kSecondSigned>
struct Sum : Blocks<Vec>::Sum<kFma, kFirstSigned, kSecondSigned> {
  using Exact = Blocks<Vec>::Sum<kFma, kFirstSigned, kSecondSigned>;

  explicit Sum(const SumConstants& c) : Exact(c), fast(real(c)) {}

  static RealSum real(const SumConstants& c) {
    const double first = static_cast<double>(c.first_scale),
                 second = static_cast<double>(c.second_scale);
    const double constant = static_cast<double>(c.constant);
    // Three roundings, each of at most 2^-24 of the greatest value.
    const double error =
        0x1p-22 * (256 * (magnitude(first) + magnitude(second)) + magnitude(constant));
    return {first,
            second,
            constant - (kFirstSigned ? 128 * first : 0) - (kSecondSigned ? 128 * second : 0),
            error,
            c.offset,
            c.lo,
            c.hi};
  }

  void whole(const uint8_t* a, const uint8_t* b, uint8_t* y) const {
    if (!fast.is_usable() || !fast.make(a, b, y)) Exact::whole(a, b, y);
  }

  FloatSum fast;
};

// A sum by integer stages.
struct IntegerSum : OfRegisters<Vec, IntegerSum> {
  explicit IntegerSum(const AddIntParams& p) : params(p), stages(p), fast(real(p)) {}

  // A term on its way through stages: its factor, how far roundings have taken it from the real number, and its greatest
  // magnitude, as long as nothing is clipped.
  struct Term {
    double factor, error, greatest;
    bool is_clipped = false;

    void apply(const RequantStage* stages, int32_t count) {
      for (int32_t i = 0; i < count; ++i) {
        const double f = factor_of_stages(&stages[i], 1);
        factor *= f;
        error = error * f + 1;
        greatest = greatest * f + 1;
        if (stages[i].clip_lo != INT32_MIN || stages[i].clip_hi != INT32_MAX) is_clipped = true;
        if (greatest >= 0x1p31) is_clipped = true;
      }
    }
  };

  static RealSum real(const AddIntParams& p) {
    const Requant& r = p.requant;
    const double one = static_cast<double>(int64_t{1} << p.left_shift);
    Term a = {one, 0, 255 * one}, b = a;
    a.apply(p.a_stages, p.a_stage_count);
    b.apply(p.b_stages, p.b_stage_count);
    Term sum = {1, a.error + b.error, a.greatest + b.greatest};
    sum.is_clipped = a.is_clipped || b.is_clipped || sum.greatest >= 0x1p31;
    // The rounding of the last stage is what others are errors for, and its limits are beyond those of bytes.
    double last = 1;
    bool is_nearest = true;
    if (r.stage_count > 0) {
      sum.apply(r.stages, r.stage_count - 1);
      const RequantStage& s = r.stages[r.stage_count - 1];
      last = factor_of_stages(&s, 1);
      is_nearest = s.round != Round::kFloor && s.clip_lo == INT32_MIN && s.clip_hi == INT32_MAX;
    }
    const double unit = sum.factor * last;
    const double a_scale = a.factor * unit,
                 b_scale = p.subtract ? -b.factor * unit : b.factor * unit;
    return {a_scale,
            b_scale,
            -a_scale * p.a_zero_point - b_scale * p.b_zero_point,
            is_nearest && !sum.is_clipped ? sum.error * last : 1,
            r.zero_point,
            r.lo,
            r.hi};
  }

  void whole(const uint8_t* a, const uint8_t* b, uint8_t* y) const {
    if (!fast.make(a, b, y)) add_in_blocks<Lanes>(params, stages, {a, b, false, false, y, kBlock});
  }

  const AddIntParams& params;
  const AddStages stages;
  FloatSum fast;
};

}  // namespace

void elementwise_add_wasm128(const AddParams& params, const ElementwiseArgs& run) {
  add<Sum>(params, run);
}

void elementwise_add_int_wasm128(const AddIntParams& params, const ElementwiseArgs& run) {
  const IntegerSum sum(params);
  if (!sum.fast.is_usable()) return add_in_blocks<Lanes>(params, sum.stages, run);
  walk(sum, Operand(run.a, run.a_is_scalar), Operand(run.b, run.b_is_scalar), run.y, run.n);
}

void elementwise_mul_wasm128(const MulParams& params, const ElementwiseArgs& run) {
  mul<Blocks<Vec>::Product, Lanes>(params, run);
}

void elementwise_add_int16_wasm128(const AddIntParams& params, const Int16Args& run) {
  add_int16_in_blocks<Lanes>(params, run);
}

void elementwise_mul_int16_wasm128(const MulParams& params, const Int16Args& run) {
  mul_int16_in_blocks<Lanes>(params, run);
}

void elementwise_rescale_wasm128(const RescaleParams& params, const RescaleArgs& run) {
  rescale_in_blocks<Lanes>(params, run);
}

}  // namespace qrt
