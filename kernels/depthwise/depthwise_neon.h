// SPDX-License-Identifier: Apache-2.0
// The common part of the depthwise family's NEON policies: 16 channels to a register, one lane, the
// epilogue, and the loop over taps, in which the order of the instructions is kept as written for
// cores that execute in order (see gemm_neondot.cc): loads by register offset, beside the products.
#ifndef QRT_KERNELS_DEPTHWISE_DEPTHWISE_NEON_H_
#define QRT_KERNELS_DEPTHWISE_DEPTHWISE_NEON_H_

#include <arm_neon.h>

#include "kernels/depthwise/depthwise_tile.h"
#include "kernels/isa/in_registers_neon.h"

namespace qrt {
namespace {

struct Neon {
  static constexpr int kBands = 1;
  using Row = uint8x16_t;
  using Acc = int32x4_t;
  using Lanes = neon::Lanes;
  static constexpr bool kOwnTaps = true;
  static constexpr bool kHolds = false;
  static constexpr int kHalfPixels = 0;
  static constexpr bool kFewRegisters = false;

  // Store::kFused: no conversions, of which Cortex-A76 does a quarter as many as of additions. A
  // sum that starts at the bits of the float 2^23 is, as a float f, 2^23 + sum from 0 up to 2^23,
  // and 2^23 + sum / 2 below 0. So f * s - 2^23 * s, rounded once, is fl32(sum * s), and something
  // negative for negative sums, which is all that a requantisation with zero point 0 and lo 0 wants
  // of them. 2^23 * s has the digits of s. A product within 16 bits plus kMagic is rounded half to
  // even, and its lower half is that of the bits.
  static constexpr bool kFuses = true;
  static constexpr bool kFusesAboveZeroPoint = false;
  static constexpr float kFusedSums = 1 << 23;  // no sum may reach this
  static constexpr float kMagic = 12582912;     // 2^23 + 2^22

  QRT_INLINE Row load_lanes(const uint8_t* const* p) { return vld1q_u8(p[0]); }
  QRT_INLINE Acc load_acc(const uint8_t* p) { return vreinterpretq_s32_u8(vld1q_u8(p)); }
  QRT_INLINE float32x4_t load_float(const uint8_t* p) { return vreinterpretq_f32_u8(vld1q_u8(p)); }

  QRT_INLINE bool is_bounded(const uint8_t* constants, float reach) {
    uint32x4_t all = vdupq_n_u32(~0u);
    for (int q = 0; q < 4; ++q) {
      const float32x4_t bias = vabsq_f32(vcvtq_f32_s32(load_acc(constants + q * 16)));
      const float32x4_t scale = vreinterpretq_f32_u8(vld1q_u8(constants + 64 + q * 16));
      const float32x4_t limit = vmulq_f32(vaddq_f32(bias, vdupq_n_f32(reach)), scale);
      all = vandq_u32(all, vcltq_f32(limit, vdupq_n_f32(2e9f)));
    }
    return vminvq_u32(all) != 0;
  }

  // Prepares a block's constants for the fused rounding: adds the bits of 2^23 to the bias, and writes
  // -2^23 * scale behind the scales. Returns false where sums might exceed the limits of that rounding.
  QRT_INLINE bool fuse(uint8_t* constants, size_t taps) {
    const float32x4_t reach = vdupq_n_f32(static_cast<float>(32640 * taps));
    uint32x4_t all = vdupq_n_u32(~0u);
    for (int q = 0; q < 4; ++q) {
      const float32x4_t bias = vabsq_f32(vcvtq_f32_s32(load_acc(constants + q * 16)));
      const float32x4_t scale = load_float(constants + 64 + q * 16);
      const float32x4_t sum = vaddq_f32(bias, reach);
      all = vandq_u32(all, vcltq_f32(sum, vdupq_n_f32(kFusedSums)));
      all = vandq_u32(all, vcltq_f32(vmulq_f32(sum, scale), vdupq_n_f32(32000)));
    }
    if (vminvq_u32(all) == 0) return false;
    const float32x4_t first = vdupq_n_f32(kFusedSums);
    for (int q = 0; q < 4; ++q) {
      uint8_t* const p = constants + q * 16;
      const int32x4_t bias = vaddq_s32(load_acc(p), vreinterpretq_s32_f32(first));
      const float32x4_t addend = vnegq_f32(vmulq_f32(load_float(p + 64), first));
      vst1q_u8(p, vreinterpretq_u8_s32(bias));
      vst1q_u8(p + 128, vreinterpretq_u8_f32(addend));
    }
    return true;
  }
  struct Fused {
    explicit Fused(const uint8_t* constants) : scale(constants + 64), addend(constants + 128) {}
    const uint8_t *scale, *addend;
  };

