// SPDX-License-Identifier: Apache-2.0
// Filters as the file packs them for a chip's vector unit, and their bytes in the order of their indices.
#ifndef QRT_CONVERTER_IMPORT_ESPDL_LAYOUT_H_
#define QRT_CONVERTER_IMPORT_ESPDL_LAYOUT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "converter/import/espdl/model.h"

namespace qrt::convert::from_espdl {

// A filter of n outputs over h x w positions of c channels each; depthwise: c = 1, n channels.
struct FilterShape {
  int64_t h = 1, w = 1, c = 1, n = 1;
  bool is_depthwise = false;

  int64_t elements() const { return h * w * c * n; }
};

// The order of the bytes of one filter.
//   blocks:     [n / a][h][w][c][a], then the n % a other filters as [n % a][h][w][c] (depthwise: [h][w][n % a]);
//               a is 16 for int8, 8 for int16. ESP-DL's runtime goes by n alone, and so does unpack_filter(): files
//               exist whose layout names no rest though n % a is not 0
//   row-major:  [n][h][w][c] (depthwise [h][w][n]): the C code's
struct Layout {
  bool is_row_major = false;
};
// Parses a layout. Fails with kUnsupported for one that no ESP-DL version writes.
Status parse_layout(const std::string& text, Layout* layout);

// Returns element i of a constant of int8 or int16.
int16_t value_at(const Tensor& tensor, int64_t i);

// Values of a block.
inline int64_t block_of(DataType type) { return type == DataType::INT16 ? 8 : 16; }

// Unpacks the filter's values to [n][h][w][c], depthwise [h][w][n], from position `begin` of the
// tensor's values on. REQUIRES: it is of int8 or int16 and holds that many.
Status unpack_filter(const Tensor& tensor, int64_t begin, const FilterShape& shape,
                     std::vector<int16_t>* values);

}  // namespace qrt::convert::from_espdl

#endif  // QRT_CONVERTER_IMPORT_ESPDL_LAYOUT_H_
