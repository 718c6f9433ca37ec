// SPDX-License-Identifier: Apache-2.0
// gemm on AVX-VNNI: VPDPBUSD on 256 bits in its VEX encoding, 6 x 16 tiles.
#include "kernels/gemm/gemm_loops.h"
#include "kernels/gemm/kernels.h"
#include "kernels/gemm/policy256.h"
#include "kernels/isa/avxvnni.h"

namespace qrt {
namespace {

struct AvxVnni : Policy256 {
  static constexpr int kPhases = 1;
  static constexpr int kHalfVectors = 0;
  static constexpr int kLhsBytes = 1;

  QRT_INLINE void dot(Acc& acc, Lhs a, Rhs b) {
    __asm__(QRT_AVXVNNI "vpdpbusd %2, %1, %0" : "+x"(acc) : "x"(a), "x"(b));
  }
};

}  // namespace

void gemm_u8s8_6x16_k4_avxvnni(const GemmArgs& args) {
  const avx2::RoundDown down(args.requant);
  gemm<AvxVnni, 6, 2>(args);
}

}  // namespace qrt
