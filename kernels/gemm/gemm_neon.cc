// SPDX-License-Identifier: Apache-2.0
// gemm on plain NEON: 2 x 16 tiles, two k steps of 4 to each sum of products. SMULL and SMLSL
// multiply 8 products each into 16 bits, SADALP adds pairs of them to 32: three instructions for 16
// products, where SMULL + SADALP alone need four.
//
// Exact for every operand, because the second step subtracts: with a = x - 128 and ~a = 127 - x,
//
//   a[k] * w[k] - ~a[k + 4] * w[k + 4]       within 16384 + 16256 < 2^15
//
// whereas a sum of two products reaches 2 * 128 * 128 = 2^15. As -~a = a + 1, the result has the
// sum of the weights of all second steps too much, which the kernel takes off the bias, once per
// panel. Products of few rows do not repay that sum and take few_rows.h.
#include "kernels/gemm/gemm_loops.h"
#include "kernels/gemm/kernels.h"
#include "kernels/gemm/policy_neon.h"

namespace qrt {
namespace {

struct Neon : PolicyNeon {
  static constexpr int kFewRows = 2;
  static constexpr int kFewSteps = 2;
  static constexpr int kFewBlocks = 1;
  template <int NV>
  using Store = StoreNeon<Neon>;

  // Two sums for each of four channels: k 0 + 1 and k 2 + 3 of every group of four.
  struct Acc {
    int32x4_t low, high;  // channels 0, 1 and 2, 3

    // Plus four channels.
    friend Acc operator+(Acc a, int32x4_t b) {
      const int32x4_t zero = vdupq_n_s32(0);
      return {vaddq_s32(a.low, vzip1q_s32(b, zero)), vaddq_s32(a.high, vzip2q_s32(b, zero))};
    }
  };

  QRT_INLINE Acc zero() { return {vdupq_n_s32(0), vdupq_n_s32(0)}; }
  QRT_INLINE Acc load_acc(const int32_t* p) {
    const int32x4_t bias = vld1q_s32(p);
    return {vzip1q_s32(bias, vdupq_n_s32(0)), vzip2q_s32(bias, vdupq_n_s32(0))};
  }
  QRT_INLINE Acc add(Acc a, Acc b) { return {vaddq_s32(a.low, b.low), vaddq_s32(a.high, b.high)}; }
  QRT_INLINE int32x4_t sum(Acc acc) { return vpaddq_s32(acc.low, acc.high); }
  QRT_INLINE void spill(Acc acc, int32_t* p) { vst1q_s32(p, sum(acc)); }

