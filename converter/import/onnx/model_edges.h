// SPDX-License-Identifier: Apache-2.0
// The model's inputs and outputs.
#ifndef QRT_CONVERTER_IMPORT_ONNX_MODEL_EDGES_H_
#define QRT_CONVERTER_IMPORT_ONNX_MODEL_EDGES_H_

#include <string>

#include "converter/import/onnx/importer.h"

namespace qrt::convert::from_onnx {

// inputs.cc: imports the graph's inputs, each as a value in the stored domain.
Status import_inputs(Importer& importer);
// inputs.cc: refuses the inputs that the file gives a size of 0, to which nodes were refused that cannot take them.
// REQUIRES: some node was refused.
void refuse_empty_inputs(Importer& importer);

// outputs.cc: exports the model's outputs, in the types that the file declares.
Status export_outputs(Importer& importer);

// Exports a tensor as an output of the graph, in floats where it is deferred or a dequantised
// constant. `node` wrote it; null for inputs and initialisers. *result stays kNoValue where it was refused.
Status export_output(Importer& importer, const std::string& name, const Tensor& tensor,
                     const NodeView* node, ValueId* result);

}  // namespace qrt::convert::from_onnx

#endif  // QRT_CONVERTER_IMPORT_ONNX_MODEL_EDGES_H_
