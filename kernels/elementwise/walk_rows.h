// SPDX-License-Identifier: Apache-2.0
// The walk over rows (rows.h) of kernels for x86, a register at a time. Included by those kernel
// files only: everything has internal linkage. A Block is constructed from the parameters of a form
// and has
//
//   Vec                                             the vector layer, of isa/
//   First first(Int x); Second second(Int x);       of a register of either operand
//   Int join(First, Second);                        the outputs
//
// An operand's row that all rows share goes through first() or second() once for several rows.
#ifndef QRT_KERNELS_ELEMENTWISE_WALK_ROWS_H_
#define QRT_KERNELS_ELEMENTWISE_WALK_ROWS_H_

#include <string.h>

#include <cstddef>
#include <cstdint>

#include "kernels/elementwise/rows.h"

namespace qrt {
namespace {

// Rows that are processed together. More rows would be more streams than the caches can prefetch.
constexpr size_t kRowsAtOnce = 8;

// Applies the operation to two dense rows. Makes a Block of its own, so that the constants are in
// registers.
template <class Block, class Params>
__attribute__((noinline)) void walk_row(const Params& params, const uint8_t* a, const uint8_t* b,
                                        uint8_t* y, size_t n) {
  using Vec = typename Block::Vec;
  constexpr size_t kRegister = Vec::kBytes;
  const Block block(params);
  for (; n >= kRegister; n -= kRegister, a += kRegister, b += kRegister, y += kRegister) {
    const auto first = block.first(Vec::load(a));
    Vec::store(y, block.join(first, block.second(Vec::load(b))));
  }
  if (n > 0) {
    const typename Vec::Partial part(n);
    const auto first = block.first(part.load(a));
    part.store(y, block.join(first, block.second(part.load(b))));
  }
}

// Applies the operation to `held` and one register, or part of one, of each row of x.
template <bool kFirstIsSame, class Block, class Partial, class Int>
inline void walk_column(const Block& block, const Partial& part, Int held, const uint8_t* x,
                        size_t step, uint8_t* y, size_t y_step, size_t rows) {
  if constexpr (kFirstIsSame) {
    const auto first = block.first(held);
    for (; rows > 0; --rows, x += step, y += y_step)
      part.store(y, block.join(first, block.second(part.load(x))));
  } else {
    const auto second = block.second(held);
    for (; rows > 0; --rows, x += step, y += y_step)
      part.store(y, block.join(block.first(part.load(x)), second));
  }
}

// Applies the operation to the row `same` and each of r.rows rows of x.
template <class Block, bool kFirstIsSame, class Params>
__attribute__((noinline)) void walk_beside(const Params& params, const uint8_t* same,
                                           const uint8_t* x, size_t step, const Rows& r) {
  using Vec = typename Block::Vec;
  constexpr size_t kRegister = Vec::kBytes;
  const Block block(params);
  const size_t at_once = r.n <= kRegister ? r.rows : kRowsAtOnce;
  for (size_t row = 0; row < r.rows; row += at_once) {
    const size_t rows = r.rows - row < at_once ? r.rows - row : at_once;
    const auto column = [&](const auto& part, size_t i) {
      walk_column<kFirstIsSame>(block, part, part.load(same + i), x + row * step + i, step,
                                r.y + row * r.y_step + i, r.y_step, rows);
    };
    size_t i = 0;
    for (; i + kRegister <= r.n; i += kRegister) column(typename Vec::Whole(kRegister), i);
    if (i < r.n) column(typename Vec::Partial(r.n - i), i);
  }
}

// Applies the operation to rows. REQUIRES: no operand is a scalar.
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

// Applies the operation to rows. Divides a row whose operand is one repeated element into rows of
// one register, which share that element, and a remainder.
template <class Block, class Params>
void walk_rows(const Params& params, Rows r) {
  constexpr size_t kRegister = Block::Vec::kBytes;
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
