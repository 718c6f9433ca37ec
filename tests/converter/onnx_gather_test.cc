// SPDX-License-Identifier: Apache-2.0
// Operators that become Gather, against the indices their specification gives; shape arithmetic.
#include <gtest/gtest.h>

#include <numeric>

#include "tests/support/onnx_builder.h"

namespace qrt::testing::onnx_gather_test {
namespace {

using Values = std::vector<uint8_t>;

Values count_up(size_t n, int first = 0) {
  Values v(n);
  std::iota(v.begin(), v.end(), static_cast<uint8_t>(first));
  return v;
}

std::string ints(OnnxBuilder& b, const Dims& values) {
  return b.constant<int64_t>({static_cast<int64_t>(values.size())}, values);
}
std::string floats(OnnxBuilder& b, const std::vector<float>& values) {
  return b.constant<float>({static_cast<int64_t>(values.size())}, values);
}

// Runs the operator on an uint8 tensor of 0, 1, 2 ... and its constant inputs. `outputs`: how many it has.
std::vector<Bytes> run_raw(OnnxBuilder& b, const std::string& op, const Dims& dims,
                           const Names& constants, std::initializer_list<Attr> attributes,
                           int outputs = 1) {
  Names inputs = {b.input<uint8_t>(dims)};
  inputs.insert(inputs.end(), constants.begin(), constants.end());
  b.output(b.node(op, inputs, attributes));
  onnx::NodeProto* node = b.graph().mutable_node(b.graph().node_size() - 1);
  for (int i = 1; i < outputs; ++i) {
    node->add_output("more" + std::to_string(i));
    b.output(node->output(i));
  }
  size_t n = 1;
  for (int64_t d : dims) n *= static_cast<size_t>(d);
  return b.run({count_up(n)});
}

void expect_raw(OnnxBuilder& b, const std::string& op, const Dims& dims, const Names& constants,
                std::initializer_list<Attr> attributes, const Values& expected) {
  ASSERT_EQ(run_raw(b, op, dims, constants, attributes), std::vector<Bytes>{expected}) << op;
}

void expect_rule(const OnnxBuilder& b, const std::string& part) {
  const Imported imported = b.import();
  ASSERT_EQ(imported.status.code(), Code::kUnsupported) << imported.status.message();
  ASSERT_NE(imported.rule().find(part), std::string::npos) << imported.rule();
}

void expect_damaged(const OnnxBuilder& b, const std::string& part) {
  const Imported imported = b.import();
  ASSERT_EQ(imported.status.code(), Code::kInvalidModel) << imported.status.message();
  ASSERT_NE(std::string(imported.status.message()).find(part), std::string::npos)
      << imported.status.message();
}

TEST(OnnxGather, SliceCountsFromEitherEndInStepsOfEitherSign) {
  OnnxBuilder b;
  expect_raw(b, "Slice", {2, 6},
             {ints(b, {0, -2}), ints(b, {9, -7}), ints(b, {0, -1}), ints(b, {1, -2})}, {},
             {4, 2, 0, 10, 8, 6});
}

TEST(OnnxGather, SliceRefusesAnEmptyResultAndAZeroStep) {
  OnnxBuilder empty;
  empty.output(
      empty.node("Slice", {empty.input<uint8_t>({4}), ints(empty, {2}), ints(empty, {2})}));
  expect_rule(empty, "its result of shape [0] is empty");
  OnnxBuilder zero;
  zero.output(zero.node("Slice", {zero.input<uint8_t>({4}), ints(zero, {0}), ints(zero, {2}),
                                  ints(zero, {0}), ints(zero, {0})}));
  expect_damaged(zero, "a step is 0");
}

TEST(OnnxGather, SplitGivesEveryOutputItsPart) {
  OnnxBuilder b;
  ASSERT_EQ(run_raw(b, "Split", {2, 5}, {ints(b, {1, 3, 1})}, {{"axis", 1}}, 3),
            (std::vector<Bytes>{{0, 5}, {1, 2, 3, 6, 7, 8}, {4, 9}}));
  OnnxBuilder uneven(18);
  ASSERT_EQ(run_raw(uneven, "Split", {5}, {}, {{"num_outputs", 2}}, 2),
            (std::vector<Bytes>{{0, 1, 2}, {3, 4}}));
  OnnxBuilder wrong;
  wrong.output(wrong.node("Split", {wrong.input<uint8_t>({4}), ints(wrong, {3})}));
  expect_damaged(wrong, "its sizes do not add up to 4");
}

TEST(OnnxGather, PadInEveryMode) {
  const Dims pads = {2, 1};
  OnnxBuilder constant, edge, reflect, wrap(19), cut;
  expect_raw(constant, "Pad", {4}, {ints(constant, pads), constant.scalar<uint8_t>(9)}, {},
             {9, 9, 0, 1, 2, 3, 9});
  expect_raw(edge, "Pad", {4}, {ints(edge, pads)}, {{"mode", "edge"}}, {0, 0, 0, 1, 2, 3, 3});
  expect_raw(reflect, "Pad", {4}, {ints(reflect, pads)}, {{"mode", "reflect"}},
             {2, 1, 0, 1, 2, 3, 2});
  expect_raw(wrap, "Pad", {4}, {ints(wrap, pads)}, {{"mode", "wrap"}}, {2, 3, 0, 1, 2, 3, 0});
  expect_raw(cut, "Pad", {2, 4}, {ints(cut, {0, -1, 1, 0})}, {}, {1, 2, 3, 5, 6, 7, 0, 0, 0});
}

TEST(OnnxGather, PadValueOfIntegersIsStoredLikeThem) {
  OnnxBuilder b;
  const std::string x = b.input<int8_t>({3});
  b.output(b.node("Pad", {x, ints(b, {1, 0}), b.scalar<int8_t>(-5)}));
  ASSERT_EQ(b.run_to<int8_t>({to_bytes(std::vector<int8_t>{1, -2, 3})}),
            (std::vector<int8_t>{-5, 1, -2, 3}));
}

// A Pad between quantised tensors moves codes where the pad value 0 is one of the input's; with
// 1000, which is none, the output's parameters decide.
TEST(OnnxGather, PadBetweenQuantizedTensors) {
  OnnxBuilder zero;
  std::string x = zero.integer_input<uint8_t>({3}, 0.5f, uint8_t{100});
  x = zero.node("Relu", {zero.node("Pad", {x, ints(zero, {1, 1})})});
  zero.integer_output<uint8_t>(x, 0.25f, uint8_t{10});
  ASSERT_EQ(zero.run_to<uint8_t>({{90, 100, 110}}), (Values{10, 10, 10, 30, 10}));

  OnnxBuilder high;
  x = high.integer_input<uint8_t>({3}, 0.5f, uint8_t{100});
  x = high.node("Pad", {x, ints(high, {1, 0}), high.scalar(1000.0f)});
  high.integer_output<uint8_t>(x, 0.5f, uint8_t{100});
  ASSERT_EQ(high.run_to<uint8_t>({{90, 100, 110}}), (Values{255, 90, 100, 110}));
}

TEST(OnnxGather, TileExpandAndGather) {
  OnnxBuilder tile, expand, gather, scalar;
  expect_raw(tile, "Tile", {2, 2}, {ints(tile, {2, 2})}, {},
             {0, 1, 0, 1, 2, 3, 2, 3, 0, 1, 0, 1, 2, 3, 2, 3});
  expect_raw(expand, "Expand", {2, 1}, {ints(expand, {2, 1, 3})}, {},
             {0, 0, 0, 1, 1, 1, 0, 0, 0, 1, 1, 1});
  const std::string indices = gather.constant<int64_t>({2, 2}, {-1, 0, 1, 1});
  expect_raw(gather, "Gather", {2, 3}, {indices}, {{"axis", 1}}, {2, 0, 1, 1, 5, 3, 4, 4});
  expect_raw(scalar, "Gather", {2, 3}, {scalar.scalar<int64_t>(-1)}, {{"axis", 0}}, {3, 4, 5});
  OnnxBuilder outside;
  outside.output(outside.node("Gather", {outside.input<uint8_t>({4}), ints(outside, {4})}));
  expect_damaged(outside, "index 4 is outside 4");
}

TEST(OnnxGather, GatherNdAndGatherElements) {
  OnnxBuilder plain, batched, elements;
  const std::string a = plain.constant<int64_t>({2, 2}, {0, 1, -1, 0});
  expect_raw(plain, "GatherND", {2, 2, 2}, {a}, {}, {2, 3, 4, 5});
  const std::string c = batched.constant<int64_t>({2, 1}, {1, 0});
  expect_raw(batched, "GatherND", {2, 2, 2}, {c}, {{"batch_dims", 1}}, {2, 3, 4, 5});
  const std::string e = elements.constant<int64_t>({2, 2}, {2, 0, 1, -1});
  expect_raw(elements, "GatherElements", {2, 3}, {e}, {{"axis", 1}}, {2, 0, 4, 5});
}

TEST(OnnxGather, DepthToSpaceAndBack) {
  OnnxBuilder dcr, crd, back;
  expect_raw(dcr, "DepthToSpace", {1, 8, 1, 1}, {}, {{"blocksize", 2}}, {0, 2, 4, 6, 1, 3, 5, 7});
  expect_raw(crd, "DepthToSpace", {1, 8, 1, 1}, {}, {{"blocksize", 2}, {"mode", "CRD"}},
             {0, 1, 2, 3, 4, 5, 6, 7});
  expect_raw(back, "SpaceToDepth", {1, 2, 2, 2}, {}, {{"blocksize", 2}}, {0, 4, 1, 5, 2, 6, 3, 7});
}

struct Nearest {
  const char *coordinates, *rounding;
  Dims sizes;                 // or
  std::vector<float> scales;  // of the last axis
  Values expected;            // of 0 1 2 3
};

TEST(OnnxGather, ResizeNearestInEveryMode) {
  const Nearest cases[] = {
      {"half_pixel", "round_prefer_floor", {8}, {}, {0, 0, 1, 1, 2, 2, 3, 3}},
      {"half_pixel", "floor", {1}, {}, {1}},
      {"half_pixel", "ceil", {1}, {}, {2}},
      {"pytorch_half_pixel", "ceil", {1}, {}, {0}},
      {"align_corners", "floor", {5}, {}, {0, 0, 1, 2, 3}},
      {"align_corners", "ceil", {5}, {}, {0, 1, 2, 3, 3}},
      {"align_corners", "round_prefer_floor", {5}, {}, {0, 1, 1, 2, 3}},
      {"align_corners", "round_prefer_ceil", {5}, {}, {0, 1, 2, 2, 3}},
      {"asymmetric", "floor", {}, {1.5f}, {0, 0, 1, 2, 2, 3}},
      {"tf_half_pixel_for_nn", "floor", {}, {0.5f}, {1, 3}},
      {"half_pixel_symmetric", "round_prefer_floor", {}, {0.7f}, {1, 2}},
      {"tf_half_pixel_for_nn", "ceil", {}, {1.0f}, {0, 1, 2, 3}},  // scale 1 moves nothing
  };
  for (const Nearest& c : cases) {
    OnnxBuilder b(19);
    const bool by_size = !c.sizes.empty();
    const Names inputs = {b.input<uint8_t>({1, 4}), "", by_size ? "" : floats(b, {1, c.scales[0]}),
                          by_size ? ints(b, {1, c.sizes[0]}) : ""};
    b.output(
        b.node("Resize", inputs,
               {{"coordinate_transformation_mode", c.coordinates}, {"nearest_mode", c.rounding}}));
    ASSERT_EQ(b.run({{0, 1, 2, 3}}), std::vector<Bytes>{c.expected})
        << c.coordinates << " " << c.rounding;
  }
}

TEST(OnnxGather, ResizeTakesARegionAndFillsOutside) {
  OnnxBuilder b(18);
  std::string x = b.integer_input<uint8_t>({1, 4}, 0.5f, uint8_t{100});
  x = b.node("Resize", {x, floats(b, {0, 1.5f}), "", ints(b, {5})},
             {{"coordinate_transformation_mode", "tf_crop_and_resize"},
              {"extrapolation_value", 2.0f},
              {"axes", Dims{1}}});
  b.integer_output<uint8_t>(x, 0.5f, uint8_t{100});
  // Coordinates 0, 1.125, 2.25, 3.375 and 4.5: the last two are outside.
  ASSERT_EQ(b.run_to<uint8_t>({{10, 11, 12, 13}}), (Values{10, 11, 12, 104, 104}));
}

TEST(OnnxGather, ResizeKeepsTheAspectRatio) {
  const auto sizes = [](const char* policy) {
    OnnxBuilder b(18);
    b.output(b.node("Resize", {b.input<uint8_t>({1, 1, 2, 4}), "", "", ints(b, {4, 4})},
                    {{"axes", Dims{2, 3}}, {"keep_aspect_ratio_policy", policy}}));
    return b.run({count_up(8)})[0].size();
  };
  ASSERT_EQ(sizes("stretch"), 16u);
  ASSERT_EQ(sizes("not_larger"), 8u);
  ASSERT_EQ(sizes("not_smaller"), 32u);
}

TEST(OnnxGather, UpsampleAndOldResize) {
  OnnxBuilder b(10), old(10);
  expect_raw(b, "Upsample", {1, 1, 1, 2}, {floats(b, {1, 1, 2, 2})}, {}, {0, 0, 1, 1, 0, 0, 1, 1});
  expect_raw(old, "Resize", {1, 1, 1, 6}, {floats(old, {1, 1, 1, 0.4f})}, {}, {0, 3});
}

TEST(OnnxGather, GatherAtIndicesOfARun) {
  OnnxBuilder b;
  const std::string table =
      b.dq(b.constant<int8_t>({3, 2}, {1, 2, 3, 4, -5, -6}), 0.5f, int8_t{-6});
  const std::string index = b.input<int32_t>({2, 2});
  b.integer_output<int8_t>(b.node("Gather", {table, index}), 0.5f, int8_t{-6});
  ASSERT_EQ(b.run_to<int8_t>({to_bytes(std::vector<int32_t>{2, 0, -2, 2})}),
            (std::vector<int8_t>{-5, -6, 1, 2, 3, 4, -5, -6}));
}

TEST(OnnxGather, GatherOfSixteenBitsAtIndicesOfARun) {
  for (const bool is_quantised : {true, false}) {
    OnnxBuilder b(21);
    std::string table = b.constant<uint16_t>({3, 2}, {1, 2, 40000, 4, 65535, 0});
    if (is_quantised) table = b.dq(table, 0.5f, uint16_t{40000});
    const std::string y = b.node("Gather", {table, b.input<int32_t>({2, 2})});
    if (is_quantised)
      b.integer_output<uint16_t>(y, 0.5f, uint16_t{40000});
    else
      b.output(y);
    ASSERT_EQ(b.run_to<uint16_t>({to_bytes(std::vector<int32_t>{2, 0, -2, 2})}),
              (std::vector<uint16_t>{65535, 0, 1, 2, 40000, 4, 65535, 0}));
  }
  OnnxBuilder b(21);
  const std::string table = b.dq(b.constant<int16_t>({3}, {-32768, 7, 32767}), 0.25f, int16_t{7});
  b.integer_output<int16_t>(b.node("Gather", {table, b.input<int32_t>({3})}), 0.5f, int16_t{0});
  ASSERT_EQ(b.run_to<int16_t>({to_bytes(std::vector<int32_t>{0, 1, 2})}),
            (std::vector<int16_t>{-16388, 0, 16380}));
}

TEST(OnnxGather, ResizeLinearBetweenQuantizedTensors) {
  OnnxBuilder b;
  std::string x = b.integer_input<int8_t>({1, 1, 1, 2}, 0.5f, int8_t{-10});
  x = b.node("Resize", {x, "", "", ints(b, {1, 1, 1, 4})}, {{"mode", "linear"}});
  b.integer_output<int8_t>(x, 0.25f, int8_t{5});
  // 0 and 5: 0, 1.25, 3.75, 5
  ASSERT_EQ(b.run_to<int8_t>({to_bytes(std::vector<int8_t>{-10, 0})}),
            (std::vector<int8_t>{5, 10, 20, 25}));
}

// A linear Resize of three dimensions is one of a volume, as in ONNX Runtime, whichever of them are resized.
TEST(OnnxGather, ResizeLinearOfThreeDimensions) {
  OnnxBuilder b;
  const std::string x = b.integer_input<int8_t>({1, 2, 2}, 0.5f, int8_t{-10});
  const std::string wide = b.node("Resize", {x, "", "", ints(b, {1, 2, 4})}, {{"mode", "linear"}});
  const std::string high = b.node("Resize", {x, "", "", ints(b, {1, 4, 2})}, {{"mode", "linear"}});
  for (const std::string& y : {wide, high}) b.integer_output<int8_t>(y, 0.25f, int8_t{5});
  ASSERT_EQ(b.run({to_bytes(std::vector<int8_t>{-10, 0, -2, -6})}),
            (std::vector<Bytes>{to_bytes(std::vector<int8_t>{5, 10, 20, 25, 21, 19, 15, 13}),
                                to_bytes(std::vector<int8_t>{5, 25, 9, 22, 17, 16, 21, 13})}));
  // The batch is closed, because the order of the sums differs for the last index of every dimension.
  EXPECT_NE(b.import().graph.batch_closed, "");
}

// Checks a volume: half-pixel centres; eight products in ONNX Runtime's order, each step rounded.
void check_volume(const Dims& from, const Dims& to) {
  SCOPED_TRACE(::testing::PrintToString(to));
  testing::Random random;
  SCOPED_TRACE(random.trace());
  OnnxBuilder b;
  const std::string in = b.integer_input<uint8_t>(from, 0.043f, uint8_t{120});
  const std::string out = b.node("Resize", {in, "", "", ints(b, to)}, {{"mode", "linear"}});
  b.integer_output<uint8_t>(out, 0.021f, uint8_t{110});
  const size_t r = from.size() - 3;
  const auto size = [](int64_t n) { return static_cast<size_t>(n); };
  std::vector<uint8_t> x(size(from[r] * from[r + 1] * from[r + 2] * (r > 0 ? from[1] : 1)));
  for (uint8_t& v : x) v = static_cast<uint8_t>(random.integer(0, 255));
  struct Between {
    size_t at[2];
    float weight[2];
  };
  const auto between = [&](size_t axis, size_t i) -> Between {
    const float scale = static_cast<float>(to[axis]) / static_cast<float>(from[axis]);
    const float last = static_cast<float>(from[axis] - 1);
    const float v = from[axis] == to[axis]
                        ? static_cast<float>(i)
                        : std::clamp((static_cast<float>(i) + 0.5f) / scale - 0.5f, 0.0f, last);
    const size_t low = static_cast<size_t>(v), high = std::min(low + 1, size(from[axis]) - 1);
    if (low == high) return {{low, high}, {0.5f, 0.5f}};
    return {{low, high}, {static_cast<float>(high) - v, v - static_cast<float>(low)}};
  };
  std::vector<uint8_t> expected;
  for (size_t c = 0; c < (r > 0 ? size(from[1]) : 1); ++c)
    for (size_t z = 0; z < size(to[r]); ++z)
      for (size_t y = 0; y < size(to[r + 1]); ++y)
        for (size_t w = 0; w < size(to[r + 2]); ++w) {
          const Between d = between(r, z), h = between(r + 1, y), u = between(r + 2, w);
          volatile float sum = 0;
          for (size_t i = 0; i < 8; ++i) {
            volatile float weight = u.weight[i & 1] * h.weight[i >> 1 & 1];
            weight = weight * d.weight[i >> 2];
            const size_t plane = c * size(from[r]) + d.at[i >> 2];
            const size_t row = plane * size(from[r + 1]) + h.at[i >> 1 & 1];
            const int q = x[row * size(from[r + 2]) + u.at[i & 1]];
            volatile float product = weight * (static_cast<float>(q - 120) * 0.043f);
            sum = sum + product;
          }
          const float steps = std::nearbyint(sum / 0.021f);
          expected.push_back(static_cast<uint8_t>(std::clamp(steps + 110, 0.0f, 255.0f)));
        }
  ASSERT_EQ(b.run_to<uint8_t>({x}), expected);
}

TEST(OnnxGather, ResizeLinearOfVolumes) {
  check_volume({1, 3, 3, 4, 5}, {1, 3, 7, 6, 4});
  check_volume({1, 17, 2, 2, 2}, {1, 17, 4, 4, 4});
  check_volume({1, 2, 4, 3, 3}, {1, 2, 4, 5, 2});
  check_volume({3, 4, 5}, {7, 2, 9});
  check_volume({2, 3, 4}, {2, 3, 9});
  OnnxBuilder batch;
  const std::string v = batch.integer_input<int8_t>({2, 1, 2, 2, 2}, 0.5f, int8_t{0});
  batch.integer_output<int8_t>(
      batch.node("Resize", {v, "", "", ints(batch, {4, 1, 4, 4, 4})}, {{"mode", "linear"}}), 0.5f,
      int8_t{0});
  expect_rule(batch, "it resizes other than two dimensions of an image or three of a volume");
}
// Rows of a region outside the image are the extrapolation value: here the second of rows 1 and 3 of 3.
TEST(OnnxGather, ResizeLinearOfARegion) {
  for (const bool raw : {false, true}) {
    OnnxBuilder b;
    const std::string x = raw ? b.input<int8_t>({1, 1, 3, 2})
                              : b.integer_input<int8_t>({1, 1, 3, 2}, 0.5f, int8_t{-10});
    const std::string y =
        b.node("Resize", {x, floats(b, {0, 0, 0.5f, 0, 1, 1, 1.5f, 1}), "", ints(b, {1, 1, 2, 2})},
               {{"mode", "linear"},
                {"coordinate_transformation_mode", "tf_crop_and_resize"},
                {"extrapolation_value", 7.0f}});
    raw ? b.output(y) : b.integer_output<int8_t>(y, 0.5f, int8_t{-10});
    const int8_t outside = raw ? 7 : 4;
    ASSERT_EQ(b.run_to<int8_t>({to_bytes(std::vector<int8_t>{1, 2, -3, 4, 5, 6})}),
              (std::vector<int8_t>{-3, 4, outside, outside}));
  }
}

// A position next to a half counts as a half: 7 to 1 gives 0.5 / fl32(1 / 7), which is below 3.5 by
// a unit in the last place.
TEST(OnnxGather, ResizeTakesWhatIsNextToAHalfForOne) {
  for (const bool ceil : {false, true}) {
    OnnxBuilder b(19);
    b.output(b.node("Resize", {b.input<uint8_t>({7}), "", "", ints(b, {1})},
                    {{"coordinate_transformation_mode", "tf_half_pixel_for_nn"},
                     {"nearest_mode", ceil ? "round_prefer_ceil" : "round_prefer_floor"}}));
    ASSERT_EQ(b.run_to<uint8_t>({{0, 1, 2, 3, 4, 5, 6}}),
              Values{static_cast<uint8_t>(ceil ? 4 : 3)});
  }
}

TEST(OnnxGather, ResizeLinearOfIntegersTruncates) {
  OnnxBuilder first, last(11);
  expect_raw(first, "Resize", {1, 1, 1, 2}, {"", "", ints(first, {1, 1, 1, 4})},
             {{"mode", "linear"}}, {0, 0, 0, 1});
  expect_raw(last, "Resize", {1, 1, 2, 2}, {floats(last, {}), floats(last, {1, 1, 2, 1})},
             {{"mode", "linear"}}, {0, 1, 0, 1, 1, 2, 2, 3});
  OnnxBuilder cubic;
  cubic.output(cubic.node("Resize",
                          {cubic.input<uint8_t>({1, 1, 2, 2}), "", "", ints(cubic, {1, 1, 4, 4})},
                          {{"mode", "cubic"}}));
  expect_rule(cubic, "mode 'cubic'");
}

TEST(OnnxGather, RefusesWhatItDoesNotKnow) {
  OnnxBuilder variable;
  variable.output(variable.node(
      "Tile", {variable.input<uint8_t>({4}), variable.input<int64_t>({1}, "repeats")}));
  expect_rule(variable, "input 'repeats' is not an integer constant");
  OnnxBuilder huge;
  huge.output(huge.node("Expand", {huge.input<uint8_t>({1}), ints(huge, {1 << 30})}));
  expect_rule(huge, "it moves an axis of 1073741824 indices");
  OnnxBuilder mode;
  mode.output(mode.node("Pad", {mode.input<uint8_t>({4}), ints(mode, {1, 1})}, {{"mode", "x"}}));
  expect_damaged(mode, "its mode is 'x', expected constant, edge, reflect or wrap");
}

// Parameters along an axis follow a Slice of that axis.
TEST(OnnxGather, PerAxisQuantizationFollowsASlice) {
  OnnxBuilder b;
  const std::string scale = floats(b, {0.5f, 0.25f, 0.125f});
  const std::string zero = b.constant<uint8_t>({3}, {10, 20, 30});
  const std::string x =
      b.node("DequantizeLinear", {b.input<uint8_t>({2, 3}), scale, zero}, {{"axis", 1}});
  b.output(b.node("Slice", {x, ints(b, {2}), ints(b, {-9}), ints(b, {1}), ints(b, {-2})}));
  ASSERT_EQ(b.run_to<float>({{11, 21, 31, 12, 22, 32}}),
            (std::vector<float>{0.125f, 0.5f, 0.25f, 1.0f}));
}

// Shapes that the model computes from its batch do not fix it.
TEST(OnnxGather, ShapeArithmeticLeavesTheBatchOpen) {
  OnnxBuilder b;
  const std::string x = b.input<uint8_t>({-1, 2, 6});
  const std::string shape = b.node("Shape", {x});
  const std::string batch = b.node("Gather", {shape, ints(b, {0})});
  const std::string rest = b.node("Div", {b.node("Gather", {shape, ints(b, {2})}), ints(b, {2})});
  const std::string target = b.node("Concat", {batch, ints(b, {4}), rest}, {{"axis", 0}});
  b.output(b.node("Reshape", {x, target}));
  Imported imported = b.import();
  ASSERT_TRUE(imported.status.ok()) << imported.report.text(true);
  ASSERT_TRUE(convert::run_passes(&imported.graph, nullptr).ok());
  ASSERT_TRUE(imported.graph.batch_is_open);
  ASSERT_EQ(imported.graph.values[imported.graph.outputs[0]].type.shape, (Shape{-1, 4, 3}));
}

// The shape arithmetic that exporters write for expand() and interpolate() is folded.
TEST(OnnxGather, ShapeArithmeticOfExporters) {
  OnnxBuilder expand;
  std::string x = expand.input<uint8_t>({1, 2});
  const std::string wanted = ints(expand, {3, -1});
  const std::string ones = expand.node("ConstantOfShape", {ints(expand, {2})});
  const std::string one = expand.node("Cast", {ones}, {{"to", 7}});
  const std::string open = expand.node("Equal", {wanted, ints(expand, {-1})});
  const std::string dims = expand.node(
      "Add", {expand.node("Mul", {expand.node("Cast", {open}, {{"to", 7}}), ints(expand, {2})}),
              expand.node("Max", {wanted, one})});
  expand.output(expand.node(
      "Expand", {x, expand.node("Sub", {dims, expand.node("Cast", {open}, {{"to", 7}})})}));
  ASSERT_EQ(expand.run({{7, 8}}), (std::vector<Bytes>{{7, 8, 7, 8, 7, 8}}));

  OnnxBuilder resize(18);
  x = resize.input<uint8_t>({1, 3});
  const std::string size = resize.node("Gather", {resize.node("Shape", {x}), ints(resize, {1})});
  const std::string real = resize.node("Cast", {size}, {{"to", 1}});
  const std::string scaled = resize.node("Mul", {real, floats(resize, {1.5f})});
  const std::string floor = resize.node("Cast", {resize.node("Floor", {scaled})}, {{"to", 7}});
  resize.output(resize.node("Resize", {x, "", "", floor},
                            {{"axes", Dims{1}},
                             {"coordinate_transformation_mode", "asymmetric"},
                             {"nearest_mode", "floor"}}));
  ASSERT_EQ(resize.run({{1, 2, 3}}), (std::vector<Bytes>{{1, 1, 2, 3}}));
}

TEST(OnnxGather, FoldsRangeSizeProductsAndComparisons) {
  OnnxBuilder b;
  const std::string x = b.input<uint8_t>({2, 3});
  const std::string count = b.node("Size", {x});
  const std::string product = b.node("ReduceProd", {b.node("Shape", {x})}, {{"keepdims", 0}});
  const std::string all = b.node("Range", {b.scalar<int64_t>(0), count, b.scalar<int64_t>(2)});
  const std::string flat = b.node("Reshape", {x, b.node("Unsqueeze", {product, ints(b, {0})})});
  b.output(
      b.node("Gather", {flat, b.node("Mod", {b.node("Sub", {all, b.scalar<int64_t>(1)}), count})}));
  ASSERT_EQ(b.run({count_up(6)}), (std::vector<Bytes>{{5, 1, 3}}));
  OnnxBuilder unknown;
  unknown.output(unknown.node("Mod", {unknown.input<int64_t>({1}), ints(unknown, {2})}));
  ASSERT_EQ(unknown.run_to<int64_t>({to_bytes(std::vector<int64_t>{-5})}),
            (std::vector<int64_t>{1}));
}

}  // namespace
}  // namespace qrt::testing::onnx_gather_test
