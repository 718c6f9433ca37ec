// SPDX-License-Identifier: Apache-2.0
// Models with open heights, widths and lengths: one file, converted once, gives at every size the bytes of the
// model with that size written into it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/open_model.h"

namespace qrt::open_sizes_test {
namespace {

using testing::Bytes;
using testing::Dims;
using testing::OnnxBuilder;
using testing::open_model::Case;
using testing::open_model::convert_whole;
using testing::open_model::model_of;
using testing::open_model::number;
using testing::open_model::numbers;
using testing::open_model::run_at;
using testing::open_model::size_of;
using testing::open_model::weights;

std::string conv(OnnxBuilder* b, const std::string& x, const Dims& dims,
                 std::vector<testing::Attr> attributes) {
  return b->qdq<uint8_t>(b->node("Conv", {x, weights(b, dims)}, attributes), 0.25f, 128);
}

// Returns a convolution of floats, as spectrograms are computed.
std::string float_conv(OnnxBuilder* b, const std::string& x, const Dims& dims, int64_t stride) {
  size_t count = 1;
  for (const int64_t d : dims) count *= static_cast<size_t>(d);
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = static_cast<float>(i * 37 % 41) * 0.01f - 0.2f;
  return b->node("Conv", {x, b->constant<float>(dims, values)}, {{"strides", Dims{stride}}});
}

const Case kCases[] = {
    {"NumbersOfSizes",
     {-1, -1, 3},
     {{1, 1, 3}, {2, 7, 3}, {3, 500, 3}, {70, 5000, 3}},
     [](const Dims& dims, OnnxBuilder* b) {
       const std::string x = b->input(dims);
       const auto real = [&](const std::string& n) { return b->node("Cast", {n}, {{"to", 1}}); };
       const std::string less = b->node("Sub", {number(b, 40), size_of(b, x, 1)});
       const std::string halves = b->node("Div", {size_of(b, x, 1), number(b, 2)});
       const std::string scaled = b->node("Mul", {x, real(size_of(b, x, 0))});
       b->output(b->node("Add", {b->node("Mul", {scaled, real(halves)}), real(less)}));
     }},
    {"MaskOfHalfTheRows",
     {-1, -1, 4},
     {{1, 2, 4}, {2, 7, 4}, {3, 500, 4}, {1, 6000, 4}},
     [](const Dims& dims, OnnxBuilder* b) {
       const std::string x = b->input(dims), n = size_of(b, x, 1);
       const std::string count = b->node("Squeeze", {n, number(b, 0)});
       const std::string rows =
           b->node("Range", {b->scalar<int64_t>(0), count, b->scalar<int64_t>(1)});
       const std::string stays = b->node("Less", {rows, b->node("Div", {n, number(b, 2)})});
       const std::string column = b->node("Unsqueeze", {stays, number(b, 1)});
       b->output(b->node("Mul", {x, b->node("Cast", {column}, {{"to", 1}})}));
     }},
    {"ReflectedSpectrogram",
     {-1, 1, -1},
     {{1, 1, 80}, {2, 1, 333}, {1, 1, 512}, {3, 1, 1024}},
     [](const Dims& dims, OnnxBuilder* b) {
       const std::string x = b->input(dims);
       const std::string padded = b->node(
           "Pad", {x, b->constant<int64_t>({6}, {0, 0, 0, 0, 0, 16})}, {{"mode", "reflect"}});
       b->output(float_conv(b, padded, {6, 1, 64}, 32));
     }},
    {"Convolutions",
     {-1, 3, -1, -1},
     {{1, 3, 8, 8}, {2, 3, 33, 20}, {1, 3, 5, 7}, {3, 3, 64, 1}, {1, 3, 1, 1}},
     [](const Dims& dims, OnnxBuilder* b) {
       std::string x = b->qdq<uint8_t>(b->input(dims), 0.05f, 120);
       x = conv(b, x, {4, 3, 3, 3}, {{"strides", Dims{2, 2}}, {"pads", Dims{1, 1, 1, 1}}});
       x = conv(b, x, {4, 4, 5, 3}, {{"auto_pad", "SAME_UPPER"}, {"strides", Dims{3, 2}}});
       b->output(b->q<uint8_t>(x, 0.25f, 128));
     }},
    {"Pools",
     {-1, 2, -1, -1},
     {{1, 2, 8, 8}, {2, 2, 17, 23}, {1, 2, 5, 31}, {1, 2, 3, 3}},
     [](const Dims& dims, OnnxBuilder* b) {
       std::string x = b->qdq<uint8_t>(b->input(dims), 0.05f, 120);
       x = b->node("MaxPool", {x},
                   {{"kernel_shape", Dims{3, 3}}, {"strides", Dims{2, 2}}, {"ceil_mode", 1}});
       x = b->qdq<uint8_t>(x, 0.05f, 120);
       b->output(b->q<uint8_t>(b->node("GlobalAveragePool", {x}), 0.03f, 100));
     }},
    {"ResizeToTheSizeOfAnother",
     {-1, 2, -1, -1},
     {{1, 2, 8, 8}, {2, 2, 17, 23}, {1, 2, 5, 31}, {1, 2, 7, 6}},
     [](const Dims& dims, OnnxBuilder* b) {
       const std::string x = b->qdq<uint8_t>(b->input(dims), 0.05f, 120);
       const std::string small =
           conv(b, x, {2, 2, 3, 3}, {{"strides", Dims{2, 2}}, {"pads", Dims{1, 1, 1, 1}}});
       const std::string sizes = b->node("Shape", {x});
       const std::string large = b->node("Resize", {small, "", "", sizes},
                                         {{"mode", "nearest"},
                                          {"coordinate_transformation_mode", "asymmetric"},
                                          {"nearest_mode", "floor"}});
       b->output(b->q<uint8_t>(b->node("Add", {x, b->qdq<uint8_t>(large, 0.25f, 128)}), 0.3f, 128));
     }},
    {"HalvesAndReshapes",
     {-1, -1, 4},
     {{1, 6, 4}, {2, 7, 4}, {3, 20, 4}, {1, 2, 4}},
     [](const Dims& dims, OnnxBuilder* b) {
       const std::string x = b->qdq<uint8_t>(b->input(dims), 0.05f, 120);
       const std::string length = size_of(b, x, 1);
       const std::string half = b->node("Div", {length, b->constant<int64_t>({1}, {2})});
       const std::string front = b->node(
           "Slice", {x, b->constant<int64_t>({1}, {0}), half, b->constant<int64_t>({1}, {1})});
       const std::string shape = b->node(
           "Concat", {size_of(b, x, 0), half, b->constant<int64_t>({2}, {2, 2})}, {{"axis", 0}});
       const std::string parts = b->node("Reshape", {front, shape});
       b->output(
           b->q<uint8_t>(b->node("Transpose", {parts}, {{"perm", Dims{0, 2, 1, 3}}}), 0.05f, 120));
     }},
    // A query of d1 places behind a past of d0 sees those up to its own: the last rows and columns of the largest mask.
    {"MasksOfAPast",
     {-1, -1},
     {{3, 5}, {1, 1}, {8, 2}, {20, 31}},
     [](const Dims& dims, OnnxBuilder* b) {
       const auto one = [b](int64_t v) { return b->constant<int64_t>({1}, {v}); };
       const auto scalar = [b](const std::string& x) {
         return b->node("Squeeze", {x, b->constant<int64_t>({1}, {0})});
       };
       const std::string x = b->input(dims);
       const std::string past = size_of(b, x, 0);
       const std::string all = b->node("Add", {past, size_of(b, x, 1)});
       const std::string places =
           b->node("Range", {b->scalar<int64_t>(0), scalar(all), b->scalar<int64_t>(1)});
       const std::string own = b->node("Slice", {places, past, all, one(0)});
       const std::string sees = b->node("LessOrEqual", {b->node("Unsqueeze", {places, one(0)}),
                                                        b->node("Unsqueeze", {own, one(1)})});
       const std::string mask =
           b->node("Where", {sees, b->scalar<float>(0.0f), b->scalar<float>(-8.0f)});
       const std::string values =
           b->node("Transpose", {b->node("ReduceMax", {x}, {{"axes", Dims{0}}, {"keepdims", 1}})});
       b->output(b->node("Add", {mask, values}));
     }},
    {"BytesThatAreTransposed",
     {1, 3, -1, -1},
     {{1, 3, 8, 8}, {1, 3, 33, 20}, {1, 3, 5, 7}},
     [](const Dims& dims, OnnxBuilder* b) {
       const std::string x = b->integer_input<uint8_t>(dims, 0.05f, 120);
       b->output(b->q<uint8_t>(
           conv(b, x, {4, 3, 3, 3}, {{"strides", Dims{2, 2}}, {"pads", Dims{1, 1, 1, 1}}}), 0.25f,
           128));
     },
     true},
    {"AnglesBehindAPast",
     {1, -1, -1, 4},
     {{1, 1, 1, 4}, {1, 30, 1, 4}, {1, 7, 3, 4}, {1, 1000, 9, 4}},
     [](const Dims& dims, OnnxBuilder* b) {
       const std::string x = b->input(dims);
       const auto count = [&](int64_t axis) {
         return b->node("Squeeze", {size_of(b, x, axis), number(b, 0)});
       };
       const std::string past = count(1), all = b->node("Add", {past, count(2)});
       const std::string positions = b->node("Range", {past, all, b->scalar<int64_t>(1)});
       const std::string real = b->node("Cast", {positions}, {{"to", 1}});
       const std::string angles = b->node("Mul", {b->node("Unsqueeze", {real, number(b, 1)}),
                                                  b->constant<float>({4}, {1, 0.3f, 0.1f, 0.01f})});
       b->output(b->node(
           "Add", {b->node("Mul", {x, b->node("Cos", {angles})}), b->node("Sin", {angles})}));
     }},
    {"MirroredToAMultiple",
     {1, -1, 2},
     {{1, 4, 2}, {1, 5, 2}, {1, 6, 2}, {1, 7, 2}, {1, 300, 2}, {1, 2001, 2}},
     [](const Dims& dims, OnnxBuilder* b) {
       const std::string x = b->input(dims), n = size_of(b, x, 1), four = number(b, 4);
       const std::string up = b->node("Div", {b->node("Add", {n, number(b, 3)}), four});
       const std::string missing = b->node("Sub", {b->node("Mul", {up, four}), n});
       const std::string pads =
           b->node("Concat", {b->constant<int64_t>({4}, {0, 2, 0, 0}), missing, number(b, 0)},
                   {{"axis", 0}});
       b->output(b->node("Pad", {x, pads}, {{"mode", "reflect"}}));
     }},
    {"AProductOfImagesByOne",
     {-1, -1, 4},
     {{1, 1, 4}, {1, 6, 4}, {3, 5, 4}, {7, 70, 4}},
     [](const Dims& dims, OnnxBuilder* b) {
       const std::string x = b->input(dims);
       const std::string one = b->node("ReduceMax", {x}, {{"axes", Dims{0}}, {"keepdims", 1}});
       const std::string turned = b->node("Transpose", {one}, {{"perm", Dims{0, 2, 1}}});
       b->output(b->node("MatMul", {x, turned}));
       b->output(b->node("MatMul", {one, b->node("Transpose", {x}, {{"perm", Dims{0, 2, 1}}})}));
     }},
    {"ShortTablesOfPositions",
     {-1, -1, -1, 3},
     {{1, 1, 1, 3}, {2, 64, 5, 3}, {3, 9, 64, 3}, {1, 64, 64, 3}},
     [](const Dims& dims, OnnxBuilder* b) {
       const std::string x = b->input(dims);
       std::vector<float> values(64 * 3);
       for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i * 37 % 41);
       const std::string table = b->constant<float>({64, 3}, values);
       const auto positions = [&](int64_t axis) {
         return b->node("Slice", {table, number(b, 0), size_of(b, x, axis), number(b, 0)});
       };
       const std::string rows = b->node("Unsqueeze", {positions(1), number(b, 1)});
       b->output(b->node("Add", {b->node("Add", {x, rows}), positions(2)}));
     }},
    {"ABatchThatIsNotApart",
     {-1, 6},
     {{1, 6}, {2, 6}, {5, 6}},
     [](const Dims& dims, OnnxBuilder* b) {
       const std::string x = b->qdq<uint8_t>(b->input(dims), 0.05f, 120);
       const std::string mean = b->node("ReduceMax", {x}, {{"axes", Dims{0}}, {"keepdims", 1}});
       b->output(b->q<uint8_t>(b->node("Sub", {x, b->qdq<uint8_t>(mean, 0.05f, 120)}), 0.05f, 120));
     }},
};

class OpenSizes : public ::testing::TestWithParam<Case> {};

TEST_P(OpenSizes, AreThoseOfModelsOfOneSize) {
  const Case& c = GetParam();
  convert::Graph open;
  const Bytes file = convert_whole(model_of(c, c.open), &open);
  EXPECT_EQ(open.symbols.size(), static_cast<size_t>(std::count(c.open.begin(), c.open.end(), -1)));
  for (const Dims& sizes : c.sizes) {
    convert::Graph fixed;
    const testing::RunResult want =
        run_at(convert_whole(model_of(c, sizes), &fixed), sizes, sizes, c.has_bytes);
    const testing::RunResult got = run_at(file, c.open, sizes, c.has_bytes);
    ASSERT_EQ(want.status, QRT_OK) << want.message;
    ASSERT_EQ(got.status, QRT_OK) << got.message;
    EXPECT_EQ(got.outputs, want.outputs) << ::testing::PrintToString(sizes);
  }
}

INSTANTIATE_TEST_SUITE_P(, OpenSizes, ::testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string(info.param.name); });

