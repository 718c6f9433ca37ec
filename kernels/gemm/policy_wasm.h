// SPDX-License-Identifier: Apache-2.0
// The common part of gemm_tile.h's WebAssembly policies: panels of 16 channels in four vectors, and the
// store of a tile.
#ifndef QRT_KERNELS_GEMM_POLICY_WASM_H_
#define QRT_KERNELS_GEMM_POLICY_WASM_H_

#include "kernels/gemm/gemm_loops.h"
#include "kernels/isa/in_registers_wasm128.h"
#include "kernels/isa/requantize_wasm128.h"

namespace qrt {
namespace {

struct PolicyWasm {
  static constexpr int kLanes = 4;
  static constexpr int kHalfVectors = 0;
  static constexpr int kLhsSteps = 1;
  static constexpr int kNothing = 0;
  static constexpr int kFewRows = 2;
  static constexpr int kFewSteps = 2;
  static constexpr int kFewBlocks = 1;
  static constexpr int kStoreRows = 1;
  static constexpr size_t kPrefetchBytes = 0;
  using Acc = v128_t;
  using Lhs = v128_t;
  using Rhs = v128_t;
  using Epilogue = wasm128::RequantInRegisters;
  using Lanes = wasm128::Lanes;

  QRT_INLINE Acc zero() { return wasm_i32x4_const_splat(0); }
  QRT_INLINE Acc load_acc(const int32_t* p) { return wasm_v128_load(p); }
  QRT_INLINE Acc add(Acc a, Acc b) { return wasm_i32x4_add(a, b); }
  QRT_INLINE void spill(Acc acc, int32_t* p) { wasm_v128_store(p, acc); }
  // WebAssembly has no prefetches.
  QRT_INLINE void prefetch_far(const int8_t*) {}
  QRT_INLINE void prefetch(const int8_t*, int) {}

  template <int NV>
  struct Store {
    const Epilogue* e;
    size_t columns;
    wasm128::ChannelConstants k[4];

    __attribute__((always_inline)) void set(const Epilogue& epilogue, size_t first_channel,
                                            size_t columns_to_store) {
      e = &epilogue;
      columns = columns_to_store;
      for (size_t v = 0; v < 4; ++v) k[v] = e->constants(first_channel + 4 * (v % NV));
    }
    template <int MR>
    __attribute__((always_inline)) void rows(const Acc (&acc)[MR][NV], uint8_t* c,
                                             size_t c_stride) const {
      if constexpr (NV == 4) {
        QRT_UNROLL
        for (int i = 0; i < MR; ++i, c += c_stride)
          wasm128::store_bytes(c, e->bytes(acc[i], k), columns);
      } else {
        static_assert(NV == 2, "two rows make 16 bytes");
        QRT_UNROLL
        for (int i = 0; i < MR; i += 2, c += 2 * c_stride) {
          const int next = i + 1 < MR ? i + 1 : i;
          const v128_t both[4] = {acc[i][0], acc[i][1], acc[next][0], acc[next][1]};
          const v128_t b = e->bytes(both, k);
          wasm128::store_bytes(c, b, columns);
          if (next > i) wasm128::store_bytes(c + c_stride, wasm_i64x2_shuffle(b, b, 1, 1), columns);
        }
      }
    }
  };
};

}  // namespace
}  // namespace qrt

#endif  // QRT_KERNELS_GEMM_POLICY_WASM_H_
