// SPDX-License-Identifier: Apache-2.0
// Products of floats that are quantised in a run with constant bytes, as ONNX Runtime's DynamicQuantizeLSTM computes them.
#ifndef QRT_RUNTIME_OPS_BYTE_PRODUCT_H_
#define QRT_RUNTIME_OPS_BYTE_PRODUCT_H_

#include <memory>

#include "kernels/edge/edge.h"
#include "runtime/op.h"
#include "runtime/ops/dynamic_scale.h"
#include "runtime/ops/gemm_call.h"

namespace qrt {

// The left side: rows of k floats as bytes, and what their sums need.
struct ByteRows {
  uint8_t* bytes;  // kSlack readable bytes behind them
  uint32_t* sums;  // sum of the bytes of each row
};

class ByteProduct {
 public:
  // 255 * 128 * kMostIndices < 2^31
  static constexpr int64_t kMostIndices = 65793;

  // Plans the products of `rows` rows with the matrices of input `input`, UINT8 [matrices, k, n], and packs these.
  Status prepare(const PrepareContext& context, size_t input, size_t rows,
                 const flatbuffers::Vector<uint8_t>& zero_points);

  // Quantises the rows [begin, end) of x.
  void quantize(const float* x, const DynamicScale& scale, size_t begin, size_t end,
                const ByteRows& to) const;
  // Writes the products of the rows [begin, end) with one matrix, n floats each, to y; of a row first `addends` are added, which may
  // be null. `scales` are those of the matrix, one or n. y is used for sums on the way.
  void run(size_t matrix, const ByteRows& rows, const DynamicScale& scale, const float* scales,
           bool by_column, size_t begin, size_t end, const float* addends, float* y) const;

  const EdgeKernel& edge() const { return *edge_; }

 private:
  const int32_t* column_sums(size_t matrix) const;

  const EdgeKernel* edge_ = nullptr;
  GemmCall gemm_;
  size_t k_ = 0;
  PlanVector<uint8_t> zero_points_;
  // The table of each matrix: its packed form, then the biases, then the sum of every column less its zero point.
  std::shared_ptr<const TableBytes> table_;
  size_t packed_bytes_ = 0, bias_bytes_ = 0, matrix_bytes_ = 0;
};

}  // namespace qrt

#endif  // QRT_RUNTIME_OPS_BYTE_PRODUCT_H_
