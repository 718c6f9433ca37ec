// SPDX-License-Identifier: Apache-2.0
// choose_target(): the chip whose arithmetic a file gets.
#include "converter/import/espdl/importer.h"

namespace qrt::convert::from_espdl {

Status choose_target(const Model& model, const std::string& asked, Target* target) {
  std::string told = model.target(), why = "its metadata";
  if (told.empty()) {
    for (const Node& node : model.nodes()) {
      if ((node.op != "Conv" && node.op != "Gemm" && node.op != "MatMul") || !node.has_input(1))
        continue;
      const Tensor& w = model.tensors()[static_cast<size_t>(node.inputs[1])];
      if (!w.is_constant) continue;
      const bool is_c =
          w.layout == "NHWC" || w.layout == "NWC" || w.layout == "HWCN" || w.layout == "WCN";
      if (!is_c && w.exponents.size() <= 1) continue;
      told = is_c ? "c" : "esp32p4";
      why = is_c ? "the layout '" + w.layout + "' of '" + w.name + "'"
                 : "the exponents per channel of '" + w.name + "'";
      break;
    }
  }
  if (told.empty() && asked.empty())
    return error(Code::kInvalidArgument,
                 "does not say for which chip it was exported, and rounding depends on it: say "
                 "--target esp32p4, esp32s3 or c");
  const std::string& name = asked.empty() ? told : asked;
  if (!parse_target(name, target))
    return error(Code::kUnsupported,
                 "was exported for the target '%s'; esp32p4, esp32s3 and c are known",
                 name.c_str());
  Target other;
  if (!told.empty() && !asked.empty() && parse_target(told, &other) && other != *target)
    return error(Code::kInvalidArgument, "was exported for %s, as %s says, not for %s",
                 told.c_str(), why.c_str(), asked.c_str());
  return Status();
}

}  // namespace qrt::convert::from_espdl
