// SPDX-License-Identifier: Apache-2.0
// The forms of forms.h: tables of sums against the definitions of requant.h over all pairs of bytes,
// and their kernels over rows of every kind.
#include <gtest/gtest.h>

#include <cmath>
#include <utility>
#include <vector>

#include "kernels/elementwise/forms.h"
#include "tests/support/guarded.h"
#include "tests/support/random.h"

namespace qrt::elementwise_forms_test {
namespace {

using testing::Guarded;
using testing::Random;

constexpr size_t kPairs = 65536;

// All pairs: a is the low byte of the index, b the high byte.
struct OperandBytes {
  OperandBytes() : a(kPairs), b(kPairs), y(kPairs) {
    for (size_t i = 0; i < kPairs; ++i) {
      a[i] = static_cast<uint8_t>(i & 255);
      b[i] = static_cast<uint8_t>(i >> 8);
    }
  }
  std::vector<uint8_t> a, b, y;
};

// f(a, b) of every output of r.
template <class F>
std::vector<uint8_t> outputs(const Rows& r, const F& f) {
  std::vector<uint8_t> y;
  for (size_t row = 0; row < r.rows; ++row) {
    const uint8_t *a = r.a + row * r.a_step, *b = r.b + row * r.b_step;
    for (size_t i = 0; i < r.n; ++i)
      y.push_back(static_cast<uint8_t>(f(a[r.a_is_scalar ? 0 : i], b[r.b_is_scalar ? 0 : i])));
  }
  return y;
}

// Checks run(rows) against f(a, b): every length, rows apart and dense, either operand repeated by
// rows or by elements. Inputs and outputs end at guard pages, and nothing beside an output changes.
template <class Run, class F>
void expect_rows(const Run& run, const F& f) {
  Random random;
  SCOPED_TRACE(random.trace());
  for (const size_t n : {1, 8, 63, 64, 65, 127, 128, 200, 1000}) {
    for (const size_t rows : {1, 2, 8, 9, 17}) {
      for (int kind = 0; kind < 18; ++kind) {
        const size_t gap = kind % 2 == 0 ? 0 : 5;
        const bool a_is_scalar = kind / 6 == 1, b_is_scalar = kind / 6 == 2;
        const size_t a_row = a_is_scalar ? 1 : n, b_row = b_is_scalar ? 1 : n;
        const size_t a_step = kind / 2 % 3 == 1 ? 0 : a_row + gap;
        const size_t b_step = kind / 2 % 3 == 2 ? 0 : b_row + gap;
        const size_t y_step = n + gap;
        Guarded<uint8_t> a((rows - 1) * a_step + a_row), b((rows - 1) * b_step + b_row);
        Guarded<uint8_t> y((rows - 1) * y_step + n);
        random.fill(a, 0, 255);
        random.fill(b, 0, 255);
        const Rows r{a.data(), b.data(), a_is_scalar, b_is_scalar, y.data(),
                     n,        rows,     a_step,      b_step,      y_step};
        const std::vector<uint8_t> want = outputs(r, f);
        run(r);
        for (size_t i = 0; i < y.size(); ++i) {
          const bool is_output = i % y_step < n;
          ASSERT_EQ(int{y[i]}, is_output ? int{want[i / y_step * n + i % y_step]} : 0xA5)
              << "n " << n << ", rows " << rows << ", kind " << kind << ", byte " << i;
        }
        if (a_is_scalar || a_step != y_step) continue;
        Rows in_place = r;
        in_place.y = a.data();
        run(in_place);
        for (size_t i = 0; i < rows * n; ++i)
          ASSERT_EQ(int{a[i / n * y_step + i % n]}, int{want[i]}) << "in place, byte " << i;
      }
    }
  }
}

class SumTablesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (kernel_.run == nullptr) GTEST_SKIP() << "no instruction set of this CPU has it";
  }