// Sizes of which the rule changes at one that no import tried: the file is right there, or refuses.
struct Turn {
  const char* name;
  // Computes how many of `n` rows stay.
  std::function<std::string(OnnxBuilder*, const std::string& n)> kept;
};

constexpr int64_t kTurn = 600;

const Turn kTurns[] = {
    {"Min",
     [](OnnxBuilder* b, const std::string& n) {
       return b->node("Min", {n, number(b, kTurn)});
     }},
    {"Clip",
     [](OnnxBuilder* b, const std::string& n) {
       return b->node("Clip", {n, b->scalar<int64_t>(1), b->scalar<int64_t>(kTurn)});
     }},
    {"WhereEqual",
     [](OnnxBuilder* b, const std::string& n) {
       const std::string is = b->node("Equal", {n, number(b, kTurn)});
       return b->node("Where", {is, number(b, 2), n});
     }},
    {"WhereLess",
     [](OnnxBuilder* b, const std::string& n) {
       const std::string is = b->node("Less", {n, number(b, kTurn)});
       return b->node("Where", {is, n, number(b, 7)});
     }},
    {"TwiceBeyond",
     [](OnnxBuilder* b, const std::string& n) {
       const std::string twice = b->node("Mul", {n, number(b, 2)});
       const std::string is = b->node("Greater", {twice, number(b, 2 * kTurn - 1)});
       return b->node("Where", {is, number(b, 9), n});
     }},
    {"Quotient",
     [](OnnxBuilder* b, const std::string& n) {
       return b->node("Sub", {n, b->node("Div", {n, number(b, kTurn)})});
     }},
    {"Rest",
     [](OnnxBuilder* b, const std::string& n) {
       return b->node("Max", {b->node("Mod", {n, number(b, kTurn)}), number(b, 1)});
     }},
    {"Floor",
     [](OnnxBuilder* b, const std::string& n) {
       const std::string part = b->node(
           "Div", {b->node("Cast", {n}, {{"to", 1}}), b->scalar(static_cast<float>(kTurn))});
       const std::string whole = b->node("Cast", {b->node("Floor", {part})}, {{"to", 7}});
       return b->node("Sub", {n, whole});
     }},
};

