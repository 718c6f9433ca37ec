// SPDX-License-Identifier: Apache-2.0
// Puts into effect the settings that the user gives for single nodes and tensors.
#include <algorithm>

#include "converter/quantize/steps/work.h"

namespace qrt::quantize {
namespace {

// So many names stand in a message.
constexpr size_t kMostNamed = 8;

template <class Names>
std::string some_of(const Names& names) {
  std::string text;
  size_t n = 0;
  for (const std::string& name : names) {
    if (++n > kMostNamed) return text + ", ..";
    text += (text.empty() ? "'" : ", '") + name + "'";
  }
  return text;
}

bool names_node(const std::string& pattern, const Node& node) {
  return matches(pattern, node.name) || matches(pattern, node.op);
}

std::set<std::string> node_names(const FloatModel& model) {
  std::set<std::string> names;
  for (const Node& n : model.nodes) names.insert(n.name);
  return names;
}

// Returns the value that is rounded of what a node makes: behind a bias and a limit, where these
// become one with it.
std::string coded_result(const Work& work, const Node& node) {
  std::string value = node.outputs[0];
  for (int steps = 0; steps < 3 && !work.placement.is_coded(value); ++steps)
    for (const Node& reader : work.model.nodes)
      if (!reader.inputs.empty() && reader.inputs[0] == value) {
        value = reader.outputs[0];
        break;
      }
  return value;
}

}  // namespace

Status find_excluded(Work* work) {
  work->excluded.clear();
  for (const std::string& pattern : work->settings.overrides.exclude) {
    bool is_known = false;
    for (size_t i = 0; i < work->model.nodes.size(); ++i) {
      if (!names_node(pattern, work->model.nodes[i])) continue;
      work->excluded.insert(i);
      is_known = true;
    }
    if (!is_known)
      return error(Code::kInvalidArgument,
                   "--exclude %s: the simplified model has no such node or type of operator: its "
                   "nodes are %s (--nodes lists them)",
                   pattern.c_str(), some_of(node_names(work->model)).c_str());
  }
  return {};
}

Status find_overrides(Work* work) {
  const Overrides& overrides = work->settings.overrides;
  work->bits.clear();
  work->int16_weights.clear();
  work->given.clear();
  std::set<std::string> roots;
  for (const auto& [value, root] : work->placement.coded) roots.insert(root);
  for (const auto& [pattern, bits] : overrides.bits) {
    bool is_known = false;
    const auto set_bits = [&, bits_ = bits](const std::string& value) {
      const auto coded = work->placement.coded.find(value);
      if (coded == work->placement.coded.end()) return;
      work->bits[coded->second] = bits_;
      is_known = true;
    };
    for (const auto& [value, root] : work->placement.coded)
      if (matches(pattern, value)) set_bits(value);
    for (const Node& n : work->model.nodes)
      if (names_node(pattern, n)) set_bits(coded_result(*work, n));
    for (const Layer& layer : work->placement.layers) {
      if (!matches(pattern, layer.weights) && !names_node(pattern, work->model.nodes[layer.node]))
        continue;
      if (!work->placement.is_coded(layer.input)) continue;
      if (bits == 16) work->int16_weights.insert(layer.node);
      if (bits == 8) work->int16_weights.erase(layer.node);
      is_known = true;
    }
    if (!is_known)
      return error(Code::kInvalidArgument,
                   "--bits %s: no node, tensor or weights of this name are quantised: the tensors "
                   "are %s",
                   pattern.c_str(), some_of(roots).c_str());
  }
  for (const auto& [name, given] : overrides.ranges) {
    const auto coded = work->placement.coded.find(name);
    if (coded == work->placement.coded.end()) {
      // A saved range may be that of a tensor which the earlier run quantised, and this one does not.
      if (given.has_coding && work->model.values.count(name) != 0) continue;
      return error(Code::kInvalidArgument,
                   "--range %s: no tensor of this name is quantised: the tensors are %s",
                   name.c_str(), some_of(roots).c_str());
    }
    const auto known = work->given.emplace(coded->second, given);
    if (!known.second && (known.first->second.range.lo != given.range.lo ||
                          known.first->second.range.hi != given.range.hi))
      return error(Code::kInvalidArgument,
                   "--range %s: the tensor shares its range with another, for which another range "
                   "is given: give one of them",
                   name.c_str());
  }
  return {};
}

int bits_of(const Work& work, const std::string& root) {
  const auto given = work.given.find(root);
  const auto bits = work.bits.find(root);
  if (bits != work.bits.end()) return bits->second;
  return given != work.given.end() && given->second.has_coding ? given->second.coding.bits
                                                               : work.scheme.bits;
}

}  // namespace qrt::quantize
