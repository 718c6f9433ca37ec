// SPDX-License-Identifier: Apache-2.0
// Contract of the edge family: float32 and float16 to integers and small floats and back, over
// contiguous runs. For parameters along an axis the caller loops over runs, or calls the *_channels
// forms if the axis is the last one.
//
//   quantize:       y = HE(v) + zp, v = clamp(fl32(x / scale), lo - zp, hi - zp); NaN gives lo
//   quantize_away:  y = HA(v) + zp
//   dequantize:     y = fl32(f(x - zp) * scale)
//   quantize_by:    y = 128 + hybrid_code(x, scale)
//   store_sums:     floats of a layer's sums, see SumStore
//
// fl32 rounds to float32, f converts an integer or a float16 to float32, HE rounds ties to even and
// HA away from zero. Divisions are true divisions, never products with a reciprocal. scale is any
// float. lo and hi are the limits of the type (0, 255 or -128, 127, or those of a smaller type);
// bytes are stored modulo 256. Elements of 4 and 2 bits are codes, one per byte (packed.h).
//
// Kernels store exactly n elements. Kernels that quantise, encode or widen read exactly n elements
// of x, others may over-read x by up to 64 bytes. x does not overlap y, and both are aligned to
// their elements. Thread-safe. REQUIRES: rounding to nearest even (the session sets it).
#ifndef QRT_KERNELS_EDGE_EDGE_H_
#define QRT_KERNELS_EDGE_EDGE_H_

#include <cstddef>
#include <cstdint>

#include "kernels/edge/numbers.h"
#include "kernels/hybrid.h"
#include "kernels/isa.h"

namespace qrt {

// Scales and zero points of a run: one pair for all elements, or (`each`) one for each element.
struct EdgeGrid {
  const float* scale;
  const int32_t* zero_point;
  bool each;
};

// Arguments of store_sums(), which converts a layer's sums of products of codes to floats
// (fb::FloatStore). For channel c of row r, with s = x_scale[r * x_step], z = zero_point[r], or 0
// without zero points, and acc = sums - z * weight_sum[c] modulo 2^32:
//   v = fl32(fl32(f(acc) * fl32(s * w_scale[c])) + addend[c]), with weights_first
//       fl32(fl32(fl32(f(acc) * w_scale[c]) * s) + addend[c])
//   y = clamp(v, lo, hi), of NaN 0x7fc00000
struct SumStore {
  const int32_t* sums;  // [rows][channels]
  float* y;             // [rows][channels]; may be the memory of the sums
  size_t rows, channels;
  const float* x_scale;
  size_t x_step;              // 1, or 0: all rows have the first scale
  const uint8_t* zero_point;  // or null
  const int32_t* weight_sum;  // read with zero points
  const float *w_scale, *addend;
  bool weights_first;
  float lo, hi;  // no NaN, lo <= hi
};

struct EdgeKernel {
  const char* name;  // "edge_f32_avx2"
  Isa isa;
  void (*quantize)(const float* x, size_t n, float scale, int32_t zp, int32_t lo, int32_t hi,
                   uint8_t* y);
  void (*quantize_away)(const float* x, size_t n, float scale, int32_t zp, int32_t lo, int32_t hi,
                        uint8_t* y);
  // x and y are [rows][channels]; channel c has scale[c] and zp[c].
  void (*quantize_channels)(const float* x, size_t rows, size_t channels, const float* scale,
                            const int32_t* zp, int32_t lo, int32_t hi, uint8_t* y);
  // x: uint8, or int8 where is_signed
  void (*dequantize)(const uint8_t* x, bool is_signed, size_t n, float scale, int32_t zp, float* y);
  void (*dequantize_channels)(const uint8_t* x, bool is_signed, size_t rows, size_t channels,
                              const float* scale, const int32_t* zp, float* y);
  // y = fl32(f(x) * scale[c])
  void (*dequantize_i32)(const int32_t* x, size_t rows, size_t channels, const float* scale,
                         float* y);

  // For 16 bits; lo and hi are those of uint16 or int16.
  void (*quantize16)(const float* x, size_t n, const EdgeGrid& grid, int32_t lo, int32_t hi,
                     uint16_t* y);
  void (*quantize16_away)(const float* x, size_t n, const EdgeGrid& grid, int32_t lo, int32_t hi,
                          uint16_t* y);
  void (*dequantize16)(const uint16_t* x, bool is_signed, size_t n, const EdgeGrid& grid, float* y);
  // y = float_to_small(format, fl32(x / scale)); zero points are not read.
  void (*encode)(const float* x, size_t n, const EdgeGrid& grid, const SmallFloat& format,
                 uint8_t* y);
  // float16 x. v = fl32(f(x) / scale); the sum HE(v) + zp wraps as one of int32 where v has no
  // int32 (NaN, infinities, 2^31 and more: the smallest one): hi where zp < 0, else lo. Otherwise
  // as quantize; offset is added in the end.
  void (*quantize_half)(const uint16_t* x, size_t n, float scale, int32_t zp, int32_t lo,
                        int32_t hi, int32_t offset, uint8_t* y);
  // y = float_to_half(fl32(f(x - zp) * scale))
  void (*dequantize_half)(const uint8_t* x, bool is_signed, size_t n, float scale, int32_t zp,
                          uint16_t* y);
  // y = half_to_float(x), and y = float_to_half(x).
  void (*widen_half)(const uint16_t* x, size_t n, float* y);
  void (*narrow_half)(const float* x, size_t n, uint16_t* y);
  // *least = min(*least, x...), *most = max(*most, x...), over those x that are not NaN.
  void (*extremes)(const float* x, size_t n, float* least, float* most);
  void (*quantize_by)(const float* x, size_t n, const HybridScale& scale, uint8_t* y);
  void (*store_sums)(const SumStore& store);
};

const EdgeKernel* edge_kernels(size_t* count);
const EdgeKernel* select_edge(IsaSet isas);

}  // namespace qrt

#endif  // QRT_KERNELS_EDGE_EDGE_H_
