// SPDX-License-Identifier: Apache-2.0
// Entry points of the family's files. Only for this folder: others take a row from float_fallback.h.
#ifndef QRT_KERNELS_FLOAT_FALLBACK_ENTRY_H_
#define QRT_KERNELS_FLOAT_FALLBACK_ENTRY_H_

#include "kernels/float_fallback/float_fallback.h"

namespace qrt {

#define QRT_FLOAT(isa, suffix, layer_norm_bytes)                                                 \
  void float_unary_##suffix(FloatUnary f, const float* x, float* y, size_t n);                   \
  void float_binary_##suffix(FloatBinary f, const float* a, size_t a_step, const float* b,       \
                             size_t b_step, float* y, size_t n);                                 \
  void float_rows_##suffix(FloatRows f, float epsilon, const float* x, float* y, size_t rows,    \
                           size_t n);                                                            \
  void float_product_##suffix(const float* a, size_t rows, const float* b, size_t k, size_t n,   \
                              float* y);                                                         \
  void float_lane_softmax_##suffix(const LaneSoftmax& p, const float* x, size_t rows, float* y); \
  void float_fused_product_##suffix(const FusedProduct& p, const float* a, size_t rows,          \
                                    const float* b, float* y);                                   \
  void float_layer_norm_##suffix(float epsilon, const float* x, const float* scale,              \
                                 const float* bias, float* y, size_t rows, size_t n);            \
  void float_ort_gemm_##suffix(const OrtGemm& g, const float* a, size_t rows, const float* b,    \
                               const float* bias, size_t bias_step, float* y);                   \
  void float_taps_##suffix(const FloatTaps& p, const float* x, size_t n, float* y);              \
  void float_weighted_##suffix(const FloatWeights& p, const float* x, float* y);                 \
  void float_weighted_lines_##suffix(const FloatTaps& p, const float* x, size_t n, float* y);    \
  void float_recurrent_##suffix(RecurrentStage stage, const RecurrentGates& gates,               \
                                const float* sums, const float* x, float* content, float* y);
#include "kernels/float_fallback/float_fallback.inc"

void layer_norm_bytes_avx512vnni(const LayerNormBytes& params, const uint8_t* x, size_t rows,
                                 size_t n, float* floats, uint8_t* y);

}  // namespace qrt

#endif  // QRT_KERNELS_FLOAT_FALLBACK_ENTRY_H_
