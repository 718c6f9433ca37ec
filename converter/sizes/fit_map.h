// SPDX-License-Identifier: Apache-2.0
// Finds the rule by which the index map of a Gather's axis follows from sizes.
#ifndef QRT_CONVERTER_SIZES_FIT_MAP_H_
#define QRT_CONVERTER_SIZES_FIT_MAP_H_

#include <vector>

#include "converter/sizes/fit_number.h"

namespace qrt::convert {

// Sets the pieces of `rule`, or its resizing, so that it gives maps[i] in import i. `axis` is the axis of the
// operator's input 0 that the maps read. Returns false where no rule is found.
bool fit_map(const Imports& imports, const std::vector<const std::vector<int32_t>*>& maps, int axis,
             fb::SizeRuleT* rule);

}  // namespace qrt::convert

#endif  // QRT_CONVERTER_SIZES_FIT_MAP_H_
