// SPDX-License-Identifier: Apache-2.0
// FULLY_CONNECTED of float32 activations and weights in blocks: nbits-seq (kernels/nbits_seq.h), since LiteRT has no portable
// kernel of it.
#include <cmath>

#include "converter/import/common/block_weights.h"
#include "converter/import/tflite/floats/hybrid.h"
#include "converter/import/tflite/ops/linear.h"
#include "kernels/edge/numbers.h"

namespace qrt::convert::from_tflite {
namespace {

// Reads a scale for each block of weights, input 1. Returns false where the operator was refused.
bool read_block_scales(Importer& importer, const Op& op, int64_t count,
                       std::vector<float>* scales) {
  const Tensor& w = importer.input(op, 1);
  const Tensor* t = importer.tensor(w.block_scales);
  const bool is_half = t && t->type == TensorType::FLOAT16;
  if (!t || !t->is_constant || !t->problem.empty() ||
      (!is_half && t->type != TensorType::FLOAT32) || t->shape.elements() != count)
    return refuse_weights(importer, op, 1,
                          "is quantised in blocks, and its scales are no constant of " +
                              std::to_string(count) + " floats",
                          "store a scale of float16 or float32 for every block of every output");
  for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
    float scale;
    uint16_t half;
    if (is_half) {
      __builtin_memcpy(&half, t->data + i * sizeof half, sizeof half);
      scale = half_to_float(half);
    } else {
      __builtin_memcpy(&scale, t->data + i * sizeof scale, sizeof scale);
    }
    if (!std::isfinite(scale))
      return refuse_weights(importer, op, 1, "has a scale that is no finite number",
                            "quantise the weights again");
    scales->push_back(scale);
  }
  // A file that names no zero points may have 0 in their place, as if they were the first tensor.
  const Tensor* zeros = importer.tensor(w.block_zero_points);
  const bool may_be_default = w.block_zero_points == 0 && zeros->shape.elements() != count;
  if (w.block_zero_points < 0 || may_be_default || w.block_zero_points == w.block_scales)
    return true;
  return refuse_weights(importer, op, 1, "is quantised in blocks with zero points",
                        "quantise the blocks symmetrically");
}

}  // namespace

Status multiply_by_blocks(FloatOp* f, ValueId x, ValueId* y) {
  *y = kNoValue;
  Importer& importer = f->importer();
  const Op& op = f->op();
  const Tensor& w = importer.input(op, 1);
  const int64_t bits = w.type == TensorType::INT8   ? 8
                       : w.type == TensorType::INT4 ? 4
                       : w.type == TensorType::INT2 ? 2
                                                    : 0;
  const int64_t n = w.shape[0], k = w.shape[1], block = w.block;
  if (!w.is_constant || !BlockWeights::has_form(bits, block) || k % block != 0) {
    (void)refuse_weights(importer, op, 1,
                         std::string("is ") + type_name(w.type) + " of " + w.shape.to_string() +
                             " in blocks of " + std::to_string(block),
                         "quantise constant weights to int4 or int8 in whole blocks of 16 to 256, "
                         "multiples of 16");
    return Status();
  }
  QRT_TRY(importer.reserve(BlockWeights::bytes_of(n, k, bits, block)));
  std::vector<float> scales;
  HybridLayer bias;
  if (!read_block_scales(importer, op, n * (k / block), &scales) ||
      (op.has_input(2) && !read_addend(f, 2, n, 0, &bias)))
    return Status();
  BlockWeights made(n, k, bits, block);
  const int middle = 1 << (bits - 1);
  for (int64_t o = 0; o < n; ++o) {
    made.set_row(o, [&](int64_t i) {
      return static_cast<uint32_t>(element(w, static_cast<size_t>(o * k + i)) + middle);
    });
    for (int64_t b = 0; b < k / block; ++b)
      made.set_scale(o, b, scales[static_cast<size_t>(o * (k / block) + b)]);
  }
  *y = made.multiply(f, x, bias.addend, /*in_float=*/false);
  return Status();
}

}  // namespace qrt::convert::from_tflite
