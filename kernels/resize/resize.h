// SPDX-License-Identifier: Apache-2.0
// Contract of the resize family: rows of an image between two rows of its source, weighed.
//
//   y[x][c] = w00 * low[lo_x][c] + w01 * low[hi_x][c] + w10 * high[lo_x][c] + w11 * high[hi_x][c]
//
// where lo_x and hi_x are the two source pixels of x, and the weights products of one along the row
// (low_weight[x] of lo_x, high_weight[x] of hi_x) and one of the row (row_low_weight of `low`,
// row_high_weight of `high`).
//
// f32: the sum from left to right, every product and sum rounded to float32, no fma, to bytes. For a
//        volume eight products, first those of the first plane; each weight is multiplied by the
//        plane's last. Float rows of the source hold kResizePart of themselves.
// u8, s16: the exact integer sum of weights times (source - offset), rounded by RoundShift20, plus
//        offset; u8 limited to 0..255, s16 to its range.
// fine:  the same sum of source - zero_point, weights in units of 2^-20, over 2^26, half to even.
// blend: y[i] = (low_weight * y[i] + high_weight * high[i]) / 2^20, half to even: two planes of
//        `fine` sums, weights as there.
//
// Exactly rows * out_w * channels elements (blend: n) are stored. Nothing else is read, but by f32 and
// f32_general up to kResizeOverRead floats beyond each row of the source. Thread-safe.
// REQUIRES (f32, f32_general): rounding to nearest even (the session sets it); is_resize_scale(), but
// for the scalar row, which divides.
#ifndef QRT_KERNELS_RESIZE_RESIZE_H_
#define QRT_KERNELS_RESIZE_RESIZE_H_

#include <cstddef>
#include <cstdint>

#include "kernels/isa.h"

namespace qrt {

// v / 2^20 as an integer.
enum class RoundShift20 : uint8_t { kHalfAway, kHalfUp, kTruncate };

// Output rows that blend the same two source rows: one row, or in the float forms any number.
template <class Weight>
struct ResizeRow {
  size_t out_w, channels;
  const int32_t *low, *high;                       // [out_w]: pixels of the source row
  const Weight *low_weight, *high_weight;          // [out_w]
  const Weight *row_low_weight, *row_high_weight;  // [rows]
  size_t rows;
};

// The integer forms: |low_weight| + |high_weight| is at most kMaxResizeWeight, in rows and columns:
// 255 * 2^22 fits int32.
constexpr int32_t kMaxResizeWeight = 2048;
// The fine form: weights are >= 0, low_weight + high_weight at most this. 65535 * 2^40 fits int64.
constexpr int32_t kMaxFineResizeWeight = 1 << 20;

// The two rows of a plane. A row of an image is made from one plane of weight 1, a volume's from one or two.
template <class T, class Weight>
struct ResizePlane {
  const T *low, *high;
  Weight weight;
};

// y = clamp(R(fl32(sum / scale)) + offset, lo, hi): R half to even, or toward zero.
struct ResizeBytes {
  bool truncates;
  float scale;
  int32_t offset, lo, hi;  // 0 to 255
};
constexpr size_t kResizeOverRead = 15, kWideResize = 64;
// Float rows of the source are stored times this, and weights divided by it. A power of two changes
// no product. An image that is doubled has it as the smallest weight, which becomes 1.
constexpr float kResizePart = 1.0f / 16;
// Returns whether two products round to the same bytes as the division, |sum / scale| being at most `most`.
bool is_resize_scale(float scale, double most);

// An image's f32 form by columns first: nearly the definition's quotient of sum and scale, but for
// few elements the same byte, and these are seen.
//
//   c[x][ch] = low_weight[x] * source[lo_x][ch] + high_weight[x] * source[hi_x][ch]     by `columns`
//   v = truncate(row_low_weight * scale * c_low + (row_high_weight * scale * c_high + shift))
//
// v is in units of 2^-16: the quotient, the zero point, a half, less `below`, which makes it negative,
// and the most that it may be wrong by. Bits 16 up, and `below`, are the rounded quotient unless
// the bits under them are less than `tie`: the definition is computed there.
struct ResizeColumns {
  const float *low, *high;  // [out_w * channels] of the two source rows
  float scale;              // 2^16 / the output's
  float shift;
  int16_t below;
  uint16_t tie;
};
constexpr size_t kLeastColumns = 64;  // out_w * channels

// Returns scale, shift, below and tie of the form by columns, for outputs whose weights times the
// magnitudes of their integers are at most `most`, and whose sums are multiples of `unit`. tie is 0
// where this form may not be taken, or has too many ties.
ResizeColumns resize_columns(float input_scale, const ResizeBytes& bytes, double most, double unit);

struct ResizeKernel {
  const char* name;  // "resize_avx2"
  Isa isa;
  // f32: images of kWideResize channels or more without `truncates`; f32_general: all.
  void (*f32)(const ResizeRow<float>& row, const ResizePlane<float, float>& plane,
              const ResizeBytes& bytes, uint8_t* y);
  void (*f32_general)(const ResizeRow<float>& row, const ResizePlane<float, float>* planes,
                      size_t plane_count, const ResizeBytes& bytes, uint8_t* y);
  void (*columns)(const ResizeRow<float>& row, const float* source, float* y);
  // f32 of an image, without `truncates`.
  void (*f32_by_columns)(const ResizeRow<float>& row, const ResizePlane<float, float>& plane,
                         const ResizeColumns& columns, const ResizeBytes& bytes, uint8_t* y);
  void (*u8)(const ResizeRow<int32_t>& row, RoundShift20 round, int32_t offset, const uint8_t* low,
             const uint8_t* high, uint8_t* y);
  void (*s16)(const ResizeRow<int32_t>& row, RoundShift20 round, const int16_t* low,
              const int16_t* high, int16_t* y);
  void (*fine)(const ResizeRow<int32_t>& row, int32_t zero_point, const int16_t* low,
               const int16_t* high, int32_t* y);
  void (*blend)(int32_t low_weight, int32_t high_weight, size_t n, const int32_t* high, int32_t* y);
};

// The parameters around the float form in ResizeLinear, whose rows are computed from bytes to bytes
// in integers (soft_float.h) with kIntegerOnly, where the kernels' f32 does nothing. Scales:
// float32 bits, 2^-100 to 2^100.
struct SoftResize {
  bool truncates;  // true: only `offset` of the fields below is used; false: all but `offset`
  int32_t offset;
  uint32_t input_scale, output_scale;
  int32_t input_zero_point, output_zero_point, lo, hi;
};
void resize_row_soft(const ResizeRow<float>& row, const SoftResize& s,
                     const ResizePlane<uint8_t, float>* planes, size_t plane_count, uint8_t* y);

const ResizeKernel* resize_kernels(size_t* count);
const ResizeKernel* select_resize(IsaSet isas);

}  // namespace qrt

#endif  // QRT_KERNELS_RESIZE_RESIZE_H_
