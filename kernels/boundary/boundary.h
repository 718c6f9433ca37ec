// Contract of the boundary family: float32 to 8 bits and 8 bits or int32 to float32, over
// contiguous runs; per-axis layouts are the caller's loop, or the *_channels forms where the axis
// is the last one.
//
//   quantize:   v = fl32(x / scale); v = clamp(v, lo - zp, hi - zp) as float; y = HE(v) + zp; NaN
//   gives lo dequantize: y = fl32(f(x - zp) * scale)
//
// True division, never a reciprocal. scale is any float; lo, hi are the type's limits (0, 255 or
// -128, 127); bytes are stored modulo 256. Exactly n elements are stored; x may be over-read by up
// to 64 bytes. Thread-safe. REQUIRES: rounding to nearest even (the session sets it).
#ifndef QRT_KERNELS_BOUNDARY_BOUNDARY_H_
#define QRT_KERNELS_BOUNDARY_BOUNDARY_H_

#include <cstddef>
#include <cstdint>

#include "kernels/isa.h"

namespace qrt {

struct BoundaryKernel {
  const char* name;  // "boundary_f32_avx2"
  Isa isa;
  void (*quantize)(const float* x, size_t n, float scale, int32_t zp, int32_t lo, int32_t hi,
                   uint8_t* y);
  // rows x channels; scale[c], zp[c]
  void (*quantize_channels)(const float* x, size_t rows, size_t channels, const float* scale,
                            const int32_t* zp, int32_t lo, int32_t hi, uint8_t* y);
  // x: uint8, or int8 where is_signed
  void (*dequantize)(const uint8_t* x, bool is_signed, size_t n, float scale, int32_t zp, float* y);
  void (*dequantize_channels)(const uint8_t* x, bool is_signed, size_t rows, size_t channels,
                              const float* scale, const int32_t* zp, float* y);
  // fl32(f(x) * scale[c])
  void (*dequantize_i32)(const int32_t* x, size_t rows, size_t channels, const float* scale,
                         float* y);
};

// quantize with ties away from zero: y = HA(v) + zp. One form for every instruction set.
void quantize_half_away(const float* x, size_t n, float scale, int32_t zp, int32_t lo, int32_t hi,
                        uint8_t* y);

const BoundaryKernel* boundary_kernels(size_t* count);
const BoundaryKernel* select_boundary(IsaSet isas);

}  // namespace qrt

#endif  // QRT_KERNELS_BOUNDARY_BOUNDARY_H_
