// The policy of lines_loops.h for x86, over the vector layers of isa/.
#ifndef QRT_KERNELS_LUT_LINES_X86_H_
#define QRT_KERNELS_LUT_LINES_X86_H_

#include "kernels/lut/lines_loops.h"

namespace qrt {
namespace {

template <class Vec>
struct LinesX86 {
  using Bytes = typename Vec::Int;
  using Float = typename Vec::Float;
  static constexpr size_t kBytes = Vec::kBytes;

  template <bool kTwo, size_t kRows>
  QRT_INLINE void map(const LineBlock& k, size_t i, const uint8_t* x, size_t stride,
                      Bytes (&y)[kRows]) {
    Bytes bytes[kRows], words[kRows][2], lanes[kRows][4];
    QRT_UNROLL
    for (size_t r = 0; r < kRows; ++r) {
      bytes[r] = Vec::load(x + r * stride);
      words[r][0] = Vec::unpacklo8(bytes[r], Vec::zero());
      words[r][1] = Vec::unpackhi8(bytes[r], Vec::zero());
    }
    QRT_UNROLL
    for (size_t part = 0; part < 4; ++part) {
      const size_t at = i + part * Vec::kLanes;
      Float slope[2], intercept[2], sign;
      QRT_UNROLL
      for (int line = 0; line < 1 + kTwo; ++line) {
        slope[line] = Vec::load_float(k.slope[line] + at);
        intercept[line] = Vec::load_float(k.intercept[line] + at);
      }
      if (kTwo) sign = reinterpret_cast<Float>(Vec::load(k.sign + at));
      QRT_UNROLL
      for (size_t r = 0; r < kRows; ++r) {
        const Bytes half = words[r][part / 2];
        const Float v = Vec::to_float(part % 2 == 0 ? Vec::unpacklo16(half, Vec::zero())
                                                    : Vec::unpackhi16(half, Vec::zero()));
        Float f = Vec::fma(v, slope[0], intercept[0]);
        if (kTwo) f = Vec::flip(Vec::max(f, Vec::fma(v, slope[1], intercept[1])), sign);
        lanes[r][part] = Vec::round(f);
      }
    }
    const Bytes lo = Vec::load(k.lo + i), hi = Vec::load(k.hi + i);
    QRT_UNROLL
    for (size_t r = 0; r < kRows; ++r) {
      const Bytes packed = Vec::packus16(Vec::packs32(lanes[r][0], lanes[r][1]),
                                         Vec::packs32(lanes[r][2], lanes[r][3]));
      y[r] = Vec::min_u8(Vec::max_u8(packed, lo), hi);
      if (!kTwo) continue;
      QRT_UNROLL
      for (int j = 0; j < 2; ++j)
        y[r] =
            Vec::add8_where_equal(y[r], bytes[r], Vec::load(k.at[j] + i), Vec::load(k.more[j] + i));
    }
  }

  QRT_INLINE void store(uint8_t* y, Bytes v) { Vec::store(y, v); }
  QRT_INLINE void store_part(uint8_t* y, Bytes v, size_t n) { Vec::store_part(y, v, n); }
};

}  // namespace
}  // namespace qrt

#endif  // QRT_KERNELS_LUT_LINES_X86_H_
