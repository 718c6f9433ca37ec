// SPDX-License-Identifier: Apache-2.0
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

#include "kernels/dtype.h"
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

struct Int16Run {
  const int16_t* a;
  const int16_t* b;
  bool a_is_scalar, b_is_scalar;
  int16_t* y;
  size_t n;
};

// y[i] = rescale(params, x[i], (channel + i) % channels); types kUInt8, kInt16 and kInt32. Reads
// exactly n elements.
struct RescaleRun {
  DType from, to;
  const void* x;
  void* y;
  size_t n;
  size_t channel, channels;
};

struct ElementwiseKernel {
  const char* name;        // "elementwise_u8_avx2", of what takes bytes
  const char* int16_name;  // "elementwise_s16_avx2", of the rest
  Isa isa;
  void (*add)(const AddParams& params, const ElementwiseRun& run);
  void (*add_int)(const AddIntParams& params, const ElementwiseRun& run);
  void (*mul)(const MulParams& params, const ElementwiseRun& run);
  // Read exactly n elements. Kind kInt; products within int32 (checked at load).
  void (*add_int16)(const AddIntParams& params, const Int16Run& run);
  void (*mul_int16)(const MulParams& params, const Int16Run& run);
  void (*rescale)(const RescaleParams& params, const RescaleRun& run);
};

// Implements ElementwiseKernel::mul_int16 for products that leave int32, in one form for every
// instruction set. No product of a sum and a multiplier may reach 2^62.
void mul_int16_in_64_bits(const MulParams& params, const Int16Run& run);

const ElementwiseKernel* elementwise_kernels(size_t* count);
const ElementwiseKernel* select_elementwise(IsaSet isas);

}  // namespace qrt

#endif  // QRT_KERNELS_ELEMENTWISE_ELEMENTWISE_H_
