// SPDX-License-Identifier: Apache-2.0
// XNNPACK's operators for the kernel families: an independent implementation to compare with and to
// measure against, chosen by the session option `kernels`. Not what qrt is for: weights are
// unpacked from the packed form when the plan is made and repacked by XNNPACK, and convolutions
// need copies of their input and output with the sign flipped.
//
// XNNPACK's unsigned operators requantise differently from one architecture to the next, its signed
// ones with one scale per channel do not (fp32 requantisation). So a convolution runs on x - 128
// with its zero points moved by -128, and gives exactly requantize() for RQ_F32, half to even, zero
// point after rounding. Maximum pooling is exact as well. Addition and average pooling are not:
// they use fixed point.
#ifndef QRT_RUNTIME_PROVIDERS_XNNPACK_OPERATORS_H_
#define QRT_RUNTIME_PROVIDERS_XNNPACK_OPERATORS_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "kernels/elementwise/elementwise.h"
#include "kernels/pool/pool.h"
#include "kernels/requant.h"
#include "kernels/window2d.h"

struct pthreadpool;

namespace qrt {

// One operator, created and ready. Used by one thread at a time, like the session it belongs to.
class XnnpackOperator {
 public:
  virtual ~XnnpackOperator() = default;

  // Sets the memory to read and write, until bind() is called again; the pool may be null. Does not
  // fail: the functions that make operators have checked that.
  virtual void bind(const uint8_t* a, const uint8_t* b, uint8_t* y, pthreadpool* pool) = 0;
  virtual void run() = 0;

  // Return null, or what the operator reads and writes instead: copies of a and y with the highest
  // bit of every byte flipped, which the caller makes.
  virtual uint8_t* flipped_input() = 0;
  virtual uint8_t* flipped_output() = 0;
  virtual size_t input_bytes() const = 0;
  virtual size_t output_bytes() const = 0;

  virtual const char* name() const = 0;  // "xnnpack_conv_qc8"
};

using XnnpackPointer = std::unique_ptr<XnnpackOperator>;

// Returns whether XNNPACK supports this CPU. Thread-safe.
bool has_xnnpack();

// The functions below return null where XNNPACK has no operator for the parameters, or no memory.

struct XnnpackConv : Window2D {
  size_t images, in_c, out_c;
  size_t groups;
  uint8_t input_zero_point;
  const int8_t* weights;  // packed: as gemm.h says, group by group; depthwise: as depthwise.h says
  size_t taps, k;         // the packed form's; depthwise: unused
  const int32_t* bias;    // the file's, which has -input_zero_point * weight_sum in it
  const int32_t* weight_sum;
  Requant requant;  // arrays of out_c values
};
XnnpackPointer xnnpack_convolution(const XnnpackConv& conv);
// Makes a depthwise convolution: groups = in_c, and out_c is a multiple of it.
XnnpackPointer xnnpack_depthwise(const XnnpackConv& conv);

XnnpackPointer xnnpack_max_pool(size_t images, const PoolShape& shape);

// `args` without pointers. Not exact.
XnnpackPointer xnnpack_average_pool(size_t images, const AveragePoolArgs& args);
XnnpackPointer xnnpack_global_average_pool(size_t images, const GlobalSumArgs& args);

struct XnnpackAdd {
  const size_t *a_dims, *b_dims;
  size_t a_rank, b_rank;  // at most 6
  AddParams params;
  int32_t a_zero_point, b_zero_point, output_zero_point;  // zero points of the stored values
};
// Makes an addition, whose bytes may differ from ours.
XnnpackPointer xnnpack_add(const XnnpackAdd& add);

}  // namespace qrt

#endif  // QRT_RUNTIME_PROVIDERS_XNNPACK_OPERATORS_H_
