// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <map>

#include "runtime/tools/counted.h"
#include "runtime/tools/inspect/print.h"
#include "runtime/tools/terminal.h"

namespace qrt::tool {
namespace {

using nlohmann::ordered_json;

std::string place_of(const ordered_json& tensor) {
  const std::string place = string_of(tensor["place"]);
  if (place == "constant") return place + " (" + string_of(tensor["packing"]) + ")";
  return place == "arena" ? "arena + " + tensor["offset"].dump() : "-";
}

std::string list_of(const ordered_json& indices) {
  std::string s;
  for (const auto& i : indices) s += (s.empty() ? "" : " ") + i.dump();
  return s;
}

std::string bytes_text(const ordered_json& bytes) {
  const double n = bytes.get<double>();
  char text[32];
  if (n >= 1e6)
    snprintf(text, sizeof text, "%.1f MB", n * 1e-6);
  else if (n >= 1e3)
    snprintf(text, sizeof text, "%.1f kB", n * 1e-3);
  else
    snprintf(text, sizeof text, "%.0f bytes", n);
  return text;
}

// Prints "input            image: float32 [1, 3, 224, 224]", and its quantisation below.
void print_edge(const ordered_json& all, const ordered_json& index, const char* label) {
  const auto& t = all["tensors"][index.get<size_t>()];
  printf("%-16s %s: %s\n", label, shown(t["name"]).c_str(), open_type_of(t).c_str());
  if (const std::string q = quantization_of(t); !q.empty())
    printf("%-16s scale, zero point %s\n", "", q.c_str());
}

// Prints "dimension        seq: 17 (1 to 512 in steps of 8)"
void print_symbols(const ordered_json& all) {
  for (const auto& s : all["symbols"]) {
    const std::string step =
        s["step"].get<int64_t>() != 1 ? " in steps of " + s["step"].dump() : "";
    printf("%-16s %s: %s (%s to %s%s)\n", "dimension", shown(s["name"]).c_str(),
           s["size"].dump().c_str(), s["least"].dump().c_str(), s["most"].dump().c_str(),
           step.c_str());
  }
}

// Prints the number, multiply-accumulates and levels of each type of operator, the greatest work first.
void print_types(const ordered_json& all) {
  struct Type {
    size_t count = 0;
    uint64_t macs = 0;
    std::string levels;
  };
  std::map<std::string, Type> types;
  for (const auto& op : all["operators"]) {
    Type& type = types[string_of(op["type"])];
    ++type.count;
    type.macs += op["macs"].get<uint64_t>();
    const std::string level = string_of(op["level"]);
    if ((" " + type.levels + " ").find(" " + level + " ") == std::string::npos)
      type.levels += (type.levels.empty() ? "" : " ") + level;
  }
  std::vector<std::pair<std::string, Type>> sorted(types.begin(), types.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second.macs > b.second.macs; });
  printf("\n%-24s %6s %14s  %s\n", "operators", "number", "MACs", "level");
  for (const auto& [name, type] : sorted)
    printf("%-24s %6zu %14llu  %s\n", name.c_str(), type.count,
           static_cast<unsigned long long>(type.macs), type.levels.c_str());
}

// Columns beyond the terminal's are cut, the last one first.
std::string line_of(const std::string& text) {
  return text.size() <= columns() ? text : fitted(text, columns());
}

void print_tensors(const ordered_json& all) {
  printf("\n%6s %-22s %9s %-18s name\n", "tensor", "type", "bytes", "place");
  for (const auto& t : all["tensors"]) {
    char start[256];
    snprintf(start, sizeof start, "%6s %-22s %9s %-18s ", t["index"].dump().c_str(),
             type_of(t).c_str(), t["bytes"].dump().c_str(), place_of(t).c_str());
    puts(line_of(start + shown(t["name"])).c_str());
    if (const std::string q = quantization_of(t); !q.empty())
      puts(line_of("       scale, zero point " + q).c_str());
  }
}

void print_operators(const ordered_json& all) {
  printf("\n%4s %-20s %-5s %12s name\n", "op", "type", "level", "macs");
  for (const auto& o : all["operators"]) {
    char start[256];
    snprintf(start, sizeof start, "%4s %-20s %-5s %12s ", o["index"].dump().c_str(),
             string_of(o["type"]).c_str(), string_of(o["level"]).c_str(), o["macs"].dump().c_str());
    puts(line_of(start + shown(o["name"])).c_str());
    puts(line_of("     " + list_of(o["inputs"]) + " -> " + list_of(o["outputs"]) + "  " +
                 string_of(o["kernel"]) + "  " + string_of(o["arithmetic"]))
             .c_str());
  }
}

}  // namespace

void print_text(const ordered_json& all, bool with_operators, bool with_tensors) {
  const auto& model = all["model"];
  const auto& memory = all["memory"];
  printf("%-16s %s\n", "file", shown(model["file"]).c_str());
  for (const auto& index : all["inputs"]) print_edge(all, index, "input");
  for (const auto& index : all["outputs"]) print_edge(all, index, "output");
  for (const auto& variable : all["variables"]) print_edge(all, variable["tensor"], "state");
  print_symbols(all);
  for (const char* key :
       {"name", "source_format", "source_producer", "producer", "reference", "level", "batch"})
    if (const auto& value = model[key]; !(value.is_string() && string_of(value).empty()))
      printf("%-16s %s\n", key, value.is_string() ? shown(value).c_str() : value.dump().c_str());
  printf("%-16s %s, constants %s\n", "size", bytes_text(memory["file_bytes"]).c_str(),
         bytes_text(memory["constant_bytes"]).c_str());
  printf("%-16s arena %s, scratch %s, tables %s, state %s\n", "memory",
         bytes_text(memory["arena_bytes"]).c_str(), bytes_text(memory["scratch_bytes"]).c_str(),
         bytes_text(memory["table_bytes"]).c_str(), bytes_text(memory["state_bytes"]).c_str());
  if (memory["widened_bytes"].get<uint64_t>() > 0)
    printf("%-16s %s of weights of 4 and 2 bits as bytes\n", "",
           bytes_text(memory["widened_bytes"]).c_str());
  printf("%-16s %s MACs, %s\n", "work", model["macs"].dump().c_str(),
         counted(all["operators"].size(), "operator").c_str());
  print_types(all);
  if (with_operators) print_operators(all);
  if (with_tensors) print_tensors(all);
}

}  // namespace qrt::tool
