// Products of few input channels on AVX512-VNNI: 1x1 convolutions that widen 16, 24 or 32 channels. A
// panel's weights stay in registers and the loop over k is written out, so that a group of 64 outputs
// takes its dot products, its requantisation and little else; a tile of run_column() asks for its
// rows, taps and fetches every time, which takes as long as so few steps.
// Included by kernel files only: everything has internal linkage.
#ifndef QRT_KERNELS_GEMM_SHORT_PRODUCTS512_H_
#define QRT_KERNELS_GEMM_SHORT_PRODUCTS512_H_

#include "kernels/gemm/policy512.h"

namespace qrt {
namespace {

// Of four k; the weights of eight steps and two vectors of channels are 16 registers.
constexpr int kLeastShortSteps = 4, kMostShortSteps = 8;
constexpr int kGroupVectors = 4;  // 64 outputs
// Rows that are walked for every panel: their input and output stay in the first-level cache.
constexpr size_t kShortBytes = 16 * 1024;

// Rows of a product against one panel of 16 * NV channels, all of them stored.
struct ShortRows {
  const uint8_t* a;
  size_t rows, a_stride;
  const int8_t* weights;
  size_t block_bytes;  // from 16 channels to the next
  const int32_t* bias;
  size_t channel;
  uint8_t* c;  // of the panel's first channel
  size_t c_stride;
};

// REQUIRES: rows of at least a group; the last group takes its rows from the last ones.
template <int kSteps, int NV, Avx512Vnni::Epilogue::Form kForm>
__attribute__((noinline)) void run_short_rows(const ShortRows& p,
                                              const Avx512Vnni::Epilogue& epilogue) {
  using P = Avx512Vnni;
  constexpr int kRows = kGroupVectors / NV;
  P::Rhs w[kSteps][NV];
  P::Acc bias[NV];
  QRT_UNROLL
  for (int v = 0; v < NV; ++v) {
    bias[v] = epilogue.start(P::load_acc(p.bias + 16 * v));
    QRT_UNROLL
    for (int s = 0; s < kSteps; ++s)
      w[s][v] = P::load_rhs(p.weights + static_cast<size_t>(v) * p.block_bytes + 64 * s, 0);
  }
  P::Store<NV> store;
  store.set(epilogue, p.channel, 16 * NV);
  const size_t a_stride = p.a_stride, c_stride = p.c_stride;
  const uint8_t* a = p.a;
  uint8_t* c = p.c;
  size_t left = p.rows;
  for (;;) {
    P::Acc acc[kRows][NV];
    QRT_UNROLL
    for (int i = 0; i < kRows; ++i) {
      QRT_UNROLL
      for (int v = 0; v < NV; ++v) acc[i][v] = bias[v];
    }
    QRT_UNROLL
    for (int s = 0; s < kSteps; ++s) {
      QRT_UNROLL
      for (int i = 0; i < kRows; ++i) {
        const P::Lhs x = P::splat_lhs(a + static_cast<size_t>(i) * a_stride + 4 * s, 0);
        QRT_UNROLL
        for (int v = 0; v < NV; ++v) P::dot(acc[i][v], x, w[s][v]);
      }
    }
    store.template rows_as<kForm>(acc, c, c_stride);
    if (left == kRows) return;
    const size_t step = left < 2 * kRows ? left - kRows : kRows;
    left -= step;
    a += step * a_stride;
    c += step * c_stride;
  }
}

// kPlain does what kFromZero does, with a zero point of 0.
template <int kSteps, int NV>
void run_short_rows_as(const ShortRows& p, const Avx512Vnni::Epilogue& epilogue) {
  using Form = Avx512Vnni::Epilogue::Form;
  if (epilogue.form == Form::kFused) return run_short_rows<kSteps, NV, Form::kFused>(p, epilogue);
  run_short_rows<kSteps, NV, Form::kPlain>(p, epilogue);
}

// A function for each even number of steps.
template <int NV, int kSteps = kMostShortSteps>
void run_short_steps(size_t steps, const ShortRows& p, const Avx512Vnni::Epilogue& epilogue) {
  if constexpr (kSteps >= kLeastShortSteps) {
    if (steps == kSteps) return run_short_rows_as<kSteps, NV>(p, epilogue);
    run_short_steps<NV, kSteps - 2>(steps, p, epilogue);
  }
}

// The whole panels of a product of such rows; returns how many channels are done, from the first on.
QRT_INLINE size_t run_short_products(const GemmArgs& g) {
  using Form = Avx512Vnni::Epilogue::Form;
  const size_t steps = g.kc / 4, last = g.n % (2 * kBlock);
  // A block and what half a block takes are tiles of their own elsewhere, too; more are one of two.
  const size_t channels = g.n - last + (last >= kBlock && last <= kBlock + 8 ? kBlock : 0);
  const size_t rows_of_block = kShortBytes / (g.kc + g.n) / kGroupVectors * kGroupVectors;
  if (g.taps != 1 || g.indirection != nullptr || steps < kLeastShortSteps ||
      steps > kMostShortSteps || steps % 2 != 0 || channels == 0 || g.m < 4 * kGroupVectors || rows_of_block < 4 * kGroupVectors)
    return 0;
  const Output<Avx512Vnni> output(g);
  const auto* const epilogue = output.in_registers();
  if (epilogue == nullptr || (epilogue->form != Form::kFused && epilogue->form != Form::kFromZero &&
                              epilogue->form != Form::kPlain))
    return 0;
  for (size_t row = 0, rows; row < g.m; row += rows) {
    // A last block of few rows joins the one before it.
    rows = g.m - row < 2 * rows_of_block ? g.m - row : rows_of_block;
    ShortRows p = {g.a + row * g.a_stride, rows, g.a_stride, g.weights, g.kc * kBlock, g.bias, 0,
                   static_cast<uint8_t*>(g.c) + row * g.c_stride, g.c_stride};
    while (p.channel < channels) {
      const size_t columns = channels - p.channel < 2 * kBlock ? kBlock : 2 * kBlock;
      if (columns == kBlock)
        run_short_steps<1>(steps, p, *epilogue);
      else
        run_short_steps<2>(steps, p, *epilogue);
      p.channel += columns;
      p.weights += columns * g.kc;
      p.bias += columns;
      p.c += columns;
    }
  }
  return channels;
}

}  // namespace
}  // namespace qrt

#endif  // QRT_KERNELS_GEMM_SHORT_PRODUCTS512_H_
