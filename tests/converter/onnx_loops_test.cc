// SPDX-License-Identifier: Apache-2.0
// Loop and Scan whose number of steps is known: the file has the results of the same steps written one behind the other by hand.
#include <gtest/gtest.h>

#include <random>

#include "tests/support/onnx_loop.h"

namespace qrt::testing::onnx_loops_test {
namespace {

using namespace onnx_loop;  // NOLINT(google-build-using-namespace)

void expect_same(const Case& c, unsigned seed = 1) {
  const std::vector<Bytes> inputs = numbers_for(c, seed);
  const std::vector<Bytes> own = looped(c).run(inputs), by_hand = unrolled(c).run(inputs);
  ASSERT_EQ(own.size(), c.states.size() + c.stacked.size());
  EXPECT_EQ(own, by_hand);
}

TEST(OnnxScan, RunningSumsAlongEachAxisAndInBothDirections) {
  for (const int64_t opset : {9, 11, 13, 16, 19, 21})
    for (const int64_t axis : {0, 1, 2})
      for (const bool is_reversed : {false, true}) {
        Case c;
        c.opset = opset;
        c.step = running_sum;
        c.scanned = {{{2, 3, 4}, axis, is_reversed}};
        c.states = {without(c.scanned[0].dims, axis)};
        c.stacked = {{2 - axis, axis == 1}};
        c.steps = c.scanned[0].dims[static_cast<size_t>(axis)];
        expect_same(c);
      }
}

TEST(OnnxScan, NegativeAxes) {
  Case c;
  c.step = running_sum;
  c.scanned = {{{2, 5, 3}, -2, true}};
  c.states = {{2, 3}};
  c.stacked = {{-1, false}};
  c.steps = 5;
  expect_same(c);
}

TEST(OnnxScan, ACellWithWeightsInTheBody) {
  for (const bool is_reversed : {false, true}) {
    Case c;
    c.step = cell;
    c.states = {{1, 4}};
    c.scanned = {{{6, 1, 3}, 0, is_reversed}};
    c.stacked = {{0, is_reversed}};
    c.steps = 6;
    expect_same(c);
  }
}

TEST(OnnxScan, SeveralStatesScannedAndStackedTensors) {
  Case c;
  c.step = [](Scope* s, const Names& in) -> Names {
    const std::string sum = s->add("Add", {in[0], in[2]});
    const std::string most = s->add("Max", {in[1], in[3]});
    // States change places, a slice is handed on, and one result is stacked twice.
    return {most, sum, in[2], sum, sum};
  };
  c.states = {{3}, {3}};
  c.scanned = {{{4, 3}, 0, false}, {{3, 4}, 1, true}};
  c.stacked = {{0, false}, {1, true}, {0, true}};
  c.steps = 4;
  expect_same(c);
}

TEST(OnnxLoop, StepsWithTheirNumbersAndConditions) {
  for (const int64_t opset : {9, 11, 13, 19, 21})
    for (const bool passes : {false, true})
      for (const bool has_condition : {false, true}) {
        Case c;
        c.opset = opset;
        c.passes_condition = passes;
        c.has_condition = has_condition;
        c.step = [](Scope* s, const Names& in) -> Names {
          const std::string number = s->add("Cast", {in[0]}, {{"to", kFloatType}});
          const std::string next = s->add("Mul", {s->add("Add", {in[1], number}), s->number(0.5f)});
          return {next, s->add("Identity", {next})};
        };
        c.states = {{5}};
        c.stacked = {{}};
        c.steps = 7;
        expect_same(c);
      }
}

TEST(OnnxLoop, StatesThatGrow) {
  Case c;
  c.step = [](Scope* s, const Names& in) -> Names {
    return {s->add("Concat", {in[1], in[1]}, {{"axis", 0}})};
  };
  c.states = {{2}};
  c.steps = 4;
  expect_same(c);
}

TEST(OnnxLoop, NoStepPassesTheStatesOn) {
  Case c;
  c.step = [](Scope* s, const Names& in) -> Names { return {s->add("Neg", {in[1]})}; };
  c.states = {{3}};
  for (const int64_t steps : {int64_t{0}, int64_t{-5}, INT64_MIN}) {
    c.steps = steps;
    expect_same(c);
  }
}

// A body may read a tensor of the model, and its own tensors may have the names of tensors there.
TEST(OnnxLoop, ReadsTensorsOutsideAndHasNamesOfItsOwn) {
  Case c;
  c.step = [](Scope* s, const Names& in) -> Names {
    return {s->add("Add", {in[1], "outside"}), s->add("Sub", {in[1], "outside"})};
  };
  c.states = {{3}};
  c.stacked = {{}};
  c.steps = 3;
  std::vector<Bytes> results[2];
  for (const bool is_looped : {false, true}) {
    OnnxBuilder b = is_looped ? looped(c) : unrolled(c);
    onnx::NodeProto* outside = b.graph().add_node();
    outside->set_op_type("Abs");
    outside->add_input(b.graph().input(0).name());
    outside->add_output("outside");
    onnx::NodeProto* other = b.graph().add_node();  // as the body's first result
    other->set_op_type("Neg");
    other->add_input(b.graph().input(0).name());
    other->add_output("b1");
    b.output("b1");
    results[is_looped] = b.run(numbers_for(c, 3));
  }
  EXPECT_EQ(results[0], results[1]);
}

// A Loop in a Loop, with an If on the outer step's number, is unrolled.
TEST(OnnxLoop, LoopsAndBranchesWithinOneAnother) {
  Case inner;
  inner.step = [](Scope* s, const Names& in) -> Names {
    return {s->add("Add", {in[1], "turned"})};
  };
  inner.states = {{3}};
  inner.steps = 2;
  Case outer;
  outer.states = {{3}};
  outer.steps = 3;
  outer.stacked = {{}};
  outer.step = [&](Scope* s, const Names& in) -> Names {
    onnx::NodeProto* choice = s->graph->add_node();
    choice->set_op_type("If");
    choice->add_input("");
    choice->add_output("turned");
    for (const char* name : {"then_branch", "else_branch"}) {
      onnx::AttributeProto* a = choice->add_attribute();
      a->set_name(name);
      a->set_type(onnx::AttributeProto::GRAPH);
      Scope branch{a->mutable_g(), name, 17};
      a->mutable_g()->add_output()->set_name(branch.add(name[0] == 't' ? "Neg" : "Abs", {in[1]}));
    }
    const std::string is_first = s->add("Equal", {in[0], s->constant<int64_t>({}, {0})});
    for (onnx::NodeProto& n : *s->graph->mutable_node())
      if (n.op_type() == "If") n.set_input(0, is_first);
    onnx::NodeProto* loop = s->graph->add_node();
    loop->set_op_type("Loop");
    loop->add_input(s->constant<int64_t>({}, {inner.steps}));
    loop->add_input("");
    loop->add_input(in[1]);
    loop->add_output("summed");
    fill_body(inner, add_body(loop));
    onnx::GraphProto* body = loop->mutable_attribute(0)->mutable_g();
    for (auto* infos : {body->mutable_input(), body->mutable_output()})
      for (onnx::ValueInfoProto& info : *infos) info.set_name("inner_" + info.name());
    for (onnx::NodeProto& n : *body->mutable_node()) {
      for (std::string& name : *n.mutable_input())
        if (name != "turned") name = "inner_" + name;
      for (std::string& name : *n.mutable_output()) name = "inner_" + name;
    }
    return {"summed", s->add("Identity", {"summed"})};
  };
  Case flat = outer;
  flat.step = [](Scope* s, const Names& in) -> Names {
    // unrolled() gives the step's number as an initialiser.
    const onnx::TensorProto* number = nullptr;
    for (const onnx::TensorProto& t : s->graph->initializer())
      if (t.name() == in[0]) number = &t;
    const bool is_first = number->raw_data() == std::string(8, '\0');
    const std::string turned = s->add(is_first ? "Neg" : "Abs", {in[1]});
    const std::string sum = s->add("Add", {s->add("Add", {in[1], turned}), turned});
    return {sum, sum};
  };
  const std::vector<Bytes> inputs = numbers_for(outer, 5);
  EXPECT_EQ(looped(outer).run(inputs), unrolled(flat).run(inputs));
}

// A Scan inside a function keeps the function's older operator set, in which Unsqueeze has its axes
// as an attribute.
TEST(OnnxScan, InsideAFunction) {
  Case c;
  c.step = [](Scope* s, const Names& in) -> Names {
    const std::string sum = s->add("Add", {in[0], in[1]});
    return {sum, s->add("Squeeze", {s->add("Unsqueeze", {sum}, {{"axes", Dims{0}}})},
                        {{"axes", Dims{0}}})};
  };
  c.opset = 11;
  c.states = {{3}};
  c.scanned = {{{4, 3}, 0, false}};
  c.stacked = {{}};
  c.steps = 4;
  OnnxBuilder b = looped(c);
  b.model.mutable_opset_import(0)->set_version(18);
  onnx::FunctionProto* f = b.model.add_functions();
  f->set_domain("test");
  f->set_name("f");
  f->add_opset_import()->set_version(11);
  onnx::NodeProto* call = b.graph().mutable_node(0);
  f->add_node()->Swap(call);
  call->set_op_type("f");
  call->set_domain("test");
  for (const std::string& name : f->node(0).input()) {
    f->add_input(name);
    call->add_input(name);
  }
  for (const std::string& name : f->node(0).output()) {
    f->add_output(name);
    call->add_output(name);
  }
  auto* domain = b.model.add_opset_import();
  domain->set_domain("test");
  domain->set_version(1);
  const std::vector<Bytes> inputs = numbers_for(c, 9);
  EXPECT_EQ(b.run(inputs), unrolled(c).run(inputs));
}

// Bodies of random operators, states and directions give the results of plain loops.
TEST(OnnxLoops, RandomBodies) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    std::mt19937 random(seed);
    const auto below = [&](int64_t n) {
      return static_cast<int64_t>(random() % static_cast<uint64_t>(n));
    };
    Case c;
    c.opset = below(2) != 0 ? 17 : 11;
    c.steps = 1 + below(5);
    const bool is_scan = below(2) != 0;
    const auto states = static_cast<size_t>(1 + below(3)), stacked = static_cast<size_t>(below(3)),
               scanned = static_cast<size_t>(is_scan ? 1 + below(2) : 0);
    for (size_t i = 0; i < states; ++i) c.states.push_back({2, 3});
    for (size_t i = 0; i < scanned; ++i) {
      Scanned s{{2, 3}, below(3), below(2) != 0};
      s.dims.insert(s.dims.begin() + s.axis, c.steps);
      c.scanned.push_back(s);
    }
    for (size_t i = 0; i < stacked; ++i)
      c.stacked.push_back({is_scan ? below(3) : 0, is_scan && below(2) != 0});
    const auto own = static_cast<unsigned>(random());
    c.step = [=](Scope* s, const Names& in) -> Names {
      std::mt19937 dice(own);
      Names known(in.begin() + (is_scan ? 0 : 1), in.end());
      const auto any = [&] { return known[dice() % known.size()]; };
      for (int i = 0; i < 4; ++i) {
        const char* const ops[] = {"Add", "Sub", "Mul", "Max", "Min", "Neg", "Tanh"};
        const std::string op = ops[dice() % 7];
        if (op == "Neg" || op == "Tanh")
          known.push_back(s->add(op, {any()}));
        else
          known.push_back(s->add(op, {any(), dice() % 4 == 0 ? s->number(0.25f) : any()}));
      }
      Names out;
      for (size_t i = 0; i < states + stacked; ++i) out.push_back(any());
      return out;
    };
    SCOPED_TRACE(seed);
    expect_same(c, seed);
  }
}

