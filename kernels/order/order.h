// Contract of the order family: what compares integers and computes nothing else. Portable loops,
// which compilers turn into vectors, minima and maxima for each instruction set. Thread-safe.
#ifndef QRT_KERNELS_ORDER_ORDER_H_
#define QRT_KERNELS_ORDER_ORDER_H_

#include <cstddef>
#include <cstdint>

#include "kernels/isa.h"

namespace qrt {

enum class Element : uint8_t { kU8, kI8, kU16, kI16, kI32, kI64 };

// y[i] of a[i] and b[i], for n elements; an operand may be one element, repeated. All pointers are
// aligned to the element.
struct BinaryRun {
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
  void (*minimum)(Element element, const BinaryRun& run);
  void (*maximum)(Element element, const BinaryRun& run);
};

const MinMaxKernel* min_max_kernels(size_t* count);
const MinMaxKernel* select_min_max(IsaSet isas);

// x [outer][n][inner]; y [outer][inner] as int32, or as int64 with `wide`: the index along n of the
// greatest (`minimum`: least) element, of equal ones the first (`last`: the last). n < 2^31.
struct ArgMaxArgs {
  const void* x;
  size_t outer, n, inner;
  bool minimum, last, wide;
  void* y;
};
using ArgMaxFn = void (*)(const ArgMaxArgs& args);
ArgMaxFn arg_max_kernel(Element element);

}  // namespace qrt

#endif  // QRT_KERNELS_ORDER_ORDER_H_
