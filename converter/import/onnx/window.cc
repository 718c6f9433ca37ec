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
    out[2 - dimensions + i] = value;
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
    const int at = 2 - dimensions + i % dimensions;
    (i < dimensions ? before : after)[at] = pad;
  }
  return Status();
}

Shape Image::shape(int64_t channels, const int64_t* spatial) const {
  Shape s;
  s.push_back(n);
  if (!channels_last) s.push_back(channels);
  for (int i = 2 - dimensions; i < 2; ++i) s.push_back(spatial[i]);
  if (channels_last) s.push_back(channels);
  return s;
}

Status read_image(Importer& importer, const NodeView& node, const Shape& shape, bool channels_last,
                  Image* image, bool* known) {
  *known = shape.rank() == 3 || shape.rank() == 4;
  if (!*known)
    return importer.refuse(node,
                           "input '" + node.input(0) + "' has shape " + shape.to_string() +
                               ": only one and two spatial dimensions are supported",
                           node.input(0), "reshape to one or two spatial dimensions");
  image->dimensions = shape.rank() - 2;
  image->channels_last = channels_last;
  image->n = shape[0];
  image->c = shape[channels_last ? shape.rank() - 1 : 1];
  for (int i = 0; i < image->dimensions; ++i)
    image->size[2 - image->dimensions + i] = shape[(channels_last ? 1 : 2) + i];
  return Status();
}

namespace {

// Padding of SAME along axis i as ONNX Runtime has it, below 0 where the kernel is smaller than the
// stride; returns its sum. It leaves dilations out of a pool's, and runs no layer that has them.
int64_t set_same_padding(const Image& image, int i, bool is_pool, bool lower, Window* w) {
  const int64_t kernel = is_pool ? w->kernel[i] : (w->kernel[i] - 1) * w->dilation[i] + 1;
  const int64_t out = (image.size[i] + w->stride[i] - 1) / w->stride[i];
  const int64_t padding = (out - 1) * w->stride[i] + kernel - image.size[i];
  // Half of a layer's negative padding is rounded after one is added.
  const int64_t halved = !is_pool && padding < 0 ? padding + 1 : padding;
  const int64_t before = lower ? (halved + 1) / 2 : halved / 2;
  w->before[i] = std::max<int64_t>(0, before);
  w->skip[i] = std::max<int64_t>(0, -before);
  w->after[i] = std::max<int64_t>(0, padding - before);
  return padding;
}

}  // namespace

Status read_window(const NodeView& node, const Image& image, const std::vector<int64_t>& kernel,
                   bool is_pool, Window* w) {
  const int d = image.dimensions;
  QRT_MODEL_CHECK(static_cast<int>(kernel.size()) == d,
                  "the kernel has %zu dimensions, expected %d", kernel.size(), d);
  for (int i = 0; i < d; ++i) {
    const int64_t k = kernel[static_cast<size_t>(i)];
    QRT_MODEL_CHECK(k >= 1 && k <= kMaxWindowField,
                    "the kernel has extent %lld, expected 1 to %lld", static_cast<long long>(k),
                    static_cast<long long>(kMaxWindowField));
    w->kernel[2 - d + i] = k;
  }
  QRT_TRY(read_extents(node, "strides", d, 1, w->stride));
  QRT_TRY(read_extents(node, "dilations", d, 1, w->dilation));
  const std::string auto_pad = node.text("auto_pad", "NOTSET");
  const bool same = auto_pad == "SAME_UPPER" || auto_pad == "SAME_LOWER";
  QRT_MODEL_CHECK(same || auto_pad == "NOTSET" || auto_pad == "VALID" || auto_pad.empty(),
                  "auto_pad is '%s', expected NOTSET, VALID, SAME_UPPER or SAME_LOWER",
                  auto_pad.c_str());
  if (!same && auto_pad != "VALID") QRT_TRY(read_pads(node, d, w->before, w->after));
  for (int i = 2 - d; i < 2; ++i) {
    const int64_t extent = (w->kernel[i] - 1) * w->dilation[i] + 1;
    int64_t padding = w->before[i] + w->after[i];
    if (same) padding = set_same_padding(image, i, is_pool, auto_pad == "SAME_LOWER", w);
    const int64_t room = image.size[i] + padding - extent;
    if (room < 0)
      return error(Code::kUnsupported,
                   "a window of %lld does not fit %lld padded positions: its output is empty",
                   static_cast<long long>(extent), static_cast<long long>(room + extent));
    int64_t out = room / w->stride[i] + 1;
    if (is_pool && node.integer("ceil_mode", 0) != 0) {
      // A last window may overhang, but must start inside the image or its leading padding.
      out = (room + w->stride[i] - 1) / w->stride[i] + 1;
      const int64_t size = image.size[i] - w->skip[i];
      if ((out - 1) * w->stride[i] >= size + w->before[i]) --out;
      const int64_t reach = (out - 1) * w->stride[i] + extent - size - w->before[i];
      w->overhang[i] = std::max<int64_t>(0, reach - w->after[i]);
      w->after[i] = std::max<int64_t>(0, reach);
    }
    QRT_MODEL_CHECK(w->before[i] <= kMaxWindowField && w->after[i] <= kMaxWindowField,
                    "padding %lld and %lld, at most %lld is supported",
                    static_cast<long long>(w->before[i]), static_cast<long long>(w->after[i]),
                    static_cast<long long>(kMaxWindowField));
    w->output[i] = out;
  }
  return Status();
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
  return without_skipped(importer, node, window, 1, image_to_nhwc(importer, node, image, x));
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
