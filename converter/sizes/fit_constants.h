// SPDX-License-Identifier: Apache-2.0
// Constants that differ from size to size become parts of one constant: masks, grids, positions, repeated rows.
#ifndef QRT_CONVERTER_SIZES_FIT_CONSTANTS_H_
#define QRT_CONVERTER_SIZES_FIT_CONSTANTS_H_

#include <vector>

#include "converter/sizes/fit_options.h"

namespace qrt::convert {

// Returns the constants that nodes read and that are not the same in all imports.
std::vector<ValueId> differing_constants(const ImportedGraphs& imports);

// Replaces constant `id` of `graph`, the first import's, that differs along one axis by a Gather of its few different parts: ones
// up to a length and zeros behind it. Returns false where no rule gives the number of each part.
bool fit_constant_by_index(const ImportedGraphs& imports, ValueId id, Graph* graph);

// Returns how many bytes a file holds of a constant: of axes along which all indices are alike one index.
size_t kept_bytes(const Value& constant);

// Puts a Gather of `graph`, the first import's, in front of all nodes that read constant `id`. Along each axis
// it reads the first elements of the constant of `largest`, an import at the largest sizes, or the last ones, those from an index on that
// follows from sizes, or the only one that is repeated along it. Returns false where these do not give the constants of all imports.
bool fit_constant(const ImportedGraphs& imports, const Graph& largest, ValueId id, Graph* graph);

}  // namespace qrt::convert

#endif  // QRT_CONVERTER_SIZES_FIT_CONSTANTS_H_
