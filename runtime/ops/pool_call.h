// SPDX-License-Identifier: Apache-2.0
// The common part of MaxPool2D and AveragePool2D: the geometry and the cutting into output rows.
#ifndef QRT_RUNTIME_OPS_POOL_CALL_H_
#define QRT_RUNTIME_OPS_POOL_CALL_H_

#include <algorithm>

#include "kernels/pool/pool.h"
#include "runtime/op.h"
#include "runtime/ops/check.h"
#include "runtime/ops/image.h"
#include "runtime/ops/tasks.h"

namespace qrt {

// Checks the window over the input's images, and that each of its positions sees some of the image.
Status infer_pool(const InferContext& context, WindowAxes axes, PoolShape* shape);

// Output of the pool.
Status add_pool_output(const InferContext& context, const PoolShape& shape, TensorTypes* outputs);

// Return a step's tensors as INT16.
inline const int16_t* in_16(const Step& step, const RunContext& context) {
  return reinterpret_cast<const int16_t*>(context.in(step, 0));
}
inline int16_t* out_16(const Step& step, const RunContext& context) {
  return reinterpret_cast<int16_t*>(context.out(step, 0));
}

struct PoolCall {
  const PoolKernel* kernel;
  PoolShape shape;
  size_t images;
  size_t tasks;
};

// Everything but the shape.
void make_pool(const PrepareContext& context, PoolCall* pool);

// Calls the kernel entry `fn` with `args` (parameters set) for every output row of every image.
template <class T, class Args>
void run_pool(const PoolCall& pool, const Parallel& parallel, const T* x, T* y,
              const Args& parameters, void (*fn)(const Args&)) {
  const PoolShape& s = pool.shape;
  for_chunks(parallel, pool.tasks, pool.images * s.out_h, 1, [&](size_t, size_t begin, size_t end) {
    Args args = parameters;
    args.shape = s;
    while (begin < end) {
      const size_t image = begin / s.out_h;
      args.row_begin = begin % s.out_h;
      args.row_end = std::min(args.row_begin + (end - begin), s.out_h);
      args.input = x + image * s.in_h * s.in_w * s.c;
      args.output = y + image * s.out_h * s.out_w * s.c;
      fn(args);
      begin += args.row_end - args.row_begin;
    }
  });
}

}  // namespace qrt

#endif  // QRT_RUNTIME_OPS_POOL_CALL_H_
