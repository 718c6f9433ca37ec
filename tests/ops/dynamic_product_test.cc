// SPDX-License-Identifier: Apache-2.0
// DynamicProduct against the definition: matrices, convolutions, every parameter an input; models
// it has to refuse.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "kernels/edge/numbers.h"
#include "tests/support/op_tester.h"
#include "tests/support/random.h"

namespace qrt::dynamic_product_test {
namespace {

using testing::Bytes;

// The parameters of one test: scales as floats, per output channel those of b.
struct Parameters {
  Parameters(testing::Random* random, size_t channels, bool half) : is_half(half) {
    const auto byte = [&] { return static_cast<uint8_t>(random->integer(0, 255)); };
    a_zero = byte();
    y_zero = byte();
    const auto scale = [&](int exponent) {
      const float s = random->scale(exponent);
      return half ? half_to_float(float_to_half(s)) : s;
    };
    a_scale = scale(-5);
    y_scale = scale(1);
    for (size_t i = 0; i < channels; ++i) b_zero.push_back(byte()), b_scale.push_back(scale(-6));
  }

  Bytes scales(const std::vector<float>& values) const {
    if (!is_half) return testing::bytes_of(values);
    std::vector<uint16_t> h;
    for (const float v : values) h.push_back(float_to_half(v));
    return testing::bytes_of(h);
  }

  uint8_t quantize(int32_t acc, size_t channel) const {
    const size_t c = b_scale.size() == 1 ? 0 : channel;
    float s = a_scale * b_scale[c];
    if (is_half) s = half_to_float(float_to_half(s));
    s /= y_scale;
    if (is_half) s = half_to_float(float_to_half(s));
    const float v = std::nearbyint(static_cast<float>(acc) * s) + static_cast<float>(y_zero);
    return static_cast<uint8_t>(std::min(std::max(v, 0.0f), 255.0f));
  }

