// SPDX-License-Identifier: Apache-2.0
// Softmax of INT16, by interpolated tables or by one of 65536 exponentials.
#include "kernels/softmax/softmax_int16.h"

#include "kernels/softmax/softmax_int16_table.h"
#include "runtime/ops/softmax_forms.h"

namespace qrt {

Status check_softmax_int16_table(const InferContext& context, const Shape& x) {
  const fb::SoftmaxOptions& options = softmax_options(context);
  const int64_t n = x[x.rank() - 1];
  QRT_MODEL_CHECK(n <= static_cast<int64_t>(kMaxSoftmaxTableRow),
                  "rows of %lld values, expected at most %zu with kind %s",
                  static_cast<long long>(n), kMaxSoftmaxTableRow,
                  fb::EnumNameSoftmaxKind(options.kind()));
  QRT_TRY(check_range("zero_point", options.zero_point(), INT16_MIN, INT16_MAX));
  const int32_t* table;
  QRT_TRY(find_softmax_table(context, kSoftmaxTableEntries, &table));
  for (size_t i = 0; i < kSoftmaxTableEntries; ++i)
    QRT_MODEL_CHECK(table[i] >= 0 && table[i] <= kSoftmaxTableOne,
                    "table[%zu] is %d, expected 0 to 2^30", i, table[i]);
  QRT_MODEL_CHECK(table[kSoftmaxTableEntries - 1] == kSoftmaxTableOne,
                  "table[65535] is %d, expected 2^30", table[kSoftmaxTableEntries - 1]);
  return Status();
}

namespace {

Status check_int16(const InferContext& context, const Shape& x) {
  const int64_t n = x[x.rank() - 1];
  QRT_MODEL_CHECK(n <= static_cast<int64_t>(kMaxSoftmaxInt16Row),
                  "rows of %lld values, expected at most %zu with kind INT16",
                  static_cast<long long>(n), kMaxSoftmaxInt16Row);
  const int16_t* tables;
  QRT_TRY(find_softmax_table(context, 2 * kSoftmaxInt16Table, &tables));
  for (size_t i = 0; i < 2 * kSoftmaxInt16Table; ++i)
    QRT_MODEL_CHECK(tables[i] >= 0, "table[%zu] is %d, expected >= 0", i, tables[i]);
  const int last = tables[kSoftmaxInt16Table - 1], before = tables[kSoftmaxInt16Table - 2];
  QRT_MODEL_CHECK(2 <= before && before <= last,
                  "table[511] and table[512] are %d and %d, expected 2 or more, and no less",
                  before, last);
  // The stages scale differences, of which the greatest is 0.
  return check_stages_keep_zero("stages", softmax_options(context).stages());
}

using Int16Params = SoftmaxStagedRows<SoftmaxInt16Params, int16_t, softmax_int16_rows>;

Status prepare_int16(const PrepareContext& context, PlannedStep* step) {
  auto params = make_planned<Int16Params>(softmax_options(context).stages());
  SoftmaxInt16Params& p = params->softmax;
  QRT_TRY(find_softmax_table(context, 2 * kSoftmaxInt16Table, &p.exponential));
  p.reciprocal = p.exponential + kSoftmaxInt16Table;
  params->cut(context, 5);
  finish_softmax<int16_t, int16_t>(std::move(params), "softmax_s16", step);
  return Status();
}

Status check_any_scale(const InferContext& context, const Shape& x) {
  QRT_TRY(check_softmax_int16_table(context, x));
  // The stages scale the output.
  return check_tensor_stages("stages", softmax_options(context).stages());
}

using AnyScaleParams =
    SoftmaxStagedRows<SoftmaxInt16TableParams, int16_t, softmax_int16_table_rows>;

Status prepare_any_scale(const PrepareContext& context, PlannedStep* step) {
  const fb::SoftmaxOptions& options = softmax_options(context);
  auto params = make_planned<AnyScaleParams>(options.stages());
  SoftmaxInt16TableParams& p = params->softmax;
  QRT_TRY(find_softmax_table(context, kSoftmaxTableEntries, &p.table));
  p.zero_point = options.zero_point();
  params->cut(context, 10);
  finish_softmax<int16_t, int16_t>(std::move(params), "softmax_table_s16", step);
  return Status();
}

}  // namespace

const SoftmaxForm kSoftmaxInt16 = {DType::kInt16, DType::kInt16, check_int16,
                                   built::kInt16 ? prepare_int16 : nullptr};
const SoftmaxForm kSoftmaxInt16AnyScale = {DType::kInt16, DType::kInt16, check_any_scale,
                                           built::kInt16 ? prepare_any_scale : nullptr};

}  // namespace qrt
