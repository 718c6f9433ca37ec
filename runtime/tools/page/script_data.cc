// SPDX-License-Identifier: Apache-2.0
#include "runtime/tools/page/script_data.h"

#include "runtime/text.h"

namespace qrt::tool {
namespace {

using nlohmann::ordered_json;

void make_printable(ordered_json* value) {
  if (value->is_string())
    *value = escaped(value->get_ref<const std::string&>());
  else if (value->is_structured())
    for (ordered_json& part : *value) make_printable(&part);
}

}  // namespace

std::string script_data(ordered_json data) {
  make_printable(&data);
  std::string text;
  for (const char c : data.dump(-1, ' ', true, ordered_json::error_handler_t::replace))
    text += c == '<' ? std::string("\\u003c") : std::string(1, c);
  return text;
}

}  // namespace qrt::tool
