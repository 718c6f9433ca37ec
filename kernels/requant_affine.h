// Fixed-point requantisations as an affine function in float32: cheaper still than their own
// arithmetic where one fused multiply-add does.
#ifndef QRT_KERNELS_REQUANT_AFFINE_H_
#define QRT_KERNELS_REQUANT_AFFINE_H_

#include <cstddef>

#include "kernels/requant.h"

namespace qrt {

// Floats with floor(acc * slope + intercept), in exact arithmetic and within 0..255, =
// requantize(acc) of channel c for every int32 acc. False: there are none near the real factor, or
// the requantisation is not one for which this is tried: kind kInt, half up or half up by 2^31 and
// half away then, factors from 2^-11 to 2^-1, zero point 0, limits 0 and 255.
//
// requantize() rises from k - 1 to k at integers T(k), k 1..255. A slope serves if some intercept
// is at least every k - slope * T(k) and below every k - slope * (T(k) - 1).
bool requant_affine(const Requant& r, size_t c, float* slope, float* intercept);

}  // namespace qrt

#endif  // QRT_KERNELS_REQUANT_AFFINE_H_
