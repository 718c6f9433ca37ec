// SPDX-License-Identifier: Apache-2.0
// The batch in a graph: whether the images of dimension 0 are apart, each computed from its own
// data and all in the same way.
#ifndef QRT_CONVERTER_BATCH_H_
#define QRT_CONVERTER_BATCH_H_

#include <cstdint>
#include <string>
#include <vector>

#include "converter/ir.h"

namespace qrt::convert {

// Follows the batch, of `batch` images in this import, from the graph's inputs through all nodes. *carries:
// by value, whether its dimension 0 is the batch. "" where all images are apart; else what is in
// the way: "input 'mask' has no batch", "node 'mean' (ReduceMean) ...".
std::string follow_batch(const Graph& graph, int64_t batch, std::vector<bool>* carries);

// "node 'mean' (ReduceMean)"
std::string label_of(const Node& node);

}  // namespace qrt::convert

#endif  // QRT_CONVERTER_BATCH_H_
