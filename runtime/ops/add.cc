// SPDX-License-Identifier: Apache-2.0
// Add: elementwise sum or difference of two tensors, of uint8 in float32 or integer arithmetic, of
// int16 in integer arithmetic; broadcast as in numpy.
#include <algorithm>
#include <cinttypes>
#include <cmath>

#include "kernels/elementwise/forms.h"
#include "runtime/ops/add_in_float.h"
#include "runtime/ops/broadcast.h"
#include "runtime/ops/check.h"
#include "runtime/ops/ops.h"
#include "runtime/ops/tasks.h"
#include "runtime/requant_params.h"

namespace qrt {
namespace {

Status check_float(const fb::AddOptions* o) {
  const double a = static_cast<double>(float_of(o->a_scale()));
  const double b = static_cast<double>(float_of(o->b_scale()));
  const double f = static_cast<double>(float_of(o->constant()));
  // Written so that infinities and NaN fail, too: no comparison with them holds.
  QRT_MODEL_CHECK(
      255 * (std::fabs(a) + std::fabs(b)) + std::fabs(f) < 2147483648.0,
      "a_scale %g, b_scale %g and constant %g, expected 255 * (|a_scale| + |b_scale|) + "
      "|constant| < 2^31",
      a, b, f);
  QRT_MODEL_CHECK(o->a_offset() == 0 || o->a_offset() == -128, "a_offset is %d, expected 0 or -128",
                  o->a_offset());
  QRT_MODEL_CHECK(o->b_offset() == 0 || o->b_offset() == -128, "b_offset is %d, expected 0 or -128",
                  o->b_offset());
  QRT_MODEL_CHECK(o->output_offset() == 0 || o->output_offset() == 128,
                  "output_offset is %d, expected 0 or 128", o->output_offset());
  QRT_MODEL_CHECK(0 <= o->lo() && o->lo() <= o->hi() && o->hi() <= 255,
                  "limits are %d to %d, expected 0 <= lo <= hi <= 255", o->lo(), o->hi());
  return {};
}

// Checks that an int16 operand, shifted for its stages, stays within int32, in which -2^31 is and 2^31 is not.
Status check_shifted(const char* name, int32_t zero_point, int32_t left_shift) {
  const int64_t scale = int64_t{1} << left_shift;
  const int64_t least = (INT16_MIN - zero_point) * scale, most = (INT16_MAX - zero_point) * scale;
  QRT_MODEL_CHECK(least >= INT32_MIN && most <= INT32_MAX,
                  "%s_zero_point_16 is %d and left_shift is %d: operands are %" PRId64
                  " to %" PRId64 ", expected within int32",
                  name, zero_point, left_shift, least, most);
  return {};
}

Status check_int(const InferContext& context) {
  const auto* o = context.op->options_as<fb::AddOptions>();
  const DType dtype = context.inputs[0].type.dtype;
  QRT_TRY(check_range("left_shift", o->left_shift(), 0, 23));
  QRT_TRY(check_stages("a_stages", o->a_stages(), 1));
  QRT_TRY(check_stages("b_stages", o->b_stages(), 1));
  QRT_TRY(check_requant(o->requant(), 1, /*allow_acc=*/false, dtype));
  QRT_MODEL_CHECK(o->requant()->kind() == fb::RequantKind::INT,
                  "requant.kind is %d, an add of kind INT takes INT (2)",
                  static_cast<int>(o->requant()->kind()));
  const bool is_int16 = runs_int16(dtype);
  const int64_t a_operand = (is_int16 ? int16_reach(o->a_zero_point_16()) : 255) << o->left_shift();
  const int64_t b_operand = (is_int16 ? int16_reach(o->b_zero_point_16()) : 255) << o->left_shift();
  if (is_int16) {
    QRT_TRY(check_shifted("a", o->a_zero_point_16(), o->left_shift()));
    QRT_TRY(check_shifted("b", o->b_zero_point_16(), o->left_shift()));
  }
  const int64_t a = StageParams(o->a_stages()).bound(a_operand);
  const int64_t b = StageParams(o->b_stages()).bound(b_operand);
  QRT_MODEL_CHECK(a + b <= INT32_MAX,
                  "the terms reach %" PRId64 " and %" PRId64 ", expected a sum below 2^31", a, b);
  return {};
}

Status infer(const InferContext& context, TensorTypes* outputs) {
  const auto* o = context.op->options_as<fb::AddOptions>();
  QRT_TRY(check_input_count(context, 2));
  QRT_TRY(check_range("kind", static_cast<int>(o->kind()), 0, 2));
  Shape shape;
  QRT_TRY(infer_broadcast(context, &shape));
  if (o->kind() == fb::AddKind::INT) {
    QRT_TRY(check_int(context));
  } else {
    QRT_TRY(check_dtype(context, 0, "a", DType::kUInt8));
    QRT_TRY(check_float(o));
  }
  return add_output(context.inputs[0].type.dtype, shape, outputs);
}

}  // namespace

AddParams add_params(const fb::AddOptions& o) {
  AddParams p{};
  p.a_scale = float_of(o.a_scale());
  p.b_scale = float_of(o.b_scale());
  p.constant = float_of(o.constant());
  p.multiply_add = o.kind() == fb::AddKind::F32_MUL_ADD;
  p.a_is_inner = o.a_is_inner();
  p.a_offset = o.a_offset();
  p.b_offset = o.b_offset();
  p.output_offset = o.output_offset();
  p.lo = o.lo();
  p.hi = o.hi();
  return p;
}

namespace {

struct Params {
  const ElementwiseKernel* kernel;
  AddParams add;
  Broadcast broadcast;
};

void run(const Step& step, const RunContext& context) {
  const Params& p = step.as<Params>();
  for_all_spans<ElementwiseArgs>(p.broadcast, step, context,
                                 [&](const ElementwiseArgs& r) { p.kernel->add(p.add, r); });
}

void run_elements(const Step& step, const RunContext& context, size_t begin, size_t count) {
  const Params& p = step.as<Params>();
  p.kernel->add(p.add, {context.in(step, 0) + begin, context.in(step, 1) + begin, false, false,
                        context.out(step, 0) + begin, count});
}

struct IntParams {
  explicit IntParams(const fb::AddOptions& o)
      : a_stages(o.a_stages()), b_stages(o.b_stages()), requant(make_requant(*o.requant(), 1)) {}

