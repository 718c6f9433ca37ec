// gemm on plain NEON: SMULL to 16 bits, SADALP to 32: 8 products of two channels at a time, exact
// for every operand (SMLAL of two products would not be: 2 * 128 * 128 leaves 16 bits). 2 x 16
// tiles. Activations are flipped to signed as they are loaded.
#include "kernels/gemm/kernels.h"
#include "kernels/gemm/policy_neon.h"

namespace qrt {
namespace {

struct Neon : PolicyNeon {
  static constexpr int kLhsSteps = 1;
  static constexpr int kFewRows = 2;
  static constexpr int kFewSteps = 2;
  template <int NV>
  using Store = StoreNeon<Neon>;

  // Two sums for each of four channels: k 0 + 1 and k 2 + 3 of every group of four.
  struct Acc {
    int32x4_t low, high;  // channels 0, 1 and 2, 3
  };

  QRT_INLINE Acc zero() { return {vdupq_n_s32(0), vdupq_n_s32(0)}; }
  QRT_INLINE Acc load_acc(const int32_t* p) {
    const int32x4_t bias = vld1q_s32(p);
    return {vzip1q_s32(bias, vdupq_n_s32(0)), vzip2q_s32(bias, vdupq_n_s32(0))};
  }
  QRT_INLINE Acc add(Acc a, Acc b) { return {vaddq_s32(a.low, b.low), vaddq_s32(a.high, b.high)}; }
  QRT_INLINE int32x4_t sum(Acc acc) { return vpaddq_s32(acc.low, acc.high); }
  QRT_INLINE void spill(Acc acc, int32_t* p) { vst1q_s32(p, sum(acc)); }

  QRT_INLINE Lhs splat_lhs(const uint8_t* p, int) { return flip(splat(p)); }
  // Inline assembly for the reason given in isa/avx512vnni.h.
  QRT_INLINE void dot(Acc& acc, Lhs a, Rhs b) {
    int16x8_t t, u;
    __asm__("smull %0.8h, %1.8b, %2.8b" : "=w"(t) : "w"(a), "w"(b));
    __asm__("smull2 %0.8h, %1.16b, %2.16b" : "=w"(u) : "w"(a), "w"(b));
    __asm__("sadalp %0.4s, %1.8h" : "+w"(acc.low) : "w"(t));
    __asm__("sadalp %0.4s, %1.8h" : "+w"(acc.high) : "w"(u));
  }
};

}  // namespace

void gemm_u8s8_2x16_k4_neon(const GemmArgs& args) { gemm<Neon, 2, 4>(args); }

}  // namespace qrt
