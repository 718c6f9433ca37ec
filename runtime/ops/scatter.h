// SPDX-License-Identifier: Apache-2.0
// The inputs of Scatter and ScatterAdd: x, indices of blocks of it, and as many updates.
#ifndef QRT_RUNTIME_OPS_SCATTER_H_
#define QRT_RUNTIME_OPS_SCATTER_H_

#include "runtime/op.h"
#include "runtime/ops/check.h"
#include "runtime/ops/indices.h"

namespace qrt {

// Checks that the indices stand for blocks of x behind `batch_dims` dimensions, and that there is an update for each.
inline Status check_scatter(const InferContext& context, int64_t batch_dims) {
  QRT_TRY(check_input_count(context, 3));
  const TensorType& x = context.inputs[0].type;
  const TensorType& index = context.inputs[1].type;
  QRT_TRY(check_index_type(index.dtype));
  QRT_TRY(check_whole_bytes(x));
  QRT_TRY(check_dtype(context, 2, "updates", x.dtype));
  QRT_TRY(check_range("batch_dims", batch_dims, 0, x.shape.rank() - 1));
  const int batch = static_cast<int>(batch_dims);
  Shape expected_index, expected = x.shape;
  for (int d = 0; d < batch; ++d) expected_index.push_back(x.shape[d]);
  if (index.shape.rank() > batch) expected_index.push_back(index.shape[batch]);
  QRT_MODEL_CHECK(
      index.shape.rank() == batch + 1 && index.shape == expected_index,
      "the indices have shape %s, expected the first %d dimensions of x %s and one more",
      index.shape.to_string().c_str(), batch, x.shape.to_string().c_str());
  expected[batch] = index.shape[batch];
  QRT_MODEL_CHECK(context.inputs[2].type.shape == expected, "updates have shape %s, expected %s",
                  context.inputs[2].type.shape.to_string().c_str(), expected.to_string().c_str());
  return Status();
}

// The numbers of a Scatter: batches, each of so many indices into an axis of `size` blocks of `block` elements.
struct ScatterSizes {
  size_t batches, indices, size, block;
};

// REQUIRES: check_scatter().
inline ScatterSizes scatter_sizes(const Shape& x, const Shape& index, size_t batch_dims) {
  const int batch = static_cast<int>(batch_dims);
  ScatterSizes s{1, static_cast<size_t>(index[batch]), static_cast<size_t>(x[batch]), 1};
  for (int d = 0; d < batch; ++d) s.batches *= static_cast<size_t>(x[d]);
  for (int d = batch + 1; d < x.rank(); ++d) s.block *= static_cast<size_t>(x[d]);
  return s;
}

// Each image has its own indices and updates, into something of its own.
template <class Options>
bool scatter_apart(const fb::Operator& op, const BatchOperands& operands) {
  return op.options_as<Options>()->batch_dims() > 0 && !operands.inputs[0].is_constant &&
         !operands.inputs[1].is_constant && !operands.inputs[2].is_constant;
}

}  // namespace qrt

#endif  // QRT_RUNTIME_OPS_SCATTER_H_
