// Declares the definition of every operator of schema/ops.inc: k<Name>Op, in runtime/ops/<stem>.cc.
#ifndef QRT_RUNTIME_OPS_OPS_H_
#define QRT_RUNTIME_OPS_OPS_H_

#include "runtime/op.h"

namespace qrt {

#define QRT_OP(Name, stem) extern const OpDef k##Name##Op;
#include "schema/ops.inc"

}  // namespace qrt

#endif  // QRT_RUNTIME_OPS_OPS_H_
