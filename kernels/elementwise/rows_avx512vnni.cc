// SPDX-License-Identifier: Apache-2.0
#include "kernels/elementwise/scaled_product_x86.h"
#include "kernels/isa/vec_avx512vnni.h"

namespace qrt {

void scaled_product_avx512vnni(const ScaledProduct& product, const Rows& rows) {
  scaled_product<avx512vnni::Vec>(product, rows);
}

}  // namespace qrt
