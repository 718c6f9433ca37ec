// SPDX-License-Identifier: Apache-2.0
// write_model: the file's layout, and what it refuses.
#include <gtest/gtest.h>

#include "tests/support/graph_builder.h"

namespace qrt::write_test {
namespace {

using convert::ValueId;
using testing::Bytes;
using testing::GraphBuilder;

Bytes write(const convert::Graph& graph) {
  Bytes file;
  const Status status = write_model(graph, &file);
  EXPECT_TRUE(status.ok()) << status.message();
  return file;
}

GraphBuilder small_model() {
  GraphBuilder b;
  const ValueId x = b.quantize(b.input({1, 3, 6, 5}, DType::kFloat32));
  const ValueId y = b.lut(b.nchw_conv(x, 9, 3));
  b.output(b.dequantize(b.fully_connected(b.reshape(y, {1, 270}), 10)));
  return b;
}

TEST(Write, TheSameGraphGivesTheSameBytes) {
  GraphBuilder a = small_model(), b = small_model();
  ASSERT_TRUE(run_passes(&a.graph, nullptr).ok());
  ASSERT_TRUE(run_passes(&b.graph, nullptr).ok());
  EXPECT_EQ(write(a.graph), write(b.graph));
}

TEST(Write, BuffersAreAlignedAndHaveSlackBehindThem) {
  GraphBuilder b = small_model();
  ASSERT_TRUE(run_passes(&b.graph, nullptr).ok());
  const Bytes file = write(b.graph);
  const auto& buffers = *fb::GetModel(file.data())->buffers();
  ASSERT_GE(buffers.size(), 5u);
  EXPECT_EQ(buffers.Get(0)->data(), nullptr);
  for (uint32_t i = 1; i < buffers.size(); ++i) {
    const auto* data = buffers.Get(i)->data();
    const auto offset = static_cast<size_t>(data->Data() - file.data());
    EXPECT_EQ(offset % 64, 0u) << i;
    EXPECT_LE(offset + data->size() + 64, file.size()) << i;
  }
}

TEST(Write, InputsOfSize0AreRefused) {
  GraphBuilder b;
  b.output(b.lut(b.input({1, 0}, DType::kUInt8)));
  Bytes file;
  const Status status = write_model(b.graph, &file);
  EXPECT_EQ(status.code(), Code::kUnsupported);
  EXPECT_NE(std::string(status.message())
                .find("has the shape [1, 0], but a size of 0 is not supported: export the model "
                      "with sizes of 1 or more"),
            std::string::npos)
      << status.message();
}

TEST(Write, EveryTruncationIsNoticed) {
  GraphBuilder b = small_model();
  ASSERT_TRUE(run_passes(&b.graph, nullptr).ok());
  Bytes file = write(b.graph);
  while (!file.empty()) {
    file.pop_back();
    ASSERT_EQ(testing::run_model(file, {}).status, QRT_INVALID_MODEL) << file.size();
  }
}

TEST(Write, KeepsNamesSourceAndProducer) {
  GraphBuilder b = small_model();
  ASSERT_TRUE(run_passes(&b.graph, nullptr).ok());
  const Bytes file = write(b.graph);
  const fb::Model& model = *fb::GetModel(file.data());
  EXPECT_EQ(model.name()->str(), "test");
  EXPECT_EQ(model.source_format()->str(), "onnx");
  EXPECT_EQ(model.source_producer()->str(), "tests");
  EXPECT_EQ(model.reference()->str(), "ort-x64-fma");
  EXPECT_EQ(model.producer()->str().rfind("qrt ", 0), 0u);
  EXPECT_EQ(model.tensors()->Get(model.inputs()->Get(0))->name()->str(),
            b.graph.values[b.graph.inputs[0]].name);
  EXPECT_EQ(model.tensors()->Get(model.inputs()->Get(0))->shape()->Get(0), -1);
  for (const auto* op : *model.operators()) {
    EXPECT_FALSE(op->name()->str().empty());
  }
}

TEST(Write, EqualConstantsShareABuffer) {
  GraphBuilder b;
  b.weight_lo = b.weight_hi = 3;
  const ValueId x = b.input({1, 8});
  b.output(b.fully_connected(x, 4));
  b.output(b.fully_connected(x, 4));
  auto& values = b.graph.values;
  values[b.graph.nodes[1].inputs[2]].data = values[b.graph.nodes[0].inputs[2]].data;
  ASSERT_TRUE(run_passes(&b.graph, nullptr).ok());
  const Bytes file = write(b.graph);
  EXPECT_EQ(fb::GetModel(file.data())->buffers()->size(), 3u);  // none, weights, bias
}

TEST(Write, LeavesOutWhatNothingReads) {
  GraphBuilder b;
  const ValueId x = b.input({1, 8});
  b.lut(x);
  b.output(b.lut(x));
  ASSERT_TRUE(run_passes(&b.graph, nullptr).ok());
  const Bytes file = write(b.graph);
  EXPECT_EQ(fb::GetModel(file.data())->tensors()->size(), 2u);
  EXPECT_EQ(fb::GetModel(file.data())->buffers()->size(), 2u);
}

TEST(Write, ReportsWhatTheRuntimeRefuses) {
  GraphBuilder b;
  b.output(b.lut(b.input({1, 8})));
  b.graph.values[b.graph.outputs[0]].type.shape = {1, 9};
  Bytes file;
  const Status status = write_model(b.graph, &file);
  EXPECT_EQ(status.code(), Code::kUnsupported);
  EXPECT_NE(std::string(status.message()).find("Lut"), std::string::npos) << status.message();
}

TEST(Write, RefusesDimensionsAndFilesBeyond2Gigabytes) {
  GraphBuilder b;
  b.output(b.lut(b.input({1, int64_t{1} << 31})));
  Bytes file;
  EXPECT_EQ(write_model(b.graph, &file).code(), Code::kUnsupported);

  // A bias of 310 MB: sums and scales for each of its channels may take six times as much.
  GraphBuilder large;
  large.output(large.lut(large.input({1, 8})));
  large.output(large.bias(1));
  large.graph.values[large.graph.outputs[1]].data.resize(size_t{310} << 20);
  const Status status = write_model(large.graph, &file);
  EXPECT_EQ(status.code(), Code::kUnsupported);
  EXPECT_NE(std::string(status.message()).find("2 GB"), std::string::npos) << status.message();
}

}  // namespace
}  // namespace qrt::write_test
