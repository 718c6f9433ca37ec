// SPDX-License-Identifier: Apache-2.0
// Decides into how many slices a batch is cut. Slices that run one after the other take the time of
// so many small batches, while the steps of one large batch pass each other more data than the
// second-level cache holds: 32 images through MobileNetV1 take 20 % longer uncut.
#ifndef QRT_RUNTIME_SLICES_H_
#define QRT_RUNTIME_SLICES_H_

#include <cstddef>

#include "qrt_model_generated.h"
#include "runtime/op.h"
#include "runtime/tensor.h"

namespace qrt {

// Returns a divisor of `batch`; 1 where the whole batch fits the cache, where an operator may mix
// images, and where large constants had better be read once for all of them. `one`, `all`: types of
// all tensors at batch 1 and at `batch`.
size_t count_slices(const fb::Model& model, const TensorTypes& one, const TensorTypes& all,
                    size_t batch, size_t threads);

}  // namespace qrt

#endif  // QRT_RUNTIME_SLICES_H_
