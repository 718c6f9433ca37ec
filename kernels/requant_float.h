// SPDX-License-Identifier: Apache-2.0
// Integer requantisations as a product in float32, which every instruction set has in registers.
#ifndef QRT_KERNELS_REQUANT_FLOAT_H_
#define QRT_KERNELS_REQUANT_FLOAT_H_

#include <cstddef>
#include <cstdint>

#include "kernels/requant.h"

namespace qrt {

// The sums that a channel can have, both ends included.
struct SumRange {
  int32_t least = INT32_MIN, most = INT32_MAX;
};

// Finds a scale with which kind kF32, half to even and the zero point added after rounding, gives the same
// byte as `r` for every sum of channel c within `range`. Returns false where none was found, or where this
// is not tried: it is for kind kInt, one stage that clips nothing, and a multiplier that float32 holds.
bool requant_float(const Requant& r, size_t c, const SumRange& range, float* scale);

// Finds an addend to sums of channel c so that the zero point can be 0: requantize(r, acc, c) is then
// that of acc + *addend. Outputs then have ties above 0 only, which a scale just above the factor lifts
// as half up does. Returns false where no integer has this effect, or where this is not tried (not:
// kind kInt, one stage, half up or half to even).
bool moved_zero_point(const Requant& r, size_t c, int32_t* addend);

}  // namespace qrt

#endif  // QRT_KERNELS_REQUANT_FLOAT_H_
