// SPDX-License-Identifier: Apache-2.0
// Winograd's convolution on AVX-VNNI: as on AVX-512 VNNI, 256 bits at a time.
#include "kernels/isa/avxvnni.h"
#include "kernels/winograd/adjacent_products256.h"
#include "kernels/winograd/winograd_tile.h"

namespace qrt {
namespace {

struct AdjacentProducts : AdjacentProducts256 {
  QRT_INLINE void dot(Acc& acc, Lhs a, Rhs b) {
    __asm__(QRT_AVXVNNI "vpdpwssd %2, %1, %0" : "+x"(acc) : "x"(a), "x"(b));
  }
};

}  // namespace

void winograd_u8s8_4x4_avxvnni(const WinogradArgs& args) {
  const avx2::RoundDown down(args.requant);
  run_block<AdjacentProducts, 6>(args);
}

}  // namespace qrt
