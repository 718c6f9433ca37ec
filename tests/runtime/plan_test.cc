// SPDX-License-Identifier: Apache-2.0
// Plans: what shares memory and what must not, batches, and what a model may not ask for.
#include "runtime/plan.h"

#include <gtest/gtest.h>

#include <utility>

#include "kernels/integer_build.h"
#include "runtime/session.h"
#include "tests/support/every_op_model.h"
#include "tests/support/planned.h"
#include "tests/support/runner.h"

namespace qrt::plan_test {
namespace {

using testing::Bytes;
using testing::ModelBuilder;
using testing::pattern;
using testing::planned;
using testing::verified;

fb::LutOptionsT identity(ModelBuilder* m) {
  Bytes table(256);
  for (size_t i = 0; i < 256; ++i) table[i] = static_cast<uint8_t>(i);
  fb::LutOptionsT lut;
  lut.table = m->buffer(table);
  return lut;
}

fb::ReshapeOptionsT reshape(std::vector<int32_t> shape) {
  fb::ReshapeOptionsT options;
  options.shape = std::move(shape);
  return options;
}

TEST(Plan, AViewSharesItsInputsMemory) {
  ModelBuilder m;
  const uint32_t x = m.input({4, 6});
  const uint32_t a = m.tensor({4, 6}), b = m.tensor({24});
  const uint32_t y = m.output({24});
  const fb::LutOptionsT lut = identity(&m);
  m.op(lut, {x}, {a});
  m.op(reshape({24}), {a}, {b});
  m.op(lut, {b}, {y});
  const auto plan = planned(m);
  ASSERT_EQ(plan->places[a].offset, plan->places[b].offset);
  ASSERT_EQ(plan->steps[1].run, nullptr);
  ASSERT_NE(plan->places[a].offset, plan->places[x].offset);
  ASSERT_NE(plan->places[b].offset, plan->places[y].offset);
}

TEST(Plan, AViewKeepsItsInputsMemoryAlive) {
  ModelBuilder m;
  const uint32_t x = m.input({64});
  const uint32_t a = m.tensor({64}), view = m.tensor({8, 8}), b = m.tensor({64}),
                 c = m.tensor({64});
  const uint32_t y = m.output({128});
  const fb::LutOptionsT lut = identity(&m);
  m.op(lut, {x}, {a});
  m.op(reshape({8, 8}), {a}, {view});
  m.op(lut, {x}, {b});
  const uint32_t flat = m.tensor({64});
  m.op(reshape({64}), {view}, {flat});
  m.op(lut, {b}, {c});
  m.op(fb::ConcatOptionsT(), {flat, c}, {y});
  const auto plan = planned(m);
  ASSERT_EQ(plan->places[flat].offset, plan->places[a].offset);
  ASSERT_NE(plan->places[b].offset, plan->places[a].offset);
  ASSERT_NE(plan->places[c].offset, plan->places[a].offset);
}

TEST(Plan, AnOutputThatViewsAnInputHasItsOwnMemory) {
  ModelBuilder m;
  const uint32_t x = m.input({4, 6});
  const uint32_t y = m.output({24});
  m.op(reshape({24}), {x}, {y});
  const auto plan = planned(m);
  ASSERT_NE(plan->places[x].offset, plan->places[y].offset);
  const Bytes data = pattern<uint8_t>(24, 0, 255);
  ASSERT_EQ(testing::run_model(m.build(), {data}).outputs, std::vector<Bytes>{data});
}

TEST(Plan, AnOutputMayBeAnInputAConstantOrStandTwice) {
  ModelBuilder m;
  const uint32_t x = m.input({8});
  const Bytes values = pattern<uint8_t>(8, 10, 20);
  const uint32_t constant = m.constant({8}, DType::kUInt8, values);
  const uint32_t y = m.output({8});
  m.op(identity(&m), {x}, {y});
  m.mark_output(x);
  m.mark_output(constant);
  m.mark_output(y);
  const auto plan = planned(m);
  ASSERT_NE(plan->places[plan->outputs[1].slot].offset, plan->places[x].offset);
  const Bytes data = pattern<uint8_t>(8, 100, 200);
  const testing::RunResult result = testing::run_model(m.build(), {data});
  ASSERT_EQ(result.status, QRT_OK) << result.message;
  ASSERT_EQ(result.outputs, (std::vector<Bytes>{data, data, values, data}));
}

TEST(Plan, AViewOfAConstantReadsTheFile) {
  ModelBuilder m;
  const Bytes values = pattern<uint8_t>(8, 10, 20);
  const uint32_t x = m.input({8});
  const uint32_t constant = m.constant({2, 4}, DType::kUInt8, values);
  const uint32_t view = m.tensor({8});
  const uint32_t y = m.output({16});
  m.op(reshape({8}), {constant}, {view});
  m.op(fb::ConcatOptionsT(), {x, view}, {y});
  const testing::RunResult result = testing::run_model(m.build(), {Bytes(8, 1)});
  ASSERT_EQ(result.status, QRT_OK) << result.message;
  ASSERT_EQ(result.outputs[0], (Bytes{1, 1, 1, 1, 1, 1, 1, 1, 10, 14, 18, 11, 15, 19, 12, 16}));
}

TEST(Plan, InputsAreNeverOverwritten) {
  ModelBuilder m;
  const uint32_t x = m.input({100}), unused = m.input({100});
  uint32_t last = x;
  const fb::LutOptionsT lut = identity(&m);
  for (int i = 0; i < 5; ++i) {
    const uint32_t next = m.tensor({100});
    m.op(lut, {last}, {next});
    last = next;
  }
  m.mark_output(last);
  const auto plan = planned(m);
  for (uint32_t t = 0; t < plan->types.size(); ++t) {
    ASSERT_EQ(plan->places[t].offset == plan->places[x].offset, t == x);
    ASSERT_EQ(plan->places[t].offset == plan->places[unused].offset, t == unused);
  }
  // Two inputs and two places for the chain.
  ASSERT_EQ(plan->arena_bytes, 4 * 192u);
}

TEST(Plan, KeepAllSharesNothing) {
  ModelBuilder m;
  uint32_t last = m.input({100});
  const fb::LutOptionsT lut = identity(&m);
  for (int i = 0; i < 5; ++i) {
    const uint32_t next = m.tensor({100});
    m.op(lut, {last}, {next});
    last = next;
  }
  m.mark_output(last);
  PlanOptions options;
  options.keep_all = true;
  ASSERT_EQ(planned(m, options)->arena_bytes, 6 * 192u);
}

TEST(Plan, PutsTheBatchInForTheOpenDimension) {
  PlanOptions options;
  options.batch = 7;
  const auto plan = planned(testing::every_op_model(), options);
  for (const TensorType& type : plan->types) {
    for (int64_t d : type.shape) ASSERT_GT(d, 0);
  }
  ASSERT_EQ(plan->types[0].shape, (Shape{7, 8, 8, 4}));
}

TEST(Plan, UsesTheModelsOwnBatchByDefault) {
  ModelBuilder m = testing::every_op_model();
  m.model().default_batch = 3;
  ASSERT_EQ(planned(m)->batch, 3u);
  ASSERT_EQ(planned(m)->types[0].shape[0], 3);
}

TEST(Plan, RefusesABatchForAModelWithout) {
  ModelBuilder m;
  const uint32_t x = m.input({4, 6});
  m.op(identity(&m), {x}, {m.output({4, 6})});
  PlanOptions options;
  options.batch = 2;
  ASSERT_EQ(make_plan(verified(m), options).status().code(), Code::kInvalidArgument);
  options.batch = 1;
  ASSERT_TRUE(make_plan(verified(m), options).ok());
}

TEST(Plan, RefusesABatchThatAShapeContradicts) {
  ModelBuilder m;
  const uint32_t x = m.input({-1, 6});
  m.op(identity(&m), {x}, {m.output({1, 6})});
  PlanOptions options;
  options.batch = 2;
  Result<std::shared_ptr<const Plan>> plan = make_plan(verified(m), options);
  ASSERT_EQ(plan.status().code(), Code::kInvalidArgument);
  ASSERT_NE(std::string(plan.status().message()).find("[1, 6], expected [2, 6]"), std::string::npos)
      << plan.status().message();
}

TEST(Plan, RefusesMoreMemoryThanTheLimit) {
  ModelBuilder m;
  for (int i = 0; i < 40; ++i) m.input({-1, 1 << 20});
  m.op(identity(&m), {0}, {m.output({-1, 1 << 20})});
  PlanOptions options;
  options.batch = kMaxTensorElements >> 20;  // the most that a tensor may have
  Result<std::shared_ptr<const Plan>> plan = make_plan(verified(m), options);
  ASSERT_EQ(plan.status().code(), Code::kOutOfMemory);
}

// A plan spends memory on speed within the limit: a 3x3 convolution takes transformed weights where
// they are faster, unless that passes the limit.
TEST(Plan, SpendsMemoryOnSpeedWithinTheLimit) {
  ModelBuilder m;
  const uint32_t x = m.input({1, 32, 32, 64}), y = m.output({1, 32, 32, 64});
  const uint32_t w = m.gemm_weights({64, 3, 3, 64}, std::vector<int8_t>(64 * 9 * 64, 1));
  fb::Conv2DOptionsT o;
  o.pad_top = o.pad_left = o.pad_bottom = o.pad_right = 1;
  o.weight_sum.assign(64, 9 * 64);
  o.requant = testing::requant_f32({0.01f});
  m.op(std::move(o), {x, w, m.bias(std::vector<int32_t>(64))}, {y});
  const struct {
    Isa isa;
    const char *fast, *small;
  } cases[] = {{Isa::kAvx512Vnni, "winograd_u8s8_4x4_avx512vnni", "gemm_u8s8_8x32_k4_avx512vnni"},
               {Isa::kAvxVnni, "winograd_u8s8_4x4_avxvnni", "gemm_u8s8_6x16_k4_avxvnni"},
               {Isa::kAvx2, "winograd_u8s8_4x4_avx2", "gemm_u8s8_6x16_k4_avx2"},
               {Isa::kNeon, "winograd_u8s8_4x4_neon", "gemm_u8s8_2x16_k8_neon"}};
  bool has_any = false;
  for (const auto& c : cases) {
    if (!has(detected_isas(), c.isa)) continue;
    has_any = true;
    PlanOptions options;
    options.isas = capped(detected_isas(), c.isa);
    const auto fast = planned(m, options);
    EXPECT_STREQ(fast->steps[0].kernel, c.fast);
    options.max_memory = fast->total_bytes();
    EXPECT_STREQ(planned(m, options)->steps[0].kernel, c.fast);
    options.max_memory -= 1;
    const auto small = planned(m, options);
    EXPECT_STREQ(small->steps[0].kernel, c.small);
    EXPECT_LT(small->total_bytes(), options.max_memory);
  }
  if (!has_any) GTEST_SKIP() << "no such kernel here";
}

// AMX's tiles are preferred to Winograd's transformed weights for many channels, but not for fewer
// than 32 outputs.
TEST(Plan, TakesTilesForManyChannels) {
  if (!has(detected_isas(), Isa::kAmx)) GTEST_SKIP() << "no such kernel here";
  const struct {
    int64_t outputs;
    const char* kernel;
  } cases[] = {{64, "gemm_u8s8_32x32_k64_amx"}, {24, "winograd_u8s8_4x4_avx512vnni"}};
  for (const auto& c : cases) {
    ModelBuilder m;
    const uint32_t x = m.input({1, 56, 56, 64}), y = m.output({1, 56, 56, c.outputs});
    const auto outputs = static_cast<size_t>(c.outputs);
    const uint32_t w =
        m.gemm_weights({c.outputs, 3, 3, 64}, std::vector<int8_t>(outputs * 9 * 64, 1));
    fb::Conv2DOptionsT o;
    o.pad_top = o.pad_left = o.pad_bottom = o.pad_right = 1;
    o.weight_sum.assign(outputs, 576);
    o.requant = testing::requant_f32({0.01f});
    m.op(std::move(o), {x, w, m.bias(std::vector<int32_t>(outputs))}, {y});
    PlanOptions options;
    options.isas = capped(detected_isas(), Isa::kAmx);
    EXPECT_STREQ(planned(m, options)->steps[0].kernel, c.kernel) << c.outputs;
  }
}

// Groups of few channels are taken apart: a convolution of groups of 4 channels, packed as a
// converter leaves it, has four groups to a block.
TEST(Plan, TakesGroupsOfFewChannelsApart) {
  ModelBuilder m;
  const uint32_t x = m.input({1, 16, 16, 64}), y = m.output({1, 16, 16, 64});
  std::vector<int8_t> weights(64 * 9 * 16);
  for (size_t o = 0; o < 64; ++o)
    for (size_t tap = 0; tap < 9; ++tap)
      for (size_t i = 0; i < 4; ++i) weights[(o * 9 + tap) * 16 + o % 16 / 4 * 4 + i] = 1;
  fb::Conv2DOptionsT o;
  o.groups = 4;
  o.pad_top = o.pad_left = o.pad_bottom = o.pad_right = 1;
  o.weight_sum.assign(64, 36);
  o.requant = testing::requant_f32({0.01f});
  m.op(std::move(o),
       {x, m.gemm_weights({64, 3, 3, 16}, weights, 4), m.bias(std::vector<int32_t>(64))}, {y});
  if (!has(detected_isas(), Isa::kAvx2)) GTEST_SKIP() << "no such kernel here";
  PlanOptions options;
  options.isas = capped(detected_isas(), Isa::kAvx2);
  const auto apart = planned(m, options);
  EXPECT_STREQ(apart->steps[0].kernel, "grouped_u8s8_4_avx2");
  EXPECT_EQ(apart->steps[0].macs, 16u * 16 * 64 * 9 * 4);
}

// Checks that every set from AVX512-VNNI on takes this kernel for a convolution, and computes so many products:
// a set with a better gemm kernel keeps the kernels of other families. Integer builds have no rows of these.
void expect_kernel(ModelBuilder* m, const char* kernel, uint64_t macs) {
  if (is_integer_build() || !has(detected_isas(), Isa::kAvx512Vnni))
    GTEST_SKIP() << "no such kernel here";
  for (const Isa isa : {Isa::kAvx512Vnni, Isa::kAvx512Vbmi, Isa::kAmx}) {
    SCOPED_TRACE(isa_name(isa));
    PlanOptions options;
    options.isas = capped(detected_isas(), isa);
    const auto plan = planned(*m, options);
    EXPECT_STREQ(plan->steps[0].kernel, kernel);
    EXPECT_EQ(plan->steps[0].macs, macs);
  }
}

// Few outputs are computed pixel by pixel: the four phases of a transposed convolution, of four
// pixels each, with windows of 2x2 within 3x6.
TEST(Plan, TakesFewOutputsPixelByPixel) {
  ModelBuilder m;
  const uint32_t x = m.input({1, 32, 32, 16}), y = m.output({1, 32, 8, 16});
  std::vector<int8_t> weights(16 * 18 * 16);
  for (size_t o = 0; o < 16; ++o)
    for (size_t i = 0; i < 2 * 2 * 16; ++i) {
      const size_t ky = o % 4 / 2 + i / 32, kx = o / 4 + o % 2 + i / 16 % 2;
      weights[((o * 3 + ky) * 6 + kx) * 16 + i % 16] = 1;
    }
  fb::Conv2DOptionsT o;
  o.stride_w = 4;
  o.pad_top = o.pad_left = o.pad_bottom = o.pad_right = 1;
  o.weight_sum.assign(16, 64);
  o.requant = testing::requant_f32({0.01f});
  m.op(std::move(o), {x, m.gemm_weights({16, 3, 6, 16}, weights), m.bias(std::vector<int32_t>(16))},
       {y});
  expect_kernel(&m, "narrow_u8s8_4x64_avx512vnni", 32u * 32 * 4 * 4 * 16);
}

TEST(Plan, TakesFewInputsByRows) {
  ModelBuilder m;
  const uint32_t x = m.input({1, 32, 32, 3}), y = m.output({1, 16, 16, 24});
  const std::vector<int8_t> weights(24 * 27, 1);
  std::vector<int8_t> packed(gemm_packed_bytes(24, 3, 9));
  gemm_pack(weights.data(), 24, 3, 9, packed.data());
  fb::Conv2DOptionsT o;
  o.stride_h = o.stride_w = 2;
  o.pad_top = o.pad_left = o.pad_bottom = o.pad_right = 1;
  o.tap_layout = fb::TapLayout::ROW;
  o.weight_sum.assign(24, 27);
  o.requant = testing::requant_f32({0.01f});
  m.op(std::move(o),
       {x, m.packed({24, 3, 3, 3}, fb::Packing::GEMM, packed), m.bias(std::vector<int32_t>(24))},
       {y});
  expect_kernel(&m, "stem_u8s8_avx512vnni", 16u * 16 * 24 * 27);
}

}  // namespace
}  // namespace qrt::plan_test
