// SPDX-License-Identifier: Apache-2.0
// DynamicQuantize: uint8 with the scale and zero point that the data asks for, those of the whole tensor or of each index of
// dimension 0, called a row here.
#include <algorithm>
#include <vector>

#include "kernels/edge/edge.h"
#include "runtime/checked.h"
#include "runtime/ops/check.h"
#include "runtime/ops/dynamic_scale.h"
#include "runtime/ops/ops.h"
#include "runtime/ops/tasks.h"

namespace qrt {
namespace {

using Form = fb::DynamicForm;

Form form_of(const fb::Operator& op) { return op.options_as<fb::DynamicQuantizeOptions>()->form(); }

Status infer(const InferContext& context, TensorTypes* outputs) {
  QRT_TRY(check_input_count(context, 1));
  QRT_TRY(check_dtype(context, 0, "x", DType::kFloat32));
  const Form form = form_of(*context.op);
  QRT_TRY(check_range("form", static_cast<int>(form), 0, static_cast<int>(Form::MAX)));
  const Shape& x = context.inputs[0].type.shape;
  Shape scales;
  if (form != Form::ONNX) {
    QRT_MODEL_CHECK(x.rank() >= 1, "input 0 (x) has no dimensions, expected at least 1");
    scales.push_back(x[0]);
  }
  *outputs = {{DType::kUInt8, x}, {DType::kFloat32, scales}, {DType::kUInt8, scales}};
  return Status();
}

struct Params {
  const EdgeKernel* kernel;
  Form form;
  size_t rows, elements;  // of a row
  size_t tasks;           // tasks that share the rows or, where rows are few, share each row
};

// How a row is quantised. zero_point: stored domain.
struct RowScale {
  RowScale(Form form, const Extremes& e) {
    if (form == Form::ONNX) {
      const DynamicScale made(e);
      scale = made.scale;
      zero_point = made.zero_point;
    } else {
      steps = form == Form::TFLITE_SYMMETRIC ? hybrid_symmetric(e.least, e.most)
                                             : hybrid_asymmetric(e.least, e.most);
      scale = steps.scale;
      zero_point = 128 + steps.zero_point;
    }
  }

  void quantize(const Params& p, const float* x, size_t n, uint8_t* y) const {
    if (p.form == Form::ONNX)
      p.kernel->quantize(x, n, scale, zero_point, 0, 255, y);
    else
      p.kernel->quantize_by(x, n, steps, y);
  }

  float scale;
  int32_t zero_point;
  HybridScale steps;
};

Extremes extremes_of(const Params& p, const float* x, size_t n) {
  Extremes e;
  p.kernel->extremes(x, n, &e.least, &e.most);
  return e;
}

void put_scale(const Step& step, const RunContext& context, size_t row, const RowScale& made) {
  memcpy(context.out(step, 1) + row * sizeof made.scale, &made.scale, sizeof made.scale);
  context.out(step, 2)[row] = static_cast<uint8_t>(made.zero_point);
}

// Quantises each row by one task.
void run_whole_rows(const Step& step, const RunContext& context) {
  const Params& p = step.as<Params>();
  const auto* x = reinterpret_cast<const float*>(context.in(step, 0));
  uint8_t* y = context.out(step, 0);
  for_chunks(*context.parallel, p.tasks, p.rows, 1, [&](size_t, size_t begin, size_t end) {
    for (size_t row = begin; row < end; ++row) {
      const float* const from = x + row * p.elements;
      const RowScale made(p.form, extremes_of(p, from, p.elements));
      put_scale(step, context, row, made);
      made.quantize(p, from, p.elements, y + row * p.elements);
    }
  });
}

// Quantises one row after the other, each by all tasks.
void run_cut_rows(const Step& step, const RunContext& context) {
  const Params& p = step.as<Params>();
  const auto* x = reinterpret_cast<const float*>(context.in(step, 0));
  uint8_t* y = context.out(step, 0);
  auto* chunks = reinterpret_cast<Extremes*>(context.scratch);
  for (size_t row = 0; row < p.rows; ++row, x += p.elements, y += p.elements) {
    std::fill_n(chunks, p.tasks, Extremes());
    for_chunks(*context.parallel, p.tasks, p.elements, kAlignment,
               [&](size_t task, size_t begin, size_t end) {
                 chunks[task] = extremes_of(p, x + begin, end - begin);
               });
    Extremes all;
    for (size_t i = 0; i < p.tasks; ++i) all.add(chunks[i]);
    const RowScale made(p.form, all);
    put_scale(step, context, row, made);
    for_chunks(*context.parallel, p.tasks, p.elements, kAlignment,
               [&](size_t, size_t begin, size_t end) {
                 made.quantize(p, x + begin, end - begin, y + begin);
               });
  }
}

Status prepare(const PrepareContext& context, PlannedStep* step) {
  auto params = make_planned<Params>();
  Params& p = *params;
  p.kernel = select_edge(context.isas);
  p.form = form_of(*context.op);
  const Shape& x = context.inputs[0].type.shape;
  const auto elements = static_cast<size_t>(x.elements());
  p.rows = p.form == Form::ONNX ? 1 : static_cast<size_t>(x[0]);
  p.elements = elements / p.rows;
  const double ns = static_cast<double>(elements) / speed_of(p.kernel->isa).elements;
  const bool cuts_rows = p.rows < context.threads;
  if (cuts_rows)
    p.tasks = task_count(ns / static_cast<double>(p.rows), ceil_div(p.elements, kAlignment),
                         context.threads);
  else
    p.tasks = task_count(ns, p.rows, context.threads);
  step->scratch_bytes = cuts_rows ? p.tasks * sizeof(Extremes) : 0;
  step->kernel = p.kernel->name;
  step->run = cuts_rows ? run_cut_rows : run_whole_rows;
  step->params = std::move(params);
  return Status();
}

bool rows_are_apart(const fb::Operator& op, const BatchOperands&) {
  return form_of(op) != Form::ONNX;
}

}  // namespace

std::string describe_dynamic_quantize(const fb::Operator& op) {
  switch (form_of(op)) {
    case Form::TFLITE_SYMMETRIC: return "float32 factor of each row, half away, tflite-hybrid";
    case Form::TFLITE_ASYMMETRIC:
      return "float32 factor and zero point of each row, half away, tflite-hybrid";
    default: return "float32 division, half even, scale from the data";
  }
}

const OpDef kDynamicQuantizeOp = {"DynamicQuantize",
                                  fb::OpOptions::DynamicQuantize,
                                  infer,
                                  prepare,
                                  {Arithmetic::kEdge, edge_level, no_requant, rows_are_apart,
                                   LayoutRule::kOwn, Broadcasting::kNone, ConstantRule::kFixed}};

}  // namespace qrt
