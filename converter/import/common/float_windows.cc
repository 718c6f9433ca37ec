// SPDX-License-Identifier: Apache-2.0
#include "converter/import/common/float_windows.h"

namespace qrt::convert {

Indices window_indices(const WindowAxis& w, int64_t in) {
  Indices indices;
  for (int64_t o = 0; o < w.output; ++o)
    for (int64_t k = 0; k < w.kernel; ++k) {
      const int64_t at = o * w.stride + k * w.dilation - w.before;
      indices.push_back(at >= 0 && at < in ? static_cast<int32_t>(at) : -1);
    }
  return indices;
}

Status gather_taps(FloatBuilder* f, const int64_t (&output)[2], const int64_t (&kernel)[2],
                   const Indices (&indices)[2], float fill, TermOrder order, ValueId x,
                   ValueId* y) {
  const Shape shape = f->shape_of(x);
  Shape rows;
  QRT_TRY(make_shape({shape[0], output[0], output[1], kernel[0] * kernel[1] * shape[3]}, &rows));
  IndexMaps maps(shape);
  for (int d = 0; d < 2; ++d) maps.set(d + 1, indices[d]);
  *y = f->builder().gather(f->source(), x, maps, float_bits(fill));
  *y = f->builder().reshape(f->source(), *y,
                            {shape[0], output[0], kernel[0], output[1], kernel[1], shape[3]});
  const bool channels_first = order == TermOrder::kChannelsThenTaps;
  *y = f->builder().transpose(
      f->source(), *y,
      channels_first ? std::vector<int>{0, 1, 3, 5, 2, 4} : std::vector<int>{0, 1, 3, 2, 4, 5});
  *y = f->builder().reshape(f->source(), *y, rows);
  return Status();
}

ValueId reduce_taps(FloatBuilder* f, fb::FloatFunction function, int64_t channels, ValueId x) {
  const Shape rows = f->shape_of(x);
  const int64_t pixels = rows[1] * rows[2];
  const int64_t taps = channels == 0 ? 0 : rows[3] / channels;  // an open dimension may be 0
  x = f->builder().reshape(f->source(), x, {rows[0], pixels, taps, channels});
  x = f->builder().transpose(f->source(), x, {0, 1, 3, 2});
  x = f->add(function, {x}, {rows[0], pixels, channels, 1});
  return f->builder().reshape(f->source(), x, {rows[0], rows[1], rows[2], channels});
}

}  // namespace qrt::convert
