// SPDX-License-Identifier: Apache-2.0
// Contract of the edge family: float32 and float16 to integers and small floats and back, over
// contiguous runs; per-axis layouts are the caller's loop, or the *_channels forms where the axis
// is the last one.
//
//   quantize:       v = clamp(fl32(x / scale), lo - zp, hi - zp) as float, y = HE(v) + zp; NaN
//                   gives lo
//   quantize_away:  ties away from zero instead, HA(v) for HE(v)
//   dequantize:     y = fl32(f(x - zp) * scale)
//
// True division, never a reciprocal. scale is any float; lo, hi are the type's limits (0, 255 or
// -128, 127, or those of a smaller type); bytes are stored modulo 256. Exactly n elements are
// stored; x may be over-read by up to 64 bytes and does not overlap y; both are aligned to their
// elements. Thread-safe. REQUIRES: rounding to nearest even (the session sets it). Types of 4 and 2
// bits are codes here, one per byte: packed.h.
#ifndef QRT_KERNELS_EDGE_EDGE_H_
#define QRT_KERNELS_EDGE_EDGE_H_

#include <cstddef>
#include <cstdint>

#include "kernels/edge/numbers.h"
#include "kernels/isa.h"

namespace qrt {

// Scales and zero points of a run: one for all of its elements, or one for each.
struct EdgeGrid {
  const float* scale;
  const int32_t* zero_point;
  bool each;
};

struct EdgeKernel {
  const char* name;  // "edge_f32_avx2"
  Isa isa;
  void (*quantize)(const float* x, size_t n, float scale, int32_t zp, int32_t lo, int32_t hi,
                   uint8_t* y);
  void (*quantize_away)(const float* x, size_t n, float scale, int32_t zp, int32_t lo, int32_t hi,
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

  // 16 bits, lo and hi those of uint16 or int16.
  void (*quantize16)(const float* x, size_t n, const EdgeGrid& grid, int32_t lo, int32_t hi,
                     uint16_t* y);
  void (*quantize16_away)(const float* x, size_t n, const EdgeGrid& grid, int32_t lo, int32_t hi,
                          uint16_t* y);
  void (*dequantize16)(const uint16_t* x, bool is_signed, size_t n, const EdgeGrid& grid, float* y);
  // float_to_small(format, fl32(x / scale)); the zero points are not read
  void (*encode)(const float* x, size_t n, const EdgeGrid& grid, const SmallFloat& format,
                 uint8_t* y);
  // float16 x. v = fl32(f(x) / scale); the sum HE(v) + zp wraps as one of int32 where v has no
  // int32 (NaN, infinities, 2^31 and more: the smallest one): hi where zp < 0, else lo. Otherwise
  // as quantize; offset is added in the end.
  void (*quantize_half)(const uint16_t* x, size_t n, float scale, int32_t zp, int32_t lo,
                        int32_t hi, int32_t offset, uint8_t* y);
  // float_to_half(fl32(f(x - zp) * scale))
  void (*dequantize_half)(const uint8_t* x, bool is_signed, size_t n, float scale, int32_t zp,
                          uint16_t* y);
  // half_to_float(x), float_to_half(x)
  void (*widen_half)(const uint16_t* x, size_t n, float* y);
  void (*narrow_half)(const float* x, size_t n, uint16_t* y);
  // *least = min(*least, x...), *most = max(*most, x...), without those x that are not numbers.
  void (*extremes)(const float* x, size_t n, float* least, float* most);
};

const EdgeKernel* edge_kernels(size_t* count);
const EdgeKernel* select_edge(IsaSet isas);

}  // namespace qrt

#endif  // QRT_KERNELS_EDGE_EDGE_H_
