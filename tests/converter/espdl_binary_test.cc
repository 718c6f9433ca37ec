// SPDX-License-Identifier: Apache-2.0
// ESP-DL's operators of two tensors against its arithmetic, for every target.
#include <gtest/gtest.h>

#include "kernels/integer_build.h"
#include "tests/support/espdl_arithmetic.h"

namespace qrt::testing::espdl_binary_test {
namespace {

// Checks y = f(a, b) of two tensors of 60 values at exponents -4 and -3.
template <class F>
void check_binary(const std::string& op, const std::string& target, EspdlType type,
                  int out_exponent, const F& f) {
  Random random;
  std::vector<int64_t> a = random_values(random, type, 60), c = random_values(random, type, 60),
                       expected;
  for (size_t i = 0; i < 60; ++i) expected.push_back(f(a[i], c[i]));
  EspdlBuilder b(target);
  b.op(op, {b.input("a", type, {3, 20}, -4), b.input("b", type, {3, 20}, -3)},
       {b.output("y", type, {3, 20}, out_exponent)});
  if (is_integer_build() && b.import().count(fb::OpOptions::Float) > 0) return;
  ASSERT_EQ(b.run({bytes_of(type, a), bytes_of(type, c)}),
            std::vector<Bytes>{bytes_of(type, expected)})
      << op << random.trace();
}

TEST(EspdlBinary, SumsAreOfTheRawIntegers) {
  for_all([&](const std::string& target, EspdlType type) {
    check_binary("Add", target, type, -4,
                 [&](int64_t a, int64_t b) { return limited(type, static_cast<double>(a + b)); });
    check_binary("Sub", target, type, -4,
                 [&](int64_t a, int64_t b) { return limited(type, static_cast<double>(a - b)); });
  });
}

TEST(EspdlBinary, UnequalExponentsAreWarnedOf) {
  EspdlBuilder b;
  b.op("Add", {b.input("a", EspdlType::INT8, {4}, -4), b.input("b", EspdlType::INT8, {4}, -3)},
       {b.output("y", EspdlType::INT8, {4}, -4)});
  const Imported imported = b.import();
  ASSERT_EQ(imported.report.warnings().size(), 1u);
  ASSERT_EQ(imported.report.warnings()[0].rule, "espdl-exponents");
}

TEST(EspdlBinary, ProductsAreShifted) {
  for_all([&](const std::string& target, EspdlType type) {
    for (int out : {-7, -4, 3, -20}) {
      check_binary("Mul", target, type, out, [&](int64_t a, int64_t b) {
        // The C code rounds products of int16 to float32 first.
        if (target == "c" && is_int16(type))
          return rounded(target, type, std::ldexp(static_cast<float>(a * b), -out - 7));
        return shifted(target, type, static_cast<double>(a * b), out + 7);
      });
    }
  });
}

TEST(EspdlBinary, QuotientsAreOfFloats) {
  for_all([&](const std::string& target, EspdlType type) {
    check_binary("Div", target, type, -2, [&](int64_t a, int64_t b) -> int64_t {
      if (b == 0) return a == 0 ? 0 : a > 0 ? most(type) : least(type);
      return rounded(target, type, std::ldexp(static_cast<float>(a), 1) / static_cast<float>(b));
    });
  });
}

// A divisor with one element in the innermost run of dimensions divides as a scalar does: its
// reciprocal is rounded first.
TEST(EspdlBinary, ScalarsDivideByReciprocals) {
  Random random;
  const std::vector<std::vector<int64_t>> divisors = {{1}, {1, 1, 1}, {6, 1}, {5, 6, 1}, {7}};
  for_all([&](const std::string& target, EspdlType type) {
    if (is_integer_build() && is_int16(type)) return;  // in float
    for (const std::vector<int64_t>& dims : divisors) {
      const int64_t n = dims.size() == 1 ? dims[0] : dims.size() == 2 ? 6 : dims[0] * dims[1];
      const std::vector<int64_t> a = random_values(random, type, 5 * 6 * 7);
      std::vector<int64_t> d = random_values(random, type, static_cast<size_t>(n)), expected;
      if (n > 1) d[1] = 0;
      for (size_t i = 0; i < a.size(); ++i) {
        const size_t row = i / 7;
        const int64_t b = d[n == 1 ? 0 : n == 7 ? i % 7 : n == 6 ? row % 6 : row];
        const float x = static_cast<float>(a[i]), v = static_cast<float>(b);
        const float r = std::ldexp(1.0f, is_int16(type) ? 9 : 3);
        expected.push_back(b == 0   ? (a[i] == 0  ? 0
                                       : a[i] > 0 ? most(type)
                                                  : least(type))
                           : n == 7 ? rounded(target, type, x * r / v)
                                    : rounded(target, type, x * (r / v)));
      }
      EspdlBuilder b(target);
      const int out = is_int16(type) ? -10 : -4;
      b.op("Div", {b.input("a", type, {5, 6, 7}, -4), b.input("b", type, dims, -3)},
           {b.output("y", type, {5, 6, 7}, out)});
      ASSERT_EQ(b.run({bytes_of(type, a), bytes_of(type, d)}),
                std::vector<Bytes>{bytes_of(type, expected)})
          << dims.size() << random.trace();
    }
  });
}

// A quotient by 0 is a limit for every dividend other than 0, whatever the exponents.
TEST(EspdlBinary, QuotientsByZero) {
  for_all([&](const std::string& target, EspdlType type) {
    if (is_integer_build() && is_int16(type)) return;  // in float
    for (const int out : {-30, -4, 20}) {
      EspdlBuilder b(target);
      b.op("Div", {b.input("a", type, {3}, -4), b.input("b", type, {1}, -3)},
           {b.output("y", type, {3}, out)});
      ASSERT_EQ(b.run({bytes_of(type, {5, 0, -5}), bytes_of(type, {0})}),
                std::vector<Bytes>{bytes_of(type, {most(type), 0, least(type)})})
          << out;
    }
  });
}

// A scalar's reciprocal is rounded in divisions of floats, too.
TEST(EspdlBinary, FloatsDivideByReciprocals) {
  if (is_integer_build()) GTEST_SKIP() << "this build leaves no layer in float";
  Random random;
  std::vector<float> a(40), expected;
  for (float& v : a) v = random.real(-10, 10);
  const float d = -0.234588f;
  for (const float v : a) expected.push_back(v * (1.0f / d));
  EspdlBuilder b;
  b.op("Div",
       {b.input("a", EspdlType::FLOAT, {4, 10}, 0),
        b.constant("b", EspdlType::FLOAT, {1}, std::vector<float>{d})},
       {b.output("y", EspdlType::FLOAT, {4, 10}, 0)});
  ASSERT_EQ(b.run({to_bytes(a)}), std::vector<Bytes>{to_bytes(expected)});
}

}  // namespace
}  // namespace qrt::testing::espdl_binary_test