class TurningPoints : public ::testing::TestWithParam<Turn> {};

TEST_P(TurningPoints, AreRightOrRefused) {
  const Case c = {"", {1, -1, 4}, {}, [&](const Dims& dims, OnnxBuilder* b) {
                    const std::string x = b->qdq<uint8_t>(b->input(dims), 0.05f, 120);
                    const std::string end = GetParam().kept(b, size_of(b, x, 1));
                    const std::string part = b->node("Slice", {x, number(b, 0), end, number(b, 1)});
                    b->output(b->q<uint8_t>(part, 0.05f, 120));
                  }};
  convert::Graph open;
  const Bytes file = convert_whole(model_of(c, c.open), &open);
  for (const int64_t n : {20, 200, 599, 600, 601, 700, 1200}) {
    const Dims sizes = {1, n, 4};
    convert::Graph fixed;
    const testing::RunResult want = run_at(convert_whole(model_of(c, sizes), &fixed), sizes, sizes);
    ASSERT_EQ(want.status, QRT_OK) << want.message;
    const testing::RunResult got = run_at(file, c.open, sizes);
    if (n > 200 && got.status == QRT_OUT_OF_RANGE) continue;
    ASSERT_EQ(got.status, QRT_OK) << got.message;
    EXPECT_EQ(got.outputs, want.outputs) << n;
  }
}

