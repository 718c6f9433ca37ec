// SPDX-License-Identifier: Apache-2.0
// Dimensions that ONNX Runtime knows before a run although others of the model are open: what it fuses depends on them.
#ifndef QRT_CONVERTER_IMPORT_ONNX_KNOWN_DIMS_H_
#define QRT_CONVERTER_IMPORT_ONNX_KNOWN_DIMS_H_

#include <string>

#include "converter/import/onnx/importer.h"

namespace qrt::convert::from_onnx {

// Returns whether shape inference from the model's inputs gives all dimensions of a tensor as numbers. Gives up, with false, where
// more than some hundred nodes lie between.
bool knows_dims(const Importer& importer, const std::string& tensor);

}  // namespace qrt::convert::from_onnx

#endif  // QRT_CONVERTER_IMPORT_ONNX_KNOWN_DIMS_H_
