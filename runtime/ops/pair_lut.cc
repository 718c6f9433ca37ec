// SPDX-License-Identifier: Apache-2.0
// PairLut: a table of 65536 values applied to every pair of bytes of two tensors, broadcast as in
// numpy.
#include "kernels/lut/pair_lut.h"

#include "runtime/ops/broadcast.h"
#include "runtime/ops/check.h"
#include "runtime/ops/ops.h"
#include "runtime/ops/tasks.h"

namespace qrt {
namespace {

Status infer(const InferContext& context, TensorTypes* outputs) {
  const auto* options = context.op->options_as<fb::PairLutOptions>();
  QRT_TRY(check_input_count(context, 2));
  Shape shape;
  QRT_TRY(infer_broadcast(context, &shape));
  DType output;
  QRT_TRY(declared_output_dtype(context, &output));
  const bool fits = options->to_float() ? output == DType::kFloat32 : is_byte(output);
  QRT_MODEL_CHECK(fits, "the output is %s, expected %s", dtype_name(output),
                  options->to_float() ? "float32" : "a byte type");
  Result<const fb::Buffer*> buffer = context.buffer(options->table());
  if (!buffer.ok()) return std::move(buffer.status());
  const size_t bytes = (*buffer)->data()->size(), expected = kPairLutEntries * dtype_bytes(output);
  QRT_MODEL_CHECK(bytes == expected, "the table holds %zu bytes, expected %zu", bytes, expected);
  return add_output(output, shape, outputs);
}

struct Params {
  const LutKernel* kernel;  // null: to float
  const uint8_t* table;
  Broadcast broadcast;
};

void map(const Params& p, const PairLutArgs& run) {
  if (p.kernel != nullptr)
    pair_lut_u8(*p.kernel, p.table, run);
  else
    pair_lut_f32(p.table, run);
}

void run(const Step& step, const RunContext& context) {
  const Params& p = step.as<Params>();
  for_all_spans<PairLutArgs>(p.broadcast, step, context, [&](const PairLutArgs& r) { map(p, r); });
}

void run_elements(const Step& step, const RunContext& context, size_t begin, size_t count) {
  const Params& p = step.as<Params>();
  map(p, {context.in(step, 0) + begin, context.in(step, 1) + begin, false, false,
          context.out(step, 0) + begin * p.broadcast.output_bytes, count});
}

Status prepare(const PrepareContext& context, PlannedStep* step) {
  const auto* options = context.op->options_as<fb::PairLutOptions>();
  Result<const fb::Buffer*> buffer = context.buffer(options->table());
  if (!buffer.ok()) return std::move(buffer.status());
  auto params = make_planned<Params>();
  params->kernel = options->to_float() ? nullptr : select_lut(context.isas);
  params->table = (*buffer)->data()->data();
  params->broadcast = plan_broadcast(context, 1);
  step->kernel = options->to_float() ? "pair_lut_f32_scalar" : params->kernel->name;
  step->run = run;
  if (params->broadcast.is_plain()) step->run_elements = run_elements;
  step->params = std::move(params);
  return Status();
}

int level(const fb::Operator& op) { return op.options_as_PairLut()->to_float() ? kEdgeLevel : 0; }

}  // namespace

std::string describe_pair_lut(const fb::Operator&) { return "table of pairs"; }

const OpDef kPairLutOp = {"PairLut",
                          fb::OpOptions::PairLut,
                          infer,
                          prepare,
                          {Arithmetic::kTable, level, no_requant, operands_apart, LayoutRule::kAny,
                           Broadcasting::kElements, Constants::table<fb::PairLutOptions>()}};

}  // namespace qrt
