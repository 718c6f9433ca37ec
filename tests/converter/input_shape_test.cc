// SPDX-License-Identifier: Apache-2.0
// Dimensions that an ONNX file leaves open: -1 for one, and qrt_convert --input-shape.
#include <gtest/gtest.h>

#include "converter/import/frontend.h"
#include "tests/support/imported.h"
#include "tests/support/onnx_builder.h"

namespace qrt::testing::input_shape_test {
namespace {

// Two inputs [1, N], their sum.
struct Sum {
  Sum() {
    a = b.input<uint8_t>({1, -1});
    c = b.input<uint8_t>({1, -1});
    b.output(b.q<uint8_t>(b.node("Add", {b.dq<uint8_t>(a, 0.1f, 128), b.dq<uint8_t>(c, 0.1f, 128)}),
                          0.2f, 128));
  }

  auto* dimension(int input, int i) {
    return b.graph()
        .mutable_input(input)
        ->mutable_type()
        ->mutable_tensor_type()
        ->mutable_shape()
        ->mutable_dim(i);
  }

  Imported import(const std::string& shapes) {
    const std::string bytes = b.bytes();
    return import_file(bytes.data(), bytes.size(), [&](const std::string& path, Imported* to) {
      convert::ImportOptions options;
      if (!shapes.empty()) options["input-shape"] = shapes;
      return convert::import_model(*convert::find_frontend("onnx"), path, options, &to->graph,
                                   &to->report);
    });
  }

  OnnxBuilder b;
  std::string a, c;
};

Shape shape_of(const Imported& imported, size_t input) {
  return imported.graph.values[imported.graph.inputs[input]].type.shape;
}

TEST(InputShape, NamedDimensionsAreOne) {
  Sum sum;
  EXPECT_TRUE(sum.import("").status.ok());
  const Imported imported = sum.import(sum.a + "=1x6");
  ASSERT_TRUE(imported.status.ok()) << imported.status.message();
  EXPECT_EQ(shape_of(imported, 0), (Shape{1, 6}));
  EXPECT_EQ(shape_of(imported, 1), (Shape{1, 6}));
  EXPECT_TRUE(sum.import(sum.a + "=1,6").status.ok());
  EXPECT_FALSE(imported.graph.batch_is_symbolic);
}

TEST(InputShape, OfEveryInput) {
  Sum sum;
  sum.dimension(1, 1)->set_dim_param("M");
  const Imported one = sum.import(sum.a + "=1x6");
  ASSERT_EQ(one.graph.symbols.size(), 1u);
  EXPECT_EQ(one.graph.symbols[0].name, "M");
  const Imported imported = sum.import(sum.c + "=1x6\n" + sum.a + "=1x6");
  ASSERT_TRUE(imported.status.ok()) << imported.status.message();
  EXPECT_EQ(shape_of(imported, 1), (Shape{1, 6}));
}

TEST(InputShape, TheBatchMayStayOpen) {
  Sum sum;
  for (const int i : {0, 1}) sum.dimension(i, 0)->set_dim_param("batch");
  const Imported open = sum.import(sum.a + "=?x6");
  ASSERT_TRUE(open.status.ok()) << open.status.message();
  EXPECT_TRUE(open.graph.batch_is_symbolic);
  const Imported closed = sum.import(sum.a + "=3x6");
  ASSERT_TRUE(closed.status.ok()) << closed.status.message();
  EXPECT_FALSE(closed.graph.batch_is_symbolic);
  EXPECT_EQ(shape_of(closed, 1), (Shape{3, 6}));
}

// A dimension of -1, as PaddlePaddle writes an open batch, is open.
TEST(InputShape, MinusOneIsOpen) {
  Sum sum;
  for (const int i : {0, 1}) {
    sum.dimension(i, 0)->set_dim_value(-1);
    sum.dimension(i, 1)->set_dim_value(6);
  }
  const Imported imported = sum.import("");
  ASSERT_TRUE(imported.status.ok()) << imported.status.message();
  EXPECT_TRUE(imported.graph.batch_is_symbolic);
  sum.dimension(0, 0)->set_dim_value(-2);
  EXPECT_EQ(sum.import("").status.code(), Code::kInvalidModel);
}

TEST(InputShape, Refuses) {
  Sum sum;
  const auto refuses = [&](const std::string& shapes, const std::string& message) {
    const Imported imported = sum.import(shapes);
    EXPECT_EQ(imported.status.code(), Code::kInvalidArgument) << shapes;
    EXPECT_NE(std::string(imported.status.message()).find(message), std::string::npos)
        << imported.status.message();
  };
  refuses("1x6", "the model has more than one input; its inputs are '" + sum.a + "', '");
  refuses("nobody=1x6", "the model has no input 'nobody'");
  refuses(sum.a + "=1x6x1", "has 2 dimensions, not 3");
  refuses(sum.a + "=2x6", "dimension 0 of input '" + sum.a + "' is 1 in the file, not 2");
  refuses(sum.a + "=1x6\n" + sum.c + "=1x7", "dimension 'N' is 6 and, of input '" + sum.c + "', 7");
  refuses(sum.a + "=1x6\n" + sum.a + "=1x6", "names '" + sum.a + "' twice");
  refuses(
      sum.a + "=1x0",
      "--input-shape " + sum.a +
          "=1x0: a fixed size of 0 is not supported: give 1 or more, or leave the size to a run, "
          "by --open NAME=0:512");
  for (const char* dims : {"", "1x", "1x?", "1x-6", "1x4294967296", "1x6y"})
    refuses(sum.a + "=" + dims, "is no dimension");
}

// An input that the file gives a size of 0 is named where nodes cannot take it.
TEST(InputShape, AFixedSizeOf0) {
  Sum sum;
  for (const int i : {0, 1}) sum.dimension(i, 1)->set_dim_value(0);
  const Imported imported = sum.import("");
  EXPECT_EQ(imported.status.code(), Code::kUnsupported) << imported.status.message();
  const std::string report = imported.report.text(true);
  for (const std::string& part :
       {"refused  " + sum.c +
            " (input): its dimension 1 is 0 in the file: a fixed size of 0 is supported only where "
            "Concat joins the input to others\n",
        std::string("remedy: export the model with a size of 1 or more, or with this dimension "
                    "open\n")})
    EXPECT_NE(report.find(part), std::string::npos) << report;
}

}  // namespace
}  // namespace qrt::testing::input_shape_test
