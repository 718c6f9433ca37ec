// SPDX-License-Identifier: Apache-2.0
// gemm on simd128: sums of two products of 16 bits, exact for all bytes.
//
// Widening splits a group of 4 k into k 0, 2 (the low bytes of its 16-bit halves) and k 1, 3 (the
// high bytes): two phases. A block of rows is widened once for all weights, and eight channels of
// weights once for the block. Long rows are not widened ahead, since too few of them fit in the
// buffer to pay for it.
#include "kernels/gemm/kernels.h"
#include "kernels/gemm/policy_wasm.h"

namespace qrt {
namespace {

struct Words : PolicyWasm {
  static constexpr int kPhases = 2;

  QRT_INLINE Rhs load_rhs(const int8_t* p, int phase) {
    const v128_t b = wasm_v128_load(p);
    return wasm_i16x8_shr(phase == 0 ? wasm_i16x8_shl(b, 8) : b, 8);
  }
  QRT_INLINE void dot(Acc& acc, Lhs a, Rhs b) {
    acc = wasm_i32x4_add(acc, wasm_i32x4_dot_i16x8(a, b));
  }
};

struct Wasm128 : Words {
  static constexpr int kLhsBytes = 1;

  QRT_INLINE Lhs splat_lhs(const uint8_t* p, int phase) {
    const v128_t a = wasm_v128_load32_splat(p);
    return wasm_u16x8_shr(phase == 0 ? wasm_i16x8_shl(a, 8) : a, 8);
  }
};

constexpr int kRows = 4;         // rows of a tile of eight channels
constexpr size_t kChannels = 8;  // channels of a panel
// Size of the stack buffer for widened rows and a widened panel.
constexpr size_t kWidenedBytes = 28 * 1024;
constexpr size_t kLeastRows = 3 * kRows;  // fewest rows for which widening a panel pays

// Widens kc bytes to 2 * kc bytes: each group of 4 k becomes 16-bit k 0, 2, 1, 3. Reads up to 12
// bytes past the row, writes up to 24 past its end.
QRT_INLINE void widen(const uint8_t* row, size_t kc, uint8_t* out) {
  const v128_t mask = wasm_i16x8_const_splat(0xff);
  for (size_t k = 0; k < kc; k += 16, row += 16, out += 32) {
    const v128_t a = wasm_v128_load(row);
    const v128_t even = wasm_v128_and(a, mask), odd = wasm_u16x8_shr(a, 8);
    wasm_v128_store(out, wasm_i32x4_shuffle(even, odd, 0, 4, 1, 5));
    wasm_v128_store(out + 16, wasm_i32x4_shuffle(even, odd, 2, 6, 3, 7));
  }
}

// Widens the weights of eight channels from `steps` groups of 4 k, one group every 4 * kBlock
// bytes, to 16 bits in the order [step][phase][8 channels][2 k].
QRT_INLINE void widen_panel(const int8_t* w, size_t steps, uint8_t* out) {
  for (size_t step = 0; step < steps; ++step, w += 4 * kBlock, out += 64) {
    QRT_UNROLL
    for (int phase = 0; phase < 2; ++phase) {
      wasm_v128_store(out + 32 * phase, Words::load_rhs(w, phase));
      wasm_v128_store(out + 32 * phase + 16, Words::load_rhs(w + 16, phase));
    }
  }
}

// The arguments common to all tiles of a block of rows: its rows, and a panel of weights, both widened to 16 bits.
struct WidenedBlock {
  const GemmArgs* g;
  const Output<Wasm128>* output;
  const uint8_t *rows, *panel;
  size_t row_bytes;
  size_t channel, columns;  // first channel of the panel, channels to store
  Wasm128::Store<2> store;  // constants of the panel, if output->in_registers()
};

template <int MR>
void run_widened_tile(const WidenedBlock& b, size_t row, uint8_t* c) {
  v128_t acc[MR][2];
  QRT_UNROLL
  for (int i = 0; i < MR; ++i) {
    acc[i][0] = wasm_v128_load(b.g->bias + b.channel);
    acc[i][1] = wasm_v128_load(b.g->bias + b.channel + 4);
  }
  const uint8_t* a[MR];
  QRT_UNROLL
  for (int i = 0; i < MR; ++i) a[i] = b.rows + (row + static_cast<size_t>(i)) * b.row_bytes;
  const uint8_t* w = b.panel;
  for (size_t at = 0; at < b.row_bytes; at += 8, w += 64) {
    QRT_UNROLL
    for (size_t phase = 0; phase < 2; ++phase) {
      const v128_t low = wasm_v128_load(w + 32 * phase), high = wasm_v128_load(w + 32 * phase + 16);
      QRT_UNROLL
      for (int i = 0; i < MR; ++i) {
        const v128_t x = wasm_v128_load32_splat(a[i] + at + 4 * phase);
        Words::dot(acc[i][0], x, low);
        Words::dot(acc[i][1], x, high);
      }
    }
  }
  if (b.output->in_registers() != nullptr) {
    b.store.rows(acc, c + b.channel, b.g->c_stride);
  } else {
    store_through_memory<Wasm128, MR, 2>(*b.g, *b.output, b.channel, b.columns, acc, c);
  }
}

template <int MR>
void run_last_tile(const WidenedBlock& b, size_t rows, size_t row, uint8_t* c) {
  if constexpr (MR > 0) {
    if (rows == MR) return run_widened_tile<MR>(b, row, c);
    run_last_tile<MR - 1>(b, rows, row, c);
  }
}

// Computes rows begin .. begin + count - 1, which are widened.
void run_widened(WidenedBlock& b, size_t begin, size_t count, uint8_t* panel) {
  const GemmArgs& g = *b.g;
  b.panel = panel;
  const size_t block_bytes = g.taps * g.kc * kBlock;
  for (size_t j = 0; j < g.n; j += kChannels) {
    b.channel = j;
    b.columns = g.n - j < kChannels ? g.n - j : kChannels;
    if (const auto* const epilogue = b.output->in_registers()) b.store.set(*epilogue, j, b.columns);
    widen_panel(g.weights + j / kBlock * block_bytes + j % kBlock * 4, g.taps * g.kc / 4, panel);
    uint8_t* c = static_cast<uint8_t*>(g.c) + begin * g.c_stride;
    size_t row = 0;
    for (; row + kRows <= count; row += kRows, c += kRows * g.c_stride)
      run_widened_tile<kRows>(b, row, c);
    run_last_tile<kRows - 1>(b, count - row, row, c);
  }
}

}  // namespace

void gemm_u8s8_4x8_k4_wasm128(const GemmArgs& args) {
  const size_t row_bytes = 2 * args.taps * args.kc;
  const size_t most = kWidenedBytes / row_bytes / kRows * kRows;
  if (args.m < kLeastRows || most < kLeastRows) return gemm<Wasm128, kRows, 2>(args);
  // Widening writes up to 24 bytes past a row.
  alignas(64) uint8_t widened[kWidenedBytes + 32], panel[kWidenedBytes / kLeastRows * kChannels];
  const Output<Wasm128> output(args);
  WidenedBlock block = {};
  block.g = &args;
  block.output = &output;
  block.rows = widened;
  block.row_bytes = row_bytes;
  for (size_t begin = 0; begin < args.m; begin += most) {
    const size_t count = args.m - begin < most ? args.m - begin : most;
    for (size_t i = 0; i < count; ++i) {
      for (size_t t = 0; t < args.taps; ++t) {
        const uint8_t* row[1];
        load_rows<1>(args, begin + i, t, row);
        widen(row[0], args.kc, widened + i * row_bytes + 2 * t * args.kc);
      }
    }
    run_widened(block, begin, count, panel);
  }
}

}  // namespace qrt
