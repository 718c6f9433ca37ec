// SPDX-License-Identifier: Apache-2.0
// Tables, pools, reductions, data movement, products, Softmax and edges of TFLite models, converted
// and run, against the reference's formulas.
#include <gtest/gtest.h>

#include <functional>
#include <numeric>

#include "tests/support/random.h"
#include "tests/support/tflite_builder.h"
#include "tests/support/tflite_reference.h"

namespace qrt::testing::tflite_ops_test {
namespace {

using B = BuiltinOperator;

Bytes every_byte() {
  Bytes bytes(256);
  std::iota(bytes.begin(), bytes.end(), uint8_t{0});
  return bytes;
}

// Both references, one after the other: with_both() sets the one that multiply() and run() follow.
TfliteReference reference = TfliteReference::kDoubleRounding;

void with_both(const std::function<void()>& check) {
  for (const auto r : {TfliteReference::kSingleRounding, TfliteReference::kDoubleRounding}) {
    reference = r;
    check();
  }
}

int32_t multiply(int32_t x, ReferenceMultiplier m) {
  return reference_multiply(x, m, reference == TfliteReference::kSingleRounding);
}

std::vector<Bytes> run(const TfliteBuilder& b, const std::vector<Bytes>& inputs) {
  return b.run(inputs, reference);
}

int clamp8(int64_t v) { return static_cast<int>(std::clamp<int64_t>(v, -128, 127)); }

// Checks all 256 values of an int8 operator.
template <class Options>
void check_unary(B code, const Options& options, float in, int in_zero, float out, int out_zero,
                 const std::function<int(int)>& f) {
  TfliteBuilder b;
  const int x = b.input(TensorType::INT8, {2, 128}, in, in_zero);
  b.op(code, {x}, {b.output(TensorType::INT8, {2, 128}, out, out_zero)}, options);
  Bytes expected;
  for (int i = 0; i < 256; ++i) expected.push_back(static_cast<uint8_t>(f(static_cast<int8_t>(i))));
  ASSERT_EQ(run(b, {every_byte()}), std::vector<Bytes>{expected});
}

const tflite::ReshapeOptionsT kNone;

TEST(TfliteUnary, Relu) {
  with_both([] {
    const auto m = reference_multiplier(static_cast<double>(0.07f / 0.05f));
    check_unary(B::RELU, kNone, 0.07f, -11, 0.05f, 9,
                [&](int x) { return std::clamp(multiply(x + 11, m) + 9, 9, 127); });
    check_unary(B::RELU6, kNone, 0.07f, -11, 0.05f, 9,
                [&](int x) { return std::clamp(x, -11, -11 + 86); });
  });
}

TEST(TfliteUnary, LeakyReluOfEitherSlope) {
  with_both([] {
    for (const float alpha : {0.1f, 1.5f, -0.3f}) {
      tflite::LeakyReluOptionsT o;
      o.alpha = alpha;
      const auto identity = reference_multiplier(static_cast<double>(0.07f / 0.05f));
      const float scaled = 0.07f * std::fabs(alpha);
      const auto slope = reference_multiplier(static_cast<double>(scaled / 0.05f));
      check_unary(B::LEAKY_RELU, o, 0.07f, 20, 0.05f, -5, [&](int x) {
        const int v = x - 20;
        const int steps =
            v >= 0 ? multiply(v, identity) : (alpha < 0 ? -1 : 1) * multiply(v, slope);
        return clamp8(steps - 5);
      });
    }
  });
}

TEST(TfliteUnary, Abs) {
  with_both([] {
    const auto m = reference_multiplier(static_cast<double>(0.07f / 0.05f));
    check_unary(B::ABS, kNone, 0.07f, 20, 0.05f, -5,
                [&](int x) { return clamp8(multiply(std::abs(x - 20), m) - 5); });
  });
}

TEST(TfliteUnary, Requantize) {
  with_both([] {
    const auto m = reference_multiplier(static_cast<double>(0.07f) / static_cast<double>(0.09f));
    check_unary(B::QUANTIZE, kNone, 0.07f, 20, 0.09f, -5,
                [&](int x) { return clamp8(multiply(x - 20, m) - 5); });
  });
}

// Fixed point stays within two steps of the real functions, and is exact where they saturate.
TEST(TfliteUnary, TranscendentalFunctions) {
  with_both([] {
    const auto near = [](B code, float out, int out_zero, float (*f)(float)) {
      TfliteBuilder b;
      const int x = b.input(TensorType::INT8, {2, 128}, 0.1f, 5);
      b.op(code, {x}, {b.output(TensorType::INT8, {2, 128}, out, out_zero)});
      const std::vector<Bytes> y = run(b, {every_byte()});
      ASSERT_EQ(y.size(), 1u);
      for (int i = 0; i < 256; ++i) {
        const float real = 0.1f * static_cast<float>(static_cast<int8_t>(i) - 5);
        const int expected = clamp8(std::lround(f(real) / out) + out_zero);
        ASSERT_LE(std::abs(static_cast<int8_t>(y[0][static_cast<size_t>(i)]) - expected), 2) << i;
      }
    };
    near(B::LOGISTIC, 1.0f / 256, -128, [](float v) { return 1 / (1 + std::exp(-v)); });
    near(B::TANH, 1.0f / 128, 0, [](float v) { return std::tanh(v); });
    near(B::HARD_SWISH, 0.11f, -20, [](float v) { return v * std::clamp(v + 3, 0.0f, 6.0f) / 6; });
  });
}

// Legacy uint8 has the multipliers of its own kernels, which TFLite's interpreter alone has: MUL
// and PRELU in float and SUB in double, the reverse of int8, and a RELU6 that rescales.
TEST(TfliteLegacy, MultipliersAreThoseOfItsOwnKernels) {
  struct Operand {
    float scale;
    int zero;
  };
  const auto binary = [](B code, auto options, Operand a, Operand b, Operand out, const Bytes& left,
                         const Bytes& right) {
    TfliteBuilder t;
    const auto n = static_cast<int>(left.size());
    const int x = t.input(TensorType::UINT8, {n}, a.scale, a.zero);
    const int y = t.input(TensorType::UINT8, {n}, b.scale, b.zero);
    t.op(code, {x, y}, {t.output(TensorType::UINT8, {n}, out.scale, out.zero)}, options);
    return t.run({left, right}).at(0);
  };
  EXPECT_EQ(binary(B::MUL, tflite::MulOptionsT(), {0.018711751f, 0}, {0.0025236283f, 113},
                   {0.0043446217f, 239}, {138, 186, 207}, {20, 44, 51}),
            (Bytes{100, 100, 100}));
  EXPECT_EQ(binary(B::SUB, tflite::SubOptionsT(), {0.058514748f, 184}, {0.03125f, 167},
                   {0.125f, 174}, {184, 184, 184}, {1, 5, 9}),
            (Bytes{216, 215, 214}));
  const auto prelu = [](float in, float slopes, uint8_t slope, float out, const Bytes& values) {
    TfliteBuilder t;
    const int x = t.input(TensorType::UINT8, {1, 3}, in, 128);
    const int a = t.constant(TensorType::UINT8, {1}, Bytes{slope}, {slopes}, {0});
    t.op(B::PRELU, {x, a}, {t.output(TensorType::UINT8, {1, 3}, out, 128)});
    return t.run({values}).at(0);
  };
  EXPECT_EQ(prelu(0.11f, 0.01f, 50, 0.1f, {133, 143, 153}), (Bytes{134, 145, 156}));
  EXPECT_EQ(prelu(0.13f, 0.05f, 1, 0.01f, {38, 58, 78}), (Bytes{70, 83, 96}));
  TfliteBuilder t;
  const int x = t.input(TensorType::UINT8, {8}, 0.07f, 100);
  t.op(B::RELU6, {x}, {t.output(TensorType::UINT8, {8}, 0.05f, 9)});
  EXPECT_EQ(t.run({{0, 1, 50, 100, 128, 130, 200, 255}}).at(0),
            (Bytes{9, 9, 9, 9, 48, 51, 129, 129}));
}

// Scales of negative shifts are refused: the reference's bound of the input, 15 * 2^27 >> the
// multiplier's exponent, is undefined there.
TEST(TfliteUnary, RefusesScalesOfNegativeShifts) {
  const auto unary = [](B code, float scale) {
    TfliteBuilder b;
    const int x = b.input(TensorType::INT8, {1, 4}, scale, 3);
    const bool is_tanh = code == B::TANH;
    b.op(code, {x},
         {b.output(TensorType::INT8, {1, 4}, is_tanh ? 1.0f / 128 : 1.0f / 256,
                   is_tanh ? 0 : -128)});
    return b;
  };
  for (const B code : {B::LOGISTIC, B::TANH}) {
    EXPECT_TRUE(unary(code, 0x1p-28f).import().status.ok());
    expect_rule(unary(code, 0x1.fp-29f), "below 2^-28, where the reference shifts by a negative");
  }
}

// HardSwish of scales far apart has the numbers of TFLite's own kernel, whose shift within 16 bits
// turns 0 into 1 and -1 into -1 when it removes 16 bits or more, in front of the product and behind it.
TEST(TfliteUnary, HardSwishOfScalesFarApart) {
  const auto hard_swish = [](float in, int in_zero, float out, int out_zero) {
    TfliteBuilder b;
    const int x = b.input(TensorType::INT8, {8}, in, in_zero);
    b.op(B::HARD_SWISH, {x}, {b.output(TensorType::INT8, {8}, out, out_zero)});
    return run(b, {testing::to_bytes(std::vector<int8_t>{-128, -100, -1, 0, 1, 50, 97, 127})});
  };
  with_both([&] {
    EXPECT_EQ(hard_swish(3.364235e-08f, 97, 7.80843e-08f, 127)[0],
              testing::to_bytes(std::vector<int8_t>{79, 85, 106, 106, 106, 117, 127, 127}));
    EXPECT_EQ(hard_swish(0.001953125f, 0, 4, -3)[0],
              testing::to_bytes(std::vector<int8_t>{-4, -4, -4, -2, -2, -2, -2, -2}));
  });
}

// PRELU takes a slope for each element of an image, Keras' default; [h, 1, c] shares them over a row.
TEST(TfliteUnary, PreluPerElement) {
  with_both([] {
    for (const bool shared : {false, true}) {
      TfliteBuilder b;
      const int x = b.input(TensorType::INT8, {2, 4, 4, 8}, 0.07f, 20);
      std::vector<int8_t> alpha;
      for (int i = 0; i < (shared ? 32 : 128); ++i)
        alpha.push_back(static_cast<int8_t>(i * 37 % 251 - 125));
      const int a = b.constant(TensorType::INT8,
                               shared ? TfliteBuilder::Dims{4, 1, 8} : TfliteBuilder::Dims{4, 4, 8},
                               alpha, {0.01f}, {3});
      b.op(B::PRELU, {x, a}, {b.output(TensorType::INT8, {2, 4, 4, 8}, 0.05f, -5)});
      const double in = static_cast<double>(0.07f), out = static_cast<double>(0.05f);
      const auto positive = reference_multiplier(in / out);
      const auto negative = reference_multiplier(in * static_cast<double>(0.01f) / out);
      Bytes expected;
      for (int i = 0; i < 256; ++i) {
        const int v = static_cast<int8_t>(i) - 20, h = i / 32 % 4, w = i / 8 % 4, c = i % 8;
        const int at = shared ? h * 8 + c : (h * 4 + w) * 8 + c;
        const int slope = alpha[static_cast<size_t>(at)] - 3;
        const int steps = v >= 0 ? multiply(v, positive) : multiply(v * slope, negative);
        expected.push_back(static_cast<uint8_t>(clamp8(steps - 5)));
      }
      ASSERT_EQ(run(b, {every_byte()}), std::vector<Bytes>{expected});
    }
  });
}

// Floats beyond int32 are quantised to the limits, and NaN to the lower one. The reference converts
// to int32 first, which is undefined for them.
TEST(TfliteUnary, QuantizeOfFloatsBeyondInt32) {
  TfliteBuilder b;
  const int x = b.input(TensorType::FLOAT32, {1, 6});
  b.op(B::QUANTIZE, {x}, {b.output(TensorType::INT8, {1, 6}, 0.5f, 3)});
  const float inf = std::numeric_limits<float>::infinity();
  const std::vector<float> in = {1e30f, -1e30f, inf, -inf, std::nanf(""), 3e9f};
  EXPECT_EQ(run(b, {testing::to_bytes(in)}),
            std::vector<Bytes>{(Bytes{127, 128, 127, 128, 128, 127})});
}

TEST(TfliteUnary, PreluPerChannel) {
  with_both([] {
    TfliteBuilder b;
    const int x = b.input(TensorType::INT8, {64, 4}, 0.07f, 20);
    const std::vector<int8_t> alpha = {10, -50, 127, 0};
    const int a = b.constant(TensorType::INT8, {4}, alpha, {0.01f}, {3});
    b.op(B::PRELU, {x, a}, {b.output(TensorType::INT8, {64, 4}, 0.05f, -5)});
    const double in = static_cast<double>(0.07f), out = static_cast<double>(0.05f);
    const auto positive = reference_multiplier(in / out);
    const auto negative = reference_multiplier(in * static_cast<double>(0.01f) / out);
    Bytes expected;
    for (int i = 0; i < 256; ++i) {
      const int v = static_cast<int8_t>(i) - 20;
      const int slope = alpha[static_cast<size_t>(i % 4)] - 3;
      const int steps = v >= 0 ? multiply(v, positive) : multiply(v * slope, negative);
      expected.push_back(static_cast<uint8_t>(clamp8(steps - 5)));
    }
    ASSERT_EQ(run(b, {every_byte()}), std::vector<Bytes>{expected});
  });
}

struct Images {
  int h, w, c;
  Bytes bytes;
  int at(int y, int x, int ch) const {
    return static_cast<int8_t>(bytes[static_cast<size_t>((y * w + x) * c + ch)]);
  }
};

Images random_image(int h, int w, int c) {
  Random random;
  Images image{h, w, c, Bytes(static_cast<size_t>(h * w * c))};
  random.fill(image.bytes, 0, 255);
  return image;
}

// Checks a pool with padding SAME, 3 x 3 with stride 2 on 7 x 6: the padding does not count.
void check_pool(B code, tflite::ActivationFunctionType activation, int lo, int hi) {
  const Images image = random_image(7, 6, 21);
  TfliteBuilder b;
  const int x = b.input(TensorType::INT8, {1, 7, 6, 21}, 0.1f, -7);
  tflite::Pool2DOptionsT o;
  o.filter_height = o.filter_width = 3;
  o.stride_h = o.stride_w = 2;
  o.fused_activation_function = activation;
  b.op(code, {x}, {b.output(TensorType::INT8, {1, 4, 3, 21}, 0.1f, -7)}, o);
  Bytes expected;
  for (int oy = 0; oy < 4; ++oy)
    for (int ox = 0; ox < 3; ++ox)
      for (int ch = 0; ch < 21; ++ch) {
        int sum = 0, n = 0, greatest = -128;
        for (int iy = std::max(2 * oy - 1, 0); iy < std::min(2 * oy + 2, 7); ++iy)
          for (int ix = 2 * ox; ix < std::min(2 * ox + 3, 6); ++ix, ++n) {
            sum += image.at(iy, ix, ch);
            greatest = std::max(greatest, image.at(iy, ix, ch));
          }
        const int mean = sum > 0 ? (sum + n / 2) / n : (sum - n / 2) / n;
        expected.push_back(
            static_cast<uint8_t>(std::clamp(code == B::MAX_POOL_2D ? greatest : mean, lo, hi)));
      }
  ASSERT_EQ(b.run({image.bytes}), std::vector<Bytes>{expected});
}

TEST(TflitePool, Average) {
  check_pool(B::AVERAGE_POOL_2D, tflite::ActivationFunctionType::NONE, -128, 127);
  check_pool(B::AVERAGE_POOL_2D, tflite::ActivationFunctionType::RELU6, -7, 53);
}

TEST(TflitePool, Max) {
  check_pool(B::MAX_POOL_2D, tflite::ActivationFunctionType::NONE, -128, 127);
  check_pool(B::MAX_POOL_2D, tflite::ActivationFunctionType::RELU_N1_TO_1, -17, 3);
}

TEST(TfliteReduce, MeanAndSum) {
  with_both([] {
    const Images image = random_image(5, 9, 13);
    for (const B code : {B::MEAN, B::SUM}) {
      const float out = code == B::MEAN ? 0.07f : 3.0f;
      TfliteBuilder b;
      const int x = b.input(TensorType::INT8, {1, 5, 9, 13}, 0.1f, -7);
      const int axes = b.constant<int32_t>(TensorType::INT32, {2}, {1, -2});
      b.op(code, {x, axes}, {b.output(TensorType::INT8, {1, 13}, out, 4)},
           tflite::ReducerOptionsT());
      auto m = reference_multiplier(static_cast<double>(0.1f) / static_cast<double>(out));
      if (code == B::MEAN) {
        const int k = std::min(5, 31 + m.shift);  // 45 positions
        m.value = static_cast<int32_t>((static_cast<int64_t>(m.value) << k) / 45);
        m.shift -= k;
      }
      Bytes expected;
      for (int ch = 0; ch < 13; ++ch) {
        int sum = 0;
        for (int i = 0; i < 45; ++i) sum += image.at(i / 9, i % 9, ch) + 7;
        expected.push_back(static_cast<uint8_t>(clamp8(multiply(sum, m) + 4)));
      }
      ASSERT_EQ(run(b, {image.bytes}), std::vector<Bytes>{expected});
    }
  });
}

TEST(TfliteBinary, MulBroadcasts) {
  with_both([] {
    const Images image = random_image(4, 5, 6);
    TfliteBuilder b;
    const int x = b.input(TensorType::INT8, {1, 4, 5, 6}, 0.1f, -7);
    const std::vector<int8_t> factors = {-128, -3, 0, 40, 99, 127};
    const int f = b.constant(TensorType::INT8, {6}, factors, {0.02f}, {11});
    b.op(B::MUL, {x, f}, {b.output(TensorType::INT8, {1, 4, 5, 6}, 0.13f, 4)},
         tflite::MulOptionsT());
    const auto m = reference_multiplier(static_cast<double>(0.1f) * static_cast<double>(0.02f) /
                                        static_cast<double>(0.13f));
    Bytes expected;
    for (size_t i = 0; i < image.bytes.size(); ++i) {
      const int product = (static_cast<int8_t>(image.bytes[i]) + 7) * (factors[i % 6] - 11);
      expected.push_back(static_cast<uint8_t>(clamp8(multiply(product, m) + 4)));
    }
    ASSERT_EQ(run(b, {image.bytes}), std::vector<Bytes>{expected});
  });
}

TEST(TfliteSelect, MinimumAndMaximumCompareTheIntegers) {
  for (const B code : {B::MINIMUM, B::MAXIMUM}) {
    TfliteBuilder b;
    const int x = b.input(TensorType::INT8, {2, 128}, 0.07f, 20);
    const std::vector<int8_t> limits = {-5, 60};
    const int l = b.constant(TensorType::INT8, {2, 1}, limits, {0.2f}, {-3});
    b.op(code, {x, l}, {b.output(TensorType::INT8, {2, 128}, 0.05f, -5)});
    Bytes expected;
    for (int i = 0; i < 256; ++i) {
      const int v = static_cast<int8_t>(i), limit = limits[static_cast<size_t>(i / 128)];
      expected.push_back(
          static_cast<uint8_t>(code == B::MINIMUM ? std::min(v, limit) : std::max(v, limit)));
    }
    ASSERT_EQ(b.run({every_byte()}), std::vector<Bytes>{expected});
  }
}

TEST(TfliteSelect, TheFirstExtremeWins) {
  for (const B code : {B::ARG_MAX, B::ARG_MIN}) {
    TfliteBuilder b;
    const int x = b.input(TensorType::INT8, {3, 4}, 0.07f, 20);
    const int axis = b.constant<int32_t>(TensorType::INT32, {}, {-1});
    b.op(code, {x, axis}, {b.output(TensorType::INT32, {3})}, tflite::ArgMaxOptionsT());
    const std::vector<int8_t> input = {1, 5, 5, -7, -128, 127, -128, 127, 0, 0, 0, 0};
    const std::vector<int32_t> expected =
        code == B::ARG_MAX ? std::vector<int32_t>{1, 1, 0} : std::vector<int32_t>{3, 0, 0};
    ASSERT_EQ(b.run({to_bytes(input)}), std::vector<Bytes>{to_bytes(expected)});
  }
}

// Matrices are multiplied with either side stored transposed: [2, 3, 5] by [5, 4].
TEST(TfliteBatchMatMul, MultipliesMatrices) {
  with_both([] {
    Random random;
    SCOPED_TRACE(random.trace());
    Bytes x(30), y(20);
    random.fill(x, 0, 255);
    random.fill(y, 0, 255);
    for (const bool adj_x : {false, true})
      for (const bool adj_y : {false, true}) {
        TfliteBuilder b;
        const int a =
            b.input(TensorType::INT8,
                    adj_x ? TfliteBuilder::Dims{2, 5, 3} : TfliteBuilder::Dims{2, 3, 5}, 0.05f, 7);
        const int w =
            b.input(TensorType::INT8, adj_y ? TfliteBuilder::Dims{4, 5} : TfliteBuilder::Dims{5, 4},
                    0.03f, -9);
        tflite::BatchMatMulOptionsT o;
        o.adj_x = adj_x;
        o.adj_y = adj_y;
        b.op(B::BATCH_MATMUL, {a, w}, {b.output(TensorType::INT8, {2, 3, 4}, 0.4f, 2)}, o);
        const float product = 0.05f * 0.03f;
        const auto m =
            reference_multiplier(static_cast<double>(product) / static_cast<double>(0.4f));
        Bytes expected;
        for (size_t n = 0; n < 2; ++n)
          for (size_t i = 0; i < 3; ++i)
            for (size_t j = 0; j < 4; ++j) {
              int sum = 0;
              for (size_t k = 0; k < 5; ++k)
                sum += (static_cast<int8_t>(x[n * 15 + (adj_x ? k * 3 + i : i * 5 + k)]) - 7) *
                       (static_cast<int8_t>(y[adj_y ? j * 5 + k : k * 4 + j]) + 9);
              expected.push_back(static_cast<uint8_t>(clamp8(multiply(sum, m) + 2)));
            }
        ASSERT_EQ(run(b, {x, y}), std::vector<Bytes>{expected});
      }
  });
}

// A reduction over dimensions that are not adjacent, 0 and 2 of three, brings them together.
TEST(TfliteReduce, DimensionsThatStandApart) {
  with_both([] {
    const Images image = random_image(5, 9, 13);
    for (const B code : {B::SUM, B::REDUCE_MAX, B::REDUCE_MIN}) {
      const float out = code == B::SUM ? 3.0f : 0.1f;
      const int zero = code == B::SUM ? 4 : -7;
      TfliteBuilder b;
      const int x = b.input(TensorType::INT8, {5, 9, 13}, 0.1f, -7);
      const int axes = b.constant<int32_t>(TensorType::INT32, {2}, {0, -1});
      tflite::ReducerOptionsT o;
      o.keep_dims = true;
      b.op(code, {x, axes}, {b.output(TensorType::INT8, {1, 9, 1}, out, zero)}, o);
      const auto m = reference_multiplier(static_cast<double>(0.1f) / static_cast<double>(out));
      Bytes expected;
      for (int j = 0; j < 9; ++j) {
        int sum = 0, most = -128, least = 127;
        for (int i = 0; i < 5; ++i)
          for (int k = 0; k < 13; ++k) {
            const int v = image.at(i, j, k);
            sum += v + 7;
            most = std::max(most, v);
            least = std::min(least, v);
          }
        expected.push_back(static_cast<uint8_t>(code == B::SUM ? clamp8(multiply(sum, m) + 4)
                                                : code == B::REDUCE_MAX ? most
                                                                        : least));
      }
      ASSERT_EQ(run(b, {image.bytes}), std::vector<Bytes>{expected});
    }
  });
}

TEST(TfliteReduce, RefusesExtremesOfAnotherScale) {
  TfliteBuilder b;
  const int x = b.input(TensorType::INT8, {4, 4}, 0.1f, -7);
  b.op(B::REDUCE_MAX, {x, b.constant<int32_t>(TensorType::INT32, {1}, {1})},
       {b.output(TensorType::INT8, {4}, 0.2f, -7)}, tflite::ReducerOptionsT());
  expect_rule(b, "input and output are quantised differently");
}

// Checks sums. ADD computes its multipliers in double, SUB in float; `Real` is that type.
template <class Real>
void check_sum(B code, bool single, float sa, float sb, float so) {
  const Images image = random_image(4, 5, 6);
  TfliteBuilder b;
  const int x = b.input(TensorType::INT8, {1, 4, 5, 6}, sa, -7);
  const std::vector<int8_t> terms = {-128, -3, 0, 40, 99, 127};
  const int t = b.constant(TensorType::INT8, {6}, terms, {sb}, {11});
  const int y = b.output(TensorType::INT8, {1, 4, 5, 6}, so, 4);
  if (code == B::ADD) {
    tflite::AddOptionsT o;
    o.fused_activation_function = tflite::ActivationFunctionType::RELU;
    b.op(code, {x, t}, {y}, o);
  } else {
    tflite::SubOptionsT o;
    o.fused_activation_function = tflite::ActivationFunctionType::RELU;
    b.op(code, {x, t}, {y}, o);
  }
  const Real twice = 2 * std::max<Real>(sa, sb);
  const Real fine = static_cast<Real>(1 << 20) * static_cast<Real>(so);
  const auto of = [](Real d) { return reference_multiplier(static_cast<double>(d)); };
  const auto ma = of(static_cast<Real>(sa) / twice), mb = of(static_cast<Real>(sb) / twice);
  const auto mo = of(twice / fine);
  Bytes expected;
  for (size_t i = 0; i < image.bytes.size(); ++i) {
    const int a =
        reference_multiply((static_cast<int8_t>(image.bytes[i]) + 7) * (1 << 20), ma, single);
    const int c = reference_multiply((terms[i % 6] - 11) * (1 << 20), mb, single);
    const int sum = reference_multiply(code == B::ADD ? a + c : a - c, mo, single);
    expected.push_back(static_cast<uint8_t>(std::clamp(sum + 4, 4, 127)));
  }
  const auto reference = single ? convert::TfliteReference::kSingleRounding
                                : convert::TfliteReference::kDoubleRounding;
  ASSERT_EQ(b.run({image.bytes}, reference), std::vector<Bytes>{expected});
}

TEST(TfliteBinary, AddAndSubBroadcast) {
  const float scales[][3] = {{0.1f, 0.02f, 0.13f}, {0.125f, 0.5f, 0.25f}, {0.3f, 0.3f, 0.41f}};
  for (const bool single : {false, true})
    for (const auto& s : scales) {
      check_sum<double>(B::ADD, single, s[0], s[1], s[2]);
      check_sum<float>(B::SUB, single, s[0], s[1], s[2]);
    }
}

TEST(TfliteBinary, RefusesSumsOfATooFineOutput) {
  TfliteBuilder b;
  const int x = b.input(TensorType::INT8, {1, 8}, 0.5f, 0);
  b.op(B::ADD, {x, x}, {b.output(TensorType::INT8, {1, 8}, 5e-7f, 0)}, tflite::AddOptionsT());
  expect_rule(b, "a multiplier of 1 or more");
}

// Shapes computed by operators are folded, and reshape, transposition and concatenation move bytes.
TEST(TfliteMove, FoldsShapesAndMovesBytes) {
  const Images image = random_image(2, 3, 4);
  TfliteBuilder b;
  const int x = b.input(TensorType::INT8, {1, 2, 3, 4}, 0.1f, -7);
  const int dims = b.tensor(TensorType::INT32, {4}), batch = b.tensor(TensorType::INT32, {});
  const int shape = b.tensor(TensorType::INT32, {2});
  b.op(B::SHAPE, {x}, {dims}, tflite::ShapeOptionsT());
  const auto number = [&](int32_t v, const TfliteBuilder::Dims& s) {
    return b.constant<int32_t>(TensorType::INT32, s, {v});
  };
  tflite::StridedSliceOptionsT slice;
  slice.shrink_axis_mask = 1;
  b.op(B::STRIDED_SLICE, {dims, number(0, {1}), number(1, {1}), number(1, {1})}, {batch}, slice);
  tflite::PackOptionsT pack;
  pack.values_count = 2;
  b.op(B::PACK, {batch, number(24, {})}, {shape}, pack);
  const int flat = b.activation(TensorType::INT8, {1, 24}, 0.1f, -7);
  b.op(B::RESHAPE, {x, shape}, {flat}, tflite::ReshapeOptionsT());
  const int turned = b.activation(TensorType::INT8, {24, 1}, 0.1f, -7);
  b.op(B::TRANSPOSE, {flat, b.constant<int32_t>(TensorType::INT32, {2}, {1, 0})}, {turned});
  tflite::ConcatenationOptionsT join;
  join.axis = -1;
  b.op(B::CONCATENATION, {turned, turned}, {b.output(TensorType::INT8, {24, 2}, 0.1f, -7)}, join);
  Bytes expected;
  for (uint8_t byte : image.bytes) expected.insert(expected.end(), 2, byte);
  ASSERT_EQ(b.run({image.bytes}), std::vector<Bytes>{expected});
}

// Arithmetic of shapes is folded: the batch times 3 less 1 plus 22 is 24.
TEST(TfliteMove, FoldsArithmeticOfShapes) {
  const Images image = random_image(2, 3, 4);
  TfliteBuilder b;
  const int x = b.input(TensorType::INT8, {1, 2, 3, 4}, 0.1f, -7);
  const int dims = b.tensor(TensorType::INT32, {4}), product = b.tensor(TensorType::INT32, {4});
  const int less = b.tensor(TensorType::INT32, {4}), shape = b.tensor(TensorType::INT32, {4});
  b.op(B::SHAPE, {x}, {dims}, tflite::ShapeOptionsT());
  const auto numbers = [&](const std::vector<int32_t>& v) {
    return b.constant<int32_t>(TensorType::INT32, {static_cast<int32_t>(v.size())}, v);
  };
  b.op(B::MUL, {dims, numbers({3})}, {product}, tflite::MulOptionsT());
  b.op(B::SUB, {product, numbers({1, 4, 5, 11})}, {less}, tflite::SubOptionsT());
  b.op(B::ADD, {less, numbers({22, -1, -3, 0})}, {shape}, tflite::AddOptionsT());
  b.op(B::RESHAPE, {x, shape}, {b.output(TensorType::INT8, {24, 1, 1, 1}, 0.1f, -7)},
       tflite::ReshapeOptionsT());
  ASSERT_EQ(b.run({image.bytes}), std::vector<Bytes>{image.bytes});
}

// A copy may name other parameters: what follows reads those.
TEST(TfliteMove, AReshapeMayChangeTheZeroPoint) {
  TfliteBuilder b;
  const int x = b.input(TensorType::INT8, {2, 128}, 0.1f, -7);
  const int h = b.activation(TensorType::INT8, {2, 128}, 0.2f, 30);
  b.op(B::RESHAPE, {x}, {h}, tflite::ReshapeOptionsT());
  std::vector<int8_t> eye(128 * 128);
  for (size_t i = 0; i < 128; ++i) eye[i * 129] = 1;
  const int w = b.constant(TensorType::INT8, {128, 128}, eye, {1.0f}, {0});
  b.op(B::FULLY_CONNECTED, {h, w}, {b.output(TensorType::INT8, {2, 128}, 0.2f, 0)},
       tflite::FullyConnectedOptionsT());
  Bytes expected;
  for (int i = 0; i < 256; ++i)
    expected.push_back(static_cast<uint8_t>(clamp8(static_cast<int8_t>(i) - 30)));
  ASSERT_EQ(b.run({every_byte()}), std::vector<Bytes>{expected});
}

TEST(TfliteSoftmax, IsCloseToTheRealFunction) {
  TfliteBuilder b;
  const int x = b.input(TensorType::INT8, {25, 10}, 0.06f, 3);
  tflite::SoftmaxOptionsT o;
  o.beta = 1.0f;
  b.op(B::SOFTMAX, {x}, {b.output(TensorType::INT8, {25, 10}, 1.0f / 256, -128)}, o);
  Random random;
  Bytes input(250);
  random.fill(input, 0, 255);
  const std::vector<Bytes> y = b.run({input});
  ASSERT_EQ(y.size(), 1u);
  for (size_t row = 0; row < 25; ++row) {
    double sum = 0;
    const auto e = [&](size_t j) {
      return std::exp(0.06 * static_cast<double>(static_cast<int8_t>(input[row * 10 + j])));
    };
    for (size_t j = 0; j < 10; ++j) sum += e(j);
    for (size_t j = 0; j < 10; ++j) {
      const int expected = clamp8(std::lround(256 * e(j) / sum) - 128);
      ASSERT_LE(std::abs(static_cast<int8_t>(y[0][row * 10 + j]) - expected), 1);
    }
  }
}

// To int16 the scale is 1/65536; the two references differ in the exponents' roundings only.
TEST(TfliteSoftmax, ToInt16IsCloseToTheRealFunction) {
  TfliteBuilder b;
  const int x = b.input(TensorType::INT8, {25, 10}, 0.06f, 3);
  tflite::SoftmaxOptionsT o;
  o.beta = 1.0f;
  b.op(B::SOFTMAX, {x}, {b.output(TensorType::INT16, {25, 10}, 1.0f / 65536, -32768)}, o);
  Random random;
  Bytes input(250);
  random.fill(input, 0, 255);
  for (const auto reference :
       {TfliteReference::kDoubleRounding, TfliteReference::kSingleRounding}) {
    const std::vector<Bytes> y = b.run({input}, reference);
    ASSERT_EQ(y.size(), 1u);
    std::vector<int16_t> large(250);
    ASSERT_EQ(y[0].size(), large.size() * sizeof(int16_t));
    memcpy(large.data(), y[0].data(), y[0].size());
    for (size_t row = 0; row < 25; ++row) {
      double sum = 0;
      const auto e = [&](size_t j) {
        return std::exp(0.06 * static_cast<double>(static_cast<int8_t>(input[row * 10 + j])));
      };
      for (size_t j = 0; j < 10; ++j) sum += e(j);
      for (size_t j = 0; j < 10; ++j)
        ASSERT_NEAR(large[row * 10 + j], std::min(65536 * e(j) / sum, 65535.0) - 32768, 1);
    }
  }
}

TEST(TfliteSoftmax, RefusesOutputsThatTheReferenceDoesNotMake) {
  const auto reject = [](TensorType type, float scale, int64_t zero_point, const char* part) {
    TfliteBuilder b;
    const int x = b.input(TensorType::INT8, {1, 4}, 0.06f, 3);
    b.op(B::SOFTMAX, {x}, {b.output(type, {1, 4}, scale, zero_point)}, tflite::SoftmaxOptionsT());
    expect_rule(b, part);
  };
  reject(TensorType::INT8, 1.0f / 128, -128, "are not 1/256 and -128");
  reject(TensorType::INT16, 1.0f / 32768, -32768, "are not 1/65536 and -32768");
  reject(TensorType::INT16, 1.0f / 65536, 0, "are not 1/65536 and -32768");
}

TEST(TfliteElu, IsTheRoundedRealFunction) {
  const float in = 0.031f, out = 0.017f, inverse = 1 / out;
  TfliteBuilder b;
  const int x = b.input(TensorType::INT8, {2, 128}, in, 17);
  b.op(B::ELU, {x}, {b.output(TensorType::INT8, {2, 128}, out, -69)});
  Bytes expected;
  for (int i = 0; i < 256; ++i) {
    const float real = in * static_cast<float>(static_cast<int8_t>(i) - 17);
    const auto e = static_cast<float>(std::exp(static_cast<long double>(real)));
    const float y = real < 0 ? e - 1.0f : real;
    expected.push_back(static_cast<uint8_t>(clamp8(std::lround(y * inverse) - 69)));
  }
  ASSERT_EQ(b.run({every_byte()}), std::vector<Bytes>{expected});
}

TEST(TfliteEdges, QuantizeRoundsHalfAwayFromZero) {
  TfliteBuilder b;
  const int x = b.input(TensorType::FLOAT32, {1, 70});
  const int q = b.activation(TensorType::INT8, {1, 70}, 0.5f, 3);
  b.op(B::QUANTIZE, {x}, {q});
  b.op(B::DEQUANTIZE, {q}, {b.output(TensorType::FLOAT32, {1, 70})});
  std::vector<float> input, expected;
  for (int i = 0; i < 70; ++i) {
    input.push_back(0.25f * static_cast<float>(i - 35));
    expected.push_back(0.5f * std::round(input.back() / 0.5f));
  }
  ASSERT_EQ(b.run({to_bytes(input)}), std::vector<Bytes>{to_bytes(expected)});
}

TEST(TfliteEdges, SignedToUnsigned) {
  TfliteBuilder b;
  const int x = b.input(TensorType::INT8, {2, 128}, 0.1f, -7);
  b.op(B::QUANTIZE, {x}, {b.output(TensorType::UINT8, {2, 128}, 0.1f, 121)});
  Bytes expected = every_byte();
  for (uint8_t& byte : expected) byte ^= 128;
  ASSERT_EQ(b.run({every_byte()}), std::vector<Bytes>{expected});
}

}  // namespace
}  // namespace qrt::testing::tflite_ops_test
