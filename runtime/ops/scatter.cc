// SPDX-License-Identifier: Apache-2.0
// Scatter: a tensor in which blocks are replaced at indices known only at run time.
#include <cstring>

#include "runtime/ops/check.h"
#include "runtime/ops/indices.h"
#include "runtime/ops/ops.h"
#include "runtime/ops/tasks.h"

namespace qrt {
namespace {

Status infer(const InferContext& context, TensorTypes* outputs) {
  const auto* o = context.op->options_as<fb::ScatterOptions>();
  QRT_TRY(check_input_count(context, 3));
  const TensorType& x = context.inputs[0].type;
  const TensorType& index = context.inputs[1].type;
  QRT_TRY(check_index_type(index.dtype));
  QRT_TRY(check_whole_bytes(x));
  QRT_TRY(check_dtype(context, 2, "updates", x.dtype));
  QRT_TRY(check_range("batch_dims", o->batch_dims(), 0, x.shape.rank() - 1));
  const int batch = static_cast<int>(o->batch_dims());
  Shape expected_index, expected = x.shape;
  for (int d = 0; d < batch; ++d) expected_index.push_back(x.shape[d]);
  if (index.shape.rank() > batch) expected_index.push_back(index.shape[batch]);
  QRT_MODEL_CHECK(
      index.shape.rank() == batch + 1 && index.shape == expected_index,
      "the indices have shape %s, expected the first %d dimensions of x %s and one more",
      index.shape.to_string().c_str(), batch, x.shape.to_string().c_str());
  expected[batch] = index.shape[batch];
  QRT_MODEL_CHECK(context.inputs[2].type.shape == expected, "updates have shape %s, expected %s",
                  context.inputs[2].type.shape.to_string().c_str(), expected.to_string().c_str());
  return add_output(x.dtype, x.shape, outputs);
}

struct Params {
  size_t batches;
  size_t indices;  // of one batch
  size_t size;     // of the axis
  size_t block_bytes;
  size_t tasks;
};

template <class Index>
void run(const Step& step, const RunContext& context) {
  const Params& p = step.as<Params>();
  const uint8_t *x = context.in(step, 0), *updates = context.in(step, 2);
  const auto* index = reinterpret_cast<const Index*>(context.in(step, 1));
  if (!are_inside(step, context, index, p.batches * p.indices, p.size)) return;
  uint8_t* y = context.out(step, 0);
  const size_t slab = p.size * p.block_bytes;
  for_chunks(*context.parallel, p.tasks, p.batches, 1, [&](size_t, size_t begin, size_t end) {
    memcpy(y + begin * slab, x + begin * slab, (end - begin) * slab);
    for (size_t batch = begin; batch < end; ++batch)
      for (size_t i = batch * p.indices; i < (batch + 1) * p.indices; ++i)
        memcpy(y + batch * slab + placed(index[i], p.size) * p.block_bytes,
               updates + i * p.block_bytes, p.block_bytes);
  });
}

Status prepare(const PrepareContext& context, PlannedStep* step) {
  const auto* o = context.op->options_as<fb::ScatterOptions>();
  const TensorType& x = context.inputs[0].type;
  const int batch = static_cast<int>(o->batch_dims());
  auto params = make_planned<Params>();
  Params& p = *params;
  p.batches = 1;
  for (int d = 0; d < batch; ++d) p.batches *= static_cast<size_t>(x.shape[d]);
  p.indices = static_cast<size_t>(context.inputs[1].type.shape[batch]);
  p.size = static_cast<size_t>(x.shape[batch]);
  p.block_bytes = dtype_bytes(x.dtype);
  for (int d = batch + 1; d < x.shape.rank(); ++d) p.block_bytes *= static_cast<size_t>(x.shape[d]);
  constexpr double kBlockNs = 5;
  const size_t bytes = p.batches * (p.size + p.indices) * p.block_bytes;
  p.tasks = task_count(static_cast<double>(p.batches * p.indices) * kBlockNs +
                           static_cast<double>(bytes) / kCopyBytesPerNs,
                       p.batches, context.threads);
  step->kernel = "scatter";
  step->run = context.inputs[1].type.dtype == DType::kInt64 ? run<int64_t> : run<int32_t>;
  step->params = std::move(params);
  return Status();
}

// Returns whether every image has indices and updates of its own, into data of its own.
bool keeps_images_apart(const fb::Operator& op, const BatchOperands& operands) {
  return op.options_as_Scatter()->batch_dims() > 0 && !operands.inputs[0].is_constant &&
         !operands.inputs[1].is_constant && !operands.inputs[2].is_constant;
}

}  // namespace

std::string describe_scatter(const fb::Operator&) { return "move"; }

const OpDef kScatterOp = {"Scatter",
                          fb::OpOptions::Scatter,
                          infer,
                          prepare,
                          {Arithmetic::kMoves, integer_level, no_requant, keeps_images_apart,
                           LayoutRule::kOwn, Broadcasting::kNone, ConstantRule::kOperands}};

}  // namespace qrt
