// SPDX-License-Identifier: Apache-2.0
// Cast: elements as another type.
#include <cstring>

#include "runtime/ops/check.h"
#include "runtime/ops/ops.h"
#include "runtime/ops/tasks.h"

namespace qrt {
namespace {

bool is_cast_type(DType dtype) {
  return dtype == DType::kUInt8 || dtype == DType::kInt32 || dtype == DType::kInt64 ||
         dtype == DType::kFloat32;
}

Status infer(const InferContext& context, TensorTypes* outputs) {
  const auto* o = context.op->options_as<fb::CastOptions>();
  QRT_TRY(check_input_count(context, 1));
  const TensorType& x = context.inputs[0].type;
  DType y;
  QRT_TRY(declared_output_dtype(context, &y));
  for (const DType dtype : {x.dtype, y})
    QRT_MODEL_CHECK(is_cast_type(dtype), "%s is %s, expected uint8, int32, int64 or float32",
                    dtype == x.dtype ? "x" : "the output", dtype_name(dtype));
  QRT_MODEL_CHECK(!o->is_truth() || y == DType::kUInt8, "truth values are %s, expected uint8",
                  dtype_name(y));
  const bool is_float = x.dtype == DType::kFloat32 || y == DType::kFloat32;
  QRT_MODEL_CHECK(o->is_float() == is_float, "is_float is %d for %s to %s", o->is_float(),
                  dtype_name(x.dtype), dtype_name(y));
  return add_output(y, x.shape, outputs);
}

struct Params {
  void (*fn)(const uint8_t* x, size_t n, uint8_t* y);
  size_t elements, x_bytes, y_bytes, tasks;
};

// Returns x towards zero, or the least number where it is no number of the type.
template <class To>
To truncated(float x) {
  const float end = sizeof(To) == 8 ? 0x1p63f : 0x1p31f;
  if (!(x >= -end && x < end))
    return sizeof(To) == 8 ? static_cast<To>(INT64_MIN) : static_cast<To>(INT32_MIN);
  return static_cast<To>(x);
}

template <class To, class From>
To converted(From x) {
  return static_cast<To>(x);
}
template <>
int32_t converted<int32_t, float>(float x) {
  return truncated<int32_t>(x);
}
template <>
int64_t converted<int64_t, float>(float x) {
  return truncated<int64_t>(x);
}
template <>
uint8_t converted<uint8_t, float>(float x) {
  return static_cast<uint8_t>(truncated<int32_t>(x));
}

template <class From, class To>
void cast(const uint8_t* x, size_t n, uint8_t* y) {
  const auto* from = reinterpret_cast<const From*>(x);
  auto* to = reinterpret_cast<To*>(y);
  for (size_t i = 0; i < n; ++i) to[i] = converted<To>(from[i]);
}

template <class From>
void truth(const uint8_t* x, size_t n, uint8_t* y) {
  const auto* from = reinterpret_cast<const From*>(x);
  for (size_t i = 0; i < n; ++i) y[i] = from[i] != 0;
}

using CastFn = void (*)(const uint8_t*, size_t, uint8_t*);

template <class From>
CastFn cast_to(DType y, bool is_truth) {
  if (is_truth) return truth<From>;
  if (y == DType::kUInt8) return cast<From, uint8_t>;
  if (y == DType::kInt32) return cast<From, int32_t>;
  return y == DType::kInt64 ? cast<From, int64_t> : cast<From, float>;
}

void run(const Step& step, const RunContext& context) {
  const Params& p = step.as<Params>();
  const uint8_t* x = context.in(step, 0);
  uint8_t* y = context.out(step, 0);
  for_chunks(*context.parallel, p.tasks, p.elements, 1, [&](size_t, size_t begin, size_t end) {
    p.fn(x + begin * p.x_bytes, end - begin, y + begin * p.y_bytes);
  });
}

Status prepare(const PrepareContext& context, PlannedStep* step) {
  const auto* o = context.op->options_as<fb::CastOptions>();
  const TensorType &x = context.inputs[0].type, &y = context.outputs[0];
  auto params = make_planned<Params>();
  params->fn = x.dtype == DType::kUInt8   ? cast_to<uint8_t>(y.dtype, o->is_truth())
               : x.dtype == DType::kInt32 ? cast_to<int32_t>(y.dtype, o->is_truth())
               : x.dtype == DType::kInt64 ? cast_to<int64_t>(y.dtype, o->is_truth())
                                          : cast_to<float>(y.dtype, o->is_truth());
  params->elements = static_cast<size_t>(x.shape.elements());
  params->x_bytes = dtype_bytes(x.dtype);
  params->y_bytes = dtype_bytes(y.dtype);
  params->tasks =
      task_count(static_cast<double>(params->elements), params->elements, context.threads);
  step->kernel = "cast_scalar";
  step->run = run;
  step->params = std::move(params);
  return Status();
}

int level(const fb::Operator& op) { return op.options_as_Cast()->is_float() ? kEdgeLevel : 0; }

}  // namespace

std::string describe_cast(const fb::Operator& op) {
  return op.options_as_Cast()->is_truth() ? "whether it is 0" : "another type";
}

const OpDef kCastOp = {"Cast",
                       fb::OpOptions::Cast,
                       infer,
                       prepare,
                       {Arithmetic::kIntegers, level, no_requant, always_apart, LayoutRule::kAny,
                        Broadcasting::kNone, ConstantRule::kFixed, true}};

}  // namespace qrt
