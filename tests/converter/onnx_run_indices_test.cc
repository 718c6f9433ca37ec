// SPDX-License-Identifier: Apache-2.0
// Places that a run computes: parts of a tensor that begin there, elements that are put or taken there, and what is made of
// comparisons of places.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>

#include "tests/support/onnx_builder.h"

namespace qrt::testing::onnx_run_indices_test {
namespace {

using Numbers = std::vector<int64_t>;
using Floats = std::vector<float>;

Bytes of(const Numbers& v) { return to_bytes(v); }

qrt_status status_of(const OnnxBuilder& b, const std::vector<Bytes>& inputs) {
  Imported imported = b.import();
  EXPECT_TRUE(imported.status.ok()) << imported.report.text(true);
  Bytes file;
  EXPECT_TRUE(convert::run_passes(&imported.graph, nullptr).ok());
  EXPECT_TRUE(convert::write_model(imported.graph, &file).ok());
  return run_model(file, inputs).status;
}

// Rows offset - 1 to offset + 1 of a table of five.
OnnxBuilder part_of_a_table() {
  OnnxBuilder b;
  const std::string table = b.constant<float>({5, 1}, {10, 11, 12, 13, 14});
  const std::string offset = b.input<int64_t>({});
  const std::string axis = b.constant<int64_t>({1}, {0});
  const std::string start =
      b.node("Unsqueeze", {b.node("Sub", {offset, b.scalar<int64_t>(1)}), axis});
  const std::string end = b.node(
      "Reshape", {b.node("Add", {b.scalar<int64_t>(2), offset}), b.constant<int64_t>({1}, {1})});
  b.output(b.node("Slice", {table, start, end, axis}));
  return b;
}

TEST(OnnxRunIndices, SliceBeginsWhereTheRunSays) {
  const OnnxBuilder b = part_of_a_table();
  EXPECT_EQ(b.run_to<float>({of({1})}), (Floats{10, 11, 12}));
  EXPECT_EQ(b.run_to<float>({of({3})}), (Floats{12, 13, 14}));
  // Positions beyond the table, and before it, where a Slice would count from the end.
  EXPECT_EQ(status_of(b, {of({4})}), QRT_OUT_OF_RANGE);
  EXPECT_EQ(status_of(b, {of({0})}), QRT_OUT_OF_RANGE);
}

TEST(OnnxRunIndices, SliceOfSeveralAxes) {
  OnnxBuilder b;
  const std::string x = b.input<int32_t>({2, 4}), offset = b.input<int32_t>({1});
  const std::string at = b.node("Cast", {offset}, {{"to", onnx::TensorProto::INT64}});
  const std::string one = b.constant<int64_t>({1}, {1});
  const std::string starts = b.node("Concat", {one, at}, {{"axis", 0}});
  const std::string ends = b.node(
      "Concat", {b.constant<int64_t>({1}, {INT64_MAX}), b.node("Add", {at, one})}, {{"axis", 0}});
  b.output(b.node("Slice", {x, starts, ends, b.constant<int64_t>({2}, {0, 1})}));
  EXPECT_EQ(b.run_to<int32_t>({to_bytes(std::vector<int32_t>{1, 2, 3, 4, 5, 6, 7, 8}),
                               to_bytes(std::vector<int32_t>{2})}),
            (std::vector<int32_t>{7}));
}

TEST(OnnxRunIndices, ASliceWhoseLengthTheRunComputesIsRefused) {
  OnnxBuilder b;
  const std::string end = b.input<int64_t>({1}, "end");
  b.output(b.node("Slice", {b.input({4}), b.constant<int64_t>({1}, {0}), end}));
  const Imported refused = b.import();
  EXPECT_EQ(refused.status.code(), Code::kUnsupported);
  EXPECT_NE(refused.rule().find("its length depends on numbers of the run: from 'c"),
            std::string::npos)
      << refused.rule();
}

// Returns a model of attention over a cache of five tokens: queries [1, 3, 2] and the first `end`
// rows of the cache.
OnnxBuilder attention_over_a_cache(bool end_is_known, int64_t end) {
  OnnxBuilder b(17);
  b.allow_float = true;
  const std::string queries = b.input({1, 3, 2}), cache = b.input({1, 5, 2});
  const std::string last = end_is_known ? b.constant<int64_t>({1}, {end}) : b.input<int64_t>({1});
  const auto number = [&](int64_t n) { return b.constant<int64_t>({1}, {n}); };
  const std::string kept = b.node("Slice", {cache, number(0), last, number(1)});
  // As exporters spell heads: with dimensions that they read from the shape.
  const std::string shape = b.node("Shape", {kept});
  const std::string length = b.node("Gather", {shape, number(1)});
  const std::string heads =
      b.node("Concat", {number(1), length, number(1), number(2)}, {{"axis", 0}});
  const std::string keys = b.node("Reshape", {kept, heads});
  const std::string turned = b.node("Transpose", {keys}, {{"perm", Dims{0, 2, 3, 1}}});
  const std::string as_heads = b.node("Reshape", {queries, b.constant<int64_t>({4}, {1, 1, 3, 2})});
  const std::string scores = b.node("Mul", {b.node("MatMul", {as_heads, turned}), b.scalar(0.5f)});
  const std::string parts = b.node("Softmax", {scores}, {{"axis", -1}});
  const std::string values = b.node("Transpose", {keys}, {{"perm", Dims{0, 2, 1, 3}}});
  b.output(b.node("MatMul", {parts, values}));
  return b;
}

TEST(OnnxRunIndices, AttentionOverTheTokensOfACache) {
  const OnnxBuilder b = attention_over_a_cache(false, 0);
  const float none = std::numeric_limits<float>::quiet_NaN();
  const Bytes queries = to_bytes(Floats{1, 2, -3, 0.5f, 0, 7});
  for (const int64_t end : {1, 3, 4, 5, -2, 9}) {
    const int64_t length = end < 0 ? end + 5 : std::min<int64_t>(end, 5);
    Floats cache = {1, -1, 2, 0.25f, -0.5f, 3, 0.75f, 1, -2, 4};
    std::fill(cache.begin() + 2 * length, cache.end(), none);
    const Bytes tokens = to_bytes(cache);
    const Floats want = attention_over_a_cache(true, end).run_to<float>({queries, tokens});
    const Floats got = b.run_to<float>({queries, tokens, of({end})});
    ASSERT_EQ(got.size(), want.size());
    for (size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], want[i], 1e-5f) << end;
  }
  // Attention over an empty cache has no result.
  for (const int64_t end : {0, -5, -9})
    EXPECT_EQ(status_of(b, {queries, to_bytes(Floats(10, 1)), of({end})}), QRT_OUT_OF_RANGE);
}

// Operators that would show the capacity of a cache instead of its length, which the import does
// not know, are refused.
TEST(OnnxRunIndices, WhatWouldShowTheCapacityOfACacheIsRefused) {
  using Use = std::function<std::string(OnnxBuilder * b, const std::string& kept)>;
  const auto number = [](OnnxBuilder* b, int64_t n) { return b->constant<int64_t>({1}, {n}); };
  const auto length = [&](OnnxBuilder* b, const std::string& kept) {
    return b->node("Gather", {b->node("Shape", {kept}), number(b, 1)});
  };
  const Use uses[] = {
      [](OnnxBuilder*, const std::string& kept) { return kept; },
      [](OnnxBuilder* b, const std::string& kept) { return b->node("Relu", {kept}); },
      [](OnnxBuilder* b, const std::string& kept) {
        return b->node("ReduceMean", {kept}, {{"axes", Dims{1}}});
      },
      [&](OnnxBuilder* b, const std::string& kept) {
        return b->node("Mul", {length(b, kept), number(b, 2)});
      },
      [&](OnnxBuilder* b, const std::string& kept) { return length(b, kept); },
      [&](OnnxBuilder* b, const std::string& kept) {
        const std::string real = b->node("Cast", {length(b, kept)}, {{"to", 1}});
        return b->node("Mul", {b->node("Softmax", {kept}, {{"axis", 1}}), real});
      },
      [&](OnnxBuilder* b, const std::string& kept) {
        return b->node("Reshape", {kept, b->constant<int64_t>({2}, {5, 2})});
      },
      [&](OnnxBuilder* b, const std::string& kept) {
        return b->node("Add", {kept, b->input({1, 5, 2})});
      },
      [&](OnnxBuilder* b, const std::string& kept) {
        return b->node("MatMul", {b->input({1, 3, 5}), kept});
      },
      // Operators that would use the length as a number, for a table or to split it into rows.
      [&](OnnxBuilder* b, const std::string& kept) {
        const std::string table = b->constant<float>({6}, {0, 1, 2, 3, 4, 5});
        return b->node("Mul", {b->input({1}), b->node("Gather", {table, length(b, kept)})});
      },
      [&](OnnxBuilder* b, const std::string& kept) {
        const std::string ten = b->constant<float>({10}, Floats(10, 1));
        const std::string shape =
            b->node("Concat", {length(b, kept), number(b, -1)}, {{"axis", 0}});
        const std::string rows = b->node("Reshape", {ten, shape});
        const std::string turned = b->node("Transpose", {rows}, {{"perm", Dims{1, 0}}});
        return b->node("Add", {b->node("Reshape", {turned, number(b, 10)}), b->input({10})});
      },
      // Takes the shape's one element, that of the last axis.
      [&](OnnxBuilder* b, const std::string& kept) {
        const std::string one = b->node("Slice", {kept, number(b, 0), number(b, 1), number(b, 2)});
        return b->node("ReduceSum", {b->node("Expand", {one, length(b, kept)}), number(b, 2)});
      },
      [&](OnnxBuilder* b, const std::string& kept) {
        return b->node("Softmax", {b->input({1, 5, 2}), kept}, {{"axis", 1}});
      },
      [&](OnnxBuilder* b, const std::string& kept) { return b->node("Squeeze", {kept}); }};
  for (const Use& use : uses) {
    OnnxBuilder b(17);
    b.allow_float = true;
    const std::string cache = b.input({1, 5, 2}), end = b.input<int64_t>({1});
    const std::string kept = b.node("Slice", {cache, number(&b, 0), end, number(&b, 1)});
    b.output(use(&b, kept));
    EXPECT_EQ(b.import().status.code(), Code::kUnsupported);
  }
}

TEST(OnnxRunIndices, RangeBeginsWhereTheRunSays) {
  OnnxBuilder b;
  const std::string start = b.input<int64_t>({});
  b.output(
      b.node("Range", {start, b.node("Add", {start, b.scalar<int64_t>(3)}), b.scalar<int64_t>(1)}));
  EXPECT_EQ(b.run_to<int64_t>({of({-7})}), (Numbers{-7, -6, -5}));
  OnnxBuilder refused;
  refused.output(refused.node("Range", {refused.scalar<int64_t>(0), refused.input<int64_t>({}),
                                        refused.scalar<int64_t>(1)}));
  EXPECT_EQ(refused.import().status.code(), Code::kUnsupported);
}

// The start of a Range is traced back neither through a Cast that may change it nor through a sum
// that broadcasts.
TEST(OnnxRunIndices, RangeOfAStartThatACastNarrows) {
  OnnxBuilder b;
  const std::string narrow = b.node("Cast", {b.input<int64_t>({})}, {{"to", 6}});
  const std::string start = b.node("Cast", {narrow}, {{"to", 7}});
  b.output(
      b.node("Range", {start, b.node("Add", {start, b.scalar<int64_t>(2)}), b.scalar<int64_t>(1)}));
  EXPECT_EQ(b.run_to<int64_t>({of({(int64_t{1} << 32) + 5})}), (Numbers{5, 6}));
}

TEST(OnnxRunIndices, RangeOfAStartFromASumThatBroadcasts) {
  OnnxBuilder b;
  const std::string sums =
      b.node("Add", {b.constant<int64_t>({2, 1}, {10, 1000}), b.input<int64_t>({1, 2})});
  const std::string flat = b.node("Reshape", {sums, b.constant<int64_t>({1}, {4})});
  const std::string start = b.node("Gather", {flat, b.scalar<int64_t>(1)});
  b.output(
      b.node("Range", {start, b.node("Add", {start, b.scalar<int64_t>(2)}), b.scalar<int64_t>(1)}));
  const testing::Imported imported = b.import();
  if (imported.status.ok()) {
    EXPECT_EQ(b.run_to<int64_t>({of({1, 2})}), (Numbers{12, 13}));
  }
}

// Nodes that would need a table of as many entries as a number says are refused, or stay constants.
TEST(OnnxRunIndices, NumbersThatAreTooLargeToBeCounted) {
  for (const int64_t offset : {int64_t{1} << 31, int64_t{1} << 62, INT64_MIN + 1}) {
    OnnxBuilder b;
    const std::string start = b.node("Add", {b.input<int64_t>({}), b.scalar<int64_t>(offset)});
    b.output(b.node("Range",
                    {start, b.node("Add", {start, b.scalar<int64_t>(2)}), b.scalar<int64_t>(1)}));
    EXPECT_EQ(b.run_to<int64_t>({of({7})}), (Numbers{offset + 7, offset + 8}));
  }
  OnnxBuilder labels;
  labels.allow_float = true;
  labels.output(labels.node("Einsum", {labels.input({1, 1, 1, 1}), labels.input({1, 1, 1, 1})},
                            {{"equation", "abcd,ghij->abcdghij"}}));
  EXPECT_EQ(labels.import().status.code(), Code::kUnsupported);
}

TEST(OnnxRunIndices, ScatterNDPutsBlocks) {
  OnnxBuilder b(16);
  b.output(b.node("ScatterND",
                  {b.input<int32_t>({3, 2}), b.input<int64_t>({2, 1}), b.input<int32_t>({2, 2})}));
  const auto ints = [](const std::vector<int32_t>& v) { return to_bytes(v); };
  EXPECT_EQ(b.run_to<int32_t>({ints({1, 2, 3, 4, 5, 6}), of({2, -3}), ints({50, 60, 10, 20})}),
            (std::vector<int32_t>{10, 20, 3, 4, 50, 60}));
  EXPECT_EQ(status_of(b, {ints({1, 2, 3, 4, 5, 6}), of({0, 3}), ints({0, 0, 0, 0})}),
            QRT_OUT_OF_RANGE);
}

TEST(OnnxRunIndices, ScatterNDPutsElementsOfACache) {
  OnnxBuilder b(16);
  b.output(b.node("ScatterND", {b.input({2, 3}), b.input<int64_t>({1, 2, 2}), b.input({1, 2})}));
  const Bytes cache = to_bytes(Floats{1, 2, 3, 4, 5, 6}), update = to_bytes(Floats{-1, -2});
  EXPECT_EQ(b.run_to<float>({cache, of({1, -1, 0, 1}), update}), (Floats{1, -2, 3, 4, 5, -1}));
  // An index beyond its own dimension, not beyond the cache.
  EXPECT_EQ(status_of(b, {cache, of({0, 3, 0, 1}), update}), QRT_OUT_OF_RANGE);
  EXPECT_EQ(status_of(b, {cache, of({0, 0, -3, 1}), update}), QRT_OUT_OF_RANGE);
  // Indices so far away that their sum with a limit would wrap into the range.
  for (const int64_t far : {int64_t{40}, int64_t{39}, int64_t{62}, int64_t{63}})
    EXPECT_EQ(status_of(b, {cache, of({-(int64_t{1} << (far - 1)) * 2 + 1, 0, 0, 1}), update}),
              QRT_OUT_OF_RANGE)
        << far;
}

TEST(OnnxRunIndices, ScatterElementsOfEveryAxis) {
  for (const int64_t axis : {0, 1}) {
    OnnxBuilder b(16);
    const Dims one = axis == 0 ? Dims{1, 3} : Dims{2, 1};
    b.output(b.node("ScatterElements",
                    {b.input<uint8_t>({2, 3}), b.input<int64_t>(one), b.input<uint8_t>(one)},
                    {{"axis", axis}}));
    const Bytes x = {1, 2, 3, 4, 5, 6};
    if (axis == 0)
      EXPECT_EQ(b.run({x, of({1, 0, -1}), {7, 8, 9}})[0], (Bytes{1, 8, 3, 7, 5, 9}));
    else
      EXPECT_EQ(b.run({x, of({2, 0}), {7, 8}})[0], (Bytes{1, 2, 7, 8, 5, 6}));
  }
}

TEST(OnnxRunIndices, GatherNDAndGatherElements) {
  OnnxBuilder n;
  n.output(n.node("GatherND", {n.input<int32_t>({2, 3}), n.input<int64_t>({2, 1})},
                  {{"batch_dims", 1}}));
  const Bytes x = to_bytes(std::vector<int32_t>{1, 2, 3, 4, 5, 6});
  EXPECT_EQ(n.run_to<int32_t>({x, of({2, -3})}), (std::vector<int32_t>{3, 4}));
  EXPECT_EQ(status_of(n, {x, of({3, 0})}), QRT_OUT_OF_RANGE);
  OnnxBuilder p;
  p.output(p.node("GatherND", {p.input<int32_t>({2, 3}), p.input<int64_t>({2, 2})}));
  EXPECT_EQ(p.run_to<int32_t>({x, of({1, 2, 0, -2})}), (std::vector<int32_t>{6, 2}));
  for (const int64_t axis : {0, 1}) {
    OnnxBuilder e;
    e.output(e.node("GatherElements", {e.input<int32_t>({2, 3}), e.input<int64_t>({1, 2})},
                    {{"axis", axis}}));
    EXPECT_EQ(e.run_to<int32_t>({x, of({1, -1})}),
              axis == 0 ? (std::vector<int32_t>{4, 5}) : (std::vector<int32_t>{2, 3}));
  }
}

TEST(OnnxRunIndices, WhereOfWideIntegers) {
  OnnxBuilder b;
  const std::string x = b.input<int64_t>({3});
  const std::string is_low = b.node("Less", {x, b.scalar<int64_t>(0)});
  b.output(b.node("Where", {is_low, b.scalar<int64_t>(INT64_MIN), x}));
  b.output(b.node("Where", {is_low, b.scalar<int32_t>(-5), b.scalar<int32_t>(INT32_MAX)}));
  const std::vector<Bytes> out = b.run({of({-1, 7, INT64_MAX})});
  EXPECT_EQ(out[0], of({INT64_MIN, 7, INT64_MAX}));
  EXPECT_EQ(out[1], to_bytes(std::vector<int32_t>{-5, INT32_MAX, INT32_MAX}));
}

TEST(OnnxRunIndices, OneHotOfEveryAxis) {
  for (const int64_t axis : {0, -1}) {
    OnnxBuilder b;
    b.output(b.node("OneHot",
                    {b.input<int64_t>({2}), b.scalar<int64_t>(3), b.constant<int64_t>({2}, {1, 9})},
                    {{"axis", axis}}));
    EXPECT_EQ(b.run_to<int64_t>({of({-1, 5})}),
              axis == 0 ? (Numbers{1, 1, 1, 1, 9, 1}) : (Numbers{1, 1, 9, 1, 1, 1}));
  }
}

TEST(OnnxRunIndices, TriluOfConstantsAndOfARun) {
  for (const int upper : {0, 1}) {
    OnnxBuilder b(14);
    const std::string x = b.input<int64_t>({2, 3}), one = b.scalar<int64_t>(1);
    b.output(b.node("Trilu", {x, one}, {{"upper", upper}}));
    const std::string constant =
        b.node("Trilu", {b.constant<int64_t>({2, 3}, {1, 1, 1, 1, 1, 1}), one}, {{"upper", upper}});
    b.output(b.node("Mul", {x, constant}));
    const std::vector<Bytes> out = b.run({of({1, 2, 3, 4, 5, 6})});
    const Numbers kept = upper != 0 ? Numbers{0, 2, 3, 0, 0, 6} : Numbers{1, 2, 0, 4, 5, 6};
    EXPECT_EQ(out[0], of(kept));
    EXPECT_EQ(out[1], of(kept));
  }
}

}  // namespace
}  // namespace qrt::testing::onnx_run_indices_test
