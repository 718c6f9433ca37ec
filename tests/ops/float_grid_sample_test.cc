// SPDX-License-Identifier: Apache-2.0
// Float GRID_SAMPLE against its definition, place by place: every mode, padding and alignment, places far outside, NaN; models that must be
// refused.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "runtime/ops/check.h"
#include "tests/support/op_tester.h"
#include "tests/support/random.h"

namespace qrt::float_grid_sample_test {
namespace {

using testing::bytes_of;
using testing::ModelBuilder;

struct Case {
  fb::GridMode mode;
  fb::GridPadding padding;
  bool align_corners;
  Shape x;
  int64_t oh, ow;
};

// Reads a pixel of one plane, at any indices.
float pixel(const Case& c, const float* plane, int64_t row, int64_t column) {
  int64_t at[2] = {row, column};
  for (int d = 0; d < 2; ++d) {
    const int64_t n = c.x[2 + d];
    if (at[d] >= 0 && at[d] < n) continue;
    if (c.padding == fb::GridPadding::ZEROS) return 0;
    if (c.padding == fb::GridPadding::REFLECTION) {
      // Mirrors stand at the middles of the outermost pixels, or at their outer edges.
      const int64_t period = c.align_corners ? 2 * (n - 1) : 2 * n;
      int64_t i = period == 0 ? 0 : at[d] % period;
      if (i < 0) i += period;
      if (i >= n) i = c.align_corners ? period - i : period - 1 - i;
      at[d] = i;
    }
    at[d] = std::clamp<int64_t>(at[d], 0, n - 1);
  }
  return plane[at[0] * c.x[3] + at[1]];
}

float place(const Case& c, float g, int64_t n) {
  const float v = c.align_corners ? (g + 1) / 2.0f * static_cast<float>(n - 1)
                                  : ((g + 1) * static_cast<float>(n) - 1) / 2.0f;
  // A place that no int64 holds is that of -1.
  if (!(std::fabs(v) < 0x1p63f)) return c.align_corners ? 0.0f : -0.5f;
  return std::clamp(v, -0x1p22f, 0x1p22f);
}

float cubic(float distance) {
  constexpr float a = -0.75f;
  const float t = distance;
  return t <= 1 ? ((a + 2) * t - (a + 3)) * t * t + 1 : ((a * t - 5 * a) * t + 8 * a) * t - 4 * a;
}

float sample(const Case& c, const float* plane, float gx, float gy) {
  const float x = place(c, gx, c.x[3]), y = place(c, gy, c.x[2]);
  if (c.mode == fb::GridMode::NEAREST)
    return pixel(c, plane, static_cast<int64_t>(std::nearbyint(y)),
                 static_cast<int64_t>(std::nearbyint(x)));
  const auto row = static_cast<int64_t>(std::floor(y)),
             column = static_cast<int64_t>(std::floor(x));
  const bool is_cubic = c.mode == fb::GridMode::CUBIC;
  const auto beyond = [&](float at, int64_t whole) {
    return is_cubic ? at - static_cast<float>(whole - 1) - 1 : at - static_cast<float>(whole);
  };
  const float dy = beyond(y, row), dx = beyond(x, column);
  const auto weight = [&](float d, float at, int64_t i) {
    if (!is_cubic)
      return i == 0 ? static_cast<float>(static_cast<int64_t>(std::floor(at)) + 1) - at : d;
    return cubic(i == -1 ? d + 1 : i == 0 ? d : i == 1 ? 1 - d : 2 - d);
  };
  float sum = 0;
  for (int64_t i = is_cubic ? -1 : 0; i <= (is_cubic ? 2 : 1); ++i) {
    float line = 0;
    for (int64_t j = is_cubic ? -1 : 0; j <= (is_cubic ? 2 : 1); ++j) {
      const float product = weight(dx, x, j) * pixel(c, plane, row + i, column + j);
      line = j == (is_cubic ? -1 : 0) ? product : line + product;
    }
    const float product = weight(dy, y, i) * line;
    sum = i == (is_cubic ? -1 : 0) ? product : sum + product;
  }
  return std::isnan(sum) ? float_of(0x7fc00000) : sum;
}

ModelBuilder model(const Case& c, const Shape& grid) {
  fb::FloatOptionsT o;
  o.function = fb::FloatFunction::GRID_SAMPLE;
  o.grid = std::make_unique<fb::FloatGridT>();
  o.grid->mode = c.mode;
  o.grid->padding = c.padding;
  o.grid->align_corners = c.align_corners;
  ModelBuilder m;
  const uint32_t x = m.input(c.x, DType::kFloat32), g = m.input(grid, DType::kFloat32);
  m.op(std::move(o), {x, g}, {m.output({c.x[0], c.x[1], c.oh, c.ow}, DType::kFloat32)});
  return m;
}

void check(const Case& c) {
  testing::Random random;
  SCOPED_TRACE(random.trace());
  SCOPED_TRACE(static_cast<int>(c.mode) * 100 + static_cast<int>(c.padding) * 10 + c.align_corners);
  std::vector<float> x(static_cast<size_t>(c.x.elements()));
  std::vector<float> grid(static_cast<size_t>(c.x[0] * c.oh * c.ow * 2));
  for (float& v : x) v = random.real(-4, 4);
  for (float& v : grid)
    v = random.integer(0, 3) == 0 ? random.real(-9, 9) : random.real(-1.2f, 1.2f);
  const float corners[] = {-1, 1, 0, 1e9f, -1e9f, std::nanf(""), INFINITY, -INFINITY, 3.4e38f};
  for (size_t i = 0; i < std::size(corners) && i < grid.size(); ++i) grid[i] = corners[i];
  std::vector<float> expected;
  const int64_t plane = c.x[2] * c.x[3], places = c.oh * c.ow;
  for (int64_t p = 0; p < c.x[0] * c.x[1]; ++p)
    for (int64_t i = 0; i < places; ++i) {
      const float* g = grid.data() + 2 * (p / c.x[1] * places + i);
      expected.push_back(sample(c, x.data() + p * plane, g[0], g[1]));
    }
  testing::expect_outputs(model(c, {c.x[0], c.oh, c.ow, 2}), 1, {bytes_of(x), bytes_of(grid)},
                          {bytes_of(expected)});
}

TEST(FloatGridSample, EveryModeAndPadding) {
  for (const auto mode : fb::EnumValuesGridMode())
    for (const auto padding : fb::EnumValuesGridPadding())
      for (const bool align_corners : {false, true}) {
        check({mode, padding, align_corners, {2, 3, 5, 7}, 4, 6});
        check({mode, padding, align_corners, {1, 1, 1, 2}, 3, 3});
        check({mode, padding, align_corners, {1, 2, 30, 40}, 50, 60});
      }
}

TEST(FloatGridSample, RefusesModels) {
  const Case c = {fb::GridMode::LINEAR, fb::GridPadding::ZEROS, false, {2, 3, 5, 7}, 4, 6};
  testing::expect_rejected(model(c, {1, 4, 6, 2}), "expected [2, oh, ow, 2]");
  testing::expect_rejected(model(c, {2, 4, 6, 3}), "expected [2, oh, ow, 2]");
  Case bad = c;
  bad.mode = static_cast<fb::GridMode>(3);
  testing::expect_rejected(model(bad, {2, 4, 6, 2}), "mode is 3, expected 0 to 2");
  bad = c;
  bad.padding = static_cast<fb::GridPadding>(3);
  testing::expect_rejected(model(bad, {2, 4, 6, 2}), "padding is 3, expected 0 to 2");
}

}  // namespace
}  // namespace qrt::float_grid_sample_test
