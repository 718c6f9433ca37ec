// SPDX-License-Identifier: Apache-2.0
// Attention in float; see float_attention.h. Every score has the bits that a step of its own gives it: only the
// order in which rows are made differs.
#include "runtime/ops/float_attention.h"

#include <algorithm>
#include <limits>
#include <memory>

#include "runtime/checked.h"
#include "runtime/ops/broadcast.h"
#include "runtime/ops/float_step.h"
#include "runtime/ops/matrix_rows.h"
#include "runtime/ops/tasks.h"
#include "runtime/ops/transpose.h"

namespace qrt {
namespace {

// The scores that are computed at a time take up to kBlockBytes, half of a small first-level cache. A block has a multiple of the rows that kernels take
// at once, if that many fit.
constexpr size_t kBlockBytes = 24 << 10, kRowsAtOnce = 12;
// Rows that lie a multiple of this apart would share few sets of the cache.
constexpr size_t kAwkwardFloats = 512, kPadding = 16;

// Floats from the first of a head's values to the last: beyond, they lie on more pages than a core knows at once.
constexpr size_t kMostReach = 64 << 10;

// One function of all scores and an operand that is broadcast to them.
struct Stage {
  FloatBinary function;
  bool scores_first, is_scalar;  // is_scalar: the operand has one element for a row
  // Number of the rows' dimensions; dims[] has the innermost one first.
  size_t rank = 0;
  size_t dims[kMaxTensorRank] = {}, strides[kMaxTensorRank] = {};

