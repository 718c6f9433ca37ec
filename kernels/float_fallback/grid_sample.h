// SPDX-License-Identifier: Apache-2.0
// Values of a plane of floats at places between its own, with the arithmetic of ONNX Runtime 1.30's GridSample: every step is
// rounded to float32, in this order.
//
//   place    of grid coordinate g: (g + 1) / 2 * (size - 1) with align_corners, else ((g + 1) * size - 1) / 2. A place that is NaN
//            or outside int64 is replaced by the place of g = -1; others are clamped to -kFar .. kFar, beyond which ONNX
//            Runtime's weights overflow
//   nearest  the value at the nearest integers, of two the even one
//   linear   weights (floor + 1) - place and place - floor of the values at floor and floor + 1
//   cubic    weights outer(d + 1), inner(d), inner(1 - d), outer(2 - d) of the values from floor - 1 to floor + 2,
//            d = (place - (floor - 1)) - 1, a = -0.75; inner(t) = ((a + 2) * t - (a + 3)) * t * t + 1,
//            outer(t) = ((a * t - 5 * a) * t + 8 * a) * t - 4 * a
//   result   w0 * line0 + w1 * line1 + ..., each line of one row w0 * value0 + w1 * value1 + ..., added from the left
//
// At an index outside, zeros give 0, border gives the nearest value, and reflection gives the value at the mirrored index, rounded
// towards 0; the mirrors stand at -0.5 and size - 0.5, or with align_corners at 0 and size - 1.
#ifndef QRT_KERNELS_FLOAT_FALLBACK_GRID_SAMPLE_H_
#define QRT_KERNELS_FLOAT_FALLBACK_GRID_SAMPLE_H_

#include <cstddef>
#include <cstdint>

namespace qrt {

enum class GridMode : uint8_t { kLinear, kNearest, kCubic };
enum class GridPadding : uint8_t { kZeros, kBorder, kReflection };

struct GridSample {
  // Greatest size of a plane: its places, and those a little outside, are floats.
  static constexpr int64_t kMostSize = int64_t{1} << 21;
  static constexpr float kFar = 0x1p22f;

  GridMode mode;
  GridPadding padding;
  bool align_corners;
  size_t channels, h, w;  // of planes that follow each other
  size_t y_stride;        // floats from channel to channel of the result
};

// Writes `places` results of every channel; grid holds x and y of each place.
void grid_sample(const GridSample& p, const float* x, const float* grid, size_t places, float* y);

}  // namespace qrt

#endif  // QRT_KERNELS_FLOAT_FALLBACK_GRID_SAMPLE_H_
