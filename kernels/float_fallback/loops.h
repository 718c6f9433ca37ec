// SPDX-License-Identifier: Apache-2.0
// The float functions as loops over vectors, and over eight rows where an order of summation is kept:
// float_fallback_<isa>.cc says how wide they are and instantiates them for its instruction set.
#ifndef QRT_KERNELS_FLOAT_FALLBACK_LOOPS_H_
#define QRT_KERNELS_FLOAT_FALLBACK_LOOPS_H_

#include "kernels/float_fallback/entry.h"
#include "kernels/float_fallback/fused_functions.h"
#include "kernels/float_fallback/fused_product.h"
#include "kernels/float_fallback/lane_softmax.h"
#include "kernels/float_fallback/lanes.h"
#include "kernels/float_fallback/layer_norm.h"
#include "kernels/float_fallback/ort_gemm.h"
#include "kernels/float_fallback/power.h"
#include "kernels/float_fallback/real_functions.h"
#include "kernels/float_fallback/recurrent.h"
#include "kernels/float_fallback/sine.h"
#include "kernels/float_fallback/taps.h"
#include "kernels/float_fallback/weighted.h"

namespace qrt {
namespace {

// Computes y[i] = f(x[i]), the last ones in a vector of which some lanes are not used.
template <class F>
QRT_INLINE void map(const float* x, float* y, size_t n, const F& f) {
  size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) save(y + i, canonical(f(load(x + i))));
  if (i == n) return;
  float part[kLanes] = {};
  __builtin_memcpy(part, x + i, (n - i) * sizeof(float));
  save(part, canonical(f(load(part))));
  __builtin_memcpy(y + i, part, (n - i) * sizeof(float));
}

inline void unary(FloatUnary f, const float* x, float* y, size_t n) {
  switch (f) {
    case FloatUnary::kExp:
      return map(x, y, n, [](Floats v) QRT_INLINE_LAMBDA { return exp_of(v); });
    case FloatUnary::kErf:
      return map(x, y, n, [](Floats v) QRT_INLINE_LAMBDA { return erf_of(v); });
    case FloatUnary::kSigmoid:
      return map(x, y, n, [](Floats v) QRT_INLINE_LAMBDA { return sigmoid_of(v); });
    case FloatUnary::kTanh:
      return map(x, y, n, [](Floats v) QRT_INLINE_LAMBDA { return tanh_of(v); });
    case FloatUnary::kOrtSigmoid:
      return map(x, y, n, [](Floats v) QRT_INLINE_LAMBDA { return ort_sigmoid_of(v); });
    case FloatUnary::kOrtTanh:
      return map(x, y, n, [](Floats v) QRT_INLINE_LAMBDA { return ort_tanh_of(v); });
    case FloatUnary::kGelu:
      return map(x, y, n, [](Floats v) QRT_INLINE_LAMBDA { return gelu_of(v); });
    case FloatUnary::kFusedGelu:
      return map(x, y, n, [](Floats v) QRT_INLINE_LAMBDA { return fused_gelu_of(v); });
    case FloatUnary::kFloor:
      return map(x, y, n, [](Floats v) QRT_INLINE_LAMBDA { return floor_of(v); });
    case FloatUnary::kCeil:
      return map(x, y, n, [](Floats v) QRT_INLINE_LAMBDA { return ceil_of(v); });
    case FloatUnary::kRound:
      return map(x, y, n, [](Floats v) QRT_INLINE_LAMBDA { return rounded_of(v); });
    case FloatUnary::kLog:
      return map(x, y, n, [](Floats v) QRT_INLINE_LAMBDA { return log_of(v); });
    case FloatUnary::kLog1p:
      return map(x, y, n, [](Floats v) QRT_INLINE_LAMBDA { return log1p_of(v); });
    case FloatUnary::kSin:
    case FloatUnary::kCos:
      for (size_t i = 0; i < n; ++i) y[i] = canonical(sine_of(x[i], f == FloatUnary::kCos));
      return;
    case FloatUnary::kFusedErf:
      return map(x, y, n, [](Floats v) QRT_INLINE_LAMBDA { return fused_erf_of(v); });
    case FloatUnary::kFusedSigmoid:
      return map(x, y, n, [](Floats v) QRT_INLINE_LAMBDA { return fused_sigmoid_of(v); });
    case FloatUnary::kTan:
    case FloatUnary::kAsin:
    case FloatUnary::kAcos:
    case FloatUnary::kAtan:
    case FloatUnary::kSinh:
    case FloatUnary::kCosh:
    case FloatUnary::kAsinh:
    case FloatUnary::kAcosh:
    case FloatUnary::kAtanh: return real_functions(f, x, y, n);
    case FloatUnary::kSqrt:
      for (size_t i = 0; i < n; ++i) y[i] = canonical(__builtin_sqrtf(x[i]));
      return;
  }
}

template <class F>
QRT_INLINE void pairs(const float* a, size_t a_step, const float* b, size_t b_step, float* y,
                      size_t n, const F& f) {
  const Floats a0 = all(*a), b0 = all(*b);
  size_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    save(y + i, canonical(f(a_step == 0 ? a0 : load(a + i), b_step == 0 ? b0 : load(b + i))));
  if (i == n) return;
  float x[kLanes] = {}, z[kLanes] = {};
  for (size_t j = 0; i + j < n; ++j) x[j] = a[(i + j) * a_step], z[j] = b[(i + j) * b_step];
  save(x, canonical(f(load(x), load(z))));
  __builtin_memcpy(y + i, x, (n - i) * sizeof(float));
}

inline void binary(FloatBinary f, const float* a, size_t a_step, const float* b, size_t b_step,
                   float* y, size_t n) {
  const auto run = [&](const auto& g) QRT_INLINE_LAMBDA { pairs(a, a_step, b, b_step, y, n, g); };
  switch (f) {
    case FloatBinary::kAdd: return run([](Floats u, Floats v) QRT_INLINE_LAMBDA { return u + v; });
    case FloatBinary::kSub: return run([](Floats u, Floats v) QRT_INLINE_LAMBDA { return u - v; });
    case FloatBinary::kMul: return run([](Floats u, Floats v) QRT_INLINE_LAMBDA { return u * v; });
    case FloatBinary::kDiv: return run([](Floats u, Floats v) QRT_INLINE_LAMBDA { return u / v; });
    case FloatBinary::kMin:
      return run([](Floats u, Floats v) QRT_INLINE_LAMBDA { return u < v ? u : v; });
    case FloatBinary::kMax:
      return run([](Floats u, Floats v) QRT_INLINE_LAMBDA { return u > v ? u : v; });
    case FloatBinary::kEqual:
      return run([](Floats u, Floats v) QRT_INLINE_LAMBDA { return u == v ? all(1) : all(0); });
    case FloatBinary::kLess:
      return run([](Floats u, Floats v) QRT_INLINE_LAMBDA { return u < v ? all(1) : all(0); });
    case FloatBinary::kLessOrEqual:
      return run([](Floats u, Floats v) QRT_INLINE_LAMBDA { return u <= v ? all(1) : all(0); });
    case FloatBinary::kPow:
      for (size_t i = 0; i < n; ++i) y[i] = power_of(a[i * a_step], b[i * b_step]);
      return;
    case FloatBinary::kFmod:
      for (size_t i = 0; i < n; ++i) y[i] = remainder_of(a[i * a_step], b[i * b_step]);
      return;
    case FloatBinary::kNanMin:
      return run([](Floats u, Floats v) QRT_INLINE_LAMBDA { return ((u < v) | (u != u)) ? u : v; });
    case FloatBinary::kNanMax:
      return run([](Floats u, Floats v) QRT_INLINE_LAMBDA { return ((u > v) | (u != u)) ? u : v; });
    case FloatBinary::kKeepNonzero:
      return run([](Floats u, Floats v) QRT_INLINE_LAMBDA { return v == all(0) ? all(-0.0f) : u; });
    case FloatBinary::kKeepZero:
      return run([](Floats u, Floats v) QRT_INLINE_LAMBDA { return v == all(0) ? u : all(-0.0f); });
  }
}

// Folds of kRows rows side by side, each in the order of its elements: they wait for each other's
// additions instead of for their own.
constexpr int kRows = 8;

template <int R, class F>
QRT_INLINE void fold(const float* x, size_t n, size_t first, float (&acc)[R], const F& f) {
  for (size_t i = first; i < n; ++i) {
    QRT_UNROLL
    for (int r = 0; r < R; ++r) acc[r] = f(acc[r], x[static_cast<size_t>(r) * n + i], r);
  }
}

template <int R, class F>
QRT_INLINE void fold_from_first(const float* x, size_t n, float (&acc)[R], const F& f) {
  QRT_UNROLL
  for (int r = 0; r < R; ++r) acc[r] = x[static_cast<size_t>(r) * n];
  fold<R>(x, n, 1, acc, f);
}

constexpr auto kPlus = [](float a, float b, int) QRT_INLINE_LAMBDA { return a + b; };
constexpr auto kTimes = [](float a, float b, int) QRT_INLINE_LAMBDA { return a * b; };
constexpr auto kGreater = [](float a, float b, int) QRT_INLINE_LAMBDA { return a > b ? a : b; };
constexpr auto kLesser = [](float a, float b, int) QRT_INLINE_LAMBDA { return a < b ? a : b; };
constexpr auto kNanGreater = [](float a, float b, int) QRT_INLINE_LAMBDA {
  const float greater = a > b ? a : b;
  return a != a ? a : greater;
};
constexpr auto kNanLesser = [](float a, float b, int) QRT_INLINE_LAMBDA {
  const float lesser = a < b ? a : b;
  return a != a ? a : lesser;
};

// Returns the greatest of a row, what `fold` of kGreater gives but for the sign of a zero, which no
// exponential depends on. A NaN counts there by its place: such rows are folded.
inline float greatest_of(const float* x, size_t n) {
  if (n < kLanes) {
    float acc[1];
    fold_from_first<1>(x, n, acc, kGreater);
    return acc[0];
  }
  Floats most = load(x);
  Ints is_nan = most != most;
  for (size_t i = kLanes; i < n; i += kLanes) {
    const Floats v = load(x + (i + kLanes <= n ? i : n - kLanes));  // the last ones once more
    most = most > v ? most : v;
    is_nan |= v != v;
  }
  float lanes[kLanes], acc = 0;
  save(lanes, most);
  int32_t any = 0;
  for (size_t i = 0; i < kLanes; ++i) {
    acc = i == 0 || lanes[i] > acc ? lanes[i] : acc;
    any |= is_nan[i];
  }
  if (any == 0) return acc;
  float folded[1];
  fold_from_first<1>(x, n, folded, kGreater);
  return folded[0];
}

template <int R>
inline void softmax(bool logarithm, const float* x, float* y, size_t n) {
  float greatest[R], sum[R] = {};
  for (int r = 0; r < R; ++r) greatest[r] = greatest_of(x + static_cast<size_t>(r) * n, n);
  for (int r = 0; r < R; ++r) {
    const size_t at = static_cast<size_t>(r) * n;
    const Floats most = all(greatest[r]);
    map(x + at, y + at, n, [&](Floats v) QRT_INLINE_LAMBDA { return exp_of(v - most); });
  }
  fold<R>(y, n, 0, sum, kPlus);
  for (int r = 0; r < R; ++r) {
    const size_t at = static_cast<size_t>(r) * n;
    const Floats most = all(greatest[r]);
    const Floats all_of_row = all(logarithm ? log_of(sum[r]) : sum[r]);
    if (logarithm)
      map(x + at, y + at, n, [&](Floats v) QRT_INLINE_LAMBDA { return (v - most) - all_of_row; });
    else
      map(y + at, y + at, n, [&](Floats v) QRT_INLINE_LAMBDA { return v / all_of_row; });
  }
}

template <int R>
inline void normalize(float epsilon, const float* x, float* y, size_t n) {
  const float count = static_cast<float>(n);
  float mean[R], sum[R] = {};
  fold_from_first<R>(x, n, mean, kPlus);
  for (int r = 0; r < R; ++r) mean[r] = mean[r] / count;
  fold<R>(x, n, 0, sum, [&](float a, float v, int r) QRT_INLINE_LAMBDA {
    const float d = v - mean[r];
    return a + d * d;
  });
  for (int r = 0; r < R; ++r) {
    const size_t at = static_cast<size_t>(r) * n;
    const Floats m = all(mean[r]), deviation = all(__builtin_sqrtf(sum[r] / count + epsilon));
    map(x + at, y + at, n, [&](Floats v) QRT_INLINE_LAMBDA { return (v - m) / deviation; });
  }
}

template <int R, class F>
QRT_INLINE void reduce(const float* x, float* y, size_t n, float divisor, const F& f) {
  float acc[R];
  fold_from_first<R>(x, n, acc, f);
  for (int r = 0; r < R; ++r) y[r] = canonical(acc[r] / divisor);
}

// Returns whether one of n values is a NaN.
inline bool has_nan(const float* x, size_t n) {
  Ints is_nan = {};
  size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) is_nan |= load(x + i) != load(x + i);
  int32_t any = 0;
  for (; i < n; ++i) any |= x[i] != x[i];
  for (size_t lane = 0; lane < kLanes; ++lane) any |= is_nan[lane];
  return any != 0;
}

