#include <string.h>

#include "kernels/integer_only.h"
#include "kernels/resize/resize_loops.h"
#include "kernels/soft_float.h"

namespace qrt {
namespace {

// row_f32() in integers.
void row_soft(const ResizeRow<float>& row, const float* low, const float* high, float* y) {
  const size_t n = row.channels;
  const soft::Bits row_low = soft::bits_of(row.row_low_weight);
  const soft::Bits row_high = soft::bits_of(row.row_high_weight);
  for (size_t x = 0; x < row.out_w; ++x, y += n) {
    const size_t lo = static_cast<size_t>(row.low[x]) * n;
    const size_t hi = static_cast<size_t>(row.high[x]) * n;
    const float* pixels[4] = {low + lo, low + hi, high + lo, high + hi};
    const soft::Bits w_low = soft::bits_of(row.low_weight[x]);
    const soft::Bits w_high = soft::bits_of(row.high_weight[x]);
    const soft::Bits weights[4] = {soft::mul(w_low, row_low), soft::mul(w_high, row_low),
                                   soft::mul(w_low, row_high), soft::mul(w_high, row_high)};
    for (size_t i = 0; i < n; ++i) {
      soft::Bits sum = soft::mul(weights[0], soft::bits_of(pixels[0][i]));
      for (int k = 1; k < 4; ++k)
        sum = soft::add(sum, soft::mul(weights[k], soft::bits_of(pixels[k][i])));
      memcpy(y + i, &sum, sizeof sum);
    }
  }
}

}  // namespace

void resize_f32_scalar(const ResizeRow<float>& row, const float* low, const float* high, float* y) {
  if (kIntegerOnly) return row_soft(row, low, high, y);
  row_f32(row, low, high, y);
}
void resize_u8_scalar(const ResizeRow<int32_t>& row, RoundShift20 round, int32_t offset,
                      const uint8_t* low, const uint8_t* high, uint8_t* y) {
  row_u8(row, round, offset, low, high, y);
}
void resize_s16_scalar(const ResizeRow<int32_t>& row, RoundShift20 round, const int16_t* low,
                       const int16_t* high, int16_t* y) {
  row_s16(row, round, low, high, y);
}

}  // namespace qrt
