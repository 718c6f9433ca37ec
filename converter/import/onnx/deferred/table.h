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

// Computes the entries of a table. Returns false where there are too many, as in a table of 16-bit
// codes for each index of an axis; the caller refuses such a table.
bool entries(const Tensor& table, std::vector<float>* out);
// Returns whether a greater stored integer of `t` never stands for a smaller value: its table is
// non-decreasing.
bool keeps_order(const Tensor& t);
// Reads a constant as floats. Returns false where it is neither dequantised nor of a float type.
bool constant_floats(const Tensor& constant, std::vector<float>* out);

// Sets output 0 of the node to f of input i, elementwise.
Status map_table(Importer& importer, const NodeView& node, int i,
                 const std::function<float(float)>& f);

// Sets output 0 of the node to f(v, c) of input i, a table, elementwise; c is the index along
// `axis`, 0 to n - 1, or 0 for axis -1. *taken stays false where the table already varies along
// another axis, or would become too large.
Status map_table_along(Importer& importer, const NodeView& node, int i, int axis, size_t n,
                       const std::function<float(float v, size_t c)>& f, bool* taken);

// Quantises a table, or another tensor that read_function() (pending.h) gives, to a value of the
// graph. *result stays kNoValue where the node was refused.
Status quantize_table(Importer& importer, const NodeView& node, const Tensor& table,
                      const Quant& out, Limits limits, const std::string& name, ValueId* result);
ValueId quantized_constant(Importer& importer, const std::vector<float>& real, const Shape& shape,
                           const Quant& out, Limits limits);
Status quantize_tensor(Importer& importer, const NodeView& node, const Tensor& tensor,
                       const Quant& out, Limits limits, ValueId* result);

// Converts a table to floats, for bytes by a Lut with a table for each index of the table's axis.
// *result stays kNoValue where the node was refused.
Status table_to_float(Importer& importer, const NodeView& node, const Tensor& table,
                      const std::string& name, ValueId* result);
// Dequantises a stored tensor to a value of floats. REQUIRES: tensor.is_dequantized().
ValueId dequantized_value(Importer& importer, const std::string& name, const Tensor& tensor);

// Returns the graph's value of a tensor, as stored integers; adds a constant to the graph for a
// constant. Returns kNoValue for a float tensor that is still deferred.
ValueId plain_value(Importer& importer, const std::string& name, const Tensor& tensor);
// Adds a constant of integers to the graph as stored integers, in which int8 becomes uint8.
// REQUIRES: an integer type of 8 or 16 bits.
ValueId stored_constant(Importer& importer, const Constant& constant, const Quant& quant,
                        const std::string& name);

}  // namespace qrt::convert::from_onnx

#endif  // QRT_CONVERTER_IMPORT_ONNX_DEFERRED_TABLE_H_
