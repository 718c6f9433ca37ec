// SPDX-License-Identifier: Apache-2.0
// Recurrent against a definition of one scalar at a time: every cell and direction, lengths, initial states, peepholes, limits, odd
// sizes, weights of floats and of bytes; lengths that no sequence has; models it refuses.
#include <gtest/gtest.h>

#include <limits>

#include "tests/support/op_tester.h"
#include "tests/support/random.h"
#include "tests/support/recurrent_oracle.h"

namespace qrt::recurrent_test {
namespace {

using testing::bytes_of;
using testing::ModelBuilder;
using testing::recurrent::Case;
using testing::recurrent::Cell;
using testing::recurrent::Direction;
using testing::recurrent::Floats;
using testing::recurrent::kNan;
using testing::recurrent::Results;
using testing::recurrent::results_of;

// Adds the operator and its inputs; lengths and states are inputs of the model.
ModelBuilder model(const Case& c) {
  ModelBuilder m;
  const int64_t d = c.directions();
  const Shape state = {d, c.rows, c.cells};
  const auto constant = [&](const Shape& shape, const Floats& values) {
    return m.constant(shape, DType::kFloat32, values);
  };
  std::vector<uint32_t> inputs = {
      m.input({c.steps, c.rows, c.in}, DType::kFloat32), constant({d, c.in, c.width()}, c.w),
      constant({d, c.cells, c.width()}, c.r), constant({d, c.width()}, c.b)};
  if (!c.w_bytes.empty()) {
    const Shape scales = c.by_column ? Shape{d, c.width()} : Shape{d};
    inputs[1] = m.constant({d, c.in, c.width()}, DType::kUInt8, c.w_bytes);
    inputs[2] = m.constant({d, c.cells, c.width()}, DType::kUInt8, c.r_bytes);
    inputs.push_back(constant(scales, c.w_scale));
    inputs.push_back(constant(scales, c.r_scale));
  }
  if (c.options.resets_after) inputs.push_back(constant({d, c.cells}, c.reset_bias));
  if (c.options.has_peepholes) inputs.push_back(constant({d, 3 * c.cells}, c.peepholes));
  if (c.options.has_lengths) inputs.push_back(m.input({c.rows}, DType::kInt32, "lengths"));
  if (c.options.has_hidden) inputs.push_back(m.input(state, DType::kFloat32));
  if (c.options.has_content) inputs.push_back(m.input(state, DType::kFloat32));
  std::vector<uint32_t> outputs = {m.output({c.steps, d, c.rows, c.cells}, DType::kFloat32),
                                   m.output(state, DType::kFloat32)};
  if (c.options.cell == Cell::LSTM) outputs.push_back(m.output(state, DType::kFloat32));
  m.op(c.options, inputs, outputs);
  return m;
}

std::vector<testing::Bytes> inputs_of(const Case& c) {
  std::vector<testing::Bytes> inputs = {bytes_of(c.x)};
  if (c.options.has_lengths) inputs.push_back(bytes_of(c.lengths));
  if (c.options.has_hidden) inputs.push_back(bytes_of(c.hidden));
  if (c.options.has_content) inputs.push_back(bytes_of(c.content));
  return inputs;
}

void check(const Case& c) {
  const Results want = results_of(c);
  std::vector<testing::Bytes> outputs = {bytes_of(want.y), bytes_of(want.hidden)};
  if (c.options.cell == Cell::LSTM) outputs.push_back(bytes_of(want.content));
  testing::expect_outputs(model(c), 1, inputs_of(c), outputs);
}

Floats random_floats(testing::Random* random, int64_t n, float most) {
  Floats values(static_cast<size_t>(n));
  for (float& v : values) v = random->real(-most, most);
  return values;
}

// Returns a case of these sizes, whose options the caller may have set.
Case random_case(testing::Random* random, const fb::RecurrentOptionsT& options, int64_t steps,
                 int64_t rows, int64_t in, int64_t cells) {
  Case c;
  c.options = options;
  c.steps = steps, c.rows = rows, c.in = in, c.cells = cells;
  const int64_t d = c.directions();
  c.x = random_floats(random, steps * rows * in, 3);
  c.w = random_floats(random, d * in * c.width(), 1);
  c.r = random_floats(random, d * cells * c.width(), 1);
  c.b = random_floats(random, d * c.width(), 2);
  c.reset_bias = random_floats(random, d * cells, 2);
  c.peepholes = random_floats(random, d * 3 * cells, 1);
  c.hidden = random_floats(random, d * rows * cells, 1);
  c.content = random_floats(random, d * rows * cells, 2);
  if (options.has_lengths) c.lengths = testing::random_values<int32_t>(random, rows, 0, steps);
  return c;
}

TEST(Recurrent, EveryCellAndDirection) {
  testing::Random random;
  SCOPED_TRACE(random.trace());
  for (const Cell cell : {Cell::RNN, Cell::GRU, Cell::LSTM})
    for (const Direction direction :
         {Direction::FORWARD, Direction::REVERSE, Direction::BIDIRECTIONAL})
      for (int form = 0; form < 8; ++form) {
        SCOPED_TRACE(std::string(fb::EnumNameRecurrentCell(cell)) + " " +
                     fb::EnumNameRecurrentDirection(direction) + " " + std::to_string(form));
        fb::RecurrentOptionsT o;
        o.cell = cell;
        o.direction = direction;
        o.has_lengths = (form & 1) != 0;
        o.has_hidden = (form & 2) != 0;
        o.has_content = cell == Cell::LSTM && random.coin();
        o.has_peepholes = cell == Cell::LSTM && (form & 4) != 0;
        o.couples_forget = cell == Cell::LSTM && random.coin();
        o.resets_after = cell == Cell::GRU && (form & 4) != 0;
        o.is_relu = cell == Cell::RNN && (form & 4) != 0;
        o.nan_is_clip = random.coin();
        o.x_block = static_cast<uint32_t>(random.integer(1, 40));
        o.h_block = static_cast<uint32_t>(random.integer(1, 40));
        Case c = random_case(&random, o, random.integer(1, 7), random.integer(1, 9),
                             random.integer(1, 20), random.integer(1, 37));
        if (random.coin()) c.set_clip(1.5f);
        check(c);
      }
}

TEST(Recurrent, OneStepOfOneRowAsInAStream) {
  testing::Random random;
  for (const Cell cell : {Cell::RNN, Cell::GRU, Cell::LSTM}) {
    fb::RecurrentOptionsT o;
    o.cell = cell;
    o.has_hidden = true;
    o.has_content = cell == Cell::LSTM;
    check(random_case(&random, o, 1, 1, 33, 64));
  }
}

TEST(Recurrent, ManyTasks) {
  testing::Random random;
  fb::RecurrentOptionsT o;
  o.cell = Cell::LSTM;
  o.direction = Direction::BIDIRECTIONAL;
  check(random_case(&random, o, 40, 13, 40, 50));
}

// Makes the weights of a case bytes.
void set_bytes(testing::Random* random, bool by_column, Case* c) {
  const int64_t d = c->directions();
  c->by_column = by_column;
  c->w_bytes = testing::random_values<uint8_t>(random, d * c->in * c->width(), 0, 255);
  c->r_bytes = testing::random_values<uint8_t>(random, d * c->cells * c->width(), 0, 255);
  for (int64_t i = 0; i < d * (by_column ? c->width() : 1); ++i) {
    c->w_scale.push_back(random->real(0.001f, 0.01f));
    c->r_scale.push_back(random->real(0.001f, 0.01f));
  }
  for (int64_t i = 0; i < d; ++i) {
    c->options.w_zero_point.push_back(
        random->coin() ? 128 : static_cast<uint8_t>(random->integer(0, 255)));
    c->options.r_zero_point.push_back(
        random->coin() ? 128 : static_cast<uint8_t>(random->integer(0, 255)));
  }
}

TEST(Recurrent, WeightsOfBytes) {
  testing::Random random;
  SCOPED_TRACE(random.trace());
  for (const Direction direction :
       {Direction::FORWARD, Direction::REVERSE, Direction::BIDIRECTIONAL})
    for (int form = 0; form < 16; ++form) {
      SCOPED_TRACE(std::string(fb::EnumNameRecurrentDirection(direction)) + " " +
                   std::to_string(form));
      fb::RecurrentOptionsT o;
      o.cell = Cell::LSTM;
      o.direction = direction;
      o.has_lengths = (form & 1) != 0;
      o.has_hidden = (form & 2) != 0;
      o.has_content = random.coin();
      o.has_peepholes = (form & 4) != 0;
      o.couples_forget = random.coin();
      o.counts_ended = random.coin();
      Case c = random_case(&random, o, random.integer(1, 7), random.integer(1, 9),
                           random.integer(1, 70), random.integer(1, 37));
      set_bytes(&random, (form & 8) != 0, &c);
      check(c);
    }
}

TEST(Recurrent, NansBecomeTheLimitOrStay) {
  testing::Random random;
  for (const Cell cell : {Cell::RNN, Cell::GRU, Cell::LSTM})
    for (const bool nan_is_clip : {false, true}) {
      fb::RecurrentOptionsT o;
      o.cell = cell;
      o.nan_is_clip = nan_is_clip;
      Case c = random_case(&random, o, 3, 2, 5, 18);
      c.set_clip(std::numeric_limits<float>::max());
      c.x[7] = kNan;
      c.x[21] = std::numeric_limits<float>::infinity();
      check(c);
    }
}

TEST(Recurrent, RowsWithoutAStep) {
  testing::Random random;
  for (const Cell cell : {Cell::RNN, Cell::GRU, Cell::LSTM}) {
    fb::RecurrentOptionsT o;
    o.cell = cell;
    o.direction = Direction::BIDIRECTIONAL;
    o.has_lengths = o.has_hidden = true;
    Case c = random_case(&random, o, 4, 3, 5, 6);
    c.lengths = {0, 4, 0};
    check(c);
    c.lengths = {0, 0, 0};
    check(c);
  }
}

TEST(Recurrent, ALengthOutsideEndsTheRun) {
  testing::Random random;
  fb::RecurrentOptionsT o;
  o.cell = Cell::GRU;
  o.has_lengths = true;
  const Case c = random_case(&random, o, 4, 2, 3, 5);
  auto file = testing::load(model(c));
  ASSERT_TRUE(file.ok()) << file.status().message();
  auto session = Session::create(*file, SessionOptions());
  ASSERT_TRUE(session.ok());
  const auto run = [&](std::vector<int32_t> lengths) {
    const auto inputs = inputs_of(c);
    const Plan& plan = (*session)->plan();
    memcpy((*session)->data(plan.inputs[0].slot), inputs[0].data(), inputs[0].size());
    memcpy((*session)->data(plan.inputs[1].slot), lengths.data(), 2 * sizeof(int32_t));
    return (*session)->run();
  };
  EXPECT_TRUE(run({4, 0}).ok());
  const Status above = run({4, 5});
  EXPECT_EQ(above.code(), Code::kOutOfRange);
  EXPECT_EQ(std::string(above.message()).rfind("length 5 of 'lengths' is outside 0 to 4", 0), 0u)
      << above.message();
  EXPECT_EQ(run({-1, 0}).code(), Code::kOutOfRange);
  EXPECT_TRUE(run({1, 2}).ok()) << "a failure is of its run alone";
}

TEST(Recurrent, RejectsBadModels) {
  testing::Random random;
  const auto reject = [&](const fb::RecurrentOptionsT& o, const char* part, auto change) {
    Case c = random_case(&random, o, 2, 3, 4, 5);
    change(&c);
    testing::expect_rejected(model(c), part);
  };
  const auto nothing = [](Case*) {};
  fb::RecurrentOptionsT o;
  o.cell = Cell::GRU;
  o.has_content = true;
  reject(o, "are of LSTM, the cell is GRU", nothing);
  o = {};
  o.resets_after = true;
  reject(o, "resets_after is of GRU, the cell is RNN", nothing);
  o = {};
  o.cell = Cell::LSTM;
  o.is_relu = true;
  reject(o, "is_relu is of RNN, the cell is LSTM", nothing);
  o = {};
  reject(o, "clip is -1, expected at least 0", [](Case* c) { c->set_clip(-1); });
  reject(o, "clip is nan, expected at least 0", [](Case* c) { c->set_clip(kNan); });
  reject(o, "x_block is 0", [](Case* c) { c->options.x_block = 0; });
  reject(o, "h_block is 0", [](Case* c) { c->options.h_block = 0; });
  const auto bytes = [&](Cell cell, const char* part, auto change) {
    o = {};
    o.cell = cell;
    reject(o, part, [&](Case* c) {
      set_bytes(&random, false, c);
      change(c);
    });
  };
  bytes(Cell::GRU, "the weights are uint8, which are of LSTM, the cell is GRU", nothing);
  bytes(Cell::LSTM, "weights have 0 zero points, expected one for each direction",
        [](Case* c) { c->options.r_zero_point.clear(); });
  o = {};
  reject(o, "cell is 3, expected 0 to 2", [](Case* c) { c->options.cell = static_cast<Cell>(3); });
  reject(o, "direction is 3, expected 0 to 2",
         [](Case* c) { c->options.direction = static_cast<Direction>(3); });
}

}  // namespace
}  // namespace qrt::recurrent_test
