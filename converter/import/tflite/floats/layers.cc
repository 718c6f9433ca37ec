// SPDX-License-Identifier: Apache-2.0
// FULLY_CONNECTED, CONV_2D, DEPTHWISE_CONV_2D and BATCH_MATMUL of float32 activations: with weights of few bits as LiteRT's
// portable reference kernels compute TFLite's dynamic range (kernels/hybrid.h), with weights of floats in float.
#include <cfloat>
#include <cmath>

#include "converter/import/tflite/floats/hybrid.h"
#include "converter/import/tflite/ops/linear.h"

namespace qrt::convert::from_tflite {
namespace {

using A = tflite::ActivationFunctionType;
using F = fb::FloatFunction;

bool has_integer_weights(const Importer& importer, const Op& op) {
  return importer.input(op, 1).type != TensorType::FLOAT32;
}

// Finds the limits of a fused activation; those of convolutions are finite. Returns false where the
// kernels have no such activation; the operator was refused.
bool read_limits(Importer& importer, const Op& op, A activation, float most, float* lo, float* hi) {
  *lo = -most;
  *hi = most;
  if (activation == A::RELU) *lo = 0;
  if (activation == A::RELU6) *lo = 0, *hi = 6;
  if (activation == A::RELU_N1_TO_1) *lo = -1, *hi = 1;
  const bool is_known = activation == A::NONE || activation == A::RELU || activation == A::RELU6 ||
                        activation == A::RELU_N1_TO_1;
  if (!is_known)
    (void)importer.refuse(op, "it has a fused activation without a kernel",
                          importer.output(op).name,
                          "export the activation as an operator of its own");
  return is_known;
}

// A convolution in the terms of Conv2D.
struct ConvShape {
  Window window;
  int64_t groups = 1;
  Shape weights;  // [out, kh, kw, in / groups]
};

// Returns whether the weights have scales that differ.
bool scales_differ(const Tensor& w) {
  for (const float s : w.scale)
    if (s != w.scale[0]) return true;
  return false;
}

Status hybrid_convolution(FloatOp* f, const ConvShape& conv, const HybridLayer& layer,
                          bool weights_first, A activation) {
  float lo, hi;
  if (!read_limits(f->importer(), f->op(), activation, FLT_MAX, &lo, &hi)) return Status();
  ValueId x;
  if (!f->read(0, &x)) return Status();
  auto inputs = dynamic_inputs(f, layer, add_constants(f, layer, conv.weights), x);
  const ValueId y = f->builder().new_value(
      "", DType::kFloat32,
      {f->shape_of(x)[0], conv.window.output[0], conv.window.output[1], layer.channels});
  auto& o = f->builder().add<fb::Conv2DOptionsT>(f->source(), std::move(inputs), y);
  set_window(conv.window, &o);
  set_dilation(conv.window, &o);
  o.groups = static_cast<uint32_t>(conv.groups);
  o.requant = std::make_unique<fb::RequantT>();
  o.store = float_store(weights_first, lo, hi);
  return f->finish(y, "Conv2D", "edge");
}

// Returns input 2 as a constant of `channels` floats, of none zeros. kNoValue: refused.
ValueId float_bias(FloatOp* f, int64_t channels) {
  if (!f->op().has_input(2)) return f->zeros(channels);
  ValueId bias;
  if (!f->read_constant(2) || !f->read(2, &bias)) return kNoValue;
  if (f->shape_of(bias).elements() == channels)
    return f->builder().reshape(f->source(), bias, {channels});
  (void)f->importer().refuse(f->op(), "its bias has another number of elements than its output",
                             f->importer().input(f->op(), 2).name,
                             "store one bias for every output channel");
  return kNoValue;
}

// Computes a convolution in float: a product where a window is one position, else a convolution of
// planes. `order`: of the dimensions of the file's weights, to [out, in / groups, kh, kw].
Status float_convolution(FloatOp* f, const ConvShape& conv, const std::vector<int>& order,
                         A activation) {
  ValueId x, w;
  if (!f->read(0, &x) || !f->read_constant(1) || !f->read(1, &w)) return Status();
  const Shape sx = f->shape_of(x), sw = conv.weights;
  const int64_t out = sw[0];
  const ValueId bias = float_bias(f, out);
  if (bias == kNoValue) return Status();
  w = f->arrange(w, f->shape_of(w), order, {out, sw[3], sw[1], sw[2]});
  const Window& window = conv.window;
  ValueId y;
  const bool is_plain = sw[1] * sw[2] * window.stride[0] * window.stride[1] == 1;
  if (is_plain && conv.groups == 1) {
    x = f->builder().reshape(f->source(), x, {sx[0], sx[1] * sx[2], sx[3]});
    w = f->arrange(w, {out, sx[3]}, {1, 0}, {sx[3], out});
    y = f->add(F::FUSED_MATMUL, {x, w}, {sx[0], sx[1] * sx[2], out});
    QRT_TRY(f->binary(F::ADD, y, bias, &y));
    y = f->builder().reshape(f->source(), y, {sx[0], sx[1], sx[2], out});
  } else {
    x = f->builder().transpose(f->source(), x, {0, 3, 1, 2});
    y = f->builder().new_value("", DType::kFloat32,
                               {sx[0], out, window.output[0], window.output[1]});
    auto& o = f->builder().add<fb::FloatOptionsT>(f->source(), {x, w, bias}, y);
    o.function = F::ORT_CONV;
    o.window = std::make_unique<fb::FloatWindowT>();
    set_window(window, o.window.get());
    set_dilation(window, o.window.get());
    o.window->groups = static_cast<uint32_t>(conv.groups);
    y = f->builder().transpose(f->source(), y, {0, 2, 3, 1});
  }
  QRT_TRY(f->activate(activation, &y));
  return f->finish(y);
}

// Multiplies matrices a [..., k] and b [..., k, n], of which b's are one or a's last ones.
Status float_matmul(FloatOp* f, ValueId a, ValueId b) {
  Shape made = f->shape_of(a), of_b = f->shape_of(b);
  if (of_b.elements() == of_b[of_b.rank() - 1] * of_b[of_b.rank() - 2]) {
    of_b = {of_b[of_b.rank() - 2], of_b[of_b.rank() - 1]};
    b = f->builder().reshape(f->source(), b, of_b);
  }
  bool fits = of_b.rank() <= made.rank();
  for (int i = 0; fits && i + 2 < of_b.rank(); ++i)
    fits = of_b[i] == made[made.rank() - of_b.rank() + i];
  if (!fits)
    return f->importer().refuse(f->op(), "its second operand is broadcast, or broadcasts the first",
                                f->importer().output(f->op()).name,
                                "give both operands the same leading dimensions");
  made[made.rank() - 1] = of_b[of_b.rank() - 1];
  return f->finish(f->add(F::FUSED_MATMUL, {a, b}, made));
}

}  // namespace

Status import_dynamic_fully_connected(Importer& importer, const Op& op) {
  const auto o = op.options<tflite::FullyConnectedOptions>();
  if (o.weights_format != tflite::FullyConnectedOptionsWeightsFormat::DEFAULT)
    return importer.refuse(op, "the weights are stored shuffled", importer.input(op, 1).name,
                           "convert the model again without shuffled weights (uint8 for one CPU)");
  const Shape sx = importer.input(op, 0).shape, w = importer.input(op, 1).shape;
  QRT_MODEL_CHECK(w.rank() == 2 && w.elements() > 0, "the weights have shape %s",
                  w.to_string().c_str());
  QRT_MODEL_CHECK(sx.elements() > 0 && sx.elements() % w[1] == 0,
                  "an input of shape %s does not fit weights of shape %s", sx.to_string().c_str(),
                  w.to_string().c_str());
  FloatOp f(importer, op);
  ValueId x, y;
  if (!f.read(0, &x)) return Status();
  x = f.builder().reshape(op, x, {sx.elements() / w[1], w[1]});
  if (importer.input(op, 1).block != 0) {
    QRT_TRY(multiply_by_blocks(&f, x, &y));
    if (y == kNoValue) return Status();
    QRT_TRY(f.activate(o.fused_activation_function, &y));
    return f.finish(y, "MatMulNBits");
  }
  if (has_integer_weights(importer, op)) {
    HybridLayer layer;
    layer.asymmetric = o.asymmetric_quantize_inputs;
    float lo = -INFINITY, hi = INFINITY;
    const A activation = o.fused_activation_function;
    const bool is_tanh = activation == A::TANH, limits = activation != A::NONE && !is_tanh;
    if (!read_hybrid_weights(importer, op, 1, {0, static_cast<size_t>(w[0]), false}, &layer) ||
        !read_addend(&f, 2, layer.channels, 0, &layer) ||
        (limits && !read_limits(importer, op, activation, INFINITY, &lo, &hi)))
      return Status();
    y = hybrid_rows(&f, layer, add_constants(&f, layer, w), x,
                    limits ? float_store(false, lo, hi) : nullptr);
    if (is_tanh) QRT_TRY(f.activate(activation, &y));
    return f.finish(y, "FullyConnected", is_tanh ? "F" : "edge");
  }
  ValueId matrix;
  if (!f.read_constant(1) || !f.read(1, &matrix)) return Status();
  const ValueId bias = float_bias(&f, w[0]);
  if (bias == kNoValue) return Status();
  matrix = f.arrange(matrix, w, {1, 0}, {w[1], w[0]});
  y = f.add(F::FUSED_MATMUL, {x, matrix}, {sx.elements() / w[1], w[0]});
  if (op.has_input(2)) QRT_TRY(f.binary(F::ADD, y, bias, &y));
  QRT_TRY(f.activate(o.fused_activation_function, &y));
  return f.finish(y);
}

Status import_dynamic_conv_2d(Importer& importer, const Op& op) {
  const auto o = op.options<tflite::Conv2DOptions>();
  QRT_TRY(check_image(importer, op));
  const Shape x = importer.input(op, 0).shape, w = importer.input(op, 1).shape;
  QRT_MODEL_CHECK(x[3] % w[3] == 0 && w[0] % (x[3] / w[3]) == 0,
                  "weights of shape %s do not fit %lld input channels", w.to_string().c_str(),
                  static_cast<long long>(x[3]));
  ConvShape conv{
      {{w[1], w[2]}, {o.stride_h, o.stride_w}, {o.dilation_h_factor, o.dilation_w_factor}},
      x[3] / w[3],
      w};
  QRT_TRY(place_window(x[1], x[2], o.padding, &conv.window));
  QRT_TRY(
      check_output_shape(importer, op, {x[0], conv.window.output[0], conv.window.output[1], w[0]}));
  FloatOp f(importer, op);
  if (!has_integer_weights(importer, op))
    return float_convolution(&f, conv, {0, 3, 1, 2}, o.fused_activation_function);
  // Unequal scales have a kernel of their own, which alone knows groups.
  HybridLayer layer;
  layer.asymmetric = scales_differ(importer.input(op, 1));
  if (conv.groups != 1 && !layer.asymmetric)
    return importer.refuse(op,
                           "it has groups, and its weights one scale, where the reference reads "
                           "beyond its parameters",
                           importer.input(op, 1).name,
                           "quantise the weights with a scale for every output channel");
  if (!read_hybrid_weights(importer, op, 1, {0, static_cast<size_t>(w[0]), false}, &layer) ||
      !read_addend(&f, 2, layer.channels, layer.asymmetric ? -0.0f : 0.0f, &layer))
    return Status();
  return hybrid_convolution(&f, conv, layer, layer.asymmetric, o.fused_activation_function);
}

Status import_dynamic_depthwise_conv_2d(Importer& importer, const Op& op) {
  const auto o = op.options<tflite::DepthwiseConv2DOptions>();
  QRT_TRY(check_image(importer, op));
  const Shape x = importer.input(op, 0).shape, w = importer.input(op, 1).shape;
  QRT_MODEL_CHECK(w[0] == 1 && w[3] % x[3] == 0,
                  "weights of shape %s do not fit %lld input channels", w.to_string().c_str(),
                  static_cast<long long>(x[3]));
  ConvShape conv{
      {{w[1], w[2]}, {o.stride_h, o.stride_w}, {o.dilation_h_factor, o.dilation_w_factor}},
      x[3],
      {w[3], w[1], w[2], 1}};
  QRT_TRY(place_window(x[1], x[2], o.padding, &conv.window));
  QRT_TRY(
      check_output_shape(importer, op, {x[0], conv.window.output[0], conv.window.output[1], w[3]}));
  FloatOp f(importer, op);
  if (!has_integer_weights(importer, op))
    return float_convolution(&f, conv, {3, 0, 1, 2}, o.fused_activation_function);
  HybridLayer layer;
  layer.asymmetric = true;
  const Tensor& weights = importer.input(op, 1);
  if (weights.type != TensorType::INT8 || weights.scale.size() != static_cast<size_t>(w[3])) {
    (void)refuse_weights(importer, op, 1,
                         std::string("is ") + type_name(weights.type) + " with " +
                             std::to_string(weights.scale.size()) +
                             " scales, which the reference has no kernel for",
                         "quantise the weights to int8 with a scale for every output channel");
    return Status();
  }
  if (!read_hybrid_weights(importer, op, 1, {3, static_cast<size_t>(w[3]), true}, &layer) ||
      !read_addend(&f, 2, layer.channels, -0.0f, &layer))
    return Status();
  return hybrid_convolution(&f, conv, layer, false, o.fused_activation_function);
}

Status import_dynamic_batch_matmul(Importer& importer, const Op& op) {
  const auto o = op.options<tflite::BatchMatMulOptions>();
  FloatOp f(importer, op);
  ValueId x;
  if (!f.read(0, &x)) return Status();
  const auto swapped = [](const Shape& s) {
    std::vector<int> perm;
    for (int i = 0; i < s.rank(); ++i) perm.push_back(i);
    std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
    return perm;
  };
  Shape sw = importer.input(op, 1).shape;
  QRT_MODEL_CHECK(f.shape_of(x).rank() >= 2 && sw.rank() >= 2 && f.shape_of(x).elements() > 0 &&
                      sw.elements() > 0,
                  "matrices of shapes %s and %s", f.shape_of(x).to_string().c_str(),
                  sw.to_string().c_str());
  if (o.adj_x) x = f.builder().transpose(op, x, swapped(f.shape_of(x)));
  const Shape sx = f.shape_of(x);
  const int64_t k = sx[sx.rank() - 1], inner = sw[sw.rank() - (o.adj_y ? 1 : 2)];
  const int64_t n = sw[sw.rank() - (o.adj_y ? 2 : 1)];
  QRT_MODEL_CHECK(k == inner, "matrices of shapes %s and %s", sx.to_string().c_str(),
                  sw.to_string().c_str());
  if (!has_integer_weights(importer, op)) {
    ValueId w;
    if (!f.read(1, &w)) return Status();
    if (o.adj_y) w = f.builder().transpose(op, w, swapped(sw));
    return float_matmul(&f, x, w);
  }
  if (sw.elements() != k * n) {
    (void)refuse_weights(importer, op, 1, "has several matrices",
                         "multiply by one matrix at a time");
    return Status();
  }
  HybridLayer layer;
  layer.asymmetric = o.asymmetric_quantize_inputs;
  const WeightOrder order{sw.rank() - (o.adj_y ? 2 : 1), static_cast<size_t>(n), !o.adj_y};
  if (!read_hybrid_weights(importer, op, 1, order, &layer)) return Status();
  // The reference subtracts the zero point's share in float32, without rounding below 2^24.
  for (size_t i = 0, sum = 0; layer.asymmetric && i < layer.weights.size(); ++i) {
    sum = i % static_cast<size_t>(k) == 0 ? 0 : sum;
    sum += static_cast<size_t>(std::abs(layer.weights[i]));
    if (255 * sum > 1 << 24) {
      (void)refuse_weights(importer, op, 1, "makes sums beyond 2^24, which the reference rounds",
                           "convert the model without asymmetric_quantize_inputs");
      return Status();
    }
  }
  layer.addend.assign(static_cast<size_t>(n), 0.0f);
  x = f.builder().reshape(op, x, {sx.elements() / k, k});
  return f.finish(hybrid_rows(&f, layer, add_constants(&f, layer, {n, k}), x, nullptr),
                  "FullyConnected", "edge");
}

}  // namespace qrt::convert::from_tflite
