// SPDX-License-Identifier: Apache-2.0
// PairLut's look-ups against indexing, with guard pages and a table that is not aligned.
#include "kernels/lut/pair_lut.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "tests/support/guarded.h"
#include "tests/support/kernel_rows.h"
#include "tests/support/random.h"

namespace qrt::pair_lut_test {
namespace {

using testing::Guarded;
using testing::Random;

constexpr size_t kSlack = 64;  // of the contract

template <class T, class Map>
void check(const Map& map) {
  Random random;
  SCOPED_TRACE(random.trace());
  Guarded<uint8_t> table(kPairLutEntries * sizeof(T), kSlack);
  random.fill(table, 0, 255);
  for (const size_t n : {1, 2, 15, 16, 17, 31, 64, 65, 511, 512, 1000}) {
    for (int scalars = 0; scalars < 4; ++scalars) {
      const bool a_is_scalar = scalars & 1, b_is_scalar = scalars & 2;
      Guarded<uint8_t> a(a_is_scalar ? 1 : n, kSlack), b(b_is_scalar ? 1 : n, kSlack);
      Guarded<uint8_t> y(n * sizeof(T));
      random.fill(a, 0, 255);
      random.fill(b, 0, 255);
      map(table.data(), {a.data(), b.data(), a_is_scalar, b_is_scalar, y.data(), n});
      for (size_t i = 0; i < n; ++i) {
        const size_t at = size_t{256} * a[a_is_scalar ? 0 : i] + b[b_is_scalar ? 0 : i];
        ASSERT_EQ(memcmp(y.data() + i * sizeof(T), table.data() + at * sizeof(T), sizeof(T)), 0)
            << n << ", " << i;
      }
    }
  }
}

TEST(PairLut, Bytes) {
  for (const LutKernel& kernel : testing::rows_of_this_cpu(lut_kernels)) {
    SCOPED_TRACE(kernel.name);
    check<uint8_t>(
        [&](const uint8_t* table, const PairLutArgs& run) { pair_lut_u8(kernel, table, run); });
  }
}

TEST(PairLut, EveryPair) {
  std::vector<uint8_t> table(kPairLutEntries + kSlack), a(kPairLutEntries), b(kPairLutEntries),
      y(kPairLutEntries);
  for (size_t i = 0; i < kPairLutEntries; ++i) {
    table[i] = static_cast<uint8_t>(i * 2654435761u >> 11);
    a[i] = static_cast<uint8_t>(i / 256);
    b[i] = static_cast<uint8_t>(i);
  }
  for (const LutKernel& kernel : testing::rows_of_this_cpu(lut_kernels)) {
    kernel.map_pairs(table.data(), a.data(), b.data(), y.data(), kPairLutEntries);
    ASSERT_EQ(memcmp(y.data(), table.data(), kPairLutEntries), 0) << kernel.name;
  }
}

TEST(PairLut, InPlace) {
  Random random;
  SCOPED_TRACE(random.trace());
  Guarded<uint8_t> table(kPairLutEntries, kSlack);
  random.fill(table, 0, 255);
  for (const LutKernel& kernel : testing::rows_of_this_cpu(lut_kernels))
    for (const size_t n : {1, 16, 33, 600}) {
      Guarded<uint8_t> a(n, kSlack), b(n, kSlack);
      random.fill(a, 0, 255);
      random.fill(b, 0, 255);
      const std::vector<uint8_t> before(a.begin(), a.end());
      pair_lut_u8(kernel, table.data(), {a.data(), b.data(), false, false, a.data(), n});
      for (size_t i = 0; i < n; ++i)
        ASSERT_EQ(int{a[i]}, int{table[size_t{256} * before[i] + b[i]]}) << kernel.name;
    }
}

TEST(PairLut, Floats) { check<float>(pair_lut_f32); }

}  // namespace
}  // namespace qrt::pair_lut_test
