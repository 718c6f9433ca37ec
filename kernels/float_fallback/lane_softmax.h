// SPDX-License-Identifier: Apache-2.0
// Softmax whose sums are those of 16 lanes (FloatKernel::lane_softmax). For kernel files
// only: everything has internal linkage.
#ifndef QRT_KERNELS_FLOAT_FALLBACK_LANE_SOFTMAX_H_
#define QRT_KERNELS_FLOAT_FALLBACK_LANE_SOFTMAX_H_

#include "kernels/float_fallback/float_fallback.h"
#include "kernels/float_fallback/lanes.h"

namespace qrt {
namespace {

// The lanes of a sum, whatever a register holds.
constexpr size_t kSumLanes = 16, kSumParts = kSumLanes / kLanes;

constexpr auto kSumOf = [](auto a, auto b) QRT_INLINE_LAMBDA { return a + b; };
// b where one is NaN.
constexpr auto kGreaterOf = [](auto a, auto b) QRT_INLINE_LAMBDA { return a > b ? a : b; };
constexpr auto kLesserOf = [](auto a, auto b) QRT_INLINE_LAMBDA { return a < b ? a : b; };

// Returns 2^64 e^(x + rest) for x <= 0, at least -104, and a rest that is little beside it: nothing is subnormal then. A NaN
// stays one. The polynomial is within 2^-27 of e^r on its interval.
template <class... Rest>
QRT_INLINE Floats large_exp_of(Floats given, Rest... rest) {
  const Floats x = kGreaterOf(all(-104.0f), given);
  // x = n ln 2 + r, |r| <= ln 2 / 2. Adding 1.5 * 2^23 rounds to an integer, which the lowest bits hold.
  const float magic = 12582912.0f;
  const Floats sum = fused_lanes(x, all(1.44269504088896341f), all(magic));
  const Floats n = sum - magic;
  Floats r = fused_lanes(n, all(-0.693359375f), x);
  r = (fused_lanes(n, all(2.12194440e-4f), r) + ... + rest);
  Floats p = all(1.3814467e-3f);
  p = fused_lanes(p, r, all(8.368781e-3f));
  p = fused_lanes(p, r, all(4.1668393e-2f));
  p = fused_lanes(p, r, all(1.6666520e-1f));
  p = fused_lanes(p, r, all(4.9999994e-1f));
  p = fused_lanes(p, r, all(1.0f));
  p = fused_lanes(p, r, all(1.0f));
  Ints bits;
  __builtin_memcpy(&bits, &sum, sizeof bits);
  return p * reinterpreted((bits << 23) + ((64 + 127) << 23));
}

typedef float Four __attribute__((vector_size(16)));

// Combines kSumLanes lanes by f: lane i with lane i + 8, then i + 4, i + 2 and i + 1.
template <class F>
QRT_INLINE float reduced(const Floats (&parts)[kSumParts], const F& f) {
  Four fours[4];
  __builtin_memcpy(fours, parts, sizeof fours);
  const Four all_four = f(f(fours[0], fours[2]), f(fours[1], fours[3]));
  float lane[4];
  __builtin_memcpy(lane, &all_four, sizeof lane);
  const Four low = {lane[0], lane[1], 0, 0}, high = {lane[2], lane[3], 0, 0};
  const Four two = f(low, high), second = {two[1], 0, 0, 0};
  return f(two, second)[0];
}

// Returns the greatest of a row without NaN; of one with NaN any number or NaN.
QRT_INLINE float greatest_of_numbers(const float* x, size_t n) {
  float most = x[0];
  if (n < kSumLanes) {
    for (size_t i = 1; i < n; ++i) most = most > x[i] ? most : x[i];
    return most;
  }
  // Four times as many lanes, so that few comparisons wait for each other.
  Floats parts[kSumParts], more[3 * kSumParts];
  const auto compare = [&](size_t i, Floats* into, size_t count) QRT_INLINE_LAMBDA {
    QRT_UNROLL
    for (size_t q = 0; q < count; ++q) into[q] = kGreaterOf(load(x + i + q * kLanes), into[q]);
  };
  QRT_UNROLL
  for (size_t q = 0; q < kSumParts; ++q) parts[q] = load(x + q * kLanes);
  size_t i = kSumLanes;
  if (i + 4 * kSumLanes <= n) {
    QRT_UNROLL
    for (size_t q = 0; q < 3 * kSumParts; ++q) more[q] = parts[q % kSumParts];
    for (; i + 4 * kSumLanes <= n; i += 4 * kSumLanes) {
      compare(i, parts, kSumParts);
      compare(i + kSumLanes, more, 3 * kSumParts);
    }
    QRT_UNROLL
    for (size_t q = 0; q < 3 * kSumParts; ++q)
      parts[q % kSumParts] = kGreaterOf(more[q], parts[q % kSumParts]);
  }
  for (; i < n; i += kSumLanes)  // the last ones once more
    compare(i + kSumLanes <= n ? i : n - kSumLanes, parts, kSumParts);
  return reduced(parts, kGreaterOf);
}

// Returns large_exp_of(x), but 0 for x <= -104. Divided by a sum of at least 2^64 either is 0, but the other on the way through a
// subnormal number, which takes a CPU a hundred cycles: masks make many such.
QRT_INLINE Floats large_exp_or_zero(Floats x) {
  const Floats e = large_exp_of(x);
  return x <= -104.0f ? all(0.0f) : e;
}

// Writes the exponentials of a row and returns their sum. Scaling keeps the order, and so the greatest element.
template <class Scale>
QRT_INLINE float large_exps(const float* x, float* y, size_t n, const Scale& scale) {
  const Floats most = scale(all(greatest_of_numbers(x, n)));
  Floats sums[kSumParts] = {};
  size_t i = 0;
  for (; i + kSumLanes <= n; i += kSumLanes) {
    QRT_UNROLL
    for (size_t q = 0; q < kSumParts; ++q) {
      const Floats e = large_exp_or_zero(scale(load(x + i + q * kLanes)) - most);
      save(y + i + q * kLanes, e);
      sums[q] = sums[q] + e;
    }
  }
  if (const size_t left = n - i; left > 0) {
    float lanes[kSumLanes] = {};
    __builtin_memcpy(lanes, x + i, left * sizeof(float));
    QRT_UNROLL
    for (size_t q = 0; q < kSumParts; ++q)
      save(lanes + q * kLanes, large_exp_or_zero(scale(load(lanes + q * kLanes)) - most));
    for (size_t j = left; j < kSumLanes; ++j) lanes[j] = 0;
    __builtin_memcpy(y + i, lanes, left * sizeof(float));
    QRT_UNROLL
    for (size_t q = 0; q < kSumParts; ++q) sums[q] = sums[q] + load(lanes + q * kLanes);
  }
  return reduced(sums, kSumOf);
}

// Divides a row by its sum.
QRT_INLINE void divide_by_sum(float sum, float* y, size_t n) {
  if (!(sum == sum)) {
    for (size_t i = 0; i < n; ++i) y[i] = not_a_number();
    return;
  }
  const Floats all_of_row = all(sum), inverse = all(1.0f / sum);
  const auto quotient = [&](Floats e) QRT_INLINE_LAMBDA {
    const Floats q = e * inverse;
    return fused_lanes(fused_lanes(-q, all_of_row, e), inverse, q);
  };
  size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) save(y + i, quotient(load(y + i)));
  if (i == n) return;
  float part[kLanes] = {};
  __builtin_memcpy(part, y + i, (n - i) * sizeof(float));
  save(part, quotient(load(part)));
  __builtin_memcpy(y + i, part, (n - i) * sizeof(float));
}

// Computes some rows at a time, so that each waits for the arithmetic of the others instead of its own.
template <class Scale>
QRT_INLINE void some_rows(const LaneSoftmax& p, const float* x, size_t rows, float* y,
                          const Scale& scale) {
  constexpr size_t kSome = 8;
  float sums[kSome];
  for (size_t begin = 0; begin < rows;
       begin += kSome, x += kSome * p.stride, y += kSome * p.stride) {
    const size_t some = rows - begin < kSome ? rows - begin : kSome;
    for (size_t r = 0; r < some; ++r)
      sums[r] = large_exps(x + r * p.stride, y + r * p.stride, p.n, scale);
    for (size_t r = 0; r < some; ++r) divide_by_sum(sums[r], y + r * p.stride, p.n);
  }
}

inline void lane_softmax(const LaneSoftmax& p, const float* x, size_t rows, float* y) {
  const Floats by = all(p.scale);
  if (p.scale == 1.0f)
    some_rows(p, x, rows, y, [](Floats v) QRT_INLINE_LAMBDA { return v; });
  else if (p.scaling == FloatBinary::kDiv)
    some_rows(p, x, rows, y, [&](Floats v) QRT_INLINE_LAMBDA { return v / by; });
  else
    some_rows(p, x, rows, y, [&](Floats v) QRT_INLINE_LAMBDA { return v * by; });
}

}  // namespace
}  // namespace qrt

#endif  // QRT_KERNELS_FLOAT_FALLBACK_LANE_SOFTMAX_H_
