// SPDX-License-Identifier: Apache-2.0
// The definition: one number at a time, std::fma.
#include "converter/quantize/float/gemm_tile.h"

namespace qrt::quantize {
namespace {

struct Lanes {
  static constexpr int kRows = 1, kPanels = 1;
  float v[kPanel];
  static __attribute__((always_inline)) inline Lanes all(float f) {
    Lanes y;
    for (float& e : y.v) e = f;
    return y;
  }
  static __attribute__((always_inline)) inline Lanes zero() { return all(0); }
  static __attribute__((always_inline)) inline Lanes load(const float* p) {
    Lanes y;
    for (size_t i = 0; i < kPanel; ++i) y.v[i] = p[i];
    return y;
  }
  void store(float* p) const {
    for (size_t i = 0; i < kPanel; ++i) p[i] = v[i];
  }
  Lanes plus(const Lanes& o) const {
    Lanes y;
    for (size_t i = 0; i < kPanel; ++i) y.v[i] = v[i] + o.v[i];
    return y;
  }
  void fma(float w, const Lanes& x) {
    for (size_t i = 0; i < kPanel; ++i) v[i] = __builtin_fmaf(w, x.v[i], v[i]);
  }
};

}  // namespace
}  // namespace qrt::quantize

QRT_GEMM_ENTRIES(scalar)
