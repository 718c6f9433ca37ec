// SPDX-License-Identifier: Apache-2.0
// simplify(): fewer nodes, the same function.
#include "tests/quantize/float_cases.h"

namespace qrt::testing::floats::simplify_test {
namespace {

using quantize::Dims;
using quantize::Element;
using quantize::integer_tensor;

class Network {
 public:
  explicit Network(const Dims& input) { model.inputs.push_back({"x", input, Element::kFloat}); }

  std::string constant(const Dims& shape) { return add(random_tensor(shape, &random)); }
  std::string add(Tensor tensor) {
    const std::string name = "c" + std::to_string(model.constants.size());
    model.constants[name] = std::move(tensor);
    return name;
  }
  Node& node(const std::string& op, const std::vector<std::string>& inputs,
             const std::string& output) {
    model.nodes.push_back(make_node(op, inputs, output));
    return model.nodes.back();
  }
  // Adds a BatchNormalization whose variances are positive.
  void norm(const std::string& x, int64_t channels, const std::string& y) {
    Tensor variance = random_tensor({channels}, &random);
    for (float& v : variance.reals) v = v * v + 0.1f;
    node("BatchNormalization",
         {x, constant({channels}), constant({channels}), constant({channels}), add(variance)}, y);
  }
  void output(const std::string& name) { model.outputs.push_back({name, {}, Element::kFloat}); }

  // Simplifies the model, and checks that it computes for a batch of 3 what it did before.
  FloatModel simplified() {
    Dims shape = model.inputs[0].shape;
    if (shape[0] < 0) shape[0] = 3;
    const Tensor x = random_tensor(shape, &random);
    FloatModel made = model;
    const Status status = quantize::simplify(&made);
    EXPECT_TRUE(status.ok()) << status.message();
    const auto before = run_model(model, {{"x", x}}), after = run_model(made, {{"x", x}});
    for (const auto& [name, tensor] : before) {
      EXPECT_EQ(after.count(name), 1u) << name;
      if (after.count(name) == 0) continue;
      EXPECT_EQ(after.at(name).shape, tensor.shape);
      expect_near(after.at(name).reals, tensor.reals, 2e-6f);
    }
    return made;
  }

