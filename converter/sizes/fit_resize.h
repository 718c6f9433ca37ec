// SPDX-License-Identifier: Apache-2.0
// Finds the rule by which a resized axis follows from its size.
#ifndef QRT_CONVERTER_SIZES_FIT_RESIZE_H_
#define QRT_CONVERTER_SIZES_FIT_RESIZE_H_

#include <vector>

#include "converter/sizes/fit_number.h"

namespace qrt::convert {

// Sets the size and the resizing of `rule` so that the indices of mode `nearest` are maps[i] in import i, of an
// axis that is in[i] long there. Returns false where no mode gives them.
bool fit_nearest(const Imports& imports, const std::vector<int64_t>& in,
                 const std::vector<const std::vector<int32_t>*>& maps, fb::SizeRuleT* rule);

// Fits the tables of mode `linear`, as fit_nearest() does those of `nearest`.
bool fit_linear(const Imports& imports, const std::vector<int64_t>& in, fb::ResizeKind kind,
                const std::vector<const fb::ResizeAxisT*>& tables, fb::SizeRuleT* rule);

}  // namespace qrt::convert

#endif  // QRT_CONVERTER_SIZES_FIT_RESIZE_H_
