// SPDX-License-Identifier: Apache-2.0
#include "runtime/micro_batches.h"

#include <algorithm>

#include "runtime/infer.h"

namespace qrt {
namespace {

// The bytes of a micro-batch that one step reads and writes, for each thread: half of a second-level cache.
constexpr size_t kSliceBytes = 1 << 20;

// Returns whether the batch is the first dimension, nothing else depends on it, and images start at
// whole bytes.
bool is_stack(const TensorType& type, const Shape& all, size_t batch) {
  const Shape& one = type.shape;
  if (is_packed(type.dtype) || one.rank() != all.rank() || one.rank() == 0) return false;
  if (all[0] != one[0] * static_cast<int64_t>(batch)) return false;
  return std::equal(one.begin() + 1, one.end(), all.begin() + 1);
}

bool is_constant_at(const fb::Model& model, uint32_t tensor) {
  return is_constant(*model.tensors()->Get(tensor));
}

bool keeps_images_apart(const fb::Model& model, const fb::Operator& op, const TensorTypes& types) {
  BatchOperands operands;
  for (uint32_t t : *op.inputs())
    operands.inputs.push_back({types[t].shape, is_constant_at(model, t)});
  operands.output = types[op.outputs()->Get(0)].shape;
  return traits_of(op.options_type()).keeps_images_apart(op, operands);
}

}  // namespace

size_t count_micro_batches(const fb::Model& model, const TensorTypes& one, const TensorTypes& all,
                           size_t batch, size_t threads) {
  // The most bytes that a step reads and writes for one image, the sum over all steps, and the
  // constants that a product of few rows streams.
  size_t most = 1, sum = 0, streamed = 0;
  for (const fb::Operator* op : *model.operators()) {
    size_t bytes = 0;
    const auto add = [&](uint32_t t) {
      bytes += tensor_bytes(one[t]);
      return is_stack(one[t], all[t].shape, batch);
    };
    for (uint32_t t : *op->outputs())
      if (!add(t)) return 1;
    for (uint32_t t : *op->inputs())
      if (!is_constant_at(model, t) && !add(t)) return 1;
    if (!keeps_images_apart(model, *op, one)) return 1;
    if (op->options_type() == fb::OpOptions::FullyConnected)
      streamed += tensor_bytes(one[op->inputs()->Get(1)]);
    most = std::max(most, bytes);
    sum += bytes;
  }
  size_t images = std::min(batch, std::max<size_t>(kSliceBytes * threads / most, 1));
  while (batch % images != 0) --images;
  return streamed <= sum * images ? batch / images : 1;
}

}  // namespace qrt
