// The windows of convolutions and pools, and their fields in the file's options.
#ifndef QRT_CONVERTER_IMPORT_COMMON_WINDOW_H_
#define QRT_CONVERTER_IMPORT_COMMON_WINDOW_H_

#include <cstdint>

namespace qrt::convert {

// Strides, dilations and padding have 16 bits in the file.
constexpr int64_t kMaxWindowField = 65535;

// One axis: output o reads the inputs o * stride + k * dilation - before, for k of the kernel.
struct WindowAxis {
  int64_t kernel = 1, stride = 1, dilation = 1;
  int64_t before = 0, after = 0;  // padding
  int64_t output = 1;             // positions
};

struct Window {
  WindowAxis axis[2];  // rows, columns

  bool padded() const { return axis[0].before || axis[1].before || axis[0].after || axis[1].after; }
};

template <class Options>
void set_window(const Window& w, Options* o) {
  o->stride_h = static_cast<uint16_t>(w.axis[0].stride);
  o->stride_w = static_cast<uint16_t>(w.axis[1].stride);
  o->pad_top = static_cast<uint16_t>(w.axis[0].before);
  o->pad_left = static_cast<uint16_t>(w.axis[1].before);
  o->pad_bottom = static_cast<uint16_t>(w.axis[0].after);
  o->pad_right = static_cast<uint16_t>(w.axis[1].after);
}
// Convolutions.
template <class Options>
void set_dilation(const Window& w, Options* o) {
  o->dilation_h = static_cast<uint16_t>(w.axis[0].dilation);
  o->dilation_w = static_cast<uint16_t>(w.axis[1].dilation);
}
// Pools, whose kernels no weights tell.
template <class Options>
void set_kernel(const Window& w, Options* o) {
  o->kernel_h = static_cast<uint32_t>(w.axis[0].kernel);
  o->kernel_w = static_cast<uint32_t>(w.axis[1].kernel);
}

}  // namespace qrt::convert

#endif  // QRT_CONVERTER_IMPORT_COMMON_WINDOW_H_
