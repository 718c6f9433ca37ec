// SPDX-License-Identifier: Apache-2.0
// Models that one check of an operator alone refuses: without it nothing else would (tests/mutation).
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/integer_model.h"
#include "tests/support/op_tester.h"

namespace qrt::refused_limits_test {
namespace {

using testing::expect_rejected;
using testing::float_bits;
using testing::ModelBuilder;
using testing::requant_f32;
using testing::requant_int;

// Returns a model of one operator whose inputs are the model's.
template <class Options>
ModelBuilder one(Options options, const std::vector<std::pair<Shape, DType>>& inputs,
                 const Shape& y, DType to = DType::kUInt8) {
  ModelBuilder m;
  std::vector<uint32_t> in;
  for (const auto& [shape, dtype] : inputs) in.push_back(m.input(shape, dtype));
  const uint32_t out = m.output(y, to);
  m.op(std::move(options), std::move(in), {out});
  return m;
}

constexpr DType kByte = DType::kUInt8, kWide = DType::kInt16, kSums = DType::kInt32;

TEST(RefusedLimits, IntegerAdds) {
  const auto add = [](std::unique_ptr<fb::RequantT> requant, int stages) {
    fb::AddOptionsT o;
    o.kind = fb::AddKind::INT;
    for (int i = 0; i < stages; ++i)
      o.a_stages.push_back(std::make_unique<fb::RequantStageT>(*requant_int(1, 0)->stages[0]));
    o.b_stages = testing::double_rounding(1 << 30, 1);
    o.requant = std::move(requant);
    return one(std::move(o), {{{8}, kByte}, {{8}, kByte}}, {8});
  };
  expect_rejected(add(requant_f32({0.5f}), 1), "requant.kind is 1, an add of kind INT takes INT");
  expect_rejected(add(requant_int(1 << 20, 26), 3), "a_stages has 3 stages, expected at most 2");
}

TEST(RefusedLimits, LeadingDimensionsOfProducts) {
  fb::BatchMatMulOptionsT o;
  o.requant = requant_f32({0.5f});
  expect_rejected(one(std::move(o), {{{2, 4, 4}, kByte}, {{3, 4, 4}, kByte}}, {3, 4, 4}),
                  "shapes [2, 4, 4] and [3, 4, 4] do not broadcast: dimensions 2 and 3");
}

TEST(RefusedLimits, GroupsOfConvolutions) {
  const auto conv = [](int64_t out, fb::TapLayout layout) {
    ModelBuilder m;
    const uint32_t x = m.input({1, 2, 2, 4}), y = m.output({1, 2, 2, out});
    fb::Conv2DOptionsT o;
    o.groups = 2;
    o.tap_layout = layout;
    o.weight_sum.assign(static_cast<size_t>(out), 0);
    o.requant = requant_f32({0.5f});
    const auto n = static_cast<size_t>(out);
    m.op(std::move(o),
         {x, m.gemm_weights({out, 1, 1, 2}, std::vector<int8_t>(n * 2), 2),
          m.bias(std::vector<int32_t>(n))},
         {y});
    return m;
  };
  expect_rejected(conv(3, fb::TapLayout::PIXEL), "with out a multiple of 2 groups");
  expect_rejected(conv(4, fb::TapLayout::ROW), "tap_layout ROW with groups 2 and dilation_w 1");
}

TEST(RefusedLimits, LayersOfWideNumbers) {
  const auto dense = [](int64_t in, uint8_t terms, uint8_t digits) {
    ModelBuilder m;
    const uint32_t x = m.input({1, in}, kWide), y = m.output({1, 1}, kWide);
    fb::FullyConnectedOptionsT o;
    o.terms = terms;
    o.digits = digits;
    o.weight_sum.assign(digits, 0);
    o.requant = testing::requant_16(1 << 20, 40);
    m.op(std::move(o),
         {x, m.gemm_weights({1, in}, std::vector<int8_t>(static_cast<size_t>(in))), m.bias({0})},
         {y});
    return m;
  };
  ASSERT_TRUE(testing::load(dense(65792, 1, 1)).ok());
  expect_rejected(dense(65796, 1, 1), "weights that make an output of an int16 layer");
  expect_rejected(dense(4, 2, 2), "digits is 2 with 2 terms and x of int16, expected 1");
}

TEST(RefusedLimits, BatchesOfTooManyElements) {
  fb::AddOptionsT add;
  add.a_scale = add.b_scale = float_bits(1.0f);
  const Shape x = {-1, 1 << 20};
  auto model = testing::load(one(add, {{x, kByte}, {x, kByte}}, x));
  ASSERT_TRUE(model.ok()) << model.status().message();
  SessionOptions options;
  options.batch = 1 << 12;
  auto session = Session::create(*model, options);
  ASSERT_FALSE(session.ok());
  const std::string limit = "expected 1 to " + std::to_string(kMaxTensorElements) + " elements";
  EXPECT_NE(std::string(session.status().message()).find(limit), std::string::npos)
      << session.status().message();
}

TEST(RefusedLimits, EdgesWithScalesOfTheirOwn) {
  fb::DequantizeOptionsT dequantize;
  dequantize.scale = {float_bits(1.0f)};
  dequantize.zero_point = {0};
  expect_rejected(one(dequantize, {{{8}, kByte}}, {8}, DType::kFloat16),
                  "the output is float16, expected float32");
  dequantize.axis = 0;
  dequantize.scale.assign(4, float_bits(1.0f));
  dequantize.zero_point.assign(4, 0);
  dequantize.block_size = 2;
  expect_rejected(one(dequantize, {{{8}, kByte}}, {8}, DType::kFloat32),
                  "block_size is 2, but the scales are no input");
}

TEST(RefusedLimits, StepsOfAFormula) {
  fb::FormulaOptionsT o;
  for (int i = 0; i < 65; ++i) {
    o.a_steps.push_back(std::make_unique<fb::FormulaStepT>());
    o.a_steps.back()->function = fb::FormulaFunction::NEGATE;
  }
  expect_rejected(one(std::move(o), {{{8}, kSums}}, {8}, kSums),
                  "has 65 steps, expected at most 64");
}

// A first window around the image, with one position before it and one behind it, is refused.
TEST(RefusedLimits, WindowsAroundTheImage) {
  fb::MaxPool2DOptionsT o;
  o.kernel_h = 2;
  o.dilation_h = 3;
  o.pad_top = 1;
  o.pad_bottom = 2;
  expect_rejected(one(o, {{{1, 1, 1, 1}, kByte}}, {1, 1, 1, 1}),
                  "padding before the height is 1: window 0 lies outside the image of 1");
}

TEST(RefusedLimits, ProductsOfWideNumbers) {
  fb::MulOptionsT o;
  o.a_zero_point_16 = o.b_zero_point_16 = INT16_MIN;
  o.requant = testing::requant_16(INT32_MAX, 40);
  expect_rejected(one(std::move(o), {{{8}, kWide}, {{8}, kWide}}, {8}, kWide),
                  "products reach 4294836225, times the multiplier 2147483647 2^62 or more");
}

TEST(RefusedLimits, NegativesOfSums) {
  const auto negative = [](bool with_slopes) {
    ModelBuilder m;
    const uint32_t x = m.input({2, 2}, kSums), y = m.output({2, 2});
    fb::RequantizeOptionsT o;
    o.requant = requant_int(1, 0);
    o.negative.push_back(std::make_unique<fb::RequantStageT>(*requant_int(1, 0)->stages[0]));
    o.negate_negative = !with_slopes;
    std::vector<uint32_t> inputs = {x};
    if (with_slopes) inputs.push_back(m.constant({1}, kWide, std::vector<int16_t>{3}));
    m.op(std::move(o), std::move(inputs), {y});
    return m;
  };
  expect_rejected(negative(true), "x * slope may reach 70368744177664, expected at most 2^31");
  expect_rejected(negative(false), "stages of negative may reach -2^31");
}

TEST(RefusedLimits, SumsWithABias) {
  const auto sums = [](std::unique_ptr<fb::RequantT> requant, int64_t bias) {
    ModelBuilder m;
    const uint32_t x = m.input({2, 2}, kSums), y = m.output({2, 2});
    fb::RequantizeOptionsT o;
    o.requant = std::move(requant);
    m.op(std::move(o), {x, m.constant({2}, DType::kInt64, std::vector<int64_t>{4, bias})}, {y});
    return m;
  };
  const auto stages = [](int32_t multiplier) {
    auto r = requant_int(1, 0);
    r->stages[0]->clip_lo = -20000;
    r->stages[0]->clip_hi = 20000;
    r->stages.push_back(
        std::make_unique<fb::RequantStageT>(*requant_int(multiplier, 13)->stages[0]));
    return r;
  };
  const int64_t great = int64_t{1} << 61;
  ASSERT_TRUE(testing::load(sums(stages(1), great)).ok());
  expect_rejected(sums(stages(2), great), "sums of channel 1 may reach 2305843009218813952, times");
  expect_rejected(sums(requant_int(1, 0), 5), "requant.stages has 1 stages, with a bias 2 are");
  expect_rejected(sums(requant_f32({0.5f}), 5), "requant.kind is 1, expected INT (2)");
}

TEST(RefusedLimits, RanksOfOutputs) {
  fb::ReshapeOptionsT reshape;
  reshape.shape = {1, 1, 1, 1, 1, 1, 8};
  expect_rejected(one(reshape, {{{8}, kByte}}, {8}), "shape has 7 dimensions, expected at most 6");
  expect_rejected(one(fb::TakeOptionsT(), {{{2, 1, 1, 2}, kByte}, {{1, 1, 1, 2}, kSums}}, {8}),
                  "its output has 7 dimensions, expected at most 6");
}

TEST(RefusedLimits, ResizesWithoutAnAxis) {
  fb::ResizeLinearOptionsT o;
  o.kind = fb::ResizeKind::INT_HALF_AWAY;
  expect_rejected(one(std::move(o), {{{1, 2, 2, 1}, kByte}}, {1, 2, 2, 1}), "h is missing");
}

// A softmax of denormals is refused: its ratio would do, but the reciprocal of its sum is no normal number.
TEST(RefusedLimits, SoftmaxOfDenormals) {
  ModelBuilder m;
  const uint32_t x = m.input({2, 4}), y = m.output({2, 4});
  fb::SoftmaxOptionsT o;
  o.table = m.buffer(std::vector<float>(256, 1e-40f));
  o.k = float_bits(1.0f);
  m.op(std::move(o), {x}, {y});
  expect_rejected(m, "table[255] is 9.99995e-41, expected a normal number > 0");
}

TEST(RefusedLimits, BoxesOfOneElement) {
  ModelBuilder m;
  const uint32_t x = m.input({1, 4, 1}, kSums);
  const uint32_t count = m.output({1}, kSums), y = m.output({1, 4, 1}, kSums);
  m.op(fb::ValidBoxesOptionsT(), {x}, {count, y});
  expect_rejected(m, "rows have 1 elements, expected at least 2");
}

TEST(RefusedLimits, RequantisationsOfRecurrentLayers) {
  ModelBuilder m;
  const uint32_t x = m.input({1, 4}), state = m.input({1, 2, 3}, kWide);
  const uint32_t y = m.output({1, 2}), next = m.output({1, 2, 3}, kWide);
  fb::SvdfOptionsT o;
  o.rank = 1;
  o.state_lo = INT16_MIN;
  o.state_hi = INT16_MAX;
  o.feature_stages = testing::double_rounding(1 << 30, 2);
  o.requant = requant_f32({0.5f});
  m.op(std::move(o),
       {x, m.constant({2, 4}, DType::kInt8, std::vector<int8_t>(8)),
        m.constant({2, 3}, kWide, std::vector<int16_t>(6)), m.bias({1, 2}), state},
       {y, next});
  expect_rejected(m, "requant.kind is 1, this operator takes INT (2)");
}

}  // namespace
}  // namespace qrt::refused_limits_test
