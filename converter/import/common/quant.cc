// SPDX-License-Identifier: Apache-2.0
#include "converter/import/common/quant.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace qrt::convert {

bool operator==(const Quant& a, const Quant& b) {
  return a.type == b.type && a.axis == b.axis && a.zero_point == b.zero_point &&
         a.scale.size() == b.scale.size() &&
         memcmp(a.scale.data(), b.scale.data(), a.scale.size() * sizeof(float)) == 0;
}

Quant tensor_quant(DType type, float scale, int32_t zero_point) {
  Quant q;
  q.type = type;
  q.scale = {scale};
  q.zero_point = {zero_point};
  return q;
}

Limits Limits::of(const Quant& q) {
  return {q.first_code(), q.first_code() + static_cast<int>(q.codes()) - 1};
}

Limits Limits::of_source(const Quant& q) {
  if (q.type == DType::kInt32)
    return {std::numeric_limits<int>::min(), std::numeric_limits<int>::max()};
  const Limits stored = of(q);
  return {stored.lo - q.offset(), stored.hi - q.offset()};
}

Quantization quantization_of(const std::vector<float>& scale, std::vector<int32_t> zero_point,
                             int axis) {
  for (float s : scale)
    if (!std::isfinite(s) || !(s > 0.0f)) return Quantization();
  return {scale, std::move(zero_point), axis};
}

Quantization stored_quantization(const Quant& quant) {
  std::vector<int32_t> zero_points;
  for (size_t i = 0; i < quant.zero_point.size(); ++i)
    zero_points.push_back(quant.stored_zero_point(i));
  return quantization_of(quant.scale, std::move(zero_points), quant.axis);
}

bool same(const Quantization& a, const Quantization& b) {
  return a.scale == b.scale && a.zero_point == b.zero_point && a.axis == b.axis;
}

uint32_t float_bits(float f) {
  uint32_t bits;
  memcpy(&bits, &f, sizeof(bits));
  return bits;
}

bool broadcast(const Shape& a, const Shape& b, Shape* result) {
  *result = Shape();
  const int rank = std::max(a.rank(), b.rank());
  for (int i = 0; i < rank; ++i) {
    const int at_a = i - (rank - a.rank()), at_b = i - (rank - b.rank());
    const int64_t da = at_a < 0 ? 1 : a[at_a], db = at_b < 0 ? 1 : b[at_b];
    if (da != db && da != 1 && db != 1) return false;
    result->push_back(da == 1 ? db : da);
  }
  return true;
}

}  // namespace qrt::convert
