// SPDX-License-Identifier: Apache-2.0
// The row of simd128 with fused multiply-adds that are instructions.
#include "kernels/isa/requantize_wasm128.h"
#include "kernels/isa/vec_wasm128.h"
// First the vector layer.
#include "kernels/elementwise/elementwise_vectors.h"

namespace qrt {
namespace {

namespace wasmrelaxed = wasm128;

}  // namespace

QRT_VECTOR_ROW(wasmrelaxed)

}  // namespace qrt
