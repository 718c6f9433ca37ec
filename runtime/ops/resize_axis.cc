// SPDX-License-Identifier: Apache-2.0
#include "runtime/ops/resize_axis.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "kernels/resize/resize.h"

namespace qrt {
namespace {

Status check_weights(uint32_t i, const char* name, fb::ResizeKind kind, int32_t low, int32_t high) {
  for (const int32_t w : {low, high}) {
    if (!is_float(kind)) break;
    const float real = float_of(static_cast<uint32_t>(w));
    QRT_MODEL_CHECK(real >= 0.0f && real <= 1.0f, "weight %u of %s is %g, expected 0 to 1", i, name,
                    static_cast<double>(real));
  }
  if (is_float(kind)) return Status();
  if (kind == fb::ResizeKind::INT16_SUM) {
    QRT_MODEL_CHECK(low >= 0 && high >= 0 && int64_t{low} + high <= kMaxFineResizeWeight,
                    "weights %u of %s are %d and %d, expected 0 or more, at most %d together", i,
                    name, low, high, kMaxFineResizeWeight);
    return Status();
  }
  QRT_MODEL_CHECK(std::abs(int64_t{low}) + std::abs(int64_t{high}) <= kMaxResizeWeight,
                  "weights %u of %s are %d and %d, expected at most %d together", i, name, low,
                  high, kMaxResizeWeight);
  return Status();
}

}  // namespace

ResizeTable resize_table(const InferContext& context, uint32_t index) {
  if (const auto* t = context.fields() != nullptr ? context.fields()->table(index) : nullptr)
    return {t->low.data(), t->high.data(), t->low_weight.data(), t->high_weight.data(),
            t->low.size()};
  const auto* o = context.op->options_as_ResizeLinear();
  const fb::ResizeAxis* axis = index == 0 ? o->h() : index == 1 ? o->w() : o->d();
  if (axis == nullptr) return {};
  return {axis->low()->data(), axis->high()->data(), axis->low_weight()->data(),
          axis->high_weight()->data(), axis->low()->size()};
}

Status check_resize_axis(const InferContext& context, uint32_t index, int64_t size, int64_t* out) {
  const auto* o = context.op->options_as_ResizeLinear();
  const fb::ResizeAxis* axis = index == 0 ? o->h() : index == 1 ? o->w() : o->d();
  const char* name = index == 0 ? "h" : index == 1 ? "w" : "d";
  QRT_MODEL_CHECK(axis != nullptr, "%s is missing", name);
  const auto count = [](const auto* v) { return v ? v->size() : 0; };
  const uint32_t stored = count(axis->low());
  QRT_MODEL_CHECK(stored > 0 && count(axis->high()) == stored &&
                      count(axis->low_weight()) == stored && count(axis->high_weight()) == stored,
                  "%s has %u and %u indices and %u and %u weights, expected as many of each", name,
                  stored, count(axis->high()), count(axis->low_weight()),
                  count(axis->high_weight()));
  const ResizeTable table = resize_table(context, index);
  for (uint32_t i = 0; i < table.size; ++i) {
    for (const int32_t at : {table.low[i], table.high[i]})
      QRT_MODEL_CHECK(at >= 0 && at < size, "index %u of %s is %d, expected 0 to %lld", i, name, at,
                      static_cast<long long>(size - 1));
    QRT_TRY(check_weights(i, name, o->kind(), table.low_weight[i], table.high_weight[i]));
  }
  *out = static_cast<int64_t>(table.size);
  return Status();
}

float greatest_weight(const ResizeTable& axis) {
  const float* low = weights_of<float>(axis.low_weight);
  const float* high = weights_of<float>(axis.high_weight);
  float most = 0;
  for (size_t i = 0; i < axis.size; ++i) most = std::max(most, low[i] + high[i]);
  return most;
}

double unit_of(const ResizeTable& axis) {
  constexpr int kBits = 24;
  double unit = 1;
  for (const int32_t* weights : {axis.low_weight, axis.high_weight})
    for (size_t i = 0; i < axis.size; ++i) {
      int exponent;
      const float part = std::frexp(weights_of<float>(weights)[i], &exponent);
      const auto bits = static_cast<int32_t>(std::ldexp(part, kBits));
      if (bits != 0) unit = std::min(unit, std::ldexp(bits & -bits, exponent - kBits));
    }
  return unit;
}

}  // namespace qrt
