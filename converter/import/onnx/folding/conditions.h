// Conditions of If nodes. An import finds out which of them are known; settle_branches() puts the
// branches in their places before the import that counts.
#ifndef QRT_CONVERTER_IMPORT_ONNX_FOLDING_CONDITIONS_H_
#define QRT_CONVERTER_IMPORT_ONNX_FOLDING_CONDITIONS_H_

#include "converter/import/onnx/importer.h"

namespace qrt::convert::from_onnx {

// Leaves in the model those If nodes whose conditions are neither known nor a truth that a run computes. kInvalidModel for damaged
// branches; what else is wrong with the model is left for the import to say.
Status settle_branches(bool allow_float, Model* model);

// Closes the graph's batch where a branch that was taken is another at the importer's batch.
Status check_taken_branches(Importer& importer);

}  // namespace qrt::convert::from_onnx

#endif  // QRT_CONVERTER_IMPORT_ONNX_FOLDING_CONDITIONS_H_
