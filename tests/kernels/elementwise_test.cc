// SPDX-License-Identifier: Apache-2.0
// Every row of elementwise.inc against the definitions of requant.h, over all 65,536 pairs of
// bytes.
#include "kernels/elementwise/elementwise.h"

#include <gtest/gtest.h>

#include <cfloat>
#include <cmath>
#include <string>
#include <vector>

#include "tests/support/guarded.h"
#include "tests/support/random.h"

namespace qrt::elementwise_test {
namespace {

using testing::Guarded;
using testing::Random;

constexpr size_t kPairLutEntries = 65536;

// All pairs: a is the low byte of the index, b the high byte.
struct OperandBytes {
  Guarded<uint8_t> a{kPairLutEntries}, b{kPairLutEntries};
  OperandBytes() {
    for (size_t i = 0; i < kPairLutEntries; ++i) {
      a[i] = static_cast<uint8_t>(i & 255);
      b[i] = static_cast<uint8_t>(i >> 8);
    }
  }
};

AddParams add_params(float a_scale, float b_scale, float constant) {
  return {a_scale, b_scale, constant, false, false, 0, 0, 0, 0, 255};
}

// Returns whether the loader lets such parameters pass: 255 * (|a_scale| + |b_scale|) + |constant| < 2^31.
bool is_loadable(const AddParams& p) {
  return 255.0 * (std::fabs(double{p.a_scale}) + std::fabs(double{p.b_scale})) +
             std::fabs(double{p.constant}) <
         2147483648.0;
}

// Two scales for every kind of sum, with signs of operands and output in turn.
std::vector<AddParams> add_cases(Random& random) {
  std::vector<AddParams> scales;
  for (int i = 0; i < 12; ++i) {  // as models have them
    const float a = random.scale(static_cast<int>(random.integer(-6, 0)));
    const float b = random.scale(static_cast<int>(random.integer(-6, 0)));
    const float za = static_cast<float>(random.integer(0, 255));
    const float zb = static_cast<float>(random.integer(0, 255));
    scales.push_back(add_params(a, b, 128.0f - za * a - zb * b));
  }
  for (const float half : {0.5f, 0.25f, 1.0f, 0.125f})  // ties everywhere
    for (const float c : {0.0f, 0.5f, -63.5f, 127.5f, -0.0f})
      scales.push_back(add_params(half, half * (c == 0.5f ? 2 : 1), c));
  for (int i = 0; i < 4; ++i)  // near ties: a sum one place off one half
    scales.push_back(add_params(0.5f, std::nextafterf(0.5f, i & 1 ? 1.0f : 0.0f),
                                std::nextafterf(8.5f, i & 2 ? 9.0f : 8.0f)));
  scales.push_back(add_params(-0.75f, 0.5f, 40.0f));  // signs
  scales.push_back(add_params(0.3f, -0.7f, 180.25f));
  scales.push_back(add_params(0.0f, 0.37f, -3.0f));  // zeros and the smallest numbers
  scales.push_back(add_params(FLT_TRUE_MIN, FLT_MIN, 7.5f));
  scales.push_back(add_params(4e6f, 4e6f, -1e8f));  // up to the loader's limit
  scales.push_back(add_params(8421504.0f, 0.25f, 64.0f));
  scales.push_back(add_params(0.25f, -8421504.0f, -64.0f));
  scales.push_back(add_params(1.0f, 0.5f, 2147483000.0f));
  scales.push_back(add_params(0.5f, 0.25f, 2147483392.0f));
  scales.push_back(add_params(0.5f, 0.25f, -2147483392.0f));

  std::vector<AddParams> cases;
  for (const AddParams& s : scales) {
    if (!is_loadable(s)) ADD_FAILURE() << "a case beyond the loader's limit";
    for (int kind = 0; kind < 3; ++kind) {
      AddParams p = s;
      p.multiply_add = kind == 2;
      p.a_is_inner = kind == 1;
      p.a_offset = random.coin() ? -128 : 0;
      p.b_offset = random.coin() ? -128 : 0;
      p.output_offset = random.coin() ? 128 : 0;
      if (random.integer(0, 3) == 0) {
        p.lo = static_cast<int32_t>(random.integer(0, 255));
        p.hi = static_cast<int32_t>(random.integer(p.lo, 255));
      }
      cases.push_back(p);
    }
  }
  for (int offsets = 0; offsets < 8; ++offsets) {
    for (int kind = 0; kind < 3; ++kind) {
      AddParams p = add_params(0.6180339f, 0.4142135f, -17.25f);
      p.multiply_add = kind == 2;
      p.a_is_inner = kind == 1;
      p.a_offset = offsets & 1 ? -128 : 0;
      p.b_offset = offsets & 2 ? -128 : 0;
      p.output_offset = offsets & 4 ? 128 : 0;
      cases.push_back(p);
    }
  }
  return cases;
}

std::string describe(const AddParams& p) {
  char text[256];
  snprintf(text, sizeof text, "%a * (a%+d) + %a * (b%+d) + %a, %s, %s inner, %+d, [%d, %d]",
           double{p.a_scale}, p.a_offset, double{p.b_scale}, p.b_offset, double{p.constant},
           p.multiply_add ? "mul-add" : "fma", p.a_is_inner ? "a" : "b", p.output_offset, p.lo,
           p.hi);
  return text;
}

Requant f32_requant(const float* scale, int32_t zero_point) {
  Requant r{};
  r.kind = RequantKind::kF32;
  r.round = Round::kHalfEven;
  r.zero_point = zero_point;
  r.lo = 0;
  r.hi = 255;
  r.scale = scale;
  return r;
}

// Stages of an add of integers, with what they point to.
class IntAdd {
 public:
  enum Term { kA, kB, kOutput };