// Reduces rows by `f`, or where they hold a NaN by `of_nan`, which is slower and differs only there.
template <int R, class F, class G>
QRT_INLINE void reduce_nan(const float* x, float* y, size_t n, const F& f, const G& of_nan) {
  if (has_nan(x, static_cast<size_t>(R) * n))
    reduce<R>(x, y, n, 1.0f, of_nan);
  else
    reduce<R>(x, y, n, 1.0f, f);
}

template <int R>
inline void rows_of(FloatRows f, float epsilon, const float* x, float* y, size_t n) {
  switch (f) {
    case FloatRows::kSoftmax:
    case FloatRows::kLogSoftmax: return softmax<R>(f == FloatRows::kLogSoftmax, x, y, n);
    case FloatRows::kNormalize: return normalize<R>(epsilon, x, y, n);
    case FloatRows::kSum: return reduce<R>(x, y, n, 1.0f, kPlus);
    case FloatRows::kMean: return reduce<R>(x, y, n, static_cast<float>(n), kPlus);
    case FloatRows::kMax: return reduce<R>(x, y, n, 1.0f, kGreater);
    case FloatRows::kMin: return reduce<R>(x, y, n, 1.0f, kLesser);
    case FloatRows::kProduct: return reduce<R>(x, y, n, 1.0f, kTimes);
    case FloatRows::kNanMax: return reduce_nan<R>(x, y, n, kGreater, kNanGreater);
    case FloatRows::kNanMin: return reduce_nan<R>(x, y, n, kLesser, kNanLesser);
  }
}

