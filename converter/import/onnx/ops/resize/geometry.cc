// SPDX-License-Identifier: Apache-2.0
#include "converter/import/onnx/ops/resize/geometry.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "converter/import/onnx/deferred/table.h"
#include "converter/import/onnx/move.h"
#include "converter/import/onnx/remedies.h"

namespace qrt::convert::from_onnx {
namespace {

const std::pair<const char*, Coordinates> kCoordinates[] = {
    {"half_pixel", Coordinates::kHalfPixel},
    {"half_pixel_symmetric", Coordinates::kHalfPixelSymmetric},
    {"pytorch_half_pixel", Coordinates::kPytorchHalfPixel},
    {"align_corners", Coordinates::kAlignCorners},
    {"asymmetric", Coordinates::kAsymmetric},
    {"tf_half_pixel_for_nn", Coordinates::kTfHalfPixelForNn},
    {"tf_crop_and_resize", Coordinates::kTfCropAndResize}};

const std::pair<const char*, Nearest> kNearest[] = {
    {"round_prefer_floor", Nearest::ROUND_PREFER_FLOOR},
    {"round_prefer_ceil", Nearest::ROUND_PREFER_CEIL},
    {"floor", Nearest::FLOOR},
    {"ceil", Nearest::CEIL}};

// Finds a mode by its name. Returns false where no mode has this name.
template <class Mode, size_t kCount>
bool parse(const std::string& name, const std::pair<const char*, Mode> (&modes)[kCount],
           Mode* value) {
  for (const auto& [text, mode] : modes) {
    if (name != text) continue;
    *value = mode;
    return true;
  }
  return false;
}

// Reads a constant of floats. Returns false where the input is none; the node was refused.
bool constant_reals(Importer& importer, const NodeView& node, int i, std::vector<float>* values) {
  const Tensor& t = importer.input(node, i);
  if (t.is_plain_constant() && constant_floats(t, values)) return true;
  (void)importer.refuse(node, "input '" + node.input(i) + "' is not a constant", node.input(i),
                        remedy_for_constant(importer, node, i));
  return false;
}

bool is_given(Importer& importer, const NodeView& node, int i) {
  return node.has_input(i) && importer.input(node, i).shape.elements() > 0;
}

template <class Mode, size_t kCount>
std::string names_of(const std::pair<const char*, Mode> (&modes)[kCount]) {
  std::string names;
  for (const auto& [text, mode] : modes) names += (names.empty() ? "" : ", ") + std::string(text);
  return names;
}

// Sizes and scales of the named axes, by the operator's `sizes`.
Status apply_sizes(const NodeView& node, const std::vector<int>& named,
                   const std::vector<int64_t>& sizes, Resize* r) {
  QRT_MODEL_CHECK(sizes.size() == named.size(), "%zu sizes for %zu axes, expected one for each",
                  sizes.size(), named.size());
  const std::string policy = node.text("keep_aspect_ratio_policy", "stretch");
  QRT_MODEL_CHECK(
      policy == "stretch" || policy == "not_larger" || policy == "not_smaller",
      "its keep_aspect_ratio_policy is '%s', expected stretch, not_larger or not_smaller",
      policy.c_str());
  float common = 0;
  for (size_t i = 0; i < named.size(); ++i) {
    ResizeAxis& a = r->axes[static_cast<size_t>(named[i])];
    QRT_MODEL_CHECK(sizes[i] >= 1, "a size is %lld, expected at least 1",
                    static_cast<long long>(sizes[i]));
    a.out = sizes[i];
    a.scale = resize_scale(a.in, a.out);
    const bool first = i == 0;
    if (first || (policy == "not_larger" ? a.scale < common : a.scale > common)) common = a.scale;
  }
  if (policy == "stretch") return Status();
  for (int d : named) {
    ResizeAxis& a = r->axes[static_cast<size_t>(d)];
    a.scale = common;
    a.out = static_cast<int64_t>(std::round(common * static_cast<float>(a.in)));
  }
  return Status();
}

Status apply_scales(const std::vector<int>& named, const std::vector<float>& scales, Resize* r) {
  QRT_MODEL_CHECK(scales.size() == named.size(), "%zu scales for %zu axes, expected one for each",
                  scales.size(), named.size());
  for (size_t i = 0; i < named.size(); ++i) {
    ResizeAxis& a = r->axes[static_cast<size_t>(named[i])];
    QRT_MODEL_CHECK(scales[i] > 0 && std::isfinite(scales[i]),
                    "a scale is %g, expected finite and more than 0",
                    static_cast<double>(scales[i]));
    a.scale = scales[i];
    const float out = a.scale * static_cast<float>(a.in);
    if (!(out <= static_cast<float>(kMaxIndices)))
      return error(Code::kUnsupported, "a scale of %g makes an axis too long",
                   static_cast<double>(a.scale));
    a.out = static_cast<int64_t>(out);
  }
  return Status();
}

}  // namespace

Status read_resize(Importer& importer, const NodeView& node, Resize* r, bool* known) {
  const Shape& from = importer.input(node, 0).shape;
  *known = false;
  r->axes.resize(static_cast<size_t>(from.rank()));
  std::vector<int> named;
  for (int d = 0; d < from.rank(); ++d) {
    ResizeAxis& a = r->axes[static_cast<size_t>(d)];
    a.in = a.out = from[d];
    QRT_MODEL_CHECK(a.in > 0, "it resizes an empty tensor");
    named.push_back(d);
  }
  std::vector<float> scales;
  const bool old = node.op() == "Upsample" || importer.opset(node) < 11;
  if (old) {
    if (!constant_reals(importer, node, 1, &scales)) return Status();
    QRT_TRY(apply_scales(named, scales, r));
    *known = true;
    return Status();
  }
  const std::string mode = node.text("coordinate_transformation_mode", "half_pixel");
  const std::string rounding = node.text("nearest_mode", "round_prefer_floor");
  QRT_MODEL_CHECK(parse(mode, kCoordinates, &r->coordinates),
                  "its coordinate_transformation_mode is '%s', expected one of %s", mode.c_str(),
                  names_of(kCoordinates).c_str());
  QRT_MODEL_CHECK(parse(rounding, kNearest, &r->nearest),
                  "its nearest_mode is '%s', expected one of %s", rounding.c_str(),
                  names_of(kNearest).c_str());
  if (node.has("axes")) {
    named.clear();
    std::vector<bool> seen(static_cast<size_t>(from.rank()), false);
    for (int64_t a : node.integers("axes")) {
      int axis;
      QRT_TRY(read_axis(a, from.rank(), &axis));
      QRT_MODEL_CHECK(!seen[static_cast<size_t>(axis)], "axis %d is named twice", axis);
      seen[static_cast<size_t>(axis)] = true;
      named.push_back(axis);
    }
  }
  if (r->extrapolates()) {
    std::vector<float> roi;
    if (!constant_reals(importer, node, 1, &roi)) return Status();
    QRT_MODEL_CHECK(roi.size() == 2 * named.size(),
                    "%zu numbers of a region for %zu axes, expected two for each", roi.size(),
                    named.size());
    for (size_t i = 0; i < named.size(); ++i) {
      QRT_MODEL_CHECK(std::isfinite(roi[i]) && std::isfinite(roi[i + named.size()]),
                      "its region is not finite");
      r->axes[static_cast<size_t>(named[i])].roi_begin = roi[i];
      r->axes[static_cast<size_t>(named[i])].roi_end = roi[i + named.size()];
    }
  }
  if (is_given(importer, node, 3)) {
    std::vector<int64_t> sizes;
    if (!constant_integers(importer, node, 3, &sizes)) return Status();
    QRT_TRY(apply_sizes(node, named, sizes, r));
  } else {
    QRT_MODEL_CHECK(is_given(importer, node, 2), "it has neither scales nor sizes");
    if (!constant_reals(importer, node, 2, &scales)) return Status();
    QRT_TRY(apply_scales(named, scales, r));
  }
  *known = true;
  return Status();
}

float coordinate(Coordinates mode, const ResizeAxis& a, int64_t i) {
  if (mode != Coordinates::kTfCropAndResize || a.scale == 1)
    return resize_coordinate(static_cast<fb::ResizeCoordinates>(mode), a.resized(), i);
  const float x = static_cast<float>(i), in = static_cast<float>(a.in);
  const float out = static_cast<float>(a.out);
  if (a.out > 1)
    return a.roi_begin * (in - 1) + (x * (a.roi_end - a.roi_begin) * (in - 1)) / (out - 1);
  return static_cast<float>(0.5 * static_cast<double>(a.roi_begin + a.roi_end) *
                            static_cast<double>(in - 1));
}

bool is_outside(const Resize& r, const ResizeAxis& a, float x) {
  return r.extrapolates() && !(x >= 0 && x <= static_cast<float>(a.in - 1));
}

bool cast_bits(float value, int type, int64_t* bits) {
  *bits = 0;
  int lo, hi;
  if (type == kFloat) {
    memcpy(bits, &value, sizeof value);
    return true;
  }
  if (!quantized_range(type, &lo, &hi) || !(value >= static_cast<float>(lo)) ||
      !(value <= static_cast<float>(hi)))
    return false;
  Quant stored;
  ir_type(type, &stored.type);
  *bits = static_cast<int64_t>(value) + stored.offset();
  return true;
}

}  // namespace qrt::convert::from_onnx
