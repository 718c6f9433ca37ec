// SPDX-License-Identifier: Apache-2.0
// Pass open_batch: where one file may serve every batch, and that it then gives each row what it
// gets alone.
#include <gtest/gtest.h>

#include "tests/support/graph_builder.h"

namespace qrt::open_batch_test {
namespace {

using convert::ValueId;
using testing::Bytes;
using testing::GraphBuilder;

bool opens(GraphBuilder* b) {
  convert::open_batch(&b->graph);
  for (ValueId id : b->graph.inputs) EXPECT_EQ(b->shape(id)[0] == -1, b->graph.batch_is_open);
  return b->graph.batch_is_open;
}

TEST(OpenBatch, EveryRowGetsWhatItGetsAlone) {
  GraphBuilder b;
  const ValueId x = b.quantize(b.input({1, 3, 5, 4}, DType::kFloat32));
  ValueId y = b.nchw_conv(x, 8, 3);
  y = b.add(b.nchw_depthwise(y, 3), b.mul(y, b.constant({8, 1, 1})));
  y = b.concat({y, b.nchw_channel_lut(y)}, 1);
  b.output(y);
  b.output(b.dequantize(b.fully_connected(b.reshape(y, {1, 320}), 6)));
  constexpr size_t kBatch = 3;
  const std::vector<Bytes> inputs = b.random_inputs(kBatch);
  const auto together = testing::run_graph(b.graph, true, inputs, kBatch);
  ASSERT_EQ(together.status, QRT_OK);
  for (size_t row = 0; row < kBatch; ++row) {
    const size_t bytes = inputs[0].size() / kBatch;
    const auto begin = inputs[0].begin() + static_cast<int64_t>(row * bytes);
    const auto alone =
        testing::run_graph(b.graph, true, {Bytes(begin, begin + static_cast<int64_t>(bytes))});
    for (size_t o = 0; o < alone.outputs.size(); ++o) {
      const size_t size = alone.outputs[o].size();
      const auto from = together.outputs[o].begin() + static_cast<int64_t>(row * size);
      ASSERT_EQ(Bytes(from, from + static_cast<int64_t>(size)), alone.outputs[o]) << row;
    }
  }
}

TEST(OpenBatch, KeepsTheSourcesBatchAsDefault) {
  GraphBuilder b;
  b.output(b.reshape(b.lut(b.input({4, 6})), {4, 2, 3}));
  ASSERT_TRUE(opens(&b));
  EXPECT_EQ(b.graph.default_batch, 4);
  const auto& reshape = convert::options<fb::ReshapeOptionsT>(b.graph.nodes[1]);
  EXPECT_EQ(reshape.shape, (std::vector<int32_t>{-1, 2, 3}));
}

TEST(OpenBatch, ShapesStayWhenInputsDiffer) {
  GraphBuilder b;
  const ValueId x = b.input({1, 6}), y = b.input({2, 6});
  b.output(b.add(x, y));
  EXPECT_FALSE(opens(&b));
  EXPECT_EQ(b.shape(x)[0], 1);
}

TEST(OpenBatch, ShapesStayWhenAReshapeMixesRows) {
  GraphBuilder b;
  b.output(b.reshape(b.input({2, 6}), {3, 4}));
  EXPECT_FALSE(opens(&b));
}

TEST(OpenBatch, ShapesStayWhenATransposeMovesTheBatch) {
  GraphBuilder b;
  b.output(b.transpose(b.input({3, 3}), {1, 0}));
  EXPECT_FALSE(opens(&b));
}

TEST(OpenBatch, ShapesStayWhenRowsAreConcatenated) {
  GraphBuilder b;
  const ValueId x = b.input({1, 6});
  b.output(b.concat({x, x}, 0));
  EXPECT_FALSE(opens(&b));
}

TEST(OpenBatch, ShapesStayWithAConstantForEachRow) {
  GraphBuilder b;
  b.output(b.add(b.input({2, 6}), b.constant({2, 6})));
  EXPECT_FALSE(opens(&b));
}

TEST(OpenBatch, ShapesStayWhenAConstantMakesMoreRows) {
  GraphBuilder b;
  b.output(b.add(b.input({1, 6}), b.constant({5, 6})));
  EXPECT_FALSE(opens(&b));
}

TEST(OpenBatch, ShapesStayWhenRowsOfALowerRankAreBroadcast) {
  GraphBuilder b;
  const ValueId x = b.input({2, 6});
  b.output(b.add(b.reshape(x, {2, 1, 6}), b.lut(x)));
  EXPECT_FALSE(opens(&b));
}

TEST(OpenBatch, ShapesStayWithATableForEachRow) {
  GraphBuilder b;
  b.output(b.lut(b.input({5}), true));
  EXPECT_FALSE(opens(&b));
}

TEST(OpenBatch, ShapesStayWhenRowsAreQuantizedDifferently) {
  GraphBuilder b;
  b.output(b.quantize(b.input({2, 3}, DType::kFloat32)));
  auto& quantize = convert::options<fb::QuantizeOptionsT>(b.graph.nodes[0]);
  quantize.scale.resize(2, quantize.scale[0]);
  quantize.zero_point.resize(2, quantize.zero_point[0]);
  quantize.axis = 0;
  EXPECT_FALSE(opens(&b));
}

TEST(OpenBatch, ScalarsAndModelsWithoutInputsStay) {
  GraphBuilder scalar;
  scalar.output(scalar.lut(scalar.input({})));
  EXPECT_FALSE(opens(&scalar));
  GraphBuilder none;
  none.output(none.constant({2, 3}));
  EXPECT_FALSE(opens(&none));
}

}  // namespace
}  // namespace qrt::open_batch_test
