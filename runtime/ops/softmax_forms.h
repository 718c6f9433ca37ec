// SPDX-License-Identifier: Apache-2.0
// The arithmetics of Softmax, each a form with checks, a step and a type of its own; softmax.cc chooses one.
#ifndef QRT_RUNTIME_OPS_SOFTMAX_FORMS_H_
#define QRT_RUNTIME_OPS_SOFTMAX_FORMS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "runtime/op.h"
#include "runtime/ops/check.h"
#include "runtime/ops/tasks.h"
#include "runtime/requant_params.h"

namespace qrt {

struct SoftmaxForm {
  DType input, output;
  // Checks the options and their table for rows of x.
  Status (*check)(const InferContext& context, const Shape& x);
  Status (*prepare)(const PrepareContext& context, PlannedStep* step);
};

// softmax_f32.cc: F32 to UINT8 and to FLOAT32, and F32_RECIPROCAL.
extern const SoftmaxForm kSoftmaxF32, kSoftmaxPairs, kSoftmaxReciprocal;
// softmax_int.cc: Q5_26, Q5_26_TO_INT16, and Q5_26 with stages.
extern const SoftmaxForm kSoftmaxInt, kSoftmaxIntTo16, kLogSoftmaxInt;
// softmax_int16.cc: INT16 and INT16_ANY_SCALE.
extern const SoftmaxForm kSoftmaxInt16, kSoftmaxInt16AnyScale;
// log_softmax.cc: LOG_F32 of UINT8 and of INT16.
extern const SoftmaxForm kLogSoftmax, kLogSoftmaxInt16;

constexpr size_t kSoftmaxTable = 256;

inline const fb::SoftmaxOptions& softmax_options(const InferContext& context) {
  return *context.op->options_as<fb::SoftmaxOptions>();
}

// Finds the options' table of `n` values where it stands in the file: buffers are aligned to 64 bytes.
template <class T>
Status find_softmax_table(const InferContext& context, size_t n, const T** table) {
  Result<const fb::Buffer*> buffer = context.buffer(softmax_options(context).table());
  if (!buffer.ok()) return std::move(buffer.status());
  const size_t bytes = (*buffer)->data()->size();
  QRT_MODEL_CHECK(bytes == n * sizeof(T), "the table holds %zu bytes, expected %zu", bytes,
                  n * sizeof(T));
  *table = reinterpret_cast<const T*>((*buffer)->data()->data());
  return Status();
}

// Checks the zero point and the table of 256 floats, and finds the greatest of these.
Status check_softmax_floats(const InferContext& context, const float** table, float* greatest);
// Checks a table of 256 floats whose last and greatest value is 1.
Status check_softmax_unit_floats(const InferContext& context);
// Checks the zero point, the rows and the table of INT16_ANY_SCALE and of LOG_F32 of INT16.
Status check_softmax_int16_table(const InferContext& context, const Shape& x);

// The rows of a step, and into how many tasks they are cut. The parameters of every form derive from them.
struct SoftmaxRows {
  size_t rows, n, tasks;
  size_t x_bytes, y_bytes;  // size of a row of n elements
  // Computes `count` rows; `p` are the form's own parameters.
  void (*run)(const SoftmaxRows& p, const uint8_t* x, uint8_t* y, size_t count);

  void cut(const PrepareContext& context, double ns_per_element) {
    const Shape& shape = context.outputs[0].shape;
    n = static_cast<size_t>(shape[shape.rank() - 1]);
    rows = static_cast<size_t>(shape.elements()) / n;
    tasks =
        task_count(ns_per_element * static_cast<double>(shape.elements()), rows, context.threads);
  }
};

// Runs the rows of a step, whatever its form.
void run_softmax(const Step& step, const RunContext& context);

// The parameters of a form whose kernel has a function `rows_of` from rows of T to rows of T.
template <class Kernel, class T, void (*rows_of)(const Kernel&, const T*, T*, size_t, size_t)>
struct SoftmaxKernelRows : SoftmaxRows {
  Kernel softmax{};

  void run_rows(const T* x, T* y, size_t count) const { rows_of(softmax, x, y, count, n); }
};

// The parameters of a form whose kernel multiplies by requantisation stages.
template <class Kernel, class T, void (*rows_of)(const Kernel&, const T*, T*, size_t, size_t)>
struct SoftmaxStagedRows : SoftmaxKernelRows<Kernel, T, rows_of> {
  explicit SoftmaxStagedRows(const StageVector* source) : stages(source) {
    this->softmax.stage_count = stages.count;
    for (int i = 0; i < kMaxStages; ++i) this->softmax.stages[i] = stages.stages[i];
  }

  StageParams stages;
};

// Makes the step run P, which is a SoftmaxRows with run_rows(x, y, rows), from elements X to Y.
template <class X, class Y, class P>
void finish_softmax(std::shared_ptr<P> params, const char* kernel, PlannedStep* step) {
  params->x_bytes = params->n * sizeof(X);
  params->y_bytes = params->n * sizeof(Y);
  params->run = [](const SoftmaxRows& p, const uint8_t* x, uint8_t* y, size_t count) {
    static_cast<const P&>(p).run_rows(reinterpret_cast<const X*>(x), reinterpret_cast<Y*>(y),
                                      count);
  };
  step->kernel = kernel;
  step->run = run_softmax;
  step->params = std::shared_ptr<const SoftmaxRows>(std::move(params));
}

}  // namespace qrt

#endif  // QRT_RUNTIME_OPS_SOFTMAX_FORMS_H_
