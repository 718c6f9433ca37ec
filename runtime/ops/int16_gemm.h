// SPDX-License-Identifier: Apache-2.0
// Matrix products with INT16 activations, for Conv2D and FullyConnected: the gemm kernels on two
// planes of bytes, block by block, and the joining of their sums (kernels/gemm/digits.h).
#ifndef QRT_RUNTIME_OPS_INT16_GEMM_H_
#define QRT_RUNTIME_OPS_INT16_GEMM_H_

#include <cstddef>
#include <cstdint>

#include "kernels/gemm/digits.h"
#include "runtime/op.h"
#include "runtime/ops/gemm_call.h"

namespace qrt {

// Bias (input 2, INT32 or INT64), weight sums and requantisation of a layer with INT16 input fit
// together. `k`: weights that make an output, as they are multiplied. `is_planes`: by planes of
// bytes, else as they are (depthwise). `digits`: of a weight.
Status check_int16_constants(const InferContext& context, size_t channels, size_t k,
                             const flatbuffers::Vector<int32_t>* weight_sum,
                             const fb::Requant* requant, bool is_planes, size_t digits = 1);

// Digits of the weights of a layer with `terms`: 1, but for INT16 input.
Status check_digits(const InferContext& context, int terms, int digits);

// The constants of such a layer. Per-channel arrays have each group of `group` channels start at a
// multiple of channel_stride(group).
struct Int16Constants {
  PlanVector<int64_t> bias;  // planes: less 32768 * weight_sum
  RequantParams requant;
  bool is_narrow = false;
};
Int16Constants make_int16_constants(const InferContext& context, size_t channels, size_t group,
                                    const flatbuffers::Vector<int32_t>* weight_sum,
                                    const fb::Requant& requant, bool is_planes, size_t digits = 1);

// A step's scratch: the plane of the high bytes, that of the low ones, and for every task a block
// of sums of both for each digit.
struct Int16Gemm {
  GemmCall gemm;  // the product of one byte plane; its groups count every digit's
  size_t digits = 1;
  Int16Constants constants;
  const DigitsKernel* kernel = nullptr;
  size_t plane_bytes = 0;
  size_t block_rows = 0, block_columns = 0;
  size_t split_tasks = 1;

  uint8_t* high(uint8_t* scratch) const { return scratch; }
  uint8_t* low(uint8_t* scratch) const { return scratch + plane_bytes; }
};

// REQUIRES: check_int16_constants() succeeded; digits set, and groups (of the layer), m, n, taps,
// kc, outer of `int16->gemm`. `plane_elements`: activations of one plane. Sets step->scratch_bytes.
Status make_int16_gemm(const PrepareContext& context,
                       const flatbuffers::Vector<int32_t>* weight_sum, const fb::Requant& requant,
                       bool pair_safe, size_t plane_elements, Int16Gemm* int16, PlannedStep* step);

// Computes all products from planes that are in the scratch. `left` holds the left-hand side of the
// high plane for group 0; group g's starts g * group_offset bytes behind it. y: output of the first
// row, int16, or int32 of kind ACC.
void run_int16_gemm(const Int16Gemm& int16, const RunContext& context, const GemmOperands& left,
                    size_t group_offset, uint8_t* y);

}  // namespace qrt

#endif  // QRT_RUNTIME_OPS_INT16_GEMM_H_
