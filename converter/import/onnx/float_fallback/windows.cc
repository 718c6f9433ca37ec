#include "converter/import/onnx/float_fallback/windows.h"

#include <limits>
#include <string>

#include "converter/import/common/index_maps.h"

namespace qrt::convert::from_onnx {

using F = fb::FloatFunction;

namespace {

// Returns, for one dimension of a window, the input of every output and tap, -1 in the padding.
Indices window_indices(const WindowAxis& w, int64_t in) {
  Indices indices;
  for (int64_t o = 0; o < w.output; ++o)
    for (int64_t k = 0; k < w.kernel; ++k) {
      const int64_t at = o * w.stride + k * w.dilation - w.before;
      indices.push_back(at >= 0 && at < in ? static_cast<int32_t>(at) : -1);
    }
  return indices;
}

// Returns by how many positions an average divides at each output: those inside, or with
// include_pad those that are not beyond the padding either.
std::vector<float> positions(const Window& window, int axis, int64_t in, bool include_pad) {
  const WindowAxis w = window.axis(axis);
  const int64_t lowest = include_pad ? -w.before : 0;
  const int64_t end = include_pad ? in + w.after - window.overhang[axis] : in;
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

Status gather_taps(FloatGraph* f, const int64_t (&output)[2], const int64_t (&kernel)[2],
                   const Indices (&indices)[2], float fill, TermOrder order, ValueId x,
                   ValueId* y) {
  const Shape shape = f->shape_of(x);
  Shape rows;
  QRT_TRY(make_shape({shape[0], output[0], output[1], kernel[0] * kernel[1] * shape[3]}, &rows));
  IndexMaps maps(shape);
  for (int d = 0; d < 2; ++d) maps.set(d + 1, indices[d]);
  *y = f->builder().gather(f->node(), x, maps, float_bits(fill));
  *y = f->builder().reshape(f->node(), *y,
                            {shape[0], output[0], kernel[0], output[1], kernel[1], shape[3]});
  const bool channels_first = order == TermOrder::kChannelsThenTaps;
  *y = f->builder().transpose(
      f->node(), *y,
      channels_first ? std::vector<int>{0, 1, 3, 5, 2, 4} : std::vector<int>{0, 1, 3, 2, 4, 5});
  *y = f->builder().reshape(f->node(), *y, rows);
  return Status();
}

bool is_float_pool(const NodeView& node) {
  return node.op() == "MaxPool" || node.op() == "AveragePool";
}

namespace {

// The greatest of each window of a volume: of its planes, then along depth.
Status max_of_volume(FloatGraph* f, const Image& image, const Window& window, ValueId x,
                     ValueId* y) {
  const float fill = -std::numeric_limits<float>::infinity();
  const auto pool = [&](const Image& of, const Window& w) {
    QRT_TRY(gather_windows(f, of, w, fill, TermOrder::kTapsThenChannels, x, &x));
    const int64_t pixels = w.output[0] * w.output[1], taps = w.kernel[0] * w.kernel[1];
    x = f->builder().reshape(f->node(), x, {of.n, pixels, taps, of.c});
    x = f->builder().transpose(f->node(), x, {0, 3, 1, 2});
    x = f->add(F::REDUCE_MAX, {x}, {of.n, of.c, pixels, 1});
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
  const int most = average ? 2 : kMostDimensions;
  if (shape.rank() < 3 || shape.rank() - 2 > most ||
      static_cast<int>(kernel.size()) != shape.rank() - 2)
    return Status();
  Image image;
  bool known;
  QRT_TRY(read_image(f->importer(), node, shape, false, most, &image, &known));
  if (!known) return Status();
  Window window;
  QRT_TRY(read_window(node, image, kernel, true, &window));
  if (image.is_volume()) return max_of_volume(f, image, window, x, y);
  const float fill = average ? 0 : -std::numeric_limits<float>::infinity();
  QRT_TRY(gather_windows(f, image, window, fill, TermOrder::kTapsThenChannels, x, &x));
  const Shape rows = f->shape_of(x);
  const int64_t taps = window.kernel[0] * window.kernel[1];
  const Shape pixels = {rows[0], rows[1], rows[2], image.c};
  x = f->builder().reshape(node, x, {rows[0], rows[1] * rows[2], taps, image.c});
  x = f->builder().transpose(node, x, {0, 1, 3, 2});
  x = f->add(average ? F::REDUCE_SUM : F::REDUCE_MAX, {x},
             {rows[0], rows[1] * rows[2], image.c, 1});
  x = f->builder().reshape(node, x, pixels);
  if (average) {
    const bool include_pad = node.integer("count_include_pad", 0) != 0;
    QRT_TRY(f->importer().tensors().reserve(
        static_cast<uint64_t>(rows[1] * rows[2]) * sizeof(float), f->importer().graph()));
    const auto down = positions(window, 0, image.size[0], include_pad);
    const auto across = positions(window, 1, image.size[1], include_pad);
    std::vector<float> counts;
    for (float d : down)
      for (float a : across) counts.push_back(d * a);
    QRT_TRY(f->binary(F::DIV, x, f->constant({rows[1], rows[2], 1}, counts), &x));
  }
  *y = image_from_nhwc(f->importer(), node, image, x);
  return Status();
}

}  // namespace qrt::convert::from_onnx
