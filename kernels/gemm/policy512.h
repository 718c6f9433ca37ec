// SPDX-License-Identifier: Apache-2.0
// The 512-bit policy of gemm_tile.h: VPDPBUSD, requantisation of 64 outputs at once, and the store of a
// tile. The AMX kernel stores through it, too. Half of a block of channels has a policy of 256 bits.
#ifndef QRT_KERNELS_GEMM_POLICY512_H_
#define QRT_KERNELS_GEMM_POLICY512_H_

#include "kernels/gemm/gemm_tile.h"
#include "kernels/isa/avx512vnni.h"
#include "kernels/isa/requantize_avx512vnni.h"

namespace qrt {
namespace {

struct Avx512Vnni {
  static constexpr int kLanes = 16;
  static constexpr int kLhsSteps = 1;
  static constexpr int kFewRows = 4;
  static constexpr int kFewSteps = 8;
  static constexpr int kFewBlocks = 4;
  static constexpr int kStoreRows = 1;
  static constexpr int kPhases = 1;
  static constexpr int kHalfVectors = 0;
  static constexpr int kNothing = 0;
  static constexpr int kLhsBytes = 1;
  static constexpr size_t kPrefetchBytes = 8192;
  using Acc = __m512i;
  using Lhs = __m512i;
  using Rhs = __m512i;
  using Epilogue = avx512vnni::RequantInRegisters;
  using Lanes = avx512vnni::Lanes;

  QRT_INLINE Acc zero() { return _mm512_setzero_si512(); }
  QRT_INLINE Acc load_acc(const int32_t* p) { return _mm512_loadu_si512(p); }
  QRT_INLINE Rhs load_rhs(const int8_t* p, int) { return _mm512_loadu_si512(p); }
  QRT_INLINE Lhs splat_lhs(const uint8_t* p, int) {
    int32_t v;
    __builtin_memcpy(&v, p, 4);
    return _mm512_set1_epi32(v);
  }
  QRT_INLINE void dot(Acc& acc, Lhs a, Rhs b) { avx512vnni::dot(acc, a, b); }
  QRT_INLINE Acc add(Acc a, Acc b) { return _mm512_add_epi32(a, b); }
  QRT_INLINE void spill(Acc acc, int32_t* p) { _mm512_storeu_si512(p, acc); }
  QRT_INLINE void prefetch_far(const int8_t* p) { _mm_prefetch(p, _MM_HINT_T1); }
  QRT_INLINE void prefetch(const int8_t* p, int bytes) {
    QRT_UNROLL
    for (int i = 0; i < bytes; i += 64) _mm_prefetch(p + i, _MM_HINT_T0);
  }

  template <int NV>
  struct Store {
    Epilogue e;
    avx512vnni::ChannelConstants k[NV];
    __mmask64 mask;
    bool is_fused;

    __attribute__((always_inline)) void set(const Epilogue& epilogue, size_t channel,
                                            size_t stored_columns) {
      e = epilogue;
      QRT_UNROLL
      for (int v = 0; v < NV; ++v) k[v] = e.constants(channel + 16 * static_cast<size_t>(v));
      mask = ~uint64_t{0} >> (64 - stored_columns);
      is_fused = e.form == Epilogue::kFused;
    }

    // Stores row i + r of the rows whose 64 bytes are in b. Parts above the lowest go to memory
    // without a shuffle.
    __attribute__((always_inline)) void store(uint8_t* c, __m512i b, int r) const {
      if constexpr (NV == 4) {
        _mm512_mask_storeu_epi8(c, mask, b);
      } else if constexpr (NV == 2) {
        _mm256_mask_storeu_epi8(
            c, static_cast<__mmask32>(mask),
            r == 0 ? _mm512_castsi512_si256(b) : _mm512_extracti64x4_epi64(b, 1));
      } else {
        _mm_mask_storeu_epi8(c, static_cast<__mmask16>(mask),
                             r == 0   ? _mm512_castsi512_si128(b)
                             : r == 1 ? _mm512_extracti32x4_epi32(b, 1)
                             : r == 2 ? _mm512_extracti32x4_epi32(b, 2)
                                      : _mm512_extracti32x4_epi32(b, 3));
      }
    }

    // 4 / NV rows make 64 bytes; past the last row it is repeated.
    template <Epilogue::Form kForm, int MR>
    __attribute__((always_inline)) void rows_as(const Acc (&acc)[MR][NV], uint8_t* c,
                                                size_t c_stride) const {
      constexpr int kRows = 4 / NV;
      QRT_UNROLL
      for (int i = 0; i < MR; i += kRows) {
        const int r1 = i + 1 / NV < MR ? i + 1 / NV : MR - 1;
        const int r2 = i + 2 / NV < MR ? i + 2 / NV : MR - 1;
        const int r3 = i + 3 / NV < MR ? i + 3 / NV : MR - 1;
        const __m512i b = Epilogue::in_order(e.template bytes<kForm>(
            acc[i][0], acc[r1][1 % NV], acc[r2][2 % NV], acc[r3][3 % NV], k));
        QRT_UNROLL
        for (int r = 0; r < kRows; ++r) {
          if (i + r < MR) store(c, b, r);
          c += c_stride;
        }
      }
    }

