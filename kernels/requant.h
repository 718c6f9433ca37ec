// SPDX-License-Identifier: Apache-2.0
// The normative definition of every requantisation, in integers only (kernels/soft_float.h). A SIMD
// kernel may use float instructions where they give the same bytes; the tests compare with ==.
// Nothing here depends on the floating-point environment. Formulas: schema/qrt_model.fbs, tables
// Requant, AddOptions.
#ifndef QRT_KERNELS_REQUANT_H_
#define QRT_KERNELS_REQUANT_H_

#include <cstddef>
#include <cstdint>

#include "kernels/integer_only.h"
#include "kernels/soft_float.h"

namespace qrt {

// Values as in schema/qrt_model.fbs, but for kFloat, which no file names: float32 results of a layer
// whose scales are known only in a run, y = fl32(fl32(f(acc) * scale) + addend).
enum class Round : uint8_t { kHalfEven = 0, kHalfUp = 1, kHalfAway = 2, kFloor = 3 };
enum class RequantKind : uint8_t { kAcc = 0, kF32 = 1, kInt = 2, kFloat = 3 };

constexpr int kMaxStages = 2;

// v = ROUND(v * multiplier / 2^shift), then clip.
struct RequantStage {
  const int32_t* multiplier;  // >= 0, per channel, readable as Requant::scale
  const uint8_t* shift;       // 0..62, per channel
  Round round;
  int32_t clip_lo, clip_hi;
};

// Ready for kernels: per-channel arrays hold one value for every output channel (a per-tensor value
// is repeated), up to a multiple of 16 channels (the last one's are repeated), and 64 channels can be
// read from any multiple of 16 on. Immutable; may be shared between threads.
struct Requant {
  RequantKind kind;
  Round round;             // kF32: kHalfEven or kHalfUp
  bool zero_point_before;  // kF32
  bool fused;              // kF32 with zero_point_before
  int32_t zero_point;      // within the output's type (kF32: bytes of either sign)
  int32_t offset;          // kF32 with zero_point_before: 0 or 128
  int32_t lo, hi;          // lo <= hi, within the output's type: uint8, with kInt int16 and int32
  const float* scale;      // kF32, per channel; normal, positive. kFloat: any
  int32_t stage_count;     // kInt: 1..kMaxStages
  RequantStage stages[kMaxStages];
  // kInt: the affine fit of every channel, see affine/affine.h; or null.
  const float* slope = nullptr;
  const float* intercept = nullptr;
  const float* addend = nullptr;  // kFloat, per channel; null: nothing is added

