// SPDX-License-Identifier: Apache-2.0
// Finds faster forms of integer requantisations, which give the same bytes: in float32, and as affine fits.
#ifndef QRT_RUNTIME_FLOAT_FORMS_H_
#define QRT_RUNTIME_FLOAT_FORMS_H_

#include <cstddef>
#include <cstdint>

#include "kernels/isa.h"
#include "runtime/requant_params.h"

namespace qrt {

// Accumulators that begin at a bias for each channel, to which `terms` products of a byte and an int8
// are added.
struct Sums {
  PlanVector<int32_t>* bias;
  size_t terms;
};

// Brings a requantisation into the forms that every instruction set has in registers: a last stage's
// clip becomes part of the limits, and all of it becomes RQ_F32 (kernels/requant_float.h) where
// every channel has a scale for that. With `sums` the zero point may have to move into their bias;
// returns whether it did. A requantisation of fewer channels than sums stands for all of them.
bool find_float_form(size_t channels, RequantParams* params, const Sums* sums = nullptr);

// Returns whether it pays to look for affine fits (kernels/affine/affine.h): some kernel of `isas` must use
// them, for at least some hundred `outputs` of each channel. Finding one takes as long as these save.
bool may_fit(size_t outputs, IsaSet isas);
// Sets the affine fits of the Requant's channels where all of them have one.
void find_affine_fits(size_t channels, IsaSet isas, RequantParams* params);

}  // namespace qrt

#endif  // QRT_RUNTIME_FLOAT_FORMS_H_
