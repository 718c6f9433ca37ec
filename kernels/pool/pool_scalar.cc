// SPDX-License-Identifier: Apache-2.0
// Pools for every CPU, one channel after the other as the formulas read. Float arithmetic as
// written, in binary32 or with kIntegerOnly in integers; rounding to an integer by integers.
#include <string.h>

#include "kernels/pool/pool.h"
#include "kernels/pool/requantize_sums.h"
#include "kernels/pool/window.h"
#include "kernels/requant.h"

namespace qrt {

void max_pool_scalar(const MaxPoolArgs& args) {
  const PoolShape& s = args.shape;
  for (size_t row = args.row_begin; row < args.row_end; ++row) {
    const Window rows = window_rows(s, row);
    for (size_t col = 0; col < s.out_w; ++col) {
      const Window cols = window_cols(s, col);
      uint8_t* __restrict y = args.output + (row * s.out_w + col) * s.c;
      memset(y, 0, s.c);
      for (size_t i = 0; i < rows.count; ++i) {
        for (size_t j = 0; j < cols.count; ++j) {
          const size_t pixel =
              (rows.first + i * s.dilation_h) * s.in_w + cols.first + j * s.dilation_w;
          const uint8_t* __restrict x = args.input + pixel * s.c;
          for (size_t ch = 0; ch < s.c; ++ch) y[ch] = x[ch] > y[ch] ? x[ch] : y[ch];
        }
      }
    }
  }
}

namespace {

// A binary32 number and its operations, by the CPU or by soft_float.h.
struct Hard {
  using Number = float;
  static Number of(int64_t i) { return static_cast<float>(i); }
  static Number of(float f) { return f; }
  static Number add(Number a, Number b) { return a + b; }
  static Number divide(Number a, Number b) { return a / b; }
  static soft::Bits bits(Number a) { return soft::bits_of(a); }
};
struct Soft {
  using Number = soft::Bits;
  static Number of(int64_t i) { return soft::from_int(i); }
  static Number of(const float& f) { return soft::bits_of(f); }
  static Number add(Number a, Number b) { return soft::add(a, b); }
  static Number divide(Number a, Number b) { return soft::div(a, b); }
  static soft::Bits bits(Number a) { return a; }
};

template <class F>
void average_pool(const AveragePoolArgs& args) {
  using Number = typename F::Number;
  const PoolShape& s = args.shape;
  const Number zero_point = F::of(int64_t{args.output_zero_point}),
               scale = F::of(args.output_scale);
  for (size_t row = args.row_begin; row < args.row_end; ++row) {
    const Window rows = window_rows(s, row);
    for (size_t col = 0; col < s.out_w; ++col) {
      const Window cols = window_cols(s, col);
      const size_t inside = rows.count * cols.count;
      const Number count =
          F::of(static_cast<int64_t>(args.count_include_pad ? s.kernel_h * s.kernel_w : inside));
      const uint8_t* x = args.input + (rows.first * s.in_w + cols.first) * s.c;
      uint8_t* y = args.output + (row * s.out_w + col) * s.c;
      for (size_t ch = 0; ch < s.c; ++ch) {
        Number sum = F::of(int64_t{0});
        for (size_t i = 0; i < rows.count; ++i)
          for (size_t j = 0; j < cols.count; ++j)
            sum = F::add(sum, F::of(args.value[x[(i * s.in_w + j) * s.c + ch]]));
        const Number mean = F::divide(sum, count);
        const Number v = F::add(F::divide(mean, scale), zero_point);
        y[ch] =
            static_cast<uint8_t>(clamp_int(soft::to_int(F::bits(v)) + args.output_offset, 0, 255));
      }
    }
  }
}

}  // namespace

void average_pool_scalar(const AveragePoolArgs& args) {
  if constexpr (kIntegerOnly) {
    average_pool<Soft>(args);
  } else {
    average_pool<Hard>(args);
  }
}

void global_sum_scalar(const GlobalSumArgs& args) {
  constexpr size_t kBlock = 64;
  const int32_t zero = static_cast<int32_t>(args.pixels) * args.input_zero_point;
  for (size_t c = args.channel_begin; c < args.channel_end; c += kBlock) {
    const size_t n = args.channel_end - c < kBlock ? args.channel_end - c : kBlock;
    int32_t sums[kBlock];
    for (size_t i = 0; i < n; ++i) sums[i] = -zero;
    for (size_t pixel = 0; pixel < args.pixels; ++pixel) {
      const uint8_t* x = args.input + pixel * args.c + c;
      for (size_t i = 0; i < n; ++i) sums[i] += x[i];
    }
    requantize_sums(args.requant, sums, args.output + c, n);
  }
}

void requantize_sums(const Requant& requant, const int32_t* sums, uint8_t* y, size_t n) {
  for (size_t i = 0; i < n; ++i) y[i] = static_cast<uint8_t>(requantize(requant, sums[i], 0));
}

}  // namespace qrt
