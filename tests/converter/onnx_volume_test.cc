// SPDX-License-Identifier: Apache-2.0
// Convolutions and pools of three spatial dimensions against naive loops over the source's own
// integers and layout.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "tests/support/onnx_builder.h"

namespace qrt::testing::onnx_volume_test {
namespace {

using Axes = std::array<int64_t, 3>;  // depth, rows, columns

struct VolumeCase {
  int64_t batch = 1, groups = 1, in = 3, out = 4;
  Axes size{4, 5, 6}, kernel{3, 3, 3}, stride{1, 1, 1}, dilation{1, 1, 1};
  Axes before{0, 0, 0}, after{0, 0, 0};

  int64_t made(size_t axis) const {
    const int64_t reach = (kernel[axis] - 1) * dilation[axis] + 1;
    return (size[axis] + before[axis] + after[axis] - reach) / stride[axis] + 1;
  }
  int64_t positions() const { return size[0] * size[1] * size[2]; }
  int64_t taps() const { return kernel[0] * kernel[1] * kernel[2]; }
  Dims input() const { return {batch, in, size[0], size[1], size[2]}; }
  Dims weights() const { return {out, in / groups, kernel[0], kernel[1], kernel[2]}; }
  std::vector<Attr> attributes() const {
    const auto dims = [](const Axes& a) { return Dims(a.begin(), a.end()); };
    Dims pads = dims(before);
    pads.insert(pads.end(), after.begin(), after.end());
    return {Attr("kernel_shape", dims(kernel)), Attr("strides", dims(stride)),
            Attr("dilations", dims(dilation)), Attr("pads", pads)};
  }
  std::vector<Attr> layer_attributes() const {
    std::vector<Attr> all = attributes();
    all.push_back(Attr("group", groups));
    return all;
  }

