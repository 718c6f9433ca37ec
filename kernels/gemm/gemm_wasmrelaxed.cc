// SPDX-License-Identifier: Apache-2.0
// gemm by the relaxed dot product of bytes, on engines where it is exact (isa/relaxed_dot.h).
#include "kernels/gemm/kernels.h"
#include "kernels/gemm/policy_wasm.h"

namespace qrt {
namespace {

struct Relaxed : PolicyWasm {
  static constexpr int kPhases = 1;
  static constexpr int kLhsBytes = 1;

  QRT_INLINE Rhs load_rhs(const int8_t* p, int) { return wasm_v128_load(p); }
  QRT_INLINE Lhs splat_lhs(const uint8_t* p, int) { return wasm_v128_load32_splat(p); }
  QRT_INLINE void dot(Acc& acc, Lhs a, Rhs b) {
    acc = wasm_i32x4_relaxed_dot_i8x16_i7x16_add(b, a, acc);
  }
};

}  // namespace

void gemm_u8s8_4x8_k4_wasmrelaxed(const GemmArgs& args) { gemm<Relaxed, 4, 2>(args); }

}  // namespace qrt
