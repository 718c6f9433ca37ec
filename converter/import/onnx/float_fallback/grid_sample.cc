// SPDX-License-Identifier: Apache-2.0
#include "converter/import/onnx/float_fallback/grid_sample.h"

#include <memory>
#include <string>

namespace qrt::convert::from_onnx {
namespace {

// Reads the name of a mode; opset 20 renamed two of them. Returns false for others.
bool read_mode(const std::string& name, fb::GridMode* mode) {
  if (name == "linear" || name == "bilinear") *mode = fb::GridMode::LINEAR;
  if (name == "cubic" || name == "bicubic") *mode = fb::GridMode::CUBIC;
  if (name == "nearest") *mode = fb::GridMode::NEAREST;
  return name == "linear" || name == "bilinear" || name == "cubic" || name == "bicubic" ||
         name == "nearest";
}

// Reads the name of what lies outside the image. Returns false for others.
bool read_padding(const std::string& name, fb::GridPadding* padding) {
  if (name == "border") *padding = fb::GridPadding::BORDER;
  if (name == "reflection") *padding = fb::GridPadding::REFLECTION;
  return name == "zeros" || name == "border" || name == "reflection";
}

}  // namespace

Status float_grid_sample(FloatGraph* f, ValueId x, ValueId* y) {
  const NodeView& node = f->node();
  ValueId grid;
  if (!f->read(1, &grid)) return Status();
  const Shape s = f->shape_of(x), g = f->shape_of(grid);
  fb::FloatGridT options;
  if (s.rank() != 4 || !read_mode(node.text("mode", "linear"), &options.mode) ||
      !read_padding(node.text("padding_mode", "zeros"), &options.padding))
    return Status();
  QRT_MODEL_CHECK(g.rank() == 4 && g[0] == s[0] && g[3] == 2,
                  "an image of shape %s and a grid of shape %s", s.to_string().c_str(),
                  g.to_string().c_str());
  options.align_corners = node.integer("align_corners", 0) != 0;
  *y = f->builder().new_value("", DType::kFloat32, {s[0], s[1], g[1], g[2]});
  auto& o = f->builder().add<fb::FloatOptionsT>(node, {x, grid}, *y);
  o.function = fb::FloatFunction::GRID_SAMPLE;
  o.grid = std::make_unique<fb::FloatGridT>(options);
  return Status();
}

}  // namespace qrt::convert::from_onnx
