// SPDX-License-Identifier: Apache-2.0
// FullyConnected and Conv2D whose input's zero point and scale are known only in a run, against plain
// loops: sums as int32 and floats, groups, padding, several terms of weights, scales that are no
// numbers; models they have to refuse.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "kernels/integer_build.h"
#include "tests/support/op_tester.h"
#include "tests/support/random.h"

namespace qrt::dynamic_layer_test {
namespace {

using testing::Bytes;

// A convolution of [n, size, size, c] by kernel x kernel; a product of rows where size is 1.
struct Layer {
  int64_t n = 1, size = 1, c = 1, out = 1, kernel = 1, pad = 0, stride = 1, groups = 1;
  float x_scale = 0.03125f * 1.1f;

  int64_t out_size() const { return (size + 2 * pad - kernel) / stride + 1; }
  Shape y_shape(bool is_product) const {
    return is_product ? Shape{n, out} : Shape{n, out_size(), out_size(), out};
  }
};

enum class Result { kSums, kScaled, kScaledAndAdded };

struct Data {
  Bytes x, zero_point;
  std::vector<int8_t> w;
  std::vector<float> w_scale, addend;
  std::vector<int32_t> weight_sum;
};

Data random_data(const Layer& l) {
  testing::Random random;
  Data d;
  d.x.resize(static_cast<size_t>(l.n * l.size * l.size * l.c));
  random.fill(d.x, 0, 255);
  d.zero_point = {static_cast<uint8_t>(random.integer(0, 255))};
  const auto per_channel = static_cast<size_t>(l.kernel * l.kernel * l.c / l.groups);
  d.w.resize(static_cast<size_t>(l.out) * per_channel);
  random.fill(d.w, -128, 127);
  for (size_t o = 0; o < static_cast<size_t>(l.out); ++o) {
    d.w_scale.push_back(random.scale(-7) * (random.coin() ? 1.0f : -1.0f));
    d.addend.push_back(random.scale(1) - random.scale(1));
    int32_t sum = 0;
    for (size_t i = 0; i < per_channel; ++i) sum += d.w[o * per_channel + i];
    d.weight_sum.push_back(sum);
  }
  return d;
}

// Returns sum number i of the output: positions outside the image count as the zero point.
int32_t sum_of(const Layer& l, const Data& d, int64_t i) {
  const int64_t o = i % l.out, ox = i / l.out % l.out_size();
  const int64_t oy = i / l.out / l.out_size() % l.out_size();
  const int64_t image = i / l.out / l.out_size() / l.out_size(), depth = l.c / l.groups;
  int32_t sum = 0;
  for (int64_t ky = 0; ky < l.kernel; ++ky)
    for (int64_t kx = 0; kx < l.kernel; ++kx) {
      const int64_t y = oy * l.stride + ky - l.pad, x = ox * l.stride + kx - l.pad;
      if (y < 0 || x < 0 || y >= l.size || x >= l.size) continue;
      for (int64_t q = 0; q < depth; ++q) {
        const int64_t from =
            ((image * l.size + y) * l.size + x) * l.c + o / (l.out / l.groups) * depth;
        const int64_t at = ((o * l.kernel + ky) * l.kernel + kx) * depth + q;
        sum +=
            (d.x[static_cast<size_t>(from + q)] - d.zero_point[0]) * d.w[static_cast<size_t>(at)];
      }
    }
  return sum;
}

Bytes expected(const Layer& l, const Data& d, Result result) {
  std::vector<int32_t> sums;
  std::vector<float> reals;
  for (int64_t i = 0; i < l.n * l.out_size() * l.out_size() * l.out; ++i) {
    const auto o = static_cast<size_t>(i % l.out);
    sums.push_back(sum_of(l, d, i));
    const float scale = l.x_scale * d.w_scale[o];
    float y = static_cast<float>(sums.back()) * scale;
    if (result == Result::kScaledAndAdded) y = y + d.addend[o];
    const uint32_t nan = 0x7fc00000;
    if (std::isnan(y)) memcpy(&y, &nan, sizeof y);
    reals.push_back(y);
  }
  return result == Result::kSums ? testing::bytes_of(sums) : testing::bytes_of(reals);
}

testing::ModelBuilder model_of(const Layer& l, const Data& d, bool is_product, Result result) {
  testing::ModelBuilder m;
  std::vector<uint32_t> inputs = {
      m.input(is_product ? Shape{l.n, l.c} : Shape{l.n, l.size, l.size, l.c}),
      m.gemm_weights(
          is_product ? Shape{l.out, l.c} : Shape{l.out, l.kernel, l.kernel, l.c / l.groups}, d.w,
          static_cast<size_t>(l.groups)),
      m.bias(std::vector<int32_t>(static_cast<size_t>(l.out), 0)), m.input({})};
  if (result != Result::kSums) {
    inputs.push_back(m.input({1}, DType::kFloat32));
    inputs.push_back(m.constant({l.out}, DType::kFloat32, d.w_scale));
  }
  if (result == Result::kScaledAndAdded)
    inputs.push_back(m.constant({l.out}, DType::kFloat32, d.addend));
  const uint32_t y =
      m.output(l.y_shape(is_product), result == Result::kSums ? DType::kInt32 : DType::kFloat32);
  if (is_product) {
    fb::FullyConnectedOptionsT o;
    o.weight_sum = d.weight_sum;
    o.requant = std::make_unique<fb::RequantT>();
    m.op(std::move(o), inputs, {y});
  } else {
    fb::Conv2DOptionsT o;
    o.weight_sum = d.weight_sum;
    o.requant = std::make_unique<fb::RequantT>();
    o.groups = static_cast<uint32_t>(l.groups);
    o.stride_h = o.stride_w = static_cast<uint16_t>(l.stride);
    o.pad_top = o.pad_left = o.pad_bottom = o.pad_right = static_cast<uint16_t>(l.pad);
    m.op(std::move(o), inputs, {y});
  }
  return m;
}

void check(const Layer& l, bool is_product) {
  const Data d = random_data(l);
  for (const Result result : {Result::kSums, Result::kScaled, Result::kScaledAndAdded}) {
    if (result != Result::kSums && is_integer_build()) continue;
    std::vector<Bytes> inputs = {d.x, d.zero_point};
    if (result != Result::kSums) inputs.push_back(testing::bytes_of(std::vector<float>{l.x_scale}));
    testing::expect_outputs(model_of(l, d, is_product, result), 1, inputs,
                            {expected(l, d, result)});
  }
}

Layer product(int64_t rows, int64_t in, int64_t out) {
  Layer l;
  l.n = rows, l.c = in, l.out = out;
  return l;
}

TEST(DynamicLayer, ProductsOfOddSizes) {
  for (const int64_t rows : {1, 3, 7, 33})
    for (const int64_t out : {1, 16, 37, 130}) check(product(rows, 29, out), true);
}

TEST(DynamicLayer, ProductCutForThreads) { check(product(70, 260, 200), true); }

TEST(DynamicLayer, ConvolutionsPadWithTheZeroPointOfTheRun) {
  for (const int64_t stride : {1, 2}) {
    Layer l;
    l.n = 2, l.size = 9, l.c = 8, l.out = 18, l.kernel = 3, l.pad = 1, l.stride = stride;
    check(l, false);
  }
}

// Convolutions of 3x3 are right in tiles of 4x4 outputs, where a set computes them so: whole tiles
// and parts, an odd number of channels.
TEST(DynamicLayer, ConvolutionsOfThreeByThree) {
  const struct { int64_t size, c, out; } cases[] = {{8, 19, 37}, {11, 19, 37}, {12, 67, 70}};
  for (const auto& c : cases) {
    Layer l;
    l.n = 2, l.size = c.size, l.c = c.c, l.out = c.out, l.kernel = 3, l.pad = 1;
    check(l, false);
    l.x_scale = std::nanf("");
    check(l, false);
  }
}

TEST(DynamicLayer, ConvolutionOfOneByOne) {
  Layer l;
  l.n = 2, l.size = 5, l.c = 12, l.out = 20;
  check(l, false);
}

TEST(DynamicLayer, ConvolutionInGroups) {
  for (const int64_t kernel : {1, 3}) {
    Layer l;
    l.size = 6, l.c = 12, l.out = 51, l.kernel = kernel, l.pad = kernel / 2, l.groups = 3;
    check(l, false);
  }
}

// A scale that is NaN gives the same bits on every CPU, and infinities stay infinite.
TEST(DynamicLayer, ScalesThatAreNoNumbers) {
  for (const float scale : {std::numeric_limits<float>::infinity(), std::nanf(""), 3e38f}) {
    Layer l = product(3, 4, 21);
    l.x_scale = scale;
    check(l, true);
  }
}

// Checks a layer with a scale and zero point for each row or image, with or without limits of the output.
void check_each(const Layer& l, bool is_product, bool weights_first, bool limits) {
  testing::Random random;
  Data d = random_data(l);
  const auto n = static_cast<size_t>(l.n);
  std::vector<float> scales(n);
  for (float& s : scales) s = random.scale(-5);
  Bytes zeros(n);
  random.fill(zeros, 0, 255);
  testing::ModelBuilder m = model_of(l, d, is_product, Result::kScaledAndAdded);
  auto store = std::make_unique<fb::FloatStoreT>();
  store->weights_first = weights_first;
  const float lo = limits ? -1.0f : -INFINITY, hi = limits ? 6.0f : INFINITY;
  memcpy(&store->lo, &lo, sizeof lo);
  memcpy(&store->hi, &hi, sizeof hi);
  fb::OpOptionsUnion& options = m.model().operators[0]->options;
  if (weights_first || limits)
    (is_product ? options.AsFullyConnected()->store : options.AsConv2D()->store) = std::move(store);
  for (const size_t i : {3, 4})
    m.model().tensors[m.model().operators[0]->inputs[i]]->shape = {static_cast<int32_t>(l.n)};
  std::vector<float> y;
  const auto all = l.n * l.out_size() * l.out_size() * l.out;
  for (int64_t i = 0; i < all; ++i) {
    const auto o = static_cast<size_t>(i % l.out), image = static_cast<size_t>(i / (all / l.n));
    Data of_image = d;
    of_image.zero_point = {zeros[image]};
    const auto sum = static_cast<float>(sum_of(l, of_image, i));
    const float first = weights_first ? sum * d.w_scale[o] : scales[image] * d.w_scale[o];
    const float product = weights_first ? first * scales[image] : sum * first;
    const float v = product + d.addend[o];
    y.push_back(v < lo ? lo : v > hi ? hi : v);
  }
  testing::expect_outputs(m, 1, {d.x, zeros, testing::bytes_of(scales)}, {testing::bytes_of(y)});
}

TEST(DynamicLayer, ScalesOfEachRowAndImage) {
  if (is_integer_build()) GTEST_SKIP() << "this build has no layers of floats";
  for (const bool weights_first : {false, true})
    for (const bool limits : {false, true}) {
      check_each(product(5, 29, 37), true, weights_first, limits);
      check_each(product(1, 29, 37), true, weights_first, limits);
      for (const int64_t n : {1, 3})
        for (const int64_t kernel : {1, 3}) {
          Layer l;
          l.n = n, l.size = 8, l.c = 16, l.out = 18, l.kernel = kernel, l.pad = kernel / 2;
          check_each(l, false, weights_first, limits);
          l.groups = 2;
          check_each(l, false, weights_first, limits);
          l.groups = 1, l.c = 3;
          check_each(l, false, weights_first, limits);
        }
    }
}

TEST(DynamicLayer, RefusesOtherInputs) {
  const Layer l = product(2, 8, 5);
  const Data d = random_data(l);
  testing::ModelBuilder bytes = model_of(l, d, true, Result::kSums);
  bytes.model().operators[0]->options.AsFullyConnected()->requant = testing::requant_f32({0.5f});
  testing::expect_rejected(bytes, "takes ACC (0)");
  if (is_integer_build()) return;
  testing::ModelBuilder one = model_of(l, d, true, Result::kScaled);
  one.model().operators[0]->inputs.pop_back();
  testing::expect_rejected(one, "has 5 inputs, expected 3, or 4, 6 or 7");
  Data infinite = d;
  infinite.w_scale[3] = std::numeric_limits<float>::infinity();
  testing::expect_rejected(model_of(l, infinite, true, Result::kScaled),
                           "input 5 (w_scale) is inf for channel 3");
  testing::ModelBuilder swapped = model_of(l, d, true, Result::kScaled);
  swapped.model().operators[0]->inputs[3] = swapped.model().operators[0]->inputs[4];
  testing::expect_rejected(swapped, "x_zero_point");
  testing::ModelBuilder several = model_of(l, d, true, Result::kScaledAndAdded);
  several.model().tensors[several.model().operators[0]->inputs[3]]->shape = {3};
  testing::expect_rejected(several, "expected 1 or 2 elements");
  testing::ModelBuilder unlike = model_of(l, d, true, Result::kScaledAndAdded);
  unlike.model().tensors[unlike.model().operators[0]->inputs[3]]->shape = {2};
  testing::expect_rejected(unlike, "has 1 scale and 2 zero points");
  testing::ModelBuilder stored = model_of(l, d, true, Result::kScaled);
  stored.model().operators[0]->options.AsFullyConnected()->store =
      std::make_unique<fb::FloatStoreT>();
  testing::expect_rejected(stored, "has a store and 6 inputs, expected 7");
  testing::ModelBuilder limits = model_of(l, d, true, Result::kScaledAndAdded);
  auto nan = std::make_unique<fb::FloatStoreT>();
  nan->lo = 0x7fc00000;
  limits.model().operators[0]->options.AsFullyConnected()->store = std::move(nan);
  testing::expect_rejected(limits, "expected numbers in ascending order");
}

}  // namespace
}  // namespace qrt::dynamic_layer_test