  FloatModel model;
  Random random;
};

TEST(Simplify, BatchNormalizationGoesIntoTheLayerBefore) {
  for (const char* op : {"Conv", "ConvTranspose"}) {
    Network n({-1, 4, 6, 6});
    n.node(op, {"x", n.constant(std::string(op) == "Conv" ? Dims{6, 2, 3, 3} : Dims{4, 3, 3, 3})},
           "a")
        .set("group", int64_t{2});
    n.norm("a", 6, "b");
    n.node("Relu", {"b"}, "y");
    n.output("y");
    const FloatModel made = n.simplified();
    EXPECT_EQ(made.nodes.size(), 2u) << op;
    EXPECT_EQ(made.constants.size(), 2u) << op;
  }
  Network n({-1, 5});
  n.node("MatMul", {"x", n.constant({5, 7})}, "a");
  n.norm("a", 7, "y");
  n.output("y");
  const FloatModel made = n.simplified();
  ASSERT_EQ(made.nodes.size(), 1u);
  EXPECT_EQ(made.nodes[0].op, "Gemm");
}

TEST(Simplify, BatchNormalizationGoesIntoTheLayersBehind) {
  Network n({-1, 4, 6, 6});
  n.norm("x", 4, "a");
  n.node("Conv", {"a", n.constant({6, 2, 3, 3}), n.constant({6})}, "y").set("group", int64_t{2});
  n.node("Conv", {"a", n.constant({3, 4, 1, 1})}, "z");
  n.output("y");
  n.output("z");
  EXPECT_EQ(count_of(n.simplified(), "BatchNormalization"), 0);
}

// A BatchNormalization in front of a padded layer stays: its padding of zeros would become one of shifts.
TEST(Simplify, BatchNormalizationStaysBeforeABorder) {
  Network n({-1, 4, 6, 6});
  n.norm("x", 4, "a");
  n.node("Conv", {"a", n.constant({6, 4, 3, 3})}, "y").set("pads", Dims{1, 1, 1, 1});
  n.output("y");
  EXPECT_EQ(count_of(n.simplified(), "BatchNormalization"), 1);
}

TEST(Simplify, BatchNormalizationGoesThroughAConcat) {
  Network n({-1, 4, 5, 5});
  n.node("Conv", {"x", n.constant({3, 4, 1, 1})}, "a");
  n.node("Conv", {"x", n.constant({2, 4, 1, 1})}, "b");
  n.node("Concat", {"a", "b"}, "c").set("axis", int64_t{1});
  n.norm("c", 5, "y");
  n.output("y");
  EXPECT_EQ(count_of(n.simplified(), "BatchNormalization"), 0);
  // Another reader needs the operand as it was.
  n.output("a");
  EXPECT_EQ(count_of(n.simplified(), "BatchNormalization"), 1);
}

TEST(Simplify, ConstantsForEachChannelGoIntoTheLayerBefore) {
  Network n({-1, 4, 6, 6});
  n.node("Conv", {"x", n.constant({6, 4, 1, 1})}, "a");
  n.node("Mul", {n.constant({6, 1, 1}), "a"}, "b");
  n.node("Sub", {n.constant({1, 6, 1, 1}), "b"}, "c");
  n.node("Add", {"c", n.constant({6, 6})}, "y");  // of each place, not of each channel
  n.output("y");
  EXPECT_EQ(n.simplified().nodes.size(), 2u);
}

TEST(Simplify, PadsGoIntoConvolutionsAndPools) {
  Network n({-1, 2, 6, 6});
  n.node("Relu", {"x"}, "r");
  n.node("Pad", {"r", n.add(integer_tensor({0, 0, 1, 2, 0, 0, 0, 1}))}, "p");
  n.node("Conv", {"p", n.constant({3, 2, 3, 3})}, "c").set("pads", Dims{1, 0, 0, 0});
  n.node("MaxPool", {"p"}, "m").set("kernel_shape", Dims{3, 3});
  n.node("AveragePool", {"p"}, "a").set("kernel_shape", Dims{3, 3});
  for (const char* y : {"c", "m", "a"}) n.output(y);
  EXPECT_EQ(count_of(n.simplified(), "Pad"), 0);
}

// A Pad in front of a maximum of negatives stays, where a zero of the border would win.
TEST(Simplify, PadStaysBeforeAMaximumOfNegatives) {
  Network n({-1, 2, 6, 6});
  n.node("Pad", {"x", n.add(integer_tensor({0, 0, 1, 1, 0, 0, 1, 1}))}, "p");
  n.node("MaxPool", {"p"}, "y").set("kernel_shape", Dims{3, 3});
  n.output("y");
  EXPECT_EQ(count_of(n.simplified(), "Pad"), 1);
}

// Shape arithmetic leaves the batch open: Shape, Gather, Concat as torch writes view(x.shape[0],
// -1) become a Reshape for every batch.
TEST(Simplify, ShapeArithmeticLeavesTheBatchOpen) {
  Network n({-1, 2, 3, 4});
  n.node("Shape", {"x"}, "s");
  n.node("Gather", {"s", n.add([] {
                      Tensor t = integer_tensor({0});
                      t.shape = {};
                      return t;
                    }())},
         "batch");
  n.node("Unsqueeze", {"batch", n.add(integer_tensor({0}))}, "b");
  n.node("Concat", {"b", n.add(integer_tensor({6, 4}))}, "target").set("axis", int64_t{0});
  n.node("Reshape", {"x", "target"}, "r");
  n.node("Relu", {"r"}, "y");
  n.output("y");
  const FloatModel made = n.simplified();
  ASSERT_EQ(made.nodes.size(), 2u);
  EXPECT_EQ(made.values.at("y").shape, (Dims{-1, 6, 4}));
  EXPECT_EQ(made.outputs[0].shape, (Dims{-1, 6, 4}));
}

// Weights that are computed from constants are weights.
TEST(Simplify, ConstantsAreComputedOnce) {
  Network n({-1, 5});
  n.node("Transpose", {n.constant({7, 5})}, "w").set("perm", Dims{1, 0});
  n.node("Identity", {"w"}, "same");
  n.node("MatMul", {"x", "same"}, "y");
  n.output("y");
  EXPECT_EQ(n.simplified().nodes.size(), 1u);
}

TEST(Simplify, FormsOfTheConverter) {
  Network n({-1, 4, 5, 5});
  n.node("ReduceMean", {"x", n.add(integer_tensor({-1, 2}))}, "mean").set("keepdims", int64_t{0});
  Node& gemm = n.node("Gemm", {"mean", n.constant({3, 4}), n.constant({1, 3})}, "g");
  gemm.set("transB", int64_t{1});
  gemm.set("alpha", 0.5f);
  gemm.set("beta", 2.0f);
  n.node("Clip", {"g", n.add(real_tensor({}, {0}))}, "y");
  n.output("y");
  const FloatModel made = n.simplified();
  EXPECT_EQ(count_of(made, "GlobalAveragePool"), 1);
  EXPECT_EQ(count_of(made, "Relu"), 1);
  for (const Node& node : made.nodes)
    if (node.op == "Gemm") {
      EXPECT_FALSE(node.has("alpha"));
      EXPECT_EQ(made.constant(node.inputs[2])->shape, (Dims{3}));
    }
}

TEST(Simplify, LimitsThatAreComputedBecomeMaxAndMin) {
  Network n({-1, 4, 5, 5});
  n.node("ReduceMax", {"x"}, "greatest").set("keepdims", int64_t{0});
  n.node("Mul", {"greatest", n.add(real_tensor({}, {-0.5f}))}, "low");
  n.node("Mul", {"greatest", n.add(real_tensor({}, {0.25f}))}, "high");
  n.node("Clip", {"x", "low", "high"}, "both");
  n.node("Clip", {"x", "", "high"}, "y");
  n.node("Clip", {"x", "low", n.add(real_tensor({}, {0.5f}))}, "one");
  n.output("both");
  n.output("one");
  n.output("y");
  const FloatModel made = n.simplified();
  EXPECT_EQ(count_of(made, "Clip"), 0);
  EXPECT_EQ(count_of(made, "Max"), 2);
  EXPECT_EQ(count_of(made, "Min"), 3);
}

TEST(Simplify, ASpelledOutLayerNormalizationBecomesOne) {
  for (const bool multiplies : {false, true}) {
    Network n({-1, 3, 8});
    const std::string axes = n.add(integer_tensor({2}));
    n.node("ReduceMean", {"x", axes}, "mean");
    n.node("Sub", {"x", "mean"}, "d");
    if (multiplies)
      n.node("Mul", {"d", "d"}, "square");
    else
      n.node("Pow", {"d", n.add(quantize::real_tensor({}, {2}))}, "square");
    n.node("ReduceMean", {"square", axes}, "variance");
    n.node("Add", {"variance", n.add(quantize::real_tensor({1}, {1e-5f}))}, "sum");
    n.node("Sqrt", {"sum"}, "root");
    n.node("Div", {"d", "root"}, "normal");
    n.node("Mul", {"normal", n.constant({8})}, "scaled");
    n.node("Add", {n.constant({8}), "scaled"}, "y");
    n.output("y");
    const FloatModel made = n.simplified();
    ASSERT_EQ(made.nodes.size(), 1u);
    EXPECT_EQ(made.nodes[0].op, "LayerNormalization");
    EXPECT_EQ(made.nodes[0].inputs.size(), 3u);
    // Another reader needs the scaled value; where no scale and bias follow, the scale is 1.
    n.output("scaled");
    EXPECT_EQ(n.simplified().nodes.size(), 2u);
    n.output("variance");
    EXPECT_EQ(count_of(n.simplified(), "LayerNormalization"), 1);
    n.output("normal");
    const FloatModel bare = n.simplified();
    EXPECT_EQ(count_of(bare, "LayerNormalization"), 1);
    EXPECT_EQ(count_of(bare, "Mul"), multiplies ? 2 : 1);
  }
}

// Nodes that are almost a LayerNormalization stay: the mean over other dimensions, or a square of
// something else.
TEST(Simplify, WhatIsNoLayerNormalizationStays) {
  for (const bool other_axis : {false, true}) {
    Network n({-1, 3, 8});
    const std::string axes = n.add(integer_tensor({other_axis ? 1 : 2}));
    n.node("ReduceMean", {"x", axes}, "mean");
    n.node("Sub", {"x", "mean"}, "d");
    n.node("Mul", {other_axis ? "d" : "x", "d"}, "square");
    n.node("ReduceMean", {"square", axes}, "variance");
    n.node("Add", {"variance", n.add(quantize::real_tensor({}, {1e-5f}))}, "sum");
    n.node("Sqrt", {"sum"}, "root");
    n.node("Div", {"d", "root"}, "y");
    n.output("y");
    EXPECT_EQ(count_of(n.simplified(), "LayerNormalization"), 0);
  }
}

TEST(Simplify, WindowsSideBySideBecomeConvAndBlocks) {
  Network n({-1, 4, 3, 5});
  n.node("ConvTranspose", {"x", n.constant({4, 3, 2, 2}), n.constant({3})}, "a")
      .set("strides", Dims{2, 2});
  n.norm("a", 3, "b");
  n.node("Relu", {"b"}, "y");
  n.output("y");
  const FloatModel made = n.simplified();
  ASSERT_EQ(made.nodes.size(), 3u);
  EXPECT_EQ(made.nodes[0].op, "Conv");
  EXPECT_EQ(made.nodes[1].op, "Relu");
  EXPECT_EQ(made.nodes[2].op, "DepthToSpace");
}

// Outputs keep their names though the node that wrote them goes; an input can be an output.
TEST(Simplify, OutputsStay) {
  Network n({-1, 4});
  n.node("Relu", {"x"}, "r");
  n.node("Identity", {"r"}, "y");
  n.node("Identity", {"x"}, "z");
  n.output("y");
  n.output("z");
  const FloatModel made = n.simplified();
  EXPECT_EQ(made.nodes.size(), 2u);
}

TEST(Simplify, OpenDimensionsNeedASample) {
  Network n({-1, 2, -1, 4});
  n.node("Relu", {"x"}, "y");
  n.output("y");
  FloatModel model = n.model;
  const Status status = quantize::simplify(&model);
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_NE(std::string(status.message()).find("samples"), std::string::npos) << status.message();
  ASSERT_TRUE(quantize::fix_input_shapes({{{"x", {7, 2, 3, 4}}}}, &n.model).ok());
  EXPECT_EQ(n.simplified().values.at("y").shape, (Dims{-1, 2, 3, 4}));
}

using quantize::Shapes;

// Shapes of "x" with these heights and widths.
std::vector<Shapes> samples_of(const std::vector<std::pair<int64_t, int64_t>>& sizes) {
  std::vector<Shapes> samples;
  for (const auto& [h, w] : sizes) samples.push_back({{"x", {1, 2, h, w}}});
  return samples;
}

// Checks that the simplified model computes what the model does, at sizes that no sample has, too.
void expect_same_at(const FloatModel& model, const FloatModel& made,
                    const std::vector<std::pair<int64_t, int64_t>>& sizes) {
  Random random;
  for (const auto& [h, w] : sizes) {
    const Tensor x = random_tensor({1, 2, h, w}, &random);
    const auto before = run_model(model, {{"x", x}}), after = run_model(made, {{"x", x}});
    for (const auto& [name, tensor] : before) {
      EXPECT_EQ(after.at(name).shape, tensor.shape);
      expect_near(after.at(name).reals, tensor.reals, 2e-6f);
    }
  }
}

TEST(Simplify, DimensionsInWhichSamplesDifferStayOpen) {
  Network n({-1, 2, -1, -1});
  n.node("Relu", {"x"}, "y");
  n.output("y");
  ASSERT_TRUE(quantize::fix_input_shapes(samples_of({{6, 4}, {6, 10}, {6, 8}}), &n.model).ok());
  EXPECT_EQ(n.model.inputs[0].shape, (Dims{-1, 2, 6, -1}));
  // The first, the least and the greatest sample, then larger multiples of 2.
  std::vector<int64_t> widths;
  for (const Shapes& shapes : n.model.sizes) widths.push_back(shapes.at("x")[3]);
  EXPECT_EQ(widths, (Dims{4, 10, 12, 22}));
  EXPECT_EQ(n.model.sample_sizes, 2u);
  FloatModel made = n.model;
  ASSERT_TRUE(quantize::simplify(&made).ok());
  EXPECT_EQ(made.values.at("y").shape, (Dims{-1, 2, 6, -1}));
  EXPECT_EQ(made.values.at("y").sample_elements(), 2 * 6 * 22);
  expect_same_at(n.model, made, {{6, 4}, {6, 7}, {6, 50}});
}

// A node that does nothing at the sizes of all samples may do something at others.
TEST(Simplify, WhatFollowsFromOpenDimensionsStays) {
  Network n({-1, 2, -1, -1});
  const auto numbers = [&](const Dims& values) { return n.add(integer_tensor(values)); };
  n.node("Slice", {"x", numbers({0}), numbers({30}), numbers({3})}, "cut");
  n.node("Shape", {"cut"}, "shape");
  n.node("Slice", {"shape", numbers({2}), numbers({4}), numbers({0})}, "sizes");
  n.node("Div", {"sizes", numbers({16, 16})}, "quotients");
  n.node("Add", {"quotients", numbers({2, 3})}, "larger");
  n.node("Slice", {"shape", numbers({0}), numbers({2}), numbers({0})}, "front");
  n.node("Concat", {"front", "larger"}, "target").set("axis", int64_t{0});
  n.node("Resize", {"cut", "", "", "target"}, "y").set("mode", std::string("nearest"));
  n.output("y");
  ASSERT_TRUE(quantize::fix_input_shapes(samples_of({{4, 5}, {6, 9}, {5, 5}}), &n.model).ok());
  FloatModel made = n.model;
  const Status status = quantize::simplify(&made);
  ASSERT_TRUE(status.ok()) << status.message();
  expect_same_at(n.model, made, {{4, 5}, {6, 9}, {40, 50}, {17, 31}});
}

TEST(Simplify, SamplesHaveOneSizeForAName) {
  Network n({-1, 2, -1, -1});
  n.model.inputs[0].dim_names = {"", "", "n", "n"};
  const Status status = quantize::fix_input_shapes(samples_of({{4, 4}, {6, 9}}), &n.model);
  EXPECT_EQ(status.code(), Code::kInvalidModel);
  EXPECT_NE(std::string(status.message()).find("a size of 6 and of 9 for 'n'"), std::string::npos)
      << status.message();
}

}  // namespace
}  // namespace qrt::testing::floats::simplify_test