  const ElementwiseKernel* kernel;
  StageParams a_stages, b_stages;
  RequantParams requant;
  AddIntParams add;
  Broadcast broadcast;
};

void run_int(const Step& step, const RunContext& context) {
  const IntParams& p = step.as<IntParams>();
  for_all_spans<ElementwiseArgs>(p.broadcast, step, context,
                                 [&](const ElementwiseArgs& r) { p.kernel->add_int(p.add, r); });
}

void run_int_elements(const Step& step, const RunContext& context, size_t begin, size_t count) {
  const IntParams& p = step.as<IntParams>();
  p.kernel->add_int(p.add, {context.in(step, 0) + begin, context.in(step, 1) + begin, false, false,
                            context.out(step, 0) + begin, count});
}

void run_int16(const Step& step, const RunContext& context) {
  const IntParams& p = step.as<IntParams>();
  for_all_spans<Int16Args>(p.broadcast, step, context,
                           [&](const Int16Args& r) { p.kernel->add_int16(p.add, r); });
}

struct TableParams {
  const SumTablesKernel* kernel;
  std::shared_ptr<const SumTables> tables;
  Broadcast broadcast;
};

void run_tables(const Step& step, const RunContext& context) {
  const TableParams& p = step.as<TableParams>();
  for_all_rows(p.broadcast, step, context, [&](const Rows& r) { p.kernel->run(*p.tables, r); });
}

void run_table_elements(const Step& step, const RunContext& context, size_t begin, size_t count) {
  const TableParams& p = step.as<TableParams>();
  p.kernel->run(*p.tables, {context.in(step, 0) + begin, context.in(step, 1) + begin, false, false,
                            context.out(step, 0) + begin, count, 1, 0, 0, 0});
}

// Sets the step's kernel, broadcast and run functions, for parameters of any type.
template <class P, class Kernel>
void finish_step(const PrepareContext& context, std::shared_ptr<P> params, const Kernel* kernel,
                 decltype(Step::run) run_step, decltype(Step::run_elements) run_elements_step,
                 PlannedStep* step) {
  params->kernel = kernel;
  params->broadcast = plan_broadcast(context, 1 / speed_of(kernel->isa).elements);
  if (step->kernel[0] == '\0') step->kernel = kernel->name;
  step->run = run_step;
  if (params->broadcast.is_plain()) step->run_elements = run_elements_step;
  step->params = std::move(params);
}

// Returns whether looking for a cheaper form pays, which takes as long as some thousand elements.
bool pays(const PrepareContext& context) {
  constexpr size_t kFew = 2048;
  return select_elementwise(context.isas)->isa != Isa::kScalar &&
         static_cast<size_t>(context.outputs[0].shape.elements()) >= kFew;
}

TableKey key_of(const AddParams& p) {
  TableKey key("sums of floats");
  key.add(p.a_scale, p.b_scale, p.constant, p.multiply_add, p.a_is_inner, p.a_offset, p.b_offset,
          p.output_offset, p.lo, p.hi);
  return key;
}

TableKey key_of(const AddIntParams& p) {
  TableKey key("sums of integers");
  const auto add_stages = [&key](const RequantStage* stages, int32_t count) {
    key.add(count);
    for (int32_t i = 0; i < count; ++i)
      key.add(stages[i].multiplier[0], stages[i].shift[0], stages[i].round, stages[i].clip_lo,
              stages[i].clip_hi);
  };
  const Requant& r = p.requant;
  key.add(p.a_zero_point, p.b_zero_point, p.left_shift, p.subtract, r.zero_point, r.lo, r.hi);
  add_stages(p.a_stages, p.a_stage_count);
  add_stages(p.b_stages, p.b_stage_count);
  add_stages(r.stages, r.stage_count);
  return key;
}

// Prepares the step as look-ups in tables, where a kernel has these and they give exactly the sums.
// Returns whether it did.
template <class P>
bool prepare_tables(const PrepareContext& context, const P& add,
                    bool (*SumTablesKernel::*make)(const P&, SumTables*), PlannedStep* step) {
  const SumTablesKernel* kernel = select_sum_tables(context.isas);
  if (kernel->run == nullptr || !pays(context)) return false;
  const auto make_tables = [&] {
    auto tables = make_planned<SumTables>();
    return (kernel->*make)(add, tables.get()) ? tables : nullptr;
  };
  auto params = make_planned<TableParams>();
  TableKey key = key_of(add);
  key.add(kernel);
  params->tables = context.share<SumTables>(key, sizeof(SumTables), make_tables);
  if (params->tables == nullptr) return false;
  finish_step(context, std::move(params), kernel, run_tables, run_table_elements, step);
  return true;
}

Status prepare(const PrepareContext& context, PlannedStep* step) {
  const auto* o = context.op->options_as<fb::AddOptions>();
  const ElementwiseKernel* kernel = select_elementwise(context.isas);
  if (o->kind() == fb::AddKind::INT) {
    const bool is_int16 = runs_int16(context.inputs[0].type.dtype);
    auto params = make_planned<IntParams>(*o);
    AddIntParams& p = params->add;
    p = {is_int16 ? o->a_zero_point_16() : o->a_zero_point(),
         is_int16 ? o->b_zero_point_16() : o->b_zero_point(),
         o->left_shift(),
         o->subtract(),
         params->a_stages.count,
         params->b_stages.count,
         {},
         {},
         params->requant.requant};
    for (int i = 0; i < kMaxStages; ++i) {
      p.a_stages[i] = params->a_stages.stages[i];
      p.b_stages[i] = params->b_stages.stages[i];
    }
    if (!is_int16 && prepare_tables(context, p, &SumTablesKernel::make_int, step)) return Status();
    if (AddParams add; !is_int16 && pays(context) && add_in_float(p, *kernel, &add)) {
      auto in_float = make_planned<Params>();
      in_float->add = add;
      finish_step(context, std::move(in_float), kernel, run, run_elements, step);
      return Status();
    }
    if (is_int16) step->kernel = kernel->int16_name;
    finish_step(context, std::move(params), kernel, is_int16 ? run_int16 : run_int,
                is_int16 ? nullptr : run_int_elements, step);
    return Status();
  }
  auto params = make_planned<Params>();
  params->add = add_params(*o);
  if (prepare_tables(context, params->add, &SumTablesKernel::make, step)) return Status();
  finish_step(context, std::move(params), kernel, run, run_elements, step);
  return Status();
}

int level(const fb::Operator& op) {
  return op.options_as_Add()->kind() == fb::AddKind::INT ? 0 : 1;
}

}  // namespace

std::string describe_add(const fb::Operator& op) {
  switch (op.options_as_Add()->kind()) {
    case fb::AddKind::F32_FMA: return "EW_F32, fma";
    case fb::AddKind::F32_MUL_ADD: return "EW_F32, mul, add";
    case fb::AddKind::INT: break;
  }
  return "EW_INT";
}

const OpDef kAddOp = {"Add",
                      fb::OpOptions::Add,
                      infer,
                      prepare,
                      {Arithmetic::kForms, level, no_requant, operands_apart, LayoutRule::kAny,
                       Broadcasting::kElements, ConstantRule::kOperands, true}};

}  // namespace qrt
