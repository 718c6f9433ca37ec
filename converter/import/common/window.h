// SPDX-License-Identifier: Apache-2.0
// The windows of convolutions and pools, and their fields in the file's options.
#ifndef QRT_CONVERTER_IMPORT_COMMON_WINDOW_H_
#define QRT_CONVERTER_IMPORT_COMMON_WINDOW_H_

#include <cstdint>

namespace qrt::convert {

// Strides, dilations and padding have 16 bits in the file.
constexpr int64_t kMaxWindowField = 65535;

// One axis of a Window.
struct WindowAxis {
  int64_t kernel = 1, stride = 1, dilation = 1;
  int64_t before = 0, after = 0;
  int64_t output = 1;
};

// A window over rows and columns, and over a volume's planes: output o reads the inputs o * stride
// + k * dilation - before, for k of the kernel.
struct Window {
  int64_t kernel[2] = {1, 1}, stride[2] = {1, 1}, dilation[2] = {1, 1};
  int64_t before[2] = {0, 0}, after[2] = {0, 0};  // padding
  int64_t overhang[2] = {0, 0};                   // the part of `after` that ceil_mode adds
  // Inputs at the beginning that no window reads, and from which all others count: where a kernel
  // is smaller than its stride, ONNX Runtime's SAME is a padding below 0.
  int64_t skip[2] = {0, 0};
  int64_t output[2] = {1, 1};  // positions
  WindowAxis depth = {};       // `before` is below 0 where planes are skipped

  WindowAxis axis(int i) const {
    return {kernel[i], stride[i], dilation[i], before[i], after[i], output[i]};
  }
  void set_axis(int i, const WindowAxis& a) {
    kernel[i] = a.kernel, stride[i] = a.stride, dilation[i] = a.dilation;
    before[i] = a.before, after[i] = a.after, output[i] = a.output;
  }
  bool padded() const { return before[0] || before[1] || after[0] || after[1]; }
};

template <class Options>
void set_window(const Window& w, Options* o) {
  o->stride_h = static_cast<uint16_t>(w.stride[0]);
  o->stride_w = static_cast<uint16_t>(w.stride[1]);
  o->pad_top = static_cast<uint16_t>(w.before[0]);
  o->pad_left = static_cast<uint16_t>(w.before[1]);
  o->pad_bottom = static_cast<uint16_t>(w.after[0]);
  o->pad_right = static_cast<uint16_t>(w.after[1]);
}
// Convolutions.
template <class Options>
void set_dilation(const Window& w, Options* o) {
  o->dilation_h = static_cast<uint16_t>(w.dilation[0]);
  o->dilation_w = static_cast<uint16_t>(w.dilation[1]);
}
// Sets the kernel of a pool, which has no weights that would tell it.
template <class Options>
void set_kernel(const Window& w, Options* o) {
  o->kernel_h = static_cast<uint32_t>(w.kernel[0]);
  o->kernel_w = static_cast<uint32_t>(w.kernel[1]);
}

}  // namespace qrt::convert

#endif  // QRT_CONVERTER_IMPORT_COMMON_WINDOW_H_
