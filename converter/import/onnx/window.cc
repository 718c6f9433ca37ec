// SPDX-License-Identifier: Apache-2.0
// Window attributes and the change between the source's image layout and [n, h, w, c].
#include "converter/import/onnx/window.h"

#include <algorithm>

#include "converter/import/common/index_maps.h"

namespace qrt::convert::from_onnx {

Status read_extents(const NodeView& node, const char* attribute, int dimensions, int64_t lowest,
                    int64_t* out) {
  const std::vector<int64_t> v = node.integers(attribute);
  if (v.empty()) return Status();
  QRT_MODEL_CHECK(static_cast<int>(v.size()) == dimensions, "%s has %zu entries, expected %d",
                  attribute, v.size(), dimensions);
  for (int i = 0; i < dimensions; ++i) {
    const int64_t value = v[static_cast<size_t>(i)];
    QRT_MODEL_CHECK(value >= lowest && value <= kMaxWindowField,
                    "%s is %lld, expected %lld to %lld", attribute, static_cast<long long>(value),
                    static_cast<long long>(lowest), static_cast<long long>(kMaxWindowField));
    out[kMostDimensions - dimensions + i] = value;
  }
  return Status();
}

Status read_pads(const NodeView& node, int dimensions, int64_t* before, int64_t* after) {
  const std::vector<int64_t> pads = node.integers("pads");
  if (pads.empty()) return Status();
  QRT_MODEL_CHECK(static_cast<int>(pads.size()) == 2 * dimensions,
                  "pads has %zu entries, expected %d", pads.size(), 2 * dimensions);
  for (int i = 0; i < 2 * dimensions; ++i) {
    const int64_t pad = pads[static_cast<size_t>(i)];
    QRT_MODEL_CHECK(pad >= 0 && pad <= kMaxWindowField, "pads holds %lld, expected 0 to %lld",
                    static_cast<long long>(pad), static_cast<long long>(kMaxWindowField));
    const int at = kMostDimensions - dimensions + i % dimensions;
    (i < dimensions ? before : after)[at] = pad;
  }
  return Status();
}

Shape Image::shape(int64_t channels, int64_t planes, const int64_t* spatial) const {
  Shape s;
  s.push_back(n);
  if (!channels_last) s.push_back(channels);
  if (is_volume()) s.push_back(planes);
  for (int i = dimensions == 1 ? 1 : 0; i < 2; ++i) s.push_back(spatial[i]);
  if (channels_last) s.push_back(channels);
  return s;
}

Status read_image(Importer& importer, const NodeView& node, const Shape& shape, bool channels_last,
                  int most, Image* image, bool* known) {
  *known = shape.rank() >= 3 && shape.rank() - 2 <= most;
  if (!*known)
    return importer.refuse(node,
                           "input '" + node.input(0) + "' has shape " + shape.to_string() +
                               ": only one " + (most == 2 ? "and two" : "to three") +
                               " spatial dimensions are supported",
                           node.input(0),
                           std::string("reshape to one ") + (most == 2 ? "or two" : "to three") +
                               " spatial dimensions");
  image->dimensions = shape.rank() - 2;
  image->channels_last = channels_last;
  image->n = shape[0];
  image->c = shape[channels_last ? shape.rank() - 1 : 1];
  const int width = channels_last ? shape.rank() - 2 : shape.rank() - 1;
  image->size[1] = shape[width];
  if (image->dimensions >= 2) image->size[0] = shape[width - 1];
  if (image->is_volume()) image->depth = shape[width - 2];
  return Status();
}

namespace {

// One axis of a window, of `size` inputs; the rest as in Window.
struct PlacedAxis {
  int64_t size = 1, overhang = 0, skip = 0;
  WindowAxis w;
};

// Sets the padding of SAME as ONNX Runtime has it, below 0 where the kernel is smaller than the stride, and
// returns its sum. For pools ONNX Runtime ignores the dilations, and it runs no layer with SAME and dilations.
int64_t set_same_padding(bool is_pool, bool lower, PlacedAxis* a) {
  WindowAxis& w = a->w;
  const int64_t kernel = is_pool ? w.kernel : (w.kernel - 1) * w.dilation + 1;
  const int64_t out = (a->size + w.stride - 1) / w.stride;
  const int64_t padding = (out - 1) * w.stride + kernel - a->size;
  // A layer's negative padding is halved after 1 is added to it, as in ONNX Runtime.
  const int64_t halved = !is_pool && padding < 0 ? padding + 1 : padding;
  const int64_t before = lower ? (halved + 1) / 2 : halved / 2;
  w.before = std::max<int64_t>(0, before);
  a->skip = std::max<int64_t>(0, -before);
  w.after = std::max<int64_t>(0, padding - before);
  return padding;
}

// Finds the output size, and the padding that gives it. `auto_pad`: the attribute's value.
Status place(const NodeView& node, const std::string& auto_pad, bool is_pool, PlacedAxis* a) {
  WindowAxis& w = a->w;
  const int64_t extent = (w.kernel - 1) * w.dilation + 1;
  int64_t padding = w.before + w.after;
  if (auto_pad == "SAME_UPPER" || auto_pad == "SAME_LOWER")
    padding = set_same_padding(is_pool, auto_pad == "SAME_LOWER", a);
  const int64_t room = a->size + padding - extent;
  if (room < 0)
    return error(Code::kUnsupported,
                 "a window of %lld does not fit %lld padded positions: its output is empty",
                 static_cast<long long>(extent), static_cast<long long>(room + extent));
  w.output = room / w.stride + 1;
  if (is_pool && node.integer("ceil_mode", 0) != 0) {
    // A last window may overhang, but must start inside the image or its leading padding.
    w.output = (room + w.stride - 1) / w.stride + 1;
    const int64_t size = a->size - a->skip;
    if ((w.output - 1) * w.stride >= size + w.before) --w.output;
    const int64_t reach = (w.output - 1) * w.stride + extent - size - w.before;
    a->overhang = std::max<int64_t>(0, reach - w.after);
    w.after = std::max<int64_t>(0, reach);
  }
  QRT_MODEL_CHECK(w.before <= kMaxWindowField && w.after <= kMaxWindowField,
                  "padding %lld and %lld, at most %lld is supported",
                  static_cast<long long>(w.before), static_cast<long long>(w.after),
                  static_cast<long long>(kMaxWindowField));
  return Status();
}

// Refuses pools whose padding could fill a whole window, which ONNX Runtime does not load.
Status check_padding(const Window& w) {
  for (const WindowAxis& a : {w.depth, w.axis(0), w.axis(1)}) {
    const int64_t extent = (a.kernel - 1) * a.dilation + 1;
    QRT_MODEL_CHECK(a.before < extent && a.after < extent,
                    "padding %lld and %lld is not smaller than the window of %lld",
                    static_cast<long long>(a.before), static_cast<long long>(a.after),
                    static_cast<long long>(extent));
  }
  return Status();
}

}  // namespace

Status read_window(const NodeView& node, const Image& image, const std::vector<int64_t>& kernel,
                   bool is_pool, Window* w) {
  const int d = image.dimensions;
  QRT_MODEL_CHECK(static_cast<int>(kernel.size()) == d,
                  "the kernel has %zu dimensions, expected %d", kernel.size(), d);
  for (int64_t k : kernel)
    QRT_MODEL_CHECK(k >= 1 && k <= kMaxWindowField,
                    "the kernel has extent %lld, expected 1 to %lld", static_cast<long long>(k),
                    static_cast<long long>(kMaxWindowField));
  constexpr int kMost = kMostDimensions;
  int64_t stride[kMost] = {1, 1, 1}, dilation[kMost] = {1, 1, 1};
  int64_t before[kMost] = {}, after[kMost] = {};
  QRT_TRY(read_extents(node, "strides", d, 1, stride));
  QRT_TRY(read_extents(node, "dilations", d, 1, dilation));
  const std::string auto_pad = node.text("auto_pad", "NOTSET");
  const bool same = auto_pad == "SAME_UPPER" || auto_pad == "SAME_LOWER";
  QRT_MODEL_CHECK(same || auto_pad == "NOTSET" || auto_pad == "VALID" || auto_pad.empty(),
                  "auto_pad is '%s', expected NOTSET, VALID, SAME_UPPER or SAME_LOWER",
                  auto_pad.c_str());
  if (!same && auto_pad != "VALID") QRT_TRY(read_pads(node, d, before, after));
  const int64_t size[kMost] = {image.depth, image.size[0], image.size[1]};
  for (int i = kMost - d; i < kMost; ++i) {
    PlacedAxis a;
    a.size = size[i];
    a.w = {kernel[static_cast<size_t>(i - (kMost - d))],
           stride[i],
           dilation[i],
           before[i],
           after[i],
           1};
    QRT_TRY(place(node, auto_pad, is_pool, &a));
    // A pool's padding may become elements, and what is skipped is left out by an index map.
    if (a.skip > 0 || (is_pool && a.w.before + a.w.after > 0))
      QRT_TRY(check_index_count(a.size + a.w.before + a.w.after));
    if (i == 0) {
      w->depth = a.w;
      w->depth.before -= a.skip;
      continue;
    }
    w->set_axis(i - 1, a.w);
    w->overhang[i - 1] = a.overhang;
    w->skip[i - 1] = a.skip;
  }
  return is_pool ? check_padding(*w) : Status();
}

ValueId image_to_nhwc(Importer& importer, const NodeView& node, const Image& image, ValueId x) {
  if (image.dimensions == 1) {
    Shape shape = importer.builder().shape_of(x);
    shape = image.channels_last ? Shape{shape[0], 1, shape[1], shape[2]}
                                : Shape{shape[0], shape[1], 1, shape[2]};
    x = importer.builder().reshape(node, x, shape);
  }
  return image.channels_last ? x : importer.builder().to_nhwc(node, x);
}

ValueId without_skipped(Importer& importer, const NodeView& node, const Window& window, int height,
                        ValueId x) {
  IndexMaps maps(importer.builder().shape_of(x));
  for (int i = 0; i < 2; ++i)
    if (window.skip[i] > 0) {
      const int64_t rest = maps.from()[height + i] - window.skip[i];
      maps.set(height + i, stepped(window.skip[i], rest, 1));
    }
  return maps.is_identity() ? x : importer.builder().gather(node, x, maps, 0);
}

ValueId windowed_to_nhwc(Importer& importer, const NodeView& node, const Image& image,
                         const Window& window, ValueId x) {
  return without_skipped(importer, node, window, image.is_volume() ? 2 : 1,
                         image_to_nhwc(importer, node, image, x));
}

bool reads_pixels(const Window& w) {
  const auto along = [&w](int i) {
    return w.kernel[i] == 1 && w.stride[i] == 1 && w.before[i] == 0 && w.after[i] == 0 &&
           w.skip[i] == 0;
  };
  return along(0) && along(1);
}

Window depth_as_rows(const Window& w) {
  Window rows;
  WindowAxis depth = w.depth;
  rows.skip[0] = std::max<int64_t>(0, -depth.before);
  depth.before = std::max<int64_t>(0, depth.before);
  rows.set_axis(0, depth);
  rows.output[1] = w.output[0] * w.output[1];
  return rows;
}

std::vector<int32_t> indices_of_tap(const WindowAxis& axis, int64_t size, int64_t tap) {
  std::vector<int32_t> indices;
  for (int64_t o = 0; o < axis.output; ++o) {
    const int64_t at = o * axis.stride + tap * axis.dilation - axis.before;
    indices.push_back(at >= 0 && at < size ? static_cast<int32_t>(at) : -1);
  }
  return indices;
}

ValueId image_from_nhwc(Importer& importer, const NodeView& node, const Image& image, ValueId y) {
  if (!image.channels_last) y = importer.builder().from_nhwc(node, y, "");
  if (image.dimensions == 1) {
    const Shape shape = importer.builder().shape_of(y);
    y = importer.builder().reshape(node, y,
                                   image.channels_last ? Shape{shape[0], shape[2], shape[3]}
                                                       : Shape{shape[0], shape[1], shape[3]});
  }
  return y;
}

}  // namespace qrt::convert::from_onnx