INSTANTIATE_TEST_SUITE_P(, TurningPoints, ::testing::ValuesIn(kTurns),
                         [](const auto& info) { return std::string(info.param.name); });

// A model is refused where a product of two sizes decides what happens: no limits of either size are right.
TEST(OpenSizesOf, AProductThatTurns) {
  for (const int64_t turn : {40000, 100000}) {
    const Case c = {
        "", {1, -1, -1, 2}, {}, [&](const Dims& dims, OnnxBuilder* b) {
          const std::string x = b->qdq<uint8_t>(b->input(dims), 0.05f, 120);
          const std::string flat = b->node("Reshape", {x, b->constant<int64_t>({3}, {1, -1, 2})});
          const std::string pixels = b->node("Mul", {size_of(b, x, 1), size_of(b, x, 2)});
          const std::string end = b->node("Min", {pixels, number(b, turn)});
          const std::string part = b->node("Slice", {flat, number(b, 0), end, number(b, 1)});
          b->output(b->q<uint8_t>(part, 0.05f, 120));
        }};
    testing::Imported imported = model_of(c, c.open).import();
    ASSERT_TRUE(imported.status.ok()) << imported.status.message();
    const Status passed = run_passes(&imported.graph, nullptr);
    if (passed.code() == Code::kUnsupported) continue;
    ASSERT_TRUE(passed.ok()) << passed.message();
    Bytes file;
    ASSERT_TRUE(write_model(imported.graph, &file).ok());
    const Dims sizes = {1, 400, 400, 2};
    convert::Graph fixed;
    const testing::RunResult want = run_at(convert_whole(model_of(c, sizes), &fixed), sizes, sizes);
    const testing::RunResult got = run_at(file, c.open, sizes);
    EXPECT_TRUE(got.status == QRT_OUT_OF_RANGE || got.outputs == want.outputs) << turn;
  }
}

