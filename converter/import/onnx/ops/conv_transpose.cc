// ConvTranspose between DequantizeLinear and QuantizeLinear: a convolution of all its phases
// (common/transpose_conv.h), interleaved. ONNX Runtime computes it in float; the integers are
// exact, and the one requantisation rounds as that of a QLinearConv.
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>

#include "converter/import/common/transpose_conv.h"
#include "converter/import/onnx/arithmetic/int16.h"
#include "converter/import/onnx/arithmetic/linear.h"
#include "converter/import/onnx/ops/handlers.h"
#include "converter/import/onnx/window.h"

namespace qrt::convert::from_onnx {
namespace {

struct TransposedConvolution {
  ValueId x = kNoValue;
  Quant x_quant, w_quant;
  ConstantPtr weights;  // [in, out / groups, (kh,) kw]
  Image image;
  int64_t groups = 1, out = 0;
  int64_t kernel[2] = {1, 1}, stride[2] = {1, 1}, dilation[2] = {1, 1};
  int64_t before[2] = {0, 0}, output[2] = {1, 1};
  std::vector<float> products;         // one, or one per output channel
  std::vector<double> int16_products;  // the same of 16 bits
  std::vector<int32_t> bias;
  std::vector<double> real_bias;
};

// Padding and output size, as the operator's text has them.
Status read_output(const NodeView& node, TransposedConvolution* c) {
  const int d = c->image.dimensions;
  int64_t extra[2] = {0, 0}, pads_before[2] = {0, 0}, pads_after[2] = {0, 0};
  QRT_TRY(read_extents(node, "strides", d, 1, c->stride));
  QRT_TRY(read_extents(node, "dilations", d, 1, c->dilation));
  QRT_TRY(read_extents(node, "output_padding", d, 0, extra));
  const std::string auto_pad = node.text("auto_pad", "NOTSET");
  const bool upper = auto_pad == "SAME_UPPER", same = upper || auto_pad == "SAME_LOWER";
  QRT_MODEL_CHECK(same || auto_pad == "NOTSET" || auto_pad == "VALID" || auto_pad.empty(),
                  "auto_pad is '%s', expected NOTSET, VALID, SAME_UPPER or SAME_LOWER",
                  auto_pad.c_str());
  if (!same && auto_pad != "VALID") QRT_TRY(read_pads(node, d, pads_before, pads_after));
  std::vector<int64_t> wanted = node.integers("output_shape");
  if (static_cast<int>(wanted.size()) == d + 2) wanted.erase(wanted.begin(), wanted.begin() + 2);
  QRT_MODEL_CHECK(wanted.empty() || static_cast<int>(wanted.size()) == d,
                  "output_shape has %zu entries, expected %d", wanted.size(), d);
  for (int i = 2 - d; i < 2; ++i) {
    const int64_t full =
        c->stride[i] * (c->image.size[i] - 1) + extra[i] + c->dilation[i] * (c->kernel[i] - 1) + 1;
    int64_t out = full - pads_before[i] - pads_after[i];
    c->before[i] = pads_before[i];
    if (!wanted.empty() || same) {
      // SAME does not fill up what a kernel smaller than its stride leaves open.
      out = wanted.empty() ? std::min(c->image.size[i] * c->stride[i], full)
                           : wanted[static_cast<size_t>(i - (2 - d))];
      const int64_t total = std::max<int64_t>(0, full - out);
      c->before[i] = upper ? total / 2 : total - total / 2;
    }
    QRT_MODEL_CHECK(out >= 1 && out <= INT32_MAX,
                    "the output has %lld positions along axis %d, expected 1 to 2^31 - 1",
                    static_cast<long long>(out), i + d);
    c->output[i] = out;
  }
  return Status();
}

// The convolution of all phases.
struct Phases {
  explicit Phases(const TransposedConvolution& c)
      : h(c.image.size[0], c.output[0], c.kernel[0], c.stride[0], c.dilation[0], c.before[0]),
        w(c.image.size[1], c.output[1], c.kernel[1], c.stride[1], c.dilation[1], c.before[1]),
        count(h.phases * w.phases),
        channels(c.out * count),
        in(c.image.c / c.groups),
        is_depthwise(in == 1 && c.groups > 1) {}

