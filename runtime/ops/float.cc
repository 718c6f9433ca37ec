// SPDX-License-Identifier: Apache-2.0
// Float: one operator of a layer left in float; FloatFunction says which. Elementwise ones are cut
// into runs, the others into rows.
#include "runtime/ops/float.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "kernels/edge/edge.h"
#include "kernels/float_fallback/float_fallback.h"
#include "kernels/integer_build.h"
#include "runtime/checked.h"
#include "runtime/ops/broadcast.h"
#include "runtime/ops/check.h"
#include "runtime/ops/float_conv.h"
#include "runtime/ops/float_grid_sample.h"
#include "runtime/ops/float_step.h"
#include "runtime/ops/float_weighted.h"
#include "runtime/ops/ops.h"
#include "runtime/ops/quantize.h"
#include "runtime/ops/tasks.h"

namespace qrt {
namespace {

using F = fb::FloatFunction;

bool is_comparison(F f) { return f >= F::EQUAL && f <= F::LESS_OR_EQUAL; }
bool is_nan_extreme(F f) { return f == F::NAN_MINIMUM || f == F::NAN_MAXIMUM; }
bool is_binary(F f) {
  return (f >= F::ADD && f <= F::MAXIMUM) || is_comparison(f) || is_nan_extreme(f) || f == F::POW ||
         f == F::FMOD || f == F::KEEP_NONZERO || f == F::KEEP_ZERO;
}
bool is_rounding(F f) { return f >= F::FLOOR && f <= F::ROUND; }
bool is_selecting_reduction(F f) {
  return f == F::REDUCE_MAX || f == F::REDUCE_MIN || f == F::REDUCE_NAN_MAX ||
         f == F::REDUCE_NAN_MIN;
}
bool is_reduction(F f) {
  return f == F::REDUCE_SUM || f == F::REDUCE_MEAN || is_selecting_reduction(f) ||
         f == F::REDUCE_PROD;
}
bool is_rows(F f) {
  return (f >= F::SOFTMAX && f <= F::NORMALIZE) || f == F::LANE_SOFTMAX || is_reduction(f);
}
FloatRows rows_of(F f) {
  if (f == F::REDUCE_PROD) return FloatRows::kProduct;
  if (f == F::REDUCE_NAN_MAX) return FloatRows::kNanMax;
  if (f == F::REDUCE_NAN_MIN) return FloatRows::kNanMin;
  return static_cast<FloatRows>(static_cast<int>(f) - static_cast<int>(F::SOFTMAX));
}
bool is_matmul(F f) { return f == F::MATMUL || f == F::FUSED_MATMUL; }
FloatUnary unary_of(F f) {
  if (f == F::ORT_SIGMOID) return FloatUnary::kOrtSigmoid;
  if (f == F::FUSED_GELU) return FloatUnary::kFusedGelu;
  const auto from = [f](F first, FloatUnary unary) {
    return static_cast<FloatUnary>(static_cast<int>(f) - static_cast<int>(first) +
                                   static_cast<int>(unary));
  };
  if (is_rounding(f)) return from(F::FLOOR, FloatUnary::kFloor);
  if (f >= F::FUSED_ERF && f <= F::ATANH) return from(F::FUSED_ERF, FloatUnary::kFusedErf);
  if (f == F::SIN || f == F::COS) return f == F::SIN ? FloatUnary::kSin : FloatUnary::kCos;
  if (f == F::LOG1P) return FloatUnary::kLog1p;
  return f == F::ORT_TANH ? FloatUnary::kOrtTanh : static_cast<FloatUnary>(f);
}
bool is_gemm(F f) { return f >= F::ORT_GEMM && f <= F::ORT_GEMM_EIGHTS; }

// Turns the shape of a [..., k] into that of its product with b [k, n], or with b [..., k, n] whose
// leading dimensions are those of a in front of its rows; with `b_is_transposed`, b is [..., n, k].
Status infer_product(const Shape& b, bool b_is_transposed, Shape* shape) {
  const int rank = shape->rank(), last = b.rank() - 1;
  bool fits = last >= 1 && rank >= 1 && (last == 1 || last < rank) &&
              (*shape)[rank - 1] == b[b_is_transposed ? last : last - 1];
  for (int i = 0; fits && i < last - 1; ++i) fits = (*shape)[rank - 1 - last + i] == b[i];
  QRT_MODEL_CHECK(fits, "shapes %s and %s are no matrix product", shape->to_string().c_str(),
                  b.to_string().c_str());
  (*shape)[rank - 1] = b[b_is_transposed ? last - 1 : last];
  return Status();
}

Status infer_gemm(const InferContext& context, const fb::FloatOptions& o, TensorTypes* outputs) {
  QRT_TRY(check_input_count(context, 3));
  for (size_t i = 0; i < 3; ++i)
    QRT_TRY(check_dtype(context, i, i == 0 ? "a" : i == 1 ? "b" : "c", DType::kFloat32));
  Shape shape = context.inputs[0].type.shape;
  const Shape &b = context.inputs[1].type.shape, &c = context.inputs[2].type.shape;
  QRT_TRY(infer_product(b, o.function() == F::ORT_GEMM_EIGHTS, &shape));
  const int last = shape.rank() - 1;
  QRT_MODEL_CHECK(c == shape || (c.rank() == 1 && c[0] == shape[last]),
                  "c has shape %s, expected [%lld] or %s", c.to_string().c_str(),
                  static_cast<long long>(shape[last]), shape.to_string().c_str());
  if (o.function() == F::ORT_GEMM)
    QRT_MODEL_CHECK(o.block() >= 1, "block is 0, expected at least 1");
  const float alpha = float_of(o.alpha());
  QRT_MODEL_CHECK(std::isfinite(alpha), "alpha is %g, expected a finite number",
                  static_cast<double>(alpha));
  return add_output(DType::kFloat32, shape, outputs);
}

Status infer(const InferContext& context, TensorTypes* outputs) {
  if (is_integer_build())
    return error(Code::kUnsupported,
                 "float operators are not part of this build (QRT_INTEGER_ONLY)");
  const auto* o = context.op->options_as<fb::FloatOptions>();
  const F f = o->function();
  // A function that was taken out of the schema has left a gap, which has no name.
  QRT_MODEL_CHECK(*fb::EnumNameFloatFunction(f) != 0,
                  "function is %d, which this version does not have", static_cast<int>(f));
  if (f == F::TABLE) {
    QRT_TRY(check_input_count(context, 2));
    QRT_TRY(check_dtype(context, 0, "x", DType::kUInt8));
    QRT_TRY(check_plain_constant(context, 1, "table", DType::kFloat32, {256}));
    return add_output(DType::kFloat32, context.inputs[0].type.shape, outputs);
  }
  if (is_gemm(f)) return infer_gemm(context, *o, outputs);
  if (f == F::ORT_CONV) return infer_float_conv(context, outputs);
  if (f == F::GRID_SAMPLE) return infer_float_grid_sample(context, outputs);
  if (f == F::WEIGHTED_SUM) return infer_float_weighted(context, outputs);
  if (f == F::LAYER_NORM)
    QRT_TRY(check_input_count(context, context.inputs.size() == 3 ? 3 : 2));
  else
    QRT_TRY(check_input_count(context, is_binary(f) || is_matmul(f) ? 2 : 1));
  QRT_TRY(check_dtype(context, 0, "x", DType::kFloat32));
  Shape shape = context.inputs[0].type.shape;
  if (is_binary(f)) {
    QRT_TRY(check_dtype(context, 1, "b", DType::kFloat32));
    Shape broadcast;
    QRT_TRY(infer_broadcast_shape(context, &broadcast));
    return add_output(DType::kFloat32, broadcast, outputs);
  }
  if (is_matmul(f)) {
    QRT_TRY(check_dtype(context, 1, "b", DType::kFloat32));
    QRT_TRY(infer_product(context.inputs[1].type.shape, false, &shape));
    return add_output(DType::kFloat32, shape, outputs);
  }
  if (is_rows(f) || f == F::LAYER_NORM)
    QRT_MODEL_CHECK(shape.rank() >= 1, "x has rank 0, expected at least 1");
  if (f == F::LAYER_NORM)
    for (size_t i = 1; i < context.inputs.size(); ++i)
      QRT_TRY(check_plain_constant(context, i, i == 1 ? "scale" : "bias", DType::kFloat32,
                                   {shape[shape.rank() - 1]}));
  const float epsilon = float_of(o->epsilon());
  QRT_MODEL_CHECK(std::isfinite(epsilon) && epsilon >= 0,
                  "epsilon is %g, expected a finite number >= 0", static_cast<double>(epsilon));
  if (is_reduction(f)) shape[shape.rank() - 1] = 1;
  return add_output(DType::kFloat32, shape, outputs);
}

LinearTable find_linear_table(const float* table, IsaSet isas) {
  LinearTable line;
  const float* const zero = std::find(table, table + 256, 0.0f);
  line.zero_point = static_cast<int32_t>(zero - table);
  if (line.zero_point == 256) return line;
  line.scale = line.zero_point < 255 ? zero[1] : -zero[-1];
  for (int32_t i = 0; i < 256; ++i) {
    const float v = static_cast<float>(i - line.zero_point) * line.scale;
    if (memcmp(&v, &table[i], sizeof v) != 0) return line;
  }
  line.kernel = select_edge(isas);
  return line;
}

using Params = FloatParams;

void run_elements(const Step& step, const RunContext& context) {
  const Params& p = step.as<Params>();
  float* y = floats(context.out(step, 0));
  for_chunks(*context.parallel, p.tasks, p.n, 16, [&](size_t, size_t begin, size_t end) {
    if (p.line.kernel != nullptr)
      p.line.kernel->dequantize(context.in(step, 0) + begin, false, end - begin, p.line.scale,
                                p.line.zero_point, y + begin);
    else if (p.function == F::TABLE)
      float_table(floats(context.in(step, 1)), context.in(step, 0) + begin, y + begin, end - begin);
    else
      p.kernel->unary(unary_of(p.function), floats(context.in(step, 0)) + begin, y + begin,
                      end - begin);
  });
}

void run_rows(const Step& step, const RunContext& context) {
  const Params& p = step.as<Params>();
  if (p.function == F::LANE_SOFTMAX) {
    for_chunks(*context.parallel, p.tasks, p.rows, 1, [&](size_t, size_t begin, size_t end) {
      p.kernel->lane_softmax({p.n, p.n, FloatBinary::kDiv, 1},
                             floats(context.in(step, 0)) + begin * p.n, end - begin,
                             floats(context.out(step, 0)) + begin * p.n);
    });
    return;
  }
  const size_t made = is_reduction(p.function) ? 1 : p.n;
  const FloatRows f = rows_of(p.function);
  for_chunks(*context.parallel, p.tasks, p.rows, 1, [&](size_t, size_t begin, size_t end) {
    p.kernel->rows(f, p.epsilon, floats(context.in(step, 0)) + begin * p.n,
                   floats(context.out(step, 0)) + begin * made, end - begin, p.n);
  });
}

void run_layer_norm(const Step& step, const RunContext& context) {
  const Params& p = step.as<Params>();
  const float *x = floats(context.in(step, 0)), *scale = floats(context.in(step, 1));
  const float* bias = p.has_bias ? floats(context.in(step, 2)) : nullptr;
  float* y = floats(context.out(step, 0));
  for_chunks(*context.parallel, p.tasks, p.rows, 1, [&](size_t, size_t begin, size_t end) {
    p.kernel->layer_norm(p.epsilon, x + begin * p.n, scale, bias, y + begin * p.n, end - begin,
                         p.n);
  });
}

// Parameters of a LAYER_NORM into which the table before it and the Quantize behind it were fused.
struct BytesParams {
  const FloatKernel* kernel;
  LayerNormBytes norm;  // but for scale and bias
  bool has_bias;
  size_t rows, n, tasks, task_bytes;
};

void run_layer_norm_bytes(const Step& step, const RunContext& context) {
  const BytesParams& p = step.as<BytesParams>();
  LayerNormBytes norm = p.norm;
  norm.scale = floats(context.in(step, 1));
  norm.bias = p.has_bias ? floats(context.in(step, 2)) : nullptr;
  for_chunks(*context.parallel, p.tasks, p.rows, 1, [&](size_t task, size_t begin, size_t end) {
    p.kernel->layer_norm_bytes(norm, context.in(step, 0) + begin * p.n, end - begin, p.n,
                               floats(context.scratch + task * p.task_bytes),
                               context.out(step, 0) + begin * p.n);
  });
}

void run_matmul(const Step& step, const RunContext& context) {
  const Params& p = step.as<Params>();
  const float *a = floats(context.in(step, 0)), *b = floats(context.in(step, 1));
  float* y = floats(context.out(step, 0));
  for_chunks(*context.parallel, p.tasks, p.rows, 1, [&](size_t, size_t begin, size_t end) {
    p.matrices.for_rows(begin, end, [&](size_t row, size_t rows, size_t matrix) {
      const float* const right = b + matrix * p.k * p.n;
      if (p.function == F::MATMUL)
        p.kernel->product(a + row * p.k, rows, right, p.k, p.n, y + row * p.n);
      else
        p.kernel->fused_product({p.k, p.n, p.k, p.n, p.n}, a + row * p.k, rows, right,
                                y + row * p.n);
    });
  });
}

struct GemmParams {
  const FloatKernel* kernel;
  OrtGemm gemm;
  FloatMatrices matrices;
  size_t rows, bias_step, tasks;
};

void run_gemm(const Step& step, const RunContext& context) {
  const GemmParams& p = step.as<GemmParams>();
  const float *a = floats(context.in(step, 0)), *b = floats(context.in(step, 1));
  const float* c = floats(context.in(step, 2));
  float* y = floats(context.out(step, 0));
  for_chunks(*context.parallel, p.tasks, p.rows, 1, [&](size_t, size_t begin, size_t end) {
    p.matrices.for_rows(begin, end, [&](size_t row, size_t rows, size_t matrix) {
      p.kernel->ort_gemm(p.gemm, a + row * p.gemm.k, rows, b + matrix * p.gemm.k * p.gemm.n,
                         c + row * p.bias_step, p.bias_step, y + row * p.gemm.n);
    });
  });
}

Status prepare_gemm(const PrepareContext& context, PlannedStep* step) {
  const auto* o = context.op->options_as<fb::FloatOptions>();
  const Shape &x = context.inputs[0].type.shape, &y = context.outputs[0].shape;
  auto p = make_planned<GemmParams>();
  p->kernel = select_float(context.isas);
  p->gemm.order =
      static_cast<OrtGemmOrder>(static_cast<int>(o->function()) - static_cast<int>(F::ORT_GEMM));
  p->gemm.k = static_cast<size_t>(x[x.rank() - 1]);
  p->gemm.n = static_cast<size_t>(y[y.rank() - 1]);
  p->gemm.block = o->block();
  p->gemm.alpha = float_of(o->alpha());
  p->rows = static_cast<size_t>(x.elements()) / p->gemm.k;
  p->matrices = FloatMatrices(x, context.inputs[1].type.shape, p->rows);
  p->bias_step = context.inputs[2].type.shape.rank() == 1 && p->rows > 1 ? 0 : p->gemm.n;
  const double products = static_cast<double>(x.elements()) * static_cast<double>(p->gemm.n);
  p->tasks = task_count(products / 8, p->rows, context.threads);
  step->macs = static_cast<uint64_t>(products);
  step->run = run_gemm;
  step->kernel = p->kernel->ort_gemm_name;
  step->params = std::move(p);
  return Status();
}

struct FloatArgs {
  const float* a;
  const float* b;
  bool a_is_scalar, b_is_scalar;
  float* y;
  size_t n;
};

void run_binary(const Step& step, const RunContext& context) {
  const Params& p = step.as<Params>();
  const FloatBinary binary = binary_of(p.function);
  for_all_spans<FloatArgs>(p.broadcast, step, context, [&](const FloatArgs& r) {
    p.kernel->binary(binary, r.a, r.a_is_scalar ? 0 : 1, r.b, r.b_is_scalar ? 0 : 1, r.y, r.n);
  });
}

// Computes elements of a function of two operands, each of which has the output's shape or one element.
void run_binary_elements(const Step& step, const RunContext& context, size_t begin, size_t count) {
  const Params& p = step.as<Params>();
  const size_t a_step = p.broadcast.a_is_scalar ? 0 : 1, b_step = p.broadcast.b_is_scalar ? 0 : 1;
  p.kernel->binary(binary_of(p.function), floats(context.in(step, 0)) + begin * a_step, a_step,
                   floats(context.in(step, 1)) + begin * b_step, b_step,
                   floats(context.out(step, 0)) + begin, count);
}

Status prepare(const PrepareContext& context, PlannedStep* step) {
  const auto* o = context.op->options_as<fb::FloatOptions>();
  if (is_gemm(o->function())) return prepare_gemm(context, step);
  if (o->function() == F::ORT_CONV) return prepare_float_conv(context, step);
  if (o->function() == F::GRID_SAMPLE) return prepare_float_grid_sample(context, step);
  if (o->function() == F::WEIGHTED_SUM) return prepare_float_weighted(context, step);
  const Shape &x = context.inputs[0].type.shape, &y = context.outputs[0].shape;
  auto p = make_planned<Params>();
  p->kernel = select_float(context.isas);
  p->function = o->function();
  p->epsilon = float_of(o->epsilon());
  p->rows = 1;
  p->n = static_cast<size_t>(x.elements());
  // An element of one: polynomials and divisions, sixteen at a time at best; those in float64 one by one.
  const bool is_real = p->function == F::POW || (p->function >= F::TAN && p->function <= F::FMOD);
  const double kNs = is_real                          ? 25
                     : p->kernel->isa == Isa::kScalar ? 5
                     : is_binary(p->function)         ? 0.3
                                                      : 1;
  const double ns =
      kNs * static_cast<double>(x.elements() > y.elements() ? x.elements() : y.elements());
  if (is_binary(p->function)) {
    p->broadcast = plan_broadcast(context, kNs);
    step->run = run_binary;
    step->kernel = p->kernel->binary_name;
    if (p->broadcast.rank == 0) step->run_elements = run_binary_elements;
  } else if (is_matmul(p->function)) {
    p->k = static_cast<size_t>(x[x.rank() - 1]);
    p->rows = p->n / p->k;
    const Shape& b = context.inputs[1].type.shape;
    p->matrices = FloatMatrices(x, b, p->rows);
    p->n = static_cast<size_t>(y[y.rank() - 1]);
    const double products =
        static_cast<double>(p->rows) * static_cast<double>(p->k) * static_cast<double>(p->n);
    p->tasks = task_count(products / 8, p->rows, context.threads);
    step->macs = static_cast<uint64_t>(products);
    step->run = run_matmul;
    step->kernel =
        p->function == F::MATMUL ? p->kernel->product_name : p->kernel->fused_product_name;
  } else if (is_rows(p->function) || p->function == F::LAYER_NORM) {
    p->n = static_cast<size_t>(x[x.rank() - 1]);
    p->rows = static_cast<size_t>(x.elements()) / p->n;
    p->has_bias = context.inputs.size() > 2;
    p->tasks = task_count(ns, p->rows, context.threads);
    const bool normalizes = p->function == F::LAYER_NORM;
    step->run = normalizes ? run_layer_norm : run_rows;
    step->kernel = normalizes                       ? p->kernel->layer_norm_name
                   : p->function == F::LANE_SOFTMAX ? p->kernel->lane_softmax_name
                                                    : p->kernel->rows_name;
  } else {
    p->tasks = task_count(ns, (p->n + 15) / 16, context.threads);
    step->run = run_elements;
    step->kernel = p->function == F::TABLE ? "float_table" : p->kernel->unary_name;
    if (p->function == F::TABLE)
      p->line = find_linear_table(floats(context.inputs[1].data), context.isas);
    if (p->line.kernel != nullptr) step->kernel = p->line.kernel->name;
  }
  step->params = std::move(p);
  return Status();
}

bool is_ordinary(float scale) { return scale >= 0x1p-60f && scale <= 0x1p60f; }

bool keeps_images_apart(const fb::Operator& op, const BatchOperands& operands) {
  const F function = op.options_as_Float()->function();
  if (is_binary(function)) return operands_apart(op, operands);
  if (is_gemm(function)) {
    const BatchOperands::Input &b = operands.inputs[1], &c = operands.inputs[2];
    const bool has_its_own =
        b.shape.rank() > 2 && b.shape.rank() >= operands.inputs[0].shape.rank();
    return b.is_constant && !has_its_own && c.is_constant == (c.shape.rank() == 1) &&
           rows_apart(op, operands);
  }
  if (function == F::ORT_CONV) return true;
  if (function == F::GRID_SAMPLE)
    return !operands.inputs[0].is_constant && !operands.inputs[1].is_constant;
  if (function == F::WEIGHTED_SUM) return op.options_as_Float()->axis() != 0;
  // Matrices of a product must be the same for all images if constant, or others for each if
  // computed.
  if (is_matmul(function) &&
      operands.inputs[1].is_constant !=
          (operands.inputs[1].shape.rank() == 2 ||
           operands.inputs[1].shape.rank() < operands.inputs[0].shape.rank()))
    return false;
  return rows_apart(op, operands);
}

// Returns the arithmetic level: 1 (I1) for functions that give the source system's bits, which are
// one operation of IEEE 754 for each element, sums in ONNX Runtime's order, and tables; kFloatLevel
// for the others, whose last bits are qrt's own.
int level(const fb::Operator& op) {
  const F f = op.options_as_Float()->function();
  const bool is_exact = (is_binary(f) && f != F::POW) || is_rounding(f) || is_gemm(f) ||
                        f == F::ORT_CONV || f == F::SQRT || f == F::TABLE ||
                        is_selecting_reduction(f) || f == F::GRID_SAMPLE;
  return is_exact ? 1 : kFloatLevel;
}

}  // namespace

bool join_layer_norm(const Step& table, const Step& quantize, PlannedStep* layer_norm) {
  ByteGrid grid;
  if (layer_norm->run != run_layer_norm || table.run != run_elements ||
      !find_byte_grid(quantize, &grid))
    return false;
  const Params& p = layer_norm->as<Params>();
  const LinearTable& line = table.as<Params>().line;
  if (p.kernel->layer_norm_bytes == nullptr || p.n < kMinLayerNormBytes ||
      p.n > kMaxLayerNormBytes || line.kernel == nullptr || !is_ordinary(line.scale) ||
      !is_ordinary(grid.scale))
    return false;
  auto params = make_planned<BytesParams>();
  params->kernel = p.kernel;
  params->norm = {line.scale, grid.scale,  line.zero_point, grid.zero_point, grid.lo,
                  grid.hi,    grid.kernel, p.epsilon,       nullptr,         nullptr};
  params->has_bias = p.has_bias;
  params->rows = p.rows;
  params->n = p.n;
  params->tasks = p.tasks;
  params->task_bytes = round_up(kLayerNormRows * p.n * sizeof(float) + kSlack, kAlignment);
  layer_norm->scratch_bytes = product_or_most({p.tasks, params->task_bytes});
  layer_norm->inputs[0] = table.inputs[0];
  layer_norm->outputs = quantize.outputs;
  layer_norm->kernel = p.kernel->layer_norm_bytes_name;
  layer_norm->run = run_layer_norm_bytes;
  layer_norm->params = std::move(params);
  return true;
}

FloatBinary binary_of(fb::FloatFunction f) {
  switch (f) {
    case F::EQUAL: return FloatBinary::kEqual;
    case F::LESS: return FloatBinary::kLess;
    case F::LESS_OR_EQUAL: return FloatBinary::kLessOrEqual;
    case F::POW: return FloatBinary::kPow;
    case F::FMOD: return FloatBinary::kFmod;
    case F::NAN_MINIMUM: return FloatBinary::kNanMin;
    case F::NAN_MAXIMUM: return FloatBinary::kNanMax;
    case F::KEEP_NONZERO: return FloatBinary::kKeepNonzero;
    case F::KEEP_ZERO: return FloatBinary::kKeepZero;
    default: return static_cast<FloatBinary>(static_cast<int>(f) - static_cast<int>(F::ADD));
  }
}

FloatStepKind float_step_kind(const Step& step) {
  if (step.run == run_binary) return FloatStepKind::kBinary;
  const bool has_params = step.run == run_matmul || step.run == run_rows;
  if (has_params && step.as<Params>().function == F::FUSED_MATMUL) return FloatStepKind::kProduct;
  if (has_params && step.as<Params>().function == F::LANE_SOFTMAX) return FloatStepKind::kSoftmax;
  return FloatStepKind::kOther;
}

std::string describe_float(const fb::Operator& op) {
  return std::string("float ") + fb::EnumNameFloatFunction(op.options_as_Float()->function());
}

const OpDef kFloatOp = {
    "Float",
    fb::OpOptions::Float,
    infer,
    prepare,
    {Arithmetic::kFloat, level, no_requant, keeps_images_apart, LayoutRule::kOwn,
     Broadcasting::kByFunction, ConstantRule::kOperands, true}};

}  // namespace qrt
