// CONV_2D, DEPTHWISE_CONV_2D and FULLY_CONNECTED: int8 or 4-bit weights with an int8 input, int8
// weights with an int16 one, uint8 weights with a uint8 one.
#include <algorithm>
#include <cmath>

#include "converter/import/tflite_ops.h"
#include "kernels/wide/wide.h"

namespace qrt::convert::from_tflite {
namespace {

enum class Layer { kConv, kFullyConnected };

// Weights and bias in the order the graph takes, with what the requantisation needs.
struct Linear {
  Quant in, out;
  int64_t channels = 0;
  std::vector<int16_t> weights;  // less their zero point, in the file's order
  std::vector<int64_t> bias;
  // int16: accumulators of 64 bits, multiplied with 16; else of 32 bits.
  bool is_64 = false;
  std::vector<Multiplier> multipliers;
  std::unique_ptr<fb::RequantT> requant;
};

// The reference's convolutions of int16 take the zero points for 0, whatever the file says.
void ignore_zero_points(Linear* linear) {
  if (linear->in.is_wide()) linear->in.zero_point = linear->out.zero_point = 0;
}

int element(const Tensor& t, size_t i) {
  if (t.type == TensorType::UINT8) return t.data[i];
  if (t.type == TensorType::INT8) return static_cast<int8_t>(t.data[i]);
  // INT4: two in a byte over the whole tensor, the low one first.
  const int nibble = t.data[i / 2] >> (i % 2 * 4) & 15;
  return nibble < 8 ? nibble : nibble - 16;
}

// False: the operator was refused. `channel_axis`: of the weights.
bool read_weights(Importer& importer, const Op& op, Layer layer, int channel_axis, Linear* linear) {
  const Tensor& w = importer.input(op, 1);
  const std::string quoted = importer.quoted_input(op, 1);
  const auto no = [&](const std::string& rule, const char* remedy) {
    (void)importer.refuse(op, quoted + " " + rule, w.name, remedy);
    return false;
  };
  const bool is_legacy = linear->in.type == TensorType::UINT8;
  const bool fits = is_legacy ? w.type == TensorType::UINT8
                              : w.type == TensorType::INT8 ||
                                    (w.type == TensorType::INT4 && !linear->in.is_wide());
  if (!fits)
    return no(std::string("is ") + type_name(w.type) + ", which does not go with a " +
                  type_name(linear->in.type) + " input",
              "quantise weights and activations to int8");
  if (!w.is_constant) return no("is not a constant", "make the weights constants of the model");
  if (w.scale.empty()) return no("has no scale", "quantise the weights");
  const bool per_channel = w.scale.size() > 1;
  if (per_channel && w.axis != channel_axis)
    return no("is quantised along dimension " + std::to_string(w.axis),
              "quantise the weights along their output channels");
  if (per_channel && w.shape[w.axis] != static_cast<int64_t>(w.scale.size()))
    return no("has " + std::to_string(w.scale.size()) + " scales for " +
                  std::to_string(w.shape[w.axis]) + " channels",
              "give every output channel a scale");
  if (per_channel && is_legacy)
    return no("is uint8 and quantised per channel", "quantise the model to int8");
  if (per_channel && layer == Layer::kFullyConnected && w.type == TensorType::INT4)
    return no("is int4 and quantised per channel: the reference refuses that in FULLY_CONNECTED",
              "quantise the weights per tensor");
  for (float s : w.scale)
    if (!std::isnormal(s))
      return no("has a scale that is not a normal positive number",
                "quantise the model with scales of usual size");
  // The int8 kernels look at a weight zero point in FULLY_CONNECTED with one scale only.
  const bool centred = is_legacy || (layer == Layer::kFullyConnected && !per_channel);
  const int64_t zero_point = centred ? w.zero_point[0] : 0;
  if (zero_point < (is_legacy ? 0 : -128) || zero_point > (is_legacy ? 255 : 127))
    return no("has a zero point outside its type", "quantise the weights symmetrically");
  linear->weights.resize(static_cast<size_t>(w.shape.elements()));
  for (size_t i = 0; i < linear->weights.size(); ++i)
    linear->weights[i] = static_cast<int16_t>(element(w, i) - zero_point);

  const double in = linear->in.scale, out = linear->out.scale;
  const bool float_product = is_legacy || (layer == Layer::kFullyConnected && !per_channel);
  for (float s : w.scale)
    linear->multipliers.push_back(importer.multiplier(
        (float_product ? static_cast<double>(linear->in.scale * s) : in * s) / out));
  return true;
}

// One int32 for each output channel, or none; with int16 activations one int64, or where
// `takes_int32` an int32. A missing bias is of the type `none`.
bool read_bias(Importer& importer, const Op& op, bool takes_int32, TensorType none, Linear* linear,
               Status* status) {
  const bool is_wide = linear->in.is_wide();
  linear->bias.assign(static_cast<size_t>(linear->channels), 0);
  linear->is_64 = is_wide && none != TensorType::INT32;
  if (!op.has_input(2)) return true;
  const Tensor& b = importer.input(op, 2);
  const bool fits =
      is_wide ? b.type == TensorType::INT64 || (b.type == TensorType::INT32 && takes_int32)
              : b.type == TensorType::INT32;
  if (!b.is_constant || !fits) {
    *status = importer.refuse(
        op,
        importer.quoted_input(op, 2) + " is not an " +
            (is_wide ? takes_int32 ? "int64 or int32" : "int64" : "int32") + " constant",
        b.name, is_wide ? "quantise the bias to int64" : "quantise the bias to int32");
    return false;
  }
  linear->is_64 = b.type == TensorType::INT64;
  if (b.shape.elements() != linear->channels) {
    *status =
        error(Code::kInvalidModel, "the bias has %lld elements, expected %lld",
              static_cast<long long>(b.shape.elements()), static_cast<long long>(linear->channels));
    return false;
  }
  if (linear->is_64) {
    __builtin_memcpy(linear->bias.data(), b.data, b.bytes);
  } else {
    std::vector<int32_t> values(linear->bias.size());
    __builtin_memcpy(values.data(), b.data, b.bytes);
    linear->bias.assign(values.begin(), values.end());
  }
  return true;
}

// Of int16 activations: the sums stay within what the kernels hold, and where the reference shifts
// them, within int32. `weights`: that make one output, `taps` runs of them.
bool prove_wide(Importer& importer, const Op& op, const Linear& linear, size_t weights,
                size_t taps) {
  const auto no = [&](const std::string& rule) {
    (void)importer.refuse(op, rule, importer.input(op, 1).name,
                          "split the layer, or check its scales");
    return false;
  };
  int terms = 1;
  for (int w : linear.weights)
    while (w < -128 * terms || w > 127 * terms) ++terms;
  if ((weights + 3 * taps) * static_cast<size_t>(terms) > kMaxWideK)
    return no("more than 65793 weights make an output");
  const int64_t sums = static_cast<int64_t>(weights) * 255 * 65535;
  for (size_t o = 0; o < linear.bias.size(); ++o) {
    const int64_t b = linear.bias[o];
    const Multiplier& m = linear.multipliers[linear.multipliers.size() > 1 ? o : 0];
    if (linear.is_64 && (b < -(int64_t{1} << 45) || b > int64_t{1} << 45))
      return no("the bias of output channel " + std::to_string(o) + " is beyond 2^45");
    if (!linear.is_64 && m.shift > 0 && importer.rounding() == Rounding::kDouble &&
        sums + std::abs(b) >= int64_t{1} << (31 - std::min(m.shift, 31)))
      return no("sums of output channel " + std::to_string(o) +
                " may leave int32 where the reference shifts them");
  }
  return true;
}

// The reference leaves it undefined what an accumulator beyond int32 gives, also after the left
// shift of a multiplier above 1: both are proven impossible here. `channel_of`: of a weight's
// index.
template <class F>
bool prove_no_overflow(Importer& importer, const Op& op, const Linear& linear, F channel_of) {
  std::vector<int64_t> bound(linear.bias.size());
  for (size_t o = 0; o < bound.size(); ++o) bound[o] = std::abs(linear.bias[o]);
  for (size_t i = 0; i < linear.weights.size(); ++i)
    bound[channel_of(i)] += 255 * std::abs(int64_t{linear.weights[i]});
  for (size_t o = 0; o < bound.size(); ++o) {
    const Multiplier& m = linear.multipliers[linear.multipliers.size() > 1 ? o : 0];
    const bool shifts = m.shift > 0 && importer.rounding() == Rounding::kDouble;
    const int left = shifts ? std::min(m.shift, 31) : 0;
    if (bound[o] >> (31 - left) == 0) continue;
    (void)importer.refuse(op,
                          "sums of output channel " + std::to_string(o) + " may reach " +
                              std::to_string(bound[o]) +
                              ", beyond what the reference kernels define",
                          importer.input(op, 1).name, "split the layer, or check its scales");
    return false;
  }
  return true;
}

template <class F>
bool prove_sums(Importer& importer, const Op& op, const Linear& linear, size_t weights, size_t taps,
                F channel_of) {
  return linear.in.is_wide() ? prove_wide(importer, op, linear, weights, taps)
                             : prove_no_overflow(importer, op, linear, channel_of);
}

bool finish_linear(Importer& importer, const Op& op, tflite::ActivationFunctionType activation,
                   Linear* linear) {
  const Limits limits = activation_limits(activation, linear->out.scale, linear->out.zero_point,
                                          linear->out.limits());
  linear->requant = linear->is_64
                        ? importer.requant_64(op, linear->multipliers, linear->out, limits)
                        : importer.requant(op, linear->multipliers, linear->out, limits);
  return linear->requant != nullptr;
}

ValueId add_weights(Importer& importer, const Op& op, const Linear& linear, const Shape& shape,
                    int axis) {
  Graph& graph = importer.graph();
  const Tensor& w = importer.input(op, 1);
  const ValueId id = graph.add_constant(w.name, DType::kInt16, shape, linear.weights);
  Quantization& q = graph.values[id].quantization;
  q.scale = w.scale;
  q.zero_point.assign(w.scale.size(), 0);
  q.axis = w.scale.size() > 1 ? axis : -1;
  return id;
}

ValueId add_bias(Importer& importer, const Op& op, const Linear& linear) {
  const std::string name = op.has_input(2) ? importer.input(op, 2).name : "";
  const Shape shape{linear.channels};
  if (linear.is_64) return importer.graph().add_constant(name, DType::kInt64, shape, linear.bias);
  const std::vector<int32_t> values(linear.bias.begin(), linear.bias.end());
  return importer.graph().add_constant(name, DType::kInt32, shape, values);
}

Status check_image(const Importer& importer, const Op& op) {
  const Shape &x = importer.input(op, 0).shape, &w = importer.input(op, 1).shape;
  QRT_MODEL_CHECK(x.rank() == 4 && w.rank() == 4, "input and weights have shapes %s and %s",
                  x.to_string().c_str(), w.to_string().c_str());
  QRT_MODEL_CHECK(x.elements() > 0 && w.elements() > 0, "input or weights have no elements");
  return Status();
}

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
  WindowAxis rows{w[1], o.stride_h, o.dilation_h_factor},
      cols{w[2], o.stride_w, o.dilation_w_factor};
  QRT_TRY(place_window(x[1], o.padding, &rows));
  QRT_TRY(place_window(x[2], o.padding, &cols));
  QRT_TRY(check_output_shape(importer, op, {x[0], rows.out, cols.out, w[0]}));
  linear.channels = w[0];
  const size_t per_channel = static_cast<size_t>(w.elements() / w[0]);
  Status status;
  if (!read_weights(importer, op, Layer::kConv, 0, &linear) ||
      !read_bias(importer, op, /*takes_int32=*/true, o.quantized_bias_type, &linear, &status) ||
      !prove_sums(importer, op, linear, per_channel, static_cast<size_t>(w[1] * w[2]),
                  [&](size_t i) { return i / per_channel; }) ||
      !finish_linear(importer, op, o.fused_activation_function, &linear))
    return status;
  const ValueId weights = add_weights(importer, op, linear, w, 0);
  const ValueId bias = add_bias(importer, op, linear), value = importer.value(op, 0);
  auto& conv = importer.add_node<fb::Conv2DOptionsT>(op, {value, weights, bias},
                                                     importer.new_output(op, linear.out));
  set_window(rows, cols, &conv);
  set_dilation(rows, cols, &conv);
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
  WindowAxis rows{w[1], o.stride_h, o.dilation_h_factor},
      cols{w[2], o.stride_w, o.dilation_w_factor};
  QRT_TRY(place_window(x[1], o.padding, &rows));
  QRT_TRY(place_window(x[2], o.padding, &cols));
  QRT_TRY(check_output_shape(importer, op, {x[0], rows.out, cols.out, w[3]}));
  linear.channels = w[3];
  const auto channels = static_cast<size_t>(w[3]), taps = static_cast<size_t>(w[1] * w[2]);
  Status status;
  if (!read_weights(importer, op, Layer::kConv, 3, &linear) ||
      !read_bias(importer, op, /*takes_int32=*/false, TensorType::INT64, &linear, &status) ||
      !prove_sums(importer, op, linear, taps, taps, [&](size_t i) { return i % channels; }) ||
      !finish_linear(importer, op, o.fused_activation_function, &linear))
    return status;
  const ValueId weights = add_weights(importer, op, linear, {w[1], w[2], w[3]}, 2);
  const ValueId bias = add_bias(importer, op, linear), value = importer.value(op, 0);
  auto& conv = importer.add_node<fb::DepthwiseConv2DOptionsT>(op, {value, weights, bias},
                                                              importer.new_output(op, linear.out));
  set_window(rows, cols, &conv);
  set_dilation(rows, cols, &conv);
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
                           "export the model with plain weights");
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
      !read_bias(importer, op, /*takes_int32=*/true, o.quantized_bias_type, &linear, &status) ||
      !prove_sums(importer, op, linear, columns, 1, [&](size_t i) { return i / columns; }) ||
      !finish_linear(importer, op, o.fused_activation_function, &linear))
    return status;
  ValueId value = importer.value(op, 0);
  if (x != flat) value = importer.reshape(op, value, flat);
  const ValueId weights = add_weights(importer, op, linear, w, 0);
  const ValueId bias = add_bias(importer, op, linear);
  const ValueId product =
      importer.new_value(importer.output(op).name, linear.out.stored_type(), made, &linear.out);
  importer.add_node<fb::FullyConnectedOptionsT>(op, {value, weights, bias}, product).requant =
      std::move(linear.requant);
  importer.set_output(
      op, y == made ? product : importer.reshape(op, product, y, importer.output(op).name));
  importer.became(op, "FullyConnected", "I0");
  return Status();
}

