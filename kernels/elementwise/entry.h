// SPDX-License-Identifier: Apache-2.0
// Entry points of the elementwise family's files, six for each row of elementwise.inc. Only
// for this folder: others take a row from elementwise.h.
#ifndef QRT_KERNELS_ELEMENTWISE_ENTRY_H_
#define QRT_KERNELS_ELEMENTWISE_ENTRY_H_

#include "kernels/elementwise/elementwise.h"

namespace qrt {

#define QRT_ELEMENTWISE(isa, suffix)                                                         \
  void elementwise_add_##suffix(const AddParams& params, const ElementwiseArgs& run);        \
  void elementwise_add_int_##suffix(const AddIntParams& params, const ElementwiseArgs& run); \
  void elementwise_mul_##suffix(const MulParams& params, const ElementwiseArgs& run);        \
  void elementwise_add_int16_##suffix(const AddIntParams& params, const Int16Args& run);     \
  void elementwise_mul_int16_##suffix(const MulParams& params, const Int16Args& run);        \
  void elementwise_rescale_##suffix(const RescaleParams& params, const RescaleArgs& run);
#include "kernels/elementwise/elementwise.inc"

}  // namespace qrt

#endif  // QRT_KERNELS_ELEMENTWISE_ENTRY_H_
