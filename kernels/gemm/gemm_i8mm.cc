// SPDX-License-Identifier: Apache-2.0
// gemm on the Int8 matrix multiplication extension. USMMLA multiplies 2 rows x 8 k by 8 k x 2
// channels, twice the products of a dot product instruction, and takes the unsigned activations as
// they are. 4 x 24 tiles: two pairs of rows by twelve pairs of channels, since each pair of rows
// takes an instruction to join and a pair of channels none.
//
// The packed form has 4 k of 16 channels in a line; ZIP of dwords makes 8 k of channel pairs from
// two lines. That is done once for kRowBlock rows, kChunk steps at a time, into memory; sums that
// another block continues wait in memory, too. A last group of 4 k is multiplied with zeros.
// Products of few rows take few_rows.h with USDOT instead, as they are bound by
// the stream of weights.
#include "kernels/gemm/few_rows.h"
#include "kernels/gemm/kernels.h"
#include "kernels/gemm/policy_neon.h"

namespace qrt {
namespace {

struct I8mm : PolicyDot {
  using Epilogue = neon::RequantInRegisters<255 * 128>;
  template <int NV>
  using Store = StoreNeon<I8mm>;

  QRT_INLINE Lhs splat_lhs(const uint8_t* p, int) { return splat(p); }
  // Adds dot products: acc[c] += sum over j < 4 of a[j] * b[4 c + j], a repeated. By inline
  // assembly, for the reason given in isa/avx512vnni.h.
  QRT_INLINE void dot(Acc& acc, Lhs a, Rhs b) {
    __asm__("usdot %0.4s, %1.16b, %2.16b" : "+w"(acc) : "w"(a), "w"(b));
  }
};

constexpr size_t kTileRows = 4;
constexpr size_t kRowBlock = 96;  // rows that share a block of weights
constexpr size_t kChunk = 64;     // steps of 8 k
constexpr size_t kHalf = 8;       // channels of half a packed block: a panel is two or three
constexpr int kMaxHalves = 3;

// Multiplies by 2 x 2 blocks: [row][channel] += [row][8 k] * [channel][8 k], 2 rows, 2 channels.
// "memory" keeps the loads where they are: clang 14 would load all lines before the first product,
// and spill accumulators for them.
QRT_INLINE void multiply(int32x4_t& acc, uint8x16_t a, int8x16_t b) {
  __asm__ volatile("usmmla %0.4s, %1.16b, %2.16b" : "+w"(acc) : "w"(a), "w"(b) : "memory");
}

// A part of a sum: steps first .. first + count of all, with kc rounded up to a multiple of 8 in
// each tap.
struct KBlock {
  size_t first, count;
  bool starts, ends;  // the sums
};

// A panel of channels.
struct Panel {
  const GemmArgs* g;
  const Output<I8mm>* output;
  size_t half, columns;  // first half block, channels to store
};

// The runs of steps of one tap in a block: f(tap, step of the tap, steps).
template <class F>
QRT_INLINE void for_taps(const GemmArgs& g, const KBlock& k_block, const F& f) {
  const size_t tap_steps = (g.kc + 7) / 8, end = k_block.first + k_block.count;
  for (size_t s = k_block.first; s < end;) {
    const size_t tap = s / tap_steps, step = s % tap_steps;
    const size_t count = tap_steps - step < end - s ? tap_steps - step : end - s;
    f(tap, step, count);
    s += count;
  }
}

// Interleaves 8 k of each pair of channels of a panel, to [step][pair][2][8].
template <int kHalves>
void zip_weights(const Panel& panel, const KBlock& k_block, int8_t* zipped) {
  const GemmArgs& g = *panel.g;
  const int8_t* halves[kHalves];
  for (size_t h = 0; h < kHalves; ++h) {
    const size_t half = panel.half + h;
    halves[h] = g.weights + half / 2 * (g.taps * g.kc * kBlock) + half % 2 * (4 * kHalf);
  }
  for_taps(g, k_block, [&](size_t tap, size_t step, size_t count) {
    for (size_t s = step; s < step + count; ++s) {
      const size_t line = tap * g.kc + s * 8;
      const bool whole = s * 8 + 8 <= g.kc;
      QRT_UNROLL
      for (int h = 0; h < kHalves; ++h) {
        const int8_t* w = halves[h] + line * kBlock;
        QRT_UNROLL
        for (int v = 0; v < 2; ++v, zipped += 32) {
          const int32x4_t low = vreinterpretq_s32_s8(vld1q_s8(w + 16 * v));
          const int32x4_t high =
              whole ? vreinterpretq_s32_s8(vld1q_s8(w + 4 * kBlock + 16 * v)) : vdupq_n_s32(0);
          vst1q_s8(zipped, vreinterpretq_s8_s32(vzip1q_s32(low, high)));
          vst1q_s8(zipped + 16, vreinterpretq_s8_s32(vzip2q_s32(low, high)));
        }
      }
    }
  });
}

// Sums of a tile, [pair of rows][pair of channels][2][2].
template <int P, int kHalves>
struct Sums {
  static constexpr int kChannelPairs = 4 * kHalves;
  int32x4_t of[P][kChannelPairs];

