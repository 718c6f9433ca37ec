// SPDX-License-Identifier: Apache-2.0
// QUANTIZE and DEQUANTIZE: at the model's edges, or from one scale or type of integers to another.
#include <cmath>

#include "converter/import/tflite/ops/linear.h"
#include "converter/import/tflite/ops/unary.h"
#include "kernels/edge/numbers.h"

namespace qrt::convert::from_tflite {
namespace {

// Reads the parameters of integers that QUANTIZE reads or makes, among them int32 without a zero
// point. Returns false where the operator was refused.
bool read_integer_quant(Importer& importer, const Op& op, const Tensor& tensor, Quant* quant) {
  if (tensor.type != TensorType::INT32) return importer.read_quant(op, tensor, quant);
  if (tensor.scale.size() == 1 && std::isnormal(tensor.scale[0]) && tensor.scale[0] > 0 &&
      tensor.zero_point[0] == 0) {
    *quant = tensor_quant(DType::kInt32, tensor.scale[0], 0);
    return true;
  }
  (void)importer.refuse(op, "the int32 tensor '" + tensor.name + "' has no scale or a zero point",
                        tensor.name, "quantise it with one scale and zero point 0");
  return false;
}

// Requantises between integers of which one has 16 or 32 bits. The reference has no uint8 here.
Status import_int16_requantize(Importer& importer, const Op& op, const Quant& in,
                               const Quant& out) {
  const auto allowed = [](DType from, DType to) {
    if (from == DType::kInt8) return to == DType::kInt16 || to == DType::kInt32;
    if (from == DType::kInt32) return to == DType::kInt8 || to == DType::kInt16;
    return from == DType::kInt16 &&
           (to == DType::kInt8 || to == DType::kInt16 || to == DType::kInt32);
  };
  if (!allowed(in.type, out.type))
    return importer.refuse(op,
                           std::string(dtype_name(in.type)) + " to " + dtype_name(out.type) +
                               " is not defined by the reference kernels",
                           importer.output(op).name,
                           "convert the model with int8 or int16 activations");
  const Multiplier m =
      importer.multiplier(static_cast<double>(in.scale[0]) / static_cast<double>(out.scale[0]));
  const bool from_32 = in.type == DType::kInt32;
  if (!usable(importer, op, from_32 ? 31 : reach_bits(in), {m})) return Status();
  return finish_requantize(importer, op, in, out, m, nullptr, Limits::of_source(out));
}

}  // namespace

Status import_quantize(Importer& importer, const Op& op) {
  Quant in, out;
  if (!read_integer_quant(importer, op, importer.output(op), &out)) return Status();
  if (importer.input(op, 0).type == TensorType::FLOAT32) {
    if (out.type == DType::kInt32)
      return importer.refuse(op, "float32 to int32 is not defined by the reference kernels",
                             importer.output(op).name, "quantise its output to int8 or int16");
    QRT_TRY(check_same_shape(importer, op));
    const Real* real = importer.real(op, 0);
    if (real && !real->is_constant() && !out.is_int16()) {
      const Tensor& y = importer.output(op);
      importer.set_output(op,
                          quantized_value(&importer.builder(), op, *real, y.shape, y.name, out));
      importer.became(op, real->is_pair() ? "PairLut" : "Lut", "I0");
      return Status();
    }
    const ValueId x = importer.value(op, 0);
    if (x == kNoValue)
      return importer.refuse(op, importer.quoted_input(op, 0) + " is a float constant",
                             importer.input(op, 0).name,
                             "store the constant as int8, with a scale");
    auto& o = importer.builder().add<fb::QuantizeOptionsT>(op, {x}, importer.new_output(op, out));
    o.scale = {float_bits(out.scale[0])};
    o.zero_point = {out.stored_zero_point()};
    o.rounding = fb::Rounding::HALF_AWAY;
    importer.became(op, "Quantize", "edge");
    return Status();
  }
  if (!read_integer_quant(importer, op, importer.input(op, 0), &in)) return Status();
  if (in.is_int16() || out.is_int16() || in.type == DType::kInt32 || out.type == DType::kInt32)
    return import_int16_requantize(importer, op, in, out);
  const Multiplier m =
      importer.multiplier(static_cast<double>(in.scale[0]) / static_cast<double>(out.scale[0]));
  if (!usable(importer, op, 8, {m})) return Status();
  const Rounding rounding = importer.rounding();
  return finish_table(importer, op, in, out, [&](int x) {
    return clamp_to(int64_t{multiply(x - in.zero_point[0], m, rounding)} + out.zero_point[0],
                    Limits::of_source(out));
  });
}

namespace {

// Weights of float16, or of bytes, become constants of floats.
Status import_weights(Importer& importer, const Op& op) {
  const Tensor &x = importer.input(op, 0), &y = importer.output(op);
  QRT_TRY(check_same_shape(importer, op));
  const auto n = static_cast<size_t>(x.shape.elements());
  QRT_TRY(importer.reserve(n * sizeof(float)));
  std::vector<float> values(n);
  if (x.type == TensorType::FLOAT16) {
    for (size_t i = 0; i < n; ++i) {
      uint16_t half;
      __builtin_memcpy(&half, x.data + 2 * i, sizeof half);
      values[i] = half_to_float(half);
    }
  } else {
    const Shape& shape = x.shape;
    size_t inner = 1;
    for (int d = x.axis + 1; x.scale.size() > 1 && d < shape.rank(); ++d)
      inner *= static_cast<size_t>(shape[d]);
    for (size_t i = 0; i < n; ++i) {
      const size_t at = i / inner % x.scale.size();
      values[i] = static_cast<float>(element(x, i) - x.zero_point[at]) * x.scale[at];
    }
  }
  importer.set_output(op, importer.graph().add_constant(y.name, DType::kFloat32, y.shape, values));
  importer.became(op, "constant", "edge");
  return Status();
}

bool is_weights(const Importer& importer, const Op& op) {
  const Tensor& x = importer.input(op, 0);
  if (!importer.has_floats() || !x.is_constant || importer.output(op).type != TensorType::FLOAT32)
    return false;
  if (x.type == TensorType::FLOAT16) return true;
  const size_t scales = x.scale.size();
  const bool is_known = scales == 1 || (scales > 1 && x.axis >= 0 && x.axis < x.shape.rank() &&
                                        static_cast<int64_t>(scales) == x.shape[x.axis]);
  return x.type == TensorType::INT8 && is_known;
}

}  // namespace

Status import_dequantize(Importer& importer, const Op& op) {
  if (is_weights(importer, op)) return import_weights(importer, op);
  Quant in;
  if (!importer.read_quant(op, importer.input(op, 0), &in)) return Status();
  if (importer.output(op).type != TensorType::FLOAT32)
    return importer.refuse(op, std::string("the output is ") + type_name(importer.output(op).type),
                           importer.output(op).name, "let the DEQUANTIZE make float32");
  QRT_TRY(check_same_shape(importer, op));
  const ValueId x = importer.value(op, 0);
  if (in.is_int16()) {
    const ValueId y = importer.builder().new_value(importer.output(op).name, DType::kFloat32,
                                                   importer.output(op).shape);
    auto& o = importer.builder().add<fb::DequantizeOptionsT>(op, {x}, y);
    o.scale = {float_bits(in.scale[0])};
    o.zero_point = {in.stored_zero_point()};
    importer.set_output(op, y);
  } else {
    importer.set_real(op, dequantized(x, in.scale[0], in.stored_zero_point()));
  }
  importer.became(op, "Dequantize", "edge");
  return Status();
}

}  // namespace qrt::convert::from_tflite
