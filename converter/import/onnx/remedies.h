// SPDX-License-Identifier: Apache-2.0
// Remedies of refusals that depend on the model.
#ifndef QRT_CONVERTER_IMPORT_ONNX_REMEDIES_H_
#define QRT_CONVERTER_IMPORT_ONNX_REMEDIES_H_

#include <string>

#include "converter/import/onnx/importer.h"

namespace qrt::convert::from_onnx {

// The option that gives the first input its shape, "--input-shape x=1x3x224x224", with `first` in front.
std::string input_shape_option(Importer& importer, int64_t first);

// A file of another version of ONNX, or beyond the limits of its reader.
std::string remedy_for_file(const Model& model);

// A tensor is empty or too large.
std::string remedy_for_shapes(Importer& importer);

// Input i of a node has to be a constant, and is none: an input of the model, or what a node computes
// in every run.
std::string remedy_for_constant(Importer& importer, const NodeView& node, int i);

// The model may end before a node, or begin behind it.
std::string remedy_to_compute_outside(Importer& importer, const NodeView& node);

}  // namespace qrt::convert::from_onnx

#endif  // QRT_CONVERTER_IMPORT_ONNX_REMEDIES_H_
