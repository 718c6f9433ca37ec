// SPDX-License-Identifier: Apache-2.0
// Quantisation as ESP-DL's C code rounds: half up, after a float32 addition. One form for every
// instruction set; the compiler makes vectors of it.
//
//   v = fl32(x / scale); y = clamp(floor(fl32(v + 0.5)), lo - zp, hi - zp) + zp; NaN gives lo
//
// The float just below one half becomes 1: that sum is rounded. n elements, stored modulo 256 or
// 65536. Thread-safe. REQUIRES: rounding to nearest even; lo, hi: limits of a type of at most 16
// bits.
#ifndef QRT_KERNELS_EDGE_HALF_UP_H_
#define QRT_KERNELS_EDGE_HALF_UP_H_

#include <cstddef>
#include <cstdint>

namespace qrt {

void quantize_half_up(const float* x, size_t n, float scale, int32_t zp, int32_t lo, int32_t hi,
                      uint8_t* y);
void quantize16_half_up(const float* x, size_t n, float scale, int32_t zp, int32_t lo, int32_t hi,
                        uint16_t* y);

}  // namespace qrt

#endif  // QRT_KERNELS_EDGE_HALF_UP_H_
