// SPDX-License-Identifier: Apache-2.0
// Entry points of the edge family's files, those of each row of edge.inc. Only for this
// folder: others take a row from edge.h.
#ifndef QRT_KERNELS_EDGE_ENTRY_H_
#define QRT_KERNELS_EDGE_ENTRY_H_

#include "kernels/edge/edge.h"

namespace qrt {

// Runs beyond the caches. Quantisation reads four places in turn there: one stream of loads does
// not keep memory busy (70 to 90 % of a copy, four 110 %). Dequantisation writes past the caches,
// so that no line of its output, four times its input, is read first (80 to 160 %).
constexpr size_t kStreams = 4, kStreamedFrom = size_t{1} << 19;  // floats
constexpr size_t kWrittenPastFrom = size_t{1} << 21;

#define QRT_EDGE(isa, suffix)                                                                     \
  void edge_quantize_##suffix(const float* x, size_t n, float scale, int32_t zp, int32_t lo,      \
                              int32_t hi, uint8_t* y);                                            \
  void edge_quantize_away_##suffix(const float* x, size_t n, float scale, int32_t zp, int32_t lo, \
                                   int32_t hi, uint8_t* y);                                       \
  void edge_quantize_channels_##suffix(const float* x, size_t rows, size_t channels,              \
                                       const float* scale, const int32_t* zp, int32_t lo,         \
                                       int32_t hi, uint8_t* y);                                   \
  void edge_dequantize_##suffix(const uint8_t* x, bool is_signed, size_t n, float scale,          \
                                int32_t zp, float* y);                                            \
  void edge_dequantize_channels_##suffix(const uint8_t* x, bool is_signed, size_t rows,           \
                                         size_t channels, const float* scale, const int32_t* zp,  \
                                         float* y);                                               \
  void edge_dequantize_i32_##suffix(const int32_t* x, size_t rows, size_t channels,               \
                                    const float* scale, float* y);                                \
  void edge_quantize16_##suffix(const float* x, size_t n, const EdgeGrid& g, int32_t lo,          \
                                int32_t hi, uint16_t* y);                                         \
  void edge_quantize16_away_##suffix(const float* x, size_t n, const EdgeGrid& g, int32_t lo,     \
                                     int32_t hi, uint16_t* y);                                    \
  void edge_dequantize16_##suffix(const uint16_t* x, bool is_signed, size_t n, const EdgeGrid& g, \
                                  float* y);                                                      \
  void edge_encode_##suffix(const float* x, size_t n, const EdgeGrid& g, const SmallFloat& f,     \
                            uint8_t* y);                                                          \
  void edge_quantize_half_##suffix(const uint16_t* x, size_t n, float scale, int32_t zp,          \
                                   int32_t lo, int32_t hi, int32_t offset, uint8_t* y);           \
  void edge_dequantize_half_##suffix(const uint8_t* x, bool is_signed, size_t n, float scale,     \
                                     int32_t zp, uint16_t* y);                                    \
  void edge_widen_half_##suffix(const uint16_t* x, size_t n, float* y);                           \
  void edge_narrow_half_##suffix(const float* x, size_t n, uint16_t* y);                          \
  void edge_extremes_##suffix(const float* x, size_t n, float* least, float* most);               \
  void edge_quantize_by_##suffix(const float* x, size_t n, const HybridScale& scale, uint8_t* y); \
  void edge_store_sums_##suffix(const SumStore& store);
#include "kernels/edge/edge.inc"

}  // namespace qrt

#endif  // QRT_KERNELS_EDGE_ENTRY_H_
