// SPDX-License-Identifier: Apache-2.0
// CONV_2D, DEPTHWISE_CONV_2D and FULLY_CONNECTED: int8 or 4-bit weights with an int8 input, int8
// weights with an int16 one, uint8 weights with a uint8 one. FULLY_CONNECTED has weights of 4 and 2 bits
// with both.
#include "converter/import/tflite/ops/linear.h"

namespace qrt::convert::from_tflite {
namespace {

// Returns the biases that CONV_2D and FULLY_CONNECTED take. `type`: the options' quantized_bias_type.
BiasTypes bias_types(TensorType type) { return {false, true, type == TensorType::INT32}; }

}  // namespace

Status import_conv_2d(Importer& importer, const Op& op) {
  const auto o = op.options<tflite::Conv2DOptions>();
  Linear linear;
  if (!importer.read_quants(op, 0, &linear.in, &linear.out)) return Status();
  ignore_zero_points(&linear);
  QRT_TRY(check_image(importer, op));
  const Shape x = importer.input(op, 0).shape, w = importer.input(op, 1).shape;
  QRT_MODEL_CHECK(x[3] % w[3] == 0 && w[0] % (x[3] / w[3]) == 0,
                  "weights of shape %s do not fit %lld input channels", w.to_string().c_str(),
                  static_cast<long long>(x[3]));
  Window window{{w[1], w[2]}, {o.stride_h, o.stride_w}, {o.dilation_h_factor, o.dilation_w_factor}};
  QRT_TRY(place_window(x[1], x[2], o.padding, &window));
  QRT_TRY(check_output_shape(importer, op, {x[0], window.output[0], window.output[1], w[0]}));
  linear.channels = w[0];
  const size_t per_channel = static_cast<size_t>(w.elements() / w[0]);
  Status status;
  if (!read_weights(importer, op, Layer::kConv, 0, &linear) ||
      !read_bias(importer, op, bias_types(o.quantized_bias_type), &linear, &status) ||
      !prove_sums(importer, op, linear, per_channel, static_cast<size_t>(w[1] * w[2]),
                  [&](size_t i) { return i / per_channel; }) ||
      !finish_linear(importer, op, o.fused_activation_function, &linear))
    return status;
  const ValueId weights = add_weights(importer, op, linear, w, 0);
  const ValueId bias = add_bias(importer, op, linear), value = importer.value(op, 0);
  auto& conv = importer.builder().add<fb::Conv2DOptionsT>(op, {value, weights, bias},
                                                          importer.new_output(op, linear.out));
  set_window(window, &conv);
  set_dilation(window, &conv);
  conv.groups = static_cast<uint32_t>(x[3] / w[3]);
  set_zero_point(linear.in, &conv.input_zero_point, &conv.input_zero_point_16);
  conv.requant = std::move(linear.requant);
  importer.became(op, "Conv2D", "I0");
  return Status();
}

Status import_depthwise_conv_2d(Importer& importer, const Op& op) {
  const auto o = op.options<tflite::DepthwiseConv2DOptions>();
  Linear linear;
  if (!importer.read_quants(op, 0, &linear.in, &linear.out)) return Status();
  ignore_zero_points(&linear);
  QRT_TRY(check_image(importer, op));
  const Shape x = importer.input(op, 0).shape, w = importer.input(op, 1).shape;
  QRT_MODEL_CHECK(w[0] == 1 && w[3] % x[3] == 0 && w[3] / x[3] == o.depth_multiplier,
                  "weights of shape %s do not fit %lld input channels and the multiplier %d",
                  w.to_string().c_str(), static_cast<long long>(x[3]), o.depth_multiplier);
  Window window{{w[1], w[2]}, {o.stride_h, o.stride_w}, {o.dilation_h_factor, o.dilation_w_factor}};
  QRT_TRY(place_window(x[1], x[2], o.padding, &window));
  QRT_TRY(check_output_shape(importer, op, {x[0], window.output[0], window.output[1], w[3]}));
  linear.channels = w[3];
  const auto channels = static_cast<size_t>(w[3]), taps = static_cast<size_t>(w[1] * w[2]);
  Status status;
  if (!read_weights(importer, op, Layer::kConv, 3, &linear) ||
      !read_bias(importer, op, BiasTypes(), &linear, &status) ||
      !prove_sums(importer, op, linear, taps, taps, [&](size_t i) { return i % channels; }) ||
      !finish_linear(importer, op, o.fused_activation_function, &linear))
    return status;
  const ValueId weights = add_weights(importer, op, linear, {w[1], w[2], w[3]}, 2);
  const ValueId bias = add_bias(importer, op, linear), value = importer.value(op, 0);
  auto& conv = importer.builder().add<fb::DepthwiseConv2DOptionsT>(
      op, {value, weights, bias}, importer.new_output(op, linear.out));
  set_window(window, &conv);
  set_dilation(window, &conv);
  conv.multiplier = static_cast<uint32_t>(w[3] / x[3]);
  set_zero_point(linear.in, &conv.input_zero_point, &conv.input_zero_point_16);
  conv.requant = std::move(linear.requant);
  importer.became(op, "DepthwiseConv2D", "I0");
  return Status();
}

Status import_fully_connected(Importer& importer, const Op& op) {
  const auto o = op.options<tflite::FullyConnectedOptions>();
  if (o.weights_format != tflite::FullyConnectedOptionsWeightsFormat::DEFAULT)
    return importer.refuse(op, "the weights are stored shuffled", importer.input(op, 1).name,
                           "convert the model again without shuffled weights (uint8 for one CPU)");
  Linear linear;
  if (!importer.read_quants(op, 0, &linear.in, &linear.out)) return Status();
  const Shape x = importer.input(op, 0).shape, w = importer.input(op, 1).shape;
  QRT_MODEL_CHECK(w.rank() == 2 && w.elements() > 0, "the weights have shape %s",
                  w.to_string().c_str());
  QRT_MODEL_CHECK(x.rank() >= 1 && x.elements() > 0 && x.elements() % w[1] == 0,
                  "an input of shape %s does not fit weights of shape %s", x.to_string().c_str(),
                  w.to_string().c_str());
  const Shape flat{x.elements() / w[1], w[1]}, made{flat[0], w[0]};
  const Shape y = importer.output(op).shape;
  QRT_MODEL_CHECK(y.elements() == made.elements() && y.rank() >= 1 && y[y.rank() - 1] == w[0],
                  "its output has shape %s, expected %s", y.to_string().c_str(),
                  made.to_string().c_str());
  linear.channels = w[0];
  const auto columns = static_cast<size_t>(w[1]);
  Status status;
  if (!read_weights(importer, op, Layer::kFullyConnected, 0, &linear) ||
      !read_bias(importer, op, bias_types(o.quantized_bias_type), &linear, &status) ||
      !prove_sums(importer, op, linear, columns, 1, [&](size_t i) { return i / columns; }) ||
      !finish_linear(importer, op, o.fused_activation_function, &linear))
    return status;
  ValueId value = importer.value(op, 0);
  if (x != flat) value = importer.builder().reshape(op, value, flat);
  const ValueId weights = add_weights(importer, op, linear, w, 0);
  const ValueId bias = add_bias(importer, op, linear);
  const ValueId product = importer.builder().new_value(importer.output(op).name,
                                                       linear.out.stored_type(), made, &linear.out);
  importer.builder().add<fb::FullyConnectedOptionsT>(op, {value, weights, bias}, product).requant =
      std::move(linear.requant);
  importer.set_output(
      op,
      y == made ? product : importer.builder().reshape(op, product, y, importer.output(op).name));
  importer.became(op, "FullyConnected", "I0");
  return Status();
}

}  // namespace qrt::convert::from_tflite
