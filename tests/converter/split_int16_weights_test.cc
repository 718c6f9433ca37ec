// SPDX-License-Identifier: Apache-2.0
// Pass split_int16_weights: which layers it splits, and that no output byte changes.
#include <gtest/gtest.h>

#include <vector>

#include "tests/support/graph_builder.h"

namespace qrt::split_wide_weights_test {
namespace {

using convert::ValueId;
using testing::GraphBuilder;

// Gives the weights of node 0 one element beyond int8 in each of these output channels.
void widen(GraphBuilder* b, const std::vector<size_t>& channels, int weight = 133) {
  auto& weights = b->graph.values[b->graph.nodes[0].inputs[1]];
  const size_t taps = weights.data.size() / 2 / static_cast<size_t>(weights.type.shape[0]);
  for (size_t c : channels)
    weights.as<int16_t>()[c * taps + c % taps] = static_cast<int16_t>(weight);
}

// Returns the terms of all convolutions and FullyConnected of a graph behind the passes, in order.
std::vector<int> terms_of_layers(const GraphBuilder& b) {
  std::vector<int> terms;
  for (const auto& node : b.graph.nodes) {
    if (const auto* conv = node.options.AsConv2D()) terms.push_back(conv->terms);
    if (const auto* fc = node.options.AsFullyConnected()) terms.push_back(fc->terms);
  }
  return terms;
}

TEST(SplitWideWeights, OnlyTheBlocksWithWideWeightsTakeTwoTerms) {
  const struct {
    int64_t out;
    std::vector<size_t> wide;
    std::vector<int> terms;
  } cases[] = {
      {96, {}, {1}},
      {96, {3}, {2, 1}},
      {96, {95}, {1, 2}},
      {192, {40, 41}, {1, 2, 1}},
      {320, {40, 200}, {1, 2, 1, 2, 1}},
      {24, {3}, {2}},                      // the parts would not be cheaper than two terms for all
      {320, {0, 64, 128, 192, 256}, {2}},  // too many parts
  };
  for (const auto& c : cases)
    for (const int64_t kernel : {1, 3}) {
      GraphBuilder b;
      b.output(b.conv(b.input({1, 5, 4, 20}), c.out, kernel));
      widen(&b, c.wide);
      expect_same_outputs(&b);
      EXPECT_EQ(terms_of_layers(b), c.terms) << c.out << " channels, kernel " << kernel;
    }
}

TEST(SplitWideWeights, ThreeTermsStandBesideOne) {
  GraphBuilder b;
  b.output(b.conv(b.input({1, 5, 4, 20}), 256, 1));
  widen(&b, {100}, 255);
  expect_same_outputs(&b);
  EXPECT_EQ(terms_of_layers(b), (std::vector<int>{1, 3, 1}));
}

TEST(SplitWideWeights, FullyConnectedOfSeveralRowsAndNumbersPerChannel) {
  GraphBuilder b;
  b.output(b.fully_connected(b.input({3, 37}), 201));
  auto& requant = convert::options<fb::FullyConnectedOptionsT>(b.graph.nodes[0]).requant;
  std::vector<float> scales;
  for (int i = 0; i < 201; ++i) scales.push_back(0.001f + 0.00001f * static_cast<float>(i));
  requant = testing::requant_f32(scales, 117);
  widen(&b, {200});
  expect_same_outputs(&b);
  EXPECT_EQ(terms_of_layers(b), (std::vector<int>{1, 2}));
}

TEST(SplitWideWeights, StagesPerChannelGoWithTheirChannels) {
  GraphBuilder b;
  b.output(b.conv(b.input({1, 3, 3, 8}), 128, 3));
  auto& requant = convert::options<fb::Conv2DOptionsT>(b.graph.nodes[0]).requant;
  requant = testing::requant_int(1 << 30, 38, 117);
  auto& stage = *requant->stages[0];
  stage.multiplier.clear();
  stage.shift.clear();
  for (int i = 0; i < 128; ++i) {
    stage.multiplier.push_back((1 << 30) + i * 1000000);
    stage.shift.push_back(static_cast<uint8_t>(37 + i % 3));
  }
  widen(&b, {70});
  expect_same_outputs(&b);
  EXPECT_EQ(terms_of_layers(b), (std::vector<int>{1, 2, 1}));
}

TEST(SplitWideWeights, GroupsStayWhole) {
  GraphBuilder b;
  b.output(b.conv(b.input({1, 5, 4, 64}), 192, 3, 2));
  widen(&b, {3});
  expect_same_outputs(&b);
  EXPECT_EQ(terms_of_layers(b), (std::vector<int>{2}));
}

}  // namespace
}  // namespace qrt::split_wide_weights_test
