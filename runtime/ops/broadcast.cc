// SPDX-License-Identifier: Apache-2.0
// Numpy broadcasting; see broadcast.h.
#include "runtime/ops/broadcast.h"

#include <algorithm>
#include <cstring>

#include "runtime/ops/check.h"
#include "runtime/ops/tasks.h"

namespace qrt {
namespace {

// Buffers in which short runs are joined to longer ones: an operand is written out as often as
// fits. The operand is one that every index of the innermost loop repeats (the channels of a
// squeeze-and-excitation), or one with a single element for each run (a gate for each pixel).
class Joined {
 public:
  static constexpr size_t kBytes = 1024;

  // Returns `count` copies of the `bytes` bytes at `x`, one behind the other. REQUIRES: count *
  // bytes <= kBytes.
  const uint8_t* repeat(const uint8_t* x, size_t bytes, size_t count) {
    if (x != held_)
      for (size_t i = 0; i < count; ++i) memcpy(bytes_ + i * bytes, x, bytes);
    held_ = x;
    return bytes_;
  }

  // `count` elements of 1, 2, 4 or 8 bytes from x on, each `run` times over; count * run * bytes <= kBytes.
  const uint8_t* repeated(const uint8_t* x, size_t bytes, size_t run, size_t count) {
    switch (bytes) {
      case 1: repeat_bytes(x, run, count); break;
      case 2: repeat_elements<uint16_t>(x, run, count); break;
      case 4: repeat_elements<uint32_t>(x, run, count); break;
      default: repeat_elements<uint64_t>(x, run, count);
    }
    return bytes_;
  }

 private:
  void repeat_bytes(const uint8_t* x, size_t run, size_t count) {
    for (uint8_t* to = bytes_; count > 0; --count, ++x, to += run)
      for (size_t j = 0; j < run; j += kSlack) memset(to + j, *x, kSlack);  // a vector's store
  }

  template <class T>
  void repeat_elements(const uint8_t* x, size_t run, size_t count) {
    uint8_t* to = bytes_;
    for (; count > 0; --count, x += sizeof(T)) {
      T element;
      memcpy(&element, x, sizeof element);
      for (size_t j = 0; j < run; ++j, to += sizeof element) memcpy(to, &element, sizeof element);
    }
  }

