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

Status check_resize_axis(const fb::ResizeAxis* axis, const char* name, int64_t size,
                         fb::ResizeKind kind, int64_t* out) {
  QRT_MODEL_CHECK(axis != nullptr, "%s is missing", name);
  const auto count = [](const auto* v) { return v ? v->size() : 0; };
  const uint32_t n = count(axis->low());
  QRT_MODEL_CHECK(n > 0 && count(axis->high()) == n && count(axis->low_weight()) == n &&
                      count(axis->high_weight()) == n,
                  "%s has %u and %u indices and %u and %u weights, expected as many of each", name,
                  n, count(axis->high()), count(axis->low_weight()), count(axis->high_weight()));
  for (uint32_t i = 0; i < n; ++i) {
    for (const int32_t index : {axis->low()->Get(i), axis->high()->Get(i)})
      QRT_MODEL_CHECK(index >= 0 && index < size, "index %u of %s is %d, expected 0 to %lld", i,
                      name, index, static_cast<long long>(size - 1));
    QRT_TRY(check_weights(i, name, kind, axis->low_weight()->Get(i), axis->high_weight()->Get(i)));
  }
  *out = n;
  return Status();
}

float greatest_weight(const fb::ResizeAxis& axis) {
  const float* low = weights_of<float>(axis.low_weight());
  const float* high = weights_of<float>(axis.high_weight());
  float most = 0;
  for (uint32_t i = 0; i < axis.low()->size(); ++i) most = std::max(most, low[i] + high[i]);
  return most;
}

double unit_of(const fb::ResizeAxis& axis) {
  constexpr int kBits = 24;
  double unit = 1;
  for (const auto* weights : {axis.low_weight(), axis.high_weight()})
    for (uint32_t i = 0; i < weights->size(); ++i) {
      int exponent;
      const float part = std::frexp(weights_of<float>(weights)[i], &exponent);
      const auto bits = static_cast<int32_t>(std::ldexp(part, kBits));
      if (bits != 0) unit = std::min(unit, std::ldexp(bits & -bits, exponent - kBits));
    }
  return unit;
}

}  // namespace qrt
