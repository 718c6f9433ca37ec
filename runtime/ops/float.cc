// Float: one operator of a layer left in float; FloatFunction says which. Elementwise ones are cut
// into runs, the others into rows.
#include <cmath>

#include "kernels/float_fallback/float_fallback.h"
#include "kernels/integer_build.h"
#include "runtime/ops/broadcast.h"
#include "runtime/ops/check.h"
#include "runtime/ops/ops.h"
#include "runtime/ops/tasks.h"

namespace qrt {
namespace {

using F = fb::FloatFunction;

bool is_binary(F f) { return f >= F::ADD && f <= F::MAXIMUM; }
bool is_rows(F f) { return f >= F::SOFTMAX && f <= F::REDUCE_MIN; }
bool is_reduction(F f) { return f >= F::REDUCE_SUM && f <= F::REDUCE_MIN; }

Status broadcast_floats(const Shape& a, const Shape& b, Shape* shape) {
  const int rank = a.rank() > b.rank() ? a.rank() : b.rank();
  for (int i = 0; i < rank; ++i) {
    const int from_a = i - (rank - a.rank()), from_b = i - (rank - b.rank());
    const int64_t da = from_a < 0 ? 1 : a[from_a], db = from_b < 0 ? 1 : b[from_b];
    QRT_MODEL_CHECK(da == db || da == 1 || db == 1, "shapes %s and %s do not broadcast",
                    a.to_string().c_str(), b.to_string().c_str());
    shape->push_back(da == 1 ? db : da);
  }
  return Status();
}

Status infer(const InferContext& context, std::vector<TensorType>* outputs) {
  if (is_integer_build())
    return error(Code::kUnsupported,
                 "float operators are not part of this build (QRT_INTEGER_ONLY)");
  const auto* o = context.op->options_as<fb::FloatOptions>();
  QRT_TRY(check_range("function", static_cast<int>(o->function()), 0, static_cast<int>(F::MAX)));
  const F f = o->function();
  if (f == F::TABLE) {
    QRT_TRY(check_input_count(context, 2));
    QRT_TRY(check_dtype(context, 0, "x", DType::kUInt8));
    QRT_TRY(check_plain_constant(context, 1, "table", DType::kFloat32, {256}));
    return add_output(DType::kFloat32, context.inputs[0].type.shape, outputs);
  }
  QRT_TRY(check_input_count(context, is_binary(f) || f == F::MATMUL ? 2 : 1));
  QRT_TRY(check_dtype(context, 0, "x", DType::kFloat32));
  Shape shape = context.inputs[0].type.shape;
  if (is_binary(f)) {
    QRT_TRY(check_dtype(context, 1, "b", DType::kFloat32));
    Shape broadcast;
    QRT_TRY(broadcast_floats(shape, context.inputs[1].type.shape, &broadcast));
    return add_output(DType::kFloat32, broadcast, outputs);
  }
  if (f == F::MATMUL) {
    QRT_TRY(check_dtype(context, 1, "b", DType::kFloat32));
    QRT_TRY(check_rank(context, 1, "b", 2, "[k, n]"));
    const Shape& b = context.inputs[1].type.shape;
    QRT_MODEL_CHECK(shape.rank() >= 1 && shape[shape.rank() - 1] == b[0],
                    "shapes %s and %s are no matrix product", shape.to_string().c_str(),
                    b.to_string().c_str());
    shape[shape.rank() - 1] = b[1];
    return add_output(DType::kFloat32, shape, outputs);
  }
  if (is_rows(f)) QRT_MODEL_CHECK(shape.rank() >= 1, "x has rank 0, expected at least 1");
  const float epsilon = float_of(o->epsilon());
  QRT_MODEL_CHECK(std::isfinite(epsilon) && epsilon >= 0,
                  "epsilon is %g, expected a finite number >= 0", static_cast<double>(epsilon));
  if (is_reduction(f)) shape[shape.rank() - 1] = 1;
  return add_output(DType::kFloat32, shape, outputs);
}

struct Params {
  F function;
  float epsilon;
  Broadcast broadcast;
  size_t rows, n, tasks;  // elementwise: rows is 1
  size_t k = 0;           // MATMUL: [rows, k] times [k, n]
};

const float* floats(const uint8_t* p) { return reinterpret_cast<const float*>(p); }
float* floats(uint8_t* p) { return reinterpret_cast<float*>(p); }

void run_elements(const Step& step, const RunContext& context) {
  const Params& p = step.as<Params>();
  float* y = floats(context.out(step, 0));
  for_pieces(*context.parallel, p.tasks, p.n, 16, [&](size_t, size_t begin, size_t end) {
    if (p.function == F::TABLE)
      float_table(floats(context.in(step, 1)), context.in(step, 0) + begin, y + begin, end - begin);
    else
      float_unary(static_cast<FloatUnary>(p.function), floats(context.in(step, 0)) + begin,
                  y + begin, end - begin);
  });
}

void run_rows(const Step& step, const RunContext& context) {
  const Params& p = step.as<Params>();
  const size_t made = is_reduction(p.function) ? 1 : p.n;
  const auto f =
      static_cast<FloatRows>(static_cast<int>(p.function) - static_cast<int>(F::SOFTMAX));
  for_pieces(*context.parallel, p.tasks, p.rows, 1, [&](size_t, size_t begin, size_t end) {
    float_rows(f, p.epsilon, floats(context.in(step, 0)) + begin * p.n,
               floats(context.out(step, 0)) + begin * made, end - begin, p.n);
  });
}

void run_matmul(const Step& step, const RunContext& context) {
  const Params& p = step.as<Params>();
  const float *a = floats(context.in(step, 0)), *b = floats(context.in(step, 1));
  float* y = floats(context.out(step, 0));
  for_pieces(*context.parallel, p.tasks, p.rows, 1, [&](size_t, size_t begin, size_t end) {
    for (size_t r = begin; r < end; ++r) float_product(a + r * p.k, b, p.k, p.n, y + r * p.n);
  });
}

struct FloatRun {
  const float* a;
  const float* b;
  bool a_is_scalar, b_is_scalar;
  float* y;
  size_t n;
};

void run_binary(const Step& step, const RunContext& context) {
  const Params& p = step.as<Params>();
  const auto f = static_cast<FloatBinary>(static_cast<int>(p.function) - static_cast<int>(F::ADD));
  for_all_runs<FloatRun>(p.broadcast, step, context, [&](const FloatRun& r) {
    float_binary(f, r.a, r.a_is_scalar ? 0 : 1, r.b, r.b_is_scalar ? 0 : 1, r.y, r.n);
  });
}

Status prepare(const PrepareContext& context, Step* step) {
  const auto* o = context.op->options_as<fb::FloatOptions>();
  const Shape &x = context.inputs[0].type.shape, &y = context.outputs[0].shape;
  auto p = std::make_shared<Params>();
  p->function = o->function();
  p->epsilon = float_of(o->epsilon());
  p->rows = 1;
  p->n = static_cast<size_t>(x.elements());
  constexpr double kNs = 5;  // an element: polynomials and divisions
  const double ns =
      kNs * static_cast<double>(x.elements() > y.elements() ? x.elements() : y.elements());
  if (is_binary(p->function)) {
    p->broadcast = plan_broadcast(context, kNs);
    step->run = run_binary;
    step->kernel = "float_binary";
  } else if (p->function == F::MATMUL) {
    p->k = static_cast<size_t>(x[x.rank() - 1]);
    p->rows = p->n / p->k;
    p->n = static_cast<size_t>(y[y.rank() - 1]);
    const double products =
        static_cast<double>(p->rows) * static_cast<double>(p->k) * static_cast<double>(p->n);
    p->tasks = task_count(products / 4, p->rows, context.threads);
    step->run = run_matmul;
    step->kernel = "float_product";
  } else if (is_rows(p->function)) {
    p->n = static_cast<size_t>(x[x.rank() - 1]);
    p->rows = static_cast<size_t>(x.elements()) / p->n;
    p->tasks = task_count(ns, p->rows, context.threads);
    step->run = run_rows;
    step->kernel = "float_rows";
  } else {
    p->tasks = task_count(ns, (p->n + 15) / 16, context.threads);
    step->run = run_elements;
    step->kernel = p->function == F::TABLE ? "float_table" : "float_unary";
  }
  step->params = std::move(p);
  return Status();
}

}  // namespace

const OpDef kFloatOp = {"Float", fb::OpOptions::Float, infer, prepare};

}  // namespace qrt
