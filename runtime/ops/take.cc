// SPDX-License-Identifier: Apache-2.0
// Take: rows of x at indices known only at run time.
#include <algorithm>
#include <cstring>

#include "runtime/ops/check.h"
#include "runtime/ops/indices.h"
#include "runtime/ops/ops.h"
#include "runtime/ops/tasks.h"

namespace qrt {
namespace {

Status infer(const InferContext& context, TensorTypes* outputs) {
  const auto* o = context.op->options_as<fb::TakeOptions>();
  QRT_TRY(check_input_count(context, 2));
  QRT_TRY(check_index_type(context.inputs[1].type.dtype));
  const TensorType& x = context.inputs[0].type;
  QRT_TRY(check_whole_bytes(x));
  const Shape& index = context.inputs[1].type.shape;
  QRT_TRY(check_range("axis", o->axis(), 0, x.shape.rank() - 1));
  QRT_TRY(
      check_range("batch_dims", o->batch_dims(), 0, std::min<int64_t>(o->axis(), index.rank())));
  const int axis = static_cast<int>(o->axis()), batch = static_cast<int>(o->batch_dims());
  const int rank = x.shape.rank() - 1 + index.rank() - batch;
  QRT_MODEL_CHECK(rank <= kMaxTensorRank, "its output has %d dimensions, expected at most %d", rank,
                  kMaxTensorRank);
  for (int d = 0; d < batch; ++d)
    QRT_MODEL_CHECK(x.shape[d] == index[d],
                    "batch dimension %d is %lld of x %s and %lld of the indices %s", d,
                    static_cast<long long>(x.shape[d]), x.shape.to_string().c_str(),
                    static_cast<long long>(index[d]), index.to_string().c_str());
  Shape shape;
  for (int d = 0; d < axis; ++d) shape.push_back(x.shape[d]);
  for (int d = batch; d < index.rank(); ++d) shape.push_back(index[d]);
  for (int d = axis + 1; d < x.shape.rank(); ++d) shape.push_back(x.shape[d]);
  return add_output(x.dtype, shape, outputs);
}

struct Params {
  size_t batches, outer;  // outer: elements of the dimensions between batch and axis
  size_t indices;         // number of indices of one batch
  size_t size;            // size of the axis
  size_t block_bytes;
  size_t tasks;
  bool is_checked;
};

template <class Index>
void run(const Step& step, const RunContext& context) {
  const Params& p = step.as<Params>();
  const uint8_t* x = context.in(step, 0);
  const auto* index = reinterpret_cast<const Index*>(context.in(step, 1));
  if (p.is_checked && !are_inside(step, context, index, p.batches * p.indices, p.size)) return;
  uint8_t* y = context.out(step, 0);
  for_chunks(*context.parallel, p.tasks, p.batches * p.outer * p.indices, 1,
             [&](size_t, size_t begin, size_t end) {
               for (size_t i = begin; i < end; ++i) {
                 const size_t row = i / p.indices, batch = row / p.outer;
                 const size_t at = placed(index[batch * p.indices + i % p.indices], p.size);
                 memcpy(y + i * p.block_bytes, x + (row * p.size + at) * p.block_bytes,
                        p.block_bytes);
               }
             });
}

Status prepare(const PrepareContext& context, PlannedStep* step) {
  const auto* o = context.op->options_as<fb::TakeOptions>();
  const TensorType& x = context.inputs[0].type;
  const Shape& index = context.inputs[1].type.shape;
  auto params = make_planned<Params>();
  Params& p = *params;
  const auto product = [](const Shape& shape, uint32_t begin, uint32_t end) {
    size_t n = 1;
    for (uint32_t d = begin; d < end; ++d) n *= static_cast<size_t>(shape[static_cast<int>(d)]);
    return n;
  };
  p.batches = product(x.shape, 0, o->batch_dims());
  p.outer = product(x.shape, o->batch_dims(), o->axis());
  p.indices = product(index, o->batch_dims(), static_cast<uint32_t>(index.rank()));
  p.size = product(x.shape, o->axis(), o->axis() + 1);
  p.block_bytes =
      product(x.shape, o->axis() + 1, static_cast<uint32_t>(x.shape.rank())) * dtype_bytes(x.dtype);
  const size_t blocks = p.batches * p.outer * p.indices;
  constexpr double kBlockNs = 5;
  p.tasks = task_count(static_cast<double>(blocks) *
                           (kBlockNs + static_cast<double>(p.block_bytes) / kCopyBytesPerNs),
                       blocks, context.threads);
  p.is_checked = o->is_checked();
  step->kernel = "take";
  step->run = context.inputs[1].type.dtype == DType::kInt64 ? run<int64_t> : run<int32_t>;
  step->params = std::move(params);
  return Status();
}

// Returns whether the images of a batch are independent: each takes rows of a constant at indices
// of its own, or blocks of itself.
bool keeps_images_apart(const fb::Operator& op, const BatchOperands& operands) {
  const fb::TakeOptions& o = *op.options_as_Take();
  const bool same_indices = operands.inputs[1].is_constant;
  if (operands.inputs[0].is_constant) return o.axis() == 0 && !same_indices;
  return o.axis() > 0 && (o.batch_dims() > 0) != same_indices;
}

}  // namespace

std::string describe_take(const fb::Operator&) { return "move"; }

const OpDef kTakeOp = {"Take",
                       fb::OpOptions::Take,
                       infer,
                       prepare,
                       {Arithmetic::kMoves, integer_level, no_requant, keeps_images_apart,
                        LayoutRule::kOwn, Broadcasting::kNone, ConstantRule::kOperands}};

}  // namespace qrt
