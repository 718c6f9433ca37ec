// SPDX-License-Identifier: Apache-2.0
// The geometry of convolutions and pools, read from an operator's options and shapes: for the operators, each
// of which defines its own, and for providers (runtime/providers).
#ifndef QRT_RUNTIME_OPS_GEOMETRY_H_
#define QRT_RUNTIME_OPS_GEOMETRY_H_

#include "kernels/depthwise/depthwise.h"
#include "kernels/pool/pool.h"
#include "runtime/ops/conv2d_geometry.h"

namespace qrt {

// Check shapes and options, without the constants. Fail with kInvalidModel.
Status conv2d_geometry(const InferContext& context, Conv2DGeometry* geometry);
Status depthwise_geometry(const InferContext& context, DepthwiseShape* shape);
Status max_pool_geometry(const InferContext& context, PoolShape* shape);
// Sets all but the pointers. REQUIRES: kind F32.
Status average_pool_args(const InferContext& context, AveragePoolArgs* args);

}  // namespace qrt

#endif  // QRT_RUNTIME_OPS_GEOMETRY_H_
