// SPDX-License-Identifier: Apache-2.0
#include "converter/levels.h"

#include <algorithm>
#include <unordered_map>

#include "converter/ir.h"
#include "qrt_model_generated.h"
#include "runtime/text.h"
#include "runtime/tools/level_name.h"
#include "runtime/traits.h"

namespace qrt::convert {
namespace {

std::string text(const flatbuffers::String* s) { return s == nullptr ? "" : s->str(); }

const flatbuffers::Vector<flatbuffers::Offset<fb::Operator>>& operators_of(
    const std::vector<uint8_t>& file) {
  return *fb::GetModel(file.data())->operators();
}

}  // namespace

void set_levels(const std::vector<uint8_t>& file, Report* report) {
  std::unordered_map<std::string, int> levels;
  for (const fb::Operator* op : operators_of(file)) {
    const int level = arithmetic_level(*op);
    const auto [at, is_new] = levels.emplace(text(op->name()), level);
    if (!is_new) at->second = std::max(at->second, level);
  }
  report->set_levels([&](const Finding& f) {
    if (!f.node.empty() && f.node[0] == '#') return f.level;
    const auto found = levels.find(f.node);
    return found == levels.end() ? std::string() : tool::level_name(found->second);
  });
}

std::vector<std::string> operators_above(const std::vector<uint8_t>& file, int level) {
  std::vector<std::string> above;
  int index = 0;
  for (const fb::Operator* op : operators_of(file)) {
    const std::string name = text(op->name());
    const int has = arithmetic_level(*op);
    if (has > level)
      above.push_back(escaped(name.empty() ? "#" + std::to_string(index) : name) + " (" +
                      escaped(text(op->source_op())) + ") -> " +
                      fb::EnumNameOpOptions(op->options_type()) + " [" + tool::level_name(has) +
                      "]");
    ++index;
  }
  return above;
}

bool is_wholly_float(const Graph& graph) {
  bool any = false;
  for (const Node& node : graph.nodes) {
    const Arithmetic arithmetic = traits(node).arithmetic;
    if (arithmetic != Arithmetic::kFloat && arithmetic != Arithmetic::kMoves) return false;
    any = any || arithmetic == Arithmetic::kFloat;
  }
  return any;
}

}  // namespace qrt::convert
