// An axis of ResizeLinear: the two source indices of every output index, and their weights, float32
// bits or integers as the kind says.
#ifndef QRT_RUNTIME_OPS_RESIZE_AXIS_H_
#define QRT_RUNTIME_OPS_RESIZE_AXIS_H_

#include "runtime/ops/check.h"

namespace qrt {

inline bool is_float(fb::ResizeKind kind) {
  return kind == fb::ResizeKind::F32 || kind == fb::ResizeKind::F32_TRUNCATED;
}

// Of a file; *out: how many outputs.
Status check_resize_axis(const fb::ResizeAxis* axis, const char* name, int64_t size,
                         fb::ResizeKind kind, int64_t* out);

template <class Weight>
const Weight* weights_of(const flatbuffers::Vector<int32_t>* v) {
  return reinterpret_cast<const Weight*>(v->data());
}

// Output i of the axis and the one before it.
inline bool have_same_sources(const fb::ResizeAxis& axis, uint32_t i) {
  const auto are_same = [i](const auto* v) { return v->Get(i) == v->Get(i - 1); };
  return are_same(axis.low()) && are_same(axis.high());
}
inline bool have_same_weights(const fb::ResizeAxis& axis, uint32_t i) {
  const auto are_same = [i](const auto* v) { return v->Get(i) == v->Get(i - 1); };
  return are_same(axis.low_weight()) && are_same(axis.high_weight());
}

// Of float weights: the greatest sum of two, and the greatest power of two of which all are
// multiples.
float greatest_weight(const fb::ResizeAxis& axis);
double unit_of(const fb::ResizeAxis& axis);

}  // namespace qrt

#endif  // QRT_RUNTIME_OPS_RESIZE_AXIS_H_
