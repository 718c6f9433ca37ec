// SPDX-License-Identifier: Apache-2.0
// Every row of the nbits family against nbits_seq.h, whose values are pinned here, and against sums of fused products
// block by block: all bits, blocks, tails, splits of the rows; infinities, NaN, ties; guard pages.
#include "kernels/nbits/nbits.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "kernels/nbits_seq.h"
#include "tests/support/guarded.h"
#include "tests/support/random.h"

namespace qrt::nbits_test {
namespace {

using testing::Guarded;
using testing::Random;

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

std::vector<const NBitsKernel*> kernels() {
  size_t count;
  const NBitsKernel* rows = nbits_kernels(&count);
  std::vector<const NBitsKernel*> all;
  for (size_t i = 0; i < count; ++i)
    if (has(detected_isas(), rows[i].isa)) all.push_back(&rows[i]);
  return all;
}

struct Case {
  size_t bits, block, k, n, rows;
  bool has_zero_points, has_bias;
};

size_t ceiling(size_t a, size_t b) { return (a + b - 1) / b; }

class Product {
 public:
  Product(const Case& c, Random* random)
      : blocks_(ceiling(c.k, c.block)),
        panels_(ceiling(c.n, kNBitsPanel)),
        codes_(panels_ * blocks_ * 2 * c.block * c.bits),
        zero_points_(panels_ * blocks_ * kNBitsPanel),
        scales_(zero_points_.size()),
        bias_(c.n),
        x_(c.rows * c.k),
        rows_(c.rows) {
    for (uint8_t& v : codes_) v = static_cast<uint8_t>(random->integer(0, 255));
    for (uint8_t& v : zero_points_) v = static_cast<uint8_t>(random->integer(0, 255));
    for (float& v : scales_) v = random->real(-0.1f, 0.1f);
    for (float& v : bias_) v = random->real(-4, 4);
    for (float& v : x_) v = random->real(-8, 8);
    w = {c.bits,
         c.block,
         blocks_,
         c.k,
         c.n,
         codes_.data(),
         scales_.data(),
         c.has_zero_points ? zero_points_.data() : nullptr,
         c.has_bias ? bias_.data() : nullptr};
  }

  std::vector<float> expected() const {
    std::vector<float> y(rows_ * w.n);
    std::vector<int8_t> q(w.k);
    for (size_t r = 0; r < rows_; ++r) {
      std::vector<NBitsBlock> made(blocks_);
      for (size_t b = 0; b < blocks_; ++b)
        made[b] = nbits_quantize(x_.data() + r * w.k + b * w.block, end(b) - b * w.block,
                                 q.data() + b * w.block);
      for (size_t o = 0; o < w.n; ++o) {
        float acc = 0;
        for (size_t b = 0; b < blocks_; ++b) {
          int32_t dot = 0;
          for (size_t k = b * w.block; k < end(b); ++k) dot += q[k] * nbits_weight(w, o, k);
          dot -= nbits_zero_point(w, o, b) * made[b].sum;
          acc = nbits_add(acc, dot, made[b].scale, nbits_scale(w, o, b));
        }
        y[r * w.n + o] = nbits_end(acc, w.bias != nullptr ? w.bias + o : nullptr);
      }
    }
    return y;
  }

  std::vector<float> expected_in_float() const {
    std::vector<float> y(rows_ * w.n);
    for (size_t r = 0; r < rows_; ++r)
      for (size_t o = 0; o < w.n; ++o) {
        float acc = 0;
        for (size_t b = 0; b < blocks_; ++b) {
          float sum = 0;
          for (size_t k = b * w.block; k < end(b); ++k) {
            const float real =
                static_cast<float>(nbits_weight(w, o, k) - nbits_zero_point(w, o, b)) *
                nbits_scale(w, o, b);
            sum = std::fma(x_[r * w.k + k], real, sum);
          }
          acc += sum;
        }
        y[r * w.n + o] = nbits_end(acc, w.bias != nullptr ? w.bias + o : nullptr);
      }
    return y;
  }

  // Computes the rows in pieces of these sizes.
  std::vector<float> computed(const NBitsKernel& kernel, const std::vector<size_t>& pieces,
                              bool in_float) const {
    Guarded<float> y(rows_ * w.n);
    size_t row = 0;
    for (const size_t count : pieces) {
      Guarded<float> x(count * w.k);
      memcpy(x.data(), x_.data() + row * w.k, x.size() * sizeof(float));
      Guarded<int8_t> q(count * blocks_ * w.block);
      Guarded<float> scales(count * blocks_);
      Guarded<int32_t> sums(count * blocks_);
      if (!in_float) kernel.quantize(w, x.data(), count, q.data(), scales.data(), sums.data());
      for (size_t panel = 0; panel < panels_; ++panel) {
        float* const to = y.data() + row * w.n;
        if (in_float)
          kernel.float_product(w, x.data(), count, panel, to);
        else
          kernel.product(w, {q.data(), scales.data(), sums.data()}, count, panel, to);
      }
      row += count;
    }
    return std::vector<float>(y.begin(), y.end());
  }

