// SPDX-License-Identifier: Apache-2.0
// Remedies of refusals that depend on the model.
#ifndef QRT_CONVERTER_IMPORT_ONNX_REMEDIES_H_
#define QRT_CONVERTER_IMPORT_ONNX_REMEDIES_H_

#include <string>

#include "converter/import/onnx/importer.h"

namespace qrt::convert::from_onnx {

// Returns the option that gives the first input its shape, "--input-shape x=1x3x224x224", with
// `first` in front.
std::string input_shape_option(Importer& importer, int64_t first);

// Returns what to do about a file of another version of ONNX, or beyond the limits of its reader.
std::string remedy_for_file(const Model& model);

// Returns what to do about a tensor that is empty or too large.
std::string remedy_for_shapes(Importer& importer);

// Returns what to do where input i of a node has to be a constant, and is an input of the model, or
// computed in every run.
std::string remedy_for_constant(Importer& importer, const NodeView& node, int i);

// Returns how to end the model before a node, or to begin it behind one.
std::string remedy_to_compute_outside(Importer& importer, const NodeView& node);

}  // namespace qrt::convert::from_onnx

#endif  // QRT_CONVERTER_IMPORT_ONNX_REMEDIES_H_
