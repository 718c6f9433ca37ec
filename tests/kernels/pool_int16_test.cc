// SPDX-License-Identifier: Apache-2.0
// Pools of int16 images against loops written from pool_int16.h.
#include "kernels/pool/pool_int16.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "tests/support/guarded.h"
#include "tests/support/int_stages.h"
#include "tests/support/kernel_rows.h"
#include "tests/support/random.h"

namespace qrt::pool_int16_test {
namespace {

using testing::Guarded;
using testing::IntStages;
using testing::make_stages;
using testing::Random;

// Windows that reach over every edge; the forms of small and of large kernels.
constexpr PoolShape kMaxShapes[] = {
    {{7, 6, 4, 3, 3, 2, 2, 2, 1, 1, 1, 0}, 0},     {{9, 11, 5, 6, 3, 3, 2, 2, 1, 1, 1, 1}, 0},
    {{8, 7, 8, 7, 5, 5, 1, 1, 1, 1, 2, 2}, 0},     {{9, 9, 3, 4, 3, 2, 2, 2, 2, 2, 0, 1}, 0},
    {{3, 300, 3, 300, 3, 3, 1, 1, 1, 1, 1, 1}, 0}, {{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0}, 0}};

TEST(PoolInt16, EveryRowsMaximaEqualTheLoop) {
  Random random;
  for (const PoolKernel& row : testing::rows_of_this_cpu(pool_kernels)) {
    SCOPED_TRACE(row.name_int16);
    for (PoolShape s : kMaxShapes) {
      for (size_t c : {1, 7, 8, 15, 16, 17, 31, 32, 33, 64, 65, 96, 130}) {
        s.c = c;
        Guarded<int16_t> x(s.in_h * s.in_w * c, 64), y(s.out_h * s.out_w * c);
        // The lowest values, too: where padding reaches in, they are the greatest.
        random.fill(x, INT16_MIN, c % 2 == 0 ? INT16_MIN + 1 : INT16_MAX);
        const size_t first = s.out_h / 3;
        const int16_t before = y[0];
        row.max_int16({s, 0, 0, x.data(), y.data(), first, s.out_h});
        ASSERT_TRUE(first == 0 || y[0] == before);
        row.max_int16({s, 0, 0, x.data(), y.data(), 0, first});
        for (size_t i = 0; i < s.out_h * s.out_w; ++i) {
          for (size_t k = 0; k < c; ++k) {
            int16_t greatest = INT16_MIN;
            for (size_t t = 0; t < s.kernel_h * s.kernel_w; ++t) {
              const size_t in_y =
                  i / s.out_w * s.stride_h + t / s.kernel_w * s.dilation_h - s.pad_top;
              const size_t in_x =
                  i % s.out_w * s.stride_w + t % s.kernel_w * s.dilation_w - s.pad_left;
              if (in_y < s.in_h && in_x < s.in_w)
                greatest = std::max(greatest, x[(in_y * s.in_w + in_x) * c + k]);
            }
            ASSERT_EQ(y[i * c + k], greatest) << "channels " << c << ", output " << i << ", " << k;
          }
        }
      }
    }
  }
}

TEST(PoolInt16, EqualTheLoops) {
  Random random;
  for (size_t c : std::initializer_list<size_t>{1, 63, 64, 65, 130}) {
    PoolShape s{{7, 6, 4, 3, 3, 2, 2, 2, 1, 1, 1, 0}, c};
    Guarded<int16_t> x(s.in_h * s.in_w * c), mean(s.out_h * s.out_w * c), sum(c);
    random.fill(x, INT16_MIN, INT16_MAX);
    average_pool_int16({s, -20000, 20000, x.data(), mean.data(), 0, s.out_h});
    for (size_t i = 0; i < s.out_h * s.out_w; ++i) {
      for (size_t k = 0; k < c; ++k) {
        int64_t total = 0, count = 0;
        for (size_t t = 0; t < s.kernel_h * s.kernel_w; ++t) {
          const size_t y = i / s.out_w * 2 + t / s.kernel_w - s.pad_top;
          const size_t col = i % s.out_w * 2 + t % s.kernel_w;
          if (y >= s.in_h || col >= s.in_w) continue;
          const int64_t v = x[(y * s.in_w + col) * c + k];
          total += v;
          ++count;
        }
        const int64_t average = (2 * std::abs(total) + count) / (2 * count);
        ASSERT_EQ(mean[i * c + k],
                  std::clamp<int64_t>(total < 0 ? -average : average, -20000, 20000));
      }
    }
    IntStages stages;
    make_stages(random, 0, true, 2, Round::kHalfUp, &stages);
    global_sum_int16({x.data(), s.in_h * s.in_w, c, 5, stages.requant, sum.data()});
    for (size_t k = 0; k < c; ++k) {
      int64_t total = 0;
      for (size_t i = 0; i < s.in_h * s.in_w; ++i) total += x[i * c + k] - 5;
      ASSERT_EQ(sum[k], stages.apply(total, 0));
    }
  }
}

}  // namespace
}  // namespace qrt::pool_int16_test
