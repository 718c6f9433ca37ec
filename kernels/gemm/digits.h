// SPDX-License-Identifier: Apache-2.0
// Contract of digits_<isa>.cc: products of int16 activations by the gemm family's own kernels.
//
// A product of int16 activations with int8 weights is two products of bytes. With
// x = 256 * h + l - 32768, h and l in 0..255,
//
//   sum x * w = 256 * sum h * w + sum l * w - 32768 * sum w
//
// and both sums are the gemm family's own (uint8 times int8, RequantKind::kAcc) on every
// instruction set: nothing is lost while they stay in int32, which up to kMaxDigitsK weights per
// channel they do: 255 * 128 * 65793 < 2^31. split() makes the bytes, combine() joins the
// sums in 64 bits and requantises; -32768 * sum(w) stands in its bias.
//
// Everything is exact, stores exactly the elements asked for, may over-read inputs by up to 64
// bytes, and is thread-safe.
#ifndef QRT_KERNELS_GEMM_DIGITS_H_
#define QRT_KERNELS_GEMM_DIGITS_H_

#include <cstddef>
#include <cstdint>

#include "kernels/isa.h"
#include "kernels/requant.h"

namespace qrt {

constexpr size_t kMaxDigitsK = 65793;  // the most products whose sum of bytes times int8 fits int32
constexpr int kMaxWeightDigits = 3;    // bytes of a weight, see CombineArgs

// y = clamp(stages(acc) + zero_point, lo, hi), acc = 256 * high + low + bias, of 64 bits, or where
// is_narrow modulo 2^32. REQUIRES (checked at load): kind kInt, limits within int16; no product of
// an accumulator and a multiplier reaches 2^62.
//
// Weights of several digits, w = d0 + 256 * (d1 + d2): high and low are of d0, those of the next digit
// stand digit_stride elements behind.
struct CombineArgs {
  const int32_t* high;  // rows of n, `stride` elements apart; null: all 0
  const int32_t* low;
  size_t digits = 1, digit_stride = 0;
  size_t rows, n, stride;
  size_t channel;       // index of the first column in bias and requant
  const int64_t* bias;  // one for every channel
  bool is_narrow;
  Requant requant;
  int16_t* y;
  size_t y_stride;  // elements
};

struct DigitsKernel {
  const char* name;  // "digits_s16_avx2"
  Isa isa;
  // high[i] = (x[i] + 32768) >> 8, low[i] = (x[i] + 32768) & 255, i < n
  void (*split)(const int16_t* x, size_t n, uint8_t* high, uint8_t* low);
  void (*combine)(const CombineArgs& args);
};

const DigitsKernel* digits_kernels(size_t* count);
const DigitsKernel* select_digits(IsaSet isas);

// Combines as combine(), but writes the accumulators (modulo 2^32) to `acc` instead of y, in rows
// of n that are args.y_stride elements apart. One form for every instruction set.
void combine_accumulators(const CombineArgs& args, int32_t* acc);

}  // namespace qrt

#endif  // QRT_KERNELS_GEMM_DIGITS_H_