  // Returns whether there are tables; if so they and the kernel are checked.
  bool check(const AddParams& p) {
    SumTables tables;
    if (!kernel_.make(p, &tables)) return false;
    expect_sums(tables, [&](uint8_t a, uint8_t b) { return add_f32(p, a, b); });
    return true;
  }
  bool check(const AddIntParams& p) {
    SumTables tables;
    if (!kernel_.make_int(p, &tables)) return false;
    expect_sums(tables, [&](uint8_t a, uint8_t b) { return add_int(p, a, b); });
    return true;
  }

  template <class F>
  void expect_sums(const SumTables& tables, const F& f) {
    const Rows all{
        pairs_.a.data(), pairs_.b.data(), false, false, pairs_.y.data(), kPairs, 1, 0, 0, 0};
    kernel_.run(tables, all);
    for (size_t i = 0; i < kPairs; ++i) {
      const uint8_t a = pairs_.a[i], b = pairs_.b[i];
      const int32_t want = f(a, b);
      ASSERT_EQ(sum_by_tables(tables, a, b), want) << int{a} << ", " << int{b};
      ASSERT_EQ(int32_t{pairs_.y[i]}, want) << int{a} << ", " << int{b} << " of the kernel";
    }
  }

  float zero() { return static_cast<float>(random_.integer(0, 255)); }

  const SumTablesKernel& kernel_ = *select_sum_tables(detected_isas());
  OperandBytes pairs_;
  Random random_;
};

