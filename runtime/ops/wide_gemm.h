// Matrix products with INT16 activations, for Conv2D and FullyConnected: the gemm kernels on two
// planes of bytes, block by block, and the joining of their sums (kernels/gemm/digits.h).
#ifndef QRT_RUNTIME_OPS_WIDE_GEMM_H_
#define QRT_RUNTIME_OPS_WIDE_GEMM_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/gemm/digits.h"
#include "runtime/op.h"
#include "runtime/ops/gemm_step.h"

namespace qrt {

// Bias (input 2, INT32 or INT64), weight sums and requantisation of a layer with INT16 input fit
// together. `k`: weights that make an output, as they are multiplied. `is_planes`: by planes of
// bytes, else as they are (depthwise). `digits`: of a weight.
Status check_wide_constants(const InferContext& context, size_t channels, size_t k,
                            const flatbuffers::Vector<int32_t>* weight_sum,
                            const fb::Requant* requant, bool is_planes, size_t digits = 1);

// Digits of the weights of a layer with `terms`: 1, but for INT16 input.
Status check_digits(const InferContext& context, int terms, int digits);

// The constants of such a layer. Per-channel arrays have each group of `group` channels start at a
// multiple of channel_stride(group).
struct WideConstants {
  std::vector<int64_t> bias;  // planes: less 32768 * weight_sum
  RequantParams requant;
  bool is_narrow = false;
};
WideConstants make_wide_constants(const InferContext& context, size_t channels, size_t group,
                                  const flatbuffers::Vector<int32_t>* weight_sum,
                                  const fb::Requant& requant, bool is_planes, size_t digits = 1);

// A step's scratch: the plane of the high bytes, that of the low ones, and for every task a block
// of sums of both for each digit.
struct WideGemm {
  GemmStep gemm;  // of one plane; its groups are those of every digit
  size_t digits = 1;
  WideConstants constants;
  const DigitsKernel* kernel = nullptr;
  size_t plane_bytes = 0;
  size_t block_rows = 0, block_columns = 0;
  size_t split_tasks = 1;

  uint8_t* high(uint8_t* scratch) const { return scratch; }
  uint8_t* low(uint8_t* scratch) const { return scratch + plane_bytes; }
};

// REQUIRES: check_wide_constants() succeeded; digits set, and groups (of the layer), m, n, taps,
// kc, outer of `wide->gemm`. `plane_elements`: activations of one plane. Sets step->scratch_bytes.
Status make_wide_gemm(const PrepareContext& context, const flatbuffers::Vector<int32_t>* weight_sum,
                      const fb::Requant& requant, bool pair_safe, size_t plane_elements,
                      WideGemm* wide, Step* step);

// All products from planes that are in the scratch. `left` holds the left side of the high plane
// for group 0; group g's starts g * group_offset bytes behind it. y: output of the first row,
// int16, or of kind ACC int32.
void run_wide_gemm(const WideGemm& wide, const RunContext& context, const GemmArgs& left,
                   size_t group_offset, uint8_t* y);

}  // namespace qrt

#endif  // QRT_RUNTIME_OPS_WIDE_GEMM_H_
