// SPDX-License-Identifier: Apache-2.0
// The common part of gemm_tile.h's 256-bit policies: registers of 8 channels, two of them per tile,
// and the store of a tile.
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
  static constexpr int kNothing = 0;
  static constexpr int kFewRows = 4;
  static constexpr int kFewSteps = 4;
  static constexpr int kFewBlocks = 1;
  static constexpr int kStoreRows = 5;
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
  QRT_INLINE Rhs load_rhs(const int8_t* p, int) { return load(p); }
  QRT_INLINE Lhs splat_lhs(const uint8_t* p, int) { return splat(p); }
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
        _mm_storeu_si128(reinterpret_cast<__m128i*>(c), _mm256_castsi256_si128(b));
        if (i + 1 < MR) {
          _mm_storeu_si128(reinterpret_cast<__m128i*>(c + c_stride),
                           _mm256_extracti128_si256(b, 1));
        }
      }
    }

    template <int MR>
    __attribute__((always_inline)) void rows(const Acc (&acc)[MR][NV], uint8_t* c,
                                             size_t c_stride) const {
      uint8_t part[MR * kBlock];
      const bool whole = columns == kBlock;
      uint8_t* const to = whole ? c : part;
      const size_t stride = whole ? c_stride : kBlock;
      switch (e.form) {
        case Epilogue::kPlain: rows_as<Epilogue::kPlain>(acc, to, stride); break;
        case Epilogue::kFixed: rows_as<Epilogue::kFixed>(acc, to, stride); break;
        case Epilogue::kLimited: rows_as<Epilogue::kLimited>(acc, to, stride); break;
      }
      if (!whole) copy_rows(part, MR, columns, c, c_stride);
    }
  };

  // Copies the first `columns` of kBlock bytes of every row.
  __attribute__((noinline)) static void copy_rows(const uint8_t* part, size_t rows, size_t columns,
                                                  uint8_t* c, size_t c_stride) {
    for (size_t i = 0; i < rows; ++i, part += kBlock, c += c_stride) {
      avx2::store_bytes(c, _mm_loadu_si128(reinterpret_cast<const __m128i*>(part)), columns);
    }
  }

  __attribute__((noinline)) static void store_sums(const Epilogue& epilogue, size_t channel,
                                                   const int32_t* sums, size_t rows, size_t width,
                                                   size_t columns, uint8_t* c, size_t c_stride) {
    for (size_t j = 0; j < columns; j += kBlock) {
      Store<2> store;
      store.set(epilogue, channel + j, columns - j < kBlock ? columns - j : kBlock);
      const int32_t* row = sums + j;
      uint8_t* y = c + j;
      for (size_t i = 0; i < rows; i += 2, row += 2 * width, y += 2 * c_stride) {
        const bool pair = i + 1 < rows;  // else a single row is stored twice
        const int32_t* const next = pair ? row + width : row;
        const Acc acc[2][2] = {{load(row), load(row + 8)}, {load(next), load(next + 8)}};
        store.rows(acc, y, pair ? c_stride : 0);
      }
    }
  }
};

}  // namespace
}  // namespace qrt

#endif  // QRT_KERNELS_GEMM_POLICY256_H_
