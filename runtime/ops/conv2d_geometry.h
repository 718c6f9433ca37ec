// What the forms of Conv2D know of a layer, and its form for INT16 activations.
#ifndef QRT_RUNTIME_OPS_CONV2D_GEOMETRY_H_
#define QRT_RUNTIME_OPS_CONV2D_GEOMETRY_H_

#include <cstddef>

#include "runtime/op.h"

namespace qrt {

struct Conv2DGeometry {
  size_t images, in_h, in_w, in_c;
  size_t out_h, out_w, out_c, kernel_h, kernel_w;
  size_t stride_h, stride_w, dilation_h, dilation_w, pad_top, pad_left;
  size_t groups, terms;
  bool row_taps, is_dense, is_padded;
  size_t taps, k;  // of one product
};

// conv2d_int16.cc. REQUIRES: input 0 is INT16.
Status prepare_int16_conv2d(const PrepareContext& context, const Conv2DGeometry& geometry,
                            PlannedStep* step);

}  // namespace qrt

#endif  // QRT_RUNTIME_OPS_CONV2D_GEOMETRY_H_
