// SPDX-License-Identifier: Apache-2.0
// Formula: chains of int32 arithmetic on the elements of one tensor, or of two broadcast as in
// numpy, in 8, 16 or 32 bits each.
#include "kernels/formula/bounds.h"
#include "runtime/ops/broadcast.h"
#include "runtime/ops/check.h"
#include "runtime/ops/ops.h"
#include "runtime/ops/tasks.h"

namespace qrt {
namespace {

constexpr uint32_t kMaxSteps = 64;

using StepVector = flatbuffers::Vector<flatbuffers::Offset<fb::FormulaStep>>;

Status check_element(const char* what, DType dtype, int32_t zero_point, FormulaElement* element) {
  switch (dtype) {
    case DType::kUInt8:
      *element = FormulaElement::kUInt8;
      return check_range(what, zero_point, 0, 255);
    case DType::kInt16:
      *element = FormulaElement::kInt16;
      return check_range(what, zero_point, INT16_MIN, INT16_MAX);
    case DType::kInt32: *element = FormulaElement::kInt32; return Status();
    default: break;
  }
  return error(Code::kInvalidModel, "%s belongs to %s, expected uint8, int16 or int32", what,
               dtype_name(dtype));
}

uint32_t count_of(const StepVector* steps) { return steps != nullptr ? steps->size() : 0; }

Status check_steps(const char* what, const StepVector* steps) {
  const uint32_t count = count_of(steps);
  QRT_MODEL_CHECK(count <= kMaxSteps, "%s has %u steps, expected at most %u", what, count,
                  kMaxSteps);
  for (uint32_t i = 0; i < count; ++i) {
    const fb::FormulaStep& s = *steps->Get(i);
    const int function = static_cast<int>(s.function());
    QRT_MODEL_CHECK(function < kFormulaFunctions, "%s[%u].function is %d, expected 0 to %d", what,
                    i, function, kFormulaFunctions - 1);
    const bool is_right = s.function() == fb::FormulaFunction::SHIFT_RIGHT;
    QRT_MODEL_CHECK(!is_right || (s.value() >= 1 && s.value() <= 32),
                    "%s[%u] shifts right by %d, expected 1 to 32", what, i, s.value());
    QRT_MODEL_CHECK(
        s.function() != fb::FormulaFunction::SHIFT_LEFT || (s.value() >= 0 && s.value() <= 31),
        "%s[%u] shifts left by %d, expected 0 to 31", what, i, s.value());
    QRT_MODEL_CHECK(s.function() != fb::FormulaFunction::CLAMP || s.value() <= s.high(),
                    "%s[%u] limits to %d to %d, not a range", what, i, s.value(), s.high());
  }
  return Status();
}

struct Elements {
  FormulaElement a, b = FormulaElement::kInt32, y;
};

Status analyse(const InferContext& context, Elements* elements, DType* output, Shape* shape) {
  const auto* o = context.op->options_as<fb::FormulaOptions>();
  const size_t inputs = context.inputs.size();
  QRT_MODEL_CHECK(inputs == 1 || inputs == 2, "has %zu inputs, expected 1 or 2", inputs);
  QRT_TRY(
      check_element("a_zero_point", context.inputs[0].type.dtype, o->a_zero_point(), &elements->a));
  QRT_TRY(check_steps("a_steps", o->a_steps()));
  QRT_TRY(declared_output_dtype(context, output));
  QRT_TRY(check_element("zero_point", *output, o->zero_point(), &elements->y));
  if (inputs == 1) {
    QRT_MODEL_CHECK(count_of(o->b_steps()) == 0 && count_of(o->steps()) == 0,
                    "has b_steps or steps, expected them of 2 inputs alone");
    *shape = context.inputs[0].type.shape;
    return Status();
  }
  QRT_TRY(
      check_element("b_zero_point", context.inputs[1].type.dtype, o->b_zero_point(), &elements->b));
  QRT_TRY(check_range("pair", static_cast<int>(o->pair()), 0, kFormulaPairs - 1));
  QRT_TRY(check_steps("b_steps", o->b_steps()));
  QRT_TRY(check_steps("steps", o->steps()));
  return infer_broadcast_shape(context, shape);
}

Status infer(const InferContext& context, TensorTypes* outputs) {
  Elements elements;
  DType output;
  Shape shape;
  QRT_TRY(analyse(context, &elements, &output, &shape));
  return add_output(output, shape, outputs);
}

struct Params {
  const FormulaKernel* kernel;
  FormulaParams formula;
  PlanVector<FormulaStep> a_steps, b_steps, steps;
  Broadcast broadcast;
};

// Elements begin to begin + count; the values `between` are taken from `piece` instead of memory.
void run_tile(const Step& step, const RunContext& context, uint32_t between, const uint8_t* tile,
              size_t begin, size_t count) {
  const Params& p = step.as<Params>();
  const Broadcast& b = p.broadcast;
  const auto operand = [&](size_t i, size_t element_bytes) {
    return tile != nullptr && step.inputs[i] == between
               ? tile
               : context.in(step, i) + begin * element_bytes;
  };
  FormulaArgs r{};
  r.a = operand(0, b.a_bytes);
  if (p.formula.has_b) r.b = operand(1, b.b_is_scalar ? 0 : b.b_bytes);
  r.b_is_scalar = b.b_is_scalar;
  r.y = context.out(step, 0) + begin * b.output_bytes;
  r.n = count;
  p.kernel->run(p.formula, r);
}

void run_elements(const Step& step, const RunContext& context, size_t begin, size_t count) {
  run_tile(step, context, 0, nullptr, begin, count);
}

void run(const Step& step, const RunContext& context) {
  const Params& p = step.as<Params>();
  if (p.formula.has_b) {
    for_all_spans<FormulaArgs>(p.broadcast, step, context,
                               [&](const FormulaArgs& r) { p.kernel->run(p.formula, r); });
    return;
  }
  for_chunks(
      *context.parallel, p.broadcast.tasks, p.broadcast.run, kAlignment,
      [&](size_t, size_t begin, size_t end) { run_elements(step, context, begin, end - begin); });
}

// Returns an operand with its steps, simplified as far as the bounds of its values allow. *bounds
// becomes the bounds behind the steps.
FormulaOperand operand(FormulaElement element, int32_t zero_point, const StepVector* steps,
                       FormulaBounds* bounds, PlanVector<FormulaStep>* storage) {
  for (uint32_t i = 0; i < count_of(steps); ++i) {
    const fb::FormulaStep& s = *steps->Get(i);
    storage->push_back({static_cast<FormulaFunction>(s.function()), s.value(), s.high()});
  }
  *bounds = simplify_formula(*bounds, storage);
  return {element, zero_point, storage->data(), storage->size()};
}

Status prepare(const PrepareContext& context, PlannedStep* step) {
  const auto* o = context.op->options_as<fb::FormulaOptions>();
  Elements elements;
  DType output;
  Shape shape;
  QRT_TRY(analyse(context, &elements, &output, &shape));
  auto params = make_planned<Params>();
  params->kernel = select_formula(context.isas);
  FormulaParams& f = params->formula;
  f.has_b = context.inputs.size() == 2;
  f.pair = static_cast<FormulaPair>(o->pair());
  FormulaBounds a = formula_bounds(elements.a, o->a_zero_point());
  FormulaBounds b = formula_bounds(elements.b, o->b_zero_point());
  f.a = operand(elements.a, o->a_zero_point(), o->a_steps(), &a, &params->a_steps);
  f.b = operand(elements.b, o->b_zero_point(), f.has_b ? o->b_steps() : nullptr, &b,
                &params->b_steps);
  FormulaBounds y = formula_bounds(f.pair, a, b);
  f.y = operand(elements.y, o->zero_point(), f.has_b ? o->steps() : nullptr, &y, &params->steps);
  const double passes = static_cast<double>(3 + f.a.count + f.b.count + f.y.count);
  const double ns = 4 * passes / speed_of(params->kernel->isa).elements / 4;
  if (f.has_b) {
    params->broadcast = plan_broadcast(context, ns);
  } else {
    Broadcast& one = params->broadcast;
    one.run = static_cast<size_t>(shape.elements());
    one.a_bytes = dtype_bytes(context.inputs[0].type.dtype);
    one.output_bytes = dtype_bytes(output);
    one.tasks = task_count(ns * static_cast<double>(one.run), one.run, context.threads);
  }
  const Broadcast& broadcast = params->broadcast;
  if (broadcast.rank == 0 && !broadcast.a_is_scalar) {
    step->run_elements = run_elements;
    step->run_tile = run_tile;
  }
  step->kernel = params->kernel->name;
  step->run = run;
  step->params = std::move(params);
  return Status();
}

bool keeps_images_apart(const fb::Operator& op, const BatchOperands& operands) {
  return operands.inputs.size() < 2 || operands_apart(op, operands);
}

}  // namespace

std::string describe_formula(const fb::Operator& op) {
  const auto* o = op.options_as_Formula();
  const auto count = [](const auto* steps) { return steps ? steps->size() : 0; };
  std::string text = std::to_string(count(o->a_steps()) + count(o->b_steps()) + count(o->steps())) +
                     " int32 steps";
  if (op.inputs()->size() == 2)
    text += std::string(" around ") + fb::EnumNameFormulaPair(o->pair());
  return text;
}

const OpDef kFormulaOp = {"Formula",
                          fb::OpOptions::Formula,
                          infer,
                          prepare,
                          {Arithmetic::kIntegers, integer_level, no_requant, keeps_images_apart,
                           LayoutRule::kAny, Broadcasting::kElements, ConstantRule::kOperands}};

}  // namespace qrt
