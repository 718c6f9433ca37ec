// Integer adds in float: the float kernel is several times as fast.
#ifndef QRT_RUNTIME_OPS_ADD_IN_FLOAT_H_
#define QRT_RUNTIME_OPS_ADD_IN_FLOAT_H_

#include "kernels/elementwise/elementwise.h"

namespace qrt {

// Parameters with which kernel.add gives the bytes of kernel.add_int with `p`, for every pair of
// bytes. False: none were found.
bool add_in_float(const AddIntParams& p, const ElementwiseKernel& kernel, AddParams* add);

}  // namespace qrt

#endif  // QRT_RUNTIME_OPS_ADD_IN_FLOAT_H_
