// SPDX-License-Identifier: Apache-2.0
#include <immintrin.h>

#include "converter/quantize/float/gemm_tile.h"

namespace qrt::quantize {
namespace {

struct Lanes {
  static constexpr int kRows = 8, kPanels = 3;  // 24 of 32 registers hold sums
  __m512 v;
  static __attribute__((always_inline)) inline Lanes all(float f) { return {_mm512_set1_ps(f)}; }
  static __attribute__((always_inline)) inline Lanes zero() { return {_mm512_setzero_ps()}; }
  static __attribute__((always_inline)) inline Lanes load(const float* p) {
    return {_mm512_loadu_ps(p)};
  }
  void store(float* p) const { _mm512_storeu_ps(p, v); }
  Lanes plus(Lanes o) const { return {_mm512_add_ps(v, o.v)}; }
  void fma(float w, Lanes x) { v = _mm512_fmadd_ps(_mm512_set1_ps(w), x.v, v); }
};

}  // namespace
}  // namespace qrt::quantize

QRT_GEMM_ENTRIES(avx512vnni)
