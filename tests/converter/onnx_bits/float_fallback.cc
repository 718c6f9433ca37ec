// SPDX-License-Identifier: Apache-2.0
// Operators in float (--allow-float): their functions are qrt's own, so floats are compared within a
// tolerance; codes behind a QuantizeLinear are equal here.
#include <functional>
#include <limits>

#include "tests/converter/onnx_bits/case.h"

namespace qrt::testing {
namespace {

void in_float(BitsModel& m, int64_t opset = 21) {
  m.b.allow_float = true;
  m.b.model.mutable_opset_import(0)->set_version(opset);
}

void comparisons_are_tables(BitsModel& m) {
  m.b.model.mutable_opset_import(0)->set_version(16);
  const Dims dims = {2, 3, 8};
  const std::string x = m.image(dims), y = m.image({3, 1}, 1.0f / 50, 99);
  for (const char* op : {"Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual"}) {
    m.stored(m.b.node("Where", {m.b.node(op, {x, m.b.scalar(0.25f)}), x, m.b.scalar(0.5f)}));
    m.stored(m.b.node("Where", {m.b.node(op, {x, y}), y, x}));
  }
}

void comparisons_of_floats(BitsModel& m) {
  in_float(m);
  const std::string x = m.real({2, 3, 8}), y = m.real({3, 1});
  for (const char* op : {"Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual"})
    m.stored(m.b.node("Where", {m.b.node(op, {x, y}), x, m.b.scalar(-0.5f)}));
}

void mask_of_infinity(BitsModel& m) {
  in_float(m);
  const std::string x = m.real({2, 3, 4});
  const std::string mask = m.b.node(
      "Cast", {m.b.constant<uint8_t>({3, 4}, {1, 0, 1, 1, 0, 1, 1, 0, 1, 0, 0, 1})}, {{"to", 9}});
  const std::string masked =
      m.b.node("Where", {mask, x, m.b.scalar(-std::numeric_limits<float>::infinity())});
  m.stored(m.b.node("Softmax", {masked}, {{"axis", -1}}), 1.0f / 256, 0);
}

void resize(BitsModel& m, const char* mode, int antialias, int exclude_outside,
            const char* coordinates = "half_pixel") {
  in_float(m);
  const std::string x = m.image({2, 3, 6, 7});
  for (const Dims& size : {Dims{9, 13}, Dims{4, 3}, Dims{12, 2}, Dims{6, 14}})
    m.stored(m.b.node("Resize", {x, "", "", m.ints({2, 3, size[0], size[1]})},
                      {{"mode", mode},
                       {"antialias", antialias},
                       {"exclude_outside", exclude_outside},
                       {"coordinate_transformation_mode", coordinates}}));
}

void cubic_resize(BitsModel& m) { resize(m, "cubic", 0, 0); }
void cubic_resize_without_the_outside(BitsModel& m) { resize(m, "cubic", 0, 1, "align_corners"); }
void cubic_antialias(BitsModel& m) { resize(m, "cubic", 1, 1); }
void linear_antialias(BitsModel& m) { resize(m, "linear", 1, 0); }
void linear_antialias_without_the_outside(BitsModel& m) {
  resize(m, "linear", 1, 1, "pytorch_half_pixel");
}

void cubic_resize_of_floats(BitsModel& m) {
  in_float(m);
  m.b.output(m.b.node("Resize", {m.real({1, 2, 5, 4}), "", m.b.constant<float>({4}, {1, 1, 2, 2})},
                      {{"mode", "cubic"}, {"cubic_coeff_a", -0.5f}}));
}

void activations_of_floats(BitsModel& m) {
  in_float(m, 18);
  const std::string x = m.real({2, 16}, 4.0f);
  for (const char* op : {"Abs", "Celu", "Elu", "HardSigmoid", "HardSwish", "LeakyRelu", "Mish",
                         "Neg", "Relu", "Selu", "Softplus", "Softsign"})
    m.b.output(m.b.node(op, {x}));
  m.b.output(m.b.node("Celu", {x}, {{"alpha", 0.7f}}));
  m.b.output(m.b.node("Elu", {x}, {{"alpha", 0.3f}}));
  m.b.output(m.b.node("HardSigmoid", {x}, {{"alpha", 0.3f}, {"beta", 0.1f}}));
  m.b.output(m.b.node("PRelu", {x, m.floats({16})}));
  m.b.output(m.b.node("Clip", {x, m.b.scalar(-1.5f), m.b.scalar(0.7f)}));
  m.b.output(m.b.node("Clip", {x, m.b.scalar(-1.5f)}));
  m.b.output(m.b.node("Pow", {x, m.b.scalar(3.0f)}));
  m.b.output(m.b.node("Reciprocal", {m.b.node("Add", {x, m.b.scalar(9.0f)})}));
}

void pools_of_floats(BitsModel& m) {
  in_float(m, 19);
  const std::string x = m.real({2, 3, 7, 6}), line = m.real({1, 2, 9});
  const Attr kernel("kernel_shape", Dims{3, 2}), strides("strides", Dims{2, 1}),
      pads("pads", Dims{1, 0, 1, 1});
  for (const char* op : {"MaxPool", "AveragePool"}) {
    m.b.output(m.b.node(op, {x}, {kernel, strides, pads}));
    m.b.output(m.b.node(op, {x}, {kernel, strides, pads, {"ceil_mode", 1}}));
    m.b.output(m.b.node(op, {x}, {kernel, {"auto_pad", "SAME_UPPER"}}));
    m.b.output(m.b.node(op, {line}, {{"kernel_shape", Dims{3}}, {"dilations", Dims{2}}}));
  }
  m.b.output(m.b.node("AveragePool", {x}, {kernel, strides, pads, {"count_include_pad", 1}}));
  m.b.output(m.b.node("GlobalAveragePool", {x}));
  m.b.output(m.b.node("GlobalMaxPool", {x}));
  m.b.output(m.b.node(
      "AveragePool", {x},
      {kernel, strides, {"pads", Dims{1, 0, 0, 1}}, {"ceil_mode", 1}, {"count_include_pad", 1}}));
}

// Adds products, averages and normalisations whose float results leave the model.
void results_that_stay_float(BitsModel& m) {
  in_float(m);
  const std::string x = m.image({2, 4, 5, 5});
  const std::string relu =
      m.b.node("Relu", {m.b.node("Conv", {m.b.qdq<int16_t>(m.real({1, 4, 6, 6}), 1e-4f, 0),
                                          m.weights({3, 4, 3, 3})})});
  m.b.output(relu);
  m.b.output(m.b.node("Transpose", {relu}, {{"perm", Dims{0, 2, 3, 1}}}));
  m.b.output(m.b.node(
      "MatMul", {m.b.qdq<uint16_t>(m.real({3, 8}), 1e-4f, 30000),
                 m.b.dq<int16_t>(m.b.constant<int16_t>({8, 5}, codes<int16_t>(40)), 1e-4f, 0)}));
  m.b.output(m.b.node("Softmax", {x}, {{"axis", 1}}));
  m.b.output(m.b.node("ReduceMean", {x, m.ints({2, 3})}));
  m.b.output(m.b.node("AveragePool", {x}, {{"kernel_shape", Dims{2, 2}}}));
  m.b.output(m.b.node("InstanceNormalization", {x, m.floats({4}), m.floats({4})}));
}

void batch_normalization_of_16_bits(BitsModel& m) {
  in_float(m);
  m.b.output(m.b.node(
      "BatchNormalization",
      {m.b.qdq<uint16_t>(m.real({2, 6, 3, 5}), 1e-4f, 30000), m.floats({6}, 1.7f), m.floats({6}),
       m.floats({6}, 0.3f), m.b.constant<float>({6}, {0.7f, 1.3f, 0.02f, 2.1f, 0.9f, 3.3f})}));
}

// Adds products in front of activations: a product whose floats something else reads keeps its
// bias, and one of integers takes a bias of another scale.
void products_before_activations(BitsModel& m) {
  in_float(m);
  const std::string x = m.image({3, 4}), w = m.weights({4, 6});
  const auto other_scale = [&] {
    return m.b.node("DequantizeLinear",
                    {m.b.constant<int32_t>({6}, {900, -700, 4000, 0, -3000, 1500}),
                     m.b.scalar(1.5f / 6400), m.b.scalar<int32_t>(0)});
  };
  for (const bool of_floats : {true, false}) {
    const auto bias = [&] { return of_floats ? m.floats({6}) : other_scale(); };
    m.b.output(m.b.node("Neg", {m.b.node("Add", {m.b.node("MatMul", {x, w}), bias()})}));
    m.b.output(m.b.node("LeakyRelu", {m.b.node("Gemm", {x, w, bias()})}, {{"alpha", 0.1f}}));
    m.b.output(m.b.node("Softmax", {m.b.node("Gemm", {x, w, bias()})}, {{"axis", 1}}));
  }
  m.stored(m.b.node("Div", {m.b.node("Gemm", {x, w, other_scale()}), m.b.scalar(1.0f)}));
}

// Adds limits behind matrices of three dimensions, which ONNX Runtime flattens, so that a Reshape
// stands between product and limit.
void limits_behind_matrices_of_three_dimensions(BitsModel& m) {
  const std::string x = m.image({2, 3, 4}), w = m.weights({4, 6});
  for (const char* limit : {"Relu", "Clip"}) {
    const std::string bias =
        m.b.node("DequantizeLinear", {m.b.constant<int32_t>({6}, {900, -700, 4000, 0, -3000, 1500}),
                                      m.b.scalar(1.5f / 6400), m.b.scalar<int32_t>(0)});
    const std::string y = m.b.node("Add", {m.b.node("MatMul", {x, w}), bias});
    m.stored(m.b.node(
        limit, *limit == 'R' ? std::vector<std::string>{y}
                             : std::vector<std::string>{y, m.b.scalar(-0.5f), m.b.scalar(1.5f)}));
  }
}

// Adds float biases, which are rounded to x * w only where their QuantizeLinear comes to stand at the Conv.
void float_bias_before_results(BitsModel& m) {
  in_float(m);
  const std::string y =
      m.b.node("Conv", {m.image({1, 2, 4, 4}, 0.8f), m.weights({3, 2, 3, 3}, 0.7f), m.floats({3})});
  const std::string turned = m.b.node("Transpose", {y}, {{"perm", Dims{0, 2, 3, 1}}});
  m.b.output(turned);
  m.stored(turned, 7.3f);
}

// Adds Clips whose bounds are within an epsilon of the type's range, with a move and a Relu that
// changes nothing between each Clip and its QuantizeLinear.
void clips_of_tiny_scales_behind_moves(BitsModel& m) {
  const std::string x = m.b.dq<uint8_t>(m.pixels({2, 3, 4}), 1e-12f, 20);
  const auto clipped = [&] {
    return m.b.node("Clip", {x, m.b.scalar(-5e-12f), m.b.scalar(1e-10f)});
  };
  m.b.output(
      m.b.q<uint8_t>(m.b.node("Transpose", {clipped()}, {{"perm", Dims{1, 0, 2}}}), 9e-13f, 7));
  m.b.output(m.b.q<uint8_t>(m.b.node("Relu", {clipped()}), 9e-13f, 0));
}

void softmax_of_one_element_of_two_types(BitsModel& m) {
  const std::string x = m.b.qdq<int8_t>(m.real({5, 1}), 1.0f / 64, 3);
  m.stored(m.b.node("Softmax", {x}, {{"axis", 1}}), 1.0f / 256, 200);
}

// Scales are powers of two: ONNX Runtime's sums of floats are exact.
void conv_transpose_of_16_bits(BitsModel& m) {
  in_float(m);
  const std::string x = m.b.qdq<int16_t>(m.real({2, 4, 4, 5}), 1.0f / 4096, 0);
  for (const int64_t groups : {1, 2, 4}) {
    const std::string w =
        m.b.dq<int8_t>(m.b.constant<int8_t>({4, 2, 3, 3}, codes<int8_t>(72)), 1.0f / 64, 0);
    const std::string y =
        m.b.node("ConvTranspose",
                 {x, w,
                  m.b.constant<float>({2 * groups},
                                      std::vector<float>(static_cast<size_t>(2 * groups), 0.125f))},
                 {{"strides", Dims{2, groups}}, {"group", groups}, {"pads", Dims{1, 0, 0, 1}}});
    m.b.output(m.b.dq<int16_t>(m.b.q<int16_t>(y, 1.0f / 512, 0), 1.0f / 512, 0));
    m.stored(y, 0.25f);
  }
}

void channels_that_several_read(BitsModel& m) {
  in_float(m);
  const std::string x = m.b.node(
      "DequantizeLinear",
      {m.pixels({1, 4, 3, 5}), m.b.constant<float>({4}, {0.0131f, 0.0277f, 0.00913f, 0.0457f}),
       m.b.constant<uint8_t>({4}, {3, 120, 7, 55})},
      {{"axis", 1}});
  m.b.output(m.b.node("Mul", {x, m.b.scalar(1.37f)}));
  m.b.output(m.b.node("Add", {x, m.floats({4, 1, 1})}));
  m.b.output(m.b.node("ReduceSum", {x, m.ints({1})}, {{"keepdims", 0}}));
  m.b.output(x);
}

void leaky_relu_of_no_number(BitsModel& m) {
  in_float(m);
  const std::string root = m.b.node("Pow", {m.image({3, 5}), m.b.scalar(0.5f)});
  const std::string sum = m.b.node("Add", {root, m.image({3, 5}, 0.01f)});
  m.stored(m.b.node("LeakyRelu", {sum}, {{"alpha", 0.1f}}), 1.0f / 64, 100);
}

}  // namespace

std::vector<BitsCase> float_fallback_cases() {
  return {
      {"ComparisonsAreTables", comparisons_are_tables},
      {"ComparisonsOfFloats", comparisons_of_floats},
      {"MaskOfInfinity", mask_of_infinity},
      {"CubicResize", cubic_resize},
      {"CubicResizeWithoutTheOutside", cubic_resize_without_the_outside},
      {"CubicAntialias", cubic_antialias},
      {"LinearAntialias", linear_antialias},
      {"LinearAntialiasWithoutTheOutside", linear_antialias_without_the_outside},
      {"CubicResizeOfFloats", cubic_resize_of_floats, 2e-6f},
      {"ActivationsOfFloats", activations_of_floats, 2e-6f},
      {"PoolsOfFloats", pools_of_floats, 2e-6f},
      {"ResultsThatStayFloat", results_that_stay_float, 4e-6f},
      {"ProductsBeforeActivations", products_before_activations, 2e-6f},
      {"LimitsBehindMatricesOfThreeDimensions", limits_behind_matrices_of_three_dimensions},
      {"FloatBiasBeforeResults", float_bias_before_results, 4e-6f},
      {"ClipsOfTinyScalesBehindMoves", clips_of_tiny_scales_behind_moves},
      {"SoftmaxOfOneElementOfTwoTypes", softmax_of_one_element_of_two_types},
      {"ConvTransposeOf16Bits", conv_transpose_of_16_bits},
      {"ChannelsThatSeveralRead", channels_that_several_read},
      {"LeakyReluOfNoNumber", leaky_relu_of_no_number},
      {"BatchNormalizationOf16Bits", batch_normalization_of_16_bits, 2e-6f},
  };
}

}  // namespace qrt::testing
