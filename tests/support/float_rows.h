// SPDX-License-Identifier: Apache-2.0
// The fixture of tests of the float_fallback family: its rows on this machine, and numbers to try them on.
#ifndef QRT_TESTS_SUPPORT_FLOAT_ROWS_H_
#define QRT_TESTS_SUPPORT_FLOAT_ROWS_H_

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <vector>

#include "kernels/float_fallback/float_fallback.h"
#include "tests/support/guarded.h"
#include "tests/support/random.h"

namespace qrt::testing::float_rows {

inline constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
inline constexpr float kInf = std::numeric_limits<float>::infinity();

inline uint32_t bits(float f) {
  uint32_t b;
  memcpy(&b, &f, sizeof b);
  return b;
}

inline float canonical(float f) { return std::isnan(f) ? kNaN : f; }

// The arguments at which the functions change their form or end, and numbers that are not ordinary.
inline const std::vector<float> kCorners = {
    0.0f,           -0.0f,        kInf,        -kInf,   kNaN,    -kNaN,  1.0f,       -1.0f,
    0.99999994f,    -0.99999994f, 0.625f,      -0.625f, 88.8f,   -88.8f, 88.80001f,  -104.0f,
    -104.00001f,    87.5f,        0.34657359f, 1e-40f,  -1e-40f, 1e-45f, 3.4e38f,    -3.4e38f,
    1.1754944e-38f, 0.5f,         1.5f,        2.5f,    9.3f,    -9.3f,  0.70710677f};

// Fills with a third corner cases, a third random bits, and a third numbers of the size of activations.
inline void fill(Random& random, Guarded<float>& values) {
  for (float& v : values) {
    const int64_t kind = random.integer(0, 2);
    if (kind == 0) {
      v = kCorners[static_cast<size_t>(
          random.integer(0, static_cast<int64_t>(kCorners.size()) - 1))];
    } else if (kind == 1) {
      const auto any = static_cast<uint32_t>(random.integer(0, UINT32_MAX));
      memcpy(&v, &any, sizeof v);
    } else {
      v = random.real(-8, 8);
    }
  }
}

inline void fill_ordinary(Random& random, Guarded<float>& values) {
  for (float& v : values) v = random.real(-4, 4);
}

inline void expect_equal(const Guarded<float>& got, const std::vector<float>& want) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < want.size(); ++i) ASSERT_EQ(bits(got[i]), bits(want[i])) << "at " << i;
}

class FloatFallbackTest : public ::testing::Test {
 protected:
  // Rows of this machine, the scalar one among them.
  void for_rows(const std::function<void(const FloatKernel&)>& check) {
    size_t count;
    const FloatKernel* kernels = float_kernels(&count);
    for (size_t i = 0; i < count; ++i) {
      SCOPED_TRACE(isa_name(kernels[i].isa));
      if (has(detected_isas() | static_cast<IsaSet>(Isa::kScalar), kernels[i].isa))
        check(kernels[i]);
    }
  }
  const FloatKernel& scalar() { return *select_float(static_cast<IsaSet>(Isa::kScalar)); }

  Random random_;
};

}  // namespace qrt::testing::float_rows

#endif  // QRT_TESTS_SUPPORT_FLOAT_ROWS_H_
