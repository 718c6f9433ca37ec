// SPDX-License-Identifier: Apache-2.0
// The kernels of lines.h, written once for all instruction sets over a policy:
//
//   kBytes                          of a register
//   kRows                           of so many at a time
//   Constants<kLines>(block, i)     the lines from i, of kBytes elements
//   map(constants, x, stride, v)    x[0..kBytes) of v's rows, as registers
//   limit(block, i, v), correct(block, j, i, x, stride, v)   to lo..hi; where x is at[j]
//   store(y, v), store_partial(y, v, n)   n < kBytes bytes
#ifndef QRT_KERNELS_LUT_LINES_LOOPS_H_
#define QRT_KERNELS_LUT_LINES_LOOPS_H_

#include "kernels/isa/inline.h"
#include "kernels/lut/lines_entry.h"

namespace qrt {
namespace {

enum class Lines { kOne, kTwo, kSigned };

// Maps elements [first, first + n), n <= kBytes, of kRows periods.
template <class Set, size_t kRows, class Constants>
QRT_INLINE void map_some(const Constants& lines, const LineBlock& block, size_t i, const uint8_t* x,
                         uint8_t* y, size_t stride, size_t n) {
  typename Set::Bytes v[kRows];
  Set::map(lines, x, stride, v);
  if (block.is_limited) Set::limit(block, i, v);
  QRT_UNROLL
  for (size_t j = 0; j < 2; ++j)
    if (j < block.corrections) Set::correct(block, j, i, x, stride, v);
  QRT_UNROLL
  for (size_t r = 0; r < kRows; ++r) {
    if (n < Set::kBytes)
      Set::store_partial(y + r * stride, v[r], n);
    else
      Set::store(y + r * stride, v[r]);
  }
}

// Maps the first n elements of several periods.
template <class Set, Lines kLines>
inline void map_periods(const LineConstants& constants, const uint8_t* x, uint8_t* y, size_t n,
                        size_t periods) {
  const size_t stride = constants.period;
  for (size_t at = 0; at < n; at += Set::kBytes) {
    const LineBlock& block = constants.blocks[at / kLinesBlock];
    const size_t i = at % kLinesBlock, these = n - at < Set::kBytes ? n - at : Set::kBytes;
    const typename Set::template Constants<kLines> lines(block, i);
    size_t r = 0;
    for (; r + Set::kRows <= periods; r += Set::kRows)
      map_some<Set, Set::kRows>(lines, block, i, x + r * stride + at, y + r * stride + at, stride,
                                these);
    for (; Set::kRows > 1 && r < periods; ++r)
      map_some<Set, 1>(lines, block, i, x + r * stride + at, y + r * stride + at, stride, these);
  }
}

// Maps by strips of periods that stay in the first-level cache: a block of constants is loaded once
// for each.
template <class Set, Lines kLines>
inline void map_lines(const LineConstants& constants, const uint8_t* x, uint8_t* y, size_t n) {
  constexpr size_t kStrip = 8192;  // bytes
  const size_t period = constants.period, most = kStrip > period ? kStrip / period : 1;
  size_t periods = n / period;
  while (periods > 0) {
    const size_t these = periods < most ? periods : most;
    map_periods<Set, kLines>(constants, x, y, period, these);
    x += these * period;
    y += these * period;
    periods -= these;
  }
  map_periods<Set, kLines>(constants, x, y, n % period, 1);
}

#define QRT_LINES_ENTRY(name, kind, ...)                                              \
  void name(const LineConstants& constants, const uint8_t* x, uint8_t* y, size_t n) { \
    map_lines<__VA_ARGS__, kind>(constants, x, y, n);                                 \
  }
#define QRT_LINES_LOOPS(suffix, ...)                                \
  size_t lines_bytes_##suffix() { return __VA_ARGS__::kBytes; }     \
  QRT_LINES_ENTRY(lines_map_##suffix, Lines::kOne, __VA_ARGS__)     \
  QRT_LINES_ENTRY(lines_map_two_##suffix, Lines::kTwo, __VA_ARGS__) \
  QRT_LINES_ENTRY(lines_map_signed_##suffix, Lines::kSigned, __VA_ARGS__)

}  // namespace
}  // namespace qrt

#endif  // QRT_KERNELS_LUT_LINES_LOOPS_H_
