// SPDX-License-Identifier: Apache-2.0
// The float forms of ResizeLinear without floating-point instructions.
#include <string.h>

#include "kernels/resize/resize.h"
#include "kernels/soft_float.h"

namespace qrt {
namespace {

soft::Bits bits_at(const float* values, size_t i) {
  soft::Bits bits;
  memcpy(&bits, values + i, sizeof bits);
  return bits;
}

// Toward zero. REQUIRES: |b| < 2^40.
int64_t truncated(soft::Bits b) {
  const soft::Unpacked u = soft::unpack(b);
  const uint64_t magnitude = u.exponent >= 0    ? u.significand << u.exponent
                             : u.exponent > -64 ? u.significand >> -u.exponent
                                                : 0;
  return u.negative ? -static_cast<int64_t>(magnitude) : static_cast<int64_t>(magnitude);
}

uint8_t limited(int64_t v, int32_t lo, int32_t hi) {
  return static_cast<uint8_t>(v < lo ? lo : v > hi ? hi : v);
}

}  // namespace

void resize_row_soft(const ResizeRow<float>& row, const SoftResize& s,
                     const ResizePlane<uint8_t, float>* planes, size_t plane_count, uint8_t* y) {
  const size_t n = row.channels;
  const soft::Bits vl = bits_at(row.row_low_weight, 0), vh = bits_at(row.row_high_weight, 0);
  const auto real = [&](uint8_t v) {
    if (s.truncates) return soft::from_int(v - s.offset);
    return soft::mul(soft::from_int(v - s.input_zero_point), s.input_scale);
  };
  for (size_t x = 0; x < row.out_w; ++x, y += n) {
    const size_t lo = static_cast<size_t>(row.low[x]) * n;
    const size_t hi = static_cast<size_t>(row.high[x]) * n;
    const soft::Bits wl = bits_at(row.low_weight, x), wh = bits_at(row.high_weight, x);
    const soft::Bits wa = soft::mul(wl, vl), wb = soft::mul(wh, vl);
    const soft::Bits wc = soft::mul(wl, vh), wd = soft::mul(wh, vh);
    for (size_t i = 0; i < n; ++i) {
      soft::Bits v = 0;
      for (size_t k = 0; k < plane_count; ++k) {
        const ResizePlane<uint8_t, float>& p = planes[k];
        const soft::Bits of_plane = bits_at(&p.weight, 0);
        v = soft::add(v, soft::mul(soft::mul(wa, of_plane), real(p.low[lo + i])));
        v = soft::add(v, soft::mul(soft::mul(wb, of_plane), real(p.low[hi + i])));
        v = soft::add(v, soft::mul(soft::mul(wc, of_plane), real(p.high[lo + i])));
        v = soft::add(v, soft::mul(soft::mul(wd, of_plane), real(p.high[hi + i])));
      }
      y[i] = s.truncates ? limited(truncated(v) + s.offset, 0, 255)
                         : limited(soft::to_int(soft::div(v, s.output_scale)) + s.output_zero_point,
                                   s.lo, s.hi);
    }
  }
}

}  // namespace qrt
