// SPDX-License-Identifier: Apache-2.0
// The integer loops of the resize family, which the compiler turns into vectors over the channels:
// included by resize_<isa>.cc, each with its own flags.
#ifndef QRT_KERNELS_RESIZE_INTEGER_LOOPS_H_
#define QRT_KERNELS_RESIZE_INTEGER_LOOPS_H_

#include "kernels/resize/resize.h"

namespace qrt {
namespace {

template <RoundShift20 kRound, class Sum>
inline Sum round_shift(Sum v) {
  constexpr Sum kOne = Sum{1} << 20, kHalf = Sum{1} << 19;
  if (kRound == RoundShift20::kTruncate) return v / kOne;
  if (kRound == RoundShift20::kHalfUp) return (v + kHalf) >> 20;
  return (v + (v > 0 ? kHalf : -kHalf)) / kOne;
}

template <RoundShift20 kRound, class Sum, class T>
void row_int(const ResizeRow<int32_t>& row, int32_t offset, const T* low, const T* high, T* y) {
  constexpr Sum kMin = sizeof(T) == 1 ? 0 : -32768, kMax = sizeof(T) == 1 ? 255 : 32767;
  const size_t n = row.channels;
  for (size_t x = 0; x < row.out_w; ++x, y += n) {
    const size_t lo = static_cast<size_t>(row.low[x]) * n;
    const size_t hi = static_cast<size_t>(row.high[x]) * n;
    const T *a = low + lo, *b = low + hi, *c = high + lo, *d = high + hi;
    const Sum wa = row.low_weight[x] * *row.row_low_weight;
    const Sum wb = row.high_weight[x] * *row.row_low_weight;
    const Sum wc = row.low_weight[x] * *row.row_high_weight;
    const Sum wd = row.high_weight[x] * *row.row_high_weight;
    const Sum base = -(wa + wb + wc + wd) * offset;
    T* __restrict out = y;
    for (size_t i = 0; i < n; ++i) {
      const Sum v =
          round_shift<kRound, Sum>(base + wa * a[i] + wb * b[i] + wc * c[i] + wd * d[i]) + offset;
      out[i] = static_cast<T>(v < kMin ? kMin : v > kMax ? kMax : v);
    }
  }
}

template <class Sum, class T>
void row_rounded(const ResizeRow<int32_t>& row, RoundShift20 round, int32_t offset, const T* low,
                 const T* high, T* y) {
  using R = RoundShift20;
  switch (round) {
    case R::kHalfAway: return row_int<R::kHalfAway, Sum>(row, offset, low, high, y);
    case R::kHalfUp: return row_int<R::kHalfUp, Sum>(row, offset, low, high, y);
    case R::kTruncate: return row_int<R::kTruncate, Sum>(row, offset, low, high, y);
  }
}

void row_u8(const ResizeRow<int32_t>& row, RoundShift20 round, int32_t offset, const uint8_t* low,
            const uint8_t* high, uint8_t* y) {
  row_rounded<int32_t>(row, round, offset, low, high, y);
}

void row_s16(const ResizeRow<int32_t>& row, RoundShift20 round, const int16_t* low,
             const int16_t* high, int16_t* y) {
  row_rounded<int64_t>(row, round, 0, low, high, y);
}

// v / 2^kShift, half to even.
template <int kShift>
inline int32_t round_even(int64_t v) {
  constexpr int64_t kBelowHalf = (int64_t{1} << (kShift - 1)) - 1;
  return static_cast<int32_t>((v + kBelowHalf + (v >> kShift & 1)) >> kShift);
}

void row_fine(const ResizeRow<int32_t>& row, int32_t zero_point, const int16_t* low,
              const int16_t* high, int32_t* y) {
  const size_t n = row.channels;
  for (size_t x = 0; x < row.out_w; ++x, y += n) {
    const size_t lo = static_cast<size_t>(row.low[x]) * n;
    const size_t hi = static_cast<size_t>(row.high[x]) * n;
    const int16_t *a = low + lo, *b = low + hi, *c = high + lo, *d = high + hi;
    const int64_t wa = int64_t{row.low_weight[x]} * *row.row_low_weight;
    const int64_t wb = int64_t{row.high_weight[x]} * *row.row_low_weight;
    const int64_t wc = int64_t{row.low_weight[x]} * *row.row_high_weight;
    const int64_t wd = int64_t{row.high_weight[x]} * *row.row_high_weight;
    const int64_t base = -(wa + wb + wc + wd) * zero_point;
    int32_t* __restrict out = y;
    for (size_t i = 0; i < n; ++i) {
      const int64_t sum = base + wa * a[i] + wb * b[i] + wc * c[i] + wd * d[i];
      out[i] = round_even<26>(sum);
    }
  }
}

void blend_rows(int32_t low_weight, int32_t high_weight, size_t n, const int32_t* high,
                int32_t* y) {
  for (size_t i = 0; i < n; ++i)
    y[i] = round_even<20>(int64_t{low_weight} * y[i] + int64_t{high_weight} * high[i]);
}

}  // namespace
}  // namespace qrt

#endif  // QRT_KERNELS_RESIZE_INTEGER_LOOPS_H_
