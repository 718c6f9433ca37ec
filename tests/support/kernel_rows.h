// SPDX-License-Identifier: Apache-2.0
// The rows of a kernel family's table, for tests that go through all of them.
#ifndef QRT_TESTS_SUPPORT_KERNEL_ROWS_H_
#define QRT_TESTS_SUPPORT_KERNEL_ROWS_H_

#include <cstddef>
#include <vector>

#include "kernels/isa.h"

namespace qrt {
namespace testing {

template <class Kernel>
std::vector<Kernel> all_rows(const Kernel* (*table)(size_t* count)) {
  size_t count = 0;
  const Kernel* const rows = table(&count);
  return {rows, rows + count};
}

template <class Kernel>
std::vector<Kernel> rows_of_this_cpu(const Kernel* (*table)(size_t* count)) {
  std::vector<Kernel> rows;
  for (const Kernel& row : all_rows(table))
    if (has(detected_isas(), row.isa)) rows.push_back(row);
  return rows;
}

}  // namespace testing
}  // namespace qrt

#endif  // QRT_TESTS_SUPPORT_KERNEL_ROWS_H_
