// SPDX-License-Identifier: Apache-2.0
// Tensors that share memory: what a Concat puts together is written in place, micro-batches of neighbours
// are views, and nobody can tell from the bytes. Models are compared with the same ones in which
// every tensor is an output and so has memory of its own.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "runtime/plan.h"
#include "runtime/session.h"
#include "tests/support/every_op_model.h"
#include "tests/support/planned.h"
#include "tests/support/random.h"
#include "tests/support/runner.h"

namespace qrt::sharing_test {
namespace {

using testing::Bytes;
using testing::ModelBuilder;
using testing::planned;
using testing::verified;

std::shared_ptr<const Plan> planned(const ModelBuilder& m, size_t batch) {
  PlanOptions options;
  options.batch = batch;
  return planned(m, options);
}

// y = 7 x + seed
uint32_t table(ModelBuilder* m, uint32_t x, uint32_t y, int seed) {
  Bytes values(256);
  for (int i = 0; i < 256; ++i) values[static_cast<size_t>(i)] = static_cast<uint8_t>(i * 7 + seed);
  fb::LutOptionsT lut;
  lut.table = m->buffer(values);
  m->op(lut, {x}, {y});
  return y;
}

uint32_t concat(ModelBuilder* m, std::vector<uint32_t> parts, uint32_t y, uint32_t axis = 0) {
  fb::ConcatOptionsT o;
  o.axis = axis;
  m->op(o, std::move(parts), {y});
  return y;
}

uint32_t micro_batch(ModelBuilder* m, uint32_t x, uint32_t y, int axis, int begin, int end) {
  fb::GatherOptionsT o;
  o.axes.push_back(std::make_unique<fb::GatherAxisT>());
  o.axes[0]->axis = static_cast<uint8_t>(axis);
  for (int i = begin; i < end; ++i) o.axes[0]->index.push_back(i);
  m->op(std::move(o), {x}, {y});
  return y;
}

uint32_t reshape(ModelBuilder* m, uint32_t x, uint32_t y, std::vector<int32_t> shape) {
  fb::ReshapeOptionsT o;
  o.shape = std::move(shape);
  m->op(o, {x}, {y});
  return y;
}

std::string kernel_of(const Plan& plan, size_t step) { return plan.steps[step].kernel; }

bool is_at(const Plan& plan, uint32_t part, uint32_t whole, size_t offset) {
  return plan.places[part].offset == plan.places[whole].offset + offset;
}

// Expects the same bytes as with all tensors apart, on `isas` and 1 and 2 threads and, where the
// model has a batch, for 1 to 3 images.
void expect_same_bytes(const ModelBuilder& m,
                       const std::vector<const char*>& isas = testing::machine_isas()) {
  const auto model = verified(m);
  ModelBuilder copying;
  const Bytes file = m.build();
  fb::GetModel(file.data())->UnPackTo(&copying.model());
  const size_t outputs = copying.model().outputs.size();
  for (const auto& op : copying.model().operators)
    for (const uint32_t t : op->outputs) copying.mark_output(t);
  const Bytes apart = copying.build();
  testing::Random random;
  SCOPED_TRACE(random.trace());
  for (size_t batch = 1; batch <= (model->has_batch() ? 3 : 1); ++batch) {
    std::vector<Bytes> inputs;
    const auto plan = planned(m, batch);
    for (const uint32_t t : *model->file().inputs()) {
      inputs.emplace_back(plan->slot_bytes(t));
      random.fill(inputs.back(), 0, 255);
    }
    testing::RunOptions options;
    options.batch = batch;
    const testing::RunResult expected = testing::run_model(apart, inputs, options);
    ASSERT_EQ(expected.status, QRT_OK) << expected.message;
    for (const char* isa : isas) {
      for (const size_t threads : {1, 2}) {
        SCOPED_TRACE(std::string(isa ? isa : "best") + ", batch " + std::to_string(batch) +
                     ", threads " + std::to_string(threads));
        options.threads = threads;
        options.isa = isa;
        const testing::RunResult result = testing::run_model(file, inputs, options);
        ASSERT_EQ(result.status, QRT_OK) << result.message;
        for (size_t i = 0; i < outputs; ++i) ASSERT_EQ(result.outputs[i], expected.outputs[i]) << i;
      }
    }
  }
}

TEST(Sharing, PartsOfAConcatAreWrittenInPlace) {
  ModelBuilder m;
  const uint32_t x = m.input({-1, 30, 5});
  const uint32_t a = table(&m, x, m.tensor({-1, 30, 5}), 1);
  const uint32_t b = table(&m, x, m.tensor({-1, 30, 5}), 2);
  const uint32_t whole = concat(&m, {a, b, a}, m.output({-1, 90, 5}), 1);
  const uint32_t other = concat(&m, {b, x}, m.output({-1, 60, 5}), 1);
  const auto plan = planned(m);
  EXPECT_TRUE(is_at(*plan, a, whole, 0));
  EXPECT_TRUE(is_at(*plan, b, whole, 150));
  EXPECT_NE(plan->steps[2].run, nullptr);  // copies a, the second time
  EXPECT_NE(plan->steps[3].run, nullptr);
  EXPECT_FALSE(is_at(*plan, x, other, 150));
  EXPECT_FALSE(is_at(*planned(m, 2), a, whole, 0));
  expect_same_bytes(m);
}

TEST(Sharing, AConcatOfPartsInPlaceDoesNothing) {
  ModelBuilder m;
  const uint32_t x = m.input({-1, 8, 16});
  const uint32_t a = table(&m, x, m.tensor({-1, 8, 16}), 1);
  const uint32_t b = table(&m, x, m.tensor({-1, 8, 16}), 2);
  const uint32_t flat_a = reshape(&m, a, m.tensor({-1, 128}), {-1, 128});
  const uint32_t flat_b = reshape(&m, b, m.tensor({-1, 128}), {-1, 128});
  const uint32_t whole = concat(&m, {flat_a, flat_b}, m.tensor({-1, 256}), 1);
  table(&m, whole, m.output({-1, 256}), 3);
  table(&m, a, m.output({-1, 8, 16}), 4);  // reads a part
  const auto plan = planned(m);
  EXPECT_EQ(plan->steps[4].run, nullptr);
  EXPECT_EQ(kernel_of(*plan, 4), "in place");
  EXPECT_TRUE(is_at(*plan, b, whole, 128));
  EXPECT_TRUE(is_at(*plan, flat_b, whole, 128));
  expect_same_bytes(m);
}

TEST(Sharing, ConcatsOfConcatsAreInPlace) {
  ModelBuilder m;
  const uint32_t x = m.input({1, 70});
  const uint32_t a = table(&m, x, m.tensor({1, 70}), 1), b = table(&m, x, m.tensor({1, 70}), 2);
  const uint32_t inner = concat(&m, {a, b}, m.tensor({1, 140}), 1);
  const uint32_t alone = concat(&m, {inner}, m.tensor({1, 140}), 1);
  const uint32_t c = table(&m, x, m.tensor({1, 70}), 3);
  const uint32_t whole = concat(&m, {c, alone}, m.output({1, 210}), 1);
  const auto plan = planned(m);
  EXPECT_TRUE(is_at(*plan, c, whole, 0));
  EXPECT_TRUE(is_at(*plan, a, whole, 70));
  EXPECT_TRUE(is_at(*plan, b, whole, 140));
  for (const size_t step : {2, 3, 5}) EXPECT_EQ(kernel_of(*plan, step), "in place");
  expect_same_bytes(m);
}

// No step writes bytes that it over-reads, beside the part that it reads.
TEST(Sharing, NoStepWritesBesideThePartItReads) {
  ModelBuilder m;
  const uint32_t x = m.input({1, 70});
  const uint32_t a = table(&m, x, m.tensor({1, 70}), 1);
  const uint32_t b = table(&m, a, m.tensor({1, 70}), 2);
  const uint32_t whole = concat(&m, {a, b}, m.output({1, 140}), 1);
  const auto plan = planned(m);
  EXPECT_TRUE(is_at(*plan, a, whole, 0));
  EXPECT_FALSE(is_at(*plan, b, whole, 70));
  expect_same_bytes(m);
}

TEST(Sharing, OtherStepsMayReadAPart) {
  ModelBuilder m;
  const uint32_t x = m.input({1, 70});
  const uint32_t a = table(&m, x, m.tensor({1, 70}), 1), b = table(&m, x, m.tensor({1, 70}), 2);
  const uint32_t early = table(&m, a, m.output({1, 70}), 3);
  const uint32_t whole = concat(&m, {a, b}, m.tensor({1, 140}), 1);
  concat(&m, {a, early}, m.output({1, 140}), 1);
  table(&m, whole, m.output({1, 140}), 4);
  table(&m, b, m.output({1, 70}), 5);
  EXPECT_EQ(kernel_of(*planned(m), 3), "in place");
  EXPECT_NE(planned(m)->steps[4].run, nullptr);
  expect_same_bytes(m);
}

TEST(Sharing, WhatHasAPlaceOfItsOwnIsCopied) {
  ModelBuilder m;
  const uint32_t x = m.input({1, 9});
  const uint32_t constant = m.constant({1, 9}, DType::kUInt8, testing::pattern<uint8_t>(9, 1, 9));
  const uint32_t shape = reshape(&m, constant, m.tensor({1, 9}), {1, 9});
  const uint32_t state = m.tensor({1, 9}), next = table(&m, x, m.tensor({1, 9}), 1);
  m.variable(state, next, 77);
  const uint32_t out = table(&m, x, m.output({1, 9}), 2);
  const uint32_t hidden = table(&m, x, m.tensor({1, 9}), 3);
  const uint32_t shown = reshape(&m, hidden, m.output({9}), {9});
  const uint32_t late = table(&m, x, m.tensor({1, 9}), 4);
  const std::vector<uint32_t> parts = {x, constant, shape, state, next, out, hidden, late};
  const uint32_t whole = concat(&m, parts, m.output({1, 72}), 1);
  const uint32_t seen = reshape(&m, late, m.output({9}), {9});
  const auto plan = planned(m);
  for (size_t i = 0; i < 7; ++i) EXPECT_FALSE(is_at(*plan, parts[i], whole, i * 9)) << i;
  EXPECT_TRUE(is_at(*plan, late, whole, 63));
  EXPECT_EQ(kernel_of(*plan, 7), "copy");  // outputs are aligned
  for (const uint32_t t : {out, shown, seen, whole}) EXPECT_EQ(plan->places[t].offset % 64, 0u);
  expect_same_bytes(m);
}

TEST(Sharing, ASliceOfNeighboursIsAView) {
  ModelBuilder m;
  const uint32_t x = m.input({-1, 6, 4, 5});
  const uint32_t a = table(&m, x, m.tensor({-1, 6, 4, 5}), 1);
  const uint32_t middle = micro_batch(&m, a, m.tensor({-1, 3, 4, 5}), 1, 2, 5);
  const uint32_t row = micro_batch(&m, middle, m.tensor({-1, 1, 4, 5}), 1, 1, 2);
  const uint32_t tail = micro_batch(&m, row, m.tensor({-1, 1, 2, 5}), 2, 2, 4);
  const uint32_t columns = micro_batch(&m, a, m.tensor({-1, 6, 4, 2}), 3, 1, 3);
  const uint32_t of_input = micro_batch(&m, x, m.tensor({-1, 2, 4, 5}), 1, 3, 5);
  const uint32_t result = micro_batch(&m, a, m.output({-1, 4, 4, 5}), 1, 0, 4);
  table(&m, tail, m.output({-1, 1, 2, 5}), 2);
  table(&m, columns, m.output({-1, 6, 4, 2}), 3);
  table(&m, of_input, m.output({-1, 2, 4, 5}), 4);
  table(&m, middle, m.output({-1, 3, 4, 5}), 5);
  const auto plan = planned(m);
  EXPECT_TRUE(is_at(*plan, middle, a, 40));
  EXPECT_TRUE(is_at(*plan, row, a, 60));
  EXPECT_TRUE(is_at(*plan, tail, a, 70));
  EXPECT_TRUE(is_at(*plan, of_input, x, 60));
  for (const size_t step : {1, 2, 3, 5}) EXPECT_EQ(kernel_of(*plan, step), "view");
  EXPECT_EQ(kernel_of(*plan, 4), "gather");
  EXPECT_EQ(kernel_of(*plan, 6), "gather");
  EXPECT_NE(plan->places[result].offset, plan->places[a].offset);
  const auto two = planned(m, 2);
  for (const size_t step : {1, 2, 3, 5}) EXPECT_EQ(kernel_of(*two, step), "gather");
  expect_same_bytes(m);
}

TEST(Sharing, OtherMapsAreNoViews) {
  const auto kernel = [](const std::vector<int>& index) {
    ModelBuilder m;
    const uint32_t x = m.input({1, 6, 5});
    fb::GatherOptionsT o;
    o.axes.push_back(std::make_unique<fb::GatherAxisT>());
    o.axes[0]->axis = 1;
    o.axes[0]->index.assign(index.begin(), index.end());
    const Shape shape{1, static_cast<int64_t>(index.size()), 5};
    const uint32_t y = m.tensor(shape);
    m.op(std::move(o), {x}, {y});
    table(&m, y, m.output(shape), 1);
    expect_same_bytes(m);
    return kernel_of(*planned(m), 0);
  };
  EXPECT_EQ(kernel({1, 2, 3}), "view");
  EXPECT_EQ(kernel({5}), "view");
  for (const std::vector<int>& index :
       std::vector<std::vector<int>>{{-1}, {-1, 0, 1}, {4, 5, -1}, {0, 2}, {2, 1}, {3, 3}})
    EXPECT_EQ(kernel(index), "gather");
}

TEST(Sharing, ASliceOfAConstantReadsTheFile) {
  ModelBuilder m;
  const uint32_t x = m.input({2, 4});
  const uint32_t constant = m.constant({4, 4}, DType::kUInt8, testing::pattern<uint8_t>(16, 1, 99));
  const uint32_t rows = micro_batch(&m, constant, m.tensor({2, 4}), 0, 1, 3);
  concat(&m, {rows, x}, m.output({4, 4}));
  EXPECT_EQ(kernel_of(*planned(m), 0), "view");
  expect_same_bytes(m);
}

TEST(Sharing, APartLivesAsLongAsWhatViewsTheWhole) {
  ModelBuilder m;
  const uint32_t x = m.input({1, 640});
  const uint32_t a = table(&m, x, m.tensor({1, 640}), 1), b = table(&m, x, m.tensor({1, 640}), 2);
  const uint32_t whole = concat(&m, {a, b}, m.tensor({1, 1280}), 1);
  const uint32_t view = micro_batch(&m, whole, m.tensor({1, 640}), 1, 320, 960);
  uint32_t last = x;
  for (int i = 0; i < 4; ++i) last = table(&m, last, m.tensor({1, 640}), i);
  concat(&m, {last, view}, m.output({1, 1280}), 1);
  expect_same_bytes(m);
}

// Returns a convolution that keeps height and width, of `groups` times 8 channels.
uint32_t convolve(ModelBuilder* m, uint32_t x, uint32_t y, int kernel = 1, size_t groups = 1) {
  testing::Random random;
  const int64_t in = m->at(x).shape[3] / static_cast<int64_t>(groups), out = m->at(y).shape[3];
  const size_t terms = static_cast<size_t>(kernel * kernel * in),
               channels = static_cast<size_t>(out);
  std::vector<int8_t> weights(channels * terms);
  random.fill(weights, -128, 127);
  fb::Conv2DOptionsT o;
  o.groups = static_cast<uint16_t>(groups);
  o.pad_top = o.pad_left = o.pad_bottom = o.pad_right = static_cast<uint16_t>(kernel / 2);
  o.weight_sum.assign(channels, 0);
  for (size_t k = 0; k < weights.size(); ++k) o.weight_sum[k / terms] += weights[k];
  o.requant = testing::requant_f32({0.004f}, 120);
  m->op(std::move(o),
        {x, m->gemm_weights({out, kernel, kernel, in}, weights, groups),
         m->bias(std::vector<int32_t>(channels, 100))},
        {y});
  return y;
}

// A fused step changes in place a part that its leader has begun.
TEST(Sharing, AFusedPairWritesAPart) {
  ModelBuilder m;
  const uint32_t x = m.input({-1, 9, 9, 8}), other = m.input({-1, 9, 9, 24});
  std::vector<uint32_t> sums;
  for (int i = 0; i < 2; ++i) {
    const uint32_t product = convolve(&m, x, m.tensor({-1, 9, 9, 24}));
    fb::AddOptionsT add;
    add.a_scale = testing::float_bits(0.4375f);
    add.b_scale = testing::float_bits(0.61f);
    sums.push_back(m.tensor({-1, 9, 9, 24}));
    m.op(std::move(add), {product, other}, {sums.back()});
  }
  const uint32_t whole = concat(&m, sums, m.output({-1, 18, 9, 24}), 1);
  const auto plan = planned(m);
  EXPECT_EQ(plan->steps[3].leader, &plan->steps[2]);
  EXPECT_TRUE(is_at(*plan, plan->steps[2].outputs[0], whole, 9 * 9 * 24));
  EXPECT_EQ(kernel_of(*plan, 4), "in place");
  expect_same_bytes(m);
}

TEST(Sharing, ConvolutionsWriteTheirChannelsBesideEachOther) {
  for (const int64_t channels : {1, 8, 35, 64, 130}) {
    ModelBuilder m;
    const uint32_t x = m.input({-1, 7, 6, 8});
    const uint32_t a = convolve(&m, x, m.tensor({-1, 7, 6, channels}));
    const uint32_t b = convolve(&m, x, m.tensor({-1, 7, 6, 16}), 3);
    const uint32_t c = convolve(&m, x, m.tensor({-1, 7, 6, 8}), 3, 2);
    const uint32_t whole = concat(&m, {a, b, c}, m.output({-1, 7, 6, channels + 24}), 3);
    for (const size_t batch : {1, 3}) {
      const auto plan = planned(m, batch);
      EXPECT_TRUE(is_at(*plan, b, whole, static_cast<size_t>(channels)));
      EXPECT_EQ(plan->steps[1].output_pitch, static_cast<size_t>(channels + 24));
      EXPECT_EQ(kernel_of(*plan, 3), "in place");
    }
    expect_same_bytes(m);
  }
}

// A densely connected block copies nothing: every layer reads all channels so far, which stand in
// the output of the last Concat.
TEST(Sharing, ADenselyConnectedBlockCopiesNothing) {
  ModelBuilder m;
  const uint32_t x = m.input({-1, 9, 11, 5});
  std::vector<uint32_t> all = {convolve(&m, x, m.tensor({-1, 9, 11, 12}))};
  for (int64_t channels = 12; channels < 33; channels += 7) {
    const Shape grown = {-1, 9, 11, channels + 7};
    const uint32_t narrow = convolve(&m, all.back(), m.tensor({-1, 9, 11, 20}), 3);
    const uint32_t more = convolve(&m, narrow, m.tensor({-1, 9, 11, 7}), 3);
    all.push_back(concat(&m, {all.back(), more}, m.tensor(grown), 3));
  }
  convolve(&m, all.back(), m.output({-1, 9, 11, 17}));
  const auto plan = planned(m);
  for (const PlannedStep& step : plan->steps)
    EXPECT_TRUE(step.parts.empty() || step.kernel == std::string("in place"));
  for (const uint32_t t : all) EXPECT_TRUE(is_at(*plan, t, all.back(), 0));
  EXPECT_EQ(plan->steps[1].input_pitches[0], 33u);
  expect_same_bytes(m);
}

TEST(Sharing, ASplitOfChannelsIsViewsForConvolutions) {
  ModelBuilder m;
  const uint32_t x = m.input({-1, 6, 5, 8});
  const uint32_t y = convolve(&m, x, m.tensor({-1, 6, 5, 30}));
  const uint32_t a = micro_batch(&m, y, m.tensor({-1, 6, 5, 13}), 3, 0, 13);
  const uint32_t b = micro_batch(&m, y, m.tensor({-1, 6, 5, 17}), 3, 13, 30);
  const uint32_t c = convolve(&m, b, m.tensor({-1, 6, 5, 9}), 3);
  concat(&m, {a, b, c, b}, m.output({-1, 6, 5, 56}), 3);
  for (const size_t batch : {1, 2}) {
    const auto plan = planned(m, batch);
    EXPECT_EQ(kernel_of(*plan, 1), "view");
    EXPECT_EQ(kernel_of(*plan, 2), "view");
    EXPECT_TRUE(is_at(*plan, b, y, 13));
    EXPECT_EQ(plan->steps[3].input_pitches[0], 30u);
    EXPECT_EQ(plan->steps[3].output_pitch, 56u);
    EXPECT_NE(plan->steps[4].run, nullptr);
    EXPECT_EQ(plan->steps[4].input_pitches, (PlanVector<size_t>{30, 30, 56, 30}));
  }
  expect_same_bytes(m);
}

// A view may be rows of channels within one index of another axis.
TEST(Sharing, ASliceOfEveryRowMayFixAnIndex) {
  ModelBuilder m;
  const uint32_t x = m.input({-1, 6, 1, 24});
  const uint32_t y = convolve(&m, x, m.tensor({-1, 6, 1, 24}));
  const uint32_t deep = reshape(&m, y, m.tensor({-1, 6, 1, 3, 8}), {-1, 6, 1, 3, 8});
  fb::GatherOptionsT o;
  for (const auto& [axis, index] :
       std::vector<std::pair<int, std::vector<int>>>{{3, {1}}, {4, {2, 3, 4, 5}}}) {
    o.axes.push_back(std::make_unique<fb::GatherAxisT>());
    o.axes.back()->axis = static_cast<uint8_t>(axis);
    o.axes.back()->index.assign(index.begin(), index.end());
  }
  const uint32_t part = m.tensor({-1, 6, 1, 1, 4});
  m.op(std::move(o), {deep}, {part});
  const uint32_t all = micro_batch(&m, deep, m.tensor({-1, 6, 1, 3, 1}), 4, 3, 4);
  concat(&m, {part, part}, m.output({-1, 6, 1, 1, 8}), 4);
  concat(&m, {all, all}, m.output({-1, 6, 1, 3, 2}), 4);
  const auto plan = planned(m);
  EXPECT_EQ(kernel_of(*plan, 2), "view");
  EXPECT_TRUE(is_at(*plan, part, y, 10));
  EXPECT_EQ(plan->steps[4].input_pitches, (PlanVector<size_t>{24, 24}));
  EXPECT_EQ(kernel_of(*plan, 3), "view");
  EXPECT_EQ(plan->steps[5].input_pitches, (PlanVector<size_t>{8, 8}));
  expect_same_bytes(m);
}

TEST(Sharing, AFusedTableLeavesLongRowsApart) {
  ModelBuilder m;
  const uint32_t x = m.input({-1, 20, 17, 8});
  std::vector<uint32_t> parts;
  for (const int64_t channels : {65, 130, 5, 64}) {
    const Shape shape = {-1, 20, 17, channels};
    const uint32_t y = convolve(&m, x, m.tensor(shape), parts.size() == 1 ? 3 : 1);
    parts.push_back(table(&m, y, m.tensor(shape), 1));
  }
  const uint32_t whole = concat(&m, parts, m.output({-1, 20, 17, 264}), 3);
  for (const size_t batch : {1, 2}) {
    const auto plan = planned(m, batch);
    EXPECT_TRUE(is_at(*plan, parts[3], whole, 200));
    EXPECT_TRUE(is_at(*plan, plan->steps[2].outputs[0], whole, 65));
    EXPECT_EQ(plan->steps[2].output_pitch, 264u);
    EXPECT_EQ(plan->steps[4].output_pitch, 0u);  // short rows
  }
  expect_same_bytes(m);
}

TEST(Sharing, RowsStayTogetherForThoseWhoNeedThemSo) {
  ModelBuilder m;
  const Shape shape = {-1, 5, 5, 8};
  const uint32_t x = m.input(shape);
  const uint32_t looked_up = convolve(&m, x, m.tensor(shape), 3);
  const uint32_t written = table(&m, x, m.tensor(shape), 1);
  const uint32_t shown = convolve(&m, x, m.output(shape), 3);
  const uint32_t viewed = convolve(&m, x, m.tensor(shape), 3);
  const uint32_t flat = reshape(&m, viewed, m.tensor({-1, 25, 8}), {-1, 25, 8});
  const uint32_t sliced = convolve(&m, x, m.tensor(shape), 3);
  const uint32_t high = micro_batch(&m, sliced, m.tensor({-1, 2, 5, 8}), 1, 0, 2);
  const uint32_t free = convolve(&m, x, m.tensor(shape), 3);
  const std::vector<uint32_t> parts = {looked_up, written, shown, viewed, sliced, free};
  const uint32_t whole = concat(&m, parts, m.tensor({-1, 5, 5, 48}), 3);
  table(&m, looked_up, m.output(shape), 2);
  table(&m, flat, m.output({-1, 25, 8}), 2);
  table(&m, high, m.output({-1, 2, 5, 8}), 2);
  table(&m, whole, m.output({-1, 5, 5, 48}), 2);
  const auto plan = planned(m);
  for (size_t i = 0; i < parts.size(); ++i)
    EXPECT_EQ(is_at(*plan, parts[i], whole, i * 8), parts[i] == free) << i;
  expect_same_bytes(m);
}

// Dumps hold whole tensors.
TEST(Sharing, RowsStayTogetherWhereEveryTensorIsKept) {
  ModelBuilder m;
  const uint32_t x = m.input({1, 5, 5, 8});
  const uint32_t a = convolve(&m, x, m.tensor({1, 5, 5, 8}));
  const uint32_t b = convolve(&m, x, m.tensor({1, 5, 5, 8}), 3);
  concat(&m, {a, b}, m.output({1, 5, 5, 16}), 3);
  PlanOptions options;
  options.keep_all = true;
  const auto plan = *make_plan(verified(m), options);
  EXPECT_EQ(plan->steps[0].output_pitch, 0u);
  EXPECT_NE(plan->steps[2].run, nullptr);
}

// One image a micro-batch: its parts stand in the output of the whole batch, which moves on.
TEST(Sharing, PartsMoveOnWithTheSlicesOfABatch) {
  ModelBuilder m;
  const Shape image = {-1, 50, 125, 62};
  const uint32_t x = m.input(image);
  const uint32_t a = table(&m, x, m.tensor(image), 1), b = table(&m, x, m.tensor(image), 2);
  const uint32_t whole = concat(&m, {a, b}, m.output({-1, 100, 125, 62}), 1);
  const auto plan = planned(m, 3);
  ASSERT_EQ(plan->micro_batches, 3u);
  EXPECT_EQ(kernel_of(*plan, 2), "in place");
  EXPECT_TRUE(is_at(*plan, b, whole, 50 * 125 * 62));
  expect_same_bytes(m);
}

TEST(Sharing, ElementsOfSeveralBytesKeepTheirAlignment) {
  for (const DType dtype : {DType::kInt16, DType::kFloat32, DType::kInt64}) {
    ModelBuilder m;
    const uint32_t x = m.input({1, 3, 7}, dtype);
    const uint32_t a = micro_batch(&m, x, m.tensor({1, 3, 5}, dtype), 2, 1, 6);
    const uint32_t b = micro_batch(&m, x, m.tensor({1, 3, 5}, dtype), 2, 2, 7);
    const uint32_t whole = concat(&m, {a, b}, m.tensor({1, 6, 5}, dtype), 1);
    const uint32_t row = micro_batch(&m, whole, m.tensor({1, 1, 5}, dtype), 1, 3, 4);
    micro_batch(&m, row, m.output({1, 1, 2}, dtype), 2, 3, 5);
    const auto plan = planned(m);
    EXPECT_TRUE(is_at(*plan, b, whole, 15 * dtype_bytes(dtype)));
    EXPECT_TRUE(is_at(*plan, row, whole, 15 * dtype_bytes(dtype)));
    expect_same_bytes(m);
  }
}

// Joins one to four results of any() side by side in tensor(their size).
template <class Any, class NewTensor>
void concat_some(ModelBuilder* m, testing::Random* random, const Any& any, const NewTensor& tensor,
                 int axis) {
  std::vector<uint32_t> parts;
  int64_t sum = 0;
  for (int64_t count = random->integer(1, 4); count > 0; --count) {
    const auto [part, n] = any();
    parts.push_back(part);
    sum += n;
  }
  concat(m, std::move(parts), tensor(sum), axis);
}

// Graphs of tables, micro-batches, reshapes and concatenations of whatever there is so far.
TEST(Sharing, AnyGraphGivesTheBytesOfItsCopies) {
  testing::Random random;
  for (int round = 0; round < 15; ++round) {
    ModelBuilder m;
    std::vector<std::pair<uint32_t, int64_t>> made = {{m.input({-1, 40}), 40}};
    const auto any = [&] {
      return made[static_cast<size_t>(random.integer(0, static_cast<int64_t>(made.size()) - 1))];
    };
    for (int i = 0; i < 14; ++i) {
      const auto [x, size] = any();
      // Every fourth tensor is an output.
      const auto tensor = [&](int64_t n) {
        made.push_back({random.integer(0, 3) == 0 ? m.output({-1, n}) : m.tensor({-1, n}), n});
        return made.back().first;
      };
      switch (random.integer(0, 4)) {
        case 0: table(&m, x, tensor(size), i); break;
        case 1: reshape(&m, x, tensor(size), {-1, static_cast<int32_t>(size)}); break;
        case 2: {
          const int begin = static_cast<int>(random.integer(0, size - 1));
          const int end = static_cast<int>(random.integer(begin + 1, size));
          micro_batch(&m, x, tensor(end - begin), 1, begin, end);
          break;
        }
        default: concat_some(&m, &random, any, tensor, 1);
      }
    }
    const auto [last, size] = made.back();
    table(&m, last, m.output({-1, size}), 0);
    expect_same_bytes(m, {nullptr});
    if (HasFatalFailure()) FAIL() << "round " << round << ", " << random.trace();
  }
}

// Convolutions, tables, micro-batches and concatenations of channels of whatever there is so far.
TEST(Sharing, AnyGraphOfChannelsGivesTheBytesOfItsCopies) {
  testing::Random random;
  for (int round = 0; round < 10; ++round) {
    ModelBuilder m;
    std::vector<std::pair<uint32_t, int64_t>> made = {{m.input({-1, 3, 5, 10}), 10}};
    const auto any = [&] {
      return made[static_cast<size_t>(random.integer(0, static_cast<int64_t>(made.size()) - 1))];
    };
    for (int i = 0; i < 14; ++i) {
      const auto [x, size] = any();
      const auto tensor = [&](int64_t n) {
        const Shape shape = {-1, 3, 5, n};
        made.push_back({random.integer(0, 9) == 0 ? m.output(shape) : m.tensor(shape), n});
        return made.back().first;
      };
      switch (random.integer(0, 6)) {
        case 0: table(&m, x, tensor(size), i); break;
        case 1: {
          const int begin = static_cast<int>(random.integer(0, size - 1));
          const int end = static_cast<int>(random.integer(begin + 1, size));
          micro_batch(&m, x, tensor(end - begin), 3, begin, end);
          break;
        }
        case 2:
        case 3:
        case 4: convolve(&m, x, tensor(random.integer(1, 40)), random.coin() ? 3 : 1); break;
        default: concat_some(&m, &random, any, tensor, 3);
      }
    }
    const auto [last, size] = made.back();
    convolve(&m, last, m.output({-1, 3, 5, 9}));
    expect_same_bytes(m, {nullptr});
    if (HasFatalFailure()) FAIL() << "round " << round << ", " << random.trace();
  }
}

// No step writes behind its output, where it would damage the next part.
TEST(Sharing, NoStepWritesBehindItsOutputs) {
  const auto model = verified(testing::every_op_model());
  for (const char* isa : testing::machine_isas()) {
    for (const size_t batch : {1, 3}) {
      SessionOptions options;
      options.isa = isa;
      options.batch = batch;
      options.keep_all = true;
      Result<std::unique_ptr<Session>> session = Session::create(model, options);
      ASSERT_TRUE(session.ok()) << session.status().message();
      const Plan& plan = (*session)->plan();
      const auto for_slack = [&](const auto& f) {
        for (const PlannedStep& step : plan.steps) {
          if (step.run == nullptr) continue;
          for (const uint32_t t : step.outputs) f(step, (*session)->data(t) + plan.slot_bytes(t));
        }
      };
      for_slack([](const PlannedStep&, uint8_t* end) { memset(end, 0xA5, kSlack); });
      EXPECT_TRUE((*session)->run().ok());
      for_slack([&](const PlannedStep& step, const uint8_t* end) {
        for (size_t i = 0; i < kSlack; ++i)
          ASSERT_EQ(end[i], 0xA5) << isa << ", batch " << batch << ", " << step.kernel << ", " << i;
      });
    }
  }
}

}  // namespace
}  // namespace qrt::sharing_test
