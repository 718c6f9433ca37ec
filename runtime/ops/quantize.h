// SPDX-License-Identifier: Apache-2.0
// Parts of a Quantize step, for steps that do its work (fuse.h).
#ifndef QRT_RUNTIME_OPS_QUANTIZE_H_
#define QRT_RUNTIME_OPS_QUANTIZE_H_

#include <cstddef>
#include <cstdint>

#include "kernels/edge/edge.h"
#include "runtime/op.h"

namespace qrt {

// Returns whether the step is a Quantize that makes bytes of float32, all with one scale of its
// options.
bool quantizes_ranges(const Step& step);

// Writes the elements [begin, begin + count) of the step's output to `to`. REQUIRES:
// quantizes_ranges(step).
void quantize_range(const Step& step, const RunContext& context, size_t begin, size_t count,
                    uint8_t* to);

// The arguments of EdgeKernel::quantize() for a step of quantizes_in_parts(), which rounds half to even.
struct ByteGrid {
  const EdgeKernel* kernel;
  float scale;
  int32_t zero_point, lo, hi;
};
bool find_byte_grid(const Step& step, ByteGrid* grid);

}  // namespace qrt

#endif  // QRT_RUNTIME_OPS_QUANTIZE_H_
