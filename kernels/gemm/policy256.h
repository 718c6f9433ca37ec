// What the 256-bit policies of gemm_tile.h have in common: registers of 8 channels, two of them per
// tile, and the store of a tile.
#ifndef QRT_KERNELS_GEMM_POLICY256_H_
#define QRT_KERNELS_GEMM_POLICY256_H_

#include "kernels/gemm/gemm_tile.h"
#include "kernels/isa/avx2.h"
#include "kernels/isa/requantize_avx2.h"

namespace qrt {
namespace {

struct Policy256 {
  static constexpr int kLanes = 8;
  static constexpr int kLhsSteps = 1;
  static constexpr int kFewRows = 4;
  static constexpr int kFewSteps = 4;
  static constexpr int kFewBlocks = 1;
  static constexpr size_t kPrefetchBytes = 8192;
  using Acc = __m256i;
  using Lhs = __m256i;
  using Rhs = __m256i;
  using Epilogue = avx2::RequantInRegisters;
  using Lanes = avx2::Lanes;

  QRT_INLINE __m256i load(const void* p) {
    return _mm256_loadu_si256(static_cast<const __m256i*>(p));
  }
  QRT_INLINE __m256i splat(const void* p) {
    int32_t v;
    __builtin_memcpy(&v, p, 4);
    return _mm256_set1_epi32(v);
  }
  QRT_INLINE Acc zero() { return _mm256_setzero_si256(); }
  QRT_INLINE Acc load_acc(const int32_t* p) { return load(p); }
  QRT_INLINE Acc add(Acc a, Acc b) { return _mm256_add_epi32(a, b); }
  QRT_INLINE void spill(Acc acc, int32_t* p) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), acc);
  }
  QRT_INLINE void prefetch_far(const int8_t* p) { _mm_prefetch(p, _MM_HINT_T1); }
  QRT_INLINE void prefetch(const int8_t* p, int bytes) {
    QRT_UNROLL
    for (int i = 0; i < bytes; i += 64) _mm_prefetch(p + i, _MM_HINT_T0);
  }

  template <int NV>
  struct Store {
    static_assert(NV == 2, "two rows of two vectors make 32 bytes");
    Epilogue e;
    avx2::ChannelConstants k[2];
    size_t columns;

    __attribute__((always_inline)) void set(const Epilogue& epilogue, size_t channel,
                                            size_t columns_to_store) {
      e = epilogue;
      k[0] = e.constants(channel);
      k[1] = e.constants(channel + 8);
      columns = columns_to_store;
    }

    template <Epilogue::Form kForm, int MR>
    __attribute__((always_inline)) void rows_as(const Acc (&acc)[MR][NV], uint8_t* c,
                                                size_t c_stride) const {
      QRT_UNROLL
      for (int i = 0; i < MR; i += 2, c += 2 * c_stride) {
        const int next = i + 1 < MR ? i + 1 : i;
        const __m256i b = Epilogue::in_order(e.template bytes<kForm>(acc[i], acc[next], k));
        avx2::store_bytes(c, _mm256_castsi256_si128(b), columns);
        if (i + 1 < MR) {
          avx2::store_bytes(c + c_stride, _mm256_extracti128_si256(b, 1), columns);
        }
      }
    }

    template <int MR>
    __attribute__((always_inline)) void rows(const Acc (&acc)[MR][NV], uint8_t* c,
                                             size_t c_stride) const {
      switch (e.form) {
        case Epilogue::kPlain: return rows_as<Epilogue::kPlain>(acc, c, c_stride);
        case Epilogue::kFixed: return rows_as<Epilogue::kFixed>(acc, c, c_stride);
        case Epilogue::kLimited: return rows_as<Epilogue::kLimited>(acc, c, c_stride);
      }
    }
  };
};

}  // namespace
}  // namespace qrt

#endif  // QRT_KERNELS_GEMM_POLICY256_H_
