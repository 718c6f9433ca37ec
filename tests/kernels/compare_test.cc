// SPDX-License-Identifier: Apache-2.0
// Minima, maxima and their indices against loops, for every element type, with guard pages.
#include "kernels/compare/compare.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "tests/support/guarded.h"
#include "tests/support/kernel_rows.h"
#include "tests/support/random.h"

namespace qrt::compare_test {
namespace {

using testing::Guarded;
using testing::Random;

// Fills with few values, so that many are equal, and with the type's limits.
template <class T>
void fill(Random& random, Guarded<T>& values) {
  for (T& v : values) {
    const int64_t r = random.integer(0, 9);
    v = r == 0   ? std::numeric_limits<T>::min()
        : r == 1 ? std::numeric_limits<T>::max()
                 : static_cast<T>(r - 5);
  }
}

template <class T>
void check_min_max(const MinMaxKernel& kernel, DType element) {
  Random random;
  SCOPED_TRACE(random.trace());
  for (const size_t n : {1, 2, 15, 16, 17, 31, 64, 101, 300}) {
    for (const bool maximum : {false, true}) {
      for (int scalars = 0; scalars < 4; ++scalars) {
        const bool a_is_scalar = scalars & 1, b_is_scalar = scalars & 2;
        Guarded<T> a(a_is_scalar ? 1 : n), b(b_is_scalar ? 1 : n), y(n);
        fill(random, a);
        fill(random, b);
        (maximum ? kernel.maximum : kernel.minimum)(
            element, {a.data(), b.data(), a_is_scalar, b_is_scalar, y.data(), n});
        for (size_t i = 0; i < n; ++i) {
          const T u = a[a_is_scalar ? 0 : i], v = b[b_is_scalar ? 0 : i];
          ASSERT_EQ(y[i], maximum ? std::max(u, v) : std::min(u, v)) << n << ", " << i;
        }
      }
    }
  }
}

template <class T>
void check_arg_max(DType element) {
  Random random;
  SCOPED_TRACE(random.trace());
  for (const size_t outer : {1, 3}) {
    for (const size_t n : {1, 2, 7, 130}) {
      for (const size_t inner : {1, 5, 63, 64, 65, 129}) {
        Guarded<T> x(outer * n * inner);
        fill(random, x);
        for (int flags = 0; flags < 8; ++flags) {
          const bool minimum = flags & 1, last = flags & 2, wide = flags & 4;
          Guarded<int32_t> narrow_y(wide ? 1 : outer * inner);
          Guarded<int64_t> int64_y(wide ? outer * inner : 1);
          void* y = wide ? static_cast<void*>(int64_y.data()) : narrow_y.data();
          arg_max_kernel(element)({x.data(), outer, n, inner, minimum, last, wide, y});
          for (size_t o = 0; o < outer; ++o) {
            for (size_t i = 0; i < inner; ++i) {
              size_t best = 0;
              for (size_t k = 1; k < n; ++k) {
                const T v = x[(o * n + k) * inner + i], b = x[(o * n + best) * inner + i];
                if ((minimum ? v < b : v > b) || (last && v == b)) best = k;
              }
              const size_t at = o * inner + i;
              ASSERT_EQ(wide ? int64_y[at] : narrow_y[at], static_cast<int64_t>(best))
                  << outer << " x " << n << " x " << inner << ", flags " << flags;
            }
          }
        }
      }
    }
  }
}

TEST(Order, LesserAndGreaterElementsOfEveryRow) {
  for (const MinMaxKernel& row : testing::rows_of_this_cpu(min_max_kernels)) {
    SCOPED_TRACE(row.minimum_name);
    check_min_max<uint8_t>(row, DType::kUInt8);
    check_min_max<int8_t>(row, DType::kInt8);
    check_min_max<uint16_t>(row, DType::kUInt16);
    check_min_max<int16_t>(row, DType::kInt16);
    check_min_max<int32_t>(row, DType::kInt32);
    check_min_max<int64_t>(row, DType::kInt64);
  }
}

TEST(Order, TakesTheFirstRowAllowed) {
  size_t count;
  const MinMaxKernel* rows = min_max_kernels(&count);
  for (size_t i = 0; i < count; ++i)
    EXPECT_EQ(select_min_max(capped(~0u, rows[i].isa))->maximum_name, rows[i].maximum_name);
}

TEST(Order, IndicesOfExtremes) {
  check_arg_max<uint8_t>(DType::kUInt8);
  check_arg_max<int8_t>(DType::kInt8);
  check_arg_max<uint16_t>(DType::kUInt16);
  check_arg_max<int16_t>(DType::kInt16);
  check_arg_max<int32_t>(DType::kInt32);
  check_arg_max<int64_t>(DType::kInt64);
}

}  // namespace
}  // namespace qrt::compare_test
