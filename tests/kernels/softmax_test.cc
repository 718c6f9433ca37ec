// softmax_rows() against its definition in integers (kernels/soft_float.h).
#include "kernels/softmax/softmax.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "kernels/requant.h"
#include "kernels/soft_float.h"
#include "tests/support/guarded.h"
#include "tests/support/kernel_rows.h"
#include "tests/support/random.h"

namespace qrt {
namespace {

using testing::Guarded;
using testing::Random;

// ONNX Runtime's table: e_j = exp((i - 255 + b) * scale) with b so great that no sum overflows.
std::vector<float> exponentials(double scale, size_t n) {
  const double bound = std::log(std::numeric_limits<float>::max() / static_cast<float>(n)) - 5;
  std::vector<float> table(256);
  for (int i = 0; i < 256; ++i)
    table[static_cast<size_t>(i)] =
        static_cast<float>(std::exp((i - 255) * scale + std::fmax(0, bound)));
  return table;
}

void check(const SoftmaxParams& params, Random& random, size_t rows, size_t n, int64_t lo,
           int64_t hi) {
  Guarded<uint8_t> x(rows * n), y(rows * n);
  random.fill(x, lo, hi);
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
  for (const LutKernel& lut : testing::rows_of_this_cpu(lut_kernels)) {
    for (const EdgeKernel& edge : testing::rows_of_this_cpu(edge_kernels)) {
      random.fill(y, 0, 255);
      softmax_rows(params, edge, lut, x.data(), y.data(), rows, n);
      ASSERT_EQ(std::vector<uint8_t>(y.begin(), y.end()), expected)
          << rows << " x " << n << " by " << edge.name << ", " << lut.name << " " << random.trace();
    }
  }
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

// Two equal elements have probability one half: with odd k every output is a tie.
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

}  // namespace
}  // namespace qrt