inline void rows(FloatRows f, float epsilon, const float* x, float* y, size_t rows, size_t n) {
  const size_t made = f <= FloatRows::kNormalize ? n : 1;
  size_t r = 0;
  for (; r + kRows <= rows; r += kRows) rows_of<kRows>(f, epsilon, x + r * n, y + r * made, n);
  for (; r < rows; ++r) rows_of<1>(f, epsilon, x + r * n, y + r * made, n);
}

// Multiplies MR rows by NV vectors of columns: the sums stay in registers over k.
template <int MR, int NV>
QRT_INLINE void tile(const float* a, const float* b, size_t k, size_t n, float* y) {
  Floats acc[MR][NV];
  const auto step = [&](size_t i, const auto& put) QRT_INLINE_LAMBDA {
    Floats line[NV];
    QRT_UNROLL
    for (int v = 0; v < NV; ++v) line[v] = load(b + i * n + static_cast<size_t>(v) * kLanes);
    QRT_UNROLL
    for (int r = 0; r < MR; ++r) {
      const Floats splat = all(a[static_cast<size_t>(r) * k + i]);
      QRT_UNROLL
      for (int v = 0; v < NV; ++v) put(acc[r][v], splat * line[v]);
    }
  };
  step(0, [](Floats& sum, Floats product) QRT_INLINE_LAMBDA { sum = product; });
  for (size_t i = 1; i < k; ++i)
    step(i, [](Floats& sum, Floats product) QRT_INLINE_LAMBDA { sum = sum + product; });
  QRT_UNROLL
  for (int r = 0; r < MR; ++r) {
    QRT_UNROLL
    for (int v = 0; v < NV; ++v)
      save(y + static_cast<size_t>(r) * n + static_cast<size_t>(v) * kLanes, canonical(acc[r][v]));
  }
}

