// SPDX-License-Identifier: Apache-2.0
// Nodes that change nothing: ONNX Runtime takes them out before it fuses anything.
#ifndef QRT_CONVERTER_IMPORT_ONNX_NO_OP_H_
#define QRT_CONVERTER_IMPORT_ONNX_NO_OP_H_

#include <string>

#include "converter/import/onnx/tensors.h"

namespace qrt::convert::from_onnx {

// Sets *result to whether the node's output 0 is `tensor`, floats of this shape that it reads: Identity, a
// Dropout or Cast that is one, Mul and Div by 1, Add and Sub of 0, Slice of everything, Expand to the same.
Status changes_nothing(const NodeView& node, const std::string& tensor, const Shape& shape,
                       const Model& model, Tensors* tensors, bool* result);

// Finds which input the node's output 0 equals, if it is an Add, Sub, Mul or Div with a constant
// that changes nothing; else -1.
Status neutral_operand(const NodeView& node, Tensors* tensors, int* input);

}  // namespace qrt::convert::from_onnx

#endif  // QRT_CONVERTER_IMPORT_ONNX_NO_OP_H_
