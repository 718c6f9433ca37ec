// SPDX-License-Identifier: Apache-2.0
// Pools and resizing.
#include "tests/fuzz/generator.h"

namespace qrt::fuzz {

void Generator::append_max_pool2d() {
  const Live x = image();
  fb::MaxPool2DOptionsT o;
  if (choose_.integer(0, 3) == 3) {
    o.kernel_h = o.kernel_w = 0;
    return emit(o, {x.tensor}, {-1, 1, 1, x.shape[3]}, x.dtype);
  }
  const Axis h = axis(x.shape[1], 5, true, true), w = axis(x.shape[2], 5, true, true);
  set_window(h, w, &o);
  set_dilation(h, w, &o);
  o.kernel_h = static_cast<uint32_t>(h.kernel), o.kernel_w = static_cast<uint32_t>(w.kernel);
  emit(o, {x.tensor}, {-1, h.out, w.out, x.shape[3]}, x.dtype);
}

void Generator::append_average_pool2d() {
  const Live x = image();
  const Axis h = axis(x.shape[1], 8, false, true), w = axis(x.shape[2], 8, false, true);
  fb::AveragePool2DOptionsT o;
  set_window(h, w, &o);
  o.kernel_h = static_cast<uint32_t>(h.kernel), o.kernel_w = static_cast<uint32_t>(w.kernel);
  if (x.is_int16() || choose_.integer(0, 3) == 3) {
    o.kind = fb::AverageKind::INT_HALF_AWAY;
    const int least = x.is_int16() ? -32768 : 0, most = x.is_int16() ? 32767 : 255;
    o.lo = choose_.integer(least, most);
    o.hi = choose_.integer(o.lo, most);
    if (!x.is_int16() && choose_.coin()) o.output_offset = 128;
    return emit(o, {x.tensor}, {-1, h.out, w.out, x.shape[3]}, x.dtype);
  }
  o.count_include_pad = choose_.coin();
  o.input_scale = float_bits(choose_.scale(-10, 2));
  o.input_zero_point = choose_.byte();
  o.output_scale = float_bits(choose_.scale(-10, 2));
  o.output_offset = choose_.coin() ? 128 : 0;
  o.output_zero_point = choose_.integer(0, 255) - o.output_offset;
  emit(o, {x.tensor}, {-1, h.out, w.out, x.shape[3]});
}

void Generator::append_global_average_pool2d() {
  const Live x = image();
  fb::GlobalAveragePool2DOptionsT o;
  o.input_zero_point = choose_.byte();
  o.input_zero_point_16 = static_cast<int16_t>(zero_point_16());
  o.requant = requant(1, false, x.dtype);
  emit(std::move(o), {x.tensor}, {-1, 1, 1, x.shape[3]}, x.dtype);
}

std::unique_ptr<fb::ResizeAxisT> Generator::resize_axis(int64_t in, fb::ResizeKind kind) {
  const bool in_float = kind <= fb::ResizeKind::F32_TRUNCATED;
  const int one = kind == fb::ResizeKind::INT16_SUM ? 1 << 20 : 1024;
  auto a = std::make_unique<fb::ResizeAxisT>();
  for (int n = choose_.dimension(20); n > 0; --n) {
    a->low.push_back(choose_.integer(0, static_cast<int>(in) - 1));
    a->high.push_back(choose_.integer(0, static_cast<int>(in) - 1));
    const int high = choose_.integer(0, one);
    for (const auto& [weights, w] :
         {std::make_pair(&a->low_weight, one - high), std::make_pair(&a->high_weight, high)})
      weights->push_back(
          in_float ? static_cast<int32_t>(float_bits(static_cast<float>(w) / 1024.0f)) : w);
  }
  return a;
}

void Generator::append_resize_linear() {
  Live x = image();
  fb::ResizeLinearOptionsT o;
  o.kind = static_cast<fb::ResizeKind>(choose_.integer(x.is_int16() ? 2 : 0, x.is_int16() ? 5 : 4));
  const bool is_sum = o.kind == fb::ResizeKind::INT16_SUM;
  Shape shape = x.shape;
  int d = 1;
  if ((is_sum || o.kind <= fb::ResizeKind::F32_TRUNCATED) && choose_.coin()) {
    // The image as a volume of one channel.
    shape.push_back(1);
    fb::ReshapeOptionsT reshape;
    reshape.shape.assign(shape.begin(), shape.end());
    emit(std::move(reshape), {x.tensor}, shape, x.dtype);
    x = live_.back();
    live_.back().read = true;
    o.d = resize_axis(shape[d], o.kind);
    shape[d++] = static_cast<int64_t>(o.d->low.size());
  }
  o.h = resize_axis(shape[d], o.kind);
  shape[d++] = static_cast<int64_t>(o.h->low.size());
  o.w = resize_axis(shape[d], o.kind);
  shape[d++] = static_cast<int64_t>(o.w->low.size());
  if (!x.is_int16() && choose_.coin()) o.offset = 128;
  o.input_scale = float_bits(choose_.scale(-8, 2));
  o.output_scale = float_bits(choose_.scale(-8, 2));
  o.input_zero_point = choose_.byte();
  o.output_zero_point = choose_.byte();
  o.lo = choose_.coin() ? 0 : choose_.byte();
  o.hi = choose_.coin() ? 255 : choose_.integer(o.lo, 255);
  emit(std::move(o), {x.tensor}, shape, is_sum ? DType::kInt32 : x.dtype);
}

}  // namespace qrt::fuzz
