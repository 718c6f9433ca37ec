// Window attributes and the change between the source's image layout and [n, h, w, c].
#include "converter/import/onnx/window.h"

#include <algorithm>

namespace qrt::convert::from_onnx {

Status read_extents(const NodeView& node, const char* attribute, int dimensions, int64_t lowest,
                    int64_t* out) {
  const std::vector<int64_t> v = node.integers(attribute);
  if (v.empty()) return Status();
  QRT_MODEL_CHECK(static_cast<int>(v.size()) == dimensions, "%s has %zu entries, expected %d",
                  attribute, v.size(), dimensions);
  for (int i = 0; i < dimensions; ++i) {
    const int64_t value = v[static_cast<size_t>(i)];
    QRT_MODEL_CHECK(value >= lowest && value <= kMaxExtent, "%s is %lld, expected %lld to %lld",
                    attribute, static_cast<long long>(value), static_cast<long long>(lowest),
                    static_cast<long long>(kMaxExtent));
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
    QRT_MODEL_CHECK(pad >= 0 && pad <= kMaxExtent, "pads holds %lld, expected 0 to %lld",
                    static_cast<long long>(pad), static_cast<long long>(kMaxExtent));
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

Status read_window(const NodeView& node, const Image& image, const std::vector<int64_t>& kernel,
                   bool ceil_mode, Window* w) {
  const int d = image.dimensions;
  QRT_MODEL_CHECK(static_cast<int>(kernel.size()) == d,
                  "the kernel has %zu dimensions, expected %d", kernel.size(), d);
  for (int i = 0; i < d; ++i) {
    const int64_t k = kernel[static_cast<size_t>(i)];
    QRT_MODEL_CHECK(k >= 1 && k <= kMaxExtent, "the kernel has extent %lld",
                    static_cast<long long>(k));
    w->kernel[2 - d + i] = k;
  }
  QRT_TRY(read_extents(node, "strides", d, 1, w->stride));
  QRT_TRY(read_extents(node, "dilations", d, 1, w->dilation));
  const std::string auto_pad = node.text("auto_pad", "NOTSET");
  const bool same = auto_pad == "SAME_UPPER" || auto_pad == "SAME_LOWER";
  QRT_MODEL_CHECK(same || auto_pad == "NOTSET" || auto_pad == "VALID" || auto_pad.empty(),
                  "auto_pad is '%s'", auto_pad.c_str());
  if (!same && auto_pad != "VALID") QRT_TRY(read_pads(node, d, w->before, w->after));
  for (int i = 2 - d; i < 2; ++i) {
    const int64_t extent = (w->kernel[i] - 1) * w->dilation[i] + 1;
    if (same) {
      const int64_t out = (image.size[i] + w->stride[i] - 1) / w->stride[i];
      const int64_t need = std::max<int64_t>(0, (out - 1) * w->stride[i] + extent - image.size[i]);
      w->before[i] = auto_pad == "SAME_LOWER" ? (need + 1) / 2 : need / 2;
      w->after[i] = need - w->before[i];
    }
    const int64_t room = image.size[i] + w->before[i] + w->after[i] - extent;
    QRT_MODEL_CHECK(room >= 0, "a window of %lld does not fit %lld padded positions",
                    static_cast<long long>(extent), static_cast<long long>(room + extent));
    int64_t out = room / w->stride[i] + 1;
    if (ceil_mode) {
      // A last window may overhang, but must start inside the image or its leading padding.
      out = (room + w->stride[i] - 1) / w->stride[i] + 1;
      if ((out - 1) * w->stride[i] >= image.size[i] + w->before[i]) --out;
      const int64_t reach = (out - 1) * w->stride[i] + extent - image.size[i] - w->before[i];
      w->after[i] = std::max<int64_t>(0, reach);
    }
    QRT_MODEL_CHECK(w->before[i] <= kMaxExtent && w->after[i] <= kMaxExtent,
                    "padding %lld and %lld, at most %lld is supported",
                    static_cast<long long>(w->before[i]), static_cast<long long>(w->after[i]),
                    static_cast<long long>(kMaxExtent));
    w->output[i] = out;
  }
  return Status();
}

ValueId image_to_nhwc(Importer& importer, const NodeView& node, const Image& image, ValueId x) {
  if (image.dimensions == 1) {
    Shape shape = importer.shape_of(x);
    shape = image.channels_last ? Shape{shape[0], 1, shape[1], shape[2]}
                                : Shape{shape[0], shape[1], 1, shape[2]};
    x = importer.reshape(node, x, shape);
  }
  return image.channels_last ? x : importer.to_nhwc(node, x);
}

ValueId image_from_nhwc(Importer& importer, const NodeView& node, const Image& image, ValueId y) {
  if (!image.channels_last) y = importer.from_nhwc(node, y, "");
  if (image.dimensions == 1) {
    const Shape shape = importer.shape_of(y);
    y = importer.reshape(node, y,
                         image.channels_last ? Shape{shape[0], shape[2], shape[3]}
                                             : Shape{shape[0], shape[1], shape[3]});
  }
  return y;
}

}  // namespace qrt::convert::from_onnx
