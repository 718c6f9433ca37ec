// SPDX-License-Identifier: Apache-2.0
// CAST: integers of 8, 16 and 32 bits and truth values among each other, modulo their width, and to
// float32.
#include "converter/import/tflite/ops/formula.h"

namespace qrt::convert::from_tflite {
namespace {

// The storage of a type's elements; with 0 bits no run computes with it.
struct Element {
  int bits = 0;
  int zero_point = 0;  // of the stored integers
  DType stored = DType::kUInt8;
};

Element element_of(TensorType type) {
  switch (type) {
    case TensorType::BOOL: return {1, 0, DType::kUInt8};
    case TensorType::UINT8: return {8, 0, DType::kUInt8};
    case TensorType::INT8: return {8, 128, DType::kUInt8};
    case TensorType::INT16: return {16, 0, DType::kInt16};
    case TensorType::INT32: return {32, 0, DType::kInt32};
    default: return {};
  }
}

Status to_float(Importer& importer, const Op& op, const Element& from, ValueId value) {
  const Tensor& y = importer.output(op);
  importer.became(op, "Dequantize", "edge");
  if (from.bits <= 8) {
    importer.set_real(op, dequantized(value, 1, from.zero_point));
    return Status();
  }
  const ValueId made = importer.builder().new_value(y.name, DType::kFloat32, y.shape);
  auto& o = importer.builder().add<fb::DequantizeOptionsT>(op, {value}, made);
  o.scale = {float_bits(1.0f)};
  o.zero_point = {0};
  importer.set_output(op, made);
  return Status();
}

// Returns the steps that leave of an int32 what the type holds, so that the formula's saturation does nothing.
std::vector<FormulaStep> wrapped(TensorType type) {
  using F = fb::FormulaFunction;
  switch (type) {
    case TensorType::BOOL: return {{F::NOT_ZERO}};
    case TensorType::INT8: return {{F::SHIFT_LEFT, 24}, {F::SHIFT_RIGHT, 24}};
    // Modulo 2^8 as -128 to 127, with 128 before and after.
    case TensorType::UINT8: return {{F::ADD, 128}, {F::SHIFT_LEFT, 24}, {F::SHIFT_RIGHT, 24}};
    case TensorType::INT16: return {{F::SHIFT_LEFT, 16}, {F::SHIFT_RIGHT, 16}};
    default: return {};
  }
}

}  // namespace

Status import_cast(Importer& importer, const Op& op) {
  const Tensor &x = importer.input(op, 0), &y = importer.output(op);
  QRT_TRY(check_output_shape(importer, op, x.shape));
  const bool is_shape = x.type == TensorType::INT32 || x.type == TensorType::INT64;
  if (is_shape && (x.is_constant || importer.folded(op, 0)) &&
      (y.type == TensorType::INT32 || y.type == TensorType::INT64)) {
    std::vector<int32_t> integers;
    if (importer.read_integers(op, 0, &integers)) importer.fold(op, std::move(integers));
    return Status();
  }
  const Element from = element_of(x.type), to = element_of(y.type);
  const bool is_known = x.is_constant || importer.folded(op, 0);
  if (from.bits == 0 || (to.bits == 0 && y.type != TensorType::FLOAT32) || is_known)
    return importer.refuse(op,
                           std::string(type_name(x.type)) + " to " + type_name(y.type) +
                               " is not read, or no run computes it",
                           y.name,
                           "cast int8, uint8, int16, int32 or bool among each other or to float32");
  const ValueId value = importer.value(op, 0);
  if (y.type == TensorType::FLOAT32) return to_float(importer, op, from, value);
  const bool is_uint8 = y.type == TensorType::UINT8;
  const ValueId made = formula(importer, op, {value, from.zero_point, wrapped(y.type)},
                               FormulaResult{to.stored, is_uint8 ? 128 : to.zero_point});
  Value& v = importer.graph().values[made];
  v.name = y.name;
  v.quantization = stored_quantization(y);
  importer.set_output(op, made);
  importer.became(op, "Formula", "I0");
  return Status();
}

}  // namespace qrt::convert::from_tflite