  IntAdd(int a_zero_point, int b_zero_point, int output_zero_point, int left_shift) {
    p_.a_zero_point = a_zero_point;
    p_.b_zero_point = b_zero_point;
    p_.left_shift = left_shift;
    p_.requant.kind = RequantKind::kInt;
    p_.requant.zero_point = output_zero_point;
    p_.requant.hi = 255;
  }
  IntAdd(const IntAdd&) = delete;

  IntAdd& stage(Term term, int32_t multiplier, int shift, Round round, int32_t lo = INT32_MIN,
                int32_t hi = INT32_MAX) {
    int32_t& count = term == kA   ? p_.a_stage_count
                     : term == kB ? p_.b_stage_count
                                  : p_.requant.stage_count;
    multiplier_[term][count] = multiplier;
    shift_[term][count] = static_cast<uint8_t>(shift);
    RequantStage* stages = term == kA ? p_.a_stages : term == kB ? p_.b_stages : p_.requant.stages;
    stages[count] = {&multiplier_[term][count], &shift_[term][count], round, lo, hi};
    ++count;
    return *this;
  }
  AddIntParams& params() { return p_; }

 private:
  AddIntParams p_ = {};
  int32_t multiplier_[3][kMaxStages];
  uint8_t shift_[3][kMaxStages];
};

// TFLite's quantised multiplier: real = m / 2^31 * 2^shift.
struct TfliteMultiplier {
  explicit TfliteMultiplier(double real) {
    const double fraction = std::frexp(real, &shift);
    const int64_t q = std::llround(fraction * 2147483648.0);
    m = static_cast<int32_t>(q == int64_t{1} << 31 ? q / 2 : q);
    if (q == int64_t{1} << 31) ++shift;
  }
  int32_t m;
  int shift;
};

// TFLite's MultiplyByQuantizedMultiplier for shift <= 0, as gemmlowp has it: with double rounding,
// a saturating rounding doubling high product and a division that rounds half away from zero.
int32_t tflite_multiply(int32_t x, const TfliteMultiplier& q, bool double_rounding) {
  const int64_t product = int64_t{x} * q.m;
  if (!double_rounding) {
    const int total = 31 - q.shift;
    return static_cast<int32_t>((product + (int64_t{1} << (total - 1))) >> total);
  }
  const int64_t nudge = product >= 0 ? 1 << 30 : 1 - (1 << 30);
  const int32_t high = static_cast<int32_t>((product + nudge) / (int64_t{1} << 31));
  const int32_t mask = (1 << -q.shift) - 1, remainder = high & mask;
  return (high >> -q.shift) + (remainder > (mask >> 1) + (high < 0 ? 1 : 0));
}

class ElementwiseTest : public ::testing::TestWithParam<size_t> {
 protected:
  void SetUp() override {
    size_t count;
    kernel_ = elementwise_kernels(&count)[GetParam()];
    if (!has(detected_isas(), kernel_.isa)) GTEST_SKIP() << "this CPU lacks " << kernel_.name;
  }

