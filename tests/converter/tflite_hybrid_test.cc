// SPDX-License-Identifier: Apache-2.0
// TFLite's dynamic range: layers of float32 activations and weights of few bits, converted and run, against LiteRT's portable
// kernels written out as naive loops; operators of floats around them; what is refused.
#include <gtest/gtest.h>

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstring>
#include <limits>

#include "kernels/integer_build.h"
#include "tests/support/hybrid_reference.h"
#include "tests/support/random.h"
#include "tests/support/tflite_builder.h"

namespace qrt::testing::tflite_hybrid_test {
namespace {

using A = tflite::ActivationFunctionType;
using B = BuiltinOperator;
using Floats = std::vector<float>;
using Codes = std::vector<int8_t>;

float activated(float v, A activation, bool limits) {
  if (activation == A::RELU) v = std::max(v, 0.0f);
  if (activation == A::RELU6) v = std::min(std::max(v, 0.0f), 6.0f);
  if (activation == A::RELU_N1_TO_1) v = std::min(std::max(v, -1.0f), 1.0f);
  return limits ? std::min(std::max(v, -FLT_MAX), FLT_MAX) : v;
}

A random_activation(Random* random) {
  const A all[] = {A::NONE, A::NONE, A::RELU, A::RELU6, A::RELU_N1_TO_1};
  return all[random->integer(0, 4)];
}

// Rows of very different ranges, some of zeros, of one sign, of ties.
Floats random_rows(Random* random, size_t rows, size_t n) {
  Floats x(rows * n);
  for (size_t r = 0; r < rows; ++r) {
    const float range = std::ldexp(random->real(1, 2), static_cast<int>(random->integer(-20, 20)));
    const int64_t kind = random->integer(0, 7);
    for (size_t i = 0; i < n; ++i) {
      float v = random->real(-range, range);
      if (kind == 0) v = 0;
      if (kind == 1) v = std::fabs(v);
      if (kind == 2) v = -std::fabs(v);
      if (kind == 3) v = 0.5f * static_cast<float>(random->integer(-254, 254));
      x[r * n + i] = v;
    }
  }
  return x;
}

Codes random_weights(Random* random, size_t n, bool nibbles) {
  Codes w(n);
  nibbles ? random->fill(w, -8, 7) : random->fill(w, -127, 127);
  return w;
}

Floats random_scales(Random* random, size_t n) {
  Floats scale(n);
  for (float& s : scale) s = random->scale(static_cast<int>(random->integer(-12, -4)));
  return scale;
}

Floats random_bias(Random* random, size_t n) {
  Floats bias(n);
  for (float& b : bias) b = random->real(-3, 3);
  return bias;
}

int add_weights(TfliteBuilder* b, const TfliteBuilder::Dims& shape, const Codes& w,
                const Floats& scale, int axis, bool nibbles = false) {
  const std::vector<int64_t> zeros(scale.size(), 0);
  if (!nibbles) return b->constant(TensorType::INT8, shape, w, scale, zeros, axis);
  Bytes packed((w.size() + 1) / 2);
  for (size_t i = 0; i < w.size(); ++i)
    packed[i / 2] = static_cast<uint8_t>(packed[i / 2] | (w[i] & 15) << (i % 2 * 4));
  return b->constant(TensorType::INT4, shape, packed, scale, zeros, axis);
}

void expect_bits(const TfliteBuilder& b, const Floats& x, const Floats& expected) {
  const Imported imported = b.import();
  ASSERT_TRUE(imported.status.ok()) << imported.status.message();
  EXPECT_EQ(imported.graph.reference, "tflite-hybrid");
  const std::vector<Bytes> y = b.run({to_bytes(x)});
  ASSERT_EQ(y.size(), 1u);
  ASSERT_EQ(y[0].size(), expected.size() * sizeof(float));
  for (size_t i = 0; i < expected.size(); ++i) {
    uint32_t made, wanted;
    memcpy(&made, y[0].data() + i * 4, 4);
    memcpy(&wanted, &expected[i], 4);
    ASSERT_EQ(made, wanted) << "element " << i << ": " << expected[i];
  }
}

int dim(size_t n) { return static_cast<int>(n); }

// PortableMatrixBatchVectorMultiplyAccumulate over rows, onto the bias.
Floats multiplied(const Floats& x, size_t rows, const Codes& w, size_t out, const Floats& scale,
                  const Floats& bias, bool is_asymmetric, A activation) {
  const size_t in = w.size() / out;
  Floats y;
  for (size_t r = 0; r < rows; ++r) {
    const HybridRow row = quantised(x.data() + r * in, in, is_asymmetric);
    for (size_t o = 0; o < out; ++o) {
      int32_t dot = 0, sum = 0;
      for (size_t i = 0; i < in; ++i) {
        dot += w[o * in + i] * row.codes[i];
        sum += w[o * in + i];
      }
      dot -= sum * row.offset;
      const float factor = row.scale * scale[scale.size() == 1 ? 0 : o];
      const float product = static_cast<float>(dot) * factor;
      y.push_back(activated(bias[o] + product, activation, false));
    }
  }
  return y;
}

TEST(TfliteHybrid, FullyConnectedHasThePortableKernelsBits) {
  if (is_integer_build()) GTEST_SKIP() << "this build has no layers of floats";
  Random random;
  for (int i = 0; i < 400; ++i) {
    SCOPED_TRACE(random.trace() + " model " + std::to_string(i));
    const auto rows = static_cast<size_t>(random.integer(1, i % 3 == 0 ? 40 : 3));
    const auto in = static_cast<size_t>(random.integer(1, 80));
    const auto out = static_cast<size_t>(random.integer(1, 70));
    const bool nibbles = random.integer(0, 5) == 0, has_bias = random.coin();
    const Floats x = random_rows(&random, rows, in);
    const Codes w = random_weights(&random, in * out, nibbles);
    const Floats scale = random_scales(&random, random.coin() ? 1 : out);
    const Floats bias = has_bias ? random_bias(&random, out) : Floats(out, 0.0f);
    tflite::FullyConnectedOptionsT o;
    o.asymmetric_quantize_inputs = random.coin();
    o.fused_activation_function = random_activation(&random);
    TfliteBuilder b;
    std::vector<int> inputs = {b.input(TensorType::FLOAT32, {dim(rows), dim(in)}),
                               add_weights(&b, {dim(out), dim(in)}, w, scale, 0, nibbles), -1};
    if (has_bias) inputs[2] = b.constant(TensorType::FLOAT32, {dim(out)}, bias);
    b.op(B::FULLY_CONNECTED, inputs, {b.output(TensorType::FLOAT32, {dim(rows), dim(out)})}, o);
    expect_bits(b, x,
                multiplied(x, rows, w, out, scale, bias, o.asymmetric_quantize_inputs,
                           o.fused_activation_function));
    if (::testing::Test::HasFatalFailure()) return;
  }
}

TEST(TfliteHybrid, BatchMatmulHasThePortableKernelsBits) {
  if (is_integer_build()) GTEST_SKIP() << "this build has no layers of floats";
  Random random;
  for (int i = 0; i < 150; ++i) {
    SCOPED_TRACE(random.trace() + " model " + std::to_string(i));
    const auto batch = static_cast<size_t>(random.integer(1, 3));
    const auto rows = static_cast<size_t>(random.integer(1, 9));
    const auto in = static_cast<size_t>(random.integer(1, 60));
    const auto out = static_cast<size_t>(random.integer(1, 40));
    tflite::BatchMatMulOptionsT o;
    o.adj_x = random.coin();
    o.adj_y = random.coin();
    o.asymmetric_quantize_inputs = random.coin();
    const Floats x = random_rows(&random, batch * rows, in);
    const Codes w = random_weights(&random, in * out, false);
    const Floats scale = random_scales(&random, random.coin() ? 1 : out);
    Floats fed = x;
    Codes stored = w;
    for (size_t n = 0; n < batch && o.adj_x; ++n)
      for (size_t r = 0; r < rows; ++r)
        for (size_t k = 0; k < in; ++k) fed[(n * in + k) * rows + r] = x[(n * rows + r) * in + k];
    for (size_t k = 0; k < in && !o.adj_y; ++k)
      for (size_t c = 0; c < out; ++c) stored[k * out + c] = w[c * in + k];
    TfliteBuilder b;
    const int a = b.input(TensorType::FLOAT32,
                          {dim(batch), dim(o.adj_x ? in : rows), dim(o.adj_x ? rows : in)});
    const int c = add_weights(&b, {dim(o.adj_y ? out : in), dim(o.adj_y ? in : out)}, stored, scale,
                              o.adj_y ? 0 : 1);
    b.op(B::BATCH_MATMUL, {a, c},
         {b.output(TensorType::FLOAT32, {dim(batch), dim(rows), dim(out)})}, o);
    expect_bits(b, fed,
                multiplied(x, batch * rows, w, out, scale, Floats(out, 0.0f),
                           o.asymmetric_quantize_inputs, A::NONE));
    if (::testing::Test::HasFatalFailure()) return;
  }
}

struct Conv {
  size_t n, h, w, in, out, kh, kw, groups, multiplier;
  int stride_h, stride_w, dilation_h, dilation_w;
  bool same, depthwise, per_channel, has_bias;
  A activation;
  size_t out_h, out_w;
  int64_t pad_h, pad_w;

