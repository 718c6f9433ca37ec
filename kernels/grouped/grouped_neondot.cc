// SPDX-License-Identifier: Apache-2.0
// Grouped convolutions on the NEON dot product: SDOT by lane, the lane being the dword of the group. No
// product is one with zeros, and the sums are in order. Groups of 16 have nothing to gain over the gemm
// family.
//
// The order of the loop is kept as written, by volatile assembly, for the reason given in
// gemm/gemm_neondot.cc: loads by register offset beside products, into registers that have just been
// read for the last time.
#include "kernels/gemm/policy_neon.h"
#include "kernels/grouped/grouped_tile.h"

namespace qrt {
namespace {

// Groups of kGroup, kTile pixels.
template <int kGroup, int kTile>
struct Dots {
  static constexpr int kPixels = kTile;
  static constexpr int kVectors = 4;
  static constexpr size_t kElementBytes = 1;
  static constexpr int kDwords = kGroup / 4;
  static constexpr int kLines = 4 * kDwords;  // of weights

  struct Policy : PolicyDot {
    template <int NV>
    using Store = StoreNeon<Policy>;
  };

  QRT_INLINE void copy(const uint8_t* from, uint8_t* to) {
    vst1q_u8(to, PolicyNeon::flip(vld1q_u8(from)));
  }

  QRT_INLINE void dot(int32x4_t& acc, int8x16_t w, int8x16_t x, int lane) {
    switch (lane) {
      case 0: __asm__ volatile("sdot %0.4s, %1.16b, %2.4b[0]" : "+w"(acc) : "w"(w), "w"(x)); break;
      case 1: __asm__ volatile("sdot %0.4s, %1.16b, %2.4b[1]" : "+w"(acc) : "w"(w), "w"(x)); break;
      case 2: __asm__ volatile("sdot %0.4s, %1.16b, %2.4b[2]" : "+w"(acc) : "w"(w), "w"(x)); break;
      default: __asm__ volatile("sdot %0.4s, %1.16b, %2.4b[3]" : "+w"(acc) : "w"(w), "w"(x)); break;
    }
  }
  QRT_INLINE int8x16_t load(const void* p, ptrdiff_t offset) {
    int8x16_t v;
    __asm__ volatile("ldr %q0, [%1, %2]" : "=w"(v) : "r"(p), "r"(offset) : "memory");
    return v;
  }

  // The registers of the loop.
  struct Sums {
    int8x16_t x[kTile], w[kLines];
    const uint8_t* pixel[kTile];
    const uint32_t* steps;  // behind the last
    const int8_t* weights;  // behind those of the last step
    ptrdiff_t index;        // of the next step, negative
    ptrdiff_t at;           // byte offset, from steps[], at which pixels were loaded last
    ptrdiff_t line[kLines];
  };

  // Computes the products of a step and loads what the next one begins with: each register right
  // after its last product, except two pixels that are loaded when the next step has begun.
  template <bool kLast>
  QRT_INLINE void step(int32x4_t (&acc)[kTile][4], Sums& s) {
    const int8_t* w;
    QRT_UNROLL
    for (int i = 0; i < kTile; ++i) {
      QRT_UNROLL
      for (int line = 0; line < kLines; ++line) {
        const int vector = line % 4, first = vector / kDwords * kDwords;  // dword of the group
        dot(acc[i][vector], s.w[line], s.x[i], first + line / 4);
        if (i == 0 && line >= kLines - 2) {
          const int late = kTile - kLines + line;
          s.x[late] = load(s.pixel[late], s.at);
        }
        if (kLast) continue;
        if (i == 1 && line == 0) {
          __asm__ volatile("ldr %w0, [%1, %2, lsl #2]"
                           : "=r"(s.at)
                           : "r"(s.steps), "r"(s.index)
                           : "memory");
        }
        if (i == 1 && line == 1) {
          const ptrdiff_t bytes = 16 * kLines;
          __asm__ volatile("madd %0, %1, %2, %3"
                           : "=r"(w)
                           : "r"(s.index), "r"(bytes), "r"(s.weights));
        }
        if (i > 0 && i < kTile - 1 && line == kLines - 1) s.x[i - 1] = load(s.pixel[i - 1], s.at);
        if (i == kTile - 1) s.w[line] = load(w, s.line[line]);
      }
    }
    if (!kLast) __asm__ volatile("add %0, %0, #1" : "+r"(s.index));
  }

  QRT_INLINE void sums(const uint8_t* const (&pixel)[kTile], const uint32_t* steps, size_t n,
                       const int8_t* weights, int32x4_t (&acc)[kTile][4]) {
    Sums s;
    s.at = steps[0];
    QRT_UNROLL
    for (int line = 0; line < kLines; ++line) {
      s.line[line] = 16 * static_cast<ptrdiff_t>(line);
      __asm__("" : "+r"(s.line[line]));
      s.w[line] = vld1q_s8(weights + 16 * line);
    }
    QRT_UNROLL
    for (int i = 0; i < kTile; ++i) {
      s.pixel[i] = pixel[i];
      if (i < kTile - 2) s.x[i] = load(pixel[i], s.at);
      QRT_UNROLL
      for (int v = 0; v < 4; ++v) acc[i][v] = vdupq_n_s32(0);
    }
    s.steps = steps + n;
    s.weights = weights + n * 16 * kLines;
    for (s.index = 1 - static_cast<ptrdiff_t>(n); s.index != 0;) step<false>(acc, s);
    step<true>(acc, s);
  }
};

}  // namespace

void grouped_u8s8_4_neondot(const GroupedArgs& args) { run_row_range<Dots<4, 5>>(args); }

void grouped_u8s8_8_neondot(const GroupedArgs& args) { run_row_range<Dots<8, 4>>(args); }

}  // namespace qrt