  PhasedAxis h, w;
  int64_t count, channels;  // channels: outputs of the convolution
  int64_t in;               // inputs of a group
  bool is_depthwise;
};

// Channel of the convolution that computes a phase of an output channel: phases outermost, so that
// interleaving moves whole pixels; with groups, innermost, so that a group's channels are adjacent.
int64_t channel_of(const TransposedConvolution& c, const Phases& p, int64_t phase, int64_t o) {
  return c.groups == 1 ? phase * c.out + o : o * p.count + phase;
}

// One value for each channel of the convolution, of those of the source: one, or one per channel.
template <class T>
std::vector<T> spread(const TransposedConvolution& c, const Phases& p,
                      const std::vector<T>& values) {
  if (values.size() == 1) return values;
  std::vector<T> result(static_cast<size_t>(p.channels));
  for (int64_t phase = 0; phase < p.count; ++phase)
    for (int64_t o = 0; o < c.out; ++o)
      result[static_cast<size_t>(channel_of(c, p, phase, o))] = values[static_cast<size_t>(o)];
  return result;
}

// The same with a value for each channel in any case.
template <class T>
std::vector<T> spread_to_all(const TransposedConvolution& c, const Phases& p,
                             const std::vector<T>& values) {
  std::vector<T> result = spread(c, p, values);
  result.resize(static_cast<size_t>(p.channels), values[0]);
  return result;
}

// Weights beyond kFreeWeights may be kMostGrowth times those of the file: most are zero then.
constexpr int64_t kFreeWeights = int64_t{1} << 22, kMostGrowth = 64;

// [n, h, w, c] without what lies beyond `size`.
ValueId crop_image(Importer& importer, const NodeView& node, ValueId y, const int64_t* size) {
  Shape shape = importer.builder().shape_of(y);
  Node n = make_node<fb::GatherOptionsT>(node.name(), node.op(), {y}, {});
  auto& o = options<fb::GatherOptionsT>(n);
  for (int i = 0; i < 2; ++i) {
    if (shape[1 + i] == size[i]) continue;
    auto axis = std::make_unique<fb::GatherAxisT>();
    axis->axis = static_cast<uint8_t>(1 + i);
    axis->index.resize(static_cast<size_t>(size[i]));
    std::iota(axis->index.begin(), axis->index.end(), 0);
    shape[1 + i] = size[i];
    o.axes.push_back(std::move(axis));
  }
  if (o.axes.empty()) return y;
  const ValueId cropped = importer.builder().new_value("", importer.builder().type_of(y), shape);
  n.outputs = {cropped};
  importer.graph().nodes.push_back(std::move(n));
  return cropped;
}

// Less their zero points, [channels, kernel_h, kernel_w, in].
std::vector<int32_t> weights_of_phases(const TransposedConvolution& c, const Phases& p) {
  const PhasedAxis &h = p.h, &w = p.w;
  const int64_t out_of_group = c.out / c.groups;
  std::vector<int32_t> weights(static_cast<size_t>(p.channels * h.kernel * w.kernel * p.in), 0);
  for (int64_t o = 0; o < c.out; ++o) {
    const int64_t group = o / out_of_group, j = o % out_of_group;
    const int32_t zero = c.w_quant.zero_point[c.w_quant.per_tensor() ? 0 : static_cast<size_t>(j)];
    for (int64_t ph = 0; ph < h.phases; ++ph)
      for (int64_t pw = 0; pw < w.phases; ++pw)
        for (int64_t th = 0; th < h.kernel; ++th)
          for (int64_t tw = 0; tw < w.kernel; ++tw) {
            const int64_t kh = h.source(ph, th), kw = w.source(pw, tw);
            if (kh < 0 || kw < 0) continue;
            const int64_t channel = channel_of(c, p, ph * w.phases + pw, o);
            for (int64_t i = 0; i < p.in; ++i) {
              const int64_t from =
                  (((group * p.in + i) * out_of_group + j) * c.kernel[0] + kh) * c.kernel[1] + kw;
              const int64_t to = ((channel * h.kernel + th) * w.kernel + tw) * p.in + i;
              weights[static_cast<size_t>(to)] =
                  static_cast<int32_t>(c.weights->integer(from)) - zero;
            }
          }
  }
  return weights;
}

// Nothing: refused.
std::optional<LayerConstants> make_constants(Importer& importer, const NodeView& node,
                                             const TransposedConvolution& c, const Phases& p,
                                             const Quant& out, Limits limits) {
  std::vector<int32_t> weights = weights_of_phases(c, p);
  if (c.x_quant.is_int16() || c.w_quant.is_int16() || out.is_int16()) {
    Int16Source sums;
    sums.weights = std::move(weights);
    sums.out = p.channels;
    sums.padded_in = p.h.kernel * p.w.kernel * ((p.in + 3) / 4 * 4);
    sums.products = spread(c, p, c.int16_products);
    sums.bias = spread_to_all(c, p, c.real_bias);
    sums.x_zero_point = c.x_quant.stored_zero_point();
    return make_int16_layer(importer, node, sums, out, limits);
  }
  auto requant = byte_requant(importer, node, spread(c, p, c.products), out, limits);
  if (!requant) return std::nullopt;
  return byte_constants(importer, std::vector<int16_t>(weights.begin(), weights.end()),
                        spread_to_all(c, p, c.bias), std::move(requant));
}

// [o, h, w, 1] as DepthwiseConv2D has them: [h, w, o].
std::vector<int16_t> taps_outermost(const std::vector<int16_t>& weights, int64_t taps,
                                    int64_t channels) {
  std::vector<int16_t> by_tap(weights.size());
  for (int64_t o = 0; o < channels; ++o)
    for (int64_t t = 0; t < taps; ++t)
      by_tap[static_cast<size_t>(t * channels + o)] = weights[static_cast<size_t>(o * taps + t)];
  return by_tap;
}

// The convolution of all phases: its output, [n, steps_h, steps_w, channels].
ValueId emit_convolution(Importer& importer, const NodeView& node, const std::string& ops,
                         const TransposedConvolution& c, const Phases& p, const Quant& out,
                         LayerConstants constants) {
  const PhasedAxis &h = p.h, &w = p.w;
  const bool is_int16 = constants.type == DType::kInt16;
  Shape shape = {p.channels, h.kernel, w.kernel, p.in};
  if (p.is_depthwise) {
    shape = {h.kernel, w.kernel, p.channels};
    constants.weights = taps_outermost(constants.weights, h.kernel * w.kernel, p.channels);
  }
  Graph& graph = importer.graph();
  const ValueId weights =
      graph.add_constant(node.input(1), DType::kInt16, shape, constants.weights);
  graph.values[weights].weight_bits = packed_bits(c.weights->type);
  ValueId x = image_to_nhwc(importer, node, c.image, c.x);
  if (is_int16) x = importer.builder().widened(node, x);
  const ValueId y = importer.builder().new_value("", constants.type,
                                                 {c.image.n, h.steps, w.steps, p.channels}, &out);
  Window window;
  window.before[0] = h.pad_before, window.before[1] = w.pad_before;
  window.after[0] = h.pad_after, window.after[1] = w.pad_after;
  Node n;
  const auto fill = [&](auto* o) {
    set_window(window, o);
    const int zero = c.x_quant.stored_zero_point();
    o->input_zero_point = is_int16 ? 0 : static_cast<uint8_t>(zero);
    o->input_zero_point_16 = is_int16 ? static_cast<int16_t>(zero) : 0;
    o->requant = std::move(constants.requant);
  };
  const std::vector<ValueId> inputs = {x, weights, constants.bias};
  if (p.is_depthwise) {
    n = make_node<fb::DepthwiseConv2DOptionsT>(node.name(), ops, inputs, {y});
    auto& o = options<fb::DepthwiseConv2DOptionsT>(n);
    fill(&o);
    o.multiplier = static_cast<uint32_t>(p.channels / c.groups);
  } else {
    n = make_node<fb::Conv2DOptionsT>(node.name(), ops, inputs, {y});
    auto& o = options<fb::Conv2DOptionsT>(n);
    fill(&o);
    o.groups = static_cast<uint32_t>(c.groups);
  }
  graph.nodes.push_back(std::move(n));
  importer.became(node, p.is_depthwise ? "DepthwiseConv2D" : "Conv2D", is_int16 ? "I0" : "I1");
  return y;
}

// [n, steps_h, steps_w, channels] as [n, steps_h * phases_h, steps_w * phases_w, out].
ValueId interleave(Importer& importer, const NodeView& node, const TransposedConvolution& c,
                   const Phases& p, ValueId y) {
  if (p.count == 1) return y;
  const PhasedAxis &h = p.h, &w = p.w;
  const bool outer = c.groups == 1;
  const Shape apart = outer ? Shape{c.image.n, h.steps, w.steps, h.phases, w.phases, c.out}
                            : Shape{c.image.n, h.steps, w.steps, c.out, h.phases, w.phases};
  y = importer.builder().transpose(
      node, importer.builder().reshape(node, y, apart),
      outer ? std::vector<int>{0, 1, 3, 2, 4, 5} : std::vector<int>{0, 1, 4, 2, 5, 3});
  return importer.builder().reshape(node, y,
                                    {c.image.n, h.steps * h.phases, w.steps * w.phases, c.out});
}

Status emit(Importer& importer, const NodeView& node, const std::string& ops,
            const TransposedConvolution& c, const Quant& out, Limits limits, ValueId* result) {
  const Phases p(c);
  Shape weights, made;
  QRT_TRY(make_shape({p.channels, p.h.kernel, p.w.kernel, p.in}, &weights));
  QRT_TRY(make_shape({c.image.n, p.h.steps, p.w.steps, p.channels}, &made));
  QRT_TRY(make_shape({c.image.n, p.h.steps * p.h.phases, p.w.steps * p.w.phases, c.out}, &made));
  for (const PhasedAxis& a : {p.h, p.w})
    if (a.kernel > kMaxWindowField || a.pad_before > kMaxWindowField ||
        a.pad_after > kMaxWindowField)
      return error(Code::kUnsupported, "padding %lld and %lld, at most %lld is supported",
                   static_cast<long long>(a.pad_before), static_cast<long long>(a.pad_after),
                   static_cast<long long>(kMaxWindowField));
  if (weights.elements() > kFreeWeights && weights.elements() / kMostGrowth > c.weights->elements())
    return importer.refuse(
        node, "as a convolution of its phases its weights would have shape " + weights.to_string(),
        node.output(0), "use a stride closer to the size of the kernel");

  std::optional<LayerConstants> constants = make_constants(importer, node, c, p, out, limits);
  if (!constants) return Status();
  const bool is_int16 = constants->type == DType::kInt16;
  ValueId y = emit_convolution(importer, node, ops, c, p, out, std::move(*constants));
  y = crop_image(importer, node, interleave(importer, node, c, p, y), c.output);
  if (is_int16 && !out.is_int16()) y = importer.builder().narrowed(node, y, &out);
  y = importer.builder().with_quant(node, y, out);
  *result = image_from_nhwc(importer, node, c.image, y);
  importer.builder().mark(*result);
  return Status();
}

}  // namespace

Status import_conv_transpose(Importer& importer, const NodeView& node) {
  const Tensor &x = importer.input(node, 0), &w = importer.input(node, 1);
  if (!x.is_dequantized()) return importer.refuse_float(node, 0);
  int lo, hi;
  if (!w.is_constant() || !w.quant || !quantized_range(w.type, &lo, &hi))
    return importer.refuse_float(node, 1);
  if (!x.quant->per_tensor())
    return importer.refuse(node, "input '" + node.input(0) + "' is quantised per axis",
                           node.input(0), "quantise activations per tensor");
  TransposedConvolution c;
  bool known;
  QRT_TRY(read_image(importer, node, x.shape, false, &c.image, &known));
  if (!known) return Status();
  c.x = x.value;
  c.x_quant = *x.quant;
  c.w_quant = *w.quant;
  c.weights = w.constant;
  const Shape& ws = w.shape;
  c.groups = node.integer("group", 1);
  QRT_MODEL_CHECK(ws.rank() == x.shape.rank() && c.groups >= 1 && ws[0] == c.image.c &&
                      c.image.c % c.groups == 0 && ws[1] >= 1,
                  "weights of shape %s do not fit an input of shape %s in %lld groups",
                  ws.to_string().c_str(), x.shape.to_string().c_str(),
                  static_cast<long long>(c.groups));
  c.out = ws[1] * c.groups;
  const std::vector<int64_t> kernel(ws.begin() + 2, ws.end());
  QRT_MODEL_CHECK(!node.has("kernel_shape") || node.integers("kernel_shape") == kernel,
                  "kernel_shape differs from the weights' shape %s", ws.to_string().c_str());
  for (int i = 0; i < c.image.dimensions; ++i) {
    const int64_t k = kernel[static_cast<size_t>(i)];
    QRT_MODEL_CHECK(k >= 1 && k <= kMaxWindowField,
                    "the kernel has extent %lld, expected 1 to %lld", static_cast<long long>(k),
                    static_cast<long long>(kMaxWindowField));
    c.kernel[2 - c.image.dimensions + i] = k;
  }
  QRT_TRY(read_output(node, &c));
  if (!c.w_quant.per_tensor() && c.w_quant.axis != 1)
    return importer.refuse(node,
                           "the weights are quantised along axis " +
                               std::to_string(c.w_quant.axis) + ", not per output channel",
                           node.input(1), "quantise the weights per tensor or along axis 1");
  const std::vector<float> of_group = product_scales(1.0f, c.x_quant.scale[0], c.w_quant);
  for (int64_t g = 0; g < (of_group.size() == 1 ? 1 : c.groups); ++g)
    c.products.insert(c.products.end(), of_group.begin(), of_group.end());
  const std::vector<double> int16_of_group = int16_products(1.0f, c.x_quant, c.w_quant);
  for (int64_t g = 0; g < (int16_of_group.size() == 1 ? 1 : c.groups); ++g)
    c.int16_products.insert(c.int16_products.end(), int16_of_group.begin(), int16_of_group.end());
  std::optional<std::vector<int32_t>> bias;
  QRT_TRY(read_bias(importer, node, 2, c.out, c.products, BiasScale::kRounded, &bias));
  if (!bias) return Status();
  c.bias = std::move(*bias);
  c.real_bias = real_bias(importer, node, 2, c.out);
  if (node.has_input(2) && has_other_scale(importer.input(node, 2), c.products))
    c.bias = rounded_bias(c.real_bias, c.products);
  const auto pending = defer(importer, node, c.image.shape(c.out, c.output));
  const std::string* ops = &pending->ops;
  pending->emit = [&importer, &node, c, ops](const Quant& out, Limits limits, ValueId* result) {
    return emit(importer, node, *ops, c, out, limits, result);
  };
  return Status();
}

}  // namespace qrt::convert::from_onnx
