// SPDX-License-Identifier: Apache-2.0
// Sums of many terms, quotients, squares, casts and scales at their limits, against loops that read the
// reference's sources anew.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "tests/support/random.h"
#include "tests/support/tflite_builder.h"
#include "tests/support/tflite_reference.h"

namespace qrt::testing::tflite_arithmetic_test {
namespace {

using B = BuiltinOperator;
using A = tflite::ActivationFunctionType;
using Dims = TfliteBuilder::Dims;

constexpr TfliteReference kDouble = TfliteReference::kDoubleRounding,
                          kSingle = TfliteReference::kSingleRounding;

template <class T>
std::vector<T> every() {
  std::vector<T> x;
  for (int v = std::numeric_limits<T>::min(); v <= std::numeric_limits<T>::max(); ++v)
    x.push_back(static_cast<T>(v));
  return x;
}

int32_t clamp8(int64_t v) { return static_cast<int32_t>(std::clamp<int64_t>(v, -128, 127)); }

int32_t wrap(int64_t v) { return static_cast<int32_t>(static_cast<uint32_t>(v)); }

// --- CUMSUM

// Returns the cumulative sum of [2, n] along its last dimension: the accumulator begins with a
// stored 0 and wraps.
std::vector<int8_t> cumulated(const std::vector<int8_t>& x, int n, float in, int zero_in, float out,
                              int zero_out, bool exclusive, bool reverse, bool single) {
  const ReferenceMultiplier m =
      reference_multiplier(2 * static_cast<double>(in) / (1048576.0 * static_cast<double>(out)));
  std::vector<int8_t> y(x.size());
  for (size_t row = 0; row < x.size() / static_cast<size_t>(n); ++row) {
    int32_t sum = -zero_in * (1 << 19);
    for (int i = 0; i < n; ++i) {
      const size_t at = row * static_cast<size_t>(n) + static_cast<size_t>(reverse ? n - 1 - i : i);
      const int32_t before = sum;
      sum = wrap(int64_t{sum} + (x[at] - zero_in) * (1 << 19));
      y[at] = static_cast<int8_t>(
          clamp8(int64_t{reference_multiply(exclusive ? before : sum, m, single)} + zero_out));
    }
  }
  return y;
}

TEST(TfliteCumsum, Int8) {
  Random random;
  for (const int n : {1, 2, 7, 64, 200})
    for (const bool exclusive : {false, true})
      for (const bool reverse : {false, true}) {
        std::vector<int8_t> x(static_cast<size_t>(2 * n));
        random.fill(x, -128, 127);
        TfliteBuilder b;
        const int in = b.input(TensorType::INT8, {2, n}, 0.05f, -9);
        const int axis = b.constant(TensorType::INT32, {}, std::vector<int32_t>{-1});
        tflite::CumsumOptionsT o;
        o.exclusive = exclusive;
        o.reverse = reverse;
        b.op(B::CUMSUM, {in, axis}, {b.output(TensorType::INT8, {2, n}, 0.3f, 5)}, o);
        for (const auto reference : {kDouble, kSingle})
          EXPECT_EQ(b.run({to_bytes(x)}, reference),
                    std::vector<Bytes>{to_bytes(cumulated(x, n, 0.05f, -9, 0.3f, 5, exclusive,
                                                          reverse, reference == kSingle))});
      }
}

TEST(TfliteCumsum, OtherAxesAndIntegers) {
  TfliteBuilder b;
  const int in = b.input(TensorType::INT32, {2, 2, 2});
  const int axis = b.constant(TensorType::INT32, {1}, std::vector<int32_t>{1});
  b.op(B::CUMSUM, {in, axis}, {b.output(TensorType::INT32, {2, 2, 2})}, tflite::CumsumOptionsT());
  EXPECT_EQ(b.run({to_bytes(std::vector<int32_t>{1, 2, 3, 4, 5, 6, 7, INT32_MAX})}),
            std::vector<Bytes>{to_bytes(
                std::vector<int32_t>{1, 2, 4, 6, 5, 6, 12, wrap(int64_t{INT32_MAX} + 6)})});
  TfliteBuilder c;
  const int wide = c.input(TensorType::INT64, {3});
  tflite::CumsumOptionsT o;
  o.reverse = o.exclusive = true;
  c.op(B::CUMSUM, {wide, c.constant(TensorType::INT32, {}, std::vector<int32_t>{0})},
       {c.output(TensorType::INT64, {3})}, o);
  EXPECT_EQ(c.run({to_bytes(std::vector<int64_t>{1, int64_t{1} << 40, 3})}),
            std::vector<Bytes>{to_bytes(std::vector<int64_t>{(int64_t{1} << 40) + 3, 3, 0})});
}

TEST(TfliteCumsum, Refuses) {
  const auto cumsum = [](TensorType type, float out) {
    TfliteBuilder b;
    const int x = b.input(type, {2, 2}, 0.5f);
    b.op(B::CUMSUM, {x, b.constant(TensorType::INT32, {}, std::vector<int32_t>{1})},
         {b.output(type, {2, 2}, out)}, tflite::CumsumOptionsT());
    return b;
  };
  expect_rule(cumsum(TensorType::UINT8, 0.5f), "is uint8 and the output uint8");
  expect_rule(cumsum(TensorType::INT8, 1e-8f), "a multiplier of 1 or more");
}

// --- ADD_N

TEST(TfliteAddN, Int8) {
  Random random;
  for (const int count : {2, 3, 17}) {
    TfliteBuilder b;
    std::vector<std::vector<int8_t>> x(static_cast<size_t>(count), std::vector<int8_t>(50));
    std::vector<int> inputs;
    std::vector<Bytes> bytes;
    for (auto& row : x) {
      random.fill(row, -128, 127);
      const bool is_constant = inputs.size() == 1;
      inputs.push_back(is_constant ? b.constant(TensorType::INT8, {5, 10}, row, {0.1f}, {30})
                                   : b.input(TensorType::INT8, {5, 10}, 0.1f, 30));
      if (!is_constant) bytes.push_back(to_bytes(row));
    }
    b.op(B::ADD_N, inputs, {b.output(TensorType::INT8, {5, 10}, 0.4f, -7)});
    const ReferenceMultiplier m = reference_multiplier(2 * static_cast<double>(0.1f) /
                                                       (1048576.0 * static_cast<double>(0.4f)));
    for (const auto reference : {kDouble, kSingle}) {
      std::vector<int8_t> want;
      for (size_t i = 0; i < 50; ++i) {
        int64_t sum = -30;
        for (const auto& row : x) sum += row[i] - 30;
        want.push_back(static_cast<int8_t>(clamp8(
            int64_t{reference_multiply(wrap(sum * (1 << 19)), m, reference == kSingle)} - 7)));
      }
      EXPECT_EQ(b.run(bytes, reference), std::vector<Bytes>{to_bytes(want)});
    }
  }
}

TEST(TfliteAddN, Int32) {
  TfliteBuilder b;
  const int x = b.input(TensorType::INT32, {2}), y = b.input(TensorType::INT32, {2});
  b.op(B::ADD_N, {x, y, x}, {b.output(TensorType::INT32, {2})});
  EXPECT_EQ(
      b.run({to_bytes(std::vector<int32_t>{1, INT32_MAX}), to_bytes(std::vector<int32_t>{5, 6})}),
      std::vector<Bytes>{to_bytes(std::vector<int32_t>{7, wrap(2 * int64_t{INT32_MAX} + 6)})});
}

TEST(TfliteAddN, RefusesInputsOfUnlikeScales) {
  TfliteBuilder b;
  const int x = b.input(TensorType::INT8, {2}, 0.5f), y = b.input(TensorType::INT8, {2}, 0.25f);
  b.op(B::ADD_N, {x, y}, {b.output(TensorType::INT8, {2}, 0.5f)});
  expect_rule(b, "is quantised otherwise than the first");
}

// --- DIV

// Returns 1 / (1 + a) in Q0.31 by three steps of Newton's method.
int32_t reference_reciprocal(int32_t a) {
  const auto high = [](int32_t p, int32_t q) { return reference_high_mul(p, q); };
  const auto half = static_cast<int32_t>((int64_t{a} + INT32_MAX + 1) / 2);
  int32_t x = 1515870810 + high(half, -1010580540);
  for (int i = 0; i < 3; ++i) {
    const int64_t step = int64_t{high(x, (1 << 29) - high(half, x))} * 4;
    x += static_cast<int32_t>(std::clamp<int64_t>(step, INT32_MIN, INT32_MAX));
  }
  return static_cast<int32_t>(std::min<int64_t>(int64_t{x} * 2, INT32_MAX));
}

int8_t divided(int x, int y, float scale_x, float scale_y, float scale, int zero, bool single) {
  const ReferenceMultiplier m =
      reference_multiplier(static_cast<double>(scale_x / (scale_y * scale)));
  if (y < 0) x = -x, y = -y;
  int leading = 0;
  while ((static_cast<uint32_t>(y) << leading & 0x80000000u) == 0) ++leading;
  const int32_t reciprocal = reference_reciprocal(
      static_cast<int32_t>((static_cast<uint32_t>(y) << leading) - 0x80000000u));
  if (x == 0) return static_cast<int8_t>(clamp8(zero));
  int headroom = 0;
  const auto fits = [&](int bits) {
    const int64_t shifted = x * (int64_t{1} << bits);
    return shifted >= INT32_MIN && shifted <= INT32_MAX;
  };
  while (fits(headroom + 1)) ++headroom;
  const int32_t quotient = reference_multiply(x, {reciprocal, headroom}, single);
  const int shift = m.shift - (31 - leading) - headroom;
  if (shift < -31) return static_cast<int8_t>(clamp8(zero));
  return static_cast<int8_t>(
      clamp8(int64_t{reference_multiply(quotient, {m.value, shift}, single)} + zero));
}

TEST(TfliteDiv, EveryPairOfBytes) {
  for (const auto reference : {kDouble, kSingle}) {
    TfliteBuilder b;
    const int x = b.input(TensorType::INT8, {256, 1}, 0.05f, 4);
    const int y = b.input(TensorType::INT8, {1, 256}, 0.02f, -128);
    b.op(B::DIV, {x, y}, {b.output(TensorType::INT8, {256, 256}, 0.03f, -5)},
         tflite::DivOptionsT());
    const std::vector<int8_t> all = every<int8_t>();
    const Bytes got = b.run({to_bytes(all), to_bytes(all)}, reference)[0];
    for (int p = -128; p <= 127; ++p)
      for (int q = -127; q <= 127; ++q)  // -128 divides by 0
        ASSERT_EQ(static_cast<int8_t>(got[static_cast<size_t>(256 * (p + 128) + q + 128)]),
                  divided(p - 4, q + 128, 0.05f, 0.02f, 0.03f, -5, reference == kSingle))
            << p << " / " << q;
  }
}

TEST(TfliteDiv, Activates) {
  TfliteBuilder b;
  const int x = b.input(TensorType::INT8, {4}, 0.5f, 0),
            y = b.input(TensorType::INT8, {4}, 0.5f, 0);
  tflite::DivOptionsT o;
  o.fused_activation_function = A::RELU6;
  b.op(B::DIV, {x, y}, {b.output(TensorType::INT8, {4}, 0.125f, -20)}, o);
  // -2, 4, 10 and a division by 0.
  const std::vector<int8_t> p = {-8, 16, 100, 9}, q = {4, 4, 10, 0};
  EXPECT_EQ(b.run({to_bytes(p), to_bytes(q)}),
            std::vector<Bytes>{to_bytes(std::vector<int8_t>{-20, 12, 28, 28})});
}

// A quotient far below the output's scale gives the zero point, although the shift that requantises
// it is greater than the number of bits of a product.
TEST(TfliteDiv, QuotientsFarBelowAStep) {
  for (const auto reference : {kDouble, kSingle}) {
    TfliteBuilder b;
    const int x = b.input(TensorType::INT8, {3}, 1e-3f, 0),
              y = b.input(TensorType::INT8, {3}, 1e3f, 0);
    b.op(B::DIV, {x, y}, {b.output(TensorType::INT8, {3}, 1e3f, -7)}, tflite::DivOptionsT());
    const std::vector<int8_t> p = {1, -128, 127}, q = {1, 127, -3};
    EXPECT_EQ(b.run({to_bytes(p), to_bytes(q)}, reference)[0],
              to_bytes(std::vector<int8_t>{-7, -7, -7}));
  }
}

TEST(TfliteDiv, Int32RoundsTowardsZero) {
  TfliteBuilder b;
  const int x = b.input(TensorType::INT32, {4}), y = b.input(TensorType::INT32, {4});
  b.op(B::DIV, {x, y}, {b.output(TensorType::INT32, {4})}, tflite::DivOptionsT());
  tflite::DivOptionsT o;
  o.fused_activation_function = A::RELU6;
  b.op(B::DIV, {x, y}, {b.output(TensorType::INT32, {4})}, o);
  EXPECT_EQ(b.run({to_bytes(std::vector<int32_t>{-7, 7, 100, -9}),
                   to_bytes(std::vector<int32_t>{2, -2, 9, -4})}),
            (std::vector<Bytes>{to_bytes(std::vector<int32_t>{-3, -3, 11, 2}),
                                to_bytes(std::vector<int32_t>{0, 0, 6, 2})}));
}

TEST(TfliteDiv, Refuses) {
  const auto div = [](TensorType type, float out) {
    TfliteBuilder b;
    const int x = b.input(type, {2}, 0.5f), y = b.input(type, {2}, 0.5f);
    b.op(B::DIV, {x, y}, {b.output(type, {2}, out)}, tflite::DivOptionsT());
    return b;
  };
  expect_rule(div(TensorType::UINT8, 0.5f), "uint8");
  expect_rule(div(TensorType::INT16, 0.5f), "int16");
  expect_rule(div(TensorType::INT8, 1e-9f), "too small beside the inputs'");
}

// --- scales and zero points at their limits

// Sums of int16 count from their zero points.
TEST(TfliteInt16Sums, ApplyZeroPoints) {
  const std::vector<int16_t> x = {-32768, -5000, -1, 0, 1, 700, 32767};
  for (const B code : {B::ADD, B::SUB})
    for (const int zero : {-32768, 32767, 123}) {
      TfliteBuilder b;
      const int p = b.input(TensorType::INT16, {7, 1}, 0.001f, zero);
      const int q = b.input(TensorType::INT16, {1, 7}, 0.0007f, -77);
      const int y = b.output(TensorType::INT16, {7, 7}, 0.002f, 55);
      if (code == B::ADD)
        b.op(code, {p, q}, {y}, tflite::AddOptionsT());
      else
        b.op(code, {p, q}, {y}, tflite::SubOptionsT());
      const float sa = 0.001f, sb = 0.0007f, so = 0.002f;
      const bool subtracts = code == B::SUB;
      const double twice = subtracts ? static_cast<double>(2 * sa) : 2 * static_cast<double>(sa);
      const auto ratio = [&](float s) {
        return subtracts ? static_cast<double>(s / (2 * sa)) : static_cast<double>(s) / twice;
      };
      const double fine = subtracts ? static_cast<double>((2 * sa) / (32768.0f * so))
                                    : twice / (32768.0 * static_cast<double>(so));
      std::vector<int16_t> want;
      for (const int v : x)
        for (const int w : x) {
          const int32_t a =
              reference_multiply((v - zero) * 32768, reference_multiplier(ratio(sa)), false);
          const int32_t c =
              reference_multiply((w + 77) * 32768, reference_multiplier(ratio(sb)), false);
          const int32_t sum =
              reference_multiply(subtracts ? a - c : a + c, reference_multiplier(fine), false);
          want.push_back(static_cast<int16_t>(std::clamp(sum + 55, -32768, 32767)));
        }
      EXPECT_EQ(b.run({to_bytes(x), to_bytes(x)}), std::vector<Bytes>{to_bytes(want)});
    }
}

// A tiny scale beside a usual one counts nothing; one of 0 is refused.
TEST(TfliteSums, TinyScales) {
  const auto add = [](float other) {
    TfliteBuilder b;
    const int x = b.input(TensorType::INT8, {3}, 0.5f);
    const int y = b.tensor(TensorType::INT8, {3}, {other}, {0});
    b.graph().inputs.push_back(y);
    b.op(B::ADD, {x, y}, {b.output(TensorType::INT8, {3}, 0.5f)}, tflite::AddOptionsT());
    return b;
  };
  const Bytes x = to_bytes(std::vector<int8_t>{-7, 0, 100});
  EXPECT_EQ(add(1e-40f).run({x, {127, 5, 128}}), std::vector<Bytes>{x});
  expect_rule(add(0), "a scale is 0");
}

// Checks MUL. With an output scale of 0 the multiplier is 0; tiny scales shift products beyond
// int32, which wrap.
template <class T>
void check_mul(TensorType type, float sa, float sb, float so, int zero) {
  SCOPED_TRACE(so);
  Random random;
  std::vector<T> x(60), y(60);
  random.fill(x, std::numeric_limits<T>::min(), std::numeric_limits<T>::max());
  random.fill(y, std::numeric_limits<T>::min(), std::numeric_limits<T>::max());
  TfliteBuilder b;
  const auto scaled = [&](float scale, int zero_point) {
    return b.tensor(type, {60}, {scale}, {zero_point});
  };
  const int p = scaled(sa, 0), q = b.constant(type, {60}, y, {sb}, {0}), r = scaled(so, zero);
  b.graph().inputs = {p};
  b.graph().outputs = {r};
  b.op(B::MUL, {p, q}, {r}, tflite::MulOptionsT());
  const double d = static_cast<double>(sa) * static_cast<double>(sb) / static_cast<double>(so);
  const ReferenceMultiplier m = so == 0 ? ReferenceMultiplier{0, 0} : reference_multiplier(d);
  std::vector<T> want;
  for (size_t i = 0; i < x.size(); ++i) {
    const int32_t product = x[i] * y[i];
    const int32_t shifted = m.shift > 0 ? wrap(product * (int64_t{1} << m.shift % 32)) : product;
    const int64_t v =
        int64_t{reference_multiply(shifted, {m.value, std::min(m.shift, 0)}, false)} + zero;
    want.push_back(static_cast<T>(
        std::clamp<int64_t>(v, std::numeric_limits<T>::min(), std::numeric_limits<T>::max())));
  }
  EXPECT_EQ(b.run({to_bytes(x)}), std::vector<Bytes>{to_bytes(want)});
}

TEST(TfliteMul, TinyScales) {
  check_mul<int8_t>(TensorType::INT8, 0.5f, 0.25f, 0, -7);
  check_mul<int8_t>(TensorType::INT8, 0, 0.25f, 0, 3);
  check_mul<int8_t>(TensorType::INT8, 0, 0.25f, 0.5f, 3);
  check_mul<int8_t>(TensorType::INT8, 1e-40f, 0.25f, 1e-39f, 3);
  check_mul<int8_t>(TensorType::INT8, 0.5f, 0.25f, 1e-7f, 3);
  check_mul<int8_t>(TensorType::INT8, 0.5f, 0.25f, 1e-20f, 3);
  check_mul<int8_t>(TensorType::INT8, 0.5f, 0.25f, 1e-40f, 3);
  check_mul<int16_t>(TensorType::INT16, 0.5f, 0.25f, 0, 0);
  check_mul<int16_t>(TensorType::INT16, 0.001f, 0.002f, 1e-9f, 0);
  check_mul<int16_t>(TensorType::INT16, 0.001f, 0.002f, 3e-15f, 0);
}

TEST(TfliteMul, RefusesLimitsBeyondInt32) {
  const auto mul = [](float out, A activation) {
    TfliteBuilder b;
    const int x = b.input(TensorType::INT8, {2}, 0.5f);
    const int y = b.tensor(TensorType::INT8, {2}, {out}, {0});
    b.graph().outputs = {y};
    tflite::MulOptionsT o;
    o.fused_activation_function = activation;
    b.op(B::MUL, {x, x}, {y}, o);
    return b;
  };
  expect_rule(mul(0, A::RELU), "the limits of its activation are beyond int32");
  expect_rule(mul(1e-10f, A::RELU6), "the limits of its activation are beyond int32");
  ASSERT_TRUE(mul(1e-10f, A::RELU).import().status.ok());
}

// --- SQUARED_DIFFERENCE

TEST(TfliteSquaredDifference, Int16) {
  const std::vector<int16_t> x = {-32768, -20000, -3, -1, 0, 1, 2, 999, 32766, 32767};
  const float sa = 0.001f, sb = 0.0008f, so = 2.0f;
  TfliteBuilder b;
  const int p = b.input(TensorType::INT16, {10, 1}, sa), q = b.input(TensorType::INT16, {10}, sb);
  b.op(B::SQUARED_DIFFERENCE, {p, q}, {b.output(TensorType::INT16, {10, 10}, so)});
  const double twice = 2 * static_cast<double>(sa);
  for (const auto reference : {kDouble, kSingle}) {
    const auto scaled = [&](int32_t v, double d) {
      return reference_multiply(v, reference_multiplier(d), reference == kSingle);
    };
    std::vector<int16_t> want;
    for (const int v : x)
      for (const int w : x) {
        const int32_t d =
            scaled(v, static_cast<double>(sa) / twice) - scaled(w, static_cast<double>(sb) / twice);
        const int32_t y = scaled(d * d, twice * twice / static_cast<double>(so));
        want.push_back(static_cast<int16_t>(std::clamp(y, -32768, 32767)));
      }
    EXPECT_EQ(b.run({to_bytes(x), to_bytes(x)}, reference), std::vector<Bytes>{to_bytes(want)});
  }
}

TEST(TfliteSquaredDifference, Int32) {
  TfliteBuilder b;
  const int x = b.input(TensorType::INT32, {2, 1}), y = b.input(TensorType::INT32, {2});
  b.op(B::SQUARED_DIFFERENCE, {x, y}, {b.output(TensorType::INT32, {2, 2})});
  EXPECT_EQ(
      b.run({to_bytes(std::vector<int32_t>{5, -100000}), to_bytes(std::vector<int32_t>{7, 1})}),
      std::vector<Bytes>{to_bytes(std::vector<int32_t>{4, 16, wrap(int64_t{100007} * 100007),
                                                       wrap(int64_t{100001} * 100001)})});
}

TEST(TfliteSquaredDifference, RefusesZeroPointsOfInt16) {
  TfliteBuilder b;
  const int x = b.input(TensorType::INT16, {2}, 0.5f, 3);
  b.op(B::SQUARED_DIFFERENCE, {x, x}, {b.output(TensorType::INT16, {2}, 0.5f)});
  expect_rule(b, "zero point other than 0");
}

// --- CAST

template <class From, class To>
void check_cast(TensorType from, TensorType to, const std::vector<From>& x) {
  SCOPED_TRACE(std::string(tflite::EnumNameTensorType(from)) + " to " +
               tflite::EnumNameTensorType(to));
  const auto n = static_cast<int32_t>(x.size());
  std::vector<To> want;
  for (const From v : x)
    want.push_back(to == TensorType::BOOL ? static_cast<To>(v != 0) : static_cast<To>(v));
  for (const float scale : {0.0f, 0.25f}) {
    const auto quantised = [&](TensorType t) {
      return t == TensorType::BOOL || t == TensorType::INT32 || t == TensorType::FLOAT32 ? 0
                                                                                         : scale;
    };
    TfliteBuilder b;
    const int in = b.input(from, {n}, quantised(from), 0);
    b.op(B::CAST, {in}, {b.output(to, {n}, quantised(to), 0)});
    EXPECT_EQ(b.run({to_bytes(x)}), std::vector<Bytes>{to_bytes(want)});
  }
}

template <class From>
void check_casts(TensorType from, const std::vector<From>& x) {
  check_cast<From, int8_t>(from, TensorType::INT8, x);
  check_cast<From, uint8_t>(from, TensorType::UINT8, x);
  check_cast<From, int16_t>(from, TensorType::INT16, x);
  check_cast<From, int32_t>(from, TensorType::INT32, x);
  check_cast<From, uint8_t>(from, TensorType::BOOL, x);
  check_cast<From, float>(from, TensorType::FLOAT32, x);
}

TEST(TfliteCast, IntegersWrap) {
  check_casts(TensorType::INT8, every<int8_t>());
  check_casts(TensorType::UINT8, every<uint8_t>());
  check_casts(TensorType::INT16, every<int16_t>());
  check_casts<int32_t>(TensorType::INT32,
                       {INT32_MIN, -32769, -32768, -129, -128, -1, 0, 1, 127, 128, 255, 256, 300,
                        32767, 32768, 65536, 16777217, INT32_MAX});
  check_casts<uint8_t>(TensorType::BOOL, {0, 1, 1, 0});
}

// Shapes are folded through casts between int32 and int64.
TEST(TfliteCast, ShapesAreFolded) {
  TfliteBuilder b;
  const int x = b.input(TensorType::INT8, {2, 3}, 0.5f);
  const int shape = b.tensor(TensorType::INT64, {2}), cast = b.tensor(TensorType::INT32, {2});
  tflite::ShapeOptionsT o;
  o.out_type = TensorType::INT64;
  b.op(B::SHAPE, {x}, {shape}, o);
  b.op(B::CAST, {shape}, {cast});
  b.op(B::BROADCAST_TO, {b.input(TensorType::INT8, {1, 1}, 0.5f), cast},
       {b.output(TensorType::INT8, {2, 3}, 0.5f)});
  EXPECT_EQ(b.run({Bytes(6), Bytes{7}}), std::vector<Bytes>{Bytes(6, 7)});
}

TEST(TfliteCast, Refuses) {
  TfliteBuilder b;
  b.op(B::CAST, {b.input(TensorType::INT64, {2})}, {b.output(TensorType::INT32, {2})});
  expect_rule(b, "int64 to int32 is not read");
}

}  // namespace
}  // namespace qrt::testing::tflite_arithmetic_test