// MR rows against all columns.
template <int MR, int NV>
inline void product_rows(const float* a, const float* b, size_t k, size_t n, float* y) {
  size_t j = 0;
  for (; j + NV * kLanes <= n; j += NV * kLanes) tile<MR, NV>(a, b + j, k, n, y + j);
  for (; j + kLanes <= n; j += kLanes) tile<MR, 1>(a, b + j, k, n, y + j);
  if (j < n && n >= kLanes) return tile<MR, 1>(a, b + n - kLanes, k, n, y + n - kLanes);
  for (; j < n; ++j)
    for (int r = 0; r < MR; ++r) {
      const float* row = a + static_cast<size_t>(r) * k;
      float sum = row[0] * b[j];
      for (size_t i = 1; i < k; ++i) sum = sum + row[i] * b[i * n + j];
      y[static_cast<size_t>(r) * n + j] = canonical(sum);
    }
}

template <int MR, int NV>
inline void product(const float* a, size_t rows, const float* b, size_t k, size_t n, float* y) {
  size_t r = 0;
  for (; r + MR <= rows; r += MR) product_rows<MR, NV>(a + r * k, b, k, n, y + r * n);
  for (; r < rows; ++r) product_rows<1, NV>(a + r * k, b, k, n, y + r * n);
}

}  // namespace
}  // namespace qrt

