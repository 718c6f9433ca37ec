// Contract of the wide family: what layers with 16-bit activations need beside the 8-bit kernels.
//
// A product of int16 activations with int8 weights is two products of bytes. With x = 256 * h + l -
// 32768, h and l in 0..255,
//
//   sum x * w = 256 * sum h * w + sum l * w - 32768 * sum w
//
// and both sums are the gemm family's own (uint8 times int8, RequantKind::kAcc) on every
// instruction set: nothing is lost while they stay in int32, which up to kMaxWideK weights per
// channel they do: 255 * 128 * 65793 < 2^31. split() makes the planes of bytes, combine() joins the
// sums in 64 bits and requantises; -32768 * sum(w) stands in its bias.
//
// Everything is exact, stores exactly the elements asked for, may over-read inputs by up to 64
// bytes, and is thread-safe.
#ifndef QRT_KERNELS_WIDE_WIDE_H_
#define QRT_KERNELS_WIDE_WIDE_H_

#include <cstddef>
#include <cstdint>

#include "kernels/depthwise/depthwise.h"
#include "kernels/isa.h"
#include "kernels/pool/pool.h"
#include "kernels/requant.h"

namespace qrt {

constexpr size_t kMaxWideK = 65793;        // of a product of bytes
constexpr int kMaxWideDigits = 3;          // of a weight
constexpr size_t kMaxWideDepthwise = 511;  // positions of a depthwise filter: 2^22 * 511 < 2^31

// y = clamp(stages(acc) + zero_point, lo, hi), acc = 256 * high + low + bias, of 64 bits, or where
// is_narrow modulo 2^32. REQUIRES (checked at load): kind kInt, limits within int16; no product of
// an accumulator and a multiplier reaches 2^62.
struct CombineArgs {
  const int32_t* high;  // rows of n, `stride` elements apart; null: all 0
  const int32_t* low;
  size_t rows, n, stride;
  size_t channel;       // of the first column, in bias and requant
  const int64_t* bias;  // of every channel
  bool is_narrow;
  Requant requant;
  int16_t* y;
  size_t y_stride;  // elements
};

// The same for weights of several digits, w = d0 + 256 * (d1 + d2): high and low are of d0, those
// of the next digit stand digit_stride elements behind. One form for every instruction set. Of kind
// kAcc, acc (modulo 2^32) is stored instead of y.
struct CombineDigitsArgs {
  CombineArgs args;
  size_t digits, digit_stride;
  int32_t* acc;  // rows of n, args.y_stride elements apart
};
void wide_combine_digits(const CombineDigitsArgs& args);

// acc[o] = sum over the filter of x[o / multiplier] * weights[position][o], then as CombineArgs
// with `low` = acc. Positions outside the image read `padding`.
struct WideDepthwiseArgs {
  DepthwiseShape shape;
  const int16_t* input;    // one image
  const int16_t* padding;  // in_c of the zero point
  const int16_t* weights;  // [kernel_h * kernel_w][channels]
  CombineArgs combine;     // bias, is_narrow and requant of all channels
  int16_t* output;         // the whole output image
  size_t row_begin, row_end;
};

// Two runs of int16 as in elementwise.h: y may be a or b; exactly n values are read.
struct WideRun {
  const int16_t* a;
  const int16_t* b;
  bool a_is_scalar, b_is_scalar;
  int16_t* y;
  size_t n;
};

// y[i] = requantize((a[i] - a_zero_point) * (b[i] - b_zero_point)), kind kInt; products are below
// 2^31 (checked at load).
struct WideMulParams {
  int32_t a_zero_point, b_zero_point;
  Requant requant;
};

enum class WideElement : uint8_t { kUInt8, kInt16, kInt32 };

// y[i] = rescale(params, x[i], (channel + i) % channels)
struct RescaleRun {
  WideElement from, to;
  const void* x;
  void* y;
  size_t n;
  size_t channel, channels;
};

struct WideKernel {
  const char* name;  // "wide_s16_avx2"
  Isa isa;
  // high[i] = (x[i] + 32768) >> 8, low[i] = (x[i] + 32768) & 255, i < n
  void (*split)(const int16_t* x, size_t n, uint8_t* high, uint8_t* low);
  void (*combine)(const CombineArgs& args);
  void (*depthwise)(const WideDepthwiseArgs& args);
  void (*add)(const AddIntParams& params, const WideRun& run);
  void (*mul)(const WideMulParams& params, const WideRun& run);
  void (*rescale)(const RescaleParams& params, const RescaleRun& run);
};

// Pools of int16 images; one form for every instruction set. Max: y = the greatest value of the
// window inside the image. Average: y = clamp(HA(sum / number), lo, hi) over the positions inside;
// fewer than 2^15 of them. REQUIRES (checked at load): every window holds a position of the image.
struct WidePoolArgs {
  PoolShape shape;
  int32_t lo, hi;  // average
  const int16_t* input;
  int16_t* output;  // the whole output image
  size_t row_begin, row_end;
};
void wide_max_pool(const WidePoolArgs& args);
void wide_average_pool(const WidePoolArgs& args);

// y[ch] = requantize(sum over pixels of (x - input_zero_point)), per tensor; pixels < 2^15
struct WideSumArgs {
  const int16_t* input;  // [pixels][c]
  size_t pixels, c;
  int32_t input_zero_point;
  Requant requant;
  int16_t* output;  // [c]
};
void wide_global_sum(const WideSumArgs& args);

// y[i][j] = requantize(sum over k of (a[i][k] - a_zero_point) * (b[k][j] - b_zero_point)) of one
// matrix, column j of a requantisation of kind kInt; one form for every instruction set. Sums have
// 64 bits: none times a multiplier of the first stage reaches 2^62 (checked at load).
struct WideProductArgs {
  const int16_t* a;  // [rows][k]
  const int16_t* b;  // [k][n], or [n][k] where transposed
  size_t rows, k, n;
  bool transposed;
  int32_t a_zero_point, b_zero_point;
  Requant requant;
  int16_t* y;  // [rows][n]
};
void wide_product(const WideProductArgs& args);

// WideKernel::mul where products leave int32; no product of one and a multiplier reaches 2^62.
void wide_mul_far(const WideMulParams& params, const WideRun& run);

const WideKernel* wide_kernels(size_t* count);
const WideKernel* select_wide(IsaSet isas);

}  // namespace qrt

#endif  // QRT_KERNELS_WIDE_WIDE_H_
