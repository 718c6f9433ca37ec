// SPDX-License-Identifier: Apache-2.0
// Tests the operators that a run skips because of a Choose: which they are; that skipped operators
// neither fail nor change anything, on every instruction set and thread count; that steps with
// different guards are not fused; and the state and the tensors that a caller sees.
#include "runtime/guards.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/support/every_op_model.h"
#include "tests/support/op_tester.h"
#include "tests/support/planned.h"

namespace qrt::guards_test {
namespace {

using testing::Bytes;
using testing::ModelBuilder;

// Builds models whose operators take bytes [4], and have one output each.
class Graph {
 public:
  ModelBuilder m;

  uint32_t choose(uint32_t condition, uint32_t a, uint32_t b) {
    return made(fb::ChooseOptionsT(), {condition, a, b}, {4});
  }
  uint32_t most(uint32_t a, uint32_t b) {
    fb::MinMaxOptionsT o;
    o.maximum = true;
    return made(o, {a, b}, {4});
  }
  // Adds a condition that is true where another condition is 0.
  uint32_t negated(uint32_t condition) {
    std::vector<uint8_t> table(256);
    table[0] = 1;
    fb::LutOptionsT o;
    o.table = m.buffer(table);
    return made(o, {condition}, {1});
  }
  // Adds a Take of rows of a table of 8 rows by 4 indices; an index outside the table ends the run.
  uint32_t taken(uint32_t indices) {
    fb::TakeOptionsT o;
    o.is_checked = true;
    const uint32_t table =
        m.constant<uint8_t>({8}, DType::kUInt8, {10, 11, 12, 13, 14, 15, 16, 17});
    return made(o, {table, indices}, {4});
  }
  size_t operators() const { return count_; }

