// SPDX-License-Identifier: Apache-2.0
// Model-local functions and If: calls become the function's nodes, and a condition that is known its
// branch. The models compute on bytes, so that every expected number can be read off.
#include <gtest/gtest.h>

#include "tests/support/onnx_builder.h"

namespace qrt::testing::onnx_functions_test {
namespace {

using Inputs = std::vector<Bytes>;

onnx::FunctionProto* add_function(OnnxBuilder* b, const std::string& name, const Names& inputs,
                                  const Names& outputs) {
  onnx::FunctionProto* f = b->model.add_functions();
  f->set_domain("test");
  f->set_name(name);
  for (const std::string& i : inputs) f->add_input(i);
  for (const std::string& o : outputs) f->add_output(o);
  return f;
}

template <class Scope>
onnx::NodeProto* add_node(Scope* to, const std::string& op, const Names& inputs,
                          const Names& outputs, const std::string& domain = "") {
  onnx::NodeProto* n = to->add_node();
  n->set_op_type(op);
  n->set_domain(domain);
  for (const std::string& i : inputs) n->add_input(i);
  for (const std::string& o : outputs) n->add_output(o);
  return n;
}

OnnxBuilder with_domain(int64_t opset = 18) {
  OnnxBuilder b(opset);
  auto* test = b.model.add_opset_import();
  test->set_domain("test");
  test->set_version(1);
  return b;
}

Bytes bytes(std::initializer_list<int> v) { return Bytes(v.begin(), v.end()); }

// Names inside a function do not collide with the model's: y = Max(x, 7) by f(a) = Max(a, seven),
// whose inner names are those of the model.
TEST(OnnxFunctions, NamesInsideDoNotMeetThoseOutside) {
  OnnxBuilder b = with_domain();
  const std::string x = b.input<uint8_t>({4});
  onnx::FunctionProto* f = add_function(&b, "f", {"a"}, {"t1"});
  const std::string seven = b.scalar<uint8_t>(7);
  onnx::AttributeProto* value = add_node(f, "Constant", {}, {seven})->add_attribute();
  value->set_name("value");
  value->set_type(onnx::AttributeProto::TENSOR);
  value->mutable_t()->set_data_type(2);
  value->mutable_t()->add_int32_data(9);
  add_node(f, "Max", {"a", seven}, {"t1"});
  const std::string y = b.node("f", {x}, {}, "test");
  b.output(b.node("Min", {b.node("f", {y}, {}, "test"), b.node("Max", {x, seven})}));
  EXPECT_EQ(b.run_to<uint8_t>({bytes({0, 8, 9, 200})}), (std::vector<uint8_t>{7, 8, 9, 200}));
}

TEST(OnnxFunctions, NestedWithAttributesOfTheCallAndDefaults) {
  OnnxBuilder b = with_domain();
  const std::string x = b.input<uint8_t>({2, 3});
  onnx::FunctionProto* inner = add_function(&b, "turn", {"a"}, {"y"});
  onnx::AttributeProto* perm = add_node(inner, "Transpose", {"a"}, {"y"})->add_attribute();
  perm->set_name("perm");
  perm->set_ref_attr_name("order");
  perm->set_type(onnx::AttributeProto::INTS);
  // Defaults of attributes are in a field that older ONNX headers do not know.
  onnx::AttributeProto default_order = Attr("order", Dims{0, 1}).proto;
  inner->GetReflection()->MutableUnknownFields(inner)->AddLengthDelimited(
      11, default_order.SerializeAsString());
  onnx::FunctionProto* outer = add_function(&b, "outer", {"a"}, {"y", "z"});
  onnx::AttributeProto* order = add_node(outer, "turn", {"a"}, {"y"}, "test")->add_attribute();
  order->set_name("order");
  order->set_ref_attr_name("way");
  order->set_type(onnx::AttributeProto::INTS);
  add_node(outer, "turn", {"a"}, {"z"}, "test");
  const std::string y = b.node("outer", {x}, {{"way", Dims{1, 0}}}, "test");
  b.graph().mutable_node(0)->add_output("z");
  b.output(y);
  b.output("z");
  const std::vector<Bytes> out = b.run({bytes({1, 2, 3, 4, 5, 6})});
  ASSERT_EQ(out.size(), 2u);
  EXPECT_EQ(out[0], bytes({1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(out[1], bytes({1, 2, 3, 4, 5, 6}));
}

// A function keeps its own operator set: here opset 12, whose Softmax flattens the dimensions from
// its axis on, in a model of opset 18.
TEST(OnnxFunctions, HaveOperatorSetsOfTheirOwn) {
  const auto run = [](bool in_function) {
    OnnxBuilder b = with_domain(in_function ? 18 : 12);
    const std::string x = b.integer_input<uint8_t>({1, 2, 3}, 0.5f, 3);
    std::string y;
    if (in_function) {
      onnx::FunctionProto* f = add_function(&b, "f", {"a"}, {"y"});
      f->add_opset_import()->set_version(12);
      *add_node(f, "Softmax", {"a"}, {"y"})->add_attribute() = Attr("axis", 1).proto;
      y = b.node("f", {x}, {}, "test");
    } else {
      y = b.node("Softmax", {x}, {{"axis", 1}});
    }
    b.integer_output<uint8_t>(y, 1.0f / 256, 0);
    return b.run_to<uint8_t>({bytes({1, 5, 7, 2, 9, 3})});
  };
  EXPECT_EQ(run(true), run(false));
}

TEST(OnnxFunctions, AbsentInputsAndOutputsAndOutputsThatAreInputs) {
  OnnxBuilder b = with_domain();
  const std::string x = b.input<uint8_t>({3});
  onnx::FunctionProto* f = add_function(&b, "f", {"a", "low", "high"}, {"y", "same", "unused"});
  add_node(f, "Clip", {"a", "low", "high"}, {"y"});
  add_node(f, "Max", {"a", "a"}, {"unused"});
  f->set_output(1, "a");
  const std::string y = b.node("f", {x, "", b.scalar<uint8_t>(5)}, {}, "test");
  b.graph().mutable_node(0)->add_output("same");
  b.output(y);
  b.output("same");
  const std::vector<Bytes> out = b.run({bytes({1, 5, 9})});
  ASSERT_EQ(out.size(), 2u);
  EXPECT_EQ(out[0], bytes({1, 5, 5}));
  EXPECT_EQ(out[1], bytes({1, 5, 9}));
}

TEST(OnnxFunctions, RecursionIsRefusedAndGrowthIsLimited) {
  OnnxBuilder b = with_domain();
  onnx::FunctionProto* f = add_function(&b, "f", {"a"}, {"y"});
  onnx::FunctionProto* g = add_function(&b, "g", {"a"}, {"y"});
  add_node(f, "g", {"a"}, {"y"}, "test");
  add_node(g, "f", {"a"}, {"y"}, "test");
  b.output(b.node("f", {b.input<uint8_t>({3})}, {}, "test"));
  const Imported recursive = b.import();
  EXPECT_EQ(recursive.status.code(), Code::kInvalidModel);
  EXPECT_NE(std::string(recursive.status.message()).find("calls itself"), std::string::npos);

  // 40 functions that call the next one twice: 2^40 nodes.
  OnnxBuilder wide = with_domain();
  for (int i = 0; i < 40; ++i) {
    onnx::FunctionProto* caller = add_function(&wide, "f" + std::to_string(i), {"a"}, {"y"});
    const std::string next = "f" + std::to_string(i + 1);
    add_node(caller, next, {"a"}, {"t"}, "test");
    add_node(caller, next, {"t"}, {"y"}, "test");
  }
  onnx::FunctionProto* last = add_function(&wide, "f40", {"a"}, {"y"});
  add_node(last, "Identity", {"a"}, {"y"});
  wide.output(wide.node("f0", {wide.input<uint8_t>({3})}, {}, "test"));
  const Imported grown = wide.import();
  EXPECT_EQ(grown.status.code(), Code::kUnsupported);
  EXPECT_NE(std::string(grown.status.message()).find("the limit is 65536"), std::string::npos)
      << grown.status.message();
}

// --- If

struct Branches {
  onnx::GraphProto *then_branch, *else_branch;
};

Branches add_if(OnnxBuilder* b, const std::string& condition, const std::string& output) {
  onnx::NodeProto* n = add_node(&b->graph(), "If", {condition}, {output});
  n->set_name("if_" + output);
  Branches branches;
  for (const char* name : {"then_branch", "else_branch"}) {
    onnx::AttributeProto* a = n->add_attribute();
    a->set_name(name);
    a->set_type(onnx::AttributeProto::GRAPH);
    (name[0] == 't' ? branches.then_branch : branches.else_branch) = a->mutable_g();
    a->mutable_g()->set_name(name);
  }
  return branches;
}

std::string truth(OnnxBuilder* b, bool value) {
  const std::string name = b->scalar<uint8_t>(value);
  b->graph().mutable_initializer(b->graph().initializer_size() - 1)->set_data_type(9);
  return name;
}

void add_byte(onnx::GraphProto* g, const std::string& name, uint8_t value) {
  onnx::TensorProto* t = g->add_initializer();
  t->set_name(name);
  t->set_data_type(2);
  t->set_raw_data(&value, 1);
}

// A constant condition takes its branch. Each branch has a constant of one name and reads a tensor outside.
TEST(OnnxIf, ConstantConditionTakesItsBranch) {
  for (const bool value : {true, false}) {
    OnnxBuilder b;
    const std::string x = b.input<uint8_t>({3});
    const Branches branches = add_if(&b, truth(&b, value), "y");
    add_byte(branches.then_branch, "c", 5);
    add_node(branches.then_branch, "Max", {x, "c"}, {"r"});
    branches.then_branch->add_output()->set_name("r");
    add_byte(branches.else_branch, "c", 6);
    add_node(branches.else_branch, "Min", {x, "c"}, {"r"});
    branches.else_branch->add_output()->set_name("r");
    b.output("y");
    EXPECT_EQ(b.run({bytes({1, 5, 9})})[0], value ? bytes({5, 5, 9}) : bytes({1, 5, 6}));
  }
}

TEST(OnnxIf, NestedWithAConditionFromAShape) {
  OnnxBuilder b;
  const std::string x = b.input<uint8_t>({2, 3});
  const std::string columns =
      b.node("Gather", {b.node("Shape", {x}), b.scalar<int64_t>(1)}, {{"axis", 0}});
  const std::string is_three = b.node("Equal", {columns, b.scalar<int64_t>(3)});
  const Branches outer = add_if(&b, is_three, "y");
  onnx::GraphProto* then_branch = outer.then_branch;
  onnx::NodeProto* inner = add_node(then_branch, "If", {truth(&b, false)}, {"inner"});
  for (const char* name : {"then_branch", "else_branch"}) {
    onnx::AttributeProto* a = inner->add_attribute();
    a->set_name(name);
    a->set_type(onnx::AttributeProto::GRAPH);
    add_byte(a->mutable_g(), "limit", name[0] == 't' ? 1 : 4);
    add_node(a->mutable_g(), "Max", {x, "limit"}, {"m"});
    a->mutable_g()->add_output()->set_name("m");
  }
  then_branch->add_output()->set_name("inner");
  outer.else_branch->add_output()->set_name(x);
  b.output("y");
  EXPECT_EQ(b.run({bytes({1, 2, 3, 4, 5, 6})})[0], bytes({4, 4, 4, 4, 5, 6}));
}

TEST(OnnxIf, BranchOutputMayBeAConstantOrAnOuterTensor) {
  OnnxBuilder b;
  const std::string x = b.input<uint8_t>({2});
  const Branches first = add_if(&b, truth(&b, true), "same");
  first.then_branch->add_output()->set_name(x);
  first.else_branch->add_output()->set_name(x);
  const Branches second = add_if(&b, truth(&b, false), "limit");
  add_byte(second.then_branch, "c", 1);
  second.then_branch->add_output()->set_name("c");
  add_byte(second.else_branch, "c", 9);
  second.else_branch->add_output()->set_name("c");
  b.output(b.node("Max", {"same", "limit"}));
  EXPECT_EQ(b.run({bytes({1, 50})})[0], bytes({9, 50}));
}

TEST(OnnxIf, InsideAFunction) {
  OnnxBuilder b = with_domain();
  const std::string x = b.input<uint8_t>({2});
  onnx::FunctionProto* f = add_function(&b, "f", {"a", "which"}, {"y"});
  onnx::NodeProto* n = add_node(f, "If", {"which"}, {"y"});
  for (const char* name : {"then_branch", "else_branch"}) {
    onnx::AttributeProto* a = n->add_attribute();
    a->set_name(name);
    a->set_type(onnx::AttributeProto::GRAPH);
    add_node(a->mutable_g(), name[0] == 't' ? "Abs" : "BitwiseNot", {"a"}, {"t"});
    a->mutable_g()->add_output()->set_name("t");
  }
  b.output(b.node("f", {x, truth(&b, false)}, {}, "test"));
  b.output(b.node("f", {x, truth(&b, true)}, {}, "test"));
  const std::vector<Bytes> out = b.run({bytes({0, 7})});
  EXPECT_EQ(out[0], bytes({255, 248}));
  EXPECT_EQ(out[1], bytes({0, 7}));
}

// Returns an If whose condition a run computes. The branches return max(x, 5) or min(x, 6), and a
// constant.
OnnxBuilder model_of_a_choice(const char* else_input = "x") {
  OnnxBuilder b;
  b.input<uint8_t>({3}, "x");
  b.input<int64_t>({}, "rate");
  const std::string is_high = b.node("Equal", {"rate", b.scalar<int64_t>(16000)});
  const Branches branches = add_if(&b, is_high, "y");
  b.graph().mutable_node(b.graph().node_size() - 1)->add_output("limit");
  add_byte(branches.then_branch, "c", 5);
  add_node(branches.then_branch, "Max", {"x", "c"}, {"r"});
  add_byte(branches.else_branch, "c", 6);
  add_node(branches.else_branch, "Min", {else_input, "c"}, {"r"});
  for (onnx::GraphProto* branch : {branches.then_branch, branches.else_branch})
    for (const char* name : {"r", "c"}) branch->add_output()->set_name(name);
  b.output("y");
  b.output("limit");
  return b;
}

TEST(OnnxIf, ARunChoosesBetweenBothBranches) {
  const OnnxBuilder b = model_of_a_choice();
  for (const int64_t rate : {16000, 8000}) {
    const std::vector<Bytes> out = b.run({bytes({1, 5, 9}), to_bytes(std::vector<int64_t>{rate})});
    EXPECT_EQ(out[0], rate == 16000 ? bytes({5, 5, 9}) : bytes({1, 5, 6}));
    EXPECT_EQ(out[1], rate == 16000 ? bytes({5}) : bytes({6}));
  }
}

TEST(OnnxIf, TheBranchThatARunDoesNotTakeCannotEndIt) {
  OnnxBuilder b;
  b.input<uint8_t>({3}, "x");
  b.input<int64_t>({3}, "ids");
  b.input<int64_t>({}, "rate");
  const std::string table = b.constant<uint8_t>({4}, {10, 20, 30, 40});
  const Branches branches = add_if(&b, b.node("Equal", {"rate", b.scalar<int64_t>(16000)}), "y");
  add_node(branches.then_branch, "Gather", {table, "ids"}, {"r"});
  branches.then_branch->add_output()->set_name("r");
  branches.else_branch->add_output()->set_name("x");
  b.output("y");
  const Imported imported = b.import();
  EXPECT_EQ(imported.count(fb::OpOptions::Choose), 1);
  EXPECT_EQ(imported.count(fb::OpOptions::Concat), 0);
  const auto run = [&](int64_t rate, int64_t id) {
    return b.run({bytes({1, 5, 9}), to_bytes(std::vector<int64_t>{3, id, -1}),
                  to_bytes(std::vector<int64_t>{rate})})[0];
  };
  EXPECT_EQ(run(16000, 1), bytes({40, 20, 40}));
  EXPECT_EQ(run(8000, 1), bytes({1, 5, 9}));
  EXPECT_EQ(run(8000, 99), bytes({1, 5, 9}));
}

// A branch contains an If, whose condition the branch computes.
TEST(OnnxIf, ARunChoosesWithinABranch) {
  OnnxBuilder b;
  b.input<uint8_t>({2}, "x");
  b.input<int64_t>({}, "rate");
  b.input<int64_t>({}, "kind");
  const std::string high = b.scalar<int64_t>(16000), first = b.scalar<int64_t>(1);
  const Branches outer = add_if(&b, b.node("Equal", {"rate", high}), "y");
  add_node(outer.then_branch, "Equal", {"kind", first}, {"is_first"});
  onnx::NodeProto* inner = add_node(outer.then_branch, "If", {"is_first"}, {"inner"});
  for (const char* name : {"then_branch", "else_branch"}) {
    onnx::AttributeProto* a = inner->add_attribute();
    a->set_name(name);
    a->set_type(onnx::AttributeProto::GRAPH);
    add_byte(a->mutable_g(), "limit", name[0] == 't' ? 7 : 70);
    add_node(a->mutable_g(), "Max", {"x", "limit"}, {"m"});
    a->mutable_g()->add_output()->set_name("m");
  }
  outer.then_branch->add_output()->set_name("inner");
  add_node(outer.else_branch, "BitwiseNot", {"x"}, {"n"});
  outer.else_branch->add_output()->set_name("n");
  b.output("y");
  const Imported imported = b.import();
  EXPECT_EQ(imported.count(fb::OpOptions::Choose), 2);
  const auto run = [&](int64_t rate, int64_t kind) {
    return b.run({bytes({1, 50}), to_bytes(std::vector<int64_t>{rate}),
                  to_bytes(std::vector<int64_t>{kind})})[0];
  };
  EXPECT_EQ(run(16000, 1), bytes({7, 50}));
  EXPECT_EQ(run(16000, 0), bytes({70, 70}));
  for (const int64_t kind : {0, 1}) EXPECT_EQ(run(8000, kind), bytes({254, 205}));
}

// Each branch has a scale of its own. With a QuantizeLinear behind the If the branches are
// requantised as integers; without one the choice is between floats.
TEST(OnnxIf, ARunChoosesBetweenQuantisedTensors) {
  for (const bool in_run : {true, false})
    for (const bool value : {true, false}) {
      OnnxBuilder b;
      b.allow_float = true;
      b.input<uint8_t>({4}, "x");
      std::string condition = truth(&b, value);
      if (in_run)
        condition =
            b.node("Cast", {b.input<uint8_t>({}, "which")}, {{"to", onnx::TensorProto::BOOL}});
      const std::string zero = b.scalar<uint8_t>(100), one = b.scalar(1.0f);
      const std::string scales[] = {b.scalar(0.5f), b.scalar(3.0f)};
      const Branches branches = add_if(&b, condition, "real");
      for (const bool first : {true, false}) {
        onnx::GraphProto* branch = first ? branches.then_branch : branches.else_branch;
        add_node(branch, "DequantizeLinear", {"x", scales[first ? 0 : 1], zero}, {"r"});
        branch->add_output()->set_name("r");
      }
      b.output(b.node("QuantizeLinear", {"real", one, zero}));
      const Imported imported = b.import();
      EXPECT_EQ(imported.count(fb::OpOptions::Choose), in_run ? 1 : 0);
      EXPECT_EQ(imported.count(fb::OpOptions::Float), 0);
      EXPECT_EQ(imported.count(fb::OpOptions::Dequantize), 0);
      std::vector<Bytes> inputs = {bytes({0, 99, 110, 255})};
      if (in_run) inputs.push_back(bytes({value ? 2 : 0}));
      EXPECT_EQ(b.run(inputs)[0], value ? bytes({50, 100, 105, 178}) : bytes({0, 97, 130, 255}));
      b.graph().clear_output();
      b.output("real");
      EXPECT_EQ(b.import().count(fb::OpOptions::Choose), in_run ? 1 : 0);
      EXPECT_EQ(testing::from_bytes<float>(b.run(inputs)[0]),
                value ? (std::vector<float>{-50, -0.5f, 5, 77.5f})
                      : (std::vector<float>{-300, -3, 30, 465}));
    }
}

TEST(OnnxIf, BranchesOfOtherShapesAreRefusedWhereARunChooses) {
  OnnxBuilder b = model_of_a_choice("wide");
  b.input<uint8_t>({2, 3}, "wide");
  const Imported imported = b.import();
  EXPECT_EQ(imported.status.code(), Code::kUnsupported);
  EXPECT_NE(imported.rule().find("gives uint8 [3] or uint8 [2, 3]"), std::string::npos)
      << imported.rule();
}

// A condition computed from an open shape is refused: ONNX Runtime does not know the condition
// before the run.
TEST(OnnxIf, ConditionFromAShapeIsRefusedWhereTheBatchIsOpen) {
  OnnxBuilder b;
  const std::string x = b.input<uint8_t>({-1, 3});
  const std::string rows =
      b.node("Gather", {b.node("Shape", {x}), b.scalar<int64_t>(0)}, {{"axis", 0}});
  const Branches branches = add_if(&b, b.node("Equal", {rows, b.scalar<int64_t>(1)}), "y");
  branches.then_branch->add_output()->set_name(x);
  branches.else_branch->add_output()->set_name(x);
  b.output("y");
  const Imported imported = b.import();
  EXPECT_EQ(imported.status.code(), Code::kUnsupported);
  EXPECT_NE(imported.rule().find("follows from shapes"), std::string::npos) << imported.rule();
}

// A choice between two whole tensors does not broadcast, not even in float.
TEST(OnnxIf, BranchesOfTwoShapesAreRefused) {
  OnnxBuilder b;
  b.allow_float = true;
  const std::string x = b.input({2, 3});
  const std::string most = b.node("ReduceMax", {x}, {{"axes", Dims{0}}});
  const std::string condition =
      b.node("Cast", {b.input<uint8_t>({})}, {{"to", onnx::TensorProto::BOOL}});
  const Branches branches = add_if(&b, condition, "y");
  branches.then_branch->add_output()->set_name(x);
  branches.else_branch->add_output()->set_name(most);
  b.output("y");
  const Imported imported = b.import();
  EXPECT_EQ(imported.refusals(), 1);
  EXPECT_NE(imported.rule().find("whose condition a run computes"), std::string::npos)
      << imported.rule();
}

TEST(OnnxIf, DamagedBranchesAreInvalid) {
  for (const bool has_branch : {false, true}) {
    OnnxBuilder b;
    onnx::NodeProto* n = add_node(&b.graph(), "If", {truth(&b, true)}, {"y"});
    if (has_branch) {
      onnx::AttributeProto* a = n->add_attribute();
      a->set_name("then_branch");
      a->set_type(onnx::AttributeProto::GRAPH);
      a->mutable_g()->set_name("no outputs");
    }
    b.output("y");
    EXPECT_EQ(b.import().status.code(), Code::kInvalidModel);
  }
}

}  // namespace
}  // namespace qrt::testing::onnx_functions_test
