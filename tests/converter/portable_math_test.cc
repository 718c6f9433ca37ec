// SPDX-License-Identifier: Apache-2.0
// exp and log of the converter's own against the long double ones of the C library.
#include "converter/portable_math.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/random.h"

namespace qrt::convert::portable_math_test {
namespace {

// Errors in units of 2^-53 of the result.
double error_of(double got, long double real) {
  return static_cast<double>(std::fabs((static_cast<long double>(got) - real) / real)) * 0x1p53;
}

TEST(PortableMath, IsWithinTwoUnitsInTheLastPlace) {
  testing::Random random;
  SCOPED_TRACE(random.trace());
  for (int i = 0; i < 200000; ++i) {
    const double unit = static_cast<double>(random.integer(-1000000000, 1000000000)) / 1e9;
    for (const double range : {0.3, 10.0, 700.0})
      ASSERT_LE(
          error_of(portable_exp(unit * range), std::exp(static_cast<long double>(unit * range))), 4)
          << unit * range;
    const double x = std::ldexp(1.5 + unit / 2.1, static_cast<int>(random.integer(-120, 120)));
    const long double real = std::log(static_cast<long double>(x));
    ASSERT_LE(static_cast<double>(std::fabs(static_cast<long double>(portable_log(x)) - real)),
              4 * 0x1p-53 * std::fmax(1.0, static_cast<double>(std::fabs(real))))
        << x;
  }
}

// The portable functions give the float32 nearest to the real number, which the tables here hold.
TEST(PortableMath, GivesTheNearestFloat) {
  for (int i = 0; i < 65536; ++i) {
    const float x = -10.0f * static_cast<float>(i) / 65535.0f;
    ASSERT_EQ(static_cast<float>(portable_exp(static_cast<double>(x))),
              static_cast<float>(std::exp(static_cast<long double>(x))));
    const float scale = 0.0001f * static_cast<float>(i + 1);
    ASSERT_EQ(static_cast<float>(portable_log(static_cast<double>(scale))),
              static_cast<float>(std::log(static_cast<long double>(scale))));
  }
}

TEST(PortableMath, SpecialPoints) {
  ASSERT_EQ(portable_exp(0), 1);
  ASSERT_EQ(portable_log(1), 0);
  ASSERT_EQ(portable_exp(-700), std::exp(-700.0));
}

}  // namespace
}  // namespace qrt::convert::portable_math_test
