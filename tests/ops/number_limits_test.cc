// SPDX-License-Identifier: Apache-2.0
// Numbers in the options of operators, at and beyond the limits that each comment of the check gives a
// reason for: sums that could leave their type, shapes that multiply out to more than there is.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/integer_model.h"
#include "tests/support/op_tester.h"

namespace qrt::number_limits_test {
namespace {

using testing::expect_rejected;
using testing::float_bits;
using testing::ModelBuilder;

void expect_accepted(const ModelBuilder& m) {
  auto model = testing::load(m);
  EXPECT_TRUE(model.ok()) << model.status().message();
}

// Returns a model of one operator of one input.
template <class Options>
ModelBuilder one(Options options, const Shape& x, const Shape& y, DType from = DType::kUInt8,
                 DType to = DType::kUInt8) {
  ModelBuilder m;
  const uint32_t in = m.input(x, from), out = m.output(y, to);
  m.op(std::move(options), {in}, {out});
  return m;
}

// Scaled down so far that the sum of the terms would do.
ModelBuilder shifted_add(int left_shift, int zero_point) {
  ModelBuilder m;
  const uint32_t x = m.input({8}, DType::kInt16), y = m.output({8}, DType::kInt16);
  fb::AddOptionsT add;
  add.kind = fb::AddKind::INT;
  add.left_shift = static_cast<uint8_t>(left_shift);
  add.a_zero_point_16 = static_cast<int16_t>(zero_point);
  add.a_stages = testing::double_rounding(1 << 10, 0);
  add.b_stages = testing::double_rounding(1 << 10, 0);
  add.requant = testing::requant_16(1 << 20, 25);
  m.op(std::move(add), {x, x}, {y});
  return m;
}

TEST(NumberLimits, AddOfShiftedOperands) {
  expect_rejected(shifted_add(20, 0),
                  "a_zero_point_16 is 0 and left_shift is 20: operands are -34359738368 to "
                  "34358689792, expected within int32");
  expect_accepted(shifted_add(16, 0));  // -2^31 is the least
  expect_rejected(shifted_add(16, -1),
                  "operands are -2147418112 to 2147483648, expected within int32");
  expect_rejected(shifted_add(16, 1), "operands are -2147549184 to 2147352576");
  expect_accepted(shifted_add(15, INT16_MAX));
  expect_accepted(shifted_add(15, INT16_MIN));
}

TEST(NumberLimits, AddOfNoNumbers) {
  for (const uint32_t bits : {0x7f800000u, 0xff800000u, 0x7fc00000u}) {
    for (uint32_t fb::AddOptionsT::*field :
         {&fb::AddOptionsT::a_scale, &fb::AddOptionsT::b_scale, &fb::AddOptionsT::constant}) {
      ModelBuilder m;
      const uint32_t x = m.input({8}), y = m.output({8});
      fb::AddOptionsT add;
      add.a_scale = add.b_scale = float_bits(1.0f);
      add.*field = bits;
      m.op(add, {x, x}, {y});
      expect_rejected(m, "expected 255 * (|a_scale| + |b_scale|) + |constant| < 2^31");
    }
  }
}

TEST(NumberLimits, WindowsOfAverages) {
  fb::AveragePool2DOptionsT o;
  o.kind = fb::AverageKind::INT_HALF_AWAY;
  o.kernel_h = 256;
  o.kernel_w = 128;
  o.lo = INT16_MIN;
  o.hi = INT16_MAX;
  const DType wide = DType::kInt16;
  expect_rejected(one(o, {1, 256, 128, 1}, {1, 1, 1, 1}, wide, wide),
                  "kernel 256 x 128, expected fewer than 2^15 positions");
  o.kernel_h = 255;
  expect_accepted(one(o, {1, 255, 128, 1}, {1, 1, 1, 1}, wide, wide));
  o.lo = 0;
  o.hi = 255;
  o.kernel_h = o.kernel_w = 4096;
  expect_rejected(one(o, {1, 4096, 4096, 1}, {1, 1, 1, 1}),
                  "kernel 4096 x 4096, expected fewer than 2^23 positions");
  o.kind = fb::AverageKind::F32_ORDERED;
  o.input_scale = o.output_scale = float_bits(0.5f);
  expect_rejected(one(o, {1, 4096, 4096, 1}, {1, 1, 1, 1}),
                  "kernel 4096 x 4096, expected fewer than 2^24 positions");
}

TEST(NumberLimits, SumsOfAverages) {
  fb::AveragePool2DOptionsT o;
  o.kernel_h = o.kernel_w = 2;
  const auto scales = [&](float in, float out) {
    o.input_scale = float_bits(in);
    o.output_scale = float_bits(out);
    return one(o, {1, 2, 2, 1}, {1, 1, 1, 1});
  };
  expect_accepted(scales(1e34f, 1e34f));
  const std::string limit = "expected 510 * 4 positions * the ratio below 2^31";
  expect_rejected(scales(1e36f, 1e36f), limit);  // the ratio would do: the sum is no float
  expect_rejected(scales(1.0f, 1e-7f), limit);
  expect_rejected(scales(1.0f, -1.0f), "output_scale is -1, expected a normal number > 0");
  expect_rejected(scales(-1.0f, 1.0f), "input_scale is -1, expected a normal number > 0");
  expect_rejected(scales(1.0f, 1e-40f),
                  "output_scale is 9.99995e-41, expected a normal number > 0");
  expect_rejected(scales(1e-40f, 1.0f), "input_scale is 9.99995e-41, expected a normal number > 0");
}

TEST(NumberLimits, Softmax) {
  const auto softmax = [](std::vector<float> table, float k) {
    ModelBuilder m;
    const uint32_t x = m.input({2, 4}), y = m.output({2, 4});
    fb::SoftmaxOptionsT o;
    o.table = m.buffer(table);
    o.k = float_bits(k);
    m.op(std::move(o), {x}, {y});
    return m;
  };
  const std::string limit = "(greatest over last value of the table) < 2^31";
  expect_accepted(softmax(std::vector<float>(256, 3e38f), 1.0f));
  expect_rejected(softmax(std::vector<float>(256, 3e38f), 2.0f), limit);
  expect_rejected(softmax(std::vector<float>(256, 1.0f), 1.0f / 0.0f), limit);
  expect_rejected(softmax(std::vector<float>(256, 1.0f), -1.0f), limit);
  expect_rejected(softmax(std::vector<float>(256, 1.0f), 2147483648.0f), limit);

  const auto int16 = [](int16_t before, int16_t last, int64_t n = 4) {
    ModelBuilder m;
    const uint32_t x = m.input({1, n}, DType::kInt16), y = m.output({1, n}, DType::kInt16);
    std::vector<int16_t> tables(2 * 513, 100);
    tables[511] = before;
    tables[512] = last;
    fb::SoftmaxOptionsT o;
    o.kind = fb::SoftmaxKind::INT16;
    o.table = m.buffer(tables);
    o.stages = testing::double_rounding(1 << 30, 2);
    m.op(std::move(o), {x}, {y});
    return m;
  };
  expect_accepted(int16(2, 2));
  expect_rejected(int16(3, 2), "table[511] and table[512] are 3 and 2, expected 2 or more");
  expect_rejected(int16(1, 2), "table[511] and table[512] are 1 and 2, expected 2 or more");
  expect_rejected(int16(2, 2, 1 << 20), "rows of 1048576 values, expected at most");
}

TEST(NumberLimits, StagesThatMoveZero) {
  for (const auto& [lo, hi] : {std::pair(5, 9), std::pair(-9, -5)}) {
    ModelBuilder m = testing::integer_model();
    for (auto& op : m.model().operators) {
      auto* o = op->options.AsSoftmax();
      if (o == nullptr || o->kind != fb::SoftmaxKind::INT16) continue;
      o->stages.back()->clip_lo = lo;
      o->stages.back()->clip_hi = hi;
    }
    expect_rejected(m, "stages clip limits are " + std::to_string(lo) + " to " +
                           std::to_string(hi) + ", expected 0 within them");
  }
}

TEST(NumberLimits, Requantisations) {
  ModelBuilder m;
  const uint32_t x = m.input({2, 4}), y = m.output({2, 4});
  fb::MulOptionsT mul;
  mul.requant = testing::requant_f32({0.5f});
  fb::RequantT& r = *m.op(std::move(mul), {x, x}, {y}).options.AsMul()->requant;
  r.zero_point_before = true;
  r.offset = 5;
  expect_rejected(m, "requant.offset is 5, expected 0, or 128 with zero_point_before");
  r.offset = 128;
  expect_accepted(m);
  r.zero_point_before = false;
  expect_rejected(m, "requant.offset is 128, expected 0, or 128 with zero_point_before");

  ModelBuilder stages;
  const uint32_t a = stages.input({2, 4}), b = stages.output({2, 4});
  fb::MulOptionsT three;
  three.requant = testing::requant_int(1 << 20, 26);
  for (int i = 0; i < 2; ++i)
    three.requant->stages.push_back(
        std::make_unique<fb::RequantStageT>(*testing::requant_int(1, 0)->stages[0]));
  stages.op(std::move(three), {a, a}, {b});
  expect_rejected(stages, "requant.stages has 3 stages, expected 1 to 2");
}

TEST(NumberLimits, ClippedSumsPerChannel) {
  ModelBuilder m;
  const uint32_t x = m.input({2, 2}, DType::kInt32), y = m.output({2, 2});
  fb::RequantizeOptionsT o;
  o.requant = testing::requant_int(1, 0);
  fb::RequantStageT& clip = *o.requant->stages[0];
  clip.clip_lo = -20000;
  clip.clip_hi = 20000;
  clip.multiplier = {1, 1};
  clip.shift = {0, 0};
  o.requant->stages.push_back(
      std::make_unique<fb::RequantStageT>(*testing::requant_int(3, 13)->stages[0]));
  m.op(std::move(o), {x, m.constant({2}, DType::kInt64, std::vector<int64_t>{4, 5})}, {y});
  expect_rejected(m, "requant.stages[0] does more than clip, expected multiplier 1 and shift 0");
}

TEST(NumberLimits, RequantisationsOfFloats) {
  fb::RequantizeOptionsT o;
  o.requant = testing::requant_f32({0.5f});
  expect_rejected(one(std::move(o), {2, 4}, {2, 4}), "requant.kind is 1");
}

// A vector without elements is the same as none.
TEST(NumberLimits, NoStagesOfNegativeSums) {
  ModelBuilder m;
  const uint32_t x = m.input({2, 2}, DType::kInt32), y = m.output({2, 2});
  fb::RequantizeOptionsT o;
  o.requant = testing::requant_int(1, 0);
  o.requant->stages[0]->clip_lo = -20000;
  o.requant->stages[0]->clip_hi = 20000;
  o.requant->stages.push_back(
      std::make_unique<fb::RequantStageT>(*testing::requant_int(3, 13)->stages[0]));
  o.negative.push_back(
      std::make_unique<fb::RequantStageT>(*testing::requant_int(3, 13)->stages[0]));
  m.op(std::move(o), {x, m.constant({2}, DType::kInt64, std::vector<int64_t>{4, 5})}, {y});
  expect_rejected(m, "has both a bias and stages of negative");
  const auto verify_emptied = [](const ModelBuilder& of) {
    std::vector<uint8_t> file = of.build();
    const auto& op = *fb::GetModel(file.data())->operators()->Get(0);
    const auto* length = reinterpret_cast<const uint8_t*>(op.options_as_Requantize()->negative());
    memset(file.data() + (length - file.data()), 0, sizeof(uint32_t));
    return verify(std::move(*ModelBytes::copy(file.data(), file.size())));
  };
  auto model = verify_emptied(m);
  EXPECT_TRUE(model.ok()) << model.status().message();

  fb::RequantizeOptionsT alone;
  alone.requant = testing::requant_int(1, 0);
  alone.negative.push_back(
      std::make_unique<fb::RequantStageT>(*testing::requant_int(3, 13)->stages[0]));
  alone.negate_negative = true;
  model = verify_emptied(one(std::move(alone), {2, 4}, {2, 4}));
  ASSERT_FALSE(model.ok());
  EXPECT_NE(std::string(model.status().message())
                .find("negate_negative is set without stages of negative"),
            std::string::npos)
      << model.status().message();
}

TEST(NumberLimits, OffsetsOfNarrowWeights) {
  const auto dense = [](int bits, int8_t offset) {
    ModelBuilder m;
    const uint32_t x = m.input({1, 4}), y = m.output({1, 16});
    fb::FullyConnectedOptionsT o;
    o.weight_sum.assign(16, 4 * offset);
    o.requant = testing::requant_f32({0.5f});
    const std::vector<int8_t> codes(gemm_packed_bytes(16, 1, 4));
    m.op(std::move(o),
         {x, m.narrow({16, 4}, fb::Packing::GEMM, bits, codes, std::vector<int8_t>(16, offset)),
          m.bias(std::vector<int32_t>(16))},
         {y});
    return m;
  };
  for (const int offset : {-120, 120}) expect_accepted(dense(4, static_cast<int8_t>(offset)));
  expect_rejected(dense(4, -121), "a weight_offset is -121, expected -120 to 120");
  expect_rejected(dense(4, 121), "a weight_offset is 121, expected -120 to 120");
  expect_rejected(dense(2, -127), "a weight_offset is -127, expected -126 to 126");
}

TEST(NumberLimits, ReshapesBeyondAllElements) {
  const auto reshape = [](std::vector<int32_t> shape) {
    fb::ReshapeOptionsT o;
    o.shape = std::move(shape);
    return one(o, {2, 4}, {8});
  };
  expect_accepted(reshape({8}));
  expect_rejected(reshape({1 << 30, 1 << 11}), "shape has more than 2^40 elements");
  expect_rejected(reshape({1 << 30, 1 << 10, 1 << 30}), "shape has more than 2^40 elements");
}

TEST(NumberLimits, OutputsOfMoreThanThereIs) {
  ModelBuilder m;
  const uint32_t a = m.input({1 << 21, 1}), b = m.input({1, 1 << 21}), y = m.output({4, 4});
  fb::AddOptionsT add;
  add.a_scale = add.b_scale = float_bits(1.0f);
  m.op(add, {a, b}, {y});
  expect_rejected(m, "more than 2^40 elements");
}

// Windows that start in the padding are limited in number: here they have two positions, further
// apart than the image is high.
TEST(NumberLimits, WindowsThatStartInThePadding) {
  const auto pool = [](int64_t height, uint16_t pad, uint16_t pad_after, int64_t out) {
    fb::MaxPool2DOptionsT o;
    o.kernel_h = 2;
    o.stride_h = 2;
    o.dilation_h = static_cast<uint16_t>(height + 1);
    o.pad_top = pad;
    o.pad_bottom = pad_after;
    return one(o, {1, height, 1, 1}, {1, out, 1, 1});
  };
  const std::string limit =
      "more than 1024 windows start in the padding before the height, in steps wider than the "
      "image";
  expect_accepted(pool(3000, 4, 2998, 1501));
  expect_rejected(pool(3000, 4000, 2998, 3499), limit, Code::kUnsupported);
}

TEST(NumberLimits, ResizesWithoutIndices) {
  fb::ResizeLinearOptionsT o;
  o.kind = fb::ResizeKind::INT_HALF_AWAY;
  o.h = std::make_unique<fb::ResizeAxisT>();
  o.w = std::make_unique<fb::ResizeAxisT>();
  expect_rejected(one(std::move(o), {1, 2, 2, 1}, {1, 2, 2, 1}),
                  "h has 0 and 0 indices and 0 and 0 weights, expected as many of each");
}

TEST(NumberLimits, ParametersGivenTwice) {
  const auto quantize = [](std::vector<uint32_t> scale, std::vector<int32_t> zero_point) {
    ModelBuilder m;
    const uint32_t x = m.input({4}, DType::kFloat32), s = m.input({}, DType::kFloat32);
    const uint32_t y = m.output({4});
    fb::QuantizeOptionsT o;
    o.scale = std::move(scale);
    o.zero_point = std::move(zero_point);
    m.op(std::move(o), {x, s}, {y});
    return m;
  };
  expect_accepted(quantize({}, {}));
  expect_rejected(quantize({float_bits(1.0f)}, {}), "has 1 scales and 0 zero points beside those");
  expect_rejected(quantize({}, {0}), "has 0 scales and 1 zero points beside those");
}

}  // namespace
}  // namespace qrt::number_limits_test
