// Integer requantisations as a product in float32, which every instruction set has in registers.
#ifndef QRT_KERNELS_REQUANT_FLOAT_H_
#define QRT_KERNELS_REQUANT_FLOAT_H_

#include <cstddef>

#include "kernels/requant.h"

namespace qrt {

// A scale with which kind kF32, half to even and the zero point after rounding, gives the same byte
// as `r` for every int32 of channel c. False: none was found, or this is not tried: kind kInt, one
// stage that clips nothing, a multiplier that float32 holds.
bool requant_float(const Requant& r, size_t c, float* scale);

}  // namespace qrt

#endif  // QRT_KERNELS_REQUANT_FLOAT_H_
