// SPDX-License-Identifier: Apache-2.0
// Legality checks shared by the operators; see check.h.
#include "runtime/ops/check.h"

#include "kernels/gemm/pack.h"

namespace qrt {

Status check_input_count(const InferContext& context, size_t expected) {
  QRT_MODEL_CHECK(context.inputs.size() == expected, "has %zu inputs, expected %zu",
                  context.inputs.size(), expected);
  return Status();
}

Status check_dtype(const InferContext& context, size_t i, const char* what, DType expected) {
  const DType dtype = context.inputs[i].type.dtype;
  QRT_MODEL_CHECK(dtype == expected, "input %zu (%s) is %s, expected %s", i, what,
                  dtype_name(dtype), dtype_name(expected));
  return Status();
}

Status check_rank(const InferContext& context, size_t i, const char* what, int expected,
                  const char* layout) {
  const Shape& shape = context.inputs[i].type.shape;
  QRT_MODEL_CHECK(shape.rank() == expected,
                  "input %zu (%s) has shape %s of rank %d, expected %d %s", i, what,
                  shape.to_string().c_str(), shape.rank(), expected, layout);
  return Status();
}

Status check_activation(const InferContext& context, size_t i, const char* what) {
  const DType dtype = context.inputs[i].type.dtype;
  QRT_MODEL_CHECK(dtype == DType::kUInt8 || dtype == DType::kInt16,
                  "input %zu (%s) is %s, expected uint8 or int16", i, what, dtype_name(dtype));
  return Status();
}

Status check_image(const InferContext& context, size_t i) {
  QRT_TRY(check_activation(context, i, "x"));
  const Shape& shape = context.inputs[i].type.shape;
  QRT_MODEL_CHECK(
      shape.rank() == 4 || shape.rank() == 5,
      "input %zu (x) has shape %s of rank %d, expected 4 [n, h, w, c] or 5 [n, d, h, w, c]", i,
      shape.to_string().c_str(), shape.rank());
  return Status();
}

Status check_constant(const InferContext& context, size_t i, const char* what, fb::Packing packing,
                      uint64_t bytes) {
  const OpInput& input = context.inputs[i];
  QRT_MODEL_CHECK(input.data != nullptr, "input %zu (%s) is not a constant", i, what);
  QRT_MODEL_CHECK(input.tensor->packing() == packing,
                  "input %zu (%s) has packing %d, expected %d (%s)", i, what,
                  static_cast<int>(input.tensor->packing()), static_cast<int>(packing),
                  fb::EnumNamePacking(packing));
  QRT_MODEL_CHECK(input.data_bytes == bytes, "input %zu (%s) holds %zu bytes, expected %llu", i,
                  what, input.data_bytes, static_cast<unsigned long long>(bytes));
  return Status();
}

Status check_weights(const InferContext& context, fb::Packing packing, uint64_t bytes,
                     size_t channel_blocks) {
  QRT_TRY(check_constant(context, 1, "weights", packing, bytes));
  const auto* offsets = context.inputs[1].tensor->weight_offset();
  QRT_MODEL_CHECK(offsets == nullptr || offsets->size() == channel_blocks * 16,
                  "input 1 (weights) has %u values of weight_offset, expected %zu", offsets->size(),
                  channel_blocks * 16);
  return Status();
}

Status check_type(const InferContext& context, size_t i, const char* what, DType dtype,
                  const Shape& shape) {
  QRT_TRY(check_dtype(context, i, what, dtype));
  const Shape& actual = context.inputs[i].type.shape;
  QRT_MODEL_CHECK(actual == shape, "input %zu (%s) has shape %s, expected %s", i, what,
                  actual.to_string().c_str(), shape.to_string().c_str());
  return Status();
}

Status check_plain_constant(const InferContext& context, size_t i, const char* what, DType dtype,
                            const Shape& shape) {
  QRT_TRY(check_type(context, i, what, dtype, shape));
  return check_constant(context, i, what, fb::Packing::NONE,
                        static_cast<size_t>(shape.elements()) * dtype_bytes(dtype));
}

Status check_gemm_tails(const InferContext& context, size_t groups, size_t n, size_t taps,
                        size_t k) {
  const auto* packed = reinterpret_cast<const int8_t*>(context.inputs[1].data);
  for (size_t g = 0; g < groups; ++g) {
    QRT_MODEL_CHECK(gemm_tails_are_zero(packed + g * gemm_packed_bytes(n, taps, k), n, taps, k),
                    "input 1 (weights) is not zero where its packing rounds %zu up to 4", k);
  }
  return Status();
}

Status check_true_weight_sum(const InferContext& context,
                             const flatbuffers::Vector<int32_t>* weight_sum, size_t groups,
                             size_t n, size_t taps, size_t k) {
  const auto* packed = reinterpret_cast<const int8_t*>(context.inputs[1].data);
  ScratchVector<int32_t> sums(n);
  for (size_t g = 0; g < groups; ++g) {
    gemm_weight_sums(packed + g * gemm_packed_bytes(n, taps, k), n, taps, k, sums.data());
    for (size_t j = 0; j < n; ++j) {
      const size_t c = g * n + j;
      const int32_t given = weight_sum->Get(static_cast<uint32_t>(c));
      QRT_MODEL_CHECK(given == sums[j], "weight_sum[%zu] is %d, the sum of the weights is %d", c,
                      given, sums[j]);
    }
  }
  return Status();
}

Status check_bias(const InferContext& context, size_t i, size_t channels) {
  QRT_TRY(check_dtype(context, i, "bias", DType::kInt32));
  const Shape& shape = context.inputs[i].type.shape;
  QRT_MODEL_CHECK(shape.rank() == 1 && static_cast<uint64_t>(shape[0]) == channels,
                  "input %zu (bias) has shape %s, expected [%zu]", i, shape.to_string().c_str(),
                  channels);
  return check_constant(context, i, "bias", fb::Packing::NONE, channels * sizeof(int32_t));
}

Status check_weight_sum(const flatbuffers::Vector<int32_t>* weight_sum, size_t channels) {
  const size_t size = weight_sum ? weight_sum->size() : 0;
  QRT_MODEL_CHECK(size == channels, "weight_sum has %zu values, expected one per channel (%zu)",
                  size, channels);
  return Status();
}

Status declared_output_dtype(const InferContext& context, DType* dtype) {
  const auto& outputs = *context.op->outputs();
  QRT_MODEL_CHECK(outputs.size() == 1, "has %u outputs, expected 1", outputs.size());
  *dtype = static_cast<DType>(context.model->tensors()->Get(outputs.Get(0))->dtype());
  return Status();
}

Status check_whole_bytes(const TensorType& x) {
  QRT_MODEL_CHECK(!is_packed(x.dtype), "input 0 (x) is %s, expected elements of whole bytes",
                  dtype_name(x.dtype));
  return Status();
}

Status add_output(DType dtype, const Shape& shape, TensorTypes* outputs) {
  QRT_SIZE_CHECK(shape.elements() >= 0, "the output has shape %s, more than 2^40 elements",
                 shape.to_string().c_str());
  outputs->push_back({dtype, shape});
  return Status();
}

Status check_range(const char* what, int64_t value, int64_t lo, int64_t hi) {
  QRT_MODEL_CHECK(lo <= value && value <= hi, "%s is %lld, expected %lld to %lld", what,
                  static_cast<long long>(value), static_cast<long long>(lo),
                  static_cast<long long>(hi));
  return Status();
}

}  // namespace qrt
