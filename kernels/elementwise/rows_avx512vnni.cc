// Products in float32 whose sum with a number of 2^23 and more is the integer they round to.
#include <immintrin.h>

#include "kernels/elementwise/forms_entry.h"
#include "kernels/elementwise/walk_rows.h"

namespace qrt {
namespace {

constexpr float kWhole = 0x1p23f;           // floats from here on are integers
constexpr int32_t kWholeBits = 0x4b000000;  // with a byte x in their low bits: kWhole + x

// The low words of two registers of lanes, each 128 bits of the first before those of the second.
alignas(64) constexpr uint16_t kLowWords[] = {0,  2,  4,  6,  32, 34, 36, 38, 8,  10, 12,
                                              14, 40, 42, 44, 46, 16, 18, 20, 22, 48, 50,
                                              52, 54, 24, 26, 28, 30, 56, 58, 60, 62};

struct Product {
  explicit Product(const ScaledProduct& p)
      : a_zero(_mm512_set1_ps(kWhole + static_cast<float>(p.a_zero_point))),
        b_zero(_mm512_set1_ps(kWhole + static_cast<float>(p.b_zero_point))),
        scale(_mm512_set1_ps(p.scale)),
        addend(_mm512_set1_ps(p.addend)),
        low_words(_mm512_load_si512(kLowWords)),
        lo(_mm512_set1_epi8(static_cast<char>(p.lo))),
        hi(_mm512_set1_epi8(static_cast<char>(p.hi))) {}

  struct Numbers {
    __m512 v[4];
  };

  // Bytes less `zero`, four of each 128 bits in turn.
  static Numbers numbers(__m512i x, __m512 zero) {
    const __m512i low = _mm512_unpacklo_epi8(x, _mm512_setzero_si512());
    const __m512i high = _mm512_unpackhi_epi8(x, _mm512_setzero_si512());
    const __m512i exponent = _mm512_set1_epi16(kWholeBits >> 16);
    const auto number = [&](__m512i v) { return _mm512_sub_ps(_mm512_castsi512_ps(v), zero); };
    return {{number(_mm512_unpacklo_epi16(low, exponent)),
             number(_mm512_unpackhi_epi16(low, exponent)),
             number(_mm512_unpacklo_epi16(high, exponent)),
             number(_mm512_unpackhi_epi16(high, exponent))}};
  }
  Numbers first(__m512i a) const { return numbers(a, a_zero); }
  Numbers second(__m512i b) const {
    const Numbers n = numbers(b, b_zero);
    return {{_mm512_mul_ps(n.v[0], scale), _mm512_mul_ps(n.v[1], scale),
             _mm512_mul_ps(n.v[2], scale), _mm512_mul_ps(n.v[3], scale)}};
  }
  __m512i join(const Numbers& a, const Numbers& b) const {
    const auto rounded = [&](int i) {
      return _mm512_castps_si512(_mm512_fmadd_ps(a.v[i], b.v[i], addend));
    };
    const __m512i low = _mm512_permutex2var_epi16(rounded(0), low_words, rounded(1));
    const __m512i high = _mm512_permutex2var_epi16(rounded(2), low_words, rounded(3));
    return _mm512_min_epu8(_mm512_max_epu8(_mm512_packus_epi16(low, high), lo), hi);
  }

  __m512 a_zero, b_zero, scale, addend;
  __m512i low_words, lo, hi;
};

}  // namespace

void scaled_product_avx512vnni(const ScaledProduct& product, const Rows& rows) {
  walk_rows<Product>(product, rows);
}

}  // namespace qrt
