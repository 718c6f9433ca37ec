// SPDX-License-Identifier: Apache-2.0
// Sizes of a ConvTranspose: which inputs each output reads.
#ifndef QRT_CONVERTER_IMPORT_ONNX_OPS_TRANSPOSED_GEOMETRY_H_
#define QRT_CONVERTER_IMPORT_ONNX_OPS_TRANSPOSED_GEOMETRY_H_

#include <cstdint>

#include "converter/import/onnx/window.h"

namespace qrt::convert::from_onnx {

// Along each axis, output o reads input i through tap k where
// o + before == i * stride + k * dilation.
struct TransposedGeometry {
  static constexpr int kAxes = kMostDimensions;  // depth, rows, columns

  Image image;
  int64_t groups = 1, out = 0;
  int64_t kernel[kAxes] = {1, 1, 1}, stride[kAxes] = {1, 1, 1}, dilation[kAxes] = {1, 1, 1};
  int64_t before[kAxes] = {0, 0, 0}, output[kAxes] = {1, 1, 1};

  int64_t input(int axis) const { return axis == 0 ? image.depth : image.size[axis - 1]; }
};

// Reads them of a node whose weights have shape `w`, [in, out / groups, ((kd,) kh,) kw]. *known stays
// false where they were refused.
Status read_transposed(Importer& importer, const NodeView& node, const Shape& x, const Shape& w,
                       TransposedGeometry* geometry, bool* known);

}  // namespace qrt::convert::from_onnx

#endif  // QRT_CONVERTER_IMPORT_ONNX_OPS_TRANSPOSED_GEOMETRY_H_
