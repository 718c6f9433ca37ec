// SPDX-License-Identifier: Apache-2.0
// TFLite's functions of a byte that its reference makes tables of, SQUARED_DIFFERENCE, and what its
// interpreter has for uint8, against the formulas. Values that the C library computes are compared
// where its last bit decides nothing.
#include <gtest/gtest.h>

#include <functional>
#include <numeric>

#include "tests/support/random.h"
#include "tests/support/tflite_builder.h"
#include "tests/support/tflite_reference.h"

namespace qrt::testing::tflite_function_test {
namespace {

using B = BuiltinOperator;

struct Scaled {
  float scale;
  int zero_point;
};

Bytes every_byte() {
  Bytes bytes(256);
  std::iota(bytes.begin(), bytes.end(), uint8_t{0});
  return bytes;
}

int value_of(TensorType type, uint8_t byte) {
  return type == TensorType::INT8 ? static_cast<int8_t>(byte) : byte;
}
int clamped(TensorType type, int64_t v) {
  return static_cast<int>(type == TensorType::INT8 ? std::clamp<int64_t>(v, -128, 127)
                                                   : std::clamp<int64_t>(v, 0, 255));
}

template <class Options>
TfliteBuilder unary(B code, const Options& options, TensorType type, Scaled in, Scaled out) {
  TfliteBuilder b;
  const int x = b.input(type, {256}, in.scale, in.zero_point);
  b.op(code, {x}, {b.output(type, {256}, out.scale, out.zero_point)}, options);
  return b;
}

// Checks every byte through a table of floats.
template <class Options>
void check_table(B code, const Options& options, TensorType type, Scaled in, Scaled out,
                 float (*f)(float)) {
  Bytes expected;
  for (int i = 0; i < 256; ++i) {
    const int v = value_of(type, static_cast<uint8_t>(i));
    const float real = f(in.scale * static_cast<float>(v - in.zero_point));
    const float steps = std::round(real * (1 / out.scale)) + static_cast<float>(out.zero_point);
    expected.push_back(static_cast<uint8_t>(clamped(type, static_cast<int64_t>(steps))));
  }
  EXPECT_EQ(unary(code, options, type, in, out).run({every_byte()}), std::vector<Bytes>{expected});
}

const tflite::ReshapeOptionsT kNone;

TEST(TfliteFunction, TablesOfInt8) {
  const auto s8 = TensorType::INT8;
  check_table(B::EXP, kNone, s8, {0.05f, 20}, {0.8f, -128}, [](float v) { return std::exp(v); });
  check_table(B::EXP, kNone, s8, {0.02f, 127}, {1.0f / 256, -128},
              [](float v) { return std::exp(v); });
  check_table(B::LOG, kNone, s8, {0.03f, -128}, {0.04f, 60},
              [](float v) { return v <= 0 ? -188 * 0.04f : std::log(v); });
  check_table(B::LOG, kNone, s8, {0.03f, 3}, {0.05f, -20},
              [](float v) { return v <= 0 ? -108 * 0.05f : std::log(v); });
  check_table(B::ELU, kNone, s8, {0.04f, 5}, {0.03f, -90},
              [](float v) { return v < 0 ? std::exp(v) - 1.0f : v; });
}

TEST(TfliteFunction, Gelu) {
  tflite::GeluOptionsT o;
  for (const auto type : {TensorType::INT8, TensorType::UINT8}) {
    const int shift = type == TensorType::UINT8 ? 128 : 0;
    for (const Scaled in :
         {Scaled{0.05f, 7 + shift}, Scaled{0.013f, -30 + shift}, Scaled{0.2f, shift}}) {
      const Scaled out = {in.scale * 0.7f, -100 + shift};
      o.approximate = false;
      check_table(B::GELU, o, type, in, out,
                  [](float v) { return 0.5f * v * std::erfc(v * static_cast<float>(-M_SQRT1_2)); });
      o.approximate = true;
      check_table(B::GELU, o, type, in, out, [](float v) {
        const float root = static_cast<float>(M_2_SQRTPI * M_SQRT1_2);
        return 0.5f * v * (1.0f + std::tanh(root * (v + 0.044715f * v * v * v)));
      });
    }
  }
}

TEST(TfliteFunction, TablesOfUint8) {
  const auto u8 = TensorType::UINT8;
  for (const Scaled in : {Scaled{0.06f, 128}, Scaled{0.011f, 3}, Scaled{0.4f, 200}}) {
    check_table(B::LOGISTIC, kNone, u8, in, {1.0f / 256, 0},
                [](float v) { return 1.0f / (1.0f + std::exp(-v)); });
    check_table(B::TANH, kNone, u8, in, {1.0f / 128, 128}, [](float v) { return std::tanh(v); });
    check_table(B::TANH, kNone, u8, in, {0.0001f, 128}, [](float v) { return std::tanh(v); });
  }
  expect_rule(unary(B::LOGISTIC, kNone, u8, {0.1f, 0}, {1.0f / 255, 0}),
              "the output's scale is not 1/256");
  expect_rule(unary(B::ELU, kNone, u8, {0.1f, 0}, {0.1f, 0}), "the input is uint8");
}

TEST(TfliteFunction, RefusesWhatOverflows) {
  expect_rule(unary(B::EXP, kNone, TensorType::INT8, {0.5f, -128}, {0.01f, -128}),
              "a result is beyond int32 steps");
}

TEST(TfliteFunction, SqrtTruncates) {
  const Scaled in = {0.07f, -100}, out = {0.02f, -120};
  Bytes expected;
  for (int i = 0; i < 256; ++i) {
    const int v = std::max(static_cast<int8_t>(i) + 100, 0);
    const float root = std::sqrt(in.scale * static_cast<float>(v));
    expected.push_back(static_cast<uint8_t>(
        clamped(TensorType::INT8, static_cast<int>(root / out.scale) + out.zero_point)));
  }
  EXPECT_EQ(unary(B::SQRT, kNone, TensorType::INT8, in, out).run({every_byte()}),
            std::vector<Bytes>{expected});
}

TEST(TfliteFunction, SqrtOfEveryInt16) {
  std::vector<int16_t> x(65536), expected(65536);
  std::iota(x.begin(), x.end(), int16_t{-32768});
  for (const auto& [in, out] : {std::pair{0.0007f, 0.0002f}, {3.0f, 0.001f}, {1e-6f, 1e-4f}}) {
    for (size_t i = 0; i < x.size(); ++i) {
      const float root = std::sqrt(in * static_cast<float>(std::max<int>(x[i], 0)));
      expected[i] = static_cast<int16_t>(std::min(static_cast<int>(root / out), 32767));
    }
    TfliteBuilder b;
    const int id = b.input(TensorType::INT16, {65536}, in, 0);
    b.op(B::SQRT, {id}, {b.output(TensorType::INT16, {65536}, out, 0)});
    EXPECT_EQ(b.run({to_bytes(x)}), std::vector<Bytes>{to_bytes(expected)}) << in;
  }
}

// Returns 1 / sqrt(x) as a multiplier, by five steps of Newton and Raphson in Q3.28.
ReferenceMultiplier inverse_root(int32_t x) {
  if (x <= 1) return {INT32_MAX, 0};
  const auto rescale = [](int32_t v, int bits) {
    return static_cast<int32_t>(
        std::clamp<int64_t>(int64_t{v} * (int64_t{1} << bits), INT32_MIN, INT32_MAX));
  };
  int pairs = (__builtin_clz(static_cast<unsigned>(x)) - 1) / 2 - 1;
  x <<= 2 * pairs;
  const int32_t input = x >> 1, half_input = reference_divide_by_power(input, 1);
  int32_t root = 1 << 28;
  for (int i = 0; i < 5; ++i) {
    const int32_t cube = rescale(reference_high_mul(reference_high_mul(root, root), root), 6);
    root = rescale(
        reference_high_mul((1 << 28) + (1 << 27), root) - reference_high_mul(half_input, cube), 3);
  }
  root = reference_high_mul(root, 1518500250);
  const int shift = 11 - pairs;
  return shift < 0 ? ReferenceMultiplier{root << -shift, 0} : ReferenceMultiplier{root, -shift};
}

// Returns 1 / sqrt(x) of every code from `lowest` on: 20 bits of a fraction, then the scales.
std::vector<int> inverse_roots(int lowest, int greatest, Scaled in, Scaled out, bool single) {
  ReferenceMultiplier m =
      reference_multiplier(1.0 / static_cast<double>(std::sqrt(in.scale) * out.scale));
  m.shift -= 20;
  std::vector<int> expected;
  for (int x = lowest; x <= greatest; ++x) {
    const int v = x - in.zero_point;
    if (v <= 0) {
      expected.push_back(greatest);
      continue;
    }
    ReferenceMultiplier root = inverse_root(v);
    root.shift += 20;
    const int64_t steps = reference_multiply(reference_multiply(1, root, single), m, single);
    expected.push_back(
        static_cast<int>(std::clamp<int64_t>(steps + out.zero_point, lowest, greatest)));
  }
  return expected;
}

const struct {
  bool single;
  TfliteReference reference;
} kRoundings[] = {{false, TfliteReference::kDoubleRounding},
                  {true, TfliteReference::kSingleRounding}};

TEST(TfliteFunction, Rsqrt) {
  for (const auto& [single, reference] : kRoundings)
    for (const Scaled in : {Scaled{0.07f, -128}, Scaled{0.0004f, -60}, Scaled{3.0f, 0}}) {
      const Scaled out = {0.03f / std::sqrt(in.scale), -128};
      Bytes expected(256);
      const std::vector<int> roots = inverse_roots(-128, 127, in, out, single);
      for (int x = -128; x <= 127; ++x)
        expected[static_cast<uint8_t>(x)] =
            static_cast<uint8_t>(roots[static_cast<size_t>(x + 128)]);
      EXPECT_EQ(unary(B::RSQRT, kNone, TensorType::INT8, in, out).run({every_byte()}, reference),
                std::vector<Bytes>{expected});
    }
}

TEST(TfliteFunction, RsqrtOfEveryInt16) {
  std::vector<int16_t> x(65536);
  std::iota(x.begin(), x.end(), int16_t{-32768});
  const struct {
    float in, out;
  } kScales[] = {{142.0f / 32768, 1.0f / 32768},
                 {0.0002f, 0.002f},
                 {1.0f / 32768, 0.006f},
                 {1.0f, 1.0f / 32768},
                 {30.0f, 1e-5f},
                 {2.5e-7f, 2e-6f},
                 {0.01f, 1000.0f}};
  for (const auto& [single, reference] : kRoundings)
    for (const auto& [in, out] : kScales) {
      TfliteBuilder b;
      const int id = b.input(TensorType::INT16, {65536}, in, 0);
      b.op(B::RSQRT, {id}, {b.output(TensorType::INT16, {65536}, out, 0)});
      const std::vector<int> roots = inverse_roots(-32768, 32767, {in, 0}, {out, 0}, single);
      EXPECT_EQ(b.run({to_bytes(x)}, reference),
                std::vector<Bytes>{to_bytes(std::vector<int16_t>(roots.begin(), roots.end()))})
          << in << " -> " << out;
    }
}

TEST(TfliteFunction, RefusesZeroPointsOfInt16) {
  for (const B code : {B::ABS, B::EXP, B::LOG, B::RSQRT, B::SQRT})
    for (const int of_input : {0, 1}) {
      TfliteBuilder b;
      const int x = b.input(TensorType::INT16, {8}, 0.01f, of_input);
      b.op(code, {x}, {b.output(TensorType::INT16, {8}, 0.01f, 1 - of_input)});
      expect_rule(b, "an int16 tensor has a zero point other than 0");
    }
}

// L2 normalisation keeps the zero point and the reference's rounding; its arithmetic is tested in
// tests/ops/l2_normalization_test.cc.
TEST(TfliteFunction, L2Normalization) {
  const auto build = [](TensorType type, float out_scale, int out_zero_point) {
    TfliteBuilder b;
    const int x = b.input(type, {1, 48}, 0.02f, -128),
              y = b.output(type, {1, 48}, out_scale, out_zero_point);
    b.op(B::L2_NORMALIZATION, {x}, {y}, tflite::L2NormOptionsT());
    return b;
  };
  std::vector<int8_t> x;
  for (int i = 0; i < 48; ++i) x.push_back(static_cast<int8_t>(127 - i * 7 % 40));
  const Bytes two = build(TensorType::INT8, 1.0f / 128, 0).run({to_bytes(x)})[0],
              one = build(TensorType::INT8, 1.0f / 128, 0)
                        .run({to_bytes(x)}, TfliteReference::kSingleRounding)[0];
  EXPECT_EQ(Bytes(two.begin(), two.begin() + 6),
            to_bytes(std::vector<int8_t>{20, 20, 19, 19, 18, 17}));
  EXPECT_EQ(Bytes(one.begin(), one.begin() + 6),
            to_bytes(std::vector<int8_t>{20, 19, 19, 18, 18, 17}));
  EXPECT_EQ(build(TensorType::INT8, 1.0f / 127, 0).import().status.code(), Code::kUnsupported);
  EXPECT_EQ(build(TensorType::UINT8, 1.0f / 128, 128).import().status.code(), Code::kUnsupported);
}

// Checks 513 samples of f, and the lines between them.
template <class Options>
void check_sampled(B code, const Options& options, float in, float out, float (*f)(float)) {
  std::vector<int16_t> x, samples;
  for (int v = -32768; v < 32768; v += 3) x.push_back(static_cast<int16_t>(v));
  const float lowest = in * -32768, step = (in * 32767 - lowest) / 512;
  const float inverse = 65536.0f / (out * 32767 - out * -32768);
  for (int i = 0; i <= 512; ++i) {
    const float at = lowest + static_cast<float>(i) * step;
    const float next = lowest + static_cast<float>(i + 1) * step;
    const float sample = std::round(f(i < 512 ? at : in * 32767) * inverse);
    const float line = std::round((f(next) * inverse + sample) / 2);
    const float error = line - std::round(f(at + step / 2) * inverse);
    const float bias = i < 512 ? std::round(error / 2) : 0;
    samples.push_back(static_cast<int16_t>(std::clamp(sample - bias, -32768.0f, 32767.0f)));
  }
  std::vector<int16_t> expected;
  for (const int16_t v : x) {
    const auto i = static_cast<size_t>(256 + (v >> 7));
    const auto slope = static_cast<int16_t>(samples[i + 1] - samples[i]);
    expected.push_back(static_cast<int16_t>(samples[i] + ((slope * (v & 127) + 64) >> 7)));
  }
  TfliteBuilder b;
  const auto n = static_cast<int32_t>(x.size());
  const int id = b.input(TensorType::INT16, {n}, in, 0);
  b.op(code, {id}, {b.output(TensorType::INT16, {n}, out, 0)}, options);
  EXPECT_EQ(b.run({to_bytes(x)}), std::vector<Bytes>{to_bytes(expected)});
}

TEST(TfliteFunction, SampledOfInt16) {
  check_sampled(B::EXP, kNone, 0.0001f, 0.001f, [](float v) { return std::exp(v); });
  check_sampled(B::LOG, kNone, 0.0003f, 0.0004f,
                [](float v) { return v <= 0 ? -32768 * 0.0004f : std::log(v); });
}

TEST(TfliteFunction, SquaredDifference) {
  const Scaled a = {0.03f, -7}, c = {0.05f, 12}, out = {0.9f, -128};
  for (const bool single : {false, true}) {
    TfliteBuilder b;
    const int x = b.input(TensorType::INT8, {256, 1}, a.scale, a.zero_point);
    const int y = b.input(TensorType::INT8, {1, 256}, c.scale, c.zero_point);
    b.op(B::SQUARED_DIFFERENCE, {x, y},
         {b.output(TensorType::INT8, {256, 256}, out.scale, out.zero_point)});
    const double twice = 2.0 * static_cast<double>(c.scale);
    const auto of_a = reference_multiplier(static_cast<double>(a.scale) / twice);
    const auto of_c = reference_multiplier(static_cast<double>(c.scale) / twice);
    const auto to_out =
        reference_multiplier(twice * twice / static_cast<double>(16384.0f * out.scale));
    Bytes expected;
    for (int i = 0; i < 256; ++i)
      for (int k = 0; k < 256; ++k) {
        const int v = (static_cast<int8_t>(i) - a.zero_point) * 128;
        const int w = (static_cast<int8_t>(k) - c.zero_point) * 128;
        const int d = reference_multiply(v, of_a, single) - reference_multiply(w, of_c, single);
        expected.push_back(static_cast<uint8_t>(
            clamped(TensorType::INT8, int64_t{reference_multiply(d * d, to_out, single)} - 128)));
      }
    EXPECT_EQ(b.run({every_byte(), every_byte()},
                    single ? TfliteReference::kSingleRounding : TfliteReference::kDoubleRounding),
              std::vector<Bytes>{expected});
  }
}

TEST(TfliteFunction, SoftmaxOfUint8) {
  Random random;
  SCOPED_TRACE(random.trace());
  for (const int n : {1, 2, 5, 40, 300, 5000}) {
    TfliteBuilder b;
    const Scaled in = {0.07f, 60};
    const float beta = 0.9f;
    const int x = b.input(TensorType::UINT8, {3, n}, in.scale, in.zero_point);
    tflite::SoftmaxOptionsT o;
    o.beta = beta;
    b.op(B::SOFTMAX, {x}, {b.output(TensorType::UINT8, {3, n}, 1.0f / 256, 0)}, o);
    Bytes input(3 * static_cast<size_t>(n)), expected;
    random.fill(input, 0, 255);
    for (size_t row = 0; row < 3; ++row) {
      const uint8_t* r = &input[row * static_cast<size_t>(n)];
      const int greatest = *std::max_element(r, r + n);
      const float scale = -in.scale * beta;
      const auto e = [&](int j) { return std::exp(scale * static_cast<float>(greatest - r[j])); };
      float sum = 0;
      for (int j = 0; j < n; ++j) sum = sum + e(j);
      const float inverse = 1.0f / (sum * (1.0f / 256));
      for (int j = 0; j < n; ++j) {
        const float share = e(j) * inverse;
        const float above = share + 0.5f;
        expected.push_back(static_cast<uint8_t>(std::min(static_cast<int>(above), 255)));
      }
    }
    EXPECT_EQ(b.run({input}), std::vector<Bytes>{expected}) << n;
  }
  TfliteBuilder other;
  const int x = other.input(TensorType::UINT8, {1, 4}, 0.1f, 0);
  other.op(B::SOFTMAX, {x}, {other.output(TensorType::UINT8, {1, 4}, 1.0f / 256, 1)},
           tflite::SoftmaxOptionsT());
  expect_rule(other, "the output's zero point is not 0");
}

TEST(TfliteFunction, RequantisationOfUint8) {
  const Scaled in = {0.07f, 60}, out = {0.05f, 90};
  const auto m =
      reference_multiplier(static_cast<double>(in.scale) / static_cast<double>(out.scale));
  Bytes expected;
  for (int i = 0; i < 256; ++i)
    expected.push_back(static_cast<uint8_t>(clamped(
        TensorType::UINT8, reference_multiply(i - in.zero_point, m, false) + out.zero_point)));
  EXPECT_EQ(unary(B::QUANTIZE, kNone, TensorType::UINT8, in, out).run({every_byte()}),
            std::vector<Bytes>{expected});
}

struct Enlargement {
  int h, w, to_h, to_w;
  bool corners, half_pixels;
};

TfliteBuilder resize(const Enlargement& e, int channels) {
  TfliteBuilder b;
  const int x = b.input(TensorType::UINT8, {1, e.h, e.w, channels}, 0.1f, 3);
  const int size = b.constant<int32_t>(TensorType::INT32, {2}, {e.to_h, e.to_w});
  tflite::ResizeBilinearOptionsT o;
  o.align_corners = e.corners;
  o.half_pixel_centers = e.half_pixels;
  b.op(B::RESIZE_BILINEAR, {x, size},
       {b.output(TensorType::UINT8, {1, e.to_h, e.to_w, channels}, 0.1f, 3)}, o);
  return b;
}

TEST(TfliteFunction, ResizeOfUint8) {
  Random random;
  SCOPED_TRACE(random.trace());
  constexpr int kChannels = 3;
  for (const Enlargement& e :
       {Enlargement{5, 7, 10, 14, false, true}, Enlargement{33, 17, 257, 129, true, false},
        Enlargement{1, 1, 9, 6, true, false}, Enlargement{8, 8, 4, 2, false, false},
        Enlargement{4, 4, 32, 64, false, false}, Enlargement{6, 3, 96, 48, false, true}}) {
    SCOPED_TRACE(std::to_string(e.h) + "x" + std::to_string(e.w));
    Bytes x(static_cast<size_t>(e.h * e.w * kChannels)), expected;
    random.fill(x, 0, 255);
    const auto place = [&](int i, int in, int out, float* weight, int* low, int* high) {
      float scale = static_cast<float>(in) / static_cast<float>(out);
      if (e.corners && out > 1) scale = static_cast<float>(in - 1) / static_cast<float>(out - 1);
      const auto at = static_cast<float>(i);
      const float v = e.half_pixels ? (at + 0.5f) * scale - 0.5f : at * scale;
      *low = std::max(static_cast<int>(std::floor(v)), 0);
      *high = std::min(static_cast<int>(std::ceil(v)), in - 1);
      *weight = v - static_cast<float>(*low);
    };
    for (int i = 0; i < e.to_h; ++i)
      for (int k = 0; k < e.to_w; ++k)
        for (int c = 0; c < kChannels; ++c) {
          float dy, dx;
          int y0, y1, x0, x1;
          place(i, e.h, e.to_h, &dy, &y0, &y1);
          place(k, e.w, e.to_w, &dx, &x0, &x1);
          const auto at = [&](int row, int column) {
            return static_cast<float>(x[static_cast<size_t>((row * e.w + column) * kChannels + c)]);
          };
          const float sum = at(y0, x0) * (1 - dy) * (1 - dx) + at(y1, x0) * dy * (1 - dx) +
                            at(y0, x1) * (1 - dy) * dx + at(y1, x1) * dy * dx + 0.5f;
          expected.push_back(static_cast<uint8_t>(sum));
        }
    EXPECT_EQ(resize(e, kChannels).run({x}), std::vector<Bytes>{expected});
  }
  expect_rule(resize({3, 3, 7, 7, false, false}, 1), "the weights of this enlargement are rounded");
}

TEST(TfliteFunction, ArgMaxToInt64) {
  TfliteBuilder b;
  const int x = b.input(TensorType::UINT8, {2, 3}, 0.1f, 3);
  const int axis = b.constant<int32_t>(TensorType::INT32, {1}, {1});
  b.op(B::ARG_MAX, {x, axis}, {b.output(TensorType::INT64, {2})});
  EXPECT_EQ(b.run({Bytes{1, 9, 9, 200, 7, 3}}),
            std::vector<Bytes>{to_bytes(std::vector<int64_t>{1, 0})});
}

}  // namespace
}  // namespace qrt::testing::tflite_function_test
