#include "converter/quantize/schemes/espdl.h"

namespace qrt::quantize {
namespace {

// The value behind a sum that is quantised: the sum itself, or that of a limit that merges into it.
std::string coded_result(const FloatModel& model, const Placement& placement, std::string name) {
  for (const Node& n : model.nodes) {
    if (placement.is_coded(name)) return name;
    if ((n.op == "Relu" || n.op == "Clip") && n.inputs[0] == name) name = n.outputs[0];
  }
  return name;
}

}  // namespace

void share_codings_of_sums(const FloatModel& model, Placement* placement) {
  std::map<std::string, std::string>& coded = placement->coded;
  for (size_t i = 0; i < model.nodes.size(); ++i) {
    const Node& n = model.nodes[i];
    if ((n.op != "Add" && n.op != "Sub") || placement->float_nodes.count(i) != 0) continue;
    const std::string y = coded_result(model, *placement, n.outputs[0]);
    if (coded.count(y) == 0) continue;
    const std::string root = coded[y];
    for (const std::string& x : n.inputs) {
      if (coded.count(x) == 0) continue;
      const std::string other = coded[x];
      for (auto& [name, of] : coded)
        if (of == other) of = root;
    }
  }
}

}  // namespace qrt::quantize
