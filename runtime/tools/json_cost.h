// SPDX-License-Identifier: Apache-2.0
// Counts the memory that a JSON text takes once it is parsed: a value of two characters becomes a block of
// tens of bytes.
#ifndef QRT_RUNTIME_TOOLS_JSON_COST_H_
#define QRT_RUNTIME_TOOLS_JSON_COST_H_

#include <string>

#include "runtime/status.h"
#include "runtime/tools/budget.h"

namespace qrt {

// Reserves what the values of the text will take, without making them. The text need not be JSON.
Status reserve_json(const std::string& text, Budget* budget);

}  // namespace qrt

#endif  // QRT_RUNTIME_TOOLS_JSON_COST_H_
