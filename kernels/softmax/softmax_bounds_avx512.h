// SPDX-License-Identifier: Apache-2.0
// Softmax by bounds for AVX-512: look-ups in as many registers as the rows' ranges ask for. A group of
// rows goes through one stage after the other, so that no row waits for its own greatest value, sum or
// quotients. For those kernel files only; everything here is local to the including file.
#ifndef QRT_KERNELS_SOFTMAX_SOFTMAX_BOUNDS_AVX512_H_
#define QRT_KERNELS_SOFTMAX_SOFTMAX_BOUNDS_AVX512_H_

#include <immintrin.h>
#include <string.h>

#include "kernels/isa/inline.h"
#include "kernels/softmax/softmax_bounds_entry.h"

namespace qrt {
namespace {

constexpr size_t kBytes = 64, kLanes = 16;
constexpr size_t kFour = 4;  // rows reduced at once

// Calls f(at, mask) for the registers of a row, beginning with the incomplete last one, so that the
// whole ones behind it leave in place what the loop carries.
template <class F>
QRT_INLINE void for_blocks(size_t n, const F& f) {
  const size_t whole = n / kBytes * kBytes;
  if (whole < n) f(whole, ~__mmask64{0} >> (kBytes - (n - whole)));
  for (size_t i = 0; i < whole; i += kBytes) f(i, ~__mmask64{0});
}

// Halves of a register upon each other until 16 bytes are left.
QRT_INLINE __m128i greatest_of(__m512i v) {
  const __m256i half = _mm256_max_epu8(_mm512_castsi512_si256(v), _mm512_extracti64x4_epi64(v, 1));
  return _mm_max_epu8(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
}
QRT_INLINE __m128i least_of(__m512i v) {
  const __m256i half = _mm256_min_epu8(_mm512_castsi512_si256(v), _mm512_extracti64x4_epi64(v, 1));
  return _mm_min_epu8(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
}
QRT_INLINE __m128 sum_of(__m512 v) {
  const __m256 half = _mm256_add_ps(_mm512_castps512_ps256(v), _mm512_extractf32x8_ps(v, 1));
  return _mm_add_ps(_mm256_castps256_ps128(half), _mm256_extractf128_ps(half, 1));
}

// And of 16 bytes, for each row of a register: all of them become the greatest.
QRT_INLINE __m512i broadcast_max(__m512i v) {
  const __m512i swap_bytes = _mm512_set4_epi32(0x0e0f0c0d, 0x0a0b0809, 0x06070405, 0x02030001);
  v = _mm512_max_epu8(v, _mm512_shuffle_epi32(v, _MM_PERM_BADC));
  v = _mm512_max_epu8(v, _mm512_shuffle_epi32(v, _MM_PERM_CDAB));
  v = _mm512_max_epu8(v, _mm512_rol_epi32(v, 16));
  return _mm512_max_epu8(v, _mm512_shuffle_epi8(v, swap_bytes));
}
QRT_INLINE __m512 broadcast_sum(__m512 v) {
  v = _mm512_add_ps(v, _mm512_permute_ps(v, 0x4e));
  return _mm512_add_ps(v, _mm512_permute_ps(v, 0xb1));
}

// A group of rows. A row's greatest and least value, sum and bounds of its inverse have 16 bytes.
// Table<kQuarters> holds so many `quarter`s of 64 bytes, and look_up(mask, i) gives the bytes at i,
// all below 64 * kQuarters, and 0 where the mask is.
template <template <int> class Table>
class Group {
 public:
  Group(const SoftmaxBounds& bounds, const uint8_t* x, uint8_t* y, size_t rows, size_t n)
      : bounds_(bounds), x_(x), y_(y), rows_(rows), n_(n) {}

  uint32_t run() {
    const __m512i reach = find_greatest();
    if (_mm512_movepi8_mask(reach) != 0) return run<4>();
    return _mm512_movepi8_mask(_mm512_add_epi8(reach, reach)) != 0 ? run<2>() : run<1>();
  }

 private:
  template <int kQuarters>
  uint32_t run() {
    add_up<kQuarters>();
    // Where fewer quarters are used, the last byte stands for all that is further away.
    const size_t shown = bounds_.shown;
    if (kQuarters > 1 && shown < kBytes) return store<1>();
    if (kQuarters > 2 && shown < 2 * kBytes) return store<2>();
    if (kQuarters > 2 && shown < 3 * kBytes) return store<3>();
    return store<kQuarters>();
  }

  // Finds every row's greatest value, and returns how far its least one lies below.
  __m512i find_greatest() {
    for (size_t r = rows_; r % kFour != 0; ++r) greatest_[r] = least_[r] = _mm_setzero_si128();
    for (size_t r = 0; r < rows_; ++r) {
      const uint8_t* const x = x_ + r * n_;
      __m512i least = _mm512_set1_epi8(-1), greatest = _mm512_setzero_si512();
      for_blocks(n_, [&](size_t i, __mmask64 mask) QRT_INLINE_LAMBDA {
        const __m512i v = _mm512_maskz_loadu_epi8(mask, x + i);
        least = _mm512_mask_min_epu8(least, mask, least, v);
        greatest = _mm512_max_epu8(greatest, v);
      });
      _mm_store_si128(&greatest_[r], greatest_of(greatest));
      _mm_store_si128(&least_[r], least_of(least));
    }
    __m512i reach = _mm512_setzero_si512();
    for (size_t r = 0; r < rows_; r += kFour) {
      const __m512i greatest = broadcast_max(_mm512_load_si512(&greatest_[r]));
      _mm512_store_si512(&greatest_[r], greatest);
      reach = _mm512_max_epu8(reach, _mm512_subs_epu8(greatest, _mm512_load_si512(&least_[r])));
    }
    return reach;
  }

  __m512i greatest_of_row(size_t r) const {
    int32_t four;
    memcpy(&four, &greatest_[r], sizeof four);
    return _mm512_set1_epi32(four);
  }

  template <int kQuarters>
  void add_up() {
    Table<kQuarters> byte[3];
    QRT_UNROLL
    for (int i = 0; i < 3; ++i) {
      QRT_UNROLL
      for (int q = 0; q < kQuarters; ++q)
        byte[i].quarter[q] = _mm512_loadu_si512(bounds_.bytes[i] + kBytes * q);
    }
    const __m512i ones = _mm512_set1_epi8(1);
    for (size_t r = 0; r < rows_; ++r) {
      const uint8_t* const x = x_ + r * n_;
      const __m512i greatest = greatest_of_row(r);
      __m512i sum[3] = {};
      for_blocks(n_, [&](size_t i, __mmask64 mask) QRT_INLINE_LAMBDA {
        const __m512i d = _mm512_sub_epi8(greatest, _mm512_loadu_si512(x + i));
        QRT_UNROLL
        for (int k = 0; k < 3; ++k)
          sum[k] = _mm512_dpbusd_epi32(sum[k], byte[k].look_up(mask, d), ones);
      });
      const __m512i upper = _mm512_add_epi32(_mm512_slli_epi32(sum[2], 8), sum[1]);
      const __m512i all = _mm512_add_epi32(_mm512_slli_epi32(upper, 8), sum[0]);
      _mm_store_ps(sum_[r], sum_of(_mm512_cvtepi32_ps(all)));
    }
    for (size_t r = rows_; r % kFour != 0; ++r) _mm_store_ps(sum_[r], _mm_set1_ps(1));
    const float w = (1.5f * static_cast<float>(n_) + 16) * 0x1p-24f;
    for (size_t r = 0; r < rows_; r += kFour) {
      const __m512 inverse =
          _mm512_div_ps(_mm512_set1_ps(1), broadcast_sum(_mm512_load_ps(sum_[r])));
      _mm512_store_ps(low_[r], _mm512_mul_ps(inverse, _mm512_set1_ps(1 - w)));
      _mm512_store_ps(high_[r], _mm512_mul_ps(inverse, _mm512_set1_ps(1 + w)));
    }
  }

  template <int kQuarters>
  uint32_t store() {
    // A sum with 1.5 * 2^23 is rounded to integers, which stand in its low bits.
    const __m512 magic = _mm512_set1_ps(0x1.8p23f + static_cast<float>(bounds_.zero_point));
    const __m512i low_words = _mm512_cvtepi8_epi16(
        _mm256_setr_epi8(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30, 32, 34, 36, 38,
                         40, 42, 44, 46, 48, 50, 52, 54, 56, 58, 60, 62));
    const __m512i order = _mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7);
    const __m512i furthest = _mm512_set1_epi8(static_cast<char>(kBytes * kQuarters - 1));
    uint32_t open = 0;
    for (size_t r = 0; r < rows_; ++r) {
      const __m512 low = _mm512_set1_ps(low_[r][0]), high = _mm512_set1_ps(high_[r][0]);
      __m512i differences = _mm512_setzero_si512();
      const auto quanta = [&](int vector) QRT_INLINE_LAMBDA {
        const __m512 share = _mm512_loadu_ps(bounds_.share + kLanes * vector);
        const __m512i least = _mm512_castps_si512(_mm512_fmadd_ps(share, low, magic));
        const __m512i most = _mm512_castps_si512(_mm512_fmadd_ps(share, high, magic));
        differences = _mm512_ternarylogic_epi32(differences, least, most, 0xf6);  // a | (b ^ c)
        return least;
      };
      const auto words = [&](int vector) QRT_INLINE_LAMBDA {
        const __m512i a = quanta(vector), b = quanta(vector + 1);
        return _mm512_permutex2var_epi16(a, low_words, b);
      };
      Table<kQuarters> table;
      QRT_UNROLL
      for (int q = 0; q < kQuarters; ++q) {
        const __m512i a = words(4 * q), b = words(4 * q + 2);
        table.quarter[q] = _mm512_permutexvar_epi64(order, _mm512_packus_epi16(a, b));
      }
      open |= uint32_t{_mm512_test_epi32_mask(differences, differences) != 0} << r;
      const uint8_t* const x = x_ + r * n_;
      uint8_t* const y = y_ + r * n_;
      const __m512i greatest = greatest_of_row(r);
      for_blocks(n_, [&](size_t i, __mmask64 mask) QRT_INLINE_LAMBDA {
        const __m512i d = _mm512_sub_epi8(greatest, _mm512_loadu_si512(x + i));
        _mm512_mask_storeu_epi8(y + i, mask, table.look_up(mask, _mm512_min_epu8(d, furthest)));
      });
    }
    return open;
  }

  const SoftmaxBounds& bounds_;
  const uint8_t* const x_;
  uint8_t* const y_;
  const size_t rows_, n_;
  alignas(kBytes) __m128i greatest_[kBoundedRows], least_[kBoundedRows];
  alignas(kBytes) float sum_[kBoundedRows][4], low_[kBoundedRows][4], high_[kBoundedRows][4];
};

}  // namespace
}  // namespace qrt

#endif  // QRT_KERNELS_SOFTMAX_SOFTMAX_BOUNDS_AVX512_H_
