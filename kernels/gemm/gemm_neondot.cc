// SPDX-License-Identifier: Apache-2.0
// gemm on the NEON dot product: SDOT by lane, 5 x 16 tiles. Activations are flipped to signed as
// they are loaded, once per 16 k of a row.
#include "kernels/gemm/gemm_loops.h"
#include "kernels/gemm/kernels.h"
#include "kernels/gemm/lane_groups_neon.h"

namespace qrt {
namespace {

struct NeonDot : LaneGroups<NeonDot> {
  static constexpr int kPasses = 1;
  static constexpr bool kFlips = true;
  template <int NV>
  using Store = StoreNeon<NeonDot>;

  QRT_INLINE Lhs splat_lhs(const uint8_t* p, int) { return flip(splat(p)); }
  // Adds dot products: acc[c] += sum over j < 4 of a[4 lane + j] * b[4 c + j]. By inline assembly,
  // for the reason given in isa/avx512vnni.h.
  QRT_INLINE void multiply(Acc& acc, Lhs a, Rhs b, int lane, int) {
    switch (lane) {
      case 0: __asm__ volatile("sdot %0.4s, %1.16b, %2.4b[0]" : "+w"(acc) : "w"(b), "w"(a)); break;
      case 1: __asm__ volatile("sdot %0.4s, %1.16b, %2.4b[1]" : "+w"(acc) : "w"(b), "w"(a)); break;
      case 2: __asm__ volatile("sdot %0.4s, %1.16b, %2.4b[2]" : "+w"(acc) : "w"(b), "w"(a)); break;
      default: __asm__ volatile("sdot %0.4s, %1.16b, %2.4b[3]" : "+w"(acc) : "w"(b), "w"(a)); break;
    }
  }
  QRT_INLINE void dot(Acc& acc, Lhs a, Rhs b) { multiply(acc, a, b, 0, 0); }
};

}  // namespace

void gemm_u8s8_5x16_k4_neondot(const GemmArgs& args) { gemm<NeonDot, 5, 4>(args); }

}  // namespace qrt
