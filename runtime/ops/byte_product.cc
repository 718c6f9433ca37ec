// SPDX-License-Identifier: Apache-2.0
#include "runtime/ops/byte_product.h"

#include "kernels/gemm/pack.h"
#include "kernels/gemm/pack_activations.h"
#include "runtime/checked.h"

namespace qrt {
namespace {

// Bytes are packed less 128, whatever their zero point is; the difference is corrected by the sum of each row.
constexpr int32_t kPackedZeroPoint = 128;

}  // namespace

Status ByteProduct::prepare(const PrepareContext& context, size_t input, size_t rows,
                            const flatbuffers::Vector<uint8_t>& zero_points) {
  const OpInput& b = context.inputs[input];
  const auto matrices = static_cast<size_t>(b.type.shape[0]);
  edge_ = select_edge(context.isas);
  zero_points_.assign(zero_points.begin(), zero_points.end());
  k_ = static_cast<size_t>(b.type.shape[1]);
  gemm_.m = rows;
  gemm_.n = static_cast<size_t>(b.type.shape[2]);
  gemm_.taps = 1;
  gemm_.kc = round_up(k_, 4);
  QRT_TRY(context.take(gemm_table_bytes(nullptr, 1, gemm_.n)));
  plan_gemm({nullptr, /*pair_safe=*/false, context.file_end, context.shared}, context.isas,
            /*threads=*/1, &gemm_);
  size_t bytes = 0;
  // Kernels read biases up to the next multiple of 64 channels.
  if (!checked_align(size_or_most(gemm_packed_bytes(gemm_.n, 1, gemm_.kc)), kAlignment,
                     &packed_bytes_) ||
      !checked_mul(round_up(gemm_.n, 64), sizeof(int32_t), &bias_bytes_) ||
      !checked_add(packed_bytes_, 2 * bias_bytes_, &matrix_bytes_) ||
      !checked_mul(matrix_bytes_, matrices, &bytes))
    return error(Code::kOutOfMemory, "the packed weights take more memory than there is");
  QRT_TRY(context.take(bytes));
  const PackActivationsFn pack = select_pack_activations(context.isas)->fn;
  const uint32_t factor = gemm_.kernel->signed_lhs ? 128 : 0;
  TableKey key("byte product");
  key.add(b.data, pack, k_, gemm_.n, matrices, factor);
  for (const uint8_t z : zero_points_) key.add(z);
  table_ = context.shared->get_bytes(key, bytes, [&](uint8_t* area) {
    for (size_t i = 0; i < matrices; ++i, area += matrix_bytes_) {
      const uint8_t* const from = b.data + i * k_ * gemm_.n;
      auto* const bias = reinterpret_cast<int32_t*>(area + packed_bytes_);
      auto* const sums = reinterpret_cast<int32_t*>(area + packed_bytes_ + bias_bytes_);
      pack({from, gemm_.n, k_, /*transposed=*/false, kPackedZeroPoint,
            reinterpret_cast<int8_t*>(area), factor, 0, bias},
           0, gemm_.n);
      for (size_t j = 0; j < gemm_.n; ++j) {
        int32_t sum = 0;
        for (size_t c = 0; c < k_; ++c) sum += from[c * gemm_.n + j] - zero_points_[i];
        sums[j] = sum;
      }
    }
  });
  return {};
}

void ByteProduct::quantize(const float* x, const DynamicScale& scale, size_t begin, size_t end,
                           const ByteRows& to) const {
  uint8_t* const bytes = to.bytes + begin * k_;
  edge_->quantize(x + begin * k_, (end - begin) * k_, scale.scale, scale.zero_point, 0, 255, bytes);
  for (size_t r = begin; r < end; ++r) {
    uint32_t sum = 0;
    for (size_t c = 0; c < k_; ++c) sum += to.bytes[r * k_ + c];
    to.sums[r] = sum;
  }
}

const int32_t* ByteProduct::column_sums(size_t matrix) const {
  return reinterpret_cast<const int32_t*>(table_->data() + matrix * matrix_bytes_ + packed_bytes_ +
                                          bias_bytes_);
}

void ByteProduct::run(size_t matrix, const ByteRows& rows, const DynamicScale& scale,
                      const float* scales, bool by_column, size_t begin, size_t end,
                      const float* addends, float* y) const {
  const uint8_t* const packed = table_->data() + matrix * matrix_bytes_;
  const size_t n = gemm_.n;
  GemmOperands operands{};
  operands.a = rows.bytes;
  operands.a_stride = k_;
  operands.weights = reinterpret_cast<const int8_t*>(packed);
  operands.bias = reinterpret_cast<const int32_t*>(packed + packed_bytes_);
  operands.c = y;
  run_gemm_range(gemm_, operands, 0, {begin, end, 0, n});
  // sum of (a - za) * (b - zb) = sum of a * (b - 128) + (128 - zb) * sum of a - za * sum of (b - zb), modulo 2^32
  const int32_t* const sums = column_sums(matrix);
  const auto moved = static_cast<uint32_t>(kPackedZeroPoint - zero_points_[matrix]);
  const auto zero_point = static_cast<uint32_t>(scale.zero_point);
  for (size_t r = begin; r < end; ++r) {
    float* const row = y + r * n;
    const float* const added = addends == nullptr ? nullptr : addends + r * n;
    const uint32_t of_row = moved * rows.sums[r];
    for (size_t j = 0; j < n; ++j) {
      uint32_t sum;
      memcpy(&sum, row + j, sizeof sum);
      sum += of_row - zero_point * static_cast<uint32_t>(sums[j]);
      const float v =
          static_cast<float>(static_cast<int32_t>(sum)) * (scale.scale * scales[by_column ? j : 0]);
      row[j] = added == nullptr ? v : added[j] + v;
    }
  }
}

}  // namespace qrt