  static void place(size_t in, size_t kernel, int stride, int dilation, bool same, size_t* out,
                    int64_t* pad) {
    const auto size = static_cast<int64_t>(in), s = int64_t{stride};
    const int64_t reach = (static_cast<int64_t>(kernel) - 1) * dilation + 1;
    const int64_t n = same ? (size + s - 1) / s : (size - reach) / s + 1;
    *out = static_cast<size_t>(n);
    *pad = same ? std::max<int64_t>((n - 1) * s + reach - size, 0) / 2 : 0;
  }
};

Conv random_conv(Random* random, bool depthwise) {
  const auto size = [&](int lo, int hi) { return static_cast<size_t>(random->integer(lo, hi)); };
  const auto step = [&](int hi) { return static_cast<int>(random->integer(1, hi)); };
  Conv c{};
  c.n = size(1, 3), c.h = size(5, 9), c.w = size(5, 9);
  c.kh = size(1, 3), c.kw = size(1, 3);
  c.stride_h = step(2), c.stride_w = step(2), c.dilation_h = step(2), c.dilation_w = step(2);
  c.same = random->coin(), c.depthwise = depthwise, c.has_bias = random->integer(0, 3) != 0;
  c.per_channel = depthwise || random->coin();
  c.groups = c.per_channel && !depthwise && random->integer(0, 2) == 0 ? 2 : 1;
  c.in = size(1, 12) * c.groups, c.out = size(1, 20) * c.groups;
  c.multiplier = size(1, 3);
  if (depthwise) c.groups = c.in, c.out = c.in * c.multiplier;
  if (c.per_channel && c.out == 1) c.out = 2 * c.groups;  // one scale is no scale per channel
  if (depthwise && c.out != c.in * c.multiplier) c.in = c.groups = 2, c.multiplier = 1, c.out = 2;
  c.activation = random_activation(random);
  Conv::place(c.h, c.kh, c.stride_h, c.dilation_h, c.same, &c.out_h, &c.pad_h);
  Conv::place(c.w, c.kw, c.stride_w, c.dilation_w, c.same, &c.out_w, &c.pad_w);
  return c;
}

// EvalHybrid of conv.cc with one scale, reference_ops::HybridConvPerChannel and
// reference_integer_ops::DepthwiseConvHybridPerChannel. `w`: [out][kh][kw][in / groups].
Floats convolved(const Conv& c, const Floats& x, const Codes& w, const Floats& scale,
                 const Floats& bias) {
  const size_t depth = c.in / c.groups, image = c.h * c.w * c.in;
  Floats y;
  for (size_t n = 0; n < c.n; ++n) {
    const HybridRow row = quantised(x.data() + n * image, image, c.per_channel);
    for (size_t i = 0; i < c.out_h * c.out_w * c.out; ++i) {
      const size_t o = i % c.out, ox = i / c.out % c.out_w, oy = i / c.out / c.out_w;
      int32_t acc = 0;
      for (size_t t = 0; t < c.kh * c.kw * depth; ++t) {
        const size_t q = t % depth, kx = t / depth % c.kw, ky = t / depth / c.kw;
        const int64_t iy = static_cast<int64_t>(oy) * c.stride_h - c.pad_h +
                           static_cast<int64_t>(ky) * c.dilation_h;
        const int64_t ix = static_cast<int64_t>(ox) * c.stride_w - c.pad_w +
                           static_cast<int64_t>(kx) * c.dilation_w;
        if (iy < 0 || ix < 0 || iy >= static_cast<int64_t>(c.h) || ix >= static_cast<int64_t>(c.w))
          continue;
        const size_t at = (static_cast<size_t>(iy) * c.w + static_cast<size_t>(ix)) * c.in +
                          o / (c.out / c.groups) * depth + q;
        acc += w[o * c.kh * c.kw * depth + t] * (row.codes[at] - row.offset);
      }
      const float s = scale[c.per_channel ? o : 0];
      float v;
      if (c.depthwise) {
        const float factor = s * row.scale;
        v = static_cast<float>(acc) * factor;
        if (c.has_bias) v = v + bias[o];
      } else if (c.per_channel) {
        v = static_cast<float>(acc) * s;
        v = v * row.scale;
        if (c.has_bias) v = v + bias[o];
      } else {
        const float factor = row.scale * s;
        const float product = static_cast<float>(acc) * factor;
        v = 0.0f + product;
        v = bias[o] + v;
      }
      y.push_back(activated(v, c.activation, true));
    }
  }
  return y;
}

void check_conv(Random* random, bool depthwise) {
  const Conv c = random_conv(random, depthwise);
  const size_t depth = c.in / c.groups, taps = c.kh * c.kw * depth;
  const Floats x = random_rows(random, c.n, c.h * c.w * c.in);
  const Codes w = random_weights(random, c.out * taps, false);
  Floats scale = random_scales(random, c.per_channel ? c.out : 1);
  if (c.per_channel) scale[1] = 2 * scale[0];
  const Floats bias = c.has_bias ? random_bias(random, c.out) : Floats(c.out, 0.0f);
  Codes stored = w;
  for (size_t o = 0; o < c.out && depthwise; ++o)
    for (size_t t = 0; t < taps; ++t) stored[t * c.out + o] = w[o * taps + t];
  TfliteBuilder b;
  const TfliteBuilder::Dims weights =
      depthwise ? TfliteBuilder::Dims{1, dim(c.kh), dim(c.kw), dim(c.out)}
                : TfliteBuilder::Dims{dim(c.out), dim(c.kh), dim(c.kw), dim(depth)};
  std::vector<int> inputs = {
      b.input(TensorType::FLOAT32, {dim(c.n), dim(c.h), dim(c.w), dim(c.in)}),
      add_weights(&b, weights, stored, scale, depthwise ? 3 : 0)};
  if (c.has_bias) inputs.push_back(b.constant(TensorType::FLOAT32, {dim(c.out)}, bias));
  const int y = b.output(TensorType::FLOAT32, {dim(c.n), dim(c.out_h), dim(c.out_w), dim(c.out)});
  const auto set = [&](auto* o) {
    o->padding = c.same ? tflite::Padding::SAME : tflite::Padding::VALID;
    o->stride_h = c.stride_h, o->stride_w = c.stride_w;
    o->dilation_h_factor = c.dilation_h, o->dilation_w_factor = c.dilation_w;
    o->fused_activation_function = c.activation;
  };
  if (depthwise) {
    tflite::DepthwiseConv2DOptionsT o;
    set(&o);
    o.depth_multiplier = dim(c.multiplier);
    b.op(B::DEPTHWISE_CONV_2D, inputs, {y}, o);
  } else {
    tflite::Conv2DOptionsT o;
    set(&o);
    b.op(B::CONV_2D, inputs, {y}, o);
  }
  expect_bits(b, x, convolved(c, x, w, scale, bias));
}

TEST(TfliteHybrid, ConvolutionsHaveThePortableKernelsBits) {
  if (is_integer_build()) GTEST_SKIP() << "this build has no layers of floats";
  Random random;
  for (int i = 0; i < 450; ++i) {
    SCOPED_TRACE(random.trace() + " model " + std::to_string(i));
    check_conv(&random, i % 3 == 2);
    if (::testing::Test::HasFatalFailure()) return;
  }
}

// Adds a layer that makes the model one of dynamic range: what follows it is float.
int layer(TfliteBuilder* b, int x, int in, int out, const Codes& w) {
  const int y = b->tensor(TensorType::FLOAT32, {2, out});
  b->op(B::FULLY_CONNECTED, {x, add_weights(b, {out, in}, w, {0.01f}, 0)}, {y},
        tflite::FullyConnectedOptionsT());
  return y;
}

TEST(TfliteHybrid, OperatorsBetweenLayersAreFloat) {
  if (is_integer_build()) GTEST_SKIP() << "this build has no layers of floats";
  Random random;
  const Codes w = random_weights(&random, 24, false);
  const Floats x = random_bias(&random, 8), bias = random_bias(&random, 6);
  TfliteBuilder b;
  const int y = layer(&b, b.input(TensorType::FLOAT32, {2, 4}), 4, 6, w);
  const auto step = [&](B code, std::vector<int> inputs, const TfliteBuilder::Dims& shape) {
    const int made = b.tensor(TensorType::FLOAT32, shape);
    b.op(code, std::move(inputs), {made});
    return made;
  };
  tflite::AddOptionsT relu;
  relu.fused_activation_function = A::RELU;
  const int sum = b.tensor(TensorType::FLOAT32, {2, 6});
  b.op(B::ADD, {y, b.constant(TensorType::FLOAT32, {6}, bias)}, {sum}, relu);
  tflite::ReducerOptionsT keep;
  keep.keep_dims = true;
  const int mean = b.tensor(TensorType::FLOAT32, {2, 1});
  b.op(B::MEAN, {sum, b.constant(TensorType::INT32, {1}, std::vector<int32_t>{1})}, {mean}, keep);
  const int deviation = b.tensor(TensorType::FLOAT32, {2, 6});
  b.op(B::SUB, {sum, mean}, {deviation}, tflite::SubOptionsT());
  const int sigmoid = step(B::LOGISTIC, {deviation}, {2, 6});
  const int root = step(B::RSQRT, {sigmoid}, {2, 6});
  tflite::SoftmaxOptionsT softmax;
  softmax.beta = 0.5f;
  b.op(B::SOFTMAX, {root}, {b.output(TensorType::FLOAT32, {2, 6})}, softmax);
  const Imported imported = b.import();
  ASSERT_TRUE(imported.status.ok()) << imported.report.text(true);
  const Bytes made = b.run({to_bytes(x)})[0];
  const Floats products = multiplied(x, 2, w, 6, {0.01f}, Floats(6, 0.0f), false, A::NONE);
  for (size_t r = 0; r < 2; ++r) {
    double v[6], mean_of = 0, all = 0;
    for (size_t i = 0; i < 6; ++i) {
      v[i] = std::max(0.0, static_cast<double>(products[6 * r + i]) + static_cast<double>(bias[i]));
      mean_of += v[i] / 6;
    }
    for (double& d : v) {
      d = std::exp(0.5 / std::sqrt(1 / (1 + std::exp(mean_of - d))));
      all += d;
    }
    for (size_t i = 0; i < 6; ++i) {
      float got;
      memcpy(&got, made.data() + (6 * r + i) * 4, 4);
      EXPECT_NEAR(static_cast<double>(got), v[i] / all, 1e-5 * v[i] / all);
    }
  }
}

// As in the reference kernels: a NaN among the elements is passed over, but for the first one of a whole tensor, and one of two operands
// gives the second.
TEST(TfliteHybrid, ExtremesOfNaNAndInfinity) {
  if (is_integer_build()) GTEST_SKIP() << "this build has no layers of floats";
  constexpr float kInf = std::numeric_limits<float>::infinity();
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  const Floats x = {kNan, 1, 2, kNan, -3, kNan, kNan, kNan, -kInf, kInf, 0, kNan};
  const auto check = [&](B code, const std::vector<int32_t>& axes, const TfliteBuilder::Dims& to,
                         const Floats& expected) {
    SCOPED_TRACE(static_cast<int>(code));
    TfliteBuilder b;
    const int in = b.input(TensorType::FLOAT32, {4, 3});
    const int zeros = b.tensor(TensorType::FLOAT32, {3});
    b.op(B::DEQUANTIZE, {b.constant(TensorType::FLOAT16, {3}, std::vector<uint16_t>(3))}, {zeros});
    const int sum = b.tensor(TensorType::FLOAT32, {4, 3});
    b.op(B::ADD, {in, zeros}, {sum});
    const int second =
        axes.empty() ? zeros : b.constant(TensorType::INT32, {static_cast<int>(axes.size())}, axes);
    b.op(code, {sum, second}, {b.output(TensorType::FLOAT32, to)});
    const Bytes made = b.run({to_bytes(x)})[0];
    ASSERT_EQ(made.size(), expected.size() * sizeof(float));
    for (size_t i = 0; i < expected.size(); ++i) {
      float got;
      memcpy(&got, made.data() + i * sizeof got, sizeof got);
      EXPECT_TRUE(got == expected[i] || (std::isnan(got) && std::isnan(expected[i])))
          << i << ": " << got << ", expected " << expected[i];
    }
  };
  check(B::REDUCE_MAX, {1}, {4}, {2, -3, -FLT_MAX, kInf});
  check(B::REDUCE_MIN, {1}, {4}, {1, -3, -kInf, 0});
  check(B::REDUCE_MAX, {0}, {3}, {kInf, 1, 2});
  check(B::REDUCE_MAX, {0, 1}, {}, {kNan});
  check(B::REDUCE_MIN, {1, 0}, {}, {kNan});
  check(B::MAXIMUM, {}, {4, 3}, {0, 1, 2, 0, 0, 0, 0, 0, 0, kInf, 0, 0});
  check(B::MINIMUM, {}, {4, 3}, {0, 0, 0, 0, -3, 0, 0, 0, -kInf, 0, 0, 0});
}

TEST(TfliteHybrid, PoolsConvolutionsAndEnlargementsOfFloats) {
  if (is_integer_build()) GTEST_SKIP() << "this build has no layers of floats";
  Random random;
  const Floats x = random_bias(&random, 5 * 4 * 3);
  std::vector<uint16_t> halves;
  for (size_t i = 0; i < 2 * 9 * 3; ++i) halves.push_back(static_cast<uint16_t>(0x3800 + 37 * i));
  TfliteBuilder b;
  const int in = b.input(TensorType::FLOAT32, {1, 5, 4, 3});
  const int stored = b.constant(TensorType::FLOAT16, {2, 3, 3, 3}, halves);
  const int weights = b.tensor(TensorType::FLOAT32, {2, 3, 3, 3});
  b.op(B::DEQUANTIZE, {stored}, {weights});
  const int y = b.tensor(TensorType::FLOAT32, {1, 5, 4, 2});
  tflite::Conv2DOptionsT conv;
  conv.padding = tflite::Padding::SAME;
  conv.stride_h = conv.stride_w = 1;
  b.op(B::CONV_2D, {in, weights, b.constant(TensorType::FLOAT32, {2}, Floats{0.5f, -1})}, {y},
       conv);
  tflite::Pool2DOptionsT pool;
  pool.padding = tflite::Padding::SAME;
  pool.filter_height = 2, pool.filter_width = 2, pool.stride_h = 2, pool.stride_w = 2;
  const int average = b.tensor(TensorType::FLOAT32, {1, 3, 2, 2});
  b.op(B::AVERAGE_POOL_2D, {y}, {average}, pool);
  pool.filter_width = 1, pool.stride_w = 1;
  const int most = b.tensor(TensorType::FLOAT32, {1, 2, 2, 2});
  b.op(B::MAX_POOL_2D, {average}, {most}, pool);
  tflite::ResizeBilinearOptionsT resize;
  resize.half_pixel_centers = true;
  b.op(B::RESIZE_BILINEAR, {most, b.constant(TensorType::INT32, {2}, std::vector<int32_t>{4, 2})},
       {b.output(TensorType::FLOAT32, {1, 4, 2, 2})}, resize);
  const Bytes made = b.run({to_bytes(x)})[0];
  ASSERT_EQ(made.size(), 16u * 4);

  const auto half = [](uint16_t h) {
    return std::ldexp(1.0 + (h & 1023) / 1024.0, (h >> 10 & 31) - 15);
  };
  double sums[5][4][2], averages[3][2][2], greatest[2][2][2];
  for (int i = 0; i < 40; ++i) {
    const int o = i % 2, ox = i / 2 % 4, oy = i / 8;
    double v = o == 0 ? 0.5 : -1;
    for (int t = 0; t < 27; ++t) {
      const int c = t % 3, iy = oy + t / 9 - 1, ix = ox + t / 3 % 3 - 1;
      if (iy < 0 || ix < 0 || iy > 4 || ix > 3) continue;
      v += static_cast<double>(x[static_cast<size_t>((iy * 4 + ix) * 3 + c)]) *
           half(halves[static_cast<size_t>(o * 27 + t)]);
    }
    sums[oy][ox][o] = v;
  }
  for (int i = 0; i < 12; ++i) {
    const int o = i % 2, ox = i / 2 % 2, oy = i / 4;
    double v = 0, count = 0;
    for (int k = 0; k < 4; ++k)
      if (2 * oy + k / 2 < 5) v += sums[2 * oy + k / 2][2 * ox + k % 2][o], ++count;
    averages[oy][ox][o] = v / count;
  }
  for (int i = 0; i < 8; ++i) {
    const int o = i % 2, ox = i / 2 % 2, oy = i / 4;
    greatest[oy][ox][o] =
        oy == 1 ? averages[2][ox][o] : std::max(averages[0][ox][o], averages[1][ox][o]);
  }
  const double low[] = {1, 0.75, 0.25, 0};
  for (int i = 0; i < 16; ++i) {
    const int o = i % 2, ox = i / 2 % 2, oy = i / 4;
    const double v = low[oy] * greatest[0][ox][o] + (1 - low[oy]) * greatest[1][ox][o];
    float got;
    memcpy(&got, made.data() + i * 4, 4);
    EXPECT_NEAR(static_cast<double>(got), v,
                1e-5 * (1 + std::fabs(greatest[0][ox][o]) + std::fabs(greatest[1][ox][o])))
        << i;
  }
}

TEST(TfliteHybrid, RefusesWhatTheReferenceLeavesUndefined) {
  const auto conv = [](const Floats& scale, const TfliteBuilder::Dims& weights, B code) {
    TfliteBuilder b;
    const int x = b.input(TensorType::FLOAT32, {1, 2, 2, 4});
    const int w = add_weights(&b, weights, Codes(8, 1), scale, code == B::CONV_2D ? 0 : 3);
    const int y = b.output(TensorType::FLOAT32, {1, 2, 2, code == B::CONV_2D ? 4 : 8});
    tflite::Conv2DOptionsT o;
    o.stride_h = o.stride_w = 1;
    tflite::DepthwiseConv2DOptionsT depthwise;
    depthwise.stride_h = depthwise.stride_w = 1;
    depthwise.depth_multiplier = 2;
    code == B::CONV_2D ? b.op(code, {x, w}, {y}, o) : b.op(code, {x, w}, {y}, depthwise);
    return b;
  };
  expect_rule(conv({0.5f}, {4, 1, 1, 2}, B::CONV_2D), "reads beyond its parameters");
  expect_rule(conv({0.5f}, {1, 1, 1, 8}, B::DEPTHWISE_CONV_2D), "has no kernel for");
}

TEST(TfliteHybrid, FloatModelsStayRefused) {
  TfliteBuilder b;
  const int x = b.input(TensorType::FLOAT32, {2, 4});
  const int w = b.constant(TensorType::FLOAT32, {3, 4}, Floats(12, 1.0f));
  b.op(B::FULLY_CONNECTED, {x, w}, {b.output(TensorType::FLOAT32, {2, 3})},
       tflite::FullyConnectedOptionsT());
  expect_rule(b, "is float32: only integer operators are supported");
}

}  // namespace
}  // namespace qrt::testing::tflite_hybrid_test
