#include "runtime/slices.h"

#include <algorithm>

#include "runtime/infer.h"

namespace qrt {
namespace {

// What one step reads and writes of a slice, for each thread: half of a second-level cache.
constexpr size_t kSliceBytes = 1 << 20;

// The batch is the first dimension, nothing else depends on it, and images start at whole bytes.
bool is_stack(const TensorType& type, const Shape& all, size_t batch) {
  const Shape& one = type.shape;
  if (is_packed(type.dtype) || one.rank() != all.rank() || one.rank() == 0) return false;
  if (all[0] != one[0] * static_cast<int64_t>(batch)) return false;
  return std::equal(one.begin() + 1, one.end(), all.begin() + 1);
}

bool is_constant_at(const fb::Model& model, uint32_t tensor) {
  return is_constant(*model.tensors()->Get(tensor));
}

// All that is not constant has the output's rank, so that index 0 is the image everywhere.
bool has_one_rank(const fb::Model& model, const fb::Operator& op,
                  const std::vector<TensorType>& types) {
  const int rank = types[op.outputs()->Get(0)].shape.rank();
  return std::all_of(op.inputs()->begin(), op.inputs()->end(), [&](uint32_t t) {
    return is_constant_at(model, t) || types[t].shape.rank() == rank;
  });
}

// Each index 0 of the output comes from the same index of the inputs. Operators that are not known
// to do so are taken to mix images.
bool keeps_images_apart(const fb::Model& model, const fb::Operator& op,
                        const std::vector<TensorType>& types) {
  switch (op.options_type()) {
    case fb::OpOptions::Conv2D:
    case fb::OpOptions::DepthwiseConv2D:
    case fb::OpOptions::MaxPool2D:
    case fb::OpOptions::AveragePool2D:
    case fb::OpOptions::GlobalAveragePool2D:
    case fb::OpOptions::Lut:
    case fb::OpOptions::Reshape: return true;
    case fb::OpOptions::FullyConnected: return types[op.inputs()->Get(0)].shape.rank() > 1;
    case fb::OpOptions::Add:
    case fb::OpOptions::Formula:
    case fb::OpOptions::Mul: return has_one_rank(model, op, types);
    case fb::OpOptions::Quantize: return op.options_as<fb::QuantizeOptions>()->axis() != 0;
    case fb::OpOptions::Dequantize: return op.options_as<fb::DequantizeOptions>()->axis() != 0;
    case fb::OpOptions::Softmax: return types[op.inputs()->Get(0)].shape.rank() > 1;
    case fb::OpOptions::Concat: return op.options_as<fb::ConcatOptions>()->axis() != 0;
    case fb::OpOptions::Transpose:
      return op.options_as<fb::TransposeOptions>()->perm()->Get(0) == 0;
    default: return false;
  }
}

}  // namespace

size_t count_slices(const fb::Model& model, const std::vector<TensorType>& one,
                    const std::vector<TensorType>& all, size_t batch, size_t threads) {
  // Of one image: the most that a step reads and writes, and all steps' sum; constants that a
  // product of few rows streams.
  size_t most = 1, sum = 0, streamed = 0;
  for (const fb::Operator* op : *model.operators()) {
    if (!keeps_images_apart(model, *op, one)) return 1;
    size_t bytes = 0;
    const auto add = [&](uint32_t t) {
      bytes += tensor_bytes(one[t]);
      return is_stack(one[t], all[t].shape, batch);
    };
    for (uint32_t t : *op->outputs())
      if (!add(t)) return 1;
    for (uint32_t t : *op->inputs())
      if (!is_constant_at(model, t) && !add(t)) return 1;
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
