// SPDX-License-Identifier: Apache-2.0
#include "converter/import/onnx/float_fallback/windows.h"

#include <limits>
#include <string>

namespace qrt::convert::from_onnx {

using F = fb::FloatFunction;

namespace {

// Returns the number of positions that an average divides by at each output: those inside the
// image, or with include_pad those from the start of the padding up to `end`.
std::vector<float> positions(const WindowAxis& w, bool include_pad, int64_t end) {
  const int64_t lowest = include_pad ? -w.before : 0;
  std::vector<float> counts;
  for (int64_t o = 0; o < w.output; ++o) {
    int64_t count = 0;
    for (int64_t k = 0; k < w.kernel; ++k) {
      const int64_t at = o * w.stride + k * w.dilation - w.before;
      count += at >= lowest && at < end;
    }
    counts.push_back(static_cast<float>(count));
  }
  return counts;
}

}  // namespace

Status gather_windows(FloatGraph* f, const Image& image, const Window& window, float fill,
                      TermOrder order, ValueId x, ValueId* y) {
  x = windowed_to_nhwc(f->importer(), f->node(), image, window, x);
  const Shape shape = f->shape_of(x);
  Indices indices[2];
  for (int d = 0; d < 2; ++d) {
    QRT_TRY(check_index_count(window.output[d] * window.kernel[d]));
    indices[d] = window_indices(window.axis(d), shape[d + 1]);
  }
  return gather_taps(f, window.output, window.kernel, indices, fill, order, x, y);
}

Status gather_volume_windows(FloatGraph* f, const Image& image, const Window& window, ValueId x,
                             ValueId* y) {
  const WindowAxis depth = window.depth;
  QRT_TRY(check_index_count(depth.output * depth.kernel));
  x = windowed_to_nhwc(f->importer(), f->node(), image, window, x);
  const Shape shape = f->shape_of(x);
  IndexMaps planes(shape);
  planes.set(1, window_indices(depth, image.depth));
  x = f->builder().gather(f->node(), x, planes, float_bits(0));
  const int64_t taps = window.kernel[0] * window.kernel[1];
  const int64_t pixels = window.output[0] * window.output[1];
  Shape all, rows;
  QRT_TRY(make_shape({image.n * depth.output * depth.kernel, shape[2], shape[3], image.c}, &all));
  QRT_TRY(make_shape(
      {image.n, depth.output * window.output[0], window.output[1], image.c * depth.kernel * taps},
      &rows));
  x = f->builder().reshape(f->node(), x, all);
  Indices indices[2];
  for (int d = 0; d < 2; ++d) {
    QRT_TRY(check_index_count(window.output[d] * window.kernel[d]));
    indices[d] = window_indices(window.axis(d), shape[d + 2]);
  }
  QRT_TRY(gather_taps(f, window.output, window.kernel, indices, 0, TermOrder::kChannelsThenTaps, x,
                      &x));
  x = f->builder().reshape(f->node(), x,
                           {image.n * depth.output, depth.kernel, pixels, image.c, taps});
  x = f->builder().transpose(f->node(), x, {0, 2, 3, 1, 4});
  *y = f->builder().reshape(f->node(), x, rows);
  return Status();
}

bool is_float_pool(const NodeView& node) {
  return node.op() == "MaxPool" || node.op() == "AveragePool";
}

namespace {

// Divides the sums of an average by the positions of their windows; `shape` is that of a plane or a volume of sums.
Status divide_by_positions(FloatGraph* f, const Image& image, const Window& window,
                           bool include_pad, const Shape& shape, ValueId x, ValueId* y) {
  QRT_TRY(f->importer().tensors().reserve(static_cast<uint64_t>(shape.elements()) * sizeof(float),
                                          f->importer().graph()));
  const auto counts_of = [&](int axis) {
    const WindowAxis w = window.axis(axis);
    const int64_t in = image.size[axis];
    return positions(w, include_pad, include_pad ? in + w.after - window.overhang[axis] : in);
  };
  std::vector<float> planes = {1.0f}, counts;
  if (image.is_volume())
    planes = positions(window.depth, include_pad,
                       include_pad ? image.depth + window.depth.after : image.depth);
  const std::vector<float> down = counts_of(0), across = counts_of(1);
  for (const float p : planes)
    for (const float d : down)
      for (const float a : across) counts.push_back(p * d * a);
  return f->binary(F::DIV, x, f->constant(shape, counts), y);
}

// Reduces each window of a volume: of its planes, then along depth.
Status reduce_volume(FloatGraph* f, F function, float fill, const Image& image,
                     const Window& window, ValueId x, ValueId* y) {
  const auto pool = [&](const Image& of, const Window& w) {
    QRT_TRY(gather_windows(f, of, w, fill, TermOrder::kTapsThenChannels, x, &x));
    const int64_t pixels = w.output[0] * w.output[1], taps = w.kernel[0] * w.kernel[1];
    x = f->builder().reshape(f->node(), x, {of.n, pixels, taps, of.c});
    x = f->builder().transpose(f->node(), x, {0, 3, 1, 2});
    x = f->add(function, {x}, {of.n, of.c, pixels, 1});
    return Status();
  };
  Image planes = image;
  planes.dimensions = 2;
  planes.n = image.n * image.c;
  planes.c = image.depth;
  x = f->builder().reshape(f->node(), x, planes.shape(planes.c, 1, planes.size));
  QRT_TRY(pool(planes, window));
  Image rows = planes;
  rows.c = 1;
  rows.size[0] = image.depth;
  rows.size[1] = window.output[0] * window.output[1];
  x = f->builder().reshape(f->node(), x, rows.shape(1, 1, rows.size));
  QRT_TRY(pool(rows, depth_as_rows(window)));
  *y = f->builder().reshape(f->node(), x, image.shape(image.c, window.depth.output, window.output));
  return Status();
}

}  // namespace

Status float_pool(FloatGraph* f, ValueId x, ValueId* y) {
  const NodeView& node = f->node();
  const Shape shape = f->shape_of(x);
  const bool average = node.op() == "AveragePool";
  const std::vector<int64_t> kernel = node.integers("kernel_shape");
  if (shape.rank() < 3 || shape.rank() - 2 > kMostDimensions ||
      static_cast<int>(kernel.size()) != shape.rank() - 2)
    return Status();
  Image image;
  bool known;
  QRT_TRY(read_image(f->importer(), node, shape, false, kMostDimensions, &image, &known));
  if (!known) return Status();
  Window window;
  QRT_TRY(read_window(node, image, kernel, true, &window));
  const float fill = average ? 0 : -std::numeric_limits<float>::infinity();
  const bool include_pad = average && node.integer("count_include_pad", 0) != 0;
  if (image.is_volume()) {
    // With count_include_pad, positions that ceil_mode adds must not count, but Window has no
    // overhang along depth to tell them apart from padding. So these pools have no float form.
    if (include_pad && node.integer("ceil_mode", 0) != 0) return Status();
    QRT_TRY(
        reduce_volume(f, average ? F::REDUCE_SUM : F::REDUCE_NAN_MAX, fill, image, window, x, y));
    if (!average) return Status();
    return divide_by_positions(f, image, window, include_pad,
                               {window.depth.output, window.output[0], window.output[1]}, *y, y);
  }
  QRT_TRY(gather_windows(f, image, window, fill, TermOrder::kTapsThenChannels, x, &x));
  x = reduce_taps(f, average ? F::REDUCE_SUM : F::REDUCE_NAN_MAX, image.c, x);
  if (average)
    QRT_TRY(divide_by_positions(f, image, window, include_pad,
                                {window.output[0], window.output[1], 1}, x, &x));
  *y = image_from_nhwc(f->importer(), node, image, x);
  return Status();
}

}  // namespace qrt::convert::from_onnx
