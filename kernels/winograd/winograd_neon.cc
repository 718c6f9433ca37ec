// SPDX-License-Identifier: Apache-2.0
// Winograd's convolution on plain NEON: SMLAL and SMLAL2 by lane multiply 4 channels of output by one
// of input, a quarter as many products as the definition's, of which SMULL and SADALP do 8 in three
// halves of an instruction.
#include "kernels/gemm/lane_groups_neon.h"
#include "kernels/winograd/winograd_tile.h"

namespace qrt {
namespace {

// gemm_tile.h on int16: a line of weights is 4 channels of output by one of input, then by the next.
struct AdjacentProducts : LaneGroups<AdjacentProducts> {
  static constexpr int kTileRows = 4;
  static constexpr int kTileVectors = 4;
  static constexpr int kPasses = 2;
  static constexpr bool kFlips = false;
  template <int NV>
  using Store = StoreNeon<AdjacentProducts>;

  QRT_INLINE int16x8_t load_pixels(const uint8_t* p) {
    return vmovl_s8(vreinterpret_s8_u8(veor_u8(vld1_u8(p), vdup_n_u8(0x80))));
  }
  QRT_INLINE Lhs splat_lhs(const uint8_t* p, int) { return splat(p); }
  // Plus channel 2 * lane + pass of input.
  QRT_INLINE void multiply(Acc& acc, Lhs a, Rhs b, int lane, int pass) {
    switch (2 * lane + pass) {
      case 0: __asm__ volatile("smlal %0.4s, %1.4h, %2.h[0]" : "+w"(acc) : "w"(b), "x"(a)); break;
      case 1: __asm__ volatile("smlal2 %0.4s, %1.8h, %2.h[1]" : "+w"(acc) : "w"(b), "x"(a)); break;
      case 2: __asm__ volatile("smlal %0.4s, %1.4h, %2.h[2]" : "+w"(acc) : "w"(b), "x"(a)); break;
      case 3: __asm__ volatile("smlal2 %0.4s, %1.8h, %2.h[3]" : "+w"(acc) : "w"(b), "x"(a)); break;
      case 4: __asm__ volatile("smlal %0.4s, %1.4h, %2.h[4]" : "+w"(acc) : "w"(b), "x"(a)); break;
      case 5: __asm__ volatile("smlal2 %0.4s, %1.8h, %2.h[5]" : "+w"(acc) : "w"(b), "x"(a)); break;
      case 6: __asm__ volatile("smlal %0.4s, %1.4h, %2.h[6]" : "+w"(acc) : "w"(b), "x"(a)); break;
      default: __asm__ volatile("smlal2 %0.4s, %1.8h, %2.h[7]" : "+w"(acc) : "w"(b), "x"(a)); break;
    }
  }
  QRT_INLINE void dot(Acc& acc, Lhs a, Rhs b) {
    multiply(acc, a, b, 0, 0);
    multiply(acc, a, b, 0, 1);
  }
};

}  // namespace

void winograd_u8s8_4x4_neon(const WinogradArgs& args) { run_block<AdjacentProducts, 6>(args); }

}  // namespace qrt
