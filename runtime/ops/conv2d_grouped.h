// The form of Conv2D for groups of few channels; see conv2d_grouped.cc.
#ifndef QRT_RUNTIME_OPS_CONV2D_GROUPED_H_
#define QRT_RUNTIME_OPS_CONV2D_GROUPED_H_

#include "runtime/ops/conv2d_geometry.h"

namespace qrt {

// Sets step->run where it applies and pays, else does nothing. step->macs is set, and lessened by the
// zeros that it leaves out. kOutOfMemory.
Status prepare_grouped_conv2d(const PrepareContext& context, const Conv2DGeometry& geometry,
                              PlannedStep* step);

}  // namespace qrt

#endif  // QRT_RUNTIME_OPS_CONV2D_GROUPED_H_
