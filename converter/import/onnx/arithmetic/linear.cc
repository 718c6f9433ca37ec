// SPDX-License-Identifier: Apache-2.0
// Scales and biases of convolutions and matrix products.
#include "converter/import/onnx/arithmetic/linear.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <unordered_set>

#include "converter/import/onnx/deferred/pending.h"
#include "converter/import/onnx/no_op.h"

namespace qrt::convert::from_onnx {
namespace {

// Rounds half to even, as ONNX Runtime's conversion: what int32 cannot hold becomes its minimum.
int32_t round_bias(float v) {
  const float r = std::nearbyint(v);
  if (!(r >= -2147483648.0f && r < 2147483648.0f)) return std::numeric_limits<int32_t>::min();
  return static_cast<int32_t>(r);
}

std::string number(double v) {
  char text[32];
  snprintf(text, sizeof(text), "%.9g", v);
  return text;
}

// Returns whether the scale of a bias is within ONNX Runtime's tolerance of that of the accumulators.
bool about_same(double scale, double expected) {
  return std::fabs(scale - expected) <= 1e-6 + 0.01 * std::fabs(expected);
}

}  // namespace

bool is_usable_scale(float scale) { return std::isnormal(scale) && scale > 0.0f; }

std::vector<float> product_scales(float alpha, float x_scale, const Quant& w) {
  const float scaled = alpha * x_scale;
  std::vector<float> products;
  for (float s : w.scale) products.push_back(scaled * s);
  return products;
}

std::unique_ptr<fb::RequantT> byte_requant(Importer& importer, const NodeView& node,
                                           const std::vector<float>& products, const Quant& out,
                                           Limits limits) {
  std::vector<float> scales;
  for (size_t i = 0; i < products.size(); ++i) {
    const float scale = products[i] / out.scale[0];
    if (!is_usable_scale(scale)) {
      // No float form, as ONNX Runtime computes this in integers.
      importer.outcomes().refuse_float_form(node.index());
      (void)importer.refuse(node,
                            "the scale of output channel " + std::to_string(i) + " is " +
                                number(products[i]) + " / " + number(out.scale[0]) + " = " +
                                number(scale) + ", not a normal positive number",
                            node.output(0),
                            "calibrate the quantisation again: qrt_convert --lint names the scales "
                            "that are no ordinary positive numbers");
      return nullptr;
    }
    scales.push_back(scale);
  }
  return f32_requant(out.stored_zero_point(), limits, scales);
}

LayerConstants byte_constants(Importer& importer, std::vector<int16_t> weights,
                              const std::vector<int32_t>& bias,
                              std::unique_ptr<fb::RequantT> requant) {
  const ValueId id =
      importer.graph().add_constant("", DType::kInt32, {static_cast<int64_t>(bias.size())}, bias);
  LayerConstants layer;
  layer.weights = std::move(weights);
  layer.bias = id;
  layer.requant = std::move(requant);
  return layer;
}

ValueId add_float_constant(Importer& importer, const NodeView& node, ValueId y, const Shape& shape,
                           const std::vector<float>& values) {
  const ValueId b = importer.graph().add_constant("", DType::kFloat32, shape, values);
  const ValueId sum =
      importer.builder().new_value("", DType::kFloat32, importer.builder().shape_of(y));
  importer.builder().add<fb::FloatOptionsT>(node, {y, b}, sum).function = fb::FloatFunction::ADD;
  return sum;
}

ValueId add_float_bias(Importer& importer, const NodeView& node, ValueId y,
                       const std::vector<double>& bias, int axis) {
  const Shape shape = importer.builder().shape_of(y);
  Shape along;
  for (int i = axis; i < shape.rank(); ++i) along.push_back(i == axis ? shape[i] : 1);
  return add_float_constant(importer, node, y, along, std::vector<float>(bias.begin(), bias.end()));
}

ValueId quantize_within(Importer& importer, const NodeView& node, ValueId y, const Quant& out,
                        Limits limits) {
  GraphBuilder& builder = importer.builder();
  const ValueId stored = builder.new_value("", out.stored_type(), builder.shape_of(y), &out);
  auto& o = builder.add<fb::QuantizeOptionsT>(node, {y}, stored);
  o.scale = {float_bits(out.scale[0])};
  o.zero_point = {out.stored_zero_point()};
  if (!limits.cut(out)) return stored;
  std::vector<uint8_t> table(256);
  for (int i = 0; i < 256; ++i)
    table[static_cast<size_t>(i)] = static_cast<uint8_t>(std::clamp(i, limits.lo, limits.hi));
  return builder.lut(node, stored, table, false, "", &out);
}

Status refuse_weights(Importer& importer, const NodeView& node, int i) {
  const Tensor& w = importer.input(node, i);
  const int producer = w.is_value() ? importer.graph().producer(w.value) : -1;
  const fb::DequantizeOptionsT* dequantize =
      producer < 0 ? nullptr
                   : importer.graph().nodes[static_cast<size_t>(producer)].options.AsDequantize();
  if (dequantize == nullptr || dequantize->block_size == 0) return importer.refuse_float(node, i);
  return importer.refuse(
      node,
      "the weights '" + node.input(i) + "' are quantised in blocks of " +
          std::to_string(dequantize->block_size) +
          ": no integer sum has one scale, ONNX Runtime multiplies them in float (MatMulNBits)",
      node.input(i), "quantise the weights per tensor or per output channel");
}

Status read_bias(Importer& importer, const NodeView& node, int input, int64_t channels,
                 const std::vector<float>& products, BiasScale bias_scale,
                 std::optional<std::vector<int32_t>>* bias) {
  std::vector<int32_t> result(static_cast<size_t>(channels), 0);
  if (!node.has_input(input)) {
    *bias = std::move(result);
    return Status();
  }
  const Tensor& b = importer.input(node, input);
  if (!b.is_constant()) return importer.refuse_float(node, input);
  const Constant& c = *b.constant;
  if (c.elements() != channels && c.elements() != 1)
    return importer.refuse(node,
                           "the bias '" + node.input(input) + "' of shape " + c.shape.to_string() +
                               " is not one value for each of " + std::to_string(channels) +
                               " output channels",
                           node.input(input), "give every output channel one bias");
  const bool integers = b.type == kInt32 && b.quant;
  if (!integers && b.type != kFloat)
    return importer.refuse(node,
                           "the bias '" + node.input(input) + "' is " + element_type_name(b.type) +
                               (b.quant ? " behind a DequantizeLinear" : ""),
                           node.input(input),
                           "quantise the bias to int32 with the product of the scales of input and "
                           "weights, or keep it float32");
  if (b.quant) {
    for (int32_t z : b.quant->zero_point)
      if (z != 0)
        return importer.refuse(node, "the bias has zero point " + std::to_string(z),
                               node.input(input), "quantise the bias to int32 with zero point 0");
  }
  for (int64_t i = 0; i < channels; ++i) {
    const size_t at = static_cast<size_t>(i);
    const int64_t from = c.elements() == 1 ? 0 : i;
    const float product = products[products.size() == 1 ? 0 : at];
    if (!integers) {
      result[at] = round_bias(c.real(from) / product);
      continue;
    }
    result[at] = static_cast<int32_t>(c.integer(from));
    const double scale = b.quant->scale[b.quant->per_tensor() ? 0 : static_cast<size_t>(from)];
    const double expected = product;
    if (bias_scale == BiasScale::kIgnored || about_same(scale, expected)) continue;
    result[at] = round_bias(static_cast<float>(result[at]) * static_cast<float>(scale) / product);
  }
  *bias = std::move(result);
  return Status();
}

bool has_other_scale(const Tensor& bias, const std::vector<float>& products) {
  if (!bias.quant) return false;
  const std::vector<float>& scale = bias.quant->scale;
  for (size_t i = 0; i < std::max(scale.size(), products.size()); ++i) {
    const float is = scale[scale.size() == 1 ? 0 : i];
    const float product = products[products.size() == 1 ? 0 : i];
    if (!(std::fabs(is - product) <= 1e-6f * std::fabs(product))) return true;
  }
  return false;
}

std::vector<int32_t> rounded_bias(const std::vector<double>& real,
                                  const std::vector<float>& products) {
  std::vector<int32_t> bias;
  for (size_t i = 0; i < real.size(); ++i) {
    const double product = static_cast<double>(products[products.size() == 1 ? 0 : i]);
    const double units = std::nearbyint(real[i] / product);
    bias.push_back(static_cast<int32_t>(std::clamp(units, -2147483648.0, 2147483647.0)));
  }
  return bias;
}

Status leads_to_quantize(Importer& importer, const NodeView& node, bool* leads) {
  static const std::unordered_set<std::string> limits = {"Relu", "Clip"};
  bool has_moved = false;
  for (const NodeView* reader = &node;;) {
    const std::vector<int>& readers = importer.model().readers(reader->output(0));
    *leads = readers.size() == 1;
    if (!*leads) return Status();
    const std::string& tensor = reader->output(0);
    reader = &importer.node(readers[0]);
    if (reader->op() == "QuantizeLinear") return Status();
    // ONNX Runtime moves the QuantizeLinear to the product, unless a result of the graph lies between.
    const std::string& y = reader->output(0);
    const auto is_result = [&](const std::string& t) {
      return importer.uses(t) != static_cast<int>(importer.model().readers(t).size());
    };
    const bool moves =
        quantize_moves_across(importer, *reader) && !is_result(tensor) && !is_result(y);
    bool nothing;
    QRT_TRY(
        changes_nothing(*reader, tensor, Shape(), importer.model(), &importer.tensors(), &nothing));
    has_moved = has_moved || moves;
    *leads = nothing || moves || (!has_moved && limits.count(reader->op()) != 0);
    if (!*leads) return Status();
  }
}

bool has_integer_product(const Quant& x, const Quant& w) {
  const bool packed = packed_bits(onnx_type(w.type)) != 0;
  return !packed && (x.type != DType::kInt8 || w.type == DType::kInt8);
}

std::vector<double> bias_of_integers(const std::vector<int32_t>& bias,
                                     const std::vector<float>& products) {
  std::vector<double> real;
  for (size_t i = 0; i < bias.size(); ++i)
    real.push_back(static_cast<double>(bias[i]) *
                   static_cast<double>(products[products.size() == 1 ? 0 : i]));
  return real;
}

bool is_rounded(const Tensor& bias, const std::vector<float>& products) {
  if (!bias.quant) return false;
  const std::vector<float>& scale = bias.quant->scale;
  for (size_t i = 0; i < std::max(scale.size(), products.size()); ++i)
    if (!about_same(scale[scale.size() == 1 ? 0 : i], products[products.size() == 1 ? 0 : i]))
      return true;
  return false;
}

Quantization centred_quantization(const Quant& w, int axis) {
  return quantization_of(w.scale, std::vector<int32_t>(w.scale.size(), 0),
                         w.per_tensor() ? -1 : axis);
}

}  // namespace qrt::convert::from_onnx
