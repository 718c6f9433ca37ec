// Softmax over the last axis by a table of 256 exponentials, in float32 or in integers, or of int16
// by interpolated tables or one of 65536; and its logarithm. Cut into rows.
#include "kernels/softmax/softmax.h"

#include <algorithm>
#include <cmath>

#include "kernels/softmax/log_softmax.h"
#include "kernels/softmax/log_softmax_int.h"
#include "kernels/softmax/softmax_bounds.h"
#include "kernels/softmax/softmax_int.h"
#include "kernels/softmax/softmax_int16.h"
#include "kernels/softmax/softmax_int16_table.h"
#include "runtime/ops/check.h"
#include "runtime/ops/ops.h"
#include "runtime/ops/tasks.h"
#include "runtime/requant_params.h"

namespace qrt {
namespace {

constexpr size_t kTable = 256, kPairTable = 65536;

// Returns whether a Q5_26 softmax gives logarithms.
bool is_int_log(const fb::SoftmaxOptions& options) {
  return options.kind() == fb::SoftmaxKind::Q5_26 && options.stages() != nullptr &&
         options.stages()->size() > 0;
}

// The options' table of `n` values, where it stands in the file: buffers are aligned to 64 bytes.
template <class T>
Status find_table(const InferContext& context, size_t n, const T** table) {
  Result<const fb::Buffer*> buffer =
      context.buffer(context.op->options_as<fb::SoftmaxOptions>()->table());
  if (!buffer.ok()) return std::move(buffer.status());
  const size_t bytes = (*buffer)->data()->size();
  QRT_MODEL_CHECK(bytes == n * sizeof(T), "the table holds %zu bytes, expected %zu", bytes,
                  n * sizeof(T));
  *table = reinterpret_cast<const T*>((*buffer)->data()->data());
  return Status();
}

Status check_int(const InferContext& context, const Shape& x) {
  const int64_t n = x[x.rank() - 1];
  QRT_MODEL_CHECK(n <= static_cast<int64_t>(kMaxSoftmaxIntRow),
                  "rows of %lld values, expected at most %zu with kinds Q5_26 and Q5_26_TO_INT16",
                  static_cast<long long>(n), kMaxSoftmaxIntRow);
  const auto* options = context.op->options_as<fb::SoftmaxOptions>();
  const int32_t* table;
  QRT_TRY(find_table(context, is_int_log(*options) ? 2 * kTable : kTable, &table));
  if (is_int_log(*options)) QRT_TRY(check_tensor_stages("stages", options->stages()));
  for (size_t i = 0; i < kTable; ++i)
    QRT_MODEL_CHECK(table[i] >= -1, "table[%zu] is %d, expected >= -1", i, table[i]);
  QRT_MODEL_CHECK(table[kTable - 1] == INT32_MAX, "table[255] is %d, expected 2^31 - 1",
                  table[kTable - 1]);
  return Status();
}

Status check_16(const InferContext& context, const Shape& x) {
  const int64_t n = x[x.rank() - 1];
  QRT_MODEL_CHECK(n <= static_cast<int64_t>(kMaxSoftmaxInt16Row),
                  "rows of %lld values, expected at most %zu with kind INT16",
                  static_cast<long long>(n), kMaxSoftmaxInt16Row);
  const int16_t* tables;
  QRT_TRY(find_table(context, 2 * kSoftmaxInt16Table, &tables));
  for (size_t i = 0; i < 2 * kSoftmaxInt16Table; ++i)
    QRT_MODEL_CHECK(tables[i] >= 0, "table[%zu] is %d, expected >= 0", i, tables[i]);
  const int last = tables[kSoftmaxInt16Table - 1], before = tables[kSoftmaxInt16Table - 2];
  QRT_MODEL_CHECK(2 <= before && before <= last,
                  "table[511] and table[512] are %d and %d, expected 2 or more, and no less",
                  before, last);
  return Status();
}

// What INT16_ANY_SCALE and LOG_F32 of int16 have in common.
Status check_int16_row(const InferContext& context, const Shape& x) {
  const auto* options = context.op->options_as<fb::SoftmaxOptions>();
  const int64_t n = x[x.rank() - 1];
  QRT_MODEL_CHECK(n <= static_cast<int64_t>(kMaxSoftmaxTableRow),
                  "rows of %lld values, expected at most %zu with kind %s",
                  static_cast<long long>(n), kMaxSoftmaxTableRow,
                  fb::EnumNameSoftmaxKind(options->kind()));
  QRT_TRY(check_range("zero_point", options->zero_point(), INT16_MIN, INT16_MAX));
  const int32_t* table;
  QRT_TRY(find_table(context, kSoftmaxTableEntries, &table));
  for (size_t i = 0; i < kSoftmaxTableEntries; ++i)
    QRT_MODEL_CHECK(table[i] >= 0 && table[i] <= kSoftmaxTableOne,
                    "table[%zu] is %d, expected 0 to 2^30", i, table[i]);
  QRT_MODEL_CHECK(table[kSoftmaxTableEntries - 1] == kSoftmaxTableOne,
                  "table[65535] is %d, expected 2^30", table[kSoftmaxTableEntries - 1]);
  return Status();
}

// LOG_F32: differences of up to `reach` steps.
Status check_log_scales(const InferContext& context, int reach) {
  const auto* options = context.op->options_as<fb::SoftmaxOptions>();
  const float scale = float_of(options->k()), out = float_of(options->output_scale());
  QRT_MODEL_CHECK(std::isnormal(scale) && scale > 0 && std::isnormal(out) && out > 0,
                  "k is %g and output_scale %g, expected normal numbers > 0",
                  static_cast<double>(scale), static_cast<double>(out));
  QRT_MODEL_CHECK(std::isfinite(scale * static_cast<float>(reach)),
                  "k is %g, expected a finite number times %d with kind LOG_F32",
                  static_cast<double>(scale), reach);
  return Status();
}

Status check_reciprocal(const InferContext& context) {
  const auto* options = context.op->options_as<fb::SoftmaxOptions>();
  const float scale = float_of(options->output_scale());
  QRT_MODEL_CHECK(scale >= 1.0f / 256 && scale <= 1.0f && options->zero_point() == 0,
                  "output_scale is %g and zero_point %d, expected 1/256 to 1 and 0 with kind "
                  "F32_RECIPROCAL",
                  static_cast<double>(scale), options->zero_point());
  return Status();
}

// F32 with a FLOAT32 output: what stands for x_j = m is 1.
Status check_pairs(const InferContext& context) {
  const float* table;
  QRT_TRY(find_table(context, kPairTable, &table));
  for (size_t i = 0; i < kPairTable; ++i)
    QRT_MODEL_CHECK(table[i] >= 0 && table[i] <= 1.0f, "table[%zu] is %g, expected 0 to 1", i,
                    static_cast<double>(table[i]));
  for (size_t m = 0; m < kTable; ++m)
    QRT_MODEL_CHECK(table[257 * m] == 1.0f, "table[%zu] is %g, expected 1", 257 * m,
                    static_cast<double>(table[257 * m]));
  return Status();
}

Status infer(const InferContext& context, std::vector<TensorType>* outputs) {
  const auto* options = context.op->options_as<fb::SoftmaxOptions>();
  QRT_TRY(check_input_count(context, 1));
  QRT_MODEL_CHECK(options->kind() <= fb::SoftmaxKind::MAX, "kind is %d, expected 0 to %d",
                  static_cast<int>(options->kind()), static_cast<int>(fb::SoftmaxKind::MAX));
  const bool is_any_scale = options->kind() == fb::SoftmaxKind::INT16_ANY_SCALE;
  const bool is_int16_log =
      options->kind() == fb::SoftmaxKind::LOG_F32 && runs_int16(context.inputs[0].type.dtype);
  const bool is_16 = is_any_scale || is_int16_log || options->kind() == fb::SoftmaxKind::INT16;
  QRT_TRY(check_dtype(context, 0, "x", is_16 ? DType::kInt16 : DType::kUInt8));
  const Shape& x = context.inputs[0].type.shape;
  QRT_MODEL_CHECK(x.rank() >= 1, "x has rank 0, expected at least 1");
  if (is_16) {
    QRT_TRY(is_any_scale || is_int16_log ? check_int16_row(context, x) : check_16(context, x));
    // Stages of INT16 scale differences, of which the greatest is 0; those of INT16_ANY_SCALE the output.
    QRT_TRY(is_int16_log   ? check_log_scales(context, UINT16_MAX)
            : is_any_scale ? check_tensor_stages("stages", options->stages())
                           : check_stages_keep_zero("stages", options->stages()));
    return add_output(DType::kInt16, x, outputs);
  }
  const bool to_16 = options->kind() == fb::SoftmaxKind::Q5_26_TO_INT16;
  if (to_16 || options->kind() == fb::SoftmaxKind::Q5_26) {
    QRT_TRY(check_int(context, x));
    return add_output(to_16 ? DType::kInt16 : DType::kUInt8, x, outputs);
  }
  DType output;
  QRT_TRY(declared_output_dtype(context, &output));
  if (options->kind() == fb::SoftmaxKind::F32 && output == DType::kFloat32) {
    QRT_TRY(check_pairs(context));
    return add_output(DType::kFloat32, x, outputs);
  }
  QRT_TRY(check_range("zero_point", options->zero_point(), 0, 255));
  const float* table;
  QRT_TRY(find_table(context, kTable, &table));
  float greatest = 0;
  for (size_t i = 0; i < kTable; ++i) {
    QRT_MODEL_CHECK(std::isfinite(table[i]) && table[i] >= 0,
                    "table[%zu] is %g, expected a finite number >= 0", i,
                    static_cast<double>(table[i]));
    greatest = std::max(greatest, table[i]);
  }
  // The sum of a row holds table[255] at least.
  const bool by_reciprocal = options->kind() == fb::SoftmaxKind::F32_RECIPROCAL;
  if (by_reciprocal || options->kind() == fb::SoftmaxKind::LOG_F32) {
    QRT_MODEL_CHECK(table[255] == 1.0f && greatest == 1.0f,
                    "table[255] is %g and the greatest value %g, expected 1 with kind %s",
                    static_cast<double>(table[255]), static_cast<double>(greatest),
                    fb::EnumNameSoftmaxKind(options->kind()));
    QRT_TRY(by_reciprocal ? check_reciprocal(context) : check_log_scales(context, UINT8_MAX));
    return add_output(DType::kUInt8, x, outputs);
  }
  const double k = static_cast<double>(float_of(options->k()));
  const double product = static_cast<double>(greatest) * k, least = static_cast<double>(table[255]);
  QRT_MODEL_CHECK(std::isnormal(table[255]), "table[255] is %g, expected a normal number > 0",
                  least);
  // Neither infinities nor NaN are less.
  QRT_MODEL_CHECK(
      k >= 0 && product < 3.4e38 && product / least < 2147483000.0,
      "k is %g, expected a finite number >= 0 with k * %g / %g (greatest over last value "
      "of the table) < 2^31",
      k, static_cast<double>(greatest), least);
  return add_output(DType::kUInt8, x, outputs);
}

struct Params {
  SoftmaxParams softmax;
  const EdgeKernel* edge;
  const LutKernel* lut;
  const SoftmaxBoundsKernel* by_bounds = nullptr;  // null: rows are summed in order
  SoftmaxBounds bounds;
  size_t rows, n, tasks;
};

void run(const Step& step, const RunContext& context) {
  const Params& p = step.as<Params>();
  for_pieces(*context.parallel, p.tasks, p.rows, 1, [&](size_t, size_t begin, size_t end) {
    const uint8_t* x = context.in(step, 0) + begin * p.n;
    uint8_t* y = context.out(step, 0) + begin * p.n;
    if (p.by_bounds != nullptr)
      softmax_rows_by_bounds(*p.by_bounds, p.bounds, p.softmax, *p.edge, *p.lut, x, y, end - begin,
                             p.n);
    else
      softmax_rows(p.softmax, *p.edge, *p.lut, x, y, end - begin, p.n);
  });
}

struct LogParams {
  LogSoftmaxParams softmax;
  size_t rows, n, tasks;
};

void run_log(const Step& step, const RunContext& context) {
  const LogParams& p = step.as<LogParams>();
  for_pieces(*context.parallel, p.tasks, p.rows, 1, [&](size_t, size_t begin, size_t end) {
    log_softmax_rows(p.softmax, context.in(step, 0) + begin * p.n,
                     context.out(step, 0) + begin * p.n, end - begin, p.n);
  });
}

Status prepare_log(const PrepareContext& context, PlannedStep* step) {
  const auto* options = context.op->options_as<fb::SoftmaxOptions>();
  const Shape& shape = context.outputs[0].shape;
  auto params = std::make_shared<LogParams>();
  const float* table;
  QRT_TRY(find_table(context, kTable, &table));
  params->softmax = {table, float_of(options->k()), float_of(options->output_scale()),
                     options->zero_point()};
  params->n = static_cast<size_t>(shape[shape.rank() - 1]);
  params->rows = static_cast<size_t>(shape.elements()) / params->n;
  params->tasks =
      task_count(5 * static_cast<double>(shape.elements()), params->rows, context.threads);
  step->kernel = "log_softmax_u8_scalar";
  step->run = run_log;
  step->params = std::move(params);
  return Status();
}

struct ReciprocalParams {
  const float* table;
  float output_scale;
  size_t rows, n, tasks;
};

void run_reciprocal(const Step& step, const RunContext& context) {
  const ReciprocalParams& p = step.as<ReciprocalParams>();
  for_pieces(*context.parallel, p.tasks, p.rows, 1, [&](size_t, size_t begin, size_t end) {
    softmax_reciprocal_rows(p.table, p.output_scale, context.in(step, 0) + begin * p.n,
                            context.out(step, 0) + begin * p.n, end - begin, p.n);
  });
}

Status prepare_reciprocal(const PrepareContext& context, PlannedStep* step) {
  const Shape& shape = context.outputs[0].shape;
  auto params = std::make_shared<ReciprocalParams>();
  QRT_TRY(find_table(context, kTable, &params->table));
  params->output_scale = float_of(context.op->options_as<fb::SoftmaxOptions>()->output_scale());
  params->n = static_cast<size_t>(shape[shape.rank() - 1]);
  params->rows = static_cast<size_t>(shape.elements()) / params->n;
  params->tasks =
      task_count(5 * static_cast<double>(shape.elements()), params->rows, context.threads);
  step->kernel = "softmax_reciprocal_u8";
  step->run = run_reciprocal;
  step->params = std::move(params);
  return Status();
}

struct PairParams {
  const float* table;
  size_t rows, n, tasks;
};

void run_pairs(const Step& step, const RunContext& context) {
  const PairParams& p = step.as<PairParams>();
  auto* y = reinterpret_cast<float*>(context.out(step, 0));
  for_pieces(*context.parallel, p.tasks, p.rows, 1, [&](size_t, size_t begin, size_t end) {
    softmax_pair_rows(p.table, context.in(step, 0) + begin * p.n, y + begin * p.n, end - begin,
                      p.n);
  });
}

Status prepare_pairs(const PrepareContext& context, PlannedStep* step) {
  const Shape& shape = context.outputs[0].shape;
  auto params = std::make_shared<PairParams>();
  QRT_TRY(find_table(context, kPairTable, &params->table));
  params->n = static_cast<size_t>(shape[shape.rank() - 1]);
  params->rows = static_cast<size_t>(shape.elements()) / params->n;
  params->tasks =
      task_count(5 * static_cast<double>(shape.elements()), params->rows, context.threads);
  step->kernel = "softmax_pairs_u8_f32";
  step->run = run_pairs;
  step->params = std::move(params);
  return Status();
}

struct IntLogParams {
  explicit IntLogParams(const StageVector* source) : stages(source) {}

