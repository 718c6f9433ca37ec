// SPDX-License-Identifier: Apache-2.0
// NonMaxSuppression and NonZero, whose results have as many entries as a run finds: room for all of them, the forms that are refused, and
// constants.
#include <gtest/gtest.h>

#include "tests/support/onnx_builder.h"

namespace qrt::testing::onnx_found_test {
namespace {

using Numbers = std::vector<int64_t>;
using Floats = std::vector<float>;

// Three boxes: the second lies on the first, the third beside them.
const Floats kBoxes = {0, 0, 1, 1, 0, 0.1f, 1, 1.1f, 0, 2, 1, 3};
const Numbers kNone = {-1, -1, -1};

struct Suppression {
  OnnxBuilder b{13};
  Names inputs;
  std::string result;

  explicit Suppression(std::string most = "") {
    inputs = {b.input({1, 3, 4}), b.input({1, 2, 3}), most.empty() ? b.scalar<int64_t>(2) : most,
              b.scalar(0.5f), b.scalar(0.1f)};
  }
  void end() { b.output(result = b.node("NonMaxSuppression", inputs)); }
};

TEST(OnnxFound, BoxesOfEveryClass) {
  Suppression s;
  s.end();
  const Floats scores = {0.3f, 0.9f, 0.5f, 0.05f, 0.1f, 0.2f};
  Numbers expected = {0, 0, 1, 0, 0, 2, 0, 1, 2};
  expected.insert(expected.end(), kNone.begin(), kNone.end());
  EXPECT_EQ(s.b.run_to<int64_t>({to_bytes(kBoxes), to_bytes(scores)}), expected);
}

TEST(OnnxFound, BoxesWithoutABoundOrReadByOthersAreRefused) {
  Suppression open("most");
  OnnxBuilder::declare(open.b.graph().add_input(), "most", onnx::TensorProto::INT64, {});
  open.end();
  EXPECT_NE(open.b.import().rule().find("the output would have no bound"), std::string::npos);
  Suppression none;
  none.inputs[2] = none.b.scalar<int64_t>(0);
  none.end();
  EXPECT_NE(none.b.import().rule().find("selects no box"), std::string::npos);
  Suppression read;
  read.end();
  read.b.output(read.b.node("Gather", {read.result, read.b.scalar<int64_t>(0)}));
  const Imported refused = read.b.import();
  EXPECT_NE(refused.rule().find("how much that is only a run knows"), std::string::npos)
      << refused.rule();
}

TEST(OnnxFound, PlacesThatARunFinds) {
  OnnxBuilder b(13);
  const std::string found = b.node("NonZero", {b.input<int32_t>({2, 3})});
  b.output(found);
  b.output(b.node("Transpose", {found}));
  const std::vector<Bytes> y = b.run({to_bytes(std::vector<int32_t>{0, 7, 0, -1, 0, 0})});
  ASSERT_EQ(y.size(), 2u);
  EXPECT_EQ(from_bytes<int64_t>(y[0]), (Numbers{0, 1, -1, -1, -1, -1, 1, 0, -1, -1, -1, -1}));
  EXPECT_EQ(from_bytes<int64_t>(y[1]), (Numbers{0, 1, 1, 0, -1, -1, -1, -1, -1, -1, -1, -1}));
}

TEST(OnnxFound, PlacesInAConstantAreOne) {
  OnnxBuilder b(13);
  const std::string mask = b.constant<int64_t>({4}, {1, 0, 5, -1});
  const std::string places =
      b.node("Squeeze", {b.node("NonZero", {mask}), b.constant<int64_t>({1}, {0})});
  b.output(b.node("Gather", {b.input({4}), places}));
  EXPECT_EQ(b.run_to<float>({to_bytes(Floats{4, 3, 2, 1})}), (Floats{4, 2, 1}));
}

TEST(OnnxFound, PlacesThatOthersReadAreRefused) {
  OnnxBuilder b(13);
  const std::string x = b.input({4});
  b.output(b.node("GatherND", {x, b.node("Transpose", {b.node("NonZero", {x})})}));
  EXPECT_NE(b.import().rule().find("how much that is only a run knows"), std::string::npos);
}

}  // namespace
}  // namespace qrt::testing::onnx_found_test
