// SPDX-License-Identifier: Apache-2.0
// QDQ graphs of ONNX with powers of two, converted with --reference espdl-p4 and espdl-s3: their edges, mixed
// types, what two operators become together, and what is refused. Single operators: espdl_qdq_ops_test.cc.
#include "tests/support/qdq_net.h"

namespace qrt::testing::espdl_qdq_test {
namespace {

using namespace qdq;  // NOLINT

TEST(EspdlQdq, FloatsAreQuantisedAtTheEdgesByTheTarget) {
  for (const std::string reference : {"espdl-p4", "espdl-s3"}) {
    OnnxBuilder b(13);
    b.output(b.dq(b.q(b.input({4}), 0.5f, int8_t{0}), 0.5f, int8_t{0}));
    Imported imported = import_as(b.bytes(), reference);
    ASSERT_TRUE(imported.status.ok()) << imported.report.text(true);
    const std::vector<float> x = {0.25f, 0.75f, -0.25f, 1000.0f};  // ties, and too great
    const std::vector<float> y = reference == "espdl-p4"
                                     ? std::vector<float>{0.0f, 1.0f, 0.0f, 63.5f}
                                     : std::vector<float>{0.5f, 1.0f, 0.0f, 63.5f};
    ASSERT_EQ(run_graph(std::move(imported.graph), true, {to_bytes(x)}).outputs,
              std::vector<Bytes>{to_bytes(y)});
  }
}

// A layer between an int8 part and an int16 part computes in the wider of its types, with one rounding.
TEST(EspdlQdq, LayersBetweenInt8AndInt16) {
  Random random;
  Net<int8_t> net("espdl-p4", &random);
  Integers x, w;
  const std::string in = net.input({2, 8}, -4, &x), weights = net.constant({8, 5}, {-7}, 0, &w);
  net.b.integer_output<int16_t>(net.b.node("Gemm", {in, weights}), scale_of(-8), int16_t{0});
  std::vector<int16_t> expected;
  for (int64_t r = 0; r < 2; ++r)
    for (int64_t o = 0; o < 5; ++o) {
      int64_t sum = 0;
      for (int64_t i = 0; i < 8; ++i) sum += x[at(r * 8 + i)] * w[at(i * 5 + o)];
      expected.push_back(static_cast<int16_t>(std::nearbyint(static_cast<double>(sum) / 8)));
    }
  ASSERT_EQ(net.run(), std::vector<Bytes>{to_bytes(expected)}) << random.trace();
}

TEST(EspdlQdq, SigmoidAndItsProductAreSwish) {
  Random random;
  Net<int8_t> net("espdl-s3", &random);
  Integers x, expected;
  const std::string in = net.input({1, 256}, -4, &x);
  for (const int64_t q : x) {
    const float t = static_cast<float>(q) / 16.0f;
    const auto e = static_cast<float>(std::exp(-static_cast<double>(t)));
    const auto s = static_cast<float>(1.0 / (1.0 + static_cast<double>(e)));
    expected.push_back(net.rounded(s * t * 32.0f));
  }
  const std::string y = net.b.node("Mul", {in, net.b.node("Sigmoid", {in})});
  net.check(y, -5, expected);
  const Imported imported = net.import();
  ASSERT_EQ(imported.became("Sigmoid2"), "fused into Mul") << imported.report.text(true);
}

TEST(EspdlQdq, ProductsOfTwoComputedMatrices) {
  Random random;
  for (const std::string reference : {"espdl-p4", "espdl-s3"}) {
    Net<int8_t> net(reference, &random);
    Integers a, c, expected;
    const std::string x = net.input({2, 3, 20}, -4, &a), y = net.input({2, 20, 18}, -5, &c);
    for (int64_t i = 0; i < 2; ++i)
      for (int64_t r = 0; r < 3; ++r)
        for (int64_t o = 0; o < 18; ++o) {
          int64_t sum = 0;
          for (int64_t k = 0; k < 20; ++k)
            sum += a[at((i * 3 + r) * 20 + k)] * c[at((i * 20 + k) * 18 + o)];
          expected.push_back(net.shifted(sum, 9));
        }
    net.check(net.b.node("MatMul", {x, y}), 0, expected);
  }
}

// DepthToSpace of both modes and SpaceToDepth keep ONNX's orders of channels.
TEST(EspdlQdq, BlocksOfPixelsAndChannels) {
  Random random;
  const int64_t k = 2, c = 3, h = 2, w = 4;
  for (const std::string mode : {"DCR", "CRD", "SpaceToDepth"}) {
    Net<int8_t> net("espdl-p4", &random);
    const bool to_depth = mode == "SpaceToDepth";
    const Dims deep{1, c * k * k, h, w}, wide{1, c, h * k, w * k};
    Integers x, expected(at(c * k * k * h * w));
    const std::string in = net.input(to_depth ? wide : deep, -4, &x);
    for (int64_t ch = 0; ch < c; ++ch)
      for (int64_t i = 0; i < k; ++i)
        for (int64_t j = 0; j < k; ++j)
          for (int64_t r = 0; r < h; ++r)
            for (int64_t s = 0; s < w; ++s) {
              const int64_t channel = mode == "CRD" ? (ch * k + i) * k + j : (i * k + j) * c + ch;
              const size_t of_deep = at((channel * h + r) * w + s),
                           of_wide = at((ch * h * k + r * k + i) * w * k + s * k + j);
              expected[to_depth ? of_deep : of_wide] = x[to_depth ? of_wide : of_deep];
            }
    net.check(to_depth
                  ? net.b.node("SpaceToDepth", {in}, {{"blocksize", k}})
                  : net.b.node("DepthToSpace", {in}, {{"blocksize", k}, {"mode", mode.c_str()}}),
              -4, expected);
  }
}

// In a network of convolutions, a residual sum, limits and a classifier the layouts between them cancel.
TEST(EspdlQdq, ANetworkNeedsNoTransposesInside) {
  Random random;
  Net<int8_t> net("espdl-p4", &random);
  Integers unused;
  OnnxBuilder& b = net.b;
  const auto conv = [&](const std::string& x, int64_t in, int64_t out) {
    return b.node("Conv", {x, net.constant({out, in, 3, 3}, {-8}, 0, &unused)},
                  {{"pads", Dims{1, 1, 1, 1}}});
  };
  const std::string x = net.input({1, 3, 8, 8}, -6, &unused);
  const std::string first = b.qdq(b.node("Relu", {conv(x, 3, 8)}), scale_of(-3), int8_t{0});
  const std::string clipped = b.node("Clip", {conv(first, 8, 8), b.scalar(0.0f), b.scalar(6.0f)});
  const std::string second = b.qdq(clipped, scale_of(-3), int8_t{0});
  const std::string sum = b.qdq(b.node("Add", {first, second}), scale_of(-3), int8_t{0});
  const std::string pooled = b.qdq(b.node("GlobalAveragePool", {sum}), scale_of(-4), int8_t{0});
  const std::string flat = b.node("Flatten", {pooled});
  b.integer_output<int8_t>(b.node("Gemm", {flat, net.constant({8, 10}, {-7}, 0, &unused)}),
                           scale_of(-2), int8_t{0});
  Imported imported = net.import();
  ASSERT_TRUE(imported.status.ok()) << imported.report.text(true);
  ASSERT_EQ(imported.became("Conv8"), "Conv2D") << imported.report.text(true);
  const RunResult ran = run_graph(std::move(imported.graph), true, net.inputs);
  int transposes = 0;
  for (const std::string& kernel : ran.kernels)
    transposes += kernel.find("transpose") != std::string::npos;
  ASSERT_LE(transposes, 1);  // of the model's input
}

TEST(EspdlQdq, OutputsThatNobodyReadCountForNothing) {
  OnnxBuilder b(13);
  const std::string x = b.integer_input<int8_t>({4, 2}, 0.5f, 0);
  const std::string dropped = b.node("Dropout", {b.node("Sigmoid", {x})});
  b.graph().mutable_node(b.graph().node_size() - 1)->add_output("mask");
  b.integer_output<int8_t>(dropped, 0.25f, 0);
  const std::string part = b.node("Split", {b.node("Tanh", {x})}, {{"axis", 0}});
  b.graph().mutable_node(b.graph().node_size() - 1)->add_output("unread");
  b.integer_output<int8_t>(part, 0.25f, 0);
  const Imported imported = import_as(b.bytes(), "espdl-p4");
  ASSERT_TRUE(imported.status.ok()) << imported.report.text(true);
}

TEST(EspdlQdq, TheFirstScaleThatIsNoPowerOfTwoIsNamed) {
  OnnxBuilder b(13);
  const std::string x = b.qdq(b.input({1, 4}, "image"), 0.25f, int8_t{0});
  const std::string h = b.qdq(b.node("Relu", {x}), 0.3f, int8_t{0});
  b.output(b.qdq(b.node("Sigmoid", {h}), 0.1f, int8_t{0}));
  const Imported imported = import_as(b.bytes(), "espdl-p4");
  ASSERT_EQ(imported.status.code(), Code::kUnsupported);
  ASSERT_NE(imported.rule().find("0.3"), std::string::npos) << imported.report.text(true);
  ASSERT_NE(imported.rule().find("not a power of two"), std::string::npos);
  for (const convert::Finding& f : imported.report.findings())
    if (f.outcome == convert::Outcome::kRefused) {
      ASSERT_EQ(f.tensor, b.model.graph().node(2).output(0));  // the Relu's result
      break;
    }
}

TEST(EspdlQdq, WhatEspDlHasNotIsRefused) {
  const auto refused = [](const OnnxBuilder& b, const std::string& part) {
    const Imported imported = import_as(b.bytes(), "espdl-s3");
    ASSERT_EQ(imported.status.code(), Code::kUnsupported) << part;
    ASSERT_NE(imported.report.text(true).find(part), std::string::npos)
        << part << "\n"
        << imported.report.text(true);
  };
  {
    OnnxBuilder b(13);
    b.output(b.qdq(b.input({4}), 0.5f, uint8_t{128}));
    refused(b, "zero point");
  }
  {
    OnnxBuilder b(13);
    b.output(b.qdq(b.input({4}), 0.5f, uint8_t{0}));
    refused(b, "ESP-DL has int8 and int16");
  }
  {
    OnnxBuilder b(13);
    const std::string x = b.integer_input<int8_t>({4}, 0.5f, 0);
    b.output(b.node("Sigmoid", {x}));
    refused(b, "is not quantised");
  }
  {
    OnnxBuilder b(13);
    const std::string x = b.integer_input<int8_t>({4}, 0.5f, 0);
    b.integer_output<int8_t>(b.node("Erf", {x}), 0.5f, 0);
    refused(b, "no form of this operator");
  }
  {  // the sum of integers of a greater exponent might saturate before it is added
    OnnxBuilder b(13);
    const std::string x = b.integer_input<int8_t>({4}, 0.5f, 0),
                      y = b.integer_input<int8_t>({4}, 0.25f, 0);
    b.integer_output<int8_t>(b.node("Add", {x, y}), 0.25f, 0);
    refused(b, "adds integers of one scale");
  }
  {  // a bias is no operand
    OnnxBuilder b(13);
    const std::string x = b.integer_input<int8_t>({4}, 0.5f, 0);
    const std::string c = b.node(
        "DequantizeLinear", {b.constant({4}, std::vector<int32_t>{1, 2, 3, 400}), b.scalar(0.5f)});
    b.integer_output<int8_t>(b.node("Mul", {x, c}), 0.25f, 0);
    refused(b, "is a constant");
  }
  {  // as many rows as columns, but one value for each row
    OnnxBuilder b(13);
    const std::string x = b.integer_input<int8_t>({2, 2}, 0.5f, 0);
    const std::string w =
        b.dq<int8_t>(b.constant({2, 2}, std::vector<int8_t>{1, 2, 3, 4}), 0.5f, 0);
    const std::string c = b.constant({2, 1}, std::vector<float>{10, 20});
    b.integer_output<int8_t>(b.node("Gemm", {x, w, c}), 1.0f, 0);
    refused(b, "differs from row to row");
  }
  {  // another domain's Relu is not ONNX's
    OnnxBuilder b(13);
    const std::string x = b.integer_input<int8_t>({2, 2}, 0.5f, 0);
    const std::string w =
        b.dq<int8_t>(b.constant({2, 2}, std::vector<int8_t>{1, 2, 3, 4}), 0.5f, 0);
    const std::string y = b.node("Relu", {b.node("Gemm", {x, w})}, {}, "someone");
    b.integer_output<int8_t>(y, 1.0f, 0);
    refused(b, "no form of this operator");
  }
  {  // the parts of a Split with scales of their own
    OnnxBuilder b(11);
    const std::string x = b.integer_input<int8_t>({4}, 0.5f, 0);
    const std::string first = b.node("Split", {b.node("Sigmoid", {x})}, {{"axis", 0}});
    b.graph().mutable_node(b.graph().node_size() - 1)->add_output("second");
    b.integer_output<int8_t>(first, 0.25f, 0);
    b.integer_output<int8_t>("second", 0.5f, 0);
    refused(b, "is not quantised");
  }
  {  // per channel is the P4's
    OnnxBuilder b(13);
    const std::string x = b.integer_input<int8_t>({1, 2}, 0.5f, 0);
    const std::string w = b.node("DequantizeLinear",
                                 {b.constant({2, 2}, std::vector<int8_t>{1, 2, 3, 4}),
                                  b.constant({2}, std::vector<float>{0.5f, 0.25f}),
                                  b.constant({2}, std::vector<int8_t>{0, 0})},
                                 {{"axis", 1}});
    b.integer_output<int8_t>(b.node("Gemm", {x, w}), 1.0f, 0);
    refused(b, "only the ESP32-P4");
  }
}

// A small network with changed bytes is refused or runs, but never crashes.
TEST(EspdlQdq, DamagedFilesAreRefused) {
  Random random;
  Net<int8_t> net("espdl-p4", &random);
  Integers unused;
  OnnxBuilder& b = net.b;
  const std::string x = net.input({1, 3, 4, 4}, -6, &unused);
  const std::string y =
      b.qdq(b.node("Relu", {b.node("Conv", {x, net.constant({4, 3, 3, 3}, {-8}, 0, &unused)})}),
            0.125f, int8_t{0});
  b.integer_output<int8_t>(
      b.node("Reshape", {b.node("MaxPool", {y}, {{"kernel_shape", Dims{2, 2}}}),
                         b.constant({2}, Dims{1, -1})}),
      0.125f, 0);
  const std::string bytes = b.bytes();
  int accepted = 0;
  for (int i = 0; i < 500; ++i) {
    std::string damaged = bytes;
    const int turns = static_cast<int>(random.integer(1, 4));
    for (int k = 0; k < turns; ++k)
      damaged[at(random.integer(0, static_cast<int64_t>(bytes.size()) - 1))] ^=
          static_cast<char>(1 << random.integer(0, 7));
    const Imported imported = import_as(damaged, "espdl-p4");
    accepted += imported.status.ok();
    ASSERT_NE(imported.status.code(), Code::kInternal)
        << imported.status.message() << random.trace();
  }
  ASSERT_GT(accepted, 0);
}

}  // namespace
}  // namespace qrt::testing::espdl_qdq_test