namespace {

// Where output position o of a transposed convolution and kernel position k (from the far end) read
// one axis of x: position o + k of it, spread out by the stride and shifted; -1: nowhere.
std::vector<int32_t> spread_positions(int64_t in, int64_t out, const WindowAxis& axis) {
  std::vector<int32_t> index;
  for (int64_t j = 0; j < out + axis.kernel - 1; ++j) {
    const int64_t at = j + axis.pad_before - (axis.kernel - 1);
    const bool reads = at >= 0 && at % axis.stride == 0 && at / axis.stride < in;
    index.push_back(reads ? static_cast<int32_t>(at / axis.stride) : -1);
  }
  return index;
}

// [o, h, w, i] with the kernel turned by half a turn.
template <class T>
std::vector<T> turned_kernels(const std::vector<T>& weights, const Shape& w) {
  std::vector<T> turned(weights.size());
  const auto taps = static_cast<size_t>(w[1] * w[2]), in = static_cast<size_t>(w[3]);
  for (size_t o = 0; o < static_cast<size_t>(w[0]); ++o)
    for (size_t t = 0; t < taps; ++t)
      for (size_t i = 0; i < in; ++i)
        turned[(o * taps + t) * in + i] = weights[(o * taps + taps - 1 - t) * in + i];
  return turned;
}

}  // namespace

