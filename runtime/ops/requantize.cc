// SPDX-License-Identifier: Apache-2.0
// Requantize: integers of one scale to another's, with stages and slopes of their own below the
// zero point: TFLite's QUANTIZE between integers, and RELU, LEAKY_RELU, PRELU and ABS of 16 bits.
#include <algorithm>
#include <cstring>

#include "kernels/elementwise/elementwise.h"
#include "runtime/ops/check.h"
#include "runtime/ops/ops.h"
#include "runtime/ops/requantize_sums.h"
#include "runtime/ops/tasks.h"
#include "runtime/requant_params.h"

namespace qrt {
namespace {

constexpr int64_t kInt32Reach = int64_t{1} << 31;

bool is_handled(DType dtype) {
  return dtype == DType::kUInt8 || dtype == DType::kInt16 || dtype == DType::kInt32;
}

// Finds the limits of the type of x.
void limits_of(DType dtype, int64_t* lo, int64_t* hi) {
  *lo = dtype == DType::kUInt8 ? 0 : dtype == DType::kInt16 ? INT16_MIN : INT32_MIN;
  *hi = dtype == DType::kUInt8 ? 255 : dtype == DType::kInt16 ? INT16_MAX : INT32_MAX;
}

Status check_negative(const InferContext& context, int64_t bound) {
  const auto* o = context.op->options_as<fb::RequantizeOptions>();
  QRT_TRY(check_stages("negative", o->negative(), 1));
  const bool has_negative = o->negative() != nullptr && o->negative()->size() != 0;
  if (context.inputs.size() == 1) {
    QRT_MODEL_CHECK(has_negative || !o->negate_negative(),
                    "negate_negative is set without stages of negative");
  } else {
    QRT_MODEL_CHECK(has_negative, "has slopes without stages of negative");
    QRT_TRY(check_dtype(context, 1, "slopes", DType::kInt16));
    QRT_TRY(check_rank(context, 1, "slopes", 1, "[channels]"));
    const Shape& x = context.inputs[0].type.shape;
    const int64_t slopes = context.inputs[1].type.shape[0];
    QRT_MODEL_CHECK(slopes == 1 || (x.rank() >= 1 && x[x.rank() - 1] == slopes),
                    "%lld slopes, expected 1 or one for each index of the last dimension",
                    static_cast<long long>(slopes));
    QRT_TRY(check_constant(context, 1, "slopes", fb::Packing::NONE,
                           static_cast<size_t>(slopes) * sizeof(int16_t)));
    bound *= 32768;
    QRT_MODEL_CHECK(bound <= kInt32Reach,
                    "x * slope may reach %lld, expected at most 2^31: use a zero point of 0",
                    static_cast<long long>(bound));
  }
  if (!has_negative) return Status();
  const int64_t result = StageParams(o->negative()).bound(bound);
  QRT_MODEL_CHECK(!o->negate_negative() || result < kInt32Reach,
                  "stages of negative may reach -2^31, whose negative is no int32");
  return Status();
}

// Checks the operator. *bound: the greatest |x - input_zero_point|.
Status analyse(const InferContext& context, int64_t* bound) {
  const auto* o = context.op->options_as<fb::RequantizeOptions>();
  QRT_MODEL_CHECK(context.inputs.size() == 1 || context.inputs.size() == 2,
                  "has %zu inputs, expected 1 or 2", context.inputs.size());
  const DType from = context.inputs[0].type.dtype;
  DType to;
  QRT_TRY(declared_output_dtype(context, &to));
  QRT_MODEL_CHECK(is_handled(from) && is_handled(to),
                  "maps %s to %s, expected uint8, int16 and int32", dtype_name(from),
                  dtype_name(to));
  int64_t lo, hi;
  limits_of(from, &lo, &hi);
  const int64_t zero_point = o->input_zero_point();
  const bool is_int32 = from == DType::kInt32;
  QRT_TRY(check_range("input_zero_point", zero_point, is_int32 ? 0 : lo, is_int32 ? 0 : hi));
  *bound = std::max(zero_point - lo, hi - zero_point);
  QRT_TRY(check_requant(o->requant(), 1, /*allow_acc=*/false, to));
  QRT_MODEL_CHECK(o->requant()->kind() == fb::RequantKind::INT,
                  "requant.kind is %d, expected INT (2)", static_cast<int>(o->requant()->kind()));
  return check_negative(context, *bound);
}

Status infer(const InferContext& context, TensorTypes* outputs) {
  int64_t bound;
  QRT_TRY(has_fine_bias(context) ? check_requantize_sums(context) : analyse(context, &bound));
  const auto to = context.model->tensors()->Get(context.op->outputs()->Get(0))->dtype();
  return add_output(static_cast<DType>(to), context.inputs[0].type.shape, outputs);
}

struct Params {
  explicit Params(const fb::RequantizeOptions& o)
      : requant(make_requant(*o.requant(), 1)), negative(o.negative()) {}

