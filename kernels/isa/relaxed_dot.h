// SPDX-License-Identifier: Apache-2.0
// Tests how the engine's relaxed dot product of bytes (i32x4.relaxed_dot_i8x16_i7x16_add_s) takes a second
// operand of more than 7 bits, for which WebAssembly leaves the result to the engine.
#ifndef QRT_KERNELS_ISA_RELAXED_DOT_H_
#define QRT_KERNELS_ISA_RELAXED_DOT_H_

namespace qrt {

// Runs it and returns whether the second operand is unsigned and no sum saturates, so that it multiplies
// uint8 with int8 exactly. Others take it as signed, or saturate sums of two products at 16 bits.
bool is_relaxed_dot_exact();

}  // namespace qrt

#endif  // QRT_KERNELS_ISA_RELAXED_DOT_H_
