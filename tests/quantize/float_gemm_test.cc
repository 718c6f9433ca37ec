// SPDX-License-Identifier: Apache-2.0
// Every kernel of the float product gives the bytes of its definition, on shapes that leave rests.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "converter/quantize/float/gemm.h"
#include "tests/support/random.h"

namespace qrt::quantize::float_gemm_test {
namespace {

using testing::Random;

// Computes gemm.h's definition, element by element.
float sum_of(const float* a, size_t a_step, const float* b, size_t b_step, size_t k, float start) {
  float total = start;
  for (size_t k0 = 0; k0 < k; k0 += kSumBlock) {
    float s = 0;
    for (size_t i = k0; i < std::min(k, k0 + kSumBlock); ++i)
      s = std::fma(a[i * a_step], b[i * b_step], s);
    total = total + s;
  }
  return total;
}

std::vector<float> random_floats(size_t n, Random* random) {
  std::vector<float> v(n);
  for (float& f : v) f = std::ldexp(random->real(-1, 1), static_cast<int>(random->integer(-9, 9)));
  return v;
}

bool same_bytes(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

std::vector<const GemmKernel*> usable() {
  size_t count;
  const GemmKernel* all = gemm_kernels(&count);
  std::vector<const GemmKernel*> kernels;
  for (size_t i = 0; i < count; ++i)
    if (has(detected_isas(), all[i].isa)) kernels.push_back(&all[i]);
  return kernels;
}

TEST(FloatGemm, EveryKernelGivesTheDefinitionsBytes) {
  Random random;
  struct {
    size_t rows, k, n;
  } shapes[] = {{1, 1, 1}, {8, 16, 48}, {7, 3, 17}, {9, 256, 49}, {17, 257, 33}, {24, 600, 100}};
  for (const auto& s : shapes) {
    const auto a = random_floats(s.rows * s.k, &random), b = random_floats(s.k * s.n, &random);
    const auto start = random_floats(s.rows * s.n, &random);
    std::vector<float> want(start);
    for (size_t r = 0; r < s.rows; ++r)
      for (size_t j = 0; j < s.n; ++j)
        want[r * s.n + j] = sum_of(&a[r * s.k], 1, &b[j], s.n, s.k, start[r * s.n + j]);
    std::vector<float> rows(row_panels(s.rows) * kTileRows * s.k);
    std::vector<float> columns(column_panels(s.n) * kPanel * s.k);
    pack_rows(a.data(), s.k, 1, s.rows, s.k, rows.data());
    pack_columns(b.data(), s.n, 1, s.k, s.n, columns.data());
    for (const GemmKernel* kernel : usable()) {
      std::vector<float> got(start);
      multiply(*kernel, rows.data(), s.rows, columns.data(), s.n, s.k, nullptr, got.data(), s.n);
      EXPECT_TRUE(same_bytes(got, want))
          << kernel->name << " " << s.rows << "x" << s.k << "x" << s.n;
      // Rows that start with one number each have the same sums, whatever y held.
      std::vector<float> firsts(s.rows), of_rows;
      for (size_t r = 0; r < s.rows; ++r) {
        firsts[r] = start[r * s.n];
        for (size_t j = 0; j < s.n; ++j)
          of_rows.push_back(sum_of(&a[r * s.k], 1, &b[j], s.n, s.k, firsts[r]));
      }
      multiply(*kernel, rows.data(), s.rows, columns.data(), s.n, s.k, firsts.data(), got.data(),
               s.n);
      EXPECT_TRUE(same_bytes(got, of_rows))
          << kernel->name << " " << s.rows << "x" << s.k << "x" << s.n;
    }
  }
}

// Transposed operands are packed right: those that Gemm reads with transB.
TEST(FloatGemm, PacksTransposedOperands) {
  Random random;
  constexpr size_t kRows = 5, kK = 40, kN = 21;
  const auto a = random_floats(kRows * kK, &random), b = random_floats(kN * kK, &random);
  std::vector<float> rows(row_panels(kRows) * kTileRows * kK);
  std::vector<float> columns(column_panels(kN) * kPanel * kK), got(kRows * kN, 0.0f);
  pack_rows(a.data(), 1, kRows, kRows, kK, rows.data());  // a is [k, rows]
  pack_columns(b.data(), 1, kK, kK, kN, columns.data());  // b is [n, k]
  multiply(*select_gemm(detected_isas()), rows.data(), kRows, columns.data(), kN, kK, nullptr,
           got.data(), kN);
  for (size_t r = 0; r < kRows; ++r)
    for (size_t j = 0; j < kN; ++j)
      EXPECT_EQ(got[r * kN + j], sum_of(&a[r], kRows, &b[j * kK], 1, kK, 0.0f));
}

TEST(FloatGemm, CorrelationsGiveTheDefinitionsBytes) {
  Random random;
  const auto x = random_floats(400, &random), w = random_floats(25, &random);
  std::vector<ptrdiff_t> offsets;
  for (size_t t = 0; t < w.size(); ++t) offsets.push_back(random.integer(0, 200));
  for (size_t n : {1, 15, 16, 17, 64, 65, 130})
    for (const GemmKernel* kernel : usable()) {
      std::vector<float> got(n + kPanel);
      kernel->correlate(x.data(), offsets.data(), w.data(), w.size(), 0.25f, got.data(), n);
      for (size_t i = 0; i < n; ++i) {
        float s = 0;
        for (size_t t = 0; t < w.size(); ++t)
          s = std::fma(w[t], x[static_cast<size_t>(offsets[t]) + i], s);
        ASSERT_EQ(got[i], 0.25f + s) << kernel->name << " n " << n << " element " << i;
      }
    }
}

}  // namespace
}  // namespace qrt::quantize::float_gemm_test
