// Models with a symbolic batch, against ONNX Runtime's outputs for three images
// (symbolic_batch_numbers.mjs made those). Where the images of a batch are apart the batch is open, and
// a session of three gives these numbers. Elsewhere it is closed, the converter says by which node, and
// only the same model with the batch written as 3 gives them.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "tests/support/onnx_builder.h"

namespace qrt {
namespace {

using testing::Bytes;
using testing::Dims;
using testing::Names;
using testing::OnnxBuilder;

constexpr size_t kBatch = 3;

std::string ints(OnnxBuilder& b, const Dims& values) {
  return b.constant<int64_t>({static_cast<int64_t>(values.size())}, values);
}

struct Case {
  const char* name;
  Dims image;  // of the input, without the batch
  // Adds nodes behind the float tensor x and gives their result; the node that mixes images, if one
  // does, has the name "mixes".
  std::string (*body)(OnnxBuilder& b, const std::string& x);
  bool is_open;
  Dims dims;       // of ONNX Runtime's output
  Bytes expected;  // its codes
};

std::string mixing(OnnxBuilder& b, const std::string& y) {
  b.graph().mutable_node(b.graph().node_size() - 1)->set_name("mixes");
  return y;
}

const float kScale = 0.5f;
const uint8_t kZero = 100;

OnnxBuilder build(const Case& c, int64_t batch) {
  OnnxBuilder b;
  Dims dims = {batch};
  dims.insert(dims.end(), c.image.begin(), c.image.end());
  const std::string x = b.integer_input<uint8_t>(dims, kScale, kZero);
  b.integer_output<uint8_t>(c.body(b, x), kScale, kZero);
  return b;
}

Bytes input_of(const Case& c) {
  size_t elements = kBatch;
  for (const int64_t d : c.image) elements *= static_cast<size_t>(d);
  Bytes bytes(elements);
  for (size_t i = 0; i < elements; ++i) bytes[i] = static_cast<uint8_t>(i * i * 7 + i * 37 + 11);
  return bytes;
}

// The number of images, as the graph has it from its input's shape.
std::string batch_of(OnnxBuilder& b) {
  return b.node("Gather", {b.node("Shape", {b.graph().input(0).name()}), ints(b, {0})});
}

std::string slice(OnnxBuilder& b, const std::string& x, int64_t start, int64_t end,
                  int64_t axis = 0, int64_t step = 1) {
  return b.node("Slice", {x, ints(b, {start}), ints(b, {end}), ints(b, {axis}), ints(b, {step})});
}

const Case kCases[] = {
    {"reduce_mean_0", {4}, [](OnnxBuilder& b, const std::string& x) {
       return mixing(b, b.node("ReduceMean", {x}, {{"axes", Dims{0}}}));
     }, false, {1, 4}, {90, 104, 133, 176}},
    {"reduce_mean_all", {2, 2}, [](OnnxBuilder& b, const std::string& x) {
       return mixing(b, b.node("ReduceMean", {x}));
     }, false, {1, 1, 1}, {126}},
    {"reduce_max_0", {4}, [](OnnxBuilder& b, const std::string& x) {
       return mixing(b, b.node("ReduceMax", {x}, {{"axes", Dims{0}}, {"keepdims", 0}}));
     }, false, {4}, {243, 143, 229, 241}},
    {"reduce_min_0", {4}, [](OnnxBuilder& b, const std::string& x) {
       return mixing(b, b.node("ReduceMin", {x}, {{"axes", Dims{0}}}));
     }, false, {1, 4}, {11, 55, 57, 101}},
    {"reduce_sum_0", {4}, [](OnnxBuilder& b, const std::string& x) {
       return mixing(b, b.node("ReduceSum", {x, ints(b, {0})}));
     }, false, {1, 4}, {69, 113, 199, 255}},
    {"centred", {4}, [](OnnxBuilder& b, const std::string& x) {
       const std::string mean = mixing(b, b.node("ReduceMean", {x}, {{"axes", Dims{0}}}));
       return b.node("Sub", {x, b.qdq<uint8_t>(mean, kScale, kZero)});
     }, false, {3, 4}, {21, 51, 80, 109, 25, 111, 196, 25, 253, 139, 24, 165}},
    {"slice_first", {4}, [](OnnxBuilder& b, const std::string& x) {
       return mixing(b, slice(b, x, 0, 1));
     }, false, {1, 4}, {11, 55, 113, 185}},
    {"slice_two", {4}, [](OnnxBuilder& b, const std::string& x) {
       return mixing(b, slice(b, x, 0, 2));
     }, false, {2, 4}, {11, 55, 113, 185, 15, 115, 229, 101}},
    {"slice_two_hundred", {4}, [](OnnxBuilder& b, const std::string& x) {
       return mixing(b, slice(b, x, 0, 200));
     }, false, {3, 4}, {11, 55, 113, 185, 15, 115, 229, 101, 243, 143, 57, 241}},
    {"slice_last", {4}, [](OnnxBuilder& b, const std::string& x) {
       return mixing(b, slice(b, x, -1, INT64_MAX));
     }, false, {1, 4}, {243, 143, 57, 241}},
    {"reversed", {4}, [](OnnxBuilder& b, const std::string& x) {
       return mixing(b, slice(b, x, -1, INT64_MIN, 0, -1));
     }, false, {3, 4}, {243, 143, 57, 241, 15, 115, 229, 101, 11, 55, 113, 185}},
    {"gather_first", {4}, [](OnnxBuilder& b, const std::string& x) {
       return mixing(b, b.node("Gather", {x, ints(b, {0})}));
     }, false, {1, 4}, {11, 55, 113, 185}},
    {"unsqueeze_0", {4}, [](OnnxBuilder& b, const std::string& x) {
       return mixing(b, b.node("Unsqueeze", {x, ints(b, {0})}));
     }, false, {1, 3, 4}, {11, 55, 113, 185, 15, 115, 229, 101, 243, 143, 57, 241}},
    {"flatten_0", {4}, [](OnnxBuilder& b, const std::string& x) {
       return mixing(b, b.node("Flatten", {x}, {{"axis", 0}}));
     }, false, {1, 12}, {11, 55, 113, 185, 15, 115, 229, 101, 243, 143, 57, 241}},
    {"reshape_1", {4}, [](OnnxBuilder& b, const std::string& x) {
       return mixing(b, b.node("Reshape", {x, ints(b, {1, -1})}));
     }, false, {1, 12}, {11, 55, 113, 185, 15, 115, 229, 101, 243, 143, 57, 241}},
    {"transpose_102", {1, 4}, [](OnnxBuilder& b, const std::string& x) {
       return mixing(b, b.node("Transpose", {x}, {{"perm", Dims{1, 0, 2}}}));
     }, false, {1, 3, 4}, {11, 55, 113, 185, 15, 115, 229, 101, 243, 143, 57, 241}},
    // The number of images is a factor: a constant, but another one for every batch.
    {"times_batch", {4}, [](OnnxBuilder& b, const std::string& x) {
       const std::string n = b.node("Cast", {batch_of(b)}, {{"to", 1}});
       return mixing(b, b.node("Mul", {x, b.qdq<uint8_t>(n, 1.0f, 0)}));
     }, false, {3, 4}, {0, 0, 139, 255, 0, 145, 255, 103, 255, 229, 0, 255}},
    // From here on the images are apart.
    {"mean_of_rows", {4, 9}, [](OnnxBuilder& b, const std::string& x) {
       return b.node("ReduceMean", {x}, {{"axes", Dims{2}}, {"keepdims", 0}});
     }, true, {3, 4}, {119, 129, 135, 166, 137, 160, 123, 111, 123, 131, 165, 137}},
    {"sum_of_rows", {2, 3}, [](OnnxBuilder& b, const std::string& x) {
       return b.node("ReduceSum", {x, ints(b, {-1})});
     }, true, {3, 2, 1}, {0, 115, 255, 241, 231, 87}},
    {"max_of_rows", {4, 5}, [](OnnxBuilder& b, const std::string& x) {
       return b.node("ReduceMax", {x}, {{"axes", Dims{2}}});
     }, true, {3, 4, 1}, {185, 243, 241, 169, 223, 225, 253, 211, 239, 251, 161, 227}},
    {"mean_of_columns", {4, 3}, [](OnnxBuilder& b, const std::string& x) {
       return b.node("ReduceMean", {x}, {{"axes", Dims{1}}});
     }, true, {3, 1, 3}, {142, 57, 178, 110, 129, 162, 174, 169, 114}},
    {"mean_of_image", {2, 3}, [](OnnxBuilder& b, const std::string& x) {
       return b.node("ReduceMean", {x}, {{"axes", Dims{1, 2}}, {"keepdims", 0}});
     }, true, {3}, {82, 169, 120}},
    {"centred_rows", {3, 4}, [](OnnxBuilder& b, const std::string& x) {
       const std::string mean = b.node("ReduceMean", {x}, {{"axes", Dims{2}}});
       return b.node("Sub", {x, b.qdq<uint8_t>(mean, kScale, kZero)});
     }, true, {3, 3, 4}, {20, 64, 122, 194, 0, 100, 214, 86, 172, 72, 0, 170, 152, 108, 78, 62, 68, 80, 106, 146, 176, 0, 70, 166, 28, 152, 34, 186, 72, 0, 190, 142, 116, 96, 90, 98}},
    {"slice_columns", {4}, [](OnnxBuilder& b, const std::string& x) {
       return slice(b, x, 1, 3, 1);
     }, true, {3, 2}, {55, 113, 115, 229, 143, 57}},
    {"slice_all", {4}, [](OnnxBuilder& b, const std::string& x) {
       return slice(b, x, 0, INT64_MAX);
     }, true, {3, 4}, {11, 55, 113, 185, 15, 115, 229, 101, 243, 143, 57, 241}},
    {"flatten_1", {2, 3}, [](OnnxBuilder& b, const std::string& x) {
       return b.node("Flatten", {x}, {{"axis", 1}});
     }, true, {3, 6}, {11, 55, 113, 185, 15, 115, 229, 101, 243, 143, 57, 241, 183, 139, 109, 93, 91, 103}},
    {"reshape_0", {2, 3}, [](OnnxBuilder& b, const std::string& x) {
       return b.node("Reshape", {x, ints(b, {0, -1})});
     }, true, {3, 6}, {11, 55, 113, 185, 15, 115, 229, 101, 243, 143, 57, 241, 183, 139, 109, 93, 91, 103}},
    {"transpose_021", {2, 3}, [](OnnxBuilder& b, const std::string& x) {
       return b.node("Transpose", {x}, {{"perm", Dims{0, 2, 1}}});
     }, true, {3, 3, 2}, {11, 185, 55, 15, 113, 115, 229, 143, 101, 57, 243, 241, 183, 93, 139, 91, 109, 103}},
    {"reshape_by_shape", {2, 3}, [](OnnxBuilder& b, const std::string& x) {
       return b.node("Reshape", {x, b.node("Concat", {batch_of(b), ints(b, {-1})}, {{"axis", 0}})});
     }, true, {3, 6}, {11, 55, 113, 185, 15, 115, 229, 101, 243, 143, 57, 241, 183, 139, 109, 93, 91, 103}},
};

class SymbolicBatch : public ::testing::TestWithParam<Case> {};

// The numbers are those of the graph, whatever is known of its batch.
TEST_P(SymbolicBatch, ABatchOfThreeInTheModel) {
  const Case& c = GetParam();
  ASSERT_EQ(build(c, kBatch).run({input_of(c)}), (std::vector<Bytes>{c.expected}));
}

TEST_P(SymbolicBatch, OpenWhereImagesAreApart) {
  const Case& c = GetParam();
  testing::Imported imported = build(c, -1).import();
  ASSERT_TRUE(imported.status.ok()) << imported.status.message();
  EXPECT_TRUE(imported.graph.batch_is_symbolic);
  convert::Graph graph = imported.graph;
  const Status status = run_passes(&graph, nullptr);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(graph.batch_is_open, c.is_open) << graph.batch_closed;
  if (graph.batch_is_open) {
    EXPECT_EQ(c.dims[0], static_cast<int64_t>(kBatch));
    const auto run = testing::run_graph(imported.graph, true, {input_of(c)}, kBatch);
    ASSERT_EQ(run.outputs, (std::vector<Bytes>{c.expected}));
    return;
  }
  EXPECT_NE(graph.batch_closed.find("'mixes'"), std::string::npos) << graph.batch_closed;
  Bytes file;
  ASSERT_TRUE(write_model(graph, &file).ok());
  testing::RunOptions options;
  options.batch = kBatch;
  const testing::RunResult run = testing::run_model(file, {input_of(c)}, options);
  EXPECT_EQ(run.status, QRT_INVALID_ARGUMENT);
  EXPECT_EQ(run.message, "the model's batch is fixed to 1, not 3");
}

INSTANTIATE_TEST_SUITE_P(, SymbolicBatch, ::testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string(info.param.name); });

// Not every input is a batch of images: ONNX Runtime takes one mask for all.
TEST(SymbolicBatches, ClosedWhereAnInputHasNone) {
  OnnxBuilder b;
  const std::string x = b.integer_input<uint8_t>({-1, 4}, kScale, kZero);
  const std::string y = b.integer_input<uint8_t>({1, 4}, kScale, kZero);
  b.integer_output<uint8_t>(b.node("Add", {x, y}), kScale, kZero);
  const testing::Imported imported = b.import();
  ASSERT_TRUE(imported.status.ok());
  EXPECT_NE(imported.graph.batch_closed.find("has no batch in front"), std::string::npos)
      << imported.graph.batch_closed;
}

// What is the same for every image is so however many times it stands in the constant.
TEST(SymbolicBatches, OpenWithAConstantRepeatedForEveryImage) {
  OnnxBuilder b;
  const std::string input = b.input<uint8_t>({-1, 4});
  const std::string shape = b.node("Shape", {input});
  const std::string row = b.constant<uint8_t>({1, 4}, {1, 2, 3, 4});
  const std::string rows = b.node("Expand", {row, shape});
  b.integer_output<uint8_t>(
      b.node("Add", {b.dq<uint8_t>(input, kScale, kZero), b.dq<uint8_t>(rows, kScale, 0)}), kScale,
      kZero);
  const testing::Imported imported = b.import();
  ASSERT_TRUE(imported.status.ok()) << imported.report.text(true);
  EXPECT_EQ(imported.graph.batch_closed, "");
  Bytes input_codes = {100, 101, 102, 103, 10, 20, 30, 40, 200, 210, 220, 230};
  const auto run = testing::run_graph(imported.graph, true, {input_codes}, kBatch);
  ASSERT_EQ(run.outputs,
            (std::vector<Bytes>{{101, 103, 105, 107, 11, 22, 33, 44, 201, 212, 223, 234}}));
}

// For symbolic_batch_numbers.mjs: the models and their inputs.
TEST(SymbolicBatches, WriteModels) {
  const char* dir = getenv("QRT_WRITE_MODELS");
  if (dir == nullptr) GTEST_SKIP() << "QRT_WRITE_MODELS names no folder";
  for (const Case& c : kCases) {
    const std::string stem = std::string(dir) + "/" + c.name;
    std::ofstream(stem + ".onnx", std::ios::binary) << build(c, -1).bytes();
    std::ofstream dims(stem + ".dims");
    dims << kBatch;
    for (const int64_t d : c.image) dims << ',' << d;
    const Bytes input = input_of(c);
    std::ofstream(stem + ".input", std::ios::binary)
        .write(reinterpret_cast<const char*>(input.data()),
               static_cast<std::streamsize>(input.size()));
  }
}

}  // namespace
}  // namespace qrt
