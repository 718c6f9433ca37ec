// SPDX-License-Identifier: Apache-2.0
// Softmax by bounds with look-ups of words.
#include "kernels/isa/look_up_words.h"
#include "kernels/softmax/softmax_bounds_avx512.h"

namespace qrt {
namespace {

template <int kQuarters>
struct Table : avx512vnni::TableOfWords<kQuarters> {
  __attribute__((always_inline)) inline __m512i look_up(__mmask64 mask, __m512i i) const {
    return _mm512_maskz_mov_epi8(mask, avx512vnni::TableOfWords<kQuarters>::look_up(i));
  }
};

}  // namespace

uint32_t softmax_bounds_avx512vnni(const SoftmaxBounds& bounds, const uint8_t* x, uint8_t* y,
                                   size_t rows, size_t n) {
  return Group<Table>(bounds, x, y, rows, n).run();
}

}  // namespace qrt
