// SPDX-License-Identifier: Apache-2.0
#include "kernels/normalize/l2_normalization.h"

#include <algorithm>

#include "kernels/fixed_point.h"

namespace qrt {
namespace {

constexpr int kOutputBits = 7;  // scale 1/128

uint8_t normalized(int32_t d, fixed::InverseRoot root, bool one_rounding) {
  const int e = kOutputBits - root.right;
  int64_t v;
  if (one_rounding)
    v = (int64_t{d} * root.value + (int64_t{1} << (30 - e))) >> (31 - e);
  else
    v = fixed::shift_half_away(fixed::srdhm(d * (1 << std::max(e, 0)), root.value),
                               std::max(-e, 0));
  return static_cast<uint8_t>(std::clamp<int64_t>(v, -128, 127) + 128);
}

}  // namespace

void l2_normalize_rows(int32_t zero_point, bool one_rounding, const uint8_t* x, uint8_t* y,
                       size_t rows, size_t n) {
  constexpr size_t kCodes = 256;
  for (; rows > 0; --rows, x += n, y += n) {
    int32_t sum = 0;
    for (size_t i = 0; i < n; ++i) {
      const int32_t d = x[i] - zero_point;
      sum += d * d;
    }
    const fixed::InverseRoot root = fixed::inverse_square_root(sum);
    if (n <= kCodes) {
      for (size_t i = 0; i < n; ++i) y[i] = normalized(x[i] - zero_point, root, one_rounding);
      continue;
    }
    uint8_t table[kCodes];
    for (size_t q = 0; q < kCodes; ++q)
      table[q] = normalized(static_cast<int32_t>(q) - zero_point, root, one_rounding);
    for (size_t i = 0; i < n; ++i) y[i] = table[x[i]];
  }
}

}  // namespace qrt
