// SPDX-License-Identifier: Apache-2.0
// TopK: the greatest or least elements of every row of the last axis, in order, and their indices.
#include <algorithm>
#include <cstring>
#include <functional>

#include "kernels/integer_build.h"
#include "runtime/checked.h"
#include "runtime/ops/check.h"
#include "runtime/ops/elements.h"
#include "runtime/ops/ops.h"
#include "runtime/ops/tasks.h"

namespace qrt {
namespace {

Status infer(const InferContext& context, TensorTypes* outputs) {
  const auto* options = context.op->options_as<fb::TopKOptions>();
  QRT_TRY(check_input_count(context, 1));
  if (is_integer_build() || context.inputs[0].type.dtype != DType::kFloat32)
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
  size_t rows, n, k, tasks, element_bytes, scratch_bytes;
  DType dtype;
  bool smallest, has_wide_indices;
};

template <class T>
int64_t ordered(T v) {
  return v;
}
// Returns an integer that orders floats: both zeros are 0, and every NaN is above infinity.
int64_t ordered(float v) {
  uint32_t bits;
  memcpy(&bits, &v, sizeof bits);
  const int64_t magnitude = bits & 0x7fffffff, most = 0x7f800000;
  if (magnitude > most) return most + 1;
  return (bits >> 31) != 0 ? -magnitude : magnitude;
}

// Gives each element of a row its rank: the greatest rank comes first in the result. Among equal elements the
// earlier one has the greater rank. ~v is in the opposite order of v.
template <class T>
void rank(const uint8_t* row, size_t n, bool smallest, int64_t* ranks) {
  const T* x = reinterpret_cast<const T*>(row);
  for (size_t i = 0; i < n; ++i) {
    const int64_t v = ordered(x[i]);
    ranks[i] = (smallest ? ~v : v) * (int64_t{1} << 32) + (UINT32_MAX - static_cast<int64_t>(i));
  }
}

void rank(const Params& p, const uint8_t* row, int64_t* ranks) {
  switch (p.dtype) {
    case DType::kUInt8: return rank<uint8_t>(row, p.n, p.smallest, ranks);
    case DType::kInt8: return rank<int8_t>(row, p.n, p.smallest, ranks);
    case DType::kUInt16: return rank<uint16_t>(row, p.n, p.smallest, ranks);
    case DType::kInt16: return rank<int16_t>(row, p.n, p.smallest, ranks);
    case DType::kFloat32: return rank<float>(row, p.n, p.smallest, ranks);
    default: return rank<int32_t>(row, p.n, p.smallest, ranks);
  }
}

// Runs the step. Its scratch holds for each task n ranks, or, for elements of int64, which leave no
// room for an index in a rank, n indices.
template <class Scratch>
void run(const Step& step, const RunContext& context) {
  constexpr bool kRanks = sizeof(Scratch) == sizeof(int64_t);
  const Params& p = step.as<Params>();
  uint8_t *values = context.out(step, 0), *indices = context.out(step, 1);
  for_chunks(*context.parallel, p.tasks, p.rows, 1, [&](size_t task, size_t begin, size_t end) {
    Scratch* best = reinterpret_cast<Scratch*>(context.scratch + task * p.scratch_bytes);
    for (size_t r = begin; r < end; ++r) {
      const uint8_t* row = context.in(step, 0) + r * p.n * p.element_bytes;
      if constexpr (kRanks) {
        rank(p, row, best);
        std::partial_sort(best, best + p.k, best + p.n, std::greater<int64_t>());
      } else {
        const int64_t* x = reinterpret_cast<const int64_t*>(row);
        for (size_t i = 0; i < p.n; ++i) best[i] = static_cast<int32_t>(i);
        std::partial_sort(best, best + p.k, best + p.n, [&](int32_t i, int32_t j) {
          return x[i] != x[j] ? (x[i] > x[j]) != p.smallest : i < j;
        });
      }
      for (size_t i = 0; i < p.k; ++i) {
        const uint32_t at =
            kRanks ? UINT32_MAX - static_cast<uint32_t>(best[i]) : static_cast<uint32_t>(best[i]);
        const size_t to = r * p.k + i;
        memcpy(values + to * p.element_bytes, row + at * p.element_bytes, p.element_bytes);
        if (p.has_wide_indices)
          reinterpret_cast<int64_t*>(indices)[to] = at;
        else
          reinterpret_cast<int32_t*>(indices)[to] = static_cast<int32_t>(at);
      }
    }
  });
}

Status prepare(const PrepareContext& context, PlannedStep* step) {
  const auto* options = context.op->options_as<fb::TopKOptions>();
  const TensorType& x = context.inputs[0].type;
  auto params = make_planned<Params>();
  params->n = static_cast<size_t>(x.shape[x.shape.rank() - 1]);
  params->rows = static_cast<size_t>(x.shape.elements()) / params->n;
  params->k = options->k();
  params->smallest = options->smallest();
  params->dtype = x.dtype;
  params->element_bytes = dtype_bytes(x.dtype);
  params->has_wide_indices = context.outputs[1].dtype == DType::kInt64;
  // A heap of k: mostly one comparison per element.
  params->tasks =
      task_count(2 * static_cast<double>(x.shape.elements()), params->rows, context.threads);
  const bool has_ranks = x.dtype != DType::kInt64;
  const size_t each = has_ranks ? sizeof(int64_t) : sizeof(int32_t);
  params->scratch_bytes = round_up(product_or_most({params->n, each}), kAlignment);
  step->scratch_bytes = product_or_most({params->tasks, params->scratch_bytes});
  step->kernel = "top_k_scalar";
  step->run = has_ranks ? run<int64_t> : run<int32_t>;
  step->params = std::move(params);
  return Status();
}

}  // namespace

std::string describe_top_k(const fb::Operator&) { return "order"; }

const OpDef kTopKOp = {"TopK",
                       fb::OpOptions::TopK,
                       infer,
                       prepare,
                       {Arithmetic::kSelects, integer_level, no_requant, rows_apart,
                        LayoutRule::kRows, Broadcasting::kNone, ConstantRule::kFixed}};

}  // namespace qrt
