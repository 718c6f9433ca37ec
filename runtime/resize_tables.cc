// SPDX-License-Identifier: Apache-2.0
#include "runtime/resize_tables.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "kernels/resize/resize.h"

namespace qrt {
namespace {

int32_t bits_of(float value) {
  int32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

float rounded(fb::ResizeRounding rounding, float x, bool shrinks) {
  switch (rounding) {
    case fb::ResizeRounding::SIMPLE: return shrinks ? std::ceil(x) : std::trunc(x);
    case fb::ResizeRounding::FLOOR: return std::floor(x);
    case fb::ResizeRounding::CEIL: return std::ceil(x);
    case fb::ResizeRounding::ROUND_PREFER_CEIL:
    case fb::ResizeRounding::ROUND_PREFER_FLOOR: break;
  }
  // ONNX Runtime takes what is next to a half for one.
  if (std::fabs(x - (std::trunc(x) + 0.5f)) < 1e-6f)
    return rounding == fb::ResizeRounding::ROUND_PREFER_CEIL ? std::ceil(x) : std::floor(x);
  return std::round(x);
}

// Returns x within the axis.
float clamped(const ResizedAxis& axis, float x) {
  const float last = static_cast<float>(axis.in - 1);
  return x >= last ? last : x > 0 ? x : 0;
}

}  // namespace

float resize_scale(int64_t in, int64_t out) {
  return static_cast<float>(out) / static_cast<float>(in);
}

float resize_coordinate(fb::ResizeCoordinates coordinates, const ResizedAxis& axis, int64_t i) {
  const float x = static_cast<float>(i), in = static_cast<float>(axis.in);
  const float out = static_cast<float>(axis.out);
  if (axis.scale == 1) return x;
  switch (coordinates) {
    case fb::ResizeCoordinates::ASYMMETRIC: return x / axis.scale;
    case fb::ResizeCoordinates::PYTORCH_HALF_PIXEL:
      return axis.out > 1 ? (x + 0.5f) / axis.scale - 0.5f : 0.0f;
    case fb::ResizeCoordinates::TF_HALF_PIXEL_FOR_NN: return (x + 0.5f) / axis.scale;
    case fb::ResizeCoordinates::ALIGN_CORNERS:
      return axis.out == 1 ? 0.0f : x * (in - 1) / (out - 1);
    case fb::ResizeCoordinates::HALF_PIXEL_SYMMETRIC: {
      const float adjustment = out / (axis.scale * in);
      const float offset = in / 2 * (1 - adjustment);
      const double half = (static_cast<double>(x) + 0.5) / static_cast<double>(axis.scale);
      return static_cast<float>(static_cast<double>(offset) + half - 0.5);
    }
    case fb::ResizeCoordinates::HALF_PIXEL: break;
  }
  return (x + 0.5f) / axis.scale - 0.5f;
}

int32_t nearest_index(fb::ResizeRounding rounding, const ResizedAxis& axis, float x) {
  if (axis.scale == 1) return static_cast<int32_t>(x);
  return static_cast<int32_t>(clamped(axis, rounded(rounding, x, axis.scale < 1)));
}

LinearTap linear_tap(fb::ResizeKind kind, const ResizedAxis& axis, float at) {
  const float x = clamped(axis, at);
  LinearTap tap;
  tap.low = static_cast<int32_t>(x);
  tap.high = static_cast<int32_t>(std::min<int64_t>(tap.low + 1, axis.in - 1));
  const bool is_last = tap.low == tap.high;
  if (kind == fb::ResizeKind::F32 || kind == fb::ResizeKind::F32_TRUNCATED) {
    const float to_low = is_last ? 0.5f : std::fabs(x - static_cast<float>(tap.low));
    const float to_high = is_last ? 0.5f : std::fabs(x - static_cast<float>(tap.high));
    tap.low_weight = bits_of(to_high);
    tap.high_weight = bits_of(to_low);
  } else if (kind == fb::ResizeKind::INT16_SUM) {
    const float part = std::ldexp(x - static_cast<float>(tap.low), 20);
    tap.high_weight = static_cast<int32_t>(std::nearbyint(part));
    tap.low_weight = kMaxFineResizeWeight - tap.high_weight;
  } else {
    // Axes have fewer than 2^20 elements here: longer ones do not fit int32 in units of 2^-10.
    const auto fine = static_cast<int64_t>(x * 1024);
    tap.low_weight =
        is_last ? 512 : static_cast<int32_t>(std::abs(fine - int64_t{tap.high} * 1024));
    tap.high_weight =
        is_last ? 512 : static_cast<int32_t>(std::abs(fine - int64_t{tap.low} * 1024));
  }
  return tap;
}

}  // namespace qrt