  // Returns where the operand of a row stands.
  size_t at(size_t row) const {
    size_t at = 0;
    for (size_t d = 0; d < rank; ++d) {
      at += row % dims[d] * strides[d];
      row /= dims[d];
    }
    return at;
  }
};

// Returns whether the operand is broadcast to scores of the shape, which it does not widen; sets all but the
// function.
bool plan_stage(const Shape& operand, const Shape& scores, Stage* stage) {
  const int last = scores.rank() - 1;
  if (operand.rank() > scores.rank()) return false;
  size_t elements = 1;
  for (int i = last; i >= 0; --i) {
    const int64_t dim = aligned_dim(operand, scores.rank(), i);
    if (dim != 1 && dim != scores[i]) return false;
    if (i == last) {
      stage->is_scalar = dim == 1;
    } else {
      stage->dims[stage->rank] = static_cast<size_t>(scores[i]);
      stage->strides[stage->rank++] = dim == 1 ? 0 : elements;
    }
    elements *= static_cast<size_t>(dim);
  }
  if (elements == 1) stage->rank = 0;
  return true;
}

bool is_scale(const Stage& stage) {
  return stage.is_scalar && stage.rank == 0 && stage.scores_first &&
         (stage.function == FloatBinary::kDiv || stage.function == FloatBinary::kMul);
}

struct Params {
  const FloatKernel* kernel;
  FloatMatrices queries, values;
  MatrixRows q_rows, v_rows, y_rows;  // where they stand
  FusedProduct scores, product;
  PlanVector<Stage> stages;
  bool scales_last;  // the last stage multiplies by one number, or divides by it
  size_t rows, block, tasks, task_bytes;
};

bool may_scale(float scale) { return scale > 0 && scale <= std::numeric_limits<float>::max(); }

void apply(const Params& p, const Stage& stage, const float* operand, size_t row, size_t rows,
           float* scores) {
  const size_t n = p.scores.n, stride = p.scores.y_stride;
  const auto call = [&](const float* b, float* y, size_t count) {
    const size_t step = stage.is_scalar ? 0 : 1;
    if (stage.scores_first)
      p.kernel->binary(stage.function, y, 1, b, step, y, count);
    else
      p.kernel->binary(stage.function, b, step, y, 1, y, count);
  };
  if (stage.is_scalar && stage.rank == 0 && stride == n) return call(operand, scores, rows * n);
  for (size_t r = 0; r < rows; ++r) call(operand + stage.at(row + r), scores + r * stride, n);
}

// Returns the offset of row `row` of `matrices`, counted through matrices of rows_each rows.
size_t row_at(const MatrixRows& matrices, size_t row, size_t rows_each) {
  return matrices.offset(row / rows_each) + row % rows_each * matrices.stride;
}

// Runs attention. The step's inputs are queries, keys, values, and the operands of the stages
// between the products.
void run_attention(const Step& step, const RunContext& context) {
  const Params& p = step.as<Params>();
  const float *q = floats(context.in(step, 0)), *k = floats(context.in(step, 1));
  const float* v = floats(context.in(step, 2));
  float* y = floats(context.out(step, 0));
  for_chunks(*context.parallel, p.tasks, p.rows, 1, [&](size_t task, size_t begin, size_t end) {
    float* const scores = floats(context.scratch + task * p.task_bytes);
    for (size_t at = begin; at < end; at += p.block) {
      const size_t block_end = std::min(end, at + p.block);
      p.queries.for_rows(at, block_end, [&](size_t row, size_t rows, size_t matrix) {
        p.kernel->fused_product(p.scores, q + row_at(p.q_rows, row, p.queries.rows_each), rows,
                                k + matrix * p.scores.k * p.scores.n,
                                scores + (row - at) * p.scores.y_stride);
      });
      size_t stages = p.stages.size();
      LaneSoftmax softmax = {p.scores.n, p.scores.y_stride, FloatBinary::kDiv, 1};
      if (p.scales_last && may_scale(*floats(context.in(step, 2 + stages)))) {
        softmax.scaling = p.stages[--stages].function;
        softmax.scale = *floats(context.in(step, 3 + stages));
      }
      for (size_t s = 0; s < stages; ++s)
        apply(p, p.stages[s], floats(context.in(step, 3 + s)), at, block_end - at, scores);
      p.kernel->lane_softmax(softmax, scores, block_end - at, scores);
      p.values.for_rows(at, block_end, [&](size_t row, size_t rows, size_t matrix) {
        p.kernel->fused_product(p.product, scores + (row - at) * p.scores.y_stride, rows,
                                v + p.v_rows.offset(matrix),
                                y + row_at(p.y_rows, row, p.values.rows_each));
      });
    }
  });
}

}  // namespace

bool join_attention(const AttentionScores& scores, PlannedStep* product) {
  const FloatParams &first = scores.product->as<FloatParams>(), &last = product->as<FloatParams>();
  auto p = make_planned<Params>();
  for (const AttentionScores::Stage& s : scores.stages) {
    Stage stage = {};
    stage.function = binary_of(s.step->as<FloatParams>().function);
    stage.scores_first = s.input == 0;
    if (!plan_stage(*s.operand, *s.scores, &stage)) return false;
    p->stages.push_back(stage);
  }
  p->scales_last = !p->stages.empty() && is_scale(p->stages.back());
  const size_t n = first.n;
  if (last.k != n || last.rows != first.rows) return false;
  const size_t stride = n % kAwkwardFloats == 0 ? n + kPadding : n;
  p->kernel = last.kernel;
  p->queries = first.matrices;
  p->values = last.matrices;
  p->scores = {first.k, n, first.k, n, stride};
  p->product = {n, last.n, stride, last.n, last.n};
  p->rows = last.rows;
  p->q_rows = MatrixRows(p->rows / p->queries.rows_each, p->queries.rows_each, first.k);
  p->v_rows = MatrixRows(p->values.count, n, last.n);
  p->y_rows = MatrixRows(p->rows / p->values.rows_each, p->values.rows_each, last.n);
  const size_t fitting = kBlockBytes / sizeof(float) / stride;
  p->block = std::min(p->rows, std::max(kRowsAtOnce, fitting / kRowsAtOnce * kRowsAtOnce));
  p->tasks = std::max(first.tasks, last.tasks);
  if (!checked_mul(product_or_most({p->block, stride}), sizeof(float), &p->task_bytes) ||
      !checked_add(p->task_bytes, kSlack, &p->task_bytes) ||
      !checked_align(p->task_bytes, kAlignment, &p->task_bytes))
    return false;
  product->scratch_bytes = product_or_most({p->tasks, p->task_bytes});
  const uint32_t values = product->inputs[1];
  product->inputs = {scores.product->inputs[0], scores.product->inputs[1], values};
  for (const AttentionScores::Stage& s : scores.stages)
    product->inputs.push_back(s.step->inputs[1 - s.input]);
  product->macs += scores.product->macs;
  product->kernel = "float_attention";
  product->run = run_attention;
  product->params = std::move(p);
  return true;
}

bool pull_attention_rows(const Step& transpose, size_t i, PlannedStep* product) {
  const TransposePlan* const plan = find_moved_rows(transpose, sizeof(float));
  if (plan == nullptr || product->run != run_attention || plan->stride[plan->rank - 1] != 1)
    return false;
  auto p = make_planned<Params>(product->as<Params>());
  const size_t length = i == 0 ? p->scores.k : p->product.n;
  const size_t rows = i == 0 ? p->queries.rows_each : p->product.k;
  if (plan->dims[plan->rank - 1] != length || plan->dims[plan->rank - 2] % rows != 0) return false;
  const MatrixRows moved(*plan, rows, plan->stride[plan->rank - 2]);
  if (i != 0 && rows * moved.stride > kMostReach) return false;
  (i == 0 ? p->q_rows : p->v_rows) = moved;
  (i == 0 ? p->scores.a_stride : p->product.b_stride) = moved.stride;
  product->inputs[i] = transpose.inputs[0];
  product->params = std::move(p);
  return true;
}

bool push_attention_rows(const Step& transpose, PlannedStep* product) {
  const TransposePlan* const plan = find_moved_rows(transpose, sizeof(float));
  if (plan == nullptr || product->run != run_attention || plan->rank < 3 || plan->rank > 4)
    return false;
  auto p = make_planned<Params>(product->as<Params>());
  // [images, rows, heads, n] of [images, heads, rows, n].
  const size_t n = p->product.n, rows = p->values.rows_each, heads = plan->dims[plan->rank - 2];
  const size_t* const dims = plan->dims + plan->rank - 3;
  const size_t* const stride = plan->stride + plan->rank - 3;
  if (dims[0] != rows || stride[0] != n || stride[1] != rows * n || dims[2] != n ||
      stride[2] != 1 || (plan->rank == 4 && plan->stride[0] != heads * rows * n))
    return false;
  p->y_rows = MatrixRows(plan->rank == 4 ? plan->dims[0] : 1, rows, heads * n);
  p->y_rows.dims[1] = heads;
  p->y_rows.step[1] = n;
  p->y_rows.count = 2;
  p->product.y_stride = heads * n;
  product->outputs = transpose.outputs;
  product->params = std::move(p);
  return true;
}

}  // namespace qrt
