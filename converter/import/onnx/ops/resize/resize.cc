// SPDX-License-Identifier: Apache-2.0
// Resize and Upsample. Nearest is a Gather: every output index reads one input index, or, outside
// the region of tf_crop_and_resize, the extrapolation value. Linear: ops/resize/linear.cc.
#include "converter/import/onnx/move.h"
#include "converter/import/onnx/ops/handlers.h"
#include "converter/import/onnx/ops/resize/geometry.h"

namespace qrt::convert::from_onnx {
namespace {

Indices nearest_indices(const Resize& r, const ResizeAxis& a) {
  Indices indices;
  for (int64_t i = 0; i < a.out; ++i) {
    const float x = coordinate(r.coordinates, a, i);
    const bool is_filled = a.scale != 1 && is_outside(r, a, x);
    indices.push_back(is_filled ? -1 : nearest_index(r.nearest, a.resized(), x));
  }
  return indices;
}

Status resize_nearest(Importer& importer, const NodeView& node, const Resize& r) {
  const Tensor& x = importer.input(node, 0);
  IndexMaps maps(x.shape);
  for (size_t d = 0; d < r.axes.size(); ++d) {
    if (r.axes[d].out < 1) return error(Code::kUnsupported, "axis %zu becomes empty", d);
    QRT_TRY(check_index_count(r.axes[d].out));
    maps.set(static_cast<int>(d), nearest_indices(r, r.axes[d]));
  }
  if (!maps.fills()) return move(importer, node, {gathered(std::move(maps))});
  const float value = node.real("extrapolation_value", 0);
  int64_t bits;
  if (x.waits()) return move_filled(importer, node, std::move(maps), value);
  if ((!x.is_value() && !x.is_plain_constant()) || !cast_bits(value, x.type, &bits))
    return importer.refuse(
        node, "its extrapolation value does not fit its input", node.input(0),
        "export the Resize with another coordinate_transformation_mode, half_pixel or asymmetric");
  if (x.is_constant()) bits = static_cast<int64_t>(value);
  return move(importer, node, {gathered(std::move(maps), bits)});
}

}  // namespace

Status import_resize(Importer& importer, const NodeView& node) {
  const std::string mode = node.text("mode", "nearest");
  QRT_MODEL_CHECK(mode == "nearest" || mode == "linear" || mode == "cubic",
                  "its mode is '%s', expected nearest, linear or cubic", mode.c_str());
  Resize r;
  bool known;
  QRT_TRY(read_resize(importer, node, &r, &known));
  if (!known) return Status();
  if (mode == "nearest") return resize_nearest(importer, node, r);
  if (mode == "linear") return resize_linear(importer, node, r);
  return importer.refuse(node, "it resizes in mode 'cubic', of which qrt has no integer form",
                         node.input(0), "resize in mode 'linear' or 'nearest'");
}

}  // namespace qrt::convert::from_onnx