  const ElementwiseKernel* kernel;
  RequantParams requant;
  StageParams negative;
  PlanVector<int16_t> slopes;
  RescaleParams rescale{};
  DType from, to;
  size_t from_bytes, to_bytes, elements, tasks;
};

void run(const Step& step, const RunContext& context) {
  const Params& p = step.as<Params>();
  for_chunks(*context.parallel, p.tasks, p.elements, kAlignment,
             [&](size_t, size_t begin, size_t end) {
               RescaleArgs r{};
               r.from = p.from;
               r.to = p.to;
               r.x = context.in(step, 0) + begin * p.from_bytes;
               r.y = context.out(step, 0) + begin * p.to_bytes;
               r.n = end - begin;
               r.channels = std::max(p.slopes.size(), size_t{1});
               r.channel = begin % r.channels;
               p.kernel->rescale(p.rescale, r);
             });
}

Status prepare(const PrepareContext& context, PlannedStep* step) {
  if (has_fine_bias(context)) return prepare_requantize_sums(context, step);
  const auto* o = context.op->options_as<fb::RequantizeOptions>();
  int64_t bound;
  QRT_TRY(analyse(context, &bound));
  QRT_TRY(context.take(sizeof(Params)));  // two lists of stages, each in two forms
  auto params = make_planned<Params>(*o);
  params->kernel = select_elementwise(context.isas);
  params->from = context.inputs[0].type.dtype;
  params->to = context.outputs[0].dtype;
  params->from_bytes = dtype_bytes(params->from);
  params->to_bytes = dtype_bytes(params->to);
  params->elements = static_cast<size_t>(context.outputs[0].shape.elements());
  if (context.inputs.size() == 2) {
    QRT_TRY(context.take(context.inputs[1].data_bytes));
    params->slopes.resize(context.inputs[1].data_bytes / sizeof(int16_t));
    memcpy(params->slopes.data(), context.inputs[1].data, context.inputs[1].data_bytes);
  }
  RescaleParams& r = params->rescale;
  r.bound = bound;
  r.zero_point = o->input_zero_point();
  r.requant = params->requant.requant;
  r.has_negative = params->negative.count != 0;
  r.negate_negative = o->negate_negative();
  r.negative_count = params->negative.count;
  for (int i = 0; i < kMaxStages; ++i) r.negative[i] = params->negative.stages[i];
  r.slopes = params->slopes.empty() ? nullptr : params->slopes.data();
  params->tasks =
      task_count(4 * static_cast<double>(params->elements) / speed_of(params->kernel->isa).elements,
                 params->elements, context.threads);
  step->kernel = params->kernel->int16_name;
  step->run = run;
  step->params = std::move(params);
  return Status();
}

// Returns whether images are apart: slopes, if there are any, belong to channels, the last axis.
bool keeps_images_apart(const fb::Operator& op, const BatchOperands& operands) {
  return operands.inputs.size() < 2 || operands.inputs[1].shape[0] == 1 || rows_apart(op, operands);
}

}  // namespace

std::string describe_requantize(const fb::Operator& op) {
  return describe_requant(requant_of<fb::RequantizeOptions>(op));
}

const OpDef kRequantizeOp = {"Requantize",
                             fb::OpOptions::Requantize,
                             infer,
                             prepare,
                             {Arithmetic::kRequant, level_of_requant<fb::RequantizeOptions>,
                              requant_of<fb::RequantizeOptions>, keeps_images_apart,
                              LayoutRule::kAny, Broadcasting::kNone, ConstantRule::kFixed, true}};

}  // namespace qrt
