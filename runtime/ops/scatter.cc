// SPDX-License-Identifier: Apache-2.0
// Scatter: a tensor in which blocks are replaced at indices known only at run time.
#include "runtime/ops/scatter.h"

#include <cstring>

#include "runtime/ops/ops.h"
#include "runtime/ops/tasks.h"

namespace qrt {
namespace {

Status infer(const InferContext& context, TensorTypes* outputs) {
  QRT_TRY(check_scatter(context, context.op->options_as<fb::ScatterOptions>()->batch_dims()));
  const TensorType& x = context.inputs[0].type;
  return add_output(x.dtype, x.shape, outputs);
}

struct Params {
  ScatterSizes sizes;
  size_t block_bytes;
  size_t tasks;
};

template <class Index>
void run(const Step& step, const RunContext& context) {
  const Params& p = step.as<Params>();
  const ScatterSizes& s = p.sizes;
  const uint8_t *x = context.in(step, 0), *updates = context.in(step, 2);
  const auto* index = reinterpret_cast<const Index*>(context.in(step, 1));
  if (!are_inside(step, context, index, s.batches * s.indices, s.size)) return;
  uint8_t* y = context.out(step, 0);
  const size_t slab = s.size * p.block_bytes;
  for_chunks(*context.parallel, p.tasks, s.batches, 1, [&](size_t, size_t begin, size_t end) {
    memcpy(y + begin * slab, x + begin * slab, (end - begin) * slab);
    for (size_t batch = begin; batch < end; ++batch)
      for (size_t i = batch * s.indices; i < (batch + 1) * s.indices; ++i)
        memcpy(y + batch * slab + placed(index[i], s.size) * p.block_bytes,
               updates + i * p.block_bytes, p.block_bytes);
  });
}

Status prepare(const PrepareContext& context, PlannedStep* step) {
  const auto* o = context.op->options_as<fb::ScatterOptions>();
  const TensorType& x = context.inputs[0].type;
  auto params = make_planned<Params>();
  Params& p = *params;
  const ScatterSizes& s = p.sizes =
      scatter_sizes(x.shape, context.inputs[1].type.shape, o->batch_dims());
  p.block_bytes = s.block * dtype_bytes(x.dtype);
  constexpr double kBlockNs = 5;
  const size_t bytes = s.batches * (s.size + s.indices) * p.block_bytes;
  p.tasks = task_count(static_cast<double>(s.batches * s.indices) * kBlockNs +
                           static_cast<double>(bytes) / kCopyBytesPerNs,
                       s.batches, context.threads);
  step->kernel = "scatter";
  step->run = context.inputs[1].type.dtype == DType::kInt64 ? run<int64_t> : run<int32_t>;
  step->params = std::move(params);
  return Status();
}

}  // namespace

std::string describe_scatter(const fb::Operator&) { return "move"; }

const OpDef kScatterOp = {
    "Scatter",
    fb::OpOptions::Scatter,
    infer,
    prepare,
    {Arithmetic::kMoves, integer_level, no_requant, scatter_apart<fb::ScatterOptions>,
     LayoutRule::kOwn, Broadcasting::kNone, ConstantRule::kOperands}};

}  // namespace qrt