// --- sizes that are open

TEST(OnnxScan, WidthsStayOpenWhereTheyAreNoSteps) {
  OnnxBuilder b = looped(sum_of_rows(4));
  for (const int input : {0, 1}) open_dimension(&b, input, input == 0 ? 1 : 2, "width");
  const Imported imported = b.import();
  ASSERT_TRUE(imported.status.ok()) << imported.status.message();
  ASSERT_EQ(imported.graph.symbols.size(), 1u);
  EXPECT_EQ(imported.graph.symbols[0].name, "width");
}

// --- refusals

std::string rule_of(const OnnxBuilder& b, Code code = Code::kUnsupported) {
  const Imported imported = b.import();
  EXPECT_EQ(imported.status.code(), code) << imported.status.message();
  return code == Code::kUnsupported ? imported.rule() : imported.status.message();
}

Case counting(int64_t steps) {
  Case c;
  c.step = [](Scope* s, const Names& in) -> Names { return {s->add("Neg", {in[1]}), in[1]}; };
  c.states = {{3}};
  c.stacked = {{}};
  c.steps = steps;
  return c;
}

void expect_rule(const OnnxBuilder& b, const std::string& part, Code code = Code::kUnsupported) {
  const std::string rule = rule_of(b, code);
  EXPECT_NE(rule.find(part), std::string::npos) << rule;
}

