// SPDX-License-Identifier: Apache-2.0
// Every kernel of pack_activations.h against gemm_pack() of the summands it stands for, some blocks at a
// time, with guard pages.
#include "kernels/gemm/pack_activations.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "kernels/gemm/pack.h"
#include "tests/support/guarded.h"
#include "tests/support/kernel_rows.h"
#include "tests/support/random.h"

namespace qrt::pack_activations_test {
namespace {

using testing::Guarded;
using testing::Random;

// Calls f(kernel) for every row this CPU can run.
template <class F>
void for_kernels(const F& f) {
  for (const auto& row : testing::rows_of_this_cpu(pack_activations_kernels)) {
    SCOPED_TRACE(row.name);
    f(row.fn);
  }
}

void check(Random& random, size_t k, size_t n, bool transposed, int32_t zero_point) {
  SCOPED_TRACE(std::to_string(k) + " x " + std::to_string(n) + ", zero point " +
               std::to_string(zero_point) + (transposed ? ", transposed" : ""));
  Guarded<uint8_t> b(k * n);
  random.fill(b, 0, 255);
  const size_t tail = activation_tail_bytes(k, zero_point), kc = (k + 3) / 4 * 4 + tail;
  ASSERT_EQ(tail % 4, 0u);
  ASSERT_EQ(tail == 0, zero_point == 128);
  const int sign = zero_point < 128 ? 1 : -1;
  std::vector<int8_t> weights(n * kc, 0);
  const size_t padded = (n + 15) / 16 * 16;
  const uint32_t factor = 0u - 77, addend = 123456789;
  std::vector<uint32_t> sums(n, 0);
  std::vector<int32_t> biases(n);
  for (size_t j = 0; j < n; ++j) {
    for (size_t i = 0; i < k; ++i) {
      const int byte = b[transposed ? j * k + i : i * n + j];
      sums[j] += static_cast<uint32_t>(byte - zero_point);
      weights[j * kc + i] = static_cast<int8_t>(byte - 128);
    }
    for (size_t i = 0; i < tail; ++i)
      weights[j * kc + kc - tail + i] = static_cast<int8_t>(i == 0 ? sign : 127 * sign);
    const uint32_t total = static_cast<uint32_t>(
        std::accumulate(weights.begin() + static_cast<ptrdiff_t>(j * kc),
                        weights.begin() + static_cast<ptrdiff_t>((j + 1) * kc), 0));
    ASSERT_EQ(total, sums[j] + activation_excess(k, zero_point));
    biases[j] = static_cast<int32_t>(factor * sums[j] + addend);
  }
  std::vector<int8_t> expected(gemm_packed_bytes(n, 1, kc));
  gemm_pack(weights.data(), n, 1, kc, expected.data());
  for_kernels([&](PackActivationsFn pack) {
    for (const size_t step : {size_t{32}, size_t{80}, n}) {
      Guarded<int8_t> packed(expected.size());
      Guarded<int32_t> bias(padded);
      std::fill(packed.begin(), packed.end(), int8_t{77});
      for (size_t begin = 0; begin < n; begin += step)
        pack({b.data(), transposed ? k : n, k, transposed, zero_point, packed.data(), factor,
              addend, bias.data()},
             begin, std::min(begin + step, n));
      ASSERT_EQ(std::vector<int8_t>(packed.begin(), packed.end()), expected);
      ASSERT_EQ(std::vector<int32_t>(bias.begin(), bias.begin() + n), biases);
    }
  });
}

TEST(PackActivations, WritesTheSummandsAndTheirSums) {
  Random random;
  SCOPED_TRACE(random.trace());
  for (const size_t k : {1, 2, 3, 4, 5, 8, 15, 16, 17, 31, 64})
    for (const size_t n : {1, 4, 7, 8, 9, 15, 16, 17, 32, 33, 49, 64, 67, 129})
      for (const int32_t zero_point : {0, 1, 77, 127, 128, 129, 255})
        for (const bool transposed : {false, true}) check(random, k, n, transposed, zero_point);
}

TEST(PackActivations, SumsUpLongColumnsOfTheGreatestBytes) {
  for (const size_t k : {508, 512, 516, 1024, 4099})
    for (const bool transposed : {false, true}) {
      const size_t n = 18;
      const std::vector<uint8_t> b(k * n, 255);
      for_kernels([&](PackActivationsFn pack) {
        std::vector<int8_t> packed(gemm_packed_bytes(n, 1, (k + 3) / 4 * 4));
        std::vector<int32_t> bias(32);
        pack({b.data(), transposed ? k : n, k, transposed, 128, packed.data(), 1, 0, bias.data()},
             0, n);
        for (size_t j = 0; j < n; ++j) ASSERT_EQ(bias[j], static_cast<int32_t>(k * 127));
      });
    }
}

// A row times the tail's weights is what the packed bytes leave out.
TEST(PackActivations, TailsHoldTheSumsOfTheirRows) {
  Random random;
  SCOPED_TRACE(random.trace());
  const size_t rows = 3;
  for (const size_t k : {1, 3, 4, 17, 64, 1000, 33025})
    for (const int32_t zero_point : {0, 1, 77, 127, 129, 200, 255})
      for (const int least : {0, 255}) {
        SCOPED_TRACE(std::to_string(k) + ", zero point " + std::to_string(zero_point));
        Guarded<uint8_t> a(rows * k);
        random.fill(a, least, 255);
        const size_t tail = activation_tail_bytes(k, zero_point), kc = (k + 3) / 4 * 4 + tail;
        Guarded<uint8_t> y(rows * kc);
        append_activation_tails(a.data(), k, rows, k, zero_point, y.data());
        for (size_t row = 0; row < rows; ++row) {
          const uint8_t *from = a.data() + row * k, *to = y.data() + row * kc;
          ASSERT_TRUE(std::equal(from, from + k, to));
          for (size_t i = k; i < kc - tail; ++i) ASSERT_EQ(to[i], 0);
          const int64_t sum = std::accumulate(from, from + k, int64_t{0});
          int64_t held = to[kc - tail];
          for (size_t i = 1; i < tail; ++i) held += 127 * to[kc - tail + i];
          ASSERT_EQ(zero_point < 128 ? held : -held, (128 - zero_point) * sum);
        }
      }
}

}  // namespace
}  // namespace qrt::pack_activations_test
