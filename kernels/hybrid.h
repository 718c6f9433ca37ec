// SPDX-License-Identifier: Apache-2.0
// Arithmetic of TFLite's dynamic range ("hybrid") models, normative: floats that become int8 codes as they come, with a scale
// from their own range, as LiteRT's portable reference kernels compute them; what the layers make of the codes' sums stands in
// edge/edge.h (store_sums). Single IEEE operations, float64 ones where the reference has them, in the order written here: no
// contraction. The scalar row and the runtime use these; a SIMD form must equal them bit for bit.
//
// The reference converts what is infinite or no number to an integer, which no standard defines: here it takes the limit it is
// at, NaN the lower one.
#ifndef QRT_KERNELS_HYBRID_H_
#define QRT_KERNELS_HYBRID_H_

#include <cstdint>

namespace qrt {

// code(x) = clamp(HA(fl32(f(zero_point) + fl32(x * factor))), lo, 127), HA: half away from zero.
struct HybridScale {
  float scale = 1.0f, factor = 0.0f;
  int32_t zero_point = 0, lo = -127;
};

// Returns HA(clamp(v, lo, hi)), and lo for NaN. REQUIRES: lo and hi within 2^22.
template <class Real>
int32_t hybrid_round(Real v, int32_t lo, int32_t hi) {
  if (!(v > static_cast<Real>(lo))) return lo;
  if (v >= static_cast<Real>(hi)) return hi;
  const auto whole = static_cast<int32_t>(v);
  const Real rest = v - static_cast<Real>(whole);  // exact
  return whole + (rest >= static_cast<Real>(0.5) ? 1 : 0) -
         (rest <= static_cast<Real>(-0.5) ? 1 : 0);
}

// Returns the scale for floats from `least` <= 0 to `most` >= 0.
inline HybridScale hybrid_symmetric(float least, float most) {
  HybridScale s;
  const float range = -least > most ? -least : most;
  if (range == 0) return s;
  s.scale = range / 127.0f;
  s.factor = 127.0f / range;
  return s;
}

inline HybridScale hybrid_asymmetric(float least, float most) {
  HybridScale s;
  s.lo = -128;
  if (least == most) return s;
  const auto from = static_cast<double>(least), to = static_cast<double>(most);
  const double scale = (to - from) / 255.0;
  const double low = from / scale, high = to / scale;  // low <= 0 <= high
  const double zero = 128.0 - low < 127.0 + high ? -128.0 - low : 127.0 - high;
  s.zero_point = hybrid_round(zero, -128, 127);
  s.scale = static_cast<float>(scale);
  s.factor = 1.0f / s.scale;
  return s;
}

inline int32_t hybrid_code(float x, const HybridScale& s) {
  const float steps = x * s.factor;
  return hybrid_round(static_cast<float>(s.zero_point) + steps, s.lo, 127);
}

}  // namespace qrt

#endif  // QRT_KERNELS_HYBRID_H_
