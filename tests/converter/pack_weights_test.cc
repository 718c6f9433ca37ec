// SPDX-License-Identifier: Apache-2.0
// Pass pack_weights: what the packed file computes against plain loops over the source's weights.
#include <gtest/gtest.h>

#include "kernels/requant.h"
#include "tests/support/graph_builder.h"

namespace qrt::pack_weights_test {
namespace {

using convert::ValueId;
using testing::Bytes;
using testing::GraphBuilder;

constexpr int kInputZeroPoint = 117;  // of GraphBuilder

// Accumulators of a convolution, stride 1, padding kernel / 2. weight(o, y, x, i) is the source's,
// less its zero point.
template <class Weight>
std::vector<int32_t> reference(const Bytes& x, const Shape& in, int64_t out, int64_t kernel,
                               int64_t groups, const int32_t* bias, Weight weight) {
  std::vector<int32_t> acc;
  const int64_t h = in[1], w = in[2], c = in[3], pad = kernel / 2;
  for (int64_t y0 = 0; y0 < h; ++y0)
    for (int64_t x0 = 0; x0 < w; ++x0)
      for (int64_t o = 0; o < out; ++o) {
        int64_t sum = bias[o];
        for (int64_t ky = 0; ky < kernel; ++ky)
          for (int64_t kx = 0; kx < kernel; ++kx)
            for (int64_t i = 0; i < c / groups; ++i) {
              const int64_t yy = y0 + ky - pad, xx = x0 + kx - pad;
              if (yy < 0 || yy >= h || xx < 0 || xx >= w) continue;
              const int64_t channel = o / (out / groups) * (c / groups) + i;
              sum += (x[static_cast<size_t>((yy * w + xx) * c + channel)] - kInputZeroPoint) *
                     weight(o, ky, kx, i);
            }
        acc.push_back(static_cast<int32_t>(static_cast<uint32_t>(sum)));
      }
  return acc;
}

// A graph of one convolution whose output are its accumulators.
struct ConvCase {
  int64_t in_c, out, kernel, groups;
  int lo, hi;
};

void check_conv(const ConvCase& c, int terms, fb::TapLayout layout) {
  GraphBuilder b;
  b.weight_lo = c.lo;
  b.weight_hi = c.hi;
  const Shape in = {1, 5, 4, c.in_c};
  const ValueId y = b.conv(b.input(in), c.out, c.kernel, c.groups);
  auto& node = b.graph.nodes[0];
  auto& conv = convert::options<fb::Conv2DOptionsT>(node);
  conv.requant = testing::requant_acc();
  b.graph.values[y].type.dtype = DType::kInt32;
  b.graph.values[y].quantization = {};
  b.output(y);
  auto& weights = b.graph.values[node.inputs[1]];
  weights.as<int16_t>()[0] = static_cast<int16_t>(c.lo);
  weights.as<int16_t>()[1] = static_cast<int16_t>(c.hi);
  const std::vector<int16_t> w(weights.as<int16_t>(),
                               weights.as<int16_t>() + weights.data.size() / 2);
  const auto inputs = b.random_inputs();
  const auto want = reference(
      inputs[0], in, c.out, c.kernel, c.groups, b.graph.values[node.inputs[2]].as<int32_t>(),
      [&](int64_t o, int64_t ky, int64_t kx, int64_t i) {
        return w[static_cast<size_t>(((o * c.kernel + ky) * c.kernel + kx) * (c.in_c / c.groups) +
                                     i)];
      });
  const auto got = testing::run_graph(b.graph, false, inputs);
  ASSERT_EQ(got.outputs.size(), 1u);
  ASSERT_EQ(testing::from_bytes<int32_t>(got.outputs[0]), want);
  ASSERT_TRUE(pack_weights(&b.graph).ok());
  const auto& packed = convert::options<fb::Conv2DOptionsT>(b.graph.nodes[0]);
  EXPECT_EQ(packed.terms, terms);
  EXPECT_EQ(packed.tap_layout, layout);
}

TEST(PackWeights, ConvolutionsOfEveryShapeAndWeightRange) {
  constexpr auto kPixel = fb::TapLayout::PIXEL, kRow = fb::TapLayout::ROW;
  const struct {
    int lo, hi, terms;
  } ranges[] = {{-128, 127, 1}, {-5, 128, 2}, {-129, 0, 2}, {-255, 254, 2}, {0, 255, 3}};
  for (const auto& r : ranges) {
    check_conv({8, 20, 1, 1, r.lo, r.hi}, r.terms, kPixel);
    check_conv({8, 20, 3, 1, r.lo, r.hi}, r.terms, kPixel);
    check_conv({6, 4, 3, 2, r.lo, r.hi}, r.terms, kPixel);
    check_conv({32, 32, 3, 8, r.lo, r.hi}, r.terms, kPixel);
    check_conv({10, 30, 3, 5, r.lo, r.hi}, r.terms, kPixel);
    check_conv({3, 17, 3, 1, r.lo, r.hi}, r.terms, kRow);
    check_conv({1, 5, 5, 1, r.lo, r.hi}, r.terms, kRow);
  }
}

// Groups of few outputs share blocks of 16 channels, as many of them as fit and divide their number.
TEST(PackWeights, NarrowGroupsAreMerged) {
  const struct {
    int64_t channels, groups, merged;
  } cases[] = {{64, 16, 4}, {64, 8, 4}, {64, 4, 4}, {40, 10, 5}, {39, 13, 13}, {34, 2, 2}};
  for (const auto& c : cases) {
    GraphBuilder b;
    b.output(b.conv(b.input({1, 4, 4, c.channels}), c.channels, 3, c.groups));
    const auto inputs = b.random_inputs();
    ASSERT_TRUE(pack_weights(&b.graph).ok());
    const auto& node = b.graph.nodes[0];
    EXPECT_EQ(convert::options<fb::Conv2DOptionsT>(node).groups, c.merged) << c.channels;
    EXPECT_EQ(b.graph.values[node.inputs[1]].type.shape[3], c.channels / c.merged);
  }
}

TEST(PackWeights, FullyConnectedFoldsTheZeroPointOfItsInput) {
  for (const int hi : {127, 254, 255}) {
    GraphBuilder b;
    b.weight_lo = -hi;
    b.weight_hi = hi;
    const ValueId y = b.fully_connected(b.input({2, 37}), 19);
    auto& node = b.graph.nodes[0];
    convert::options<fb::FullyConnectedOptionsT>(node).requant = testing::requant_acc();
    b.graph.values[y].type.dtype = DType::kInt32;
    b.graph.values[y].quantization = {};
    b.output(y);
    b.graph.values[node.inputs[1]].as<int16_t>()[0] = static_cast<int16_t>(hi);
    const auto inputs = b.random_inputs();
    std::vector<int32_t> want;
    for (size_t row = 0; row < 2; ++row)
      for (size_t o = 0; o < 19; ++o) {
        int32_t acc = b.graph.values[node.inputs[2]].as<int32_t>()[o];
        for (size_t k = 0; k < 37; ++k)
          acc += (inputs[0][row * 37 + k] - kInputZeroPoint) *
                 b.graph.values[node.inputs[1]].as<int16_t>()[o * 37 + k];
        want.push_back(acc);
      }
    const auto got = testing::run_graph(b.graph, false, inputs);
    ASSERT_EQ(testing::from_bytes<int32_t>(got.outputs.at(0)), want);
  }
}

TEST(PackWeights, DepthwiseBeyondInt8HasSeveralTerms) {
  for (const int hi : {127, 200, 255})
    for (const int64_t multiplier : {1, 2}) {
      GraphBuilder b;
      b.weight_lo = -hi;
      b.weight_hi = hi;
      const Shape in = {1, 5, 4, 6};
      const int64_t out = 6 * multiplier;
      b.output(b.depthwise(b.input(in), 3, multiplier));
      auto& node = b.graph.nodes[0];
      auto& weights = b.graph.values[node.inputs[1]];
      weights.as<int16_t>()[7] = static_cast<int16_t>(hi);
      const std::vector<int16_t> w(weights.as<int16_t>(),
                                   weights.as<int16_t>() + weights.data.size() / 2);
      const auto inputs = b.random_inputs();
      const auto acc =
          reference(inputs[0], in, out, 3, 6, b.graph.values[node.inputs[2]].as<int32_t>(),
                    [&](int64_t o, int64_t ky, int64_t kx, int64_t) {
                      return w[static_cast<size_t>((ky * 3 + kx) * out + o)];
                    });
      const float scale = 0.01f;
      Requant requant{};
      requant.kind = RequantKind::kF32;
      requant.round = Round::kHalfEven;
      requant.zero_point = kInputZeroPoint;
      requant.hi = 255;
      Bytes want;
      const std::vector<float> scales(64, scale);
      requant.scale = scales.data();
      for (int32_t a : acc) want.push_back(static_cast<uint8_t>(requantize(requant, a, 0)));
      const auto got = testing::run_graph(b.graph, false, inputs);
      ASSERT_EQ(got.outputs.at(0), want) << hi << " " << multiplier;
      ASSERT_TRUE(pack_weights(&b.graph).ok());
      const auto* packed = b.graph.nodes[0].options.AsDepthwiseConv2D();
      ASSERT_NE(packed, nullptr);
      EXPECT_EQ(packed->terms, (hi + 126) / 127);
    }
}

TEST(PackWeights, WeightSumsAndPairSafetyAreOfTheWholeWeights) {
  GraphBuilder b;
  b.weight_lo = b.weight_hi = 100;
  b.output(b.fully_connected(b.input({1, 8}), 2));
  auto& weights = b.graph.values[b.graph.nodes[0].inputs[1]];
  for (size_t i = 0; i < 8; ++i) weights.as<int16_t>()[i] = i % 2 ? 60 : -60;
  GraphBuilder unsafe;
  unsafe.weight_lo = unsafe.weight_hi = 100;
  unsafe.output(unsafe.fully_connected(unsafe.input({1, 8}), 2));
  for (size_t i = 8; i < 16; ++i) weights.as<int16_t>()[i] = 64;
  ASSERT_TRUE(pack_weights(&b.graph).ok());
  ASSERT_TRUE(pack_weights(&unsafe.graph).ok());
  const auto& fc = convert::options<fb::FullyConnectedOptionsT>(b.graph.nodes[0]);
  EXPECT_EQ(fc.weight_sum, (std::vector<int32_t>{0, 512}));
  EXPECT_TRUE(fc.pair_safe);
  const auto& bad = convert::options<fb::FullyConnectedOptionsT>(unsafe.graph.nodes[0]);
  EXPECT_EQ(bad.weight_sum, (std::vector<int32_t>{800, 800}));
  EXPECT_FALSE(bad.pair_safe);
}

TEST(PackWeights, BiasesFoldModulo32Bits) {
  GraphBuilder b;
  b.weight_lo = b.weight_hi = 127;
  b.output(b.fully_connected(b.input({1, 8}), 1));
  b.graph.values[b.graph.nodes[0].inputs[2]].as<int32_t>()[0] = INT32_MIN;
  ASSERT_TRUE(pack_weights(&b.graph).ok());
  EXPECT_EQ(b.graph.values[b.graph.nodes[0].inputs[2]].as<int32_t>()[0],
            static_cast<int32_t>(0x80000000u - 117u * 8u * 127u));
}

// Weights of few bits stay narrow where a channel's values, and the 0 of the packing, fit into the
// source's bits.
TEST(PackWeights, WeightsOfFewBitsStayNarrowWhereTheyFit) {
  const struct {
    int bits, lo, hi;
    DType stored;
  } cases[] = {{4, -8, 7, DType::kInt4},  {4, 0, 15, DType::kInt4}, {4, -15, 0, DType::kInt4},
               {4, -8, 8, DType::kInt8},  {4, 1, 16, DType::kInt8}, {2, -2, 1, DType::kInt2},
               {2, 0, 3, DType::kInt2},   {2, -2, 2, DType::kInt8}, {0, -2, 1, DType::kInt8},
               {4, -200, 7, DType::kInt8}};
  for (const auto& c : cases)
    for (int layer = 0; layer < 3; ++layer) {
      GraphBuilder b;
      b.weight_lo = c.lo;
      b.weight_hi = c.hi;
      const ValueId x = b.input(layer == 2 ? Shape{2, 37} : Shape{1, 5, 4, 18});
      b.output(layer == 0   ? b.conv(x, 20, 3)
               : layer == 1 ? b.depthwise(x, 3)
                            : b.fully_connected(x, 19));
      const ValueId w = b.graph.nodes[0].inputs[1];
      // Both ends in every channel.
      auto* elements = b.graph.values[w].as<int16_t>();
      const size_t count = b.graph.values[w].data.size() / 2;
      for (size_t i = 0; i < count; ++i)
        if (layer == 1 ? i < 18 : i % 9 == 0) elements[i] = static_cast<int16_t>(c.lo);
      for (size_t i = 0; i < count; ++i)
        if (layer == 1 ? i >= 18 && i < 36 : i % 9 == 4) elements[i] = static_cast<int16_t>(c.hi);
      const auto inputs = b.random_inputs();
      const auto want = testing::run_graph(b.graph, false, inputs);
      b.graph.values[w].weight_bits = c.bits;
      ASSERT_EQ(testing::run_graph(b.graph, false, inputs).outputs, want.outputs)
          << c.bits << " bits, " << c.lo << " to " << c.hi;
      ASSERT_TRUE(pack_weights(&b.graph).ok());
      EXPECT_EQ(b.graph.values[b.graph.nodes[0].inputs[1]].type.dtype, c.stored)
          << c.bits << " bits, " << c.lo << " to " << c.hi << ", layer " << layer;
    }
}

TEST(PackWeights, RefusesConstantsThatBreakTheConventions) {
  GraphBuilder b;
  b.output(b.fully_connected(b.input({1, 8}), 2));
  b.graph.values[b.graph.nodes[0].inputs[2]].data.resize(4);
  const Status status = pack_weights(&b.graph);
  EXPECT_EQ(status.code(), Code::kInternal);
  EXPECT_NE(std::string(status.message()).find("FullyConnected 'n0'"), std::string::npos);
}

}  // namespace
}  // namespace qrt::pack_weights_test
