// SPDX-License-Identifier: Apache-2.0
// Softmax of UINT8 by exponentials in float32: divided by the sum of a row, or multiplied by its reciprocal.
#include <algorithm>
#include <cmath>

#include "kernels/softmax/softmax.h"
#include "kernels/softmax/softmax_bounds.h"
#include "runtime/ops/softmax_forms.h"

namespace qrt {

Status check_softmax_floats(const InferContext& context, const float** table, float* greatest) {
  QRT_TRY(check_range("zero_point", softmax_options(context).zero_point(), 0, 255));
  QRT_TRY(find_softmax_table(context, kSoftmaxTable, table));
  const float* const values = *table;
  *greatest = 0;
  for (size_t i = 0; i < kSoftmaxTable; ++i) {
    QRT_MODEL_CHECK(std::isfinite(values[i]) && values[i] >= 0,
                    "table[%zu] is %g, expected a finite number >= 0", i,
                    static_cast<double>(values[i]));
    *greatest = std::max(*greatest, values[i]);
  }
  return Status();
}

Status check_softmax_unit_floats(const InferContext& context) {
  const float* table = nullptr;
  float greatest = 0;
  QRT_TRY(check_softmax_floats(context, &table, &greatest));
  QRT_MODEL_CHECK(table[255] == 1.0f && greatest == 1.0f,
                  "table[255] is %g and the greatest value %g, expected 1 with kind %s",
                  static_cast<double>(table[255]), static_cast<double>(greatest),
                  fb::EnumNameSoftmaxKind(softmax_options(context).kind()));
  return Status();
}

namespace {

constexpr size_t kPairTable = 65536;

Status check_f32(const InferContext& context, const Shape&) {
  const float* table = nullptr;
  float greatest = 0;
  QRT_TRY(check_softmax_floats(context, &table, &greatest));
  // The sum of a row holds table[255] at least.
  const double k = static_cast<double>(float_of(softmax_options(context).k()));
  const double product = static_cast<double>(greatest) * k, least = static_cast<double>(table[255]);
  QRT_MODEL_CHECK(std::isnormal(table[255]), "table[255] is %g, expected a normal number > 0",
                  least);
  // Written so that infinities and NaN fail, too: no comparison with them holds.
  QRT_MODEL_CHECK(
      k >= 0 && product < 3.4e38 && product / least < 2147483000.0,
      "k is %g, expected a finite number >= 0 with k * %g / %g (greatest over last value "
      "of the table) < 2^31",
      k, static_cast<double>(greatest), least);
  return Status();
}

struct F32Params : SoftmaxRows {
  SoftmaxParams softmax;
  const EdgeKernel* edge;
  const LutKernel* lut;
  const SoftmaxBoundsKernel* by_bounds = nullptr;  // null: rows are summed in order
  SoftmaxBounds bounds;

  void run_rows(const uint8_t* x, uint8_t* y, size_t count) const {
    if (by_bounds != nullptr)
      softmax_rows_by_bounds(*by_bounds, bounds, softmax, *edge, *lut, x, y, count, n);
    else
      softmax_rows(softmax, *edge, *lut, x, y, count, n);
  }
};

Status prepare_f32(const PrepareContext& context, PlannedStep* step) {
  const fb::SoftmaxOptions& options = softmax_options(context);
  QRT_TRY(context.take(sizeof(F32Params)));
  auto params = make_planned<F32Params>();
  const float* table;
  QRT_TRY(find_softmax_table(context, kSoftmaxTable, &table));
  params->softmax = {table, float_of(options.k()), options.zero_point()};
  params->edge = select_edge(context.isas);
  params->lut = select_lut(context.isas);
  // The time per element: by look-ups of 64 bytes about 0.1 ns; with a chain of float additions and
  // a division for each, 5 ns.
  constexpr double kByBoundsNs = 0.1, kInOrderNs = 5;
  params->cut(context, kByBoundsNs);
  params->by_bounds =
      plan_softmax_bounds(context.isas, params->softmax, params->n, &params->bounds);
  const bool in_order = params->by_bounds == nullptr;
  if (in_order) params->cut(context, kInOrderNs);
  const char* const kernel = in_order ? "softmax_u8" : params->by_bounds->name;
  finish_softmax<uint8_t, uint8_t>(std::move(params), kernel, step);
  return Status();
}

// Checks the table of pairs: values of 0 to 1, and 1 for x_j = m.
Status check_pairs(const InferContext& context, const Shape&) {
  const float* table;
  QRT_TRY(find_softmax_table(context, kPairTable, &table));
  for (size_t i = 0; i < kPairTable; ++i)
    QRT_MODEL_CHECK(table[i] >= 0 && table[i] <= 1.0f, "table[%zu] is %g, expected 0 to 1", i,
                    static_cast<double>(table[i]));
  for (size_t m = 0; m < kSoftmaxTable; ++m)
    QRT_MODEL_CHECK(table[257 * m] == 1.0f, "table[%zu] is %g, expected 1", 257 * m,
                    static_cast<double>(table[257 * m]));
  return Status();
}

struct PairParams : SoftmaxRows {
  const float* table;

  void run_rows(const uint8_t* x, float* y, size_t count) const {
    softmax_pair_rows(table, x, y, count, n);
  }
};

Status prepare_pairs(const PrepareContext& context, PlannedStep* step) {
  auto params = make_planned<PairParams>();
  QRT_TRY(find_softmax_table(context, kPairTable, &params->table));
  params->cut(context, 5);
  finish_softmax<uint8_t, float>(std::move(params), "softmax_pairs_u8_f32", step);
  return Status();
}

Status check_reciprocal(const InferContext& context, const Shape&) {
  QRT_TRY(check_softmax_unit_floats(context));
  const fb::SoftmaxOptions& options = softmax_options(context);
  const float scale = float_of(options.output_scale());
  QRT_MODEL_CHECK(scale >= 1.0f / 256 && scale <= 1.0f && options.zero_point() == 0,
                  "output_scale is %g and zero_point %d, expected 1/256 to 1 and 0 with kind "
                  "F32_RECIPROCAL",
                  static_cast<double>(scale), options.zero_point());
  return Status();
}

struct ReciprocalParams : SoftmaxRows {
  const float* table;
  float output_scale;

  void run_rows(const uint8_t* x, uint8_t* y, size_t count) const {
    softmax_reciprocal_rows(table, output_scale, x, y, count, n);
  }
};

Status prepare_reciprocal(const PrepareContext& context, PlannedStep* step) {
  auto params = make_planned<ReciprocalParams>();
  QRT_TRY(find_softmax_table(context, kSoftmaxTable, &params->table));
  params->output_scale = float_of(softmax_options(context).output_scale());
  params->cut(context, 5);
  finish_softmax<uint8_t, uint8_t>(std::move(params), "softmax_reciprocal_u8", step);
  return Status();
}

}  // namespace

const SoftmaxForm kSoftmaxF32 = {DType::kUInt8, DType::kUInt8, check_f32, prepare_f32};
const SoftmaxForm kSoftmaxPairs = {DType::kUInt8, DType::kFloat32, check_pairs, prepare_pairs};
const SoftmaxForm kSoftmaxReciprocal = {DType::kUInt8, DType::kUInt8, check_reciprocal,
                                        prepare_reciprocal};

}  // namespace qrt
