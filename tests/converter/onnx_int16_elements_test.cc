// SPDX-License-Identifier: Apache-2.0
// ONNX graphs of 16-bit activations: operators on elements, reductions, Resize and data movement
// against ONNX Runtime's own float formula, to which they are equal or one step away.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "converter/import/onnx/arithmetic/ort_math.h"
#include "tests/support/onnx_builder.h"
#include "tests/support/onnx_int16.h"

namespace qrt::testing::onnx_int16_elements_test {
namespace {

using convert::from_onnx::ort_logistic;
using convert::from_onnx::quantize_ort;

constexpr float kXScale = 0.0007f, kYScale = 0.0031f;

// Checks an operator on two tensors of all kinds of values.
template <class A, class B, class Y>
void check_pair(const std::string& op, const std::function<double(double, double)>& f, int a_zero,
                int b_zero, float y_scale, int y_zero) {
  SCOPED_TRACE(op);
  Random random;
  SCOPED_TRACE(random.trace());
  auto a = random_integers<A>(&random, 5000);
  auto b = random_integers<B>(&random, 5000);
  for (size_t i = 0; i < 4; ++i) {
    a[i] = static_cast<A>(i % 2 != 0 ? kHi<A> : kLo<A>);
    b[i] = static_cast<B>(i / 2 != 0 ? kHi<B> : kLo<B>);
  }
  constexpr float kAScale = 0.0011f, kBScale = 0.0003f;
  OnnxBuilder m(21);
  const std::string x = m.integer_input<A>({5000}, kAScale, static_cast<A>(a_zero));
  const std::string z = m.integer_input<B>({5000}, kBScale, static_cast<B>(b_zero));
  m.integer_output<Y>(m.node("Relu", {m.node(op, {x, z})}), y_scale, static_cast<Y>(y_zero));
  const auto got = m.run_to<Y>({to_bytes(a), to_bytes(b)});
  ASSERT_EQ(got.size(), a.size());
  size_t other = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const double v = f((int{a[i]} - a_zero) * static_cast<double>(kAScale),
                       (int{b[i]} - b_zero) * static_cast<double>(kBScale));
    const double q = std::nearbyint(std::max(v, 0.0) / static_cast<double>(y_scale)) + y_zero;
    const double expected = std::clamp<double>(q, kLo<Y>, kHi<Y>);
    ASSERT_LE(std::fabs(expected - got[i]), 1.0) << i;
    other += expected != got[i];
  }
  EXPECT_LT(other, a.size() / 1000);  // next to ties
}

template <class A, class B, class Y>
void check_pairs(int a_zero, int b_zero, int y_zero) {
  check_pair<A, B, Y>(
      "Add", [](double a, double b) { return a + b; }, a_zero, b_zero,
      sizeof(Y) == 1 ? 0.3f : 0.0017f, y_zero);
  check_pair<A, B, Y>(
      "Sub", [](double a, double b) { return a - b; }, a_zero, b_zero,
      sizeof(Y) == 1 ? 0.3f : 0.0017f, y_zero);
  check_pair<A, B, Y>(
      "Mul", [](double a, double b) { return a * b; }, a_zero, b_zero,
      sizeof(Y) == 1 ? 3.0f : 0.007f, y_zero);
}

TEST(OnnxInt16, SumsDifferencesAndProducts) {
  check_pairs<uint16_t, uint16_t, uint16_t>(32768, 30000, 9);
  check_pairs<uint16_t, uint16_t, uint16_t>(0, 65535, 128);
  check_pairs<int16_t, int16_t, int16_t>(0, 0, 0);
  check_pairs<int16_t, uint16_t, int16_t>(-5, 128, 40);
  check_pairs<uint16_t, uint8_t, uint16_t>(32768, 128, 7);
  check_pairs<int16_t, int16_t, int8_t>(0, 0, -128);
}

TEST(OnnxInt16, ConstantsOfSeveralValues) {
  OnnxBuilder m(21);
  const std::string x = m.integer_input<int16_t>({2, 3}, 0.5f, 0);
  const std::string c = m.dq<int16_t>(m.constant<int16_t>({3}, {100, 200, -300}), 0.25f, 0);
  m.integer_output<int16_t>(m.node("Add", {x, c}), 0.5f, 10);
  EXPECT_EQ(m.run_to<int16_t>({to_bytes(std::vector<int16_t>{0, 1, 2, -3, -4, 32767})}),
            (std::vector<int16_t>{60, 111, -138, 57, 106, 32627}));
}

// Functions of one tensor, of all its values: ONNX Runtime's bits.
template <class X, class Y>
void check_unary(const std::string& op, const std::function<float(float)>& f, float y_scale) {
  SCOPED_TRACE(op);
  std::vector<X> x;
  for (int v = kLo<X>; v <= kHi<X>; ++v) x.push_back(static_cast<X>(v));
  constexpr int kZero = 100, kYZero = 5;
  const float x_scale = sizeof(X) == 1 ? 0.05f : 0.0003f;
  OnnxBuilder m(21);
  const auto n = static_cast<int64_t>(x.size());
  const std::string t = m.node(op, {m.integer_input<X>({n}, x_scale, kZero)});
  m.integer_output<Y>(t, y_scale, kYZero);
  m.output(t);
  const auto got = m.run({to_bytes(x)});
  ASSERT_EQ(got.size(), 2u);
  const auto integers = from_bytes<Y>(got[0]);
  const auto real = from_bytes<float>(got[1]);
  for (size_t i = 0; i < x.size(); ++i) {
    const float v = f(static_cast<float>(int{x[i]} - kZero) * x_scale);
    ASSERT_EQ(real[i], v) << i;
    ASSERT_EQ(integers[i], quantized<Y>(v, y_scale, kYZero)) << i;
  }
}

TEST(OnnxInt16, FunctionsOfOneTensorAreTables) {
  const auto relu = [](float v) { return v < 0 ? 0.0f : v; };
  check_unary<uint16_t, uint16_t>("Sigmoid", ort_logistic, 0.00002f);
  check_unary<int16_t, int16_t>("Sigmoid", ort_logistic, 0.00003f);
  check_unary<int16_t, int16_t>("Relu", relu, 0.0002f);
  check_unary<uint16_t, uint8_t>("Sigmoid", ort_logistic, 0.004f);
  check_unary<int8_t, uint16_t>("Sigmoid", ort_logistic, 0.00002f);
  check_unary<uint8_t, int16_t>(
      "Neg", [](float v) { return -v; }, 0.0004f);
}

// Operators that move or compare integers take int16.
TEST(OnnxInt16, MovesAndOrders) {
  Random random;
  SCOPED_TRACE(random.trace());
  const auto a = random_integers<uint16_t>(&random, 24), b = random_integers<uint16_t>(&random, 24);
  constexpr float kScale = 0.01f;
  OnnxBuilder m(21);
  const std::string x = m.integer_input<uint16_t>({1, 2, 3, 4}, kScale, 1000);
  const std::string y = m.integer_input<uint16_t>({1, 2, 3, 4}, 2 * kScale, 500);
  const auto out = [&](const std::string& t) { m.integer_output<uint16_t>(t, kScale, 1000); };
  out(m.node("Transpose", {x}, {{"perm", Dims{0, 2, 3, 1}}}));
  out(m.node("Concat", {x, y}, {{"axis", 1}}));
  out(m.node("Max", {x, y}));
  out(m.node("Min", {x, m.scalar(1.0f)}));
  out(m.node("Pad", {x, m.constant<int64_t>({8}, {0, 0, 0, 0, 0, 0, 0, 1})}));
  out(m.node("MaxPool", {x}, {{"kernel_shape", Dims{3, 2}}}));
  out(m.node("ReduceMin", {x}, {{"axes", Dims{3}}, {"keepdims", 0}}));
  const auto got = m.run({to_bytes(a), to_bytes(b)});
  ASSERT_EQ(got.size(), 7u);
  const auto result = [&](size_t i) { return from_bytes<uint16_t>(got[i]); };
  const auto second = [&](size_t i) {
    return quantized<uint16_t>(static_cast<float>(b[i] - 500) * (2 * kScale), kScale, 1000);
  };
  const int one = quantized<uint16_t>(1.0f, kScale, 1000);
  for (size_t i = 0; i < 24; ++i) {
    EXPECT_EQ(result(0)[i % 12 * 2 + i / 12], a[i]);
    EXPECT_EQ(result(1)[i], a[i]);
    EXPECT_EQ(result(1)[24 + i], second(i));
    EXPECT_EQ(result(2)[i], std::max<int>(a[i], second(i)));
    EXPECT_EQ(result(3)[i], std::min<int>(a[i], one));
    EXPECT_EQ(result(4)[i / 4 * 5 + i % 4], a[i]);
    if (i % 4 == 3) {
      EXPECT_EQ(result(4)[i / 4 * 5 + 4], 1000);
    }
  }
  for (size_t c = 0; c < 2; ++c)
    for (size_t col = 0; col < 3; ++col) {
      uint16_t most = 0;
      for (size_t t = 0; t < 6; ++t) most = std::max(most, a[c * 12 + t / 2 * 4 + col + t % 2]);
      EXPECT_EQ(result(5)[c * 3 + col], most);
    }
  for (size_t r = 0; r < 6; ++r)
    EXPECT_EQ(result(6)[r], *std::min_element(a.begin() + 4 * static_cast<ptrdiff_t>(r),
                                              a.begin() + 4 * static_cast<ptrdiff_t>(r) + 4));
}

TEST(OnnxInt16, WhereTakesEither) {
  OnnxBuilder m(21);
  m.graph().add_input()->set_name("c");
  OnnxBuilder::declare(m.graph().mutable_input(0), "c", onnx::TensorProto::BOOL, {4});
  const std::string x = m.integer_input<uint16_t>({4}, 0.5f, 7);
  m.integer_output<uint16_t>(m.node("Where", {"c", x, m.scalar(3.0f)}), 0.5f, 7);
  EXPECT_EQ(
      m.run_to<uint16_t>({Bytes{1, 0, 1, 0}, to_bytes(std::vector<uint16_t>{0, 1, 65535, 3})}),
      (std::vector<uint16_t>{0, 13, 65535, 13}));
}

// Means, sums and Softmax round the exact sum once.
TEST(OnnxInt16, MeansAndSums) {
  Random random;
  SCOPED_TRACE(random.trace());
  const auto x = random_integers<uint16_t>(&random, 2 * 3 * 5 * 4);
  OnnxBuilder m(21);
  const std::string t = m.integer_input<uint16_t>({2, 3, 5, 4}, kXScale, 30000);
  m.integer_output<uint16_t>(m.node("GlobalAveragePool", {t}), kXScale, 30000);
  m.integer_output<uint16_t>(m.node("AveragePool", {t}, {{"kernel_shape", Dims{2, 2}}}), 0.0004f,
                             32768);
  m.integer_output<int8_t>(
      m.node("ReduceMean", {t, m.constant<int64_t>({1}, {1})}, {{"keepdims", 0}}), 0.1f, 3);
  m.integer_output<uint16_t>(m.node("ReduceSum", {t, m.constant<int64_t>({2}, {2, 3})}), kYScale,
                             32768);
  m.integer_output<uint16_t>(m.node("Softmax", {t}, {{"axis", 1}}), 1.0f / 65536, 0);
  const auto got = m.run({to_bytes(x)});
  ASSERT_EQ(got.size(), 5u);
  const auto real = [&](size_t n, size_t c, size_t p) {
    return (int{x[(n * 3 + c) * 20 + p]} - 30000) * static_cast<double>(kXScale);
  };
  const auto near = [](double v, float scale, int zero, int lo, int hi, int is) {
    const double q =
        std::clamp<double>(std::nearbyint(v / static_cast<double>(scale)) + zero, lo, hi);
    EXPECT_LE(std::fabs(q - is), 1.0);
  };
  for (size_t n = 0; n < 2; ++n) {
    for (size_t c = 0; c < 3; ++c) {
      double sum = 0;
      for (size_t p = 0; p < 20; ++p) sum += real(n, c, p);
      near(sum / 20, kXScale, 30000, 0, 65535, from_bytes<uint16_t>(got[0])[n * 3 + c]);
      near(sum, kYScale, 32768, 0, 65535, from_bytes<uint16_t>(got[3])[n * 3 + c]);
      for (size_t p = 0; p < 12; ++p) {
        const size_t at = p / 3 * 4 + p % 3;
        const double window =
            real(n, c, at) + real(n, c, at + 1) + real(n, c, at + 4) + real(n, c, at + 5);
        near(window / 4, 0.0004f, 32768, 0, 65535,
             from_bytes<uint16_t>(got[1])[(n * 3 + c) * 12 + p]);
      }
    }
    for (size_t p = 0; p < 20; ++p) {
      double sum = 0, exponentials = 0;
      for (size_t c = 0; c < 3; ++c) {
        sum += real(n, c, p);
        exponentials += std::exp(real(n, c, p));
      }
      near(sum / 3, 0.1f, 3, -128, 127, from_bytes<int8_t>(got[2])[n * 20 + p]);
      for (size_t c = 0; c < 3; ++c)
        near(std::exp(real(n, c, p)) / exponentials, 1.0f / 65536, 0, 0, 65535,
             from_bytes<uint16_t>(got[4])[(n * 3 + c) * 20 + p]);
    }
  }
}

// Checks LogSoftmax of [2, 3, 5, 4] against the real function, in steps of the output: half a step
// for the rounding, and what kernels/softmax/log_softmax.h allows beside it.
template <class X, class Y>
void check_log_softmax(int64_t opset, int64_t axis, float x_scale, float y_scale, Y y_zero) {
  SCOPED_TRACE("opset " + std::to_string(opset) + ", axis " + std::to_string(axis) + ", scale " +
               std::to_string(y_scale));
  Random random;
  SCOPED_TRACE(random.trace());
  const size_t dims[4] = {2, 3, 5, 4};
  const auto x = random_integers<X>(&random, 2 * 3 * 5 * 4);
  OnnxBuilder m(opset);
  const std::string t = m.integer_input<X>({2, 3, 5, 4}, x_scale, static_cast<X>(100));
  m.integer_output<Y>(m.node("LogSoftmax", {t}, {{"axis", axis}}), y_scale, y_zero);
  const std::vector<Y> y = m.run_to<Y>({to_bytes(x)});
  ASSERT_EQ(y.size(), x.size());
  // A row: `length` elements, `step` apart.
  const size_t at = static_cast<size_t>(axis < 0 ? axis + 4 : axis);
  size_t step = 1, length = dims[at];
  for (size_t i = at + 1; i < 4; ++i) (opset < 13 ? length : step) *= dims[i];
  const double allowed =
      0.5 + 3 * 0x1p-24 * 65536 +
      (static_cast<double>(length) * 0x1p-31 + 0x1p-24 + 0x1p-19) / static_cast<double>(y_scale);
  EXPECT_LE(allowed, 1.05);
  for (size_t i = 0; i < x.size(); ++i) {
    const size_t first = i / (step * length) * (step * length) + i % step;
    const double scale = static_cast<double>(x_scale);
    int greatest = x[i];
    for (size_t j = 0; j < length; ++j) greatest = std::max<int>(greatest, x[first + j * step]);
    double sum = 0;
    for (size_t j = 0; j < length; ++j) sum += std::exp((x[first + j * step] - greatest) * scale);
    const double real =
        ((x[i] - greatest) * scale - std::log(sum)) / static_cast<double>(y_scale) + y_zero;
    ASSERT_LE(std::fabs(y[i] - std::clamp<double>(real, kLo<Y>, kHi<Y>)), allowed) << i;
  }
}

TEST(OnnxInt16, LogSoftmaxIsWithinAStepOfTheRealFunction) {
  for (const int64_t axis : {0, 1, 2, 3, -1, -3}) {
    check_log_softmax<uint16_t, uint16_t>(21, axis, kXScale, 0x1p-10f, 65535);
    check_log_softmax<uint16_t, uint16_t>(12, axis, kXScale, 0x1p-10f, 65535);
  }
  check_log_softmax<int16_t, int16_t>(21, 1, kXScale, 0.0007f, 32767);
  check_log_softmax<int16_t, int16_t>(21, 3, 0.00003f, 0.0001f, 32767);
  check_log_softmax<uint16_t, int16_t>(21, 3, 3.0f, 3.0f, 32767);     // one greatest, far away
  check_log_softmax<int16_t, uint16_t>(21, 2, kXScale, 0.001f, 100);  // saturates
  check_log_softmax<uint8_t, uint16_t>(21, 3, 0.05f, 0.0004f, 65535);
  check_log_softmax<uint16_t, uint8_t>(21, 3, kXScale, 0.2f, 255);
  check_log_softmax<int16_t, int8_t>(21, 1, kXScale, 0.2f, 127);
  // The finest that is not refused.
  check_log_softmax<uint16_t, uint16_t>(21, 3, 0x1p-16f, 0x1p-18f + 0x1p-28f, 0);
  check_log_softmax<int16_t, int16_t>(21, 1, 0x1p-20f, 0x1p-18f + 0x1p-28f, INT16_MAX);
}

// An operator with constants along an axis has one requantisation for each index, in which a
// constant addend is included.
TEST(OnnxInt16, ConstantsAlongAnAxis) {
  Random random;
  SCOPED_TRACE(random.trace());
  struct Case {
    const char* op;
    bool swapped;
    Dims constant;
    std::function<double(double x, double c)> f;
  } const cases[] = {
      {"Add", false, {3, 1, 1}, [](double x, double c) { return x + c; }},
      {"Sub", false, {4}, [](double x, double c) { return x - c; }},
      {"Sub", true, {1, 3, 1, 1}, [](double x, double c) { return c - x; }},
      {"Mul", true, {5, 1}, [](double x, double c) { return x * c; }},
      {"Div", false, {2, 1, 1, 1}, [](double x, double c) { return x / c; }},
      {"PRelu", false, {3, 1, 1}, [](double x, double c) { return x < 0 ? x * c : x; }}};
  const auto x = random_integers<uint16_t>(&random, 2 * 3 * 5 * 4);
  for (const Case& c : cases) {
    SCOPED_TRACE(c.op);
    size_t inner = 1, count = 1;
    const Dims whole = {2, 3, 5, 4};
    for (size_t i = 0; i < 4; ++i) {
      const size_t skipped = 4 - c.constant.size();
      if (count == 1 && i >= skipped && c.constant[i - skipped] != 1)
        count = static_cast<size_t>(c.constant[i - skipped]);
      else if (count != 1)
        inner *= static_cast<size_t>(whole[i]);
    }
    std::vector<float> values(count);
    for (float& v : values) v = random.real(0.25f, 0.9f) * (random.coin() ? 1.0f : -1.0f);
    values[0] = 0.5f;
    OnnxBuilder m(21), narrow(21);
    for (OnnxBuilder* b : {&m, &narrow}) {
      const std::string t = b->integer_input<uint16_t>({2, 3, 5, 4}, kXScale, 30000);
      const std::string k = b->constant(c.constant, values);
      const std::string y = b->node(c.op, c.swapped ? Names{k, t} : Names{t, k});
      b == &m ? b->integer_output<uint16_t>(y, kYScale, 32768)
              : b->integer_output<int8_t>(b->node("Relu", {y}), 0.4f, -3);
    }
    const auto got = m.run_to<uint16_t>({to_bytes(x)});
    const auto got_narrow = narrow.run_to<int8_t>({to_bytes(x)});
    ASSERT_EQ(got.size(), x.size());
    ASSERT_EQ(got_narrow.size(), x.size());
    for (size_t i = 0; i < x.size(); ++i) {
      const double real = (x[i] - 30000) * static_cast<double>(kXScale);
      const double y = c.f(real, static_cast<double>(values[i / inner % count]));
      const auto quantised = [](double v, float scale, int zero, int lo, int hi) {
        return std::clamp(v / static_cast<double>(scale) + zero, static_cast<double>(lo),
                          static_cast<double>(hi));
      };
      ASSERT_LE(std::fabs(got[i] - quantised(y, kYScale, 32768, 0, 65535)), 0.52) << i;
      ASSERT_LE(std::fabs(got_narrow[i] - quantised(std::max(y, 0.0), 0.4f, -3, -128, 127)), 0.51)
          << i;
    }
  }
}

// The place from which an output position of a resized axis takes its value: between two elements, in units of 2^-20.
struct Between {
  int low, high;
  int64_t to_high;
};
Between between(int i, int size, int out) {
  const float at =
      (static_cast<float>(i) + 0.5f) / (static_cast<float>(out) / static_cast<float>(size)) - 0.5f;
  const float x = std::clamp(at, 0.0f, static_cast<float>(size - 1));
  const int low = static_cast<int>(x);
  return {low, std::min(low + 1, size - 1),
          std::llrint(std::ldexp(x - static_cast<float>(low), 20))};
}

// Checks resizing by any ratio: sums in 2^-14 steps of the input, a volume's planes blended, then one rounding.
void check_linear_resize(const Dims& from, const Dims& to) {
  SCOPED_TRACE(::testing::PrintToString(to));
  Random random;
  SCOPED_TRACE(random.trace());
  size_t count = 1;
  for (const int64_t d : from) count *= static_cast<size_t>(d);
  const auto x = random_integers<uint16_t>(&random, count);
  OnnxBuilder same(21), finer(21), narrow(21);
  for (OnnxBuilder* b : {&same, &finer, &narrow}) {
    const std::string sizes = b->constant<int64_t>({static_cast<int64_t>(to.size())}, to);
    const std::string in = b->integer_input<uint16_t>(from, kXScale, 30000);
    const std::string out = b->node("Resize", {in, "", "", sizes}, {{"mode", "linear"}});
    if (b == &same) b->integer_output<uint16_t>(out, kXScale, 30000);
    if (b == &finer) b->integer_output<uint16_t>(b->node("Relu", {out}), kXScale / 3, 20000);
    if (b == &narrow) b->integer_output<int8_t>(out, 0.2f, -5);
  }
  const auto requant_of = [](OnnxBuilder& b, double scale) {
    const Imported imported = b.import();
    fb::RequantT r = *imported.only<fb::RequantizeOptionsT>().requant;
    expect_factor(r, 0, std::ldexp(static_cast<double>(kXScale) / scale, -14));
    return r;
  };
  const fb::RequantT to_same = requant_of(same, static_cast<double>(kXScale));
  const fb::RequantT to_finer = requant_of(finer, static_cast<double>(kXScale / 3));
  const fb::RequantT to_narrow = requant_of(narrow, static_cast<double>(0.2f));
  // From behind: w, h, d.
  const auto size = [](const Dims& dims, size_t i) {
    return i < dims.size() - (dims.size() > 3 ? 2 : 0) ? static_cast<int>(dims[dims.size() - 1 - i])
                                                       : 1;
  };
  const bool is_volume = from.size() == 3 || from.size() == 5;
  const int in_w = size(from, 0), in_h = size(from, 1), in_d = is_volume ? size(from, 2) : 1;
  const int out_w = size(to, 0), out_h = size(to, 1), out_d = is_volume ? size(to, 2) : 1;
  const int images = static_cast<int>(count) / (in_w * in_h * in_d);
  const auto half_even = [](int64_t v, int shift) {
    return static_cast<int64_t>(std::nearbyint(std::ldexp(static_cast<long double>(v), -shift)));
  };
  std::vector<uint16_t> expected, expected_finer;
  std::vector<int8_t> expected_narrow;
  for (int c = 0; c < images; ++c)
    for (int k = 0; k < out_d; ++k)
      for (int i = 0; i < out_h; ++i)
        for (int j = 0; j < out_w; ++j) {
          const Between z = between(k, in_d, out_d), v = between(i, in_h, out_h),
                        u = between(j, in_w, out_w);
          const int64_t one = 1 << 20;
          const auto plane = [&](int at) {
            const auto value = [&](int row, int column) {
              return int64_t{
                         x[static_cast<size_t>(((c * in_d + at) * in_h + row) * in_w + column)]} -
                     30000;
            };
            return half_even((one - v.to_high) * ((one - u.to_high) * value(v.low, u.low) +
                                                  u.to_high * value(v.low, u.high)) +
                                 v.to_high * ((one - u.to_high) * value(v.high, u.low) +
                                              u.to_high * value(v.high, u.high)),
                             26);
          };
          const int64_t sum =
              half_even((one - z.to_high) * plane(z.low) + z.to_high * plane(z.high), 20);
          expected.push_back(requantized<uint16_t>(sum, to_same, 0, 30000));
          expected_finer.push_back(
              std::max<uint16_t>(requantized<uint16_t>(sum, to_finer, 0, 20000), 20000));
          expected_narrow.push_back(requantized<int8_t>(sum, to_narrow, 0, -5));
        }
  ASSERT_EQ(same.run_to<uint16_t>({to_bytes(x)}), expected);
  ASSERT_EQ(finer.run_to<uint16_t>({to_bytes(x)}), expected_finer);
  ASSERT_EQ(narrow.run_to<int8_t>({to_bytes(x)}), expected_narrow);
}

TEST(OnnxInt16, LinearResize) {
  check_linear_resize({2, 3, 4, 5}, {2, 3, 8, 10});
  check_linear_resize({1, 2, 4, 5}, {1, 2, 7, 3});
  check_linear_resize({4, 5}, {9, 6});
  check_linear_resize({1, 3, 5}, {1, 3, 11});
  check_linear_resize({3, 4, 5}, {5, 3, 9});
  check_linear_resize({1, 2, 3, 4, 5}, {1, 2, 7, 5, 4});
}

}  // namespace
}  // namespace qrt::testing::onnx_int16_elements_test
