// Pools with 256-bit vectors: 32 channels of bytes, 16 of floats in two registers.
#include <immintrin.h>
#include <string.h>

#include "kernels/isa/requantize_avx2.h"
#include "kernels/pool/pool_loops.h"

namespace qrt {
namespace {

// The low n < 16 bytes.
inline void store_low_bytes(uint8_t* p, __m128i v, size_t n) {
  if (n & 8) {
    _mm_storel_epi64(reinterpret_cast<__m128i*>(p), v);
    v = _mm_srli_si128(v, 8);
    p += 8;
  }
  uint64_t rest = static_cast<uint64_t>(_mm_cvtsi128_si64(v));
  if (n & 4) {
    memcpy(p, &rest, 4);
    rest >>= 32;
    p += 4;
  }
  if (n & 2) {
    memcpy(p, &rest, 2);
    rest >>= 16;
    p += 2;
  }
  if (n & 1) *p = static_cast<uint8_t>(rest);
}

struct Avx2 {
  using Lanes = avx2::Lanes;
  static constexpr size_t kBytes = 32;
  using Bytes = __m256i;

  static Bytes zero() { return _mm256_setzero_si256(); }
  static Bytes load(const uint8_t* p) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
  }
  static Bytes max(Bytes a, Bytes b) { return _mm256_max_epu8(a, b); }
  static void store(uint8_t* p, Bytes v) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), v); }
  static void store_part(uint8_t* p, Bytes v, size_t n) {
    __m128i low = _mm256_castsi256_si128(v);
    if (n & 16) {
      _mm_storeu_si128(reinterpret_cast<__m128i*>(p), low);
      low = _mm256_extracti128_si256(v, 1);
      p += 16;
    }
    store_low_bytes(p, low, n & 15);
  }

  // In the order of the 128-bit lanes' unpacks; packs bring it back.
  struct Sums16 {
    __m256i lo, hi;
  };
  struct Sums32 {
    __m256i v[4];
  };
  static Sums16 zero16() { return {zero(), zero()}; }
  static Sums32 zero32() { return {{zero(), zero(), zero(), zero()}}; }
  static void add16(Sums16& s, const uint8_t* p) {
    const __m256i x = load(p);
    s.lo = _mm256_add_epi16(s.lo, _mm256_unpacklo_epi8(x, zero()));
    s.hi = _mm256_add_epi16(s.hi, _mm256_unpackhi_epi8(x, zero()));
  }
  static void flush(Sums32& s, const Sums16& t) {
    s.v[0] = _mm256_add_epi32(s.v[0], _mm256_unpacklo_epi16(t.lo, zero()));
    s.v[1] = _mm256_add_epi32(s.v[1], _mm256_unpackhi_epi16(t.lo, zero()));
    s.v[2] = _mm256_add_epi32(s.v[2], _mm256_unpacklo_epi16(t.hi, zero()));
    s.v[3] = _mm256_add_epi32(s.v[3], _mm256_unpackhi_epi16(t.hi, zero()));
  }
  static Bytes to_bytes(const Sums32& s, const SumScale& r) {
    const __m256i zero_sum = _mm256_set1_epi32(r.zero);
    const __m256 scale = _mm256_set1_ps(r.scale);
    const __m256 lo = _mm256_set1_ps(static_cast<float>(r.lo - r.zero_point));
    const __m256 hi = _mm256_set1_ps(static_cast<float>(r.hi - r.zero_point));
    __m256i q[4];
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      const __m256 real =
          _mm256_mul_ps(_mm256_cvtepi32_ps(_mm256_sub_epi32(s.v[i], zero_sum)), scale);
      q[i] = _mm256_cvtps_epi32(_mm256_min_ps(_mm256_max_ps(real, lo), hi));
    }
    const __m256i zp = _mm256_set1_epi16(static_cast<int16_t>(r.zero_point));
    return _mm256_packus_epi16(_mm256_add_epi16(_mm256_packs_epi32(q[0], q[1]), zp),
                               _mm256_add_epi16(_mm256_packs_epi32(q[2], q[3]), zp));
  }
  static void spill(const Sums32& s, int32_t* sums) {
    alignas(32) int32_t lanes[4][8];
    for (int v = 0; v < 4; ++v) _mm256_store_si256(reinterpret_cast<__m256i*>(lanes[v]), s.v[v]);
    for (int i = 0; i < 32; ++i) sums[i] = lanes[i % 16 / 4][i / 16 * 4 + i % 4];
  }

  class Average {
   public:
    static constexpr size_t kVectors = 2;
    struct Sum {
      __m256 a, b;
    };

    explicit Average(const AveragePoolArgs& args)
        : input_zero_point_(_mm256_set1_epi32(args.input_zero_point)),
          input_scale_(_mm256_set1_ps(args.input_scale)),
          output_scale_(_mm256_set1_ps(args.output_scale)),
          output_zero_point_(_mm256_set1_ps(static_cast<float>(args.output_zero_point))),
          lo_(_mm256_set1_ps(static_cast<float>(-args.output_offset))),
          hi_(_mm256_set1_ps(static_cast<float>(255 - args.output_offset))),
          offset_(_mm_set1_epi16(static_cast<int16_t>(args.output_offset))) {}

    static Sum zero() { return {_mm256_setzero_ps(), _mm256_setzero_ps()}; }
    Sum add(Sum sum, const uint8_t* p) const {
      return {_mm256_add_ps(sum.a, value(p)), _mm256_add_ps(sum.b, value(p + 8))};
    }
    __m128i finish(Sum sum, float count) const {
      const __m256 divisor = _mm256_set1_ps(count);
      const __m256i a = steps(sum.a, divisor), b = steps(sum.b, divisor);
      const __m128i low =
          _mm_packs_epi32(_mm256_castsi256_si128(a), _mm256_extracti128_si256(a, 1));
      const __m128i high =
          _mm_packs_epi32(_mm256_castsi256_si128(b), _mm256_extracti128_si256(b, 1));
      return _mm_packus_epi16(_mm_add_epi16(low, offset_), _mm_add_epi16(high, offset_));
    }
    static void store16(uint8_t* p, __m128i v) {
      _mm_storeu_si128(reinterpret_cast<__m128i*>(p), v);
    }
    static void store16_part(uint8_t* p, __m128i v, size_t n) { store_low_bytes(p, v, n); }

   private:
    __m256 value(const uint8_t* p) const {
      const __m256i x = _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p)));
      return _mm256_mul_ps(input_scale_,
                           _mm256_cvtepi32_ps(_mm256_sub_epi32(x, input_zero_point_)));
    }
    __m256i steps(__m256 sum, __m256 divisor) const {
      const __m256 mean = _mm256_div_ps(sum, divisor);
      const __m256 v = _mm256_add_ps(_mm256_div_ps(mean, output_scale_), output_zero_point_);
      return _mm256_cvtps_epi32(_mm256_min_ps(_mm256_max_ps(v, lo_), hi_));
    }

    __m256i input_zero_point_;
    __m256 input_scale_, output_scale_, output_zero_point_, lo_, hi_;
    __m128i offset_;
  };
};

}  // namespace

void max_pool_avx2(const MaxPoolArgs& args) { max_pool<Avx2>(args); }
void average_pool_avx2(const AveragePoolArgs& args) { average_pool<Avx2>(args); }
void global_sum_avx2(const GlobalSumArgs& args) { global_sum<Avx2>(args); }

}  // namespace qrt
