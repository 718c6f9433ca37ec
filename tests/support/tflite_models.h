// SPDX-License-Identifier: Apache-2.0
// Eighteen small TFLite models that together use most of what the importer reads: what tests of
// damaged files start from.
#ifndef QRT_TESTS_SUPPORT_TFLITE_MODELS_H_
#define QRT_TESTS_SUPPORT_TFLITE_MODELS_H_

#include <vector>

#include "tests/support/every_op_model.h"
#include "tests/support/tflite_builder.h"

namespace qrt::testing {

namespace tflite_models {

using B = BuiltinOperator;

inline TfliteBuilder conv() {
  TfliteBuilder b;
  const int x = b.input(TensorType::INT8, {1, 6, 6, 4}, 0.05f, -3);
  const int w = b.constant(TensorType::INT8, {8, 3, 3, 4}, pattern<int8_t>(288, -90, 90),
                           std::vector<float>(8, 0.01f), std::vector<int64_t>(8), 0);
  const int c = b.constant(TensorType::INT32, {8}, pattern<int32_t>(8, -900, 900));
  const int h = b.activation(TensorType::INT8, {1, 3, 3, 8}, 0.1f, -128);
  tflite::Conv2DOptionsT o;
  o.stride_h = o.stride_w = 2;
  o.fused_activation_function = tflite::ActivationFunctionType::RELU6;
  b.op(B::CONV_2D, {x, w, c}, {h}, o);
  tflite::Pool2DOptionsT p;
  p.filter_height = p.filter_width = 3;
  p.stride_h = p.stride_w = 1;
  p.padding = tflite::Padding::VALID;
  b.op(B::AVERAGE_POOL_2D, {h}, {b.output(TensorType::INT8, {1, 1, 1, 8}, 0.1f, -128)}, p);
  return b;
}

inline TfliteBuilder depthwise() {
  TfliteBuilder b;
  const int x = b.input(TensorType::INT8, {1, 5, 5, 3}, 0.05f, -3);
  const int w = b.constant(TensorType::INT8, {1, 3, 3, 6}, pattern<int8_t>(54, -90, 90),
                           std::vector<float>(6, 0.01f), std::vector<int64_t>(6), 3);
  const int c = b.constant(TensorType::INT32, {6}, pattern<int32_t>(6, -900, 900));
  const int h = b.activation(TensorType::INT8, {1, 5, 5, 6}, 0.1f, 4);
  tflite::DepthwiseConv2DOptionsT o;
  o.stride_h = o.stride_w = 1;
  o.depth_multiplier = 2;
  b.op(B::DEPTHWISE_CONV_2D, {x, w, c}, {h}, o);
  b.op(B::MEAN, {h, b.constant<int32_t>(TensorType::INT32, {2}, {1, 2})},
       {b.output(TensorType::INT8, {1, 6}, 0.1f, 4)}, tflite::ReducerOptionsT());
  return b;
}

inline TfliteBuilder dense(TensorType weights) {
  TfliteBuilder b;
  const int x = b.input(TensorType::INT8, {1, 10}, 0.05f, -3);
  const size_t bytes = weights == TensorType::INT4 ? 20 : 40;
  const int w = b.constant(weights, {4, 10}, pattern<uint8_t>(bytes, 0, 255), {0.02f}, {0});
  const int c = b.constant(TensorType::INT32, {4}, pattern<int32_t>(4, -900, 900));
  const int h = b.activation(TensorType::INT8, {1, 4}, 0.2f, 4);
  b.op(B::FULLY_CONNECTED, {x, w, c}, {h}, tflite::FullyConnectedOptionsT());
  tflite::SoftmaxOptionsT o;
  o.beta = 1;
  b.op(B::SOFTMAX, {h}, {b.output(TensorType::INT8, {1, 4}, 1.0f / 256, -128)}, o);
  return b;
}

inline TfliteBuilder legacy() {
  TfliteBuilder b;
  const int x = b.input(TensorType::UINT8, {1, 10}, 0.05f, 120);
  const int w = b.constant(TensorType::UINT8, {4, 10}, pattern<uint8_t>(40, 0, 255), {0.02f}, {99});
  const int c = b.constant(TensorType::INT32, {4}, pattern<int32_t>(4, -900, 900));
  b.op(B::FULLY_CONNECTED, {x, w, c}, {b.output(TensorType::UINT8, {1, 4}, 0.2f, 4)},
       tflite::FullyConnectedOptionsT());
  return b;
}

inline TfliteBuilder elementwise() {
  TfliteBuilder b;
  const int x = b.input(TensorType::INT8, {1, 4, 4, 2}, 0.05f, -3);
  const int y = b.input(TensorType::INT8, {1, 4, 4, 2}, 0.07f, 9);
  const int sum = b.activation(TensorType::INT8, {1, 4, 4, 2}, 0.1f, 1);
  b.op(B::ADD, {x, y}, {sum}, tflite::AddOptionsT());
  const int rest = b.activation(TensorType::INT8, {1, 4, 4, 2}, 0.1f, 2);
  b.op(B::SUB, {sum, y}, {rest}, tflite::SubOptionsT());
  b.op(B::MUL, {rest, b.constant(TensorType::INT8, {2}, pattern<int8_t>(2, -9, 9), {0.5f}, {1})},
       {b.output(TensorType::INT8, {1, 4, 4, 2}, 0.3f, 3)}, tflite::MulOptionsT());
  return b;
}

inline TfliteBuilder tables() {
  TfliteBuilder b;
  int x = b.input(TensorType::INT8, {1, 8}, 0.05f, -3);
  const auto next = [&](float scale, int zero) {
    return b.activation(TensorType::INT8, {1, 8}, scale, zero);
  };
  const auto append = [&](B code, int y) { b.op(code, {x}, {y}), x = y; };
  append(B::HARD_SWISH, next(0.06f, -8));
  tflite::LeakyReluOptionsT leaky;
  leaky.alpha = 0.1f;
  const int y = next(0.05f, -20);
  b.op(B::LEAKY_RELU, {x}, {y}, leaky);
  x = y;
  append(B::TANH, next(1.0f / 128, 0));
  append(B::LOGISTIC, b.output(TensorType::INT8, {1, 8}, 1.0f / 256, -128));
  return b;
}

inline TfliteBuilder moves() {
  TfliteBuilder b;
  const int x = b.input(TensorType::INT8, {1, 2, 3, 4}, 0.1f, -7);
  const int turned = b.activation(TensorType::INT8, {1, 3, 2, 4}, 0.1f, -7);
  b.op(B::TRANSPOSE, {x, b.constant<int32_t>(TensorType::INT32, {4}, {0, 2, 1, 3})}, {turned});
  const int flat = b.activation(TensorType::INT8, {1, 24}, 0.1f, -7);
  tflite::ReshapeOptionsT reshape;
  reshape.new_shape = {1, 24};
  b.op(B::RESHAPE, {turned}, {flat}, reshape);
  tflite::ConcatenationOptionsT join;
  join.axis = 1;
  b.op(B::CONCATENATION, {flat, flat}, {b.output(TensorType::INT8, {1, 48}, 0.1f, -7)}, join);
  return b;
}

inline TfliteBuilder edges() {
  TfliteBuilder b;
  const int x = b.input(TensorType::FLOAT32, {1, 9});
  const int q = b.activation(TensorType::INT8, {1, 9}, 0.5f, 3);
  const int r = b.activation(TensorType::UINT8, {1, 9}, 0.25f, 100);
  b.op(B::QUANTIZE, {x}, {q});
  b.op(B::QUANTIZE, {q}, {r});
  b.op(B::DEQUANTIZE, {r}, {b.output(TensorType::FLOAT32, {1, 9})});
  return b;
}

inline TfliteBuilder delay() {
  TfliteBuilder b;
  const int x = b.input(TensorType::INT8, {1, 6}, 0.05f, -3);
  const int state = b.activation(TensorType::INT16, {1, 12}, 0.001f, 0);
  b.at(state).is_variable = true;
  tflite::SVDFOptionsT o;
  o.rank = 2;
  b.op(B::SVDF,
       {x, b.constant(TensorType::INT8, {4, 6}, pattern<int8_t>(24, -90, 90), {0.02f}, {0}),
        b.constant(TensorType::INT16, {4, 3}, pattern<int16_t>(12, -90, 90), {0.01f}, {0}),
        b.constant(TensorType::INT32, {2}, pattern<int32_t>(2, -900, 900)), state},
       {b.output(TensorType::INT8, {1, 2}, 0.3f, 9)}, o);
  return b;
}

// Returns a model of int16 layers.
inline TfliteBuilder int16_model() {
  TfliteBuilder b;
  const TensorType type = TensorType::INT16;
  const int size = b.constant<int32_t>(TensorType::INT32, {4}, {1, 8, 8, 4});
  const int w = b.constant(TensorType::INT8, {4, 3, 3, 3}, pattern<int8_t>(108, -90, 90),
                           std::vector<float>(4, 0.01f), std::vector<int64_t>(4), 0);
  const int x = b.input(type, {1, 4, 4, 3}, 0.001f);
  const int c = b.constant(TensorType::INT64, {4}, pattern<int64_t>(4, -900, 900));
  const int made = b.activation(type, {1, 8, 8, 4}, 0.01f, 0);
  tflite::TransposeConvOptionsT o;
  o.stride_h = o.stride_w = 2;
  b.op(B::TRANSPOSE_CONV, {size, w, x, c}, {made}, o);
  const int most = b.activation(type, {1, 8, 8, 4}, 0.01f, 0);
  b.op(B::MAXIMUM, {made, b.constant(type, {4}, pattern<int16_t>(4, -90, 90), {0.01f}, {0})},
       {most});
  const int rows = b.activation(type, {1, 8, 4}, 0.01f, 0);
  b.op(B::REDUCE_MAX, {most, b.constant<int32_t>(TensorType::INT32, {1}, {1})}, {rows},
       tflite::ReducerOptionsT());
  const int product = b.activation(type, {1, 8, 8}, 0.02f, 0);
  tflite::BatchMatMulOptionsT matrices;
  matrices.adj_y = true;
  b.op(B::BATCH_MATMUL, {rows, rows}, {product}, matrices);
  tflite::SoftmaxOptionsT softmax;
  softmax.beta = 1;
  b.op(B::SOFTMAX, {product}, {b.output(type, {1, 8, 8}, 1.0f / 32768)}, softmax);
  return b;
}

inline TfliteBuilder sequence() {
  TfliteBuilder b;
  constexpr int kIn = 4, kCells = 3;
  std::vector<int> inputs = {b.input(TensorType::INT16, {1, 2, kIn}, 0.001f)};
  for (int i = 1; i <= 8; ++i) {
    const int columns = i <= 4 ? kIn : kCells;
    inputs.push_back(b.constant(TensorType::INT8, {kCells, columns},
                                pattern<int8_t>(static_cast<size_t>(kCells * columns), -90, 90),
                                {0.01f}, {0}));
  }
  inputs.resize(12, -1);
  for (int i = 12; i <= 15; ++i)
    inputs.push_back(b.constant(TensorType::INT64, {kCells}, pattern<int64_t>(kCells, -900, 900)));
  inputs.resize(18, -1);
  inputs.push_back(b.activation(TensorType::INT16, {1, kCells}, 1.0f / 32768, 0));
  inputs.push_back(b.activation(TensorType::INT16, {1, kCells}, 1.0f / 2048, 0));
  for (size_t i : {18, 19}) b.at(inputs[i]).is_variable = true;
  inputs.resize(24, -1);
  tflite::UnidirectionalSequenceLSTMOptionsT o;
  o.fused_activation_function = tflite::ActivationFunctionType::TANH;
  b.op(B::UNIDIRECTIONAL_SEQUENCE_LSTM, inputs,
       {b.output(TensorType::INT16, {1, 2, kCells}, 1.0f / 32768)}, o);
  return b;
}

inline TfliteBuilder shares() {
  TfliteBuilder b;
  const int x = b.input(TensorType::INT8, {1, 6}, 0.05f, -3);
  const int elu = b.activation(TensorType::INT8, {1, 6}, 0.06f, -8);
  b.op(B::ELU, {x}, {elu});
  tflite::SoftmaxOptionsT o;
  o.beta = 1;
  b.op(B::SOFTMAX, {elu}, {b.output(TensorType::INT16, {1, 6}, 1.0f / 65536, -32768)}, o);
  return b;
}

// Boxes by class, of bytes.
inline TfliteBuilder detector() {
  TfliteBuilder b;
  const int boxes = b.input(TensorType::UINT8, {1, 6, 4}, 0.05f, 125);
  const int scores = b.input(TensorType::UINT8, {1, 6, 3}, 1.0f / 256, 0);
  const int anchors =
      b.constant(TensorType::UINT8, {6, 4}, pattern<uint8_t>(24, 0, 255), {1.0f / 128}, {0});
  std::vector<int> outputs;
  for (int i = 0; i < 4; ++i) outputs.push_back(b.output(TensorType::FLOAT32, {}));
  b.op(B::CUSTOM, {boxes, scores, anchors}, outputs).custom_options =
      custom_options({{"max_detections", 2},
                      {"num_classes", 2},
                      {"detections_per_class", 2},
                      {"max_classes_per_detection", 1},
                      {"use_regular_nms", 1}},
                     {{"y_scale", 5},
                      {"x_scale", 5},
                      {"h_scale", 5},
                      {"w_scale", 5},
                      {"nms_score_threshold", 0.25f},
                      {"nms_iou_threshold", 0.6f}});
  b.model.operator_codes.back()->custom_code = "TFLite_Detection_PostProcess";
  return b;
}

// Floats between DEQUANTIZE and QUANTIZE, and indices that a run computes.
inline TfliteBuilder reals() {
  TfliteBuilder b;
  const int x = b.input(TensorType::INT8, {4, 6}, 0.05f, -3);
  const int y = b.input(TensorType::UINT8, {6}, 0.1f, 7);
  const auto real = [&](const TfliteBuilder::Dims& shape) {
    return b.tensor(TensorType::FLOAT32, shape);
  };
  const int p = real({4, 6}), q = real({6}), root = real({4, 6}), quotient = real({4, 6});
  b.op(B::DEQUANTIZE, {x}, {p});
  b.op(B::CAST, {y}, {q});
  b.op(B::SQRT, {p}, {root});
  b.op(B::DIV, {root, q}, {quotient}, tflite::DivOptionsT());
  const int h = b.activation(TensorType::INT8, {4, 6}, 0.03f, 5);
  b.op(B::QUANTIZE, {quotient}, {h});
  const int best = b.tensor(TensorType::INT32, {4}), half = b.tensor(TensorType::INT32, {4});
  b.op(B::ARG_MAX, {h, b.constant(TensorType::INT32, {1}, std::vector<int32_t>{1})}, {best},
       tflite::ArgMaxOptionsT());
  b.op(B::FLOOR_DIV, {best, b.constant(TensorType::INT32, {}, std::vector<int32_t>{2})}, {half});
  const int at = b.tensor(TensorType::INT32, {4, 2});
  tflite::PackOptionsT pack;
  pack.axis = 1;
  b.op(B::PACK, {half, best}, {at}, pack);
  b.op(B::GATHER_ND, {x, at}, {b.output(TensorType::INT8, {4}, 0.05f, -3)});
  b.op(B::TOPK_V2, {h, b.constant(TensorType::INT32, {}, std::vector<int32_t>{2})},
       {b.output(TensorType::INT8, {4, 2}, 0.03f, 5), b.output(TensorType::INT32, {4, 2})});
  return b;
}

// Returns a model of truth values, and of elements chosen by them.
inline TfliteBuilder choices() {
  TfliteBuilder b;
  const int x = b.input(TensorType::INT8, {2, 3}, 0.05f, -3);
  const int y = b.input(TensorType::INT8, {3}, 0.07f, 9), z = b.input(TensorType::BOOL, {2, 3});
  const auto truth = [&] { return b.tensor(TensorType::BOOL, {2, 3}); };
  const int less = truth(), both = truth(), none = truth();
  b.op(B::LESS_EQUAL, {x, y}, {less});
  b.op(B::LOGICAL_AND, {less, z}, {both});
  b.op(B::LOGICAL_NOT, {both}, {none});
  const int int16_model = b.tensor(TensorType::INT16, {2, 3}),
            real = b.tensor(TensorType::FLOAT32, {2, 3});
  b.op(B::CAST, {x}, {int16_model});
  b.op(B::SELECT_V2, {none, x, y}, {b.output(TensorType::INT8, {2, 3}, 0.05f, -3)});
  b.op(B::EQUAL, {int16_model, int16_model}, {b.output(TensorType::BOOL, {2, 3})});
  b.op(B::DEQUANTIZE, {x}, {real});
  const int shares = b.tensor(TensorType::FLOAT32, {2, 3});
  tflite::SoftmaxOptionsT softmax;
  softmax.beta = 1;
  b.op(B::SOFTMAX, {real}, {shares}, softmax);
  b.op(B::RESHAPE, {shares}, {b.output(TensorType::FLOAT32, {6})});
  return b;
}

inline TfliteBuilder sums() {
  TfliteBuilder b;
  const int x = b.input(TensorType::INT8, {2, 5}, 0.05f, -3);
  const int sum = b.activation(TensorType::INT8, {2, 5}, 0.2f, 1);
  tflite::CumsumOptionsT cumsum;
  cumsum.exclusive = true;
  b.op(B::CUMSUM, {x, b.constant(TensorType::INT32, {}, std::vector<int32_t>{1})}, {sum}, cumsum);
  const int all = b.activation(TensorType::INT8, {2, 5}, 0.3f, 2);
  b.op(B::ADD_N, {x, x, x}, {all});
  const int quotient = b.activation(TensorType::INT8, {2, 5}, 0.1f, 0);
  b.op(B::DIV, {all, sum}, {quotient}, tflite::DivOptionsT());
  b.op(B::LOG_SOFTMAX, {quotient}, {b.output(TensorType::INT8, {2, 5}, 1.0f / 16, 127)});
  const int int16_model = b.input(TensorType::INT16, {2, 5}, 0.001f, 7);
  const int shifted = b.activation(TensorType::INT16, {2, 5}, 0.002f, 0);
  b.op(B::ADD, {int16_model, int16_model}, {shifted}, tflite::AddOptionsT());
  b.op(B::SQUARED_DIFFERENCE, {shifted, shifted}, {b.output(TensorType::INT16, {2, 5}, 0.1f)});
  return b;
}

// Integers of 64 bits, parts replaced and rows looked up.
inline TfliteBuilder updates() {
  TfliteBuilder b;
  const int x = b.input(TensorType::INT8, {2, 6, 3}, 0.05f, -3);
  const int part = b.input(TensorType::INT8, {1, 2, 3}, 0.05f, -3);
  const int at = b.input(TensorType::INT64, {3});
  b.op(B::DYNAMIC_UPDATE_SLICE, {x, part, at}, {b.output(TensorType::INT8, {2, 6, 3}, 0.05f, -3)});
  const int turned = b.tensor(TensorType::INT64, {1, 3});
  b.op(B::RESHAPE, {at}, {turned});
  b.op(B::ZEROS_LIKE, {x}, {b.output(TensorType::INT8, {2, 6, 3}, 0.05f, -3)});
  const int lookup = b.input(TensorType::INT32, {4});
  const int table = b.constant(TensorType::INT8, {5, 3}, pattern<int8_t>(15, -90, 90),
                               std::vector<float>(5, 0.25f), std::vector<int64_t>(5), 0);
  b.op(B::EMBEDDING_LOOKUP, {lookup, table}, {b.output(TensorType::FLOAT32, {4, 3})});
  const int shape = b.tensor(TensorType::INT64, {3});
  tflite::ShapeOptionsT o;
  o.out_type = TensorType::INT64;
  b.op(B::SHAPE, {x}, {shape}, o);
  tflite::ConcatenationOptionsT join;
  const int row = b.tensor(TensorType::INT64, {1, 3});
  b.op(B::RESHAPE, {shape}, {row});
  b.op(B::CONCATENATION, {turned, row}, {b.output(TensorType::INT64, {2, 3})}, join);
  return b;
}

// Layers of float activations and integer weights, and an LSTM of them; weights of float16; an operator of floats.
inline TfliteBuilder dynamic_range() {
  TfliteBuilder b;
  const auto codes = [&](const TfliteBuilder::Dims& shape, int scales, int axis) {
    size_t n = 1;
    for (const int32_t d : shape) n *= static_cast<size_t>(d);
    std::vector<int8_t> values(n);
    for (size_t i = 0; i < n; ++i)
      values[i] = static_cast<int8_t>(static_cast<int>(i * 37 % 200) - 99);
    std::vector<float> scale;
    for (int i = 0; i < scales; ++i) scale.push_back(0.01f * static_cast<float>(i + 1));
    return b.constant(TensorType::INT8, shape, values, scale, std::vector<int64_t>(scale.size(), 0),
                      axis);
  };
  const auto floats = [&](int32_t n) {
    return b.constant(TensorType::FLOAT32, {n}, std::vector<float>(static_cast<size_t>(n), 0.5f));
  };
  const auto made = [&](const TfliteBuilder::Dims& shape) {
    return b.tensor(TensorType::FLOAT32, shape);
  };
  const int image = b.input(TensorType::FLOAT32, {1, 3, 3, 4}), conv = made({1, 2, 2, 6}),
            depthwise = made({1, 2, 2, 6});
  tflite::Conv2DOptionsT window;
  window.stride_h = window.stride_w = 1;
  window.padding = tflite::Padding::VALID;
  b.op(B::CONV_2D, {image, codes({6, 2, 2, 4}, 6, 0), floats(6)}, {conv}, window);
  tflite::DepthwiseConv2DOptionsT each;
  each.stride_h = each.stride_w = each.depth_multiplier = 1;
  b.op(B::DEPTHWISE_CONV_2D, {conv, codes({1, 2, 2, 6}, 6, 3), floats(6)}, {depthwise}, each);
  const int rows = made({2, 12}), dense = made({2, 5}), product = made({2, 6});
  b.op(B::RESHAPE, {depthwise}, {rows});
  tflite::FullyConnectedOptionsT asymmetric;
  asymmetric.asymmetric_quantize_inputs = true;
  b.op(B::FULLY_CONNECTED, {rows, codes({5, 12}, 1, 0), floats(5)}, {dense}, asymmetric);
  b.op(B::BATCH_MATMUL, {dense, codes({5, 6}, 1, 0)}, {product}, tflite::BatchMatMulOptionsT());
  const int halves = b.constant(TensorType::FLOAT16, {6}, std::vector<uint16_t>(6, 0x3800)),
            wide = made({6}), sequence = made({1, 2, 6});
  b.op(B::DEQUANTIZE, {halves}, {wide});
  b.op(B::MUL, {product, wide}, {sequence}, tflite::MulOptionsT());
  std::vector<int> inputs = {sequence};
  for (int i = 0; i < 8; ++i) inputs.push_back(codes({3, i < 4 ? 6 : 3}, 1, 0));
  inputs.resize(12, -1);
  for (int i = 0; i < 4; ++i) inputs.push_back(floats(3));
  inputs.resize(18, -1);
  for (int i = 0; i < 2; ++i) {
    inputs.push_back(made({1, 3}));
    b.at(inputs.back()).is_variable = true;
  }
  inputs.resize(24, -1);
  tflite::UnidirectionalSequenceLSTMOptionsT lstm;
  lstm.fused_activation_function = tflite::ActivationFunctionType::TANH;
  b.op(B::UNIDIRECTIONAL_SEQUENCE_LSTM, inputs, {b.output(TensorType::FLOAT32, {1, 2, 3})}, lstm);
  return b;
}

}  // namespace tflite_models

inline std::vector<Bytes> sample_tflite_models() {
  using namespace tflite_models;
  return {conv().build(),
          depthwise().build(),
          dense(TensorType::INT8).build(),
          dense(TensorType::INT4).build(),
          legacy().build(),
          elementwise().build(),
          tables().build(),
          moves().build(),
          edges().build(),
          delay().build(),
          tflite_models::int16_model().build(),
          sequence().build(),
          shares().build(),
          detector().build(),
          reals().build(),
          choices().build(),
          sums().build(),
          updates().build(),
          dynamic_range().build()};
}

}  // namespace qrt::testing

#endif  // QRT_TESTS_SUPPORT_TFLITE_MODELS_H_
