// SPDX-License-Identifier: Apache-2.0
// Conv between DequantizeLinear and QuantizeLinear, and QLinearConv: Conv2D or DepthwiseConv2D, of
// volumes over their planes.
#include <algorithm>

#include "converter/import/onnx/arithmetic/int16.h"
#include "converter/import/onnx/arithmetic/linear.h"
#include "converter/import/onnx/float_fallback/products.h"
#include "converter/import/onnx/ops/handlers.h"
#include "converter/import/onnx/plane_layer.h"

namespace qrt::convert::from_onnx {
namespace {

struct Convolution {
  ValueId x = kNoValue;
  ValueId x_zero_point = kNoValue;  // of the run; x_quant's is 0 then
  Quant x_quant, w_quant;
  ConstantPtr weights;  // [out, in / groups, ((kd,) kh,) kw]
  Image image;
  Window window;
  PlaneLayer planes;
  int64_t groups = 1, out = 0;
  std::vector<float> products;
  std::vector<int32_t> bias;
  bool bias_is_rounded = false;       // from integers of another scale
  bool bias_is_float = false;         // ONNX Runtime adds the bias in float
  bool bias_has_other_scale = false;  // with such a bias ONNX Runtime does not convolve in integers
  std::vector<double> real_bias;

  Shape shape() const { return image.shape(out, window.depth.output, window.output); }
};

// Reads geometry and types. *known stays false where the node was refused.
Status read_convolution(Importer& importer, const NodeView& node, const Shape& x, const Tensor& w,
                        bool channels_last, Convolution* conv, bool* known) {
  QRT_TRY(read_image(importer, node, x, channels_last, kMostDimensions, &conv->image, known));
  if (!*known) return Status();
  *known = false;
  conv->weights = w.constant;
  const Shape& ws = w.shape;
  QRT_MODEL_CHECK(ws.rank() == x.rank(), "the weights have shape %s, the input %s",
                  ws.to_string().c_str(), x.to_string().c_str());
  conv->groups = node.integer("group", 1);
  conv->out = ws[0];
  QRT_MODEL_CHECK(
      conv->groups >= 1 && conv->out >= 1 && conv->out % conv->groups == 0 && ws[1] >= 1 &&
          conv->image.c % conv->groups == 0 && conv->image.c / conv->groups == ws[1],
      "weights of shape %s do not fit %lld input channels in %lld groups", ws.to_string().c_str(),
      static_cast<long long>(conv->image.c), static_cast<long long>(conv->groups));
  const std::vector<int64_t> kernel(ws.begin() + 2, ws.end());
  QRT_MODEL_CHECK(!node.has("kernel_shape") || node.integers("kernel_shape") == kernel,
                  "kernel_shape differs from the weights' shape %s", ws.to_string().c_str());
  QRT_TRY(read_window(node, conv->image, kernel, false, &conv->window));
  QRT_TRY(plan_plane_layer(conv->image, conv->window, conv->groups, &conv->planes));
  if (!conv->w_quant.per_tensor() && conv->w_quant.axis != 0)
    return importer.refuse(node,
                           "the weights are quantised along axis " +
                               std::to_string(conv->w_quant.axis) + ", not per output channel",
                           node.input(1), "quantise the weights per tensor or along axis 0");
  conv->products = product_scales(1.0f, conv->x_quant.scale[0], conv->w_quant);
  *known = true;
  return Status();
}

// Weights less their zero points. Source order [out, in, tap]; here [out, tap, in] of the planes.
template <class T>
std::vector<T> centred(const Convolution& c) {
  const std::vector<int64_t>& source = c.planes.source;
  const int64_t of_output = c.weights->elements() / c.out;
  return centred_weights<T>(
      *c.weights, c.w_quant, c.out, static_cast<int64_t>(source.size()),
      [&](int64_t o, int64_t i) { return o * of_output + source[static_cast<size_t>(i)]; });
}

// Returns the output of a layer whose sums are `sums`.
ValueId emit_fine_bias(Importer& importer, const NodeView& node, const std::string& ops,
                       ValueId sums, LayerConstants::FineBias fine, const Quant& out) {
  GraphBuilder& builder = importer.builder();
  const ValueId y = builder.new_value("", DType::kUInt8, builder.shape_of(sums), &out);
  builder.add<fb::RequantizeOptionsT>({node.name(), ops}, {sums, fine.bias}, y).requant =
      std::move(fine.requant);
  return y;
}

// Returns whether it runs as DepthwiseConv2D, which gives no accumulators.
bool is_depthwise(const Convolution& c) { return c.planes.in == 1 && c.groups > 1; }

// A depthwise layer as a convolution in fewer groups, of up to 16 input channels each and with zeros
// for those that an output does not see: a product of one channel would leave most of a register
// unused.
struct Blocks {
  int64_t groups, in;  // input channels of a group
  std::vector<int16_t> weights;
};

Blocks in_blocks(const Convolution& c, const std::vector<int16_t>& weights) {
  constexpr int64_t kMostChannels = 16;
  int64_t in = kMostChannels;
  while (c.groups % in != 0) --in;
  const int64_t taps = c.planes.kernel_size(), multiplier = c.out / c.groups;
  Blocks blocks = {c.groups / in, in,
                   std::vector<int16_t>(weights.size() * static_cast<size_t>(in))};
  for (int64_t o = 0; o < c.out; ++o)
    for (int64_t t = 0; t < taps; ++t)
      blocks.weights[static_cast<size_t>((o * taps + t) * in + o / multiplier % in)] =
          weights[static_cast<size_t>(o * taps + t)];
  return blocks;
}

// The accumulators without `out`.
ValueId emit(Importer& importer, const NodeView& node, const std::string& ops, const Convolution& c,
             LayerConstants constants, const Quant* out) {
  Graph& graph = importer.graph();
  const Window& window = c.planes.window;
  int64_t groups = c.groups, in = c.planes.in;
  const int64_t taps = c.planes.kernel_size();
  const bool gives_sums = out == nullptr || constants.fine_bias.has_value();
  const bool depthwise = !gives_sums && is_depthwise(c);
  std::vector<int16_t> centred = std::move(constants.weights);
  if (gives_sums && is_depthwise(c)) {
    Blocks blocks = in_blocks(c, centred);
    groups = blocks.groups;
    in = blocks.in;
    centred = std::move(blocks.weights);
  }
  Shape weights_shape{c.out, window.kernel[0], window.kernel[1], in};
  if (depthwise) {
    weights_shape = {window.kernel[0], window.kernel[1], c.out};
    std::vector<int16_t> by_tap(centred.size());
    for (int64_t o = 0; o < c.out; ++o)
      for (int64_t t = 0; t < taps; ++t)
        by_tap[static_cast<size_t>(t * c.out + o)] = centred[static_cast<size_t>(o * taps + t)];
    centred = std::move(by_tap);
  }
  const ValueId weights = graph.add_constant(node.input(1), DType::kInt16, weights_shape, centred);
  graph.values[weights].weight_bits = packed_bits(c.weights->type);
  graph.values[weights].quantization = centred_quantization(c.w_quant, depthwise ? 2 : 0);
  const bool is_int16 = constants.type == DType::kInt16;
  const int zero = c.x_quant.stored_zero_point();
  ValueId x = planes_of(importer, node, c.planes, zero, c.x_zero_point, c.x);
  if (is_int16) x = importer.builder().widened(node, x);
  const ValueId bias = constants.bias;
  ValueId y = importer.builder().new_value("", gives_sums ? DType::kInt32 : constants.type,
                                           c.planes.result(c.out), gives_sums ? nullptr : out);
  const auto set_zero_point_of = [&](auto* o) {
    o->input_zero_point = is_int16 ? 0 : static_cast<uint8_t>(zero);
    o->input_zero_point_16 = is_int16 ? static_cast<int16_t>(zero) : 0;
  };
  Node n;
  if (depthwise) {
    n = make_node<fb::DepthwiseConv2DOptionsT>(node.name(), ops, {x, weights, bias}, {y});
    auto& o = options<fb::DepthwiseConv2DOptionsT>(n);
    set_window(window, &o);
    set_dilation(window, &o);
    o.multiplier = static_cast<uint32_t>(c.out / c.groups);
    set_zero_point_of(&o);
    o.requant = std::move(constants.requant);
  } else {
    n = make_node<fb::Conv2DOptionsT>(node.name(), ops, {x, weights, bias}, {y});
    if (c.x_zero_point != kNoValue) n.inputs.push_back(c.x_zero_point);
    auto& o = options<fb::Conv2DOptionsT>(n);
    set_window(window, &o);
    set_dilation(window, &o);
    o.groups = static_cast<uint32_t>(groups);
    set_zero_point_of(&o);
    o.requant = std::move(constants.requant);
  }
  graph.nodes.push_back(std::move(n));
  importer.became(node, depthwise ? "DepthwiseConv2D" : "Conv2D",
                  gives_sums || is_int16 ? "I0" : "I1");
  if (constants.fine_bias)
    y = emit_fine_bias(importer, node, ops, y, std::move(*constants.fine_bias), *out);
  const bool narrows = is_int16 && !out->is_int16();
  const ValueId result = from_planes(importer, node, c.image, c.window,
                                     narrows ? importer.builder().narrowed(node, y, out) : y);
  if (!c.image.channels_last) importer.builder().mark(result);
  return result;
}

// A bias that was rounded from another scale moves the output by less than this part of a step.
constexpr float kBiasError = 0.25f;

LayerConstants byte_constants(Importer& importer, const Convolution& c,
                              std::unique_ptr<fb::RequantT> requant) {
  return byte_constants(importer, centred<int16_t>(c), c.bias, std::move(requant));
}

Int16Source int16_source(const Convolution& c) {
  Int16Source s;
  s.weights = centred<int32_t>(c);
  s.out = c.out;
  s.padded_in = c.planes.kernel_size() * ((c.planes.in + 3) / 4 * 4);
  s.products = int16_products(1.0f, c.x_quant, c.w_quant);
  s.bias = c.real_bias;
  s.x_zero_point = c.x_quant.stored_zero_point();
  return s;
}

bool is_int16(const Convolution& c) { return c.x_quant.is_int16() || c.w_quant.is_int16(); }

Status emit_int16(Importer& importer, const NodeView& node, const std::string& ops,
                  const Convolution& c, const Quant& out, Limits limits, ValueId* result) {
  const Int16Source source = int16_source(c);
  auto layer = make_int16_layer(importer, node, source, out, limits);
  if (!layer) return Status();
  if (!is_int16(c) && !out.is_int16()) {
    auto bytes = as_byte_sums(importer, source, *layer);
    if (bytes) layer = std::move(bytes);
  }
  *result = emit(importer, node, ops, c, std::move(*layer), &out);
  return Status();
}

Status emit_quantized(Importer& importer, const NodeView& node, const std::string& ops,
                      Convolution c, const Quant& out, Limits limits, ValueId* result) {
  if (c.bias_has_other_scale && (limits.cut(out) || out.type != c.x_quant.type)) {
    c.bias = rounded_bias(c.real_bias, c.products);
    c.bias_is_rounded = true;
  }
  bool coarse = false;
  for (size_t i = 0; (c.bias_is_rounded || c.bias_is_float) && i < c.products.size(); ++i)
    coarse = coarse || c.products[i] * 0.5f > kBiasError * out.scale[0];
  if (is_int16(c) || out.is_int16() || coarse)
    return emit_int16(importer, node, ops, c, out, limits, result);
  auto requant = byte_requant(importer, node, c.products, out, limits);
  if (!requant) return Status();
  *result = emit(importer, node, ops, c, byte_constants(importer, c, std::move(requant)), &out);
  return Status();
}

// Makes the floats that ONNX Runtime has where no QuantizeLinear follows: it multiplies what the
// integers stand for.
Status emit_float(Importer& importer, const NodeView& node, const Convolution& c, ValueId* result) {
  FloatGraph f(importer, node);
  ValueId x = kNoValue, w = kNoValue, y = kNoValue;
  if (!f.read(0, &x) || !f.read(1, &w)) return Status();
  QRT_TRY(float_conv_sums(&f, x, w, &y));
  if (y == kNoValue) return Status();
  importer.became(node, "Float", "I1");
  *result = node.has_input(2) ? add_float_bias(importer, node, y, c.real_bias, 1) : y;
  return importer.tensors().check_growth(importer.graph());
}

}  // namespace

Status import_conv(Importer& importer, const NodeView& node) {
  const Tensor &x = importer.input(node, 0), &w = importer.input(node, 1);
  if (!x.is_fusible()) return importer.refuse_float(node, 0);
  int lo, hi;
  if (!w.is_constant() || !w.quant || !quantized_range(w.type, &lo, &hi))
    return refuse_weights(importer, node, 1);
  Convolution conv;
  conv.x = x.value;
  conv.x_quant = *x.quant;
  conv.w_quant = *w.quant;
  bool known;
  QRT_TRY(read_convolution(importer, node, x.shape, w, false, &conv, &known));
  if (!known) return Status();
  std::optional<std::vector<int32_t>> bias;
  QRT_TRY(read_bias(importer, node, 2, conv.out, conv.products, BiasScale::kRounded, &bias));
  if (!bias) return Status();
  conv.bias = std::move(*bias);
  conv.bias_has_other_scale =
      node.has_input(2) && has_other_scale(importer.input(node, 2), conv.products);
  bool leads;
  QRT_TRY(leads_to_quantize(importer, node, &leads));
  // A convolution of floats, whose result something else than a QuantizeLinear reads, adds the
  // numbers that the bias stands for.
  const bool in_float = !leads || importer.uses(node.output(0)) > 1 ||
                        !has_integer_product(conv.x_quant, conv.w_quant);
  conv.bias_is_rounded = node.has_input(2) && (is_rounded(importer.input(node, 2), conv.products) ||
                                               (conv.bias_has_other_scale && in_float));
  const bool has_floats = node.has_input(2) && importer.input(node, 2).type == kFloat;
  conv.bias_is_float = has_floats && !(leads && importer.input(node, 2).shape.rank() == 1);
  conv.real_bias = has_floats && !conv.bias_is_float ? bias_of_integers(conv.bias, conv.products)
                                                     : real_bias(importer, node, 2, conv.out);
  // Where the bias of one channel has another scale, ONNX Runtime takes none of them as integers,
  // so all are rounded anew.
  if (conv.bias_is_rounded) conv.bias = rounded_bias(conv.real_bias, conv.products);
  const auto pending = defer(importer, node, conv.shape());
  const std::string* ops = &pending->ops;
  pending->emit = [&importer, &node, conv, ops](const Quant& out, Limits limits, ValueId* result) {
    return emit_quantized(importer, node, *ops, conv, out, limits, result);
  };
  pending->emit_float = [&importer, &node, conv](ValueId* result) {
    return emit_float(importer, node, conv, result);
  };
  return Status();
}

Status import_qlinear_conv(Importer& importer, const NodeView& node) {
  const Tensor &x = importer.input(node, 0), &w = importer.input(node, 3);
  if (!x.is_value()) return importer.refuse_float(node, 0);
  if (!w.is_plain_constant() || !is_byte_weight(w.type)) return importer.refuse_float(node, 3);
  std::optional<Quant> x_quant, w_quant, y_quant;
  QRT_TRY(read_tensor_quant(importer, node, 1, 2, x.type, &x_quant));
  if (!x_quant) return Status();
  QRT_TRY(read_quant(importer, node, 4, 5, w.type, w.shape, 0, &w_quant));
  if (!w_quant) return Status();
  QRT_TRY(read_tensor_quant(importer, node, 6, 7, kUndefined, &y_quant));
  if (!y_quant) return Status();
  Convolution conv;
  conv.x = importer.builder().with_quant(node, x.value, *x_quant);
  conv.x_quant = *x_quant;
  conv.w_quant = *w_quant;
  bool known;
  const bool channels_last = node.integer("channels_last", 0) != 0;
  QRT_TRY(read_convolution(importer, node, x.shape, w, channels_last, &conv, &known));
  if (!known) return Status();
  conv.bias.assign(static_cast<size_t>(conv.out), 0);
  if (node.has_input(8)) {
    const Tensor& b = importer.input(node, 8);
    if (!b.is_plain_constant() || b.type != kInt32) return importer.refuse_float(node, 8);
    QRT_MODEL_CHECK(b.constant->elements() == conv.out, "the bias has %lld elements, expected %lld",
                    static_cast<long long>(b.constant->elements()),
                    static_cast<long long>(conv.out));
    conv.bias.assign(b.constant->as<int32_t>(), b.constant->as<int32_t>() + conv.out);
  }
  Tensor y;
  y.kind = Tensor::Kind::kValue;
  y.type = onnx_type(y_quant->type);
  y.shape = conv.shape();
  QRT_TRY(emit_quantized(importer, node, node.op(), conv, *y_quant, Limits(), &y.value));
  if (y.value == kNoValue) return Status();
  y.value = importer.builder().with_quant(node, y.value, *y_quant);
  importer.set_output(node, 0, std::move(y));
  return Status();
}

Status import_conv_integer(Importer& importer, const NodeView& node) {
  Convolution conv;
  bool known;
  QRT_TRY(
      read_conv_integer(importer, node, &conv.x_quant, &conv.x_zero_point, &conv.w_quant, &known));
  if (!known) return Status();
  const Tensor &x = importer.input(node, 0), &w = importer.input(node, 1);
  conv.x = importer.builder().with_quant(node, x.value, conv.x_quant);
  QRT_TRY(read_convolution(importer, node, x.shape, w, false, &conv, &known));
  if (!known) return Status();
  conv.bias.assign(static_cast<size_t>(conv.out), 0);
  Tensor y;
  y.kind = Tensor::Kind::kValue;
  y.type = kInt32;
  y.shape = conv.shape();
  y.value = emit(importer, node, node.op(), conv,
                 byte_constants(importer, conv, std::make_unique<fb::RequantT>()), nullptr);
  y.is_dynamic = true;
  importer.set_output(node, 0, std::move(y));
  return Status();
}

}  // namespace qrt::convert::from_onnx
