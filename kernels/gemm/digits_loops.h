// SPDX-License-Identifier: Apache-2.0
// The loops of every row of digits.inc. For its kernel files only; everything here is local to the
// including file. A row supplies a policy V of 64-bit lanes:
//
//   kLanes, Int
//   load(const int64_t*), widen(const int32_t*)      kLanes values
//   add(a, b), shift_left_8(v), low_half(v)          low_half: the low 32 bits, sign extended
//   clamp(v, lo, hi)
//   Stage<kRound>(stage, channel).apply(v)           ROUND(v * multiplier / 2^shift), not clipped
//   store(int16_t*, v)                               values within int16
#ifndef QRT_KERNELS_GEMM_DIGITS_LOOPS_H_
#define QRT_KERNELS_GEMM_DIGITS_LOOPS_H_

#include "kernels/gemm/digits_entry.h"

namespace qrt {
namespace {

// Columns of lanes; what does not fill one is left to the scalar row.
template <class V, Round kFirst, bool kTwo>
inline void combine_columns(const CombineArgs& p) {
  using Int = typename V::Int;
  const RequantStage &s0 = p.requant.stages[0], &s1 = p.requant.stages[kTwo ? 1 : 0];
  const Int offset = V::set(p.requant.zero_point);
  const size_t whole = p.n / V::kLanes * V::kLanes;
  for (size_t c = 0; c < whole; c += V::kLanes) {
    typename V::template Stage<kFirst> first;
    typename V::template Stage<Round::kHalfAway> second;
    first.set(s0, p.channel + c);
    if constexpr (kTwo) second.set(s1, p.channel + c);
    const Int bias = V::load(p.bias + p.channel + c);
    int16_t* y = p.y + c;
    for (size_t i = 0; i < p.rows; ++i, y += p.y_stride) {
      const auto sum = [&](size_t digit) {
        const size_t at = digit * p.digit_stride + i * p.stride + c;
        const Int low = V::widen(p.low + at);
        return p.high ? V::add(low, V::shift_left_8(V::widen(p.high + at))) : low;
      };
      Int v = V::add(sum(0), bias);
      if (p.digits > 1) {
        Int upper = sum(1);
        if (p.digits > 2) upper = V::add(upper, sum(2));
        v = V::add(v, V::shift_left_8(upper));
      }
      if (p.is_narrow) v = V::low_half(v);
      v = V::clamp(first.apply(v), s0.clip_lo, s0.clip_hi);
      if constexpr (kTwo) v = V::clamp(second.apply(v), s1.clip_lo, s1.clip_hi);
      V::store(y, V::clamp(V::add(v, offset), p.requant.lo, p.requant.hi));
    }
  }
  if (whole == p.n) return;
  CombineArgs rest = p;
  rest.high = p.high ? p.high + whole : nullptr;
  rest.low += whole;
  rest.n -= whole;
  rest.channel += whole;
  rest.y += whole;
  digits_combine_scalar(rest);
}

template <class V, Round kFirst>
inline void combine_stages(const CombineArgs& p) {
  if (p.requant.stage_count == 1)
    combine_columns<V, kFirst, false>(p);
  else
    combine_columns<V, kFirst, true>(p);
}

// Combines the digits' sums: in vectors with one stage, half up or half to even, or half up and
// then half away (TFLite's double rounding); everything else by the scalar row.
template <class V>
inline void combine(const CombineArgs& p) {
  const RequantStage* s = p.requant.stages;
  const bool has_form = p.requant.stage_count == 1 ||
                        (s[0].round == Round::kHalfUp && s[1].round == Round::kHalfAway);
  if (has_form && s[0].round == Round::kHalfUp) return combine_stages<V, Round::kHalfUp>(p);
  if (has_form && s[0].round == Round::kHalfEven) return combine_stages<V, Round::kHalfEven>(p);
  digits_combine_scalar(p);
}

inline void split(const int16_t* x, size_t n, uint8_t* high, uint8_t* low) {
  for (size_t i = 0; i < n; ++i) {
    const uint16_t v = static_cast<uint16_t>(x[i]);
    high[i] = static_cast<uint8_t>((v >> 8) ^ 128);
    low[i] = static_cast<uint8_t>(v);
  }
}

}  // namespace
}  // namespace qrt

#endif  // QRT_KERNELS_GEMM_DIGITS_LOOPS_H_
