// pack_activations() against gemm_pack() of the summands it stands for, block by block, with guard
// pages.
#include "kernels/gemm/pack_activations.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "kernels/gemm/pack.h"
#include "tests/support/guarded.h"
#include "tests/support/random.h"

namespace qrt {
namespace {

using testing::Guarded;
using testing::Random;

void check(Random& random, size_t k, size_t n, bool transposed, int32_t zero_point) {
  SCOPED_TRACE(std::to_string(k) + " x " + std::to_string(n) + ", zero point " +
               std::to_string(zero_point) + (transposed ? ", transposed" : ""));
  Guarded<uint8_t> b(k * n);
  random.fill(b, 0, 255);
  const size_t taps = activation_taps(zero_point);
  std::vector<int8_t> summands(n * taps * k);
  const size_t padded = (n + 15) / 16 * 16;
  std::vector<uint32_t> sums(padded, 0);
  for (size_t j = 0; j < n; ++j) {
    for (size_t i = 0; i < k; ++i) {
      int left = b[transposed ? j * k + i : i * n + j] - zero_point;
      sums[j] += static_cast<uint32_t>(left);
      for (size_t t = 0; t < taps; ++t) {
        const int part = t == 0 ? left - (128 - zero_point) : std::min(left, 127);
        summands[(j * taps + t) * k + i] = static_cast<int8_t>(part);
        left -= part;
        if (t == 0) left = 128 - zero_point;
      }
      ASSERT_EQ(left, 0);
    }
  }
  std::vector<int8_t> expected(gemm_packed_bytes(n, taps, k));
  gemm_pack(summands.data(), n, taps, k, expected.data());
  Guarded<int8_t> packed(expected.size());
  Guarded<uint32_t> sum(padded);
  std::fill(packed.begin(), packed.end(), int8_t{77});
  for (size_t begin = 0; begin < n; begin += 32)
    pack_activations({b.data(), k, n, transposed, zero_point, packed.data(), sum.data()}, begin,
                     std::min(begin + 32, n));
  ASSERT_EQ(std::vector<int8_t>(packed.begin(), packed.end()), expected);
  ASSERT_EQ(std::vector<uint32_t>(sum.begin(), sum.end()), sums);
}

TEST(PackActivations, WritesTheSummandsAndTheirSums) {
  Random random;
  SCOPED_TRACE(random.trace());
  for (const size_t k : {1, 2, 3, 4, 5, 8, 31, 64})
    for (const size_t n : {1, 4, 15, 16, 17, 32, 33, 67})
      for (const int32_t zero_point : {0, 1, 77, 127, 128, 129, 255})
        for (const bool transposed : {false, true}) check(random, k, n, transposed, zero_point);
}

}  // namespace
}  // namespace qrt
