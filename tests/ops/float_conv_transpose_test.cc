// SPDX-License-Identifier: Apache-2.0
// Float CONV_TRANSPOSE against its definition, tap by tap: strides, dilations, padding, groups, rows that no tap reaches, sizes beyond a
// strip; models that must be refused.
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/op_tester.h"
#include "tests/support/random.h"

namespace qrt::float_conv_transpose_test {
namespace {

using F = fb::FloatFunction;
using testing::bytes_of;
using testing::ModelBuilder;

struct Case {
  Shape x;  // [n, c, h, w]
  int64_t out, kernel_h, kernel_w;
  uint32_t groups = 1;
  uint16_t stride = 1, dilation = 1;
  uint16_t top = 0, left = 0, bottom = 0, right = 0, more_h = 0, more_w = 0;

  Shape weights() const { return {groups, out, kernel_h, kernel_w, x[1] / groups}; }
  Shape result() const {
    const auto size = [&](int64_t in, int64_t kernel, int64_t less) {
      return (in - 1) * stride + (kernel - 1) * dilation + 1 - less;
    };
    return {x[0], groups * out, size(x[2], kernel_h, top + bottom - more_h),
            size(x[3], kernel_w, left + right - more_w)};
  }
};

ModelBuilder model(const Case& c, const std::vector<float>& w, const std::vector<float>& bias,
                   const Shape& result) {
  fb::FloatOptionsT o;
  o.function = F::CONV_TRANSPOSE;
  o.window = std::make_unique<fb::FloatWindowT>();
  o.window->stride_h = o.window->stride_w = c.stride;
  o.window->dilation_h = o.window->dilation_w = c.dilation;
  o.window->pad_top = c.top, o.window->pad_left = c.left;
  o.window->pad_bottom = c.bottom, o.window->pad_right = c.right;
  o.window->more_h = c.more_h, o.window->more_w = c.more_w;
  o.window->groups = c.groups;
  ModelBuilder m;
  const uint32_t x = m.input(c.x, DType::kFloat32);
  m.op(std::move(o),
       {x, m.constant(c.weights(), DType::kFloat32, w),
        m.constant({static_cast<int64_t>(bias.size())}, DType::kFloat32, bias)},
       {m.output(result, DType::kFloat32)});
  return m;
}

// Sums the products of one tap as ORT_GEMM does, in blocks of 128 channels.
float tap_of(const float* w, const float* x, int64_t channels, int64_t x_step) {
  float y = 0;
  for (int64_t from = 0; from < channels; from += 128) {
    float sum = 0;
    for (int64_t i = from; i < std::min(from + 128, channels); ++i)
      sum = std::fma(w[i], x[i * x_step], sum);
    y = y + sum;
  }
  return y;
}

void check(const Case& c) {
  testing::Random random;
  SCOPED_TRACE(random.trace());
  const auto floats = [&](const Shape& shape) {
    std::vector<float> v(static_cast<size_t>(shape.elements()));
    for (float& f : v) f = random.real(-4, 4);
    return v;
  };
  const Shape y = c.result();
  SCOPED_TRACE(c.x.to_string() + " to " + y.to_string());
  const std::vector<float> x = floats(c.x), w = floats(c.weights()), bias = floats({y[1]});
  const int64_t in = c.x[1] / c.groups, plane = c.x[2] * c.x[3];
  std::vector<float> expected;
  for (int64_t image = 0; image < y[0]; ++image)
    for (int64_t channel = 0; channel < y[1]; ++channel)
      for (int64_t row = 0; row < y[2]; ++row)
        for (int64_t column = 0; column < y[3]; ++column) {
          float sum = 0;
          for (int64_t ky = 0; ky < c.kernel_h; ++ky)
            for (int64_t kx = 0; kx < c.kernel_w; ++kx) {
              const int64_t h = row + c.top - ky * c.dilation,
                            v = column + c.left - kx * c.dilation;
              if (h < 0 || v < 0 || h % c.stride != 0 || v % c.stride != 0) continue;
              if (h / c.stride >= c.x[2] || v / c.stride >= c.x[3]) continue;
              const int64_t group = channel / c.out;
              const float* from = x.data() + (image * c.groups + group) * in * plane +
                                  h / c.stride * c.x[3] + v / c.stride;
              const float* weights =
                  w.data() + ((channel * c.kernel_h + ky) * c.kernel_w + kx) * in;
              sum = sum + tap_of(weights, from, in, plane);
            }
          expected.push_back(sum + bias[static_cast<size_t>(channel)]);
        }
  testing::expect_outputs(model(c, w, bias, y), 1, {bytes_of(x)}, {bytes_of(expected)});
}

TEST(FloatConvTranspose, WindowsOfAllKinds) {
  check({{1, 1, 1, 1}, 1, 1, 1});
  check({{1, 3, 4, 5}, 2, 3, 2});
  check({{2, 4, 5, 6}, 3, 2, 2, 1, 2});
  check({{1, 4, 5, 3}, 2, 3, 3, 2, 2, 1, 1, 1, 1, 1, 1, 1});
  check({{1, 2, 4, 4}, 1, 3, 3, 2, 3, 2, 2, 0, 0, 1});
  check({{1, 2, 3, 3}, 1, 2, 2, 1, 4, 1, 0, 0, 0, 0, 3, 2});  // outputs that no tap reaches
  check({{1, 2, 3, 3}, 1, 2, 2, 1, 1, 1, 3, 0, 0, 0, 2, 0});  // padding beyond the first inputs
}

TEST(FloatConvTranspose, BlocksOfChannelsAndStripsOfRows) {
  check({{1, 131, 3, 4}, 5, 2, 2, 1, 2});
  check({{1, 3, 70, 50}, 2, 3, 3, 1, 2, 1, 1, 1});
  check({{2, 8, 9, 40}, 40, 1, 4, 1, 2, 1, 0, 1, 0, 1});
}

TEST(FloatConvTranspose, RefusesModels) {
  const auto reject = [](Case c, const Shape& bias, const char* part) {
    const auto ones = [](const Shape& s) {
      return std::vector<float>(static_cast<size_t>(s.elements()), 1.0f);
    };
    testing::expect_rejected(model(c, ones(c.weights()), ones(bias), {1, 1, 2, 2}), part);
  };
  reject({{1, 4, 3, 3}, 1, 2, 2, 1, 0}, {1}, "stride is 0, expected 1 to 65535");
  reject({{1, 4, 3, 3}, 1, 2, 2, 1, 1, 0}, {1}, "dilation is 0, expected 1 to 65535");
  reject({{1, 5, 3, 3}, 1, 2, 2, 2}, {2}, "w has shape [2, 1, 2, 2, 2] for 2 groups and 5 input");
  reject({{1, 4, 3, 3}, 1, 2, 2}, {2}, "bias");
  reject({{1, 4, 3, 3}, 1, 2, 2, 1, 1, 1, 4}, {1}, "the output's height is 0");
}

}  // namespace
}  // namespace qrt::float_conv_transpose_test
