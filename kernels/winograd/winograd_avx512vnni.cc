// SPDX-License-Identifier: Apache-2.0
// Winograd's convolution on AVX-512 VNNI: VPDPWSSD multiplies half as many int16 as VPDPBUSD bytes, and
// a quarter of the products is left.
#include "kernels/gemm/policy512.h"
#include "kernels/winograd/winograd_tile.h"

namespace qrt {
namespace {

// gemm_tile.h on int16: a step is two of them from each side, as many bytes as four int8.
struct AdjacentProducts : Avx512Vnni {
  static constexpr int kTileRows = 12;
  static constexpr int kTileVectors = 2;

  QRT_INLINE __m512i load_pixels(const uint8_t* p) {
    return _mm512_cvtepu8_epi16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
  }
  // Adds dot products by inline assembly, for the reason given in isa/avx512vnni.h.
  QRT_INLINE void dot(Acc& acc, Lhs a, Rhs b) {
    __asm__("vpdpwssd %2, %1, %0" : "+v"(acc) : "v"(a), "v"(b));
  }
};

}  // namespace

void winograd_u8s8_4x4_avx512vnni(const WinogradArgs& args) {
  run_block<AdjacentProducts, 6>(args);
}

}  // namespace qrt
