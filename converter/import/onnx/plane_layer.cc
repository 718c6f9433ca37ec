// SPDX-License-Identifier: Apache-2.0
#include "converter/import/onnx/plane_layer.h"

#include <algorithm>

#include "converter/import/common/index_maps.h"

namespace qrt::convert::from_onnx {
namespace {

using Depth = PlaneLayer::Depth;

bool meets_volume(const Indices& planes) {
  return std::any_of(planes.begin(), planes.end(), [](int32_t i) { return i >= 0; });
}

std::vector<int64_t> taps_that_meet(const WindowAxis& w, int64_t planes) {
  std::vector<int64_t> taps;
  for (int64_t k = 0; k < w.kernel; ++k)
    if (meets_volume(indices_of_tap(w, planes, k))) taps.push_back(k);
  if (taps.empty()) taps.push_back(0);
  return taps;
}

Depth depth_of(const Image& image, const Window& w, int64_t groups) {
  if (!image.is_volume()) return Depth::kNone;
  if (reads_pixels(w) && !reads_pixels(depth_as_rows(w))) return Depth::kAsRows;
  return groups > 1 && w.dilation[0] == 1 ? Depth::kInterleaved : Depth::kAsChannels;
}

Window interleaved(Window w, int64_t taps) {
  for (int64_t* field : {&w.kernel[0], &w.stride[0], &w.before[0], &w.after[0]}) *field *= taps;
  w.skip[0] = 0;
  return w;
}

std::vector<int64_t> source_of(const PlaneLayer& layer) {
  const Window& w = layer.whole;
  const int64_t in = layer.image.c / layer.groups;
  const auto taps = static_cast<int64_t>(layer.taps.size());
  std::vector<int64_t> source;
  for (int64_t row = 0; row < layer.window.kernel[0]; ++row)
    for (int64_t column = 0; column < layer.window.kernel[1]; ++column)
      for (int64_t i = 0; i < layer.in; ++i) {
        int64_t tap = 0, h = row, channel = i;
        if (layer.depth == Depth::kAsRows) tap = row, h = 0;
        if (layer.depth == Depth::kAsChannels) tap = layer.taps[static_cast<size_t>(i / in)];
        if (layer.depth == Depth::kAsChannels) channel = i % in;
        if (layer.depth == Depth::kInterleaved)
          tap = layer.taps[static_cast<size_t>(row % taps)], h = row / taps;
        source.push_back(((channel * w.depth.kernel + tap) * w.kernel[0] + h) * w.kernel[1] +
                         column);
      }
  return source;
}

}  // namespace

Status plan_plane_layer(const Image& image, const Window& w, int64_t groups, PlaneLayer* layer) {
  layer->image = image;
  layer->whole = layer->window = w;
  layer->groups = groups;
  layer->depth = depth_of(image, w, groups);
  layer->in = image.c / groups;
  if (layer->depth == Depth::kAsRows) layer->window = depth_as_rows(w);
  if (layer->depth == Depth::kAsChannels || layer->depth == Depth::kInterleaved) {
    // The limits of the index maps that are made.
    QRT_TRY(check_index_count(w.depth.kernel * w.depth.output));
    for (int64_t size : {image.n, image.size[0], image.size[1]}) QRT_TRY(check_index_count(size));
    layer->taps = taps_that_meet(w.depth, image.depth);
    const auto taps = static_cast<int64_t>(layer->taps.size());
    Shape made;
    QRT_TRY(
        make_shape({image.n, w.depth.output, image.size[0], image.size[1], taps * image.c}, &made));
    if (layer->depth == Depth::kAsChannels) layer->in *= taps;
    if (layer->depth == Depth::kInterleaved) layer->window = interleaved(w, taps);
  }
  const Window& of = layer->window;
  for (int64_t field : {of.kernel[0], of.stride[0], of.before[0], of.after[0]})
    if (field > kMaxWindowField)
      return error(Code::kUnsupported,
                   "the window over planes has %lld rows, at most %lld are supported",
                   static_cast<long long>(field), static_cast<long long>(kMaxWindowField));
  layer->source = source_of(*layer);
  return Status();
}

namespace {

// Returns x [n, d, h, w, c] with one plane more, of the zero point.
ValueId with_zero_plane(Importer& importer, const NodeView& node, ValueId zero_point, ValueId x) {
  GraphBuilder& builder = importer.builder();
  const Shape shape = builder.shape_of(x);
  const ValueId one = builder.reshape(node, zero_point, {1, 1, 1, 1, 1});
  IndexMaps maps({1, 1, 1, 1, 1});
  for (int axis : {0, 2, 3, 4}) maps.set(axis, stepped(0, shape[axis], 0));
  return builder.concat(node, {x, builder.gather(node, one, maps, 0)}, 1);
}

// Returns the taps' planes of one output plane side by side.
ValueId side_by_side(Importer& importer, const NodeView& node, const PlaneLayer& layer,
                     std::vector<ValueId> parts) {
  GraphBuilder& builder = importer.builder();
  const int64_t groups = layer.groups;
  const Shape s = builder.shape_of(parts[0]);
  const auto taps = static_cast<int64_t>(parts.size());
  const bool is_interleaved = layer.depth == Depth::kInterleaved;
  if (!is_interleaved && groups == 1) return builder.concat(node, parts, 4);
  const Shape apart = is_interleaved ? Shape{s[0], s[1], s[2], s[3] * s[4]}
                                     : Shape{s[0], s[1], s[2], s[3], groups, s[4] / groups};
  for (ValueId& part : parts) part = builder.reshape(node, part, apart);
  const ValueId joined = builder.concat(node, parts, apart.rank() - 1);
  return builder.reshape(node, joined,
                         is_interleaved ? Shape{s[0], s[1], s[2] * taps, s[3], s[4]}
                                        : Shape{s[0], s[1], s[2], s[3], s[4] * taps});
}

}  // namespace

ValueId planes_of(Importer& importer, const NodeView& node, const PlaneLayer& layer,
                  int64_t zero_point, ValueId zero_point_of_run, ValueId x) {
  const Image& image = layer.image;
  const WindowAxis& depth = layer.whole.depth;
  GraphBuilder& builder = importer.builder();
  x = windowed_to_nhwc(importer, node, image, layer.whole, x);
  if (layer.depth == Depth::kNone) return x;
  if (layer.depth == Depth::kAsRows) {
    x = builder.reshape(node, x, {image.n, image.depth, image.size[0] * image.size[1], image.c});
    return without_skipped(importer, node, layer.window, 1, x);
  }
  std::vector<Indices> planes;
  bool pads = false;
  for (int64_t tap : layer.taps) {
    planes.push_back(indices_of_tap(depth, image.depth, tap));
    pads |= std::find(planes.back().begin(), planes.back().end(), -1) != planes.back().end();
  }
  if (pads && zero_point_of_run != kNoValue) {
    x = with_zero_plane(importer, node, zero_point_of_run, x);
    for (Indices& of_tap : planes)
      std::replace(of_tap.begin(), of_tap.end(), -1, static_cast<int32_t>(image.depth));
  }
  std::vector<ValueId> parts;
  for (Indices& of_tap : planes) {
    const bool is_all = of_tap == stepped(0, builder.shape_of(x)[1], 1);
    IndexMaps maps(builder.shape_of(x));
    maps.set(1, std::move(of_tap));
    parts.push_back(is_all ? x : builder.gather(node, x, maps, zero_point));
  }
  return parts.size() == 1 ? parts[0] : side_by_side(importer, node, layer, std::move(parts));
}

Shape PlaneLayer::result(int64_t out) const {
  const int64_t* size = window.output;
  if (depth == Depth::kNone || depth == Depth::kAsRows) return {image.n, size[0], size[1], out};
  return {image.n, whole.depth.output, size[0], size[1], out};
}

ValueId from_planes(Importer& importer, const NodeView& node, const Image& image,
                    const Window& window, ValueId y) {
  const Shape shape = importer.builder().shape_of(y);
  if (image.is_volume() && shape.rank() == 4)
    y = importer.builder().reshape(
        node, y, {image.n, window.depth.output, window.output[0], window.output[1], shape[3]});
  return image_from_nhwc(importer, node, image, y);
}

}  // namespace qrt::convert::from_onnx
