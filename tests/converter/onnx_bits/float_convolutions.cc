// SPDX-License-Identifier: Apache-2.0
// Convolutions whose floats no QuantizeLinear reads, and maxima of floats: they have ONNX Runtime's
// bits, without --allow-float.
#include "tests/converter/onnx_bits/case.h"

namespace qrt::testing {
namespace {

std::string layer(BitsModel& m, const Dims& x, const Dims& w, std::vector<Attr> attributes,
                  bool has_bias = true) {
  std::vector<std::string> inputs = {m.image(x, 0.037f, 99), m.weights(w, 0.0123f)};
  if (has_bias) inputs.push_back(m.floats({w[0]}, 1.7f));
  return m.b.node("Conv", inputs, std::move(attributes));
}

// Adds convolutions whose sums take one block of ONNX Runtime's Gemm, convolutions with several
// blocks, and one with fewer columns than terms, for which ONNX Runtime takes another block size.
void convolutions_of_blocks(BitsModel& m) {
  m.b.output(layer(m, {2, 3, 5, 6}, {4, 3, 3, 3}, {{"pads", Dims{1, 0, 1, 2}}}));
  m.b.output(layer(m, {1, 20, 4, 5}, {2, 20, 3, 3}, {{"strides", Dims{1, 2}}}));
  m.b.output(layer(m, {1, 300, 3}, {3, 300, 1}, {}, false));
  m.b.output(layer(m, {1, 40, 4, 2}, {5, 40, 2, 2}, {{"dilations", Dims{2, 1}}}));
}

void convolutions_of_groups(BitsModel& m) {
  m.b.output(layer(m, {2, 6, 4, 5}, {4, 3, 3, 2}, {{"group", 2}}));
  m.b.output(layer(m, {2, 5, 6, 4}, {5, 1, 3, 3}, {{"group", 5}, {"pads", Dims{1, 1, 1, 1}}}));
  m.b.output(layer(m, {1, 2, 9}, {6, 1, 4}, {{"group", 2}, {"strides", Dims{2}}}));
}

void convolutions_of_volumes(BitsModel& m) {
  m.b.output(layer(m, {1, 3, 4, 3, 5}, {2, 3, 2, 3, 2}, {{"pads", Dims{1, 0, 0, 0, 1, 2}}}));
  m.b.output(
      layer(m, {2, 2, 3, 2, 2}, {2, 1, 3, 1, 2}, {{"group", 2}, {"strides", Dims{1, 2, 1}}}));
}

// Adds convolutions that ONNX Runtime sums in special orders: with one output channel, with one
// pixel, and with kernels as wide as images of one channel.
void convolutions_of_rows(BitsModel& m) {
  m.b.output(layer(m, {2, 11, 3, 4}, {1, 11, 3, 3}, {}));
  m.b.output(layer(m, {2, 7, 3, 3}, {9, 7, 3, 3}, {}));
  m.b.output(layer(m, {2, 1, 6, 5}, {1, 1, 2, 5}, {}));
  m.b.output(layer(m, {2, 1, 6, 5}, {3, 1, 2, 5}, {}, false));
  m.b.output(layer(m, {2, 1, 4, 5}, {3, 1, 4, 5}, {}));
  m.b.output(layer(m, {1, 2, 4, 1}, {6, 1, 4, 1}, {{"group", 2}}));
}

void limits_behind_convolutions(BitsModel& m) {
  const std::string y = layer(m, {1, 3, 4, 4}, {3, 3, 3, 3}, {});
  m.b.output(m.b.node("Relu", {y}));
  const std::string z = layer(m, {1, 3, 4, 4}, {3, 3, 3, 3}, {});
  m.b.output(m.b.node("Transpose", {m.b.node("Clip", {z, m.b.scalar(-0.5f), m.b.scalar(0.75f)})},
                      {{"perm", Dims{0, 2, 3, 1}}}));
}

void maxima_of_floats(BitsModel& m) {
  const std::string scales = m.b.constant<float>({4}, {0.0131f, 0.0277f, 0.00913f, 0.0457f});
  const std::string zeros = m.b.constant<uint8_t>({4}, {3, 120, 7, 55});
  const std::string x =
      m.b.node("DequantizeLinear", {m.pixels({1, 2, 3, 4}), scales, zeros}, {{"axis", 3}});
  m.b.output(m.b.node("MaxPool", {x}, {{"kernel_shape", Dims{2, 2}}, {"pads", Dims{1, 0, 0, 1}}}));
  const std::string sum = m.b.node("Add", {m.image({1, 2, 3, 4}), m.floats({4})});
  m.b.output(m.b.node("GlobalMaxPool", {sum}));
  const std::string y = layer(m, {1, 2, 5, 4}, {3, 2, 3, 3}, {});
  m.b.output(m.b.node("MaxPool", {y}, {{"kernel_shape", Dims{2, 1}}}));
}

}  // namespace

std::vector<BitsCase> float_convolution_cases() {
  return {
      {"ConvolutionsOfBlocks", convolutions_of_blocks},
      {"ConvolutionsOfGroups", convolutions_of_groups},
      {"ConvolutionsOfVolumes", convolutions_of_volumes},
      {"ConvolutionsOfRows", convolutions_of_rows},
      {"LimitsBehindConvolutions", limits_behind_convolutions},
      {"MaximaOfFloats", maxima_of_floats},
  };
}

}  // namespace qrt::testing
