// SPDX-License-Identifier: Apache-2.0
// Declares what runtime/ops/<stem>.cc defines for every operator of schema/ops.inc.
#ifndef QRT_RUNTIME_OPS_OPS_H_
#define QRT_RUNTIME_OPS_OPS_H_

#include <string>

#include "runtime/op.h"

namespace qrt {

// k<Name>Op is the operator's definition. describe_<stem>() returns its arithmetic in a few words, for qrt_inspect:
// "RQ_F32, half even"; it is no field of OpDef, so that libqrt does not hold the texts.
#define QRT_OP(Name, stem)        \
  extern const OpDef k##Name##Op; \
  std::string describe_##stem(const fb::Operator& op);
#include "schema/ops.inc"

// Returns the words for a requantisation, which may be null: "".
std::string describe_requant(const fb::Requant* requant);

}  // namespace qrt

#endif  // QRT_RUNTIME_OPS_OPS_H_
