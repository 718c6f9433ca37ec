// SPDX-License-Identifier: Apache-2.0
// Formula against 64-bit arithmetic cut to 32 bits: every step and pair on every type, at the
// extremes; lengths around the kernels' pieces; models it has to refuse.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/op_tester.h"
#include "tests/support/random.h"

namespace qrt::formula_test {
namespace {

using F = fb::FormulaFunction;
using P = fb::FormulaPair;
using testing::bytes_of;
using testing::ModelBuilder;

struct StepSpec {
  F function;
  int32_t value = 0, high = 0;
};
using Steps = std::vector<StepSpec>;

std::vector<std::unique_ptr<fb::FormulaStepT>> steps_of(const Steps& specs) {
  std::vector<std::unique_ptr<fb::FormulaStepT>> steps;
  for (const StepSpec& s : specs) {
    steps.push_back(std::make_unique<fb::FormulaStepT>());
    steps.back()->function = s.function;
    steps.back()->value = s.value;
    steps.back()->high = s.high;
  }
  return steps;
}

int32_t cut(int64_t v) { return static_cast<int32_t>(static_cast<uint32_t>(v)); }

int32_t step(const StepSpec& s, int64_t v) {
  switch (s.function) {
    case F::ADD: return cut(v + s.value);
    case F::MULTIPLY: return cut(v * s.value);
    case F::SHIFT_LEFT: return cut(static_cast<int64_t>(static_cast<uint64_t>(v) << s.value));
    case F::SHIFT_RIGHT:
      // Half up; only INT32_MAX by 1 differs from (v + 2^(s-1)) >> s.
      return cut((int64_t{cut((v >> (s.value - 1)) + 1)}) >> 1);
    case F::CLAMP: return static_cast<int32_t>(std::clamp<int64_t>(v, s.value, s.high));
    case F::NEGATE: return cut(-v);
    case F::ABS: return cut(v < 0 ? -v : v);
    case F::BITS: {
      int n = 1;
      for (int64_t u = (v < 0 ? -v : v) >> 1; u != 0; u >>= 1) ++n;
      return n;
    }
    case F::NOT_ZERO: return v != 0;
  }
  return 0;
}

int32_t joined(P pair, int64_t a, int64_t b) {
  switch (pair) {
    case P::ADD: return cut(a + b);
    case P::SUBTRACT: return cut(a - b);
    case P::MULTIPLY: return cut(a * b);
    case P::MAXIMUM: return static_cast<int32_t>(std::max(a, b));
    case P::DIVIDE: return b == 0 ? 0 : cut(a / b);
    case P::GREATER: return a > b;
  }
  return 0;
}

int32_t apply_steps(const Steps& steps, int32_t v) {
  for (const StepSpec& s : steps) v = step(s, v);
  return v;
}

// Extremes of the type and random values.
template <class T>
std::vector<T> samples(size_t n, testing::Random* random) {
  const int64_t lo = std::numeric_limits<T>::min(), hi = std::numeric_limits<T>::max();
  std::vector<T> v;
  for (int64_t x : {lo, lo + 1, int64_t{0}, int64_t{1}, int64_t{2}, int64_t{127}, hi - 1, hi})
    v.push_back(static_cast<T>(x));
  if (lo < 0) v.push_back(static_cast<T>(-1));
  while (v.size() < n) v.push_back(static_cast<T>(random->integer(lo, hi)));
  v.resize(n);
  return v;
}

template <class T>
std::vector<T> saturated(const std::vector<int32_t>& values, int32_t zero_point) {
  std::vector<T> y;
  for (int64_t v : values)
    y.push_back(static_cast<T>(std::clamp<int64_t>(v + zero_point, std::numeric_limits<T>::min(),
                                                   std::numeric_limits<T>::max())));
  return y;
}

testing::Bytes stored(const std::vector<int32_t>& values, DType dtype, int32_t zero_point) {
  if (dtype == DType::kUInt8) return bytes_of(saturated<uint8_t>(values, zero_point));
  if (dtype == DType::kInt16) return bytes_of(saturated<int16_t>(values, zero_point));
  return bytes_of(saturated<int32_t>(values, zero_point));
}

const Steps kEveryStep[] = {{{F::ADD, 1000}},
                            {{F::ADD, INT32_MAX}},
                            {{F::MULTIPLY, -77777}},
                            {{F::SHIFT_RIGHT, 1}},
                            {{F::SHIFT_RIGHT, 7}},
                            {{F::SHIFT_RIGHT, 31}},
                            {{F::SHIFT_RIGHT, 32}},
                            {{F::SHIFT_LEFT, 9}},
                            {{F::SHIFT_LEFT, 31}},
                            {{F::CLAMP, -127, 127}},
                            {{F::NEGATE}},
                            {{F::ABS}},
                            {{F::BITS}},
                            {{F::NOT_ZERO}},
                            {{F::CLAMP, 0, INT32_MAX},
                             {F::MULTIPLY, 23333},
                             {F::SHIFT_RIGHT, 14},
                             {F::CLAMP, -32767, 32767},
                             {F::SHIFT_RIGHT, 8},
                             {F::CLAMP, -127, 127}}};

template <class T>
void check_unary(DType from, int32_t zero_point, size_t n, const Steps& steps, DType to,
                 int32_t to_zero_point) {
  testing::Random random;
  SCOPED_TRACE(random.trace());
  const std::vector<T> x = samples<T>(n, &random);
  std::vector<int32_t> y;
  for (T v : x) y.push_back(apply_steps(steps, cut(int64_t{v} - zero_point)));
  ModelBuilder m;
  fb::FormulaOptionsT o;
  o.a_zero_point = zero_point;
  o.a_steps = steps_of(steps);
  o.zero_point = to_zero_point;
  const auto size = static_cast<int64_t>(n);
  const uint32_t in = m.input({size}, from);
  m.op(std::move(o), {in}, {m.output({size}, to)});
  testing::expect_outputs(m, 1, {bytes_of(x)}, {stored(y, to, to_zero_point)});
}

TEST(Formula, EveryStepFromEveryTypeToEveryType) {
  for (const Steps& steps : kEveryStep) {
    SCOPED_TRACE(fb::EnumNameFormulaFunction(steps[0].function));
    check_unary<int32_t>(DType::kInt32, 0, 61, steps, DType::kUInt8, 128);
    check_unary<int32_t>(DType::kInt32, 0, 61, steps, DType::kInt16, -32768);
    check_unary<int32_t>(DType::kInt32, 0, 61, steps, DType::kInt32, 0);
    check_unary<int16_t>(DType::kInt16, -32768, 61, steps, DType::kInt16, 0);
    check_unary<uint8_t>(DType::kUInt8, 128, 61, steps, DType::kInt32, 0);
  }
}

TEST(Formula, LengthsAroundAPiece) {
  for (const size_t n : {1, 15, 64, 1023, 1024, 1025, 5000})
    check_unary<int32_t>(DType::kInt32, 0, n, kEveryStep[14], DType::kUInt8, 128);
}

TEST(Formula, SaturatesWhatTheZeroPointMovesOutOfInt32) {
  check_unary<int32_t>(DType::kInt32, 0, 40, {}, DType::kInt32, 5);
}

TEST(Formula, EveryPairOnMixedTypes) {
  testing::Random random;
  SCOPED_TRACE(random.trace());
  for (int p = 0; p <= static_cast<int>(P::MAX); ++p) {
    const auto pair = static_cast<P>(p);
    SCOPED_TRACE(fb::EnumNameFormulaPair(pair));
    const Steps a_steps = {{F::SHIFT_RIGHT, 3}}, b_steps = {{F::MULTIPLY, 5}, {F::ADD, -3}},
                steps = {{F::CLAMP, -30000, 30000}, {F::SHIFT_RIGHT, 2}};
    // b: of a's shape, one number, one per column, one per row.
    for (const Shape& b_shape : {Shape{3, 50}, Shape{1}, Shape{50}, Shape{3, 1}}) {
      SCOPED_TRACE(b_shape.to_string());
      const std::vector<int32_t> a = samples<int32_t>(150, &random);
      const std::vector<int16_t> b =
          samples<int16_t>(static_cast<size_t>(b_shape.elements()), &random);
      std::vector<int32_t> y;
      for (size_t i = 0; i < a.size(); ++i) {
        const size_t at = b.size() == 150  ? i
                          : b.size() == 1  ? 0
                          : b.size() == 50 ? i % 50
                                           : i / 50;
        y.push_back(apply_steps(
            steps, joined(pair, apply_steps(a_steps, a[i]), apply_steps(b_steps, b[at] - 7))));
      }
      ModelBuilder m;
      fb::FormulaOptionsT o;
      o.a_steps = steps_of(a_steps);
      o.pair = pair;
      o.b_zero_point = 7;
      o.b_steps = steps_of(b_steps);
      o.steps = steps_of(steps);
      o.zero_point = 11;
      const uint32_t left = m.input({3, 50}, DType::kInt32),
                     right = m.input(b_shape, DType::kInt16);
      m.op(std::move(o), {left, right}, {m.output({3, 50}, DType::kInt16)});
      testing::expect_outputs(m, 1, {bytes_of(a), bytes_of(b)}, {stored(y, DType::kInt16, 11)});
    }
  }
}

TEST(Formula, RefusesWhatItCannotCompute) {
  const auto expect = [](const char* part, const Steps& steps, int32_t zero_point = 0,
                         DType dtype = DType::kUInt8) {
    ModelBuilder m;
    fb::FormulaOptionsT o;
    o.a_steps = steps_of(steps);
    o.a_zero_point = zero_point;
    const uint32_t x = m.input({4}, dtype);
    m.op(std::move(o), {x}, {m.output({4}, DType::kInt32)});
    testing::expect_rejected(m, part);
  };
  expect("a_steps[0] shifts right by 0, expected 1 to 32", {{F::SHIFT_RIGHT, 0}});
  expect("a_steps[0] shifts right by 33", {{F::SHIFT_RIGHT, 33}});
  expect("a_steps[1] shifts left by 32, expected 0 to 31", {{F::ABS}, {F::SHIFT_LEFT, 32}});
  expect("limits to 5 to 4, not a range", {{F::CLAMP, 5, 4}});
  expect("a_zero_point is 256", {}, 256);
  expect("a_zero_point belongs to int8", {}, 0, DType::kInt8);
  expect("a_steps has 65 steps, expected at most 64", Steps(65, {F::ABS}));
  expect("a_steps[0].function is 9", {{static_cast<F>(9)}});
}

TEST(Formula, RefusesStepsOfAPairOfOneInput) {
  for (const auto list : {&fb::FormulaOptionsT::b_steps, &fb::FormulaOptionsT::steps}) {
    ModelBuilder m;
    fb::FormulaOptionsT o;
    o.*list = steps_of({{F::ABS}});
    const uint32_t x = m.input({4}, DType::kInt32);
    m.op(std::move(o), {x}, {m.output({4}, DType::kInt32)});
    testing::expect_rejected(m, "has b_steps or steps, expected them of 2 inputs alone");
  }
}

}  // namespace
}  // namespace qrt::formula_test
