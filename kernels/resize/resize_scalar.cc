#include "kernels/resize/resize_loops.h"

namespace qrt {

void resize_f32_scalar(const ResizeRow<float>& row, float plane_weight, bool adds, const float* low,
                       const float* high, float* y) {
  row_f32(row, plane_weight, adds, low, high, y);
}
void resize_u8_scalar(const ResizeRow<int32_t>& row, RoundShift20 round, int32_t offset,
                      const uint8_t* low, const uint8_t* high, uint8_t* y) {
  row_u8(row, round, offset, low, high, y);
}
void resize_s16_scalar(const ResizeRow<int32_t>& row, RoundShift20 round, const int16_t* low,
                       const int16_t* high, int16_t* y) {
  row_s16(row, round, low, high, y);
}
void resize_fine_scalar(const ResizeRow<int32_t>& row, int32_t zero_point, const int16_t* low,
                        const int16_t* high, int32_t* y) {
  row_fine(row, zero_point, low, high, y);
}
void resize_blend_scalar(int32_t low_weight, int32_t high_weight, size_t n, const int32_t* high,
                         int32_t* y) {
  blend_rows(low_weight, high_weight, n, high, y);
}

}  // namespace qrt
