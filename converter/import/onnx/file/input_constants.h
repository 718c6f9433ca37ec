// SPDX-License-Identifier: Apache-2.0
// Inputs that a caller makes constants.
#ifndef QRT_CONVERTER_IMPORT_ONNX_FILE_INPUT_CONSTANTS_H_
#define QRT_CONVERTER_IMPORT_ONNX_FILE_INPUT_CONSTANTS_H_

#include <string>
#include <vector>

#include "runtime/status.h"

namespace onnx {
class GraphProto;
}  // namespace onnx

namespace qrt::convert::from_onnx {

// Applies SourceEdges::constants: each input that is named becomes an initialiser whose elements all have the value.
// kInvalidArgument where there is no such input, its shape is not known, or its type does not hold the value.
Status set_input_constants(const std::vector<std::string>& constants, onnx::GraphProto* graph);

}  // namespace qrt::convert::from_onnx

#endif  // QRT_CONVERTER_IMPORT_ONNX_FILE_INPUT_CONSTANTS_H_
