// SPDX-License-Identifier: Apache-2.0
// Products with constant weights: bytes times bytes, sums of 32 bits.
#include <algorithm>
#include <cmath>

#include "converter/quantize/cvm/operators.h"
#include "converter/quantize/mrt.h"

namespace qrt::quantize {
namespace {

struct LayerNumbers {
  const LayerParameters* parameters = nullptr;
  CvmNumber x;
  std::vector<int32_t> factor;  // of each output channel
  double unit = 1;              // real = sum * factor[c] * unit
};

Status read_layer(const Node& node, CvmValues* values, LayerNumbers* layer) {
  const Layer* of =
      values->placement().layer_of(static_cast<size_t>(&node - values->model().nodes.data()));
  if (!of || values->parameters().layers.count(of->node) == 0)
    return error(Code::kUnsupported, "its weights are no constant, or its input is not quantised");
  layer->parameters = &values->parameters().layers.at(of->node);
  QRT_TRY(values->as_byte(of->input, &layer->x));
  const std::vector<float>& scale = layer->parameters->scale;
  const double most = static_cast<double>(*std::max_element(scale.begin(), scale.end()));
  layer->unit = scale.size() == 1 ? most : most / kMostFactor;
  for (const float s : scale)
    layer->factor.push_back(
        std::max(static_cast<int32_t>(std::lround(static_cast<double>(s) / layer->unit)), 1));
  layer->unit *= layer->x.step;
  return {};
}

// Adds weights of `shape`, whose first dimension is the channels, and the bias. *precision is that of the
// sums as the runtime infers it from precisions, *needed the bits that the sums with these weights take.
void add_parameters(const LayerNumbers& layer, const std::vector<int16_t>& codes, const Dims& shape,
                    CvmNumbers* numbers, int* weights, int* bias, int* precision, int* needed) {
  const std::vector<int32_t> w(codes.begin(), codes.end());
  *weights = numbers->symbol().add_parameter(shape, kCvmByte, w);
  const auto channels = static_cast<size_t>(shape[0]);
  const size_t each = w.size() / channels;
  std::vector<int32_t> b;
  int64_t most_bias = 0, most = 0;
  // sum((x - zero) * w): weights have no zero point, so that c1 is 0 and c2 a constant of the channel.
  const mrt::ZeroPointTerms zero = mrt::zero_point_terms(w, channels, layer.x.zero, {0});
  const std::vector<float>& real_bias = layer.parameters->bias;
  const bool has_bias = !real_bias.empty() || layer.x.zero != 0;
  for (size_t c = 0; c < channels; ++c) {
    if (has_bias) {
      const double unit = layer.unit * layer.factor[layer.factor.size() > 1 ? c : 0];
      const double real = real_bias.empty() ? 0 : static_cast<double>(real_bias[c]);
      b.push_back(mrt::clip(mrt::quantize(real, 1 / unit, 31) + zero.c2[c], 31));
      most_bias = std::max<int64_t>(most_bias, std::abs(b.back()));
    }
    int64_t sum = b.empty() ? 0 : std::abs(b.back());
    for (size_t i = 0; i < each; ++i)
      sum += mrt::alpha(kCvmByte) * std::abs(static_cast<int64_t>(w[c * each + i]));
    most = std::max(most, sum);
  }
  const int bias_precision = b.empty() ? 0 : mrt::bits(static_cast<uint64_t>(most_bias)) + 1;
  *bias = b.empty() ? -1 : numbers->symbol().add_parameter({shape[0]}, bias_precision, b);
  *precision = mrt::product_precision(numbers->precision(layer.x), kCvmByte,
                                      static_cast<int64_t>(each), bias_precision);
  *needed = mrt::bits(static_cast<uint64_t>(most)) + 1;
}

CvmNumber scaled(CvmNumber sums, const LayerNumbers& layer, int needed, CvmNumbers* numbers) {
  sums.step = layer.unit * (layer.factor.size() == 1 ? layer.factor[0] : 1);
  if (layer.factor.size() > 1) sums.factor = layer.factor;
  return numbers->clipped(sums, needed);
}

Status check_precision(int precision) {
  if (precision <= 32) return {};
  return error(Code::kUnsupported,
               "its sums may take %d bits and CVM has 32: it has too many weights for each output",
               precision);
}

}  // namespace

// Adds a convolution. An image with one spatial dimension is taken for one of two, with a single row.
Status cvm_conv(const Node& node, CvmValues* values) {
  LayerNumbers layer;
  QRT_TRY(read_layer(node, values, &layer));
  CvmNumbers& numbers = values->numbers();
  const Tensor& weights = *values->model().constant(node.inputs[1]);
  const size_t dims = weights.shape.size() - 2;
  if (dims < 1 || dims > 2)
    return error(Code::kUnsupported, "it has %zu dimensions and CVM's convolutions have 2", dims);
  Dims image = numbers.shape(layer.x), shape = weights.shape;
  CvmWindow window;
  QRT_TRY(read_cvm_window(node, Dims(shape.begin() + 2, shape.end()),
                          Dims(image.begin() + 2, image.end()), &window));
  if (dims == 1) {
    image.insert(image.begin() + 2, 1);
    shape.insert(shape.begin() + 2, 1);
    for (auto* v : {&window.kernel, &window.stride, &window.dilation}) v->insert(v->begin(), 1);
    for (auto* v : {&window.before, &window.behind}) v->insert(v->begin(), 0);
  }
  int w, b, precision, needed;
  add_parameters(layer, layer.parameters->codes, shape, &numbers, &w, &b, &precision, &needed);
  QRT_TRY(check_precision(precision));
  CvmNumber y;
  QRT_TRY(add_cvm_conv(numbers.reshaped(layer.x, image), w, b, precision, node.integer("group", 1),
                       window, &numbers, &y));
  y = scaled(y, layer, needed, &numbers);
  if (dims == 1) {
    Dims row = numbers.shape(y);
    row.erase(row.begin() + 2);
    y = numbers.reshaped(y, row);
  }
  values->set(node.outputs[0], y);
  return {};
}

// Adds a Gemm or MatMul: rows of x times [units, k].
Status cvm_dense(const Node& node, CvmValues* values) {
  LayerNumbers layer;
  QRT_TRY(read_layer(node, values, &layer));
  CvmNumbers& numbers = values->numbers();
  const Dims from = values->model().constant(node.inputs[1])->shape;
  const Dims x = numbers.shape(layer.x);
  if (from.size() != 2 || x.size() != 2 || node.integer("transA", 0) != 0 ||
      node.real("alpha", 1) != 1 || (node.has_input(2) && node.real("beta", 1) != 1))
    return error(Code::kUnsupported,
                 "CVM multiplies a matrix by [units, k], neither transposed nor scaled");
  const bool is_transposed = node.integer("transB", 0) != 0;
  const int64_t units = from[is_transposed ? 0 : 1], k = from[is_transposed ? 1 : 0];
  std::vector<int16_t> codes = layer.parameters->codes;
  for (int64_t u = 0; !is_transposed && u < units; ++u)
    for (int64_t i = 0; i < k; ++i)
      codes[static_cast<size_t>(u * k + i)] =
          layer.parameters->codes[static_cast<size_t>(i * units + u)];
  LayerParameters own = *layer.parameters;
  if (own.bias.size() == 1 && units > 1) own.bias.resize(static_cast<size_t>(units), own.bias[0]);
  layer.parameters = &own;
  int w, b, precision, needed;
  add_parameters(layer, codes, {units, k}, &numbers, &w, &b, &precision, &needed);
  QRT_TRY(check_precision(precision));
  std::vector<int> inputs = {layer.x.entry, w};
  if (b >= 0) inputs.push_back(b);
  CvmNumber y;
  y.entry =
      numbers.add("dense", inputs, {x[0], units}, precision,
                  {{"units", std::to_string(units)}, {"use_bias", b >= 0 ? "True" : "False"}});
  values->set(node.outputs[0], scaled(y, layer, needed, &numbers));
  return {};
}

}  // namespace qrt::quantize
