// Quantisation and dequantisation by 8 lanes. Tails go through buffers of 8 elements.
#include <arm_neon.h>
#include <string.h>

#include "kernels/edge/edge_lanes.h"
#include "kernels/edge/entry.h"

namespace qrt {
namespace {

constexpr size_t kLanes = 8;

// The first n of eight elements at `from`, then zeros.
template <class T>
struct Eight {
  Eight(const T* from, size_t n) { memcpy(data, from, n * sizeof(T)); }
  T data[kLanes] = {};
};

// Scale and zero point of eight lanes.
struct Grid {
  Grid(const float* scale, const int32_t* zp)
      : s0(vld1q_f32(scale)), s1(vld1q_f32(scale + 4)), z0(vld1q_s32(zp)), z1(vld1q_s32(zp + 4)) {}
  Grid(float scale, int32_t zp) : s0(vdupq_n_f32(scale)), s1(s0), z0(vdupq_n_s32(zp)), z1(z0) {}

  float32x4_t s0, s1;
  int32x4_t z0, z1;
};

// ROUND(clamp(x / scale, lo - zp, hi - zp)) + zp. FMAXNM gives the number where the other operand
// is a quiet NaN, and a division makes no other.
template <bool kAway>
inline int32x4_t steps(float32x4_t x, float32x4_t scale, int32x4_t zp, int32x4_t lo, int32x4_t hi) {
  const float32x4_t low = vcvtq_f32_s32(vsubq_s32(lo, zp));
  const float32x4_t high = vcvtq_f32_s32(vsubq_s32(hi, zp));
  const float32x4_t v = vminnmq_f32(vmaxnmq_f32(vdivq_f32(x, scale), low), high);
  return vaddq_s32(kAway ? vcvtaq_s32_f32(v) : vcvtnq_s32_f32(v), zp);
}

// Narrowing drops the high bits: the byte modulo 256.
template <bool kAway>
inline uint8x8_t quantize8(const float* x, const Grid& g, int32x4_t lo, int32x4_t hi) {
  const int32x4_t v0 = steps<kAway>(vld1q_f32(x), g.s0, g.z0, lo, hi);
  const int32x4_t v1 = steps<kAway>(vld1q_f32(x + 4), g.s1, g.z1, lo, hi);
  return vreinterpret_u8_s8(vmovn_s16(vmovn_high_s32(vmovn_s32(v0), v1)));
}

// Eight bytes of either type to numbers.
template <bool kSigned>
inline void dequantize8(const uint8_t* x, const Grid& g, float* y) {
  const uint8x8_t bytes = vld1_u8(x);
  const int16x8_t words =
      kSigned ? vmovl_s8(vreinterpret_s8_u8(bytes)) : vreinterpretq_s16_u16(vmovl_u8(bytes));
  const int32x4_t v0 = vsubq_s32(vmovl_s16(vget_low_s16(words)), g.z0);
  const int32x4_t v1 = vsubq_s32(vmovl_high_s16(words), g.z1);
  vst1q_f32(y, vmulq_f32(vcvtq_f32_s32(v0), g.s0));
  vst1q_f32(y + 4, vmulq_f32(vcvtq_f32_s32(v1), g.s1));
}

template <bool kSigned>
inline void dequantize_part(const uint8_t* x, size_t n, const Grid& g, float* y) {
  float out[kLanes];
  dequantize8<kSigned>(Eight<uint8_t>(x, n).data, g, out);
  memcpy(y, out, n * sizeof(float));
}

template <bool kSigned>
inline void dequantize(const uint8_t* x, size_t n, float scale, int32_t zp, float* y) {
  const Grid g(scale, zp);
  for (; n >= kLanes; n -= kLanes, x += kLanes, y += kLanes) dequantize8<kSigned>(x, g, y);
  if (n > 0) dequantize_part<kSigned>(x, n, g, y);
}

template <bool kSigned>
inline void dequantize_channels(const uint8_t* x, size_t rows, size_t channels, const float* scale,
                                const int32_t* zp, float* y) {
  for (size_t r = 0; r < rows; ++r, x += channels, y += channels) {
    size_t c = 0;
    for (; c + kLanes <= channels; c += kLanes)
      dequantize8<kSigned>(x + c, Grid(scale + c, zp + c), y + c);
    if (c < channels) {
      const size_t n = channels - c;
      const Grid g(Eight<float>(scale + c, n).data, Eight<int32_t>(zp + c, n).data);
      dequantize_part<kSigned>(x + c, n, g, y + c);
    }
  }
}

// Lanes of 32 bits, see edge_lanes.h.
struct Lanes {
  static constexpr size_t kLanes = 4;
  static inline float32x4_t load_half(const uint16_t* x) {
    return vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(x)));
  }
  static inline void store_half(uint16_t* y, float32x4_t v) {
    vst1_u16(y, vreinterpret_u16_f16(vcvt_f16_f32(v)));
  }
};

