// SPDX-License-Identifier: Apache-2.0
// LayerNormalization from bytes to bytes. A row's floats stand in the cache between its passes; the last
// one makes bytes in the registers.
#define QRT_FLOAT_LANES 16
#include <immintrin.h>

#include "kernels/float_fallback/entry.h"
#include "kernels/float_fallback/layer_norm.h"

namespace qrt {
namespace {

constexpr size_t kRows = kLayerNormRows;
constexpr size_t kBlock = 2 * kLanes;

QRT_INLINE __mmask16 first_lanes(size_t n) {
  return static_cast<__mmask16>(n >= kLanes ? 0xffff : (1u << n) - 1);
}

// Calls f(at, masks of two registers) for a row.
template <class F>
QRT_INLINE void for_blocks(size_t n, const F& f) {
  size_t i = 0;
  for (; i + kBlock <= n; i += kBlock) f(i, 0xffff, 0xffff);
  if (i < n) f(i, first_lanes(n - i), n - i > kLanes ? first_lanes(n - i - kLanes) : 0);
}

// The parts of a row's sum, lane by lane. With k = x - x_zero_point and the roundings d = k * x_scale -
// fl32(k * x_scale) it is x_scale times the sum of k less the sum of d. All of this is exact in any
// order: d is a float, a multiple of the scale's last place and at most 128 times that, and in double
// precision so is the whole.
struct RowSums {
  __m512 steps, roundings;
};

// A row as floats.
QRT_INLINE RowSums dequantize(const LayerNormBytes& p, const uint8_t* x, size_t n, float* to) {
  const __m512 scale = _mm512_set1_ps(p.x_scale);
  const __m512i zero_point = _mm512_set1_epi32(p.x_zero_point);
  __m512i steps[2] = {};
  __m512 roundings[2] = {};
  for_blocks(n, [&](size_t i, __mmask16 m0, __mmask16 m1) QRT_INLINE_LAMBDA {
    const __mmask16 mask[2] = {m0, m1};
    QRT_UNROLL
    for (int h = 0; h < 2; ++h) {
      const __m128i bytes = _mm_maskz_loadu_epi8(mask[h], x + i + kLanes * h);
      const __m512i k = _mm512_maskz_sub_epi32(mask[h], _mm512_cvtepu8_epi32(bytes), zero_point);
      const __m512 real = _mm512_cvtepi32_ps(k), v = real * scale;
      _mm512_mask_storeu_ps(to + i + kLanes * h, mask[h], v);
      steps[h] = _mm512_add_epi32(steps[h], k);
      roundings[h] += _mm512_fmsub_ps(real, scale, v);
    }
  });
  return {_mm512_cvtepi32_ps(_mm512_add_epi32(steps[0], steps[1])), roundings[0] + roundings[1]};
}

// Returns a vector whose lane i is the sum of a[i].
QRT_INLINE __m512 sums_of(const __m512 (&a)[16]) {
  const auto two = [&](int i) QRT_INLINE_LAMBDA {
    return _mm512_unpacklo_ps(a[i], a[i + 1]) + _mm512_unpackhi_ps(a[i], a[i + 1]);
  };
  const auto four = [&](int i) QRT_INLINE_LAMBDA {
    const __m512d v = _mm512_castps_pd(two(i)), w = _mm512_castps_pd(two(i + 2));
    return _mm512_castpd_ps(_mm512_unpacklo_pd(v, w)) + _mm512_castpd_ps(_mm512_unpackhi_pd(v, w));
  };
  const auto join = [](__m512 v, __m512 w) QRT_INLINE_LAMBDA {
    return _mm512_shuffle_f32x4(v, w, 0x88) + _mm512_shuffle_f32x4(v, w, 0xdd);
  };
  return join(join(four(0), four(4)), join(four(8), four(12)));
}

QRT_INLINE void means_of(const LayerNormBytes& p, const __m512 (&parts)[2 * kRows], size_t n,
                         float (&mean)[kRows]) {
  const __m512 sums = sums_of(parts);
  const __m512d steps = _mm512_cvtps_pd(_mm512_castps512_ps256(sums));
  const __m512d roundings = _mm512_cvtps_pd(_mm512_extractf32x8_ps(sums, 1));
  const __m512d all = steps * _mm512_set1_pd(static_cast<double>(p.x_scale)) - roundings;
  const __m512d count = _mm512_set1_pd(static_cast<double>(n));
  _mm256_storeu_ps(mean, _mm512_cvtpd_ps(all / count));
}

// sum_of() of eight rows.
QRT_INLINE __m256 sums_of(const Eight (&a)[kRows]) {
  const auto halves = [&](int r) QRT_INLINE_LAMBDA {
    const __m256 v = a[r].parts[0];
    return _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
  };
  // Sums in all places of 16 bytes; it does not matter which operand comes first.
  const auto four = [&](int r) QRT_INLINE_LAMBDA {
    const __m256 low = _mm256_set_m128(halves(r + 1), halves(r));
    const __m256 high = _mm256_set_m128(halves(r + 3), halves(r + 2));
    __m512 v = _mm512_insertf32x8(_mm512_castps256_ps512(low), high, 1);
    v = v + _mm512_permute_ps(v, 0x4e);
    return v + _mm512_permute_ps(v, 0xb1);
  };
  const __m512i firsts = _mm512_setr_epi32(0, 4, 8, 12, 16, 20, 24, 28, 0, 0, 0, 0, 0, 0, 0, 0);
  return _mm512_castps512_ps256(_mm512_permutex2var_ps(four(0), firsts, four(4)));
}

// 1 / sqrt(variance + epsilon)
QRT_INLINE void inverse_deviations(const LayerNormBytes& p, const float* x,
                                   const float (&mean)[kRows], size_t n, float (&inverse)[kRows]) {
  Eight squares[kRows];
  square_deviations(x, mean, n, squares);
  float sum[kRows];
  _mm256_storeu_ps(sum, sums_of(squares));
  if (n % 8 != 0)
    for (size_t r = 0; r < kRows; ++r) sum[r] = add_other_squares(x + r * n, mean[r], n, sum[r]);
  const __m256 variance = _mm256_loadu_ps(sum) / _mm256_set1_ps(static_cast<float>(n));
  const __m256 deviation = _mm256_sqrt_ps(variance + _mm256_set1_ps(p.epsilon));
  _mm256_storeu_ps(inverse, _mm256_set1_ps(1) / deviation);
}

// Makes bytes of a row's floats. As in softmax/softmax_bounds.h, a value that becomes the same byte by
// two bounds of a quotient becomes it by the quotient: v * low < fl32(v / y_scale) < v * high where v
// > 0, else the other way round.
class Normalizer {
 public:
  explicit Normalizer(const LayerNormBytes& p)
      : p_(p),
        bias_(p.bias != nullptr ? p.bias : p.scale),
        has_bias_(p.bias != nullptr ? 0xffff : 0),
        least_(_mm512_set1_ps(static_cast<float>(p.lo - p.y_zero_point) * p.y_scale)),
        most_(_mm512_set1_ps(static_cast<float>(p.hi - p.y_zero_point) * p.y_scale)),
        low_(_mm512_set1_ps(1 / p.y_scale * (1 - 0x1p-22f))),
        high_(_mm512_set1_ps(1 / p.y_scale * (1 + 0x1p-22f))),
        magic_(_mm512_set1_ps(0x1.8p23f + static_cast<float>(p.y_zero_point))) {}

