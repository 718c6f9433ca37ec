// SPDX-License-Identifier: Apache-2.0
// Numpy broadcasting of two tensors: shapes to runs of the elementwise kernels.
#ifndef QRT_RUNTIME_OPS_BROADCAST_H_
#define QRT_RUNTIME_OPS_BROADCAST_H_

#include <cstddef>
#include <cstdint>

#include "kernels/elementwise/rows.h"
#include "runtime/op.h"

namespace qrt {

// Returns dimension i of `shape` aligned to the last of `rank` dimensions: 1 in front of its first.
int64_t aligned_dim(const Shape& shape, int rank, int i);

// Appends to *shape the dimensions of a and b, all but their last `inner` ones, broadcast together.
Status broadcast_dims(const Shape& a, const Shape& b, int inner, Shape* shape);

// Checks that inputs 0 and 1 broadcast together; *shape is the result's.
Status infer_broadcast_shape(const InferContext& context, Shape* shape);
// Infers the broadcast shape of inputs 0 and 1, which must both be uint8 or both int16.
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
  // Runs of the innermost loop that are one row where an operand is repeated: Joined.
  size_t joined = 1;
  size_t a_bytes = 1, b_bytes = 1, output_bytes = 1;  // size of an element
  size_t tasks = 1;                                   // parallel

  // Returns whether both tensors have the output's shape.
  bool is_plain() const { return rank == 0 && !a_is_scalar && !b_is_scalar; }
};

// Plans the broadcast of a step's inputs 0 and 1 to its output 0; an element takes about `ns`.
// REQUIRES: infer_broadcast() or infer_broadcast_shape() succeeded.
Broadcast plan_broadcast(const PrepareContext& context, double ns);

// Calls f(argument, rows) for the whole output of a step, in p.tasks parallel chunks.
void for_all_rows(const Broadcast& p, const Step& step, const RunContext& context,
                  void (*f)(const void* argument, const Rows& rows), const void* argument);

template <class F>
void for_all_rows(const Broadcast& p, const Step& step, const RunContext& context, const F& f) {
  for_all_rows(
      p, step, context,
      [](const void* argument, const Rows& rows) { (*static_cast<const F*>(argument))(rows); }, &f);
}

// Calls f(Run) for each row of the output. Run has the fields of ElementwiseArgs, with any pointers.
template <class Run, class F>
void for_all_spans(const Broadcast& p, const Step& step, const RunContext& context, const F& f) {
  for_all_rows(p, step, context, [&](Rows r) {
    for (; r.rows > 0; --r.rows, r.a += r.a_step, r.b += r.b_step, r.y += r.y_step) {
      f(Run{reinterpret_cast<decltype(Run::a)>(r.a), reinterpret_cast<decltype(Run::b)>(r.b),
            r.a_is_scalar, r.b_is_scalar, reinterpret_cast<decltype(Run::y)>(r.y), r.n});
    }
  });
}

}  // namespace qrt

#endif  // QRT_RUNTIME_OPS_BROADCAST_H_
