// SPDX-License-Identifier: Apache-2.0
// Numbers of steps of Loop and Scan nodes. An import finds out which of them are known; settle_branches() (conditions.h) puts the
// copies of their bodies in their places before the import that counts.
#ifndef QRT_CONVERTER_IMPORT_ONNX_FOLDING_LOOPS_H_
#define QRT_CONVERTER_IMPORT_ONNX_FOLDING_LOOPS_H_

#include <vector>

#include "converter/import/onnx/importer.h"

namespace qrt::convert::from_onnx {

// Returns the loops of the model that have as many steps at several sizes of its open dimensions as in `known`, an import at one
// size. An import at other sizes may still find another number: check_unrolled_loops() sees that.
KnownLoops loops_of_all_sizes(const Model& model, bool allow_float,
                              const std::vector<OpenDimension>& open, const KnownLoops& known);

// Refuses the model where a loop that was unrolled has another number of steps at the importer's sizes.
Status check_unrolled_loops(Importer& importer);

}  // namespace qrt::convert::from_onnx

#endif  // QRT_CONVERTER_IMPORT_ONNX_FOLDING_LOOPS_H_
