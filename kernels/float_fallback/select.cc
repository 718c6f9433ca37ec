// SPDX-License-Identifier: Apache-2.0
// The table of the family and the choice from it: the first row the CPU can run.
#include "kernels/select.h"

#include "kernels/float_fallback/entry.h"

namespace qrt {
namespace {

constexpr FloatKernel kKernels[] = {
#define QRT_FLOAT(isa, suffix, layer_norm_bytes) \
  {"float_unary_" #suffix,                       \
   "float_binary_" #suffix,                      \
   "float_rows_" #suffix,                        \
   "float_product_" #suffix,                     \
   "float_fused_product_" #suffix,               \
   "float_lane_softmax_" #suffix,                \
   "float_layer_norm_" #suffix,                  \
   "layer_norm_bytes_" #suffix,                  \
   "float_ort_gemm_" #suffix,                    \
   "float_recurrent_" #suffix,                   \
   "float_taps_" #suffix,                        \
   "float_weighted_" #suffix,                    \
   Isa::isa,                                     \
   float_unary_##suffix,                         \
   float_binary_##suffix,                        \
   float_rows_##suffix,                          \
   float_product_##suffix,                       \
   float_fused_product_##suffix,                 \
   float_lane_softmax_##suffix,                  \
   float_layer_norm_##suffix,                    \
   float_ort_gemm_##suffix,                      \
   float_recurrent_##suffix,                     \
   float_taps_##suffix,                          \
   float_weighted_##suffix,                      \
   float_weighted_lines_##suffix,                \
   layer_norm_bytes},
#include "kernels/float_fallback/float_fallback.inc"
};

}  // namespace

const FloatKernel* float_kernels(size_t* count) { return all_rows(kKernels, count); }
const FloatKernel* select_float(IsaSet isas) { return first_row(kKernels, isas); }

void float_table(const float table[256], const uint8_t* x, float* y, size_t n) {
  for (size_t i = 0; i < n; ++i) y[i] = table[x[i]];
}

}  // namespace qrt
