// SPDX-License-Identifier: Apache-2.0
// Sums of elements times weights along one dimension; see float_weighted.h. Lines of the dimensions behind it are added line by
// line. Where these are short, and where there are none, the elements of all outputs are looked up.
#include "runtime/ops/float_weighted.h"

#include <algorithm>

#include "kernels/float_fallback/float_fallback.h"
#include "runtime/checked.h"
#include "runtime/ops/check.h"
#include "runtime/ops/float_step.h"
#include "runtime/ops/tasks.h"

namespace qrt {
namespace {

// Elements of a line that is no longer short.
constexpr size_t kLongLine = 16;

struct Params {
  const FloatKernel* kernel;
  size_t outer, in, out;  // in, out: elements of one index of `outer`
  size_t line;            // elements behind the dimension; 1: they count as part of it
  size_t taps, tasks;
  // The terms of each output, without what reads nothing: [taps][out] where they are looked up, else [out][taps].
  PlanVector<int32_t> indices, counts;
  PlanVector<size_t> offsets;
  PlanVector<float> weights;
};

void run_lookup(const Step& step, const RunContext& context) {
  const Params& p = step.as<Params>();
  const FloatWeights weights = {p.out, p.taps, p.indices.data(), p.weights.data(), p.counts.data()};
  const float* x = floats(context.in(step, 0));
  float* y = floats(context.out(step, 0));
  for_chunks(*context.parallel, p.tasks, p.outer, 1, [&](size_t, size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) p.kernel->weigh(weights, x + i * p.in, y + i * p.out);
  });
}

void run_lines(const Step& step, const RunContext& context) {
  const Params& p = step.as<Params>();
  const float* x = floats(context.in(step, 0));
  float* y = floats(context.out(step, 0));
  const size_t lines = p.out / p.line;
  for_chunks(*context.parallel, p.tasks, p.outer * lines, 1, [&](size_t, size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      const size_t at = i % lines;
      const FloatTaps taps = {p.offsets.data() + at * p.taps, p.weights.data() + at * p.taps,
                              static_cast<size_t>(p.counts[at]), 0};
      if (taps.count == 0)
        std::fill_n(y + i * p.line, p.line, 0.0f);
      else
        p.kernel->weigh_lines(taps, x + i / lines * p.in, p.line, y + i * p.line);
    }
  });
}

size_t product(const Shape& shape, int begin, int end) {
  size_t n = 1;
  for (int d = begin; d < end; ++d) n *= static_cast<size_t>(shape[d]);
  return n;
}

// Sets the terms of every output, `repeats` of each index of the dimension that is written: one for each element behind it.
void set_terms(const int32_t* indices, const float* weights, size_t n, size_t repeats, Params* p) {
  const bool is_lookup = p->line == 1;
  for (size_t i = 0; i < n * repeats; ++i) {
    const size_t from = i / repeats * p->taps;
    int32_t count = 0;
    for (size_t t = 0; t < p->taps; ++t) {
      if (indices[from + t] < 0) continue;
      const auto term = static_cast<size_t>(count++);
      const size_t at = is_lookup ? term * n * repeats + i : i * p->taps + term;
      const size_t offset = static_cast<size_t>(indices[from + t]) * repeats * p->line;
      p->weights[at] = weights[from + t];
      if (is_lookup)
        p->indices[at] = static_cast<int32_t>(offset + i % repeats);
      else
        p->offsets[at] = offset;
    }
    p->counts[i] = count;
  }
}

}  // namespace

Status infer_float_weighted(const InferContext& context, TensorTypes* outputs) {
  const auto* o = context.op->options_as<fb::FloatOptions>();
  QRT_TRY(check_input_count(context, 3));
  QRT_TRY(check_dtype(context, 0, "x", DType::kFloat32));
  Shape shape = context.inputs[0].type.shape;
  QRT_TRY(check_range("axis", o->axis(), 0, shape.rank() - 1));
  const auto axis = static_cast<int>(o->axis());
  QRT_TRY(check_rank(context, 1, "indices", 2, "[out, taps]"));
  const Shape& terms = context.inputs[1].type.shape;
  QRT_TRY(check_plain_constant(context, 1, "indices", DType::kInt32, terms));
  QRT_TRY(check_plain_constant(context, 2, "weights", DType::kFloat32, terms));
  QRT_TRY(check_range("the number of outputs", terms[0], 1, INT32_MAX));
  QRT_TRY(check_range("the number of taps", terms[1], 1, INT32_MAX));
  QRT_TRY(check_range("the size of the axis", shape[axis], 1, INT32_MAX));
  const auto* indices = reinterpret_cast<const int32_t*>(context.inputs[1].data);
  for (int64_t i = 0; i < terms.elements(); ++i)
    QRT_MODEL_CHECK(indices[i] >= -1 && indices[i] < shape[axis],
                    "index %lld is %d, expected -1 to %lld", static_cast<long long>(i), indices[i],
                    static_cast<long long>(shape[axis] - 1));
  shape[axis] = terms[0];
  return add_output(DType::kFloat32, shape, outputs);
}

Status prepare_float_weighted(const PrepareContext& context, PlannedStep* step) {
  const auto axis = static_cast<int>(context.op->options_as<fb::FloatOptions>()->axis());
  const Shape &x = context.inputs[0].type.shape, &y = context.outputs[0].shape;
  auto p = make_planned<Params>();
  p->kernel = select_float(context.isas);
  p->outer = product(x, 0, axis);
  p->line = product(x, axis + 1, x.rank());
  p->in = product(x, axis, x.rank());
  p->out = product(y, axis, y.rank());
  p->taps = static_cast<size_t>(context.inputs[1].type.shape[1]);
  const bool is_lookup = p->line < kLongLine && p->in <= INT32_MAX;
  const size_t repeats = is_lookup ? p->line : 1;
  if (is_lookup) p->line = 1;
  const size_t outputs = static_cast<size_t>(y[axis]) * repeats;
  const size_t terms = product_or_most({outputs, p->taps});
  const size_t index_bytes = is_lookup ? sizeof(int32_t) : sizeof(size_t);
  QRT_TRY(context.take(product_or_most({terms, index_bytes + sizeof(float)})));
  QRT_TRY(context.take(product_or_most({outputs, sizeof(int32_t)})));
  p->counts.resize(outputs);
  p->weights.resize(terms);
  if (is_lookup)
    p->indices.resize(terms);
  else
    p->offsets.resize(terms);
  set_terms(reinterpret_cast<const int32_t*>(context.inputs[1].data),
            floats(context.inputs[2].data), static_cast<size_t>(y[axis]), repeats, p.get());
  const double products = static_cast<double>(y.elements()) * static_cast<double>(p->taps);
  p->tasks = task_count(is_lookup ? products : products / 8,
                        is_lookup ? p->outer : p->outer * outputs, context.threads);
  step->macs = static_cast<uint64_t>(products);
  step->run = is_lookup ? run_lookup : run_lines;
  step->kernel = p->kernel->weighted_name;
  step->params = std::move(p);
  return Status();
}

}  // namespace qrt
