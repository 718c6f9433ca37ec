// SPDX-License-Identifier: Apache-2.0
// The common part of winograd_tile.h's 256-bit policies: gemm_tile.h on int16. A step is two of them
// from each side, as many bytes as four int8.
#ifndef QRT_KERNELS_WINOGRAD_ADJACENT_PRODUCTS256_H_
#define QRT_KERNELS_WINOGRAD_ADJACENT_PRODUCTS256_H_

#include "kernels/gemm/policy256.h"

namespace qrt {
namespace {

struct AdjacentProducts256 : Policy256 {
  static constexpr int kTileRows = 6;
  static constexpr int kTileVectors = 2;

  QRT_INLINE __m256i load_pixels(const uint8_t* p) {
    return _mm256_cvtepu8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
  }
};

}  // namespace
}  // namespace qrt

#endif  // QRT_KERNELS_WINOGRAD_ADJACENT_PRODUCTS256_H_
