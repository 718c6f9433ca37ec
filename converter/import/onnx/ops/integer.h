// SPDX-License-Identifier: Apache-2.0
// Integers without quantisation, as tensors and as values of the graph.
#ifndef QRT_CONVERTER_IMPORT_ONNX_OPS_INTEGER_H_
#define QRT_CONVERTER_IMPORT_ONNX_OPS_INTEGER_H_

#include "converter/import/onnx/importer.h"

namespace qrt::convert::from_onnx {

// Returns whether a type has 8 bits, with or without a sign.
bool is_byte(int type);
// Returns the offset of stored integers: 128 for int8, which is stored as uint8, else 0.
int offset_of(int type);
bool is_integer_value(const Tensor& t);
// Returns input i as a value or constant of the graph. REQUIRES: input i has an integer type.
ValueId integer_value(Importer& importer, const NodeView& node, int i);
bool has_type(const Tensor& t, int type);
// Sets output 0 of the node to `value`, of this type.
void set_value(Importer& importer, const NodeView& node, int type, ValueId value);
Status refuse_types(Importer& importer, const NodeView& node, int type);

}  // namespace qrt::convert::from_onnx

#endif  // QRT_CONVERTER_IMPORT_ONNX_OPS_INTEGER_H_