  // Calls f(o, tap, position within a channel, or -1 in the padding) for each output position o of
  // a channel, in the order of the source.
  template <class F>
  void for_taps(const F& f) const {
    int64_t o = 0;
    for (int64_t i = 0; i < made(0); ++i)
      for (int64_t j = 0; j < made(1); ++j)
        for (int64_t k = 0; k < made(2); ++k, ++o)
          for (int64_t tap = 0; tap < taps(); ++tap) {
            const Axes out_at{i, j, k};
            const Axes of_kernel{tap / (kernel[1] * kernel[2]), tap / kernel[2] % kernel[1],
                                 tap % kernel[2]};
            int64_t at = 0;
            bool inside = true;
            for (size_t a = 0; a < 3; ++a) {
              const int64_t p = out_at[a] * stride[a] + of_kernel[a] * dilation[a] - before[a];
              inside = inside && p >= 0 && p < size[a];
              at = at * size[a] + p;
            }
            f(o, tap, inside ? at : -1);
          }
  }
  int64_t outputs() const { return made(0) * made(1) * made(2); }
};

// Returns the sums of a convolution, [n, out, ...].
template <class X, class W>
std::vector<int32_t> sums(const VolumeCase& c, const std::vector<X>& x, int x_zero,
                          const std::vector<W>& w, const std::vector<int32_t>& bias) {
  const int64_t in = c.in / c.groups, of_group = c.out / c.groups;
  std::vector<int32_t> y;
  for (int64_t n = 0; n < c.batch; ++n)
    for (int64_t o = 0; o < c.out; ++o) {
      const size_t first = y.size();
      y.resize(first + static_cast<size_t>(c.outputs()), bias[static_cast<size_t>(o)]);
      c.for_taps([&](int64_t at, int64_t tap, int64_t position) {
        if (position < 0) return;
        for (int64_t k = 0; k < in; ++k) {
          const int64_t channel = n * c.in + o / of_group * in + k;
          y[first + static_cast<size_t>(at)] +=
              (x[static_cast<size_t>(channel * c.positions() + position)] - x_zero) *
              w[static_cast<size_t>((o * in + k) * c.taps() + tap)];
        }
      });
    }
  return y;
}

std::vector<VolumeCase> layer_cases() {
  std::vector<VolumeCase> all(15);
  all[1].batch = 2, all[1].before = all[1].after = {1, 1, 1};
  all[2].stride = {2, 2, 2}, all[2].before = {1, 1, 0}, all[2].after = {0, 1, 1};
  all[3].dilation = {2, 1, 2}, all[3].before = all[3].after = {2, 0, 1};
  all[4].kernel = {1, 3, 2}, all[4].stride = {2, 1, 1};                 // no depth
  all[5].kernel = {3, 1, 1}, all[5].before = all[5].after = {1, 0, 0};  // depth alone
  all[6].kernel = {3, 1, 1}, all[6].stride = {2, 1, 1}, all[6].batch = 2;
  all[7].kernel = {1, 1, 1}, all[7].stride = {2, 2, 2};
  all[8].kernel = {2, 1, 3}, all[8].before = {1, 0, 2};
  all[9].in = all[9].groups = 4, all[9].before = all[9].after = {1, 1, 1};  // depthwise
  all[9].batch = 2;
  all[10].in = all[10].groups = 4, all[10].out = 8, all[10].stride = {1, 2, 2};
  all[10].dilation = {1, 2, 1}, all[10].size = {4, 7, 5};
  all[11].in = 6, all[11].groups = 2, all[11].before = {2, 0, 1};
  all[12].size = {1, 4, 4},
  all[12].before = all[12].after = {1, 1, 1};  // two taps see only padding
  all[13].size = {1, 4, 4}, all[13].kernel = {2, 2, 2}, all[13].dilation = {4, 1, 1};
  all[13].before = all[13].after = {2, 0, 0};  // both do
  all[14].in = all[14].groups = 4, all[14].size = {4, 5, 1}, all[14].kernel = {3, 3, 1};
  return all;
}

constexpr float kXScale = 0.05f, kWScale = 0.02f, kYScale = 1.3f;

struct VolumeLayer {
  std::vector<uint8_t> x;
  std::vector<int8_t> w;
  std::vector<int32_t> bias;
  std::vector<float> scales;  // of the weights
};

VolumeLayer random_layer(const VolumeCase& c, bool per_channel) {
  Random random;
  VolumeLayer l;
  l.x = random_integers<uint8_t>(&random, static_cast<size_t>(c.batch * c.in * c.positions()));
  l.w = random_integers<int8_t>(&random, static_cast<size_t>(c.out * c.in / c.groups * c.taps()));
  for (int64_t o = 0; o < c.out; ++o) {
    l.bias.push_back(static_cast<int32_t>(random.integer(-5000, 5000)));
    if (o == 0 || per_channel) l.scales.push_back(kWScale / static_cast<float>(o + 1));
  }
  return l;
}

std::vector<uint8_t> quantized(const VolumeCase& c, const VolumeLayer& l, int x_zero, int y_zero) {
  std::vector<uint8_t> y;
  const std::vector<int32_t> acc = sums(c, l.x, x_zero, l.w, l.bias);
  for (size_t i = 0; i < acc.size(); ++i) {
    const size_t o = i / static_cast<size_t>(c.outputs()) % static_cast<size_t>(c.out);
    const float scale = kXScale * l.scales[l.scales.size() == 1 ? 0 : o] / kYScale;
    y.push_back(requantize_reference<uint8_t>(acc[i], scale, y_zero));
  }
  return y;
}

TEST(OnnxVolume, Conv) {
  for (const bool per_channel : {false, true})
    for (const VolumeCase& c : layer_cases()) {
      const VolumeLayer l = random_layer(c, per_channel);
      OnnxBuilder b;
      const std::string x = b.integer_input<uint8_t>(c.input(), kXScale, 113);
      const Dims dims = per_channel ? Dims{c.out} : Dims{};
      const std::string w =
          b.node("DequantizeLinear",
                 {b.constant<int8_t>(c.weights(), l.w), b.constant(dims, l.scales),
                  b.constant<int8_t>(dims, std::vector<int8_t>(l.scales.size(), 0))},
                 {{"axis", 0}});
      std::vector<float> products;
      for (float s : l.scales) products.push_back(kXScale * s);
      const std::string bias =
          b.node("DequantizeLinear",
                 {b.constant<int32_t>({c.out}, l.bias), b.constant(dims, products)}, {{"axis", 0}});
      std::vector<uint8_t> expected = quantized(c, l, 113, 100);
      for (uint8_t& v : expected) v = std::max<uint8_t>(v, 100);
      b.integer_output<uint8_t>(
          b.node("Relu", {b.node("Conv", {x, w, bias}, c.layer_attributes())}), kYScale, 100);
      ASSERT_EQ(b.run_to<uint8_t>({to_bytes(l.x)}), expected);
    }
}

TEST(OnnxVolume, QLinearConv) {
  for (const VolumeCase& c : layer_cases()) {
    const VolumeLayer l = random_layer(c, true);
    OnnxBuilder b;
    b.output(b.node("QLinearConv",
                    {b.input<uint8_t>(c.input()), b.scalar(kXScale), b.scalar<uint8_t>(7),
                     b.constant<int8_t>(c.weights(), l.w), b.constant<float>({c.out}, l.scales),
                     b.scalar<int8_t>(0), b.scalar(kYScale), b.scalar<uint8_t>(128),
                     b.constant<int32_t>({c.out}, l.bias)},
                    c.layer_attributes()));
    ASSERT_EQ(b.run_to<uint8_t>({to_bytes(l.x)}), quantized(c, l, 7, 128));
  }
}

// ConvInteger over a volume takes the zero point of a constant or of the run, which planes in the
// padding then have.
TEST(OnnxVolume, ConvInteger) {
  for (const bool of_run : {false, true})
    for (const VolumeCase& c : layer_cases()) {
      const VolumeLayer l = random_layer(c, false);
      OnnxBuilder b;
      const std::string x = b.input<uint8_t>(c.input());
      const std::string zero = of_run ? b.input<uint8_t>({}) : b.scalar<uint8_t>(201);
      b.output(b.node("ConvInteger", {x, b.constant<int8_t>(c.weights(), l.w), zero},
                      c.layer_attributes()));
      std::vector<Bytes> inputs = {to_bytes(l.x)};
      if (of_run) inputs.push_back({201});
      const std::vector<int32_t> no_bias(static_cast<size_t>(c.out), 0);
      ASSERT_EQ(b.run_to<int32_t>(inputs), sums(c, l.x, 201, l.w, no_bias));
    }
}

TEST(OnnxVolume, AutoPad) {
  for (const char* mode : {"SAME_UPPER", "SAME_LOWER"}) {
    VolumeCase c;
    c.kernel = {2, 2, 2};
    Axes& one = std::string(mode) == "SAME_UPPER" ? c.after : c.before;
    one = {1, 1, 1};
    const VolumeLayer l = random_layer(c, false);
    OnnxBuilder b;
    const std::string x = b.integer_input<uint8_t>(c.input(), kXScale, 9);
    const std::string w = b.dq<int8_t>(b.constant<int8_t>(c.weights(), l.w), l.scales[0], 0);
    b.integer_output<uint8_t>(b.node("Conv", {x, w}, {{"auto_pad", mode}}), kYScale, 128);
    VolumeLayer unbiased = l;
    unbiased.bias.assign(l.bias.size(), 0);
    ASSERT_EQ(b.run_to<uint8_t>({to_bytes(l.x)}), quantized(c, unbiased, 9, 128)) << mode;
  }
}

// Volumes stay [n, d, h, w, c] from layer to layer: only the model's inputs and outputs are transposed.
TEST(OnnxVolume, NothingIsTransposedBetweenLayers) {
  Random random;
  OnnxBuilder b;
  std::string x = b.integer_input<uint8_t>({1, 4, 4, 6, 6}, kXScale, 128);
  const auto layer = [&](const std::string& from, const Dims& kernel, const Dims& pads) {
    Dims dims = {4, 4};
    dims.insert(dims.end(), kernel.begin(), kernel.end());
    int64_t count = 1;
    for (int64_t d : dims) count *= d;
    const auto w = random_integers<int8_t>(&random, static_cast<size_t>(count));
    const std::string y = b.node(
        "Conv", {from, b.dq<int8_t>(b.constant<int8_t>(dims, w), kWScale, 0)}, {{"pads", pads}});
    return b.qdq<uint8_t>(y, kYScale, 128);
  };
  x = layer(x, {3, 3, 3}, {1, 1, 1, 1, 1, 1});
  std::string y = layer(x, {1, 3, 3}, {0, 1, 1, 0, 1, 1});
  y = layer(y, {3, 1, 1}, {1, 0, 0, 1, 0, 0});
  x = b.qdq<uint8_t>(b.node("Add", {x, y}), kYScale, 128);
  y = b.node("Concat", {x, y}, {{"axis", 1}});
  y = b.node("MaxPool", {b.qdq<uint8_t>(y, kYScale, 128)},
             {{"kernel_shape", Dims{2, 2, 2}}, {"strides", Dims{2, 2, 2}}});
  b.output(b.q<uint8_t>(y, kYScale, 128));
  Imported imported = b.import();
  ASSERT_TRUE(imported.status.ok()) << imported.status.message();
  ASSERT_TRUE(convert::run_passes(&imported.graph, nullptr).ok());
  int transposes = 0;
  for (const convert::Node& n : imported.graph.nodes)
    transposes += n.options.AsTranspose() != nullptr;
  EXPECT_EQ(transposes, 2);
  EXPECT_TRUE(imported.graph.batch_is_open) << imported.graph.batch_closed;
}

// Every input adds its products to the outputs that it reaches.
struct TransposedCase {
  int64_t batch = 1, groups = 1, in = 2, of_group = 3;
  Axes size{3, 2, 4}, kernel{2, 2, 2}, stride{2, 2, 2}, dilation{1, 1, 1};
  Axes before{0, 0, 0}, after{0, 0, 0}, extra{0, 0, 0};

