// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "runtime/ops/ops.h"

namespace qrt {

std::string describe_requant(const fb::Requant* r) {
  if (r == nullptr) return "";
  switch (r->kind()) {
    case fb::RequantKind::ACC: return "accumulators";
    case fb::RequantKind::INT: return "RQ_INT, " + std::to_string(r->stages()->size()) + " stages";
    case fb::RequantKind::F32: break;
  }
  return std::string("RQ_F32, ") +
         (r->rounding() == fb::Rounding::HALF_UP ? "half up" : "half even") +
         (!r->zero_point_before() ? ""
          : r->fused()            ? ", zero point before (fma)"
                                  : ", zero point before") +
         (r->scale() != nullptr && r->scale()->size() > 1 ? ", per channel" : "");
}

}  // namespace qrt
