// SPDX-License-Identifier: Apache-2.0
// Pools of int16 images for every CPU: blocks of channels in loops that compilers make vectors of.
#include "kernels/pool/pool_int16.h"

#include <string.h>

#include "kernels/pool/window.h"

namespace qrt {
namespace {

constexpr size_t kBlock = 64;  // channels

// Calls f(x, y, rows, cols, n) for every output pixel and block of n channels: x at the window's
// first position inside the image.
template <class F>
inline void for_blocks(const PoolInt16Args& p, const F& f) {
  const PoolShape& s = p.shape;
  for (size_t row = p.row_begin; row < p.row_end; ++row) {
    const Window rows = window_rows(s, row);
    for (size_t col = 0; col < s.out_w; ++col) {
      const Window cols = window_cols(s, col);
      const int16_t* x = p.input + (rows.first * s.in_w + cols.first) * s.c;
      int16_t* y = p.output + (row * s.out_w + col) * s.c;
      for (size_t c = 0; c < s.c; c += kBlock)
        f(x + c, y + c, rows.count, cols.count, s.c - c < kBlock ? s.c - c : kBlock);
    }
  }
}

}  // namespace

void max_pool_int16_scalar(const PoolInt16Args& p) {
  const PoolShape& s = p.shape;
  for_blocks(p, [&](const int16_t* x, int16_t* y, size_t rows, size_t cols, size_t n) {
    memcpy(y, x, n * sizeof *y);
    for (size_t i = 0; i < rows; ++i) {
      for (size_t j = 0; j < cols; ++j) {
        const int16_t* pixel = x + (i * s.dilation_h * s.in_w + j * s.dilation_w) * s.c;
        for (size_t k = 0; k < n; ++k) y[k] = pixel[k] > y[k] ? pixel[k] : y[k];
      }
    }
  });
}

void average_pool_int16(const PoolInt16Args& p) {
  const PoolShape& s = p.shape;
  for_blocks(p, [&](const int16_t* x, int16_t* y, size_t rows, size_t cols, size_t n) {
    int32_t sums[kBlock] = {};
    for (size_t i = 0; i < rows; ++i)
      for (size_t j = 0; j < cols; ++j)
        for (size_t k = 0; k < n; ++k) sums[k] += x[(i * s.in_w + j) * s.c + k];
    const int32_t count = static_cast<int32_t>(rows * cols);
    for (size_t k = 0; k < n; ++k) {
      const int32_t half = sums[k] < 0 ? -(count / 2) : count / 2;
      y[k] = static_cast<int16_t>(clamp_int((sums[k] + half) / count, p.lo, p.hi));
    }
  });
}

void global_sum_int16(const GlobalSumInt16Args& p) {
  const int32_t zero = static_cast<int32_t>(p.pixels) * p.input_zero_point;
  for (size_t c = 0; c < p.c; c += kBlock) {
    const size_t n = p.c - c < kBlock ? p.c - c : kBlock;
    int32_t sums[kBlock] = {};
    for (size_t pixel = 0; pixel < p.pixels; ++pixel)
      for (size_t k = 0; k < n; ++k) sums[k] += p.input[pixel * p.c + c + k];
    for (size_t k = 0; k < n; ++k)
      p.output[c + k] = static_cast<int16_t>(requantize(p.requant, sums[k] - zero, 0));
  }
}

}  // namespace qrt
