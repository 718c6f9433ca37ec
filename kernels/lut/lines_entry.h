// Entry points of lines_<isa>.cc, two for each row of lines.inc. For kernel files: others take a row
// from lines.h.
#ifndef QRT_KERNELS_LUT_LINES_ENTRY_H_
#define QRT_KERNELS_LUT_LINES_ENTRY_H_

#include "kernels/lut/lines.h"

namespace qrt {

#define QRT_LINES(isa, suffix, bytes)                                                              \
  void lines_map_##suffix(const LineConstants& constants, const uint8_t* x, uint8_t* y, size_t n); \
  void lines_map_two_##suffix(const LineConstants& constants, const uint8_t* x, uint8_t* y,        \
                              size_t n);
#include "kernels/lut/lines.inc"

}  // namespace qrt

#endif  // QRT_KERNELS_LUT_LINES_ENTRY_H_
