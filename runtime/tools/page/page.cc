// SPDX-License-Identifier: Apache-2.0
#include "runtime/tools/page/page.h"

#include "runtime/tools/files.h"
#include "runtime/tools/inspect/describe.h"
#include "runtime/tools/page/constants.h"
#include "runtime/tools/page/page_files.h"
#include "runtime/tools/page/script_data.h"

namespace qrt::tool {
namespace {

using nlohmann::ordered_json;

// Shortens the scales to one line, as a model can have millions.
void shorten_quantization(ordered_json* tensor) {
  const std::string text = quantization_of(*tensor);
  for (const char* key : {"scale", "exponent", "zero_point", "axis"}) tensor->erase(key);
  if (!text.empty()) (*tensor)["quantization"] = text;
}

std::string data_of(const std::vector<PageModel>& models) {
  auto list = ordered_json::array();
  for (const PageModel& model : models) {
    ordered_json one = describe(*model.plan, model.path);
    add_distributions(*model.plan, &one["tensors"]);
    for (ordered_json& tensor : one["tensors"]) shorten_quantization(&tensor);
    one["bench"] = model.bench;
    list.push_back(std::move(one));
  }
  return script_data(std::move(list));
}

}  // namespace

std::string page_of(const std::vector<PageModel>& models) {
  return std::string(kModelPageStart) + data_of(models) + kModelPageEnd;
}

Status write_page(const std::string& path, const std::vector<PageModel>& models) {
  const std::string text = page_of(models);
  return write_file(path, text.data(), text.size());
}

}  // namespace qrt::tool
