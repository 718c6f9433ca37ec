// SPDX-License-Identifier: Apache-2.0
// Dimensions that an ONNX file leaves open, so that a run chooses them.
#ifndef QRT_CONVERTER_IMPORT_ONNX_FILE_DIMENSIONS_H_
#define QRT_CONVERTER_IMPORT_ONNX_FILE_DIMENSIONS_H_

#include <string>
#include <vector>

#include "runtime/status.h"

namespace onnx {
class GraphProto;
}  // namespace onnx

namespace qrt::convert::from_onnx {

// PaddlePaddle and Kaldi write -1 for such a dimension, which ONNX has no number for: it goes.
void open_dimensions(onnx::GraphProto* graph);

// SourceEdges::input_shapes. Dimensions of the same name, of other inputs and of tensors within, get the
// same number. kInvalidArgument where there is no such input, or its shape in the file is another.
Status set_input_shapes(const std::vector<std::string>& shapes, onnx::GraphProto* graph);

}  // namespace qrt::convert::from_onnx

#endif  // QRT_CONVERTER_IMPORT_ONNX_FILE_DIMENSIONS_H_