TEST(OnnxLoop, CountsBeyondWhatAFileMayAskForAreRefused) {
  for (const int64_t steps : {int64_t{1000000000}, INT64_MAX})
    expect_rule(looped(counting(steps)), "steps, the limit is 65536");
  expect_rule(looped(counting(4000)), "asks for more work than a file of its size may");
}

TEST(OnnxLoop, LoopsThatMultiplyAreRefused) {
  // Each body has a Loop of 200 steps.
  OnnxBuilder b = looped(counting(200));
  onnx::GraphProto* body = b.graph().mutable_node(0)->mutable_attribute(0)->mutable_g();
  for (int depth = 0; depth < 4; ++depth) {
    const onnx::NodeProto loop = b.graph().node(0);
    onnx::NodeProto* inner = body->add_node();
    *inner = loop;
    inner->clear_output();
    inner->add_output("more" + std::to_string(depth));
    body = inner->mutable_attribute(0)->mutable_g();
  }
  const std::string rule = rule_of(b);
  EXPECT_NE(rule.find("the limit is"), std::string::npos) << rule;
}

TEST(OnnxLoop, WhatARunComputesIsRefused) {
  OnnxBuilder count = looped(counting(3));
  count.graph().mutable_node(0)->set_input(0, count.input<int64_t>({}, "trips"));
  expect_rule(count, "its trip count 'trips' is computed in the run");

  OnnxBuilder begins = looped(counting(3));
  const std::string number = begins.input<int64_t>({}, "number");
  const std::string truth = begins.node("Equal", {number, begins.scalar<int64_t>(1)});
  begins.graph().mutable_node(0)->set_input(1, truth);
  expect_rule(begins, "its condition '" + truth + "' is computed in the run");

  OnnxBuilder goes_on = looped(counting(3));
  onnx::GraphProto* body = goes_on.graph().mutable_node(0)->mutable_attribute(0)->mutable_g();
  Scope scope{body, "more", 17};
  const std::string less = scope.add("Less", {"step", scope.constant<int64_t>({}, {2})});
  body->mutable_output(0)->set_name(less);
  expect_rule(goes_on, "its body computes the condition '" + less + "'");

  OnnxBuilder endless = looped(counting(3));
  endless.graph().mutable_node(0)->set_input(0, "");
  expect_rule(endless, "it has no trip count");
}

