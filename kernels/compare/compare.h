// SPDX-License-Identifier: Apache-2.0
// Contract of the compare family: what compares integers and computes nothing else. Portable loops,
// which compilers turn into vectors, minima and maxima for each instruction set. Thread-safe.
#ifndef QRT_KERNELS_COMPARE_COMPARE_H_
#define QRT_KERNELS_COMPARE_COMPARE_H_

#include <cstddef>
#include <cstdint>

#include "kernels/dtype.h"
#include "kernels/isa.h"

namespace qrt {

// y[i] of a[i] and b[i], for n elements; an operand may be one element, repeated. All pointers are
// aligned to the element.
struct BinaryArgs {
  const void* a;
  const void* b;
  bool a_is_scalar, b_is_scalar;
  void* y;
  size_t n;
};
// The lesser or the greater of two elements; y may equal an operand.
struct MinMaxKernel {
  const char *minimum_name, *maximum_name;  // "min_avx2"
  Isa isa;
  void (*minimum)(DType dtype, const BinaryArgs& run);
  void (*maximum)(DType dtype, const BinaryArgs& run);
};

const MinMaxKernel* min_max_kernels(size_t* count);
const MinMaxKernel* select_min_max(IsaSet isas);

// x [outer][n][inner]; y [outer][inner] as int32, or as int64 with `to_int64`: the index along n of the greatest
// (`minimum`: least) element, the first of equal ones (`last`: the last). n < 2^31. Among floats, -0 and 0 are
// equal; a NaN takes no other's place and keeps its own, that of the first element.
struct ArgMaxArgs {
  const void* x;
  size_t outer, n, inner;
  bool minimum, last, to_int64;
  void* y;
};
using ArgMaxFn = void (*)(const ArgMaxArgs& args);
ArgMaxFn arg_max_kernel(DType dtype);

}  // namespace qrt

#endif  // QRT_KERNELS_COMPARE_COMPARE_H_
