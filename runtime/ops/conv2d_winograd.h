// The form of Conv2D that takes fewer products than its definition; see conv2d_winograd.cc.
#ifndef QRT_RUNTIME_OPS_CONV2D_WINOGRAD_H_
#define QRT_RUNTIME_OPS_CONV2D_WINOGRAD_H_

#include "runtime/ops/conv2d_geometry.h"
#include "runtime/ops/gemm_call.h"

namespace qrt {

// Sets step->run where it applies and pays, else does nothing. `gemm`: made for the same layer, and
// taken; step->macs is set. kOutOfMemory.
Status prepare_winograd_conv2d(const PrepareContext& context, const Conv2DGeometry& geometry,
                               GemmCall* gemm, PlannedStep* step);

}  // namespace qrt

#endif  // QRT_RUNTIME_OPS_CONV2D_WINOGRAD_H_
