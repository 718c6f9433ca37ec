// The form of Conv2D for few inputs; see conv2d_stem.cc.
#ifndef QRT_RUNTIME_OPS_CONV2D_STEM_H_
#define QRT_RUNTIME_OPS_CONV2D_STEM_H_

#include "runtime/ops/conv2d_geometry.h"
#include "runtime/ops/gemm_call.h"

namespace qrt {

// Sets step->run and takes `gemm` where it applies, else does nothing. step->macs is set. kOutOfMemory.
Status prepare_stem_conv2d(const PrepareContext& context, const Conv2DGeometry& geometry,
                           GemmCall* gemm, PlannedStep* step);

}  // namespace qrt

#endif  // QRT_RUNTIME_OPS_CONV2D_STEM_H_