  // The members for Store::kFixed: TFLite's double rounding, where every channel's second shift is
  // at least 1.
  static constexpr bool kFixes = !kIntegerOnly, kHasAffine = false, kStoresWhole = false;
  static bool can_fix(const Requant& r, size_t c, size_t n) {
    if (neon::fixed_form(r, c, n) != neon::FixedForm::kTwice) return false;
    for (size_t i = c; i < c + n; ++i)
      if (r.stages[1].shift[i] == 0) return false;
    return true;
  }
  static void fix(const Requant& r, size_t c, size_t, float (*constants)[16]) {
    for (size_t q = 0; q < 16; q += 4) {
      const int32x4_t shift = neon::fixed_shifts<neon::FixedForm::kTwice>(r, c + q);
      vst1q_f32(constants[0] + q, vreinterpretq_f32_s32(vld1q_s32(r.stages[0].multiplier + c + q)));
      vst1q_f32(constants[1] + q, vreinterpretq_f32_s32(shift));
      vst1q_f32(constants[2] + q, vdupq_n_f32(0));
    }
  }

  QRT_INLINE void store_acc(const Acc acc[4], int32_t* out) {
    for (int q = 0; q < 4; ++q) vst1q_s32(out + q * 4, acc[q]);
  }

  // Does each stage for all four before the next, so that each hides the latency of the others.
  QRT_INLINE void in_stages(float32x4_t (&x)[4]) {
    __asm__ volatile("" : "+w"(x[0]), "+w"(x[1]), "+w"(x[2]), "+w"(x[3]));
  }

  struct Finish {
    Finish(const Requant& r, size_t channels)
        : zero_point(vdupq_n_s16(static_cast<int16_t>(r.zero_point))),
          lo(vdupq_n_u8(static_cast<uint8_t>(r.lo))),
          hi(vdupq_n_u8(static_cast<uint8_t>(r.hi))),
          n(channels) {}

    template <bool kClamp>
    __attribute__((always_inline)) void store(const Acc acc[4], const uint8_t* scale, uint8_t* out,
                                              size_t, size_t) const {
      float32x4_t x[4];
      int32x4_t v[4];
      unroll<4>([&](auto q) QRT_INLINE_LAMBDA { x[q] = vcvtq_f32_s32(acc[q]); });
      in_stages(x);
      unroll<4>([&](auto q) QRT_INLINE_LAMBDA {
        x[q] = vmulq_f32(x[q], vreinterpretq_f32_u8(vld1q_u8(scale + q * 16)));
      });
      in_stages(x);
      unroll<4>([&](auto q) QRT_INLINE_LAMBDA { v[q] = vcvtnq_s32_f32(x[q]); });
      int16x8_t low = vqmovn_high_s32(vqmovn_s32(v[0]), v[1]);
      int16x8_t high = vqmovn_high_s32(vqmovn_s32(v[2]), v[3]);
      put(bytes<kClamp>(low, high), out);
    }

    template <bool kFromZero>
    __attribute__((always_inline)) void store_fixed(const Acc acc[4], const uint8_t* constants,
                                                    uint8_t* out, size_t, size_t) const {
      int32x4_t v[4];
      unroll<4>([&](auto q) QRT_INLINE_LAMBDA {
        v[q] = vqrdmulhq_s32(acc[q], load_acc(constants + 64 + q * 16));
      });
      unroll<4>([&](auto q) QRT_INLINE_LAMBDA { v[q] = vsraq_n_s32(v[q], v[q], 31); });
      unroll<4>([&](auto q) QRT_INLINE_LAMBDA {
        v[q] = vrshlq_s32(v[q], load_acc(constants + 128 + q * 16));
      });
      const int16x8_t low = vqmovn_high_s32(vqmovn_s32(v[0]), v[1]);
      const int16x8_t high = vqmovn_high_s32(vqmovn_s32(v[2]), v[3]);
      put(bytes<!kFromZero>(low, high), out);
    }

