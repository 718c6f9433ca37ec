// SPDX-License-Identifier: Apache-2.0
#include "converter/quantize/schemes/espdl.h"

namespace qrt::quantize {
namespace {

// Returns, for each value, the one that the first limit behind it makes of it.
std::map<std::string, std::string> limited_values(const FloatModel& model) {
  std::map<std::string, std::string> limited;
  for (const Node& n : model.nodes)
    if (n.op == "Relu" || n.op == "Clip") limited.emplace(n.inputs[0], n.outputs[0]);
  return limited;
}

}  // namespace

void share_codings_of_sums(const FloatModel& model, Placement* placement) {
  const std::map<std::string, std::string> limited = limited_values(model);
  for (size_t i = 0; i < model.nodes.size(); ++i) {
    const Node& n = model.nodes[i];
    if ((n.op != "Add" && n.op != "Sub") || placement->float_nodes.count(i) != 0) continue;
    // The sum that is quantised: itself, or that of a limit that merges into it.
    std::string y = n.outputs[0];
    for (auto next = limited.find(y); !placement->is_coded(y) && next != limited.end();
         next = limited.find(y))
      y = next->second;
    if (!placement->is_coded(y)) continue;
    for (const std::string& x : n.inputs)
      if (placement->is_coded(x)) placement->coded[placement->root(x)] = placement->root(y);
  }
  placement->settle_roots();
}

}  // namespace qrt::quantize
