// SPDX-License-Identifier: Apache-2.0
// A product of bytes, in float or integers as a model has it, by the cheaper arithmetic of
// kernels/elementwise/forms.h.
#ifndef QRT_RUNTIME_OPS_MUL_IN_FLOAT_H_
#define QRT_RUNTIME_OPS_MUL_IN_FLOAT_H_

#include "kernels/elementwise/forms.h"

namespace qrt {

// Returns whether there is a float product that gives the byte of kernel.mul for every pair;
// *product is it.
bool mul_in_float(const MulParams& params, const ElementwiseKernel& kernel,
                  const ScaledProductKernel& cheaper, ScaledProduct* product);

}  // namespace qrt

#endif  // QRT_RUNTIME_OPS_MUL_IN_FLOAT_H_
