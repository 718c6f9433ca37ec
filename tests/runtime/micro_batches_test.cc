// SPDX-License-Identifier: Apache-2.0
// Batches in micro-batches: when a plan cuts one, and that nobody can tell from the outputs.
#include "runtime/micro_batches.h"

#include <gtest/gtest.h>

#include <utility>

#include "runtime/plan.h"
#include "tests/support/model_builder.h"
#include "tests/support/planned.h"
#include "tests/support/random.h"
#include "tests/support/runner.h"

namespace qrt::micro_batches_test {
namespace {

using testing::Bytes;
using testing::ModelBuilder;
using testing::planned;

// An image of 194 KB, no multiple of an alignment. A step on two images stays within the bytes of a
// slice (slices.cc).
const Shape kImages = {-1, 50, 125, 31};
constexpr size_t kImageBytes = 50 * 125 * 31;

fb::LutOptionsT table(ModelBuilder* m, int seed) {
  Bytes values(256);
  for (int i = 0; i < 256; ++i) values[static_cast<size_t>(i)] = static_cast<uint8_t>(i * 7 + seed);
  fb::LutOptionsT lut;
  lut.table = m->buffer(values);
  return lut;
}

size_t micro_batches_of(const ModelBuilder& m, size_t batch, size_t threads = 1,
                        bool keep_all = false) {
  PlanOptions options;
  options.batch = batch;
  options.threads = threads;
  options.keep_all = keep_all;
  return planned(m, options)->micro_batches;
}

// Runs of `batch` images together and of each by itself. REQUIRES: every tensor is a stack.
void expect_images_apart(const ModelBuilder& m, size_t batch, size_t inputs) {
  testing::Random random;
  SCOPED_TRACE(random.trace());
  const Bytes file = m.build();
  std::vector<Bytes> together(inputs, Bytes(batch * kImageBytes));
  for (Bytes& input : together) random.fill(input, 0, 255);
  for (const size_t threads : {1, 2}) {
    testing::RunOptions options;
    options.batch = batch;
    options.threads = threads;
    const testing::RunResult all = testing::run_model(file, together, options);
    ASSERT_EQ(all.status, QRT_OK) << all.message;
    for (size_t image = 0; image < batch; ++image) {
      std::vector<Bytes> one;
      for (const Bytes& input : together) {
        const auto begin = input.begin() + static_cast<ptrdiff_t>(image * kImageBytes);
        one.emplace_back(begin, begin + static_cast<ptrdiff_t>(kImageBytes));
      }
      options.batch = 1;
      const testing::RunResult expected = testing::run_model(file, one, options);
      ASSERT_EQ(expected.status, QRT_OK) << expected.message;
      for (size_t k = 0; k < all.outputs.size(); ++k) {
        const size_t bytes = expected.outputs[k].size();
        ASSERT_EQ(all.outputs[k].size(), batch * bytes);
        const auto begin = all.outputs[k].begin() + static_cast<ptrdiff_t>(image * bytes);
        ASSERT_EQ(Bytes(begin, begin + static_cast<ptrdiff_t>(bytes)), expected.outputs[k])
            << "output " << k << ", image " << image << ", threads " << threads;
      }
    }
  }
}

TEST(MicroBatches, GiveTheBytesOfTheImagesOneByOne) {
  ModelBuilder m;
  const uint32_t x = m.input(kImages), other = m.input(kImages);
  const uint32_t a = m.tensor(kImages), b = m.output(kImages), c = m.tensor(kImages);
  const uint32_t flat = m.tensor({-1, 50 * 125, 31}), turned = m.output({-1, 31, 50 * 125});
  m.op(table(&m, 3), {x}, {a});
  m.op(table(&m, 5), {a}, {b});  // an output that a later step reads
  fb::AddOptionsT add;
  add.a_scale = testing::float_bits(0.5f);
  add.b_scale = testing::float_bits(0.25f);
  m.op(std::move(add), {b, other}, {c});
  fb::ReshapeOptionsT reshape;
  reshape.shape = {-1, 50 * 125, 31};
  m.op(std::move(reshape), {c}, {flat});
  fb::TransposeOptionsT transpose;
  transpose.perm = {0, 2, 1};
  m.op(std::move(transpose), {flat}, {turned});
  m.mark_output(x);                       // a copy of an input
  m.mark_output(flat);                    // a view
  ASSERT_EQ(micro_batches_of(m, 6), 6u);  // Add has three tensors
  ASSERT_EQ(micro_batches_of(m, 6, 2), 2u);
  expect_images_apart(m, 6, 2);
}

ModelBuilder one_table() {
  ModelBuilder m;
  const uint32_t x = m.input(kImages), a = m.tensor(kImages), y = m.output(kImages);
  m.op(table(&m, 1), {x}, {a});
  m.op(table(&m, 2), {a}, {y});
  return m;
}

TEST(MicroBatches, HoldAsManyImagesAsTheCaches) {
  const ModelBuilder m = one_table();
  EXPECT_EQ(micro_batches_of(m, 1), 1u);
  EXPECT_EQ(micro_batches_of(m, 2), 1u);
  EXPECT_EQ(micro_batches_of(m, 3), 3u);  // no divisor but 1
  EXPECT_EQ(micro_batches_of(m, 8), 4u);
  EXPECT_EQ(micro_batches_of(m, 8, 2), 2u);
  EXPECT_EQ(micro_batches_of(m, 8, 1, /*keep_all=*/true), 1u);
  expect_images_apart(m, 3, 1);
}

// The traits alone tell whether an operator keeps images apart.
TEST(MicroBatches, FollowTheTraitsOfOperators) {
  ModelBuilder m;
  const uint32_t x = m.input(kImages), a = m.tensor(kImages), b = m.tensor(kImages);
  const uint32_t y = m.output(kImages);
  fb::GatherOptionsT upside_down;
  upside_down.axes.push_back(std::make_unique<fb::GatherAxisT>());
  upside_down.axes[0]->axis = 1;
  for (int32_t i = 50; i-- > 0;) upside_down.axes[0]->index.push_back(i);
  m.op(table(&m, 1), {x}, {a});
  m.op(std::move(upside_down), {a}, {b});
  m.op(fb::MinMaxOptionsT(), {a, b}, {y});
  ASSERT_EQ(micro_batches_of(m, 6), 6u);
  expect_images_apart(m, 6, 1);
}

TEST(MicroBatches, NeedMemoryForOneSliceBetweenTheSteps) {
  PlanOptions options;
  options.batch = 64;
  const auto plan = planned(one_table(), options);
  ASSERT_EQ(plan->micro_batches, 32u);
  ASSERT_LE(plan->arena_bytes, (2 * 64 + 2) * kImageBytes + 4096);
}

TEST(MicroBatches, AreNotMadeWhereConstantsWouldBeReadAgainAndAgain) {
  for (const int64_t outputs : {16, 2048}) {
    ModelBuilder m;
    const uint32_t x = m.input({-1, 4096}), a = m.tensor({-1, 4096}), y = m.output({-1, outputs});
    m.op(table(&m, 1), {x}, {a});
    fb::FullyConnectedOptionsT o;
    o.requant = testing::requant_f32({0.001f});
    o.weight_sum.assign(static_cast<size_t>(outputs), 0);
    const std::vector<int8_t> weights(static_cast<size_t>(4096 * outputs));
    m.op(std::move(o),
         {a, m.gemm_weights({outputs, 4096}, weights),
          m.bias(std::vector<int32_t>(static_cast<size_t>(outputs)))},
         {y});
    EXPECT_EQ(micro_batches_of(m, 1024) == 1, outputs == 2048) << outputs;
  }
}

}  // namespace
}  // namespace qrt::micro_batches_test
