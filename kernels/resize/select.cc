// SPDX-License-Identifier: Apache-2.0
// The resize family's table, and the choice of a row: the best one the caller's sets allow.
#include "kernels/select.h"

#include "kernels/resize/resize.h"

namespace qrt {

#define QRT_RESIZE(isa, suffix, others)                                                            \
  void resize_f32_##suffix(const ResizeRow<float>& row, const ResizePlane<float, float>& plane,    \
                           const ResizeBytes& bytes, uint8_t* y);                                  \
  void resize_f32_general_##others(const ResizeRow<float>& row,                                    \
                                   const ResizePlane<float, float>* planes, size_t plane_count,    \
                                   const ResizeBytes& bytes, uint8_t* y);                          \
  void resize_columns_##suffix(const ResizeRow<float>& row, const float* source, float* y);        \
  void resize_f32_by_columns_##suffix(                                                             \
      const ResizeRow<float>& row, const ResizePlane<float, float>& plane,                         \
      const ResizeColumns& columns, const ResizeBytes& bytes, uint8_t* y);                         \
  void resize_u8_##others(const ResizeRow<int32_t>& row, RoundShift20 round, int32_t offset,       \
                          const uint8_t* low, const uint8_t* high, uint8_t* y);                    \
  void resize_s16_##others(const ResizeRow<int32_t>& row, RoundShift20 round, const int16_t* low,  \
                           const int16_t* high, int16_t* y);                                       \
  void resize_fine_##others(const ResizeRow<int32_t>& row, int32_t zero_point, const int16_t* low, \
                            const int16_t* high, int32_t* y);                                      \
  void resize_blend_##others(int32_t low_weight, int32_t high_weight, size_t n,                    \
                             const int32_t* high, int32_t* y);
#include "kernels/resize/resize.inc"

namespace {

constexpr ResizeKernel kKernels[] = {
#define QRT_RESIZE(isa, suffix, others)                     \
  {"resize_" #suffix,       Isa::isa,                       \
   resize_f32_##suffix,     resize_f32_general_##others,    \
   resize_columns_##suffix, resize_f32_by_columns_##suffix, \
   resize_u8_##others,      resize_s16_##others,            \
   resize_fine_##others,    resize_blend_##others},
#include "kernels/resize/resize.inc"
};

}  // namespace

const ResizeKernel* resize_kernels(size_t* count) { return all_rows(kKernels, count); }
const ResizeKernel* select_resize(IsaSet isas) { return first_row(kKernels, isas); }

}  // namespace qrt
