// Pools with 512-bit vectors: 64 channels of bytes, 16 of floats.
#include <immintrin.h>

#include "kernels/isa/requantize_avx512vnni.h"
#include "kernels/pool/pool_loops.h"

namespace qrt {
namespace {

struct Avx512 {
  using Lanes = avx512vnni::Lanes;
  static constexpr size_t kBytes = 64;
  using Bytes = __m512i;

  static Bytes zero() { return _mm512_setzero_si512(); }
  static Bytes load(const uint8_t* p) { return _mm512_loadu_si512(p); }
  static Bytes max(Bytes a, Bytes b) { return _mm512_max_epu8(a, b); }
  static void store(uint8_t* p, Bytes v) { _mm512_storeu_si512(p, v); }
  static void store_part(uint8_t* p, Bytes v, size_t n) {
    _mm512_mask_storeu_epi8(p, (__mmask64{1} << n) - 1, v);
  }

  // In the order of the 128-bit lanes' unpacks; packs bring it back.
  struct Sums16 {
    __m512i lo, hi;
  };
  struct Sums32 {
    __m512i v[4];
  };
  static Sums16 zero16() { return {zero(), zero()}; }
  static Sums32 zero32() { return {{zero(), zero(), zero(), zero()}}; }
  static void add16(Sums16& s, const uint8_t* p) {
    const __m512i x = load(p);
    s.lo = _mm512_add_epi16(s.lo, _mm512_unpacklo_epi8(x, zero()));
    s.hi = _mm512_add_epi16(s.hi, _mm512_unpackhi_epi8(x, zero()));
  }
  static void flush(Sums32& s, const Sums16& t) {
    s.v[0] = _mm512_add_epi32(s.v[0], _mm512_unpacklo_epi16(t.lo, zero()));
    s.v[1] = _mm512_add_epi32(s.v[1], _mm512_unpackhi_epi16(t.lo, zero()));
    s.v[2] = _mm512_add_epi32(s.v[2], _mm512_unpacklo_epi16(t.hi, zero()));
    s.v[3] = _mm512_add_epi32(s.v[3], _mm512_unpackhi_epi16(t.hi, zero()));
  }
  static Bytes to_bytes(const Sums32& s, const SumScale& r) {
    const __m512i zero_sum = _mm512_set1_epi32(r.zero);
    const __m512 scale = _mm512_set1_ps(r.scale);
    const __m512 lo = _mm512_set1_ps(static_cast<float>(r.lo - r.zero_point));
    const __m512 hi = _mm512_set1_ps(static_cast<float>(r.hi - r.zero_point));
    __m512i q[4];
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      const __m512 real =
          _mm512_mul_ps(_mm512_cvtepi32_ps(_mm512_sub_epi32(s.v[i], zero_sum)), scale);
      q[i] = _mm512_cvtps_epi32(_mm512_min_ps(_mm512_max_ps(real, lo), hi));
    }
    const __m512i zp = _mm512_set1_epi16(static_cast<int16_t>(r.zero_point));
    return _mm512_packus_epi16(_mm512_add_epi16(_mm512_packs_epi32(q[0], q[1]), zp),
                               _mm512_add_epi16(_mm512_packs_epi32(q[2], q[3]), zp));
  }
  static void spill(const Sums32& s, int32_t* sums) {
    alignas(64) int32_t lanes[4][16];
    for (int v = 0; v < 4; ++v) _mm512_store_si512(lanes[v], s.v[v]);
    for (int i = 0; i < 64; ++i) sums[i] = lanes[i % 16 / 4][i / 16 * 4 + i % 4];
  }

  class Average {
   public:
    static constexpr size_t kVectors = 4;
    using Sum = __m512;

    explicit Average(const AveragePoolArgs& args)
        : input_zero_point_(_mm512_set1_epi32(args.input_zero_point)),
          input_scale_(_mm512_set1_ps(args.input_scale)),
          output_scale_(_mm512_set1_ps(args.output_scale)),
          output_zero_point_(_mm512_set1_ps(static_cast<float>(args.output_zero_point))),
          lo_(_mm512_set1_ps(static_cast<float>(-args.output_offset))),
          hi_(_mm512_set1_ps(static_cast<float>(255 - args.output_offset))),
          offset_(_mm512_set1_epi32(args.output_offset)) {}

    static Sum zero() { return _mm512_setzero_ps(); }
    Sum add(Sum sum, const uint8_t* p) const {
      const __m512i x = _mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
      const __m512 real = _mm512_cvtepi32_ps(_mm512_sub_epi32(x, input_zero_point_));
      return _mm512_add_ps(sum, _mm512_mul_ps(input_scale_, real));
    }
    __m128i finish(Sum sum, float count) const {
      const __m512 mean = _mm512_div_ps(sum, _mm512_set1_ps(count));
      const __m512 v = _mm512_add_ps(_mm512_div_ps(mean, output_scale_), output_zero_point_);
      const __m512i q = _mm512_cvtps_epi32(_mm512_min_ps(_mm512_max_ps(v, lo_), hi_));
      return _mm512_cvtepi32_epi8(_mm512_add_epi32(q, offset_));
    }
    static void store16(uint8_t* p, __m128i v) {
      _mm_storeu_si128(reinterpret_cast<__m128i*>(p), v);
    }
    static void store16_part(uint8_t* p, __m128i v, size_t n) {
      _mm_mask_storeu_epi8(p, static_cast<__mmask16>((1u << n) - 1), v);
    }

   private:
    __m512i input_zero_point_;
    __m512 input_scale_, output_scale_, output_zero_point_, lo_, hi_;
    __m512i offset_;
  };
};

}  // namespace

void max_pool_avx512vnni(const MaxPoolArgs& args) { max_pool<Avx512>(args); }
void average_pool_avx512vnni(const AveragePoolArgs& args) { average_pool<Avx512>(args); }
void global_sum_avx512vnni(const GlobalSumArgs& args) { global_sum<Avx512>(args); }

}  // namespace qrt