  bool is_half;
  uint8_t a_zero, y_zero;
  float a_scale, y_scale;
  std::vector<uint8_t> b_zero;
  std::vector<float> b_scale;
};

// Checks both outputs: the sums, and the quantised ones.
void check(const Shape& a_shape, const Shape& b_shape, const Shape& y_shape,
           const fb::DynamicProductOptionsT& options, bool each, bool half, bool has_bias,
           const std::function<int32_t(const Bytes&, const Bytes&, const Parameters&, size_t)>& sum,
           const std::function<size_t(size_t)>& channel_of) {
  testing::Random random;
  SCOPED_TRACE(a_shape.to_string() + " x " + b_shape.to_string() + "; " + random.trace());
  const auto channels =
      static_cast<size_t>(options.is_convolution ? b_shape[0] : b_shape[b_shape.rank() - 1]);
  const Parameters p(&random, each ? channels : 1, half);
  Bytes a(static_cast<size_t>(a_shape.elements())), b(static_cast<size_t>(b_shape.elements()));
  random.fill(a, 0, 255);
  random.fill(b, 0, 255);
  std::vector<int32_t> bias(has_bias ? channels : 0);
  random.fill(bias, -9000, 9000);
  std::vector<int32_t> sums;
  Bytes quantised;
  for (size_t i = 0; i < static_cast<size_t>(y_shape.elements()); ++i) {
    sums.push_back(sum(a, b, p, i));
    const size_t c = channel_of(i);
    quantised.push_back(p.quantize(sums.back() + (has_bias ? bias[c] : 0), c));
  }
  const Shape parameter = each ? Shape{static_cast<int64_t>(channels)} : Shape{};
  const DType scale = half ? DType::kFloat16 : DType::kFloat32;
  for (const bool quantises : {false, true}) {
    testing::ModelBuilder m;
    std::vector<uint32_t> inputs = {m.input(a_shape), m.input(b_shape), m.input({}),
                                    m.input(parameter)};
    std::vector<Bytes> data = {a, b, {p.a_zero}, p.b_zero};
    if (quantises) {
      for (const Shape& s : {Shape{}, parameter, Shape{1}}) inputs.push_back(m.input(s, scale));
      inputs.push_back(m.input({}));
      data.insert(data.end(),
                  {p.scales({p.a_scale}), p.scales(p.b_scale), p.scales({p.y_scale}), {p.y_zero}});
      if (has_bias) {
        inputs.push_back(m.input({static_cast<int64_t>(channels)}, DType::kInt32));
        data.push_back(testing::bytes_of(bias));
      }
    }
    const uint32_t y = m.output(y_shape, quantises ? DType::kUInt8 : DType::kInt32);
    m.op(options, inputs, {y});
    testing::expect_outputs(m, 1, data, {quantises ? quantised : testing::bytes_of(sums)});
  }
}

// Checks a [x, m, k] with x of a_count or 1, and b [x, k, n] alike.
void check_matrices(int64_t a_count, int64_t b_count, int64_t m, int64_t k, int64_t n, bool each,
                    bool half = false) {
  const int64_t count = std::max(a_count, b_count);
  check(
      {a_count, m, k}, {b_count, k, n}, {count, m, n}, {}, each, half, false,
      [=](const Bytes& a, const Bytes& b, const Parameters& p, size_t i) {
        const auto at = static_cast<int64_t>(i);
        const int64_t j = at % n, row = at / n % m, x = at / n / m;
        int32_t acc = 0;
        for (int64_t q = 0; q < k; ++q) {
          const int64_t ia = ((a_count == 1 ? 0 : x) * m + row) * k + q;
          const int64_t ib = ((b_count == 1 ? 0 : x) * k + q) * n + j;
          acc += (a[static_cast<size_t>(ia)] - p.a_zero) *
                 (b[static_cast<size_t>(ib)] - p.b_zero[each ? static_cast<size_t>(j) : 0]);
        }
        return acc;
      },
      [=](size_t i) { return i % static_cast<size_t>(n); });
}

TEST(DynamicProduct, Matrices) {
  for (const int64_t n : {1, 5, 63, 64, 65, 130})
    for (const bool each : {false, true}) check_matrices(1, 1, 3, 7, n, each);
  check_matrices(3, 3, 2, 11, 4, true);
  check_matrices(3, 1, 2, 11, 4, false);
  check_matrices(1, 3, 2, 11, 4, false);
  check_matrices(1, 1, 300, 64, 70, true);
}

TEST(DynamicProduct, Float16ScalesRoundEveryStep) {
  for (const bool each : {false, true}) check_matrices(2, 2, 3, 9, 17, each, true);
}

void check_convolution(const Shape& a, const Shape& b, const fb::DynamicProductOptionsT& o,
                       bool each, bool has_bias) {
  const int64_t window_h = (b[2] - 1) * o.dilation_h + 1, window_w = (b[3] - 1) * o.dilation_w + 1;
  const Shape y = {a[0], b[0], (a[2] + o.pad_top + o.pad_bottom - window_h) / o.stride_h + 1,
                   (a[3] + o.pad_left + o.pad_right - window_w) / o.stride_w + 1};
  const auto index = [](const Shape& s, int64_t n, int64_t c, int64_t h, int64_t w) {
    return static_cast<size_t>(((n * s[1] + c) * s[2] + h) * s[3] + w);
  };
  const auto channel = [&](size_t i) {
    return i / static_cast<size_t>(y[2] * y[3]) % static_cast<size_t>(y[1]);
  };
  check(
      a, b, y, o, each, false, has_bias,
      [&](const Bytes& x, const Bytes& w, const Parameters& p, size_t i) {
        const auto at = static_cast<int64_t>(i);
        const int64_t ox = at % y[3], oy = at / y[3] % y[2], n = at / y[3] / y[2] / y[1];
        const auto c = static_cast<int64_t>(channel(i));
        const int64_t first = c / (b[0] / o.groups) * b[1];
        int32_t acc = 0;
        for (int64_t q = 0; q < b[1]; ++q)
          for (int64_t ky = 0; ky < b[2]; ++ky)
            for (int64_t kx = 0; kx < b[3]; ++kx) {
              const int64_t iy = oy * o.stride_h + ky * o.dilation_h - o.pad_top;
              const int64_t ix = ox * o.stride_w + kx * o.dilation_w - o.pad_left;
              if (iy < 0 || ix < 0 || iy >= a[2] || ix >= a[3]) continue;
              acc += (x[index(a, n, first + q, iy, ix)] - p.a_zero) *
                     (w[index(b, c, q, ky, kx)] - p.b_zero[each ? static_cast<size_t>(c) : 0]);
            }
        return acc;
      },
      channel);
}

TEST(DynamicProduct, Convolutions) {
  fb::DynamicProductOptionsT o;
  o.is_convolution = true;
  check_convolution({1, 1, 7, 7}, {1, 1, 1, 1}, o, false, false);
  check_convolution({2, 3, 6, 5}, {4, 3, 3, 2}, o, true, true);
  o.pad_top = 1, o.pad_left = 2, o.pad_right = 1;
  o.stride_h = 2, o.dilation_w = 2;
  check_convolution({2, 3, 6, 5}, {4, 3, 3, 2}, o, false, true);
  o.groups = 2;
  check_convolution({1, 6, 6, 7}, {4, 3, 3, 3}, o, true, false);
  check_convolution({1, 6, 40, 50}, {32, 3, 3, 3}, o, true, true);
}

using Damage = std::function<void(testing::ModelBuilder&, fb::OperatorT&)>;

void reject(const std::string& part, bool convolution, const Damage& damage) {
  SCOPED_TRACE(part);
  testing::ModelBuilder m;
  const uint32_t a = m.input(convolution ? Shape{1, 4, 5, 5} : Shape{2, 3, 4});
  const uint32_t b = m.input(convolution ? Shape{6, 2, 3, 3} : Shape{2, 4, 6});
  std::vector<uint32_t> inputs = {a, b, m.input({}), m.input({6})};
  for (const Shape& s : {Shape{}, Shape{6}, Shape{}}) inputs.push_back(m.input(s, DType::kFloat32));
  inputs.push_back(m.input({}));
  fb::DynamicProductOptionsT o;
  o.is_convolution = convolution;
  o.groups = convolution ? 2 : 1;
  fb::OperatorT& op = m.op(o, inputs, {m.output(convolution ? Shape{1, 6, 3, 3} : Shape{2, 3, 6})});
  Result<std::shared_ptr<const VerifiedModel>> sound = testing::load(m);
  ASSERT_TRUE(sound.ok()) << sound.status().message();
  damage(m, op);
  testing::expect_rejected(m, part);
}

TEST(DynamicProduct, RejectsBadModels) {
  using M = testing::ModelBuilder;
  using O = fb::OperatorT;
  reject("has 7 inputs, expected 8", false, [](M&, O& o) { o.inputs.pop_back(); });
  reject("has 9 inputs, expected 8", false, [](M&, O& o) { o.inputs.push_back(0); });
  reject("input 8 (bias) is uint8, expected int32", true, [](M&, O& o) { o.inputs.push_back(0); });
  reject("has 8 inputs, expected 4", false,
         [](M& m, O& o) { m.at(o.outputs[0]).dtype = fb::DType::INT32; });
  reject("the output is int8, expected uint8 or int32", false,
         [](M& m, O& o) { m.at(o.outputs[0]).dtype = fb::DType::INT8; });
  reject("input 0 (a) is int16, expected uint8", false,
         [](M& m, O&) { m.at(0).dtype = fb::DType::INT16; });
  reject("cannot be multiplied", false, [](M& m, O&) { m.at(1).shape = {2, 5, 6}; });
  reject("do not broadcast: dimensions 2 and 3", false, [](M& m, O&) {
    m.at(1).shape = {3, 4, 6};
  });
  reject("input 3 (b_zero_point) has 5 elements, expected 1 or 6", false,
         [](M& m, O& o) { m.at(o.inputs[3]).shape = {5}; });
  reject("input 2 (a_zero_point) has 2 elements, expected 1 or 1", false,
         [](M& m, O& o) { m.at(o.inputs[2]).shape = {2}; });
  reject("input 4 (a_scale) is int32, expected float32 or float16", false,
         [](M& m, O& o) { m.at(o.inputs[4]).dtype = fb::DType::INT32; });
  reject("input 6 (y_scale) is float16, expected float32", false,
         [](M& m, O& o) { m.at(o.inputs[6]).dtype = fb::DType::FLOAT16; });
  reject("do not fit in 3 groups", true,
         [](M&, O& o) { o.options.AsDynamicProduct()->groups = 3; });
  reject("do not fit in 0 groups", true,
         [](M&, O& o) { o.options.AsDynamicProduct()->groups = 0; });
  reject("stride or dilation is 0", true,
         [](M&, O& o) { o.options.AsDynamicProduct()->stride_w = 0; });
  reject("the window of 7 is larger than the padded image of 5", true,
         [](M&, O& o) { o.options.AsDynamicProduct()->dilation_h = 3; });
  reject("has shape [2, 3, 4] of rank 3, expected 4", false,
         [](M&, O& o) { o.options.AsDynamicProduct()->is_convolution = true; });
}

}  // namespace
}  // namespace qrt::dynamic_product_test
