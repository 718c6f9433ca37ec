// SPDX-License-Identifier: Apache-2.0
// The tables of one resized axis: which input elements an output element is made of, and with which weights.
// Computed in float32 (and double) in ONNX Runtime's order. The converter makes the tables of a file with
// these functions, and the runtime those of other sizes.
#ifndef QRT_RUNTIME_RESIZE_TABLES_H_
#define QRT_RUNTIME_RESIZE_TABLES_H_

#include <cstdint>

#include "qrt_model_generated.h"

namespace qrt {

// An axis of `in` elements that becomes one of `out`. A scale of 1 leaves it as it is, whatever the
// coordinates say.
struct ResizedAxis {
  int64_t in, out;
  float scale;
};

// Returns out / in in float32, the scale of a Resize that names sizes.
float resize_scale(int64_t in, int64_t out);

// Returns where output index i lies in the input.
float resize_coordinate(fb::ResizeCoordinates coordinates, const ResizedAxis& axis, int64_t i);

// Returns the input index that mode `nearest` takes for the coordinate x.
int32_t nearest_index(fb::ResizeRounding rounding, const ResizedAxis& axis, float x);

// Two input indices and their weights, as fb::ResizeAxis has them.
struct LinearTap {
  int32_t low, high, low_weight, high_weight;
};
// Returns the two inputs that mode `linear` takes for the coordinate x, and their weights: the bits of
// floats for the float kinds, units of 2^-20, rounded to nearest, for INT16_SUM, and units of 2^-10 for
// the other kinds, for which x is truncated.
LinearTap linear_tap(fb::ResizeKind kind, const ResizedAxis& axis, float x);

}  // namespace qrt

#endif  // QRT_RUNTIME_RESIZE_TABLES_H_
