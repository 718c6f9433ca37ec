// SPDX-License-Identifier: Apache-2.0
// The reader of TFLite files by itself: every kind of tensor that it has to look at, parts that are
// missing, files that are no files.
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "converter/import/common/source_limits.h"
#include "converter/import/tflite/model.h"
#include "tests/support/tflite_builder.h"

namespace qrt::testing::tflite_reader_test {
namespace {

using convert::from_tflite::Model;
using convert::from_tflite::type_name;

// A file that goes with the object.
class File {
 public:
  explicit File(const Bytes& bytes) {
    char path[] = "/tmp/qrt_tflite_reader_XXXXXX";
    const int fd = mkstemp(path);
    EXPECT_GE(fd, 0);
    EXPECT_EQ(::write(fd, bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
    close(fd);
    path_ = path;
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() { unlink(path_.c_str()); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

Status load(const Bytes& bytes, Model* model) { return Model::load(File(bytes).path(), model); }

void expect_status(const Bytes& bytes, Code code, const std::string& part) {
  Model model;
  const Status status = load(bytes, &model);
  EXPECT_EQ(status.code(), code) << status.message();
  EXPECT_NE(std::string(status.message()).find(part), std::string::npos) << status.message();
}

// Returns a model of one tensor that nothing reads, and what the reader has against it.
std::string problem_of(const std::function<void(TfliteBuilder&, tflite::TensorT&)>& change) {
  TfliteBuilder b;
  const int t = b.tensor(TensorType::INT8, {2});
  change(b, b.at(t));
  Model model;
  const Status status = load(b.build(), &model);
  EXPECT_TRUE(status.ok()) << status.message();
  return model.tensors()[0].problem;
}

TEST(TfliteReader, EveryElementType) {
  TfliteBuilder b;
  for (int type = 0; type <= static_cast<int>(TensorType::FLOAT8_E5M2); ++type)
    b.tensor(static_cast<TensorType>(type), {2});
  Model model;
  ASSERT_TRUE(load(b.build(), &model).ok());
  for (const auto& t : model.tensors()) {
    const bool is_known = t.type != TensorType::STRING && t.type != TensorType::VARIANT;
    EXPECT_EQ(t.problem.empty(), is_known) << type_name(t.type);
  }
  EXPECT_EQ(model.tensors()[5].problem, "has the type string");
  EXPECT_STREQ(type_name(static_cast<TensorType>(23)), "of an unknown type");
  for (const int type : {-1, 23}) {
    b.at(0).type = static_cast<TensorType>(type);
    expect_status(b.build(), Code::kInvalidModel,
                  "has the element type " + std::to_string(type) + ", which does not exist");
  }
}

TEST(TfliteReader, DataOfEveryWidth) {
  const struct {
    TensorType type;
    size_t bytes;  // of 3 elements
  } kTypes[] = {{TensorType::INT2, 1},       {TensorType::INT4, 2},   {TensorType::INT8, 3},
                {TensorType::INT16, 6},      {TensorType::INT32, 12}, {TensorType::INT64, 24},
                {TensorType::COMPLEX128, 48}};
  for (const auto& [type, bytes] : kTypes) {
    TfliteBuilder b;
    b.constant(type, {3}, Bytes(bytes, 1));
    Model model;
    ASSERT_TRUE(load(b.build(), &model).ok()) << type_name(type);
    EXPECT_EQ(model.tensors()[0].bytes, bytes);
    b.model.buffers.back()->data.push_back(1);
    expect_status(b.build(), Code::kInvalidModel,
                  "has " + std::to_string(bytes + 1) + " bytes of data");
  }
}

TEST(TfliteReader, TensorsThatNoOperatorMayUse) {
  using B = TfliteBuilder;
  using T = tflite::TensorT;
  EXPECT_EQ(problem_of([](B&, T&) {}), "");
  EXPECT_EQ(problem_of([](B&, T& t) { t.shape.assign(7, 1); }), "has 7 dimensions, the limit is 6");
  EXPECT_EQ(problem_of([](B&, T& t) { t.shape = {3, 0}; }), "has no elements");
  EXPECT_EQ(problem_of([](B&, T& t) { t.shape = {0}, t.type = TensorType::INT32; }), "");
  EXPECT_EQ(problem_of([](B&, T& t) { t.sparsity = std::make_unique<tflite::PresentT>(); }),
            "is stored sparse");
  EXPECT_EQ(problem_of([](B&, T& t) { t.external_buffer = 1; }),
            "lies in an external buffer group");
  EXPECT_EQ(problem_of([](B&, T& t) {
              t.quantization = std::make_unique<tflite::QuantizationParametersT>();
              t.quantization->details.Set(tflite::PresentT());
            }),
            "has custom or multi-axis quantisation");
  // The first of two reasons is reported, and the size of a sparse tensor's data is not checked.
  EXPECT_EQ(problem_of([](B& b, T& t) {
              t.sparsity = std::make_unique<tflite::PresentT>();
              t.type = TensorType::STRING;
              t.buffer = 1;
              b.model.buffers.push_back(std::make_unique<tflite::BufferT>());
              b.model.buffers[1]->data = {1, 2, 3, 4, 5};
            }),
            "is stored sparse");
}

TEST(TfliteReader, ZeroPointsAndScales) {
  const auto with = [](std::vector<float> scale, std::vector<int64_t> zero_point) {
    TfliteBuilder b;
    b.tensor(TensorType::INT8, {2});
    b.at(0).quantization = std::make_unique<tflite::QuantizationParametersT>();
    b.at(0).quantization->scale = std::move(scale);
    b.at(0).quantization->zero_point = std::move(zero_point);
    return b.build();
  };
  const auto zero_points = [&](std::vector<float> scale, std::vector<int64_t> zero_point) {
    Model model;
    const Status status = load(with(std::move(scale), std::move(zero_point)), &model);
    EXPECT_TRUE(status.ok()) << status.message();
    return model.tensors()[0].zero_point;
  };
  using Zeros = std::vector<int64_t>;
  EXPECT_EQ(zero_points({}, {}), Zeros{});
  EXPECT_EQ(zero_points({}, {5}), Zeros{});
  EXPECT_EQ(zero_points({1, 2}, {}), (Zeros{0, 0}));
  EXPECT_EQ(zero_points({1, 2}, {7}), (Zeros{7, 7}));
  EXPECT_EQ(zero_points({1, 2}, {7, 8}), (Zeros{7, 8}));
  expect_status(with({1, 2, 3}, {7, 8}), Code::kInvalidModel, "has 3 scales, but 2 zero points");
  expect_status(with({1.0f / 0.0f}, {0}), Code::kInvalidModel, "has a scale of inf");
}

TEST(TfliteReader, MissingParts) {
  using Graphs = std::vector<flatbuffers::Offset<tflite::SubGraph>>;
  const auto model_of = [](flatbuffers::FlatBufferBuilder& fbb, const Graphs* graphs) {
    const auto written = graphs != nullptr ? fbb.CreateVector(*graphs) : 0;
    tflite::ModelBuilder model(fbb);
    model.add_version(3);
    if (graphs != nullptr) model.add_subgraphs(written);
    tflite::FinishModelBuffer(fbb, model.Finish());
    return Bytes(fbb.GetBufferPointer(), fbb.GetBufferPointer() + fbb.GetSize());
  };
  flatbuffers::FlatBufferBuilder missing, none, empty;
  expect_status(model_of(missing, nullptr), Code::kInvalidModel, "has no subgraph");
  const Graphs no_graphs;
  expect_status(model_of(none, &no_graphs), Code::kInvalidModel, "has no subgraph");
  const Graphs graph_of_nothing = {tflite::SubGraphBuilder(empty).Finish()};
  Model model;
  EXPECT_TRUE(load(model_of(empty, &graph_of_nothing), &model).ok());
  EXPECT_TRUE(model.tensors().empty() && model.ops().empty());
}

TEST(TfliteReader, BuffersThatAreNotThere) {
  TfliteBuilder b;
  b.tensor(TensorType::INT8, {2});
  b.model.buffers.clear();
  Model model;
  EXPECT_TRUE(load(b.build(), &model).ok());  // buffer 0 of none: no data
  b.at(0).buffer = 1;
  expect_status(b.build(), Code::kInvalidModel, "names buffer 1 of 0");
  b.model.buffers.resize(2);
  for (auto& buffer : b.model.buffers) buffer = std::make_unique<tflite::BufferT>();
  ASSERT_TRUE(load(b.build(), &model).ok());  // one without data
  EXPECT_FALSE(model.tensors()[0].is_constant);
  b.model.buffers[1]->offset = uint64_t{1} << 40;
  b.model.buffers[1]->size = 2;
  expect_status(b.build(), Code::kInvalidModel, "buffer 1 lies outside the file");
  b.model.buffers[1]->offset = 16;
  b.model.buffers[1]->size = uint64_t{1} << 40;
  expect_status(b.build(), Code::kInvalidModel, "buffer 1 lies outside the file");
}

TEST(TfliteReader, OperatorsWithoutNamesOrOperands) {
  TfliteBuilder b;
  b.op(static_cast<BuiltinOperator>(9999), {}, {});
  b.op(BuiltinOperator::CUSTOM, {}, {});
  Model model;
  const Status status = load(b.build(), &model);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(model.ops()[0].name, "builtin operator 9999");
  EXPECT_EQ(model.ops()[1].name, "custom operator ''");
  b.model.operator_codes[1]->custom_code = "Yours";
  Model named;
  ASSERT_TRUE(load(b.build(), &named).ok());
  EXPECT_EQ(named.ops()[1].name, "custom operator 'Yours'");
  EXPECT_EQ(model.ops()[0].output_name, "");
  b.model.operator_codes[0]->builtin_code = static_cast<BuiltinOperator>(-5);
  b.model.operator_codes[0]->deprecated_builtin_code = -3;
  expect_status(b.build(), Code::kInvalidModel, "operator 0 has the code -3");
  b.model.operator_codes.clear();
  expect_status(b.build(), Code::kInvalidModel, "operator 0 names operator code 0 of 0");
}

TEST(TfliteReader, IndicesOfTheGraph) {
  const auto refuse = [](const std::string& part, std::vector<int> in, std::vector<int> out,
                         std::vector<int> reads, std::vector<int> writes) {
    TfliteBuilder b;
    for (int i = 0; i < 2; ++i) b.tensor(TensorType::INT8, {2});
    b.constant<int8_t>(TensorType::INT8, {2}, {1, 2});
    b.op(BuiltinOperator::RELU, std::move(reads), std::move(writes));
    b.graph().inputs = std::move(in);
    b.graph().outputs = std::move(out);
    expect_status(b.build(), Code::kInvalidModel, part);
  };
  refuse("a graph input names tensor -1 of 3", {-1}, {}, {}, {});
  refuse("a graph input names tensor 3 of 3", {3}, {}, {}, {});
  refuse("graph input 't2' is a constant or stands twice", {2}, {}, {}, {});
  refuse("graph input 't0' is a constant or stands twice", {0, 0}, {}, {}, {});
  refuse("reads tensor -2 of 3", {0}, {}, {-2}, {});
  refuse("reads tensor 3 of 3", {0}, {}, {3}, {});
  refuse("reads tensor 1, which nothing wrote before", {0}, {}, {1}, {});
  refuse("writes tensor -1 of 3", {0}, {}, {-1, 0}, {-1});
  refuse("writes tensor 3 of 3", {0}, {}, {0}, {3});
  refuse("writes tensor 0, which is a constant, a graph input", {0}, {}, {0}, {0});
  refuse("writes tensor 2, which is a constant", {0}, {}, {0}, {2});
  refuse("a graph output names tensor -1, which nothing wrote", {0}, {-1}, {0}, {1});
  refuse("a graph output names tensor 3, which nothing wrote", {0}, {3}, {0}, {1});
  refuse("a graph output names tensor 1, which nothing wrote", {0}, {1}, {0}, {});
}

std::vector<uint8_t> model_of(flatbuffers::Offset<tflite::SubGraph> graph,
                              flatbuffers::FlatBufferBuilder* fbb) {
  const auto graphs = fbb->CreateVector(&graph, 1);
  tflite::ModelBuilder model(*fbb);
  model.add_version(3);
  model.add_subgraphs(graphs);
  tflite::FinishModelBuffer(*fbb, model.Finish());
  return {fbb->GetBufferPointer(), fbb->GetBufferPointer() + fbb->GetSize()};
}

// Tables that are named again and again are refused: 10,000 tensors with one name of 10,000 bytes.
TEST(TfliteReader, TablesThatAreShared) {
  flatbuffers::FlatBufferBuilder fbb;
  const auto name = fbb.CreateString(std::string(10000, 'n'));
  tflite::TensorBuilder tensor(fbb);
  tensor.add_name(name);
  const auto shared = tensor.Finish();
  const auto tensors =
      fbb.CreateVector(std::vector<flatbuffers::Offset<tflite::Tensor>>(10000, shared));
  tflite::SubGraphBuilder graph(fbb);
  graph.add_tensors(tensors);
  expect_status(model_of(graph.Finish(), &fbb), Code::kInvalidModel,
                "names the same tables again and again");
}

// A model with one operator more than allowed is refused.
TEST(TfliteReader, OperatorsWithoutEnd) {
  flatbuffers::FlatBufferBuilder fbb;
  const auto shared = tflite::OperatorBuilder(fbb).Finish();
  const auto operators = fbb.CreateVector(
      std::vector<flatbuffers::Offset<tflite::Operator>>(convert::kMaxSourceNodes + 1, shared));
  tflite::SubGraphBuilder graph(fbb);
  graph.add_operators(operators);
  expect_status(model_of(graph.Finish(), &fbb), Code::kUnsupported,
                "has " + std::to_string(convert::kMaxSourceNodes + 1) + " nodes");
}

// A model whose operators have one input more than allowed is refused.
TEST(TfliteReader, InputsWithoutEnd) {
  TfliteBuilder b;
  b.op(BuiltinOperator::CONCATENATION, std::vector<int>(convert::kMaxSourceEdges + 1, -1), {});
  expect_status(b.build(), Code::kUnsupported,
                std::to_string(convert::kMaxSourceEdges + 1) + " inputs and outputs");
}

TEST(TfliteReader, FilesThatAreNone) {
  Model model;
  EXPECT_EQ(Model::load("/nowhere/x.tflite", &model).code(), Code::kIoError);
  EXPECT_EQ(Model::load("/tmp", &model).code(), Code::kIoError);
  expect_status({}, Code::kInvalidModel, "it lacks the mark TFL3");
  expect_status(Bytes(64), Code::kInvalidModel, "it lacks the mark TFL3");
  const File large{Bytes()};
  ASSERT_EQ(truncate(large.path().c_str(), off_t{1} << 31), 0);
  const Status status = Model::load(large.path(), &model);
  EXPECT_EQ(status.code(), Code::kInvalidModel);
  EXPECT_NE(std::string(status.message()).find("a TFLite file is limited to 2 GB"),
            std::string::npos)
      << status.message();
}

// A file that says that it has a page of bytes, and has a line of them, is refused.
TEST(TfliteReader, FilesThatEndBeforeTheirSize) {
  const char* const kPath = "/sys/kernel/mm/transparent_hugepage/enabled";
  if (!std::ifstream(kPath)) GTEST_SKIP() << "no such file here";
  Model model;
  const Status status = Model::load(kPath, &model);
  EXPECT_EQ(status.code(), Code::kIoError);
  EXPECT_EQ(std::string(status.message()), std::string("cannot read '") + kPath + "'");
}

}  // namespace
}  // namespace qrt::testing::tflite_reader_test
