// The form of Conv2D for few outputs; see conv2d_narrow.cc.
#ifndef QRT_RUNTIME_OPS_CONV2D_NARROW_H_
#define QRT_RUNTIME_OPS_CONV2D_NARROW_H_

#include "runtime/ops/conv2d_geometry.h"
#include "runtime/ops/gemm_call.h"

namespace qrt {

// Sets step->run and takes `gemm` where it applies and pays, else does nothing. step->macs is set, and
// lessened by the zeros that it leaves out.
Status prepare_narrow_conv2d(const PrepareContext& context, const Conv2DGeometry& geometry,
                             GemmCall* gemm, PlannedStep* step);

}  // namespace qrt

#endif  // QRT_RUNTIME_OPS_CONV2D_NARROW_H_