  float& x(size_t row, size_t k) { return x_[row * w.k + k]; }
  void check(const std::vector<size_t>& pieces) const {
    const std::vector<float> wanted = expected(), in_float = expected_in_float();
    for (const NBitsKernel* kernel : kernels()) {
      SCOPED_TRACE(kernel->name);
      const std::vector<float> y = computed(*kernel, pieces, false);
      ASSERT_EQ(memcmp(y.data(), wanted.data(), y.size() * sizeof(float)), 0);
      const std::vector<float> z = computed(*kernel, pieces, true);
      ASSERT_EQ(memcmp(z.data(), in_float.data(), z.size() * sizeof(float)), 0);
    }
  }

  NBitsWeights w;

 private:
  size_t end(size_t b) const { return std::min(w.k, (b + 1) * w.block); }

  size_t blocks_, panels_;
  std::vector<uint8_t> codes_, zero_points_;
  std::vector<float> scales_, bias_, x_;
  size_t rows_;
};

TEST(NBits, AllFormsAndTails) {
  Random random;
  SCOPED_TRACE(random.trace());
  for (const size_t bits : {2, 4, 8})
    for (const size_t block : {16, 32, 48, 80, 128, 256})
      for (const size_t k : {size_t{1}, block - 1, block, 2 * block + 5})
        for (const size_t n : {1, 16, 37})
          for (const size_t rows : {1, 3, 21}) {
            SCOPED_TRACE(std::to_string(bits) + " bits, block " + std::to_string(block) + ", k " +
                         std::to_string(k) + ", n " + std::to_string(n) + ", rows " +
                         std::to_string(rows));
            const Case c = {
                bits, block, k, n, rows, random.integer(0, 1) == 1, random.integer(0, 1) == 1};
            Product(c, &random).check({rows});
            if (HasFatalFailure()) return;
          }
}

// Every split of the rows gives the same: all compositions of 7 rows, and pieces of more rows that
// straddle tiles.
TEST(NBits, EverySplitOfTheRows) {
  Random random;
  SCOPED_TRACE(random.trace());
  const Product seven({4, 32, 101, 19, 7, true, false}, &random);
  for (uint32_t cuts = 0; cuts < 64; ++cuts) {
    std::vector<size_t> pieces = {1};
    for (uint32_t i = 0; i < 6; ++i)
      if (cuts >> i & 1)
        pieces.push_back(1);
      else
        ++pieces.back();
    seven.check(pieces);
    if (HasFatalFailure()) return;
  }
  const Product many({4, 16, 67, 16, 40, false, true}, &random);
  for (size_t first = 1; first < 40; ++first) {
    many.check({first, 40 - first});
    if (HasFatalFailure()) return;
  }
}

TEST(NBits, WhatIsNoOrdinaryNumber) {
  Random random;
  SCOPED_TRACE(random.trace());
  for (const float odd : {kInf, -kInf, kNaN, -kNaN, 0.0f, 1e-38f, 1e-45f, 3e38f}) {
    Product p({4, 32, 96, 20, 17, true, true}, &random);
    p.x(4, 40) = odd;
    for (size_t k = 32; k < 64; ++k) p.x(7, k) = odd;
    p.check({17});
  }
}

TEST(NBits, ExtremesOfCodesAndActivations) {
  Random random;
  for (const size_t bits : {2, 4, 8})
    for (const uint8_t zero_point : {0, 255})
      for (const uint8_t codes : {0, 255, 128}) {
        Product p({bits, 256, 512, 16, 18, true, false}, &random);
        memset(const_cast<uint8_t*>(p.w.w), codes, 2 * 2 * 256 * bits);
        memset(const_cast<uint8_t*>(p.w.zero_points), zero_point, 2 * kNBitsPanel);
        for (size_t r = 0; r < 18; ++r)
          for (size_t k = 0; k < 512; ++k)
            p.x(r, k) = r % 3 == 0 ? 1.0f : r % 3 == 1 ? -1.0f : k % 2 == 0 ? 1.0f : -1.0f;
        p.check({18});
      }
}

TEST(NBitsSeq, QuantisesAsDefined) {
  // Halves go to the even neighbour: 127 / m is 2.
  const float x[] = {63.5f, -63.5f, 0.25f, 0.75f, 1.25f, -0.25f, -0.75f, 0.0f};
  int8_t q[8];
  const NBitsBlock block = nbits_quantize(x, 8, q);
  EXPECT_EQ(block.scale, 0.5f);
  EXPECT_EQ(std::vector<int8_t>(q, q + 8), (std::vector<int8_t>{127, -127, 0, 2, 2, 0, -2, 0}));
  EXPECT_EQ(block.sum, 2);
  const float zeros[] = {0.0f, -0.0f, 1e-39f};
  EXPECT_EQ(nbits_quantize(zeros, 3, q).scale, 0.0f);
  EXPECT_EQ(q[2], 0);
  const float none[] = {1.0f, kNaN};
  EXPECT_TRUE(std::isnan(nbits_quantize(none, 2, q).scale));
  EXPECT_EQ(q[0], 0);
}

}  // namespace
}  // namespace qrt::nbits_test