  __attribute__((always_inline)) void start(const int32_t* bias, const I8mm::Epilogue* epilogue) {
    QRT_UNROLL
    for (int v = 0; v < kChannelPairs; ++v) {
      const int32x2_t pair = vld1_s32(bias + 2 * static_cast<size_t>(v));
      int32x4_t both = vcombine_s32(pair, pair);
      if (epilogue != nullptr) both = epilogue->start(both);
      QRT_UNROLL
      for (int p = 0; p < P; ++p) of[p][v] = both;
    }
  }
  __attribute__((always_inline)) void load(const int32_t* memory) {
    QRT_UNROLL
    for (int p = 0; p < P; ++p) {
      QRT_UNROLL
      for (int v = 0; v < kChannelPairs; ++v)
        of[p][v] = vld1q_s32(memory + 4 * (p * kChannelPairs + v));
    }
  }
  __attribute__((always_inline)) void save(int32_t* memory) const {
    QRT_UNROLL
    for (int p = 0; p < P; ++p) {
      QRT_UNROLL
      for (int v = 0; v < kChannelPairs; ++v)
        vst1q_s32(memory + 4 * (p * kChannelPairs + v), of[p][v]);
    }
  }
  // Sets `upper` and `lower` to four channels of the two rows of pair p, from channel pair v on.
  __attribute__((always_inline)) void rows_of(int p, int v, int32x4_t& upper,
                                              int32x4_t& lower) const {
    const int64x2_t left = vreinterpretq_s64_s32(of[p][v]);
    const int64x2_t right = vreinterpretq_s64_s32(of[p][v + 1]);
    upper = vreinterpretq_s32_s64(vzip1q_s64(left, right));
    lower = vreinterpretq_s32_s64(vzip2q_s64(left, right));
  }
};

// Stores the 16 channels from `first` on of a tile of which `rows` are valid; `first` counts from the panel's.
template <int P, int kHalves>
QRT_INLINE void store_block(const Panel& panel, const Sums<P, kHalves>& sums, int first, size_t row,
                            int rows) {
  const GemmArgs& g = *panel.g;
  const size_t skipped = static_cast<size_t>(first);
  const size_t channel = panel.half * kHalf + skipped;
  if (skipped >= panel.columns) return;
  const size_t columns = panel.columns - skipped < kBlock ? panel.columns - skipped : kBlock;
  int32x4_t of_four[2 * P][4];
  QRT_UNROLL
  for (int p = 0; p < P; ++p) {
    QRT_UNROLL
    for (int v = 0; v < 4; ++v)
      sums.rows_of(p, first / 2 + 2 * v, of_four[2 * p][v], of_four[2 * p + 1][v]);
  }
  uint8_t* c = static_cast<uint8_t*>(g.c) + row * g.c_stride;
  if (panel.output->in_registers() == nullptr) {
    store_through_memory<I8mm, 2 * P, 4>(g, *panel.output, channel, columns, of_four, c,
                                         static_cast<size_t>(rows));
    return;
  }
  StoreNeon<I8mm> store;
  store.set(*panel.output->in_registers(), channel, columns);
  store.rows(of_four, c + channel, g.c_stride, rows);
}

// Rows row .. row + rows - 1 (2 P or 2 P - 1 of them) by a block of a panel.
template <int P, int kHalves>
__attribute__((noinline)) void run_tile(const Panel& panel, const KBlock& k_block,
                                        const int8_t* zipped, size_t row, int rows,
                                        int32_t* memory) {
  const GemmArgs& g = *panel.g;
  Sums<P, kHalves> sums;
  if (k_block.starts)
    sums.start(g.bias + panel.half * kHalf, panel.output->in_registers());
  else
    sums.load(memory);
  for_taps(g, k_block, [&](size_t tap, size_t step, size_t count) QRT_INLINE_LAMBDA {
    // An odd last row is its own partner; what it gives is not stored.
    const uint8_t* a[2 * P];
    QRT_UNROLL
    for (int i = 0; i < 2 * P; ++i) {
      const uint8_t* one[1];
      load_rows<1>(g, row + static_cast<size_t>(i < rows ? i : rows - 1), tap, one);
      a[i] = one[0];
    }
    for (size_t k = 8 * step, end = 8 * (step + count); k < end; k += 8) {
      uint8x16_t x[P];
      QRT_UNROLL
      for (int p = 0; p < P; ++p)
        x[p] = vcombine_u8(vld1_u8(a[2 * p] + k), vld1_u8(a[2 * p + 1] + k));
      QRT_UNROLL
      for (int v = 0; v < 4 * kHalves; ++v) {
        const int8x16_t b = vld1q_s8(zipped + 16 * v);
        QRT_UNROLL
        for (int p = 0; p < P; ++p) multiply(sums.of[p][v], x[p], b);
      }
      // g++ 12 would move a sum to the register of an operand that is not used after it.
      QRT_UNROLL
      for (int p = 0; p < P; ++p) __asm__ volatile("" : : "w"(x[p]));
      zipped += 64 * kHalves;
    }
  });
  if (!k_block.ends) {
    sums.save(memory);
    return;
  }
  // The third half is computed together with the second once more: the passes over a tile in memory
  // take whole blocks, and must not read constants of the channels behind.
  store_block(panel, sums, 0, row, rows);
  if constexpr (kHalves == 3) store_block(panel, sums, kHalf, row, rows);
}

template <int kHalves>
void run_panel(const Panel& panel, size_t begin, size_t end) {
  alignas(64) int8_t zipped[kChunk * 64 * kHalves];
  alignas(64) int32_t memory[kRowBlock * kHalf * kHalves];
  const GemmArgs& g = *panel.g;
  const size_t steps = g.taps * ((g.kc + 7) / 8);
  for (size_t s = 0; s < steps; s += kChunk) {
    const size_t count = steps - s < kChunk ? steps - s : kChunk;
    const KBlock k_block = {s, count, s == 0, s + count == steps};
    zip_weights<kHalves>(panel, k_block, zipped);
    for (size_t row = begin; row < end; row += kTileRows) {
      const int rows = end - row < kTileRows ? static_cast<int>(end - row) : kTileRows;
      int32_t* const sums = memory + (row - begin) * kHalf * kHalves;
      if (rows > 2)
        run_tile<2, kHalves>(panel, k_block, zipped, row, rows, sums);
      else
        run_tile<1, kHalves>(panel, k_block, zipped, row, rows, sums);
    }
  }
}

}  // namespace

void gemm_u8s8_4x16_k8_i8mm(const GemmArgs& args) {
  const Output<I8mm> output(args);
  if (args.m <= I8mm::kFewRows) return multiply_few_rows<I8mm>(args, output);
  // Panels of three halves; of two where the channels are no multiple of three.
  const size_t halves = args.n <= kHalf ? 2 : (args.n + kHalf - 1) / kHalf;
  const size_t panels = (halves + kMaxHalves - 1) / kMaxHalves;
  const size_t wide = halves - panels * (kMaxHalves - 1);
  for (size_t i = 0; i < args.m; i += kRowBlock) {
    const size_t end = args.m - i < kRowBlock ? args.m : i + kRowBlock;
    Panel panel = {&args, &output, 0, 0};
    for (size_t j = 0; j < panels; ++j) {
      const size_t count = j < wide ? 3 : 2, left = args.n - panel.half * kHalf;
      panel.columns = left < count * kHalf ? left : count * kHalf;
      if (count == 3)
        run_panel<3>(panel, i, end);
      else
        run_panel<2>(panel, i, end);
      panel.half += count;
    }
  }
}

}  // namespace qrt
