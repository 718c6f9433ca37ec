// SPDX-License-Identifier: Apache-2.0
// Products of short sums on AVX512-VNNI: 1x1 convolutions of 16, 24 or 32 channels. A panel's weights
// stay in registers and the loop over k is written out, so that a group of 64 outputs takes its dot
// products, its requantisation and little else; a tile of run_column() asks for its rows, taps and
// fetches every time, which takes as long as so few steps.
// Included by kernel files only: everything has internal linkage.
#ifndef QRT_KERNELS_GEMM_SHORT_PRODUCTS512_H_
#define QRT_KERNELS_GEMM_SHORT_PRODUCTS512_H_

#include "kernels/gemm/policy512.h"

namespace qrt {
namespace {

constexpr int kGroupVectors = 4;  // 64 outputs
// The input and output of a block of rows, which are read again for every panel, stay in the first-level cache.
constexpr size_t kShortBytes = 16 * 1024;

// Rows of a product against one panel of channels, all of which are stored.
struct ShortRows {
  const uint8_t* a;
  size_t rows, a_stride;
  const int8_t* weights;
  const int32_t* bias;
  size_t channel;
  uint8_t* c;  // output of the panel's first channel
  size_t c_stride;
};

// Multiplies kSteps of four k by NV vectors of channels. REQUIRES: rows for at least one group. The
// last group takes the last rows, whether these are done already or not.
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
    for (int s = 0; s < kSteps; ++s) w[s][v] = P::load_rhs(p.weights + 64 * (v * kSteps + s), 0);
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

template <int kSteps, int NV>
void run_short_rows_as(const ShortRows& p, const Avx512Vnni::Epilogue& epilogue) {
  using Form = Avx512Vnni::Epilogue::Form;
  if (epilogue.form == Form::kFused) return run_short_rows<kSteps, NV, Form::kFused>(p, epilogue);
  run_short_rows<kSteps, NV, Form::kPlain>(p, epilogue);
}

template <int kSteps>
void run_short_panel(size_t columns, const ShortRows& p, const Avx512Vnni::Epilogue& epilogue) {
  if (columns == 16) return run_short_rows_as<kSteps, 1>(p, epilogue);
  run_short_rows_as<kSteps, 2>(p, epilogue);
}

using ShortPanel = void (*)(size_t columns, const ShortRows& p,
                            const Avx512Vnni::Epilogue& epilogue);

// Returns the function for panels of kc bytes, or nullptr where there is none.
QRT_INLINE ShortPanel short_panel_of(size_t kc) {
  return kc == 16   ? run_short_panel<4>
         : kc == 24 ? run_short_panel<6>
         : kc == 32 ? run_short_panel<8>
                    : nullptr;
}

// Returns how many of `left` channels the next panel takes; 0: the channels that are left have faster
// tiles elsewhere, a vector and half a one, or two of which not all is stored.
QRT_INLINE size_t short_columns(size_t left) {
  if (left >= 32) return 32;
  return left >= 16 && left <= 24 ? 16 : 0;
}

// Computes the first channels of the product, as many as there are short panels for. Returns how many.
QRT_INLINE size_t run_short_products(const GemmArgs& g) {
  constexpr size_t kFewRows = 16;
  const ShortPanel run_panel = short_panel_of(g.kc);
  const size_t rows_of_block = kShortBytes / (g.kc + g.n);
  if (run_panel == nullptr || g.taps != 1 || g.indirection != nullptr || short_columns(g.n) == 0 ||
      g.m < kFewRows || rows_of_block < kFewRows)
    return 0;
  const Output<Avx512Vnni> output(g);
  const auto* const epilogue = output.in_registers();
  if (epilogue == nullptr ||
      (epilogue->form != Avx512Vnni::Epilogue::kFused && !epilogue->is_plain()))
    return 0;
  size_t done = 0;
  for (size_t row = 0, rows; row < g.m; row += rows) {
    // A last block of few rows joins the one before it.
    rows = g.m - row < 2 * rows_of_block ? g.m - row : rows_of_block;
    done = 0;
    for (size_t columns; (columns = short_columns(g.n - done)) > 0; done += columns) {
      run_panel(columns,
                {g.a + row * g.a_stride, rows, g.a_stride, g.weights + done * g.kc, g.bias + done,
                 done, static_cast<uint8_t*>(g.c) + row * g.c_stride + done, g.c_stride},
                *epilogue);
    }
  }
  return done;
}

}  // namespace
}  // namespace qrt

#endif  // QRT_KERNELS_GEMM_SHORT_PRODUCTS512_H_
