// SPDX-License-Identifier: Apache-2.0
// Reduce: sums or maxima along one axis, of integers without quantisation.
#include "runtime/ops/axis_layout.h"
#include "runtime/ops/check.h"
#include "runtime/ops/ops.h"
#include "runtime/ops/tasks.h"

namespace qrt {
namespace {

Status infer(const InferContext& context, TensorTypes* outputs) {
  const auto* o = context.op->options_as<fb::ReduceOptions>();
  QRT_TRY(check_input_count(context, 1));
  const TensorType& x = context.inputs[0].type;
  QRT_MODEL_CHECK(x.dtype == DType::kUInt8 || x.dtype == DType::kInt16 || x.dtype == DType::kInt32,
                  "x is %s, expected uint8, int16 or int32", dtype_name(x.dtype));
  QRT_MODEL_CHECK(x.shape.rank() >= 1, "x has rank 0, expected at least 1");
  QRT_TRY(check_range("axis", o->axis(), 0, x.shape.rank() - 1));
  if (x.dtype == DType::kUInt8) QRT_TRY(check_range("zero_point", o->zero_point(), 0, 255));
  if (x.dtype == DType::kInt16)
    QRT_TRY(check_range("zero_point", o->zero_point(), INT16_MIN, INT16_MAX));
  Shape shape = x.shape;
  shape[static_cast<int>(o->axis())] = 1;
  return add_output(DType::kInt32, shape, outputs);
}

struct Params {
  AxisLayout lines;
  size_t tasks;
  uint32_t zero_point;
  bool maximum;
};

// Columns side by side whose results stay in registers or the first-level cache.
constexpr size_t kColumns = 256;

// Reduces x [n][inner] to y [inner], for the columns [begin, end).
template <class T, bool kMaximum>
void reduce(const Params& p, const T* x, int32_t* y, size_t begin, size_t end) {
  uint32_t sums[kColumns];
  for (size_t c = begin; c < end; c += kColumns) {
    const size_t width = end - c < kColumns ? end - c : kColumns;
    for (size_t i = 0; i < width; ++i) sums[i] = static_cast<uint32_t>(x[c + i]) - p.zero_point;
    for (size_t row = 1; row < p.lines.n; ++row) {
      const T* from = x + row * p.lines.inner + c;
      for (size_t i = 0; i < width; ++i) {
        const uint32_t v = static_cast<uint32_t>(from[i]) - p.zero_point;
        if (kMaximum)
          sums[i] = static_cast<int32_t>(v) > static_cast<int32_t>(sums[i]) ? v : sums[i];
        else
          sums[i] += v;
      }
    }
    for (size_t i = 0; i < width; ++i) y[c + i] = static_cast<int32_t>(sums[i]);
  }
}

template <class T>
void run(const Step& step, const RunContext& context) {
  const Params& p = step.as<Params>();
  const T* x = reinterpret_cast<const T*>(context.in(step, 0));
  int32_t* y = reinterpret_cast<int32_t*>(context.out(step, 0));
  for_chunks(*context.parallel, p.tasks, p.lines.count(), 1, [&](size_t, size_t begin, size_t end) {
    while (begin < end) {
      const size_t image = begin / p.lines.inner, first = begin % p.lines.inner;
      const size_t last = end - begin < p.lines.inner - first ? first + end - begin : p.lines.inner;
      const T* from = x + image * p.lines.n * p.lines.inner;
      if (p.maximum)
        reduce<T, true>(p, from, y + image * p.lines.inner, first, last);
      else
        reduce<T, false>(p, from, y + image * p.lines.inner, first, last);
      begin += last - first;
    }
  });
}

Status prepare(const PrepareContext& context, PlannedStep* step) {
  const auto* o = context.op->options_as<fb::ReduceOptions>();
  const TensorType& x = context.inputs[0].type;
  auto params = make_planned<Params>();
  params->lines = axis_layout(x.shape, o->axis());
  params->zero_point = static_cast<uint32_t>(o->zero_point());
  params->maximum = o->maximum();
  params->tasks = task_count(0.5 * static_cast<double>(x.shape.elements()), params->lines.count(),
                             context.threads);
  step->kernel = "reduce_scalar";
  step->run = x.dtype == DType::kUInt8   ? run<uint8_t>
              : x.dtype == DType::kInt16 ? run<int16_t>
                                         : run<int32_t>;
  step->params = std::move(params);
  return Status();
}

}  // namespace

std::string describe_reduce(const fb::Operator& op) {
  return op.options_as_Reduce()->maximum() ? "maximum" : "int32 sum";
}

const OpDef kReduceOp = {
    "Reduce",
    fb::OpOptions::Reduce,
    infer,
    prepare,
    {Arithmetic::kIntegers, integer_level, no_requant, axis_apart<fb::ReduceOptions>,
     LayoutRule::kOwn, Broadcasting::kNone, ConstantRule::kFixed}};

}  // namespace qrt
