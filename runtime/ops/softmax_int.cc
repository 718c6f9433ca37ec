// SPDX-License-Identifier: Apache-2.0
// Softmax of UINT8 in integers, to UINT8 or INT16, and its logarithm.
#include "kernels/softmax/softmax_int.h"

#include "kernels/softmax/log_softmax_int.h"
#include "runtime/ops/softmax_forms.h"

namespace qrt {
namespace {

// Checks the exponentials, the first of a table of `entries`.
Status check_exponentials(const InferContext& context, const Shape& x, size_t entries) {
  const int64_t n = x[x.rank() - 1];
  QRT_MODEL_CHECK(n <= static_cast<int64_t>(kMaxSoftmaxIntRow),
                  "rows of %lld values, expected at most %zu with kinds Q5_26 and Q5_26_TO_INT16",
                  static_cast<long long>(n), kMaxSoftmaxIntRow);
  const int32_t* table;
  QRT_TRY(find_softmax_table(context, entries, &table));
  for (size_t i = 0; i < kSoftmaxTable; ++i)
    QRT_MODEL_CHECK(table[i] >= -1, "table[%zu] is %d, expected >= -1", i, table[i]);
  QRT_MODEL_CHECK(table[kSoftmaxTable - 1] == INT32_MAX, "table[255] is %d, expected 2^31 - 1",
                  table[kSoftmaxTable - 1]);
  return Status();
}

Status check_int(const InferContext& context, const Shape& x) {
  return check_exponentials(context, x, kSoftmaxTable);
}

struct IntParams : SoftmaxRows {
  const int32_t* table;

  template <class T>
  void run_rows(const uint8_t* x, T* y, size_t count) const {
    softmax_int_rows(table, x, y, count, n);
  }
};

// T: uint8_t or int16_t.
template <class T>
Status prepare_int(const PrepareContext& context, PlannedStep* step) {
  auto params = make_planned<IntParams>();
  QRT_TRY(find_softmax_table(context, kSoftmaxTable, &params->table));
  params->cut(context, 2);
  finish_softmax<uint8_t, T>(std::move(params),
                             sizeof(T) == 1 ? "softmax_int_u8" : "softmax_int_u8_s16", step);
  return Status();
}

// The table of a logarithm: the exponentials, then (x - max) * scale as Q5.26 (log_softmax_int.h).
constexpr size_t kLogTable = 2 * kSoftmaxTable;

Status check_int_log(const InferContext& context, const Shape& x) {
  QRT_TRY(check_exponentials(context, x, kLogTable));
  return check_tensor_stages("stages", softmax_options(context).stages());
}

using IntLogParams = SoftmaxStagedRows<LogSoftmaxIntParams, uint8_t, log_softmax_int_rows>;

Status prepare_int_log(const PrepareContext& context, PlannedStep* step) {
  auto params = make_planned<IntLogParams>(softmax_options(context).stages());
  LogSoftmaxIntParams& p = params->softmax;
  QRT_TRY(find_softmax_table(context, kLogTable, &p.exponential));
  p.difference = p.exponential + kSoftmaxTable;
  params->cut(context, 2);
  finish_softmax<uint8_t, uint8_t>(std::move(params), "log_softmax_int_u8", step);
  return Status();
}

}  // namespace

const SoftmaxForm kSoftmaxInt = {DType::kUInt8, DType::kUInt8, check_int, prepare_int<uint8_t>};
const SoftmaxForm kSoftmaxIntTo16 = {DType::kUInt8, DType::kInt16, check_int,
                                     built::kInt16 ? prepare_int<int16_t> : nullptr};
const SoftmaxForm kLogSoftmaxInt = {DType::kUInt8, DType::kUInt8, check_int_log, prepare_int_log};

}  // namespace qrt
