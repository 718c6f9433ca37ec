// Steps that XNNPACK computes instead of a kernel family (kernels/xnnpack): for comparisons.
#ifndef QRT_RUNTIME_OPS_XNNPACK_STEP_H_
#define QRT_RUNTIME_OPS_XNNPACK_STEP_H_

#include "kernels/xnnpack/xnnpack.h"
#include "runtime/op.h"

namespace qrt {

// Makes `op` the step's implementation, with all but Step::macs. False if it is null: our own
// kernel has to do it. The step then holds what belongs to one session: a plan with such steps
// serves one.
bool use_xnnpack(XnnpackPointer op, PlannedStep* step);

}  // namespace qrt

#endif  // QRT_RUNTIME_OPS_XNNPACK_STEP_H_
