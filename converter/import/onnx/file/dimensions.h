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

// Removes the -1 that PaddlePaddle and Kaldi write for an open dimension, a number that ONNX does not have.
void open_dimensions(onnx::GraphProto* graph);

// Applies SourceEdges::input_shapes. Dimensions of the same name, in other inputs and in tensors
// within, get the same number. Fails with kInvalidArgument where there is no such input, or where
// its shape in the file differs.
Status set_input_shapes(const std::vector<std::string>& shapes, onnx::GraphProto* graph);

}  // namespace qrt::convert::from_onnx

#endif  // QRT_CONVERTER_IMPORT_ONNX_FILE_DIMENSIONS_H_