    __attribute__((always_inline)) void store_fused(const Acc acc[4], const Fused& fused,
                                                    uint8_t* out, size_t, size_t) const {
      const float32x4_t magic = vdupq_n_f32(kMagic);
      float32x4_t x[4];
      unroll<4>([&](auto q) QRT_INLINE_LAMBDA {
        x[q] = vfmaq_f32(load_float(fused.addend + q * 16), vreinterpretq_f32_s32(acc[q]),
                         load_float(fused.scale + q * 16));
      });
      in_stages(x);
      unroll<4>([&](auto q) QRT_INLINE_LAMBDA { x[q] = vaddq_f32(x[q], magic); });
      const auto halves = [&](int q) QRT_INLINE_LAMBDA { return vreinterpretq_s16_f32(x[q]); };
      put(bytes<false>(vuzp1q_s16(halves(0), halves(1)), vuzp1q_s16(halves(2), halves(3))), out);
    }

    template <bool kClamp>
    __attribute__((always_inline)) uint8x16_t bytes(int16x8_t low, int16x8_t high) const {
      if (kClamp) {
        low = vqaddq_s16(low, zero_point);
        high = vqaddq_s16(high, zero_point);
      }
      const uint8x16_t v = vqmovun_high_s16(vqmovun_s16(low), high);
      return kClamp ? limit(v) : v;
    }

    __attribute__((always_inline)) uint8x16_t limit(uint8x16_t v) const {
      return vminq_u8(vmaxq_u8(v, lo), hi);
    }
    __attribute__((always_inline)) uint8x8_t limit(uint8x8_t v) const {
      return vmin_u8(vmax_u8(v, vget_low_u8(lo)), vget_low_u8(hi));
    }

    __attribute__((always_inline)) void put(uint8x16_t bytes, uint8_t* out) const {
      if (n == 16) {
        vst1q_u8(out, bytes);
        return;
      }
      if (n & 8) {
        vst1_u8(out, vget_low_u8(bytes));
        bytes = vextq_u8(bytes, bytes, 8);
        out += 8;
      }
      uint64_t rest = vgetq_lane_u64(vreinterpretq_u64_u8(bytes), 0);
      for (size_t i = 0; i < (n & 7); ++i, rest >>= 8) out[i] = static_cast<uint8_t>(rest);
    }

    int16x8_t zero_point;
    uint8x16_t lo, hi;
    size_t n;
  };
};

// Taps one after the other, kRows x kPixels output pixels. A tap has P::kParts parts of 16 bytes,
// each with its own of the four accumulators, in order; P::multiply(i, acc, data, weights) is the
// product for the i-th of a part. P::kUnrolledTaps of them are one iteration.
template <class P, int kRows, int kPixels>
struct Taps {
  static constexpr int kParts = P::kParts, kPartAccs = 4 / kParts;
  static constexpr int kLoads = kRows + kPixels;                 // loads of a part
  static constexpr int kProducts = kRows * kPixels * kPartAccs;  // products of a part
  static constexpr int kAhead = kLoads + 1;                      // loads before the products
  static constexpr int kStep = 16 * kParts;                      // bytes of a tap
  using Accs = int32x4_t[kRows][kPixels][4];

  // The registers loaded in advance: all of a part, and one of the next.
  struct Operands {
    uint8x16_t data[kPixels], weights[kRows];
  };

  Taps(const uint8_t* data, size_t pixel_step, const uint8_t* const (&weights)[kRows]) {
    unroll<kParts>([&](auto part) QRT_INLINE_LAMBDA {
      unroll<kPixels>(
          [&](auto x) QRT_INLINE_LAMBDA { pixels_[x][part] = data + x * pixel_step + 16 * part; });
      unroll<kRows>([&](auto r) QRT_INLINE_LAMBDA { rows_[r][part] = weights[r] + 16 * part; });
    });
  }

  __attribute__((always_inline)) void multiply(Accs& acc, size_t taps) {
    constexpr size_t kUnrolled = P::kUnrolledTaps;
    const size_t rest = taps % kUnrolled;
    if (taps >= kUnrolled) {
      const ptrdiff_t last = static_cast<ptrdiff_t>(taps - rest - kUnrolled) * kStep;
      move(last);
      Operands first[2];
      ptrdiff_t index = -last;
      load_first(first, index);
      while (index != 0) multiply_taps<kUnrolled, true>(acc, first, index);
      multiply_taps<kUnrolled, false>(acc, first, index);
      move(kUnrolled * kStep);
    }
    multiply_rest<kUnrolled - 1>(acc, rest);
  }

