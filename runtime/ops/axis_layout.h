// SPDX-License-Identifier: Apache-2.0
// A tensor as lines along one of its axes.
#ifndef QRT_RUNTIME_OPS_AXIS_LAYOUT_H_
#define QRT_RUNTIME_OPS_AXIS_LAYOUT_H_

#include <cstddef>
#include <cstdint>

#include "runtime/tensor.h"

namespace qrt {

// The shape [outer, n, inner] of a row-major tensor whose axis has n indices: line l has the elements
// (l / inner * n + i) * inner + l % inner, i from 0 to n - 1.
struct AxisLayout {
  size_t outer = 1, n = 1, inner = 1;

  size_t count() const { return outer * inner; }
};

// REQUIRES: `axis` is less than the shape's rank.
inline AxisLayout axis_layout(const Shape& shape, uint32_t axis) {
  AxisLayout lines;
  const int at = static_cast<int>(axis);
  for (int d = 0; d < shape.rank(); ++d)
    (d < at ? lines.outer : d == at ? lines.n : lines.inner) *= static_cast<size_t>(shape[d]);
  return lines;
}

}  // namespace qrt

#endif  // QRT_RUNTIME_OPS_AXIS_LAYOUT_H_
