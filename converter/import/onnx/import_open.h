// SPDX-License-Identifier: Apache-2.0
// Imports of a file at sizes of its open dimensions.
#ifndef QRT_CONVERTER_IMPORT_ONNX_IMPORT_OPEN_H_
#define QRT_CONVERTER_IMPORT_ONNX_IMPORT_OPEN_H_

#include <memory>
#include <vector>

#include "converter/import/onnx/importer.h"

namespace qrt::convert::from_onnx {

// Makes the open dimensions the graph's symbols, with a function that imports the model again at other sizes:
// kCancelled where that would be more often than a file of its size may ask for. Those that have to be equal are tied.
void set_symbols(const std::shared_ptr<const Model>& model, const std::vector<OpenDimension>& open,
                 bool allow_float, Graph* graph);

// Imports a model of which more than the batch is open: at the first sizes that it can be imported at. The
// graph is left with symbols. kUnsupported, with refusals in the report, where it cannot be at any.
Status import_open(const std::shared_ptr<const Model>& model,
                   const std::vector<OpenDimension>& open, bool allow_float, Graph* graph,
                   Report* report);

}  // namespace qrt::convert::from_onnx

#endif  // QRT_CONVERTER_IMPORT_ONNX_IMPORT_OPEN_H_
