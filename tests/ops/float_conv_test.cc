// SPDX-License-Identifier: Apache-2.0
// Float ORT_CONV against its definition: the sums of ONNX Runtime's products, over images, windows and groups of all kinds;
// models that must be refused.
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "kernels/float_fallback/float_fallback.h"
#include "tests/support/op_tester.h"
#include "tests/support/random.h"

namespace qrt::float_conv_test {
namespace {

using F = fb::FloatFunction;
using testing::bytes_of;
using testing::ModelBuilder;

struct Conv {
  Shape x;  // [n, c, h, w]
  int64_t out, kernel_h, kernel_w;
  uint32_t groups = 1;
  uint16_t stride = 1, dilation = 1;
  uint16_t top = 0, left = 0, bottom = 0, right = 0;

  Shape weights() const { return {out, x[1] / groups, kernel_h, kernel_w}; }
  Shape result() const {
    const auto size = [&](int64_t in, int64_t kernel, int64_t pads) {
      return (in + pads - dilation * (kernel - 1) - 1) / stride + 1;
    };
    return {x[0], out, size(x[2], kernel_h, top + bottom), size(x[3], kernel_w, left + right)};
  }
};

std::vector<float> random_floats(testing::Random* random, const Shape& shape) {
  std::vector<float> v(static_cast<size_t>(shape.elements()));
  for (float& f : v) f = random->real(-4, 4);
  return v;
}

fb::FloatOptionsT options_of(const Conv& c) {
  fb::FloatOptionsT o;
  o.function = F::ORT_CONV;
  o.window = std::make_unique<fb::FloatWindowT>();
  o.window->stride_h = o.window->stride_w = c.stride;
  o.window->dilation_h = o.window->dilation_w = c.dilation;
  o.window->pad_top = c.top, o.window->pad_left = c.left;
  o.window->pad_bottom = c.bottom, o.window->pad_right = c.right;
  o.window->groups = c.groups;
  return o;
}

ModelBuilder model(const Conv& c, const std::vector<float>& w, const std::vector<float>& bias) {
  ModelBuilder m;
  const uint32_t x = m.input(c.x, DType::kFloat32);
  m.op(options_of(c),
       {x, m.constant(c.weights(), DType::kFloat32, w),
        m.constant({static_cast<int64_t>(bias.size())}, DType::kFloat32, bias)},
       {m.output(c.result(), DType::kFloat32)});
  return m;
}

// Returns one output's sum of `terms` products, in blocks, or by fours.
float sum_of(const std::vector<float>& x, const float* w, int64_t block, bool by_fours) {
  const size_t k = x.size();
  float y = 0;
  size_t i = 0;
  if (!by_fours) {
    while (i < k) {
      float sum = 0;
      for (const size_t end = std::min(k, i + static_cast<size_t>(block)); i < end; ++i)
        sum = std::fma(w[i], x[i], sum);
      y = y + sum;
    }
    return y;
  }
  const auto product = [&](size_t at) { return w[at] * x[at]; };
  for (; i + 4 <= k; i += 4)
    y = (((product(i) + product(i + 1)) + product(i + 2)) + product(i + 3)) + y;
  if ((k - i) & 2) {
    y = (product(i) + product(i + 1)) + y;
    i += 2;
  }
  return i < k ? product(i) + y : y;
}

std::vector<float> convolved(const Conv& c, const std::vector<float>& x,
                             const std::vector<float>& w, const std::vector<float>& bias) {
  const Shape ws = c.weights(), ys = c.result();
  const int64_t terms = ws[1] * ws[2] * ws[3], outs = c.out / c.groups;
  const int64_t block = ort_gemm_block(ys[2] * ys[3], terms, false);
  std::vector<float> y;
  for (int64_t n = 0; n < ys[0]; ++n)
    for (int64_t o = 0; o < c.out; ++o)
      for (int64_t r = 0; r < ys[2]; ++r)
        for (int64_t q = 0; q < ys[3]; ++q) {
          std::vector<float> read;
          for (int64_t i = 0; i < ws[1]; ++i)
            for (int64_t ky = 0; ky < ws[2]; ++ky)
              for (int64_t kx = 0; kx < ws[3]; ++kx) {
                const int64_t row = r * c.stride + ky * c.dilation - c.top;
                const int64_t column = q * c.stride + kx * c.dilation - c.left;
                const bool inside = row >= 0 && row < c.x[2] && column >= 0 && column < c.x[3];
                const int64_t plane = n * c.x[1] + o / outs * ws[1] + i;
                read.push_back(
                    inside ? x[static_cast<size_t>((plane * c.x[2] + row) * c.x[3] + column)] : 0);
              }
          y.push_back(sum_of(read, &w[static_cast<size_t>(o * terms)], block, outs == 1) +
                      bias[static_cast<size_t>(o)]);
        }
  return y;
}

TEST(FloatConv, SumsInTheOrderOfOnnxRuntime) {
  testing::Random random;
  SCOPED_TRACE(random.trace());
  const Conv convs[] = {{{1, 3, 9, 11}, 8, 3, 3, 1, 1, 1, 1, 1, 1, 1},    // a stem
                        {{2, 3, 33, 40}, 16, 3, 3, 1, 2, 1, 1, 1, 0, 0},  // strides, two images
                        {{1, 32, 7, 13}, 19, 1, 1},                       // pixels
                        {{1, 70, 5, 40}, 7, 3, 3, 1, 1, 2, 2, 2, 2, 2},  // several blocks, dilation
                        {{1, 12, 10, 10}, 12, 3, 3, 12, 1, 1, 1, 1, 1, 1},  // one channel each
                        {{2, 6, 64, 67}, 6, 5, 3, 6, 2, 1, 2, 1, 2, 1},  // ..., more than a strip
                        {{1, 6, 8, 9}, 12, 3, 3, 3, 1, 1, 1, 0, 1, 2},   // groups
                        {{1, 5, 6, 7}, 1, 2, 2},                         // one output
                        {{1, 4, 1, 50}, 9, 1, 7, 1, 1, 3, 0, 9, 0, 9},   // one row
                        {{1, 2, 3, 3}, 4, 2, 2, 1, 1, 1, 4, 5, 3, 6},    // windows of padding alone
                        {{1, 3, 2, 2}, 5, 2, 2},                         // one pixel
                        {{1, 3, 5, 30}, 4, 3, 3, 1, 7, 1, 1, 1, 1, 1},
                        {{1, 1, 4, 700}, 40, 1, 129, 1, 1, 5, 0, 320, 0, 320}};
  for (const Conv& c : convs) {
    SCOPED_TRACE(c.x.to_string() + " by " + c.weights().to_string());
    const std::vector<float> x = random_floats(&random, c.x),
                             w = random_floats(&random, c.weights());
    const std::vector<float> bias = random_floats(&random, {c.out});
    testing::expect_outputs(model(c, w, bias), 1, {bytes_of(x)},
                            {bytes_of(convolved(c, x, w, bias))});
  }
}

// A convolution leads elementwise followers, which run on each of its strips.
TEST(FloatConv, LeadsWhatFollows) {
  testing::Random random;
  SCOPED_TRACE(random.trace());
  for (const uint32_t groups : {1, 8}) {
    const Conv c = {{1, 8, 30, 31}, 8, 3, 3, groups, 1, 1, 1, 1, 1, 1};
    const std::vector<float> x = random_floats(&random, c.x),
                             w = random_floats(&random, c.weights());
    const std::vector<float> bias = random_floats(&random, {c.out});
    ModelBuilder m;
    const uint32_t given = m.input(c.x, DType::kFloat32);
    const uint32_t sums = m.tensor(c.result(), DType::kFloat32);
    m.op(options_of(c),
         {given, m.constant(c.weights(), DType::kFloat32, w),
          m.constant({c.out}, DType::kFloat32, bias)},
         {sums});
    fb::FloatOptionsT relu;
    relu.function = F::MAXIMUM;
    m.op(relu, {sums, m.constant({1}, DType::kFloat32, std::vector<float>{0.0f})},
         {m.output(c.result(), DType::kFloat32)});
    std::vector<float> y = convolved(c, x, w, bias);
    for (float& f : y) f = f > 0 ? f : 0;
    testing::expect_outputs(m, 1, {bytes_of(x)}, {bytes_of(y)});
  }
}

TEST(FloatConv, RejectsWhatIsNoConvolution) {
  const auto check = [](const Conv& c, const Shape& weights, int64_t biases,
                        const std::string& part, bool has_window = true) {
    ModelBuilder m;
    const uint32_t x = m.input(c.x, DType::kFloat32);
    fb::FloatOptionsT o = options_of(c);
    if (!has_window) o.window = nullptr;
    const std::vector<float> w(static_cast<size_t>(weights.elements())),
        bias(static_cast<size_t>(biases));
    m.op(std::move(o),
         {x, m.constant(weights, DType::kFloat32, w), m.constant({biases}, DType::kFloat32, bias)},
         {m.output({1, 4, 3, 3}, DType::kFloat32)});
    testing::expect_rejected(m, part);
  };
  const Conv c = {{1, 6, 5, 5}, 4, 3, 3};
  check(c, c.weights(), 4, "window", false);
  check(c, {4, 6, 9}, 4, "rank 3, expected 4 [out, c");
  check(c, {4, 5, 3, 3}, 4, "w has shape");
  check(c, c.weights(), 3, "bias");
  check(c, {4, 6, 6, 3}, 4, "kernel height 6");
  Conv other = c;
  other.groups = 4;
  check(other, c.weights(), 4, "groups is 4");
  other.groups = 0;
  check(other, c.weights(), 4, "groups is 0");
  other = c;
  other.stride = 0;
  check(other, c.weights(), 4, "stride");
  other = c;
  other.x = {6, 5, 5};
  check(other, c.weights(), 4, "rank 3, expected 4 [n, c");
}

}  // namespace
}  // namespace qrt::float_conv_test
