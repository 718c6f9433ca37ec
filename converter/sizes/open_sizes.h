// SPDX-License-Identifier: Apache-2.0
// Keeps the open dimensions of a graph open: imports the source at several sizes and finds the rules by which
// all that differs follows from them.
#ifndef QRT_CONVERTER_SIZES_OPEN_SIZES_H_
#define QRT_CONVERTER_SIZES_OPEN_SIZES_H_

#include <functional>

#include "converter/ir.h"
#include "converter/sizes/probes.h"

namespace qrt::convert {

// Runs the passes that come before, on an import.
using EarlierPasses = std::function<void(Graph*)>;

// Replaces the graph by one, which earlier passes have been through, with rules for all sizes of its symbols;
// graph->import_at stays set. kUnsupported, with the graph in no state to be used, where no rules are found: the
// message names the dimension or the node that is in the way. REQUIRES: graph->import_at is set.
Status open_sizes(const EarlierPasses& earlier, Graph* graph);

}  // namespace qrt::convert

#endif  // QRT_CONVERTER_SIZES_OPEN_SIZES_H_
