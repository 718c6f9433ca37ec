// SPDX-License-Identifier: Apache-2.0
// The logarithm of a softmax by table; see log_softmax.h. Written once for two kinds of float32
// numbers: the CPU's, and those of soft_float.h for builds without floating point.
#include "kernels/softmax/log_softmax.h"

#include <string.h>

#include "kernels/integer_only.h"
#include "kernels/soft_float.h"

namespace qrt {
namespace {

struct Hard {
  static Hard of(float f) { return {f}; }
  static Hard of_int(int64_t i) { return {static_cast<float>(i)}; }
  static Hard of_bits(uint32_t bits) {
    Hard h;
    memcpy(&h.v, &bits, 4);
    return h;
  }
  uint32_t bits() const {
    uint32_t b;
    memcpy(&b, &v, 4);
    return b;
  }
  // Rounds half to even and clamps to lo..hi; |lo|, |hi| < 2^22.
  int32_t rounded(int32_t lo, int32_t hi) const {
    const float least = static_cast<float>(lo), most = static_cast<float>(hi);
    float x = v > least ? v : least;
    x = x < most ? x : most;
    // Added to |x| < 2^22 it leaves an integer, rounded half to even.
    constexpr float kRound = 12582912.0f;
    return static_cast<int32_t>(x + kRound) - static_cast<int32_t>(kRound);
  }
  float v;
};
inline Hard operator+(Hard a, Hard b) { return {a.v + b.v}; }
inline Hard operator-(Hard a, Hard b) { return {a.v - b.v}; }
inline Hard operator*(Hard a, Hard b) { return {a.v * b.v}; }
inline Hard operator/(Hard a, Hard b) { return {a.v / b.v}; }

struct Soft {
  static Soft of(float f) { return {soft::bits_of(f)}; }
  static Soft of_int(int64_t i) { return {soft::from_int(i)}; }
  static Soft of_bits(uint32_t bits) { return {bits}; }
  uint32_t bits() const { return v; }
  int32_t rounded(int32_t lo, int32_t hi) const {
    if ((v & 0x7fffffff) == soft::kInfinity) return v >> 31 ? lo : hi;
    const int64_t i = soft::to_int(v);
    return static_cast<int32_t>(i < lo ? lo : i > hi ? hi : i);
  }
  soft::Bits v;
};
inline Soft operator+(Soft a, Soft b) { return {soft::add(a.v, b.v)}; }
inline Soft operator-(Soft a, Soft b) { return {soft::add(a.v, b.v ^ 0x80000000u)}; }
inline Soft operator*(Soft a, Soft b) { return {soft::mul(a.v, b.v)}; }
inline Soft operator/(Soft a, Soft b) { return {soft::div(a.v, b.v)}; }

// Returns log(x) for x = 2^e * m, m in [sqrt(1/2), sqrt(2)). With f = m - 1 and s = f / (2 + f), log(m)
// is 2 * atanh(s), by its series up to s^9: |s| < 0.1716, so the remainder is below 2^-29 of it.
template <class N>
N log_of(N x) {
  constexpr uint32_t kRootOfHalf = 0x3f3504f3;
  const uint32_t shifted = x.bits() - kRootOfHalf;
  const N e = N::of_int(static_cast<int32_t>(shifted) >> 23);
  const N f = N::of_bits((shifted & 0x007fffffu) + kRootOfHalf) - N::of(1.0f);
  const N s = f / (N::of(2.0f) + f);
  const N z = s * s;
  N series = N::of(0.285714286f) + z * N::of(0.222222222f);
  series = N::of(0.4f) + z * series;
  series = z * (N::of(0.666666667f) + z * series);
  // log(1 + f) = f - s * (f - series); the large part of the logarithm of 2 is exact.
  return e * N::of(0.693359375f) + (f - (s * (f - series) + e * N::of(2.12194440e-4f)));
}

template <class N>
void log_softmax(const LogSoftmaxParams& p, const uint8_t* x, uint8_t* y, size_t n) {
  uint8_t greatest = 0;
  for (size_t i = 0; i < n; ++i) greatest = x[i] > greatest ? x[i] : greatest;
  const float* e = p.table + 255 - greatest;  // indexed by x_j
  N sum = N::of(0.0f);
  for (size_t i = 0; i < n; ++i) sum = sum + N::of(e[x[i]]);
  const N log_sum = log_of(sum), scale = N::of(p.scale), output_scale = N::of(p.output_scale);
  // Only those of the 256 bytes are computed that the row holds.
  bool known[256] = {};
  uint8_t value[256];
  for (size_t i = 0; i < n; ++i) {
    const uint8_t b = x[i];
    if (!known[b]) {
      const N v = (N::of_int(b - greatest) * scale - log_sum) / output_scale;
      value[b] = static_cast<uint8_t>(v.rounded(-p.zero_point, 255 - p.zero_point) + p.zero_point);
      known[b] = true;
    }
    y[i] = value[b];
  }
}

template <class N>
void log_softmax_int16(const LogSoftmaxInt16Params& p, const int16_t* x, int16_t* y, size_t n) {
  int16_t greatest = x[0];
  for (size_t i = 1; i < n; ++i) greatest = x[i] > greatest ? x[i] : greatest;
  const int32_t last = static_cast<int32_t>(kSoftmaxTableEntries) - 1;
  int64_t sum = 0;
  for (size_t i = 0; i < n; ++i) sum += p.table[last + x[i] - greatest];
  const N log_sum = log_of(N::of_int(sum) * N::of(1.0f / kSoftmaxTableOne));
  const N scale = N::of(p.scale), output_scale = N::of(p.output_scale);
  for (size_t i = 0; i < n; ++i) {
    const N v = (N::of_int(x[i] - greatest) * scale - log_sum) / output_scale;
    y[i] = static_cast<int16_t>(v.rounded(INT16_MIN - p.zero_point, INT16_MAX - p.zero_point) +
                                p.zero_point);
  }
}

}  // namespace

float log_f32(float x) {
  const uint32_t bits = kIntegerOnly ? log_of(Soft::of(x)).bits() : log_of(Hard::of(x)).bits();
  float y;
  memcpy(&y, &bits, 4);
  return y;
}

void log_softmax_rows(const LogSoftmaxParams& params, const uint8_t* x, uint8_t* y, size_t rows,
                      size_t n) {
  for (size_t row = 0; row < rows; ++row, x += n, y += n) {
    if (kIntegerOnly)
      log_softmax<Soft>(params, x, y, n);
    else
      log_softmax<Hard>(params, x, y, n);
  }
}

void log_softmax_int16_rows(const LogSoftmaxInt16Params& params, const int16_t* x, int16_t* y,
                            size_t rows, size_t n) {
  for (size_t row = 0; row < rows; ++row, x += n, y += n) {
    if (kIntegerOnly)
      log_softmax_int16<Soft>(params, x, y, n);
    else
      log_softmax_int16<Hard>(params, x, y, n);
  }
}

}  // namespace qrt
