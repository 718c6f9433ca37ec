// Numpy broadcasting of two tensors: shapes to runs of the elementwise kernels.
#ifndef QRT_RUNTIME_OPS_BROADCAST_H_
#define QRT_RUNTIME_OPS_BROADCAST_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

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
  // Runs of the innermost loop that are one where an operand is repeated: Joined.
  size_t joined = 1;
  size_t a_bytes = 1, b_bytes = 1, output_bytes = 1;  // of an element
  size_t tasks = 1;                                   // parallel

  // Both tensors have the output's shape.
  bool is_plain() const { return rank == 0 && !a_is_scalar && !b_is_scalar; }
};

// Of a step's inputs 0 and 1 and its output 0; an element of it takes about `ns`.
// REQUIRES: infer_broadcast() or infer_broadcast_shape() succeeded.
Broadcast plan_broadcast(const PrepareContext& context, double ns);

// Short runs beside an operand that every index of the innermost loop repeats (the channels of a
// squeeze-and-excite) are joined: that operand is written out as often as fits.
class Joined {
 public:
  static constexpr size_t kBytes = 1024;

  // `bytes` at `x`, `count` times over; count * bytes <= kBytes.
  const uint8_t* repeat(const uint8_t* x, size_t bytes, size_t count) {
    if (x != held_)
      for (size_t i = 0; i < count; ++i) memcpy(bytes_ + i * bytes, x, bytes);
    held_ = x;
    return bytes_;
  }

 private:
  const uint8_t* held_ = nullptr;
  alignas(kAlignment) uint8_t bytes_[kBytes + kSlack];
};

// Runs with index [begin, end), of each the elements [run_begin, run_end): f(Run). Run: as
// ElementwiseRun, of any pointers.
template <class Run, class F>
void for_runs(const Broadcast& p, const uint8_t* a, const uint8_t* b, uint8_t* y, size_t begin,
              size_t end, size_t run_begin, size_t run_end, const F& f) {
  size_t index[kMaxTensorRank] = {};
  size_t rest = begin;
  for (size_t d = p.rank; d-- > 0;) {
    index[d] = rest % p.dims[d];
    rest /= p.dims[d];
    a += index[d] * p.a_stride[d] * p.a_bytes;
    b += index[d] * p.b_stride[d] * p.b_bytes;
  }
  const bool is_whole = run_begin == 0 && run_end == p.run;
  const size_t joined = is_whole ? p.joined : 1;
  Joined repeated;
  for (size_t i = begin, runs; i < end; i += runs) {
    runs = 1;
    const uint8_t* x = p.a_is_scalar ? a : a + run_begin * p.a_bytes;
    const uint8_t* z = p.b_is_scalar ? b : b + run_begin * p.b_bytes;
    if (joined > 1) {
      const size_t inner = p.rank - 1;
      runs = std::min({joined, end - i, p.dims[inner] - index[inner]});
      if (p.a_stride[inner] == 0)
        x = repeated.repeat(a, p.run * p.a_bytes, joined);
      else
        z = repeated.repeat(b, p.run * p.b_bytes, joined);
    }
    f(Run{reinterpret_cast<decltype(Run::a)>(x), reinterpret_cast<decltype(Run::b)>(z),
          p.a_is_scalar, p.b_is_scalar,
          reinterpret_cast<decltype(Run::y)>(y + (i * p.run + run_begin) * p.output_bytes),
          (runs - 1) * p.run + run_end - run_begin});
    size_t steps = runs;
    for (size_t d = p.rank; d-- > 0; steps = 1) {
      a += steps * p.a_stride[d] * p.a_bytes;
      b += steps * p.b_stride[d] * p.b_bytes;
      index[d] += steps;
      if (index[d] < p.dims[d]) break;
      a -= index[d] * p.a_stride[d] * p.a_bytes;
      b -= index[d] * p.b_stride[d] * p.b_bytes;
      index[d] = 0;
    }
  }
}

// The same over the whole output of a step, in p.tasks parallel pieces: by runs, or where there are
// few, by their elements.
template <class Run, class F>
void for_all_runs(const Broadcast& p, const Step& step, const RunContext& context, const F& f) {
  const uint8_t *a = context.in(step, 0), *b = context.in(step, 1);
  uint8_t* y = context.out(step, 0);
  if (p.runs >= p.tasks) {
    for_pieces(*context.parallel, p.tasks, p.runs, 1, [&](size_t, size_t begin, size_t end) {
      for_runs<Run>(p, a, b, y, begin, end, 0, p.run, f);
    });
  } else {
    for_pieces(*context.parallel, p.tasks, p.run, kAlignment,
               [&](size_t, size_t begin, size_t end) {
                 for_runs<Run>(p, a, b, y, 0, p.runs, begin, end, f);
               });
  }
}

}  // namespace qrt

#endif  // QRT_RUNTIME_OPS_BROADCAST_H_