  void row(float* x, float mean, float inverse, size_t n, uint8_t* y) const {
    const __m512i low_words = _mm512_cvtepi8_epi16(
        _mm256_setr_epi8(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30, 32, 34, 36, 38,
                         40, 42, 44, 46, 48, 50, 52, 54, 56, 58, 60, 62));
    const float *const scale = p_.scale, *const bias = bias_;
    const __m512 m = _mm512_set1_ps(mean), by = _mm512_set1_ps(inverse);
    const auto real = [&](size_t i, __mmask16 mask) QRT_INLINE_LAMBDA {
      const __m512 normal = (_mm512_maskz_loadu_ps(mask, x + i) - m) * by;
      // Without a bias a product and 0 are added, which changes no more than the sign of a zero.
      const __mmask16 of_bias = static_cast<__mmask16>(mask & has_bias_);
      return _mm512_fmadd_ps(normal, _mm512_maskz_loadu_ps(mask, scale + i),
                             _mm512_maskz_loadu_ps(of_bias, bias + i));
    };
    __m512i differences = _mm512_setzero_si512();
    const auto quanta = [&](__m512 v) QRT_INLINE_LAMBDA {
      v = _mm512_min_ps(_mm512_max_ps(v, least_), most_);
      const __m512i a = _mm512_castps_si512(_mm512_fmadd_ps(v, low_, magic_));
      const __m512i b = _mm512_castps_si512(_mm512_fmadd_ps(v, high_, magic_));
      differences = _mm512_ternarylogic_epi32(differences, a, b, 0xf6);
      return a;
    };
    for_blocks(n, [&](size_t i, __mmask16 m0, __mmask16 m1) QRT_INLINE_LAMBDA {
      const __m512i a = quanta(real(i, m0)), b = quanta(real(i + kLanes, m1));
      const __m512i words = _mm512_permutex2var_epi16(a, low_words, b);
      _mm256_mask_storeu_epi8(y + i, static_cast<__mmask32>(m0 | uint32_t{m1} << kLanes),
                              _mm512_cvtepi16_epi8(words));
    });
    if (_mm512_test_epi32_mask(differences, differences) == 0) return;
    for_blocks(n, [&](size_t i, __mmask16 m0, __mmask16 m1) QRT_INLINE_LAMBDA {
      _mm512_mask_storeu_ps(x + i, m0, real(i, m0));
      _mm512_mask_storeu_ps(x + i + kLanes, m1, real(i + kLanes, m1));
    });
    p_.edge->quantize(x, n, p_.y_scale, p_.y_zero_point, p_.lo, p_.hi, y);
  }

 private:
  const LayerNormBytes& p_;
  const float* const bias_;
  const __mmask16 has_bias_;
  const __m512 least_, most_, low_, high_, magic_;
};

}  // namespace

void layer_norm_bytes_avx512vnni(const LayerNormBytes& p, const uint8_t* x, size_t rows, size_t n,
                                 float* floats, uint8_t* y) {
  const Normalizer normalizer(p);
  while (rows > 0) {
    const size_t count = rows < kRows ? rows : kRows;
    float mean[kRows], inverse[kRows];
    __m512 parts[2 * kRows] = {};
    for (size_t r = 0; r < count; ++r) {
      const RowSums of_row = dequantize(p, x + r * n, n, floats + r * n);
      parts[r] = of_row.steps;
      parts[kRows + r] = of_row.roundings;
    }
    means_of(p, parts, n, mean);
    inverse_deviations(p, floats, mean, n, inverse);
    for (size_t r = 0; r < count; ++r)
      normalizer.row(floats + r * n, mean[r], inverse[r], n, y + r * n);
    rows -= count, x += count * n, y += count * n;
  }
}

}  // namespace qrt
