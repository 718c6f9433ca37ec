// SPDX-License-Identifier: Apache-2.0
// digits.h with simd128, which shifts all lanes by one count: sums of 64 bits are joined in scalar code.
#include "kernels/gemm/digits_loops.h"

namespace qrt {

void digits_split_wasm128(const int16_t* x, size_t n, uint8_t* high, uint8_t* low) {
  split(x, n, high, low);
}

void digits_combine_wasm128(const CombineArgs& args) { digits_combine_scalar(args); }

}  // namespace qrt
