// SPDX-License-Identifier: Apache-2.0
// Finds the rules by which the options of one node follow from sizes.
#ifndef QRT_CONVERTER_SIZES_FIT_OPTIONS_H_
#define QRT_CONVERTER_SIZES_FIT_OPTIONS_H_

#include <string>
#include <vector>

#include "converter/sizes/fit_number.h"

namespace qrt::convert {

// A model imported at several sizes, by import. The node of an index is the same one in all graphs.
struct ImportedGraphs {
  std::vector<const Graph*> graphs;
  std::vector<std::vector<int64_t>> symbols;  // their sizes
  Terms dimensions;  // dimensions of all tensors, as expressions of symbols

  // Returns whether one of the imports rounded floats of sizes (Graph::rounds_floats).
  bool rounds_floats() const;
};

// Finds the expressions of the dimensions of all tensors, where they have one.
void find_dimensions(ImportedGraphs* imports);

// Sets the rules of node `index` of the first graph, `node`, so that they give the options that the node has
// in every import; where a shape needs no rule, one of its dimensions becomes -1. Returns false where no rules
// are found: the node computes something else at other sizes, as far as the converter can tell.
bool fit_options(const ImportedGraphs& imports, size_t index, Node* node);

}  // namespace qrt::convert

#endif  // QRT_CONVERTER_SIZES_FIT_OPTIONS_H_
