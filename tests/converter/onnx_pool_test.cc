// SPDX-License-Identifier: Apache-2.0
// Pools against naive loops over [n, c, h, w].
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/support/onnx_builder.h"

namespace qrt::testing::onnx_pool_test {
namespace {

constexpr float kXScale = 0.25f, kYScale = 0.125f;  // ties are common
constexpr int kXZero = 100, kYZero = 101;

struct PoolCase {
  int64_t channels = 3, height = 6, width = 7, kernel_h = 3, kernel_w = 2, stride_h = 2,
          stride_w = 2;
  Dims pads = {0, 0, 0, 0};
  int ceil_mode = 0, include_pad = 0;

  int64_t out(int axis) const {
    const int64_t size = axis ? width : height, k = axis ? kernel_w : kernel_h,
                  s = axis ? stride_w : stride_h;
    const int64_t before = pads[static_cast<size_t>(axis)],
                  after = pads[static_cast<size_t>(axis + 2)];
    const int64_t room = size + before + after - k;
    int64_t n = room / s + 1;
    if (ceil_mode && room % s != 0 && n * s < size + before) ++n;
    return n;
  }
  std::vector<Attr> attributes() const {
    return {{"kernel_shape", Dims{kernel_h, kernel_w}},
            {"strides", Dims{stride_h, stride_w}},
            {"pads", pads},
            {"ceil_mode", ceil_mode}};
  }
  // Returns f(values inside the image, window area) for every output.
  template <class F>
  std::vector<uint8_t> reference(const std::vector<uint8_t>& x, const F& f) const {
    std::vector<uint8_t> y;
    for (int64_t c = 0; c < channels; ++c)
      for (int64_t i = 0; i < out(0); ++i)
        for (int64_t j = 0; j < out(1); ++j) {
          std::vector<int> inside;
          for (int64_t a = 0; a < kernel_h; ++a)
            for (int64_t b = 0; b < kernel_w; ++b) {
              const int64_t r = i * stride_h - pads[0] + a, s = j * stride_w - pads[1] + b;
              if (r >= 0 && s >= 0 && r < height && s < width)
                inside.push_back(x[static_cast<size_t>((c * height + r) * width + s)]);
            }
          y.push_back(f(inside));
        }
    return y;
  }
};

std::vector<PoolCase> cases() {
  std::vector<PoolCase> all(4);
  all[1].pads = {1, 0, 2, 1};
  all[2].pads = {1, 1, 1, 1};
  all[2].ceil_mode = 1;
  all[2].width = 8;
  all[3].ceil_mode = 1;
  all[3].stride_w = 3;
  return all;
}

TEST(OnnxPool, MaxMovesIntegers) {
  Random random;
  for (const PoolCase& c : cases()) {
    const auto x =
        random_integers<uint8_t>(&random, static_cast<size_t>(c.channels * c.height * c.width));
    OnnxBuilder b;
    const std::string in =
        b.integer_input<uint8_t>({1, c.channels, c.height, c.width}, kXScale, kXZero);
    const auto a = c.attributes();
    b.integer_output<uint8_t>(b.node("MaxPool", {in}, {a[0], a[1], a[2], a[3]}), kXScale, kXZero);
    ASSERT_EQ(b.run_to<uint8_t>({to_bytes(x)}), c.reference(x, [](const std::vector<int>& v) {
      return static_cast<uint8_t>(*std::max_element(v.begin(), v.end()));
    }));
  }
}

// Maxima and minima are reduced over axes that are adjacent or not, kept or not, of integers and of
// a table behind them.
TEST(OnnxReduce, TheGreatestAndTheLeast) {
  Random random;
  const auto x = random_integers<uint8_t>(&random, 3 * 4 * 5);
  for (const bool least : {false, true})
    for (const bool relu : {false, true})
      for (const Dims& axes : {Dims{1}, Dims{0, 2}, Dims{-1, 1}, Dims{}})
        for (const int keep : {0, 1}) {
          const auto is_reduced = [&](int64_t d) {
            return axes.empty() || std::any_of(axes.begin(), axes.end(),
                                               [d](int64_t a) { return (a + 3) % 3 == d; });
          };
          OnnxBuilder b;
          std::string in = b.integer_input<uint8_t>({3, 4, 5}, kXScale, kXZero);
          if (relu) in = b.node("Relu", {in});
          const std::string y =
              b.node(least ? "ReduceMin" : "ReduceMax", {in}, {{"keepdims", keep}});
          onnx::NodeProto* node = b.graph().mutable_node(b.graph().node_size() - 1);
          if (!axes.empty()) *node->add_attribute() = Attr("axes", axes).proto;
          b.integer_output<uint8_t>(y, kXScale, kXZero);
          const int64_t size[3] = {3, 4, 5};
          int64_t kept[3];
          for (int d = 0; d < 3; ++d) kept[d] = is_reduced(d) ? 1 : size[d];
          std::vector<uint8_t> expected(static_cast<size_t>(kept[0] * kept[1] * kept[2]),
                                        least ? 255 : 0);
          for (int64_t i = 0; i < 60; ++i) {
            const int64_t at[3] = {i / 20, i / 5 % 4, i % 5};
            int64_t to = 0;
            for (int d = 0; d < 3; ++d) to = to * kept[d] + (is_reduced(d) ? 0 : at[d]);
            uint8_t v = x[static_cast<size_t>(i)];
            if (relu && v < kXZero) v = kXZero;
            uint8_t& y = expected[static_cast<size_t>(to)];
            y = least ? std::min(y, v) : std::max(y, v);
          }
          ASSERT_EQ(b.run_to<uint8_t>({to_bytes(x)}), expected);
        }
}

// The integers' sum, rounded once.
template <class T>
void check_sums(int zero) {
  Random random;
  SCOPED_TRACE(random.trace());
  const auto x = random_integers<T>(&random, 60);
  for (const bool mean : {false, true})
    for (const Dims& axes : {Dims{0, 1, 2}, Dims{1}, Dims{-1}, Dims{0, 2}}) {
      const auto is_reduced = [&](int64_t d) {
        return std::count(axes.begin(), axes.end(), d) +
               std::count(axes.begin(), axes.end(), d - 3);
      };
      const float y_scale = mean ? 0.01f : 0.15f;
      OnnxBuilder b;
      const std::string in = b.integer_input<T>({3, 4, 5}, kXScale, static_cast<T>(zero));
      const std::string y =
          mean ? b.node("ReduceMean", {in}, {{"axes", axes}, {"keepdims", 0}})
               : b.node("ReduceSum",
                        {in, b.constant<int64_t>({static_cast<int64_t>(axes.size())}, axes)});
      b.integer_output<T>(y, y_scale, 9);
      const int64_t kept[3] = {is_reduced(0) ? 1 : 3, is_reduced(1) ? 1 : 4, is_reduced(2) ? 1 : 5};
      std::vector<int32_t> sums(static_cast<size_t>(kept[0] * kept[1] * kept[2]), 0);
      for (int64_t i = 0; i < 60; ++i) {
        const int64_t at[3] = {i / 20 % kept[0], i / 5 % 4 % kept[1], i % 5 % kept[2]};
        sums[static_cast<size_t>((at[0] * kept[1] + at[1]) * kept[2] + at[2])] +=
            x[static_cast<size_t>(i)] - zero;
      }
      const float n = static_cast<float>(60 / sums.size());
      const float scale = mean ? kXScale / (y_scale * n) : kXScale / y_scale;
      const auto got = b.run_to<T>({to_bytes(x)});
      ASSERT_EQ(got.size(), sums.size());
      for (size_t i = 0; i < sums.size(); ++i)
        ASSERT_EQ(got[i], requantize_reference<T>(sums[i], scale, 9)) << i;
    }
}

TEST(OnnxReduce, SumsAndMeansRoundOnce) {
  check_sums<uint8_t>(kXZero);
  check_sums<int8_t>(-3);
}

TEST(OnnxReduce, RefusesSumsOfOtherFloats) {
  OnnxBuilder b;
  const std::string in = b.integer_input<uint8_t>({3, 4, 5}, kXScale, kXZero);
  b.integer_output<uint8_t>(b.node("ReduceMean", {b.node("Exp", {in})}), kXScale, kXZero);
  EXPECT_NE(b.import().rule().find("which nothing quantises"), std::string::npos);
}

TEST(OnnxPool, AverageIsAnOrderedFloatSum) {
  Random random;
  for (PoolCase c : cases())
    for (const int include_pad : {0, 1}) {
      const auto x =
          random_integers<uint8_t>(&random, static_cast<size_t>(c.channels * c.height * c.width));
      OnnxBuilder b;
      const std::string in =
          b.integer_input<uint8_t>({1, c.channels, c.height, c.width}, kXScale, kXZero);
      const auto a = c.attributes();
      b.integer_output<uint8_t>(
          b.node("AveragePool", {in}, {a[0], a[1], a[2], a[3], {"count_include_pad", include_pad}}),
          kYScale, kYZero);
      const float area = static_cast<float>(c.kernel_h * c.kernel_w);
      ASSERT_EQ(b.run_to<uint8_t>({to_bytes(x)}), c.reference(x, [&](const std::vector<int>& v) {
        float sum = 0;
        for (int q : v) sum += kXScale * static_cast<float>(q - kXZero);
        const float mean = sum / (include_pad ? area : static_cast<float>(v.size()));
        const float r = std::nearbyint(mean / kYScale + static_cast<float>(kYZero));
        return static_cast<uint8_t>(r < 0 ? 0 : r > 255 ? 255 : r);
      }));
    }
}

// In ONNX Runtime's average of integers the positions that ceil_mode adds count; in that of floats,
// which it computes in front of a Clip that changes values or for a second reader, they do not.
TEST(OnnxPool, AverageCountsWhatOverhangsOnlyInIntegers) {
  for (const auto& [clips, is_shared] : {std::pair(false, false), {true, false}, {false, true}}) {
    OnnxBuilder b;
    b.allow_float = is_shared;
    std::string y = b.node("AveragePool", {b.integer_input<uint8_t>({1, 1, 6, 3}, 1.0f, 0)},
                           {{"kernel_shape", Dims{3, 2}},
                            {"strides", Dims{3, 1}},
                            {"pads", Dims{1, 0, 0, 0}},
                            {"ceil_mode", 1},
                            {"count_include_pad", 1}});
    if (clips) y = b.node("Clip", {y, b.scalar(0.0f), b.scalar(55.0f)});
    b.integer_output<uint8_t>(y, 1.0f, 0);
    if (is_shared) b.integer_output<uint8_t>(y, 0.5f, 0);
    const uint8_t full = clips ? 55 : 60, last = clips ? 55 : is_shared ? 60 : 20;
    EXPECT_EQ(b.run_to<uint8_t>({to_bytes(std::vector<uint8_t>(18, 60))}),
              (std::vector<uint8_t>{40, 40, full, full, last, last}));
  }
}

TEST(OnnxPool, QLinearAverageCountsWhatOverhangsForSeveralReaders) {
  OnnxBuilder b;
  const std::string scale = b.scalar(1.0f), zero = b.scalar(uint8_t{0});
  const std::string y =
      b.node("QLinearAveragePool", {b.input<uint8_t>({1, 1, 6, 3}), scale, zero, scale, zero},
             {{"kernel_shape", Dims{3, 2}},
              {"strides", Dims{3, 1}},
              {"pads", Dims{1, 0, 0, 0}},
              {"ceil_mode", 1},
              {"count_include_pad", 1}},
             "com.microsoft");
  b.output(y);
  b.output(b.dq(y, 1.0f, uint8_t{0}));
  EXPECT_EQ(b.run_to<uint8_t>({to_bytes(std::vector<uint8_t>(18, 60))}),
            (std::vector<uint8_t>{40, 40, 60, 60, 20, 20}));
}

TEST(OnnxPool, AverageOfTheWholeImageIsTheGlobalForm) {
  Random random;
  const auto x = random_integers<uint8_t>(&random, 2 * 3 * 4 * 6);
  std::vector<uint8_t> expected;
  for (size_t i = 0; i < 6; ++i) {
    int32_t acc = 0;
    for (size_t k = 0; k < 24; ++k) acc += x[i * 24 + k] - kXZero;
    const float divisor = kYScale * 24.0f;
    expected.push_back(requantize_reference<uint8_t>(acc, kXScale / divisor, kYZero));
  }
  for (const bool global : {true, false}) {
    OnnxBuilder b;
    const std::string in = b.integer_input<uint8_t>({2, 3, 4, 6}, kXScale, kXZero);
    b.integer_output<uint8_t>(global ? b.node("GlobalAveragePool", {in})
                                     : b.node("AveragePool", {in}, {{"kernel_shape", Dims{4, 6}}}),
                              kYScale, kYZero);
    const Imported imported = b.import();
    ASSERT_TRUE(imported.status.ok());
    EXPECT_EQ(imported.count(fb::OpOptions::GlobalAveragePool2D), 1);
    ASSERT_EQ(b.run_to<uint8_t>({to_bytes(x)}), expected);
  }
}

TEST(OnnxPool, GlobalMaxAndOneDimension) {
  Random random;
  const auto x = random_integers<int8_t>(&random, 3 * 10);
  OnnxBuilder b;
  const std::string in = b.integer_input<int8_t>({1, 3, 10}, kXScale, 5);
  b.integer_output<int8_t>(b.node("GlobalMaxPool", {in}), kXScale, 5);
  b.integer_output<int8_t>(b.node("MaxPool", {in}, {{"kernel_shape", Dims{10}}}), kXScale, 5);
  const auto outputs = b.run({to_bytes(x)});
  ASSERT_EQ(outputs.size(), 2u);
  std::vector<int8_t> expected;
  for (int c = 0; c < 3; ++c)
    expected.push_back(*std::max_element(x.begin() + 10 * c, x.begin() + 10 * c + 10));
  ASSERT_EQ(from_bytes<int8_t>(outputs[0]), expected);
  ASSERT_EQ(outputs[0], outputs[1]);
}

TEST(OnnxPool, FollowsAConvolutionBeforeItsQuantize) {
  OnnxBuilder b;
  const std::string w = b.dq<int8_t>(b.constant<int8_t>({1, 1, 1, 1}, {2}), 1.0f, 0);
  std::string y = b.node("Conv", {b.integer_input<uint8_t>({1, 1, 2, 2}, 1.0f, 10), w});
  y = b.node("MaxPool", {b.node("Relu", {y})}, {{"kernel_shape", Dims{2, 2}}});
  b.integer_output<uint8_t>(y, 1.0f, 0);
  ASSERT_EQ(b.run_to<uint8_t>({{1, 15, 12, 3}}), (std::vector<uint8_t>{10}));
}

TEST(OnnxPool, QLinearFormsTakeBothChannelOrders) {
  Random random;
  const auto first = random_integers<uint8_t>(&random, 3 * 4 * 5);
  std::vector<uint8_t> last(first.size());
  for (size_t c = 0; c < 3; ++c)
    for (size_t p = 0; p < 20; ++p) last[p * 3 + c] = first[c * 20 + p];
  std::vector<Bytes> results;
  for (const int channels_last : {0, 1}) {
    OnnxBuilder b;
    const Dims dims = channels_last ? Dims{1, 4, 5, 3} : Dims{1, 3, 4, 5};
    const Names in = {b.input<uint8_t>(dims), b.scalar(kXScale), b.scalar<uint8_t>(kXZero),
                      b.scalar(kYScale), b.scalar<uint8_t>(kYZero)};
    b.output(b.node("QLinearGlobalAveragePool", in, {{"channels_last", channels_last}},
                    "com.microsoft"));
    const std::string y =
        b.node("QLinearAveragePool", in,
               {{"kernel_shape", Dims{4, 1}}, {"channels_last", channels_last}}, "com.microsoft");
    b.output(channels_last ? b.node("Transpose", {y}, {{"perm", Dims{0, 3, 1, 2}}}) : y);
    for (Bytes& out : b.run({to_bytes(channels_last ? last : first)}))
      results.push_back(std::move(out));
  }
  ASSERT_EQ(results.size(), 4u);
  ASSERT_EQ(results[0], results[2]);
  ASSERT_EQ(results[1], results[3]);
}

TEST(OnnxPool, PaddingThatFillsAWindowIsInvalid) {
  OnnxBuilder b;
  const std::string in = b.integer_input<uint8_t>({1, 1, 4, 4}, 1.0f, 0);
  b.integer_output<uint8_t>(
      b.node("MaxPool", {in}, {{"kernel_shape", Dims{2, 2}}, {"pads", Dims{2, 0, 0, 0}}}), 1.0f, 0);
  EXPECT_EQ(b.import().status.code(), Code::kInvalidModel);
}

// x[i] = 37 * i of a whole image; what ONNX Runtime 1.30 makes of it.
std::vector<uint8_t> pool_of_multiples(const char* op, const Dims& image,
                                       const std::vector<Attr>& a) {
  std::vector<uint8_t> x(static_cast<size_t>(image[0] * image[1]));
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<uint8_t>(i * 37);
  OnnxBuilder b;
  const std::string in = b.integer_input<uint8_t>({1, 1, image[0], image[1]}, 1.0f, 0);
  b.integer_output<uint8_t>(b.node(op, {in}, a), 1.0f, 0);
  return b.run_to<uint8_t>({to_bytes(x)});
}

TEST(OnnxPool, SameBelowZeroShiftsTheWindows) {
  const auto pool = [](const char* op, const char* how) {
    return pool_of_multiples(
        op, {12, 11},
        {Attr("kernel_shape", Dims{1, 2}), Attr("strides", Dims{4, 5}), Attr("auto_pad", how)});
  };
  using Bytes = std::vector<uint8_t>;
  EXPECT_EQ(pool("MaxPool", "SAME_UPPER"), (Bytes{188, 117, 9, 243, 209, 101, 116, 45, 193}));
  EXPECT_EQ(pool("MaxPool", "SAME_LOWER"), (Bytes{151, 80, 228, 243, 172, 101, 79, 227, 193}));
  EXPECT_EQ(pool("AveragePool", "SAME_UPPER"), (Bytes{170, 98, 9, 134, 190, 101, 98, 26, 193}));
  EXPECT_EQ(pool("AveragePool", "SAME_LOWER"), (Bytes{151, 62, 118, 243, 154, 82, 79, 118, 174}));
}

TEST(OnnxPool, SameOfMaxPoolLeavesDilationsOut) {
  EXPECT_EQ(pool_of_multiples("MaxPool", {4, 5},
                              {Attr("kernel_shape", Dims{2, 3}), Attr("dilations", Dims{2, 3}),
                               Attr("auto_pad", "SAME_UPPER")}),
            (std::vector<uint8_t>{188, 117, 188}));
}

// Windows in the padding give the least integer between pairs of equal parameters, where the pool
// is one of integers; with other parameters it is one of floats, and is refused.
TEST(OnnxPool, WindowsInThePaddingAreOfIntegersOrRefused) {
  const std::vector<Attr> around = {Attr("kernel_shape", Dims{2, 2}), Attr("dilations", Dims{2, 2}),
                                    Attr("pads", Dims{1, 1, 1, 1})};
  EXPECT_EQ(pool_of_multiples("MaxPool", {1, 1}, around), std::vector<uint8_t>{0});
  OnnxBuilder b;
  const std::string in = b.integer_input<uint8_t>({1, 1, 1, 1}, 1.0f, 0);
  b.integer_output<uint8_t>(b.node("MaxPool", {in}, around), 2.0f, 0);
  EXPECT_NE(b.import().rule().find("a window reads nothing of the image"), std::string::npos);
}

}  // namespace
}  // namespace qrt::testing::onnx_pool_test
