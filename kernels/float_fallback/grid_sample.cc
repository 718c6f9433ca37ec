// SPDX-License-Identifier: Apache-2.0
#include "kernels/float_fallback/grid_sample.h"

#include <cstring>

namespace qrt {
namespace {

constexpr size_t kMostTaps = 4;
constexpr int64_t kOutside = -1;

// The elements that one sampled position reads along an axis, and their weights.
struct Taps {
  size_t count;
  int64_t index[kMostTaps];  // kOutside: a zero
  float weight[kMostTaps];
};

float outer(float t) {
  constexpr float a = -0.75f;
  return ((a * t - 5 * a) * t + 8 * a) * t - 4 * a;
}

float inner(float t) {
  constexpr float a = -0.75f;
  return ((a + 2) * t - (a + 3)) * t * t + 1;
}

float place_of(float g, size_t size, bool align_corners) {
  const float length = static_cast<float>(size), last = static_cast<float>(size - 1);
  float place = align_corners ? (g + 1) / 2.0f * last : ((g + 1) * length - 1) / 2.0f;
  if (!(place > -0x1p63f && place < 0x1p63f)) place = align_corners ? 0.0f : -0.5f;  // g = -1
  if (place > GridSample::kFar) return GridSample::kFar;
  return place < -GridSample::kFar ? -GridSample::kFar : place;
}

// REQUIRES: |v| <= kFar.
int64_t floor_of(float v) {
  const auto whole = static_cast<int64_t>(v);
  return static_cast<float>(whole) > v ? whole - 1 : whole;
}

int64_t reflected(int64_t index, size_t size, bool align_corners) {
  const float least = align_corners ? 0.0f : -0.5f;
  const float most = static_cast<float>(size) - (align_corners ? 1.0f : 0.5f);
  const float range = most - least;
  float at = static_cast<float>(index);
  if (at < least || at > most) {
    if (!(range > 0)) return 0;
    const float beyond = at < least ? least - at : at - most;
    const auto turns = static_cast<int32_t>(beyond / range);
    const float rest = beyond - static_cast<float>(turns) * range;
    at = (turns % 2 == 0) == (at < least) ? least + rest : most - rest;
  }
  return static_cast<int64_t>(at);
}

int64_t padded(const GridSample& p, int64_t index, size_t size) {
  const auto n = static_cast<int64_t>(size);
  if (index >= 0 && index < n) return index;
  if (p.padding == GridPadding::kZeros) return kOutside;
  if (p.padding == GridPadding::kReflection) index = reflected(index, size, p.align_corners);
  return index < 0 ? 0 : index < n ? index : n - 1;
}

// REQUIRES: |place| <= kFar.
Taps taps_of(const GridSample& p, float place, size_t size) {
  Taps taps;
  if (p.mode == GridMode::kNearest) {
    const float magic = 12582912.0f;  // 1.5 * 2^23: adding it rounds to an integer
    taps.count = 1;
    taps.index[0] = padded(p, static_cast<int64_t>((place + magic) - magic), size);
    taps.weight[0] = 1;
    return taps;
  }
  const int64_t floor = floor_of(place);
  const bool is_cubic = p.mode == GridMode::kCubic;
  const int64_t first = is_cubic ? floor - 1 : floor;
  taps.count = is_cubic ? 4 : 2;
  for (size_t i = 0; i < taps.count; ++i)
    taps.index[i] = padded(p, first + static_cast<int64_t>(i), size);
  if (is_cubic) {
    const float d = place - static_cast<float>(first) - 1;
    taps.weight[0] = outer(d + 1);
    taps.weight[1] = inner(d);
    taps.weight[2] = inner(1 - d);
    taps.weight[3] = outer(2 - d);
  } else {
    taps.weight[0] = static_cast<float>(floor + 1) - place;
    taps.weight[1] = place - static_cast<float>(floor);
  }
  return taps;
}

float sum_of(const float* plane, size_t width, const Taps& down, const Taps& across) {
  float y = 0;
  for (size_t i = 0; i < down.count; ++i) {
    float line = 0;
    for (size_t j = 0; j < across.count; ++j) {
      const bool is_outside = down.index[i] == kOutside || across.index[j] == kOutside;
      const float value = is_outside ? 0.0f
                                     : plane[static_cast<size_t>(down.index[i]) * width +
                                             static_cast<size_t>(across.index[j])];
      if (across.count == 1) return value;
      const float product = across.weight[j] * value;
      line = j == 0 ? product : line + product;
    }
    const float product = down.weight[i] * line;
    y = i == 0 ? product : y + product;
  }
  return y;
}

}  // namespace

void grid_sample(const GridSample& p, const float* x, const float* grid, size_t places, float* y) {
  const uint32_t nan_bits = 0x7fc00000;
  float nan;
  memcpy(&nan, &nan_bits, sizeof nan);
  for (size_t at = 0; at < places; ++at) {
    const float column = place_of(grid[2 * at], p.w, p.align_corners);
    const float row = place_of(grid[2 * at + 1], p.h, p.align_corners);
    const Taps down = taps_of(p, row, p.h), across = taps_of(p, column, p.w);
    for (size_t c = 0; c < p.channels; ++c) {
      const float v = sum_of(x + c * p.h * p.w, p.w, down, across);
      y[c * p.y_stride + at] = v == v ? v : nan;
    }
  }
}

}  // namespace qrt
