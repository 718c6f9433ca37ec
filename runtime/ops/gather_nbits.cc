// SPDX-License-Identifier: Apache-2.0
// GatherNBits: rows of weights in blocks, as floats, at indices known only at run time.
#include <algorithm>
#include <cmath>

#include "runtime/ops/indices.h"
#include "runtime/ops/nbits.h"
#include "runtime/ops/ops.h"
#include "runtime/ops/tasks.h"

namespace qrt {
namespace {

enum Input : size_t { kW, kScales, kIndex, kZeroPoints };

Status infer(const InferContext& context, TensorTypes* outputs) {
  const auto* o = context.op->options_as<fb::GatherNBitsOptions>();
  QRT_TRY(check_input_count(context, o->has_zero_points() ? 4 : 3));
  QRT_TRY(check_nbits(context, *o, o->k(), kW, kZeroPoints));
  QRT_TRY(check_index_type(context.inputs[kIndex].type.dtype));
  Shape shape = context.inputs[kIndex].type.shape;
  QRT_MODEL_CHECK(shape.rank() < kMaxTensorRank,
                  "its output has %d dimensions, expected at most %d", shape.rank() + 1,
                  kMaxTensorRank);
  shape.push_back(o->k());
  return add_output(DType::kFloat32, shape, outputs);
}

struct Params {
  NBitsWeights weights;
  size_t rows, tasks;
};

void write_row(const NBitsWeights& w, size_t row, float* y) {
  for (size_t b = 0; b < w.blocks; ++b) {
    const float scale = nbits_scale(w, row, b);
    const int32_t zero_point = nbits_zero_point(w, row, b);
    const size_t end = std::min(w.k, (b + 1) * w.block);
    for (size_t k = b * w.block; k < end; ++k) {
      const float v = static_cast<float>(nbits_weight(w, row, k) - zero_point) * scale;
      y[k] = std::isnan(v) ? float_of(0x7fc00000) : v;
    }
  }
}

template <class Index>
void run(const Step& step, const RunContext& context) {
  const Params& p = step.as<Params>();
  const auto* index = reinterpret_cast<const Index*>(context.in(step, kIndex));
  if (!are_inside(step, context, index, p.rows, p.weights.n)) {
    context.failure->input = kIndex;
    return;
  }
  auto* y = reinterpret_cast<float*>(context.out(step, 0));
  for_chunks(*context.parallel, p.tasks, p.rows, 1, [&](size_t, size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i)
      write_row(p.weights, placed(index[i], p.weights.n), y + i * p.weights.k);
  });
}

Status prepare(const PrepareContext& context, PlannedStep* step) {
  const auto* o = context.op->options_as<fb::GatherNBitsOptions>();
  auto p = make_planned<Params>();
  p->weights = nbits_weights(context, *o, o->k(), kW, kZeroPoints);
  p->rows = static_cast<size_t>(context.inputs[kIndex].type.shape.elements());
  constexpr double kElementNs = 2;
  p->tasks = task_count(static_cast<double>(p->rows * p->weights.k) * kElementNs, p->rows,
                        context.threads);
  step->kernel = "gather_nbits";
  step->run = context.inputs[kIndex].type.dtype == DType::kInt64 ? run<int64_t> : run<int32_t>;
  step->params = std::move(p);
  return Status();
}

// Returns whether every image has indices of its own into the weights, which all images share.
bool keeps_images_apart(const fb::Operator&, const BatchOperands& operands) {
  return !operands.inputs[kIndex].is_constant;
}

// Returns the arithmetic level: each element takes one product of IEEE 754.
int level(const fb::Operator&) { return 1; }

}  // namespace

std::string describe_gather_nbits(const fb::Operator& op) {
  const auto& o = *op.options_as_GatherNBits();
  return std::to_string(int{o.bits()}) + "-bit values in blocks of " +
         std::to_string(int{o.block()}) + ", one float32 product";
}

const OpDef kGatherNBitsOp = {"GatherNBits",
                              fb::OpOptions::GatherNBits,
                              infer,
                              prepare,
                              {Arithmetic::kFloat, level, no_requant, keeps_images_apart,
                               LayoutRule::kOwn, Broadcasting::kNone, ConstantRule::kFixed}};

}  // namespace qrt
