// CONV_2D, DEPTHWISE_CONV_2D, FULLY_CONNECTED and TRANSPOSE_CONV: int8 or 4-bit weights with an
// int8 input, int8 weights with an int16 one, uint8 weights with a uint8 one.
#include <algorithm>
#include <cmath>

#include "converter/import/common/index_maps.h"
#include "converter/import/common/transpose_conv.h"
#include "converter/import/tflite/ops/handlers.h"
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

// The types of bias that the reference takes beside int16 activations: int64, or this one.
constexpr TensorType kConvBias = TensorType::INT32, kTransposeConvBias = TensorType::INT16,
                     kDepthwiseBias = TensorType::INT64;

template <class T>
std::vector<int64_t> widened(const Tensor& t) {
  std::vector<T> values(t.bytes / sizeof(T));
  __builtin_memcpy(values.data(), t.data, t.bytes);
  return {values.begin(), values.end()};
}

// One int32 for each output channel, or none; with int16 activations one int64, or one of the type
// `other`. A missing bias is of the type `none`.
bool read_bias(Importer& importer, const Op& op, TensorType other, TensorType none, Linear* linear,
               Status* status) {
  const bool is_wide = linear->in.is_wide();
  linear->bias.assign(static_cast<size_t>(linear->channels), 0);
  linear->is_64 = is_wide && none != TensorType::INT32;
  if (!op.has_input(2)) return true;
  const Tensor& b = importer.input(op, 2);
  const bool fits =
      is_wide ? b.type == TensorType::INT64 || b.type == other : b.type == TensorType::INT32;
  if (!b.is_constant || !fits) {
    *status = importer.refuse(
        op,
        importer.quoted_input(op, 2) + " is not an " +
            (!is_wide                     ? "int32"
             : other == TensorType::INT64 ? "int64"
                                          : std::string("int64 or ") + type_name(other)) +
            " constant",
        b.name, is_wide ? "quantise the bias to int64" : "quantise the bias to int32");
    return false;
  }
  linear->is_64 = is_wide && b.type != TensorType::INT32;
  if (b.shape.elements() != linear->channels) {
    *status =
        error(Code::kInvalidModel, "the bias has %lld elements, expected %lld",
              static_cast<long long>(b.shape.elements()), static_cast<long long>(linear->channels));
    return false;
  }
  linear->bias = b.type == TensorType::INT64   ? widened<int64_t>(b)
                 : b.type == TensorType::INT16 ? widened<int16_t>(b)
                                               : widened<int32_t>(b);
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
  graph.values[id].weight_bits = w.type == TensorType::INT4 ? 4 : 0;
  Quantization& q = graph.values[id].quantization;
  for (size_t i = 0; i < linear.multipliers.size(); ++i)
    q.scale.push_back(w.scale[i % w.scale.size()]);
  q.zero_point.assign(q.scale.size(), 0);
  q.axis = q.scale.size() > 1 ? axis : -1;
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
      !read_bias(importer, op, kConvBias, o.quantized_bias_type, &linear, &status) ||
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
      !read_bias(importer, op, kDepthwiseBias, TensorType::INT64, &linear, &status) ||
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
      !read_bias(importer, op, kConvBias, o.quantized_bias_type, &linear, &status) ||
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

// Weights beyond kFreeWeights may be kMostGrowth times those of the file: most are zero then.
constexpr int64_t kFreeWeights = int64_t{1} << 22, kMostGrowth = 64;

// The weights [phases, o, h, w, i] of the convolution that stands for a transposed one with weights
// [o, h, w, i].
std::vector<int16_t> phased_weights(const std::vector<int16_t>& weights, const Shape& from,
                                    const PhasedAxis& h, const PhasedAxis& w) {
  const int64_t in = from[3], kernel = h.kernel * w.kernel;
  const auto source = [&](int64_t o, int64_t ky, int64_t kx) {
    return weights.begin() + ((o * from[1] + ky) * from[2] + kx) * in;
  };
  std::vector<int16_t> phased(static_cast<size_t>(h.phases * w.phases * from[0] * kernel * in));
  auto to = phased.begin();
  for (int64_t phase = 0; phase < h.phases * w.phases; ++phase)
    for (int64_t o = 0; o < from[0]; ++o)
      for (int64_t t = 0; t < kernel; ++t, to += in) {
        const int64_t ky = h.source(phase / w.phases, t / w.kernel);
        const int64_t kx = w.source(phase % w.phases, t % w.kernel);
        if (ky >= 0 && kx >= 0) std::copy_n(source(o, ky, kx), in, to);
      }
  return phased;
}

// `count` times the same; one value stands for any number.
template <class T>
void repeat(std::vector<T>* values, int64_t count) {
  const std::vector<T> once = *values;
  if (once.size() == 1) return;
  for (int64_t i = 1; i < count; ++i) values->insert(values->end(), once.begin(), once.end());
}

// The outputs of all phases, [n, h, w, phases * c], as the image that they are parts of.
ValueId interleaved(Importer& importer, const Op& op, ValueId y, const PhasedAxis& h,
                    const PhasedAxis& w, const Shape& image, const Quant& quant) {
  const int64_t n = image[0], c = image[3];
  if (h.phases * w.phases > 1) {
    const Shape turned{n, h.steps, h.phases, w.steps, w.phases, c};
    y = importer.reshape(op, y, {n, h.steps, w.steps, h.phases, w.phases, c});
    const ValueId t = importer.new_value("", quant.stored_type(), turned, &quant);
    importer.add_node<fb::TransposeOptionsT>(op, {y}, t).perm = {0, 1, 3, 2, 4, 5};
    y = importer.reshape(op, t, {n, h.steps * h.phases, w.steps * w.phases, c});
  }
  IndexMaps maps(importer.shape_of(y));
  for (const int axis : {1, 2})
    if (maps.from()[axis] != image[axis]) maps.set(axis, stepped(0, image[axis], 1));
  if (maps.is_identity()) return y;
  const ValueId cropped = importer.new_value("", quant.stored_type(), image, &quant);
  importer.add_node<fb::GatherOptionsT>(op, {y}, cropped) = maps.options(0);
  return cropped;
}

}  // namespace

