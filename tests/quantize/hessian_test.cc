// SPDX-License-Identifier: Apache-2.0
// Sums of squares of a layer's inputs, and rounding of weights with regard to them.
#include "converter/quantize/float/hessian.h"

#include "tests/quantize/float_cases.h"

namespace qrt::testing::floats::hessian_test {
namespace {

using quantize::Dims;
using quantize::Gram;

// Returns the elements that a filter with a single weight picks from x, as often as the layer
// multiplies it: by running the layer itself.
std::vector<float> picked(const Node& node, const Tensor& x, const Dims& weights, size_t output,
                          size_t term) {
  Tensor w = real_tensor(
      weights, std::vector<float>(static_cast<size_t>(quantize::elements(weights)), 0.0f));
  w.reals[output * (w.reals.size() / static_cast<size_t>(weights[0])) + term] = 1;
  const Tensor y = run_node(node, {x, w});
  const size_t m = static_cast<size_t>(y.shape[1]),
               plane = y.reals.size() / static_cast<size_t>(y.shape[0]) / m;
  std::vector<float> values;
  for (size_t i = 0; i < y.reals.size(); ++i)
    if (i / plane % m == output) values.push_back(y.reals[i]);
  return values;
}

TEST(Hessian, SumsOfConvolutionsAreThoseOfTheirWindows) {
  Random random;
  Node node = make_node("Conv", {"x", "w"}, "y");
  node.set("group", int64_t{2});
  node.set("pads", Dims{1, 0, 1, 1});
  node.set("strides", Dims{2, 1});
  const Dims weights = {4, 2, 2, 3};
  const Tensor x = random_tensor({3, 4, 7, 6}, &random);
  Gram gram;
  ASSERT_TRUE(quantize::add_gram(node, x, weights, &gram).ok());
  ASSERT_TRUE(quantize::add_gram(node, x, weights, &gram).ok());  // a second time: twice as much
  ASSERT_EQ(gram.groups, 2);
  ASSERT_EQ(gram.terms, 12);
  for (size_t g = 0; g < 2; ++g)
    for (size_t i = 0; i < 12; i += 5)
      for (size_t j = 0; j <= i; j += 3) {
        const auto a = picked(node, x, weights, 2 * g, i), b = picked(node, x, weights, 2 * g, j);
        double sum = 0;
        for (size_t k = 0; k < a.size(); ++k)
          sum += 2 * static_cast<double>(a[k]) * static_cast<double>(b[k]);
        EXPECT_NEAR(gram.sums[(g * 12 + i) * 12 + j], sum, 1e-4);
      }
}

// Matrices with more terms than are multiplied at once are summed right.
TEST(Hessian, SumsOfWideMatrices) {
  Random random;
  const size_t terms = 101, rows = 3;
  const Tensor x = random_tensor({rows, terms}, &random);
  Gram gram;
  ASSERT_TRUE(quantize::add_gram(make_node("MatMul", {"x", "w"}, "y"), x, {terms, 5}, &gram).ok());
  for (size_t i = 0; i < terms; ++i)
    for (size_t j = 0; j < terms; ++j) {
      float sum = 0;
      for (size_t r = 0; r < rows && j <= i; ++r)
        sum = std::fma(x.reals[r * terms + i], x.reals[r * terms + j], sum);
      EXPECT_EQ(gram.sums[i * terms + j], static_cast<double>(sum)) << i << ", " << j;
    }
}

TEST(Hessian, SumsOfMatrices) {
  Gram gram;
  const Tensor x = real_tensor({1, 2, 2}, {1, 2, 3, 4});
  ASSERT_TRUE(quantize::add_gram(make_node("MatMul", {"x", "w"}, "y"), x, {2, 5}, &gram).ok());
  EXPECT_EQ(gram.sums, (std::vector<double>{10, 0, 14, 20}));
  EXPECT_FALSE(quantize::add_gram(make_node("MatMul", {"x", "w"}, "y"), x, {3, 5}, &gram).ok());
  EXPECT_FALSE(quantize::add_gram(make_node("Relu", {"x"}, "y"), x, {2, 5}, &gram).ok());
}

// Returns (w - q)^T H (w - q) of all rows.
double error_of(const std::vector<float>& w, const std::vector<int32_t>& q,
                const std::vector<float>& scale, const std::vector<double>& h, size_t k) {
  double sum = 0;
  for (size_t r = 0; r < scale.size(); ++r)
    for (size_t i = 0; i < k; ++i)
      for (size_t j = 0; j < k; ++j) {
        const auto d = [&](size_t c) {
          return static_cast<double>(w[r * k + c]) - q[r * k + c] * static_cast<double>(scale[r]);
        };
        sum += d(i) * h[i * k + j] * d(j);
      }
  return sum;
}

TEST(Hessian, RoundingBeatsTheNearestWhereInputsGoTogether) {
  Random random;
  constexpr size_t kTerms = 24, kRows = 6, kSamples = 200;
  std::vector<double> h(kTerms * kTerms, 0.0);
  for (size_t s = 0; s < kSamples; ++s) {
    std::vector<double> x;
    const double common = static_cast<double>(random.real(-1, 1));
    for (size_t i = 0; i < kTerms; ++i)
      x.push_back(common + 0.3 * static_cast<double>(random.real(-1, 1)));
    for (size_t i = 0; i < kTerms; ++i)
      for (size_t j = 0; j < kTerms; ++j) h[i * kTerms + j] += x[i] * x[j];
  }
  const Tensor w = random_tensor({kRows, kTerms}, &random);
  const std::vector<float> scale(kRows, 1.0f / 7);
  std::vector<int32_t> nearest, q(kRows * kTerms);
  for (float v : w.reals) nearest.push_back(static_cast<int32_t>(std::nearbyint(v * 7)));
  ASSERT_TRUE(quantize::round_weights(w.reals.data(), kRows, kTerms, h.data(), scale.data(), -8, 7,
                                      q.data())
                  .ok());
  EXPECT_LT(error_of(w.reals, q, scale, h, kTerms),
            0.5 * error_of(w.reals, nearest, scale, h, kTerms));
  for (int32_t v : q) EXPECT_TRUE(v >= -8 && v <= 7);
}

// Inputs that are independent of each other, or never occurred, are rounded to the nearest, which is best.
TEST(Hessian, RoundsToTheNearestWithoutSums) {
  const std::vector<float> w = {0.4f, 1.6f, -2.5f, 9.0f}, scale = {1};
  std::vector<int32_t> q(4);
  for (double size : {0.0, 3.0}) {
    std::vector<double> h(16, 0.0);
    for (size_t i = 0; i < 4; ++i) h[i * 5] = size;
    ASSERT_TRUE(
        quantize::round_weights(w.data(), 1, 4, h.data(), scale.data(), -8, 7, q.data()).ok());
    EXPECT_EQ(q, (std::vector<int32_t>{0, 2, -2, 7}));
  }
  std::vector<double> bad(16, NAN);
  EXPECT_FALSE(
      quantize::round_weights(w.data(), 1, 4, bad.data(), scale.data(), -8, 7, q.data()).ok());
}

}  // namespace
}  // namespace qrt::testing::floats::hessian_test
