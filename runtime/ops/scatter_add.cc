// SPDX-License-Identifier: Apache-2.0
// ScatterAdd: a tensor to which blocks are added at indices known only at run time.
#include <cstring>

#include "kernels/integer_build.h"
#include "runtime/ops/ops.h"
#include "runtime/ops/scatter.h"
#include "runtime/ops/sums.h"
#include "runtime/ops/tasks.h"

namespace qrt {
namespace {

Status infer(const InferContext& context, TensorTypes* outputs) {
  const auto* o = context.op->options_as<fb::ScatterAddOptions>();
  QRT_TRY(check_scatter(context, o->batch_dims()));
  const TensorType& x = context.inputs[0].type;
  if (o->is_float() && is_integer_build())
    return error(Code::kUnsupported,
                 "float operators are not part of this build (QRT_INTEGER_ONLY)");
  QRT_MODEL_CHECK(o->is_float() ? x.dtype == DType::kFloat32
                                : x.dtype == DType::kInt32 || x.dtype == DType::kInt64,
                  "x is %s, expected %s", dtype_name(x.dtype),
                  o->is_float() ? "float32" : "int32 or int64");
  return add_output(x.dtype, x.shape, outputs);
}

struct Params {
  ScatterSizes sizes;
  size_t tasks;
};

template <class T, class Index>
void run(const Step& step, const RunContext& context) {
  const Params& p = step.as<Params>();
  const ScatterSizes& s = p.sizes;
  const auto* x = reinterpret_cast<const T*>(context.in(step, 0));
  const auto* updates = reinterpret_cast<const T*>(context.in(step, 2));
  const auto* index = reinterpret_cast<const Index*>(context.in(step, 1));
  if (!are_inside(step, context, index, s.batches * s.indices, s.size)) return;
  auto* y = reinterpret_cast<T*>(context.out(step, 0));
  const size_t slab = s.size * s.block;
  for_chunks(*context.parallel, p.tasks, s.batches, 1, [&](size_t, size_t begin, size_t end) {
    memcpy(y + begin * slab, x + begin * slab, (end - begin) * slab * sizeof(T));
    for (size_t batch = begin; batch < end; ++batch)
      for (size_t i = batch * s.indices; i < (batch + 1) * s.indices; ++i) {
        T* const to = y + batch * slab + placed(index[i], s.size) * s.block;
        const T* const from = updates + i * s.block;
        for (size_t j = 0; j < s.block; ++j) to[j] = sum_of(to[j], from[j]);
      }
  });
}

template <class T>
void (*run_of(DType index))(const Step&, const RunContext&) {
  return index == DType::kInt64 ? run<T, int64_t> : run<T, int32_t>;
}

Status prepare(const PrepareContext& context, PlannedStep* step) {
  const auto* o = context.op->options_as<fb::ScatterAddOptions>();
  const TensorType &x = context.inputs[0].type, &index = context.inputs[1].type;
  auto params = make_planned<Params>();
  Params& p = *params;
  const ScatterSizes& s = p.sizes = scatter_sizes(x.shape, index.shape, o->batch_dims());
  constexpr double kBlockNs = 5;
  p.tasks = task_count(
      static_cast<double>(s.batches * s.indices) * (kBlockNs + static_cast<double>(s.block)) +
          static_cast<double>(s.batches * s.size * s.block),
      s.batches, context.threads);
  step->kernel = "scatter_add_scalar";
  step->run = o->is_float()              ? run_of<float>(index.dtype)
              : x.dtype == DType::kInt64 ? run_of<uint64_t>(index.dtype)
                                         : run_of<uint32_t>(index.dtype);
  step->params = std::move(params);
  return Status();
}

int level(const fb::Operator& op) { return op.options_as_ScatterAdd()->is_float() ? 1 : 0; }

}  // namespace

std::string describe_scatter_add(const fb::Operator& op) {
  return op.options_as_ScatterAdd()->is_float() ? "float32 sums" : "sums";
}

const OpDef kScatterAddOp = {
    "ScatterAdd",
    fb::OpOptions::ScatterAdd,
    infer,
    prepare,
    {Arithmetic::kIntegers, level, no_requant, scatter_apart<fb::ScatterAddOptions>,
     LayoutRule::kOwn, Broadcasting::kNone, ConstantRule::kOperands}};

}  // namespace qrt
