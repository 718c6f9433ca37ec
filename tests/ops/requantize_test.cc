// SPDX-License-Identifier: Apache-2.0
// Requantize against its formula, between all types, with stages and slopes below the zero point;
// models it has to refuse.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>

#include "tests/support/op_tester.h"
#include "tests/support/random.h"

namespace qrt::requantize_test {
namespace {

using testing::Bytes;

std::unique_ptr<fb::RequantStageT> stage(int32_t multiplier, uint8_t shift, fb::Rounding rounding) {
  auto s = std::make_unique<fb::RequantStageT>();
  s->multiplier = {multiplier};
  s->shift = {shift};
  s->rounding = rounding;
  return s;
}

// Returns options for a leaky function: half up by 2^4 above the zero point; below it times 3, half
// away by 2^6.
fb::RequantizeOptionsT leaky(int32_t input_zero_point, int32_t zero_point, int32_t lo, int32_t hi) {
  fb::RequantizeOptionsT o;
  o.input_zero_point = input_zero_point;
  o.requant = testing::requant_int(1, 4, zero_point);
  o.requant->lo = lo;
  o.requant->hi = hi;
  o.negative.push_back(stage(3, 6, fb::Rounding::HALF_AWAY));
  return o;
}

int64_t half_up(int64_t v, int s) { return (v + (int64_t{1} << (s - 1))) >> s; }
int64_t half_away(int64_t v, int s) { return v < 0 ? -half_up(-v, s) : half_up(v, s); }

template <class From, class To>
void expect_leaky(DType from, DType to, int32_t input_zero_point, int32_t zero_point,
                  const std::vector<int16_t>& slopes, bool negate) {
  testing::Random random;
  const int64_t rows = 37, channels = 5;
  const To lo = std::numeric_limits<To>::min(), hi = std::numeric_limits<To>::max();
  std::vector<From> x(static_cast<size_t>(rows * channels));
  random.fill(x, std::numeric_limits<From>::min(), std::numeric_limits<From>::max());
  std::vector<To> y;
  for (size_t i = 0; i < x.size(); ++i) {
    int64_t v = int64_t{x[i]} - input_zero_point;
    if (v >= 0) {
      v = half_up(v, 4);
    } else {
      if (!slopes.empty()) v *= slopes[slopes.size() == 1 ? 0 : i % slopes.size()];
      v = half_away(3 * v, 6);
      if (negate) v = -v;
    }
    y.push_back(static_cast<To>(std::clamp<int64_t>(v + zero_point, lo, hi)));
  }
  testing::ModelBuilder m;
  const uint32_t in = m.input({-1, channels}, from), out = m.output({-1, channels}, to);
  fb::RequantizeOptionsT o = leaky(input_zero_point, zero_point, lo, hi);
  o.negate_negative = negate;
  std::vector<uint32_t> inputs = {in};
  if (!slopes.empty())
    inputs.push_back(m.constant({static_cast<int64_t>(slopes.size())}, DType::kInt16, slopes));
  m.op(std::move(o), inputs, {out});
  testing::expect_outputs(m, static_cast<size_t>(rows), {testing::bytes_of(x)},
                          {testing::bytes_of(y)});
}

template <class From>
void expect_to_all(DType from, int32_t zero_point) {
  expect_leaky<From, uint8_t>(from, DType::kUInt8, zero_point, 100, {}, false);
  expect_leaky<From, int16_t>(from, DType::kInt16, zero_point, -7, {}, true);
  expect_leaky<From, int32_t>(from, DType::kInt32, zero_point, 9, {}, false);
}

TEST(Requantize, EqualsTheFormulaBetweenAllTypes) {
  expect_to_all<uint8_t>(DType::kUInt8, 131);
  expect_to_all<int16_t>(DType::kInt16, -3);
  expect_to_all<int32_t>(DType::kInt32, 0);
}

TEST(Requantize, MultipliesNegativeValuesWithSlopes) {
  for (const std::vector<int16_t>& slopes :
       {std::vector<int16_t>{-1}, std::vector<int16_t>{5, -128, 0, 127, 32767}}) {
    expect_leaky<int16_t, int16_t>(DType::kInt16, DType::kInt16, 0, 0, slopes, false);
    expect_leaky<uint8_t, int16_t>(DType::kUInt8, DType::kInt16, 128, 0, slopes, false);
  }
}

// Returns a requantisation whose first stage clips to +-reach.
std::unique_ptr<fb::RequantT> fine_requant(int32_t reach) {
  auto requant = testing::requant_int(1, 0, 0);
  requant->stages[0]->clip_lo = -reach;
  requant->stages[0]->clip_hi = reach;
  requant->stages.push_back(stage(1, 12, fb::Rounding::HALF_EVEN));
  return requant;
}

// Checks y = clamp(HE((256 * clamp(x, -reach, reach) + bias) * m / 2^s) + zero point), with a
// multiplier and a shift for each channel. Every 16th sum lies on a tie.
void expect_fine_bias(int64_t rows, int64_t channels) {
  SCOPED_TRACE(std::to_string(rows) + " rows of " + std::to_string(channels));
  testing::Random random;
  SCOPED_TRACE(random.trace());
  const int32_t reach = 60000, lo = 3, hi = 250, zero_point = 128;
  const auto size = static_cast<size_t>(rows * channels), width = static_cast<size_t>(channels);
  std::vector<int32_t> x(size), multiplier(width);
  std::vector<int64_t> bias(width);
  std::vector<uint8_t> shift(width), y;
  random.fill(x, -70000, 70000);
  for (size_t c = 0; c < width; ++c) {
    multiplier[c] = c % 3 == 0 ? 1 << 20 : random.integer(1, INT32_MAX);
    shift[c] = static_cast<uint8_t>(c % 3 == 0 ? 37 : random.integer(44, 50));
    bias[c] = random.integer(-(1 << 24), 1 << 24);
  }
  for (size_t i = 0; i < size; ++i) {
    const size_t c = i % width;
    if (c % 3 == 0 && i % 16 == 0) bias[c] &= ~int64_t{255};  // 256 * x + bias = 2^16 (k + 1 / 2)
    if (c % 3 == 0 && i % 16 == 0)
      x[i] = static_cast<int32_t>(random.integer(-100, 100) * 512 + 256 - bias[c] / 256);
  }
  for (size_t i = 0; i < size; ++i) {
    const size_t c = i % width;
    const int64_t v = 256 * std::clamp(int64_t{x[i]}, -int64_t{reach}, int64_t{reach}) + bias[c];
    const int64_t product = v * multiplier[c], unit = int64_t{1} << shift[c];
    int64_t rounded = product >> shift[c];
    const int64_t rest = product - rounded * unit;
    if (rest > unit / 2 || (rest == unit / 2 && rounded % 2 != 0)) ++rounded;
    y.push_back(static_cast<uint8_t>(std::clamp<int64_t>(rounded + zero_point, lo, hi)));
  }
  testing::ModelBuilder m;
  const uint32_t in = m.input({rows, channels}, DType::kInt32);
  const uint32_t out = m.output({rows, channels}, DType::kUInt8);
  fb::RequantizeOptionsT o;
  o.requant = fine_requant(reach);
  o.requant->zero_point = zero_point;
  o.requant->lo = lo;
  o.requant->hi = hi;
  o.requant->stages[1]->multiplier = multiplier;
  o.requant->stages[1]->shift = shift;
  m.op(std::move(o), {in, m.constant({channels}, DType::kInt64, bias)}, {out});
  testing::expect_outputs(m, 1, {testing::bytes_of(x)}, {testing::bytes_of(y)});
}

TEST(Requantize, AddsABiasThatIsFinerThanTheSums) {
  for (const int64_t channels : {1, 3, 8, 17, 64, 2048, 2049, 5000}) {
    expect_fine_bias(1, channels);
    expect_fine_bias(67, channels);
  }
}

TEST(Requantize, RefusesBadFineBiases) {
  const auto expect = [](const std::string& message, const Shape& shape, DType from, DType to,
                         const std::function<void(fb::RequantizeOptionsT*)>& change,
                         std::vector<int64_t> bias = {1, 2, 3, 4}) {
    testing::ModelBuilder m;
    const uint32_t x = m.input({-1, 4}, from), y = m.output({-1, 4}, to);
    fb::RequantizeOptionsT o;
    o.requant = fine_requant(1000);
    change(&o);
    m.op(std::move(o), {x, m.constant(shape, DType::kInt64, bias)}, {y});
    testing::expect_rejected(m, message);
  };
  const auto nothing = [](fb::RequantizeOptionsT*) {};
  const DType sums = DType::kInt32, byte = DType::kUInt8;
  expect("maps int16 to uint8, with a bias", {4}, DType::kInt16, byte, nothing);
  expect("maps int32 to int16, with a bias", {4}, sums, DType::kInt16, nothing);
  expect("3 biases, expected one for each", {3}, sums, byte, nothing, {1, 2, 3});
  expect("[channels]", {2, 2}, sums, byte, nothing);
  expect("expected at most 2^61", {4}, sums, byte, nothing, {1, 2, int64_t{1} << 62, 4});
  expect("has 1 stages, with a bias 2", {4}, sums, byte,
         [](fb::RequantizeOptionsT* o) { o->requant->stages.pop_back(); });
  expect("stages[0] does more than clip", {4}, sums, byte,
         [](fb::RequantizeOptionsT* o) { o->requant->stages[0]->shift = {1}; });
  expect("stages[0] clips to 17..1000, expected limits around 0", {4}, sums, byte,
         [](fb::RequantizeOptionsT* o) {
           o->requant->stages[0]->clip_lo = 17;
           o->requant->stages[0]->clip_hi = 1000;
         });
  expect("sums of channel 0 may reach", {4}, sums, byte, [](fb::RequantizeOptionsT* o) {
    o->requant->stages[0]->clip_hi = INT32_MAX;
    o->requant->stages[1]->multiplier = {1 << 30};
  });
  expect("both a bias and stages of negative", {4}, sums, byte, [](fb::RequantizeOptionsT* o) {
    o->negative.push_back(stage(3, 6, fb::Rounding::HALF_AWAY));
  });
  expect("requant.kind is 1, expected INT", {4}, sums, byte,
         [](fb::RequantizeOptionsT* o) { o->requant = testing::requant_f32({1.0f}); });
}

struct Refusal {
  testing::ModelBuilder builder;
  explicit Refusal(fb::RequantizeOptionsT o, DType from = DType::kInt16, DType to = DType::kInt16,
                   const std::vector<int16_t>& slopes = {}) {
    std::vector<uint32_t> inputs = {builder.input({-1, 4}, from)};
    const uint32_t y = builder.output({-1, 4}, to);
    if (!slopes.empty())
      inputs.push_back(
          builder.constant({static_cast<int64_t>(slopes.size())}, DType::kInt16, slopes));
    builder.op(std::move(o), inputs, {y});
  }
};

fb::RequantizeOptionsT usual() { return leaky(0, 0, INT16_MIN, INT16_MAX); }

TEST(Requantize, RefusesBadModels) {
  testing::expect_rejected(Refusal(usual(), DType::kFloat32).builder, "maps float32 to int16");
  fb::RequantizeOptionsT o = usual();
  o.input_zero_point = 40000;
  testing::expect_rejected(Refusal(std::move(o)).builder, "input_zero_point is 40000");
  o = usual();
  o.input_zero_point = 1;
  testing::expect_rejected(Refusal(std::move(o), DType::kInt32).builder, "input_zero_point is 1");
  o = usual();
  o.requant->hi = 40000;
  testing::expect_rejected(Refusal(std::move(o)).builder, "limits are -32768 to 40000");
  o = usual();
  o.requant = testing::requant_f32({1.0f});
  testing::expect_rejected(Refusal(std::move(o)).builder, "requant.kind is F32");
  o = usual();
  o.requant.reset();
  testing::expect_rejected(Refusal(std::move(o)).builder, "requant is missing");
  o = usual();
  o.negative.clear();
  o.negate_negative = true;
  testing::expect_rejected(Refusal(std::move(o)).builder, "negate_negative is set without");
  o = usual();
  o.negative.clear();
  testing::expect_rejected(Refusal(std::move(o), DType::kInt16, DType::kInt16, {1}).builder,
                           "slopes without stages");
  testing::expect_rejected(Refusal(usual(), DType::kInt16, DType::kInt16, {1, 2}).builder,
                           "2 slopes, expected 1 or one for each");
  testing::expect_rejected(Refusal(usual(), DType::kInt32, DType::kInt16, {1}).builder,
                           "x * slope may reach");
  o = usual();
  o.negate_negative = true;
  o.negative[0]->shift = {0};
  testing::expect_rejected(Refusal(std::move(o), DType::kInt32).builder, "may reach -2^31");
}

}  // namespace
}  // namespace qrt::requantize_test
