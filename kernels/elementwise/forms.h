// SPDX-License-Identifier: Apache-2.0
// Cheaper forms of add and mul of bytes, for steps where they give the same byte for every pair of
// operands, and kernels that run them. Rows as in rows.h: inputs and output may overlap only where
// an input equals the output exactly; exactly n bytes of each row are read and stored.
#ifndef QRT_KERNELS_ELEMENTWISE_FORMS_H_
#define QRT_KERNELS_ELEMENTWISE_FORMS_H_

#include "kernels/elementwise/elementwise.h"
#include "kernels/elementwise/rows.h"

namespace qrt {

// A sum by tables. In y = clamp(nearest(f(a) + g(b)), lo, hi), the integers below f(a) + 1/2 and g(b)
// make y or y - 1, depending on whether their fractions reach 1 together. For that the order of
// fractions is enough: the fraction of b is the limit(b)-th of 256 from the greatest on, and rank(a)
// says how many of these reach 1 with the fraction of a. All are bytes:
//   y = clamp(saturate(base[a] + (limit[b] < rank[a]) + change), lo, hi)
// where change is -steps[b] for b < first_up and +steps[b] else. Either operand may be a.
struct alignas(64) SumTables {
  uint8_t base[256], rank[256];
  uint8_t steps[256], limit[256];
  int32_t first_up;  // 0..256
  uint8_t lo, hi;
  bool base_is_a;  // else the first operand is b of the formula
};

inline int32_t sum_by_tables(const SumTables& t, uint8_t first, uint8_t second) {
  const uint8_t a = t.base_is_a ? first : second, b = t.base_is_a ? second : first;
  const int32_t v = t.base[a] + (t.limit[b] < t.rank[a] ? 1 : 0);
  const int64_t y = clamp_int(b < t.first_up ? v - t.steps[b] : v + t.steps[b], 0, 255);
  return static_cast<int32_t>(clamp_int(y, t.lo, t.hi));
}

// A product in float32 that is rounded once, to an integer in the low bits of a sum: where an operand
// or its row is the same for many (is_beside_a_row()),
//   v = fma(a - a_zero_point, fl32((b - b_zero_point) * scale), addend)
// else
//   v = fma((a - a_zero_point) * (b - b_zero_point), scale, addend)
// with an addend that is 1.5 * 2^23 plus what the output adds.
struct ScaledProduct {
  int32_t a_zero_point, b_zero_point;
  float scale, addend;
  uint8_t lo, hi;
};

// Kernels: null functions where no instruction set has one.
struct SumTablesKernel {
  const char* name;
  Isa isa;
  // Find tables that give the sums of add_f32(), or add_int(), for every pair. Return false where
  // there are none (a step of either operand does not fit a byte, or ties round both up and down),
  // or where the search would take long.
  bool (*make)(const AddParams& params, SumTables* tables);
  bool (*make_int)(const AddIntParams& params, SumTables* tables);
  void (*run)(const SumTables& tables, const Rows& rows);
};

struct ScaledProductKernel {
  const char* name;
  Isa isa;
  void (*run)(const ScaledProduct& product, const Rows& rows);
};

const SumTablesKernel* select_sum_tables(IsaSet isas);
const ScaledProductKernel* select_scaled_product(IsaSet isas);

}  // namespace qrt

#endif  // QRT_KERNELS_ELEMENTWISE_FORMS_H_
