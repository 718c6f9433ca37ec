// SPDX-License-Identifier: Apache-2.0
#include "runtime/ops/ops.h"
#include "runtime/tools/inspect/describe.h"

namespace qrt::tool {

// clang-format off
std::string arithmetic(const fb::Operator& op) {
  switch (op.options_type()) {
#define QRT_OP(Name, stem) case fb::OpOptions::Name: return describe_##stem(op);
#include "schema/ops.inc"
    case fb::OpOptions::NONE: break;
  }
  return "";
}
// clang-format on

}  // namespace qrt::tool
