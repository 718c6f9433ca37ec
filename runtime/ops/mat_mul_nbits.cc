// SPDX-License-Identifier: Apache-2.0
// MatMulNBits: products with weights of 2, 4 or 8 bits in blocks. In integers the activations are quantised first, all
// rows; then every task multiplies some rows by some panels of outputs.
#include <algorithm>

#include "runtime/checked.h"
#include "runtime/ops/nbits.h"
#include "runtime/ops/ops.h"
#include "runtime/ops/tasks.h"

namespace qrt {
namespace {

enum Input : size_t { kX, kW, kScales, kMore };

size_t bias_input(const fb::MatMulNBitsOptions& o) {
  return o.has_zero_points() ? kMore + 1 : kMore;
}

Status infer(const InferContext& context, TensorTypes* outputs) {
  const auto* o = context.op->options_as<fb::MatMulNBitsOptions>();
  QRT_TRY(check_input_count(context, bias_input(*o) + (o->has_bias() ? 1 : 0)));
  QRT_TRY(check_dtype(context, kX, "x", DType::kFloat32));
  Shape shape = context.inputs[kX].type.shape;
  const int last = shape.rank() - 1;
  QRT_MODEL_CHECK(last >= 0, "x has rank 0, expected at least 1");
  QRT_TRY(check_nbits(context, *o, shape[last], kW, kMore));
  if (o->has_bias())
    QRT_TRY(check_plain_constant(context, bias_input(*o), "bias", DType::kFloat32,
                                 {static_cast<int64_t>(o->n())}));
  shape[last] = o->n();
  return add_output(DType::kFloat32, shape, outputs);
}

// Rows that a task multiplies by a panel while the panel's weights are in the first-level cache.
constexpr size_t kRowsOfUnit = 48;

struct Params {
  const NBitsKernel* kernel;
  NBitsWeights weights;
  size_t rows, panels;
  size_t scales_at, sums_at;  // in the scratch memory, behind the quantised rows
  size_t quantize_tasks, tasks;

  size_t row_units() const { return (rows + kRowsOfUnit - 1) / kRowsOfUnit; }
};

// Calls multiply(row, rows, panel) for pieces of the output.
template <class Multiply>
void for_units(const Params& p, const RunContext& context, const Multiply& multiply) {
  const size_t row_units = p.row_units();
  for_chunks(*context.parallel, p.tasks, p.panels * row_units, 1,
             [&](size_t, size_t begin, size_t end) {
               for (size_t unit = begin; unit < end; ++unit) {
                 const size_t row = unit % row_units * kRowsOfUnit;
                 multiply(row, std::min(kRowsOfUnit, p.rows - row), unit / row_units);
               }
             });
}

void run(const Step& step, const RunContext& context) {
  const Params& p = step.as<Params>();
  const NBitsWeights& w = p.weights;
  const auto* x = reinterpret_cast<const float*>(context.in(step, kX));
  auto* y = reinterpret_cast<float*>(context.out(step, 0));
  auto* q = reinterpret_cast<int8_t*>(context.scratch);
  auto* scales = reinterpret_cast<float*>(context.scratch + p.scales_at);
  auto* sums = reinterpret_cast<int32_t*>(context.scratch + p.sums_at);
  const size_t stride = w.blocks * w.block;
  for_chunks(*context.parallel, p.quantize_tasks, p.rows, 1, [&](size_t, size_t begin, size_t end) {
    p.kernel->quantize(w, x + begin * w.k, end - begin, q + begin * stride,
                       scales + begin * w.blocks, sums + begin * w.blocks);
  });
  for_units(p, context, [&](size_t row, size_t rows, size_t panel) {
    p.kernel->product(w, {q + row * stride, scales + row * w.blocks, sums + row * w.blocks}, rows,
                      panel, y + row * w.n);
  });
}

void run_in_float(const Step& step, const RunContext& context) {
  const Params& p = step.as<Params>();
  const auto* x = reinterpret_cast<const float*>(context.in(step, kX));
  auto* y = reinterpret_cast<float*>(context.out(step, 0));
  for_units(p, context, [&](size_t row, size_t rows, size_t panel) {
    p.kernel->float_product(p.weights, x + row * p.weights.k, rows, panel, y + row * p.weights.n);
  });
}

Status prepare(const PrepareContext& context, PlannedStep* step) {
  const auto* o = context.op->options_as<fb::MatMulNBitsOptions>();
  const Shape& x = context.inputs[kX].type.shape;
  auto p = make_planned<Params>();
  p->kernel = select_nbits(context.isas);
  const auto k = static_cast<size_t>(x[x.rank() - 1]);
  p->weights = nbits_weights(context, *o, k, kW, kMore);
  if (o->has_bias())
    p->weights.bias = reinterpret_cast<const float*>(context.inputs[bias_input(*o)].data);
  p->rows = static_cast<size_t>(x.elements()) / k;
  p->panels = (p->weights.n + kNBitsPanel - 1) / kNBitsPanel;
  step->macs = uint64_t{p->rows} * k * p->weights.n;
  const Speed speed = speed_of(p->kernel->isa);
  const auto weight_bytes = static_cast<double>(context.inputs[kW].data_bytes);
  // An integer product takes the time of three of the gemm family, one in float that of twelve.
  const double ns =
      std::max(static_cast<double>(step->macs) * (o->in_float() ? 12 : 3) / speed.macs,
               weight_bytes / kReuseBytesPerNs);
  p->tasks = task_count(ns, p->panels * p->row_units(), context.threads);
  p->quantize_tasks =
      task_count(static_cast<double>(x.elements()) / speed.elements, p->rows, context.threads);
  if (!o->in_float()) {
    const size_t blocks = p->rows * p->weights.blocks;
    p->scales_at = round_up(blocks * p->weights.block, kAlignment);
    p->sums_at = p->scales_at + blocks * sizeof(float);
    step->scratch_bytes = p->sums_at + blocks * sizeof(int32_t);
  }
  step->kernel = o->in_float() ? p->kernel->float_name : p->kernel->name;
  step->run = o->in_float() ? run_in_float : run;
  step->params = std::move(p);
  return Status();
}

// Returns the arithmetic level. In ONNX Runtime the order of the sums depends on the CPU.
int level(const fb::Operator&) { return kFloatLevel; }

}  // namespace

std::string describe_mat_mul_nbits(const fb::Operator& op) {
  const auto& o = *op.options_as_MatMulNBits();
  const std::string weights =
      std::to_string(int{o.bits()}) + "-bit weights in blocks of " + std::to_string(int{o.block()});
  return weights + (o.in_float() ? ", as floats" : ", nbits-seq");
}

const OpDef kMatMulNBitsOp = {"MatMulNBits",
                              fb::OpOptions::MatMulNBits,
                              infer,
                              prepare,
                              {Arithmetic::kFloat, level, no_requant, rows_apart, LayoutRule::kOwn,
                               Broadcasting::kNone, ConstantRule::kFixed, true}};

}  // namespace qrt
