// SPDX-License-Identifier: Apache-2.0
// Sums and products of two quantised tensors in integers: QLinearAdd and QLinearMul of 8 bits, and
// qrt's own arithmetic where one has 16.
#ifndef QRT_CONVERTER_IMPORT_ONNX_OPS_SUM_PRODUCT_H_
#define QRT_CONVERTER_IMPORT_ONNX_OPS_SUM_PRODUCT_H_

#include <string>

#include "converter/import/onnx/importer.h"

namespace qrt::convert::from_onnx {

struct Operand {
  ValueId value = kNoValue;  // kNoValue: `constant`
  ConstantPtr constant;
  Quant quant;
  Shape shape;
};

// Reads a dequantised tensor or constant of 8 or 16 bits with one scale. Returns false for other
// tensors.
bool as_operand(const Tensor& t, Operand* o);
// Returns whether both operands and the result have one type, as ONNX Runtime's QLinearAdd and
// QLinearMul require.
bool types_fit(const Operand& a, const Operand& b, const Quant& out);
bool any_int16(const Operand& a, const Operand& b);

// Emits Add, Mul or their QLinear forms of 8 bits. `b_input`: the input that b came from.
Status emit_byte(Importer& importer, const NodeView& node, const std::string& ops, const Operand& a,
                 const Operand& b, int b_input, const Quant& out, Limits limits, ValueId* result);
// Emits Add, Sub or Mul where a tensor has 16 bits. `shape` is the result's.
Status emit_int16(Importer& importer, const NodeView& node, const std::string& ops,
                  const Operand& left, const Operand& right, const Shape& shape, const Quant& out,
                  Limits limits, ValueId* result);

}  // namespace qrt::convert::from_onnx

#endif  // QRT_CONVERTER_IMPORT_ONNX_OPS_SUM_PRODUCT_H_
