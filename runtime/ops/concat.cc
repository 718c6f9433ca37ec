// SPDX-License-Identifier: Apache-2.0
// Concat: inputs of one type side by side along an axis; every input is a set of rows copied into
// the rows of the output. Where steps write their rows there by themselves, nothing is left to do.
#include "kernels/copy/copy.h"
#include "runtime/ops/check.h"
#include "runtime/ops/ops.h"
#include "runtime/ops/tasks.h"

namespace qrt {
namespace {

Status infer(const InferContext& context, TensorTypes* outputs) {
  const auto* options = context.op->options_as<fb::ConcatOptions>();
  QRT_MODEL_CHECK(!context.inputs.empty(), "has no inputs, expected at least 1");
  const TensorType& first = context.inputs[0].type;
  QRT_TRY(check_whole_bytes(first));
  QRT_MODEL_CHECK(options->axis() < static_cast<uint32_t>(first.shape.rank()),
                  "axis is %u, expected less than the rank %d", options->axis(),
                  first.shape.rank());
  const int axis = static_cast<int>(options->axis());
  Shape shape = first.shape;
  shape[axis] = 0;
  for (size_t i = 0; i < context.inputs.size(); ++i) {
    const TensorType& type = context.inputs[i].type;
    QRT_MODEL_CHECK(type.dtype == first.dtype, "input %zu is %s, expected %s as input 0", i,
                    dtype_name(type.dtype), dtype_name(first.dtype));
    bool is_equal = type.shape.rank() == shape.rank();
    for (int d = 0; is_equal && d < shape.rank(); ++d)
      is_equal = d == axis || type.shape[d] == shape[d];
    QRT_MODEL_CHECK(is_equal,
                    "input %zu has shape %s, expected that of input 0, %s, but for axis %d", i,
                    type.shape.to_string().c_str(), first.shape.to_string().c_str(), axis);
    // Cannot overflow: at most kMaxOperands inputs, each below 2^31.
    shape[axis] += type.shape[axis];
  }
  return add_output(first.dtype, shape, outputs);
}

struct Params {
  const CopyKernel* kernel;
  size_t rows;                     // product of the dimensions before the axis
  PlanVector<size_t> input_bytes;  // of one row
  size_t output_bytes;             // of one row
  size_t tasks;
};

void run(const Step& step, const RunContext& context) {
  const Params& p = step.as<Params>();
  const bool by_rows = p.rows >= p.tasks;
  const size_t to_pitch = output_pitch(step, p.output_bytes);
  // Task t copies its share of every input: of the rows, or of each row's bytes.
  context.parallel->run(p.tasks, [&](size_t t) {
    const auto cut = [&](size_t total, size_t i) { return chunk_begin(total, i, p.tasks); };
    const size_t row_begin = by_rows ? cut(p.rows, t) : 0;
    const size_t row_end = by_rows ? cut(p.rows, t + 1) : p.rows;
    for (size_t i = 0; i < p.input_bytes.size(); ++i) {
      const size_t bytes = p.input_bytes[i], pitch = input_pitch(step, i, bytes);
      const size_t begin = by_rows ? 0 : cut(bytes, t), end = by_rows ? bytes : cut(bytes, t + 1);
      const uint8_t* from = context.in(step, i);
      uint8_t* to = context.out(step, 0) + step.parts[i];
      if (from == to || begin == end) continue;
      p.kernel->rows(from + row_begin * pitch + begin, pitch, to + row_begin * to_pitch + begin,
                     to_pitch, row_end - row_begin, end - begin);
    }
  });
}

Status prepare(const PrepareContext& context, PlannedStep* step) {
  const TensorType& output = context.outputs[0];
  const int axis = static_cast<int>(context.op->options_as<fb::ConcatOptions>()->axis());
  QRT_TRY(context.take(2 * context.inputs.size() * sizeof(size_t)));
  auto params = make_planned<Params>();
  params->kernel = select_copy(context.isas);
  params->rows = 1;
  for (int d = 0; d < axis; ++d) params->rows *= static_cast<size_t>(output.shape[d]);
  const auto row_bytes = [&](const TensorType& type) {
    return static_cast<size_t>(type.shape.elements()) / params->rows * dtype_bytes(type.dtype);
  };
  for (const OpInput& input : context.inputs) params->input_bytes.push_back(row_bytes(input.type));
  params->output_bytes = row_bytes(output);
  step->shared_rows = step->input_rows = step->output_rows = params->rows;
  size_t begin = 0;
  for (const size_t bytes : params->input_bytes) step->parts.push_back(begin), begin += bytes;
  const size_t bytes = params->rows * params->output_bytes;
  params->tasks =
      task_count(static_cast<double>(bytes) / kCopyBytesPerNs, bytes / kAlignment, context.threads);
  step->kernel = params->kernel->name;
  step->run = run;
  step->params = std::move(params);
  return Status();
}

}  // namespace

std::string describe_concat(const fb::Operator&) { return "move"; }

const OpDef kConcatOp = {
    "Concat",
    fb::OpOptions::Concat,
    infer,
    prepare,
    {Arithmetic::kMoves, integer_level, no_requant, axis_apart<fb::ConcatOptions>, LayoutRule::kAny,
     Broadcasting::kNone, ConstantRule::kOperands, true}};

}  // namespace qrt
