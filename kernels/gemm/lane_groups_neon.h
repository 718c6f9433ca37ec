// SPDX-License-Identifier: Apache-2.0
// The main loop of NEON tiles whose products select a part of a left-hand register by lane: 16 bytes
// of each row by 16 lines of weights.
//
// Its order is kept as written, by volatile assembly, for cores that execute in order (Cortex-A55):
// there a 128-bit instruction starts a pair, and a second one joins it only if its result is not
// ready earlier. A load by register offset is such a second one for a product, a load by immediate
// offset, an addition or EOR is not. So the weights and the next left-hand bytes are loaded beside
// products, two lines ahead, and what cannot go with a product waits for the end.
#ifndef QRT_KERNELS_GEMM_LANE_GROUPS_NEON_H_
#define QRT_KERNELS_GEMM_LANE_GROUPS_NEON_H_

#include "kernels/gemm/policy_neon.h"

namespace qrt {
namespace {

// Base of a policy Op, which gives
//
//   kPasses                           instructions for a line of weights and a row
//   kFlips                            whether left-hand bytes become x - 128
//   multiply(acc, x, b, lane, pass)   lane: of 32 bits
template <class Op>
struct LaneGroups : PolicyDot {
  // Multiplies `groups` > 0 groups of 16 bytes: MR rows from a on by one block of channels from w on.
  template <int MR>
  QRT_INLINE void multiply_groups(int32x4_t (&acc)[MR][4], const uint8_t* const (&a)[MR],
                                  const int8_t* w, size_t groups, const int8_t* prefetched,
                                  size_t prefetch_step) {
    const ptrdiff_t last = static_cast<ptrdiff_t>(groups) - 1;
    Group<MR> s;
    QRT_UNROLL
    for (int j = 0; j < kOffsets; ++j) {
      s.offset[j] = 16 * static_cast<ptrdiff_t>(j);
      __asm__("" : "+r"(s.offset[j]));
    }
    s.flip = vdupq_n_u8(0x80);
    QRT_UNROLL
    for (int i = 0; i < MR; ++i) {
      s.x[i] = Op::kFlips ? veorq_u8(vld1q_u8(a[i]), s.flip) : vld1q_u8(a[i]);
      s.next[i] = a[i] + 16 * groups;
    }
    s.b[0] = vld1q_s8(w);
    s.b[1] = vld1q_s8(w + 16);
    s.lower = w;
    s.upper = w + kHalf;
    s.prefetched = prefetched + static_cast<size_t>(last) * prefetch_step;
    s.prefetch_step = static_cast<ptrdiff_t>(prefetch_step);
    for (s.index = -last; s.index != 0;) multiply_group<false>(acc, s);
    multiply_group<true>(acc, s);
  }

 private:
  static constexpr int kOffsets = 10;
  static constexpr int kLines = 16;  // 4 lanes by 4 vectors of channels
  static constexpr int kHalf = 128;  // bytes of 8 lines

  // The registers of the loop.
  template <int MR>
  struct Group {
    uint8x16_t x[MR], flip;
    int8x16_t b[4];               // line l of the weights in b[l % 4]
    const int8_t *lower, *upper;  // lines 0 and 8
    const uint8_t* next[MR];      // the rows where index is 0: behind the last group
    ptrdiff_t index;              // groups after this one, negative
    const int8_t* prefetched;     // where index is 0
    ptrdiff_t prefetch_step, offset[kOffsets];
  };

  template <int MR>
  QRT_INLINE int8x16_t load_weights(const Group<MR>& s, int line) {
    const bool low = line < kLines / 2;
    const int8_t* const p = low ? s.lower : s.upper;
    const ptrdiff_t offset = s.offset[low ? line : line - kLines / 2];
    int8x16_t v;
    __asm__ volatile("ldr %q0, [%1, %2]" : "=w"(v) : "r"(p), "r"(offset) : "memory");
    return v;
  }

  template <bool kLast, int MR>
  QRT_INLINE void multiply_group(int32x4_t (&acc)[MR][4], Group<MR>& s) {
    const int8_t* prefetch;
    QRT_UNROLL
    for (int line = 0; line < kLines; ++line) {
      QRT_UNROLL
      for (int j = 0; j < MR * Op::kPasses; ++j) {
        const int i = j % MR;
        Op::multiply(acc[i][line % 4], s.x[i], s.b[line % 4], line / 4, j / MR);
        // Two lines ahead, of which the last two belong to the next group: both beside line 14, as
        // beside line 15 the next left-hand bytes are loaded.
        if (j == (MR > 1 ? 1 : 0) && line < kLines - 1 && (!kLast || line + 2 < kLines))
          s.b[(line + 2) % 4] = load_weights(s, line + 2);
        if (j == MR * Op::kPasses - 1 && line == kLines - 2 && !kLast)
          s.b[(line + 3) % 4] = load_weights(s, line + 3);
        if (j == MR - 1 && line == kLines / 2) {
          __asm__ volatile("madd %0, %1, %2, %3"
                           : "=r"(prefetch)
                           : "r"(s.index), "r"(s.prefetch_step), "r"(s.prefetched));
        }
        if (!kLast && line == kLines - 1 && j >= MR * (Op::kPasses - 1)) {
          __asm__ volatile("ldr %q0, [%1, %2, lsl #4]"
                           : "=w"(s.x[i])
                           : "r"(s.next[i]), "r"(s.index)
                           : "memory");
        }
      }
    }
    if (kLast) {
      prefetch_far(prefetch);
      return;
    }
    __asm__ volatile("add %0, %0, #256" : "+r"(s.lower));
    __asm__ volatile("add %0, %0, #256" : "+r"(s.upper));
    __asm__ volatile("add %0, %0, #1" : "+r"(s.index));
    __asm__ volatile("prfm pldl2keep, [%0]" : : "r"(prefetch));
    QRT_UNROLL
    for (int i = 0; i < MR && Op::kFlips; ++i)
      __asm__ volatile("eor %0.16b, %0.16b, %1.16b" : "+w"(s.x[i]) : "w"(s.flip));
  }
};

}  // namespace
}  // namespace qrt

#endif  // QRT_KERNELS_GEMM_LANE_GROUPS_NEON_H_