  void expect_add(const AddParams& p, const ElementwiseArgs& run) {
    std::vector<uint8_t> want(run.n);
    for (size_t i = 0; i < run.n; ++i)
      want[i] = static_cast<uint8_t>(
          add_f32(p, run.a[run.a_is_scalar ? 0 : i], run.b[run.b_is_scalar ? 0 : i]));
    kernel_.add(p, run);
    for (size_t i = 0; i < run.n; ++i)
      ASSERT_EQ(int{run.y[i]}, int{want[i]}) << "element " << i << " of " << run.n;
  }

  void expect_add_int(const AddIntParams& p, const ElementwiseArgs& run) {
    std::vector<uint8_t> want(run.n);
    for (size_t i = 0; i < run.n; ++i)
      want[i] = static_cast<uint8_t>(
          add_int(p, run.a[run.a_is_scalar ? 0 : i], run.b[run.b_is_scalar ? 0 : i]));
    kernel_.add_int(p, run);
    for (size_t i = 0; i < run.n; ++i)
      ASSERT_EQ(int{run.y[i]}, int{want[i]}) << "element " << i << " of " << run.n;
  }

  // Checks all pairs, then each operand as a scalar, in runs of lengths around that of a chunk.
  void expect_add_int_everywhere(const AddIntParams& p) {
    const uint8_t* all = pairs_.a.data();
    ASSERT_NO_FATAL_FAILURE(
        expect_add_int(p, {all, pairs_.b.data(), false, false, y_.data(), kPairLutEntries}));
    const uint8_t one = static_cast<uint8_t>(random_.integer(0, 255));
    for (const size_t n : {1, 15, 16, 300, 1023, 1025, 2051}) {
      ASSERT_NO_FATAL_FAILURE(expect_add_int(p, {&one, all, true, false, y_.data(), n}));
      ASSERT_NO_FATAL_FAILURE(expect_add_int(p, {all, &one, false, true, y_.data(), n}));
      ASSERT_NO_FATAL_FAILURE(expect_add_int(p, {&one, &one, true, true, y_.data(), n}));
    }
  }

  void expect_mul(const MulParams& p, const ElementwiseArgs& run) {
    std::vector<uint8_t> want(run.n);
    for (size_t i = 0; i < run.n; ++i) {
      const int32_t a = run.a[run.a_is_scalar ? 0 : i] - p.a_zero_point;
      const int32_t b = run.b[run.b_is_scalar ? 0 : i] - p.b_zero_point;
      want[i] = static_cast<uint8_t>(requantize(p.requant, a * b, 0));
    }
    kernel_.mul(p, run);
    for (size_t i = 0; i < run.n; ++i)
      ASSERT_EQ(int{run.y[i]}, int{want[i]}) << "element " << i << " of " << run.n;
  }

  // Checks all pairs, then each operand as a scalar.
  void expect_mul_everywhere(const MulParams& p) {
    ASSERT_NO_FATAL_FAILURE(expect_mul(
        p, {pairs_.a.data(), pairs_.b.data(), false, false, y_.data(), kPairLutEntries}));
    const uint8_t one = static_cast<uint8_t>(random_.integer(0, 255));
    ASSERT_NO_FATAL_FAILURE(expect_mul(p, {&one, pairs_.a.data(), true, false, y_.data(), 300}));
    ASSERT_NO_FATAL_FAILURE(expect_mul(p, {pairs_.a.data(), &one, false, true, y_.data(), 300}));
  }