// A mask that grows slowly is right or refused: of a 66th of the length, at least 1. The first
// sizes at which it hides less than one row are beyond those usually tried.
TEST(OpenSizesOf, MasksThatGrowSlowlyAreRightOrRefused) {
  const Case c = {"", {-1, 4}, {}, [](const Dims& dims, OnnxBuilder* b) {
                    const std::string x = b->input(dims), rows = size_of(b, x, 0);
                    const auto scalar = [&](int64_t n) { return b->constant<int64_t>({}, {n}); };
                    const std::string part =
                        b->node("Max", {b->node("Div", {rows, number(b, 66)}), number(b, 1)});
                    const std::string positions = b->node(
                        "Range", {scalar(0), b->node("Squeeze", {rows, number(b, 0)}), scalar(1)});
                    const std::string mask =
                        b->node("Unsqueeze", {b->node("Less", {positions, part}), number(b, 1)});
                    b->output(b->node("Where", {mask, x, b->scalar(0.0f)}));
                  }};
  convert::Graph open;
  const Bytes file = convert_whole(model_of(c, c.open), &open);
  ASSERT_FALSE(file.empty());
  int answered = 0;
  for (const int64_t rows : {1, 23, 65, 66, 131, 132, 198, 562}) {
    convert::Graph fixed;
    const Dims sizes = {rows, 4};
    const auto want = run_at(convert_whole(model_of(c, sizes), &fixed), sizes, sizes);
    const auto got = run_at(file, c.open, sizes);
    ASSERT_EQ(want.status, QRT_OK) << want.message;
    if (got.status == QRT_OK) {
      EXPECT_EQ(got.outputs[0], want.outputs[0]) << rows;
      ++answered;
    }
  }
  EXPECT_GE(answered, 2);
}

