// SPDX-License-Identifier: Apache-2.0
// The geometry of a Resize or Upsample, which the nearest and the linear form share: its
// attributes, and where its output lies in its input.
#ifndef QRT_CONVERTER_IMPORT_ONNX_OPS_RESIZE_GEOMETRY_H_
#define QRT_CONVERTER_IMPORT_ONNX_OPS_RESIZE_GEOMETRY_H_

#include "converter/import/onnx/importer.h"
#include "runtime/resize_tables.h"

namespace qrt::convert::from_onnx {

// The coordinate_transformation_mode of a Resize: fb::ResizeCoordinates, and tf_crop_and_resize, which a file does not hold.
enum class Coordinates {
  kHalfPixel = static_cast<int>(fb::ResizeCoordinates::HALF_PIXEL),
  kHalfPixelSymmetric = static_cast<int>(fb::ResizeCoordinates::HALF_PIXEL_SYMMETRIC),
  kPytorchHalfPixel = static_cast<int>(fb::ResizeCoordinates::PYTORCH_HALF_PIXEL),
  kAlignCorners = static_cast<int>(fb::ResizeCoordinates::ALIGN_CORNERS),
  kAsymmetric = static_cast<int>(fb::ResizeCoordinates::ASYMMETRIC),
  kTfHalfPixelForNn = static_cast<int>(fb::ResizeCoordinates::TF_HALF_PIXEL_FOR_NN),
  kTfCropAndResize
};
using Nearest = fb::ResizeRounding;  // SIMPLE: of operators before opset 11

struct ResizeAxis {
  int64_t in = 1, out = 1;
  float scale = 1, roi_begin = 0, roi_end = 1;

  ResizedAxis resized() const { return {in, out, scale}; }
};

struct Resize {
  Coordinates coordinates = Coordinates::kAsymmetric;
  Nearest nearest = Nearest::SIMPLE;
  std::vector<ResizeAxis> axes;  // one for each dimension

  bool extrapolates() const { return coordinates == Coordinates::kTfCropAndResize; }
};

// Reads everything but the mode. *known: false where it was refused.
Status read_resize(Importer& importer, const NodeView& node, Resize* r, bool* known);

// Returns the place of output index i in the input: in float32 (and double) as ONNX Runtime
// computes it, in its order. An axis of scale 1 stays, whatever the modes say.
float coordinate(Coordinates mode, const ResizeAxis& a, int64_t i);

// Returns whether tf_crop_and_resize puts its extrapolation value there.
bool is_outside(const Resize& r, const ResizeAxis& a, float x);

// Casts the extrapolation value to an element of a float tensor, or of an integer tensor without
// quantisation. Returns false for values that the type does not hold.
bool cast_bits(float value, int type, int64_t* bits);

// ops/resize/linear.cc: resizes in mode linear.
Status resize_linear(Importer& importer, const NodeView& node, const Resize& r);

}  // namespace qrt::convert::from_onnx

#endif  // QRT_CONVERTER_IMPORT_ONNX_OPS_RESIZE_GEOMETRY_H_
