// ConvTranspose between DequantizeLinear and QuantizeLinear: a convolution of all its phases
// (common/transpose_conv.h), interleaved. ONNX Runtime computes it in float; the integers are
// exact, and the one requantisation rounds as that of a QLinearConv.
#include <algorithm>
#include <cstdint>

#include "converter/import/common/index_maps.h"
#include "converter/import/common/transpose_conv.h"
#include "converter/import/onnx/arithmetic/int16.h"
#include "converter/import/onnx/arithmetic/linear.h"
#include "converter/import/onnx/ops/handlers.h"
#include "converter/import/onnx/plane_layer.h"

namespace qrt::convert::from_onnx {
namespace {

constexpr int kAxes = kMostDimensions;  // depth, rows, columns

struct TransposedConvolution {
  ValueId x = kNoValue;
  Quant x_quant, w_quant;
  ConstantPtr weights;  // [in, out / groups, ((kd,) kh,) kw]
  Image image;
  int64_t groups = 1, out = 0;
  int64_t kernel[kAxes] = {1, 1, 1}, stride[kAxes] = {1, 1, 1}, dilation[kAxes] = {1, 1, 1};
  int64_t before[kAxes] = {0, 0, 0}, output[kAxes] = {1, 1, 1};
  std::vector<float> products;         // one, or one per output channel
  std::vector<double> int16_products;  // the same of 16 bits
  std::vector<int32_t> bias;
  std::vector<double> real_bias;

