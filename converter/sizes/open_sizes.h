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

// Replaces the graph, which earlier passes have been through, by one that holds at all sizes of its symbols.
// kUnsupported where none is found: the message names the dimension or the node that is in the way. REQUIRES:
// graph->import_at is set.
Status open_sizes(const EarlierPasses& earlier, Graph* graph);

}  // namespace qrt::convert

#endif  // QRT_CONVERTER_SIZES_OPEN_SIZES_H_
