// Contract of the order family: what compares integers and computes nothing else. One portable
// form, which compilers turn into vectors. Thread-safe.
#ifndef QRT_KERNELS_ORDER_ORDER_H_
#define QRT_KERNELS_ORDER_ORDER_H_

#include <cstddef>
#include <cstdint>

namespace qrt {

enum class Element : uint8_t { kU8, kI8, kU16, kI16, kI32, kI64 };
constexpr size_t kElements = 6;

// y[i] = the lesser or the greater of a[i] and b[i], for n elements; an operand may be one element,
// repeated. y may equal an operand. All pointers are aligned to the element.
struct MinMaxRun {
  const void* a;
  const void* b;
  bool a_is_scalar, b_is_scalar;
  void* y;
  size_t n;
};
using MinMaxFn = void (*)(const MinMaxRun& run);
MinMaxFn min_max_kernel(Element element, bool maximum);

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
