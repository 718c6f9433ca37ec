// SPDX-License-Identifier: Apache-2.0
// Elementwise add and mul in integers, for every instruction set: chunks of a run are widened to
// int32, requantised as tiles of isa/requantize_tile.h whose columns have equal constants, and
// narrowed to bytes. Included by this family's kernel files only: everything has internal linkage.
#ifndef QRT_KERNELS_ELEMENTWISE_BLOCKS_H_
#define QRT_KERNELS_ELEMENTWISE_BLOCKS_H_

#include <string.h>

#include "kernels/elementwise/entry.h"
#include "kernels/isa/stage_sequence.h"

namespace qrt {
namespace {

// Widens x to (x - zero_point) * 2^left_shift, and applies its stages.
template <class V>
inline void widen(const uint8_t* x, size_t n, int32_t zero_point, int32_t left_shift,
                  const StageSequence& stages, int32_t* v) {
  for (size_t i = 0; i < n; ++i) v[i] = (x[i] - zero_point) * (1 << left_shift);
  stages.run<V>(v, n);
}

// An operand of a run, whose chunks it widens to int32.
template <class V>
class Widened {
 public:
  // A repeated element is widened once.
  Widened(const uint8_t* x, bool is_scalar, size_t n, int32_t zero_point, int32_t left_shift,
          const StageSequence& stages)
      : x_(x),
        is_scalar_(is_scalar),
        zero_point_(zero_point),
        left_shift_(left_shift),
        stages_(stages) {
    if (!is_scalar) return;
    uint8_t repeated[kColumns];
    memset(repeated, *x, kColumns);
    widen<V>(repeated, kColumns, zero_point, left_shift, stages, v_);
    for (size_t i = kColumns; i < kChunk && i < n; ++i) v_[i] = v_[0];
    // A last chunk is rounded up to whole columns.
    for (size_t i = n; i < kChunk && i % kColumns != 0; ++i) v_[i] = v_[0];
  }
  Widened(const Widened&) = delete;

  // Returns the `padded` values from element i on, of which n exist and are read.
  const int32_t* at(size_t i, size_t n, size_t padded) {
    if (is_scalar_) return v_;
    const size_t whole = n / kColumns * kColumns;
    widen<V>(x_ + i, whole, zero_point_, left_shift_, stages_, v_);
    if (whole < padded) {
      uint8_t last[kColumns] = {};
      memcpy(last, x_ + i + whole, n - whole);
      widen<V>(last, kColumns, zero_point_, left_shift_, stages_, v_ + whole);
    }
    return v_;
  }

 private:
  const uint8_t* x_;
  bool is_scalar_;
  int32_t zero_point_, left_shift_;
  const StageSequence& stages_;
  alignas(64) int32_t v_[kChunk];
};

// Joins chunk by chunk: join(a, b, padded, out) makes `padded` accumulators, to which the output's
// stages are applied.
template <class V, class Join>
inline void join_blocks(Widened<V>& a, Widened<V>& b, const StageSequence& stages, const Requant& r,
                        uint8_t* y, size_t n, const Join& join) {
  const typename V::Finish finish(r.zero_point, r.lo, r.hi);
  alignas(64) int32_t v[kChunk];
  for (size_t i = 0; i < n; i += kChunk) {
    const size_t count = n - i < kChunk ? n - i : kChunk;
    const size_t padded = (count + kColumns - 1) / kColumns * kColumns;
    join(a.at(i, count, padded), b.at(i, count, padded), padded, v);
    stages.run<V>(v, padded);
    for (size_t j = 0; j < count; j += kColumns)
      finish.store(v + j, y + i + j, count - j < kColumns ? count - j : kColumns);
  }
}

// The stages of an addition, for each operand and for the sum.
struct AddStages {
  explicit AddStages(const AddIntParams& p)
      : a_bound(int64_t{255} << p.left_shift),
        b_bound(a_bound),
        a(p.a_stages, p.a_stage_count, &a_bound),
        b(p.b_stages, p.b_stage_count, &b_bound),
        bound(a_bound + b_bound),
        sum(p.requant.stages, p.requant.stage_count, &bound) {}

  int64_t a_bound, b_bound;
  StageSequence a, b;
  int64_t bound;
  StageSequence sum;
};

template <class V>
inline void add_in_blocks(const AddIntParams& p, const AddStages& stages,
                          const ElementwiseArgs& run) {
  Widened<V> a(run.a, run.a_is_scalar, run.n, p.a_zero_point, p.left_shift, stages.a);
  Widened<V> b(run.b, run.b_is_scalar, run.n, p.b_zero_point, p.left_shift, stages.b);
  if (p.subtract) {
    join_blocks(a, b, stages.sum, p.requant, run.y, run.n,
                [](const int32_t* x, const int32_t* y, size_t n, int32_t* v) {
                  for (size_t i = 0; i < n; ++i) v[i] = x[i] - y[i];
                });
  } else {
    join_blocks(a, b, stages.sum, p.requant, run.y, run.n,
                [](const int32_t* x, const int32_t* y, size_t n, int32_t* v) {
                  for (size_t i = 0; i < n; ++i) v[i] = x[i] + y[i];
                });
  }
}

template <class V>
inline void mul_in_blocks(const MulParams& p, const ElementwiseArgs& run) {
  int64_t none = 255, bound = 255 * 255;
  const StageSequence identity(nullptr, 0, &none);
  const StageSequence stages(p.requant.stages, p.requant.stage_count, &bound);
  Widened<V> a(run.a, run.a_is_scalar, run.n, p.a_zero_point, 0, identity);
  Widened<V> b(run.b, run.b_is_scalar, run.n, p.b_zero_point, 0, identity);
  join_blocks(a, b, stages, p.requant, run.y, run.n,
              [](const int32_t* x, const int32_t* y, size_t n, int32_t* v) {
                for (size_t i = 0; i < n; ++i) v[i] = x[i] * y[i];
              });
}

}  // namespace
}  // namespace qrt

#endif  // QRT_KERNELS_ELEMENTWISE_BLOCKS_H_
