// SPDX-License-Identifier: Apache-2.0
// NonZero: the indices of the elements that are not 0.
#include <algorithm>

#include "runtime/ops/check.h"
#include "runtime/ops/ops.h"

namespace qrt {
namespace {

Status infer(const InferContext& context, TensorTypes* outputs) {
  QRT_TRY(check_input_count(context, 1));
  const TensorType& x = context.inputs[0].type;
  QRT_MODEL_CHECK(x.dtype == DType::kUInt8 || x.dtype == DType::kInt32 ||
                      x.dtype == DType::kInt64 || x.dtype == DType::kFloat32,
                  "x is %s, expected uint8, int32, int64 or float32", dtype_name(x.dtype));
  const int64_t rank = x.shape.rank(), elements = x.shape.elements();
  QRT_MODEL_CHECK(rank >= 1, "x has rank 0, expected at least 1");
  QRT_MODEL_CHECK(elements <= INT32_MAX / rank, "the output has %lld elements, expected at most %d",
                  static_cast<long long>(elements * rank), INT32_MAX);
  return add_output(DType::kInt64, {rank, elements}, outputs);
}

struct Params {
  Shape shape;
};

bool is_zero(uint8_t v) { return v == 0; }
bool is_zero(uint32_t v) { return v == 0; }
bool is_zero(uint64_t v) { return v == 0; }
// The bits of a float, of which both zeros count as 0.
struct FloatBits {
  uint32_t bits;
};
bool is_zero(FloatBits v) { return (v.bits & 0x7fffffff) == 0; }

template <class T>
void run(const Step& step, const RunContext& context) {
  const Params& p = step.as<Params>();
  const auto* x = reinterpret_cast<const T*>(context.in(step, 0));
  auto* y = reinterpret_cast<int64_t*>(context.out(step, 0));
  const auto elements = static_cast<size_t>(p.shape.elements());
  const auto rank = static_cast<size_t>(p.shape.rank());
  std::fill(y, y + elements * rank, -1);
  for (size_t i = 0, found = 0; i < elements; ++i) {
    if (is_zero(x[i])) continue;
    size_t left = i;
    for (size_t d = rank; d-- > 0;) {
      const auto size = static_cast<size_t>(p.shape[static_cast<int>(d)]);
      y[d * elements + found] = static_cast<int64_t>(left % size);
      left /= size;
    }
    ++found;
  }
}

Status prepare(const PrepareContext& context, PlannedStep* step) {
  const TensorType& x = context.inputs[0].type;
  auto params = make_planned<Params>();
  params->shape = x.shape;
  step->kernel = "non_zero_scalar";
  step->run = x.dtype == DType::kUInt8     ? run<uint8_t>
              : x.dtype == DType::kInt32   ? run<uint32_t>
              : x.dtype == DType::kFloat32 ? run<FloatBits>
                                           : run<uint64_t>;
  step->params = std::move(params);
  return Status();
}

}  // namespace

std::string describe_non_zero(const fb::Operator&) { return "indices"; }

const OpDef kNonZeroOp = {"NonZero",
                          fb::OpOptions::NonZero,
                          infer,
                          prepare,
                          {Arithmetic::kSelects, integer_level, no_requant, never_apart,
                           LayoutRule::kOwn, Broadcasting::kNone, ConstantRule::kFixed}};

}  // namespace qrt