  // Returns the requantisation of the channels from c on (c a multiple of 16).
  Requant at(size_t c) const {
    Requant r = *this;
    if (r.scale) r.scale += c;
    if (r.slope) r.slope += c, r.intercept += c;
    if (r.addend) r.addend += c;
    for (int i = 0; i < stage_count; ++i) {
      r.stages[i].multiplier += c;
      r.stages[i].shift += c;
    }
    return r;
  }
};

inline int64_t clamp_int(int64_t v, int64_t lo, int64_t hi) {
  return v < lo ? lo : v > hi ? hi : v;
}

// Returns v / 2^s rounded; 0 <= s <= 62. The sum may not overflow: |v| < 2^63 - 2^61.
inline int64_t rounding_shift(int64_t v, int s, Round round) {
  if (s == 0) return v;
  const int64_t half = int64_t{1} << (s - 1);
  switch (round) {
    case Round::kHalfUp: return (v + half) >> s;
    case Round::kHalfAway: return (v + half - (v < 0 ? 1 : 0)) >> s;
    case Round::kHalfEven: return soft::shift_half_even(v, s);
    case Round::kFloor: break;
  }
  return v >> s;
}

// Returns the value after `count` stages. Results are within int32; |v * multiplier| of the first
// stage is below 2^62, which holds where v is within int32.
inline int64_t apply_stages(const RequantStage* stages, int32_t count, int64_t v, size_t c) {
  for (int i = 0; i < count; ++i) {
    const RequantStage& s = stages[i];
    v = rounding_shift(v * s.multiplier[c], s.shift[c], s.round);
    v = clamp_int(v, s.clip_lo, s.clip_hi);
  }
  return v;
}

// Returns a bound of a stage's results where |v| <= bound <= 2^31, of channel 0.
static inline int64_t bound_of_stage(const RequantStage& s, int64_t bound) {
  const int64_t below = (int64_t{1} << s.shift[0]) - 1;
  const int64_t result = (bound * s.multiplier[0] + below) >> s.shift[0];
  const int64_t low = -int64_t{s.clip_lo}, high = s.clip_hi;
  const int64_t clip = low > high ? low : high;
  return result < clip ? result : clip;
}

// Returns whether fixed-point kernels may serve it: one rounding, half up, or TFLite's two, half up
// and then half away, and nothing clipped between. TFLite's first stage shifts each channel by 31
// and the second multiplies by 1, which the caller has to check.
static inline bool is_fixed_point(const Requant& r) {
  if (r.kind != RequantKind::kInt) return false;
  for (int i = 0; i < r.stage_count; ++i) {
    const RequantStage& s = r.stages[i];
    if (s.round != (i == 0 ? Round::kHalfUp : Round::kHalfAway)) return false;
    if (s.clip_lo != INT32_MIN || s.clip_hi != INT32_MAX) return false;
  }
  return true;
}

// Returns the output for accumulator `acc` of output channel `c`; kinds kF32 and kInt. In [lo, hi].
inline int32_t requantize(const Requant& r, int32_t acc, size_t c) {
  if (r.kind == RequantKind::kInt) {
    const int64_t v = apply_stages(r.stages, r.stage_count, acc, c);
    return static_cast<int32_t>(clamp_int(v + r.zero_point, r.lo, r.hi));
  }
  const soft::Bits a = soft::from_int(acc), scale = soft::bits_of(r.scale[c]);
  if (!r.zero_point_before) {
    // Clamping in float before rounding, as the formula has it, gives the same: the limits are
    // integers.
    const int64_t v = soft::to_int(soft::mul(a, scale), r.round == Round::kHalfUp);
    return static_cast<int32_t>(clamp_int(v + r.zero_point, r.lo, r.hi));
  }
  const soft::Bits zp = soft::from_int(r.zero_point);
  const soft::Bits v = r.fused ? soft::fma(a, scale, zp) : soft::add(soft::mul(a, scale), zp);
  if ((v & 0x7fffffff) == soft::kInfinity) return v >> 31 ? r.lo : r.hi;
  return static_cast<int32_t>(
      clamp_int(soft::to_int(v, r.round == Round::kHalfUp) + r.offset, r.lo, r.hi));
}

// Elementwise add in float arithmetic (EW_F32). a, b: stored bytes. Parameters are checked at load:
// 255 * (|a_scale| + |b_scale|) + |constant| < 2^31, all finite.
struct AddParams {
  float a_scale, b_scale, constant;
  bool multiply_add;           // F32_MUL_ADD, else F32_FMA
  bool a_is_inner;             // F32_FMA
  int32_t a_offset, b_offset;  // 0 or -128
  int32_t output_offset;       // 0 or 128
  int32_t lo, hi;
};

inline int32_t add_f32(const AddParams& p, uint8_t a, uint8_t b) {
  const soft::Bits x = soft::from_int(a + p.a_offset), y = soft::from_int(b + p.b_offset);
  const soft::Bits rx = soft::bits_of(p.a_scale), ry = soft::bits_of(p.b_scale),
                   f = soft::bits_of(p.constant);
  soft::Bits v;
  if (p.multiply_add) {
    v = soft::add(soft::add(f, soft::mul(x, rx)), soft::mul(y, ry));
  } else if (p.a_is_inner) {
    v = soft::fma(y, ry, soft::fma(x, rx, f));
  } else {
    v = soft::fma(x, rx, soft::fma(y, ry, f));
  }
  return static_cast<int32_t>(clamp_int(soft::to_int(v) + p.output_offset, p.lo, p.hi));
}

// Elementwise add in integers (EW_INT), of bytes or int16. A bound of each operand's term, and of
// their sum, is checked at load: schema/qrt_model.fbs, AddOptions.
struct AddIntParams {
  int32_t a_zero_point, b_zero_point;  // within the operands' type
  int32_t left_shift;                  // 0..23
  bool subtract;
  int32_t a_stage_count, b_stage_count;                     // 0..kMaxStages
  RequantStage a_stages[kMaxStages], b_stages[kMaxStages];  // entry 0 serves all channels
  Requant requant;                                          // kInt; channel 0
};

inline int32_t add_int(const AddIntParams& p, int32_t a, int32_t b) {
  const int64_t scale = int64_t{1} << p.left_shift;
  const int64_t x = apply_stages(p.a_stages, p.a_stage_count, (a - p.a_zero_point) * scale, 0);
  const int64_t y = apply_stages(p.b_stages, p.b_stage_count, (b - p.b_zero_point) * scale, 0);
  return requantize(p.requant, static_cast<int32_t>(p.subtract ? x - y : x + y), 0);
}

// Operator Requantize: of channel 0 but for the slopes. The bounds are checked at load.
struct RescaleParams {
  int64_t bound;       // |x - zero_point| is at most this, up to 2^31
  int32_t zero_point;  // 0 for int32 inputs
  Requant requant;     // kInt; limits of the output's type
  bool has_negative;   // stages of their own below the zero point
  bool negate_negative;
  int32_t negative_count;
  RequantStage negative[kMaxStages];
  const int16_t* slopes;  // one for every channel; null: all are 1
};

inline int32_t rescale(const RescaleParams& p, int32_t x, size_t c) {
  int64_t v = int64_t{x} - p.zero_point;
  if (v >= 0 || !p.has_negative) {
    v = apply_stages(p.requant.stages, p.requant.stage_count, v, 0);
  } else {
    v = apply_stages(p.negative, p.negative_count, p.slopes ? v * p.slopes[c] : v, 0);
    if (p.negate_negative) v = -v;
  }
  return static_cast<int32_t>(clamp_int(v + p.requant.zero_point, p.requant.lo, p.requant.hi));
}

}  // namespace qrt

#endif  // QRT_KERNELS_REQUANT_H_
