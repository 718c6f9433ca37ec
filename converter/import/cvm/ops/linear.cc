// SPDX-License-Identifier: Apache-2.0
// Convolutions and dense layers: int8 weights on bytes, sums of 32 bits. Scalings behind them join
// their requantisation (fused_ops.h).
#include <algorithm>

#include "converter/import/cvm/ops/ops.h"

namespace qrt::convert::from_cvm {
namespace {

// A layer's precisions are at most 8: |x|, |w| <= 127.
constexpr int kMaxLayerPrecision = 8;

Status sum_precision(const Inference& inference, int64_t terms, bool has_bias, int64_t* precision) {
  const int x = inference.input(0).precision, w = inference.input(1).precision;
  QRT_MODEL_CHECK(x <= kMaxLayerPrecision && w <= kMaxLayerPrecision,
                  "its input has the precision %d and its weights %d, expected at most %d", x, w,
                  kMaxLayerPrecision);
  *precision = mrt::product_precision(x, w, terms, has_bias ? inference.input(2).precision : 0);
  return Status();
}

Status check_bias(const Inference& inference, bool use_bias, int64_t channels) {
  const int expected = use_bias ? 3 : 2;
  QRT_MODEL_CHECK(inference.inputs() == expected, "has %d inputs, with use_bias %s it takes %d",
                  inference.inputs(), use_bias ? "True" : "False", expected);
  if (!use_bias) return Status();
  QRT_MODEL_CHECK(inference.input(2).shape == Shape{channels},
                  "its bias has the shape %s, expected [%lld]",
                  inference.input(2).shape.to_string().c_str(), static_cast<long long>(channels));
  return Status();
}

struct Axis {
  int64_t kernel = 1, stride = 1, padding = 0, dilation = 1, out = 1;
};

struct Conv {
  int64_t channels = 0, groups = 1;
  Axis h, w;
  bool use_bias = true;
};

Status read_conv(const Attributes& a, const Shape& x, Conv* conv) {
  QRT_TRY(a.check_names({"channels", "kernel_size", "strides", "padding", "dilation", "groups",
                         "layout", "kernel_layout", "out_layout", "out_dtype", "use_bias"}));
  QRT_MODEL_CHECK(x.rank() == 4, "its input has the shape %s, expected [n, c, h, w]",
                  x.to_string().c_str());
  std::vector<int64_t> kernel, stride = {1, 1}, padding = {0, 0}, dilation = {1, 1};
  QRT_TRY(a.required_integer("channels", 1, 1 << 24, &conv->channels));
  QRT_TRY(a.required("kernel_size"));
  QRT_TRY(a.tuple("kernel_size", 1, 1 << 24, &kernel));
  QRT_TRY(a.tuple("strides", 1, 4096, &stride));
  QRT_TRY(a.tuple("padding", 0, 4096, &padding));
  QRT_TRY(a.tuple("dilation", 1, 4096, &dilation));
  QRT_TRY(a.integer("groups", 1, 1 << 24, &conv->groups));
  QRT_TRY(a.word("layout", {"NCHW"}));
  QRT_TRY(a.word("kernel_layout", {"OIHW"}));
  QRT_TRY(a.word("out_layout", {"__undef__", "NCHW"}));
  QRT_TRY(a.word("out_dtype", {"same"}));
  QRT_TRY(a.boolean("use_bias", &conv->use_bias));
  for (const auto* values : {&kernel, &stride, &padding, &dilation})
    QRT_MODEL_CHECK(values->size() == 2,
                    "kernel_size, strides, padding and dilation take 2 values, one has %zu",
                    values->size());
  QRT_MODEL_CHECK(x[1] % conv->groups == 0 && conv->channels % conv->groups == 0,
                  "groups is %lld, expected a divisor of %lld input and %lld output channels",
                  static_cast<long long>(conv->groups), static_cast<long long>(x[1]),
                  static_cast<long long>(conv->channels));
  for (const size_t i : {size_t{0}, size_t{1}}) {
    Axis& axis = i == 0 ? conv->h : conv->w;
    axis.kernel = kernel[i], axis.stride = stride[i];
    axis.padding = padding[i], axis.dilation = dilation[i];
    const int64_t in = x[2 + static_cast<int>(i)] + 2 * axis.padding;
    const int64_t reach = axis.dilation * (axis.kernel - 1) + 1;
    QRT_MODEL_CHECK(reach <= in, "its kernel reaches over %lld of %lld padded rows or columns",
                    static_cast<long long>(reach), static_cast<long long>(in));
    axis.out = (in - reach) / axis.stride + 1;
  }
  return Status();
}

// The operands of a layer.
struct Layer {
  std::vector<int32_t> weights, bias;  // of the file, [out, ...]
  Stored x;
  Range range;  // of the sums
};

// Reads a layer's constants, and computes the bounds of each channel's sums from its weights.
// Returns false where the operator was refused.
bool read_layer(Importer& importer, const Op& op, int64_t channels, Layer* layer) {
  const auto* weights = importer.constant(op.input(1));
  const auto* bias = op.node.inputs.size() == 3 ? importer.constant(op.input(2)) : nullptr;
  if (!weights || (op.node.inputs.size() == 3 && !bias)) {
    (void)importer.refuse(op, "its weights or bias are computed by the model",
                          "store the layer's weights in the params file");
    return false;
  }
  layer->x = importer.stored(op.input(0));
  // 8 bits hold a precision of 8; only `where` and `broadcast_greater` declare less than they make.
  if (layer->x.storage.dtype != DType::kUInt8) {
    (void)importer.refuse(op,
                          "its input may lie from " + std::to_string(layer->x.range.lo) + " to " +
                              std::to_string(layer->x.range.hi) + ", beyond its precision",
                          "clip the input of the layer to its precision (cvm_clip)");
    return false;
  }
  layer->weights = *weights;
  layer->bias.assign(static_cast<size_t>(channels), 0);
  if (bias) layer->bias = *bias;
  const size_t each = weights->size() / static_cast<size_t>(channels);
  layer->range = {INT64_MAX, INT64_MIN};
  const Range x = either(layer->x.range, {0, 0});  // padding
  for (size_t c = 0; c < layer->bias.size(); ++c) {
    int64_t up = 0, down = 0;
    for (size_t i = 0; i < each; ++i) {
      const int64_t w = (*weights)[c * each + i];
      (w > 0 ? up : down) += w;
    }
    layer->range = either(layer->range, {layer->bias[c] + up * x.lo + down * x.hi,
                                         layer->bias[c] + up * x.hi + down * x.lo});
  }
  if (layer->range.is_int32()) return true;
  (void)importer.refuse(op, "its sums may leave 32 bits",
                        "quantise the layer's weights to fewer bits, or give it fewer channels");
  return false;
}

// Reorders [o][i][h][w] to [o][h][w][i].
std::vector<int16_t> ohwi(const std::vector<int32_t>& weights, const Shape& s) {
  std::vector<int16_t> moved(weights.size());
  size_t at = 0;
  for (int64_t o = 0; o < s[0]; ++o)
    for (int64_t p = 0; p < s[2] * s[3]; ++p)
      for (int64_t i = 0; i < s[1]; ++i)
        moved[at++] =
            static_cast<int16_t>(weights[static_cast<size_t>((o * s[1] + i) * s[2] * s[3] + p)]);
  return moved;
}

// Reorders [o][1][h][w] to [h][w][o].
std::vector<int16_t> hwo(const std::vector<int32_t>& weights, const Shape& s) {
  std::vector<int16_t> moved(weights.size());
  const int64_t taps = s[2] * s[3];
  for (int64_t o = 0; o < s[0]; ++o)
    for (int64_t p = 0; p < taps; ++p)
      moved[static_cast<size_t>(p * s[0] + o)] =
          static_cast<int16_t>(weights[static_cast<size_t>(o * taps + p)]);
  return moved;
}

template <class T>
void fill_window(const Conv& conv, Storage x, std::unique_ptr<fb::RequantT> requant, T* o) {
  o->stride_h = static_cast<uint16_t>(conv.h.stride);
  o->stride_w = static_cast<uint16_t>(conv.w.stride);
  o->dilation_h = static_cast<uint16_t>(conv.h.dilation);
  o->dilation_w = static_cast<uint16_t>(conv.w.dilation);
  o->pad_top = o->pad_bottom = static_cast<uint16_t>(conv.h.padding);
  o->pad_left = o->pad_right = static_cast<uint16_t>(conv.w.padding);
  o->input_zero_point = static_cast<uint8_t>(x.zero_point);
  o->requant = requant ? std::move(requant) : std::make_unique<fb::RequantT>();
}

}  // namespace

Status infer_conv2d(Inference* inference) {
  Conv conv;
  const Shape& x = inference->input(0).shape;
  QRT_TRY(read_conv(inference->attributes(), x, &conv));
  QRT_TRY(check_bias(*inference, conv.use_bias, conv.channels));
  const Shape w{conv.channels, x[1] / conv.groups, conv.h.kernel, conv.w.kernel};
  QRT_MODEL_CHECK(inference->input(1).shape == w, "its weights have the shape %s, expected %s",
                  inference->input(1).shape.to_string().c_str(), w.to_string().c_str());
  int64_t precision;
  QRT_TRY(sum_precision(*inference, w[1] * w[2] * w[3], conv.use_bias, &precision));
  return inference->output({x[0], conv.channels, conv.h.out, conv.w.out}, precision);
}

Status import_conv2d(Importer& importer, const Op& op) {
  Conv conv;
  const Shape x = importer.shape(op.input(0)), w = importer.shape(op.input(1));
  QRT_TRY(read_conv(Attributes(op.node.attributes), x, &conv));
  auto layer = std::make_shared<Layer>();
  if (!read_layer(importer, op, conv.channels, layer.get())) return Status();
  const bool is_depthwise = conv.groups == x[1] && conv.groups > 1;
  auto product = std::make_shared<Product>();
  product->range = layer->range;
  product->channel_axis = 1;
  product->name = is_depthwise ? "DepthwiseConv2D" : "Conv2D";
  const Shape y = importer.shape(op.output());
  product->emit = [&importer, op, conv, layer, is_depthwise, x, w, y](
                      std::unique_ptr<fb::RequantT> requant, Storage storage) {
    Graph& graph = importer.graph();
    const Stored& from = layer->x;
    const ValueId image = importer.transposed(op, from.value, from.storage, {0, 2, 3, 1});
    const ValueId bias = graph.add_constant("", DType::kInt32, {conv.channels}, layer->bias);
    const ValueId made = importer.new_value("", storage, {y[0], y[2], y[3], y[1]});
    const std::string& name = importer.name_of(op.input(1));
    // A DepthwiseConv2D always requantises, so a depthwise layer that gives its sums becomes a
    // Conv2D with groups of one channel.
    if (is_depthwise && requant) {
      const ValueId weights =
          graph.add_constant(name, DType::kInt16, {w[2], w[3], w[0]}, hwo(layer->weights, w));
      auto& o = importer.add_node<fb::DepthwiseConv2DOptionsT>(op, {image, weights, bias}, made);
      fill_window(conv, from.storage, std::move(requant), &o);
      o.multiplier = static_cast<uint32_t>(w[0] / x[1]);
    } else {
      const ValueId weights = graph.add_constant(name, DType::kInt16, {w[0], w[2], w[3], w[1]},
                                                 ohwi(layer->weights, w));
      auto& o = importer.add_node<fb::Conv2DOptionsT>(op, {image, weights, bias}, made);
      fill_window(conv, from.storage, std::move(requant), &o);
      o.groups = static_cast<uint32_t>(conv.groups);
    }
    return importer.transposed(op, made, storage, {0, 3, 1, 2});
  };
  importer.set_product(op, std::move(product));
  return Status();
}

namespace {

Status read_dense(const Attributes& a, int64_t* units, bool* use_bias) {
  QRT_TRY(a.check_names({"units", "use_bias"}));
  QRT_TRY(a.required_integer("units", 1, 1 << 24, units));
  return a.boolean("use_bias", use_bias);
}

}  // namespace

Status infer_dense(Inference* inference) {
  int64_t units = 0, precision;
  bool use_bias = true;
  QRT_TRY(read_dense(inference->attributes(), &units, &use_bias));
  const Shape &x = inference->input(0).shape, &w = inference->input(1).shape;
  QRT_MODEL_CHECK(x.rank() == 2 && w == (Shape{units, x[1]}),
                  "its input has the shape %s and its weights %s, expected [m, k] and [%lld, k]",
                  x.to_string().c_str(), w.to_string().c_str(), static_cast<long long>(units));
  QRT_TRY(check_bias(*inference, use_bias, units));
  QRT_TRY(sum_precision(*inference, x[1], use_bias, &precision));
  return inference->output({x[0], units}, precision);
}

Status import_dense(Importer& importer, const Op& op) {
  const Shape w = importer.shape(op.input(1));
  auto layer = std::make_shared<Layer>();
  if (!read_layer(importer, op, w[0], layer.get())) return Status();
  auto product = std::make_shared<Product>();
  product->range = layer->range;
  product->channel_axis = 1;
  product->name = "FullyConnected";
  product->emit = [&importer, op, layer, w](std::unique_ptr<fb::RequantT> requant,
                                            Storage storage) {
    Graph& graph = importer.graph();
    const std::vector<int16_t> elements(layer->weights.begin(), layer->weights.end());
    const ValueId weights =
        graph.add_constant(importer.name_of(op.input(1)), DType::kInt16, w, elements);
    const ValueId bias = graph.add_constant("", DType::kInt32, {w[0]}, layer->bias);
    const ValueId made = importer.new_value("", storage, importer.shape(op.output()));
    auto& o =
        importer.add_node<fb::FullyConnectedOptionsT>(op, {layer->x.value, weights, bias}, made);
    o.requant = requant ? std::move(requant) : std::make_unique<fb::RequantT>();
    return made;
  };
  importer.set_product(op, std::move(product));
  return Status();
}

}  // namespace qrt::convert::from_cvm
