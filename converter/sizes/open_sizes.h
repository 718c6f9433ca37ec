// SPDX-License-Identifier: Apache-2.0
// Keeps the open dimensions of a graph open: imports the source at several sizes, and finds rules
// that compute everything that differs from the sizes.
#ifndef QRT_CONVERTER_SIZES_OPEN_SIZES_H_
#define QRT_CONVERTER_SIZES_OPEN_SIZES_H_

#include <functional>

#include "converter/ir.h"
#include "converter/sizes/probes.h"

namespace qrt::convert {

// A function that runs the earlier passes on an imported graph.
using EarlierPasses = std::function<void(Graph*)>;

// Replaces the graph by one that the earlier passes have transformed and that has rules for all
// sizes of its symbols; graph->import_at stays set. Fails with kUnsupported where no rules are
// found, and names the dimension or the node that prevents them; the graph is unusable then.
// REQUIRES: graph->import_at is set.
Status open_sizes(const EarlierPasses& earlier, Graph* graph);

}  // namespace qrt::convert

#endif  // QRT_CONVERTER_SIZES_OPEN_SIZES_H_
