// requantize() of requant.h over an array, for the kinds that are not done in the accumulators'
// registers. Integer stages come from the kernel's policy; the other float orders are plain loops
// without branches, in which float instructions stand for the single IEEE operations of
// soft_float.h.
#ifndef QRT_KERNELS_DEPTHWISE_REQUANTIZE_LANES_H_
#define QRT_KERNELS_DEPTHWISE_REQUANTIZE_LANES_H_

#include <string.h>

#include <cstddef>
#include <cstdint>

#include "kernels/requant.h"

namespace qrt {
namespace {

// kN channels from c on, in place.
template <class V, Round kRound, size_t kN>
__attribute__((noinline)) void requantize_stage(const RequantStage& stage, size_t c, int32_t* v) {
  for (size_t i = 0; i < kN; i += V::kStageLanes)
    V::template round_stage<kRound>(v + i, stage.multiplier + c + i, stage.shift + c + i,
                                    stage.clip_lo, stage.clip_hi);
}

template <class V, size_t kN>
void requantize_int(const Requant& r, size_t c, int32_t* v) {
  for (int i = 0; i < r.stage_count; ++i) {
    const RequantStage& s = r.stages[i];
    switch (s.round) {
      case Round::kHalfEven: requantize_stage<V, Round::kHalfEven, kN>(s, c, v); break;
      case Round::kHalfUp: requantize_stage<V, Round::kHalfUp, kN>(s, c, v); break;
      case Round::kHalfAway: requantize_stage<V, Round::kHalfAway, kN>(s, c, v); break;
      case Round::kFloor: requantize_stage<V, Round::kFloor, kN>(s, c, v); break;
    }
  }
  // In two steps, so that no sum leaves int32: limit - zero_point is small.
  const int32_t zero_point = r.zero_point, lo = r.lo - zero_point, hi = r.hi - zero_point;
  for (size_t i = 0; i < kN; ++i) {
    int32_t x = v[i];
    x = x < lo ? lo : x;
    x = x > hi ? hi : x;
    v[i] = x + zero_point;
  }
}

template <bool kBefore, bool kFused, size_t kN>
__attribute__((noinline)) void requantize_float(const Requant& r, size_t c, int32_t* v) {
  const float* scale = r.scale + c;
  const float zero_point = static_cast<float>(r.zero_point);
  const bool half_up = r.round == Round::kHalfUp;
  const int32_t offset = kBefore ? r.offset : r.zero_point;
  // Far beyond every limit, and exact: what is clamped here is clamped to lo or hi below.
  constexpr float kFar = 65536.0f;
  for (size_t i = 0; i < kN; ++i) {
    const float acc = static_cast<float>(v[i]);
    float x = kFused ? __builtin_fmaf(acc, scale[i], zero_point) : acc * scale[i];
    if (kBefore && !kFused) x = x + zero_point;
    x = x < -kFar ? -kFar : x;
    x = x > kFar ? kFar : x;
    float even = __builtin_rintf(x);
    // A tie that went down; the difference is exact.
    even += half_up && x - even == 0.5f ? 1.0f : 0.0f;
    int32_t y = static_cast<int32_t>(even) + offset;
    y = y < r.lo ? r.lo : y;
    y = y > r.hi ? r.hi : y;
    v[i] = y;
  }
}

// output[i] = requantize(r, v[i], c + i) for i < n <= kN; v is overwritten. c + kN channels are
// within the next multiple of 64.
template <class V, size_t kN>
__attribute__((noinline)) void requantize_lanes(const Requant& r, int32_t* v, size_t c, size_t n,
                                                uint8_t* output) {
  if (r.kind == RequantKind::kInt)
    requantize_int<V, kN>(r, c, v);
  else if (!r.zero_point_before)
    requantize_float<false, false, kN>(r, c, v);
  else if (r.fused)
    requantize_float<true, true, kN>(r, c, v);
  else
    requantize_float<true, false, kN>(r, c, v);
  uint8_t bytes[kN];
  for (size_t i = 0; i < kN; ++i) bytes[i] = static_cast<uint8_t>(v[i]);
  if (n == kN) {
    memcpy(output, bytes, kN);
    return;
  }
  for (size_t i = 0; i < n; ++i) output[i] = bytes[i];
}

}  // namespace
}  // namespace qrt

#endif  // QRT_KERNELS_DEPTHWISE_REQUANTIZE_LANES_H_