  StageParams stages;
  LogSoftmaxIntParams softmax{};
  size_t rows, n, tasks;
};

void run_int_log(const Step& step, const RunContext& context) {
  const IntLogParams& p = step.as<IntLogParams>();
  for_pieces(*context.parallel, p.tasks, p.rows, 1, [&](size_t, size_t begin, size_t end) {
    log_softmax_int_rows(p.softmax, context.in(step, 0) + begin * p.n,
                         context.out(step, 0) + begin * p.n, end - begin, p.n);
  });
}

Status prepare_int_log(const PrepareContext& context, PlannedStep* step) {
  const Shape& shape = context.outputs[0].shape;
  auto params =
      std::make_shared<IntLogParams>(context.op->options_as<fb::SoftmaxOptions>()->stages());
  LogSoftmaxIntParams& p = params->softmax;
  QRT_TRY(find_table(context, 2 * kTable, &p.exponential));
  p.difference = p.exponential + kTable;
  p.stage_count = params->stages.count;
  for (int i = 0; i < kMaxStages; ++i) p.stages[i] = params->stages.stages[i];
  params->n = static_cast<size_t>(shape[shape.rank() - 1]);
  params->rows = static_cast<size_t>(shape.elements()) / params->n;
  params->tasks =
      task_count(2 * static_cast<double>(shape.elements()), params->rows, context.threads);
  step->kernel = "log_softmax_int_u8";
  step->run = run_int_log;
  step->params = std::move(params);
  return Status();
}

struct IntParams {
  const int32_t* table;
  size_t rows, n, tasks;
};

// T: uint8_t or int16_t.
template <class T>
void run_int(const Step& step, const RunContext& context) {
  const IntParams& p = step.as<IntParams>();
  T* y = reinterpret_cast<T*>(context.out(step, 0));
  for_pieces(*context.parallel, p.tasks, p.rows, 1, [&](size_t, size_t begin, size_t end) {
    softmax_int_rows(p.table, context.in(step, 0) + begin * p.n, y + begin * p.n, end - begin, p.n);
  });
}

Status prepare_int(const PrepareContext& context, PlannedStep* step) {
  const Shape& shape = context.outputs[0].shape;
  auto params = std::make_shared<IntParams>();
  QRT_TRY(find_table(context, kTable, &params->table));
  params->n = static_cast<size_t>(shape[shape.rank() - 1]);
  params->rows = static_cast<size_t>(shape.elements()) / params->n;
  params->tasks =
      task_count(2 * static_cast<double>(shape.elements()), params->rows, context.threads);
  const bool to_16 = runs_int16(context.outputs[0].dtype);
  step->kernel = to_16 ? "softmax_int_u8_s16" : "softmax_int_u8";
  step->run = to_16 ? run_int<int16_t> : run_int<uint8_t>;
  step->params = std::move(params);
  return Status();
}

struct Params16 {
  explicit Params16(const StageVector* source) : stages(source) {}

