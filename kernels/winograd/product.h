// SPDX-License-Identifier: Apache-2.0
// The products of one position: transformed pixels of a block's tiles by transformed weights. It
// uses the policy of gemm_tile.h alone: products are short, so that what a general tile asks for
// every time (taps, requantisation, borders) would take as long as a fifth of them. Included by
// kernel files only: everything has internal linkage.
#ifndef QRT_KERNELS_WINOGRAD_PRODUCT_H_
#define QRT_KERNELS_WINOGRAD_PRODUCT_H_

#include "kernels/gemm/gemm_tile.h"

namespace qrt {
namespace {

// `rows` rows of kc bytes, a multiple of 8, row_bytes apart, by a panel of channels to rows of sums.
struct Product {
  const uint8_t* pixels;
  size_t rows, row_bytes, kc;
  const int8_t *weights, *next;  // next: a panel to fetch into the second-level cache
  uint8_t* sums;
  size_t sum_bytes;  // bytes from one row of sums to the next
};

// Multiplies the first MR rows from `pixels` by NV vectors of channels. Prefetches `next`, next_step bytes
// for each step of four bytes. It is a function of its own because inlined it would have fewer registers.
template <class P, int MR, int NV>
__attribute__((noinline)) void multiply_tile(const Product& product, const uint8_t* pixels,
                                             uint8_t* sums, const int8_t* next, size_t next_step) {
  constexpr int kPerBlock = static_cast<int>(kBlock) / P::kLanes;
  const size_t kc = product.kc, block_bytes = kc * kBlock;
  typename P::Acc acc[MR][NV];
  QRT_UNROLL
  for (int i = 0; i < MR; ++i) {
    QRT_UNROLL
    for (int v = 0; v < NV; ++v) acc[i][v] = P::zero();
  }
  const int8_t* weights = product.weights;
  const uint8_t* a[MR];
  QRT_UNROLL
  for (int i = 0; i < MR; ++i, pixels += product.row_bytes) {
    a[i] = pixels;
    __asm__("" : "+r"(a[i]));
  }
  size_t k = 0;
  if constexpr (P::kLhsSteps > 1) {
    k = kc / 16 * 16;
    if (k > 0) P::multiply_groups(acc, a, weights, k / 16, next, P::kLhsSteps * next_step);
    weights += k * kBlock;
    next += k / 4 * next_step;
  }
  const auto step = [&](size_t ahead) QRT_INLINE_LAMBDA {
    P::prefetch_far(next);
    next += next_step;
    typename P::Rhs b[NV];
    QRT_UNROLL
    for (int v = 0; v < NV; ++v) {
      b[v] =
          P::load_rhs(weights + ahead * kBlock + static_cast<size_t>(v / kPerBlock) * block_bytes +
                          static_cast<size_t>(v % kPerBlock) * 4 * P::kLanes,
                      0);
    }
    QRT_UNROLL
    for (int i = 0; i < MR; ++i) {
      const typename P::Lhs x = P::splat_lhs(a[i] + k + ahead, 0);
      QRT_UNROLL
      for (int v = 0; v < NV; ++v) P::dot(acc[i][v], x, b[v]);
    }
  };
  // Two steps of four channels at a time, so that the loop's own instructions take turns with the
  // multipliers at their ports.
  for (; k < kc; k += 8, weights += 8 * kBlock) step(0), step(4);
  QRT_UNROLL
  for (int i = 0; i < MR; ++i, sums += product.sum_bytes) {
    QRT_UNROLL
    for (int v = 0; v < NV; ++v)
      P::spill(acc[i][v], reinterpret_cast<int32_t*>(sums) + v * P::kLanes);
  }
}

// Calls the function for the number of rows, 1 .. MR.
template <class P, int MR, int NV>
QRT_INLINE void multiply_rows(size_t rows, const Product& product, const uint8_t* pixels,
                              uint8_t* sums, const int8_t* next, size_t next_step) {
  if constexpr (MR > 0) {
    if (rows == MR) return multiply_tile<P, MR, NV>(product, pixels, sums, next, next_step);
    multiply_rows<P, MR - 1, NV>(rows, product, pixels, sums, next, next_step);
  }
}

// Multiplies all rows by NV vectors of channels, spread evenly over the tiles.
template <class P, int NV>
void multiply(const Product& product) {
  const size_t tiles = (product.rows + P::kTileRows - 1) / P::kTileRows;
  const size_t next_step = static_cast<size_t>(NV) * P::kLanes * 4 / tiles;
  const int8_t* next = product.next;
  const uint8_t* pixels = product.pixels;
  uint8_t* sums = product.sums;
  for (size_t t = 0, row = 0; t < tiles; ++t) {
    const size_t rows = (product.rows - row + tiles - t - 1) / (tiles - t);
    multiply_rows<P, P::kTileRows, NV>(rows, product, pixels, sums, next, next_step);
    row += rows;
    pixels += rows * product.row_bytes;
    sums += rows * product.sum_bytes;
    next += product.kc / 4 * next_step;
  }
}

}  // namespace
}  // namespace qrt

#endif  // QRT_KERNELS_WINOGRAD_PRODUCT_H_
