// SPDX-License-Identifier: Apache-2.0
// An axis of ResizeLinear: the two source indices of every output index, and their weights, float32
// bits or integers as the kind says.
#ifndef QRT_RUNTIME_OPS_RESIZE_AXIS_H_
#define QRT_RUNTIME_OPS_RESIZE_AXIS_H_

#include "runtime/ops/check.h"

namespace qrt {

inline bool is_float(fb::ResizeKind kind) {
  return kind == fb::ResizeKind::F32 || kind == fb::ResizeKind::F32_TRUNCATED;
}

// A view of an axis' table, in the file or in the fields that follow from sizes.
struct ResizeTable {
  const int32_t *low, *high, *low_weight, *high_weight;
  size_t size;  // entries of each table; 0: there is none
};

// Returns the table of h, w or d (0, 1, 2) at the context's sizes. REQUIRES: check_resize_axis() succeeded.
ResizeTable resize_table(const InferContext& context, uint32_t index);

// Checks the table of h, w or d (0, 1, 2) for an axis of `size`; *out: how many outputs.
Status check_resize_axis(const InferContext& context, uint32_t index, int64_t size, int64_t* out);

template <class Weight>
const Weight* weights_of(const int32_t* weights) {
  return reinterpret_cast<const Weight*>(weights);
}

// Returns whether output i of the axis and the one in front of it have the same sources, and the
// same weights. REQUIRES: i > 0.
inline bool have_same_sources(const ResizeTable& axis, uint32_t i) {
  const auto are_same = [i](const int32_t* v) { return v[i] == v[i - 1]; };
  return are_same(axis.low) && are_same(axis.high);
}
inline bool have_same_weights(const ResizeTable& axis, uint32_t i) {
  const auto are_same = [i](const int32_t* v) { return v[i] == v[i - 1]; };
  return are_same(axis.low_weight) && are_same(axis.high_weight);
}

// Returns the greatest sum of two float weights.
float greatest_weight(const ResizeTable& axis);
double unit_of(const ResizeTable& axis);

}  // namespace qrt

#endif  // QRT_RUNTIME_OPS_RESIZE_AXIS_H_
