// SPDX-License-Identifier: Apache-2.0
// Ordered float sums as integer sums; see pool.h.
#include <cmath>

#include "kernels/integer_only.h"
#include "kernels/pool/pool.h"

namespace qrt {

// With u = 2^-24, n positions, |x - input_zero_point| <= m and scales far from the ends of float32:
// products, n - 1 additions that round and two divisions are within (n + 3) u of the sum of all
// magnitudes, n m input_scale, over n output_scale. The addition of the zero point, and sum_scale and
// the product with it, are within 4 u of the greatest magnitudes they have.
float average_sum_scale(const AveragePoolArgs& args) {
  constexpr size_t kMostPositions = 64;
  constexpr float kLeast = 0x1p-60f, kMost = 0x1p60f;
  const size_t positions = args.shape.kernel_h * args.shape.kernel_w;
  const float in = args.input_scale, out = args.output_scale;
  if (kIntegerOnly || positions > kMostPositions || in < kLeast || in > kMost || out < kLeast ||
      out > kMost) {
    return 0;
  }
  const double n = static_cast<double>(positions);
  const int zero = args.input_zero_point, span = static_cast<int>(positions);
  const double most = zero > 255 - zero ? zero : 255 - zero;
  const double scale = static_cast<double>(in) / static_cast<double>(out) / n;
  const double offset = std::abs(static_cast<double>(args.output_zero_point));
  const double error = 0x1p-24 * ((n + 8) * most * n * scale + 4 * (offset + 1));
  for (int sum = -span * zero; sum <= span * (255 - zero); ++sum) {
    const double y = sum * scale;
    if (std::abs(y - std::floor(y) - 0.5) <= error) return 0;
  }
  return static_cast<float>(scale);
}

}  // namespace qrt
