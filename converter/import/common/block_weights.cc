// SPDX-License-Identifier: Apache-2.0
#include "converter/import/common/block_weights.h"

#include "kernels/nbits/nbits.h"

namespace qrt::convert {

bool BlockWeights::has_form(int64_t bits, int64_t block) {
  constexpr int64_t kLeast = kNBitsLeastBlock, kMost = kNBitsMostBlock;
  return (bits == 2 || bits == 4 || bits == 8) && block >= kLeast && block <= kMost &&
         block % kLeast == 0;
}

uint64_t BlockWeights::bytes_of(int64_t n, int64_t k, int64_t bits, int64_t block) {
  const int64_t each = (n + 15) / 16 * ((k + block - 1) / block) * 16;
  return static_cast<uint64_t>(each * (block * bits / 8 + 5));
}

BlockWeights::BlockWeights(int64_t n, int64_t k, int64_t bits, int64_t block)
    : n_(n), k_(k), bits_(bits), block_(block) {
  const int64_t each = (n + 15) / 16 * blocks() * 16;
  w_.assign(static_cast<size_t>(each * block * bits / 8), 0);
  scales_.assign(static_cast<size_t>(each), 0.0f);
  zero_points_.assign(static_cast<size_t>(each), static_cast<uint8_t>(1 << (bits - 1)));
}

std::vector<ValueId> BlockWeights::add_constants(FloatBuilder* f,
                                                 std::vector<ValueId>* more) const {
  Graph& graph = f->builder().graph();
  const int64_t panels = (n_ + 15) / 16;
  const Shape each = {panels, blocks(), 16};
  const auto middle = static_cast<uint8_t>(1 << (bits_ - 1));
  if (std::any_of(zero_points_.begin(), zero_points_.end(), [&](uint8_t z) { return z != middle; }))
    more->push_back(graph.add_constant("", DType::kUInt8, each, zero_points_));
  return {graph.add_constant("", DType::kUInt8, {panels, blocks(), 2 * block_ * bits_}, w_),
          graph.add_constant("", DType::kFloat32, each, scales_)};
}

ValueId BlockWeights::multiply(FloatBuilder* f, ValueId x, const std::vector<float>& bias,
                               bool in_float) const {
  std::vector<ValueId> inputs = {x}, more;
  for (const ValueId v : add_constants(f, &more)) inputs.push_back(v);
  fb::MatMulNBitsOptionsT o;
  o.bits = static_cast<uint8_t>(bits_);
  o.block = static_cast<uint16_t>(block_);
  o.n = static_cast<uint32_t>(n_);
  o.has_zero_points = !more.empty();
  o.has_bias = !bias.empty();
  o.in_float = in_float;
  if (o.has_bias) more.push_back(f->constant({n_}, bias));
  inputs.insert(inputs.end(), more.begin(), more.end());
  Shape shape = f->shape_of(x);
  shape[shape.rank() - 1] = n_;
  const ValueId y = f->builder().new_value("", DType::kFloat32, shape);
  f->builder().add<fb::MatMulNBitsOptionsT>(f->source(), inputs, y) = o;
  return y;
}

ValueId BlockWeights::gather(FloatBuilder* f, ValueId index) const {
  std::vector<ValueId> more, inputs = add_constants(f, &more);
  fb::GatherNBitsOptionsT o;
  o.bits = static_cast<uint8_t>(bits_);
  o.block = static_cast<uint16_t>(block_);
  o.n = static_cast<uint32_t>(n_);
  o.k = static_cast<uint32_t>(k_);
  o.has_zero_points = !more.empty();
  inputs.push_back(index);
  inputs.insert(inputs.end(), more.begin(), more.end());
  Shape shape = f->shape_of(index);
  shape.push_back(k_);
  const ValueId y = f->builder().new_value("", DType::kFloat32, shape);
  f->builder().add<fb::GatherNBitsOptionsT>(f->source(), inputs, y) = o;
  return y;
}

}  // namespace qrt::convert
