// What a user can do about a refusal, where it depends on the model.
#ifndef QRT_CONVERTER_IMPORT_ONNX_REMEDIES_H_
#define QRT_CONVERTER_IMPORT_ONNX_REMEDIES_H_

#include <string>

#include "converter/import/onnx/importer.h"

namespace qrt::convert::from_onnx {

// Input i of a node has to be a constant, and is none: an input of the model, or what a node computes
// in every run.
std::string remedy_for_constant(const Importer& importer, const NodeView& node, int i);

// The model may end before a node.
std::string remedy_to_end_before(const NodeView& node);

}  // namespace qrt::convert::from_onnx

#endif  // QRT_CONVERTER_IMPORT_ONNX_REMEDIES_H_
