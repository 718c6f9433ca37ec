// SPDX-License-Identifier: Apache-2.0
// Legality checks shared by the operators' infer() functions. All return kInvalidModel with the
// offending value and what is accepted.
#ifndef QRT_RUNTIME_OPS_CHECK_H_
#define QRT_RUNTIME_OPS_CHECK_H_

#include <cmath>
#include <cstring>
#include <vector>

#include "kernels/built.h"
#include "runtime/op.h"

namespace qrt {

Status check_input_count(const InferContext& context, size_t expected);

// Checks an input's type. `what` names the input in messages ("x", "weights").
Status check_dtype(const InferContext& context, size_t i, const char* what, DType expected);
Status check_rank(const InferContext& context, size_t i, const char* what, int expected,
                  const char* layout);

// Checks that input i is an activation: uint8 or int16.
Status check_activation(const InferContext& context, size_t i, const char* what);

// Returns the greatest |x - zero_point| of an int16 x.
constexpr int64_t int16_reach(int32_t zero_point) {
  return zero_point < 0 ? int64_t{INT16_MAX} - zero_point : zero_point - int64_t{INT16_MIN};
}

// Checks that input i are images, as image_shape() takes them, of uint8 or int16.
Status check_image(const InferContext& context, size_t i);

// Checks that input i is a constant of the given packing holding exactly `bytes` bytes.
Status check_constant(const InferContext& context, size_t i, const char* what, fb::Packing packing,
                      uint64_t bytes);

// Checks that input 1 holds packed weights of exactly `bytes` int8, for that many channels: the
// lines of a block of 16 stand together.
Status check_weights(const InferContext& context, fb::Packing packing, uint64_t bytes,
                     size_t channel_blocks);

// Checks that input i is a constant of this type, its elements in order.
Status check_plain_constant(const InferContext& context, size_t i, const char* what, DType dtype,
                            const Shape& shape);

// Checks that input i is a tensor of this type.
Status check_type(const InferContext& context, size_t i, const char* what, DType dtype,
                  const Shape& shape);

// Checks that groups of packed gemm weights (input 1, of the right size) are zero where the packing
// has no weight.
Status check_gemm_tails(const InferContext& context, size_t groups, size_t n, size_t taps,
                        size_t k);

// Checks that weight_sum holds the sum of every output's weights (input 1, of `groups` groups whose
// tails are zero).
Status check_true_weight_sum(const InferContext& context,
                             const flatbuffers::Vector<int32_t>* weight_sum, size_t groups,
                             size_t n, size_t taps, size_t k);

// Checks that input i is a constant int32 vector of `channels` biases.
Status check_bias(const InferContext& context, size_t i, size_t channels);

// Checks that weight_sum holds one value per channel.
Status check_weight_sum(const flatbuffers::Vector<int32_t>* weight_sum, size_t channels);

// Returns whether this type is INT16, for which operators have kernels of their own, and built in.
constexpr bool runs_int16(DType dtype) { return built::kInt16 && dtype == DType::kInt16; }

// Returns whether a table maps values of this type: any 8-bit type.
inline bool is_byte(DType dtype) {
  return dtype == DType::kUInt8 || dtype == DType::kInt8 || dtype == DType::kBool;
}

// Reads the element type that the file declares for output 0, for operators that may produce several.
Status declared_output_dtype(const InferContext& context, DType* dtype);

// Checks that elements are whole bytes, as operators that move elements need.
Status check_whole_bytes(const TensorType& x);

// Appends the type, unless its dimensions overflow.
Status add_output(DType dtype, const Shape& shape, TensorTypes* outputs);

// lo <= value <= hi
Status check_range(const char* what, int64_t value, int64_t lo, int64_t hi);

inline float float_of(uint32_t bits) {
  float f;
  memcpy(&f, &bits, 4);
  return f;
}

}  // namespace qrt

#endif  // QRT_RUNTIME_OPS_CHECK_H_
