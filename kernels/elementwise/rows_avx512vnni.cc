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

// What both products end with. Four registers of lanes are those of four bytes of each 128 bits in
// turn, as unpacking leaves them.
struct Rounding {
  explicit Rounding(const ScaledProduct& p)
      : scale(_mm512_set1_ps(p.scale)),
        addend(_mm512_set1_ps(p.addend)),
        low_words(_mm512_load_si512(kLowWords)),
        lo(_mm512_set1_epi8(static_cast<char>(p.lo))),
        hi(_mm512_set1_epi8(static_cast<char>(p.hi))) {}

  __m512i rounded(__m512 a, __m512 b) const {
    return _mm512_castps_si512(_mm512_fmadd_ps(a, b, addend));
  }
  __m512i bytes(__m512i v0, __m512i v1, __m512i v2, __m512i v3) const {
    const __m512i low = _mm512_permutex2var_epi16(v0, low_words, v1);
    const __m512i high = _mm512_permutex2var_epi16(v2, low_words, v3);
    return _mm512_min_epu8(_mm512_max_epu8(_mm512_packus_epi16(low, high), lo), hi);
  }

  __m512 scale, addend;
  __m512i low_words, lo, hi;
};

// Beside a row, whose bytes are scaled once.
struct Product : Rounding {
  explicit Product(const ScaledProduct& p)
      : Rounding(p),
        a_zero(_mm512_set1_ps(kWhole + static_cast<float>(p.a_zero_point))),
        b_zero(_mm512_set1_ps(kWhole + static_cast<float>(p.b_zero_point))) {}

  struct Numbers {
    __m512 v[4];
  };

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
    return bytes(rounded(a.v[0], b.v[0]), rounded(a.v[1], b.v[1]), rounded(a.v[2], b.v[2]),
                 rounded(a.v[3], b.v[3]));
  }

  __m512 a_zero, b_zero;
};

// Of two arrays, in integers before it is scaled: fewer operations where nothing is done once.
struct IntegerProduct : Rounding {
  explicit IntegerProduct(const ScaledProduct& p)
      : Rounding(p),
        a_zero(_mm512_set1_epi16(static_cast<int16_t>(p.a_zero_point))),
        b_zero(_mm512_set1_epi16(static_cast<int16_t>(p.b_zero_point))) {}

  struct Words {
    __m512i low, high;
  };

  static Words words(__m512i x, __m512i zero) {
    const __m512i none = _mm512_setzero_si512();
    return {_mm512_sub_epi16(_mm512_unpacklo_epi8(x, none), zero),
            _mm512_sub_epi16(_mm512_unpackhi_epi8(x, none), zero)};
  }
  Words first(__m512i a) const { return words(a, a_zero); }
  Words second(__m512i b) const { return words(b, b_zero); }
  __m512i join(const Words& a, const Words& b) const {
    const __m512i low0 = _mm512_mullo_epi16(a.low, b.low);
    const __m512i high0 = _mm512_mulhi_epi16(a.low, b.low);
    const __m512i low1 = _mm512_mullo_epi16(a.high, b.high);
    const __m512i high1 = _mm512_mulhi_epi16(a.high, b.high);
    const auto scaled = [&](__m512i v) { return rounded(_mm512_cvtepi32_ps(v), scale); };
    return bytes(
        scaled(_mm512_unpacklo_epi16(low0, high0)), scaled(_mm512_unpackhi_epi16(low0, high0)),
        scaled(_mm512_unpacklo_epi16(low1, high1)), scaled(_mm512_unpackhi_epi16(low1, high1)));
  }

  __m512i a_zero, b_zero;
};

}  // namespace

void scaled_product_avx512vnni(const ScaledProduct& product, const Rows& rows) {
  if (is_beside_a_row(rows)) return walk_rows<Product>(product, rows);
  for (size_t i = 0; i < rows.rows; ++i)
    walk_row<IntegerProduct>(product, rows.a + i * rows.a_step, rows.b + i * rows.b_step,
                             rows.y + i * rows.y_step, rows.n);
}

}  // namespace qrt
