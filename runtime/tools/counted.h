// SPDX-License-Identifier: Apache-2.0
// Numbers of things, as sentences have them.
#ifndef QRT_RUNTIME_TOOLS_COUNTED_H_
#define QRT_RUNTIME_TOOLS_COUNTED_H_

#include <cstddef>
#include <string>

namespace qrt::tool {

// Returns "1 array" or "2 arrays".
inline std::string counted(size_t count, const std::string& what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

}  // namespace qrt::tool

#endif  // QRT_RUNTIME_TOOLS_COUNTED_H_
