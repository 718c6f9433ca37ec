// SPDX-License-Identifier: Apache-2.0
#include "kernels/elementwise/scaled_product_x86.h"
#include "kernels/isa/vec_avx2.h"

namespace qrt {

void scaled_product_avx2(const ScaledProduct& product, const Rows& rows) {
  scaled_product<avx2::Vec>(product, rows);
}

}  // namespace qrt
