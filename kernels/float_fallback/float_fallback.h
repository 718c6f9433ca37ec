// SPDX-License-Identifier: Apache-2.0
// Contract of the float_fallback family: float functions of layers that a caller asked to leave in
// float (--allow-float): exponentials and related functions by polynomials of our own, sums in the
// order of their elements, a NaN always the same one. The only float instructions are additions, products,
// divisions, square roots and comparisons, all IEEE-exact, fused where it is said: the same bytes on
// every CPU, compiler, instruction set and number of threads. REQUIRES: rounding to nearest even, subnormals
// kept. Thread-safe.
#ifndef QRT_KERNELS_FLOAT_FALLBACK_FLOAT_FALLBACK_H_
#define QRT_KERNELS_FLOAT_FALLBACK_FLOAT_FALLBACK_H_

#include <cstddef>
#include <cstdint>

#include "kernels/edge/edge.h"
#include "kernels/isa.h"

namespace qrt {

// Within 2 units in the last place of the real function, but for those that older files have: kSigmoid, within 3 and 0 below -88.8,
// kErf and kGelu, within 3e-7 absolutely (kGelu: times max(1, |x|)). kSin, kCos, and kTan to kAtanh (real_functions.h) are the
// nearest float, but for results that lie halfway to within 2^-10 units. kFloor, kCeil and kRound, half to even, are exact and keep
// the sign of the argument. kOrtSigmoid and kOrtTanh have the bits of ONNX Runtime 1.30 on x86-64 with AVX2, within 1e-6.
enum class FloatUnary : uint8_t {
  kExp,
  kLog,
  kSqrt,
  kErf,
  kSigmoid,
  kTanh,
  kGelu,
  kOrtSigmoid,
  kOrtTanh,
  kSin,
  kCos,
  kFusedGelu,
  kFloor,
  kCeil,
  kRound,
  kFusedErf,
  kFusedSigmoid,
  kTan,
  kAsin,
  kAcos,
  kAtan,
  kSinh,
  kCosh,
  kAsinh,
  kAcosh,
  kAtanh,
  kLog1p
};

// kMin is a < b ? a : b and kMax is a > b ? a : b. kNanMin and kNanMax give NaN if a or b is NaN, and otherwise the values of kMin and
// kMax. kKeepNonzero gives a where b is not 0 (NaN is not 0), and kKeepZero gives a where b is 0; elsewhere both give -0, which adds
// nothing to any number. The comparisons give 1 or 0. kPow is a^b with the special cases of the C standard's pow: the nearest float,
// but for results that lie halfway to within 2^-12 units. kFmod is the C standard's fmod, exact.
enum class FloatBinary : uint8_t {
  kAdd,
  kSub,
  kMul,
  kDiv,
  kMin,
  kMax,
  kEqual,
  kLess,
  kLessOrEqual,
  kPow,
  kFmod,
  kNanMin,
  kNanMax,
  kKeepNonzero,
  kKeepZero
};

//   kSoftmax:     e_j / sum of e, e_j = exp(x_j - max)
//   kLogSoftmax:  (x_j - max) - log(sum of e)
//   kNormalize:   (x_j - mean) / sqrt(mean of (x - mean)^2 + epsilon)
//   the others:   one value a row, from the first element on: kMax and kMin take each next one where the comparison with it does not
//                 hold; kNanMax and kNanMin do likewise, but give NaN where an element is
enum class FloatRows : uint8_t {
  kSoftmax,
  kLogSoftmax,
  kNormalize,
  kSum,
  kMean,
  kMax,
  kMin,
  kProduct,
  kNanMax,
  kNanMin
};

// The sizes of a matrix product, and floats from row to row of its sides and of the result.
struct FusedProduct {
  size_t k, n;  // k >= 1
  size_t a_stride, b_stride, y_stride;
};

// A LayerNormalization of fl32((x - x_zero_point) * x_scale), quantised by `edge`.
struct LayerNormBytes {
  float x_scale, y_scale;  // from 2^-60 to 2^60
  int32_t x_zero_point, y_zero_point, lo, hi;
  const EdgeKernel* edge;
  float epsilon;
  const float *scale, *bias;  // bias may be null
};
// The rows at a time and the limits of their length; the floats of kLayerNormRows rows, and 64
// bytes, are the caller's memory.
constexpr size_t kLayerNormRows = 8, kMinLayerNormBytes = 8, kMaxLayerNormBytes = 1 << 16;

// The order in which ONNX Runtime 1.30's float Gemm sums on x86-64 with AVX2. It begins with y = bias.
//   kBlocks: for each `block` indices of k in turn, sum = 0, then sum = fused(a * b + sum) of each
//            index, then y = fused(sum * alpha + y)
//   kFours:  for each four indices, y = (((a0 * b0 + a1 * b1) + a2 * b2) + a3 * b3) + y; likewise for
//            two and for one that are left
//   kEights: index i is summed in lane i % 8; y = the sum of the lanes + y. Columns are taken by fours,
//            which add their lanes as (((0 + 1) + 2) + 3) + (((4 + 5) + 6) + 7), then by two, as
//            ((0 + 2) + (4 + 6)) + ((1 + 3) + (5 + 7)), then by one, as a tree of neighbours.
enum class OrtGemmOrder : uint8_t { kBlocks, kFours, kEights };

struct OrtGemm {
  OrtGemmOrder order;
  size_t k, n;
  size_t block;  // kBlocks: at least 1
  float alpha;   // kBlocks
  // kBlocks: floats from row to row of b and of y, where n columns are part of more; 0: n
  size_t b_stride = 0, y_stride = 0;
  const size_t* b_offsets = nullptr;  // kBlocks: where each row of b begins; null: at its stride
};

// Rows of a Softmax: n values each, `stride` floats from row to row. They are divided by `scale`, or multiplied by it, first.
struct LaneSoftmax {
  size_t n, stride;
  FloatBinary scaling;  // kDiv or kMul
  float scale;          // above 0, finite; 1: nothing is done
};

// Describes the sum of a window of one plane: `count` values, which stand offsets[t] floats from the output's place, times
// weights[t], and the bias.
struct FloatTaps {
  const size_t* offsets;
  const float* weights;
  size_t count;
  float bias;
};

// Describes n outputs, of which output i adds counts[i] elements times weights; all tables are [taps][n], the indices of terms that an
// output does not have any that can be read.
struct FloatWeights {
  size_t n, taps;
  const int32_t* indices;
  const float* weights;
  const int32_t* counts;  // [n], from 0 to taps
};

// Returns how many indices of k ONNX Runtime sums before it goes on to the next block of a product
// with n columns; `transposes_a`: of a left side that it reads transposed.
inline int64_t ort_gemm_block(int64_t n, int64_t k, bool transposes_a) {
  int64_t block = 128, columns = 128;
  if (n >= k) {
    while (block / 2 >= k) block /= 2;
  } else if (!transposes_a) {
    for (; columns > 16 && columns / 2 >= n; columns /= 2) block *= 2;
  }
  return block;
}

// The functions by which a step of a recurrent layer makes its outputs from its products, one row of `cells` cells at a time. s is
// the argument of a gate: the sum of its products and its bias, limited to -clip .. clip; with nan_is_clip a NaN becomes clip.
//   kLstm:       sums and bias [4][cells], gates i, o, f, c. content = content * f + i * tanh(s_c), y = tanh(content) * o, i, f and o
//                being the sigmoids of theirs, or f = 1 - i with couples_forget. With peepholes [3][cells] of i, o and f, the
//                content times them is added to the sums before their biases, to that of o the new one. As kOrtSigmoid and kOrtTanh.
//   kGruReset:   sums and bias [3][cells], gates z, r, h. y = x * sigmoid(s_r), whose polynomials are not fused
//   kGruOutput:  y = (1 - z) * tanh(s_h) + z * x, where z is kOrtSigmoid of s_z, and the tanh is not fused
//   kRnn:        sums [cells]. y = tanh(s), or max(0, s) with is_relu, s of sums + x without a bias. As kTanh.
enum class RecurrentStage : uint8_t { kLstm, kGruReset, kGruOutput, kRnn };

struct RecurrentGates {
  size_t cells;
  const float* bias;
  const float* peepholes;  // may be null
  float clip;              // at least 0
  bool nan_is_clip, couples_forget, is_relu;
};

struct FloatKernel {
  const char *unary_name, *binary_name, *rows_name, *product_name, *fused_product_name,
      *lane_softmax_name;
  const char *layer_norm_name, *layer_norm_bytes_name, *ort_gemm_name, *recurrent_name, *taps_name,
      *weighted_name;
  Isa isa;
  // y = f(x)
  void (*unary)(FloatUnary f, const float* x, float* y, size_t n);
  // y = f(a, b); a step of 0 repeats one operand, else it is 1.
  void (*binary)(FloatBinary f, const float* a, size_t a_step, const float* b, size_t b_step,
                 float* y, size_t n);
  // Computes f of rows of n values. x and y are not the same.
  void (*rows)(FloatRows f, float epsilon, const float* x, float* y, size_t rows, size_t n);
  // Rows of a matrix product: y[r * n + j] = the sum over i < k of a[r * k + i] * b[i * n + j] in the
  // order of i, every product and sum rounded. REQUIRES: k >= 1.
  void (*product)(const float* a, size_t rows, const float* b, size_t k, size_t n, float* y);
  // Multiplies matrices as product() does, but adds with one rounding: y[r][j] begins as a[r][0] * b[0][j] and becomes
  // fused(a[r][i] * b[i][j] + y[r][j]) for i from 1 on.
  void (*fused_product)(const FusedProduct& p, const float* a, size_t rows, const float* b,
                        float* y);
  // Softmax of rows; x and y may be the same. Within 2 units in the last place of
  // e_j / sum of e, where e_j is 2^64 exp(x_j - max) by a polynomial whose steps are fused (kernels/float_fallback/lane_softmax.h).
  // Lane i of 16 adds e_j of j % 16 = i in their order; then lane i adds that of i + 8, i + 4, i + 2 and i + 1. With q = e_j * v,
  // v = 1 / sum: y_j = fused(fused(-q * sum + e_j) * v + q). Where one is NaN, all are.
  void (*lane_softmax)(const LaneSoftmax& p, const float* x, size_t rows, float* y);
  // LayerNormalization of rows of n values with the bits of ONNX Runtime 1.30 on x86-64 with AVX2
  // (kernels/float_fallback/layer_norm.h); bias may be null. x and y are not the same.
  void (*layer_norm)(float epsilon, const float* x, const float* scale, const float* bias, float* y,
                     size_t rows, size_t n);
  // Rows of alpha * a * b + bias in ONNX Runtime's order. a is [rows, k], b [k, n], for kEights [n, k];
  // a row's bias is `bias_step` floats after the row's before it.
  void (*ort_gemm)(const OrtGemm& g, const float* a, size_t rows, const float* b, const float* bias,
                   size_t bias_step, float* y);
  // kLstm: `content` is what the cells hold; the other stages do not use it. kLstm does not use x.
  void (*recurrent)(RecurrentStage stage, const RecurrentGates& gates, const float* sums,
                    const float* x, float* content, float* y);
  // y[j] = the sum over t of weights[t] * x[offsets[t] + j] in the order kFours, from 0 on, + bias.
  void (*sum_taps)(const FloatTaps& p, const float* x, size_t n, float* y);
  // y[i] = x[indices[0][i]] * weights[0][i] + x[indices[1][i]] * weights[1][i] + ..., of counts[i] terms, from left to right, every
  // product and sum rounded; without a term 0. x and y are not the same. REQUIRES: taps >= 1.
  void (*weigh)(const FloatWeights& p, const float* x, float* y);
  // y[j] = x[offsets[0] + j] * weights[0] + ... for j < n, likewise, without the bias. REQUIRES: count >= 1.
  void (*weigh_lines)(const FloatTaps& p, const float* x, size_t n, float* y);
  // May be null: nothing is gained by it then. REQUIRES: kMinLayerNormBytes <= n <= kMaxLayerNormBytes.
  void (*layer_norm_bytes)(const LayerNormBytes& params, const uint8_t* x, size_t rows, size_t n,
                           float* floats, uint8_t* y);
};

const FloatKernel* float_kernels(size_t* count);
const FloatKernel* select_float(IsaSet isas);

// y = table[x]
void float_table(const float table[256], const uint8_t* x, float* y, size_t n);

}  // namespace qrt

#endif  // QRT_KERNELS_FLOAT_FALLBACK_FLOAT_FALLBACK_H_