  StageParams stages;
  SoftmaxInt16Params softmax{};
  size_t rows, n, tasks;
};

void run_16(const Step& step, const RunContext& context) {
  const Params16& p = step.as<Params16>();
  const auto* x = reinterpret_cast<const int16_t*>(context.in(step, 0));
  auto* y = reinterpret_cast<int16_t*>(context.out(step, 0));
  for_pieces(*context.parallel, p.tasks, p.rows, 1, [&](size_t, size_t begin, size_t end) {
    softmax_int16_rows(p.softmax, x + begin * p.n, y + begin * p.n, end - begin, p.n);
  });
}

Status prepare_16(const PrepareContext& context, PlannedStep* step) {
  const Shape& shape = context.outputs[0].shape;
  const auto* options = context.op->options_as<fb::SoftmaxOptions>();
  auto params = std::make_shared<Params16>(options->stages());
  SoftmaxInt16Params& p = params->softmax;
  QRT_TRY(find_table(context, 2 * kSoftmaxInt16Table, &p.exponential));
  p.reciprocal = p.exponential + kSoftmaxInt16Table;
  p.stage_count = params->stages.count;
  for (int i = 0; i < kMaxStages; ++i) p.stages[i] = params->stages.stages[i];
  params->n = static_cast<size_t>(shape[shape.rank() - 1]);
  params->rows = static_cast<size_t>(shape.elements()) / params->n;
  params->tasks =
      task_count(5 * static_cast<double>(shape.elements()), params->rows, context.threads);
  step->kernel = "softmax_s16";
  step->run = run_16;
  step->params = std::move(params);
  return Status();
}

struct AnyScaleParams {
  explicit AnyScaleParams(const StageVector* source) : stages(source) {}

