// SPDX-License-Identifier: Apache-2.0
// Loop and Scan whose number of steps follows from an open dimension: one file has, at each size, the results of as many steps written one
// behind the other by hand.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "tests/support/onnx_loop.h"
#include "tests/support/open_model.h"

namespace qrt::testing::onnx_open_loops_test {
namespace {

using namespace onnx_loop;  // NOLINT(google-build-using-namespace)
using open_model::convert_whole;

// Returns the case with another number of steps.
Case with_steps(Case c, int64_t steps) {
  for (Scanned& s : c.scanned) {
    const auto rank = static_cast<int64_t>(s.dims.size());
    s.dims[static_cast<size_t>(s.axis < 0 ? s.axis + rank : s.axis)] = steps;
  }
  c.steps = steps;
  return c;
}

void open_time(const Case& c, OnnxBuilder* b) {
  for (size_t i = 0; i < c.scanned.size(); ++i) {
    const int64_t axis = c.scanned[i].axis;
    const auto rank = static_cast<int64_t>(c.scanned[i].dims.size());
    open_dimension(b, static_cast<int>(c.states.size() + i),
                   static_cast<int>(axis < 0 ? axis + rank : axis), "time");
  }
}

size_t count_nodes(const convert::Graph& graph, fb::OpOptions type) {
  return static_cast<size_t>(
      std::count_if(graph.nodes.begin(), graph.nodes.end(),
                    [=](const convert::Node& n) { return n.options.type == type; }));
}

// Converts a model, for rows of the support table too, and expects it to have so many loops.
Bytes file_of(const OnnxBuilder& b, size_t loops = 1) {
  convert::Graph graph;
  const Bytes file = convert_whole(b, &graph);
  record_support(b.model, b.import().report);
  EXPECT_EQ(count_nodes(graph, fb::OpOptions::LoopBegin), loops);
  EXPECT_EQ(count_nodes(graph, fb::OpOptions::LoopEnd), loops);
  return file;
}

std::vector<Bytes> run_at(const Bytes& file, int64_t time, const std::vector<Bytes>& inputs,
                          size_t threads = 1) {
  RunOptions options;
  options.threads = threads;
  options.dims = {{"time", time}};
  const RunResult result = run_model(file, inputs, options);
  EXPECT_EQ(result.status, QRT_OK) << result.message;
  return result.outputs;
}

void expect_same_at_sizes(const Case& c, unsigned seed = 1) {
  OnnxBuilder b = looped(c);
  open_time(c, &b);
  const Bytes file = file_of(b);
  for (const int64_t time : {1, 2, 3, 5, 33}) {
    const Case at = with_steps(c, time);
    const std::vector<Bytes> inputs = numbers_for(at, seed);
    const std::vector<Bytes> by_hand = unrolled(at).run(inputs);
    for (const size_t threads : {1, 3})
      EXPECT_EQ(run_at(file, time, inputs, threads), by_hand) << time;
  }
}

TEST(OnnxOpenScan, RunningSumsAlongEachAxisAndInBothDirections) {
  for (const int64_t opset : {9, 13, 21})
    for (const int64_t axis : {0, 1, 2, -1})
      for (const bool is_reversed : {false, true}) {
        Case c;
        c.opset = opset;
        c.step = running_sum;
        c.scanned = {{{2, 3, 4}, axis, is_reversed}};
        c.states = {without(c.scanned[0].dims, axis)};
        c.stacked = {{axis < 0 ? -2 : 2 - axis, axis == 1}};
        c.steps = c.scanned[0].dims[static_cast<size_t>(axis < 0 ? 2 : axis)];
        expect_same_at_sizes(c);
      }
}

TEST(OnnxOpenScan, ACellWithWeightsInTheBody) {
  Case c;
  c.step = cell;
  c.states = {{1, 4}};
  c.scanned = {{{6, 1, 3}, 0, false}};
  c.stacked = {{}};
  c.steps = 6;
  expect_same_at_sizes(c);
}

// Bodies of random operators, states and directions.
TEST(OnnxOpenScan, RandomBodies) {
  for (unsigned seed = 0; seed < 25; ++seed) {
    std::mt19937 random(seed);
    const auto below = [&](int64_t n) {
      return static_cast<int64_t>(random() % static_cast<uint64_t>(n));
    };
    Case c;
    c.opset = below(2) != 0 ? 17 : 11;
    c.steps = 4;
    const auto states = static_cast<size_t>(1 + below(3)), stacked = static_cast<size_t>(below(3)),
               scanned = static_cast<size_t>(1 + below(2));
    for (size_t i = 0; i < states; ++i) c.states.push_back({2, 3});
    for (size_t i = 0; i < scanned; ++i) {
      Scanned s{{2, 3}, below(3), below(2) != 0};
      s.dims.insert(s.dims.begin() + s.axis, c.steps);
      c.scanned.push_back(s);
    }
    for (size_t i = 0; i < stacked; ++i) c.stacked.push_back({below(3), below(2) != 0});
    const auto own = static_cast<unsigned>(random());
    c.step = [=](Scope* s, const Names& in) -> Names {
      std::mt19937 dice(own);
      Names known = in;
      const auto any = [&] { return known[dice() % known.size()]; };
      for (int i = 0; i < 5; ++i) {
        const char* const ops[] = {"Add", "Sub", "Mul", "Max", "Min", "Neg", "Tanh", "Concat"};
        const std::string op = ops[dice() % 8];
        if (op == "Neg" || op == "Tanh") {
          known.push_back(s->add(op, {any()}));
        } else if (op == "Concat") {
          const std::string both = s->add("Concat", {any(), any()}, {{"axis", int64_t{1}}});
          std::vector<float> weights(18);
          for (size_t w = 0; w < weights.size(); ++w)
            weights[w] = static_cast<float>(w * 5 % 7) / 4 - 0.75f;
          known.push_back(s->add("MatMul", {both, s->constant<float>({6, 3}, weights)}));
        } else {
          known.push_back(s->add(op, {any(), dice() % 4 == 0 ? s->number(0.25f) : any()}));
        }
      }
      Names out;
      for (size_t i = 0; i < states; ++i) out.push_back(s->add("Tanh", {any()}));
      for (size_t i = 0; i < stacked; ++i) out.push_back(any());
      return out;
    };
    SCOPED_TRACE(seed);
    expect_same_at_sizes(c, seed);
  }
}

// A Loop over the rows of a sequence, [time, 3], with the length's half, rounded up, or all of it as its trip count. y is [trips, 3].
struct RowLoop {
  explicit RowLoop(bool is_half, bool has_condition = true) {
    Case c;
    c.step = [](Scope* s, const Names& in) -> Names {
      const std::string row = s->add("Gather", {"sequence", in[0]}, {{"axis", int64_t{0}}});
      const std::string number = s->add("Cast", {in[0]}, {{"to", int64_t{kFloatType}}});
      const std::string sum = s->add("Add", {s->add("Mul", {row, number}), in[1]});
      return {sum, s->add("Sub", {sum, row})};
    };
    c.states = {{3}};
    c.stacked = {{}};
    c.steps = 4;
    c.has_condition = has_condition;
    b = looped(c);
    OnnxBuilder::declare(b.graph().add_input(), "sequence", kFloatType, {4, 3});
    open_dimension(&b, 1, 0, "time");
    const std::string shape = b.node("Shape", {"sequence"});
    std::string trips = b.node("Gather", {shape, b.scalar<int64_t>(0)});
    if (is_half)
      trips = b.node("Div", {b.node("Add", {trips, b.scalar<int64_t>(1)}), b.scalar<int64_t>(2)});
    b.graph().mutable_node(0)->set_input(0, trips);
  }
  OnnxBuilder b{17};
};

TEST(OnnxOpenLoop, TripsFollowFromALength) {
  for (const bool is_half : {false, true})
    for (const bool has_condition : {true, false}) {
      const Bytes file = file_of(RowLoop(is_half, has_condition).b);
      for (const int64_t time : {1, 2, 7, 40}) {
        std::vector<float> state = {0.5f, -1, 2}, rows(static_cast<size_t>(3 * time)), y;
        for (size_t i = 0; i < rows.size(); ++i)
          rows[i] = static_cast<float>(i * 7 % 13) / 8 - 0.5f;
        const std::vector<Bytes> inputs = {to_bytes(state), to_bytes(rows)};
        const int64_t trips = is_half ? (time + 1) / 2 : time;
        for (int64_t t = 0; t < trips; ++t)
          for (size_t i = 0; i < 3; ++i) {
            const float row = rows[static_cast<size_t>(t) * 3 + i];
            state[i] += row * static_cast<float>(t);
            y.push_back(state[i] - row);
          }
        EXPECT_EQ(run_at(file, time, inputs), (std::vector<Bytes>{to_bytes(state), to_bytes(y)}));
      }
    }
}

TEST(OnnxOpenLoop, WithoutStates) {
  Case c;
  c.step = [](Scope* s, const Names& in) -> Names {
    return {s->add("Gather", {"sequence", in[0]}, {{"axis", int64_t{0}}}),
            s->add("Identity", {in[0]})};
  };
  c.stacked = {{}, {}};
  c.steps = 4;
  OnnxBuilder b = looped(c);
  OnnxBuilder::declare(b.graph().add_input(), "sequence", kFloatType, {4, 2});
  open_dimension(&b, 0, 0, "time");
  const std::string shape = b.node("Shape", {"sequence"});
  b.graph().mutable_node(0)->set_input(0, b.node("Gather", {shape, b.scalar<int64_t>(0)}));
  const Bytes file = file_of(b);
  for (const int64_t time : {1, 3}) {
    std::vector<float> rows(static_cast<size_t>(2 * time), 0.25f);
    std::vector<int64_t> numbers;
    for (int64_t t = 0; t < time; ++t) rows[static_cast<size_t>(2 * t)] = static_cast<float>(t);
    for (int64_t t = 0; t < time; ++t) numbers.push_back(t);
    EXPECT_EQ(run_at(file, time, {to_bytes(rows)}),
              (std::vector<Bytes>{to_bytes(rows), to_bytes(numbers)}));
  }
}

// A constant number of steps within an open one is unrolled; an open one within it is refused.
TEST(OnnxOpenLoop, LoopsInOneAnother) {
  for (const bool is_open : {false, true}) {
    Case c = sum_of_rows(4);
    c.step = [=](Scope* s, const Names& in) -> Names {
      const std::string loop = s->add("Loop", {});
      onnx::NodeProto* n = s->graph->mutable_node(s->graph->node_size() - 1);
      if (is_open) {
        const std::string shape = s->add("Shape", {"x"});
        n = s->graph->mutable_node(s->graph->node_size() - 2);
        n->add_input(s->add("Gather", {shape, s->constant<int64_t>({}, {0})}));
        n = s->graph->mutable_node(s->graph->node_size() - 3);
      } else {
        n->add_input(s->constant<int64_t>({}, {3}));
      }
      n->add_input("");
      n->add_input(in[0]);
      Case inner;
      inner.step = [in](Scope* scope, const Names& own) -> Names {
        return {scope->add("Add", {own[1], in[1]})};
      };
      inner.states = {{1, 3}};
      onnx::GraphProto* body = add_body(n);
      fill_body(inner, body, "inner");
      return {loop, s->add("Identity", {loop})};
    };
    OnnxBuilder b = looped(c);
    open_time(c, &b);
    b.graph().mutable_input(1)->set_name("x");
    b.graph().mutable_node(0)->set_input(1, "x");
    if (is_open) {
      const Imported imported = b.import();
      EXPECT_EQ(imported.status.code(), Code::kUnsupported);
      EXPECT_NE(imported.rule().find("it stands in the body of another loop"), std::string::npos)
          << imported.rule();
      continue;
    }
    const Bytes file = file_of(b);
    for (const int64_t time : {1, 2, 6}) {
      std::vector<float> state = {1, 2, 3}, rows(static_cast<size_t>(3 * time)), y;
      for (size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<float>(i % 5);
      const std::vector<Bytes> inputs = {to_bytes(state), to_bytes(rows)};
      for (size_t t = 0; t < rows.size(); t += 3)
        for (size_t i = 0; i < 3; ++i) y.push_back(state[i] += 3 * rows[t + i]);
      EXPECT_EQ(run_at(file, time, inputs), (std::vector<Bytes>{to_bytes(state), to_bytes(y)}));
    }
  }
}

// Operators that do not depend on a step stand in front of the loop, even where the source has them in its body.
TEST(OnnxOpenScan, WhatNoStepChangesRunsOnce) {
  Case c = sum_of_rows(4);
  c.step = [](Scope* s, const Names& in) -> Names {
    const std::string weights = s->add("Tanh", {"outer"});
    const std::string sum = s->add("Add", {in[0], s->add("Mul", {in[1], weights})});
    return {sum, sum};
  };
  OnnxBuilder b = looped(c);
  open_time(c, &b);
  OnnxBuilder::declare(b.graph().add_input(), "outer", kFloatType, {1, 3});
  convert::Graph graph;
  convert_whole(b, &graph);
  size_t begin = 0, tanh = 0;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    if (graph.nodes[i].options.type == fb::OpOptions::LoopBegin) begin = i;
    if (graph.nodes[i].source_op == "Tanh") tanh = i;
  }
  EXPECT_LT(tanh, begin);
}

// --- refusals

std::string rule_of(const OnnxBuilder& b) {
  const Imported imported = b.import();
  EXPECT_EQ(imported.status.code(), Code::kUnsupported) << imported.status.message();
  return imported.rule();
}

TEST(OnnxOpenScan, StatesThatGrowAreRefused) {
  Case c = sum_of_rows(4);
  c.step = [](Scope* s, const Names& in) -> Names {
    return {s->add("Concat", {in[0], in[1]}, {{"axis", int64_t{0}}}), in[1]};
  };
  OnnxBuilder b = looped(c);
  open_time(c, &b);
  const std::string rule = rule_of(b);
  EXPECT_NE(rule.find("float32 [1, 3] before a step and float32 [2, 3] behind it"),
            std::string::npos)
      << rule;
}

TEST(OnnxOpenScan, FloatStatesNeedAPermission) {
  OnnxBuilder b = looped(sum_of_rows(4));
  open_time(sum_of_rows(4), &b);
  b.allow_float = false;
  EXPECT_NE(rule_of(b).find("which its steps pass on or take, is float"), std::string::npos);
}

}  // namespace
}  // namespace qrt::testing::onnx_open_loops_test