template <bool kAway>
inline void quantize(const float* x, size_t n, float scale, int32_t zp, int32_t lo, int32_t hi,
                     uint8_t* y) {
  const Grid g(scale, zp);
  const int32x4_t low = vdupq_n_s32(lo), high = vdupq_n_s32(hi);
  for (; n >= 2 * kLanes; n -= 2 * kLanes, x += 2 * kLanes, y += 2 * kLanes) {
    const uint8x8_t y0 = quantize8<kAway>(x, g, low, high);
    vst1q_u8(y, vcombine_u8(y0, quantize8<kAway>(x + kLanes, g, low, high)));
  }
  for (; n > 0; n -= n < kLanes ? n : kLanes, x += kLanes, y += kLanes) {
    const size_t k = n < kLanes ? n : kLanes;
    uint8_t out[kLanes];
    vst1_u8(out, quantize8<kAway>(Eight<float>(x, k).data, g, low, high));
    memcpy(y, out, k);
  }
}

}  // namespace

void edge_quantize_neon(const float* x, size_t n, float scale, int32_t zp, int32_t lo, int32_t hi,
                        uint8_t* y) {
  quantize<false>(x, n, scale, zp, lo, hi, y);
}

void edge_quantize_away_neon(const float* x, size_t n, float scale, int32_t zp, int32_t lo,
                             int32_t hi, uint8_t* y) {
  quantize<true>(x, n, scale, zp, lo, hi, y);
}

void edge_quantize_channels_neon(const float* x, size_t rows, size_t channels, const float* scale,
                                 const int32_t* zp, int32_t lo, int32_t hi, uint8_t* y) {
  const int32x4_t low = vdupq_n_s32(lo), high = vdupq_n_s32(hi);
  for (size_t r = 0; r < rows; ++r, x += channels, y += channels) {
    size_t c = 0;
    for (; c + kLanes <= channels; c += kLanes)
      vst1_u8(y + c, quantize8<false>(x + c, Grid(scale + c, zp + c), low, high));
    if (c < channels) {
      const size_t n = channels - c;
      const Grid g(Eight<float>(scale + c, n).data, Eight<int32_t>(zp + c, n).data);
      uint8_t out[kLanes];
      vst1_u8(out, quantize8<false>(Eight<float>(x + c, n).data, g, low, high));
      memcpy(y + c, out, n);
    }
  }
}

void edge_dequantize_neon(const uint8_t* x, bool is_signed, size_t n, float scale, int32_t zp,
                          float* y) {
  is_signed ? dequantize<true>(x, n, scale, zp, y) : dequantize<false>(x, n, scale, zp, y);
}

void edge_dequantize_channels_neon(const uint8_t* x, bool is_signed, size_t rows, size_t channels,
                                   const float* scale, const int32_t* zp, float* y) {
  is_signed ? dequantize_channels<true>(x, rows, channels, scale, zp, y)
            : dequantize_channels<false>(x, rows, channels, scale, zp, y);
}

void edge_dequantize_i32_neon(const int32_t* x, size_t rows, size_t channels, const float* scale,
                              float* y) {
  for (size_t r = 0; r < rows; ++r, x += channels, y += channels) {
    size_t c = 0;
    for (; c + 4 <= channels; c += 4)
      vst1q_f32(y + c, vmulq_f32(vcvtq_f32_s32(vld1q_s32(x + c)), vld1q_f32(scale + c)));
    for (; c < channels; ++c) y[c] = static_cast<float>(x[c]) * scale[c];
  }
}

QRT_EDGE_LANES(neon, Lanes)
QRT_EDGE_HALVES(neon, Lanes)

}  // namespace qrt