  StageParams stages;
  SoftmaxInt16TableParams softmax{};
  size_t rows, n, tasks;
};

void run_any_scale(const Step& step, const RunContext& context) {
  const AnyScaleParams& p = step.as<AnyScaleParams>();
  const auto* x = reinterpret_cast<const int16_t*>(context.in(step, 0));
  auto* y = reinterpret_cast<int16_t*>(context.out(step, 0));
  for_pieces(*context.parallel, p.tasks, p.rows, 1, [&](size_t, size_t begin, size_t end) {
    softmax_int16_table_rows(p.softmax, x + begin * p.n, y + begin * p.n, end - begin, p.n);
  });
}

Status prepare_any_scale(const PrepareContext& context, PlannedStep* step) {
  const Shape& shape = context.outputs[0].shape;
  const auto* options = context.op->options_as<fb::SoftmaxOptions>();
  auto params = std::make_shared<AnyScaleParams>(options->stages());
  SoftmaxInt16TableParams& p = params->softmax;
  QRT_TRY(find_table(context, kSoftmaxTableEntries, &p.table));
  p.stage_count = params->stages.count;
  for (int i = 0; i < kMaxStages; ++i) p.stages[i] = params->stages.stages[i];
  p.zero_point = options->zero_point();
  params->n = static_cast<size_t>(shape[shape.rank() - 1]);
  params->rows = static_cast<size_t>(shape.elements()) / params->n;
  params->tasks =
      task_count(10 * static_cast<double>(shape.elements()), params->rows, context.threads);
  step->kernel = "softmax_table_s16";
  step->run = run_any_scale;
  step->params = std::move(params);
  return Status();
}

struct Int16LogParams {
  LogSoftmaxInt16Params softmax{};
  size_t rows, n, tasks;
};

void run_int16_log(const Step& step, const RunContext& context) {
  const Int16LogParams& p = step.as<Int16LogParams>();
  const auto* x = reinterpret_cast<const int16_t*>(context.in(step, 0));
  auto* y = reinterpret_cast<int16_t*>(context.out(step, 0));
  for_pieces(*context.parallel, p.tasks, p.rows, 1, [&](size_t, size_t begin, size_t end) {
    log_softmax_int16_rows(p.softmax, x + begin * p.n, y + begin * p.n, end - begin, p.n);
  });
}

Status prepare_int16_log(const PrepareContext& context, PlannedStep* step) {
  const Shape& shape = context.outputs[0].shape;
  const auto* options = context.op->options_as<fb::SoftmaxOptions>();
  auto params = std::make_shared<Int16LogParams>();
  const int32_t* table;
  QRT_TRY(find_table(context, kSoftmaxTableEntries, &table));
  params->softmax = {table, float_of(options->k()), float_of(options->output_scale()),
                     options->zero_point()};
  params->n = static_cast<size_t>(shape[shape.rank() - 1]);
  params->rows = static_cast<size_t>(shape.elements()) / params->n;
  // About 1 ns per element.
  params->tasks = task_count(static_cast<double>(shape.elements()), params->rows, context.threads);
  step->kernel = "log_softmax_s16";
  step->run = run_int16_log;
  step->params = std::move(params);
  return Status();
}

Status prepare(const PrepareContext& context, PlannedStep* step) {
  const Shape& shape = context.outputs[0].shape;
  const auto* options = context.op->options_as<fb::SoftmaxOptions>();
  if (runs_int16(context.inputs[0].type.dtype)) {
    if (options->kind() == fb::SoftmaxKind::INT16) return prepare_16(context, step);
    if (options->kind() == fb::SoftmaxKind::INT16_ANY_SCALE)
      return prepare_any_scale(context, step);
  }
  if (is_int_log(*options)) return prepare_int_log(context, step);
  if (context.outputs[0].dtype == DType::kFloat32) return prepare_pairs(context, step);
  if (options->kind() == fb::SoftmaxKind::Q5_26 ||
      options->kind() == fb::SoftmaxKind::Q5_26_TO_INT16)
    return prepare_int(context, step);
  if (options->kind() == fb::SoftmaxKind::LOG_F32)
    return runs_int16(context.outputs[0].dtype) ? prepare_int16_log(context, step)
                                                : prepare_log(context, step);
  if (options->kind() == fb::SoftmaxKind::F32_RECIPROCAL) return prepare_reciprocal(context, step);
  QRT_TRY(context.take(sizeof(Params)));
  auto params = std::make_shared<Params>();
  const float* table;
  QRT_TRY(find_table(context, kTable, &table));
  params->softmax = {table, float_of(options->k()), options->zero_point()};
  params->edge = select_edge(context.isas);
  params->lut = select_lut(context.isas);
  params->n = static_cast<size_t>(shape[shape.rank() - 1]);
  params->rows = static_cast<size_t>(shape.elements()) / params->n;
  params->by_bounds =
      plan_softmax_bounds(context.isas, params->softmax, params->n, &params->bounds);
  const bool in_order = params->by_bounds == nullptr;
  // By look-ups of 64 bytes about 0.1 ns per element; with a chain of float additions and a division
  // for each, 5 ns.
  params->tasks = task_count((in_order ? 5 : 0.1) * static_cast<double>(shape.elements()),
                             params->rows, context.threads);
  step->kernel = in_order ? "softmax_u8" : params->by_bounds->name;
  step->run = run;
  step->params = std::move(params);
  return Status();
}

int level(const fb::Operator& op) {
  const fb::SoftmaxKind kind = op.options_as_Softmax()->kind();
  return kind == fb::SoftmaxKind::F32 || kind == fb::SoftmaxKind::LOG_F32 ||
                 kind == fb::SoftmaxKind::F32_RECIPROCAL
             ? 1
             : 0;
}

}  // namespace

const OpDef kSoftmaxOp = {"Softmax",
                          fb::OpOptions::Softmax,
                          infer,
                          prepare,
                          {Arithmetic::kForms, level, no_requant, rows_apart, LayoutRule::kRows,
                           Broadcasting::kNone, Constants::table<fb::SoftmaxOptions>()}};

}  // namespace qrt
