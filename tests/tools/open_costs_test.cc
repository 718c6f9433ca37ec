// SPDX-License-Identifier: Apache-2.0
// Small source files with open dimensions, which are imported and run again and again.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/cost.h"
#include "tests/support/onnx_builder.h"

namespace qrt::open_costs_test {
namespace {

using testing::Attr;
using testing::CommandResult;
using testing::Dims;
using testing::OnnxBuilder;

class OpenCosts : public testing::CostTest {
 protected:
  // Gives each open dimension of the inputs a name of its own.
  static void name_dimensions(OnnxBuilder* b) {
    int names = 0;
    for (onnx::ValueInfoProto& input : *b->graph().mutable_input())
      for (auto& dim : *input.mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim())
        if (!dim.dim_param().empty()) dim.set_dim_param("d" + std::to_string(names++));
  }

  CommandResult convert(OnnxBuilder* b, const std::vector<std::string>& more = {}) {
    name_dimensions(b);
    const std::string file = write("m.onnx", b->bytes());
    std::vector<std::string> arguments = {file, "-o", path("out.qrt")};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_within_cost("qrt_convert", arguments, {file});
  }
};

OnnxBuilder maximum_of(const Dims& dims) {
  OnnxBuilder b;
  b.integer_output<uint8_t>(b.node("Relu", {b.integer_input<uint8_t>(dims, 0.5f, 0)}), 0.5f, 0);
  return b;
}

// Sizes with many elements are compared where that is possible, and left out otherwise.
TEST_F(OpenCosts, ManyElements) {
  OnnxBuilder wide = maximum_of({1, 3000, -1, -1});
  EXPECT_EQ(convert(&wide).status, 0);
  OnnxBuilder deep = maximum_of({1, -1, -1, -1, -1});
  EXPECT_EQ(convert(&deep).status, 0);
}

// Many dimensions cost no more than the file's size allows: each input has four, all different.
TEST_F(OpenCosts, ManyDimensions) {
  for (const int inputs : {2, 8, 16, 300}) {
    OnnxBuilder b;
    for (int i = 0; i < inputs; ++i)
      b.integer_output<uint8_t>(
          b.node("Relu", {b.integer_input<uint8_t>({-1, -1, -1, -1}, 0.5f, 0)}), 0.5f, 0);
    const CommandResult r = convert(&b);
    EXPECT_TRUE(r.status == 0 || r.status == 4) << r.err;
    if (inputs == 8) {
      EXPECT_NE(r.err.find("to compare it with the source at other sizes is more work than a file"),
                std::string::npos)
          << r.err.substr(0, 1000);
      EXPECT_NE(r.err.find("--input-shape"), std::string::npos) << r.err.substr(0, 1000);
    }
    if (inputs > 16) {
      EXPECT_NE(r.err.find("it has 1200 open dimensions, at most 64 can stay open"),
                std::string::npos)
          << r.err.substr(0, 1000);
    }
  }
}

// Many products cost no more than the file's size allows: a hundred convolutions that share their weights.
TEST_F(OpenCosts, ManyProducts) {
  for (const int count : {20, 200}) {
    OnnxBuilder b;
    const std::string w =
        b.dq(b.constant<uint8_t>({64, 64, 3, 3}, std::vector<uint8_t>(64 * 64 * 9, 1)), 0.5f,
             uint8_t{0});
    std::string x = b.integer_input<uint8_t>({1, 64, -1, -1}, 0.5f, 0);
    for (int i = 0; i < count; ++i)
      x = b.qdq<uint8_t>(b.node("Conv", {x, w}, {Attr("pads", Dims{1, 1, 1, 1})}), 0.5f, 0);
    b.integer_output<uint8_t>(x, 0.5f, 0);
    const CommandResult r = convert(&b);
    EXPECT_TRUE(r.status == 0 || r.status == 4) << r.err;
  }
}

TEST_F(OpenCosts, ManyNodes) {
  for (const int count : {500, 3000}) {
    OnnxBuilder b;
    std::string x = b.integer_input<uint8_t>({1, 3, -1, -1}, 0.5f, 0);
    for (int i = 0; i < count; ++i) x = b.qdq<uint8_t>(b.node("Relu", {x}), 0.5f, 0);
    b.integer_output<uint8_t>(x, 0.5f, 0);
    const CommandResult r = convert(&b);
    EXPECT_TRUE(r.status == 0 || r.status == 4) << r.err;
  }
}

// A dimension whose name is a sum of thousands of others costs no more than the file's size allows.
TEST_F(OpenCosts, NamesThatAreLongSums) {
  OnnxBuilder b = maximum_of({1, -1, -1});
  name_dimensions(&b);
  std::string sum = "d0";
  for (int i = 0; i < 30000; ++i) sum += "+d0";
  auto* shape = b.graph().mutable_input(0)->mutable_type()->mutable_tensor_type()->mutable_shape();
  shape->mutable_dim(2)->set_dim_param(sum);
  const std::string file = write("sum.onnx", b.bytes());
  const CommandResult r = run_within_cost("qrt_convert", {file, "-o", path("out.qrt")}, {file});
  EXPECT_TRUE(r.status == 0 || r.status == 4) << r.err.substr(0, 1000);
}

}  // namespace
}  // namespace qrt::open_costs_test
