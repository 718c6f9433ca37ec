// SPDX-License-Identifier: Apache-2.0
// The row of AVX2, and the forms that it shares with AVX-512: all but those of images in float.
#include "kernels/isa/vec_avx2.h"
#include "kernels/resize/integer_loops.h"
#include "kernels/resize/resize_vectors.h"

namespace qrt {

QRT_VECTOR_ROW(avx2)

void resize_f32_general_avx2(const ResizeRow<float>& row, const ResizePlane<float, float>* planes,
                             size_t plane_count, const ResizeBytes& bytes, uint8_t* y) {
  row_f32_general<ResizeVectors<avx2::Vec>>(row, planes, plane_count, bytes, y);
}
void resize_u8_avx2(const ResizeRow<int32_t>& row, RoundShift20 round, int32_t offset,
                    const uint8_t* low, const uint8_t* high, uint8_t* y) {
  row_u8(row, round, offset, low, high, y);
}
void resize_s16_avx2(const ResizeRow<int32_t>& row, RoundShift20 round, const int16_t* low,
                     const int16_t* high, int16_t* y) {
  row_s16(row, round, low, high, y);
}
void resize_fine_avx2(const ResizeRow<int32_t>& row, int32_t zero_point, const int16_t* low,
                      const int16_t* high, int32_t* y) {
  row_fine(row, zero_point, low, high, y);
}
void resize_blend_avx2(int32_t low_weight, int32_t high_weight, size_t n, const int32_t* high,
                       int32_t* y) {
  blend_rows(low_weight, high_weight, n, high, y);
}

}  // namespace qrt