// The entry points of a file; MR rows and NV vectors of a product's tile.
#define QRT_FLOAT_LOOPS(suffix, MR, NV)                                                        \
  namespace qrt {                                                                              \
  void float_unary_##suffix(FloatUnary f, const float* x, float* y, size_t n) {                \
    unary(f, x, y, n);                                                                         \
  }                                                                                            \
  void float_binary_##suffix(FloatBinary f, const float* a, size_t a_step, const float* b,     \
                             size_t b_step, float* y, size_t n) {                              \
    binary(f, a, a_step, b, b_step, y, n);                                                     \
  }                                                                                            \
  void float_rows_##suffix(FloatRows f, float epsilon, const float* x, float* y, size_t r,     \
                           size_t n) {                                                         \
    rows(f, epsilon, x, y, r, n);                                                              \
  }                                                                                            \
  void float_product_##suffix(const float* a, size_t r, const float* b, size_t k, size_t n,    \
                              float* y) {                                                      \
    product<MR, NV>(a, r, b, k, n, y);                                                         \
  }                                                                                            \
  void float_lane_softmax_##suffix(const LaneSoftmax& p, const float* x, size_t r, float* y) { \
    lane_softmax(p, x, r, y);                                                                  \
  }                                                                                            \
  void float_fused_product_##suffix(const FusedProduct& p, const float* a, size_t r,           \
                                    const float* b, float* y) {                                \
    fused_product<MR, NV>(p, a, r, b, y);                                                      \
  }                                                                                            \
  void float_layer_norm_##suffix(float epsilon, const float* x, const float* scale,            \
                                 const float* bias, float* y, size_t r, size_t n) {            \
    layer_norms(epsilon, x, scale, bias, y, r, n);                                             \
  }                                                                                            \
  void float_ort_gemm_##suffix(const OrtGemm& g, const float* a, size_t r, const float* b,     \
                               const float* bias, size_t bias_step, float* y) {                \
    ort_gemms<MR, NV>(g, a, r, b, bias, bias_step, y);                                         \
  }                                                                                            \
  void float_taps_##suffix(const FloatTaps& p, const float* x, size_t n, float* y) {           \
    sum_taps(p, x, n, y);                                                                      \
  }                                                                                            \
  void float_weighted_##suffix(const FloatWeights& p, const float* x, float* y) {              \
    weigh(p, x, y);                                                                            \
  }                                                                                            \
  void float_weighted_lines_##suffix(const FloatTaps& p, const float* x, size_t n, float* y) { \
    weigh_lines(p, x, n, y);                                                                   \
  }                                                                                            \
  void float_recurrent_##suffix(RecurrentStage stage, const RecurrentGates& gates,             \
                                const float* sums, const float* x, float* content, float* y) { \
    recurrent_stage(stage, gates, sums, x, content, y);                                        \
  }                                                                                            \
  }

#endif  // QRT_KERNELS_FLOAT_FALLBACK_LOOPS_H_
