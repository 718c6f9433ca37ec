// SPDX-License-Identifier: Apache-2.0
#include <immintrin.h>

#include "converter/quantize/float/gemm_tile.h"

namespace qrt::quantize {
namespace {

struct Lanes {
  static constexpr int kRows = 4, kPanels = 1;  // 8 of 16 registers hold sums
  __m256 v[2];
  static __attribute__((always_inline)) inline Lanes all(float f) {
    return {{_mm256_set1_ps(f), _mm256_set1_ps(f)}};
  }
  static __attribute__((always_inline)) inline Lanes zero() {
    return {{_mm256_setzero_ps(), _mm256_setzero_ps()}};
  }
  static __attribute__((always_inline)) inline Lanes load(const float* p) {
    return {{_mm256_loadu_ps(p), _mm256_loadu_ps(p + 8)}};
  }
  void store(float* p) const {
    _mm256_storeu_ps(p, v[0]);
    _mm256_storeu_ps(p + 8, v[1]);
  }
  Lanes plus(Lanes o) const { return {{_mm256_add_ps(v[0], o.v[0]), _mm256_add_ps(v[1], o.v[1])}}; }
  void fma(float w, Lanes x) {
    const __m256 f = _mm256_set1_ps(w);
    v[0] = _mm256_fmadd_ps(f, x.v[0], v[0]);
    v[1] = _mm256_fmadd_ps(f, x.v[1], v[1]);
  }
};

}  // namespace
}  // namespace qrt::quantize

QRT_GEMM_ENTRIES(avx2)