TEST(OnnxLoop, EmptyOutputsSequencesAndOldScansAreRefused) {
  expect_rule(looped(counting(0)), "it has no step, so that its output 'y1' is empty");

  OnnxBuilder sequence = looped(counting(3));
  auto* body = sequence.graph().mutable_node(0)->mutable_attribute(0)->mutable_g();
  body->mutable_input(2)->mutable_type()->mutable_sequence_type();
  expect_rule(sequence, "a sequence or an optional");

  Case c = sum_of_rows(3);
  c.opset = 8;
  expect_rule(looped(c), "in opset 8");
}

TEST(OnnxLoop, DamagedLoopsAreInvalid) {
  OnnxBuilder no_body = looped(counting(3));
  no_body.graph().mutable_node(0)->clear_attribute();
  expect_rule(no_body, "has no body", Code::kInvalidModel);

  OnnxBuilder inputs = looped(counting(3));
  inputs.graph().mutable_node(0)->mutable_attribute(0)->mutable_g()->mutable_input()->RemoveLast();
  expect_rule(inputs, "has 3 inputs, its body 2", Code::kInvalidModel);

  OnnxBuilder outputs = looped(counting(3));
  outputs.graph()
      .mutable_node(0)
      ->mutable_attribute(0)
      ->mutable_g()
      ->mutable_output()
      ->RemoveLast();
  expect_rule(outputs, "1 states and 2 outputs", Code::kInvalidModel);

  OnnxBuilder axis = looped(sum_of_rows(3));
  for (onnx::AttributeProto& a : *axis.graph().mutable_node(0)->mutable_attribute())
    if (a.name() == "scan_input_axes") a.set_ints(0, 3);
  expect_rule(axis, "scan_input_axes: axis 3", Code::kInvalidModel);

  OnnxBuilder count = looped(sum_of_rows(3));
  for (onnx::AttributeProto& a : *count.graph().mutable_node(0)->mutable_attribute())
    if (a.name() == "num_scan_inputs") a.set_i(3);
  expect_rule(count, "num_scan_inputs is 3", Code::kInvalidModel);
}

}  // namespace
}  // namespace qrt::testing::onnx_loops_test
