// What Quantize and Dequantize share: how scales and zero points meet the elements.
#ifndef QRT_RUNTIME_OPS_BOUNDARY_STEP_H_
#define QRT_RUNTIME_OPS_BOUNDARY_STEP_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/boundary/boundary.h"
#include "runtime/op.h"
#include "runtime/ops/tasks.h"

namespace qrt {

// x as [outer][channels][inner]; channel c has scale[c] and zero_point[c]. Per tensor: outer and
// channels are 1.
struct BoundaryStep {
  const BoundaryKernel* kernel;
  size_t outer = 1, channels = 1, inner = 1;
  std::vector<float> scale;
  std::vector<int32_t> zero_point;
  size_t tasks = 1;

  // The axis is the last one: rows of channels.
  bool is_last() const { return channels > 1 && inner == 1; }
};

// REQUIRES: check_boundary() succeeded.
void make_boundary(const PrepareContext& context, const flatbuffers::Vector<uint32_t>& scale,
                   const flatbuffers::Vector<int32_t>& zero_point, int32_t axis,
                   BoundaryStep* step);

// Walks x in parallel pieces: rows(begin, end) of channels where the axis is the last one, else
// run(channel, begin, end) over elements of one channel.
template <class Rows, class Run>
void for_boundary(const BoundaryStep& p, const Parallel& parallel, const Rows& rows,
                  const Run& run) {
  if (p.is_last()) {
    for_pieces(parallel, p.tasks, p.outer, 1,
               [&](size_t, size_t begin, size_t end) { rows(begin, end); });
  } else if (p.outer * p.channels == 1) {
    for_pieces(parallel, p.tasks, p.inner, kAlignment,
               [&](size_t, size_t begin, size_t end) { run(size_t{0}, begin, end); });
  } else {
    for_pieces(parallel, p.tasks, p.outer * p.channels, 1, [&](size_t, size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i) run(i % p.channels, i * p.inner, (i + 1) * p.inner);
    });
  }
}

}  // namespace qrt

#endif  // QRT_RUNTIME_OPS_BOUNDARY_STEP_H_
