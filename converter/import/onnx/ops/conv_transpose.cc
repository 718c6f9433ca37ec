// SPDX-License-Identifier: Apache-2.0
// ConvTranspose between DequantizeLinear and QuantizeLinear: a convolution of all its phases
// (common/transpose_conv.h), interleaved. ONNX Runtime computes it in float; the integers are
// exact, and the one requantisation rounds as that of a QLinearConv.
#include <algorithm>
#include <cstdint>
#include <optional>

#include "converter/import/common/index_maps.h"
#include "converter/import/common/transpose_conv.h"
#include "converter/import/onnx/arithmetic/int16.h"
#include "converter/import/onnx/arithmetic/linear.h"
#include "converter/import/onnx/ops/handlers.h"
#include "converter/import/onnx/ops/transposed_geometry.h"
#include "converter/import/onnx/plane_layer.h"

namespace qrt::convert::from_onnx {
namespace {

struct TransposedConvolution : TransposedGeometry {
  ValueId x = kNoValue;
  Quant x_quant, w_quant;
  ConstantPtr weights;                 // [in, out / groups, ((kd,) kh,) kw]
  std::vector<float> products;         // one, or one per output channel
  std::vector<double> int16_products;  // the same of 16 bits
  std::vector<int32_t> bias;
  std::vector<double> real_bias;

  PhasedAxis phased(int axis) const {
    return {input(axis), output[axis], kernel[axis], stride[axis], dilation[axis], before[axis]};
  }
};

// The convolution of all phases, over planes.
struct Phases {
  explicit Phases(const TransposedConvolution& c)
      : d(c.phased(0)), h(c.phased(1)), w(c.phased(2)), count(d.phases * h.phases * w.phases) {}

