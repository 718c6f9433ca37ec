// SPDX-License-Identifier: Apache-2.0
// Loops as a whole: files that break their rules; the memory of tensors that live from one iteration to the next, with views,
// concatenations and fused steps around; what a Choose leaves out; open trips; cancelling; time, in profiles and as a limit.
#include "runtime/loops.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/support/every_op_model.h"
#include "tests/support/loop_model.h"
#include "tests/support/op_tester.h"
#include "tests/support/planned.h"
#include "tests/support/random.h"

namespace qrt::loops_test {
namespace {

using testing::Bytes;
using testing::loop_options;
using testing::MaximumLoop;
using testing::ModelBuilder;
using Begin = fb::LoopBeginOptionsT;
using EndOptions = fb::LoopEndOptionsT;

uint32_t most(ModelBuilder* m, uint32_t a, uint32_t b, const Shape& shape, bool least = false) {
  const uint32_t y = m->tensor(shape);
  fb::MinMaxOptionsT o;
  o.maximum = !least;
  m->op(o, {a, b}, {y});
  return y;
}

TEST(Loops, AreFound) {
  const MaximumLoop loop(3);
  const auto loops = find_loops(testing::verified(loop.m)->file());
  ASSERT_EQ(loops.size(), 1u);
  EXPECT_EQ(loops[0].begin, 0u);
  EXPECT_EQ(loops[0].end, 2u);
}

TEST(Loops, RejectsFilesThatBreakTheRules) {
  using Damage = void (*)(MaximumLoop * loop);
  const auto reject = [](const char* part, Damage damage) {
    MaximumLoop loop(3);
    damage(&loop);
    testing::expect_rejected(loop.m, part);
  };
  reject("a loop has no LoopEnd", [](MaximumLoop* l) {
    l->m.model().operators.pop_back();
    l->m.model().outputs = {l->next};
  });
  reject("no LoopBegin stands before it", [](MaximumLoop* l) {
    const uint32_t iteration = l->m.constant<int64_t>({1}, DType::kInt64, {0});
    l->m.model().operators.erase(l->m.model().operators.begin(),
                                 l->m.model().operators.begin() + 2);
    l->m.model().operators[0]->inputs = {iteration, l->first, l->first};
  });
  reject("its first input is not the iteration of its LoopBegin", [](MaximumLoop* l) {
    l->m.model().operators[2]->inputs[0] = l->m.constant<int64_t>({1}, DType::kInt64, {0});
  });
  reject("it stands in the body of another loop", [](MaximumLoop* l) {
    auto& ops = l->m.model().operators;
    l->m.op(loop_options<Begin>(1, {}), {l->first},
            {l->m.tensor({1}, DType::kInt64), l->m.tensor({4})});
    std::rotate(ops.begin() + 1, ops.end() - 1, ops.end());
  });
  reject("it has 0 states, its LoopBegin 1",
         [](MaximumLoop* l) { l->m.model().operators[2]->options.AsLoopEnd()->states = 0; });
  reject("input tensor 5 ('t5') is made in the body of a loop",
         [](MaximumLoop* l) { l->m.mark_output(most(&l->m, l->next, l->last, {4})); });
  reject("is made in the body of a loop",
         [](MaximumLoop* l) { l->m.mark_output(most(&l->m, l->slice, l->last, {4})); });
  reject("model output tensor 3 ('t3') is made in the body of a loop",
         [](MaximumLoop* l) { l->m.mark_output(l->state); });
  reject("next content of a variable",
         [](MaximumLoop* l) { l->m.variable(l->m.tensor({4}), l->next); });
  // The body of a second loop reads what the first one's made.
  reject("is made in the body of a loop", [](MaximumLoop* l) {
    const uint32_t iteration = l->m.tensor({1}, DType::kInt64), state = l->m.tensor({4});
    l->m.op(loop_options<Begin>(1, {}), {l->last}, {iteration, state});
    l->m.op(loop_options<EndOptions>(1, {}, 2), {iteration, l->next}, {l->m.output({4})});
  });
}

TEST(Loops, HaveALimitedTime) {
  ModelBuilder m;
  const uint32_t iteration = m.tensor({1}, DType::kInt64);
  m.op(loop_options<Begin>(1, {}), {m.input({4})}, {iteration, m.tensor({4})});
  const uint32_t state = m.model().operators[0]->outputs[1];
  m.op(loop_options<EndOptions>(1, {}, INT32_MAX), {iteration, state}, {m.output({4})});
  testing::expect_rejected(m, "the operators of loops would read and write more than");
  m.model().operators[1]->options.AsLoopEnd()->trips = 8000000;
  EXPECT_TRUE(testing::load(m).ok());
  // Two loops share the limit.
  const uint32_t second = m.tensor({1}, DType::kInt64), other = m.tensor({4});
  m.op(loop_options<Begin>(1, {}), {m.model().inputs[0]}, {second, other});
  m.op(loop_options<EndOptions>(1, {}, 1), {second, other}, {m.output({4})});
  EXPECT_TRUE(testing::load(m).ok());
  m.model().operators[3]->options.AsLoopEnd()->trips = 8000000;
  testing::expect_rejected(m, "the operators of loops would read and write more than");
}

// Returns the model's outputs as bytes after a run of each input, on every instruction set and number of threads: the same.
void expect(const ModelBuilder& m, const std::vector<Bytes>& inputs,
            const std::vector<Bytes>& outputs) {
  testing::expect_outputs(m, 1, inputs, outputs);
}

// A tensor that an iteration reads from outside keeps its content, although the body's tensors come and go: one computed before the loop
// and read in it, first by one operator, then by none behind it.
TEST(Loops, OuterTensorsKeepTheirContent) {
  ModelBuilder m;
  const uint32_t x = m.input({8}), sequence = m.input({5, 8}), first = m.input({8});
  const uint32_t outer = most(&m, x, first, {8});
  const uint32_t iteration = m.tensor({1}, DType::kInt64), state = m.tensor({8}),
                 slice = m.tensor({8});
  m.op(loop_options<Begin>(1, {{0}}), {first, sequence}, {iteration, state, slice});
  const uint32_t limited = most(&m, slice, outer, {8}, true);
  uint32_t y = limited;
  for (int i = 0; i < 6; ++i) y = most(&m, most(&m, y, state, {8}), slice, {8}, true);
  const uint32_t next = most(&m, y, state, {8});
  m.op(loop_options<EndOptions>(1, {{0}}, 5), {iteration, next, limited},
       {m.output({8}), m.output({5, 8})});
  testing::Random random;
  SCOPED_TRACE(random.trace());
  Bytes a(8), s(40), f(8);
  for (Bytes* bytes : {&a, &s, &f}) random.fill(*bytes, 0, 255);
  Bytes now = f, all;
  for (size_t t = 0; t < 5; ++t)
    for (size_t i = 0; i < 8; ++i) {
      const uint8_t part = s[8 * t + i], low = std::min(part, std::max(a[i], f[i]));
      uint8_t v = low;
      for (int k = 0; k < 6; ++k) v = std::min(std::max(v, now[i]), part);
      all.push_back(low);
      now[i] = std::max(v, now[i]);
    }
  expect(m, {a, s, f}, {now, all});
}

// Concatenations write their parts where they stand: a part from outside is written once, the state's by each iteration.
TEST(Loops, PartsOfConcatenations) {
  ModelBuilder m;
  const uint32_t x = m.input({1, 4}), first = m.input({1, 4});
  const uint32_t outer = most(&m, x, first, {1, 4});
  const uint32_t iteration = m.tensor({1}, DType::kInt64), state = m.tensor({1, 4});
  m.op(loop_options<Begin>(1, {}), {first}, {iteration, state});
  const uint32_t made = most(&m, state, x, {1, 4}, true), both = m.tensor({3, 4});
  m.op(fb::ConcatOptionsT(), {outer, state, made}, {both});
  fb::ReduceOptionsT sum;
  const uint32_t column = m.tensor({1, 4}, DType::kInt32);
  sum.axis = 0;
  m.op(sum, {both}, {column});
  const uint32_t next = most(&m, state, x, {1, 4});
  m.op(loop_options<EndOptions>(1, {{0}, {2}}, 4), {iteration, next, both, column},
       {m.output({1, 4}), m.output({4, 3, 4}), m.output({1, 4, 4}, DType::kInt32)});
  const Bytes a = {9, 2, 30, 4}, f = {1, 20, 3, 40};
  Bytes now = f, all;
  std::vector<int32_t> sums(16);
  for (size_t t = 0; t < 4; ++t) {
    for (int row = 0; row < 3; ++row)
      for (size_t i = 0; i < 4; ++i)
        all.push_back(row == 0 ? std::max(a[i], f[i]) : row == 1 ? now[i] : std::min(now[i], a[i]));
    for (size_t i = 0; i < 4; ++i) {
      sums[4 * i + t] = std::max(a[i], f[i]) + now[i] + std::min(now[i], a[i]);
      now[i] = std::max(now[i], a[i]);
    }
  }
  m.at(m.model().outputs[2]).shape = {1, 4, 4};
  expect(m, {a, f}, {now, all, testing::bytes_of(sums)});
}

// The outputs of a loop are parts of a concatenation, views and the next content of a variable.
TEST(Loops, OutputsStandInOthers) {
  MaximumLoop loop(3);
  ModelBuilder& m = loop.m;
  const uint32_t flat = m.tensor({12}), whole = m.output({20});
  fb::ReshapeOptionsT reshape;
  reshape.shape = {12};
  m.op(reshape, {loop.y}, {flat});
  m.op(fb::ConcatOptionsT(), {loop.last, flat, loop.first}, {whole});
  const uint32_t state = m.tensor({4}), next = most(&m, state, loop.last, {4});
  m.variable(state, next, 5);
  m.mark_output(next);
  m.model().outputs = {whole, next};
  const Bytes f = {1, 9, 1, 1}, x = {2, 2, 2, 2, 7, 3, 3, 3, 1, 1, 8, 1};
  const Bytes y = {2, 9, 2, 2, 7, 9, 3, 3, 7, 9, 8, 3};
  Bytes all = {7, 9, 8, 3};
  all.insert(all.end(), y.begin(), y.end());
  all.insert(all.end(), f.begin(), f.end());
  expect(m, {f, x}, {all, {7, 9, 8, 5}});
}

// A variable passes through a loop.
TEST(Loops, VariablesAreStates) {
  ModelBuilder m;
  const uint32_t x = m.input({2, 4}), variable = m.tensor({4}),
                 iteration = m.tensor({1}, DType::kInt64), state = m.tensor({4}),
                 slice = m.tensor({4});
  m.op(loop_options<Begin>(1, {{0}}), {variable, x}, {iteration, state, slice});
  const uint32_t next = most(&m, state, slice, {4}), last = m.tensor({4});
  m.op(loop_options<EndOptions>(1, {}, 2), {iteration, next}, {last});
  m.variable(variable, last, 3);
  m.mark_output(last);
  const auto model = testing::verified(m);
  for (const bool keep_all : {false, true}) {
    SessionOptions options;
    options.keep_all = keep_all;
    auto session = Session::create(model, options);
    ASSERT_TRUE(session.ok());
    const auto step = [&](const Bytes& bytes) {
      const Plan& plan = (*session)->plan();
      memcpy((*session)->model_tensor_data(plan.inputs[0]), bytes.data(), bytes.size());
      EXPECT_TRUE((*session)->run().ok());
      const uint8_t* data = (*session)->model_tensor_data(plan.outputs[0]);
      return Bytes(data, data + 4);
    };
    EXPECT_EQ(step({1, 5, 2, 2, 4, 1, 1, 1}), (Bytes{4, 5, 3, 3}));
    EXPECT_EQ(step({0, 0, 9, 0, 0, 0, 0, 6}), (Bytes{4, 5, 9, 6}));
    (*session)->reset();
    EXPECT_EQ(step({0, 0, 9, 0, 0, 0, 0, 6}), (Bytes{3, 3, 9, 6}));
  }
}

// A step in front of a loop does not take over one in its body, nor does one in a loop one behind it.
TEST(Loops, AreNotFusedAcrossTheirEnds) {
  for (const bool is_in_body : {false, true}) {
    ModelBuilder m;
    const uint32_t x = m.input({1, 1, 1, 4}), product = m.tensor({1, 1, 1, 4}),
                   mapped = m.tensor({1, 1, 1, 4}), iteration = m.tensor({1}, DType::kInt64);
    const auto add_product = [&] {
      fb::Conv2DOptionsT conv;
      conv.requant = testing::requant_int(1 << 30, 31, 0);
      conv.weight_sum = {1, 1, 1, 1};
      std::vector<int8_t> identity(16);
      for (size_t i = 0; i < 4; ++i) identity[i * 5] = 1;
      m.op(std::move(conv), {x, m.gemm_weights({4, 1, 1, 4}, identity), m.bias({0, 0, 0, 0})},
           {product});
    };
    if (!is_in_body) add_product();
    const uint32_t state = m.tensor({1, 1, 1, 4});
    m.op(loop_options<Begin>(1, {}), {x}, {iteration, state});
    if (is_in_body) add_product();
    fb::LutOptionsT lut;
    lut.table = m.buffer(testing::pattern<uint8_t>(256, 0, 255, 3));
    m.op(lut, {product}, {mapped});
    m.op(loop_options<EndOptions>(1, {{0}}, 3), {iteration, state, mapped},
         {m.output({1, 1, 1, 4}), m.output({3, 1, 1, 1, 4})});
    const auto plan = testing::planned(m);
    EXPECT_EQ(plan->steps[2].leader != nullptr, is_in_body);
    const Bytes table = testing::pattern<uint8_t>(256, 0, 255, 3);
    Bytes all;
    for (int t = 0; t < 3; ++t)
      for (const size_t v : {4, 10, 50, 100}) all.push_back(table[v]);
    expect(m, {{8, 20, 100, 200}}, {{8, 20, 100, 200}, all});
  }
}

// Loops on the side of a Choose that is not taken do not run; those in whose body a Choose stands decide in each iteration.
TEST(Loops, ChoicesAroundAndWithin) {
  MaximumLoop loop(3);
  ModelBuilder& m = loop.m;
  const uint32_t c = m.input({1}), chosen = m.tensor({4});
  m.op(fb::ChooseOptionsT(), {c, loop.last, loop.first}, {chosen});
  m.model().outputs = {chosen};
  const auto model = testing::verified(m);
  const auto& guards = model->guards();
  for (size_t i = 1; i < 3; ++i) EXPECT_EQ(guards.of(i), guards.of(0));
  EXPECT_NE(guards.of(0), Guards::kAlways);
  const Bytes f = {1, 9, 1, 1}, x = {2, 2, 2, 2, 7, 3, 3, 3, 1, 1, 8, 1};
  expect(m, {f, x, {1}}, {{7, 9, 8, 3}});
  expect(m, {f, x, {0}}, {f});

  ModelBuilder inner;
  const uint32_t flags = inner.input({4, 1}), first = inner.input({4}), other = inner.input({4});
  const uint32_t iteration = inner.tensor({1}, DType::kInt64), state = inner.tensor({4}),
                 flag = inner.tensor({1}), next = inner.tensor({4});
  inner.op(loop_options<Begin>(1, {{0}}), {first, flags}, {iteration, state, flag});
  const uint32_t up = most(&inner, state, other, {4}), down = most(&inner, state, other, {4}, true);
  inner.op(fb::ChooseOptionsT(), {flag, up, down}, {next});
  inner.op(loop_options<EndOptions>(1, {{0}}, 4), {iteration, next, next},
           {inner.output({4}), inner.output({4, 4})});
  expect(inner, {{0, 1, 1, 0}, {1, 9, 4, 4}, {5, 5, 3, 6}},
         {{5, 5, 3, 6}, {1, 5, 3, 4, 5, 5, 3, 6, 5, 5, 3, 6, 5, 5, 3, 6}});
}

// A run is cancelled in an iteration; the next one begins anew.
TEST(Loops, AreCancelledInAnIteration) {
  const MaximumLoop loop(1000);
  SessionOptions options;
  static Session* cancelled = nullptr;
  static int calls_left;
  options.threads = 2;
  options.parallel = [](void*, void (*task)(void*, size_t), void* argument, size_t count) {
    if (calls_left-- == 0) cancelled->cancel();
    while (count-- > 0) task(argument, count);
  };
  const auto model = testing::verified(loop.m);
  auto session = Session::create(model, options);
  ASSERT_TRUE(session.ok());
  cancelled = session->get();
  const Plan& plan = cancelled->plan();
  const auto run = [&] {
    Bytes x(4000);
    for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<uint8_t>(i % 251);
    memcpy(cancelled->model_tensor_data(plan.inputs[0]), x.data(), 4);
    memcpy(cancelled->model_tensor_data(plan.inputs[1]), x.data(), x.size());
    return cancelled->run();
  };
  calls_left = -1;
  ASSERT_TRUE(run().ok());
  const uint8_t* y = cancelled->model_tensor_data(plan.outputs[1]);
  const Bytes expected(y, y + 4000);
  cancelled->cancel();
  EXPECT_EQ(run().code(), Code::kCancelled);
  ASSERT_TRUE(run().ok());
  EXPECT_TRUE(std::equal(expected.begin(), expected.end(), y));
}

TEST(Loops, CountTheirTime) {
  const MaximumLoop loop(7);
  SessionOptions options;
  options.profile = true;
  auto session = Session::create(testing::verified(loop.m), options);
  ASSERT_TRUE(session.ok());
  ASSERT_TRUE((*session)->run().ok());
  const Profile& profile = *(*session)->profile();
  EXPECT_EQ(profile.runs(), 1u);
  for (size_t i = 0; i < 3; ++i) EXPECT_GT(profile.total_ns(i), 0u);
}

// The trips of a symbol's size.
TEST(Loops, HaveOpenTrips) {
  MaximumLoop loop(3);
  ModelBuilder& m = loop.m;
  m.model().version = 2;
  auto symbol = std::make_unique<fb::SymbolT>();
  symbol->name = "time";
  symbol->value = 3;
  symbol->least = 0;
  m.model().symbols.push_back(std::move(symbol));
  const auto size = [](fb::SizeFunction function, int32_t value) {
    fb::SizeT s;
    s.functions = {function};
    s.values = {value};
    return s;
  };
  const auto dimension = [&](bool is_open) {
    return std::make_unique<fb::SizeT>(is_open ? size(fb::SizeFunction::SYMBOL, 0)
                                               : size(fb::SizeFunction::CONSTANT, 4));
  };
  for (const uint32_t t : {loop.x, loop.y})
    for (const bool is_open : {true, false}) m.at(t).sizes.push_back(dimension(is_open));
  auto rule = std::make_unique<fb::SizeRuleT>();
  rule->field = fb::SizeField::TRIPS;
  rule->size = dimension(true);
  m.model().operators[2]->sizes.push_back(std::move(rule));
  const auto model = testing::verified(m);
  for (const int64_t time : {1, 2, 3, 8}) {
    SessionOptions options;
    options.sizes = {time};
    auto session = Session::create(model, options);
    ASSERT_TRUE(session.ok()) << session.status().message();
    const Plan& plan = (*session)->plan();
    EXPECT_EQ(plan.loops[0].trips, static_cast<uint32_t>(time));
    const Bytes f = {3, 0, 0, 0};
    Bytes x, y, state = f;
    for (int64_t t = 0; t < time; ++t)
      for (size_t i = 0; i < 4; ++i) {
        x.push_back(static_cast<uint8_t>((7 * t + 3 * static_cast<int64_t>(i)) % 11));
        y.push_back(state[i] = std::max(state[i], x.back()));
      }
    memcpy((*session)->model_tensor_data(plan.inputs[0]), f.data(), 4);
    memcpy((*session)->model_tensor_data(plan.inputs[1]), x.data(), x.size());
    ASSERT_TRUE((*session)->run().ok());
    const uint8_t *last = (*session)->model_tensor_data(plan.outputs[0]),
                  *all = (*session)->model_tensor_data(plan.outputs[1]);
    EXPECT_EQ(Bytes(last, last + 4), state);
    EXPECT_EQ(Bytes(all, all + y.size()), y);
  }
  SessionOptions options;
  options.sizes = {0};
  auto none = Session::create(model, options);
  ASSERT_FALSE(none.ok());
  EXPECT_NE(std::string(none.status().message()).find("empty"), std::string::npos)
      << none.status().message();
  // The rule gives another number than the sequence's length.
  m.model().operators[2]->sizes[0]->size->functions = {fb::SizeFunction::CONSTANT};
  m.model().operators[2]->sizes[0]->size->values = {3};
  const auto wrong = testing::verified(m);
  options.sizes = {4};
  auto refused = Session::create(wrong, options);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(std::string(refused.status().message()).find("3 trips"), std::string::npos)
      << refused.status().message();
}

}  // namespace
}  // namespace qrt::loops_test
