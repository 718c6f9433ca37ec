// SPDX-License-Identifier: Apache-2.0
// The parameters that a Float operator's prepare() leaves for its runs, and for steps that fuse it
// (float_attention.h).
#ifndef QRT_RUNTIME_OPS_FLOAT_STEP_H_
#define QRT_RUNTIME_OPS_FLOAT_STEP_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kernels/edge/edge.h"
#include "kernels/float_fallback/float_fallback.h"
#include "runtime/op.h"
#include "runtime/ops/broadcast.h"

namespace qrt {

// A table that is fl32((x - zero_point) * scale), what DequantizeLinear leaves behind: nothing has to
// be looked up.
struct LinearTable {
  const EdgeKernel* kernel = nullptr;  // null: the table is another
  float scale = 0;
  int32_t zero_point = 0;
};

// The rows of a product's left side that are multiplied by one matrix of its right side: rows_each for
// each matrix in turn, and after the last matrix the first one again.
struct FloatMatrices {
  size_t rows_each = 0, count = 0;

  FloatMatrices() = default;
  // REQUIRES: infer_product() accepts the two sides; `rows` of the left one in all.
  FloatMatrices(const Shape& a, const Shape& b, size_t rows) : rows_each(rows), count(1) {
    if (b.rank() > 2) rows_each = static_cast<size_t>(a[a.rank() - 2]);
    for (int i = 0; i < b.rank() - 2; ++i) count *= static_cast<size_t>(b[i]);
  }

  // Calls run(begin, rows, matrix) for the rows from `begin` to `end`.
  template <typename Run>
  void for_rows(size_t begin, size_t end, const Run& run) const {
    while (begin < end) {
      const size_t turn = begin / rows_each;
      const size_t rows = std::min(end, (turn + 1) * rows_each) - begin;
      run(begin, rows, turn % count);
      begin += rows;
    }
  }
};

struct FloatParams {
  const FloatKernel* kernel;
  LinearTable line;  // a TABLE's
  fb::FloatFunction function;
  float epsilon;
  Broadcast broadcast;
  size_t rows, n, tasks;  // elementwise: rows is 1
  size_t k = 0;           // a MATMUL's
  FloatMatrices matrices;
  bool has_bias = false;  // a LAYER_NORM's
};

inline const float* floats(const uint8_t* p) { return reinterpret_cast<const float*>(p); }
inline float* floats(uint8_t* p) { return reinterpret_cast<float*>(p); }

// Returns the kernel's name for an elementwise function of two operands.
FloatBinary binary_of(fb::FloatFunction f);

// The kinds of steps that attention is made of; the parameters of all but kOther are FloatParams.
enum class FloatStepKind { kOther, kProduct, kBinary, kSoftmax };
FloatStepKind float_step_kind(const Step& step);

}  // namespace qrt

#endif  // QRT_RUNTIME_OPS_FLOAT_STEP_H_
