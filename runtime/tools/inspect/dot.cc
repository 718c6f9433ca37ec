// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <vector>

#include "runtime/tools/inspect/print.h"

namespace qrt::tool {
namespace {

using nlohmann::ordered_json;

// Returns a string of the DOT language, of escaped lines.
std::string dot_string(const std::string& text) {
  std::string s = "\"";
  for (char c : text) {
    if (c == '\n')
      s += "\\n";
    else if (c == '"' || c == '\\')
      s += std::string("\\") + c;
    else
      s += c;
  }
  return s + "\"";
}

}  // namespace

void print_dot(const ordered_json& all) {
  const auto& tensors = all["tensors"];
  std::vector<std::string> writer(tensors.size());  // node that writes a tensor
  puts("digraph model {\n  node [shape=box, fontname=\"monospace\"];");
  for (const auto& i : all["inputs"]) {
    const std::string node = "input" + i.dump();
    writer[i.get<size_t>()] = node;
    printf("  %s [shape=ellipse, label=%s];\n", node.c_str(),
           dot_string(shown(tensors[i.get<size_t>()]["name"])).c_str());
  }
  const auto edge = [&](const ordered_json& tensor, const std::string& to) {
    const auto i = tensor.get<size_t>();
    if (!writer[i].empty())
      printf("  %s -> %s [label=%s];\n", writer[i].c_str(), to.c_str(),
             dot_string(type_of(tensors[i])).c_str());
  };
  for (const auto& op : all["operators"]) {
    const std::string node = "op" + op["index"].dump();
    printf("  %s [label=%s];\n", node.c_str(),
           dot_string(string_of(op["type"]) + " " + string_of(op["level"]) + "\n" +
                      shown(op["name"]) + "\n" + string_of(op["kernel"]))
               .c_str());
    for (const auto& tensor : op["inputs"]) edge(tensor, node);
    for (const auto& tensor : op["outputs"]) writer[tensor.get<size_t>()] = node;
  }
  for (const auto& i : all["outputs"]) {
    const std::string node = "output" + i.dump();
    printf("  %s [shape=ellipse, label=%s];\n", node.c_str(),
           dot_string(shown(tensors[i.get<size_t>()]["name"])).c_str());
    edge(i, node);
  }
  puts("}");
}

}  // namespace qrt::tool
