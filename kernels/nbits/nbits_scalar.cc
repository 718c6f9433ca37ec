// SPDX-License-Identifier: Apache-2.0
#define QRT_FLOAT_LANES 4
#include "kernels/nbits/loops.h"

namespace qrt {
namespace {

struct Scalar {
  static constexpr bool kLess128 = false;
  QRT_INLINE void dot(Ints& acc, Ints u, int32_t q) {
    QRT_UNROLL
    for (int j = 0; j < 4; ++j)
      acc = acc + ((u >> (8 * j)) & 255) * static_cast<int8_t>(q >> (8 * j));
  }
  QRT_INLINE void dot8(Ints& acc, Ints u, int32_t q) { dot(acc, u, q); }
};

}  // namespace

QRT_NBITS_ROW(scalar, Scalar, 2, 1)

}  // namespace qrt
