// SPDX-License-Identifier: Apache-2.0
// Inputs that qrt_convert --constant makes constants.
#include <gtest/gtest.h>

#include "converter/import/frontend.h"
#include "tests/support/imported.h"
#include "tests/support/onnx_builder.h"

namespace qrt::testing::input_constants_test {
namespace {

// The first `count` of six columns, a number of them that an input says.
struct Cut {
  Cut() {
    const std::string x = b.dq<uint8_t>(b.input<uint8_t>({1, 6}, "x"), 0.1f, 128);
    b.input<int64_t>({1}, "count");
    const std::string first =
        b.node("Slice", {x, b.constant<int64_t>({1}, {0}), "count", b.constant<int64_t>({1}, {1})});
    b.output(b.q<uint8_t>(first, 0.1f, 128));
  }

  Imported import(const std::string& constants) {
    const std::string bytes = b.bytes();
    return import_file(bytes.data(), bytes.size(), [&](const std::string& path, Imported* to) {
      convert::ImportOptions options;
      if (!constants.empty()) options["constant"] = constants;
      return convert::import_model(*convert::find_frontend("onnx"), path, options, &to->graph,
                                   &to->report);
    });
  }

  OnnxBuilder b;
};

TEST(InputConstants, LeaveTheInterface) {
  Cut cut;
  EXPECT_EQ(cut.import("").status.code(), Code::kUnsupported);
  const Imported imported = cut.import("count=4");
  ASSERT_TRUE(imported.status.ok()) << imported.status.message();
  const convert::Graph& graph = imported.graph;
  ASSERT_EQ(graph.inputs.size(), 1u);
  EXPECT_EQ(graph.values[graph.inputs[0]].name, "x");
  EXPECT_EQ(graph.values[graph.outputs[0]].type.shape, (Shape{1, 4}));
}

TEST(InputConstants, Refuses) {
  Cut cut;
  const auto refuses = [&](const std::string& constants, const std::string& message) {
    const Imported imported = cut.import(constants);
    EXPECT_EQ(imported.status.code(), Code::kInvalidArgument) << constants;
    EXPECT_NE(std::string(imported.status.message()).find(message), std::string::npos)
        << imported.status.message();
  };
  refuses("count", "expected NAME=VALUE");
  refuses("nobody=4", "the model has no input of this name");
  refuses("count=4\ncount=5", "it is a constant already");
  for (const char* value : {"", "4.5", "four", "99999999999999999999", "4 "})
    refuses(std::string("count=") + value, "holds no such value");
  refuses("x=256", "holds no such value");
  OnnxBuilder& b = cut.b;
  b.input<float>({1, -1}, "open");
  refuses("open=1", "shape is not known");
}

}  // namespace
}  // namespace qrt::testing::input_constants_test
