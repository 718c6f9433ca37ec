// SPDX-License-Identifier: Apache-2.0
// Slices that an iteration of a loop takes from tensors, or puts into them: shared by LoopBegin and LoopEnd.
#ifndef QRT_RUNTIME_OPS_LOOP_SLICES_H_
#define QRT_RUNTIME_OPS_LOOP_SLICES_H_

#include <cstdint>

#include "runtime/op.h"

namespace qrt {

using LoopSlices = flatbuffers::Vector<flatbuffers::Offset<fb::LoopSlice>>;

inline uint32_t slice_count(const LoopSlices* slices) {
  return slices != nullptr ? slices->size() : 0;
}

// The place of an iteration's slice in a tensor: `rows` pieces of `bytes` each, of which the tensor has `count`, one for each
// iteration, side by side.
struct LoopSlicePlan {
  LoopSlicePlan(const fb::LoopSlice& slice, const TensorType& whole)
      : count(static_cast<size_t>(whole.shape[slice.axis()])),
        bytes(dtype_bytes(whole.dtype)),
        is_reversed(slice.reversed()) {
    for (int d = 0; d < whole.shape.rank(); ++d) {
      const auto size = static_cast<size_t>(whole.shape[d]);
      if (d < slice.axis()) rows *= size;
      if (d > slice.axis()) bytes *= size;
    }
  }

  // Returns the piece of row 0.
  size_t offset(uint32_t iteration) const {
    return (is_reversed ? count - 1 - iteration : iteration) * bytes;
  }
  size_t pitch() const { return count * bytes; }

  size_t rows = 1, count, bytes;
  bool is_reversed;
};

}  // namespace qrt

#endif  // QRT_RUNTIME_OPS_LOOP_SLICES_H_
