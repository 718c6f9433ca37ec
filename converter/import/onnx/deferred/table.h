// SPDX-License-Identifier: Apache-2.0
// Tables: float tensors that are functions of one stored integer of 8 or 16 bits, and the float
// reading of constants.
#ifndef QRT_CONVERTER_IMPORT_ONNX_DEFERRED_TABLE_H_
#define QRT_CONVERTER_IMPORT_ONNX_DEFERRED_TABLE_H_

#include <functional>
#include <string>
#include <vector>

#include "converter/import/onnx/importer.h"

namespace qrt::convert::from_onnx {

// Returns the stored integer that ONNX Runtime quantises v to, with the parameters for index `at`
// of `out`'s axis. REQUIRES: 8 or 16 bits.
int quantized(float v, const Quant& out, size_t at = 0);
// Quantises a float within limits.
int quantized(float v, const Quant& out, Limits limits, size_t at = 0);

// Writes out the entries of a table. Returns false where it is too large, as a table of 16 bits for
// each index of an axis is; callers refuse it.
bool entries(const Tensor& table, std::vector<float>* out);
// Returns whether integers keep the order of the values that they stand for, as they do where the
// table behind them never falls.
bool keeps_order(const Tensor& t);
// Reads a constant as floats. Returns false where it is neither dequantised nor of a float type.
bool constant_floats(const Tensor& constant, std::vector<float>* out);

// Makes output 0 of the node: input i after f, elementwise.
Status map_table(Importer& importer, const NodeView& node, int i,
                 const std::function<float(float)>& f);

// Makes output 0 of the node: table i after f(v, c), elementwise; c counts the n indices of `axis`.
// With axis -1, c is 0. *taken stays false where the table has others for each index of another
// axis, or would be too large.
Status map_table_along(Importer& importer, const NodeView& node, int i, int axis, size_t n,
                       const std::function<float(float v, size_t c)>& f, bool* taken);

// Quantises a table, or another tensor that read_function() (pending.h) gives, to a value of the
// graph. *result stays kNoValue where it was refused.
Status quantize_table(Importer& importer, const NodeView& node, const Tensor& table,
                      const Quant& out, Limits limits, const std::string& name, ValueId* result);
ValueId quantized_constant(Importer& importer, const std::vector<float>& real, const Shape& shape,
                           const Quant& out, Limits limits);
Status quantize_tensor(Importer& importer, const NodeView& node, const Tensor& tensor,
                       const Quant& out, Limits limits, ValueId* result);

// Converts a table to floats: for bytes a Lut with a table for each index of its axis. *result
// stays kNoValue where it was refused.
Status table_to_float(Importer& importer, const NodeView& node, const Tensor& table,
                      const std::string& name, ValueId* result);
// Dequantises a stored tensor to a value of floats. REQUIRES: tensor.is_dequantized().
ValueId dequantized_value(Importer& importer, const std::string& name, const Tensor& tensor);

// Returns the value of a plain tensor in the stored domain, made where it is a constant; kNoValue
// where it is still float between DequantizeLinear and QuantizeLinear.
ValueId plain_value(Importer& importer, const std::string& name, const Tensor& tensor);
// Returns a constant's integers as a stored-domain constant of the graph. REQUIRES: an integer type
// of 8 or 16 bits.
ValueId stored_constant(Importer& importer, const Constant& constant, const Quant& quant,
                        const std::string& name);

}  // namespace qrt::convert::from_onnx

#endif  // QRT_CONVERTER_IMPORT_ONNX_DEFERRED_TABLE_H_
