// SPDX-License-Identifier: Apache-2.0
// Tests what an engine makes of the relaxed instructions that WebAssembly leaves to it. A program's instructions are
// all of one kind, so that running them once tells.
#ifndef QRT_KERNELS_ISA_RELAXED_H_
#define QRT_KERNELS_ISA_RELAXED_H_

namespace qrt {

// Returns whether the dot product of bytes (i32x4.relaxed_dot_i8x16_i7x16_add_s) multiplies uint8 with int8 exactly: a
// second operand of more than 7 bits is unsigned, and no sum saturates. Others take it as signed, or saturate sums of two
// products at 16 bits.
bool is_relaxed_dot_exact();

// Returns whether f32x4.relaxed_madd rounds once. Others round the product, too.
bool is_relaxed_madd_fused();

}  // namespace qrt

#endif  // QRT_KERNELS_ISA_RELAXED_H_
