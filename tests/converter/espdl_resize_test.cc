// SPDX-License-Identifier: Apache-2.0
// ESP-DL's Resize against its arithmetic.
#include <gtest/gtest.h>

#include "kernels/integer_build.h"
#include "tests/support/espdl_arithmetic.h"

namespace qrt::testing::espdl_resize_test {
namespace {

// Every step of an interpolation is rounded: weights are thirds here, and exponents differ.
TEST(EspdlResize, LinearRoundsEveryStep) {
  if (is_integer_build()) GTEST_SKIP() << "this build leaves no layer in float";
  Random random;
  for (const std::string target : kTargets)
    for (const int64_t out : {10, 13}) {
      const std::vector<int64_t> x = random_values(random, EspdlType::INT8, 5);
      EspdlBuilder b(target);
      b.constant("sizes", EspdlType::INT64, {3}, std::vector<int64_t>{1, 1, out});
      b.constant("none", EspdlType::FLOAT, {0}, std::vector<float>{});
      auto& node =
          b.op("Resize", {b.input("x", EspdlType::INT8, {1, 5, 1}, -4), "", "none", "sizes"},
               {b.output("y", EspdlType::INT8, {1, out, 1}, -5)});
      set(node, "mode", "linear");
      set(node, "coordinate_transformation_mode", "half_pixel");
      std::vector<int64_t> expected;
      const float step = 1.0f / (static_cast<float>(out) / 5.0f);
      for (int64_t i = 0; i < out; ++i) {
        const float at = (static_cast<float>(i) + 0.5f) * step - 0.5f;
        auto low = static_cast<int64_t>(std::floor(at));
        float f = at - static_cast<float>(low);
        if (low < 0) low = 0, f = 0;
        if (low >= 4) low = 3, f = 1;
        const float p = static_cast<float>(x[static_cast<size_t>(low)]) / 16,
                    q = static_cast<float>(x[static_cast<size_t>(low) + 1]) / 16;
        expected.push_back(rounded(target, EspdlType::INT8, (p * (1.0f - f) + q * f) * 32.0f));
      }
      ASSERT_EQ(b.run({bytes_of(EspdlType::INT8, x)}),
                std::vector<Bytes>{bytes_of(EspdlType::INT8, expected)})
          << target << out << random.trace();
    }
}

// The step of align_corners is the reciprocal of a rounded scale.
TEST(EspdlResize, CornersHaveTheReciprocalOfAScale) {
  if (is_integer_build()) GTEST_SKIP() << "this build leaves no layer in float";
  Random random;
  for (const std::string target : kTargets)
    for (int64_t in = 2; in < 14; ++in)
      for (int64_t out = 2; out < 24; ++out) {
        const std::vector<int64_t> x =
            random_values(random, EspdlType::INT8, static_cast<size_t>(in));
        EspdlBuilder b(target);
        b.constant("sizes", EspdlType::INT64, {3}, std::vector<int64_t>{1, 1, out});
        b.constant("none", EspdlType::FLOAT, {0}, std::vector<float>{});
        auto& node =
            b.op("Resize", {b.input("x", EspdlType::INT8, {1, in, 1}, -4), "", "none", "sizes"},
                 {b.output("y", EspdlType::INT8, {1, out, 1}, -4)});
        set(node, "mode", "linear");
        set(node, "coordinate_transformation_mode", "align_corners");
        std::vector<int64_t> expected;
        const float step = 1.0f / (static_cast<float>(out - 1) / static_cast<float>(in - 1));
        for (int64_t i = 0; i < out; ++i) {
          const float at = static_cast<float>(i) * step;
          auto low = static_cast<int64_t>(std::floor(at));
          float f = at - static_cast<float>(low);
          if (low >= in - 1) low = in - 2, f = 1;
          const float p = static_cast<float>(x[static_cast<size_t>(low)]) / 16,
                      q = static_cast<float>(x[static_cast<size_t>(low) + 1]) / 16;
          expected.push_back(rounded(target, EspdlType::INT8, (p * (1.0f - f) + q * f) * 16.0f));
        }
        ASSERT_EQ(b.run({bytes_of(EspdlType::INT8, x)}),
                  std::vector<Bytes>{bytes_of(EspdlType::INT8, expected)})
            << target << " " << in << " " << out << random.trace();
      }
}

// Where a finer exponent makes numbers too large, the C code keeps their lowest bits, and the chips limit them.
TEST(EspdlResize, NearestWrapsInTheCCode) {
  for (const std::string target : kTargets)
    for (const int left : {1, 3, 8, 20}) {
      std::vector<int64_t> x, expected;
      for (int64_t q = -128; q < 128; ++q) x.push_back(q);
      for (const int64_t q : x)
        for (int twice = 0; twice < 2; ++twice)
          expected.push_back(target == "c" ? static_cast<int8_t>(q * (int64_t{1} << left))
                                           : limited(EspdlType::INT8, std::ldexp(q, left)));
      EspdlBuilder b(target);
      b.constant("scales", EspdlType::FLOAT, {3}, std::vector<float>{1, 1, 2});
      set(b.op("Resize", {b.input("x", EspdlType::INT8, {1, 256, 1}, 1), "", "scales"},
               {b.output("y", EspdlType::INT8, {1, 512, 1}, 1 - left)}),
          "mode", "nearest");
      ASSERT_EQ(b.run({bytes_of(EspdlType::INT8, x)}),
                std::vector<Bytes>{bytes_of(EspdlType::INT8, expected)})
          << target << left;
    }
}

}  // namespace
}  // namespace qrt::testing::espdl_resize_test
