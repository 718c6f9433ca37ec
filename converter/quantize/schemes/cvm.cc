// SPDX-License-Identifier: Apache-2.0
#include "converter/quantize/schemes/cvm.h"

namespace qrt::quantize {

std::set<std::string> roots_with_zero_points(const FloatModel& model, const Placement& placement) {
  std::set<std::string> roots, others;
  for (const Layer& layer : placement.layers)
    if (placement.is_coded(layer.input)) roots.insert(placement.coded.at(layer.input));
  const auto exclude = [&](const std::string& value) {
    if (placement.is_coded(value)) others.insert(placement.coded.at(value));
  };
  for (const Value& v : model.inputs) exclude(v.name);
  for (const Node& n : model.nodes)
    if (n.op == "AveragePool" || (n.op == "Resize" && n.text("mode", "nearest") == "linear"))
      exclude(n.inputs[0]);
  for (const std::string& root : others) roots.erase(root);
  return roots;
}

}  // namespace qrt::quantize