    template <int MR>
    __attribute__((always_inline)) void rows(const Acc (&acc)[MR][NV], uint8_t* c,
                                             size_t c_stride) const {
      // The form of most networks first: a jump through a table costs small products 1 %.
      if (is_fused) return rows_as<Epilogue::kFused>(acc, c, c_stride);
      switch (e.form) {
        case Epilogue::kFused: break;
        case Epilogue::kFromZero: return rows_as<Epilogue::kFromZero>(acc, c, c_stride);
        case Epilogue::kPlain: return rows_as<Epilogue::kPlain>(acc, c, c_stride);
        case Epilogue::kLimited: return rows_as<Epilogue::kLimited>(acc, c, c_stride);
        case Epilogue::kAffine: return rows_as<Epilogue::kAffine>(acc, c, c_stride);
        case Epilogue::kFixed: return rows_as<Epilogue::kFixed>(acc, c, c_stride);
        case Epilogue::kFixedFromZero: return rows_as<Epilogue::kFixedFromZero>(acc, c, c_stride);
      }
    }
  };
};

// A block of channels and up to 8 of the next: the second vector of a tile is half a register, whose
// products take half the time where the multipliers are 256 bits wide.
struct Avx512VnniBlockAndHalf : Avx512Vnni {
  static constexpr int kHalfVectors = 1;

  QRT_INLINE void dot_half(Acc& acc, Lhs a, Rhs b) {
    __asm__("vpdpbusd %t2, %t1, %t0" : "+v"(acc) : "v"(a), "v"(b));
  }
};

// 8 channels, the first of a block. Two rows make a vector of 512 bits for the epilogue.
struct Avx512VnniHalf : Avx512Vnni {
  static constexpr int kLanes = 8;
  using Acc = __m256i;
  using Lhs = __m256i;
  using Rhs = __m256i;

  QRT_INLINE Acc load_acc(const int32_t* p) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
  }
  QRT_INLINE Rhs load_rhs(const int8_t* p, int) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
  }
  QRT_INLINE Lhs splat_lhs(const uint8_t* p, int) {
    int32_t v;
    __builtin_memcpy(&v, p, 4);
    return _mm256_set1_epi32(v);
  }
  QRT_INLINE void dot(Acc& acc, Lhs a, Rhs b) {
    __asm__("vpdpbusd %2, %1, %0" : "+v"(acc) : "v"(a), "v"(b));
  }
  QRT_INLINE void spill(Acc acc, int32_t* p) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), acc);
  }

  template <int NV>
  struct Store {
    static_assert(NV == 1, "half a block is one vector");
    Epilogue e;
    avx512vnni::ChannelConstants k[1];
    size_t columns;

    QRT_INLINE __m512 twice(__m512 v) { return _mm512_shuffle_f32x4(v, v, 0x44); }

    __attribute__((always_inline)) void set(const Epilogue& epilogue, size_t channel,
                                            size_t stored_columns) {
      e = epilogue;
      const avx512vnni::ChannelConstants all = e.constants(channel);
      k[0] = {twice(all.scale), twice(all.offset), twice(all.nudge)};
      columns = stored_columns;
    }

    // Rows i and i + 1; past the last row it is repeated.
    template <int MR>
    QRT_INLINE __m512i pair(const Acc (&acc)[MR][1], int i) {
      return _mm512_inserti64x4(_mm512_castsi256_si512(acc[i < MR ? i : MR - 1][0]),
                                acc[i + 1 < MR ? i + 1 : MR - 1][0], 1);
    }

    template <Epilogue::Form kForm, int MR>
    __attribute__((always_inline)) __m512i bytes(const Acc (&acc)[MR][1]) const {
      static_assert(MR <= 8, "64 bytes are 8 rows");
      return Epilogue::in_order(
          e.template bytes<kForm>(pair(acc, 0), pair(acc, 2), pair(acc, 4), pair(acc, 6), k));
    }

    template <int MR>
    __attribute__((always_inline)) __m512i bytes_of(const Acc (&acc)[MR][1]) const {
      switch (e.form) {
        case Epilogue::kFused: break;
        case Epilogue::kFromZero: return bytes<Epilogue::kFromZero>(acc);
        case Epilogue::kPlain: return bytes<Epilogue::kPlain>(acc);
        case Epilogue::kLimited: return bytes<Epilogue::kLimited>(acc);
        case Epilogue::kAffine: return bytes<Epilogue::kAffine>(acc);
        case Epilogue::kFixed: return bytes<Epilogue::kFixed>(acc);
        case Epilogue::kFixedFromZero: return bytes<Epilogue::kFixedFromZero>(acc);
      }
      return bytes<Epilogue::kFused>(acc);
    }

    template <int MR>
    __attribute__((always_inline)) void rows(const Acc (&acc)[MR][1], uint8_t* c,
                                             size_t c_stride) const {
      const __m512i b = bytes_of(acc);
      const __m128i parts[] = {_mm512_castsi512_si128(b), _mm512_extracti32x4_epi32(b, 1),
                               _mm512_extracti32x4_epi32(b, 2), _mm512_extracti32x4_epi32(b, 3)};
      const __mmask16 mask = static_cast<__mmask16>(0xff >> (8 - columns));
      const bool is_whole = columns == 8;
      QRT_UNROLL
      for (int i = 0; i < MR; ++i, c += c_stride) {
        const __m128i part = parts[i / 2];
        if (!is_whole)
          _mm_mask_storeu_epi8(c, mask, i % 2 == 0 ? part : _mm_unpackhi_epi64(part, part));
        else if (i % 2 == 0)
          _mm_storel_epi64(reinterpret_cast<__m128i*>(c), part);
        else
          _mm_storeh_pd(reinterpret_cast<double*>(c), _mm_castsi128_pd(part));
      }
    }
  };
};

}  // namespace
}  // namespace qrt

#endif  // QRT_KERNELS_GEMM_POLICY512_H_
