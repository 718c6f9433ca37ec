// SPDX-License-Identifier: Apache-2.0
// Placement of quantisation: values that stay together, share a coding, or run in float.
#include "converter/quantize/schemes/placement.h"

#include <gtest/gtest.h>

namespace qrt::quantize::placement_test {
namespace {

// A model put together by hand: values of one shape.
class Graph {
 public:
  explicit Graph(const Dims& shape = {1, 4, 8, 8}) : shape_(shape) {
    model.inputs.push_back({"x", shape, Element::kFloat});
  }
  std::string node(const std::string& op, const std::vector<std::string>& inputs,
                   const std::string& y) {
    Node n;
    n.name = op + "_" + y;
    n.op = op;
    n.inputs = inputs;
    n.outputs = {y};
    model.nodes.push_back(n);
    model.values[y] = {y, shape_, Element::kFloat};
    return y;
  }
  std::string constant(const std::string& name, const Dims& shape) {
    model.constants[name] =
        real_tensor(shape, std::vector<float>(static_cast<size_t>(elements(shape)), 1));
    return name;
  }
  std::string conv(const std::string& x, const std::string& y) {
    return node("Conv", {x, constant(y + "_w", {4, 4, 1, 1})}, y);
  }
  void output(const std::string& name) { model.outputs.push_back({name, shape_, Element::kFloat}); }
  std::set<std::string> coded(const std::set<std::string>& forced = {}) const {
    std::set<std::string> names;
    for (const auto& [name, root] : place(model, forced).coded) names.insert(name);
    return names;
  }

  FloatModel model;

 private:
  Dims shape_;
};

using Names = std::set<std::string>;

TEST(Placement, LimitsMergeIntoTheLayerBefore) {
  Graph g;
  g.conv("x", "a");
  g.node("Relu", {"a"}, "b");
  g.conv("b", "c");
  g.output("c");
  EXPECT_EQ(g.coded(), (Names{"x", "b", "c"}));
}

TEST(Placement, ALimitStandsAloneBehindALayerThatOthersRead) {
  Graph g;
  g.conv("x", "a");
  g.node("Relu", {"a"}, "b");
  g.conv("a", "c");
  g.conv("b", "d");
  g.output("c");
  g.output("d");
  EXPECT_EQ(g.coded(), (Names{"x", "a", "b", "c", "d"}));
}

TEST(Placement, FunctionsOfOneTensorAreOneTable) {
  Graph g;
  g.conv("x", "a");
  g.node("Sigmoid", {"a"}, "s");
  g.node("Mul", {"a", "s"}, "m");
  g.conv("m", "c");
  g.output("c");
  EXPECT_EQ(g.coded(), (Names{"x", "a", "m", "c"}));
}

TEST(Placement, AGateOfAnotherTensorIsQuantised) {
  Graph g;
  g.conv("x", "a");
  g.conv("x", "b");
  g.node("Sigmoid", {"b"}, "s");
  g.node("Mul", {"a", "s"}, "m");
  g.conv("m", "c");
  g.output("c");
  EXPECT_EQ(g.coded(), (Names{"x", "a", "b", "s", "m", "c"}));
}

TEST(Placement, DataMovementAndConcatShareACoding) {
  Graph g;
  g.conv("x", "a");
  g.node("MaxPool", {"a"}, "p");
  g.conv("x", "b");
  g.node("Concat", {"p", "b"}, "c");
  g.model.values["c"].shape = {1, 8, 8, 8};
  g.conv("c", "d");
  g.output("d");
  const Placement p = place(g.model, {});
  for (const char* name : {"a", "p", "b", "c"}) EXPECT_EQ(p.coded.at(name), "c") << name;
  EXPECT_EQ(p.coded.at("x"), "x");
}

TEST(Placement, APartOfAConcatThatOthersReadKeepsItsOwn) {
  Graph g;
  g.conv("x", "a");
  g.conv("x", "b");
  g.node("Concat", {"a", "b"}, "c");
  g.conv("a", "d");
  g.output("c");
  g.output("d");
  const Placement p = place(g.model, {});
  EXPECT_EQ(p.coded.at("a"), "a");
  EXPECT_EQ(p.coded.at("b"), p.coded.at("c"));
}

TEST(Placement, ALastProductOfMatricesStaysInFloat) {
  Graph g({1, 4});
  g.node("Gemm", {"x", g.constant("w", {4, 4})}, "y");
  g.output("y");
  EXPECT_EQ(g.coded(), (Names{"x"}));
  // A convolution does not: ONNX Runtime would compute it in float.
  Graph c;
  c.conv("x", "y");
  c.output("y");
  EXPECT_EQ(c.coded(), (Names{"x", "y"}));
}

TEST(Placement, ABiasBehindAMatMulIsTheLayersOwn) {
  Graph g({1, 3, 4});
  g.node("MatMul", {"x", g.constant("w", {4, 4})}, "m");
  g.node("Add", {g.constant("b", {4}), "m"}, "a");
  g.node("Relu", {"a"}, "r");
  g.node("MatMul", {"r", g.constant("v", {4, 4})}, "y");
  g.output("y");
  EXPECT_EQ(g.coded(), (Names{"x", "r"}));
  const Placement p = place(g.model, {});
  ASSERT_EQ(p.layers.size(), 2u);
  EXPECT_EQ(p.layers[0].bias, "b");
  EXPECT_EQ(p.layers[0].output, "a");
  EXPECT_EQ(p.layers[0].axis, 1);
}

TEST(Placement, NormalisationSpelledOutRunsInFloatWithTheSumsAroundIt) {
  Graph g({1, 3, 4});
  g.node("MatMul", {"x", g.constant("w", {4, 4})}, "m");
  g.node("Add", {"x", "m"}, "r");  // the residual sum
  g.node("ReduceMean", {"r"}, "mean");
  g.node("Sub", {"r", "mean"}, "d");
  g.node("Mul", {"d", g.constant("gamma", {4})}, "n");
  g.node("MatMul", {"n", g.constant("v", {4, 4})}, "y");
  g.output("y");
  EXPECT_EQ(g.coded(), (Names{"x", "m", "n"}));
  EXPECT_EQ(place(g.model, {}).float_nodes, (std::set<size_t>{1, 2, 3, 4}));
}

TEST(Placement, ConstantsThatNoTableHoldsAreQuantised) {
  Graph g({1, 3, 4});
  g.node("MatMul", {"x", g.constant("w", {4, 4})}, "m");
  g.node("Add", {"m", g.constant("position", {3, 4})}, "a");
  g.node("MatMul", {"a", g.constant("v", {4, 4})}, "y");
  g.output("y");
  const Placement p = place(g.model, {});
  EXPECT_EQ(p.constants, (std::set<std::string>{"position"}));
  EXPECT_TRUE(p.is_coded("m"));
}

TEST(Placement, ForcedValuesAreQuantisedWhateverReadsThem) {
  Graph g;
  g.conv("x", "a");
  g.node("Relu", {"a"}, "b");
  g.conv("b", "c");
  g.output("c");
  EXPECT_EQ(g.coded({"a"}), (Names{"x", "a", "b", "c"}));
}

}  // namespace
}  // namespace qrt::quantize::placement_test