// Sums by tables are the float sums, for scales as models have them, of every kind and sign.
TEST_F(SumTablesTest, AreTheFloatSums) {
  SCOPED_TRACE(random_.trace());
  int found = 0;
  constexpr int kCases = 200;
  for (int i = 0; i < kCases; ++i) {
    const float a = random_.real(0.05f, 1.1f), b = random_.real(0.05f, i % 2 == 0 ? 0.99f : 2.0f);
    AddParams p{};
    p.a_scale = i % 20 == 7 ? -a : a;
    p.b_scale = i % 20 == 13 ? -b : b;
    p.multiply_add = i % 3 == 2;
    p.a_is_inner = i % 3 == 1;
    p.a_offset = random_.coin() ? -128 : 0;
    p.b_offset = random_.coin() ? -128 : 0;
    p.output_offset = random_.coin() ? 128 : 0;
    p.constant = zero() - (zero() + static_cast<float>(p.a_offset)) * p.a_scale -
                 (zero() + static_cast<float>(p.b_offset)) * p.b_scale -
                 static_cast<float>(p.output_offset);
    p.hi = 255;
    if (i % 4 == 3) {
      p.lo = static_cast<int32_t>(random_.integer(0, 255));
      p.hi = static_cast<int32_t>(random_.integer(p.lo, 255));
    }
    SCOPED_TRACE(i);
    found += check(p);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(found, kCases * 3 / 4);
}

// Sums by tables are the float sums near ties, to which float32 rounds them, of all kinds: the
// definition decides, pair by pair.
TEST_F(SumTablesTest, AreTheFloatSumsNearTies) {
  SCOPED_TRACE(random_.trace());
  int found = 0, moved = 0;
  for (int i = 0; i < 200; ++i) {
    const int a = static_cast<int>(random_.integer(1, 255));
    const int b = static_cast<int>(random_.integer(1, 255));
    AddParams p{};
    p.a_scale = random_.real(0.1f, 0.9f);
    p.b_scale = random_.real(0.1f, 0.9f);
    const double tie = static_cast<double>(random_.integer(0, 254)) + 0.5;
    const double constant = tie - double{p.a_scale} * a - double{p.b_scale} * b;
    p.constant = std::nextafterf(static_cast<float>(constant), i % 2 == 0 ? 1000.0f : -1000.0f);
    p.multiply_add = i % 3 == 2;
    p.a_is_inner = i % 3 == 1;
    p.hi = 255;
    const double sum =
        double{p.a_scale} * a + double{p.b_scale} * b + static_cast<double>(p.constant);
    moved += add_f32(p, static_cast<uint8_t>(a), static_cast<uint8_t>(b)) !=
             static_cast<int32_t>(std::floor(sum + 0.5));
    SCOPED_TRACE(i);
    found += check(p);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(found, 150);
  EXPECT_GT(moved, 5);
}

// Tables take every step of a byte: integers, bytes as their number of steps; the greatest base;
// all sums up, and all down.
TEST_F(SumTablesTest, TakeEveryStepOfAByte) {
  for (const float constant : {0.0f, -128.0f, -255.0f, -256.0f, -300.0f, 1.0f})
    for (const float other : {1.0f, 3.0f, 0.25f})
      EXPECT_TRUE(check(AddParams{1.0f, other, constant, false, false, 0, 0, 0, 0, 255}) ||
                  other == 0.25f);
  EXPECT_TRUE(check(AddParams{1.0f, -1.0f, 128.0f, false, false, 0, 0, 0, 0, 255}));
  EXPECT_TRUE(check(AddParams{0.0f, 0.4f, 3.0f, false, false, 0, 0, 0, 0, 255}));
  EXPECT_TRUE(check(AddParams{0.3183f, 0.4142f, -500.0f, false, false, 0, 0, 0, 0, 255}));
  EXPECT_TRUE(check(AddParams{0.3183f, 0.4142f, 500.0f, false, false, 0, 0, 0, 0, 255}));
}

TEST_F(SumTablesTest, RefuseWhatTakesMoreThanBytes) {
  SumTables tables;
  const auto make = [&](float a, float b, float constant) {
    return kernel_.make(AddParams{a, b, constant, false, false, 0, 0, 0, 0, 255}, &tables);
  };
  EXPECT_FALSE(make(1.5f, 1.7f, -400.0f));
  EXPECT_FALSE(make(0.5f, 0.5f, 0.25f + 0.25f));  // ties everywhere, half of them up
  EXPECT_FALSE(make(4e6f, 0.5f, 0.0f));
  EXPECT_FALSE(make(0.5f, 0.25f, 2147483392.0f));
}

// Sums by tables are TFLite's integer sums, in single and double rounding.
TEST_F(SumTablesTest, AreTheIntegerSums) {
  SCOPED_TRACE(random_.trace());
  const int32_t one = 1;
  const uint8_t k31 = 31;
  int found = 0;
  constexpr int kCases = 120;
  for (int i = 0; i < kCases; ++i) {
    const double scales[] = {random_.real(0.01f, 0.2f), random_.real(0.01f, 0.2f)};
    const double twice = 2 * std::fmax(scales[0], scales[1]);
    const double factors[] = {scales[0] / twice, scales[1] / twice,
                              twice / std::ldexp(random_.real(0.05f, 0.4f), 20)};
    int32_t multiplier[3];
    uint8_t shift[3], single[3];
    AddIntParams p{};
    RequantStage* const stages[] = {p.a_stages, p.b_stages, p.requant.stages};
    for (int k = 0; k < 3; ++k) {
      int exponent;
      multiplier[k] = static_cast<int32_t>(std::frexp(factors[k], &exponent) * 0x1p31 - 1);
      shift[k] = static_cast<uint8_t>(-exponent);
      single[k] = static_cast<uint8_t>(31 - exponent);
      stages[k][0] = {&multiplier[k], i % 2 == 0 ? &k31 : &single[k], Round::kHalfUp, INT32_MIN,
                      INT32_MAX};
      stages[k][1] = {&one, &shift[k], Round::kHalfAway, INT32_MIN, INT32_MAX};
    }
    p.a_zero_point = static_cast<int32_t>(random_.integer(0, 255));
    p.b_zero_point = static_cast<int32_t>(random_.integer(0, 255));
    p.left_shift = 20;
    p.subtract = i % 3 == 2;
    p.requant.kind = RequantKind::kInt;
    p.requant.zero_point = static_cast<int32_t>(random_.integer(0, 255));
    p.requant.lo = i % 4 == 3 ? p.requant.zero_point : 0;
    p.requant.hi = 255;
    p.a_stage_count = p.b_stage_count = p.requant.stage_count = i % 2 == 0 ? 2 : 1;
    SCOPED_TRACE(i);
    found += check(p);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(found, kCases / 2);
}

TEST_F(SumTablesTest, RunOverRows) {
  for (const bool swap : {false, true}) {
    AddParams p{0.70712f, 1.61803f, -30.5f, false, false, 0, 0, 0, 3, 250};
    if (swap) std::swap(p.a_scale, p.b_scale);
    SumTables tables;
    ASSERT_TRUE(kernel_.make(p, &tables));
    EXPECT_EQ(tables.base_is_a, !swap);
    expect_rows([&](const Rows& r) { kernel_.run(tables, r); },
                [&](uint8_t a, uint8_t b) { return add_f32(p, a, b); });
  }
}

TEST(ScaledProductTest, IsOneRounding) {
  const ScaledProductKernel& kernel = *select_scaled_product(detected_isas());
  if (kernel.run == nullptr) GTEST_SKIP() << "no instruction set of this CPU has it";
  Random random;
  SCOPED_TRACE(random.trace());
  OperandBytes pairs;
  for (int i = 0; i < 20; ++i) {
    ScaledProduct p{static_cast<int32_t>(random.integer(0, 255)),
                    static_cast<int32_t>(random.integer(0, 255)),
                    random.real(0.0001f, 0.49f),
                    0x1.8p23f + static_cast<float>(random.integer(-255, 383)),
                    0,
                    255};
    if (i % 3 == 0) p.lo = 7, p.hi = 201;
    const auto rounded = [&](float a, float b) {
      const int64_t v = static_cast<int64_t>(std::fma(a, b, p.addend)) - 0xc00000;
      return clamp_int(clamp_int(v, 0, 255), p.lo, p.hi);
    };
    const auto integer = [&](uint8_t a, uint8_t b) {
      return rounded(static_cast<float>((a - p.a_zero_point) * (b - p.b_zero_point)), p.scale);
    };
    const auto beside = [&](uint8_t a, uint8_t b) {
      return rounded(static_cast<float>(a - p.a_zero_point),
                     static_cast<float>(b - p.b_zero_point) * p.scale);
    };
    const Rows plain{
        pairs.a.data(), pairs.b.data(), false, false, pairs.y.data(), kPairs, 1, 0, 0, 0};
    kernel.run(p, plain);
    for (size_t k = 0; k < kPairs; ++k)
      ASSERT_EQ(int64_t{pairs.y[k]}, integer(pairs.a[k], pairs.b[k])) << "pair " << k;
    // The rows of b beside the first of a, which has every byte.
    kernel.run(
        p, {pairs.a.data(), pairs.b.data(), false, false, pairs.y.data(), 256, 256, 0, 256, 256});
    for (size_t k = 0; k < kPairs; ++k)
      ASSERT_EQ(int64_t{pairs.y[k]}, beside(pairs.a[k], pairs.b[k])) << "pair " << k << " of rows";
  }
  // With a scale of few bits both are exact, and the same.
  const ScaledProduct p{100, 30, 0x1.5p-5f, 0x1.8p23f + 50, 0, 255};
  expect_rows([&](const Rows& r) { kernel.run(p, r); },
              [&](uint8_t a, uint8_t b) {
                const double v = (a - 100) * (b - 30) * 0x1.5p-5;
                return clamp_int(static_cast<int64_t>(std::nearbyint(v)) + 50, 0, 255);
              });
}

// Sets without such kernels get none.
TEST(FormsSelectTest, LeavesOtherSetsWithoutThem) {
  const auto scalar = static_cast<IsaSet>(Isa::kScalar);
  EXPECT_EQ(select_sum_tables(scalar)->run, nullptr);
  EXPECT_EQ(select_scaled_product(scalar)->run, nullptr);
}

}  // namespace
}  // namespace qrt::elementwise_forms_test
