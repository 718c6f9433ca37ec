// SPDX-License-Identifier: Apache-2.0
// JSON within the script element of a page.
#ifndef QRT_RUNTIME_TOOLS_PAGE_SCRIPT_DATA_H_
#define QRT_RUNTIME_TOOLS_PAGE_SCRIPT_DATA_H_

#include <nlohmann/json.hpp>
#include <string>

namespace qrt::tool {

// Returns ASCII without "<", so that nothing in it can end the script element around it. Texts are in
// printable form (runtime/text.h).
std::string script_data(nlohmann::ordered_json data);

}  // namespace qrt::tool

#endif  // QRT_RUNTIME_TOOLS_PAGE_SCRIPT_DATA_H_
