// SPDX-License-Identifier: Apache-2.0
// soft::div against the hardware's division: random significands over all exponents, subnormals,
// powers of two, neighbours of ties.
#include "kernels/soft_float.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/support/random.h"

namespace qrt::soft_float_test {
namespace {

float float_of(soft::Bits b) {
  float f;
  memcpy(&f, &b, 4);
  return f;
}

// soft's zeros are +0.
soft::Bits hardware_quotient(float a, float b) {
  const float q = a / b;
  return q == 0 ? 0 : soft::bits_of(q);
}

TEST(SoftDivision, EqualsHardwareOverAllExponents) {
  testing::Random random;
  for (int i = 0; i < 2000000; ++i) {
    const float a = float_of(static_cast<soft::Bits>(random.integer(0, 0xffffffff)));
    const float b = float_of(static_cast<soft::Bits>(random.integer(0, 0xffffffff)));
    if (!std::isfinite(a) || !std::isfinite(b) || b == 0) continue;
    ASSERT_EQ(soft::div(soft::bits_of(a), soft::bits_of(b)), hardware_quotient(a, b))
        << std::hexfloat << a << " / " << b << " " << random.trace();
  }
}

TEST(SoftDivision, EqualsHardwareNearTiesAndLimits) {
  testing::Random random;
  const float extremes[] = {0.0f,
                            std::numeric_limits<float>::denorm_min(),
                            3 * std::numeric_limits<float>::denorm_min(),
                            std::nextafter(std::numeric_limits<float>::min(), 0.0f),
                            std::numeric_limits<float>::min(),
                            1.0f,
                            std::nextafter(1.0f, 2.0f),
                            std::nextafter(2.0f, 1.0f),
                            3.0f,
                            16777215.0f,
                            std::numeric_limits<float>::max()};
  for (float a : extremes) {
    for (float b : extremes) {
      if (b == 0) continue;
      for (float sign : {1.0f, -1.0f}) {
        ASSERT_EQ(soft::div(soft::bits_of(a), soft::bits_of(sign * b)),
                  hardware_quotient(a, sign * b))
            << std::hexfloat << a << " / " << sign * b;
      }
    }
  }
  // Quotients next to short numbers and next to the middle between two floats.
  for (int i = 0; i < 500000; ++i) {
    const float b = random.real(1.0f, 2.0f), q = random.real(0.5f, 2.0f);
    const float a = static_cast<float>(static_cast<double>(b) * static_cast<double>(q));
    for (float n : {std::nextafter(a, 0.0f), a, std::nextafter(a, 8.0f)})
      ASSERT_EQ(soft::div(soft::bits_of(n), soft::bits_of(b)), hardware_quotient(n, b));
  }
}

TEST(SoftDivision, RoundsSubnormalQuotientsToEven) {
  testing::Random random;
  for (int i = 0; i < 300000; ++i) {
    const float a = random.scale(static_cast<int>(random.integer(-140, -100)));
    const float b = random.scale(static_cast<int>(random.integer(0, 45)));
    ASSERT_EQ(soft::div(soft::bits_of(a), soft::bits_of(b)), hardware_quotient(a, b))
        << std::hexfloat << a << " / " << b;
  }
}

}  // namespace
}  // namespace qrt::soft_float_test