  int64_t input(int axis) const { return axis == 0 ? image.depth : image.size[axis - 1]; }
  PhasedAxis phased(int axis) const {
    return {input(axis), output[axis], kernel[axis], stride[axis], dilation[axis], before[axis]};
  }
};

// Padding and output size, as the operator's text has them.
Status read_output(const NodeView& node, TransposedConvolution* c) {
  const int d = c->image.dimensions;
  int64_t extra[kAxes] = {}, pads_before[kAxes] = {}, pads_after[kAxes] = {};
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
  for (int i = kAxes - d; i < kAxes; ++i) {
    const int64_t full =
        c->stride[i] * (c->input(i) - 1) + extra[i] + c->dilation[i] * (c->kernel[i] - 1) + 1;
    int64_t out = full - pads_before[i] - pads_after[i];
    c->before[i] = pads_before[i];
    if (!wanted.empty() || same) {
      // SAME does not fill up what a kernel smaller than its stride leaves open.
      out = wanted.empty() ? std::min(c->input(i) * c->stride[i], full)
                           : wanted[static_cast<size_t>(i - (kAxes - d))];
      const int64_t total = std::max<int64_t>(0, full - out);
      c->before[i] = upper ? total / 2 : total - total / 2;
    }
    QRT_MODEL_CHECK(out >= 1 && out <= INT32_MAX,
                    "the output has %lld positions along axis %d, expected 1 to 2^31 - 1",
                    static_cast<long long>(out), i + d - 1);
    c->output[i] = out;
  }
  return Status();
}

// Channel of the convolution that computes a phase of an output channel: phases outermost, so that
// interleaving moves whole pixels; with groups, innermost, so that a group's channels are adjacent.
int64_t channel_of(const TransposedConvolution& c, int64_t phases, int64_t phase, int64_t o) {
  return c.groups == 1 ? phase * c.out + o : o * phases + phase;
}

// Weights beyond kFreeWeights may be kMostGrowth times those of the file: most are zero then.
constexpr int64_t kFreeWeights = int64_t{1} << 22, kMostGrowth = 64;

// Images without what lies beyond `size`.
ValueId crop_image(Importer& importer, const NodeView& node, const TransposedConvolution& c,
                   ValueId y) {
  IndexMaps maps(importer.builder().shape_of(y));
  for (int i = c.image.is_volume() ? 0 : 1; i < kAxes; ++i) {
    const int axis = maps.from().rank() - 1 - kAxes + i;
    if (maps.from()[axis] != c.output[i]) maps.set(axis, stepped(0, c.output[i], 1));
  }
  return maps.is_identity() ? y : importer.builder().gather(node, y, maps, 0);
}

// The phases, which are channels of y, where they belong: those along depth first, then within planes.
ValueId interleave(Importer& importer, const NodeView& node, const TransposedConvolution& c,
                   const PhasedAxis* axes, ValueId y) {
  GraphBuilder& builder = importer.builder();
  const PhasedAxis &d = axes[0], &h = axes[1], &w = axes[2];
  const int64_t n = c.image.n, depth = d.steps * d.phases;
  const bool outer = c.groups == 1;
  const auto move = [&](const Shape& apart, const std::vector<int>& perm) {
    y = builder.transpose(node, builder.reshape(node, y, apart), perm);
  };
  if (d.phases > 1) {
    const int64_t pixels = h.steps * w.steps, in_plane = h.phases * w.phases;
    if (outer)
      move({n, d.steps, pixels, d.phases, in_plane * c.out}, {0, 1, 3, 2, 4});
    else
      move({n, d.steps, pixels, c.out, d.phases, in_plane}, {0, 1, 4, 2, 3, 5});
  }
  if (h.phases * w.phases > 1) {
    if (outer)
      move({n, depth * h.steps, w.steps, h.phases, w.phases, c.out}, {0, 1, 3, 2, 4, 5});
    else
      move({n, depth * h.steps, w.steps, c.out, h.phases, w.phases}, {0, 1, 4, 2, 5, 3});
  }
  Shape made{n};
  if (c.image.is_volume()) made.push_back(depth);
  for (const PhasedAxis* a : {&h, &w}) made.push_back(a->steps * a->phases);
  made.push_back(c.out);
  return builder.shape_of(y) == made ? y : builder.reshape(node, y, made);
}

Status emit(Importer& importer, const NodeView& node, const std::string& ops,
            const TransposedConvolution& c, const Quant& out, Limits limits, ValueId* result) {
  const PhasedAxis axes[kAxes] = {c.phased(0), c.phased(1), c.phased(2)};
  const PhasedAxis &d = axes[0], &h = axes[1], &w = axes[2];
  const int64_t phases = d.phases * h.phases * w.phases, channels = c.out * phases;
  const int64_t in = c.image.c / c.groups, out_of_group = c.out / c.groups;
  Shape all_weights, made;
  QRT_TRY(make_shape({channels, d.kernel, h.kernel, w.kernel, in}, &all_weights));
  QRT_TRY(make_shape({c.image.n, d.steps, h.steps, w.steps, channels}, &made));
  QRT_TRY(make_shape({c.image.n, d.steps * d.phases, h.steps * h.phases, w.steps * w.phases, c.out},
                     &made));
  for (const PhasedAxis& a : axes)
    if (a.kernel > kMaxWindowField || a.pad_before > kMaxWindowField ||
        a.pad_after > kMaxWindowField)
      return error(Code::kUnsupported, "padding %lld and %lld, at most %lld is supported",
                   static_cast<long long>(a.pad_before), static_cast<long long>(a.pad_after),
                   static_cast<long long>(kMaxWindowField));

  const int64_t source = c.weights->elements();
  if (all_weights.elements() > kFreeWeights && all_weights.elements() / kMostGrowth > source)
    return importer.refuse(
        node,
        "as a convolution of its phases its weights would have shape " + all_weights.to_string(),
        node.output(0), "use a stride closer to the size of the kernel");

  Window window;
  const auto axis_of = [](const PhasedAxis& a) {
    return WindowAxis{a.kernel, 1, 1, a.pad_before, a.pad_after, a.steps};
  };
  window.depth = axis_of(d);
  window.set_axis(0, axis_of(h));
  window.set_axis(1, axis_of(w));
  PlaneLayer planes;
  QRT_TRY(plan_plane_layer(c.image, window, c.groups, &planes));

  // One value for each channel of the convolution, of those of the source.
  const auto spread = [&](const auto& values) {
    auto spread_values = values;
    if (values.size() == 1) return spread_values;
    spread_values.resize(static_cast<size_t>(channels));
    for (int64_t p = 0; p < phases; ++p)
      for (int64_t o = 0; o < c.out; ++o)
        spread_values[static_cast<size_t>(channel_of(c, phases, p, o))] =
            values[static_cast<size_t>(o)];
    return spread_values;
  };
  const bool depthwise = planes.in == 1 && c.groups > 1;
  const auto of_channel = static_cast<int64_t>(planes.source.size());
  std::vector<int32_t> weights(static_cast<size_t>(channels * of_channel), 0);
  const int64_t all_taps = d.kernel * h.kernel * w.kernel;
  for (int64_t o = 0; o < c.out; ++o) {
    const int64_t group = o / out_of_group, j = o % out_of_group;
    const int32_t zero = c.w_quant.zero_point[c.w_quant.per_tensor() ? 0 : static_cast<size_t>(j)];
    for (int64_t phase = 0; phase < phases; ++phase) {
      const int64_t pw = phase % w.phases, ph = phase / w.phases % h.phases;
      const int64_t pd = phase / (w.phases * h.phases);
      const int64_t channel = channel_of(c, phases, phase, o);
      for (int64_t to = 0; to < of_channel; ++to) {
        const int64_t at = planes.source[static_cast<size_t>(to)];
        const int64_t i = at / all_taps, tap = at % all_taps;
        const int64_t kd = d.source(pd, tap / (h.kernel * w.kernel));
        const int64_t kh = h.source(ph, tap / w.kernel % h.kernel);
        const int64_t kw = w.source(pw, tap % w.kernel);
        if (kd < 0 || kh < 0 || kw < 0) continue;
        const int64_t from =
            ((((group * in + i) * out_of_group + j) * c.kernel[0] + kd) * c.kernel[1] + kh) *
                c.kernel[2] +
            kw;
        weights[static_cast<size_t>(channel * of_channel + to)] =
            static_cast<int32_t>(c.weights->integer(from)) - zero;
      }
    }
  }
  LayerConstants constants;
  if (c.x_quant.is_int16() || c.w_quant.is_int16() || out.is_int16()) {
    Int16Source sums;
    sums.weights = std::move(weights);
    sums.out = channels;
    sums.padded_in = planes.kernel_size() * ((planes.in + 3) / 4 * 4);
    sums.products = spread(c.int16_products);
    sums.bias = spread(c.real_bias);
    sums.bias.resize(static_cast<size_t>(channels), c.real_bias[0]);
    sums.x_zero_point = c.x_quant.stored_zero_point();
    auto layer = make_int16_layer(importer, node, sums, out, limits);
    if (!layer) return Status();
    constants = std::move(*layer);
  } else {
    std::vector<int32_t> bias = spread(c.bias);
    bias.resize(static_cast<size_t>(channels), c.bias[0]);
    auto requant = byte_requant(importer, node, spread(c.products), out, limits);
    if (!requant) return Status();
    constants = byte_constants(importer, std::vector<int16_t>(weights.begin(), weights.end()), bias,
                               std::move(requant));
  }
  const bool is_int16 = constants.type == DType::kInt16;
  const int64_t *kernel = planes.window.kernel, taps = planes.kernel_size();
  Shape weights_shape{channels, kernel[0], kernel[1], planes.in};
  if (depthwise) {
    weights_shape = {kernel[0], kernel[1], channels};
    std::vector<int16_t> by_tap(constants.weights.size());
    for (int64_t o = 0; o < channels; ++o)
      for (int64_t t = 0; t < taps; ++t)
        by_tap[static_cast<size_t>(t * channels + o)] =
            constants.weights[static_cast<size_t>(o * taps + t)];
    constants.weights = std::move(by_tap);
  }
  Graph& graph = importer.graph();
  const ValueId w_value =
      graph.add_constant(node.input(1), DType::kInt16, weights_shape, constants.weights);
  graph.values[w_value].weight_bits = packed_bits(c.weights->type);
  const ValueId b_value = constants.bias;
  const int zero = c.x_quant.stored_zero_point();
  ValueId x = planes_of(importer, node, planes, zero, kNoValue, c.x);
  if (is_int16) x = importer.builder().widened(node, x);
  ValueId y = importer.builder().new_value("", constants.type, planes.result(channels), &out);
  Node n;
  const auto fill = [&](auto* o) {
    set_window(planes.window, o);
    o->input_zero_point = is_int16 ? 0 : static_cast<uint8_t>(zero);
    o->input_zero_point_16 = is_int16 ? static_cast<int16_t>(zero) : 0;
    o->requant = std::move(constants.requant);
  };
  if (depthwise) {
    n = make_node<fb::DepthwiseConv2DOptionsT>(node.name(), ops, {x, w_value, b_value}, {y});
    auto& o = options<fb::DepthwiseConv2DOptionsT>(n);
    fill(&o);
    o.multiplier = static_cast<uint32_t>(channels / c.groups);
  } else {
    n = make_node<fb::Conv2DOptionsT>(node.name(), ops, {x, w_value, b_value}, {y});
    auto& o = options<fb::Conv2DOptionsT>(n);
    fill(&o);
    o.groups = static_cast<uint32_t>(c.groups);
  }
  graph.nodes.push_back(std::move(n));
  importer.became(node, depthwise ? "DepthwiseConv2D" : "Conv2D", is_int16 ? "I0" : "I1");
  y = crop_image(importer, node, c, interleave(importer, node, c, axes, y));
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
  QRT_TRY(read_image(importer, node, x.shape, false, kMostDimensions, &c.image, &known));
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
    c.kernel[kAxes - c.image.dimensions + i] = k;
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
  const auto pending = defer(importer, node, c.image.shape(c.out, c.output[0], c.output + 1));
  const std::string* ops = &pending->ops;
  pending->emit = [&importer, &node, c, ops](const Quant& out, Limits limits, ValueId* result) {
    return emit(importer, node, *ops, c, out, limits, result);
  };
  return Status();
}

}  // namespace qrt::convert::from_onnx
