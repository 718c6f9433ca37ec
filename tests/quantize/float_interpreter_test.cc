// SPDX-License-Identifier: Apache-2.0
// A whole model gives the same bytes on every instruction set and number of threads, and each value is
// seen once.
#include <cstring>

#include "converter/quantize/float/interpreter.h"
#include "kernels/isa.h"
#include "tests/quantize/float_cases.h"

namespace qrt::testing::floats::float_interpreter_test {
namespace {

// Returns a convolution, a depthwise one, a pool, a residual, a product, Softmax and LayerNormalization.
FloatModel small_network(Random* random) {
  FloatModel m;
  m.inputs.push_back({"x", {-1, 3, 13, 11}, quantize::Element::kFloat});
  m.outputs.push_back({"y", {}, quantize::Element::kFloat});
  const auto constant = [&](const std::string& name, const quantize::Dims& shape) {
    m.constants[name] = random_tensor(shape, random);
    return name;
  };
  Node conv = make_node("Conv", {"x", constant("w1", {20, 3, 3, 3}), constant("b1", {20})}, "conv");
  conv.set("pads", quantize::Dims{1, 1, 1, 1});
  Node depthwise = make_node("Conv", {"relu", constant("w2", {20, 1, 3, 3})}, "depthwise");
  depthwise.set("pads", quantize::Dims{1, 1, 1, 1});
  depthwise.set("group", int64_t{20});
  Node gemm = make_node("Gemm", {"flat", constant("w3", {20, 37}), constant("b3", {37})}, "gemm");
  m.constants["one"] = real_tensor({37}, std::vector<float>(37, 1.0f));
  m.nodes = {conv,
             make_node("Relu", {"conv"}, "relu"),
             depthwise,
             make_node("Add", {"relu", "depthwise"}, "sum"),
             make_node("Gelu", {"sum"}, "gelu"),
             make_node("GlobalAveragePool", {"gelu"}, "mean"),
             make_node("Flatten", {"mean"}, "flat"),
             gemm,
             make_node("LayerNormalization", {"gemm", "one"}, "norm"),
             make_node("Softmax", {"norm"}, "y")};
  return m;
}

TEST(FloatInterpreter, SameBytesOnEverySetAndNumberOfThreads) {
  Random random;
  const FloatModel model = small_network(&random);
  const Tensor x = random_tensor({5, 3, 13, 11}, &random);
  const Tensor want = run_model(model, {{"x", x}}, 1, "scalar").at("y");
  ASSERT_EQ(want.shape, (quantize::Dims{5, 37}));
  Isa isa;
  for (int i = 0; isa_at(i, &isa); ++i) {
    if (!has(detected_isas(), isa)) continue;
    for (int threads : {1, 2, 3, 64}) {
      const Tensor got = run_model(model, {{"x", x}}, threads, isa_name(isa)).at("y");
      ASSERT_EQ(got.reals.size(), want.reals.size());
      EXPECT_EQ(memcmp(got.reals.data(), want.reals.data(), want.reals.size() * sizeof(float)), 0)
          << isa_name(isa) << ", " << threads << " threads";
    }
  }
}

// Neighbours in a batch do not change a sample's bytes: memory may be saved by smaller batches.
TEST(FloatInterpreter, ASampleAloneHasTheBytesItHasInABatch) {
  Random random;
  const FloatModel model = small_network(&random);
  const Tensor x = random_tensor({4, 3, 13, 11}, &random);
  const Tensor all = run_model(model, {{"x", x}}).at("y");
  for (size_t n = 0; n < 4; ++n) {
    const auto from = x.reals.begin() + static_cast<ptrdiff_t>(n * 3 * 13 * 11);
    const Tensor one = real_tensor({1, 3, 13, 11}, {from, from + 3 * 13 * 11});
    const Tensor y = run_model(model, {{"x", one}}).at("y");
    for (size_t i = 0; i < 37; ++i) ASSERT_EQ(y.reals[i], all.reals[n * 37 + i]) << "sample " << n;
  }
}

TEST(FloatInterpreter, ShowsEachValueOnceInOrder) {
  Random random;
  const FloatModel model = small_network(&random);
  Interpreter interpreter;
  ASSERT_TRUE(interpreter.create(model, 1).ok());
  std::vector<std::string> seen;
  const auto see = [&](const std::string& name, const Tensor& value) {
    EXPECT_EQ(static_cast<size_t>(value.size()), value.reals.size());
    seen.push_back(name);
  };
  ASSERT_TRUE(interpreter.run({{"x", random_tensor({1, 3, 13, 11}, &random)}}, see, nullptr).ok());
  std::vector<std::string> want;
  for (const Node& node : model.nodes) want.push_back(node.outputs[0]);
  EXPECT_EQ(seen, want);
}

// The terms of a run are those of all its nodes: with 5 samples 1,096,540. With 6, the nodes before
// the Add have 1,029,600, and the Add passes the limit.
TEST(FloatInterpreter, TheTermsOfARunAreThoseOfAllItsNodes) {
  Random random;
  FloatModel model = small_network(&random);
  model.limits.terms = 1100000;
  Interpreter interpreter;
  ASSERT_TRUE(interpreter.create(model, 1).ok());
  for (const int64_t samples : {5, 6, 5}) {
    const Status status =
        interpreter.run({{"x", random_tensor({samples, 3, 13, 11}, &random)}}, nullptr, nullptr);
    EXPECT_EQ(status.ok(), samples == 5) << status.message();
    if (samples == 5) continue;
    EXPECT_EQ(status.code(), Code::kUnsupported);
    EXPECT_NE(std::string(status.message())
                  .find("(Add): the model up to here has more than 1100000 terms of sums"),
              std::string::npos)
        << status.message();
  }
}

// Each of the values is small enough, not all that are alive at once.
TEST(FloatInterpreter, TheElementsOfARunAreThoseOfAllValuesThatAreAlive) {
  Random random;
  FloatModel model = small_network(&random);
  for (const bool fits : {true, false}) {
    model.limits.values = fits ? 10000 : 5000;
    Interpreter interpreter;
    ASSERT_TRUE(interpreter.create(model, 1).ok());
    const Status status =
        interpreter.run({{"x", random_tensor({1, 3, 13, 11}, &random)}}, nullptr, nullptr);
    EXPECT_EQ(status.ok(), fits) << status.message();
    if (fits) continue;
    EXPECT_EQ(status.code(), Code::kUnsupported);
    EXPECT_NE(std::string(status.message())
                  .find("(Conv): together with the other values, its result of shape [1, 20, 13, "
                        "11] has more than 5000 elements"),
              std::string::npos)
        << status.message();
  }
}

using quantize::RunLimits;

TEST(RunLimits, GrowWithTheFilesUpToAMost) {
  const RunLimits most, small = RunLimits::of_files(0, 1), large = RunLimits::of_files(1000000, 1);
  EXPECT_EQ(small.value, 1 << 24);
  EXPECT_EQ(small.values, 1 << 24);
  EXPECT_EQ(small.terms, 0x1p32);
  EXPECT_EQ(large.value, small.value + 2000000);
  EXPECT_EQ(large.terms, small.terms + 4096e6);
  EXPECT_EQ(RunLimits::of_files(0, 4).value, 4 * small.value);
  EXPECT_EQ(RunLimits::of_files(0, 4).terms, 4 * small.terms);
  const RunLimits all = RunLimits::of_files(uint64_t{1} << 40, 65536);
  EXPECT_EQ(all.value, most.value);
  EXPECT_EQ(all.values, most.values);
  EXPECT_EQ(all.terms, most.terms);
}

TEST(FloatInterpreter, UnknownSetsAndOperatorsAreRefused) {
  Random random;
  FloatModel model = small_network(&random);
  Interpreter interpreter;
  EXPECT_EQ(interpreter.create(model, 1, "mmx").code(), Code::kInvalidArgument);
  EXPECT_EQ(interpreter.create(model, 0).code(), Code::kInvalidArgument);
  model.nodes[1].op = "AttentionOfTomorrow";
  EXPECT_EQ(interpreter.create(model, 1).code(), Code::kUnsupported);
}

}  // namespace
}  // namespace qrt::testing::floats::float_interpreter_test
