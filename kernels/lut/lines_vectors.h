// SPDX-License-Identifier: Apache-2.0
// The policy of lines_loops.h over the vector layers of isa/.
#ifndef QRT_KERNELS_LUT_LINES_VECTORS_H_
#define QRT_KERNELS_LUT_LINES_VECTORS_H_

#include "kernels/lut/lines_loops.h"

namespace qrt {
namespace {

template <class Vec>
struct LinesVectors {
  using Bytes = typename Vec::Bytes;
  using Float = typename Vec::Float;
  static constexpr size_t kBytes = Vec::kBytes;

  // Registers that share loaded constants; a register of AVX-512 takes all of them.
  static constexpr size_t kRows = kBytes < 64 ? 2 : 1;

  template <Lines kLines>
  struct Constants {
    static constexpr int kCount = kLines == Lines::kOne ? 1 : 2;

    Constants(const LineBlock& k, size_t i) {
      QRT_UNROLL
      for (size_t part = 0; part < 4; ++part) {
        const size_t at = i + part * Vec::kLanes;
        QRT_UNROLL
        for (int line = 0; line < kCount; ++line) {
          slope[part][line] = Vec::load_float(k.slope[line] + at);
          intercept[part][line] = Vec::load_float(k.intercept[line] + at);
        }
        if (kLines == Lines::kSigned) sign[part] = reinterpret_cast<Float>(Vec::load(k.sign + at));
      }
    }

    Float slope[4][kCount], intercept[4][kCount], sign[4];
  };

  template <Lines kLines, size_t kRows>
  QRT_INLINE void map(const Constants<kLines>& k, const uint8_t* x, size_t stride,
                      Bytes (&y)[kRows]) {
    Bytes bytes[kRows];
    typename Vec::Int lanes[kRows][4];
    QRT_UNROLL
    for (size_t r = 0; r < kRows; ++r) bytes[r] = Vec::load8(x + r * stride);
    QRT_UNROLL
    for (int part = 0; part < 4; ++part) {
      QRT_UNROLL
      for (size_t r = 0; r < kRows; ++r) {
        const Float v = Vec::template quarter_floats<false>(bytes[r], part);
        Float f = Vec::fma(v, k.slope[part][0], k.intercept[part][0]);
        QRT_UNROLL
        for (int line = 1; line < k.kCount; ++line)
          f = Vec::max(f, Vec::fma(v, k.slope[part][line], k.intercept[part][line]));
        if (kLines == Lines::kSigned) f = Vec::flip(f, k.sign[part]);
        lanes[r][part] = Vec::round(f);
      }
    }
    QRT_UNROLL
    for (size_t r = 0; r < kRows; ++r)
      y[r] = Vec::packus16(Vec::packs32(lanes[r][0], lanes[r][1]),
                           Vec::packs32(lanes[r][2], lanes[r][3]));
  }

  template <size_t kRows>
  QRT_INLINE void limit(const LineBlock& k, size_t i, Bytes (&y)[kRows]) {
    const Bytes lo = Vec::load8(k.lo + i), hi = Vec::load8(k.hi + i);
    QRT_UNROLL
    for (size_t r = 0; r < kRows; ++r) y[r] = Vec::min_u8(Vec::max_u8(y[r], lo), hi);
  }

  template <size_t kRows>
  QRT_INLINE void correct(const LineBlock& k, size_t j, size_t i, const uint8_t* x, size_t stride,
                          Bytes (&y)[kRows]) {
    const Bytes at = Vec::load8(k.at[j] + i), more = Vec::load8(k.more[j] + i);
    QRT_UNROLL
    for (size_t r = 0; r < kRows; ++r)
      y[r] = Vec::add8_where_equal(y[r], Vec::load8(x + r * stride), at, more);
  }

  QRT_INLINE void store(uint8_t* y, Bytes v) { Vec::store(y, v); }
  QRT_INLINE void store_partial(uint8_t* y, Bytes v, size_t n) { Vec::store_partial(y, v, n); }
};

}  // namespace
}  // namespace qrt

#define QRT_VECTOR_ROW(suffix) QRT_LINES_LOOPS(suffix, LinesVectors<suffix::Vec>)

#endif  // QRT_KERNELS_LUT_LINES_VECTORS_H_
