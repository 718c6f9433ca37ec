/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays and camera frames as the inputs of models. All arithmetic is written down here and gives the
 * same bytes on every CPU. Statuses, errors and structs are as in qrt.h. A library that was built without
 * them (QRT_OPS without Images) gives QRT_UNSUPPORTED. */
#ifndef QRT_IMAGE_H_
#define QRT_IMAGE_H_

#include <qrt/qrt.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- real numbers and a tensor's elements ---- */

/* Quantises: data[i] = values[i] / scale, rounded to the nearest integer (halves to the even one), plus
 * the zero point, limited to the type's range; the division and its result are float32, and NaN gives
 * the least value. Takes tensors of 8 and 16 bits with a scale, per tensor or per axis; into float32,
 * values are copied. Element 0 is the tensor's first; `count` may be any number up to the tensor's.
 * Fails with QRT_UNSUPPORTED for other types, QRT_INVALID_ARGUMENT where the tensor has no scale. */
QRT_API qrt_status qrt_quantize(const qrt_tensor_info* tensor, const float* values, size_t count,
                                void* data, qrt_error* error);

/* Dequantises: values[i] = float32(data[i] - zero point) * scale. Takes the types of qrt_quantize() and int32. */
QRT_API qrt_status qrt_dequantize(const qrt_tensor_info* tensor, const void* data, size_t count,
                                  float* values, qrt_error* error);

/* ---- layout ---- */

/* Copies rows of `row_bytes` bytes that begin `stride` bytes apart (at least as many) to where they stand
 * one behind the other. */
QRT_API qrt_status qrt_copy_rows(const void* from, size_t stride, size_t row_bytes, size_t rows,
                                 void* to);

/* Transposes [images, channels, pixels] to [images, pixels, channels], for elements of 1, 2, 4 or 8
 * bytes; the memory must not overlap. With `channels` and `pixels` exchanged it transposes back. */
QRT_API qrt_status qrt_channels_last(const void* from, size_t images, size_t channels,
                                     size_t pixels, size_t element_bytes, void* to);

/* ---- camera frames ---- */

typedef enum qrt_pixel_format {
  QRT_GRAY = 0, /* a byte a pixel */
  QRT_RGB = 1,  /* 3 bytes a pixel */
  QRT_BGR = 2,
  QRT_RGBA = 3, /* 4 bytes a pixel; alpha is not looked at */
  QRT_BGRA = 4,
  /* YUV 4:2:0: planes[0] is Y; U and V have one value for 2 x 2 pixels, rounded up. */
  QRT_I420 = 5, /* planes[1] is U, planes[2] is V */
  QRT_NV12 = 6, /* planes[1] is U and V in turns */
  QRT_NV21 = 7  /* planes[1] is V and U in turns */
} qrt_pixel_format;

typedef struct qrt_frame {
  size_t struct_size;
  qrt_pixel_format format;
  size_t width, height;
  const uint8_t* planes[3];
  size_t strides[3]; /* bytes from row to row; 0: rows stand one behind the other */
  int is_full_range; /* of YUV: 0 to 255; otherwise Y is 16 to 235, U and V 16 to 240 */
} qrt_frame;

typedef struct qrt_frame_options {
  size_t struct_size;
  /* value = (pixel * scale - mean) / std, by channel of the model, each step in float32. 0 for scale is
   * 1/255, 0 for std is 1. */
  float scale, mean[3], std[3];
  int is_bgr; /* the model's channels are blue, green, red */
} qrt_frame_options;

/* Writes a frame into `data`, the memory of a session's input (qrt_session_input_data()), as image `index`
 * of its batch. The input is [batch, height, width, channels] or [batch, channels, height, width] with 1
 * or 3 channels: input->layout says which, or else the dimension that is 1 or 3. options may be NULL.
 *
 * 1. Pixels of YUV, by BT.601, with u = U - 128, v = V - 128, >> rounding down, results kept in 0 to 255:
 *    y = 298 * (Y - 16): red (y + 409 v + 128) >> 8, green (y - 100 u - 208 v + 128) >> 8, blue
 *    (y + 516 u + 128) >> 8. Full range, y = 65536 * Y: red (y + 91881 v + 32768) >> 16, green
 *    (y - 22554 u - 46802 v + 32768) >> 16, blue (y + 116130 u + 32768) >> 16.
 *    One channel of colours: (77 red + 150 green + 29 blue + 128) >> 8; three of grey: it three times.
 * 2. Size: where the frame has another than the input, pixel x is at p = (128 (2 x + 1) from) / to - 128
 *    256ths of a pixel (rounded down, and kept in the frame); rows likewise. The four pixels around it are
 *    weighted by their distance: (sum + 32768) >> 16. Nothing is smoothed: what shrinks to less than half
 *    looks better if it is shrunk before.
 * 3. Values: float32 inputs get `value`; those with a scale get it as qrt_quantize() does; uint8 without
 *    a scale gets the pixel itself, and QRT_INVALID_ARGUMENT with a scale, mean or std in the options.
 *    QRT_UNSUPPORTED for other types. */
QRT_API qrt_status qrt_write_frame(const qrt_frame* frame, const qrt_frame_options* options,
                                   const qrt_tensor_info* input, size_t index, void* data,
                                   qrt_error* error);

#ifdef __cplusplus
}
#endif

#endif /* QRT_IMAGE_H_ */
