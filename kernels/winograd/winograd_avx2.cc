// SPDX-License-Identifier: Apache-2.0
// Winograd's convolution on AVX2. Its products are of int16, which VPMADDWD multiplies without the
// widening that bytes need: nothing is paid for exactness that the gemm family would not pay.
#include "kernels/isa/multiply_add_avx2.h"
#include "kernels/winograd/adjacent_products256.h"
#include "kernels/winograd/winograd_tile.h"

namespace qrt {
namespace {

struct AdjacentProducts : AdjacentProducts256 {
  QRT_INLINE void dot(Acc& acc, Lhs a, Rhs b) { multiply_add(acc, a, b); }
};

}  // namespace

void winograd_u8s8_4x4_avx2(const WinogradArgs& args) {
  const avx2::RoundDown down(args.requant);
  run_block<AdjacentProducts, 6>(args);
}

void winograd_u8s8_1x4_avx2(const WinogradArgs& args) {
  const avx2::RoundDown down(args.requant);
  run_block<AdjacentProducts, 1>(args);
}

}  // namespace qrt
