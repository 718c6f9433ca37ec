// SPDX-License-Identifier: Apache-2.0
// The scale and zero point that floats ask for when they are quantised in a run, as ONNX Runtime's DynamicQuantizeLinear chooses them.
#ifndef QRT_RUNTIME_OPS_DYNAMIC_SCALE_H_
#define QRT_RUNTIME_OPS_DYNAMIC_SCALE_H_

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace qrt {

// The least and the greatest of floats, and 0.
struct Extremes {
  float least = 0.0f, most = 0.0f;

  void add(const Extremes& other) {
    least = std::min(least, other.least);
    most = std::max(most, other.most);
  }
};

struct DynamicScale {
  explicit DynamicScale(const Extremes& e) {
    if (e.least != e.most) scale = (e.most - e.least) / 255.0f;
    const float zero = 0.0f - e.least / scale;
    const float limited = zero < 255.0f ? std::max(zero, 0.0f) : 255.0f;  // NaN: 255
    zero_point = static_cast<int32_t>(std::nearbyint(limited));
  }

  float scale = 1.0f;
  int32_t zero_point;
};

}  // namespace qrt

#endif  // QRT_RUNTIME_OPS_DYNAMIC_SCALE_H_
