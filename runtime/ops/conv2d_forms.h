// SPDX-License-Identifier: Apache-2.0
// The forms that some layers of Conv2D take instead of the products of conv2d.cc, as a table. conv2d.cc
// tries them in order to prepare a layer, and runtime/parts.cc asks which of them may serve a model.
#ifndef QRT_RUNTIME_OPS_CONV2D_FORMS_H_
#define QRT_RUNTIME_OPS_CONV2D_FORMS_H_

#include "kernels/built.h"
#include "runtime/ops/conv2d_geometry.h"
#include "runtime/ops/gemm_call.h"
#include "runtime/parts.h"

namespace qrt {

struct Conv2DForm {
  Part part;
  // Returns whether some instruction set may run layers with these options and weights
  // [out, kh, kw, in / groups] in this form, for images of some size.
  bool (*may_take)(const fb::Conv2DOptions& options, const Shape& weights);
  // True where prepare() uses the layer's GemmCall, which conv2d.cc then makes first.
  bool takes_gemm;
  // Sets step->run where the form applies to these shapes and is estimated to be faster than conv2d.cc's
  // own, else does nothing. step->macs is set; a form that leaves out zeros lessens it. Fails with
  // kOutOfMemory. REQUIRES: may_take().
  Status (*prepare)(const PrepareContext& context, const Conv2DGeometry& geometry, GemmCall* gemm,
                    PlannedStep* step);
};

bool may_take_grouped(const fb::Conv2DOptions& options, const Shape& weights);
Status prepare_grouped_conv2d(const PrepareContext& context, const Conv2DGeometry& geometry,
                              GemmCall* gemm, PlannedStep* step);

bool may_take_winograd(const fb::Conv2DOptions& options, const Shape& weights);
Status prepare_winograd_conv2d(const PrepareContext& context, const Conv2DGeometry& geometry,
                               GemmCall* gemm, PlannedStep* step);

bool may_take_narrow(const fb::Conv2DOptions& options, const Shape& weights);
Status prepare_narrow_conv2d(const PrepareContext& context, const Conv2DGeometry& geometry,
                             GemmCall* gemm, PlannedStep* step);

bool may_take_stem(const fb::Conv2DOptions& options, const Shape& weights);
Status prepare_stem_conv2d(const PrepareContext& context, const Conv2DGeometry& geometry,
                           GemmCall* gemm, PlannedStep* step);

// A layer runs in the first of them that sets step->run.
inline constexpr Conv2DForm kConv2DForms[] = {
    {{"Grouped", built::kGrouped},
     may_take_grouped,
     /*takes_gemm=*/false,
     built::kGrouped ? prepare_grouped_conv2d : nullptr},
    {{"Winograd", built::kWinograd},
     may_take_winograd,
     /*takes_gemm=*/true,
     built::kWinograd ? prepare_winograd_conv2d : nullptr},
    {{"Narrow", built::kNarrow},
     may_take_narrow,
     /*takes_gemm=*/true,
     built::kNarrow ? prepare_narrow_conv2d : nullptr},
    {{"Stem", built::kStem},
     may_take_stem,
     /*takes_gemm=*/true,
     built::kStem ? prepare_stem_conv2d : nullptr},
};

}  // namespace qrt

#endif  // QRT_RUNTIME_OPS_CONV2D_FORMS_H_