 private:
  template <size_t kTaps>
  __attribute__((always_inline)) void multiply_rest(Accs& acc, size_t taps) {
    if constexpr (kTaps > 0) {
      if (taps == kTaps) {
        Operands first[2];
        ptrdiff_t index = 0;
        load_first(first, index);
        multiply_taps<kTaps, false>(acc, first, index);
      } else {
        multiply_rest<kTaps - 1>(acc, taps);
      }
    }
  }

  __attribute__((always_inline)) void move(ptrdiff_t bytes) {
    unroll<kParts>([&](auto part) QRT_INLINE_LAMBDA {
      unroll<kPixels>([&](auto x) QRT_INLINE_LAMBDA { pixels_[x][part] += bytes; });
      unroll<kRows>([&](auto r) QRT_INLINE_LAMBDA { rows_[r][part] += bytes; });
    });
  }

  // Performs load i of a part, in the order in which its products need them.
  __attribute__((always_inline)) void load(int part, int i, Operands& to, ptrdiff_t index) const {
    const bool is_data = i > 0 && i <= kPixels;
    const int row = i == 0 || is_data ? 0 : i - kPixels, pixel = is_data ? i - 1 : 0;
    const uint8_t* const base = is_data ? pixels_[pixel][part] : rows_[row][part];
    uint8x16_t v;
    __asm__ volatile("ldr %q0, [%1, %2]" : "=w"(v) : "r"(base), "r"(index) : "memory");
    if (is_data)
      to.data[pixel] = v;
    else
      to.weights[row] = v;
  }

  __attribute__((always_inline)) void load_first(Operands (&first)[2], ptrdiff_t index) const {
    unroll<kAhead>(
        [&](auto i) QRT_INLINE_LAMBDA { load(i / kLoads, i % kLoads, first[i / kLoads], index); });
  }

  // Computes a step. first: the first kAhead loads; kMore: then those of the following iteration,
  // whose index `index` becomes. The index of a tap comes from MADD, whose result is as late as
  // that of the products beside it.
  template <int kTaps, bool kMore>
  __attribute__((always_inline)) void multiply_taps(Accs& acc, Operands (&first)[2],
                                                    ptrdiff_t& index) const {
    constexpr int kAll = kTaps * kParts;
    Operands part[kAll + 2];
    part[0] = first[0], part[1] = first[1];
    ptrdiff_t of_tap[kTaps + 1];
    of_tap[0] = index;
    unroll<kAll>([&](auto p) QRT_INLINE_LAMBDA {
      const int tap = p / kParts, part_of_tap = p % kParts;
      unroll<kProducts>([&](auto i) QRT_INLINE_LAMBDA {
        const int row = i / kPartAccs / kPixels, pixel = i / kPartAccs % kPixels;
        P::multiply(i % kPartAccs, acc[row][pixel][part_of_tap * kPartAccs + i % kPartAccs],
                    part[p].data[pixel], part[p].weights[row]);
        if (part_of_tap == 0 && i == 0 && (kMore || tap + 1 < kTaps)) {
          __asm__ volatile("madd %0, %1, %2, %3"
                           : "=r"(of_tap[tap + 1])
                           : "r"(step_), "r"(one_), "r"(of_tap[tap]));
        }
        // The loads are spread evenly over the products; there may be more of them.
        unroll<kLoads>([&](auto j) QRT_INLINE_LAMBDA {
          if (j < i * kLoads / kProducts || j >= (i + 1) * kLoads / kProducts) return;
          const int number = p * kLoads + j + kAhead, of = number / kLoads;
          if (kMore || of < kAll) load(of % kParts, number % kLoads, part[of], of_tap[of / kParts]);
        });
      });
    });
    if constexpr (kMore) {
      first[0] = part[kAll], first[1] = part[kAll + 1];
      index = of_tap[kTaps];
    }
  }

  const uint8_t *pixels_[kPixels][kParts], *rows_[kRows][kParts];  // where the index is 0
  ptrdiff_t step_ = kStep, one_ = 1;
};

}  // namespace
}  // namespace qrt

#endif  // QRT_KERNELS_DEPTHWISE_DEPTHWISE_NEON_H_
