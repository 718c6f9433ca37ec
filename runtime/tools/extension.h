// SPDX-License-Identifier: Apache-2.0
// File names' extensions.
#ifndef QRT_RUNTIME_TOOLS_EXTENSION_H_
#define QRT_RUNTIME_TOOLS_EXTENSION_H_

#include <string>

namespace qrt::tool {

// Returns whether a file's name ends with `extension`, ".npy", behind a stem.
inline bool has_extension(const std::string& name, const std::string& extension) {
  return name.size() > extension.size() &&
         name.compare(name.size() - extension.size(), extension.size(), extension) == 0;
}

}  // namespace qrt::tool

#endif  // QRT_RUNTIME_TOOLS_EXTENSION_H_
