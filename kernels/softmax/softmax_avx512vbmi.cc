// SPDX-License-Identifier: Apache-2.0
// Softmax by bounds with look-ups by VPERMB and VPERMI2B.
#include "kernels/softmax/softmax_bounds_avx512.h"

namespace qrt {
namespace {

template <int kQuarters>
struct Table {
  __m512i quarter[kQuarters];

  __attribute__((always_inline)) inline __m512i look_up(__mmask64 mask, __m512i i) const {
    if constexpr (kQuarters == 1) {
      return _mm512_maskz_permutexvar_epi8(mask, i, quarter[0]);
    } else if constexpr (kQuarters == 2) {
      return _mm512_maskz_permutex2var_epi8(mask, quarter[0], i, quarter[1]);
    } else if constexpr (kQuarters == 3) {
      const __m512i low = _mm512_maskz_permutex2var_epi8(mask, quarter[0], i, quarter[1]);
      return _mm512_mask_permutexvar_epi8(low, _mm512_movepi8_mask(i) & mask, i, quarter[2]);
    } else {
      const __m512i low = _mm512_maskz_permutex2var_epi8(mask, quarter[0], i, quarter[1]);
      const __m512i high = _mm512_permutex2var_epi8(quarter[2], i, quarter[3]);
      return _mm512_mask_mov_epi8(low, _mm512_movepi8_mask(i) & mask, high);
    }
  }
};

}  // namespace

uint32_t softmax_bounds_avx512vbmi(const SoftmaxBounds& bounds, const uint8_t* x, uint8_t* y,
                                   size_t rows, size_t n) {
  return Group<Table>(bounds, x, y, rows, n).run();
}

}  // namespace qrt
