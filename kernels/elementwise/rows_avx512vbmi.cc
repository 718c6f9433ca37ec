// SPDX-License-Identifier: Apache-2.0
// Sums by tables: a table of 256 bytes is four registers, of which VPERMI2B looks up two at a time.
#include <immintrin.h>

#include "kernels/elementwise/forms_entry.h"
#include "kernels/elementwise/walk_rows.h"
#include "kernels/isa/vec_avx512vnni.h"

namespace qrt {
namespace {

struct Table {
  explicit Table(const uint8_t (&bytes)[256])
      : quarter{_mm512_load_si512(bytes), _mm512_load_si512(bytes + 64),
                _mm512_load_si512(bytes + 128), _mm512_load_si512(bytes + 192)} {}
  __m512i look_up(__m512i x, __mmask64 upper) const {
    const __m512i low = _mm512_permutex2var_epi8(quarter[0], x, quarter[1]);
    const __m512i high = _mm512_permutex2var_epi8(quarter[2], x, quarter[3]);
    return _mm512_mask_mov_epi8(low, upper, high);
  }

  __m512i quarter[4];
};

struct Sum {
  using Vec = avx512vnni::Vec;

  explicit Sum(const SumTables& t)
      : base(t.base),
        rank(t.rank),
        steps(t.steps),
        limit(t.limit),
        one(_mm512_set1_epi8(1)),
        first_up(_mm512_set1_epi8(static_cast<char>(t.first_up))),
        lo(_mm512_set1_epi8(static_cast<char>(t.lo))),
        hi(_mm512_set1_epi8(static_cast<char>(t.hi))),
        any_up(t.first_up < 256 ? ~__mmask64{0} : 0) {}

  struct Base {
    __m512i base, rank;
  };
  struct Change {
    __m512i steps, limit;
    __mmask64 up;
  };

  Base first(__m512i a) const {
    const __mmask64 upper = _mm512_movepi8_mask(a);
    return {base.look_up(a, upper), rank.look_up(a, upper)};
  }
  Change second(__m512i b) const {
    const __mmask64 upper = _mm512_movepi8_mask(b);
    return {steps.look_up(b, upper), limit.look_up(b, upper),
            _mm512_mask_cmpge_epu8_mask(any_up, b, first_up)};
  }
  __m512i join(const Base& a, const Change& b) const {
    const __mmask64 carry = _mm512_cmplt_epu8_mask(b.limit, a.rank);
    const __m512i v = _mm512_mask_add_epi8(a.base, carry, a.base, one);
    const __m512i y = _mm512_mask_adds_epu8(_mm512_subs_epu8(v, b.steps), b.up, v, b.steps);
    return _mm512_min_epu8(_mm512_max_epu8(y, lo), hi);
  }

  Table base, rank, steps, limit;
  __m512i one, first_up, lo, hi;
  __mmask64 any_up;
};

}  // namespace

void sum_tables_avx512vbmi(const SumTables& tables, const Rows& rows) {
  walk_rows<Sum>(tables, tables.base_is_a ? rows : swapped(rows));
}

}  // namespace qrt