 private:
  template <class Options>
  uint32_t made(Options o, std::vector<uint32_t> inputs, const Shape& shape) {
    const uint32_t y = m.tensor(shape);
    m.op(std::move(o), std::move(inputs), {y});
    ++count_;
    return y;
  }
  size_t count_ = 0;
};

// Returns for each operator whether its guard admits it when the first input holds `first` and all
// other tensors hold 0.
std::vector<bool> admitted(const Graph& g, uint8_t first) {
  const auto model = testing::verified(g.m);
  const Bytes zeros(64), one(64, first);
  std::vector<const uint8_t*> tensors(model->file().tensors()->size(), zeros.data());
  tensors[model->file().inputs()->Get(0)] = one.data();
  std::vector<bool> all;
  for (size_t i = 0; i < g.operators(); ++i)
    all.push_back(model->guards().admit(i, tensors.data()));
  return all;
}

TEST(Guards, FollowAllUsesOfAnOutput) {
  Graph g;
  const uint32_t c = g.m.input({1}), x = g.m.input({4});
  const uint32_t both = g.most(x, x);       // of both sides
  const uint32_t a = g.most(both, x);       // of a, in two choices of one condition
  const uint32_t of_a = g.most(a, x);       // of a
  const uint32_t b = g.most(both, x);       // of b
  const uint32_t output = g.most(x, x);     // of b and an output
  const uint32_t nothing = g.most(x, x);    // of nothing
  const uint32_t y = g.choose(c, of_a, b);  // 6
  const uint32_t z = g.choose(c, a, output);
  g.m.mark_output(y);
  g.m.mark_output(z);
  g.m.mark_output(output);
  (void)nothing;
  EXPECT_EQ(admitted(g, 9), (std::vector<bool>{true, true, true, false, true, true, true, true}));
  EXPECT_EQ(admitted(g, 0), (std::vector<bool>{true, false, false, true, true, true, true, true}));
}

TEST(Guards, OneInAnother) {
  Graph g;
  const uint32_t c = g.m.input({1}), x = g.m.input({4});
  const uint32_t inner = g.negated(c);  // 0: the condition of the inner choice, of a only
  const uint32_t deep = g.most(x, x);   // 1: of the inner a
  const uint32_t other = g.most(x, x);  // 2: of the inner b
  const uint32_t chosen = g.choose(inner, deep, other);  // 3
  g.m.mark_output(g.choose(c, chosen, g.most(x, x)));    // 4, 5
  // The inner condition holds 0.
  EXPECT_EQ(admitted(g, 1), (std::vector<bool>{true, false, true, true, false, true}));
  EXPECT_EQ(admitted(g, 0), (std::vector<bool>{false, false, false, false, true, true}));
}

TEST(Guards, DoNotCountConditionsThatAreComputedLater) {
  Graph g;
  const uint32_t c = g.m.input({1}), x = g.m.input({4});
  const uint32_t before = g.most(x, x);
  const uint32_t middle = g.negated(c);
  const uint32_t behind = g.most(before, x);
  g.m.mark_output(g.choose(middle, behind, x));
  EXPECT_EQ(admitted(g, 1), (std::vector<bool>{true, true, false, true}));
}

// The inner condition is computed before an operator, but the outer one after it.
TEST(Guards, DoNotCountWhatDependsOnALaterCondition) {
  Graph g;
  const uint32_t c = g.m.input({1}), x = g.m.input({4});
  const uint32_t early = g.most(x, x);
  const uint32_t outer = g.negated(c);
  const uint32_t late = g.most(early, x);
  g.m.mark_output(g.choose(outer, g.choose(c, late, x), x));
  EXPECT_EQ(admitted(g, 0), (std::vector<bool>{true, true, false, false, true}));
}

TEST(Guards, HaveALimitedDepth) {
  Graph g;
  const uint32_t c = g.m.input({1}), x = g.m.input({4});
  std::vector<uint32_t> conditions;
  for (int i = 0; i < 40; ++i) conditions.push_back(g.m.input({1}));
  uint32_t y = g.most(x, x);
  for (int i = 0; i < 40; ++i) y = g.choose(conditions[static_cast<size_t>(i)], x, y);
  g.m.mark_output(g.choose(c, y, x));
  std::vector<bool> expected(42, true);
  EXPECT_EQ(admitted(g, 1), expected);
  for (size_t i = 0; i < 41; ++i) expected[i] = false;
  EXPECT_EQ(admitted(g, 0), expected);
}

// Runs a model for conditions one after another in one session, on every instruction set, cut for several threads.
template <class F>
void for_all_sessions(const ModelBuilder& m, bool keep_all, const F& f) {
  const auto model = testing::verified(m);
  for (const testing::Kernels& kernels : testing::all_kernels())
    for (size_t threads = 1; threads <= 3; ++threads) {
      SCOPED_TRACE(std::string(kernels.isa != nullptr ? kernels.isa : kernels.provider) + " " +
                   std::to_string(threads));
      SessionOptions options;
      testing::set_threads(threads, &options);
      options.isa = kernels.isa;
      options.kernels = kernels.provider;
      options.keep_all = keep_all;
      auto session = Session::create(model, options);
      ASSERT_TRUE(session.ok()) << session.status().message();
      f(session->get());
    }
}

void set(Session* session, size_t input, const Bytes& bytes) {
  memcpy(session->model_tensor_data(session->plan().inputs[input]), bytes.data(), bytes.size());
}
Bytes output(Session* session, size_t i) {
  const ModelTensor& end = session->plan().outputs[i];
  const uint8_t* data = session->model_tensor_data(end);
  return Bytes(data, data + session->plan().slot_bytes(end.slot));
}
Bytes as_bytes(const std::vector<int32_t>& values) { return testing::bytes_of(values); }

// Side a takes rows by indices, side b does not.
TEST(Guards, IndicesOfTheOtherSideMayBeOutside) {
  Graph g;
  const uint32_t c = g.m.input({1}), ids = g.m.input({4}, DType::kInt32), x = g.m.input({4});
  const uint32_t a = g.most(g.taken(ids), x);
  const uint32_t b = g.most(x, x);
  g.m.mark_output(g.choose(c, a, b));
  for_all_sessions(g.m, false, [](Session* session) {
    set(session, 2, {1, 2, 3, 255});
    for (int round = 0; round < 2; ++round) {
      set(session, 0, {1});
      set(session, 1, as_bytes({0, 7, -8, 3}));
      ASSERT_TRUE(session->run().ok());
      EXPECT_EQ(output(session, 0), (Bytes{10, 17, 10, 255}));
      set(session, 1, as_bytes({0, 8, 1, 1}));
      EXPECT_EQ(session->run().code(), Code::kOutOfRange);
      set(session, 0, {0});
      ASSERT_TRUE(session->run().ok());
      EXPECT_EQ(output(session, 0), (Bytes{1, 2, 3, 255}));
    }
  });
}

// A tensor that a run did not compute reads as zeros, also after a run that computed it. A tensor
// in the memory of a Concat that the run skips keeps its content.
TEST(Guards, WhatARunLeavesOutIsZeros) {
  Graph g;
  const uint32_t c = g.m.input({1}), x = g.m.input({4}), z = g.m.input({4});
  const uint32_t always = g.most(x, z), only = g.most(always, z);
  const uint32_t both = g.m.tensor({8}), wide = g.m.tensor({8}), chosen = g.m.output({8});
  fb::ConcatOptionsT concat;
  g.m.op(concat, {always, z}, {both});
  g.m.op(concat, {only, only}, {wide});
  g.m.op(fb::ChooseOptionsT(), {c, both, wide}, {chosen});
  g.m.mark_output(g.most(always, always));
  for_all_sessions(g.m, true, [=](Session* session) {
    const auto content = [&](uint32_t t) {
      const uint8_t* data = session->data(t);
      return Bytes(data, data + session->plan().slot_bytes(t));
    };
    const Bytes most{5, 6, 7, 8};
    set(session, 1, {1, 6, 2, 8});
    set(session, 2, {5, 1, 7, 3});
    for (const bool truth : {true, false, true}) {
      set(session, 0, {truth});
      ASSERT_TRUE(session->run().ok());
      EXPECT_EQ(content(always), most);
      EXPECT_EQ(output(session, 1), most);
      EXPECT_EQ(content(only), truth ? Bytes(4) : most);
      EXPECT_EQ(content(wide), truth ? Bytes(8) : (Bytes{5, 6, 7, 8, 5, 6, 7, 8}));
      EXPECT_EQ(output(session, 0),
                truth ? (Bytes{5, 6, 7, 8, 5, 1, 7, 3}) : (Bytes{5, 6, 7, 8, 5, 6, 7, 8}));
    }
  });
}

// Each side updates the state in its own way.
TEST(Guards, SidesShareAState) {
  Graph g;
  const uint32_t c = g.m.input({1}), x = g.m.input({4}), state = g.m.tensor({4});
  fb::MinMaxOptionsT least;
  const uint32_t lower = g.m.tensor({4});
  g.m.op(least, {x, state}, {lower});
  const uint32_t next = g.choose(c, g.most(x, state), lower);
  g.m.variable(state, next, 3);
  g.m.mark_output(next);
  for_all_sessions(g.m, false, [](Session* session) {
    const auto step = [&](uint8_t truth, const Bytes& x) {
      set(session, 0, {truth});
      set(session, 1, x);
      EXPECT_TRUE(session->run().ok());
      return output(session, 0);
    };
    EXPECT_EQ(step(1, {1, 9, 3, 4}), (Bytes{3, 9, 3, 4}));
    EXPECT_EQ(step(0, {2, 5, 9, 9}), (Bytes{2, 5, 3, 4}));
    EXPECT_EQ(step(1, {1, 6, 1, 5}), (Bytes{2, 6, 3, 5}));
  });
}

// A table is fused to the product before it, unless a run may skip one of the two only.
TEST(Guards, StepsOfDifferentGuardsAreNotFused) {
  for (const bool is_late : {false, true}) {
    Graph g;
    const uint32_t c = g.m.input({1}), x = g.m.input({1, 1, 1, 4});
    const uint32_t early = is_late ? 0 : g.negated(c);
    const uint32_t product = g.m.tensor({1, 1, 1, 4}), mapped = g.m.tensor({1, 1, 1, 4});
    fb::Conv2DOptionsT conv;
    conv.requant = testing::requant_int(1 << 30, 31, 0);
    conv.weight_sum = {1, 1, 1, 1};
    std::vector<int8_t> identity(16);
    for (size_t i = 0; i < 4; ++i) identity[i * 5] = 1;
    g.m.op(std::move(conv), {x, g.m.gemm_weights({4, 1, 1, 4}, identity), g.m.bias({0, 0, 0, 0})},
           {product});
    const uint32_t condition = is_late ? g.negated(c) : early;
    fb::LutOptionsT lut;
    lut.table = g.m.buffer(testing::pattern<uint8_t>(256, 0, 255, 3));
    g.m.op(lut, {product}, {mapped});
    const uint32_t y = g.m.output({1, 1, 1, 4});
    g.m.op(fb::ChooseOptionsT(), {condition, mapped, x}, {y});
    const auto plan = testing::planned(g.m);
    EXPECT_EQ(plan->steps[2].leader == nullptr, is_late);
    for_all_sessions(g.m, false, [](Session* session) {
      set(session, 1, {8, 20, 100, 200});
      Bytes results[2];
      for (const uint8_t truth : {0, 1}) {
        set(session, 0, {truth});
        ASSERT_TRUE(session->run().ok());
        results[truth] = output(session, 0);
      }
      EXPECT_EQ(results[1], (Bytes{8, 20, 100, 200}));
      EXPECT_NE(results[0], results[1]);
    });
  }
}

}  // namespace
}  // namespace qrt::guards_test
