// SPDX-License-Identifier: Apache-2.0
// A family's table: its rows, the best set first and the scalar row last, and the choice among them where only the
// instruction set decides. For the select.cc of the families.
#ifndef QRT_KERNELS_SELECT_H_
#define QRT_KERNELS_SELECT_H_

#include <cstddef>

#include "kernels/isa.h"

namespace qrt {
namespace {

template <class Row, size_t kCount>
const Row* all_rows(const Row (&rows)[kCount], size_t* count) {
  *count = kCount;
  return rows;
}

// Returns the first row that the sets allow; the scalar one runs everywhere.
template <class Row, size_t kCount>
const Row* first_row(const Row (&rows)[kCount], IsaSet isas) {
  const Row* row = rows;
  while (row->isa != Isa::kScalar && !has(isas, row->isa)) ++row;
  return row;
}

}  // namespace
}  // namespace qrt

#endif  // QRT_KERNELS_SELECT_H_
