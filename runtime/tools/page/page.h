// SPDX-License-Identifier: Apache-2.0
// One page for a browser, with everything in it: the graph of a model, its memory, and with
// measurements of qrt_bench its profile and roofline.
#ifndef QRT_RUNTIME_TOOLS_PAGE_PAGE_H_
#define QRT_RUNTIME_TOOLS_PAGE_PAGE_H_

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "runtime/plan.h"
#include "runtime/status.h"

namespace qrt::tool {

// The data that the page shows of one model, at one batch and number of threads.
struct PageModel {
  std::shared_ptr<const Plan> plan;
  std::string path;
  // The object of qrt_bench --format json; null: nothing was measured.
  nlohmann::ordered_json bench;
};

// Returns the page's text. Whatever names the models hold, they are shown as text and nothing else.
std::string page_of(const std::vector<PageModel>& models);

// Writes the page to a file.
Status write_page(const std::string& path, const std::vector<PageModel>& models);

}  // namespace qrt::tool

#endif  // QRT_RUNTIME_TOOLS_PAGE_PAGE_H_
