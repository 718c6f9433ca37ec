// SPDX-License-Identifier: Apache-2.0
// Ids and masks that a run gives: Gather at them, casts of wide integers, running sums, comparisons; constants of CumSum.
#include <gtest/gtest.h>

#include "tests/support/onnx_builder.h"

namespace qrt::testing::onnx_indices_test {
namespace {

using Ids = std::vector<int64_t>;

Bytes ids_of(const Ids& ids) { return to_bytes(ids); }

std::string scalar_axis(OnnxBuilder& b, int64_t axis) { return b.constant<int64_t>({}, Ids{axis}); }

TEST(OnnxIndices, GatherAtIdsOf64Bits) {
  OnnxBuilder b;
  const std::string table =
      b.dq(b.constant<int8_t>({3, 2}, {1, 2, 3, 4, -5, -6}), 0.5f, int8_t{-6});
  b.integer_output<int8_t>(b.node("Gather", {table, b.input<int64_t>({2, 2})}), 0.5f, int8_t{-6});
  EXPECT_EQ(b.run_to<int8_t>({ids_of({2, 0, -2, -3})}),
            (std::vector<int8_t>{-5, -6, 1, 2, 3, 4, 1, 2}));
}

TEST(OnnxIndices, GatherOfFloatAndWideTables) {
  OnnxBuilder f;
  f.output(f.node("Gather",
                  {f.constant<float>({3, 2}, {1, 2, 3, 4, -5, -0.0f}), f.input<int64_t>({2})}));
  EXPECT_EQ(f.run_to<float>({ids_of({2, 1})}), (std::vector<float>{-5, -0.0f, 3, 4}));
  OnnxBuilder i;
  i.output(i.node("Gather",
                  {i.constant<int64_t>({3}, {INT64_MIN, 7, INT64_MAX}), i.input<int32_t>({3})},
                  {{"axis", 0}}));
  EXPECT_EQ(i.run_to<int64_t>({to_bytes(std::vector<int32_t>{2, 1, 0})}),
            (Ids{INT64_MAX, 7, INT64_MIN}));
  OnnxBuilder t;
  const std::string truths =
      t.node("Cast", {t.constant<uint8_t>({2}, {1, 0})}, {{"to", onnx::TensorProto::BOOL}});
  t.output(t.node("Gather", {truths, t.input<int64_t>({3})}));
  EXPECT_EQ(t.run_to<uint8_t>({ids_of({0, 1, -1})}), (std::vector<uint8_t>{1, 0, 0}));
}

// ONNX Runtime fails there, too.
TEST(OnnxIndices, AnIdOutsideEndsTheRun) {
  OnnxBuilder b;
  b.output(b.node("Gather", {b.constant<uint8_t>({3}, {1, 2, 3}), b.input<int64_t>({1}, "ids")}));
  Imported imported = b.import();
  ASSERT_TRUE(imported.status.ok()) << imported.status.message();
  Bytes file;
  ASSERT_TRUE(convert::run_passes(&imported.graph, nullptr).ok());
  ASSERT_TRUE(convert::write_model(imported.graph, &file).ok());
  const RunResult result = run_model(file, {ids_of({3})});
  EXPECT_EQ(result.status, QRT_OUT_OF_RANGE);
  EXPECT_EQ(result.message.rfind("index 3 of 'ids' is outside the 3 rows of '", 0), 0u)
      << result.message;
}

TEST(OnnxIndices, CastsBetweenWideIntegersBoolAndFloat) {
  const auto cast = [](OnnxBuilder& b, const std::string& x, int to) {
    b.output(b.node("Cast", {x}, {{"to", to}}));
  };
  const Ids wide = {0, 1, -1, 16777217, int64_t{1} << 40};
  OnnxBuilder f;
  cast(f, f.input<int64_t>({5}), onnx::TensorProto::FLOAT);
  EXPECT_EQ(f.run_to<float>({ids_of(wide)}), (std::vector<float>{0, 1, -1, 16777216, 0x1p40f}));
  OnnxBuilder n;
  cast(n, n.input<int64_t>({5}), onnx::TensorProto::INT32);
  EXPECT_EQ(n.run_to<int32_t>({ids_of(wide)}), (std::vector<int32_t>{0, 1, -1, 16777217, 0}));
  OnnxBuilder t;
  cast(t, t.input<int64_t>({5}), onnx::TensorProto::BOOL);
  EXPECT_EQ(t.run_to<uint8_t>({ids_of(wide)}), (std::vector<uint8_t>{0, 1, 1, 1, 1}));
  OnnxBuilder w;
  cast(w, w.input<int32_t>({2}), onnx::TensorProto::INT64);
  EXPECT_EQ(w.run_to<int64_t>({to_bytes(std::vector<int32_t>{INT32_MIN, 5})}), (Ids{INT32_MIN, 5}));
  OnnxBuilder r;
  cast(r, r.input<float>({4}), onnx::TensorProto::INT64);
  EXPECT_EQ(r.run_to<int64_t>({to_bytes(std::vector<float>{1.9f, -1.9f, 0x1p40f, 0})}),
            (Ids{1, -1, int64_t{1} << 40, 0}));
  OnnxBuilder z;
  cast(z, z.input<float>({3}), onnx::TensorProto::BOOL);
  EXPECT_EQ(z.run_to<uint8_t>({to_bytes(std::vector<float>{0.5f, -0.0f, -3})}),
            (std::vector<uint8_t>{1, 0, 1}));
}

// Positions as RoBERTa counts them are computed by CumSum: tokens that are no padding, from 2 on.
TEST(OnnxIndices, PositionsByCumSum) {
  OnnxBuilder b;
  const std::string ids = b.input<int64_t>({2, 4});
  const std::string is_token = b.node("Not", {b.node("Equal", {ids, b.scalar<int64_t>(1)})});
  const std::string counts = b.node("Cast", {is_token}, {{"to", onnx::TensorProto::INT32}});
  const std::string sums = b.node("Mul", {b.node("CumSum", {counts, scalar_axis(b, 1)}), counts});
  b.output(b.node(
      "Add", {b.node("Cast", {sums}, {{"to", onnx::TensorProto::INT64}}), b.scalar<int64_t>(1)}));
  EXPECT_EQ(b.run_to<int64_t>({ids_of({5, 6, 1, 1, 1, 7, 8, 9})}), (Ids{2, 3, 1, 1, 1, 2, 3, 4}));
}

TEST(OnnxIndices, CumSumInEveryForm) {
  const auto sums = [](bool is_constant, int64_t axis, int64_t exclusive, int64_t reverse) {
    OnnxBuilder b;
    const Ids x = {1, 2, 3, 4, 5, 6};
    const std::string in = is_constant ? b.constant<int64_t>({2, 3}, x) : b.input<int64_t>({2, 3});
    const std::string y = b.node("CumSum", {in, scalar_axis(b, axis)},
                                 {{"exclusive", exclusive}, {"reverse", reverse}});
    // A constant alone makes no model.
    b.output(is_constant ? b.node("Add", {y, b.input<int64_t>({2, 3})}) : y);
    return b.run_to<int64_t>({ids_of(is_constant ? Ids(6, 0) : x)});
  };
  for (const bool is_constant : {false, true}) {
    EXPECT_EQ(sums(is_constant, 1, 0, 0), (Ids{1, 3, 6, 4, 9, 15}));
    EXPECT_EQ(sums(is_constant, -1, 1, 0), (Ids{0, 1, 3, 0, 4, 9}));
    EXPECT_EQ(sums(is_constant, 1, 0, 1), (Ids{6, 5, 3, 15, 11, 6}));
    EXPECT_EQ(sums(is_constant, 0, 1, 1), (Ids{4, 5, 6, 0, 0, 0}));
  }
}

// Signs of integers are folded, as in relative positions of a known length.
TEST(OnnxIndices, FoldsSignsOfIntegers) {
  const auto folded = [](const char* op) {
    OnnxBuilder b;
    const std::string y = b.node(op, {b.constant<int64_t>({4}, Ids{-3, 0, 5, 1})});
    b.output(b.node("Add", {y, b.input<int64_t>({4})}));
    return b.run_to<int64_t>({ids_of({0, 0, 0, 0})});
  };
  EXPECT_EQ(folded("Neg"), (Ids{3, 0, -5, -1}));
  EXPECT_EQ(folded("Abs"), (Ids{3, 0, 5, 1}));
  EXPECT_EQ(folded("Sign"), (Ids{-1, 0, 1, 1}));
}

// Lengths from masks.
TEST(OnnxIndices, ReduceSumOfIntegers) {
  const auto sums = [](const Ids& axes, int64_t keepdims) {
    OnnxBuilder b;
    const std::string at = b.constant<int64_t>({static_cast<int64_t>(axes.size())}, axes);
    b.output(b.node("ReduceSum", {b.input<int64_t>({2, 3}), at}, {{"keepdims", keepdims}}));
    return b.run_to<int64_t>({ids_of({1, 0, 1, INT64_MAX, 1, 1})});
  };
  EXPECT_EQ(sums({1}, 1), (Ids{2, INT64_MIN + 1}));
  EXPECT_EQ(sums({-2}, 0), (Ids{INT64_MIN, 1, 2}));
  EXPECT_EQ(sums({0, 1}, 0), (Ids{INT64_MIN + 3}));
}

TEST(OnnxIndices, ArgMaxOfFloats) {
  OnnxBuilder b;
  b.output(b.node("ArgMax", {b.input<float>({2, 3})}, {{"axis", 1}, {"keepdims", 0}}));
  EXPECT_EQ(b.run_to<int64_t>({to_bytes(std::vector<float>{-1, -0.0f, 0, 5, 7, 7})}), (Ids{1, 1}));
}

TEST(OnnxIndices, SumsOfSquaresAndMagnitudesInFloat) {
  const auto reduced = [](const char* op) {
    OnnxBuilder b;
    b.allow_float = true;
    b.output(b.node(op, {b.input<float>({2, 2})}, {{"axes", Ids{1}}, {"keepdims", 0}}));
    return b.run_to<float>({to_bytes(std::vector<float>{3, -4, -1, 0})});
  };
  EXPECT_EQ(reduced("ReduceL1"), (std::vector<float>{7, 1}));
  EXPECT_EQ(reduced("ReduceL2"), (std::vector<float>{5, 1}));
  EXPECT_EQ(reduced("ReduceSumSquare"), (std::vector<float>{25, 1}));
}

TEST(OnnxIndices, CumSumRefusesFloatsWithoutAFlagAndAxesOfARun) {
  OnnxBuilder f;
  f.output(f.node("CumSum", {f.input<float>({2}), scalar_axis(f, 0)}));
  EXPECT_EQ(f.import().status.code(), Code::kUnsupported);
  f.allow_float = true;
  EXPECT_EQ(f.run_to<float>({to_bytes(std::vector<float>{0.5f, 0.25f})}),
            (std::vector<float>{0.5f, 0.75f}));
  OnnxBuilder a;
  a.output(a.node("CumSum", {a.input<int64_t>({2}), a.input<int64_t>({})}));
  EXPECT_EQ(a.import().status.code(), Code::kUnsupported);
}

}  // namespace
}  // namespace qrt::testing::onnx_indices_test
