// SPDX-License-Identifier: Apache-2.0
// Compares the outputs that a convolution kernel stored with sums of the definition.
#ifndef QRT_TESTS_SUPPORT_STORED_ROWS_H_
#define QRT_TESTS_SUPPORT_STORED_ROWS_H_

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kernels/requant.h"

namespace qrt::testing {

// Sums as they are.
inline Requant sums_alone() {
  Requant r = {};
  r.kind = RequantKind::kAcc;
  return r;
}

inline size_t stored_bytes(const Requant& requant) {
  return requant.kind == RequantKind::kAcc ? 4 : 1;
}

// Expects pixels `pitch` bytes apart, of channels of stored_bytes() each: sum(pixel, channel), an int32,
// requantised. The bytes between pixels are as Guarded memory begins.
template <class F>
void expect_rows(const uint8_t* row, size_t pixels, size_t channels, size_t pitch,
                 const Requant& requant, const F& sum) {
  const size_t element = stored_bytes(requant);
  for (size_t p = 0; p < pixels; ++p, row += pitch) {
    for (size_t o = 0; o < channels; ++o) {
      if (requant.kind == RequantKind::kAcc) {
        int32_t actual;
        memcpy(&actual, row + o * 4, 4);
        ASSERT_EQ(actual, sum(p, o)) << "pixel " << p << ", channel " << o;
      } else {
        ASSERT_EQ(row[o], requantize(requant, sum(p, o), o)) << "pixel " << p << ", channel " << o;
      }
    }
    for (size_t i = channels * element; i < pitch && p + 1 < pixels; ++i)
      ASSERT_EQ(row[i], 0xA5) << "behind pixel " << p;
  }
}

}  // namespace qrt::testing

#endif  // QRT_TESTS_SUPPORT_STORED_ROWS_H_
