// Numpy broadcasting of two tensors: shapes to runs of the elementwise kernels.
#ifndef QRT_RUNTIME_OPS_BROADCAST_H_
#define QRT_RUNTIME_OPS_BROADCAST_H_

#include <cstddef>
#include <cstdint>

#include "kernels/elementwise/elementwise.h"
#include "kernels/wide/wide.h"
#include "runtime/op.h"
#include "runtime/ops/tasks.h"

namespace qrt {

// Inputs 0 and 1 broadcast together; *shape is the result's.
Status infer_broadcast_shape(const InferContext& context, Shape* shape);
// The same for inputs that are both uint8 or both int16.
Status infer_broadcast(const InferContext& context, Shape* shape);

// The output as nested loops around runs of the innermost dimension. Unit dimensions are dropped
// and adjacent ones merged, so that tensors of one shape are a single run.
struct Broadcast {
  size_t rank = 0;                   // loops, 0 to kMaxTensorRank - 1
  size_t dims[kMaxTensorRank] = {};  // outermost first
  size_t a_stride[kMaxTensorRank] = {}, b_stride[kMaxTensorRank] = {};  // 0: repeated
  size_t runs = 1;                                                      // product of dims
  size_t run = 1;                                                       // elements of a run
  bool a_is_scalar = false, b_is_scalar = false;
  size_t operand_bytes = 1, output_bytes = 1;  // of an element
  size_t tasks = 1;

  // Both tensors have the output's shape.
  bool is_plain() const { return rank == 0 && !a_is_scalar && !b_is_scalar; }
};

// REQUIRES: infer_broadcast() succeeded with `out`.
Broadcast plan_broadcast(const Shape& a, const Shape& b, const Shape& out);

// Runs with index [begin, end), of each the elements [run_begin, run_end): f(Run), ElementwiseRun
// of bytes or WideRun of int16.
template <class Run, class T, class F>
void for_runs(const Broadcast& p, const T* a, const T* b, T* y, size_t begin, size_t end,
              size_t run_begin, size_t run_end, const F& f) {
  size_t index[kMaxTensorRank] = {};
  size_t rest = begin;
  for (size_t d = p.rank; d-- > 0;) {
    index[d] = rest % p.dims[d];
    rest /= p.dims[d];
    a += index[d] * p.a_stride[d] * p.operand_bytes;
    b += index[d] * p.b_stride[d] * p.operand_bytes;
  }
  const size_t skipped = run_begin * p.operand_bytes;
  for (size_t i = begin; i < end; ++i) {
    f(Run{p.a_is_scalar ? a : a + skipped, p.b_is_scalar ? b : b + skipped, p.a_is_scalar,
          p.b_is_scalar, y + (i * p.run + run_begin) * p.output_bytes, run_end - run_begin});
    for (size_t d = p.rank; d-- > 0;) {
      a += p.a_stride[d] * p.operand_bytes;
      b += p.b_stride[d] * p.operand_bytes;
      if (++index[d] < p.dims[d]) break;
      a -= index[d] * p.a_stride[d] * p.operand_bytes;
      b -= index[d] * p.b_stride[d] * p.operand_bytes;
      index[d] = 0;
    }
  }
}

// The same over the whole output, in p.tasks parallel pieces: by runs, or where there are few, by
// their elements.
template <class Run, class T, class F>
void for_all_runs_of(const Broadcast& p, const Parallel& parallel, const T* a, const T* b, T* y,
                     const F& f) {
  if (p.runs >= p.tasks) {
    for_pieces(parallel, p.tasks, p.runs, 1, [&](size_t, size_t begin, size_t end) {
      for_runs<Run>(p, a, b, y, begin, end, 0, p.run, f);
    });
  } else {
    for_pieces(parallel, p.tasks, p.run, kAlignment, [&](size_t, size_t begin, size_t end) {
      for_runs<Run>(p, a, b, y, 0, p.runs, begin, end, f);
    });
  }
}

template <class F>
void for_all_runs(const Broadcast& p, const Parallel& parallel, const uint8_t* a, const uint8_t* b,
                  uint8_t* y, const F& f) {
  for_all_runs_of<ElementwiseRun>(p, parallel, a, b, y, f);
}

// Of a step on int16: inputs 0 and 1, output 0.
template <class F>
void for_all_wide_runs(const Broadcast& p, const Step& step, const RunContext& context,
                       const F& f) {
  for_all_runs_of<WideRun>(p, *context.parallel,
                           reinterpret_cast<const int16_t*>(context.in(step, 0)),
                           reinterpret_cast<const int16_t*>(context.in(step, 1)),
                           reinterpret_cast<int16_t*>(context.out(step, 0)), f);
}

}  // namespace qrt

#endif  // QRT_RUNTIME_OPS_BROADCAST_H_
