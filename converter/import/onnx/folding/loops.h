// SPDX-License-Identifier: Apache-2.0
// Numbers of steps of Loop and Scan nodes. An import finds out which of them are known; settle_branches() (conditions.h) puts the
// copies of their bodies, or the bodies of open loops, in their places before the import that counts.
#ifndef QRT_CONVERTER_IMPORT_ONNX_FOLDING_LOOPS_H_
#define QRT_CONVERTER_IMPORT_ONNX_FOLDING_LOOPS_H_

#include <optional>
#include <vector>

#include "converter/import/onnx/importer.h"

namespace qrt::convert::from_onnx {

struct LoopsOfSizes {
  KnownLoops fixed;  // as many steps at all sizes
  KnownLoops open;   // other numbers at other sizes
};

// Tells apart, by imports at several sizes of the open dimensions, the loops of the model. `known`: those of an import at one size,
// which are fixed where no other import can be made. An import at other sizes may still find another number: check_unrolled_loops()
// sees that.
LoopsOfSizes loops_of_all_sizes(const Model& model, bool allow_float,
                                const std::vector<OpenDimension>& open, const KnownLoops& known);

// Import the nodes around the body of an open loop (file/loops.h).
Status import_loop_begin(Importer& importer, const NodeView& node);
Status import_loop_end(Importer& importer, const NodeView& node);

// Returns how many steps a tensor says by its length along `axis`, or where that is -1 by its value; nothing where that is not known.
std::optional<int64_t> steps_of(const Tensor& t, int axis);

// Refuses the model where a loop that was unrolled has another number of steps at the importer's sizes.
Status check_unrolled_loops(Importer& importer);

}  // namespace qrt::convert::from_onnx

#endif  // QRT_CONVERTER_IMPORT_ONNX_FOLDING_LOOPS_H_
