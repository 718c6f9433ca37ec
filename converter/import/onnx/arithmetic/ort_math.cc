// SPDX-License-Identifier: Apache-2.0
// The float functions of ONNX Runtime's CPU kernels. Constants and order of operations are theirs;
// every operation is one binary32 rounding, a fused multiply-add where std::fma stands.
#include "converter/import/onnx/arithmetic/ort_math.h"

#include <cfloat>
#include <cmath>
#include <cstring>
#include <initializer_list>

namespace qrt::convert::from_onnx {
namespace {

static_assert(FLT_EVAL_METHOD == 0, "float expressions must round to binary32");

// Returns c0*t^n + c1*t^(n-1) + ..., by fused multiply-adds.
float horner(float t, std::initializer_list<float> coefficients) {
  auto c = coefficients.begin();
  float r = *c++;
  for (; c != coefficients.end(); ++c) r = std::fma(r, t, *c);
  return r;
}

float clamp(float x, float lo, float hi) { return x < lo ? lo : x > hi ? hi : x; }

struct Reduced {
  float exponent;   // a whole number m
  float remainder;  // x - m * ln 2
};

Reduced reduce_fused(float x) {
  const float m = std::fma(x, 1.44269504088896341f, 12582912.0f) - 12582912.0f;
  float r = std::fma(m, -6.93145752e-1f, x);
  r = std::fma(m, -1.42860677e-6f, r);
  return {m, r};
}

// Compute without fma: the exp and log that Elu, Selu, Softplus and Mish take.
float exp_unfused(float x) {
  if (std::isnan(x)) return x;  // of a scale that is not a number
  if (x > 88.723f) x = 88.723f;
  if (x < -104.0f) return 0.0f;
  const float m = std::floor(x * 1.44269504088896341f + 0.5f);
  float r = x + m * -0.693359375f;
  r = r + m * 2.12194440e-4f;
  const float t = r * r;
  const float even =
      (1.37449637986719608306884765625e-3f * t + 4.166965186595916748046875e-2f) * t +
      0.49999988079071044921875f;
  const float odd = 8.36894474923610687255859375e-3f * t + 0.16666518151760101318359375f;
  return std::ldexp((odd * r + even) * t + (r + 1.0f), static_cast<int>(m));
}

float log_unfused(float x) {
  int exponent;
  const float m = std::frexp(x, &exponent);
  float e = static_cast<float>(exponent), d = m - 1.0f;
  if (m < 0.707106781186547524f) {
    e = e - 1.0f;
    d = d + m;
  }
  const float p = ((0.18256296349849254f * d + 1.0000000190281063f) * d + 1.0000000190281136f) * d;
  const float q =
      ((0.049616247954120038f * d + 0.5992324959082352f) * d + 1.4999999999999927f) * d + 1.0f;
  return e * 0.693147180559945309f + p / q;
}

float log1p_unfused(float x) {
  const float u = 1.0f + x;
  return u == 1.0f ? x : x * (log_unfused(u) / (u - 1.0f));
}

}  // namespace

int quantize_ort(float x, float scale, int zero_point, int lo, int hi) {
  const float v = x / scale;
  const float least = static_cast<float>(lo - zero_point);
  const float most = static_cast<float>(hi - zero_point);
  if (!(v > least)) return lo;
  if (v > most) return hi;
  return static_cast<int>(std::nearbyint(v)) + zero_point;
}

float ort_logistic(float x) {
  if (std::isnan(x)) return x;
  const float v = clamp(x, -18.0f, 18.0f), s = v * v;
  const float p =
      v * horner(s, {4.37031012579801e-11f, 1.15627324459942e-07f, 6.08574864600143e-05f,
                     8.51377133304701e-03f, 2.48287947061529e-01f});
  const float q = horner(s, {6.10247389755681e-13f, 5.76102136993427e-09f, 6.29106785017040e-06f,
                             1.70198817374094e-03f, 1.16817656904453e-01f, 9.93151921023180e-01f});
  const float y = p / q + 0.5f;
  return y > 0.0f ? y : 0.0f;
}

float ort_tanh(float x) {
  if (std::isnan(x)) return x;
  const float v = clamp(x, -9.0f, 9.0f), s = v * v;
  const float p =
      v * horner(s, {-2.76076847742355e-16f, 2.00018790482477e-13f, -8.60467152213735e-11f,
                     5.12229709037114e-08f, 1.48572235717979e-05f, 6.37261928875436e-04f,
                     4.89352455891786e-03f});
  const float q = horner(s, {1.19825839466702e-06f, 1.18534705686654e-04f, 2.26843463243900e-03f,
                             4.89352518554385e-03f});
  return p / q;
}

float ort_exp(float x) {
  if (std::isnan(x)) return x;
  const float v = x > -103.9720840454f ? x : -103.9720840454f;
  if (v > 89.0f) return INFINITY;
  const Reduced a = reduce_fused(v);
  const float p = horner(a.remainder, {0x1.694p-10f, 0x1.125edcp-7f, 0x1.555b5ap-5f, 0x1.55545p-3f,
                                       0x1.fffff6p-2f, 1.0f, 1.0f});
  return std::ldexp(p, static_cast<int>(a.exponent));
}

float ort_erf(float x) {
  if (std::isnan(x)) return x;
  const float magnitude = std::fabs(x), a = magnitude < 3.925f ? magnitude : 3.925f;
  float y;
  if (a < 0.921875f) {
    const float s = a * a;
    y = std::fma(horner(s, {-5.99104969e-4f, 4.99339588e-3f, -2.67667342e-2f, 1.12818025e-1f,
                            -3.76124859e-1f, 1.28379151e-1f}),
                 a, a);
  } else {
    const float u =
        -std::fma(horner(a, {1.72948930e-5f, -3.83208680e-4f, 3.88393435e-3f, -2.42545605e-2f,
                             1.06777847e-1f, 6.34846687e-1f, 1.28717512e-1f}),
                  a, a);
    const Reduced r = reduce_fused(u);
    const float p = horner(r.remainder, {1.38319808e-3f, 8.37550033e-3f, 4.16689515e-2f,
                                         1.66664466e-1f, 4.99999851e-1f, 1.0f, 1.0f});
    y = 1.0f - std::ldexp(p, static_cast<int>(r.exponent));
  }
  return std::copysign(y, x);
}

float ort_leaky_relu(float x, float alpha) { return x >= 0.0f ? x : alpha * x; }

float ort_hard_sigmoid(float x, float alpha, float beta) {
  const float v = alpha * x;
  return clamp(v + beta, 0.0f, 1.0f);
}

float ort_hard_swish(float x) { return x * ort_hard_sigmoid(x, 1.0f / 6.0f, 0.5f); }

float ort_softsign(float x) { return (1.0f / (1.0f + std::fabs(x))) * x; }

float ort_gelu(float x) {
  const float scaled = x * 0.70710678118654752f;
  const float one_plus = 1.0f + ort_erf(scaled);
  return (0.5f * x) * one_plus;
}

float ort_gelu_tanh(float x) {
  const float inner = x * (0.035677408136300125f * x * x + 0.7978845608028654f);
  return 0.5f * x * (ort_tanh(inner) + 1.0f);
}

float ort_quick_gelu(float x, float alpha) { return x * ort_logistic(x * alpha); }

float ort_log(float x) {
  if (!(x > 0.0f)) return x == 0.0f ? -INFINITY : NAN;
  return std::isinf(x) ? x : log_unfused(x);
}

float ort_celu(float x, float alpha) {
  const float below = alpha * (exp_unfused(x / alpha) - 1.0f);
  return (x > 0.0f ? x : 0.0f) + (below < 0.0f ? below : 0.0f);
}

float ort_elu(float x, float alpha) { return x >= 0.0f ? x : alpha * (exp_unfused(x) - 1.0f); }

float ort_selu(float x, float alpha, float gamma) {
  const float factor = gamma * alpha;
  return x > 0.0f ? gamma * x : factor * (exp_unfused(x) - 1.0f);
}

float ort_softplus(float x) {
  return x > 0.0f ? x + log1p_unfused(exp_unfused(-x)) : log1p_unfused(exp_unfused(x));
}

float ort_mish(float x) { return x * ort_tanh(ort_softplus(x)); }

void ort_softmax_table(float input_scale, int64_t length, float* table) {
  const double step = input_scale;
  const float room = std::log(FLT_MAX / static_cast<float>(length));  // the float32 logarithm
  const double bound = static_cast<double>(room) - 5.0;
  const double bias = (bound > 0.0 ? bound : 0.0) / step;
  for (int i = 0; i < 256; ++i) table[i] = static_cast<float>(std::exp((i - 255 + bias) * step));
}

}  // namespace qrt::convert::from_onnx
