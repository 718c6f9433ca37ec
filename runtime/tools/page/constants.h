// SPDX-License-Identifier: Apache-2.0
// Describes constants for the page: how their values are distributed, and the scales of their channels.
#ifndef QRT_RUNTIME_TOOLS_PAGE_CONSTANTS_H_
#define QRT_RUNTIME_TOOLS_PAGE_CONSTANTS_H_

#include <nlohmann/json.hpp>

#include "runtime/plan.h"

namespace qrt::tool {

// Adds to each tensor of a description (describe.h) what is worth a picture:
//   "values": ["1", ..]                                   of a constant with few elements
//   "histogram": {"from", "to", "counts": [..], "step"}   of another: the least value, the greatest, and how many lie in each
//                                                         of the columns between; only every step-th value is counted
//   "scales": {"axis", "least", "greatest", "groups": [..]}  where there are several
// A picture has at most kMostColumns columns, and all of them together take time in proportion to the file.
constexpr size_t kMostColumns = 64;
void add_distributions(const Plan& plan, nlohmann::ordered_json* tensors);

}  // namespace qrt::tool

#endif  // QRT_RUNTIME_TOOLS_PAGE_CONSTANTS_H_
