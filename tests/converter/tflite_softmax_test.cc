// SPDX-License-Identifier: Apache-2.0
// LOG_SOFTMAX of int8, and SOFTMAX of the floats that bytes stand for, against the reference's steps.
#include <algorithm>
#include <cmath>

#include "tests/support/random.h"
#include "tests/support/tflite_builder.h"
#include "tests/support/tflite_reference.h"

namespace qrt::testing::tflite_softmax_test {
namespace {

using B = BuiltinOperator;

// Returns the product of Q0.31 numbers, as gemmlowp's FixedPoint does.
int32_t product(int32_t a, int32_t b) { return reference_high_mul(a, b); }

int32_t times_power(int32_t v, int s) {
  if (s < 0) return reference_divide_by_power(v, -s);
  return static_cast<int32_t>(
      std::clamp<int64_t>(int64_t{v} * (int64_t{1} << s), INT32_MIN, INT32_MAX));
}

// Returns exp of a Q5.26 number that is not positive, as the product of a factor for each bit of
// its integer part and its quarters.
int32_t exponential(int32_t a) {
  if (a == 0) return INT32_MAX;
  constexpr int32_t kQuarter = 1 << 24;
  const int32_t part = (a & (kQuarter - 1)) - kQuarter, x = times_power(part, 5) + (1 << 28);
  const int32_t x2 = product(x, x), x3 = product(x2, x), x4 = product(x2, x2);
  const int32_t sum = product(times_power(x4, -2) + x3, 715827883) + x2;
  int32_t y = 1895147668 + product(1895147668, x + times_power(sum, -1));
  const int32_t rest = part - a;
  const int32_t factors[] = {1672461947, 1302514674, 790015084, 290630308, 39332535, 720401, 242};
  for (int e = -2; e <= 4; ++e)
    if ((rest & (1 << (26 + e))) != 0) y = product(y, factors[e + 2]);
  return y;
}

int32_t reciprocal_of_one_plus(int32_t a) {
  const auto half = static_cast<int32_t>((int64_t{a} + INT32_MAX + 1) / 2);
  int32_t x = 1515870810 + product(half, -1010580540);
  for (int i = 0; i < 3; ++i) x += times_power(product(x, (1 << 29) - product(half, x)), 2);
  return times_power(x, 1);
}

int leading_zeros(int32_t v) {
  int n = 0;
  while (n < 32 && (static_cast<uint32_t>(v) << n & 0x80000000u) == 0) ++n;
  return n;
}

// Returns the logarithm of a Q12.19 number, as Q5.26.
int32_t logarithm(int32_t z) {
  const int32_t quarter = reference_divide_by_power(1 << 29, 6);
  const int zeros = leading_zeros(z);
  const int32_t a = times_power(product(times_power(z, zeros - 1), 1518500250), 1);
  const int32_t power_a = times_power(12 - zeros, 25) + quarter;
  const int room = leading_zeros(product(z, 1518500250)) - 1;
  const int32_t b = times_power(z, room), power_b = times_power(12 - room, 25) - quarter;
  const int32_t r = std::min(a, b), power = std::max(power_a, power_b);
  const int32_t p = static_cast<int32_t>((int64_t{r} + 1805811301 + 1) / 2);
  int32_t q = r - 1805811301;
  q += q;
  const int32_t square = product(q, q);
  const int32_t numerator = product(q, r) + product(product(q, square), 117049297);
  const int32_t denominator =
      product(p, 1057819769 + q + product(127690142, square)) + product(638450708, q);
  return times_power(product(power, 1488522236) + product(reference_divide_by_power(numerator, 6),
                                                          reciprocal_of_one_plus(denominator)),
                     1);
}

std::vector<int8_t> log_softmax(const std::vector<int8_t>& x, float scale, bool single) {
  const auto m = reference_multiplier(
      std::min(static_cast<double>(scale) * 67108864.0, single ? 1073741823.0 : 2147483647.0));
  const int least = -static_cast<int>(std::floor(31.0 * 67108864.0 / std::pow(2.0, m.shift)));
  const auto back = reference_multiplier(std::pow(2.0, 31 - m.shift) / m.value);
  const int greatest = *std::max_element(x.begin(), x.end());
  int32_t sum = 0;
  for (const int v : x)
    if (v - greatest >= least)
      sum +=
          reference_divide_by_power(exponential(reference_multiply(v - greatest, m, single)), 12);
  const int32_t log = logarithm(sum);
  const int limit = std::max(least - 1, reference_multiply(log + INT32_MIN, back, single));
  std::vector<int8_t> y;
  for (const int v : x) {
    int32_t steps = -128;
    if (v - greatest > limit)
      steps = reference_divide_by_power(
                  static_cast<int32_t>(
                      static_cast<uint32_t>(reference_multiply(v - greatest, m, single)) -
                      static_cast<uint32_t>(log)),
                  22) +
              127;
    y.push_back(static_cast<int8_t>(std::clamp(steps, -128, 127)));
  }
  return y;
}

TEST(TfliteLogSoftmax, Int8) {
  Random random;
  for (const float scale : {1e-5f, 0.003f, 0.05f, 0.1f, 0.7f, 5.0f, 40.0f})
    for (const int n : {1, 2, 10, 257, 4095}) {
      std::vector<int8_t> x(static_cast<size_t>(n));
      random.fill(x, -128, 127);
      TfliteBuilder b;
      const int in = b.input(TensorType::INT8, {1, n}, scale, 5);
      b.op(B::LOG_SOFTMAX, {in}, {b.output(TensorType::INT8, {1, n}, 1.0f / 16, 127)});
      for (const bool single : {false, true})
        EXPECT_EQ(b.run({to_bytes(x)}, single ? TfliteReference::kSingleRounding
                                              : TfliteReference::kDoubleRounding),
                  std::vector<Bytes>{to_bytes(log_softmax(x, scale, single))})
            << scale << " " << n << " " << single;
    }
}

TEST(TfliteLogSoftmax, IsCloseToTheRealFunction) {
  const std::vector<int8_t> x = {10, -20, 0, 35, 34, -128};
  TfliteBuilder b;
  const int in = b.input(TensorType::INT8, {6}, 0.1f, 0);
  b.op(B::LOG_SOFTMAX, {in}, {b.output(TensorType::INT8, {6}, 1.0f / 16, 127)});
  const Bytes y = b.run({to_bytes(x)})[0];
  double sum = 0;
  for (const int v : x) sum += std::exp(0.1 * v);
  for (size_t i = 0; i < 6; ++i)
    EXPECT_NEAR((static_cast<int8_t>(y[i]) - 127) / 16.0,
                std::max(0.1 * x[i] - std::log(sum), -255 / 16.0), 0.04);
}

TEST(TfliteLogSoftmax, Refuses) {
  const auto model = [](TensorType type, int n, float in, float out, int zero_point) {
    TfliteBuilder b;
    b.op(B::LOG_SOFTMAX, {b.input(type, {n}, in)}, {b.output(type, {n}, out, zero_point)});
    return b;
  };
  expect_rule(model(TensorType::INT8, 4, 0.1f, 0.0625f, 0), "are not 1/16 and 127");
  expect_rule(model(TensorType::INT8, 4, 0.1f, 0.07f, 127), "are not 1/16 and 127");
  expect_rule(model(TensorType::INT8, 4096, 0.1f, 0.0625f, 127), "more than 4095 values");
  expect_rule(model(TensorType::INT8, 4, 1e-8f, 0.0625f, 127), "2^-26 or less");
  expect_rule(model(TensorType::UINT8, 4, 0.1f, 0.0625f, 127), "uint8");
}

// A softmax of dequantised bytes is imported at the model's end and before a QUANTIZE.
TEST(TfliteSoftmax, OfDequantizedBytes) {
  Random random;
  for (const float beta : {1.0f, 0.3f})
    for (const int n : {1, 3, 10, 300}) {
      TfliteBuilder b;
      const int x = b.input(TensorType::INT8, {2, n}, 0.07f, -11);
      const int real = b.tensor(TensorType::FLOAT32, {2, n});
      b.op(B::DEQUANTIZE, {x}, {real});
      const int y = b.output(TensorType::FLOAT32, {2, n});
      tflite::SoftmaxOptionsT o;
      o.beta = beta;
      b.op(B::SOFTMAX, {real}, {y}, o);
      b.op(B::QUANTIZE, {y}, {b.output(TensorType::INT8, {2, n}, 1.0f / 256, -128)});
      std::vector<int8_t> input(static_cast<size_t>(2 * n));
      random.fill(input, -128, 127);
      std::vector<float> shares;
      std::vector<int8_t> bytes;
      for (size_t row = 0; row < 2; ++row) {
        const int8_t* r = &input[row * static_cast<size_t>(n)];
        const auto value = [&](int i) { return static_cast<float>(r[i] + 11) * 0.07f; };
        float greatest = value(0), sum = 0;
        for (int i = 1; i < n; ++i) greatest = std::max(greatest, value(i));
        const auto e = [&](int i) {
          const float at = (value(i) - greatest) * beta;
          return static_cast<float>(std::exp(static_cast<double>(at)));
        };
        for (int i = 0; i < n; ++i) sum = sum + e(i);
        for (int i = 0; i < n; ++i) {
          shares.push_back(e(i) / sum);
          bytes.push_back(
              static_cast<int8_t>(std::min(std::round(shares.back() * 256) - 128, 127.0f)));
        }
      }
      EXPECT_EQ(b.run({to_bytes(input)}), (std::vector<Bytes>{to_bytes(shares), to_bytes(bytes)}));
    }
}

TEST(TfliteSoftmax, RefusesOtherFloats) {
  TfliteBuilder b;
  b.op(B::SOFTMAX, {b.input(TensorType::FLOAT32, {4})}, {b.output(TensorType::FLOAT32, {4})},
       tflite::SoftmaxOptionsT());
  expect_rule(b, "not what DEQUANTIZE makes of one tensor of bytes");
  TfliteBuilder c;
  const int x = c.input(TensorType::INT8, {4}, 0.1f), real = c.tensor(TensorType::FLOAT32, {4}),
            negative = c.tensor(TensorType::FLOAT32, {4});
  c.op(B::DEQUANTIZE, {x}, {real});
  c.op(B::NEG, {real}, {negative});
  c.op(B::SOFTMAX, {negative}, {c.output(TensorType::FLOAT32, {4})}, tflite::SoftmaxOptionsT());
  expect_rule(c, "not what DEQUANTIZE makes of one tensor of bytes");
}

}  // namespace
}  // namespace qrt::testing::tflite_softmax_test
