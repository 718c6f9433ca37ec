// SPDX-License-Identifier: Apache-2.0
// Indices that an operator is given in a run.
#ifndef QRT_RUNTIME_OPS_INDICES_H_
#define QRT_RUNTIME_OPS_INDICES_H_

#include "runtime/op.h"
#include "runtime/ops/check.h"

namespace qrt {

inline Status check_index_type(DType type) {
  QRT_MODEL_CHECK(type == DType::kInt32 || type == DType::kInt64,
                  "index is %s, expected int32 or int64", dtype_name(type));
  return Status();
}

// Returns the block that an index means: one from the end where it is negative, the nearest where there is none.
inline size_t placed(int64_t index, size_t size) {
  const int64_t n = static_cast<int64_t>(size), i = index < 0 ? index + n : index;
  return static_cast<size_t>(i < 0 ? 0 : i >= n ? n - 1 : i);
}

// Returns whether `count` indices lie within an axis of `size`. Tells the run of the first that does not.
template <class Index>
bool are_inside(const Step& step, const RunContext& context, const Index* index, size_t count,
                size_t size) {
  const auto n = static_cast<int64_t>(size);
  for (size_t i = 0; i < count; ++i) {
    if (index[i] >= -n && index[i] < n) continue;
    context.failure->step = &step;
    context.failure->index = index[i];
    context.failure->size = size;
    return false;
  }
  return true;
}

}  // namespace qrt

#endif  // QRT_RUNTIME_OPS_INDICES_H_
