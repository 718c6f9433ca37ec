// SPDX-License-Identifier: Apache-2.0
// Integer arithmetic for 16-bit activations; see arithmetic/int16.h.
#include "converter/import/onnx/arithmetic/int16.h"

#include <algorithm>
#include <cmath>

#include "kernels/gemm/digits.h"

namespace qrt::convert::from_onnx {
namespace {

constexpr int kMostFraction = 14;  // bits that weights of int16 can spare
constexpr int kBiasInput = 2;

// The greatest part of a step of the output by which a rounded bias may move it: from kFineBias on
// finer units are tried, and beyond kCoarseBias the layer is refused.
constexpr double kFineBias = 1.0 / 64, kCoarseBias = 0.25;

double element(const std::vector<double>& values, size_t i) {
  return values[values.size() == 1 ? 0 : i];
}

int64_t rounded(double v) {
  return static_cast<int64_t>(std::clamp(std::nearbyint(v), -0x1p60, 0x1p60));
}

// Returns the greatest error of the bias, in output steps, in units of products / 2^fraction.
double bias_error(const Int16Source& s, double y_scale, int fraction) {
  double worst = 0;
  for (size_t o = 0; o < s.bias.size(); ++o) {
    const double unit = std::ldexp(element(s.products, o), -fraction);
    worst = std::max(worst, std::fabs(std::nearbyint(s.bias[o] / unit) * unit - s.bias[o]));
  }
  return worst / y_scale;
}

bool fits_int16(int64_t lo, int64_t hi) { return lo >= INT16_MIN && hi <= INT16_MAX; }

}  // namespace

bool is_byte_weight(int type) {
  int lo, hi;
  return quantized_range(type, &lo, &hi) && hi - lo < 256;
}

std::unique_ptr<fb::RequantT> int16_requant(Importer& importer, const NodeView& node,
                                            const std::vector<double>& factor,
                                            const std::vector<int64_t>& bound, const Quant& out,
                                            Limits limits) {
  auto stage = closest_stage(factor, bound);
  if (!stage) {
    (void)importer.refuse(node, "a ratio of input to output scales is beyond integer arithmetic",
                          node.output(0),
                          "calibrate the quantisation again: qrt_convert --lint names the scales "
                          "that are no ordinary positive numbers");
    return nullptr;
  }
  return int_requant(out.stored_zero_point(), limits, std::move(stage));
}

std::vector<double> real_bias(const Importer& importer, const NodeView& node, int input,
                              int64_t channels) {
  std::vector<double> real(static_cast<size_t>(channels), 0.0);
  if (!node.has_input(input)) return real;
  const Tensor& b = importer.input(node, input);
  for (size_t i = 0; i < real.size(); ++i) {
    const int64_t from = b.constant->elements() == 1 ? 0 : static_cast<int64_t>(i);
    if (!b.quant) {
      real[i] = static_cast<double>(b.constant->real(from));
      continue;
    }
    const size_t at = b.quant->per_tensor() ? 0 : static_cast<size_t>(from);
    real[i] =
        static_cast<double>(b.constant->integer(from)) * static_cast<double>(b.quant->scale[at]);
  }
  return real;
}

std::vector<double> int16_products(float alpha, const Quant& x, const Quant& w) {
  const double of_x = static_cast<double>(alpha) * static_cast<double>(x.scale[0]);
  std::vector<double> products;
  for (float scale : w.scale) products.push_back(of_x * static_cast<double>(scale));
  return products;
}

std::optional<LayerConstants> make_int16_layer(Importer& importer, const NodeView& node,
                                               const Int16Source& s, const Quant& out,
                                               Limits limits) {
  const double y_scale = static_cast<double>(out.scale[0]);
  const auto [least, most] = std::minmax_element(s.weights.begin(), s.weights.end());
  if (!fits_int16(*least, *most)) {
    (void)importer.refuse(node,
                          "a weight less its zero point is " +
                              std::to_string(-int64_t{*least} > *most ? *least : *most) +
                              ", beyond int16",
                          node.input(1), "quantise the weights symmetrically, with zero point 0");
    return std::nullopt;
  }
  if (s.padded_in > static_cast<int64_t>(kMaxDigitsK)) {
    (void)importer.refuse(node,
                          std::to_string(s.padded_in) + " weights make an output, at most " +
                              std::to_string(kMaxDigitsK) + " can with 16-bit activations",
                          node.input(1), "quantise the activations to 8 bits");
    return std::nullopt;
  }
  int fraction = 0;
  while (fraction < kMostFraction && bias_error(s, y_scale, fraction) > kFineBias &&
         fits_int16(int64_t{*least} * (2 << fraction), int64_t{*most} * (2 << fraction)))
    ++fraction;
  if (!(bias_error(s, y_scale, fraction) <= kCoarseBias)) {
    (void)importer.refuse(node,
                          "the bias has another scale than input and weights together, of which "
                          "half a unit is more than a quarter of an output step",
                          node.input(kBiasInput),
                          "quantise the bias to int32 with the product of the scales of input and "
                          "weights, and zero point 0");
    return std::nullopt;
  }
  LayerConstants layer;
  layer.type = DType::kInt16;
  layer.fraction = fraction;
  std::vector<int64_t> bias;
  for (int32_t w : s.weights) layer.weights.push_back(static_cast<int16_t>(w * (1 << fraction)));
  // The runtime's bound, which holds for digits of any value.
  const int64_t sums = s.padded_in * 257 * 255 * 128 * (256 * digits_of(layer.weights) - 255);
  const size_t in = layer.weights.size() / static_cast<size_t>(s.out);
  std::vector<double> factor;
  std::vector<int64_t> bound;
  for (size_t o = 0; o < static_cast<size_t>(s.out); ++o) {
    const double unit = std::ldexp(element(s.products, o), -fraction);
    bias.push_back(rounded(s.bias[o] / unit));
    int64_t sum = 0;
    for (size_t i = 0; i < in; ++i) sum += layer.weights[o * in + i];
    // The bias absorbs the input's zero point, and 32768 where activations are two planes of bytes.
    const int64_t zero = std::abs(int64_t{s.x_zero_point}) + 32768;
    bound.push_back(sums + std::abs(bias.back()) + zero * std::abs(sum));
    factor.push_back(unit / y_scale);
    if (bound.back() < (int64_t{1} << 60)) continue;
    (void)importer.refuse(node, "the bias of output channel " + std::to_string(o) + " is too large",
                          node.input(kBiasInput),
                          "quantise the bias to int32 with the product of the scales of input and "
                          "weights, and zero point 0");
    return std::nullopt;
  }
  layer.requant = int16_requant(importer, node, factor, bound, out, limits);
  if (!layer.requant) return std::nullopt;
  layer.bias = importer.graph().add_constant("", DType::kInt64, {s.out}, bias);
  return layer;
}

std::optional<LayerConstants> as_byte_sums(Importer& importer, const Int16Source& s,
                                           const LayerConstants& layer) {
  constexpr int kSumFraction = 8;  // RequantizeOptions, with a bias
  if (layer.fraction > kSumFraction) return std::nullopt;
  const int more = kSumFraction - layer.fraction;
  const auto channels = static_cast<size_t>(s.out);
  const size_t in = s.weights.size() / channels;
  int64_t reach = 1;
  for (size_t o = 0; o < channels; ++o) {
    int64_t least = 0, most = 0;
    for (size_t i = 0; i < in; ++i) {
      const int64_t w = s.weights[o * in + i];
      const int64_t a = w * -s.x_zero_point, b = w * (255 - s.x_zero_point);
      least += std::min(a, b);
      most += std::max(a, b);
    }
    reach = std::max({reach, -least, most});
  }
  if (reach > INT32_MAX) return std::nullopt;
  LayerConstants bytes;
  bytes.weights.assign(s.weights.begin(), s.weights.end());
  bytes.requant = std::make_unique<fb::RequantT>();
  bytes.bias =
      importer.graph().add_constant("", DType::kInt32, {s.out}, std::vector<int32_t>(channels, 0));
  LayerConstants::FineBias fine;
  fine.requant = std::make_unique<fb::RequantT>(*layer.requant);
  const int64_t* coarse = importer.graph().values[layer.bias].as<int64_t>();
  fb::RequantStageT& stage = *fine.requant->stages[0];
  std::vector<int64_t> bias;
  for (size_t o = 0; o < channels; ++o) {
    if (std::abs(coarse[o]) >= kMostProduct >> kSumFraction) return std::nullopt;
    bias.push_back(coarse[o] * (int64_t{1} << more));
    const int64_t bound = (reach << kSumFraction) + std::abs(bias.back());
    if (stage.multiplier[o] > (kMostProduct - 1) / bound || stage.shift[o] + more > kMostShift)
      return std::nullopt;
    stage.shift[o] = static_cast<uint8_t>(stage.shift[o] + more);
  }
  auto clip = std::make_unique<fb::RequantStageT>();
  clip->multiplier = {1};
  clip->shift = {0};
  clip->clip_hi = static_cast<int32_t>(reach);
  clip->clip_lo = -clip->clip_hi;
  fine.requant->stages.insert(fine.requant->stages.begin(), std::move(clip));
  fine.bias = importer.graph().add_constant("", DType::kInt64, {s.out}, bias);
  bytes.fine_bias = std::move(fine);
  return bytes;
}

ValueId as_output(Importer& importer, const NodeView& node, ValueId y, const Quant& out) {
  return out.is_int16() ? y : importer.builder().narrowed(node, y, &out);
}

Status emit_int16_sum(Importer& importer, const NodeView& node, const std::string& ops,
                      const Int16Operand& a, const Int16Operand& b, bool subtract,
                      const Shape& shape, const Quant& out, Limits limits, ValueId* result) {
  const double y_scale = static_cast<double>(out.scale[0]);
  const int za = a.quant.stored_zero_point(), zb = b.quant.stored_zero_point();
  const double ra = static_cast<double>(a.quant.scale[0]) / y_scale;
  const double rb = static_cast<double>(b.quant.scale[0]) / y_scale;
  // Terms in units of 2^-fraction steps, their sum within 2^30.
  const double reach =
      ra * static_cast<double>(int16_reach(za)) + rb * static_cast<double>(int16_reach(zb));
  int fraction = 14;
  while (fraction > 0 && reach * std::ldexp(1.0, fraction) >= 0x1p30) --fraction;
  auto a_stage = closest_stage({std::ldexp(ra, fraction)}, {int16_reach(za)});
  auto b_stage = closest_stage({std::ldexp(rb, fraction)}, {int16_reach(zb)});
  if (fraction < 6 || !a_stage || !b_stage)
    return importer.refuse(node,
                           "the ratios of input to output scales, " + std::to_string(ra) + " and " +
                               std::to_string(rb) + ", are beyond exact arithmetic",
                           node.output(0),
                           "calibrate the quantisation again: qrt_convert --lint names the scales "
                           "that are no ordinary positive numbers");
  *result = importer.builder().new_value("", DType::kInt16, shape, &out);
  Node n = make_node<fb::AddOptionsT>(node.name(), ops, {a.value, b.value}, {*result});
  auto& o = options<fb::AddOptionsT>(n);
  o.kind = fb::AddKind::INT;
  o.subtract = subtract;
  o.a_zero_point_16 = static_cast<int16_t>(za);
  o.b_zero_point_16 = static_cast<int16_t>(zb);
  o.a_stages.push_back(std::move(a_stage));
  o.b_stages.push_back(std::move(b_stage));
  o.requant = int_requant(out.stored_zero_point(), limits,
                          make_stage({{1, fraction}}, fb::Rounding::HALF_EVEN));
  importer.graph().nodes.push_back(std::move(n));
  importer.became(node, "Add", "I0");
  *result = as_output(importer, node, *result, out);
  return Status();
}

Status emit_int16_product(Importer& importer, const NodeView& node, const std::string& ops,
                          const Int16Operand& a, const Int16Operand& b, const Shape& shape,
                          const Quant& out, Limits limits, ValueId* result) {
  const int za = a.quant.stored_zero_point(), zb = b.quant.stored_zero_point();
  const double factor = static_cast<double>(a.quant.scale[0]) *
                        static_cast<double>(b.quant.scale[0]) / static_cast<double>(out.scale[0]);
  auto requant =
      int16_requant(importer, node, {factor}, {int16_reach(za) * int16_reach(zb)}, out, limits);
  if (!requant) return Status();
  *result = importer.builder().new_value("", DType::kInt16, shape, &out);
  Node n = make_node<fb::MulOptionsT>(node.name(), ops, {a.value, b.value}, {*result});
  auto& o = options<fb::MulOptionsT>(n);
  o.a_zero_point_16 = static_cast<int16_t>(za);
  o.b_zero_point_16 = static_cast<int16_t>(zb);
  o.requant = std::move(requant);
  importer.graph().nodes.push_back(std::move(n));
  importer.became(node, "Mul", "I0");
  *result = as_output(importer, node, *result, out);
  return Status();
}

// Emits an affine function of int16 as a depthwise convolution of one position, with weights 1, 0
// or -1: each channel has a requantisation of its own.
Status emit_int16_affine(Importer& importer, const NodeView& node, const std::string& ops,
                         const Int16Operand& x, int axis, const Int16Affine& f, const Quant& out,
                         Limits limits, ValueId* result) {
  const int64_t channels = static_cast<int64_t>(f.factor.size());
  const double x_scale = static_cast<double>(x.quant.scale[0]);
  Int16Source source;
  for (double v : f.factor) {
    source.weights.push_back(v < 0 ? -1 : v > 0 ? 1 : 0);
    source.products.push_back(v != 0 ? x_scale * std::fabs(v) : x_scale);
  }
  source.out = channels;
  source.padded_in = 4;
  source.bias = f.addend;
  source.x_zero_point = x.quant.stored_zero_point();
  auto layer = make_int16_layer(importer, node, source, out, limits);
  if (!layer) return Status();
  const ValueId last = importer.builder().axis_last(node, x.value, axis);
  const Shape shape = importer.builder().shape_of(last);
  Shape image = shape;
  if (shape.rank() != 4) {
    image = {1, 1, 1, channels};
    for (int i = 0; i < shape.rank() - 1; ++i) image[i == 0 ? 0 : 1] *= shape[i];
  }
  const ValueId pixels = importer.builder().reshape(node, last, image);
  const ValueId w =
      importer.graph().add_constant("", DType::kInt16, {1, 1, channels}, layer->weights);
  ValueId y = importer.builder().new_value("", DType::kInt16, image);
  Node n = make_node<fb::DepthwiseConv2DOptionsT>(node.name(), ops, {pixels, w, layer->bias}, {y});
  auto& o = options<fb::DepthwiseConv2DOptionsT>(n);
  o.input_zero_point_16 = static_cast<int16_t>(source.x_zero_point);
  o.requant = std::move(layer->requant);
  importer.graph().nodes.push_back(std::move(n));
  importer.became(node, "DepthwiseConv2D", "I0");
  y = importer.builder().axis_back(node, importer.builder().reshape(node, y, shape), axis, "");
  *result = as_output(importer, node, y, out);
  return Status();
}

Status emit_int16_prelu(Importer& importer, const NodeView& node, const std::string& ops,
                        const Int16Operand& x, int axis, const std::vector<float>& slopes,
                        const Quant& out, Limits limits, ValueId* result) {
  float greatest = 0;
  for (float s : slopes) greatest = std::max(greatest, std::fabs(s));
  const double ratio = static_cast<double>(x.quant.scale[0]) / static_cast<double>(out.scale[0]);
  const double unit = greatest == 0 ? 1 : static_cast<double>(greatest) / INT16_MAX;
  const int zero_point = x.quant.stored_zero_point();
  const int64_t below = zero_point - int64_t{INT16_MIN};
  auto requant = int16_requant(importer, node, {ratio}, {int16_reach(zero_point)}, out, limits);
  if (!requant) return Status();
  auto negative = closest_stage({ratio * unit}, {std::max<int64_t>(below, 1) * INT16_MAX});
  // At the least x, the rounding of a slope to half a unit must stay within half a step.
  if (!negative || !(ratio * unit * static_cast<double>(below) <= 1))
    return importer.refuse(node,
                           "slopes up to " + std::to_string(greatest) +
                               " are beyond 16 bits with an output this much finer than its input",
                           node.input(1), "quantise its output like its input");
  std::vector<int16_t> codes;
  for (float s : slopes)
    codes.push_back(static_cast<int16_t>(std::nearbyint(static_cast<double>(s) / unit)));
  const ValueId last = importer.builder().axis_last(node, x.value, axis);
  const ValueId w =
      importer.graph().add_constant("", DType::kInt16, {static_cast<int64_t>(codes.size())}, codes);
  const ValueId y = importer.builder().new_value("", out.is_int16() ? DType::kInt16 : DType::kUInt8,
                                                 importer.builder().shape_of(last));
  Node n = make_node<fb::RequantizeOptionsT>(node.name(), ops, {last, w}, {y});
  auto& o = options<fb::RequantizeOptionsT>(n);
  o.input_zero_point = zero_point;
  o.requant = std::move(requant);
  o.negative.push_back(std::move(negative));
  importer.graph().nodes.push_back(std::move(n));
  importer.became(node, "Requantize", "I0");
  *result = importer.builder().axis_back(node, y, axis, "");
  return Status();
}

}  // namespace qrt::convert::from_onnx
