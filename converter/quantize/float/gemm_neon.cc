// SPDX-License-Identifier: Apache-2.0
#include <arm_neon.h>

#include "converter/quantize/float/gemm_tile.h"

namespace qrt::quantize {
namespace {

struct Lanes {
  static constexpr int kRows = 4, kPanels = 1;  // 16 of 32 registers hold sums
  float32x4_t v[4];
  static __attribute__((always_inline)) inline Lanes all(float f) {
    const float32x4_t q = vdupq_n_f32(f);
    return {{q, q, q, q}};
  }
  static __attribute__((always_inline)) inline Lanes zero() { return all(0); }
  static __attribute__((always_inline)) inline Lanes load(const float* p) {
    return {{vld1q_f32(p), vld1q_f32(p + 4), vld1q_f32(p + 8), vld1q_f32(p + 12)}};
  }
  void store(float* p) const {
    for (int i = 0; i < 4; ++i) vst1q_f32(p + 4 * i, v[i]);
  }
  Lanes plus(Lanes o) const {
    return {{vaddq_f32(v[0], o.v[0]), vaddq_f32(v[1], o.v[1]), vaddq_f32(v[2], o.v[2]),
             vaddq_f32(v[3], o.v[3])}};
  }
  void fma(float w, Lanes x) {
    v[0] = vfmaq_n_f32(v[0], x.v[0], w);
    v[1] = vfmaq_n_f32(v[1], x.v[1], w);
    v[2] = vfmaq_n_f32(v[2], x.v[2], w);
    v[3] = vfmaq_n_f32(v[3], x.v[3], w);
  }
};

}  // namespace
}  // namespace qrt::quantize

QRT_GEMM_ENTRIES(neon)
