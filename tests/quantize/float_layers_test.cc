// SPDX-License-Identifier: Apache-2.0
// Convolutions, products and pools of the interpreter against plain loops in double precision.
#include "tests/quantize/float_cases.h"

namespace qrt::testing::floats::float_layers_test {
namespace {

using quantize::Dims;

struct ConvCase {
  Dims x, w;  // [n, c, ...], [m, c / groups, ...]
  int64_t groups = 1;
  Dims strides, dilations, pads;
};

int64_t at(const Dims& shape, const Dims& index) {
  int64_t i = 0;
  for (size_t d = 0; d < shape.size(); ++d) i = i * shape[d] + index[d];
  return i;
}

// Calls f(index) for every index of `shape`.
template <class F>
void for_each(const Dims& shape, const F& f) {
  Dims index(shape.size(), 0);
  for (int64_t i = 0; i < quantize::elements(shape); ++i) {
    f(index);
    for (size_t d = shape.size(); d-- > 0;) {
      if (++index[d] < shape[d]) break;
      index[d] = 0;
    }
  }
}

// Finds the input position of an output position and a tap: output times stride plus tap times
// dilation, less the padding. Returns false where that lies in the padding.
bool source(const ConvCase& c, const Dims& y, const Dims& tap, Dims* x) {
  const size_t rank = c.x.size() - 2;
  bool inside = true;
  for (size_t d = 0; d < rank; ++d) {
    const int64_t i = y[d + 2] * c.strides[d] + tap[d] * c.dilations[d] - c.pads[d];
    (*x)[d + 2] = i;
    inside = inside && i >= 0 && i < c.x[d + 2];
  }
  return inside;
}

Dims conv_output(const ConvCase& c) {
  Dims y = {c.x[0], c.w[0]};
  const size_t rank = c.x.size() - 2;
  for (size_t d = 0; d < rank; ++d)
    y.push_back(
        (c.x[d + 2] + c.pads[d] + c.pads[rank + d] - (c.w[d + 2] - 1) * c.dilations[d] - 1) /
            c.strides[d] +
        1);
  return y;
}

std::vector<float> conv(const ConvCase& c, const Tensor& x, const Tensor& w, const Tensor& bias) {
  const Dims shape = conv_output(c);
  std::vector<float> result;
  const Dims taps(c.w.begin() + 2, c.w.end());
  for_each(shape, [&](const Dims& y) {
    double sum = static_cast<double>(bias.reals[static_cast<size_t>(y[1])]);
    const int64_t group = y[1] / (c.w[0] / c.groups);
    for (int64_t ch = 0; ch < c.w[1]; ++ch)
      for_each(taps, [&](const Dims& tap) {
        Dims from = y, weight = {y[1], ch};
        from[1] = group * c.w[1] + ch;
        weight.insert(weight.end(), tap.begin(), tap.end());
        if (!source(c, y, tap, &from)) return;
        sum += static_cast<double>(x.reals[static_cast<size_t>(at(c.x, from))]) *
               static_cast<double>(w.reals[static_cast<size_t>(at(c.w, weight))]);
      });
    result.push_back(static_cast<float>(sum));
  });
  return result;
}

Node conv_node(const char* op, const ConvCase& c) {
  Node node = make_node(op, {"x", "w", "b"}, "y");
  node.set("group", c.groups);
  node.set("strides", c.strides);
  node.set("dilations", c.dilations);
  node.set("pads", c.pads);
  return node;
}

TEST(FloatLayers, ConvOfEveryShape) {
  Random random;
  const ConvCase cases[] = {
      {{2, 3, 9, 11}, {5, 3, 3, 3}, 1, {1, 1}, {1, 1}, {1, 1, 1, 1}},
      {{1, 16, 14, 14}, {24, 16, 1, 1}, 1, {1, 1}, {1, 1}, {0, 0, 0, 0}},
      {{3, 16, 4, 4}, {40, 16, 1, 1}, 1, {2, 2}, {1, 1}, {0, 0, 0, 0}},
      {{2, 6, 7, 8}, {6, 1, 3, 3}, 6, {1, 1}, {1, 1}, {1, 1, 1, 1}},   // depthwise
      {{2, 6, 9, 8}, {6, 1, 5, 3}, 6, {2, 2}, {1, 1}, {2, 0, 1, 2}},   // its stride
      {{1, 4, 9, 9}, {8, 1, 3, 3}, 4, {1, 1}, {2, 2}, {2, 2, 2, 2}},   // two filters a channel
      {{2, 8, 6, 6}, {12, 4, 3, 3}, 2, {2, 1}, {1, 2}, {0, 1, 1, 2}},  // groups
      {{2, 5, 30}, {7, 5, 3}, 1, {1}, {8}, {8, 8}},                    // one dimension
      {{2, 5, 30}, {5, 1, 3}, 5, {1}, {4}, {4, 4}},
      {{1, 2, 5, 6, 7}, {3, 2, 2, 3, 2}, 1, {1, 2, 1}, {1, 1, 2}, {0, 1, 1, 1, 1, 0}},
      {{1, 70, 5, 5}, {3, 70, 3, 3}, 1, {1, 1}, {1, 1}, {1, 1, 1, 1}},    // sums in blocks
      {{1, 1, 20, 20}, {1, 1, 17, 17}, 1, {1, 1}, {1, 1}, {0, 0, 0, 0}},  // a large direct one
  };
  for (const ConvCase& c : cases) {
    const Tensor x = random_tensor(c.x, &random), w = random_tensor(c.w, &random);
    const Tensor bias = random_tensor({c.w[0]}, &random);
    const Tensor y = run_node(conv_node("Conv", c), {x, w, bias});
    EXPECT_EQ(y.shape, conv_output(c));
    SCOPED_TRACE(quantize::to_string(c.w));
    expect_near(y.reals, conv(c, x, w, bias));
  }
}

// A ConvTranspose spreads what a Conv of the same window gathers.
TEST(FloatLayers, ConvTransposeOfEveryShape) {
  Random random;
  const ConvCase cases[] = {
      {{1, 3, 8, 8}, {4, 3, 2, 2}, 1, {2, 2}, {1, 1}, {0, 0, 0, 0}},
      {{2, 4, 9, 7}, {6, 2, 3, 3}, 2, {2, 2}, {1, 1}, {1, 1, 1, 1}},
      {{1, 2, 15}, {5, 2, 4}, 1, {3}, {2}, {1, 0}},
  };
  for (const ConvCase& c : cases) {  // c.x is the result's shape
    const Dims small = conv_output(c);
    const Tensor x = random_tensor(small, &random), w = random_tensor(c.w, &random);
    const Tensor bias = random_tensor({c.x[1]}, &random);
    std::vector<double> want(static_cast<size_t>(quantize::elements(c.x)));
    const Dims taps(c.w.begin() + 2, c.w.end());
    for_each(c.x, [&](const Dims& y) {
      want[static_cast<size_t>(at(c.x, y))] =
          static_cast<double>(bias.reals[static_cast<size_t>(y[1])]);
    });
    for_each(small, [&](const Dims& i) {
      const int64_t group = i[1] / (c.w[0] / c.groups);
      for (int64_t ch = 0; ch < c.w[1]; ++ch)
        for_each(taps, [&](const Dims& tap) {
          Dims to = i, weight = {i[1], ch};
          to[1] = group * c.w[1] + ch;
          weight.insert(weight.end(), tap.begin(), tap.end());
          if (!source(c, i, tap, &to)) return;
          want[static_cast<size_t>(at(c.x, to))] +=
              static_cast<double>(x.reals[static_cast<size_t>(at(small, i))]) *
              static_cast<double>(w.reals[static_cast<size_t>(at(c.w, weight))]);
        });
    });
    // The greatest image that gives this one: the rest is output_padding.
    Node node = conv_node("ConvTranspose", c);
    Dims extra;
    for (size_t d = 0; d + 2 < c.x.size(); ++d)
      extra.push_back(c.x[d + 2] -
                      ((small[d + 2] - 1) * c.strides[d] + (c.w[d + 2] - 1) * c.dilations[d] + 1 -
                       c.pads[d] - c.pads[c.x.size() - 2 + d]));
    node.set("output_padding", extra);
    const Tensor y = run_node(node, {x, w, bias});
    EXPECT_EQ(y.shape, c.x);
    expect_near(y.reals, std::vector<float>(want.begin(), want.end()));
  }
}

TEST(FloatLayers, MatMulBroadcastsMatrices) {
  Random random;
  const Tensor a = random_tensor({2, 3, 5, 17}, &random), b = random_tensor({3, 17, 9}, &random);
  const Tensor y = run_node(make_node("MatMul", {"a", "b"}, "y"), {a, b});
  EXPECT_EQ(y.shape, (Dims{2, 3, 5, 9}));
  std::vector<float> want;
  for_each(y.shape, [&](const Dims& i) {
    double sum = 0;
    for (int64_t k = 0; k < 17; ++k)
      sum += static_cast<double>(a.reals[static_cast<size_t>(at(a.shape, {i[0], i[1], i[2], k}))]) *
             static_cast<double>(b.reals[static_cast<size_t>(at(b.shape, {i[1], k, i[3]}))]);
    want.push_back(static_cast<float>(sum));
  });
  expect_near(y.reals, want);
  EXPECT_EQ(run_node(make_node("MatMul", {"a", "b"}, "y"),
                     {real_tensor({2}, {1, 2}), real_tensor({2}, {3, 4})})
                .reals,
            (std::vector<float>{11}));
}

TEST(FloatLayers, GemmTurnsScalesAndAdds) {
  Node node = make_node("Gemm", {"a", "b", "c"}, "y");
  node.set("transA", int64_t{1});
  node.set("transB", int64_t{1});
  node.set("alpha", 2.0f);
  node.set("beta", 3.0f);
  // a^T = [[1, 3], [2, 4]], b^T = [[5], [6]]
  const Tensor y = run_node(node, {real_tensor({2, 2}, {1, 2, 3, 4}), real_tensor({1, 2}, {5, 6}),
                                   real_tensor({2, 1}, {10, 20})});
  EXPECT_EQ(y.reals, (std::vector<float>{2 * (5 + 18) + 30, 2 * (10 + 24) + 60}));
}

TEST(FloatLayers, PoolsCountWhatTheirAttributesSay) {
  const Tensor x = real_tensor({1, 1, 3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9});
  Node node = make_node("AveragePool", {"x"}, "y");
  node.set("kernel_shape", Dims{2, 2});
  node.set("pads", Dims{1, 1, 0, 0});
  node.set("strides", Dims{2, 2});
  EXPECT_EQ(run_node(node, {x}).reals, (std::vector<float>{1, 2.5, 5.5, 7}));
  node.set("count_include_pad", int64_t{1});
  EXPECT_EQ(run_node(node, {x}).reals, (std::vector<float>{0.25, 1.25, 2.75, 7}));
  node.op = "MaxPool";
  node.set("pads", Dims{0, 0, 0, 0});
  EXPECT_EQ(run_node(node, {x}).reals, (std::vector<float>{5}));
  node.set("ceil_mode", int64_t{1});
  EXPECT_EQ(run_node(node, {x}).reals, (std::vector<float>{5, 6, 8, 9}));
  EXPECT_EQ(run_node(make_node("GlobalAveragePool", {"x"}, "y"), {x}).reals,
            (std::vector<float>{5}));
}

TEST(FloatLayers, WrongOperandsAreNamed) {
  Random random;
  const Tensor x = random_tensor({1, 3, 4, 4}, &random), w = random_tensor({2, 2, 3, 3}, &random);
  const std::string channels = why_not(make_node("Conv", {"x", "w"}, "y"), {x, w});
  EXPECT_NE(channels.find("node 'y' (Conv)"), std::string::npos) << channels;
  EXPECT_NE(channels.find("[2, 2, 3, 3]"), std::string::npos) << channels;
  const Tensor large = random_tensor({2, 3, 9, 9}, &random);
  const std::string window = why_not(make_node("Conv", {"x", "w"}, "y"), {x, large});
  EXPECT_NE(window.find("larger than the image"), std::string::npos) << window;
  Node node = make_node("Conv", {"x", "w"}, "y");
  node.set("pads", Dims{int64_t{1} << 60, 0, 0, 0});
  const std::string pads = why_not(node, {x, random_tensor({2, 3, 3, 3}, &random)});
  EXPECT_NE(pads.find("pads"), std::string::npos) << pads;
}

}  // namespace
}  // namespace qrt::testing::floats::float_layers_test
