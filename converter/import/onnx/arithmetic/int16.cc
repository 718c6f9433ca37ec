// Integer arithmetic for 16-bit activations; see arithmetic/int16.h.
#include "converter/import/onnx/arithmetic/int16.h"

#include <algorithm>
#include <cmath>

#include "converter/passes/passes.h"
#include "kernels/wide/wide.h"

namespace qrt::convert::from_onnx {
namespace {

constexpr int kMostFraction = 14;  // bits that weights of int16 can spare
constexpr int64_t kMostProduct = int64_t{1} << 62;
constexpr int kMostShift = 62;
constexpr int kBiasInput = 2;

// A rounded bias may move the output by this part of a step; finer units are taken before it does.
constexpr double kFineBias = 1.0 / 64, kCoarseBias = 0.25;

double element(const std::vector<double>& values, size_t i) {
  return values[values.size() == 1 ? 0 : i];
}

struct Multiplier {
  int32_t value = 0;
  uint8_t shift = 0;
};

// factor = value / 2^shift as closely as `bound` allows.
bool make_multiplier(double factor, int64_t bound, Multiplier* m) {
  if (!std::isfinite(factor) || !(factor > 0)) return false;
  const double most =
      std::min(2147483647.0,
               std::floor(static_cast<double>((kMostProduct - 1) / std::max<int64_t>(bound, 1))));
  const int shift = std::min(kMostShift, static_cast<int>(std::floor(std::log2(most / factor))));
  if (shift < 0) return false;
  m->shift = static_cast<uint8_t>(shift);
  m->value = static_cast<int32_t>(std::min(most, std::nearbyint(std::ldexp(factor, shift))));
  return true;
}

int64_t rounded(double v) {
  return static_cast<int64_t>(std::clamp(std::nearbyint(v), -0x1p60, 0x1p60));
}

// The greatest error of the bias, in output steps, in units of products / 2^fraction.
double bias_error(const WideSource& s, double y_scale, int fraction) {
  double worst = 0;
  for (size_t o = 0; o < s.bias.size(); ++o) {
    const double unit = std::ldexp(element(s.products, o), -fraction);
    worst = std::max(worst, std::fabs(std::nearbyint(s.bias[o] / unit) * unit - s.bias[o]));
  }
  return worst / y_scale;
}

bool fits_int16(int64_t lo, int64_t hi) { return lo >= INT16_MIN && hi <= INT16_MAX; }

}  // namespace

int64_t wide_reach(int zero_point) {
  return std::max<int64_t>(INT16_MAX - int64_t{zero_point}, zero_point - int64_t{INT16_MIN});
}

bool is_narrow_weight(int type) {
  int lo, hi;
  return quantized_range(type, &lo, &hi) && hi - lo < 256;
}

std::unique_ptr<fb::RequantStageT> wide_stage(const std::vector<double>& factor,
                                              const std::vector<int64_t>& bound) {
  auto stage = std::make_unique<fb::RequantStageT>();
  stage->rounding = fb::Rounding::HALF_EVEN;
  for (size_t i = 0; i < std::max(factor.size(), bound.size()); ++i) {
    Multiplier m;
    if (!make_multiplier(element(factor, i), bound[bound.size() == 1 ? 0 : i], &m)) return nullptr;
    stage->multiplier.push_back(m.value);
    stage->shift.push_back(m.shift);
  }
  return stage;
}

std::unique_ptr<fb::RequantT> wide_requant(Importer& importer, const NodeView& node,
                                           const std::vector<double>& factor,
                                           const std::vector<int64_t>& bound, const Quant& out,
                                           Limits limits) {
  auto stage = wide_stage(factor, bound);
  if (!stage) {
    (void)importer.refuse(node, "a ratio of input to output scales is beyond integer arithmetic",
                          node.output(0), "quantise the model with positive scales of usual size");
    return nullptr;
  }
  auto requant = std::make_unique<fb::RequantT>();
  requant->kind = fb::RequantKind::INT;
  requant->zero_point = out.stored_zero_point();
  requant->lo = limits.lo;
  requant->hi = limits.hi;
  requant->stages.push_back(std::move(stage));
  return requant;
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

std::vector<double> wide_products(float alpha, const Quant& x, const Quant& w) {
  const double of_x = static_cast<double>(alpha) * static_cast<double>(x.scale[0]);
  std::vector<double> products;
  for (float scale : w.scale) products.push_back(of_x * static_cast<double>(scale));
  return products;
}

std::optional<LayerConstants> make_wide_layer(Importer& importer, const NodeView& node,
                                              const WideSource& s, const Quant& out,
                                              Limits limits) {
  const double y_scale = static_cast<double>(out.scale[0]);
  const auto [least, most] = std::minmax_element(s.weights.begin(), s.weights.end());
  if (!fits_int16(*least, *most)) {
    (void)importer.refuse(node,
                          "a weight less its zero point is " +
                              std::to_string(-int64_t{*least} > *most ? *least : *most) +
                              ", beyond int16",
                          node.input(1), "quantise the weights symmetrically");
    return std::nullopt;
  }
  if (s.padded_in > static_cast<int64_t>(kMaxWideK)) {
    (void)importer.refuse(node,
                          std::to_string(s.padded_in) + " weights make an output, at most " +
                              std::to_string(kMaxWideK) + " can with 16-bit activations",
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
                          node.input(kBiasInput), "quantise the bias with scale x * w");
    return std::nullopt;
  }
  LayerConstants layer;
  layer.type = DType::kInt16;
  std::vector<int64_t> bias;
  for (int32_t w : s.weights) layer.weights.push_back(static_cast<int16_t>(w * (1 << fraction)));
  // As the runtime bounds the sums: digits of any value.
  const int64_t sums = s.padded_in * 257 * 255 * 128 * (256 * wide_digits(layer.weights) - 255);
  const size_t in = layer.weights.size() / static_cast<size_t>(s.out);
  std::vector<double> factor;
  std::vector<int64_t> bound;
  for (size_t o = 0; o < static_cast<size_t>(s.out); ++o) {
    const double unit = std::ldexp(element(s.products, o), -fraction);
    bias.push_back(rounded(s.bias[o] / unit));
    int64_t sum = 0;
    for (size_t i = 0; i < in; ++i) sum += layer.weights[o * in + i];
    // The bias takes the input's zero point, and 32768 in two planes of bytes.
    const int64_t zero = std::abs(int64_t{s.x_zero_point}) + 32768;
    bound.push_back(sums + std::abs(bias.back()) + zero * std::abs(sum));
    factor.push_back(unit / y_scale);
    if (bound.back() < (int64_t{1} << 60)) continue;
    (void)importer.refuse(node, "the bias of output channel " + std::to_string(o) + " is too large",
                          node.input(kBiasInput), "quantise the bias with scale x * w");
    return std::nullopt;
  }
  layer.requant = wide_requant(importer, node, factor, bound, out, limits);
  if (!layer.requant) return std::nullopt;
  layer.bias = importer.graph().add_constant("", DType::kInt64, {s.out}, bias);
  return layer;
}

ValueId as_output(Importer& importer, const NodeView& node, ValueId y, const Quant& out) {
  return out.is_wide() ? y : importer.narrowed(node, y, &out);
}

Status emit_wide_sum(Importer& importer, const NodeView& node, const std::string& ops,
                     const WideOperand& a, const WideOperand& b, bool subtract, const Shape& shape,
                     const Quant& out, Limits limits, ValueId* result) {
  const double y_scale = static_cast<double>(out.scale[0]);
  const int za = a.quant.stored_zero_point(), zb = b.quant.stored_zero_point();
  const double ra = static_cast<double>(a.quant.scale[0]) / y_scale;
  const double rb = static_cast<double>(b.quant.scale[0]) / y_scale;
  // Terms in units of 2^-fraction steps, their sum within 2^30.
  const double reach =
      ra * static_cast<double>(wide_reach(za)) + rb * static_cast<double>(wide_reach(zb));
  int fraction = 14;
  while (fraction > 0 && reach * std::ldexp(1.0, fraction) >= 0x1p30) --fraction;
  auto a_stage = wide_stage({std::ldexp(ra, fraction)}, {wide_reach(za)});
  auto b_stage = wide_stage({std::ldexp(rb, fraction)}, {wide_reach(zb)});
  if (fraction < 6 || !a_stage || !b_stage)
    return importer.refuse(node,
                           "the ratios of input to output scales, " + std::to_string(ra) + " and " +
                               std::to_string(rb) + ", are beyond exact arithmetic",
                           node.output(0), "quantise the model with positive scales of usual size");
  *result = importer.new_value("", DType::kInt16, shape, &out);
  Node n = make_node<fb::AddOptionsT>(node.name(), ops, {a.value, b.value}, {*result});
  auto& o = options<fb::AddOptionsT>(n);
  o.kind = fb::AddKind::INT;
  o.subtract = subtract;
  o.a_zero_point_16 = static_cast<int16_t>(za);
  o.b_zero_point_16 = static_cast<int16_t>(zb);
  o.a_stages.push_back(std::move(a_stage));
  o.b_stages.push_back(std::move(b_stage));
  o.requant = std::make_unique<fb::RequantT>();
  o.requant->kind = fb::RequantKind::INT;
  o.requant->zero_point = out.stored_zero_point();
  o.requant->lo = limits.lo;
  o.requant->hi = limits.hi;
  o.requant->stages.push_back(std::make_unique<fb::RequantStageT>());
  o.requant->stages[0]->multiplier = {1};
  o.requant->stages[0]->shift = {static_cast<uint8_t>(fraction)};
  o.requant->stages[0]->rounding = fb::Rounding::HALF_EVEN;
  importer.graph().nodes.push_back(std::move(n));
  importer.became(node, "Add", "I0");
  *result = as_output(importer, node, *result, out);
  return Status();
}

Status emit_wide_product(Importer& importer, const NodeView& node, const std::string& ops,
                         const WideOperand& a, const WideOperand& b, const Shape& shape,
                         const Quant& out, Limits limits, ValueId* result) {
  const int za = a.quant.stored_zero_point(), zb = b.quant.stored_zero_point();
  const double factor = static_cast<double>(a.quant.scale[0]) *
                        static_cast<double>(b.quant.scale[0]) / static_cast<double>(out.scale[0]);
  auto requant =
      wide_requant(importer, node, {factor}, {wide_reach(za) * wide_reach(zb)}, out, limits);
  if (!requant) return Status();
  *result = importer.new_value("", DType::kInt16, shape, &out);
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

// A depthwise convolution of one position, whose weights are 1, 0 or -1: each channel has its own
// requantisation.
Status emit_wide_affine(Importer& importer, const NodeView& node, const std::string& ops,
                        const WideOperand& x, int axis, const WideAffine& f, const Quant& out,
                        Limits limits, ValueId* result) {
  const int64_t channels = static_cast<int64_t>(f.factor.size());
  const double x_scale = static_cast<double>(x.quant.scale[0]);
  WideSource source;
  for (double v : f.factor) {
    source.weights.push_back(v < 0 ? -1 : v > 0 ? 1 : 0);
    source.products.push_back(v != 0 ? x_scale * std::fabs(v) : x_scale);
  }
  source.out = channels;
  source.padded_in = 4;
  source.bias = f.addend;
  source.x_zero_point = x.quant.stored_zero_point();
  auto layer = make_wide_layer(importer, node, source, out, limits);
  if (!layer) return Status();
  const ValueId last = importer.axis_last(node, x.value, axis);
  const Shape shape = importer.shape_of(last);
  Shape image = shape;
  if (shape.rank() != 4) {
    image = {1, 1, 1, channels};
    for (int i = 0; i < shape.rank() - 1; ++i) image[i == 0 ? 0 : 1] *= shape[i];
  }
  const ValueId pixels = importer.reshape(node, last, image);
  const ValueId w =
      importer.graph().add_constant("", DType::kInt16, {1, 1, channels}, layer->weights);
  ValueId y = importer.new_value("", DType::kInt16, image);
  Node n = make_node<fb::DepthwiseConv2DOptionsT>(node.name(), ops, {pixels, w, layer->bias}, {y});
  auto& o = options<fb::DepthwiseConv2DOptionsT>(n);
  o.input_zero_point_16 = static_cast<int16_t>(source.x_zero_point);
  o.requant = std::move(layer->requant);
  importer.graph().nodes.push_back(std::move(n));
  importer.became(node, "DepthwiseConv2D", "I0");
  y = importer.axis_back(node, importer.reshape(node, y, shape), axis, "");
  *result = as_output(importer, node, y, out);
  return Status();
}

Status emit_wide_prelu(Importer& importer, const NodeView& node, const std::string& ops,
                       const WideOperand& x, int axis, const std::vector<float>& slopes,
                       const Quant& out, Limits limits, ValueId* result) {
  float greatest = 0;
  for (float s : slopes) greatest = std::max(greatest, std::fabs(s));
  const double ratio = static_cast<double>(x.quant.scale[0]) / static_cast<double>(out.scale[0]);
  const double unit = greatest == 0 ? 1 : static_cast<double>(greatest) / INT16_MAX;
  const int zero_point = x.quant.stored_zero_point();
  const int64_t below = zero_point - int64_t{INT16_MIN};
  auto requant = wide_requant(importer, node, {ratio}, {wide_reach(zero_point)}, out, limits);
  if (!requant) return Status();
  auto negative = wide_stage({ratio * unit}, {std::max<int64_t>(below, 1) * INT16_MAX});
  // Half a unit of a slope, at the least x.
  if (!negative || !(ratio * unit * static_cast<double>(below) <= 1))
    return importer.refuse(node,
                           "slopes up to " + std::to_string(greatest) +
                               " are beyond 16 bits with an output this much finer than its input",
                           node.input(1), "quantise its output like its input");
  std::vector<int16_t> steps;
  for (float s : slopes)
    steps.push_back(static_cast<int16_t>(std::nearbyint(static_cast<double>(s) / unit)));
  const ValueId last = importer.axis_last(node, x.value, axis);
  const ValueId w =
      importer.graph().add_constant("", DType::kInt16, {static_cast<int64_t>(steps.size())}, steps);
  const ValueId y = importer.new_value("", out.is_wide() ? DType::kInt16 : DType::kUInt8,
                                       importer.shape_of(last));
  Node n = make_node<fb::RequantizeOptionsT>(node.name(), ops, {last, w}, {y});
  auto& o = options<fb::RequantizeOptionsT>(n);
  o.input_zero_point = zero_point;
  o.requant = std::move(requant);
  o.negative.push_back(std::move(negative));
  importer.graph().nodes.push_back(std::move(n));
  importer.became(node, "Requantize", "I0");
  *result = importer.axis_back(node, y, axis, "");
  return Status();
}

}  // namespace qrt::convert::from_onnx
