// The logarithm of a softmax over rows of bytes. With m the greatest byte of the row:
//
//   sum = e_0 + e_1 + ... in order, float32, where e_j = table[255 + x_j - m]
//   v_j = fl32(fl32(float(x_j - m) * scale) - log_f32(sum))
//   y_j = clamp(HE(clamp(fl32(v_j / output_scale), -zero_point, 255 - zero_point)) + zero_point)
//
// log_f32 is the one below: float32 operations in a fixed order, the same on every machine.
// Thread-safe.
#ifndef QRT_KERNELS_SOFTMAX_LOG_SOFTMAX_H_
#define QRT_KERNELS_SOFTMAX_LOG_SOFTMAX_H_

#include <cstddef>
#include <cstdint>

namespace qrt {

struct LogSoftmaxParams {
  const float* table;  // 256: exp((i - 255) * scale); finite, >= 0, the last one 1
  float scale, output_scale;
  int32_t zero_point;  // 0..255
};

// x, y: rows x n bytes.
void log_softmax_rows(const LogSoftmaxParams& params, const uint8_t* x, uint8_t* y, size_t rows,
                      size_t n);

// log(x) of a normal x > 0, within one unit in the last place.
float log_f32(float x);

}  // namespace qrt

#endif  // QRT_KERNELS_SOFTMAX_LOG_SOFTMAX_H_