  const uint8_t* held_ = nullptr;
  alignas(kAlignment) uint8_t bytes_[kBytes + kSlack];
};

// Returns how many runs to join: in the innermost loop one operand must continue where the run ends,
// and the other must be repeated or have one element for each run.
size_t spans_to_join(const Broadcast& p) {
  if (p.rank == 0) return 1;
  const size_t inner = p.rank - 1, a = p.a_stride[inner], b = p.b_stride[inner];
  const bool a_continues = !p.a_is_scalar && a == p.run, b_continues = !p.b_is_scalar && b == p.run;
  const bool a_joins = b_continues && a == (p.a_is_scalar ? 1 : 0);
  const bool b_joins = a_continues && b == (p.b_is_scalar ? 1 : 0);
  if (!a_joins && !b_joins) return 1;
  const size_t bytes = p.run * (a_joins ? p.a_bytes : p.b_bytes);
  return std::max<size_t>(std::min(Joined::kBytes / bytes, p.dims[inner]), 1);
}

using RowsFn = void (*)(const void* argument, const Rows& rows);

// Runs with index [begin, end), of each the elements [run_begin, run_end).
void for_rows(const Broadcast& p, const uint8_t* a, const uint8_t* b, uint8_t* y, size_t begin,
              size_t end, size_t run_begin, size_t run_end, RowsFn f, const void* argument) {
  size_t index[kMaxTensorRank] = {};
  size_t rest = begin;
  for (size_t d = p.rank; d-- > 0;) {
    index[d] = rest % p.dims[d];
    rest /= p.dims[d];
    a += index[d] * p.a_stride[d] * p.a_bytes;
    b += index[d] * p.b_stride[d] * p.b_bytes;
  }
  if (!p.a_is_scalar) a += run_begin * p.a_bytes;
  if (!p.b_is_scalar) b += run_begin * p.b_bytes;
  const size_t most = run_end - run_begin == p.run ? p.joined : 1;
  const bool spreads = most > 1 && (p.a_is_scalar || p.b_is_scalar);
  Joined written;
  for (size_t i = begin, runs; i < end; i += runs) {
    Rows r{a,
           b,
           p.a_is_scalar,
           p.b_is_scalar,
           y + (i * p.run + run_begin) * p.output_bytes,
           run_end - run_begin,
           1,
           0,
           0,
           0};
    runs = 1;
    if (p.rank > 0) {  // as much of the innermost loop as is left
      const size_t inner = p.rank - 1;
      const size_t a_stride = p.a_stride[inner], b_stride = p.b_stride[inner];
      runs = std::min(end - i, p.dims[inner] - index[inner]);
      const size_t joined = std::min(most, runs);
      if (spreads) {
        if (p.a_is_scalar) r.a = written.repeated(a, p.a_bytes, p.run, joined);
        if (p.b_is_scalar) r.b = written.repeated(b, p.b_bytes, p.run, joined);
        r.a_is_scalar = r.b_is_scalar = false;
      } else if (joined > 1) {
        if (a_stride == 0) r.a = written.repeat(a, p.run * p.a_bytes, most);
        if (b_stride == 0) r.b = written.repeat(b, p.run * p.b_bytes, most);
      }
      r.n += (joined - 1) * p.run;
      r.rows = spreads ? 1 : runs / joined;
      r.a_step = joined * a_stride * p.a_bytes;
      r.b_step = joined * b_stride * p.b_bytes;
      r.y_step = joined * p.run * p.output_bytes;
      runs = r.rows * joined;
    }
    f(argument, r);
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

}  // namespace

int64_t aligned_dim(const Shape& shape, int rank, int i) {
  const int j = i - (rank - shape.rank());
  return j < 0 ? 1 : shape[j];
}

Status broadcast_dims(const Shape& a, const Shape& b, int inner, Shape* shape) {
  const int rank = std::max(a.rank(), b.rank());
  for (int i = 0; i < rank - inner; ++i) {
    const int64_t da = aligned_dim(a, rank, i), db = aligned_dim(b, rank, i);
    QRT_MODEL_CHECK(da == db || da == 1 || db == 1,
                    "shapes %s and %s do not broadcast: dimensions %lld and %lld, expected equal "
                    "ones or 1",
                    a.to_string().c_str(), b.to_string().c_str(), static_cast<long long>(da),
                    static_cast<long long>(db));
    shape->push_back(da == 1 ? db : da);
  }
  return Status();
}

Status infer_broadcast(const InferContext& context, Shape* shape) {
  QRT_TRY(check_activation(context, 0, "a"));
  QRT_TRY(check_dtype(context, 1, "b", context.inputs[0].type.dtype));
  return infer_broadcast_shape(context, shape);
}

Status infer_broadcast_shape(const InferContext& context, Shape* shape) {
  return broadcast_dims(context.inputs[0].type.shape, context.inputs[1].type.shape, 0, shape);
}

Broadcast plan_broadcast(const PrepareContext& context, double ns) {
  const Shape &a = context.inputs[0].type.shape, &b = context.inputs[1].type.shape;
  const Shape& out = context.outputs[0].shape;
  Broadcast p;
  p.a_bytes = dtype_bytes(context.inputs[0].type.dtype);
  p.b_bytes = dtype_bytes(context.inputs[1].type.dtype);
  p.output_bytes = dtype_bytes(context.outputs[0].dtype);
  p.tasks = task_count(ns * static_cast<double>(out.elements()),
                       static_cast<size_t>(out.elements()), context.threads);
  size_t a_elements = 1, b_elements = 1;  // inner to the current dimension
  // From the innermost outwards; loops are gathered innermost first.
  bool has_run = false;
  for (int i = out.rank(); i-- > 0;) {
    const size_t d = static_cast<size_t>(out[i]);
    if (d == 1) continue;
    const bool a_varies = aligned_dim(a, out.rank(), i) != 1;
    const bool b_varies = aligned_dim(b, out.rank(), i) != 1;
    const size_t a_stride = a_varies ? a_elements : 0, b_stride = b_varies ? b_elements : 0;
    a_elements *= a_varies ? d : 1;
    b_elements *= b_varies ? d : 1;
    if (!has_run) {
      p.run = d;
      p.a_is_scalar = !a_varies;
      p.b_is_scalar = !b_varies;
      has_run = true;
      continue;
    }
    // Extends the dimension inside it if both operands continue where they end.
    if (p.rank == 0) {
      const bool a_continues = a_stride == (p.a_is_scalar ? 0 : p.run);
      const bool b_continues = b_stride == (p.b_is_scalar ? 0 : p.run);
      if (a_continues && b_continues) {
        p.run *= d;
        continue;
      }
    } else {
      const size_t inner = p.rank - 1;
      if (a_stride == p.a_stride[inner] * p.dims[inner] &&
          b_stride == p.b_stride[inner] * p.dims[inner]) {
        p.dims[inner] *= d;
        p.runs *= d;
        continue;
      }
    }
    p.dims[p.rank] = d;
    p.a_stride[p.rank] = a_stride;
    p.b_stride[p.rank] = b_stride;
    ++p.rank;
    p.runs *= d;
  }
  std::reverse(p.dims, p.dims + p.rank);
  std::reverse(p.a_stride, p.a_stride + p.rank);
  std::reverse(p.b_stride, p.b_stride + p.rank);
  p.joined = spans_to_join(p);
  return p;
}

// Cuts the output into tasks by runs, or where there are few, by their elements.
void for_all_rows(const Broadcast& p, const Step& step, const RunContext& context, RowsFn f,
                  const void* argument) {
  const uint8_t *a = context.in(step, 0), *b = context.in(step, 1);
  uint8_t* y = context.out(step, 0);
  if (p.runs >= p.tasks) {
    for_chunks(*context.parallel, p.tasks, p.runs, 1, [&](size_t, size_t begin, size_t end) {
      for_rows(p, a, b, y, begin, end, 0, p.run, f, argument);
    });
  } else {
    for_chunks(*context.parallel, p.tasks, p.run, kAlignment,
               [&](size_t, size_t begin, size_t end) {
                 for_rows(p, a, b, y, 0, p.runs, begin, end, f, argument);
               });
  }
}

}  // namespace qrt
