// SPDX-License-Identifier: Apache-2.0
// Floats between DEQUANTIZE and QUANTIZE, which become tables, and integers that a run computes.
#include <cfloat>
#include <cmath>
#include <functional>

#include "tests/support/tflite_builder.h"

namespace qrt::tflite_real_test {
namespace {

using testing::Bytes;
using testing::TfliteBuilder;
using testing::to_bytes;
using B = tflite::BuiltinOperator;
using A = tflite::ActivationFunctionType;
using tflite::TensorType;

constexpr float kIn = 0.05f, kOther = 0.11f, kOut = 0.03f;
constexpr int kInZero = -20, kOtherZero = 7, kOutZero = 5;

std::vector<int8_t> every_byte() {
  std::vector<int8_t> x;
  for (int v = -128; v <= 127; ++v) x.push_back(static_cast<int8_t>(v));
  return x;
}

float real(int code, float scale, int zero_point) {
  return static_cast<float>(code - zero_point) * scale;
}

int8_t quantized(float v) {
  const float steps = std::round(v / kOut) + kOutZero;
  return static_cast<int8_t>(std::fmin(std::fmax(steps, -128), 127));  // NaN: -128
}

// A model of float tensors: their ids in, that of its result out.
using Body = std::function<int(TfliteBuilder&, int x, int y)>;

// Checks every byte x, and y = 100 beside each; with `pair` [256, 1] and [1, 256], so every pair.
void check(const Body& body, bool pair, float (*f)(float, float)) {
  for (const bool quantize : {true, false}) {
    TfliteBuilder b;
    const auto input = [&](const TfliteBuilder::Dims& shape, float scale, int zero_point) {
      const int bytes = b.input(TensorType::INT8, shape, scale, zero_point);
      const int floats = b.tensor(TensorType::FLOAT32, shape);
      b.op(B::DEQUANTIZE, {bytes}, {floats});
      return floats;
    };
    const int x = input({256, 1}, kIn, kInZero);
    const int y = pair ? input({1, 256}, kOther, kOtherZero) : -1;
    int z = body(b, x, y);
    if (quantize) {
      const int bytes = b.tensor(TensorType::INT8, b.at(z).shape, {kOut}, {kOutZero});
      b.op(B::QUANTIZE, {z}, {bytes});
      z = bytes;
    }
    b.graph().outputs = {z};
    std::vector<int8_t> bytes;
    std::vector<float> floats;
    for (int i = -128; i <= 127; ++i)
      for (int k = pair ? -128 : 127; k <= 127; ++k) {
        floats.push_back(f(real(i, kIn, kInZero), real(k, kOther, kOtherZero)));
        bytes.push_back(quantized(floats.back()));
      }
    std::vector<Bytes> inputs = {to_bytes(every_byte())};
    if (pair) inputs.push_back(inputs[0]);
    EXPECT_EQ(b.run(inputs), std::vector<Bytes>{quantize ? to_bytes(bytes) : to_bytes(floats)});
  }
}

int unary(TfliteBuilder& b, B code, int x) {
  const int y = b.tensor(TensorType::FLOAT32, b.at(x).shape);
  b.op(code, {x}, {y});
  return y;
}

template <class Options>
int binary(TfliteBuilder& b, B code, int x, int y, const TfliteBuilder::Dims& shape,
           const Options& options) {
  const int z = b.tensor(TensorType::FLOAT32, shape);
  b.op(code, {x, y}, {z}, options);
  return z;
}

TEST(TfliteReal, FunctionsOfOneTensor) {
  const auto expect = [](B code, float (*f)(float, float)) {
    SCOPED_TRACE(tflite::EnumNameBuiltinOperator(code));
    check([&](TfliteBuilder& b, int x, int) { return unary(b, code, x); }, false, f);
  };
  expect(B::ABS, [](float x, float) { return std::fabs(x); });
  expect(B::CEIL, [](float x, float) { return std::ceil(x); });
  expect(B::FLOOR, [](float x, float) { return std::floor(x); });
  expect(B::NEG, [](float x, float) { return -x; });
  expect(B::RELU, [](float x, float) { return x < 0 ? 0 : x; });
  expect(B::RELU6, [](float x, float) { return x < 0 ? 0 : x > 6 ? 6 : x; });
  expect(B::ROUND, [](float x, float) { return std::nearbyint(x) + 0.0f; });
  expect(B::RSQRT, [](float x, float) { return x < 0 ? NAN : 1 / std::sqrt(x); });
  expect(B::SQRT, [](float x, float) { return x < 0 ? NAN : std::sqrt(x); });
  expect(B::SQUARE, [](float x, float) { return x * x; });
  expect(B::EXP,
         [](float x, float) { return static_cast<float>(std::exp(static_cast<double>(x))); });
  expect(B::LOG, [](float x, float) {
    return x < 0 ? NAN : x == 0 ? -INFINITY : static_cast<float>(std::log(static_cast<double>(x)));
  });
}

TEST(TfliteReal, FunctionsOfTwoTensors) {
  const TfliteBuilder::Dims all = {256, 256};
  const auto with = [](auto options, A activation) {
    options.fused_activation_function = activation;
    return options;
  };
  check([&](TfliteBuilder& b, int x,
            int y) { return binary(b, B::DIV, x, y, all, tflite::DivOptionsT()); },
        true,
        [](float x, float y) {
          const float q = x / y;
          return std::isnan(q) ? NAN : std::fmin(std::fmax(q, -FLT_MAX), FLT_MAX);
        });
  check([&](TfliteBuilder& b, int x,
            int y) { return binary(b, B::SUB, x, y, all, with(tflite::SubOptionsT(), A::RELU6)); },
        true, [](float x, float y) { return std::fmin(std::fmax(x - y, 0.0f), 6.0f); });
  // MoveNet's: a quotient with a root and a number, and the tensor itself again.
  check(
      [&](TfliteBuilder& b, int x, int y) {
        const int root = unary(b, B::SQRT, unary(b, B::ABS, y));
        const int number = b.constant(TensorType::FLOAT32, {}, std::vector<float>{1.75f});
        const int sum = binary(b, B::ADD, root, number, {1, 256}, tflite::AddOptionsT());
        const int quotient = binary(b, B::DIV, x, sum, all, tflite::DivOptionsT());
        return binary(b, B::MUL, quotient, x, all, with(tflite::MulOptionsT(), A::RELU));
      },
      true,
      [](float x, float y) {
        const float quotient = x / (std::sqrt(std::fabs(y)) + 1.75f);
        return std::fmax(quotient * x, 0.0f);
      });
}

TEST(TfliteReal, MovesTakeCodes) {
  TfliteBuilder b;
  const int x = b.input(TensorType::INT8, {256}, kIn, kInZero);
  const int floats = b.tensor(TensorType::FLOAT32, {256}), root = unary(b, B::SQRT, floats);
  b.op(B::DEQUANTIZE, {x}, {floats});
  std::swap(b.graph().operators[0], b.graph().operators[1]);
  const int square = b.tensor(TensorType::FLOAT32, {16, 16});
  b.op(B::RESHAPE, {root}, {square});
  const int turned = b.output(TensorType::FLOAT32, {16, 16});
  b.op(B::TRANSPOSE, {square, b.constant(TensorType::INT32, {2}, std::vector<int32_t>{1, 0})},
       {turned});
  std::vector<float> y;
  for (int column = 0; column < 16; ++column)
    for (int row = 0; row < 16; ++row) {
      const float v = real(16 * row + column - 128, kIn, kInZero);
      y.push_back(v < 0 ? NAN : std::sqrt(v));
    }
  EXPECT_EQ(b.run({to_bytes(every_byte())}), std::vector<Bytes>{to_bytes(y)});
}

TEST(TfliteReal, JoinsFloats) {
  TfliteBuilder b;
  std::vector<int> parts;
  for (const float scale : {kIn, kOther}) {
    const int x = b.input(TensorType::INT8, {1, 2}, scale, 0);
    parts.push_back(b.tensor(TensorType::FLOAT32, {1, 2}));
    b.op(B::DEQUANTIZE, {x}, {parts.back()});
  }
  tflite::ConcatenationOptionsT o;
  o.axis = 1;
  b.op(B::CONCATENATION, parts, {b.output(TensorType::FLOAT32, {1, 4})}, o);
  EXPECT_EQ(
      b.run({to_bytes(std::vector<int8_t>{3, -4}), to_bytes(std::vector<int8_t>{5, -6})}),
      std::vector<Bytes>{to_bytes(std::vector<float>{3 * kIn, -4 * kIn, 5 * kOther, -6 * kOther})});
}

TEST(TfliteReal, CastsIntegersToFloats) {
  for (const bool is_int8 : {true, false}) {
    TfliteBuilder b;
    const TensorType type = is_int8 ? TensorType::INT8 : TensorType::UINT8;
    const int x = b.input(type, {256}), y = b.output(TensorType::FLOAT32, {256});
    b.op(B::CAST, {x}, {y});
    std::vector<float> expected;
    for (int v = 0; v < 256; ++v)
      expected.push_back(static_cast<float>(is_int8 ? static_cast<int8_t>(v) : v));
    Bytes bytes;
    for (int v = 0; v < 256; ++v) bytes.push_back(static_cast<uint8_t>(v));
    EXPECT_EQ(b.run({bytes}), std::vector<Bytes>{to_bytes(expected)});
  }
  TfliteBuilder b;
  b.op(B::CAST, {b.input(TensorType::INT32, {3})}, {b.output(TensorType::FLOAT32, {3})});
  EXPECT_EQ(b.run({to_bytes(std::vector<int32_t>{-7, 16777217, INT32_MIN})}),
            std::vector<Bytes>{to_bytes(std::vector<float>{-7, 16777216, -2147483648.0f})});
}

TEST(TfliteReal, RefusesWhatNoTableIs) {
  TfliteBuilder three;
  std::vector<int> floats;
  for (int i = 0; i < 3; ++i) {
    const int x = three.input(TensorType::INT8, {4}, kIn, 0);
    floats.push_back(three.tensor(TensorType::FLOAT32, {4}));
    three.op(B::DEQUANTIZE, {x}, {floats.back()});
  }
  const int sum = binary(three, B::ADD, floats[0], floats[1], {4}, tflite::AddOptionsT());
  const int all = binary(three, B::ADD, sum, floats[2], {4}, tflite::AddOptionsT());
  three.graph().outputs = {all};
  EXPECT_NE(three.import().report.text(true).find("more than two quantised tensors"),
            std::string::npos);
  TfliteBuilder plain;
  plain.graph().outputs = {unary(plain, B::SQRT, plain.input(TensorType::FLOAT32, {4}))};
  testing::expect_rule(plain, "is float32: only integer operators are supported");
}

using Integers = std::vector<int32_t>;

Bytes run_integers(B code, const Integers& x, const Integers& y, bool is_constant) {
  TfliteBuilder b;
  const auto n = static_cast<int32_t>(x.size()), m = static_cast<int32_t>(y.size());
  const int a = b.input(TensorType::INT32, {n});
  const int c =
      is_constant ? b.constant(TensorType::INT32, {m}, y) : b.input(TensorType::INT32, {m});
  b.op(code, {a, c}, {b.output(TensorType::INT32, {n})});
  std::vector<Bytes> inputs = {to_bytes(x)};
  if (!is_constant) inputs.push_back(to_bytes(y));
  return b.run(inputs)[0];
}

TEST(TfliteIntegers, OfARun) {
  const Integers x = {7, -7, 8, -8, INT32_MAX, INT32_MIN, 0};
  for (const bool is_constant : {true, false}) {
    EXPECT_EQ(run_integers(B::FLOOR_DIV, x, {3}, is_constant),
              to_bytes(Integers{2, -3, 2, -3, 715827882, -715827883, 0}));
    EXPECT_EQ(run_integers(B::FLOOR_DIV, x, {-4}, is_constant),
              to_bytes(Integers{-2, 1, -2, 2, -536870912, 536870912, 0}));
    EXPECT_EQ(run_integers(B::FLOOR_MOD, x, {3}, is_constant),
              to_bytes(Integers{1, 2, 2, 1, 1, 1, 0}));
    EXPECT_EQ(run_integers(B::FLOOR_MOD, x, {-4}, is_constant),
              to_bytes(Integers{-1, -3, 0, 0, -1, 0, 0}));
    EXPECT_EQ(run_integers(B::MUL, {1, -2, 3}, {10, 20, 30}, is_constant),
              to_bytes(Integers{10, -40, 90}));
    EXPECT_EQ(run_integers(B::SUB, {1, -2, 3}, {10, 20, 30}, is_constant),
              to_bytes(Integers{-9, -22, -27}));
    EXPECT_EQ(run_integers(B::ADD, {1, -2, 3}, {5}, is_constant), to_bytes(Integers{6, 3, 8}));
  }
  TfliteBuilder b;
  b.op(B::FLOOR_DIV,
       {b.input(TensorType::INT32, {2}), b.constant(TensorType::INT32, {1}, Integers{0})},
       {b.output(TensorType::INT32, {2})});
  testing::expect_rule(b, "it divides by 0");
}

// GATHER_ND takes indices that a run computes.
TEST(TfliteIntegers, GatherNdAtIndicesOfARun) {
  TfliteBuilder b;
  std::vector<int8_t> x;
  for (int i = 0; i < 2 * 3 * 4; ++i) x.push_back(static_cast<int8_t>(i - 9));
  const int data = b.input(TensorType::INT8, {2, 3, 4}, kIn, kInZero);
  const int column = b.input(TensorType::INT32, {5});
  const int row = b.constant(TensorType::INT32, {5}, Integers{0, 1, 1, 0, 1});
  const int indices = b.tensor(TensorType::INT32, {5, 2});
  tflite::PackOptionsT pack;
  pack.axis = 1;
  b.op(B::PACK, {row, column}, {indices}, pack);
  b.op(B::GATHER_ND, {data, indices}, {b.output(TensorType::INT8, {5, 4}, kIn, kInZero)});
  const int more = b.tensor(TensorType::INT32, {5, 3});
  tflite::ConcatenationOptionsT join;
  join.axis = 1;
  b.op(B::CONCATENATION, {indices, b.constant(TensorType::INT32, {5, 1}, Integers{3, 2, 1, 0, 3})},
       {more}, join);
  b.op(B::GATHER_ND, {data, more}, {b.output(TensorType::INT8, {5}, kIn, kInZero)});
  const Integers columns = {2, 0, 1, 1, 2};
  std::vector<int8_t> rows, elements;
  const int at[] = {2, 3, 4, 1, 5}, last[] = {3, 2, 1, 0, 3};
  for (int i = 0; i < 5; ++i) {
    for (int k = 0; k < 4; ++k) rows.push_back(x[static_cast<size_t>(4 * at[i] + k)]);
    elements.push_back(x[static_cast<size_t>(4 * at[i] + last[i])]);
  }
  EXPECT_EQ(b.run({to_bytes(x), to_bytes(columns)}),
            (std::vector<Bytes>{to_bytes(rows), to_bytes(elements)}));
}

TEST(TfliteIntegers, TopK) {
  for (const TensorType type : {TensorType::INT8, TensorType::INT16}) {
    TfliteBuilder b;
    const int zero = type == TensorType::INT8 ? kInZero : 0;
    const int x = b.input(type, {2, 5}, kIn, zero);
    const int k = b.constant(TensorType::INT32, {}, Integers{3});
    const int values = b.output(type, {2, 3}, kIn, zero);
    b.op(B::TOPK_V2, {x, k}, {values, b.output(TensorType::INT32, {2, 3})});
    const auto bytes = [&](const std::vector<int8_t>& v) {
      return type == TensorType::INT8 ? to_bytes(v)
                                      : to_bytes(std::vector<int16_t>(v.begin(), v.end()));
    };
    EXPECT_EQ(
        b.run({bytes({-5, 9, 9, -128, 3, 127, 0, 0, 0, -1})}),
        (std::vector<Bytes>{bytes({9, 9, 3, 127, 0, 0}), to_bytes(Integers{1, 2, 4, 0, 1, 2})}));
  }
}

TEST(TfliteIntegers, OperatorsOfSeveralOutputsHaveThem) {
  TfliteBuilder b;
  const int x = b.input(TensorType::INT8, {2, 5}, kIn, kInZero);
  b.op(B::TOPK_V2, {x, b.constant(TensorType::INT32, {}, Integers{3})},
       {b.output(TensorType::INT8, {2, 3}, kIn, kInZero)});
  const testing::Imported imported = b.import();
  EXPECT_EQ(imported.status.code(), Code::kInvalidModel);
  EXPECT_NE(std::string(imported.status.message()).find("has 1 outputs, expected at least 2"),
            std::string::npos)
      << imported.status.message();
}

// An operator may list more outputs than it has, if nothing reads them.
TEST(TfliteIntegers, OutputsThatNoOperatorMakes) {
  TfliteBuilder b;
  const int x = b.input(TensorType::INT8, {4}, kIn, kInZero);
  const int y = b.output(TensorType::INT8, {4}, kIn, kInZero);
  const int more = b.tensor(TensorType::INT8, {4}, {kIn}, {kInZero});
  b.op(B::ABS, {x}, {y, more});
  EXPECT_TRUE(b.import().status.ok());
  b.op(B::ABS, {more}, {b.output(TensorType::INT8, {4}, kIn, kInZero)});
  EXPECT_NE(b.import().report.text(true).find("is made by no operator"), std::string::npos);
}

// Integers known at conversion may be read in a run, and be outputs of the model, too.
TEST(TfliteIntegers, KnownIntegersInARun) {
  TfliteBuilder b;
  const int x = b.input(TensorType::INT32, {2});
  const int shape = b.tensor(TensorType::INT32, {1});
  b.op(B::SHAPE, {x}, {shape});
  b.op(B::MUL, {x, shape}, {b.output(TensorType::INT32, {2})});
  EXPECT_EQ(b.run({to_bytes(Integers{5, -7})}), std::vector<Bytes>{to_bytes(Integers{10, -14})});
  b.graph().outputs.push_back(shape);
  EXPECT_EQ(b.run({to_bytes(Integers{5, -7})}),
            (std::vector<Bytes>{to_bytes(Integers{10, -14}), to_bytes(Integers{2})}));
}

}  // namespace
}  // namespace qrt::tflite_real_test