// A MatMul and an Add become a Gemm, as in ONNX Runtime, where the dimensions that it looks at are
// known, whichever others are open.
TEST(OpenSizesOf, KnownDimensionsBehindOpenOnes) {
  for (const bool is_known : {true, false}) {
    OnnxBuilder b(17);
    const std::string x =
        b.dq<uint8_t>(b.q<uint8_t>(b.input({1, 3, -1, -1}), 0.05f, 120), 0.05f, 120);
    std::string rows = x;
    if (is_known) rows = b.qdq<uint8_t>(b.node("GlobalMaxPool", {x}), 0.05f, 120);
    const std::string cut = b.node("Slice", {rows, number(&b, 0), number(&b, 1), number(&b, 3)});
    const std::string w = b.dq<int8_t>(b.constant<int8_t>({1, 4}, {1, -2, 3, -4}), 0.1f, 0);
    const std::string sum =
        b.node("Add", {b.node("MatMul", {cut, w}), b.constant<float>({4}, {0.5f, 1.5f, -2, 3})});
    b.output(b.q<uint8_t>(sum, 0.03f, 100));
    convert::Graph graph;
    convert_whole(b, &graph);
    const bool adds_floats = std::any_of(
        graph.nodes.begin(), graph.nodes.end(),
        [](const convert::Node& node) { return node.options.type == fb::OpOptions::Float; });
    EXPECT_EQ(adds_floats, !is_known);
  }
}

struct Neighbours {
  int64_t low, high;
  float of_low, of_high;
};

// Returns the inputs between which output i of an axis lies, and their weights, as ONNX Runtime has them for "half_pixel".
Neighbours half_pixel_neighbours(int64_t i, int64_t in, int64_t out) {
  const float scale = static_cast<float>(out) / static_cast<float>(in);
  const float last = static_cast<float>(in - 1);
  const float x = std::max(0.0f, std::min((static_cast<float>(i) + 0.5f) / scale - 0.5f, last));
  Neighbours n;
  n.low = static_cast<int64_t>(x);
  n.high = std::min(n.low + 1, in - 1);
  n.of_low = n.low == n.high ? 0.5f : std::fabs(x - static_cast<float>(n.high));
  n.of_high = n.low == n.high ? 0.5f : std::fabs(x - static_cast<float>(n.low));
  return n;
}

