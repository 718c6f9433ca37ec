// SPDX-License-Identifier: Apache-2.0
// Every row of the formula family against the scalar one, between guard pages; what the bounds make
// of a formula against the formula as it stands.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "kernels/formula/bounds.h"
#include "tests/support/guarded.h"
#include "tests/support/random.h"

namespace qrt::formula_test {
namespace {

using testing::Guarded;
using testing::Random;

using E = FormulaElement;
using F = FormulaFunction;
using Steps = std::vector<FormulaStep>;

constexpr E kElements[] = {E::kUInt8, E::kInt16, E::kInt32};

size_t bytes_of(E element) { return element == E::kUInt8 ? 1 : element == E::kInt16 ? 2 : 4; }

// Steps as files may have them; shifts and limits in range, factors of all sizes.
Steps random_steps(Random* random) {
  Steps steps(static_cast<size_t>(random->integer(0, 6)));
  for (FormulaStep& s : steps) {
    s.function = static_cast<F>(random->integer(0, kFormulaFunctions - 1));
    const int bits = static_cast<int>(random->integer(1, 31));
    s.value = static_cast<int32_t>(random->integer(INT32_MIN, INT32_MAX)) >> (31 - bits);
    s.high = static_cast<int32_t>(random->integer(s.value, INT32_MAX));
    if (s.function == F::kShiftRight) s.value = static_cast<int32_t>(random->integer(1, 31));
    if (s.function == F::kShiftLeft) s.value = static_cast<int32_t>(random->integer(0, 31));
  }
  return steps;
}

int32_t random_zero_point(E element, Random* random) {
  if (element == E::kUInt8) return static_cast<int32_t>(random->integer(0, 255));
  if (element == E::kInt16) return static_cast<int32_t>(random->integer(INT16_MIN, INT16_MAX));
  return random->integer(0, 1) == 0 ? 0
                                    : static_cast<int32_t>(random->integer(INT32_MIN, INT32_MAX));
}

// Fills n elements with random bytes, the extremes of the type among them.
void fill(E element, Random* random, Guarded<uint8_t>* data) {
  random->fill(*data, 0, 255);
  const size_t bytes = bytes_of(element), n = data->size() / bytes;
  for (size_t i = 0; i < n; i += 7) {
    const bool is_greatest = i % 2 == 0;
    memset(data->data() + i * bytes, is_greatest ? 255 : 0, bytes);
    if (element != E::kUInt8) data->data()[(i + 1) * bytes - 1] = is_greatest ? 0x7f : 0x80;
  }
}

struct Case {
  FormulaParams params{};
  Steps a_steps, b_steps, y_steps;
  bool a_is_scalar = false, b_is_scalar = false;
  size_t n = 0;

