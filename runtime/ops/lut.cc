// SPDX-License-Identifier: Apache-2.0
// Lut: a table of 256 bytes applied to every element, or one table per index of the last axis; from
// or to int16, one table of 65536 or 256 elements.
#include "kernels/lut/lut.h"

#include <algorithm>

#include "kernels/lut/channel_lut.h"
#include "kernels/lut/pair_lut.h"
#include "runtime/checked.h"
#include "runtime/ops/channel_lines.h"
#include "runtime/ops/check.h"
#include "runtime/ops/ops.h"
#include "runtime/ops/tasks.h"

namespace qrt {
namespace {

constexpr size_t kTable16 = 65536;

// Returns whether a table from `x` to `y` is one of the int16 kind: int16 to int16, bytes or
// floats, or bytes to int16.
bool is_int16(DType x, DType y) {
  return x == DType::kInt16 ? y == DType::kInt16 || is_byte(y) || y == DType::kFloat32
                            : is_byte(x) && y == DType::kInt16;
}

Status infer_16(const InferContext& context, DType output, TensorTypes* outputs) {
  const auto* options = context.op->options_as<fb::LutOptions>();
  const TensorType& x = context.inputs[0].type;
  QRT_MODEL_CHECK(options->to_float() == (output == DType::kFloat32),
                  "to_float does not agree with an output of %s", dtype_name(output));
  QRT_MODEL_CHECK(!options->per_channel(), "int16 with a table per channel, expected one table");
  Result<const fb::Buffer*> buffer = context.buffer(options->table());
  if (!buffer.ok()) return std::move(buffer.status());
  const size_t bytes = (*buffer)->data()->size();
  const size_t expected = (x.dtype == DType::kInt16 ? kTable16 : 256) * dtype_bytes(output);
  QRT_MODEL_CHECK(bytes == expected, "the table holds %zu bytes, expected %zu", bytes, expected);
  return add_output(output, x.shape, outputs);
}

Status infer(const InferContext& context, TensorTypes* outputs) {
  const auto* options = context.op->options_as<fb::LutOptions>();
  QRT_TRY(check_input_count(context, 1));
  const TensorType& x = context.inputs[0].type;
  DType output;
  QRT_TRY(declared_output_dtype(context, &output));
  if (is_int16(x.dtype, output)) return infer_16(context, output, outputs);
  const bool fits = options->to_float() ? output == DType::kFloat32 : is_byte(output);
  QRT_MODEL_CHECK(is_byte(x.dtype) && fits,
                  "maps %s to %s, expected bytes to bytes (uint8, int8, bool), or to float32 with "
                  "to_float, int16 to int16, bytes or float32, or bytes to int16",
                  dtype_name(x.dtype), dtype_name(output));
  const int rank = x.shape.rank();
  QRT_MODEL_CHECK(!options->per_channel() || rank >= 1,
                  "x has rank 0, expected at least 1 with a table per channel");
  const int64_t tables = options->per_channel() ? x.shape[rank - 1] : 1;
  Result<const fb::Buffer*> buffer = context.buffer(options->table());
  if (!buffer.ok()) return std::move(buffer.status());
  const size_t bytes = (*buffer)->data()->size(), each = 256 * dtype_bytes(output);
  QRT_MODEL_CHECK(bytes % each == 0 && bytes / each == static_cast<uint64_t>(tables),
                  "the table holds %zu bytes, expected %zu * %lld", bytes, each,
                  static_cast<long long>(tables));
  return add_output(output, x.shape, outputs);
}

struct Params {
  const LutKernel* kernel;
  const uint8_t* table;
  size_t elements, channels, tasks;
  // The tables in the channel kernel's form; null: that kernel is not used.
  std::shared_ptr<const ChannelLines> lines;
  ChannelPlanes planes;
};

void run(const Step& step, const RunContext& context) {
  const Params& p = step.as<Params>();
  for_chunks(*context.parallel, p.tasks, p.elements, kAlignment,
             [&](size_t, size_t begin, size_t end) {
               p.kernel->map(p.table, context.in(step, 0) + begin, context.out(step, 0) + begin,
                             end - begin);
             });
}

void run_elements(const Step& step, const RunContext& context, size_t begin, size_t count) {
  const Params& p = step.as<Params>();
  p.kernel->map(p.table, context.in(step, 0) + begin, context.out(step, 0) + begin, count);
}

void run_line(const Step& step, const RunContext& context) {
  const Params& p = step.as<Params>();
  for_chunks(*context.parallel, p.tasks, p.elements, kAlignment,
             [&](size_t, size_t begin, size_t end) {
               p.lines->map(context.in(step, 0) + begin, context.out(step, 0) + begin, end - begin);
             });
}

void run_line_elements(const Step& step, const RunContext& context, size_t begin, size_t count) {
  const Params& p = step.as<Params>();
  p.lines->map(context.in(step, 0) + begin, context.out(step, 0) + begin, count);
}

void run_channels(const Step& step, const RunContext& context) {
  const Params& p = step.as<Params>();
  for_chunks(*context.parallel, p.tasks, p.elements / p.channels, 1,
             [&](size_t, size_t begin, size_t end) {
               map_channels(p.table, context.in(step, 0) + begin * p.channels,
                            context.out(step, 0) + begin * p.channels, end - begin, p.channels);
             });
}

void run_lines(const Step& step, const RunContext& context) {
  const Params& p = step.as<Params>();
  for_chunks(*context.parallel, p.tasks, p.elements / p.channels, 1,
             [&](size_t, size_t begin, size_t end) {
               p.lines->map(context.in(step, 0) + begin * p.channels,
                            context.out(step, 0) + begin * p.channels, (end - begin) * p.channels);
             });
}

void run_planes(const Step& step, const RunContext& context) {
  const Params& p = step.as<Params>();
  const ChannelPlanes& planes = p.planes;
  for_chunks(*context.parallel, p.tasks, p.elements / p.channels, planes.rows,
             [&](size_t task, size_t begin, size_t end) {
               uint8_t* const memory =
                   context.scratch + task * round_up(planes.bytes(), kAlignment);
               for (size_t row = begin; row < end; row += planes.rows)
                 planes.map(p.table, context.in(step, 0) + row * p.channels,
                            context.out(step, 0) + row * p.channels,
                            std::min(planes.rows, end - row), memory);
             });
}

// Replaces the tables by lines and returns true, if lines give the same bytes.
bool take_lines(const PrepareContext& context, int searches, Params* p) {
  TableKey key("lines");
  key.add(context.isas, p->table, p->channels, searches);
  p->lines = context.share<ChannelLines>(key, ChannelLines::bytes(p->channels), [&] {
    return ChannelLines::fit(context.isas, p->table, p->channels, searches);
  });
  return p->lines != nullptr;
}

void prepare_one(const PrepareContext& context, Params* p, PlannedStep* step) {
  // A line, as where only scale or zero point change, takes half the time of sixteen look-ups.
  constexpr size_t kLeastElements = 8192;
  if (p->kernel->isa == Isa::kAvx2 && p->elements >= kLeastElements &&
      take_lines(context, /*searches=*/0, p)) {
    step->kernel = p->lines->name();
    step->run = run_line;
    step->run_elements = run_line_elements;
    return;
  }
  step->run = run;
  step->run_elements = run_elements;
}

void prepare_channels(const PrepareContext& context, Params* p, PlannedStep* step) {
  // With fewer rows the search for lines pays off only after dozens of runs.
  constexpr size_t kLeastRows = 128;
  constexpr int kSearches = 32;  // the lines of all of a layer's channels meet at its zero point
  if (p->elements / p->channels >= kLeastRows && take_lines(context, kSearches, p)) {
    step->kernel = p->lines->name();
    step->run = run_lines;
    return;
  }
  p->planes = plan_channel_planes(context.isas, p->elements / p->channels, p->channels);
  if (p->planes.rows == 0) {
    step->kernel = "lut_channels_u8_scalar";
    step->run = run_channels;
    return;
  }
  step->run = run_planes;
  step->scratch_bytes = p->tasks * round_up(p->planes.bytes(), kAlignment);
}

struct Params16 {
  const uint8_t* table;  // of x = 0
  size_t elements, tasks;
};

template <class X, class Y>
void run_16(const Step& step, const RunContext& context) {
  const Params16& p = step.as<Params16>();
  const auto* table = reinterpret_cast<const Y*>(p.table);
  const auto* x = reinterpret_cast<const X*>(context.in(step, 0));
  auto* y = reinterpret_cast<Y*>(context.out(step, 0));
  for_chunks(*context.parallel, p.tasks, p.elements, kAlignment,
             [&](size_t, size_t begin, size_t end) {
               for (size_t i = begin; i < end; ++i) y[i] = table[x[i]];
             });
}

// Buffers of a file are aligned to 64 bytes.
Status prepare_16(const PrepareContext& context, PlannedStep* step) {
  Result<const fb::Buffer*> buffer =
      context.buffer(context.op->options_as<fb::LutOptions>()->table());
  if (!buffer.ok()) return std::move(buffer.status());
  auto params = make_planned<Params16>();
  const TensorType& y = context.outputs[0];
  const bool widens = y.dtype == DType::kInt16 && context.inputs[0].type.dtype != DType::kInt16;
  params->table = (*buffer)->data()->data() + (widens ? 0 : kTable16 / 2 * dtype_bytes(y.dtype));
  params->elements = static_cast<size_t>(y.shape.elements());
  params->tasks =
      task_count(static_cast<double>(params->elements), params->elements, context.threads);
  step->kernel = "lut_s16";
  // Floats are copied as they are.
  step->run = widens                       ? run_16<uint8_t, int16_t>
              : is_byte(y.dtype)           ? run_16<int16_t, uint8_t>
              : y.dtype == DType::kFloat32 ? run_16<int16_t, uint32_t>
                                           : run_16<int16_t, int16_t>;
  step->params = std::move(params);
  return Status();
}

void run_float(const Step& step, const RunContext& context) {
  const Params& p = step.as<Params>();
  for_chunks(*context.parallel, p.tasks, p.elements / p.channels, 1,
             [&](size_t, size_t begin, size_t end) {
               begin *= p.channels;
               lut_f32(p.table, context.in(step, 0) + begin,
                       context.out(step, 0) + begin * sizeof(float), end - begin / p.channels,
                       p.channels);
             });
}

Status prepare(const PrepareContext& context, PlannedStep* step) {
  if (is_int16(context.inputs[0].type.dtype, context.outputs[0].dtype))
    return prepare_16(context, step);
  const Shape& shape = context.outputs[0].shape;
  const auto* options = context.op->options_as<fb::LutOptions>();
  Result<const fb::Buffer*> buffer = context.buffer(options->table());
  if (!buffer.ok()) return std::move(buffer.status());
  auto params = make_planned<Params>();
  params->kernel = select_lut(context.isas);
  params->table = (*buffer)->data()->data();
  params->elements = static_cast<size_t>(shape.elements());
  params->channels = options->per_channel() ? static_cast<size_t>(shape[shape.rank() - 1]) : 1;
  params->tasks =
      task_count(static_cast<double>(params->elements) / speed_of(params->kernel->isa).elements,
                 options->per_channel() ? params->elements / params->channels : params->elements,
                 context.threads);
  step->kernel = options->to_float() ? "lut_f32_scalar" : params->kernel->name;
  if (options->to_float()) {
    step->run = run_float;
  } else if (options->per_channel()) {
    prepare_channels(context, params.get(), step);
  } else {
    prepare_one(context, params.get(), step);
  }
  step->params = std::move(params);
  return Status();
}

int level(const fb::Operator& op) { return op.options_as_Lut()->to_float() ? kEdgeLevel : 0; }

bool keeps_images_apart(const fb::Operator& op, const BatchOperands& operands) {
  return !op.options_as_Lut()->per_channel() || rows_apart(op, operands);
}

}  // namespace

std::string describe_lut(const fb::Operator& op) {
  return op.options_as_Lut()->per_channel() ? "table per channel" : "table";
}

const OpDef kLutOp = {"Lut",
                      fb::OpOptions::Lut,
                      infer,
                      prepare,
                      {Arithmetic::kTable, level, no_requant, keeps_images_apart, LayoutRule::kAny,
                       Broadcasting::kNone, Constants::table<fb::LutOptions>()}};

}  // namespace qrt
