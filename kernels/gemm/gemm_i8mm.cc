// gemm on the Int8 matrix multiplication extension: USDOT by lane takes the unsigned activations as
// they are, 5 x 16 tiles.
#include "kernels/gemm/kernels.h"
#include "kernels/gemm/policy_neon.h"

namespace qrt {
namespace {

struct I8mm : PolicyDot {
  template <int NV>
  using Store = StoreNeon<I8mm>;

  QRT_INLINE Lhs load_lhs(const uint8_t* p) { return vld1q_u8(p); }
  QRT_INLINE Lhs splat_lhs(const uint8_t* p, int) { return splat(p); }
  // acc[c] += sum over j < 4 of b[4 c + j] * a[4 lane + j]: SUDOT's first operand is signed, the
  // one selected by lane unsigned. Inline assembly for the reason given in isa/avx512vnni.h.
  QRT_INLINE void dot(Acc& acc, Lhs a, Rhs b, int lane = 0) {
    switch (lane) {
      case 0: __asm__("sudot %0.4s, %1.16b, %2.4b[0]" : "+w"(acc) : "w"(b), "w"(a)); break;
      case 1: __asm__("sudot %0.4s, %1.16b, %2.4b[1]" : "+w"(acc) : "w"(b), "w"(a)); break;
      case 2: __asm__("sudot %0.4s, %1.16b, %2.4b[2]" : "+w"(acc) : "w"(b), "w"(a)); break;
      default: __asm__("sudot %0.4s, %1.16b, %2.4b[3]" : "+w"(acc) : "w"(b), "w"(a)); break;
    }
  }
};

}  // namespace

void gemm_u8s8_5x16_k4_i8mm(const GemmArgs& args) { gemm<I8mm, 5, 4>(args); }

}  // namespace qrt