  QRT_INLINE Lhs splat_lhs(const uint8_t* p, int) { return flip(splat(p)); }
  // Adds dot products by inline assembly, for the reason given in isa/avx512vnni.h.
  QRT_INLINE void dot(Acc& acc, Lhs a, Rhs b) {
    int16x8_t t, u;
    __asm__("smull %0.8h, %1.8b, %2.8b" : "=w"(t) : "w"(a), "w"(b));
    __asm__("smull2 %0.8h, %1.16b, %2.16b" : "=w"(u) : "w"(a), "w"(b));
    __asm__("sadalp %0.4s, %1.8h" : "+w"(acc.low) : "w"(t));
    __asm__("sadalp %0.4s, %1.8h" : "+w"(acc.high) : "w"(u));
  }
};

constexpr int kRows = 2;
constexpr size_t kChunk = 512;  // k that are flipped at a time

// Flips R rows of left-hand bytes into the order of the loop: 8 k of each row in turn, of which the
// second 4 are ~a.
template <int R>
QRT_INLINE void flip_rows(const uint8_t* const (&a)[R], size_t k, size_t count, uint8_t* flipped) {
  const uint8x16_t mask = vreinterpretq_u8_u64(vdupq_n_u64(0x7f7f7f7f80808080u));
  for (size_t i = 0; i < count; i += 16, flipped += 16 * R) {
    if constexpr (R == 1) {
      vst1q_u8(flipped, veorq_u8(vld1q_u8(a[0] + k + i), mask));
    } else {
      const uint64x2_t x = vreinterpretq_u64_u8(veorq_u8(vld1q_u8(a[0] + k + i), mask));
      const uint64x2_t y = vreinterpretq_u64_u8(veorq_u8(vld1q_u8(a[1] + k + i), mask));
      vst1q_u8(flipped, vreinterpretq_u8_u64(vzip1q_u64(x, y)));
      vst1q_u8(flipped + 16, vreinterpretq_u8_u64(vzip2q_u64(x, y)));
    }
  }
}

// Loads 4 k of each of the rows' two k steps, repeated, as [row][step]. The empty assembly keeps
// the load behind the sums that it is written behind.
QRT_INLINE void load_splats(const uint8_t*& p, uint32x4_t (&a)[2][2]) {
  __asm__ volatile("" : "+r"(p) : : "memory");
  const uint32x4x4_t v = vld4q_dup_u32(reinterpret_cast<const uint32_t*>(p));
  a[0][0] = v.val[0], a[0][1] = v.val[1], a[1][0] = v.val[2], a[1][1] = v.val[3];
}
QRT_INLINE void load_splats(const uint8_t*& p, uint32x4_t (&a)[1][2]) {
  __asm__ volatile("" : "+r"(p) : : "memory");
  const uint32x4x2_t v = vld2q_dup_u32(reinterpret_cast<const uint32_t*>(p));
  a[0][0] = v.val[0], a[0][1] = v.val[1];
}

// A load by register offset goes beside a multiplication on cores that execute in order (see
// gemm_neondot.cc).
QRT_INLINE int8x16_t load_weights(const int8_t* w, ptrdiff_t offset) {
  int8x16_t b;
  __asm__ volatile("ldr %q0, [%1, %2]" : "=w"(b) : "r"(w), "r"(offset) : "memory");
  return b;
}

QRT_INLINE void add_pairs(int32x4_t& sum, int16x8_t products) {
  __asm__ volatile("sadalp %0.4s, %1.8h" : "+w"(sum) : "w"(products));
}

// The registers of a loop over k.
template <int R>
struct KLoop {
  const uint8_t* a;           // left-hand bytes of the step
  int8x16_t b, c;             // its first lines of weights
  int16x8_t low[R], high[R];  // products of the last line, not yet in the sums
  const int8_t* w[13];        // the lines of weights where index is 0
  ptrdiff_t index;            // bytes of weights, 0 in the last of the steps that are pairs
};

// Computes one k step (kPair: two) of 16 channels; kMore: loads the first weights of the following
// step. The order of the instructions is kept as written: weights are loaded before the products of
// the previous ones, and all products of a cache line precede their sums, which hides the latencies
// on cores that execute in order. The sums of the last line hide those of the next left-hand bytes.
template <bool kPair, bool kMore, int R>
QRT_INLINE void multiply_step(Neon::Acc (&acc)[R][4], KLoop<R>& s) {
  constexpr int kLines = kPair ? 8 : 4;
  uint32x4_t a[R][2];
  add_pairs(acc[0][3].low, s.low[0]);
  load_splats(s.a, a);
  add_pairs(acc[0][3].high, s.high[0]);
  if constexpr (R == 2) {
    add_pairs(acc[1][3].low, s.low[1]);
    add_pairs(acc[1][3].high, s.high[1]);
  }
  QRT_UNROLL
  for (int v = 0; v < 4; ++v) {
    const bool loads = v < 3 || kMore;
    const int line = v < 3 ? v + 1 : kLines;
    int8x16_t b_next = s.b, c_next = s.c;
    QRT_UNROLL
    for (int i = 0; i < R; ++i) {
      __asm__ volatile("smull %0.8h, %1.8b, %2.8b" : "=w"(s.low[i]) : "w"(a[i][0]), "w"(s.b));
      if (i == 0 && loads) b_next = load_weights(s.w[line], s.index);
      __asm__ volatile("smull2 %0.8h, %1.16b, %2.16b" : "=w"(s.high[i]) : "w"(a[i][0]), "w"(s.b));
      if (i == 0 && loads && kPair) c_next = load_weights(s.w[line + 4], s.index);
    }
    if constexpr (kPair) {
      QRT_UNROLL
      for (int i = 0; i < R; ++i) {
        __asm__ volatile("smlsl %0.8h, %1.8b, %2.8b" : "+w"(s.low[i]) : "w"(a[i][1]), "w"(s.c));
        __asm__ volatile("smlsl2 %0.8h, %1.16b, %2.16b" : "+w"(s.high[i]) : "w"(a[i][1]), "w"(s.c));
      }
    }
    if (v < 3) {
      QRT_UNROLL
      for (int i = 0; i < R; ++i) {
        add_pairs(acc[i][v].low, s.low[i]);
        add_pairs(acc[i][v].high, s.high[i]);
      }
    }
    s.b = b_next;
    s.c = c_next;
  }
}

// Multiplies `count` k, a multiple of 4 and more than 0: left-hand bytes from flip_rows(), weights from w on.
template <int R>
QRT_INLINE void multiply_k_block(Neon::Acc (&acc)[R][4], const uint8_t* flipped, const int8_t* w,
                                 size_t count) {
  constexpr ptrdiff_t kPairBytes = 8 * kBlock;
  const ptrdiff_t last = count < 8 ? 0 : static_cast<ptrdiff_t>(count / 8 - 1) * kPairBytes;
  KLoop<R> s;
  s.a = flipped;
  s.index = -last;
  QRT_UNROLL
  for (int i = 0; i < 13; ++i) {
    s.w[i] = w + last + 16 * i;
    __asm__("" : "+r"(s.w[i]));
  }
  QRT_UNROLL
  for (int i = 0; i < R; ++i) s.low[i] = s.high[i] = vdupq_n_s16(0);
  s.b = vld1q_s8(w);
  if (count >= 8) {
    s.c = vld1q_s8(w + 4 * kBlock);
    while (s.index != 0) {
      multiply_step<true, true>(acc, s);
      __asm__ volatile("add %0, %0, %1" : "+r"(s.a) : "i"(8 * R));
      __asm__ volatile("add %0, %0, %1" : "+r"(s.index) : "i"(kPairBytes));
    }
    multiply_step<true, false>(acc, s);
    s.a += 8 * R;
    s.index = kPairBytes;
  }
  if (count % 8 != 0) {
    s.b = vld1q_s8(s.w[0] + s.index);
    multiply_step<false, false>(acc, s);
  }
  QRT_UNROLL
  for (int i = 0; i < R; ++i) {
    add_pairs(acc[i][3].low, s.low[i]);
    add_pairs(acc[i][3].high, s.high[i]);
  }
}

// A panel of 16 channels.
struct Panel {
  const int8_t* weights;
  const Output<Neon>* output;
  size_t channel, columns;  // first channel, channels to store
  int32_t start[kBlock];    // the accumulators' first values
};

// Bias less the weights of all second steps.
QRT_INLINE void set_start(const GemmArgs& g, Panel& panel) {
  int32x4_t start[4];
  QRT_UNROLL
  for (int v = 0; v < 4; ++v) {
    start[v] = vld1q_s32(g.bias + panel.channel + 4 * static_cast<size_t>(v));
  }
  const int8_t* w = panel.weights;
  for (size_t tap = 0; tap < g.taps; ++tap, w += g.kc * kBlock) {
    for (size_t k = 4; k < g.kc; k += 8) {
      QRT_UNROLL
      for (int v = 0; v < 4; ++v) {
        const int16x8_t pairs = vpaddlq_s8(vld1q_s8(w + k * kBlock + 16 * v));
        start[v] = vsubq_s32(start[v], vpaddlq_s16(pairs));
      }
    }
  }
  const Neon::Epilogue* const epilogue = panel.output->in_registers();
  QRT_UNROLL
  for (int v = 0; v < 4; ++v)
    vst1q_s32(panel.start + 4 * v, epilogue ? epilogue->start(start[v]) : start[v]);
}

template <int R>
__attribute__((noinline)) void run_tile(const GemmArgs& g, const Panel& panel, size_t row) {
  Neon::Acc acc[R][4];
  QRT_UNROLL
  for (int i = 0; i < R; ++i) {
    QRT_UNROLL
    for (int v = 0; v < 4; ++v) acc[i][v] = Neon::load_acc(panel.start + 4 * v);
  }
  const int8_t* w = panel.weights;
  for (size_t tap = 0; tap < g.taps; ++tap) {
    const uint8_t* rows[R];
    load_rows<R>(g, row, tap, rows);
    for (size_t begin = 0; begin < g.kc; begin += kChunk) {
      const size_t count = g.kc - begin < kChunk ? g.kc - begin : kChunk;
      alignas(64) uint8_t flipped[R * kChunk];
      flip_rows<R>(rows, begin, count, flipped);
      multiply_k_block<R>(acc, flipped, w, count);
      w += count * kBlock;
    }
  }
  uint8_t* c = static_cast<uint8_t*>(g.c) + row * g.c_stride;
  if (panel.output->in_registers() == nullptr) {
    store_through_memory<Neon, R, 4>(g, *panel.output, panel.channel, panel.columns, acc, c);
    return;
  }
  StoreNeon<Neon> store;
  store.set(*panel.output->in_registers(), panel.channel, panel.columns);
  store.rows(acc, c + panel.channel, g.c_stride);
}

}  // namespace

void gemm_u8s8_2x16_k8_neon(const GemmArgs& args) {
  const Output<Neon> output(args);
  if (args.m <= Neon::kFewRows) return multiply_few_rows<Neon>(args, output);
  const size_t block_bytes = args.taps * args.kc * kBlock;
  const size_t row_block = rows_of_block(args, kRows);
  for (size_t i = 0; i < args.m; i += row_block) {
    const size_t end = args.m - i < row_block ? args.m : i + row_block;
    for (size_t j = 0; j < args.n; j += kBlock) {
      Panel panel;
      panel.weights = args.weights + j / kBlock * block_bytes;
      panel.output = &output;
      panel.channel = j;
      panel.columns = args.n - j < kBlock ? args.n - j : kBlock;
      set_start(args, panel);
      size_t row = i;
      for (; row + kRows <= end; row += kRows) run_tile<kRows>(args, panel, row);
      if (row < end) run_tile<1>(args, panel, row);
    }
  }
}

}  // namespace qrt
