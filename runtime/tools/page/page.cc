#include "runtime/tools/page/page.h"

#include "runtime/text.h"
#include "runtime/tools/files.h"
#include "runtime/tools/inspect/describe.h"
#include "runtime/tools/page/page_files.h"

namespace qrt::tool {
namespace {

using nlohmann::ordered_json;

// Every text of it in printable form.
void make_printable(ordered_json* value) {
  if (value->is_string())
    *value = escaped(value->get_ref<const std::string&>());
  else if (value->is_structured())
    for (ordered_json& part : *value) make_printable(&part);
}

// A page shows scales as one line: a model can have millions.
void shorten_quantization(ordered_json* tensor) {
  const std::string text = quantization_of(*tensor);
  for (const char* key : {"scale", "exponent", "zero_point", "axis"}) tensor->erase(key);
  if (!text.empty()) (*tensor)["quantization"] = text;
}

// JSON in ASCII without "<", so that nothing in it can end the script element around it.
std::string data_of(const std::vector<PageModel>& models) {
  auto list = ordered_json::array();
  for (const PageModel& model : models) {
    ordered_json one = describe(*model.plan, model.path);
    for (ordered_json& tensor : one["tensors"]) shorten_quantization(&tensor);
    one["bench"] = model.bench;
    make_printable(&one);
    list.push_back(std::move(one));
  }
  std::string text;
  for (const char c : list.dump(-1, ' ', true, ordered_json::error_handler_t::replace))
    text += c == '<' ? std::string("\\u003c") : std::string(1, c);
  return text;
}

}  // namespace

std::string page_of(const std::vector<PageModel>& models) {
  return std::string(kPageStart) + data_of(models) + kPageEnd;
}

Status write_page(const std::string& path, const std::vector<PageModel>& models) {
  const std::string text = page_of(models);
  return write_file(path, text.data(), text.size());
}

}  // namespace qrt::tool