  PhasedAxis d, h, w;
  int64_t count, channels = 0;  // channels: outputs of the convolution
  PlaneLayer planes;
  bool is_depthwise = false;
};

// Weights beyond kFreeWeights may be kMostGrowth times those of the file: most are zero then.
constexpr int64_t kFreeWeights = int64_t{1} << 22, kMostGrowth = 64;

// Channels and planes. *known stays false where the node was refused.
Status plan_phases(Importer& importer, const NodeView& node, const TransposedConvolution& c,
                   Phases* p, bool* known) {
  *known = false;
  const PhasedAxis &d = p->d, &h = p->h, &w = p->w;
  Shape weights, made;
  QRT_TRY(make_shape({d.phases, h.phases, w.phases, c.out}, &made));
  p->channels = made.elements();
  QRT_TRY(make_shape({p->channels, d.kernel, h.kernel, w.kernel, c.image.c / c.groups}, &weights));
  QRT_TRY(make_shape({c.image.n, d.steps, h.steps, w.steps, p->channels}, &made));
  QRT_TRY(make_shape({c.image.n, d.steps * d.phases, h.steps * h.phases, w.steps * w.phases, c.out},
                     &made));
  for (const PhasedAxis& a : {d, h, w})
    if (a.kernel > kMaxWindowField || a.pad_before > kMaxWindowField ||
        a.pad_after > kMaxWindowField)
      return error(
          Code::kUnsupported,
          "its phases have kernels of %lld, padding %lld and %lld, at most %lld is supported",
          static_cast<long long>(a.kernel), static_cast<long long>(a.pad_before),
          static_cast<long long>(a.pad_after), static_cast<long long>(kMaxWindowField));
  if (weights.elements() > kFreeWeights && weights.elements() / kMostGrowth > c.weights->elements())
    return importer.refuse(
        node, "as a convolution of its phases its weights would have shape " + weights.to_string(),
        node.output(0),
        "replace it by Resize and Conv, or train it with a stride closer to the kernel's size");

  Window window;
  const auto axis_of = [](const PhasedAxis& a) {
    return WindowAxis{a.kernel, 1, 1, a.pad_before, a.pad_after, a.steps};
  };
  window.depth = axis_of(d);
  window.set_axis(0, axis_of(h));
  window.set_axis(1, axis_of(w));
  QRT_TRY(plan_plane_layer(c.image, window, c.groups, &p->planes));
  QRT_TRY(importer.tensors().reserve(
      static_cast<uint64_t>(p->channels) * p->planes.source.size() * sizeof(int16_t),
      importer.graph()));
  p->is_depthwise = p->planes.in == 1 && c.groups > 1;
  *known = true;
  return Status();
}

// Returns the channel of the convolution that computes a phase of an output channel. Phases are outermost,
// so that interleaving moves whole pixels; with groups innermost, so that a group's channels are adjacent.
int64_t channel_of(const TransposedConvolution& c, const Phases& p, int64_t phase, int64_t o) {
  return c.groups == 1 ? phase * c.out + o : o * p.count + phase;
}

// Returns one value for each channel of the convolution, of those of the source: one, or one per channel.
template <class T>
std::vector<T> repeat_for_phases(const TransposedConvolution& c, const Phases& p,
                                 const std::vector<T>& values) {
  if (values.size() == 1) return values;
  std::vector<T> result(static_cast<size_t>(p.channels));
  for (int64_t phase = 0; phase < p.count; ++phase)
    for (int64_t o = 0; o < c.out; ++o)
      result[static_cast<size_t>(channel_of(c, p, phase, o))] = values[static_cast<size_t>(o)];
  return result;
}

// Repeats values for the phases as spread() does, to one for each channel in any case.
template <class T>
std::vector<T> repeat_for_channels(const TransposedConvolution& c, const Phases& p,
                                   const std::vector<T>& values) {
  std::vector<T> result = repeat_for_phases(c, p, values);
  result.resize(static_cast<size_t>(p.channels), values[0]);
  return result;
}

// Returns the weight of the source's output channel o that a phase has at position `at` of its
// kernel over volumes, as an index in [in, kd, kh, kw]; -1: none.
int64_t weight_of_phase(const TransposedConvolution& c, const Phases& p, int64_t o, int64_t phase,
                        int64_t at) {
  const PhasedAxis &d = p.d, &h = p.h, &w = p.w;
  const int64_t taps = d.kernel * h.kernel * w.kernel, i = at / taps, tap = at % taps;
  const int64_t kd = d.source(phase / (w.phases * h.phases), tap / (h.kernel * w.kernel));
  const int64_t kh = h.source(phase / w.phases % h.phases, tap / w.kernel % h.kernel);
  const int64_t kw = w.source(phase % w.phases, tap % w.kernel);
  if (kd < 0 || kh < 0 || kw < 0) return -1;
  const int64_t of_group = c.out / c.groups, in = c.image.c / c.groups;
  const int64_t channel = (o / of_group * in + i) * of_group + o % of_group;
  return ((channel * c.kernel[0] + kd) * c.kernel[1] + kh) * c.kernel[2] + kw;
}

// Less their zero points, [channels, kernel_h, kernel_w, in] of the planes.
std::vector<int32_t> weights_of_phases(const TransposedConvolution& c, const Phases& p) {
  const std::vector<int64_t>& source = p.planes.source;
  std::vector<int32_t> weights(static_cast<size_t>(p.channels) * source.size(), 0);
  for (int64_t o = 0; o < c.out; ++o) {
    const int64_t j = o % (c.out / c.groups);
    const int32_t zero = c.w_quant.zero_point[c.w_quant.per_tensor() ? 0 : static_cast<size_t>(j)];
    for (int64_t phase = 0; phase < p.count; ++phase) {
      int32_t* to = &weights[static_cast<size_t>(channel_of(c, p, phase, o)) * source.size()];
      for (size_t k = 0; k < source.size(); ++k) {
        const int64_t from = weight_of_phase(c, p, o, phase, source[k]);
        if (from >= 0) to[k] = static_cast<int32_t>(c.weights->integer(from)) - zero;
      }
    }
  }
  return weights;
}

// Makes the constants of the layer; nothing where they are refused.
std::optional<LayerConstants> make_constants(Importer& importer, const NodeView& node,
                                             const TransposedConvolution& c, const Phases& p,
                                             const Quant& out, Limits limits) {
  std::vector<int32_t> weights = weights_of_phases(c, p);
  if (c.x_quant.is_int16() || c.w_quant.is_int16() || out.is_int16()) {
    Int16Source sums;
    sums.weights = std::move(weights);
    sums.out = p.channels;
    sums.padded_in = p.planes.kernel_size() * ((p.planes.in + 3) / 4 * 4);
    sums.products = repeat_for_phases(c, p, c.int16_products);
    sums.bias = repeat_for_channels(c, p, c.real_bias);
    sums.x_zero_point = c.x_quant.stored_zero_point();
    return make_int16_layer(importer, node, sums, out, limits);
  }
  auto requant = byte_requant(importer, node, repeat_for_phases(c, p, c.products), out, limits);
  if (!requant) return std::nullopt;
  return byte_constants(importer, std::vector<int16_t>(weights.begin(), weights.end()),
                        repeat_for_channels(c, p, c.bias), std::move(requant));
}

// Reorders weights [o, h, w, 1] to [h, w, o], as DepthwiseConv2D has them.
std::vector<int16_t> taps_outermost(const std::vector<int16_t>& weights, int64_t taps,
                                    int64_t channels) {
  std::vector<int16_t> by_tap(weights.size());
  for (int64_t o = 0; o < channels; ++o)
    for (int64_t t = 0; t < taps; ++t)
      by_tap[static_cast<size_t>(t * channels + o)] = weights[static_cast<size_t>(o * taps + t)];
  return by_tap;
}

// The convolution of all phases.
ValueId emit_convolution(Importer& importer, const NodeView& node, const std::string& ops,
                         const TransposedConvolution& c, const Phases& p, const Quant& out,
                         LayerConstants constants) {
  const bool is_int16 = constants.type == DType::kInt16;
  const int64_t* kernel = p.planes.window.kernel;
  Shape shape = {p.channels, kernel[0], kernel[1], p.planes.in};
  if (p.is_depthwise) {
    shape = {kernel[0], kernel[1], p.channels};
    constants.weights = taps_outermost(constants.weights, p.planes.kernel_size(), p.channels);
  }
  Graph& graph = importer.graph();
  const ValueId weights =
      graph.add_constant(node.input(1), DType::kInt16, shape, constants.weights);
  graph.values[weights].weight_bits = packed_bits(c.weights->type);
  const int zero = c.x_quant.stored_zero_point();
  ValueId x = planes_of(importer, node, p.planes, zero, kNoValue, c.x);
  if (is_int16) x = importer.builder().widened(node, x);
  const ValueId y =
      importer.builder().new_value("", constants.type, p.planes.result(p.channels), &out);
  Node n;
  const auto fill = [&](auto* o) {
    set_window(p.planes.window, o);
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

// Images without what lies beyond `size`.
ValueId crop_image(Importer& importer, const NodeView& node, const TransposedConvolution& c,
                   ValueId y) {
  IndexMaps maps(importer.builder().shape_of(y));
  for (int i = c.image.is_volume() ? 0 : 1; i < TransposedGeometry::kAxes; ++i) {
    const int axis = maps.from().rank() - 1 - TransposedGeometry::kAxes + i;
    if (maps.from()[axis] != c.output[i]) maps.set(axis, stepped(0, c.output[i], 1));
  }
  return maps.is_identity() ? y : importer.builder().gather(node, y, maps, 0);
}

// Moves the phases, which are channels of y, to their places: those along depth first, then those
// within planes.
ValueId interleave(Importer& importer, const NodeView& node, const TransposedConvolution& c,
                   const Phases& p, ValueId y) {
  GraphBuilder& builder = importer.builder();
  const PhasedAxis &d = p.d, &h = p.h, &w = p.w;
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
  Phases p(c);
  bool known;
  QRT_TRY(plan_phases(importer, node, c, &p, &known));
  if (!known) return Status();
  std::optional<LayerConstants> constants = make_constants(importer, node, c, p, out, limits);
  if (!constants) return Status();
  const bool is_int16 = constants->type == DType::kInt16;
  ValueId y = emit_convolution(importer, node, ops, c, p, out, std::move(*constants));
  y = crop_image(importer, node, c, interleave(importer, node, c, p, y));
  if (is_int16 && !out.is_int16()) y = importer.builder().narrowed(node, y, &out);
  y = importer.builder().with_quant(node, y, out);
  *result = image_from_nhwc(importer, node, c.image, y);
  importer.builder().mark(*result);
  return Status();
}

}  // namespace

Status import_conv_transpose(Importer& importer, const NodeView& node) {
  const Tensor &x = importer.input(node, 0), &w = importer.input(node, 1);
  if (!x.is_fusible()) return importer.refuse_float(node, 0);
  int lo, hi;
  if (!w.is_constant() || !w.quant || !quantized_range(w.type, &lo, &hi))
    return importer.refuse_float(node, 1);
  TransposedConvolution c;
  bool known;
  QRT_TRY(read_transposed(importer, node, x.shape, w.shape, &c, &known));
  if (!known) return Status();
  c.x = x.value;
  c.x_quant = *x.quant;
  c.w_quant = *w.quant;
  c.weights = w.constant;
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
