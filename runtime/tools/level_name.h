// SPDX-License-Identifier: Apache-2.0
// Names of the levels of runtime/traits.h.
#ifndef QRT_RUNTIME_TOOLS_LEVEL_NAME_H_
#define QRT_RUNTIME_TOOLS_LEVEL_NAME_H_

#include <string>

#include "runtime/traits.h"

namespace qrt::tool {

// "I0", "I1", "edge" or "F".
inline std::string level_name(int level) {
  if (level == kFloatLevel) return "F";
  return level == kEdgeLevel ? "edge" : "I" + std::to_string(level);
}

}  // namespace qrt::tool

#endif  // QRT_RUNTIME_TOOLS_LEVEL_NAME_H_
