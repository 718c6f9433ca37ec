// SPDX-License-Identifier: Apache-2.0
// How LiteRT's portable kernels quantise float32 activations in models of dynamic range, written out as naive loops.
#ifndef QRT_TESTS_SUPPORT_HYBRID_REFERENCE_H_
#define QRT_TESTS_SUPPORT_HYBRID_REFERENCE_H_

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace qrt::testing {

// A row, or an image, as PortableSymmetricQuantizeFloats or PortableAsymmetricQuantizeFloats quantises it.
struct HybridRow {
  std::vector<int8_t> codes;
  float scale = 1;
  int32_t offset = 0;
};

inline HybridRow symmetric(const float* x, size_t n) {
  HybridRow row;
  row.codes.assign(n, 0);
  const float least = *std::min_element(x, x + n), most = *std::max_element(x, x + n);
  const float range = std::max(std::abs(least), std::abs(most));
  if (range == 0) return row;
  row.scale = range / 127;
  const float inverse = 127 / range;
  for (size_t i = 0; i < n; ++i) {
    const float steps = x[i] * inverse;
    row.codes[i] = static_cast<int8_t>(std::clamp(static_cast<int>(std::round(steps)), -127, 127));
  }
  return row;
}

inline HybridRow asymmetric(const float* x, size_t n) {
  HybridRow row;
  row.codes.assign(n, 0);
  const auto least = static_cast<double>(std::min(0.0f, *std::min_element(x, x + n)));
  const auto most = static_cast<double>(std::max(0.0f, *std::max_element(x, x + n)));
  if (least == most) return row;
  const double scale = (most - least) / 255;
  const double from_least_error = 128 + std::abs(least / scale);
  const double from_most_error = 127 + std::abs(most / scale);
  const double zero =
      from_least_error < from_most_error ? -128 - least / scale : 127 - most / scale;
  row.offset = zero <= -128 ? -128 : zero >= 127 ? 127 : static_cast<int>(std::round(zero));
  row.scale = static_cast<float>(scale);
  const float inverse = 1.0f / row.scale;
  for (size_t i = 0; i < n; ++i) {
    const float product = x[i] * inverse;
    const float steps = static_cast<float>(row.offset) + product;
    row.codes[i] = static_cast<int8_t>(std::clamp(static_cast<int>(std::round(steps)), -128, 127));
  }
  return row;
}

inline HybridRow quantised(const float* x, size_t n, bool is_asymmetric) {
  return is_asymmetric ? asymmetric(x, n) : symmetric(x, n);
}

}  // namespace qrt::testing

#endif  // QRT_TESTS_SUPPORT_HYBRID_REFERENCE_H_
