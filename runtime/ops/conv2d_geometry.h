// SPDX-License-Identifier: Apache-2.0
// A layer's geometry as the forms of Conv2D share it, and the form for INT16 activations.
#ifndef QRT_RUNTIME_OPS_CONV2D_GEOMETRY_H_
#define QRT_RUNTIME_OPS_CONV2D_GEOMETRY_H_

#include <cstddef>
#include <cstdint>

#include "kernels/window2d.h"
#include "runtime/op.h"

namespace qrt {

struct Conv2DGeometry : Window2D {
  size_t images, in_c, out_c;
  size_t groups, terms;
  bool row_taps, is_dense, is_padded;
  size_t taps, k;  // the taps and the k of one product

  uint64_t macs() const {
    return uint64_t{images} * out_h * out_w * out_c * kernel_h * kernel_w * (in_c / groups);
  }
};

// conv2d_int16.cc: prepares a layer whose input 0 is INT16.
Status prepare_int16_conv2d(const PrepareContext& context, const Conv2DGeometry& geometry,
                            PlannedStep* step);

}  // namespace qrt

#endif  // QRT_RUNTIME_OPS_CONV2D_GEOMETRY_H_
