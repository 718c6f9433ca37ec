// SPDX-License-Identifier: Apache-2.0
// Entry points of lines_<isa>.cc, those of each row of lines.inc. For kernel files: others take a row
// from lines.h.
#ifndef QRT_KERNELS_LUT_LINES_ENTRY_H_
#define QRT_KERNELS_LUT_LINES_ENTRY_H_

#include "kernels/lut/lines.h"

namespace qrt {

#define QRT_LINES_ENTRY(name) \
  void name(const LineConstants& constants, const uint8_t* x, uint8_t* y, size_t n);
#define QRT_LINES(isa, suffix)            \
  size_t lines_bytes_##suffix();          \
  QRT_LINES_ENTRY(lines_map_##suffix)     \
  QRT_LINES_ENTRY(lines_map_two_##suffix) \
  QRT_LINES_ENTRY(lines_map_signed_##suffix)
#include "kernels/lut/lines.inc"
#undef QRT_LINES_ENTRY

}  // namespace qrt

#endif  // QRT_KERNELS_LUT_LINES_ENTRY_H_
