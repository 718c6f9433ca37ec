// SPDX-License-Identifier: Apache-2.0
// Convolutions and matrix products: zero points, biases.
#include <functional>

#include "tests/converter/onnx_bits/case.h"

namespace qrt::testing {
namespace {

void mat_mul_behind_tables_per_channel(BitsModel& m) {
  const std::string x = m.b.node("PRelu", {m.image({1, 4, 3}), m.floats({4, 1})});
  m.stored(m.b.node("MatMul", {m.b.qdq<uint8_t>(x, 1.0f / 64, 120), m.weights({3, 5})}));
}

void mat_mul_behind_linear_resize(BitsModel& m) {
  const std::string y =
      m.b.node("Resize", {m.image({1, 1, 2, 3}), "", m.b.constant<float>({4}, {1, 1, 2, 2})},
               {{"mode", "linear"}});
  m.stored(m.b.node("MatMul", {m.b.qdq<uint8_t>(y, 1.0f / 64, 128), m.weights({6, 5})}));
}

void bias_added_to_floats_where_the_batch_is_symbolic(BitsModel& m) {
  const std::string x = m.image({-1, 5, 8}, 0.8f), w = m.weights({8, 6}, 0.7f);
  m.stored(m.b.node("Add", {m.b.node("MatMul", {x, w}), m.floats({6}, 0.3f)}), 0.05f);
  m.stored(m.b.node("Relu", {m.b.node("Add", {m.floats({6}, 0.4f), m.b.node("MatMul", {x, w})})}),
           0.05f, 3);
}

// Adds a bias for each row, which in integers of x * w would be 0 or 1.
void bias_of_a_row_in_coarse_units(BitsModel& m) {
  const std::string x = m.image({3, 4}, 0.8f), w = m.weights({4, 6}, 0.7f);
  m.stored(m.b.node("Gemm", {x, w, m.floats({1, 6}, 0.3f)}), 0.05f);
  m.stored(m.b.node("Gemm", {x, w, m.floats({6}, 0.3f)}, {{"beta", 0.5f}}), 0.05f);
}

// Adds a bias of three dimensions, which ONNX Runtime takes for one matrix where it knows the dimensions.
void bias_of_three_dimensions(BitsModel& m) {
  const std::string x = m.image({2, 5, 8}, 0.8f), w = m.weights({8, 6}, 0.7f);
  m.stored(m.b.node("Add", {m.b.node("MatMul", {x, w}), m.floats({6}, 0.3f)}), 0.05f);
}

void bias_of_three_dimensions_read_as_floats(BitsModel& m) {
  const std::string x = m.image({2, 5, 8}, 0.02f), w = m.weights({8, 6});
  const std::string y = m.b.node("Add", {m.b.node("MatMul", {x, w}), m.floats({6}, 0.3f)});
  m.b.output(y);
  m.stored(y, 0.0317f);
}

// Adds biases that in integers of x * w would be 0 or 1.
void gemm_bias_before_limits(BitsModel& m) {
  const std::string x = m.image({16, 4}, 0.8f), w = m.weights({4, 6}, 0.7f);
  m.stored(m.b.node("Relu", {m.b.node("Gemm", {x, w, m.floats({6}, 0.3f)})}), 1.0f, 40);
}

void gemm_bias_before_reshape(BitsModel& m) {
  const std::string x = m.image({16, 4}, 0.8f), w = m.weights({4, 6}, 0.7f);
  const std::string y = m.b.node("Gemm", {x, w, m.floats({6}, 0.3f)});
  m.stored(m.b.node("Reshape", {y, m.ints({6, 16})}), 1.0f);
}

void conv_bias_before_limits(BitsModel& m) {
  const std::string x = m.image({1, 2, 8, 8}, 0.8f), w = m.weights({3, 2, 3, 3}, 0.7f);
  m.stored(m.b.node("Relu", {m.b.node("Conv", {x, w, m.floats({3}, 0.3f)})}), 1.0f, 40);
}

void conv_bias_before_transpose(BitsModel& m) {
  const std::string x = m.image({1, 2, 8, 8}, 0.8f), w = m.weights({3, 2, 3, 3}, 0.7f);
  const std::string y = m.b.node("Conv", {x, w, m.floats({3}, 0.3f)});
  m.stored(m.b.node("Transpose", {y}, {{"perm", Dims{0, 2, 3, 1}}}), 1.0f);
}

// Adds integer biases of another scale. A Gemm of integers takes them for integers of x * w; a Gemm
// of floats, in front of limits that change values, does not.
void integer_bias_of_another_scale(BitsModel& m) {
  const std::string x = m.image({3, 4}), w = m.weights({4, 6});
  const auto bias = [&] {
    return m.b.node("DequantizeLinear",
                    {m.b.constant<int32_t>({6}, {900, -700, 4000, 0, -3000, 1500}),
                     m.b.scalar(1.5f / 6400), m.b.scalar<int32_t>(0)});
  };
  m.stored(m.b.node("Gemm", {x, w, bias()}));
  m.stored(m.b.node("Relu", {m.b.node("Gemm", {x, w, bias()})}), 1.0f / 32, 40);
  m.b.output(m.b.node("Gemm", {x, w, bias()}));
}

// Adds an integer bias beside mixed types: beside int8 activations ONNX Runtime's integer products
// take int8 weights only.
void integer_bias_of_another_scale_beside_mixed_types(BitsModel& m) {
  const std::string x = m.b.dq<int8_t>(m.b.q<int8_t>(m.real({3, 4}), 1.0f / 64, 3), 1.0f / 64, 3);
  for (const bool is_signed : {false, true}) {
    const std::string w =
        is_signed ? m.b.dq<int8_t>(m.b.constant<int8_t>({4, 6}, codes<int8_t>(24)), 0.01f, 0)
                  : m.b.dq<uint8_t>(m.b.constant<uint8_t>({4, 6}, codes<uint8_t>(24)), 0.01f, 128);
    const std::string bias =
        m.b.node("DequantizeLinear", {m.b.constant<int32_t>({6}, {900, -700, 4000, 0, -3000, 1500}),
                                      m.b.scalar(1.5f / 6400), m.b.scalar<int32_t>(0)});
    const std::string y = m.b.node("Add", {m.b.node("MatMul", {x, w}), bias});
    m.b.output(m.b.dq<int8_t>(m.b.q<int8_t>(y, 1.0f / 32, 0), 1.0f / 32, 0));
  }
}

// Weights without a zero point keep ONNX Runtime's product in float.
void integer_bias_of_another_scale_without_zero_points(BitsModel& m) {
  const std::string x = m.image({3, 4});
  const std::string w = m.b.node(
      "DequantizeLinear", {m.b.constant<int8_t>({4, 6}, codes<int8_t>(24)), m.b.scalar(0.01f)});
  const std::string bias =
      m.b.node("DequantizeLinear", {m.b.constant<int32_t>({6}, {900, -700, 4000, 0, -3000, 1500}),
                                    m.b.scalar(1.5f / 6400), m.b.scalar<int32_t>(0)});
  m.stored(m.b.node("Gemm", {x, w, bias}));
}

// Adds an int32 bias whose scale is close to that of x * w in absolute terms only.
void conv_bias_of_another_scale(BitsModel& m) {
  const std::string x = m.image({1, 2, 4, 4}, 1.0f / 64), w = m.weights({3, 2, 3, 3}, 1e-4f);
  const auto conv = [&] {
    return m.b.node(
        "Conv", {x, w,
                 m.b.node("DequantizeLinear", {m.b.constant<int32_t>({3}, {90000, -70000, 40000}),
                                               m.b.scalar(1.5e-4f / 64), m.b.scalar<int32_t>(0)})});
  };
  m.stored(conv(), 1.0f / 64);
  m.stored(m.b.node("Relu", {conv()}), 1.0f / 64, 40);
}

// Adds a bias for which the first channel's scale is close to that of x * w, and the second's is not.
void conv_bias_of_another_scale_in_one_channel(BitsModel& m) {
  const std::string w = m.b.node("DequantizeLinear",
                                 {m.b.constant<int8_t>({2, 2, 1, 1}, {50, -70, 90, 30}),
                                  m.b.constant<float>({2}, {1e-4f, 1e-2f})},
                                 {{"axis", 0}});
  const std::string bias = m.b.node("DequantizeLinear",
                                    {m.b.constant<int32_t>({2}, {300000, -2000}),
                                     m.b.constant<float>({2}, {1.3e-4f / 64, 1.3e-2f / 64})},
                                    {{"axis", 0}});
  m.stored(m.b.node("Conv", {m.image({1, 2, 4, 4}), w, bias}), 1.0f / 64);
}

void gemm_with_alpha_and_beta(BitsModel& m) {
  const std::string x = m.image({3, 4}), w = m.weights({4, 6});
  m.stored(m.b.node("Gemm", {x, w, m.floats({6})}, {{"alpha", 0.37f}, {"beta", 1.5f}}));
}

// Leaves float results of products with a float bias: ONNX Runtime's sums of floats have rounding
// errors of their own.
void float_results_with_float_bias(BitsModel& m) {
  m.b.output(m.b.node(
      "Conv", {m.image({1, 2, 4, 4}, 0.8f), m.weights({3, 2, 3, 3}, 0.7f), m.floats({3}, 0.3f)}));
  m.b.output(m.b.node("Gemm", {m.image({3, 4}), m.weights({4, 6}), m.floats({6})}));
}

// Adds Gemms whose float results leave the model. ONNX Runtime sums those of one row by fours, with transposed
// weights by eights, those of more rows in blocks of k, and a single column in the order of the other side.
void float_results_of_float_gemms(BitsModel& m) {
  for (const int64_t rows : {1, 3})
    for (const int64_t out : {1, 7})
      for (const int transB : {0, 1}) {
        const Dims w = transB != 0 ? Dims{out, 300} : Dims{300, out};
        m.b.output(m.b.node(
            "Gemm", {m.image({rows, 300}, 0.013f), m.weights(w, 0.0071f), m.floats({out}, 0.3f)},
            {{"transB", transB}}));
        m.b.output(m.b.node(
            "Gemm", {m.image({300, rows}, 0.013f), m.weights(w, 0.0071f), m.floats({1, out})},
            {{"transA", 1}, {"transB", transB}}));
        m.b.output(m.b.node(
            "Gemm",
            {m.image({rows, 300}, 0.013f), m.weights(w, 0.0071f), m.floats({rows, 1}, 0.3f)},
            {{"transB", transB}, {"alpha", 0.7f}, {"beta", 0.3f}}));
      }
}

// Adds floats to a product of integers, which is no Gemm to ONNX Runtime.
void float_results_of_products_and_sums(BitsModel& m) {
  const std::string x = m.image({2, 3, 40}, 0.013f), w = m.weights({40, 6}, 0.0071f);
  for (const Dims& bias : {Dims{}, Dims{1}, Dims{1, 6}, Dims{3, 6}, Dims{3, 1}, Dims{2, 1, 6}})
    m.b.output(m.b.node("Add", {m.floats(bias, 0.3f), m.b.node("MatMul", {x, w})}));
  const std::string matrix = m.image({3, 40}, 0.013f);
  m.b.output(m.b.node("Add", {m.b.node("MatMul", {matrix, w}), m.floats({1}, 0.3f)}));
  m.stored(m.b.node("Add", {m.b.node("MatMul", {matrix, w}), m.floats({3, 6}, 0.3f)}), 0.02f);
  m.stored(m.b.node("Relu", {m.b.node("Add", {m.floats({6}), m.b.node("MatMul", {x, w})})}), 1e-4f,
           0);
}

// Products that ONNX Runtime multiplies as floats, for their types or as they lack zero points.
void float_results_of_mixed_types(BitsModel& m) {
  const std::string x = m.b.dq<int8_t>(m.b.q<int8_t>(m.real({3, 40}), 0.013f, 3), 0.013f, 3);
  const std::string w =
      m.b.dq<uint8_t>(m.b.constant<uint8_t>({40, 6}, codes<uint8_t>(240)), 0.0071f, 128);
  m.b.output(m.b.node("MatMul", {x, w}));
  m.b.output(m.b.node("Gemm", {x, w}));
  const std::string no_zero_point = m.b.node(
      "DequantizeLinear", {m.b.constant<int8_t>({40, 6}, codes<int8_t>(240)), m.b.scalar(0.0071f)});
  m.b.output(m.b.node("Gemm", {m.image({1, 40}, 0.013f), no_zero_point}));
}

void vector_times_matrix_plus_bias(BitsModel& m) {
  m.stored(m.b.node("Add", {m.b.node("MatMul", {m.image({8}), m.weights({8, 6})}), m.floats({6})}));
}

// Multiplies by 4-bit weights as floats, to which a bias of any scale adds the numbers that it stands for.
void four_bit_weights_and_bias_of_another_scale(BitsModel& m) {
  m.b.model.mutable_opset_import(0)->set_version(21);
  const std::string x = m.image({5, 8}, 1.0f / 8, 100);
  const std::string bias =
      m.b.dq<int32_t>(m.b.constant<int32_t>({6}, {-816, 384, 24, 4000, -88, 600}), 1.0f / 256, 0);
  constexpr int kInt4 = 22;
  const std::string codes_of_w = m.b.constant<int8_t>({8, 6}, codes<int8_t>(24));  // two in a byte
  m.b.graph().mutable_initializer()->rbegin()->set_data_type(kInt4);
  const std::string w = m.b.node("DequantizeLinear", {codes_of_w, m.b.scalar(0.25f)});
  m.stored(m.b.node("Add", {m.b.node("MatMul", {x, w}), bias}), 1.0f / 4, 29);
  m.stored(m.b.node("Gemm", {x, w, bias}), 1.0f / 4, 29);
}

void one_zero_point_beside_scales_per_channel(BitsModel& m) {
  const std::string x = m.b.q<uint8_t>(m.real({1, 2, 4, 4}), 1.0f / 64, 128);
  const std::string w = m.b.constant<int8_t>({3, 2, 3, 3}, codes<int8_t>(54));
  m.b.output(m.b.node("QLinearConv", {x, m.b.scalar(1.0f / 64), m.b.scalar<uint8_t>(128), w,
                                      m.b.constant<float>({3}, {0.01f, 0.02f, 0.005f}),
                                      m.b.constant<int8_t>({1}, {0}), m.b.scalar(1.0f / 16),
                                      m.b.scalar<uint8_t>(128)}));
}

}  // namespace

std::vector<BitsCase> product_cases() {
  return {
      {"MatMulBehindTablesPerChannel", mat_mul_behind_tables_per_channel},
      {"MatMulBehindLinearResize", mat_mul_behind_linear_resize},
      {"BiasAddedToFloatsWhereTheBatchIsSymbolic",
       bias_added_to_floats_where_the_batch_is_symbolic},
      {"BiasOfARowInCoarseUnits", bias_of_a_row_in_coarse_units},
      {"BiasOfThreeDimensions", bias_of_three_dimensions},
      {"BiasOfThreeDimensionsReadAsFloats", bias_of_three_dimensions_read_as_floats, 4e-6f},
      {"GemmBiasBeforeLimits", gemm_bias_before_limits},
      {"GemmBiasBeforeReshape", gemm_bias_before_reshape},
      {"ConvBiasBeforeLimits", conv_bias_before_limits},
      {"ConvBiasBeforeTranspose", conv_bias_before_transpose},
      {"IntegerBiasOfAnotherScale", integer_bias_of_another_scale},
      {"IntegerBiasOfAnotherScaleBesideMixedTypes",
       integer_bias_of_another_scale_beside_mixed_types},
      {"IntegerBiasOfAnotherScaleWithoutZeroPoints",
       integer_bias_of_another_scale_without_zero_points},
      {"ConvBiasOfAnotherScale", conv_bias_of_another_scale},
      {"ConvBiasOfAnotherScaleInOneChannel", conv_bias_of_another_scale_in_one_channel},
      {"GemmWithAlphaAndBeta", gemm_with_alpha_and_beta},
      {"FloatResultsWithFloatBias", float_results_with_float_bias, 4e-6f},
      {"FloatResultsOfFloatGemms", float_results_of_float_gemms},
      {"FloatResultsOfProductsAndSums", float_results_of_products_and_sums},
      {"FloatResultsOfMixedTypes", float_results_of_mixed_types},
      {"VectorTimesMatrixPlusBias", vector_times_matrix_plus_bias},
      {"FourBitWeightsAndBiasOfAnotherScale", four_bit_weights_and_bias_of_another_scale},
      {"OneZeroPointBesideScalesPerChannel", one_zero_point_beside_scales_per_channel},
  };
}

}  // namespace qrt::testing