  void set() {
    params.a.steps = a_steps.data(), params.a.count = a_steps.size();
    params.b.steps = b_steps.data(), params.b.count = b_steps.size();
    params.y.steps = y_steps.data(), params.y.count = y_steps.size();
  }
};

Case random_case(E a, E y, Random* random) {
  Case c;
  c.params.a = {a, random_zero_point(a, random), nullptr, 0};
  c.params.y = {y, random_zero_point(y, random), nullptr, 0};
  c.params.has_b = random->integer(0, 1) == 1;
  c.a_steps = random_steps(random);
  if (c.params.has_b) {
    const E b = kElements[random->integer(0, 2)];
    c.params.b = {b, random_zero_point(b, random), nullptr, 0};
    c.params.pair = static_cast<FormulaPair>(random->integer(0, kFormulaPairs - 1));
    c.b_steps = random_steps(random);
    c.y_steps = random_steps(random);
    c.b_is_scalar = random->integer(0, 3) == 0;
  }
  c.a_is_scalar = random->integer(0, 7) == 0;
  return c;
}

std::vector<uint8_t> results(const Case& c, const FormulaKernel& kernel, const Guarded<uint8_t>& a,
                             const Guarded<uint8_t>& b) {
  Guarded<uint8_t> y(c.n * bytes_of(c.params.y.element));
  kernel.run(c.params, {a.data(), b.data(), c.a_is_scalar, c.b_is_scalar, y.data(), c.n});
  return {y.begin(), y.end()};
}

TEST(FormulaKernels, EveryRowEqualsTheScalarOne) {
  Random random;
  SCOPED_TRACE(random.trace());
  size_t count;
  const FormulaKernel* rows = formula_kernels(&count);
  const FormulaKernel& scalar = rows[count - 1];
  ASSERT_EQ(scalar.isa, Isa::kScalar);
  for (int turn = 0; turn < 300; ++turn) {
    for (const E from : kElements) {
      for (const E to : kElements) {
        Case c = random_case(from, to, &random);
        c.set();
        // Around a block of every row.
        constexpr size_t kLengths[] = {1, 3, 31, 32, 33, 63, 64, 65, 127, 128, 129, 300};
        c.n = kLengths[random.integer(0, 11)];
        Guarded<uint8_t> a((c.a_is_scalar ? 1 : c.n) * bytes_of(from));
        Guarded<uint8_t> b((c.b_is_scalar ? 1 : c.n) * bytes_of(c.params.b.element));
        fill(from, &random, &a);
        fill(c.params.b.element, &random, &b);
        const std::vector<uint8_t> expected = results(c, scalar, a, b);
        // The formula simplified by its bounds gives the same results.
        Case simple = c;
        FormulaBounds bounds =
            simplify_formula(formula_bounds(from, c.params.a.zero_point), &simple.a_steps);
        const FormulaBounds b_bounds = simplify_formula(
            formula_bounds(c.params.b.element, c.params.b.zero_point), &simple.b_steps);
        bounds = formula_bounds(c.params.pair, bounds, b_bounds);
        simplify_formula(bounds, &simple.y_steps);
        simple.set();
        c.set();
        for (size_t i = 0; i < count; ++i) {
          if (!has(detected_isas(), rows[i].isa)) continue;
          ASSERT_EQ(results(c, rows[i], a, b), expected) << rows[i].name << ", " << c.n;
          ASSERT_EQ(results(simple, rows[i], a, b), expected) << rows[i].name << ", " << c.n;
        }
      }
    }
  }
}

Steps simplified(FormulaBounds from, Steps steps, FormulaBounds* bounds) {
  *bounds = simplify_formula(from, &steps);
  return steps;
}

TEST(FormulaBounds, CheaperStepsOnlyWhereTheyGiveTheSame) {
  FormulaBounds to;
  // Limits that hold: none, one, both.
  EXPECT_TRUE(simplified({-127, 127}, {{F::kClamp, -127, 127}}, &to).empty());
  EXPECT_EQ(simplified({-128, 127}, {{F::kClamp, -127, 127}}, &to)[0].function, F::kAtLeast);
  EXPECT_EQ(simplified({-127, 128}, {{F::kClamp, -127, 127}}, &to)[0].function, F::kAtMost);
  EXPECT_EQ(simplified({-128, 128}, {{F::kClamp, -127, 127}}, &to)[0].function, F::kClamp);
  EXPECT_EQ(to.lo, -127);
  EXPECT_EQ(to.hi, 127);
  // Products of 16 bits: both factors have to fit.
  EXPECT_EQ(simplified({INT16_MIN, INT16_MAX}, {{F::kMultiply, INT16_MIN, 0}}, &to)[0].function,
            F::kMultiply16);
  EXPECT_EQ(to.hi, int64_t{1} << 30);
  EXPECT_EQ(simplified({0, INT16_MAX + 1}, {{F::kMultiply, 3, 0}}, &to)[0].function, F::kMultiply);
  EXPECT_EQ(simplified({0, 1}, {{F::kMultiply, INT16_MAX + 1, 0}}, &to)[0].function, F::kMultiply);
  // Halves that leave int32 are not added first.
  constexpr int64_t kMost = INT32_MAX;
  EXPECT_EQ(simplified({0, kMost - 8}, {{F::kShiftRight, 4, 0}}, &to)[0].function,
            F::kAddAndShiftRight);
  EXPECT_EQ(simplified({0, kMost - 7}, {{F::kShiftRight, 4, 0}}, &to)[0].function, F::kShiftRight);
  // A value that wraps may be anything.
  simplified({0, kMost}, {{F::kShiftRight, 1, 0}}, &to);
  EXPECT_EQ(to.lo, INT32_MIN);
  simplified({0, kMost}, {{F::kAdd, 1, 0}}, &to);
  EXPECT_EQ(to.lo, INT32_MIN);
  simplified({INT32_MIN, 0}, {{F::kAbs, 0, 0}}, &to);
  EXPECT_EQ(to.lo, INT32_MIN);
}

}  // namespace
}  // namespace qrt::formula_test
