// SPDX-License-Identifier: Apache-2.0
// The common part of gemm_tile.h's NEON policies: panels of 16 channels in four vectors, and the
// store of a tile.
#ifndef QRT_KERNELS_GEMM_POLICY_NEON_H_
#define QRT_KERNELS_GEMM_POLICY_NEON_H_

#include "kernels/gemm/gemm_tile.h"
#include "kernels/isa/in_registers_neon.h"
#include "kernels/isa/neon.h"

namespace qrt {
namespace {

struct PolicyNeon {
  static constexpr int kLanes = 4;
  static constexpr int kPhases = 1;
  static constexpr int kHalfVectors = 0;
  static constexpr int kLhsBytes = 1;
  static constexpr int kStoreRows = 1;
  static constexpr size_t kPrefetchBytes = 1024;
  using Lhs = uint8x16_t;
  using Rhs = int8x16_t;
  // The greatest product of x - 128 and a weight.
  using Epilogue = neon::RequantInRegisters<128 * 128>;
  using Lanes = neon::Lanes;

  QRT_INLINE Rhs load_rhs(const int8_t* p, int) { return vld1q_s8(p); }
  QRT_INLINE Lhs splat(const uint8_t* p) {
    uint32_t v;
    __builtin_memcpy(&v, p, 4);
    return vreinterpretq_u8_u32(vdupq_n_u32(v));
  }
  // x - 128 as a signed byte.
  QRT_INLINE Lhs flip(Lhs x) { return veorq_u8(x, vdupq_n_u8(0x80)); }
  QRT_INLINE void prefetch_far(const int8_t* p) { __builtin_prefetch(p, 0, 2); }
  QRT_INLINE void prefetch(const int8_t* p, int bytes) {
    QRT_UNROLL
    for (int i = 0; i < bytes; i += 64) __builtin_prefetch(p + i);
  }
};

// Store of a policy P whose P::sum(acc) gives four int32 of four channels.
template <class P>
struct StoreNeon {
  using Epilogue = typename P::Epilogue;

  const Epilogue* e;  // in memory: registers are scarce before the store
  size_t channel, columns;

  __attribute__((always_inline)) void set(const Epilogue& epilogue, size_t first_channel,
                                          size_t columns_to_store) {
    e = &epilogue;
    channel = first_channel;
    columns = columns_to_store;
  }

  template <class Acc, int MR>
  __attribute__((always_inline)) void rows(const Acc (&acc)[MR][4], uint8_t* c, size_t c_stride,
                                           int valid_rows = MR) const {
    switch (e->form) {
      case Epilogue::kConverted: return rows_of<Epilogue::kConverted>(acc, c, c_stride, valid_rows);
      case Epilogue::kAdded: return rows_of<Epilogue::kAdded>(acc, c, c_stride, valid_rows);
      case Epilogue::kFromZero: return rows_of<Epilogue::kFromZero>(acc, c, c_stride, valid_rows);
      case Epilogue::kHigh: return rows_of<Epilogue::kHigh>(acc, c, c_stride, valid_rows);
      case Epilogue::kTwice: return rows_of<Epilogue::kTwice>(acc, c, c_stride, valid_rows);
    }
  }

  template <typename Epilogue::Form kForm, class Acc, int MR>
  __attribute__((always_inline)) void rows_of(const Acc (&acc)[MR][4], uint8_t* c, size_t c_stride,
                                              int valid_rows) const {
    typename Epilogue::Constants k;
    e->template load<kForm>(channel, k);
    QRT_UNROLL
    for (int i = 0; i < MR; ++i, c += c_stride) {
      if (i == valid_rows) break;
      const int32x4_t sums[4] = {P::sum(acc[i][0]), P::sum(acc[i][1]), P::sum(acc[i][2]),
                                 P::sum(acc[i][3])};
      neon::store_bytes(c, e->template bytes<kForm>(sums, k), columns);
    }
  }
};

// Policies whose accumulators are four int32 of four channels, and whose left-hand registers hold
// 16 k of a row, selected by lane: SDOT and USDOT.
struct PolicyDot : PolicyNeon {
  static constexpr int kLhsSteps = 4;
  static constexpr int kNothing = 0x80;
  static constexpr int kFewRows = 4;
  static constexpr int kFewSteps = 4;
  static constexpr int kFewBlocks = 1;
  using Acc = int32x4_t;

  QRT_INLINE Acc zero() { return vdupq_n_s32(0); }
  QRT_INLINE Acc load_acc(const int32_t* p) { return vld1q_s32(p); }
  QRT_INLINE Acc add(Acc a, Acc b) { return vaddq_s32(a, b); }
  QRT_INLINE void spill(Acc acc, int32_t* p) { vst1q_s32(p, acc); }
  QRT_INLINE int32x4_t sum(Acc acc) { return acc; }
};

}  // namespace
}  // namespace qrt

#endif  // QRT_KERNELS_GEMM_POLICY_NEON_H_
