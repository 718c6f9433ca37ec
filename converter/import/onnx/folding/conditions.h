// SPDX-License-Identifier: Apache-2.0
// Conditions of If nodes, and loops. An import finds out what is known of them; settle_branches() puts the
// branches, and copies of the loops' bodies, in their places before the import that counts.
#ifndef QRT_CONVERTER_IMPORT_ONNX_FOLDING_CONDITIONS_H_
#define QRT_CONVERTER_IMPORT_ONNX_FOLDING_CONDITIONS_H_

#include "converter/import/onnx/importer.h"

namespace qrt::convert::from_onnx {

// Leaves in the model those If nodes whose conditions are neither known nor a truth that a run computes, and those Loop and Scan nodes
// whose numbers of steps are not the same at all sizes of the dimensions that are `open`. kInvalidModel for damaged branches and
// bodies, kUnsupported where there are more steps than a file of its size may ask for; what else is wrong with the model is left for
// the import to say.
Status settle_branches(bool allow_float, const std::vector<OpenDimension>& open, Model* model);

// Closes the graph's batch where a branch that was taken is another at the importer's batch.
Status check_taken_branches(Importer& importer);

}  // namespace qrt::convert::from_onnx

#endif  // QRT_CONVERTER_IMPORT_ONNX_FOLDING_CONDITIONS_H_
