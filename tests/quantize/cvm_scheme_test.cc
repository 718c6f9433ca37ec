// SPDX-License-Identifier: Apache-2.0
// The scheme cvm: what each operator becomes for MRT's integers, and what is refused.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <functional>
#include <nlohmann/json.hpp>

#include "converter/quantize/cvm/operators.h"
#include "converter/quantize/mrt.h"
#include "runtime/tools/npy.h"
#include "tests/quantize/network.h"
#include "tests/support/command.h"

namespace qrt::cvm_scheme_test {
namespace {

using testing::Attr;
using testing::CommandResult;
using testing::OnnxBuilder;

const Attr kPads("pads", testing::Dims{1, 1, 1, 1});

class CvmScheme : public testing::CommandTest {
 protected:
  std::vector<float> normal(const testing::Dims& dims, float deviation) {
    size_t n = 1;
    for (const int64_t d : dims) n *= static_cast<size_t>(d);
    return testing::normal(&random_, n, deviation);
  }
  std::string constant(OnnxBuilder& b, const testing::Dims& dims, float deviation) {
    return b.constant<float>(dims, normal(dims, deviation));
  }
  std::string conv(OnnxBuilder& b, const std::string& x, const testing::Dims& w,
                   const std::vector<Attr>& attributes) {
    const float deviation = 1.0f / std::sqrt(static_cast<float>(w[1] * w[2] * w.back()));
    return b.node("Conv", {x, constant(b, w, deviation), constant(b, {w[0]}, 0.2f)}, attributes);
  }
  void write_samples(const Shape& shape) {
    const std::vector<float> x =
        testing::normal(&random_, static_cast<size_t>(shape.elements()), 1);
    ASSERT_TRUE(
        tool::write_npy(path("x.npy"), DType::kFloat32, shape, x.data(), x.size() * 4).ok());
  }
  std::vector<std::string> arguments(const std::vector<std::string>& more) const {
    std::vector<std::string> all = {path("m.onnx"), "--calibration", path("x.npy"), "--scheme",
                                    "cvm",          "--ladder",      "none"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  // Returns the decibels of a model of input [N, 4, 8, 8], or `shape`, that `build` makes behind it.
  double decibels(const std::function<std::string(OnnxBuilder&, const std::string&)>& build,
                  const testing::Dims& y, const testing::Dims& shape = {4, 8, 8}) {
    OnnxBuilder b;
    testing::Dims input = {-1};
    Shape samples = {24};
    for (const int64_t d : shape) {
      input.push_back(d);
      samples.push_back(d);
    }
    const std::string x = b.input<float>(input, "x");
    OnnxBuilder::declare(b.graph().add_output(), build(b, x), 1, y);
    write("m.onnx", b.bytes());
    write_samples(samples);
    const CommandResult r = run("qrt_quantize", arguments({"--report", path("r.json")}));
    EXPECT_EQ(r.status, 0) << r.err;
    if (r.status != 0) return 0;
    const auto report = nlohmann::json::parse(read(path("r.json")));
    EXPECT_EQ(report["float_nodes"], 0);
    return report["agreement"]["held_out"]["all"]["sqnr_db"];
  }
  void expect_refused(const std::vector<std::string>& more, int status,
                      const std::string& part) const {
    const CommandResult r = run("qrt_quantize", arguments(more));
    EXPECT_EQ(r.status, status) << r.err;
    EXPECT_NE(r.err.find(part), std::string::npos) << r.err;
  }

  // Returns the elements at the end of an .npy file.
  template <class T>
  std::vector<T> array(const std::string& name, size_t n) const {
    const std::string bytes = read(path(name));
    std::vector<T> values(n);
    EXPECT_GE(bytes.size(), n * sizeof(T));
    if (bytes.size() >= n * sizeof(T))
      memcpy(values.data(), bytes.data() + bytes.size() - n * sizeof(T), n * sizeof(T));
    return values;
  }

  std::mt19937 random_{5};
};

TEST_F(CvmScheme, ConvolutionsWithAllKindsOfWindows) {
  EXPECT_GT(decibels(
                [&](OnnxBuilder& b, const std::string& x) {
                  const std::string a = b.node("Relu", {conv(b, x, {6, 4, 3, 3}, {kPads})});
                  // More pads behind than before, and the other way round.
                  const std::string c = conv(b, a, {6, 1, 3, 3},
                                             {{"group", 6},
                                              {"pads", testing::Dims{0, 1, 2, 1}},
                                              {"strides", testing::Dims{2, 2}}});
                  return conv(
                      b, c, {5, 6, 3, 2},
                      {{"pads", testing::Dims{2, 1, 0, 0}}, {"dilations", testing::Dims{1, 2}}});
                },
                {-1, 5, 4, 3}),
            28);
}

TEST_F(CvmScheme, AnImageOfOneDimension) {
  EXPECT_GT(decibels(
                [&](OnnxBuilder& b, const std::string& x) {
                  const std::string a =
                      b.node("Relu", {conv(b, x, {6, 5, 3}, {{"pads", testing::Dims{2, 0}}})});
                  return conv(b, a, {6, 6, 3}, {{"pads", testing::Dims{1, 1}}});
                },
                {-1, 6, 12}, {5, 12}),
            30);
}

// Weights of channels that are far apart are brought to one scale by factors.
TEST_F(CvmScheme, ChannelsOfUnlikeSize) {
  EXPECT_GT(decibels(
                [&](OnnxBuilder& b, const std::string& x) {
                  std::vector<float> w = normal({6, 4, 1, 1}, 1);
                  for (size_t i = 0; i < w.size(); ++i) w[i] *= std::pow(5.0f, -(int(i) / 4));
                  const std::string a = b.node("Conv", {x, b.constant<float>({6, 4, 1, 1}, w)});
                  std::vector<float> back(36);
                  for (size_t c = 0; c < 6; ++c) back[c * 7] = std::pow(5.0f, float(c));
                  // Only the four greatest exceed one step of 8 bits of the scale that the channels share.
                  for (size_t c = 2; c < 6; ++c) back[c * 7] = 1;
                  return b.node("Conv", {a, b.constant<float>({6, 6, 1, 1}, back)});
                },
                {-1, 6, 8, 8}),
            25);
}

TEST_F(CvmScheme, SumsProductsTablesAndLimits) {
  EXPECT_GT(decibels(
                [&](OnnxBuilder& b, const std::string& x) {
                  const std::string a = conv(b, x, {8, 4, 3, 3}, {kPads});
                  const std::string s = b.node("Mul", {a, b.node("Sigmoid", {a})});
                  const std::string mean = b.node("GlobalAveragePool", {s});
                  const std::string gate =
                      b.node("HardSigmoid", {b.node("Conv", {mean, constant(b, {8, 8, 1, 1}, 2)})});
                  const std::string gated = b.node("Mul", {s, gate});
                  const std::string c = b.node(
                      "Clip", {conv(b, gated, {8, 8, 1, 1}, {}), b.constant<float>({}, {-0.5f}),
                               b.constant<float>({}, {1.0f})});
                  const std::string sum = b.node("Sub", {b.node("Add", {c, gated}), s});
                  const std::string scaled = b.node("Mul", {sum, constant(b, {8, 1, 1}, 1)});
                  return b.node("Add", {scaled, constant(b, {8, 1, 1}, 1)});
                },
                {-1, 8, 8, 8}),
            28);
}

TEST_F(CvmScheme, PoolsAndMoves) {
  EXPECT_GT(
      decibels(
          [&](OnnxBuilder& b, const std::string& x) {
            const Attr two("kernel_shape", testing::Dims{2, 2}),
                by_two("strides", testing::Dims{2, 2});
            const std::string greatest = b.node("MaxPool", {x}, {two, by_two});
            const std::string average = b.node("AveragePool", {x}, {two, by_two});
            const std::string both = b.node("Concat", {greatest, average}, {{"axis", 1}});
            const std::string blocks =
                b.node("DepthToSpace", {both}, {{"blocksize", 2}, {"mode", "CRD"}});
            const auto resized = [&](const std::string& of, const std::vector<Attr>& how) {
              return b.node("Resize", {of, "", b.constant<float>({4}, {1, 1, 2, 2})}, how);
            };
            const std::string nearest =
                resized(both, {{"mode", "nearest"},
                               {"coordinate_transformation_mode", "asymmetric"},
                               {"nearest_mode", "floor"}});
            const std::string linear = resized(both, {{"mode", "linear"}});
            const std::string all = b.node("Concat", {blocks, nearest, linear}, {{"axis", 1}});
            const std::string part = b.node(
                "Slice", {all, b.constant<int64_t>({2}, {1, 2}), b.constant<int64_t>({2}, {17, 8}),
                          b.constant<int64_t>({2}, {1, 3})});
            return b.node("Transpose", {part}, {{"perm", testing::Dims{0, 2, 3, 1}}});
          },
          {-1, 8, 6, 16}),
      30);
}

TEST_F(CvmScheme, DenseLayersWithBothKindsOfBias) {
  EXPECT_GT(decibels(
                [&](OnnxBuilder& b, const std::string& x) {
                  const std::string a =
                      b.node("Relu", {b.node("Gemm",
                                             {b.node("Flatten", {x}), constant(b, {20, 64}, 0.1f),
                                              constant(b, {20}, 0.3f)},
                                             {{"transB", 1}})});
                  return b.node("Add", {b.node("MatMul", {a, constant(b, {20, 7}, 0.2f)}),
                                        constant(b, {7}, 1)});
                },
                {-1, 7}, {4, 4, 4}),
            30);
}

// A convolution of bytes with a zero point is exact: sum((x - z) * w) with real zeros around the
// image is the window's products and, as bias, mrt.h's c2.
TEST_F(CvmScheme, AConvolutionOfBytesWithAZeroPointIsExact) {
  using quantize::CvmNumber;
  constexpr int32_t kZero = -57;
  constexpr int kChannels = 2, kSize = 5, kKernel = 3, kStride = 2, kBefore[] = {1, 0},
                kBehind[] = {0, 2};
  std::uniform_int_distribution<int32_t> byte(-127, 127);
  const auto bytes = [&](size_t n) {
    std::vector<int32_t> v(n);
    for (int32_t& q : v) q = byte(random_);
    return v;
  };
  const std::vector<int32_t> x = bytes(kChannels * kSize * kSize),
                             w = bytes(kChannels * kKernel * kKernel);
  const int64_t c2 = mrt::zero_point_terms(w, 1, kZero, {0}).c2[0];

  quantize::CvmSymbol symbol;
  quantize::CvmNumbers numbers(&symbol);
  CvmNumber from, y;
  from.entry = symbol.add_input({1, kChannels, kSize, kSize}, 8);
  from.zero = kZero;
  const int weights = symbol.add_parameter({1, kChannels, kKernel, kKernel}, 8, w);
  const int bias = symbol.add_parameter({1}, 20, {static_cast<int32_t>(c2)});
  const quantize::CvmWindow window = {{kKernel, kKernel},
                                      {kStride, kStride},
                                      {1, 1},
                                      {kBefore[0], kBefore[1]},
                                      {kBehind[0], kBehind[1]}};
  ASSERT_TRUE(quantize::add_cvm_conv(from, weights, bias, 22, 1, window, &numbers, &y).ok());
  write("c.json", symbol.symbol({y.entry}));
  write("c.params", symbol.params());
  const CommandResult r = run("qrt_convert", {path("c.json"), "-o", path("c.qrt")});
  ASSERT_EQ(r.status, 0) << r.err;
  const std::vector<int8_t> data(x.begin(), x.end());
  ASSERT_TRUE(tool::write_npy(path("q.npy"), DType::kInt8, {1, kChannels, kSize, kSize},
                              data.data(), data.size())
                  .ok());
  ASSERT_EQ(run("qrt_run", {path("c.qrt"), path("q.npy"), "--output-dir", path("out")}).status, 0);

  std::vector<int32_t> expected;
  for (int row = -kBefore[0]; row + kKernel <= kSize + kBehind[0]; row += kStride)
    for (int column = -kBefore[1]; column + kKernel <= kSize + kBehind[1]; column += kStride) {
      int32_t sum = 0;
      for (int k = 0; k < kChannels * kKernel * kKernel; ++k) {
        const int i = row + k / kKernel % kKernel, j = column + k % kKernel;
        if (i < 0 || i >= kSize || j < 0 || j >= kSize) continue;
        const auto at = static_cast<size_t>((k / (kKernel * kKernel) * kSize + i) * kSize + j);
        sum += (x[at] - kZero) * w[static_cast<size_t>(k)];
      }
      expected.push_back(sum);
    }
  EXPECT_EQ(array<int32_t>("out/output_0.npy", expected.size()), expected);
}

// Layers get zero points where they help: the results of a Relu have 128 symmetric codes, and 255
// with a zero point.
TEST_F(CvmScheme, GivesLayersZeroPointsWhereTheyHelp) {
  const auto build = [&](OnnxBuilder& b, const std::string& x) {
    std::string a = x;
    for (int i = 0; i < 3; ++i)
      a = b.node("Relu", {conv(b, a, {6, i == 0 ? 4 : 6, 3, 3}, {kPads})});
    return conv(b, a, {6, 6, 3, 3}, {kPads});
  };
  EXPECT_GT(decibels(build, {-1, 6, 8, 8}), 33);
  const auto report = nlohmann::json::parse(read(path("r.json")));
  int with_zero_point = 0;
  for (const auto& t : report["tensors"]) {
    EXPECT_EQ(t["zero_point"], t["op"] == "Relu" ? -127 : 0) << t.dump();
    if (t["zero_point"] == 0) continue;
    ++with_zero_point;
    EXPECT_EQ(t["codes_used"], 255) << t.dump();
  }
  EXPECT_EQ(with_zero_point, 3);
}

// The model that a CVM runtime reads is the one that ships: its integers times their step are the results.
TEST_F(CvmScheme, WritesTheModelThatACvmRuntimeReads) {
  write("m.onnx", testing::small_network(&random_));
  write_samples({40, 3, 8, 8});
  const CommandResult made =
      run("qrt_quantize", arguments({"-o", path("m.qrt"), "--cvm", path("m")}));
  ASSERT_EQ(made.status, 0) << made.err;
  float in = 0, out = 0;
  const size_t at = made.out.find("input x: integer = round(real / ");
  ASSERT_NE(at, std::string::npos) << made.out;
  ASSERT_EQ(sscanf(made.out.c_str() + at, "input x: integer = round(real / %f)", &in), 1);
  const size_t times = made.out.find("= integer * ");
  ASSERT_EQ(sscanf(made.out.c_str() + times, "= integer * %f", &out), 1);

  const CommandResult r = run("qrt_convert", {path("m.json"), "-o", path("c.qrt")});
  ASSERT_EQ(r.status, 0) << r.err;
  const std::vector<float> x = array<float>("x.npy", 40 * 192);
  std::vector<int8_t> q;
  for (const float v : x)
    q.push_back(static_cast<int8_t>(std::clamp(std::round(v / in), -127.0f, 127.0f)));
  ASSERT_TRUE(tool::write_npy(path("q.npy"), DType::kInt8, {40, 3, 8, 8}, q.data(), q.size()).ok());
  for (const char* name : {"m.qrt", "c.qrt"})
    ASSERT_EQ(run("qrt_run", {path(name), path(name[0] == 'm' ? "x.npy" : "q.npy"), "--output-dir",
                              path(std::string(name) + ".out")})
                  .status,
              0);
  const std::vector<float> reals = array<float>("m.qrt.out/output_0.npy", 400);
  const std::vector<int32_t> integers = array<int32_t>("c.qrt.out/output_0.npy", 400);
  for (size_t i = 0; i < reals.size(); ++i)
    ASSERT_EQ(reals[i], static_cast<float>(integers[i]) * out) << i;
}

TEST_F(CvmScheme, RefusesWhatCvmHasNot) {
  OnnxBuilder b;
  const std::string x = b.input<float>({-1, 6}, "x");
  const std::string s = b.node("Softmax", {x}, {{"axis", 1}});
  OnnxBuilder::declare(b.graph().add_output(), s, 1, {-1, 6});
  write("m.onnx", b.bytes());
  write_samples({20, 6});
  expect_refused({"-o", path("out.qrt")}, 4,
                 "(Softmax) (the scheme cvm is for convolutional networks: try --scheme ort-u8)");
  expect_refused({"--onnx", path("out.onnx")}, 2, "--cvm STEM");
  expect_refused({"--max-drop", "1", "-o", path("out.qrt")}, 2, "CVM's layers read 8");
}

}  // namespace
}  // namespace qrt::cvm_scheme_test
