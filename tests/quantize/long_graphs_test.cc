// SPDX-License-Identifier: Apache-2.0
// Graphs of tens of thousands of nodes: what the quantiser does with a graph takes time in proportion to it.
#include <functional>

#include "converter/quantize/float/equalise.h"
#include "converter/quantize/schemes/espdl.h"
#include "converter/quantize/schemes/placement.h"
#include "converter/quantize/schemes/qdq_writer.h"
#include "tests/quantize/float_cases.h"
#include "tests/support/within_limits.h"

namespace qrt::testing::floats::long_graphs_test {
namespace {

using quantize::Dims;
using quantize::Element;
using quantize::integer_tensor;

// A search over all nodes at each of them would take minutes.
constexpr int kNodes = 60000;
constexpr Limits kLimits = {size_t{1} << 30, 8};

struct Graph {
  explicit Graph(const Dims& input) { model.inputs.push_back({"x", input, Element::kFloat}); }
  std::string constant(const Dims& shape, float value) {
    const std::string name = "c" + std::to_string(model.constants.size());
    model.constants[name] = real_tensor(
        shape, std::vector<float>(static_cast<size_t>(quantize::elements(shape)), value));
    return name;
  }
  std::string node(const std::string& op, const std::vector<std::string>& inputs) {
    model.nodes.push_back(make_node(op, inputs, "y" + std::to_string(model.nodes.size())));
    return model.nodes.back().outputs[0];
  }
  void output(const std::string& name) { model.outputs.push_back({name, {}, Element::kFloat}); }
  // One node of many inputs.
  void join(const std::vector<std::string>& values) {
    output(node("Concat", values));
    model.nodes.back().set("axis", int64_t{1});
  }

  FloatModel model;
};

// Does all that is done with a graph and not with samples; returns how many nodes are left.
size_t nodes_left(FloatModel model) {
  int changed = 0;
  if (!quantize::simplify(&model).ok() || !quantize::equalise({}, &model, &changed).ok()) return 0;
  quantize::Placement placement = quantize::place(model, {});
  quantize::share_codings_of_sums(model, &placement);
  const quantize::Scheme& scheme = *quantize::find_scheme("ort-u8");
  quantize::Parameters parameters;
  for (const auto& [name, root] : placement.coded)
    if (name == root) parameters.codings[name] = quantize::coding_for(scheme, scheme.bits, {-4, 4});
  quantize::quantise_layers(model, placement, scheme, &parameters);
  std::string document;
  return quantize::write_qdq(model, placement, parameters, &document).ok() ? model.nodes.size() : 0;
}

void expect_left(const Graph& graph, size_t nodes) {
  EXPECT_EQ(run_within(kLimits,
                       [&] {
                         const size_t left = nodes_left(graph.model);
                         if (left != nodes) fprintf(stderr, "%zu nodes are left\n", left);
                         return left == nodes;
                       }),
            0);
}

TEST(LongGraphs, ChainOfFunctions) {
  Graph g({1, 4});
  std::string x = "x";
  for (int i = 0; i < kNodes; ++i) x = g.node(i % 2 == 0 ? "Relu" : "Sigmoid", {x});
  g.output(x);
  expect_left(g, kNodes);
}

TEST(LongGraphs, ChainOfNodesThatDoNothing) {
  Graph g({1, 4});
  std::string x = g.node("Relu", {"x"});
  for (int i = 0; i < kNodes; ++i) x = g.node("Identity", {x});
  g.output(g.node("Relu", {x}));
  expect_left(g, 2);
}

TEST(LongGraphs, OneValueThatAllRead) {
  Graph g({1, 1});
  const std::string x = g.node("Sigmoid", {"x"});
  std::vector<std::string> all;
  for (int i = 0; i < kNodes / 3; ++i)
    all.push_back(g.node("Identity", {g.node("Tanh", {g.node("Identity", {x})})}));
  g.join(all);
  expect_left(g, kNodes / 3 + 2);
}

TEST(LongGraphs, SumsWithConstantsBehindALayer) {
  Graph g({1, 2, 1, 1});
  std::string x = g.node("Conv", {"x", g.constant({2, 2, 1, 1}, 0.5f)});
  for (int i = 0; i < kNodes; ++i) x = g.node("Add", {x, g.constant({2, 1, 1}, 0.5f)});
  g.output(x);
  expect_left(g, 1);
}

// Normalisations before a layer are folded one after the other, each when those between it and the
// layer are done.
TEST(LongGraphs, NormsBeforeALayer) {
  Graph g({1, 2, 1, 1});
  std::string x = g.node("Relu", {"x"});
  for (int i = 0; i < kNodes / 3; ++i)
    x = g.node("BatchNormalization",
               {x, g.constant({2}, 1), g.constant({2}, 0), g.constant({2}, 0), g.constant({2}, 1)});
  g.output(g.node("Conv", {x, g.constant({2, 2, 1, 1}, 0.5f)}));
  expect_left(g, 2);
}

TEST(LongGraphs, Layers) {
  Graph g({1, 2});
  std::string x = "x";
  for (int i = 0; i < kNodes / 6; ++i)
    x = g.node("Add", {g.node("MatMul", {x, g.constant({2, 2}, 0.5f)}), g.constant({2}, 0.5f)});
  g.output(x);
  expect_left(g, kNodes / 3);
}

// Means of images become two nodes; in the same network pads go into the layers.
TEST(LongGraphs, MeansAndPads) {
  Graph g({1, 1, 2, 2});
  g.model.constants["axes"] = integer_tensor({2, 3});
  g.model.constants["pads"] = integer_tensor({0, 0, 1, 1, 0, 0, 1, 1});
  std::vector<std::string> all;
  for (int i = 0; i < kNodes / 6; ++i) {
    const std::string x = g.node("Pad", {"x", "pads"});
    all.push_back(g.node("ReduceMean", {g.node("Conv", {x, g.constant({1, 1, 3, 3}, 1)}), "axes"}));
    g.model.nodes.back().set("keepdims", int64_t{0});
  }
  g.join(all);
  expect_left(g, kNodes / 2 + 1);
}

// A float operator at the end takes all sums before it into float, one by one.
TEST(LongGraphs, SumsBeforeAnOperatorInFloat) {
  Graph g({1, 2});
  std::string x = "x";
  for (int i = 0; i < kNodes; ++i) x = g.node("Add", {x, "x"});
  g.output(g.node("LpNormalization", {x}));
  expect_left(g, kNodes + 1);
}

TEST(LongGraphs, OneNameForAll) {
  Graph g({1, 2});
  std::string x = "x";
  for (int i = 0; i < kNodes; ++i) {
    x = g.node("Sigmoid", {x});
    g.model.nodes.back().name = "same";
  }
  g.output(x);
  expect_left(g, kNodes);
}

}  // namespace
}  // namespace qrt::testing::floats::long_graphs_test
