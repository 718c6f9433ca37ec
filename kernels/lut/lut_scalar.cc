// SPDX-License-Identifier: Apache-2.0
// Table look-up byte by byte.
#include "kernels/lut/entry.h"

namespace qrt {

void lut_map_scalar(const uint8_t table[256], const uint8_t* x, uint8_t* y, size_t n) {
  for (size_t i = 0; i < n; ++i) y[i] = table[x[i]];
}

// Maps pairs. A look-up that misses the first-level cache loads from the second; none depends on
// the previous one, so they overlap.
void lut_map_pairs_scalar(const uint8_t* table, const uint8_t* a, const uint8_t* b, uint8_t* y,
                          size_t n) {
  for (size_t i = 0; i < n; ++i) y[i] = table[size_t{256} * a[i] + b[i]];
}

}  // namespace qrt