// A convolution of the input spread out by the strides, its gaps and borders filled with the zero
// point, by the turned kernels. Sizes and padding come from the forward convolution that would take
// the output as its input.
Status import_transpose_conv(Importer& importer, const Op& op) {
  const auto o = op.options<tflite::TransposeConvOptions>();
  Op conv_op = op;  // inputs in the order of a convolution's
  conv_op.inputs = {op.inputs[2], op.inputs[1], op.has_input(3) ? op.inputs[3] : -1};
  Linear linear;
  // A shape that is computed at run time says nothing that the output's does not.
  const Shape made = importer.output(op).shape;
  std::vector<int32_t> declared(made.begin(), made.end());
  const bool is_known = importer.input(op, 0).is_constant || importer.folded(op, 0);
  if ((is_known && !importer.read_integers(op, 0, &declared)) ||
      !importer.read_quants(conv_op, 0, &linear.in, &linear.out))
    return Status();
  ignore_zero_points(&linear);
  QRT_TRY(check_image(importer, conv_op));
  const Shape x = importer.input(conv_op, 0).shape, w = importer.input(conv_op, 1).shape;
  Shape y;
  for (int32_t d : declared)
    if (y.rank() < 4) y.push_back(d);
  QRT_MODEL_CHECK(declared.size() == 4 && w[3] == x[3] && y[0] == x[0] && y[3] == w[0] &&
                      y[1] >= 1 && y[2] >= 1,
                  "weights of shape %s and an input of shape %s do not make %s",
                  w.to_string().c_str(), x.to_string().c_str(), y.to_string().c_str());
  QRT_TRY(check_output_shape(importer, op, y));
  constexpr int64_t kMostPositions = 1 << 20;  // of an axis: they become a list
  if (y[1] > kMostPositions || y[2] > kMostPositions)
    return importer.refuse(op, "its output has more than 2^20 rows or columns",
                           importer.output(op).name, "make the image smaller");
  WindowAxis rows{w[1], o.stride_h}, cols{w[2], o.stride_w};
  QRT_TRY(place_window(y[1], o.padding, &rows));
  QRT_TRY(place_window(y[2], o.padding, &cols));
  linear.channels = w[0];
  const size_t per_channel = static_cast<size_t>(w.elements() / w[0]);
  Status status;
  if (!read_weights(importer, conv_op, Layer::kConv, 0, &linear) ||
      !read_bias(importer, conv_op, /*takes_int32=*/false, TensorType::INT64, &linear, &status) ||
      !prove_sums(importer, conv_op, linear, per_channel, static_cast<size_t>(w[1] * w[2]),
                  [&](size_t i) { return i / per_channel; }) ||
      !finish_linear(importer, conv_op, o.fused_activation_function, &linear))
    return status;
  linear.weights = turned_kernels(linear.weights, w);

  const ValueId value = importer.value(conv_op, 0);
  const Shape spread_shape{x[0], y[1] + w[1] - 1, y[2] + w[2] - 1, x[3]};
  const ValueId spread = importer.new_value("", linear.in.stored_type(), spread_shape, &linear.in);
  auto& gather = importer.add_node<fb::GatherOptionsT>(op, {value}, spread);
  gather.fill = linear.in.stored_zero_point();
  for (const int axis : {1, 2}) {
    gather.axes.push_back(std::make_unique<fb::GatherAxisT>());
    gather.axes.back()->axis = static_cast<uint8_t>(axis);
    gather.axes.back()->index = spread_positions(x[axis], y[axis], axis == 1 ? rows : cols);
  }
  const ValueId weights = add_weights(importer, conv_op, linear, w, 0);
  const ValueId bias = add_bias(importer, conv_op, linear);
  auto& conv = importer.add_node<fb::Conv2DOptionsT>(op, {spread, weights, bias},
                                                     importer.new_output(op, linear.out));
  set_zero_point(linear.in, &conv.input_zero_point, &conv.input_zero_point_16);
  conv.requant = std::move(linear.requant);
  importer.became(op, "Gather, Conv2D", "I0");
  return Status();
}

}  // namespace qrt::convert::from_tflite
