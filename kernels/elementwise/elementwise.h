// Contract of the elementwise family: add and mul of two runs of bytes. Broadcasting over outer
// dimensions is the caller's loop; within a run an operand advances or stands still.
//
// Runs may overlap only where an input equals the output exactly (in place). Exactly n bytes are
// stored; inputs may be over-read by up to 64 bytes. Thread-safe. Scalar definitions:
// kernels/requant.h.
#ifndef QRT_KERNELS_ELEMENTWISE_ELEMENTWISE_H_
#define QRT_KERNELS_ELEMENTWISE_ELEMENTWISE_H_

#include <cstddef>
#include <cstdint>

#include "kernels/isa.h"
#include "kernels/requant.h"

namespace qrt {

// y[i] = requantize((a[i] - a_zero_point) * (b[i] - b_zero_point)), per tensor.
struct MulParams {
  int32_t a_zero_point, b_zero_point;
  Requant requant;
};

struct ElementwiseRun {
  const uint8_t* a;
  const uint8_t* b;
  bool a_is_scalar, b_is_scalar;  // the operand is one element, repeated
  uint8_t* y;
  size_t n;
};

struct ElementwiseKernel {
  const char* name;  // "elementwise_u8_avx2"
  Isa isa;
  void (*add)(const AddParams& params, const ElementwiseRun& run);
  void (*add_int)(const AddIntParams& params, const ElementwiseRun& run);
  void (*mul)(const MulParams& params, const ElementwiseRun& run);
};

const ElementwiseKernel* elementwise_kernels(size_t* count);
const ElementwiseKernel* select_elementwise(IsaSet isas);

}  // namespace qrt

#endif  // QRT_KERNELS_ELEMENTWISE_ELEMENTWISE_H_
