// gemm on AVX-512 VNNI: VPDPBUSD on 512 bits, 12 x 32 tiles.
#include "kernels/gemm/gemm_tile.h"
#include "kernels/gemm/kernels.h"
#include "kernels/isa/avx512vnni.h"

namespace qrt {
namespace {

struct Avx512Vnni {
  static constexpr int kLanes = 16;
  using Acc = __m512i;
  using Lhs = __m512i;
  using Rhs = __m512i;
  using Epilogue = avx512vnni::RequantF32;

  static inline __attribute__((always_inline)) Acc load_acc(const int32_t* p) {
    return _mm512_loadu_si512(p);
  }
  static inline __attribute__((always_inline)) Rhs load_rhs(const int8_t* p) {
    return _mm512_loadu_si512(p);
  }
  static inline __attribute__((always_inline)) Lhs splat_lhs(const uint8_t* p) {
    int32_t v;
    __builtin_memcpy(&v, p, 4);
    return _mm512_set1_epi32(v);
  }
  static inline __attribute__((always_inline)) void dot(Acc& acc, Lhs a, Rhs b) {
    avx512vnni::dot(acc, a, b);
  }
  static inline __attribute__((always_inline)) void spill(Acc acc, int32_t* p) {
    _mm512_storeu_si512(p, acc);
  }

  // Two vectors of two rows (or one vector of four) make 64 bytes.
  template <int MR, int NV, bool kClamp>
  static inline __attribute__((always_inline)) void store_rows(const Epilogue& e,
                                                               Acc (&acc)[MR][NV], size_t channel,
                                                               size_t columns, uint8_t* c,
                                                               size_t c_stride) {
    constexpr int kRows = 4 / NV;
    constexpr int kRowBytes = 16 * NV;
    __m512 s[NV];
    QRT_UNROLL
    for (int v = 0; v < NV; ++v) s[v] = _mm512_loadu_ps(e.scale + channel + 16 * v);
    const uint64_t mask = ~uint64_t{0} >> (64 - columns);
    QRT_UNROLL
    for (int i = 0; i < MR; i += kRows) {
      const auto vector = [&](int x) {
        const int row = i + x / NV;
        return acc[row < MR ? row : MR - 1][x % NV];
      };
      const __m512i b = Epilogue::in_order(e.template bytes<kClamp>(
          vector(0), vector(1), vector(2), vector(3), s[0], s[1 % NV], s[2 % NV], s[3 % NV]));
      QRT_UNROLL
      for (int r = 0; r < kRows; ++r) {
        if (i + r >= MR) break;
        uint8_t* out = c + static_cast<size_t>(i + r) * c_stride;
        if constexpr (NV == 4) {
          _mm512_mask_storeu_epi8(out, mask, b);
        } else if constexpr (NV == 2) {
          const __m256i half = r == 0 ? _mm512_castsi512_si256(b) : _mm512_extracti64x4_epi64(b, 1);
          if (columns == kRowBytes) {
            _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), half);
          } else {
            _mm256_mask_storeu_epi8(out, static_cast<__mmask32>(mask), half);
          }
        } else {
          const __m128i quarter = r == 0   ? _mm512_castsi512_si128(b)
                                  : r == 1 ? _mm512_extracti32x4_epi32(b, 1)
                                  : r == 2 ? _mm512_extracti32x4_epi32(b, 2)
                                           : _mm512_extracti32x4_epi32(b, 3);
          _mm_mask_storeu_epi8(out, static_cast<__mmask16>(mask), quarter);
        }
      }
    }
  }

  template <int MR, int NV>
  static inline __attribute__((always_inline)) void store(const Epilogue& e, Acc (&acc)[MR][NV],
                                                          size_t channel, size_t columns,
                                                          uint8_t* c, size_t c_stride) {
    if (e.below_one) {
      store_rows<MR, NV, false>(e, acc, channel, columns, c, c_stride);
    } else {
      store_rows<MR, NV, true>(e, acc, channel, columns, c, c_stride);
    }
  }
};

}  // namespace

void gemm_u8s8_12x32_k4_avx512vnni(const GemmArgs& args) { gemm<Avx512Vnni, 12, 2>(args); }

}  // namespace qrt
