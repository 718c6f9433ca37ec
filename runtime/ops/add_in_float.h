// SPDX-License-Identifier: Apache-2.0
// Parameters of adds in float: as the options of such an Add give them, and of integer adds, which the float
// kernel computes several times as fast.
#ifndef QRT_RUNTIME_OPS_ADD_IN_FLOAT_H_
#define QRT_RUNTIME_OPS_ADD_IN_FLOAT_H_

#include "kernels/elementwise/elementwise.h"
#include "qrt_model_generated.h"

namespace qrt {

// Reads the options of an Add of kind F32 or F32_MUL_ADD.
AddParams add_params(const fb::AddOptions& options);

// Finds parameters with which kernel.add gives the bytes of kernel.add_int with `p`, for every pair
// of bytes. Returns false where none were found.
bool add_in_float(const AddIntParams& p, const ElementwiseKernel& kernel, AddParams* add);

}  // namespace qrt

#endif  // QRT_RUNTIME_OPS_ADD_IN_FLOAT_H_
