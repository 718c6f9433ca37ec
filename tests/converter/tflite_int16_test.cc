// SPDX-License-Identifier: Apache-2.0
// TFLite models with int16 activations, converted and run, against naive loops over the file's own
// integers and the reference's formulas.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <numeric>

#include "tests/support/random.h"
#include "tests/support/tflite_builder.h"
#include "tests/support/tflite_reference.h"

namespace qrt::testing::tflite_int16_test {
namespace {

using B = BuiltinOperator;

int64_t clamp16(int64_t v) { return std::clamp<int64_t>(v, INT16_MIN, INT16_MAX); }

// Accumulators of 64 bits: 16 bits of the multiplier, rounded half up.
int64_t reference_multiply_64(int64_t x, ReferenceMultiplier m) {
  const int64_t high = m.value < 0x7fff0000 ? (m.value + (1 << 15)) >> 16 : 0x7fff;
  const int total = 15 - m.shift;
  return (x * high + (int64_t{1} << (total - 1))) >> total;
}

std::vector<int16_t> every_value() {
  std::vector<int16_t> x(65536);
  std::iota(x.begin(), x.end(), INT16_MIN);
  return x;
}

enum class Bias { kInt64, kInt32, kNone };

struct Layer {
  int h, w, in, out, kh, kw;
  bool is_depthwise = false;
  Bias bias = Bias::kInt64;
  bool single = false;
};

void expect_exact(const Layer& c) {
  Random random;
  const int oh = c.h - c.kh + 1, ow = c.w - c.kw + 1, k = c.is_depthwise ? 1 : c.in;
  std::vector<int16_t> x(static_cast<size_t>(c.h * c.w * c.in)), y;
  std::vector<int8_t> weights(static_cast<size_t>(c.out * c.kh * c.kw * k));
  random.fill(x, INT16_MIN, INT16_MAX);
  random.fill(weights, -128, 127);
  std::vector<int64_t> bias(static_cast<size_t>(c.out));
  if (c.bias != Bias::kNone) random.fill(bias, -3000000, 3000000);
  std::vector<float> scale;
  for (int o = 0; o < c.out; ++o) scale.push_back(0.003f + 0.0007f * static_cast<float>(o));
  const float in_scale = 0.00061f, out_scale = 0.0113f;
  for (int p = 0; p < oh * ow; ++p)
    for (int o = 0; o < c.out; ++o) {
      int64_t acc = bias[static_cast<size_t>(o)];
      for (int t = 0; t < c.kh * c.kw; ++t)
        for (int i = 0; i < k; ++i) {
          const int at = ((p / ow + t / c.kw) * c.w + p % ow + t % c.kw) * c.in;
          const int w = c.is_depthwise ? t * c.out + o : (o * c.kh * c.kw + t) * k + i;
          acc += x[static_cast<size_t>(at + (c.is_depthwise ? o : i))] *
                 weights[static_cast<size_t>(w)];
        }
      const auto m = reference_multiplier(static_cast<double>(in_scale) *
                                          static_cast<double>(scale[static_cast<size_t>(o)]) /
                                          static_cast<double>(out_scale));
      const int64_t v = c.bias == Bias::kInt32 && !c.is_depthwise
                            ? reference_multiply(static_cast<int32_t>(acc), m, c.single)
                            : reference_multiply_64(acc, m);
      y.push_back(static_cast<int16_t>(clamp16(v)));
    }

  TfliteBuilder b;
  const int a = b.input(TensorType::INT16, {1, c.h, c.w, c.in}, in_scale);
  const std::vector<int64_t> zeros(scale.size(), 0);
  const TfliteBuilder::Dims shape = c.is_depthwise ? TfliteBuilder::Dims{1, c.kh, c.kw, c.out}
                                                   : TfliteBuilder::Dims{c.out, c.kh, c.kw, k};
  std::vector<int> inputs = {
      a, b.constant(TensorType::INT8, shape, weights, scale, zeros, c.is_depthwise ? 3 : 0)};
  if (c.bias == Bias::kInt64) inputs.push_back(b.constant(TensorType::INT64, {c.out}, bias));
  if (c.bias == Bias::kInt32)
    inputs.push_back(
        b.constant(TensorType::INT32, {c.out}, std::vector<int32_t>(bias.begin(), bias.end())));
  const int out = b.output(TensorType::INT16, {1, oh, ow, c.out}, out_scale);
  if (c.is_depthwise) {
    tflite::DepthwiseConv2DOptionsT o;
    o.padding = tflite::Padding::VALID;
    o.stride_h = o.stride_w = o.depth_multiplier = 1;
    b.op(B::DEPTHWISE_CONV_2D, inputs, {out}, o);
  } else {
    tflite::Conv2DOptionsT o;
    o.padding = tflite::Padding::VALID;
    o.stride_h = o.stride_w = 1;
    b.op(B::CONV_2D, inputs, {out}, o);
  }
  ASSERT_EQ(b.run({to_bytes(x)},
                  c.single ? TfliteReference::kSingleRounding : TfliteReference::kDoubleRounding),
            std::vector<Bytes>{to_bytes(y)});
}

TEST(TfliteInt16, ConvolutionsWithEveryBias) {
  for (const Bias bias : {Bias::kInt64, Bias::kInt32, Bias::kNone})
    for (const bool single : {false, true}) {
      expect_exact({5, 7, 3, 9, 3, 3, false, bias, single});
      expect_exact({1, 4, 64, 17, 1, 1, false, bias, single});
    }
}

TEST(TfliteInt16, DepthwiseConvolutions) {
  expect_exact({6, 5, 17, 17, 3, 3, true, Bias::kInt64});
  expect_exact({6, 5, 3, 3, 3, 2, true, Bias::kNone});
  // Added in 64 bits, too.
  expect_exact({6, 5, 3, 3, 3, 2, true, Bias::kInt32});
  // More positions than the depthwise kernels take: a grouped convolution.
  expect_exact({24, 25, 2, 2, 24, 24, true, Bias::kInt64});
}

TEST(TfliteInt16, FullyConnectedAppliesZeroPoints) {
  Random random;
  std::vector<int16_t> x(64), y;
  std::vector<int8_t> w(64 * 10);
  std::vector<int64_t> bias(10);
  random.fill(x, INT16_MIN, INT16_MAX);
  random.fill(w, -128, 127);
  random.fill(bias, -100000, 100000);
  const float in = 0.001f, weight = 0.02f, out = 0.07f, product = in * weight;
  const auto m = reference_multiplier(static_cast<double>(product) / static_cast<double>(out));
  for (size_t o = 0; o < 10; ++o) {
    int64_t acc = bias[o];
    for (size_t i = 0; i < 64; ++i) acc += (x[i] - 100) * w[o * 64 + i];
    y.push_back(static_cast<int16_t>(
        std::clamp<int64_t>(reference_multiply_64(acc, m) - 50, -50, INT16_MAX)));
  }
  TfliteBuilder b;
  const int a = b.input(TensorType::INT16, {1, 64}, in, 100);
  tflite::FullyConnectedOptionsT o;
  o.fused_activation_function = tflite::ActivationFunctionType::RELU;
  b.op(B::FULLY_CONNECTED,
       {a, b.constant(TensorType::INT8, {10, 64}, w, {weight}, {0}),
        b.constant(TensorType::INT64, {10}, bias)},
       {b.output(TensorType::INT16, {1, 10}, out, -50)}, o);
  ASSERT_EQ(b.run({to_bytes(x)}), std::vector<Bytes>{to_bytes(y)});
}

// Layers take weights of 4 and 2 bits, with one scale or one for each channel.
TEST(TfliteInt16, FullyConnectedOfFewBits) {
  for (const int bits : {4, 2})
    for (const bool per_channel : {false, true}) {
      Random random;
      std::vector<int16_t> x(32), y;
      std::vector<int> w(32 * 5);
      Bytes packed(w.size() * static_cast<size_t>(bits) / 8);
      random.fill(x, INT16_MIN, INT16_MAX);
      random.fill(w, -(1 << (bits - 1)), (1 << (bits - 1)) - 1);
      for (size_t i = 0; i < w.size(); ++i) {
        const size_t each = 8 / static_cast<size_t>(bits);
        packed[i / each] =
            static_cast<uint8_t>(packed[i / each] | (w[i] & ((1 << bits) - 1))
                                                        << (i % each * static_cast<size_t>(bits)));
      }
      const std::vector<int64_t> bias = {-70000, 5, 0, 123456, -1};
      std::vector<float> scale;
      for (int o = 0; o < (per_channel ? 5 : 1); ++o)
        scale.push_back(0.02f + 0.001f * static_cast<float>(o));
      const float in = 0.001f, out = 0.01f;
      for (size_t o = 0; o < 5; ++o) {
        const float s = scale[per_channel ? o : 0];
        const double product = per_channel ? static_cast<double>(in) * static_cast<double>(s)
                                           : static_cast<double>(in * s);
        int64_t acc = bias[o];
        for (size_t i = 0; i < 32; ++i) acc += x[i] * w[o * 32 + i];
        y.push_back(static_cast<int16_t>(clamp16(
            reference_multiply_64(acc, reference_multiplier(product / static_cast<double>(out))))));
      }
      TfliteBuilder b;
      b.op(B::FULLY_CONNECTED,
           {b.input(TensorType::INT16, {1, 32}, in),
            b.constant(bits == 4 ? TensorType::INT4 : TensorType::INT2, {5, 32}, packed, scale,
                       std::vector<int64_t>(scale.size())),
            b.constant(TensorType::INT64, {5}, bias)},
           {b.output(TensorType::INT16, {1, 5}, out)}, tflite::FullyConnectedOptionsT());
      ASSERT_EQ(b.run({to_bytes(x)}), std::vector<Bytes>{to_bytes(y)}) << bits;
    }
}

// Transposed convolutions scatter their kernels, of 16 bits. They take a bias of int64, int16 or
// int32, added in 64 bits or, where the options say so, in 32, or none.
TEST(TfliteInt16, TransposedConvolutions) {
  Random random;
  SCOPED_TRACE(random.trace());
  constexpr int kSize = 4, kMade = 8, kKernel = 3, kIn = 5, kOut = 3;
  for (const auto& [type, adds_32] :
       std::vector<std::pair<TensorType, bool>>{{TensorType::INT64, false},
                                                {TensorType::INT16, false},
                                                {TensorType::FLOAT32, false},
                                                {TensorType::INT32, false},
                                                {TensorType::INT32, true}}) {
    std::vector<int16_t> x(kSize * kSize * kIn), y;
    std::vector<int8_t> weights(kOut * kKernel * kKernel * kIn);
    std::vector<int16_t> narrow(kOut, 0);
    random.fill(x, INT16_MIN, INT16_MAX);
    random.fill(weights, -128, 127);
    if (type != TensorType::FLOAT32) random.fill(narrow, INT16_MIN, INT16_MAX);
    const std::vector<int64_t> bias(narrow.begin(), narrow.end());
    const float in_scale = 0.00061f, scale = 0.003f, out_scale = 0.0113f;
    const auto m = reference_multiplier(static_cast<double>(in_scale) * static_cast<double>(scale) /
                                        static_cast<double>(out_scale));
    std::vector<int64_t> acc;
    for (int i = 0; i < kMade * kMade; ++i) acc.insert(acc.end(), bias.begin(), bias.end());
    // The forward convolution, 8 to 4 by 2, pads its 3 x 3 kernels behind only.
    for (int iy = 0; iy < kSize; ++iy)
      for (int ix = 0; ix < kSize; ++ix)
        for (int t = 0; t < kKernel * kKernel; ++t) {
          const int oy = 2 * iy + t / kKernel, ox = 2 * ix + t % kKernel;
          if (oy >= kMade || ox >= kMade) continue;
          for (int o = 0; o < kOut; ++o)
            for (int i = 0; i < kIn; ++i)
              acc[static_cast<size_t>((oy * kMade + ox) * kOut + o)] +=
                  x[static_cast<size_t>((iy * kSize + ix) * kIn + i)] *
                  weights[static_cast<size_t>((o * kKernel * kKernel + t) * kIn + i)];
        }
    for (const int64_t v : acc)
      y.push_back(static_cast<int16_t>(
          clamp16(adds_32 ? reference_multiply(static_cast<int32_t>(v), m, false)
                          : reference_multiply_64(v, m))));

    TfliteBuilder b;
    std::vector<int> inputs = {
        b.constant<int32_t>(TensorType::INT32, {4}, {1, kMade, kMade, kOut}),
        b.constant(TensorType::INT8, {kOut, kKernel, kKernel, kIn}, weights, {scale}, {0}),
        b.input(TensorType::INT16, {1, kSize, kSize, kIn}, in_scale)};
    if (type == TensorType::INT64) inputs.push_back(b.constant(type, {kOut}, bias));
    if (type == TensorType::INT16) inputs.push_back(b.constant(type, {kOut}, narrow));
    if (type == TensorType::INT32)
      inputs.push_back(
          b.constant(type, {kOut}, std::vector<int32_t>(narrow.begin(), narrow.end())));
    tflite::TransposeConvOptionsT o;
    o.stride_h = o.stride_w = 2;
    if (adds_32) o.quantized_bias_type = TensorType::INT32;
    b.op(B::TRANSPOSE_CONV, inputs,
         {b.output(TensorType::INT16, {1, kMade, kMade, kOut}, out_scale)}, o);
    ASSERT_EQ(b.run({to_bytes(x)}), std::vector<Bytes>{to_bytes(y)});
  }
}

TEST(TfliteInt16, ProductsOfMatrices) {
  Random random;
  SCOPED_TRACE(random.trace());
  std::vector<int16_t> x(2 * 3 * 40), z(40 * 4);
  random.fill(x, INT16_MIN, INT16_MAX);
  random.fill(z, INT16_MIN, INT16_MAX);
  const float sx = 0.0003f, sz = 0.0007f, out = 0.0021f, product = sx * sz;
  const auto m = reference_multiplier(static_cast<double>(product) / static_cast<double>(out));
  for (const bool adj_x : {false, true})
    for (const bool adj_y : {false, true}) {
      TfliteBuilder b;
      using Dims = TfliteBuilder::Dims;
      const int a = b.input(TensorType::INT16, adj_x ? Dims{2, 40, 3} : Dims{2, 3, 40}, sx);
      const int w = b.input(TensorType::INT16, adj_y ? Dims{4, 40} : Dims{40, 4}, sz);
      tflite::BatchMatMulOptionsT o;
      o.adj_x = adj_x;
      o.adj_y = adj_y;
      b.op(B::BATCH_MATMUL, {a, w}, {b.output(TensorType::INT16, {2, 3, 4}, out)}, o);
      std::vector<int16_t> y;
      for (size_t n = 0; n < 2; ++n)
        for (size_t i = 0; i < 3; ++i)
          for (size_t j = 0; j < 4; ++j) {
            int64_t sum = 0;
            for (size_t k = 0; k < 40; ++k)
              sum += x[n * 120 + (adj_x ? k * 3 + i : i * 40 + k)] *
                     int64_t{z[adj_y ? j * 40 + k : k * 4 + j]};
            y.push_back(static_cast<int16_t>(clamp16(reference_multiply_64(sum, m))));
          }
      ASSERT_EQ(b.run({to_bytes(x), to_bytes(z)}), std::vector<Bytes>{to_bytes(y)});
    }
}

TEST(TfliteInt16, LeastAndGreatest) {
  std::vector<int16_t> x = every_value(), z = every_value();
  std::shuffle(z.begin(), z.end(), std::mt19937(7));
  for (const bool greatest : {false, true}) {
    const auto better = [&](int16_t p, int16_t q) {
      return greatest ? std::max(p, q) : std::min(p, q);
    };
    TfliteBuilder pairs;
    const int a = pairs.input(TensorType::INT16, {1, 65536}, 0.1f);
    const int c = pairs.input(TensorType::INT16, {1, 65536}, 0.2f);
    pairs.op(greatest ? B::MAXIMUM : B::MINIMUM, {a, c},
             {pairs.output(TensorType::INT16, {1, 65536}, 0.1f)});
    std::vector<int16_t> y;
    for (size_t i = 0; i < x.size(); ++i) y.push_back(better(x[i], z[i]));
    ASSERT_EQ(pairs.run({to_bytes(x), to_bytes(z)}), std::vector<Bytes>{to_bytes(y)});

    TfliteBuilder rows;
    const int r = rows.input(TensorType::INT16, {1, 64, 1024}, 0.1f);
    rows.op(greatest ? B::REDUCE_MAX : B::REDUCE_MIN,
            {r, rows.constant<int32_t>(TensorType::INT32, {1}, {2})},
            {rows.output(TensorType::INT16, {1, 64}, 0.1f)}, tflite::ReducerOptionsT());
    y.clear();
    for (size_t i = 0; i < z.size(); i += 1024) {
      y.push_back(z[i]);
      for (size_t j = i; j < i + 1024; ++j) y.back() = better(y.back(), z[j]);
    }
    ASSERT_EQ(rows.run({to_bytes(z)}), std::vector<Bytes>{to_bytes(y)});
  }
}

TEST(TfliteInt16, SumsAndProducts) {
  std::vector<int16_t> x = every_value(), z = every_value();
  std::shuffle(z.begin(), z.end(), std::mt19937(7));
  for (const bool single : {false, true}) {
    const float sa = 0.00031f, sb = 0.0009f, so = 0.0011f;
    const auto run = [&](B code, const auto& options) {
      TfliteBuilder b;
      const int a = b.input(TensorType::INT16, {1, 65536}, sa);
      const int c = b.input(TensorType::INT16, {1, 65536}, sb);
      b.op(code, {a, c}, {b.output(TensorType::INT16, {1, 65536}, so)}, options);
      return b.run({to_bytes(x), to_bytes(z)},
                   single ? TfliteReference::kSingleRounding : TfliteReference::kDoubleRounding);
    };
    const auto expected = [&](const std::function<int64_t(int, int)>& f) {
      std::vector<int16_t> y;
      for (size_t i = 0; i < x.size(); ++i)
        y.push_back(static_cast<int16_t>(clamp16(f(x[i], z[i]))));
      return std::vector<Bytes>{to_bytes(y)};
    };
    {
      const double twice = 2.0 * static_cast<double>(sb);
      const auto ma = reference_multiplier(static_cast<double>(sa) / twice);
      const auto mb = reference_multiplier(static_cast<double>(sb) / twice);
      const auto mo = reference_multiplier(twice / (32768.0 * static_cast<double>(so)));
      ASSERT_EQ(run(B::ADD, tflite::AddOptionsT()), expected([&](int p, int q) {
                  return reference_multiply(reference_multiply(p * 32768, ma, single) +
                                                reference_multiply(q * 32768, mb, single),
                                            mo, single);
                }));
    }
    {
      const float twice = 2.0f * sb, fine = 32768.0f * so;
      const float ra = sa / twice, rb = sb / twice, ro = twice / fine;
      const auto ma = reference_multiplier(static_cast<double>(ra));
      const auto mb = reference_multiplier(static_cast<double>(rb));
      const auto mo = reference_multiplier(static_cast<double>(ro));
      ASSERT_EQ(run(B::SUB, tflite::SubOptionsT()), expected([&](int p, int q) {
                  return reference_multiply(reference_multiply(p * 32768, ma, single) -
                                                reference_multiply(q * 32768, mb, single),
                                            mo, single);
                }));
    }
    const auto m = reference_multiplier(static_cast<double>(sa) * static_cast<double>(sb) /
                                        static_cast<double>(so));
    ASSERT_EQ(run(B::MUL, tflite::MulOptionsT()),
              expected([&](int p, int q) { return reference_multiply(p * q, m, single); }));
  }
}

// All 65,536 values through an operator.
template <class Options, class To>
void check_unary(B code, const Options& options, float in, TensorType type, float out, To,
                 bool single, const std::function<int64_t(int)>& f) {
  TfliteBuilder b;
  const int x = b.input(TensorType::INT16, {1, 1024, 64}, in);
  b.op(code, {x}, {b.output(type, {1, 1024, 64}, out)}, options);
  std::vector<To> expected;
  for (const int16_t v : every_value())
    expected.push_back(static_cast<To>(
        std::clamp<int64_t>(f(v), std::numeric_limits<To>::min(), std::numeric_limits<To>::max())));
  ASSERT_EQ(b.run({to_bytes(every_value())},
                  single ? TfliteReference::kSingleRounding : TfliteReference::kDoubleRounding),
            std::vector<Bytes>{to_bytes(expected)});
}

TEST(TfliteInt16, UnaryOperators) {
  const float in = 0.0007f, out = 0.0005f;
  for (const bool single : {false, true}) {
    const auto identity = reference_multiplier(static_cast<double>(in / out));
    check_unary(B::RELU, tflite::ReshapeOptionsT(), in, TensorType::INT16, out, int16_t{}, single,
                [&](int x) { return std::max(reference_multiply(x, identity, single), 0); });
    for (const float alpha : {0.2f, -0.3f, 1.5f}) {
      tflite::LeakyReluOptionsT o;
      o.alpha = alpha;
      const float scaled = in * std::fabs(alpha);
      const auto slope = reference_multiplier(static_cast<double>(scaled / out));
      check_unary(B::LEAKY_RELU, o, in, TensorType::INT16, out, int16_t{}, single, [&](int x) {
        if (x >= 0) return reference_multiply(x, identity, single);
        return (alpha < 0 ? -1 : 1) * reference_multiply(x, slope, single);
      });
    }
    const auto scale = reference_multiplier(static_cast<double>(in) / static_cast<double>(out));
    const tflite::ReshapeOptionsT none;
    check_unary(B::QUANTIZE, none, in, TensorType::INT16, out, int16_t{}, single,
                [&](int x) { return reference_multiply(x, scale, single); });
    const float coarse = 0.21f, fine = 1.5e-7f;
    const auto down = reference_multiplier(static_cast<double>(in) / static_cast<double>(coarse));
    check_unary(B::QUANTIZE, none, in, TensorType::INT8, coarse, int8_t{}, single,
                [&](int x) { return reference_multiply(x, down, single); });
    const auto up = reference_multiplier(static_cast<double>(in) / static_cast<double>(fine));
    check_unary(B::QUANTIZE, none, in, TensorType::INT32, fine, int32_t{}, single,
                [&](int x) { return reference_multiply(x, up, single); });
  }
}

// The reference's table of the sigmoid, checked against its known checksum, and its interpolation.
int32_t reference_polynomial(int t, int bits, int32_t limit) {
  static const std::vector<uint16_t> table = [] {
    const auto s = [](double v) { return 1 / (1 + std::exp(-v / 24)); };
    std::vector<uint16_t> values;
    for (int i = 0; i < 256; ++i) {
      const double bent = (s(i + 0.5) - (s(i) + s(i + 1)) / 2) / 2;
      values.push_back(
          static_cast<uint16_t>(i == 255 ? 65535 : std::floor(65536 * (s(i) + bent) + 0.5)));
    }
    return values;
  }();
  const int u = std::abs(t), i = u >> bits;
  if (i >= 255) return limit << bits;
  const auto at = static_cast<size_t>(i);
  return (table[at] << bits) + (u & ((1 << bits) - 1)) * (table[at + 1] - table[at]);
}

TEST(TfliteInt16, LogisticAndTanh) {
  const tflite::ReshapeOptionsT none;
  for (const float in : {1.0f / 4096, 1.0f / 2048, 0.0003f, 0.00101f, 0.7f}) {
    const auto argument = [&](int x, bool doubled) {
      if (in == 1.0f / 4096) return 3 * x;
      if (in == 1.0f / 2048 && doubled) return 6 * x;
      double m = static_cast<double>(in) * 4096 * 3;
      int shift = 0;
      while (m <= 32767.0 / 2 && shift <= 30) m *= 2, ++shift;
      const int half = shift > 0 ? 1 << (shift - 1) : 0;
      return static_cast<int>((int64_t{x} * static_cast<int32_t>(m) + half) >> shift);
    };
    check_unary(B::LOGISTIC, none, in, TensorType::INT16, 1.0f / 32768, int16_t{}, false,
                [&](int x) {
                  const int t = argument(x, false);
                  const int32_t r = reference_polynomial(t, 9, 0xfffe);
                  return (t >= 0 ? r + 512 : (1 << 25) - r + 511) >> 10;
                });
    check_unary(B::TANH, none, in, TensorType::INT16, 1.0f / 32768, int16_t{}, false, [&](int x) {
      const int t = argument(x, true);
      const int32_t r = reference_polynomial(t, 8, 0xffff);
      return (t >= 0 ? r - (1 << 23) + 128 : -r + (1 << 23) + 127) >> 8;
    });
  }
}

uint32_t crc32(const Bytes& bytes) {
  uint32_t crc = 0xffffffff;
  for (const uint8_t b : bytes) {
    crc ^= b;
    for (int i = 0; i < 8; ++i) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc;
}

TEST(TfliteInt16, Softmax) {
  Random random;
  for (const bool single : {false, true})
    for (const float in : {0.0001f, 0.0011f, 0.3f}) {
      const int32_t n = in > 0.1f ? 1 : 37;
      const auto reference =
          single ? TfliteReference::kSingleRounding : TfliteReference::kDoubleRounding;
      std::vector<int16_t> x(static_cast<size_t>(40 * n)), y;
      random.fill(x, INT16_MIN, INT16_MAX);
      TfliteBuilder b;
      tflite::SoftmaxOptionsT o;
      o.beta = 1.5f;
      const int a = b.input(TensorType::INT16, {40, n}, in);
      b.op(B::SOFTMAX, {a}, {b.output(TensorType::INT16, {40, n}, 1.0f / 32768)}, o);
      Imported imported = b.import(reference);
      ASSERT_EQ(imported.status.code(), Code::kOk) << imported.status.message();
      Bytes bytes;
      for (const convert::Value& v : imported.graph.values)
        if (v.is_constant) bytes = v.data;
      ASSERT_EQ(bytes.size(), 2 * 1026u);
      ASSERT_EQ(crc32(Bytes(bytes.begin(), bytes.begin() + 1026)), 0xac7dffaau);
      ASSERT_EQ(crc32(Bytes(bytes.begin() + 1026, bytes.end())), 0x39fb9655u);
      std::vector<int16_t> tables(1026);
      memcpy(tables.data(), bytes.data(), bytes.size());
      const auto look_up = [&](size_t table, int64_t v) {
        v = clamp16(v);
        const int16_t* t = tables.data() + 513 * table + 256 + (v >> 7);
        return t[0] + (((t[1] - t[0]) * static_cast<int>(v & 127) + 64) >> 7);
      };
      const auto m = reference_multiplier(static_cast<double>(in) * 1.5 / (10.0 / 65535.0));
      for (size_t row = 0; row < 40; ++row) {
        const auto first = x.begin() + static_cast<ptrdiff_t>(row * static_cast<size_t>(n));
        const int greatest = *std::max_element(first, first + n);
        std::vector<int> e;
        for (int j = 0; j < n; ++j)
          e.push_back(
              look_up(0, int64_t{reference_multiply(first[j] - greatest, m, single)} + 32767));
        const int32_t sum = std::accumulate(e.begin(), e.end(), 0);
        const int c = __builtin_clz(static_cast<uint32_t>(sum));
        const int64_t t = ((int64_t{sum} << (c - 1)) + (1 << 13)) >> 14;
        const int r = look_up(1, t - (1 << 15) - (1 << 16));
        for (const int v : e)
          y.push_back(static_cast<int16_t>(std::clamp<int64_t>(
              (int64_t{v} * r + (int64_t{1} << (30 - c))) >> (31 - c), 0, 32767)));
      }
      ASSERT_EQ(b.run({to_bytes(x)}, reference), std::vector<Bytes>{to_bytes(y)});
    }
}

TEST(TfliteInt16, PReluTakesInt8Slopes) {
  Random random;
  std::vector<int8_t> alpha(64);
  random.fill(alpha, -128, 127);
  const float in = 0.0007f, slope = 0.01f, out = 0.0005f;
  const auto positive = reference_multiplier(static_cast<double>(in) / static_cast<double>(out));
  const auto negative = reference_multiplier(static_cast<double>(in) * static_cast<double>(slope) /
                                             static_cast<double>(out));
  TfliteBuilder b;
  const int x = b.input(TensorType::INT16, {1, 32, 32, 64}, in);
  b.op(B::PRELU, {x, b.constant(TensorType::INT8, {1, 1, 64}, alpha, {slope}, {0})},
       {b.output(TensorType::INT16, {1, 32, 32, 64}, out)});
  for (const bool single : {false, true}) {
    std::vector<int16_t> y;
    for (const int16_t v : every_value()) {
      const int a = alpha[y.size() % 64];
      y.push_back(
          static_cast<int16_t>(clamp16(v >= 0 ? reference_multiply(v, positive, single)
                                              : reference_multiply(v * a, negative, single))));
    }
    const auto reference =
        single ? TfliteReference::kSingleRounding : TfliteReference::kDoubleRounding;
    ASSERT_EQ(b.run({to_bytes(every_value())}, reference), std::vector<Bytes>{to_bytes(y)});
  }
}

// PRELU takes a slope for each element of an image, Keras' default.
TEST(TfliteInt16, PReluOfEveryElement) {
  Random random;
  SCOPED_TRACE(random.trace());
  std::vector<int8_t> alpha(32 * 64);
  random.fill(alpha, -128, 127);
  const float in = 0.0007f, slope = 0.01f, out = 0.0005f;
  const auto positive = reference_multiplier(static_cast<double>(in) / static_cast<double>(out));
  const auto negative = reference_multiplier(static_cast<double>(in) * static_cast<double>(slope) /
                                             static_cast<double>(out));
  TfliteBuilder b;
  const int x = b.input(TensorType::INT16, {32, 32, 1, 64}, in);
  b.op(B::PRELU, {x, b.constant(TensorType::INT8, {32, 1, 64}, alpha, {slope}, {0})},
       {b.output(TensorType::INT16, {32, 32, 1, 64}, out)});
  std::vector<int16_t> y;
  for (const int16_t v : every_value()) {
    const int a = alpha[y.size() % alpha.size()];
    y.push_back(static_cast<int16_t>(clamp16(v >= 0 ? reference_multiply(v, positive, false)
                                                    : reference_multiply(v * a, negative, false))));
  }
  ASSERT_EQ(b.run({to_bytes(every_value())}), std::vector<Bytes>{to_bytes(y)});
}

// ABS divides its scales in float: in double the quotient would give 26230 here.
TEST(TfliteInt16, AbsDividesItsScalesAsFloats) {
  TfliteBuilder b;
  const int x = b.input(TensorType::INT16, {1, 3}, 0.0295553785f);
  b.op(B::ABS, {x}, {b.output(TensorType::INT16, {1, 3}, 0.0144196488f)});
  const std::vector<int16_t> in = {12797, -12797, -32768}, out = {26229, 26229, 32767};
  ASSERT_EQ(b.run({to_bytes(in)}), std::vector<Bytes>{to_bytes(out)});
}

// A scaled sum that may leave int32 is refused: the reference cuts it without a check.
TEST(TfliteInt16, RefusesScaledSumsBeyondInt32) {
  for (const int64_t bias : {int64_t{1} << 30, int64_t{1} << 38}) {
    TfliteBuilder b;
    const int x = b.input(TensorType::INT16, {1, 4}, 0.01f);
    const int w = b.constant<int8_t>(TensorType::INT8, {1, 4}, {1, 2, 3, 4}, {0.01f}, {0});
    const int c = b.constant<int64_t>(TensorType::INT64, {1}, {bias});
    b.op(B::FULLY_CONNECTED, {x, w, c}, {b.output(TensorType::INT16, {1, 1}, 0.001f)},
         tflite::FullyConnectedOptionsT());
    if (bias == int64_t{1} << 38)
      expect_rule(b, "beyond the int32 that the reference cuts them to");
    else
      EXPECT_EQ(b.import().refusals(), 0);
  }
}

// A convolution ignores zero points in its sums but not in its activation, as TFLite's own kernel
// does, whose numbers stand here.
TEST(TfliteInt16, ConvolutionsActivateFromAZeroPointThatTheyIgnore) {
  TfliteBuilder b;
  const int x = b.input(TensorType::INT16, {1, 1, 6, 1}, 0.001f, -50);
  const int w = b.constant<int8_t>(TensorType::INT8, {1, 1, 1, 1}, {100}, {0.01f}, {0});
  const int c = b.constant<int64_t>(TensorType::INT64, {1}, {7}, {0.00001f}, {0});
  tflite::Conv2DOptionsT o;
  o.stride_h = o.stride_w = 1;
  o.fused_activation_function = tflite::ActivationFunctionType::RELU;
  b.op(B::CONV_2D, {x, w, c}, {b.output(TensorType::INT16, {1, 1, 6, 1}, 0.002f, 300)}, o);
  const std::vector<int16_t> in = {-30000, -1000, 0, 200, 1000, 20000};
  const std::vector<int16_t> out = {300, 300, 300, 300, 500, 10000};
  ASSERT_EQ(b.run({to_bytes(in)}), std::vector<Bytes>{to_bytes(out)});
}

TEST(TfliteInt16, ConcatenationCopiesWhateverTheScales) {
  TfliteBuilder b;
  const int x = b.input(TensorType::INT16, {1, 2}, 0.1f),
            y = b.input(TensorType::INT16, {1, 3}, 0.2f);
  tflite::ConcatenationOptionsT o;
  o.axis = 1;
  b.op(B::CONCATENATION, {x, y}, {b.output(TensorType::INT16, {1, 5}, 0.3f)}, o);
  const std::vector<int16_t> p = {-32768, 5}, q = {1, 2, 32767}, r = {-32768, 5, 1, 2, 32767};
  ASSERT_EQ(b.run({to_bytes(p), to_bytes(q)}), std::vector<Bytes>{to_bytes(r)});
}

TEST(TfliteInt16, FloatEdges) {
  TfliteBuilder b;
  const int x = b.input(TensorType::FLOAT32, {1, 6});
  const int q = b.tensor(TensorType::INT16, {1, 6}, {0.5f}, {0});
  b.op(B::QUANTIZE, {x}, {q});
  b.op(B::DEQUANTIZE, {q}, {b.output(TensorType::FLOAT32, {1, 6})});
  const std::vector<float> in = {0.25f, -0.25f, 0.24f, 1e9f, -1e9f, 100.1f};
  const std::vector<float> out = {0.5f, -0.5f, 0, 16383.5f, -16384, 100};
  ASSERT_EQ(b.run({to_bytes(in)}), std::vector<Bytes>{to_bytes(out)});
}

TEST(TfliteInt16, RefusesWithReasons) {
  const auto mul = [](int64_t zero_point) {
    TfliteBuilder b;
    const int x = b.input(TensorType::INT16, {1, 4}, 0.1f, zero_point);
    b.op(B::MUL, {x, b.input(TensorType::INT16, {1, 4}, 0.1f)},
         {b.output(TensorType::INT16, {1, 4}, 0.1f)}, tflite::MulOptionsT());
    return b;
  };
  expect_rule(mul(3), "zero point other than 0");
  TfliteBuilder depthwise;
  const int x = depthwise.input(TensorType::INT16, {1, 2, 2, 1}, 0.1f);
  tflite::DepthwiseConv2DOptionsT o;
  o.padding = tflite::Padding::VALID;
  o.stride_h = o.stride_w = o.depth_multiplier = 1;
  depthwise.op(
      B::DEPTHWISE_CONV_2D,
      {x,
       depthwise.constant(TensorType::INT8, {1, 1, 1, 1}, std::vector<int8_t>{1}, {1.0f}, {0}, 3),
       depthwise.constant(TensorType::INT16, {1}, std::vector<int16_t>{1})},
      {depthwise.output(TensorType::INT16, {1, 2, 2, 1}, 0.1f)}, o);
  expect_rule(depthwise, "is not an int64 or int32 constant");
  TfliteBuilder matrices;
  const int m = matrices.input(TensorType::INT16, {2, 2}, 0.1f, 1);
  matrices.op(B::BATCH_MATMUL, {m, m}, {matrices.output(TensorType::INT16, {2, 2}, 0.1f)},
              tflite::BatchMatMulOptionsT());
  expect_rule(matrices, "zero point of int16 is not 0");
  TfliteBuilder abs;
  const int y = abs.input(TensorType::INT16, {1, 4}, 0.1f);
  abs.op(B::HARD_SWISH, {y}, {abs.output(TensorType::INT16, {1, 4}, 0.1f)});
  expect_rule(abs, "only int8 and uint8");
}

}  // namespace
}  // namespace qrt::testing::tflite_int16_test
