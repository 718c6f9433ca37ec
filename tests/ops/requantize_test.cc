// Requantize against its formula, between all types, with stages and slopes below the zero point;
// models it has to refuse.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "tests/support/op_tester.h"
#include "tests/support/random.h"

namespace qrt {
namespace {

using testing::Bytes;

std::unique_ptr<fb::RequantStageT> stage(int32_t multiplier, uint8_t shift, fb::Rounding rounding) {
  auto s = std::make_unique<fb::RequantStageT>();
  s->multiplier = {multiplier};
  s->shift = {shift};
  s->rounding = rounding;
  return s;
}

// Half up by 2^4 above the zero point; below: times 3, half away by 2^6.
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
}  // namespace qrt
