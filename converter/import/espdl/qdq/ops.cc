// SPDX-License-Identifier: Apache-2.0
// The table of handlers, made from ops.inc, and how attributes are taken over.
#include "converter/import/espdl/qdq/ops.h"

namespace qrt::convert::from_qdq {
namespace {

constexpr Handler kHandlers[] = {
#define QRT_QDQ_OP(handler, op, ...) {handler, op, __VA_ARGS__},
#include "converter/import/espdl/qdq/ops.inc"
};

constexpr const char* kKeeping[] = {
    "Clip",  "Concat",  "Dropout", "Flatten",      "Gather",       "GlobalMaxPool", "Identity",
    "Max",   "MaxPool", "Min",     "ReduceMax",    "ReduceMin",    "Relu",          "Reshape",
    "Slice", "Split",   "Squeeze", "DepthToSpace", "SpaceToDepth", "Transpose",     "Unsqueeze",
};

}  // namespace

const Handler* find_handler(const NodeView& n) {
  for (const Handler& handler : kHandlers)
    if (n.op() == handler.op) return &handler;
  return nullptr;
}

bool is_onnx(const NodeView& n) {
  if (n.domain().empty() || n.domain() == "ai.onnx") return true;
  return n.domain() == "com.microsoft" &&
         (n.op() == "QuantizeLinear" || n.op() == "DequantizeLinear");
}

bool keeps_quantisation(const std::string& op) {
  for (const char* name : kKeeping)
    if (op == name) return true;
  return false;
}

bool is_number(const Term& x) {
  return x.kind == Term::Kind::kConstant && x.constant->elements() == 1 &&
         (x.scales || x.constant->is_real());
}

float real_of(const Term& x) {
  if (!x.scales) return x.constant->real(0);
  return static_cast<float>(x.constant->integer(0)) *
         from_espdl::power_of_two(static_cast<int>(x.scales->exponents[0]));
}

void copy_integers(const NodeView& n, const std::vector<const char*>& names, espdl::NodeT* to) {
  for (const char* name : names)
    if (n.has(name)) set(to, name, n.integer(name, 0));
}

void copy_reals(const NodeView& n, const std::vector<const char*>& names, espdl::NodeT* to) {
  for (const char* name : names)
    if (n.has(name)) set(to, name, n.real(name, 0));
}

void copy_lists(const NodeView& n, const std::vector<const char*>& names, espdl::NodeT* to) {
  for (const char* name : names)
    if (n.has(name)) set(to, name, n.integers(name));
}

}  // namespace qrt::convert::from_qdq
