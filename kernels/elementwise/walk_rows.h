// The walk over rows (rows.h) of kernels with AVX-512, 64 bytes at a time. For those kernel files
// only; everything here is local to the including file. A Block is made from the parameters of a form
// and has
//
//   First first(__m512i x); Second second(__m512i x);   of 64 bytes of either operand
//   __m512i join(First, Second);                        the outputs
//
// An operand's row that is the same for all goes through first() or second() once for some rows.
#ifndef QRT_KERNELS_ELEMENTWISE_WALK_ROWS_H_
#define QRT_KERNELS_ELEMENTWISE_WALK_ROWS_H_

#include <immintrin.h>
#include <string.h>

#include <cstddef>
#include <cstdint>

#include "kernels/elementwise/rows.h"

namespace qrt {
namespace {

constexpr size_t kRegister = 64;
// More would be more streams than the caches follow.
constexpr size_t kRowsAtOnce = 8;

inline __mmask64 first_bytes(size_t n) { return ~uint64_t{0} >> (kRegister - n); }

// Each of these loops makes its own block, whose constants then are in registers.
template <class Block, class Params>
__attribute__((noinline)) void walk_row(const Params& params, const uint8_t* a, const uint8_t* b,
                                        uint8_t* y, size_t n) {
  const Block block(params);
  for (; n >= kRegister; n -= kRegister, a += kRegister, b += kRegister, y += kRegister) {
    const __m512i x = _mm512_loadu_si512(a), z = _mm512_loadu_si512(b);
    _mm512_storeu_si512(y, block.join(block.first(x), block.second(z)));
  }
  if (n > 0) {
    const __mmask64 mask = first_bytes(n);
    const __m512i x = _mm512_maskz_loadu_epi8(mask, a), z = _mm512_maskz_loadu_epi8(mask, b);
    _mm512_mask_storeu_epi8(y, mask, block.join(block.first(x), block.second(z)));
  }
}

// The row of `same` beside r.rows of x. A full mask costs nothing.
template <class Block, bool kFirstIsSame, class Params>
__attribute__((noinline)) void walk_beside(const Params& params, const uint8_t* same,
                                           const uint8_t* x, size_t step, const Rows& r) {
  const Block block(params);
  const size_t at_once = r.n <= kRegister ? r.rows : kRowsAtOnce;
  for (size_t row = 0; row < r.rows; row += at_once) {
    const size_t rows = r.rows - row < at_once ? r.rows - row : at_once;
    for (size_t i = 0; i < r.n; i += kRegister) {
      const __mmask64 mask = first_bytes(r.n - i < kRegister ? r.n - i : kRegister);
      const __m512i held = _mm512_maskz_loadu_epi8(mask, same + i);
      const uint8_t* from = x + row * step + i;
      uint8_t* to = r.y + row * r.y_step + i;
      const auto columns = [&](const auto& join) {
        for (size_t j = 0; j < rows; ++j, from += step, to += r.y_step)
          _mm512_mask_storeu_epi8(to, mask, join(_mm512_maskz_loadu_epi8(mask, from)));
      };
      if constexpr (kFirstIsSame) {
        const auto first = block.first(held);
        columns([&](__m512i v) { return block.join(first, block.second(v)); });
      } else {
        const auto second = block.second(held);
        columns([&](__m512i v) { return block.join(block.first(v), second); });
      }
    }
  }
}

// No operand is a scalar.
template <class Block, class Params>
void walk_arrays(const Params& params, const Rows& r) {
  if (!is_beside_a_row(r)) {
    for (size_t i = 0; i < r.rows; ++i)
      walk_row<Block>(params, r.a + i * r.a_step, r.b + i * r.b_step, r.y + i * r.y_step, r.n);
  } else if (r.b_step == 0) {
    walk_beside<Block, false>(params, r.b, r.a, r.a_step, r);
  } else {
    walk_beside<Block, true>(params, r.a, r.b, r.b_step, r);
  }
}

// A row beside one repeated element is as many rows of a register, and what is left.
template <class Block, class Params>
void walk_rows(const Params& params, Rows r) {
  if (!r.a_is_scalar && !r.b_is_scalar) return walk_arrays<Block>(params, r);
  for (; r.rows > 0; --r.rows, r.a += r.a_step, r.b += r.b_step, r.y += r.y_step) {
    alignas(kRegister) uint8_t a[kRegister], b[kRegister];
    memset(a, *r.a, kRegister);
    memset(b, *r.b, kRegister);
    const size_t rows = r.n / kRegister, whole = rows * kRegister;
    const Rows registers{r.a_is_scalar ? a : r.a,
                         r.b_is_scalar ? b : r.b,
                         false,
                         false,
                         r.y,
                         kRegister,
                         rows,
                         r.a_is_scalar ? 0 : kRegister,
                         r.b_is_scalar ? 0 : kRegister,
                         kRegister};
    if (rows > 0) walk_arrays<Block>(params, registers);
    if (whole < r.n)
      walk_row<Block>(params, r.a_is_scalar ? a : r.a + whole, r.b_is_scalar ? b : r.b + whole,
                      r.y + whole, r.n - whole);
  }
}

}  // namespace
}  // namespace qrt

#endif  // QRT_KERNELS_ELEMENTWISE_WALK_ROWS_H_