  int64_t made(size_t a) const {
    return stride[a] * (size[a] - 1) + extra[a] + (kernel[a] - 1) * dilation[a] + 1 - before[a] -
           after[a];
  }
};

TEST(OnnxVolume, ConvTranspose) {
  std::vector<TransposedCase> cases(9);
  cases[1].kernel = {3, 4, 3}, cases[1].before = cases[1].after = {1, 1, 1};
  cases[2].stride = {3, 1, 2}, cases[2].extra = {1, 0, 1}, cases[2].batch = 2;
  cases[3].stride = {1, 1, 1}, cases[3].kernel = {3, 3, 3}, cases[3].dilation = {2, 1, 2};
  cases[4].in = 4, cases[4].groups = 2, cases[4].kernel = {3, 3, 3};
  cases[5].in = cases[5].groups = 3, cases[5].of_group = 1, cases[5].kernel = {3, 3, 3};
  cases[6].in = cases[6].groups = 3, cases[6].of_group = 2, cases[6].stride = {2, 1, 1};
  cases[7].kernel = {1, 3, 3}, cases[7].stride = {1, 2, 2};
  cases[8].kernel = {3, 1, 1}, cases[8].stride = {2, 1, 1};
  for (const TransposedCase& c : cases) {
    Random random;
    const int64_t in_group = c.in / c.groups, channels = c.of_group * c.groups;
    const int64_t positions = c.size[0] * c.size[1] * c.size[2],
                  taps = c.kernel[0] * c.kernel[1] * c.kernel[2],
                  outputs = c.made(0) * c.made(1) * c.made(2);
    const auto x =
        random_integers<uint8_t>(&random, static_cast<size_t>(c.batch * c.in * positions));
    const auto w = random_integers<int8_t>(&random, static_cast<size_t>(c.in * c.of_group * taps));
    std::vector<int32_t> acc(static_cast<size_t>(c.batch * channels * outputs), 0);
    for (int64_t n = 0; n < c.batch; ++n)
      for (int64_t i = 0; i < c.in; ++i)
        for (int64_t p = 0; p < positions; ++p)
          for (int64_t t = 0; t < taps; ++t) {
            const Axes at{p / (c.size[1] * c.size[2]), p / c.size[2] % c.size[1], p % c.size[2]};
            const Axes tap{t / (c.kernel[1] * c.kernel[2]), t / c.kernel[2] % c.kernel[1],
                           t % c.kernel[2]};
            int64_t to = 0;
            bool inside = true;
            for (size_t a = 0; a < 3; ++a) {
              const int64_t o = at[a] * c.stride[a] + tap[a] * c.dilation[a] - c.before[a];
              inside = inside && o >= 0 && o < c.made(a);
              to = to * c.made(a) + o;
            }
            for (int64_t j = 0; inside && j < c.of_group; ++j) {
              const int64_t channel = n * channels + i / in_group * c.of_group + j;
              acc[static_cast<size_t>(channel * outputs + to)] +=
                  (x[static_cast<size_t>((n * c.in + i) * positions + p)] - 111) *
                  w[static_cast<size_t>((i * c.of_group + j) * taps + t)];
            }
          }
    std::vector<uint8_t> expected;
    for (const int32_t v : acc)
      expected.push_back(requantize_reference<uint8_t>(v, 0.05f * kWScale / kYScale, 130));
    const auto dims = [](const Axes& a) { return Dims(a.begin(), a.end()); };
    Dims pads = dims(c.before);
    for (int64_t pad : c.after) pads.push_back(pad);
    OnnxBuilder b;
    const Dims weights = {c.in, c.of_group, c.kernel[0], c.kernel[1], c.kernel[2]};
    b.integer_output<uint8_t>(
        b.node(
            "ConvTranspose",
            {b.integer_input<uint8_t>({c.batch, c.in, c.size[0], c.size[1], c.size[2]}, 0.05f, 111),
             b.dq<int8_t>(b.constant<int8_t>(weights, w), kWScale, 0)},
            {{"group", c.groups},
             {"kernel_shape", dims(c.kernel)},
             {"strides", dims(c.stride)},
             {"dilations", dims(c.dilation)},
             {"pads", pads},
             {"output_padding", dims(c.extra)}}),
        kYScale, 130);
    ASSERT_EQ(b.run_to<uint8_t>({to_bytes(x)}), expected);
  }
}

std::vector<VolumeCase> pool_cases() {
  std::vector<VolumeCase> all(6);
  for (VolumeCase& c : all) c.kernel = {2, 3, 2};
  all[1].stride = {2, 2, 2};
  all[2].batch = 2, all[2].kernel = {1, 2, 2}, all[2].stride = {1, 2, 2};
  all[3].kernel = {3, 1, 1}, all[3].stride = {2, 1, 1};
  all[4].kernel = all[4].size;  // global
  all[5].before = {1, 2, 0}, all[5].after = {0, 1, 1};
  return all;
}

TEST(OnnxVolume, MaxPool) {
  for (const VolumeCase& c : pool_cases()) {
    const VolumeLayer l = random_layer(c, false);
    std::vector<uint8_t> expected(static_cast<size_t>(c.batch * c.in * c.outputs()), 0);
    for (int64_t i = 0; i < c.batch * c.in; ++i)
      c.for_taps([&](int64_t o, int64_t, int64_t position) {
        if (position < 0) return;
        uint8_t& y = expected[static_cast<size_t>(i * c.outputs() + o)];
        y = std::max(y, l.x[static_cast<size_t>(i * c.positions() + position)]);
      });
    OnnxBuilder b;
    const std::string x = b.integer_input<uint8_t>(c.input(), kXScale, 9);
    const std::vector<Attr> a = c.attributes();
    b.integer_output<uint8_t>(b.node("MaxPool", {x}, {a[0], a[1], a[3]}), kXScale, 9);
    ASSERT_EQ(b.run_to<uint8_t>({to_bytes(l.x)}), expected);
  }
}

// An average over a volume is the ordered sum of floats of the schema's AveragePool2D, plane by plane.
TEST(OnnxVolume, AveragePool) {
  for (const VolumeCase& c : pool_cases()) {
    if (c.kernel == c.size) continue;
    const VolumeLayer l = random_layer(c, false);
    std::vector<float> total(static_cast<size_t>(c.batch * c.in * c.outputs()), 0.0f);
    for (int64_t i = 0; i < c.batch * c.in; ++i)
      c.for_taps([&](int64_t o, int64_t, int64_t position) {
        if (position < 0) return;
        const int code = l.x[static_cast<size_t>(i * c.positions() + position)];
        total[static_cast<size_t>(i * c.outputs() + o)] += kXScale * static_cast<float>(code - 9);
      });
    std::vector<uint8_t> expected;
    constexpr float kOut = 0.03f;
    for (const float sum : total) {
      const float scaled = sum / static_cast<float>(c.taps()) / kOut;
      const float y = std::nearbyint(scaled + 77.0f);
      expected.push_back(static_cast<uint8_t>(std::clamp(y, 0.0f, 255.0f)));
    }
    OnnxBuilder b;
    const std::string x = b.integer_input<uint8_t>(c.input(), kXScale, 9);
    const std::vector<Attr> a = c.attributes();
    b.integer_output<uint8_t>(
        b.node("AveragePool", {x}, {a[0], a[1], a[3], {"count_include_pad", 1}}), kOut, 77);
    ASSERT_EQ(b.run_to<uint8_t>({to_bytes(l.x)}), expected);
  }
}

TEST(OnnxVolume, GlobalPools) {
  const VolumeCase c;
  const VolumeLayer l = random_layer(c, false);
  std::vector<uint8_t> most, mean;
  for (int64_t i = 0; i < c.in; ++i) {
    const auto first = l.x.begin() + i * c.positions(), end = first + c.positions();
    int32_t sum = 0;
    for (auto p = first; p != end; ++p) sum += *p - 9;
    most.push_back(*std::max_element(first, end));
    const float divisor = 0.03f * static_cast<float>(c.positions());
    mean.push_back(requantize_reference<uint8_t>(sum, kXScale / divisor, 77));
  }
  OnnxBuilder b;
  const std::string x = b.integer_input<uint8_t>(c.input(), kXScale, 9);
  b.integer_output<uint8_t>(b.node("GlobalMaxPool", {x}), kXScale, 9);
  b.integer_output<uint8_t>(b.node("GlobalAveragePool", {x}), 0.03f, 77);
  const std::vector<Bytes> outputs = b.run({to_bytes(l.x)});
  ASSERT_EQ(outputs.size(), 2u);
  EXPECT_EQ(from_bytes<uint8_t>(outputs[0]), most);
  EXPECT_EQ(from_bytes<uint8_t>(outputs[1]), mean);
}

TEST(OnnxVolume, BatchNormalizationAsAFloatOutput) {
  OnnxBuilder b;
  const std::string x = b.integer_input<uint8_t>({1, 2, 1, 1, 2}, 0.5f, 2);
  b.output(b.node("BatchNormalization",
                  {x, b.constant<float>({2}, {1, 2}), b.constant<float>({2}, {0, 8}),
                   b.constant<float>({2}, {0, 0}), b.constant<float>({2}, {1, 1})},
                  {{"epsilon", 0.0f}}));
  EXPECT_EQ(b.run_to<float>({{2, 4, 0, 6}}), (std::vector<float>{0, 1, 6, 12}));
}

// Layers of dynamic quantisation over volumes take the scales that a run computes
// (runtime/ops/dynamic_layer.h).
TEST(OnnxVolume, ScalesOfTheRunGoIntoTheLayer) {
  for (const Dims& kernel : {Dims{3, 3, 3}, Dims{1, 1, 1}}) {
    OnnxBuilder b;
    const std::string x = b.input({1, 4, 3, 4, 4});
    onnx::NodeProto* dynamic = b.graph().add_node();
    dynamic->set_op_type("DynamicQuantizeLinear");
    dynamic->set_name("dynamic");
    dynamic->add_input(x);
    for (const char* name : {"codes", "scale", "zero"}) dynamic->add_output(name);
    Dims weights = {8, 4};
    weights.insert(weights.end(), kernel.begin(), kernel.end());
    Random random;
    const auto w = random_integers<int8_t>(
        &random, static_cast<size_t>(32 * kernel[0] * kernel[1] * kernel[2]));
    const int64_t pad = kernel[0] / 2;
    const std::string sums = b.node(
        "ConvInteger", {"codes", b.constant<int8_t>(weights, w), "zero"}, {{"pads", Dims(6, pad)}});
    b.output(b.node(
        "Mul", {b.node("Cast", {sums}, {{"to", 1}}), b.node("Mul", {"scale", b.scalar(0.01f)})}));
    Imported imported = b.import();
    ASSERT_TRUE(imported.status.ok()) << imported.status.message();
    ASSERT_TRUE(convert::run_passes(&imported.graph, nullptr).ok());
    for (const convert::Node& n : imported.graph.nodes) {
      EXPECT_EQ(n.options.AsFloat(), nullptr) << n.name;
      EXPECT_EQ(n.options.AsDequantize(), nullptr) << n.name;
    }
  }
}

// Averages that leave padding out are refused over volumes: their windows have different numbers of positions.
TEST(OnnxVolume, RefusesAveragesThatLeavePaddingOut) {
  OnnxBuilder b;
  const std::string x = b.integer_input<uint8_t>({1, 2, 4, 4, 4}, kXScale, 9);
  b.integer_output<uint8_t>(
      b.node("AveragePool", {x},
             {{"kernel_shape", Dims{2, 2, 2}}, {"pads", Dims{1, 0, 0, 0, 0, 0}}}),
      kXScale, 9);
  const Imported imported = b.import();
  EXPECT_EQ(imported.status.code(), Code::kUnsupported);
  EXPECT_NE(imported.rule().find("windows over a volume"), std::string::npos) << imported.rule();
}

// A ConvTranspose is refused where its phases along three axes, times the channels, may be more
// than 64 bits count.
TEST(OnnxVolume, RefusesMorePhasesThanChannelsCanBe) {
  constexpr int64_t kOut = 1 << 17;
  OnnxBuilder b;
  const std::string x = b.integer_input<uint8_t>({1, 1, 1, 1, 1}, kXScale, 9);
  const std::string w = b.dq<int8_t>(
      b.constant<int8_t>({1, kOut, 1, 1, 1}, std::vector<int8_t>(kOut, 1)), kWScale, 0);
  b.integer_output<uint8_t>(
      b.node("ConvTranspose", {x, w}, {{"strides", Dims{65535, 65535, 65535}}}), kYScale, 9);
  const Imported imported = b.import();
  EXPECT_EQ(imported.status.code(), Code::kUnsupported) << imported.status.message();
  EXPECT_NE(imported.rule().find("[65535, 65535, 65535, 131072] has more than 2^31 - 1 elements"),
            std::string::npos)
      << imported.rule();
}

TEST(OnnxVolume, RefusesFourDimensions) {
  OnnxBuilder b;
  const std::string w = b.dq<int8_t>(b.constant<int8_t>({1, 1, 1, 1, 1, 1}, {1}), 0.1f, 0);
  const std::string x = b.integer_input<uint8_t>({1, 1, 2, 2, 2, 2}, kXScale, 9);
  b.integer_output<uint8_t>(b.node("Conv", {x, w}), kYScale, 9);
  const Imported imported = b.import();
  EXPECT_EQ(imported.status.code(), Code::kUnsupported);
  EXPECT_NE(imported.rule().find("only one to three spatial dimensions"), std::string::npos)
      << imported.rule();
}

}  // namespace
}  // namespace qrt::testing::onnx_volume_test
