// SPDX-License-Identifier: Apache-2.0
// Float operators at NaN, infinities and the zeros: what ONNX says, and where it leaves it open what IEEE 754 suggests. Results are
// compared by their bits, but every NaN is like another.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "tests/support/onnx_builder.h"

namespace qrt::testing::onnx_float_edges_test {
namespace {

using Floats = std::vector<float>;

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
const Floats kEdges = {-kInf, -2, -0.0f, 0.0f, 3, kInf, kNan};

void expect_same(const Floats& got, const Floats& expected) {
  ASSERT_EQ(got.size(), expected.size());
  for (size_t i = 0; i < got.size(); ++i)
    EXPECT_TRUE(std::isnan(got[i]) ? std::isnan(expected[i])
                                   : memcmp(&got[i], &expected[i], sizeof(float)) == 0)
        << "element " << i << ": " << got[i] << ", expected " << expected[i];
}

// Runs a model, whose only output is y, on one input of floats or several.
Floats run(OnnxBuilder* b, const std::string& y, const std::vector<Bytes>& inputs) {
  b->output(y);
  b->allow_float = true;
  return b->run_to<float>(inputs);
}
Floats run(OnnxBuilder* b, const std::string& y, const Floats& x) {
  return run(b, y, {to_bytes(x)});
}

// Every pair of edges under both conditions, the condition a number of the run or a constant.
TEST(OnnxFloatEdges, WhereKeepsEveryElement) {
  Floats a, c, expected;
  std::vector<uint8_t> chosen;
  for (const float u : kEdges)
    for (const float v : kEdges)
      for (const bool first : {false, true}) {
        a.push_back(u), c.push_back(v), chosen.push_back(first);
        expected.push_back(first ? u : v);
      }
  const auto n = static_cast<int64_t>(a.size());
  OnnxBuilder b(16);
  const std::string condition = b.node("Cast", {b.input<uint8_t>({n})}, {{"to", 9}});
  const std::string x = b.input({n}), z = b.input({n});
  expect_same(run(&b, b.node("Where", {condition, x, z}), {chosen, to_bytes(a), to_bytes(c)}),
              expected);

  OnnxBuilder fixed(16);
  const std::string kept = fixed.constant<uint8_t>({n}, chosen);
  fixed.graph().mutable_initializer(0)->set_data_type(9);
  const std::string u = fixed.input({n}), v = fixed.input({n});
  expect_same(run(&fixed, fixed.node("Where", {kept, u, v}), {to_bytes(a), to_bytes(c)}), expected);

  OnnxBuilder scalar(16);
  const std::string truth = scalar.node("Cast", {scalar.input<uint8_t>({n})}, {{"to", 9}});
  Floats of_scalar;
  for (size_t i = 0; i < a.size(); ++i) of_scalar.push_back(chosen[i] != 0 ? -kInf : a[i]);
  expect_same(run(&scalar, scalar.node("Where", {truth, scalar.scalar(-kInf), scalar.input({n})}),
                  {chosen, to_bytes(a)}),
              of_scalar);
}

// A NaN at each place of a row in turn makes the extreme of that row one, and of no other.
TEST(OnnxFloatEdges, ExtremesOfNaN) {
  constexpr int64_t kN = 21;
  for (const bool most : {false, true}) {
    Floats x, expected;
    for (int64_t r = 0; r <= kN; ++r) {
      for (int64_t i = 0; i < kN; ++i)
        x.push_back(i == r ? kNan : static_cast<float>(i * 5 % kN) - 10.0f);
      expected.push_back(r < kN ? kNan : most ? 10.0f : -10.0f);
    }
    OnnxBuilder reduce(13);
    expect_same(run(&reduce,
                    reduce.node(most ? "ReduceMax" : "ReduceMin", {reduce.input({kN + 1, kN})},
                                {{"axes", Dims{1}}, {"keepdims", 0}}),
                    x),
                expected);
    if (!most) continue;
    OnnxBuilder pool(13);
    expect_same(run(&pool, pool.node("GlobalMaxPool", {pool.input({1, kN + 1, 3, 7})}), x),
                expected);
  }
}

// A window with a NaN gives one, in planes and volumes. Windows of -infinity and padding give -infinity.
TEST(OnnxFloatEdges, MaxPoolsOfNaNAndInfinity) {
  for (const bool is_volume : {false, true}) {
    const Dims shape = is_volume ? Dims{1, 1, 2, 4, 5} : Dims{1, 1, 4, 5};
    const Dims kernel = is_volume ? Dims{1, 2, 2} : Dims{2, 2};
    const Dims pads = is_volume ? Dims{0, 1, 0, 0, 0, 0} : Dims{1, 0, 0, 0};
    Floats x(is_volume ? 40 : 20, -kInf), expected;
    x[7] = kNan;  // row 1, column 2 of the first plane
    x[0] = -3;
    for (int64_t plane = 0; plane < (is_volume ? 2 : 1); ++plane)
      for (int64_t row = 0; row < 4; ++row)
        for (int64_t column = 0; column < 4; ++column) {
          const bool is_first = plane == 0;
          const bool has_nan = is_first && (row == 1 || row == 2) && (column == 1 || column == 2);
          expected.push_back(has_nan ? kNan : is_first && row <= 1 && column == 0 ? -3.0f : -kInf);
        }
    OnnxBuilder b(13);
    expect_same(
        run(&b, b.node("MaxPool", {b.input(shape)}, {{"kernel_shape", kernel}, {"pads", pads}}), x),
        expected);
  }
}

TEST(OnnxFloatEdges, LogarithmsOfSumsOfNaNAndInfinity) {
  OnnxBuilder b(13);
  const std::string y =
      b.node("ReduceLogSumExp", {b.input({6, 2})}, {{"axes", Dims{1}}, {"keepdims", 0}});
  expect_same(run(&b, y, Floats{kNan, 1, 1, kNan, kInf, kNan, kInf, -kInf, -kInf, -kInf, -kInf, 2}),
              {kNan, kNan, kNan, kInf, -kInf, 2});
}

TEST(OnnxFloatEdges, HardmaxOfARowWithNaN) {
  OnnxBuilder b(13);
  expect_same(run(&b, b.node("Hardmax", {b.input({4, 3})}),
                  Floats{kNan, 2, 1, 1, kNan, 0, 3, 2, kNan, -kInf, kInf, kInf}),
              {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0});
}

// A NaN is above all numbers.
TEST(OnnxFloatEdges, TopKOfNaN) {
  for (const bool largest : {false, true}) {
    OnnxBuilder b(11);
    expect_same(run(&b,
                    b.node("TopK", {b.input({5}), b.constant<int64_t>({1}, {4})},
                           {{"largest", largest ? 1 : 0}}),
                    Floats{1, kNan, -kInf, kInf, kNan}),
                largest ? Floats{kNan, kNan, kInf, 1} : Floats{-kInf, 1, kInf, kNan});
  }
}

TEST(OnnxFloatEdges, TriluOfNaNAndInfinity) {
  for (const int upper : {0, 1}) {
    OnnxBuilder b(14);
    expect_same(run(&b, b.node("Trilu", {b.input({2, 2})}, {{"upper", upper}}),
                    Floats{kNan, -kInf, kNan, -0.0f}),
                upper != 0 ? Floats{kNan, -kInf, 0, -0.0f} : Floats{kNan, 0, kNan, -0.0f});
  }
}

// The root as a power is +0 of either zero, and infinity of either infinity.
TEST(OnnxFloatEdges, RootsAsPowers) {
  Floats expected;
  for (const float v : kEdges) expected.push_back(std::pow(v, 0.5f));
  OnnxBuilder b(15);
  expect_same(
      run(&b, b.node("Pow", {b.input({static_cast<int64_t>(kEdges.size())}), b.scalar(0.5f)}),
          kEdges),
      expected);
}

TEST(OnnxFloatEdges, ActivationsAtTheirLimits) {
  const auto n = static_cast<int64_t>(kEdges.size());
  const auto check = [&](const char* op, const Floats& expected) {
    SCOPED_TRACE(op);
    OnnxBuilder b(20);
    expect_same(run(&b, b.node(op, {b.input({n})}), kEdges), expected);
  };
  check("Abs", {kInf, 2, 0, 0, 3, kInf, kNan});
  // -infinity * 0, as in ONNX Runtime.
  OnnxBuilder b(20);
  const Floats y = run(&b, b.node("Gelu", {b.input({3})}), Floats{-kInf, kInf, kNan});
  expect_same(y, {kNan, kInf, kNan});
  OnnxBuilder mish(20);
  expect_same(
      run(&mish, mish.node("Mish", {mish.input({5})}), Floats{-kInf, -0.0f, 50, kInf, kNan}),
      {kNan, -0.0f, 50, kInf, kNan});
  OnnxBuilder softplus(20);
  expect_same(run(&softplus, softplus.node("Softplus", {softplus.input({4})}),
                  Floats{-kInf, 50, kInf, kNan}),
              {0, 50, kInf, kNan});
}

// An output of a linear Resize reads two elements: infinity and NaN elsewhere do not count.
TEST(OnnxFloatEdges, ResizeReadsTwoElements) {
  OnnxBuilder b(13);
  const std::string y =
      b.node("Resize", {b.input({1, 1, 1, 8}), "", b.constant<float>({4}, {1, 1, 1, 2})},
             {{"mode", "linear"}});
  expect_same(run(&b, y, Floats{1, 2, kInf, 4, 5, kNan, 7, 8}),
              {1, 1.25f, 1.75f, kInf, kInf, kInf, kInf, 4.25f, 4.75f, kNan, kNan, kNan, kNan, 7.25f,
               7.75f, 8});
}

// A smaller image: each output reads the elements under its filter, and no other.
TEST(OnnxFloatEdges, ResizeOfAFilterReadsWhatIsUnderIt) {
  for (const char* mode : {"linear", "cubic"}) {
    SCOPED_TRACE(mode);
    constexpr int64_t kIn = 24, kOut = 6;
    // A filter's radius in elements of the input: of 1 or 2 in those of the output.
    const int64_t radius = (mode[0] == 'l' ? 1 : 2) * kIn / kOut;
    for (int64_t at = 0; at < kIn; ++at) {
      Floats x(kIn, 1);
      x[static_cast<size_t>(at)] = kInf;
      OnnxBuilder b(18);
      const std::string y = b.node(
          "Resize", {b.input({1, 1, 1, kIn}), "", "", b.constant<int64_t>({4}, {1, 1, 1, kOut})},
          {{"mode", mode}, {"antialias", 1}});
      const Floats got = run(&b, y, x);
      ASSERT_EQ(got.size(), static_cast<size_t>(kOut));
      for (int64_t i = 0; i < kOut; ++i) {
        const float middle = (static_cast<float>(i) + 0.5f) * (kIn / kOut) - 0.5f;
        const bool is_read =
            std::fabs(static_cast<float>(at) - middle) < static_cast<float>(radius);
        const float v = got[static_cast<size_t>(i)];
        EXPECT_EQ(std::isfinite(v), !is_read) << "output " << i << " of infinity at " << at;
        if (is_read) continue;
        EXPECT_NEAR(v, 1, 1e-6) << i;
      }
    }
  }
}

// Every output of a transposed convolution adds what the definition says; an infinity counts where it is read only.
TEST(OnnxFloatEdges, TransposedConvolutionsReadWhatTheyAdd) {
  struct Axis {
    int64_t in, kernel, stride, dilation, before, after;

    int64_t out() const { return (in - 1) * stride + (kernel - 1) * dilation + 1 - before - after; }
  };
  const Axis axes[] = {{5, 3, 2, 1, 1, 0}, {5, 4, 2, 1, 1, 1}, {4, 2, 2, 1, 0, 0},
                       {4, 1, 2, 1, 0, 0}, {5, 2, 4, 1, 0, 0}, {6, 3, 1, 2, 2, 1},
                       {5, 3, 2, 2, 1, 1}, {5, 3, 3, 2, 1, 2}, {6, 5, 3, 1, 4, 0},
                       {1, 3, 2, 1, 1, 1}};
  for (const Axis& h : axes)
    for (const Axis& w : axes)
      for (const int64_t groups : {1, 2}) {
        constexpr int64_t kC = 4, kOut = 4;
        const int64_t of_group = kOut / groups;
        Floats x, weights, bias = {1, -2, 0.5f, 3};
        for (int64_t i = 0; i < kC * h.in * w.in; ++i)
          x.push_back(static_cast<float>(i * 7 % 11) - 5);
        for (int64_t i = 0; i < kC * of_group * h.kernel * w.kernel; ++i)
          weights.push_back(static_cast<float>(i * 5 % 13) - 6.5f);
        x[x.size() / 3] = kInf;
        Floats expected;
        for (int64_t o = 0; o < kOut; ++o)
          for (int64_t row = 0; row < h.out(); ++row)
            for (int64_t column = 0; column < w.out(); ++column) {
              float sum = bias[static_cast<size_t>(o)];
              for (int64_t c = o / of_group * (kC / groups); c < (o / of_group + 1) * (kC / groups);
                   ++c)
                for (int64_t k = 0; k < h.kernel * w.kernel; ++k) {
                  const int64_t i = row + h.before - k / w.kernel * h.dilation;
                  const int64_t j = column + w.before - k % w.kernel * w.dilation;
                  if (i < 0 || j < 0 || i % h.stride != 0 || j % w.stride != 0) continue;
                  if (i / h.stride >= h.in || j / w.stride >= w.in) continue;
                  const auto at =
                      static_cast<size_t>((c * of_group + o % of_group) * h.kernel * w.kernel + k);
                  sum += weights[at] *
                         x[static_cast<size_t>((c * h.in + i / h.stride) * w.in + j / w.stride)];
                }
              expected.push_back(sum);  // exact but for the infinity: small multiples of a half
            }
        OnnxBuilder b(13);
        const std::string y =
            b.node("ConvTranspose",
                   {b.input({1, kC, h.in, w.in}),
                    b.constant<float>({kC, of_group, h.kernel, w.kernel}, weights),
                    b.constant<float>({kOut}, bias)},
                   {{"strides", Dims{h.stride, w.stride}},
                    {"dilations", Dims{h.dilation, w.dilation}},
                    {"pads", Dims{h.before, w.before, h.after, w.after}},
                    {"group", groups}});
        SCOPED_TRACE("strides " + std::to_string(h.stride) + " " + std::to_string(w.stride) +
                     ", kernel " + std::to_string(h.kernel) + " " + std::to_string(w.kernel) +
                     ", groups " + std::to_string(groups));
        expect_same(run(&b, y, x), expected);
      }
}

// Functions made of several, within a few units in the last place of the real one where that is a normal number.
TEST(OnnxFloatEdges, SoftplusAndMishOfNegativeNumbers) {
  Floats x;
  for (int i = -850; i <= 300; ++i) x.push_back(static_cast<float>(i) * 0.1f);
  const auto n = static_cast<int64_t>(x.size());
  const auto check = [&](const char* op, double ulps, const auto& real) {
    SCOPED_TRACE(op);
    OnnxBuilder b(18);
    const Floats y = run(&b, b.node(op, {b.input({n})}), x);
    ASSERT_EQ(y.size(), x.size());
    for (size_t i = 0; i < x.size(); ++i) {
      const double expected = real(static_cast<double>(x[i]));
      const auto nearest = static_cast<float>(std::fabs(expected));
      const auto ulp = static_cast<double>(std::nextafter(nearest, kInf) - nearest);
      EXPECT_NEAR(static_cast<double>(y[i]), expected, ulps * ulp) << x[i];
    }
  };
  check("Softplus", 2, [](double v) { return std::log1p(std::exp(v)); });
  check("Mish", 4, [](double v) { return v * std::tanh(std::log1p(std::exp(v))); });
}

}  // namespace
}  // namespace qrt::testing::onnx_float_edges_test
