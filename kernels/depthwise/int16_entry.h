// SPDX-License-Identifier: Apache-2.0
// Entry points of depthwise_int16_<isa>.cc, one for each row of depthwise_int16.inc. Only for this
// folder: others take a row from depthwise_int16.h.
#ifndef QRT_KERNELS_DEPTHWISE_INT16_ENTRY_H_
#define QRT_KERNELS_DEPTHWISE_INT16_ENTRY_H_

#include "kernels/depthwise/depthwise_int16.h"

namespace qrt {

#define QRT_DEPTHWISE_INT16(isa, suffix) \
  void depthwise_int16_##suffix(const DepthwiseInt16Args& args);
#include "kernels/depthwise/depthwise_int16.inc"

}  // namespace qrt

#endif  // QRT_KERNELS_DEPTHWISE_INT16_ENTRY_H_
