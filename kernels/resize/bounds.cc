// SPDX-License-Identifier: Apache-2.0
// Decides where f32 may do without a division, and how far the form by columns may be from the
// definition; see resize.h.
#include <string.h>

#include <cmath>

#include "kernels/integer_only.h"
#include "kernels/resize/resize.h"

namespace qrt {

// With b the scale and u = 2^-24, q' = fl(x * y + fl(x * z)), y = fl(1 / b) and z = fl((1 - y b) y),
// is the nearest float to a number within 2^-46 of the quotient q = x / b: z is within 2^-23 of
// 1 / b - y, which is at most u / b. The byte depends on how fl(q) compares to halves t = k / 2, k
// odd and of nine bits, so on how q compares to the two midpoints m next to t, and those are far
// enough from it for q' to be on the same side of t, or t. As integers B and X of 24 bits and an M
// of 25, the distance is |X 2^j - M B| of 2^49, and not 0, as M is odd and
// greater than X. Now M = k 2^s +- 1 with s, and j, of 16 or more, so the distance is B modulo 2^16
// up or down, or, where that is 0, at least 2^16: 16 make 2^-45.
//
// Beyond the halves both are limited alike. Truncation is of integers' scale, 1: q' is x.
bool is_resize_scale(float scale, double most) {
  constexpr float kLeast = 0x1p-60f, kMost = 0x1p60f;
  constexpr double kMostSteps = 1 << 22;
  constexpr uint32_t kNear = 16, kLow = 0xffff;
  if (kIntegerOnly) return false;
  if (!(scale >= kLeast && scale <= kMost && most <= kMostSteps)) return false;
  uint32_t bits;
  memcpy(&bits, &scale, sizeof bits);
  const uint32_t low = bits & kLow;
  return low == 0 || (low >= kNear && low <= kLow + 1 - kNear);
}

// With u = 2^-24 and scales far from the ends of float32, the magnitudes of a sum are together at
// most s = most * input_scale / output_scale. The definition rounds sources, weights, products, three
// sums and a quotient: it is within 7 u s of the real number. The form by columns rounds sources, two
// products and two sums, 1 / output_scale, the product of that and a row's weight, and a product
// more: 7 u s as well. Two sums and the shift itself are within u of 2 s + 512 each, and truncation
// takes less than 2^-16. The rest is for products of errors and for subnormal weights.
//
// Where many sums are ties, every sixteenth when an image is doubled at one scale, the definition is
// faster from the start.
ResizeColumns resize_columns(float input_scale, const ResizeBytes& bytes, double most,
                             double unit) {
  constexpr float kLeast = 0x1p-60f, kMost = 0x1p60f;
  constexpr double kMostSteps = 4096, kOne = 65536;
  constexpr int kSums = 1024, kMostTies = kSums / 64;
  ResizeColumns columns = {};
  if (kIntegerOnly) return columns;
  const auto is_far = [&](float scale) { return scale >= kLeast && scale <= kMost; };
  if (!is_far(input_scale) || !is_far(bytes.scale)) return columns;
  const double s = most * static_cast<double>(input_scale) / static_cast<double>(bytes.scale);
  if (s > kMostSteps) return columns;
  const double error = 0x1p-24 * (15 * s + 3 * (2 * s + 512)) + 0x1p-16 + 0x1p-20;
  const double step = unit * static_cast<double>(input_scale) / static_cast<double>(bytes.scale);
  int ties = 0;
  for (int i = 0; i < kSums; ++i) ties += std::abs(i * step - std::floor(i * step) - 0.5) <= error;
  if (ties > kMostTies) return columns;
  const int below = static_cast<int>(s) + 258;
  columns.scale = static_cast<float>(kOne) / kResizePart / bytes.scale;
  columns.below = static_cast<int16_t>(below);
  columns.shift = static_cast<float>((bytes.offset + 0.5 + error - below) * kOne);
  columns.tie = static_cast<uint16_t>(std::ceil(2 * error * kOne) + 1);
  return columns;
}

}  // namespace qrt
