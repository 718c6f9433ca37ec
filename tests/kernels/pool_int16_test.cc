// Pools of int16 images against loops written from pool_int16.h.
#include "kernels/pool/pool_int16.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "tests/support/guarded.h"
#include "tests/support/int_stages.h"
#include "tests/support/random.h"

namespace qrt {
namespace {

using testing::Guarded;
using testing::IntStages;
using testing::make_stages;
using testing::Random;

TEST(PoolInt16, EqualTheLoops) {
  Random random;
  for (size_t c : std::initializer_list<size_t>{1, 63, 64, 65, 130}) {
    PoolShape s{7, 6, c, 4, 3, 3, 2, 2, 2, 1, 1, 1, 0};
    Guarded<int16_t> x(s.in_h * s.in_w * c), max(s.out_h * s.out_w * c),
        mean(s.out_h * s.out_w * c), sum(c);
    random.fill(x, INT16_MIN, INT16_MAX);
    PoolInt16Args args{s, -20000, 20000, x.data(), max.data(), 0, s.out_h};
    max_pool_int16(args);
    args.output = mean.data();
    average_pool_int16(args);
    for (size_t i = 0; i < s.out_h * s.out_w; ++i) {
      for (size_t k = 0; k < c; ++k) {
        int64_t greatest = INT16_MIN, total = 0, count = 0;
        for (size_t t = 0; t < s.kernel_h * s.kernel_w; ++t) {
          const size_t y = i / s.out_w * 2 + t / s.kernel_w - s.pad_top;
          const size_t col = i % s.out_w * 2 + t % s.kernel_w;
          if (y >= s.in_h || col >= s.in_w) continue;
          const int64_t v = x[(y * s.in_w + col) * c + k];
          greatest = std::max(greatest, v);
          total += v;
          ++count;
        }
        ASSERT_EQ(max[i * c + k], greatest);
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
}  // namespace qrt
