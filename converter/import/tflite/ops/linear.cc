// SPDX-License-Identifier: Apache-2.0
#include "converter/import/tflite/ops/linear.h"

#include <algorithm>
#include <cmath>

#include "kernels/gemm/digits.h"

namespace qrt::convert::from_tflite {

int element(const Tensor& t, size_t i) {
  if (t.type == TensorType::UINT8) return t.data[i];
  if (t.type == TensorType::INT8) return static_cast<int8_t>(t.data[i]);
  // Two or four in a byte over the whole tensor, the lowest first.
  const size_t bits = t.type == TensorType::INT4 ? 4 : 2, each = 8 / bits;
  const int half = 1 << (bits - 1), code = t.data[i / each] >> (i % each * bits) & (2 * half - 1);
  return code < half ? code : code - 2 * half;
}

namespace {

template <class T>
std::vector<int64_t> widened(const Tensor& t) {
  std::vector<T> values(t.bytes / sizeof(T));
  __builtin_memcpy(values.data(), t.data, t.bytes);
  return {values.begin(), values.end()};
}

// Proves for int16 activations that the sums stay within what the kernels hold, and where the reference
// shifts them, within int32; multiplied, they stay within int32, which the reference truncates them to.
// `weights`: that make one output, `taps` runs of them; `channel_of` a weight's index.
bool prove_int16(Importer& importer, const Op& op, const Linear& linear, size_t weights,
                 size_t taps, const std::function<size_t(size_t)>& channel_of) {
  const auto no = [&](const std::string& rule, const char* remedy) {
    (void)importer.refuse(op, rule, importer.input(op, 1).name, remedy);
    return false;
  };
  int terms = 1;
  for (int w : linear.weights)
    while (w < -128 * terms || w > 127 * terms) ++terms;
  if ((weights + 3 * taps) * static_cast<size_t>(terms) > kMaxDigitsK)
    return no("more than 65793 weights make an output",
              "split the layer into two of fewer weights, whose int16 results ADD joins");
  const std::vector<int64_t> bound = sum_bounds(linear.weights, linear.bias, 32768, channel_of);
  for (size_t o = 0; o < bound.size(); ++o) {
    const int64_t b = linear.bias[o];
    const Multiplier& m = linear.multipliers[linear.multipliers.size() > 1 ? o : 0];
    const std::string channel = "output channel " + std::to_string(o);
    if (linear.is_64 && (b < -(int64_t{1} << 45) || b > int64_t{1} << 45))
      return no(
          "the bias of " + channel + " is beyond 2^45",
          "train or calibrate the layer again: its bias is thousands of times its output's range");
    const char* const kCalibrate =
        "it is thousands of times its output's range: give the output the range of the calibration "
        "data again";
    if (!linear.is_64 && m.exponent() > 0 && importer.rounding() == Rounding::kDouble &&
        bound[o] >= int64_t{1} << (31 - std::min(m.exponent(), 31)))
      return no("sums of " + channel + " may leave int32 where the reference shifts them",
                kCalibrate);
    // value * 2^(exponent - 31), which the kernels round to 16 bits, 2^-14 of it at most.
    const double scaled =
        static_cast<double>(bound[o]) * std::ldexp(static_cast<double>(m.value), m.exponent() - 31);
    if (scaled >= 2147352576.0)
      return no("scaled sums of " + channel + " may reach 2^" +
                    std::to_string(std::lround(std::ceil(std::log2(scaled)))) +
                    ", beyond the int32 that the reference cuts them to",
                kCalibrate);
  }
  return true;
}

// Proves that no accumulator leaves int32, for which the reference leaves the result undefined,
// also after the left shift of a multiplier above 1. Biases that leave it by themselves are taken:
// TFLite's converter clips those of dead channels, whose weights have tiny scales, to
// +-(2^31 - 1), and the reference's sums wrap modulo 2^32 there, as qrt's do. A
// multiplier of 0 makes 0 of any sum. `channel_of`: of a weight's index.
bool prove_no_overflow(Importer& importer, const Op& op, const Linear& linear,
                       const std::function<size_t(size_t)>& channel_of) {
  const std::vector<int64_t> bound = sum_bounds(linear.weights, linear.bias, 255, channel_of);
  for (size_t o = 0; o < bound.size(); ++o) {
    const Multiplier& m = linear.multipliers[linear.multipliers.size() > 1 ? o : 0];
    if (m.value == 0) continue;
    const bool shifts = m.exponent() > 0 && importer.rounding() == Rounding::kDouble;
    const int left = shifts ? std::min(m.exponent(), 31) : 0;
    const int64_t products = bound[o] - std::abs(linear.bias[o]);
    if ((left == 0 ? products : bound[o]) >> (31 - left) == 0) continue;
    (void)importer.refuse(
        op,
        "sums of output channel " + std::to_string(o) + " may reach " + std::to_string(bound[o]) +
            ", beyond what the reference kernels define",
        importer.input(op, 1).name,
        left == 0 ? "split the layer into two of fewer weights, whose int8 results ADD joins"
                  : "calibrate the output again: its scale is less than the product of the input's "
                    "and the weights'");
    return false;
  }
  return true;
}

}  // namespace

void ignore_zero_points(Linear* linear) {
  if (linear->in.is_int16()) linear->in.zero_point = linear->out.zero_point = {0};
}

bool read_weights(Importer& importer, const Op& op, Layer layer, int channel_axis, Linear* linear) {
  const Tensor& w = importer.input(op, 1);
  const std::string quoted = importer.quoted_input(op, 1);
  const auto no = [&](const std::string& rule, const char* remedy) {
    (void)importer.refuse(op, quoted + " " + rule, w.name, remedy);
    return false;
  };
  const bool is_legacy = linear->in.type == DType::kUInt8;
  const bool is_dense = layer == Layer::kFullyConnected;
  const bool fits =
      is_legacy ? w.type == TensorType::UINT8
                : w.type == TensorType::INT8 ||
                      (w.type == TensorType::INT4 && (is_dense || !linear->in.is_int16())) ||
                      (w.type == TensorType::INT2 && is_dense);
  if (!fits)
    return no(std::string("is ") + type_name(w.type) + ", which does not go with a " +
                  dtype_name(linear->in.type) + " input",
              "quantise weights and activations to int8");
  if (!w.is_constant) return no("is not a constant", "store the weights as constants of the model");
  if (w.scale.empty()) return no("has no scale", "quantise the weights to int8, with a scale");
  const bool per_channel = w.scale.size() > 1;
  if (per_channel && w.axis != channel_axis)
    return no("is quantised along dimension " + std::to_string(w.axis),
              "quantise the weights along their output channels");
  if (per_channel && w.shape[w.axis] != static_cast<int64_t>(w.scale.size()))
    return no("has " + std::to_string(w.scale.size()) + " scales for " +
                  std::to_string(w.shape[w.axis]) + " channels",
              "quantise the weights with one scale, or one for every output channel");
  if (per_channel && is_legacy)
    return no("is uint8 and quantised per channel",
              "convert the model with int8 activations (TFLITE_BUILTINS_INT8)");
  for (float s : w.scale)
    if (!std::isnormal(s))
      return no("has a scale that is not a normal positive number",
                "calibrate again with samples in which this tensor takes its usual values: "
                "qrt_convert --lint names the scales");
  // The int8 kernels look at a weight zero point in FULLY_CONNECTED with one scale only.
  const bool centred = is_legacy || (is_dense && !per_channel);
  const int64_t zero_point = centred ? w.zero_point[0] : 0;
  if (zero_point < (is_legacy ? 0 : -128) || zero_point > (is_legacy ? 255 : 127))
    return no("has a zero point outside its type", "quantise the weights symmetrically");
  linear->weights.resize(static_cast<size_t>(w.shape.elements()));
  for (size_t i = 0; i < linear->weights.size(); ++i)
    linear->weights[i] = static_cast<int16_t>(element(w, i) - zero_point);

  const double in = linear->in.scale[0], out = linear->out.scale[0];
  const bool float_product = is_legacy || (is_dense && !per_channel);
  for (float s : w.scale)
    linear->multipliers.push_back(importer.multiplier(
        (float_product ? static_cast<double>(linear->in.scale[0] * s) : in * s) / out));
  return true;
}

bool read_bias(Importer& importer, const Op& op, const BiasTypes& types, Linear* linear,
               Status* status) {
  const bool is_int16 = linear->in.is_int16();
  linear->bias.assign(static_cast<size_t>(linear->channels), 0);
  linear->is_64 = is_int16 && !types.missing_adds_32;
  if (!op.has_input(2)) return true;
  const Tensor& b = importer.input(op, 2);
  const bool fits = b.type == TensorType::INT32 || (is_int16 && b.type == TensorType::INT64) ||
                    (is_int16 && types.takes_int16 && b.type == TensorType::INT16);
  if (!b.is_constant || !fits) {
    *status = importer.refuse(
        op,
        importer.quoted_input(op, 2) + " is not an " +
            (!is_int16           ? "int32"
             : types.takes_int16 ? "int64, int32 or int16"
                                 : "int64 or int32") +
            " constant",
        b.name,
        is_int16 ? "store the bias as int64 with the product of the scales of input and weights"
                 : "store the bias as int32 with the product of the scales of input and weights");
    return false;
  }
  linear->is_64 = is_int16 && !(b.type == TensorType::INT32 && types.int32_adds_32);
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

bool finish_linear(Importer& importer, const Op& op, tflite::ActivationFunctionType activation,
                   Linear* linear) {
  // The activation counts from the file's zero point, also where the sums ignore it.
  Quant declared = linear->out;
  declared.zero_point[0] = static_cast<int32_t>(importer.output(op).zero_point[0]);
  const Limits limits = activation_limits(activation, declared);
  linear->requant = linear->is_64
                        ? make_requant_64(importer, op, linear->multipliers, linear->out, limits)
                        : make_requant(importer, op, linear->multipliers, linear->out, limits);
  return linear->requant != nullptr;
}

ValueId add_weights(Importer& importer, const Op& op, const Linear& linear, const Shape& shape,
                    int axis) {
  Graph& graph = importer.graph();
  const Tensor& w = importer.input(op, 1);
  const ValueId id = graph.add_constant(w.name, DType::kInt16, shape, linear.weights);
  graph.values[id].weight_bits = w.type == TensorType::INT4   ? 4
                                 : w.type == TensorType::INT2 ? 2
                                                              : 0;
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

bool prove_sums(Importer& importer, const Op& op, const Linear& linear, size_t weights, size_t taps,
                const std::function<size_t(size_t)>& channel_of) {
  return linear.in.is_int16() ? prove_int16(importer, op, linear, weights, taps, channel_of)
                              : prove_no_overflow(importer, op, linear, channel_of);
}

Status check_image(const Importer& importer, const Op& op) {
  const Shape &x = importer.input(op, 0).shape, &w = importer.input(op, 1).shape;
  QRT_MODEL_CHECK(x.rank() == 4 && w.rank() == 4, "input and weights have shapes %s and %s",
                  x.to_string().c_str(), w.to_string().c_str());
  QRT_MODEL_CHECK(x.elements() > 0 && w.elements() > 0, "input or weights have no elements");
  return Status();
}

}  // namespace qrt::convert::from_tflite
