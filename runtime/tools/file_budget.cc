// SPDX-License-Identifier: Apache-2.0
// Budget::of_files() of files that the system has.
#include <filesystem>
#include <set>
#include <system_error>

#include "runtime/tools/budget.h"

namespace qrt {

Budget Budget::of_files(const std::vector<std::string>& paths) {
  Budget budget(0);
  for (const std::string& path : std::set<std::string>(paths.begin(), paths.end())) {
    std::error_code failed;
    const uint64_t size = std::filesystem::file_size(path, failed);
    if (!failed) budget.add_file(size);
  }
  return budget;
}

}  // namespace qrt
