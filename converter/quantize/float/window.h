// SPDX-License-Identifier: Apache-2.0
// Windows that convolutions and pools slide over an image of any number of dimensions. The image is
// copied once with its border around it; then every element that a window reads lies at
// base[position] + offset[tap].
#ifndef QRT_CONVERTER_QUANTIZE_FLOAT_WINDOW_H_
#define QRT_CONVERTER_QUANTIZE_FLOAT_WINDOW_H_

#include <vector>

#include "converter/quantize/float/operators.h"

namespace qrt::quantize {

struct Window {
  Dims input, kernel, stride, dilation, begin, end;  // begin, end: border
  Dims output;

  int64_t taps() const { return elements(kernel); }
  // Returns the dimensions of the image with its border, which reaches to the end of the last
  // window.
  Dims padded() const;
  bool has_border() const { return padded() != input; }
};

// Reads a window from the attributes kernel_shape (of a pool; a convolution's comes from its weights),
// strides, dilations, pads, auto_pad, ceil_mode. Fails with kInvalidModel for windows larger than the image.
Status read_window(const Call& call, const Dims& input, const Dims& kernel, Window* window);

// Reads only the attributes, and checks each of them: input and output stay empty.
Status read_window_attributes(const Call& call, const Dims& kernel, Window* window);

// Offsets of the taps, channel after channel, and bases of the positions in the padded image.
struct WindowTables {
  std::vector<ptrdiff_t> offsets, bases;
};
WindowTables window_tables(const Window& window, int64_t channels);

// Puts planes [input] into the middle of a larger one, kPanel floats behind it, whose border the caller
// has filled.
class PlanePadder {
 public:
  explicit PlanePadder(const Window& window);
  size_t floats() const { return floats_ + kPanel; }
  void put(const float* x, float* padded) const;

 private:
  size_t floats_, width_;
  ptrdiff_t first_;
  std::vector<ptrdiff_t> rows_;
};

// Returns x [planes, input] with a border of `fill` around each plane, and kPanel floats behind the last.
std::vector<float> padded_planes(const Window& window, const float* x, int64_t planes, float fill,
                                 Buffers* buffers);

}  // namespace qrt::quantize

#endif  // QRT_CONVERTER_QUANTIZE_FLOAT_WINDOW_H_
