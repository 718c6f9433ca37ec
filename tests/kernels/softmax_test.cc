// SPDX-License-Identifier: Apache-2.0
// softmax_rows() against its definition in integers (kernels/soft_float.h), and the same rows by bounds
// of their sums.
#include "kernels/softmax/softmax.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "kernels/requant.h"
#include "kernels/soft_float.h"
#include "kernels/softmax/softmax_bounds.h"
#include "tests/support/guarded.h"
#include "tests/support/kernel_rows.h"
#include "tests/support/random.h"

namespace qrt::softmax_test {
namespace {

using testing::Guarded;
using testing::Random;

// Returns ONNX Runtime's table: e_j = exp((i - 255 + b) * scale) with b so great that no sum overflows.
std::vector<float> exponentials(double scale, size_t n) {
  const double bound = std::log(std::numeric_limits<float>::max() / static_cast<float>(n)) - 5;
  std::vector<float> table(256);
  for (int i = 0; i < 256; ++i)
    table[static_cast<size_t>(i)] =
        static_cast<float>(std::exp((i - 255) * scale + std::fmax(0, bound)));
  return table;
}

// Calls f(kernel, bounds) for the kernels of this CPU, if such rows have bounds. Returns how many there are.
template <class F>
int for_bounds(const SoftmaxParams& params, size_t n, const F& f) {
  int count = 0;
  for (const SoftmaxBoundsKernel& row : testing::rows_of_this_cpu(softmax_bounds_kernels)) {
    SoftmaxBounds bounds;
    const IsaSet isas = capped(detected_isas(), row.isa);
    const SoftmaxBoundsKernel* const kernel = plan_softmax_bounds(isas, params, n, &bounds);
    if (kernel == nullptr) continue;
    f(*kernel, bounds);
    ++count;
  }
  return count;
}

void check(const SoftmaxParams& params, const Guarded<uint8_t>& x, size_t rows, size_t n) {
  Guarded<uint8_t> y(rows * n);
  std::vector<uint8_t> expected(rows * n);
  for (size_t row = 0; row < rows; ++row) {
    const uint8_t* in = x.data() + row * n;
    int32_t m = 0;
    for (size_t j = 0; j < n; ++j) m = in[j] > m ? in[j] : m;
    const auto e = [&](size_t j) { return soft::bits_of(params.table[255 + in[j] - m]); };
    soft::Bits sum = 0;
    for (size_t j = 0; j < n; ++j) sum = soft::add(sum, e(j));
    for (size_t j = 0; j < n; ++j) {
      const soft::Bits v = soft::div(soft::mul(e(j), soft::bits_of(params.k)), sum);
      expected[row * n + j] =
          static_cast<uint8_t>(clamp_int(soft::to_int(v) + params.zero_point, 0, 255));
    }
  }
  const auto compare = [&](const char* name) {
    ASSERT_EQ(std::vector<uint8_t>(y.begin(), y.end()), expected)
        << rows << " x " << n << " by " << name;
    for (uint8_t& v : y) v = static_cast<uint8_t>(~v);
  };
  for (const LutKernel& lut : testing::rows_of_this_cpu(lut_kernels)) {
    for (const EdgeKernel& edge : testing::rows_of_this_cpu(edge_kernels)) {
      SCOPED_TRACE(edge.name);
      softmax_rows(params, edge, lut, x.data(), y.data(), rows, n);
      ASSERT_NO_FATAL_FAILURE(compare(lut.name));
    }
  }
  for_bounds(params, n, [&](const SoftmaxBoundsKernel& kernel, const SoftmaxBounds& bounds) {
    softmax_rows_by_bounds(kernel, bounds, params, *select_edge(detected_isas()),
                           *select_lut(detected_isas()), x.data(), y.data(), rows, n);
    ASSERT_NO_FATAL_FAILURE(compare(kernel.name));
  });
}

void check(const SoftmaxParams& params, Random& random, size_t rows, size_t n, int64_t lo,
           int64_t hi) {
  SCOPED_TRACE(random.trace());
  Guarded<uint8_t> x(rows * n, 64);
  random.fill(x, lo, hi);
  check(params, x, rows, n);
}

TEST(Softmax, EqualsItsIntegerDefinition) {
  Random random;
  for (size_t n : {1, 2, 3, 10, 31, 32, 33, 64, 65, 100, 197, 1000, 1001}) {
    for (size_t rows : {1, 2, 3, 4, 5, 8, 9}) {
      for (double scale : {0.003, 0.02, 0.1, 0.7}) {
        const std::vector<float> table = exponentials(scale, n);
        // 256 * e_j of a row of one is beyond float32: no model may have it.
        const SoftmaxParams params{
            table.data(),
            n == 1          ? 100.0f
            : random.coin() ? 256.0f
                            : 255.0f,
            static_cast<int32_t>(random.coin() ? 0 : random.integer(0, 255))};
        ASSERT_NO_FATAL_FAILURE(check(params, random, rows, n, 0, 255));
        ASSERT_NO_FATAL_FAILURE(check(params, random, rows, n, 100, 140));
      }
    }
  }
}

// Ties are rounded to even before the zero point is added: with equal exponentials each of two
// elements has probability one half, and with an odd output factor k every output is a tie.
TEST(Softmax, RoundsTiesToEvenBeforeAddingTheZeroPoint) {
  const std::vector<float> table(256, 1.0f);
  for (float k : {1.0f, 3.0f, 5.0f, 7.0f, 253.0f}) {
    for (int32_t zero_point : {0, 1, 2, 128, 255}) {
      Random random;
      ASSERT_NO_FATAL_FAILURE(check({table.data(), k, zero_point}, random, 5, 2, 0, 255));
      ASSERT_NO_FATAL_FAILURE(check({table.data(), k, zero_point}, random, 5, 6, 0, 255));
    }
  }
}

TEST(Softmax, SaturatesWhereTheScaleIsLarge) {
  std::vector<float> table = exponentials(0.05, 7);
  for (float& e : table) e *= 0x1p-40f;
  for (float k : {1000.0f, 1e6f, 2.1e9f}) {
    for (int32_t zero_point : {0, 128, 255}) {
      Random random;
      ASSERT_NO_FATAL_FAILURE(check({table.data(), k, zero_point}, random, 6, 7, 0, 255));
    }
  }
}

// Groups of rows by bounds are right: a group of 32 rows takes a table of one, two or four
// registers, by how far one of them reaches; few rows are left over.
TEST(Softmax, GroupsOfRowsByBounds) {
  Random random;
  const std::vector<float> table = exponentials(0.03, 200);
  const SoftmaxParams params{table.data(), 256.0f, 0};
  for (const int range : {0, 1, 62, 63, 64, 65, 126, 127, 128, 129, 255}) {
    for (const size_t rows : {1, 3, 31, 32, 33, 70}) {
      const size_t n = rows == 33 ? 197 : rows == 70 ? 65 : 128;
      Guarded<uint8_t> x(rows * n, 64);
      const int64_t least = random.integer(0, 255 - range);
      for (size_t r = 0; r < rows; ++r) {
        // One row in three reaches as far.
        const int64_t own = r % 3 == 0 ? range : range / 2;
        for (size_t i = 0; i < n; ++i)
          x[r * n + i] =
              static_cast<uint8_t>(least + (i == r % n         ? own
                                            : i == (r + 1) % n ? 0
                                                               : random.integer(0, own)));
      }
      ASSERT_NO_FATAL_FAILURE(check(params, x, rows, n)) << range;
      if (range < 62) continue;  // equal rows may all be ties
      for_bounds(params, n, [&](const SoftmaxBoundsKernel& kernel, const SoftmaxBounds& bounds) {
        Guarded<uint8_t> y(rows * n);
        const size_t group = rows < kBoundedRows ? rows : kBoundedRows;
        EXPECT_LE(__builtin_popcount(kernel.rows(bounds, x.data(), y.data(), group, n)), 4);
      });
    }
  }
}

// Values from some distance on are 0 in every row, and share one place in the rows' tables.
TEST(Softmax, ShowsNothingFromSomeDistanceOn) {
  Random random;
  for (const size_t shown : {1, 2, 63, 64, 65, 127, 128, 129, 191, 192, 193, 255, 256}) {
    std::vector<float> table(256, 0.0f);
    for (size_t d = 0; d < 256; ++d)
      table[255 - d] = d == 0 ? 1.0f : d < shown ? 0.75f : d % 2 == 0 ? 0.0019f : 0.0f;
    const SoftmaxParams params{table.data(), 256.0f, 7};
    for_bounds(params, 49, [&](const SoftmaxBoundsKernel&, const SoftmaxBounds& bounds) {
      EXPECT_EQ(bounds.shown, shown);
    });
    for (const size_t n : {1, 2, 49, 64, 200})
      ASSERT_NO_FATAL_FAILURE(check(params, random, 33, n, 0, 255)) << shown;
  }
}

// Bounds around ties are right: equal values whose rounded sum is as far from the exact one as it
// gets, and factors around those that make every quotient a tie. Some are between the bounds.
TEST(Softmax, BoundsAroundTies) {
  // Low bits of nearly half a unit of the greatest partial sums of 1024, and of 197.
  for (const float e : {1.0f, 0x1.0003fep0f, 0x1.000402p100f, 0x1.0000fep1f, 0x1.0p-126f}) {
    std::vector<float> table(256, e);
    for (size_t i = 0; i < 200; ++i) table[i] = e * 0x1.8p-3f;
    for (const size_t n : {2, 64, 197, 1023, 1024, 1025}) {
      Guarded<uint8_t> x(2 * n, 64);
      for (size_t i = 0; i < 2 * n; ++i)
        x[i] = static_cast<uint8_t>(i % 3 == 0 && i >= n ? 50 : 240);
      for (const double quantum : {0.5, 3.5, 254.5}) {
        const double tie = quantum * static_cast<double>(n);
        if (tie > 31000 && n < 1024) continue;
        const int step = n > 100 ? 97 : 11;
        for (int ulps = -20 * step; ulps <= 20 * step; ulps += step) {
          const float k = static_cast<float>(tie * (1 + ulps * 0x1p-24));
          const SoftmaxParams params{table.data(), k, 3};
          ASSERT_NO_FATAL_FAILURE(check(params, x, 2, n)) << e << " " << k;
        }
      }
    }
  }
}

TEST(Softmax, HasNoBoundsBeyondTheirProof) {
  std::vector<float> table(256, 1.0f);
  const auto count = [&](float k, size_t n) {
    return for_bounds({table.data(), k, 0}, n, [](const auto&, const auto&) {});
  };
  if (count(256, 10) == 0) GTEST_SKIP() << "no instruction set has a kernel";
  EXPECT_GT(count(32000, kMaxBoundedRow), 0);
  EXPECT_EQ(count(256, kMaxBoundedRow + 1), 0);
  EXPECT_EQ(count(32001, 10), 0);
  table[100] = 1.0000001f;
  EXPECT_EQ(count(256, 10), 0);
  for (float& e : table) e = 3e37f;
  EXPECT_EQ(count(1, 11), 0);
  EXPECT_GT(count(1, 9), 0);
}

}  // namespace
}  // namespace qrt::softmax_test
