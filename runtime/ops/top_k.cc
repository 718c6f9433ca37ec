// TopK: the greatest or least elements of every row of the last axis, in order, and their indices.
#include <algorithm>

#include "runtime/checked.h"
#include "runtime/ops/check.h"
#include "runtime/ops/elements.h"
#include "runtime/ops/ops.h"
#include "runtime/ops/tasks.h"

namespace qrt {
namespace {

Status infer(const InferContext& context, std::vector<TensorType>* outputs) {
  const auto* options = context.op->options_as<fb::TopKOptions>();
  QRT_TRY(check_input_count(context, 1));
  QRT_TRY(check_integer(context, 0, "x"));
  Shape shape = context.inputs[0].type.shape;
  QRT_MODEL_CHECK(shape.rank() >= 1, "x has rank 0, expected at least 1");
  int64_t& last = shape[shape.rank() - 1];
  QRT_TRY(check_range("k", options->k(), 1, last));
  last = options->k();
  QRT_MODEL_CHECK(context.op->outputs()->size() == 2, "has %u outputs, expected 2",
                  context.op->outputs()->size());
  DType indices;
  QRT_TRY(declared_index_dtype(context, 1, &indices));
  *outputs = {{context.inputs[0].type.dtype, shape}, {indices, shape}};
  return Status();
}

struct Params {
  size_t rows, n, k, tasks;
  bool smallest;
};

// Scratch: n indices for each task.
template <class T, class Index>
void run(const Step& step, const RunContext& context) {
  const Params& p = step.as<Params>();
  const T* x = reinterpret_cast<const T*>(context.in(step, 0));
  T* values = reinterpret_cast<T*>(context.out(step, 0));
  Index* indices = reinterpret_cast<Index*>(context.out(step, 1));
  for_pieces(*context.parallel, p.tasks, p.rows, 1, [&](size_t task, size_t begin, size_t end) {
    int32_t* order = reinterpret_cast<int32_t*>(context.scratch) + task * p.n;
    for (size_t r = begin; r < end; ++r) {
      const T* row = x + r * p.n;
      for (size_t i = 0; i < p.n; ++i) order[i] = static_cast<int32_t>(i);
      std::partial_sort(order, order + p.k, order + p.n, [&](int32_t i, int32_t j) {
        const T u = row[i], v = row[j];
        return u != v ? (p.smallest ? u < v : v < u) : i < j;
      });
      for (size_t i = 0; i < p.k; ++i) {
        values[r * p.k + i] = row[order[i]];
        indices[r * p.k + i] = order[i];
      }
    }
  });
}

template <class T>
decltype(Step::run) run_of(DType indices) {
  return indices == DType::kInt64 ? run<T, int64_t> : run<T, int32_t>;
}

decltype(Step::run) run_of(DType values, DType indices) {
  switch (values) {
    case DType::kUInt8: return run_of<uint8_t>(indices);
    case DType::kInt8: return run_of<int8_t>(indices);
    case DType::kUInt16: return run_of<uint16_t>(indices);
    case DType::kInt16: return run_of<int16_t>(indices);
    case DType::kInt32: return run_of<int32_t>(indices);
    default: break;  // kInt64
  }
  return run_of<int64_t>(indices);
}

Status prepare(const PrepareContext& context, PlannedStep* step) {
  const auto* options = context.op->options_as<fb::TopKOptions>();
  const Shape& x = context.inputs[0].type.shape;
  auto params = std::make_shared<Params>();
  params->n = static_cast<size_t>(x[x.rank() - 1]);
  params->rows = static_cast<size_t>(x.elements()) / params->n;
  params->k = options->k();
  params->smallest = options->smallest();
  // A heap of k: mostly one comparison per element, some ns.
  params->tasks = task_count(3 * static_cast<double>(x.elements()), params->rows, context.threads);
  step->scratch_bytes = product_or_most({params->tasks, params->n, sizeof(int32_t)});
  step->kernel = "top_k_scalar";
  step->run = run_of(context.inputs[0].type.dtype, context.outputs[1].dtype);
  step->params = std::move(params);
  return Status();
}

}  // namespace

const OpDef kTopKOp = {"TopK",
                       fb::OpOptions::TopK,
                       infer,
                       prepare,
                       {Arithmetic::kSelects, integer_level, no_requant, rows_apart,
                        LayoutRule::kRows, Broadcasting::kNone, ConstantRule::kFixed}};

}  // namespace qrt
