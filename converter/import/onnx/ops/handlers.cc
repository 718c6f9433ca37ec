// SPDX-License-Identifier: Apache-2.0
// The table of known operators, made from handlers.inc.
#include "converter/import/onnx/ops/handlers.h"

#include <iterator>

namespace qrt::convert::from_onnx {
namespace {

// Imports a product: by import_dynamic_product() where weights or quantisation parameters are
// inputs, else by the handler `constants`.
template <Handler constants>
Status product(Importer& importer, const NodeView& node) {
  bool taken;
  QRT_TRY(import_dynamic_product(importer, node, &taken));
  return taken ? Status() : constants(importer, node);
}

constexpr OpEntry kOps[] = {
#define QRT_ONNX_OP(handler, domain, op, inputs, reads) {domain, op, handler, inputs, Reads::reads},
#define QRT_ONNX_PRODUCT(handler, domain, op, inputs, reads) \
  {domain, op, product<handler>, inputs, Reads::reads},
#include "converter/import/onnx/ops/handlers.inc"
};

}  // namespace

bool mixes(Reads reads, const NodeView& node, int axis) {
  switch (reads) {
    case Reads::kElements:
    case Reads::kMoved: return false;
    case Reads::kResized: return node.text("mode", "nearest") != "nearest";
    case Reads::kImages: return axis >= 2;
    case Reads::kAll:
    case Reads::kFloats: break;
  }
  return true;
}

bool takes_floats(Reads reads) {
  return reads == Reads::kMoved || reads == Reads::kResized || reads == Reads::kFloats;
}

const OpEntry* find_op_entry(const std::string& domain, const std::string& op) {
  const std::string d = domain == "ai.onnx" ? "" : domain;
  for (const OpEntry& entry : kOps)
    if (op == entry.op && d == entry.domain) return &entry;
  return nullptr;
}

std::vector<OpEntry> known_ops() { return {std::begin(kOps), std::end(kOps)}; }

}  // namespace qrt::convert::from_onnx
