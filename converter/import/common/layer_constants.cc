// SPDX-License-Identifier: Apache-2.0
#include "converter/import/common/layer_constants.h"

#include <algorithm>

namespace qrt::convert {

int digits_of(const std::vector<int16_t>& weights) {
  // A digit is an int8; two digits reach up to 127 * 256 + 127.
  constexpr int kLeast = -128, kMost = 127;
  int digits = 1;
  for (int w : weights) {
    const bool is_byte = w >= kLeast && w <= kMost;
    digits = std::max(digits, is_byte ? 1 : w > kMost * 256 + kMost ? 3 : 2);
  }
  return digits;
}

}  // namespace qrt::convert