// Positions resized to the grid of an image are right at all sizes: the run computes the weights,
// in another order of sums than a file of fixed sizes has. Linear ones have ONNX Runtime's order.
TEST(OpenSizesOf, ResizedPositions) {
  struct Mode {
    const char *mode, *coordinates;
  };
  for (const Mode& m : {Mode{"cubic", "half_pixel"}, Mode{"cubic", "align_corners"},
                        Mode{"linear", "half_pixel"}, Mode{"linear", "pytorch_half_pixel"},
                        Mode{"linear", "asymmetric"}, Mode{"linear", "align_corners"}}) {
    const Case c = {
        "", {1, 2, -1, -1}, {}, [&](const Dims& dims, OnnxBuilder* b) {
          const std::string x = b->input(dims);
          std::vector<float> table(2 * 6 * 5);
          for (size_t i = 0; i < table.size(); ++i)
            table[i] = static_cast<float>(i * 37 % 41) * 0.1f - 2;
          const std::string grid = b->constant<float>({1, 2, 6, 5}, table);
          const std::string sizes = b->node(
              "Concat", {b->constant<int64_t>({2}, {1, 2}), size_of(b, x, 2), size_of(b, x, 3)},
              {{"axis", 0}});
          const std::string resized =
              b->node("Resize", {grid, "", "", sizes},
                      {{"mode", m.mode}, {"coordinate_transformation_mode", m.coordinates}});
          b->output(b->node("Add", {x, resized}));
        }};
    convert::Graph open;
    const Bytes file = convert_whole(model_of(c, c.open), &open);
    for (const auto& [h, w] : {std::pair<int64_t, int64_t>(6, 5), {1, 1}, {3, 17}, {50, 2}}) {
      const Dims sizes = {1, 2, h, w};
      convert::Graph fixed;
      const auto want = run_at(convert_whole(model_of(c, sizes), &fixed), sizes, sizes);
      const auto got = run_at(file, c.open, sizes);
      ASSERT_EQ(want.status, QRT_OK) << want.message;
      ASSERT_EQ(got.status, QRT_OK) << got.message;
      const auto a = testing::from_bytes<float>(got.outputs[0]);
      const auto e = testing::from_bytes<float>(want.outputs[0]);
      ASSERT_EQ(a.size(), e.size());
      for (size_t i = 0; i < a.size(); ++i)
        ASSERT_NEAR(a[i], e[i], 1e-5f) << m.mode << " " << m.coordinates << " " << h << "x" << w;
      if (m.mode != std::string("linear") || m.coordinates != std::string("half_pixel")) continue;
      const auto x = testing::from_bytes<float>(numbers(sizes, false));
      const auto value = [](int64_t channel, int64_t row, int64_t column) {
        return static_cast<float>(((channel * 6 + row) * 5 + column) * 37 % 41) * 0.1f - 2;
      };
      for (int64_t at = 0; at < 2 * h * w; ++at) {
        const Neighbours row = half_pixel_neighbours(at / w % h, 6, h);
        const Neighbours column = half_pixel_neighbours(at % w, 5, w);
        const int64_t channel = at / (h * w);
        const float resized = column.of_low * row.of_low * value(channel, row.low, column.low) +
                              column.of_high * row.of_low * value(channel, row.low, column.high) +
                              column.of_low * row.of_high * value(channel, row.high, column.low) +
                              column.of_high * row.of_high * value(channel, row.high, column.high);
        ASSERT_EQ(a[static_cast<size_t>(at)], x[static_cast<size_t>(at)] + resized)
            << h << "x" << w << " at " << at;
      }
    }
  }
}

}  // namespace
}  // namespace qrt::open_sizes_test