// A convolution of all phases (common/transpose_conv.h). Sizes and padding come from the forward
// convolution that would take the output as its input.
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
  QRT_TRY(check_index_count(y[1]));
  QRT_TRY(check_index_count(y[2]));
  WindowAxis rows{w[1], o.stride_h}, cols{w[2], o.stride_w};
  QRT_TRY(place_window(y[1], o.padding, &rows));
  QRT_TRY(place_window(y[2], o.padding, &cols));
  const PhasedAxis ph(x[1], y[1], w[1], rows.stride, 1, rows.pad_before);
  const PhasedAxis pw(x[2], y[2], w[2], cols.stride, 1, cols.pad_before);
  for (const PhasedAxis* axis : {&ph, &pw})
    if (axis->pad_before > kMaxField || axis->pad_after > kMaxField)
      return error(Code::kUnsupported, "padding is above 65535");
  const int64_t phases = ph.phases * pw.phases, kernel = ph.kernel * pw.kernel;
  const int64_t growth = phases * kernel / (w[1] * w[2]);
  if (growth > kMostGrowth && growth * w.elements() > kFreeWeights)
    return importer.refuse(op,
                           "as a convolution of its phases its weights would be " +
                               std::to_string(growth) + " times as many",
                           importer.output(op).name,
                           "use a stride closer to the size of the kernel");

  linear.channels = w[0];
  Status status;
  if (!read_weights(importer, conv_op, Layer::kConv, 0, &linear) ||
      !read_bias(importer, conv_op, kTransposeConvBias, TensorType::INT64, &linear, &status))
    return status;
  linear.weights = phased_weights(linear.weights, w, ph, pw);
  linear.channels = w[0] * phases;
  repeat(&linear.multipliers, phases);
  linear.bias.resize(static_cast<size_t>(linear.channels));
  for (size_t c = static_cast<size_t>(w[0]); c < linear.bias.size(); ++c)
    linear.bias[c] = linear.bias[c - static_cast<size_t>(w[0])];
  const auto per_channel = static_cast<size_t>(kernel * w[3]);
  if (!prove_sums(importer, conv_op, linear, per_channel, static_cast<size_t>(kernel),
                  [&](size_t i) { return i / per_channel; }) ||
      !finish_linear(importer, conv_op, o.fused_activation_function, &linear))
    return status;

  const ValueId weights =
      add_weights(importer, conv_op, linear, {linear.channels, ph.kernel, pw.kernel, w[3]}, 0);
  const ValueId bias = add_bias(importer, conv_op, linear);
  const ValueId value = importer.value(conv_op, 0);
  const ValueId apart = importer.new_value(
      "", linear.out.stored_type(), {x[0], ph.steps, pw.steps, linear.channels}, &linear.out);
  auto& conv = importer.add_node<fb::Conv2DOptionsT>(op, {value, weights, bias}, apart);
  conv.pad_top = static_cast<uint16_t>(ph.pad_before);
  conv.pad_bottom = static_cast<uint16_t>(ph.pad_after);
  conv.pad_left = static_cast<uint16_t>(pw.pad_before);
  conv.pad_right = static_cast<uint16_t>(pw.pad_after);
  set_zero_point(linear.in, &conv.input_zero_point, &conv.input_zero_point_16);
  conv.requant = std::move(linear.requant);
  const ValueId image = interleaved(importer, op, apart, ph, pw, y, linear.out);
  importer.graph().values[image].name = importer.output(op).name;
  importer.set_output(op, image);
  importer.became(op, phases > 1 ? "Conv2D, Transpose" : "Conv2D", "I0");
  return Status();
}

}  // namespace qrt::convert::from_tflite
