// SPDX-License-Identifier: Apache-2.0
// The logarithm of a softmax in float32, of UINT8 or of INT16.
#include "kernels/softmax/log_softmax.h"

#include <cmath>

#include "kernels/softmax/softmax_int16_table.h"
#include "runtime/ops/softmax_forms.h"

namespace qrt {
namespace {

// Checks the scales for differences of up to `reach` steps.
Status check_scales(const InferContext& context, int reach) {
  const fb::SoftmaxOptions& options = softmax_options(context);
  const float scale = float_of(options.k()), out = float_of(options.output_scale());
  QRT_MODEL_CHECK(std::isnormal(scale) && scale > 0 && std::isnormal(out) && out > 0,
                  "k is %g and output_scale %g, expected normal numbers > 0",
                  static_cast<double>(scale), static_cast<double>(out));
  QRT_MODEL_CHECK(std::isfinite(scale * static_cast<float>(reach)),
                  "k is %g, expected a finite number times %d with kind LOG_F32",
                  static_cast<double>(scale), reach);
  return Status();
}

Status check_log(const InferContext& context, const Shape&) {
  QRT_TRY(check_softmax_unit_floats(context));
  return check_scales(context, UINT8_MAX);
}

using LogParams = SoftmaxKernelRows<LogSoftmaxParams, uint8_t, log_softmax_rows>;

Status prepare_log(const PrepareContext& context, PlannedStep* step) {
  const fb::SoftmaxOptions& options = softmax_options(context);
  auto params = make_planned<LogParams>();
  const float* table;
  QRT_TRY(find_softmax_table(context, kSoftmaxTable, &table));
  params->softmax = {table, float_of(options.k()), float_of(options.output_scale()),
                     options.zero_point()};
  params->cut(context, 5);
  finish_softmax<uint8_t, uint8_t>(std::move(params), "log_softmax_u8_scalar", step);
  return Status();
}

Status check_log_int16(const InferContext& context, const Shape& x) {
  QRT_TRY(check_softmax_int16_table(context, x));
  return check_scales(context, UINT16_MAX);
}

using LogInt16Params = SoftmaxKernelRows<LogSoftmaxInt16Params, int16_t, log_softmax_int16_rows>;

Status prepare_log_int16(const PrepareContext& context, PlannedStep* step) {
  const fb::SoftmaxOptions& options = softmax_options(context);
  auto params = make_planned<LogInt16Params>();
  const int32_t* table;
  QRT_TRY(find_softmax_table(context, kSoftmaxTableEntries, &table));
  params->softmax = {table, float_of(options.k()), float_of(options.output_scale()),
                     options.zero_point()};
  params->cut(context, 1);
  finish_softmax<int16_t, int16_t>(std::move(params), "log_softmax_s16", step);
  return Status();
}

}  // namespace

const SoftmaxForm kLogSoftmax = {DType::kUInt8, DType::kUInt8, check_log, prepare_log};
const SoftmaxForm kLogSoftmaxInt16 = {DType::kInt16, DType::kInt16, check_log_int16,
                                      built::kInt16 ? prepare_log_int16 : nullptr};

}  // namespace qrt
