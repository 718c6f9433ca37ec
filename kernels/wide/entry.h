// Entry points of the wide family's files, six for each row of wide.inc. Only for this folder:
// others take a row from wide.h.
#ifndef QRT_KERNELS_WIDE_ENTRY_H_
#define QRT_KERNELS_WIDE_ENTRY_H_

#include "kernels/wide/wide.h"

namespace qrt {

#define QRT_WIDE(isa, suffix)                                                        \
  void wide_split_##suffix(const int16_t* x, size_t n, uint8_t* high, uint8_t* low); \
  void wide_combine_##suffix(const CombineArgs& args);                               \
  void wide_depthwise_##suffix(const WideDepthwiseArgs& args);                       \
  void wide_add_##suffix(const AddIntParams& params, const WideRun& run);            \
  void wide_mul_##suffix(const WideMulParams& params, const WideRun& run);           \
  void wide_rescale_##suffix(const RescaleParams& params, const RescaleRun& run);
#include "kernels/wide/wide.inc"

}  // namespace qrt

#endif  // QRT_KERNELS_WIDE_ENTRY_H_