  ElementwiseKernel kernel_{};
  OperandBytes pairs_;
  Guarded<uint8_t> y_{kPairLutEntries};
  Random random_;
};

TEST_P(ElementwiseTest, AddsAllPairs) {
  SCOPED_TRACE(random_.trace());
  for (const AddParams& p : add_cases(random_)) {
    SCOPED_TRACE(describe(p));
    ASSERT_NO_FATAL_FAILURE(expect_add(
        p, {pairs_.a.data(), pairs_.b.data(), false, false, y_.data(), kPairLutEntries}));
  }
}

TEST_P(ElementwiseTest, AddRepeatsAScalarOperand) {
  SCOPED_TRACE(random_.trace());
  for (const AddParams& p : add_cases(random_)) {
    SCOPED_TRACE(describe(p));
    for (const int byte : {0, 1, 127, 128, 255}) {
      const uint8_t one = static_cast<uint8_t>(byte);
      const uint8_t* all = pairs_.a.data();
      ASSERT_NO_FATAL_FAILURE(expect_add(p, {all, &one, false, true, y_.data(), 256}));
      ASSERT_NO_FATAL_FAILURE(expect_add(p, {&one, all, true, false, y_.data(), 256}));
      ASSERT_NO_FATAL_FAILURE(expect_add(p, {&one, &one, true, true, y_.data(), 65}));
    }
  }
}

// Every length is handled: inputs and output end at guard pages, and neither is touched past its last byte.
TEST_P(ElementwiseTest, HandlesEveryLength) {
  SCOPED_TRACE(random_.trace());
  const AddParams add = add_params(0.71f, 0.55f, -30.5f);
  const float scale = 0.0041f;
  const MulParams mul{17, 201, f32_requant(&scale, 99)};
  for (size_t n = 0; n <= 197; ++n) {
    Guarded<uint8_t> a(n), b(n), y(n);
    random_.fill(a, 0, 255);
    random_.fill(b, 0, 255);
    ASSERT_NO_FATAL_FAILURE(expect_add(add, {a.data(), b.data(), false, false, y.data(), n}));
    ASSERT_NO_FATAL_FAILURE(expect_mul(mul, {a.data(), b.data(), false, false, y.data(), n}));
  }
}

TEST_P(ElementwiseTest, LeavesTheBytesBesideTheOutputAlone) {
  const AddParams add = add_params(0.71f, 0.55f, -30.5f);
  const float scale = 0.0041f;
  const MulParams mul{17, 201, f32_requant(&scale, 99)};
  for (size_t n = 0; n <= 130; ++n) {
    std::vector<uint8_t> y(300, 0xEE);
    kernel_.add(add, {pairs_.a.data(), pairs_.b.data(), false, false, y.data() + 70, n});
    kernel_.mul(mul, {pairs_.a.data(), pairs_.b.data(), false, false, y.data() + 70, n});
    for (size_t i = 0; i < y.size(); ++i) {
      if (i < 70 || i >= 70 + n) {
        ASSERT_EQ(int{y[i]}, 0xEE) << "n " << n << ", byte " << i;
      }
    }
  }
}

TEST_P(ElementwiseTest, WorksInPlace) {
  SCOPED_TRACE(random_.trace());
  const AddParams add = add_params(0.71f, 0.55f, -30.5f);
  const float scale = 0.0041f;
  const MulParams mul{17, 201, f32_requant(&scale, 99)};
  for (const size_t n : {1, 63, 64, 65, 129, 1009}) {
    Guarded<uint8_t> a(n), b(n);
    random_.fill(a, 0, 255);
    random_.fill(b, 0, 255);
    ASSERT_NO_FATAL_FAILURE(expect_add(add, {a.data(), b.data(), false, false, a.data(), n}));
    ASSERT_NO_FATAL_FAILURE(expect_mul(mul, {a.data(), b.data(), false, false, b.data(), n}));
    ASSERT_NO_FATAL_FAILURE(expect_add(add, {a.data(), a.data(), false, false, a.data(), n}));
  }
}

// Sums equal TFLite's add and sub of int8, in the stored domain (128 more), by its own functions.
TEST_P(ElementwiseTest, AddsAsTflite) {
  SCOPED_TRACE(random_.trace());
  for (int i = 0; i < 24; ++i) {
    const bool double_rounding = i % 2 == 0;
    // Powers of two make ties common.
    const auto scale = [&] {
      const double s = random_.scale(static_cast<int>(random_.integer(-8, -2)));
      return i % 3 == 0 ? std::exp2(std::floor(std::log2(s))) : s;
    };
    const double sa = scale(), sb = scale(), so = scale() * 2, t = 2 * std::fmax(sa, sb);
    const TfliteMultiplier ma(sa / t), mb(sb / t), mo(t / ((1 << 20) * so));
    if (mo.shift > 0) continue;
    const int za = static_cast<int>(random_.integer(0, 255));
    const int zb = static_cast<int>(random_.integer(0, 255));
    const int zo = static_cast<int>(random_.integer(0, 255));
    IntAdd add(za, zb, zo, 20);
    const auto multiply = [&](IntAdd::Term term, const TfliteMultiplier& q) {
      if (double_rounding) {
        add.stage(term, q.m, 31, Round::kHalfUp).stage(term, 1, -q.shift, Round::kHalfAway);
      } else {
        add.stage(term, q.m, 31 - q.shift, Round::kHalfUp);
      }
    };
    multiply(IntAdd::kA, ma);
    multiply(IntAdd::kB, mb);
    multiply(IntAdd::kOutput, mo);
    add.params().subtract = i % 4 >= 2;
    ASSERT_NO_FATAL_FAILURE(expect_add_int_everywhere(add.params()));
    kernel_.add_int(add.params(),
                    {pairs_.a.data(), pairs_.b.data(), false, false, y_.data(), kPairLutEntries});
    for (size_t k = 0; k < kPairLutEntries; ++k) {
      const int32_t x = tflite_multiply((pairs_.a[k] - za) * (1 << 20), ma, double_rounding);
      const int32_t y = tflite_multiply((pairs_.b[k] - zb) * (1 << 20), mb, double_rounding);
      const int32_t v =
          tflite_multiply(add.params().subtract ? x - y : x + y, mo, double_rounding) + zo;
      ASSERT_EQ(int{y_[k]}, v < 0 ? 0 : v > 255 ? 255 : v) << "pair " << k;
    }
  }
}

// Sums equal ONNX Runtime's QLinearAdd on ARM64: two products, a sum, one shift that rounds half away.
TEST_P(ElementwiseTest, AddsAsOnnxRuntimeOnArm) {
  SCOPED_TRACE(random_.trace());
  for (int i = 0; i < 16; ++i) {
    const float ra = random_.scale(static_cast<int>(random_.integer(-14, 7)));
    const float rb = random_.scale(static_cast<int>(random_.integer(-14, 7)));
    const int s = 21 - std::ilogb(std::fmax(ra, rb));
    const int32_t ma = static_cast<int32_t>(std::nearbyint(std::ldexp(ra, s)));
    const int32_t mb = static_cast<int32_t>(std::nearbyint(std::ldexp(rb, s)));
    const int za = static_cast<int>(random_.integer(0, 255));
    const int zb = static_cast<int>(random_.integer(0, 255));
    const int zo = static_cast<int>(random_.integer(0, 255));
    IntAdd add(za, zb, zo, 0);
    add.stage(IntAdd::kA, ma, 0, Round::kFloor).stage(IntAdd::kB, mb, 0, Round::kFloor);
    add.stage(IntAdd::kOutput, 1, s, Round::kHalfAway);
    ASSERT_NO_FATAL_FAILURE(expect_add_int_everywhere(add.params()));
    for (size_t k = 0; k < kPairLutEntries; ++k) {
      const int32_t sum = (pairs_.a[k] - za) * ma + (pairs_.b[k] - zb) * mb;
      const double v = std::round(std::ldexp(static_cast<double>(sum), -s)) + zo;
      kernel_.add_int(add.params(), {&pairs_.a[k], &pairs_.b[k], false, false, y_.data(), 1});
      ASSERT_EQ(int{y_[0]}, v < 0 ? 0 : v > 255 ? 255 : static_cast<int>(v)) << "pair " << k;
    }
  }
}

// Sums equal ESP-DL's: operands of one exponent, a sum, a shift in the rounding of the chip.
TEST_P(ElementwiseTest, AddsAsEsp) {
  for (const Round round : {Round::kHalfEven, Round::kHalfUp, Round::kHalfAway, Round::kFloor}) {
    for (const int shift : {0, 1, 2, 5}) {
      for (const bool subtract : {false, true}) {
        IntAdd add(128, 128, 128, 0);
        add.stage(IntAdd::kOutput, 1, shift, round);
        add.params().subtract = subtract;
        ASSERT_NO_FATAL_FAILURE(expect_add_int_everywhere(add.params()));
        // The first library: b is brought to the exponent of a.
        IntAdd rescaled(128, 128, 128, 0);
        rescaled.stage(IntAdd::kB, 1, 2, round).stage(IntAdd::kOutput, 77, shift + 5, round);
        rescaled.params().subtract = subtract;
        ASSERT_NO_FATAL_FAILURE(expect_add_int_everywhere(rescaled.params()));
      }
    }
  }
}

// Sums at the ends of int32 are right: stages leave int32 and are clipped, and the bounds of the
// terms add up to 2^31 - 1.
TEST_P(ElementwiseTest, AddsAtTheEndOfInt32) {
  for (const Round round : {Round::kHalfEven, Round::kHalfUp, Round::kHalfAway, Round::kFloor}) {
    IntAdd add(128, 0, 10, 23);
    add.stage(IntAdd::kA, INT32_MAX, 3, round, -1200000000, 1200000000);
    add.stage(IntAdd::kB, 1717986918, 32, round, -947483647, 947483647);
    add.stage(IntAdd::kOutput, 1717986918, 54, round).stage(IntAdd::kOutput, 5, 0, round);
    ASSERT_NO_FATAL_FAILURE(expect_add_int_everywhere(add.params()));
    add.params().subtract = true;
    ASSERT_NO_FATAL_FAILURE(expect_add_int_everywhere(add.params()));
  }
}

TEST_P(ElementwiseTest, HandlesEveryLengthInIntegers) {
  SCOPED_TRACE(random_.trace());
  IntAdd add(7, 100, 50, 4);
  add.stage(IntAdd::kA, 3, 1, Round::kHalfUp).stage(IntAdd::kOutput, 1 << 20, 25, Round::kHalfEven);
  MulParams mul{17, 201, add.params().requant};
  for (size_t n = 0; n <= 1100; n = n < 70 ? n + 1 : n + 37) {
    Guarded<uint8_t> a(n), b(n), y(n);
    random_.fill(a, 0, 255);
    random_.fill(b, 0, 255);
    ASSERT_NO_FATAL_FAILURE(
        expect_add_int(add.params(), {a.data(), b.data(), false, false, y.data(), n}));
    ASSERT_NO_FATAL_FAILURE(expect_mul(mul, {a.data(), b.data(), false, false, y.data(), n}));
    // In place.
    ASSERT_NO_FATAL_FAILURE(
        expect_add_int(add.params(), {a.data(), b.data(), false, false, a.data(), n}));
    ASSERT_NO_FATAL_FAILURE(expect_mul(mul, {b.data(), b.data(), false, false, b.data(), n}));
    std::vector<uint8_t> around(n + 128, 0xEE);
    kernel_.add_int(add.params(), {a.data(), b.data(), false, false, around.data() + 64, n});
    kernel_.mul(mul, {a.data(), b.data(), false, false, around.data() + 64, n});
    for (size_t i = 0; i < around.size(); ++i) {
      if (i < 64 || i >= 64 + n) {
        ASSERT_EQ(int{around[i]}, 0xEE) << "n " << n << ", byte " << i;
      }
    }
  }
}

TEST_P(ElementwiseTest, MultipliesAllPairsWithTheZeroPointAfter) {
  SCOPED_TRACE(random_.trace());
  for (int i = 0; i < 24; ++i) {
    const float scale = random_.scale(static_cast<int>(random_.integer(-16, 0)));
    MulParams p{static_cast<int32_t>(random_.integer(0, 255)),
                static_cast<int32_t>(random_.integer(0, 255)),
                f32_requant(&scale, static_cast<int32_t>(random_.integer(0, 255)))};
    if (i % 3 == 0) {
      p.requant.lo = static_cast<int32_t>(random_.integer(0, 255));
      p.requant.hi = static_cast<int32_t>(random_.integer(p.requant.lo, 255));
    }
    if (i % 4 == 0) p.requant.round = Round::kHalfUp;
    SCOPED_TRACE(scale);
    ASSERT_NO_FATAL_FAILURE(expect_mul_everywhere(p));
  }
}

TEST_P(ElementwiseTest, MultipliesAllPairsWithTheZeroPointBefore) {
  SCOPED_TRACE(random_.trace());
  for (int i = 0; i < 32; ++i) {
    const float scale = random_.scale(static_cast<int>(random_.integer(-16, 0)));
    MulParams p{static_cast<int32_t>(random_.integer(0, 255)),
                static_cast<int32_t>(random_.integer(0, 255)), f32_requant(&scale, 0)};
    p.requant.zero_point_before = true;
    p.requant.fused = i % 2 == 0;
    p.requant.offset = random_.coin() ? 128 : 0;
    p.requant.zero_point = static_cast<int32_t>(random_.integer(0, 255)) - p.requant.offset;
    if (i % 4 == 1) p.requant.round = Round::kHalfUp;
    SCOPED_TRACE(scale);
    ASSERT_NO_FATAL_FAILURE(expect_mul_everywhere(p));
  }
}

// The forms of addition differ: scales and constants were searched for a sum so near a tie that the
// order of the operands, or rounding the product by itself, gives another byte.
TEST_P(ElementwiseTest, AddKeepsTheFormsApart) {
  SCOPED_TRACE(random_.trace());
  int found = 0;
  for (int attempt = 0; attempt < 200000 && found < 60; ++attempt) {
    const uint8_t a = static_cast<uint8_t>(random_.integer(1, 255));
    const uint8_t b = static_cast<uint8_t>(random_.integer(1, 255));
    const float a_scale = random_.real(0.01f, 1.0f), b_scale = random_.real(0.01f, 1.0f);
    const double tie = static_cast<double>(random_.integer(0, 254)) + 0.5;
    const AddParams b_inner = add_params(
        a_scale, b_scale, static_cast<float>(tie - double{a_scale} * a - double{b_scale} * b));
    AddParams a_inner = b_inner, multiply_add = b_inner;
    a_inner.a_is_inner = true;
    multiply_add.multiply_add = true;
    const int32_t separate = add_f32(multiply_add, a, b);
    if (add_f32(a_inner, a, b) == separate && add_f32(b_inner, a, b) == separate) continue;
    ++found;
    for (const AddParams& p : {a_inner, b_inner, multiply_add}) {
      SCOPED_TRACE(describe(p));
      ASSERT_NO_FATAL_FAILURE(expect_add(p, {pairs_.a.data(), &b, false, true, y_.data(), 256}));
      ASSERT_NO_FATAL_FAILURE(expect_add(p, {&a, pairs_.a.data(), true, false, y_.data(), 256}));
    }
  }
  ASSERT_EQ(found, 60);
}

// The forms of multiplication differ: scales were searched for a product that the float addition of the zero
// point rounds to a tie, so that fused, two-step and the zero point after the rounding give different bytes.
TEST_P(ElementwiseTest, MultiplyKeepsTheFormsApart) {
  SCOPED_TRACE(random_.trace());
  int found = 0;
  for (int attempt = 0; attempt < 200000 && found < 60; ++attempt) {
    const uint8_t a = static_cast<uint8_t>(random_.integer(1, 255));
    const uint8_t b = static_cast<uint8_t>(random_.integer(1, 255));
    const int zero_point = static_cast<int>(random_.integer(1, 200));
    const double tie = static_cast<double>(random_.integer(0, 50)) + 0.5;
    float scale = static_cast<float>(tie / (a * b));
    if (random_.coin()) scale = std::nextafterf(scale, random_.coin() ? 1.0f : 0.0f);
    MulParams after{0, 0, f32_requant(&scale, zero_point)};
    MulParams separate = after;
    separate.requant.zero_point_before = true;
    MulParams fused = separate;
    fused.requant.fused = true;
    const int32_t want = requantize(separate.requant, a * b, 0);
    if (requantize(fused.requant, a * b, 0) == want) continue;
    ++found;
    for (const MulParams& p : {after, separate, fused})
      ASSERT_NO_FATAL_FAILURE(expect_mul(p, {pairs_.a.data(), &b, false, true, y_.data(), 256}));
  }
  ASSERT_EQ(found, 60);
}

// Products equal ONNX Runtime's QLinearMul, computed in hardware float, independently of requant.h.
TEST_P(ElementwiseTest, MultipliesAsOnnxRuntime) {
  SCOPED_TRACE(random_.trace());
  for (int i = 0; i < 16; ++i) {
    const float scale = random_.scale(static_cast<int>(random_.integer(-14, -4)));
    const int za = static_cast<int>(random_.integer(0, 255));
    const int zb = static_cast<int>(random_.integer(0, 255));
    const int zc = static_cast<int>(random_.integer(0, 255));
    MulParams p{za, zb, f32_requant(&scale, zc)};
    p.requant.zero_point_before = true;
    kernel_.mul(p, {pairs_.a.data(), pairs_.b.data(), false, false, y_.data(), kPairLutEntries});
    for (size_t k = 0; k < kPairLutEntries; ++k) {
      const float product = static_cast<float>((pairs_.a[k] - za) * (pairs_.b[k] - zb)) * scale;
      const float sum = product + static_cast<float>(zc);
      const float want = std::fmin(std::fmax(std::nearbyintf(sum), 0.0f), 255.0f);
      ASSERT_EQ(int{y_[k]}, static_cast<int>(want)) << "pair " << k << ", scale " << scale;
    }
  }
}

TEST_P(ElementwiseTest, MultipliesWithScalesAtTheEndsOfTheRange) {
  for (const float scale : {FLT_MIN, 1e-30f, 0x1p-24f, 1.0f, 16000.0f, 16600.0f, 33000.0f, 33100.0f,
                            1e9f, 1e35f, FLT_MAX}) {
    for (int form = 0; form < 6; ++form) {
      MulParams p{128, 3, f32_requant(&scale, 255)};
      p.requant.zero_point_before = form >= 2;
      p.requant.fused = form >= 4;
      p.requant.round = form % 2 ? Round::kHalfUp : Round::kHalfEven;
      SCOPED_TRACE(scale);
      ASSERT_NO_FATAL_FAILURE(expect_mul_everywhere(p));
    }
  }
}

TEST_P(ElementwiseTest, MultipliesWithIntegerStages) {
  SCOPED_TRACE(random_.trace());
  struct Stages {
    int32_t multiplier;
    uint8_t shift, second_shift;
  };
  const int32_t any = static_cast<int32_t>(random_.integer(1 << 30, INT32_MAX));
  for (const Stages& s :
       {Stages{any, 33, 5}, Stages{any, 38, 0}, Stages{any, 31, 9}, Stages{1, 8, 3},
        Stages{1, 0, 7}, Stages{3, 0, 10}, Stages{1 << 20, 2, 26}, Stages{0, 7, 1}}) {
    for (const Round round : {Round::kHalfEven, Round::kHalfUp, Round::kHalfAway, Round::kFloor}) {
      for (int count = 1; count <= kMaxStages; ++count) {
        const int32_t one = 1;
        const int32_t za = static_cast<int32_t>(random_.integer(0, 255));
        MulParams p{za, 7, Requant{}};
        p.requant.kind = RequantKind::kInt;
        p.requant.zero_point = 100;
        p.requant.lo = 4;
        p.requant.hi = 251;
        p.requant.stage_count = count;
        p.requant.stages[0] = {&s.multiplier, &s.shift, round, INT32_MIN, INT32_MAX};
        p.requant.stages[1] = {&one, &s.second_shift, Round::kHalfAway, -90, 120};
        SCOPED_TRACE(s.multiplier);
        SCOPED_TRACE(int{s.shift});
        ASSERT_NO_FATAL_FAILURE(expect_mul_everywhere(p));
      }
    }
  }
}

size_t row_count() {
  size_t count;
  elementwise_kernels(&count);
  return count;
}

INSTANTIATE_TEST_SUITE_P(Rows, ElementwiseTest, ::testing::Range(size_t{0}, row_count()),
                         [](const auto& info) {
                           size_t count;
                           return std::string(elementwise_kernels(&count)[info.param].name);
                         });

TEST(ElementwiseSelectTest, TakesTheFirstRowAllowed) {
  size_t count;
  const ElementwiseKernel* rows = elementwise_kernels(&count);
  for (size_t i = 0; i < count; ++i)
    EXPECT_EQ(select_elementwise(capped(~0u, rows[i].isa))->name, rows[i].name);
  EXPECT_EQ(select_elementwise(static_cast<IsaSet>(Isa::kScalar))->isa, Isa::kScalar);
}

}  // namespace
}  // namespace qrt::elementwise_test
