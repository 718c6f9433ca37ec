// SPDX-License-Identifier: Apache-2.0
// Fixed-point requantisations as an affine function in float32: cheaper still than their own
// arithmetic where one fused multiply-add does.
#ifndef QRT_KERNELS_AFFINE_AFFINE_H_
#define QRT_KERNELS_AFFINE_AFFINE_H_

#include <cstddef>
#include <cstdint>

#include "kernels/isa.h"
#include "kernels/requant.h"

namespace qrt {

// Finds floats with floor(acc * slope + intercept), in exact arithmetic and within 0..255, =
// requantize(acc) of channel c for every int32 acc. Returns false where there are none near the real
// factor, or where the requantisation is not one for which this is tried: kind kInt, half up or half
// up by 2^31 and half away then, factors from 2^-11 to 2^-1, zero point 0, limits 0 and 255.
//
// requantize() rises from k - 1 to k at integers T(k), k 1..255. A slope serves if some intercept
// is at least every k - slope * T(k) and below every k - slope * (T(k) - 1).
bool requant_affine(const Requant& r, size_t c, float* slope, float* intercept);

// Fits channels 0 .. channels - 1, many at a time where `isas` can. Returns false where one of them has
// no fit. The floats may be others than those of requant_affine().
bool requant_affine_fits(IsaSet isas, const Requant& r, size_t channels, float* slope,
                         float* intercept);

// y = floor((acc * multiplier + 2^(shift - 1) + extra) / 2^shift) for acc >= 0, at most 0 below.
constexpr size_t kAffineChannels = 16;
struct AffineBlock {
  int32_t multiplier[kAffineChannels];  // at least 2^30
  int32_t shift[kAffineChannels];       // 32..41
  int32_t extra;                        // 0..2^30
};

struct AffineKernel {
  const char* name;
  Isa isa;
  // Bit c of the result: slope[c] and intercept[c] fit. Not all that have fits are found.
  uint32_t (*fn)(const AffineBlock& block, float* slope, float* intercept);
};

// Returns all rows compiled in. *count receives their number, which may be 0.
const AffineKernel* affine_kernels(size_t* count);

}  // namespace qrt

#endif  // QRT_KERNELS_AFFINE_AFFINE_H_
