// SPDX-License-Identifier: Apache-2.0
// ONNX Runtime's float functions: bit patterns computed by ONNX Runtime 1.30 (x86-64, FMA) at
// sixteen arguments.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <vector>

#include "converter/import/onnx/arithmetic/ort_math.h"
#include "kernels/float_fallback/float_fallback.h"
#include "kernels/integer_build.h"

namespace qrt::convert::from_onnx::onnx_lut_test {
namespace {

constexpr float kArguments[16] = {-20.5f, -7.3f, -2.25f, -1.0f, -0.3f, -0.01f, 0.0f,  0.02f,
                                  0.46f,  1.0f,  1.7f,   3.9f,  6.5f,  8.99f,  11.0f, 19.0f};

void expect_bits(const std::function<float(float)>& f, const std::vector<uint32_t>& expected) {
  for (size_t i = 0; i < 16; ++i) {
    const float y = f(kArguments[i]);
    uint32_t bits;
    memcpy(&bits, &y, 4);
    ASSERT_EQ(bits, expected[i]) << "at " << kArguments[i];
  }
}

TEST(OnnxLut, LogisticIsOnnxRuntimes) {
  expect_bits(ort_logistic, {0x00000000, 0x3a30f800, 0x3dc34690, 0x3e89b2b1, 0x3ed9e2ac, 0x3efeb853,
                             0x3f000000, 0x3f0147ab, 0x3f1cee7f, 0x3f3b26a8, 0x3f5874f7, 0x3f7aebbf,
                             0x3f7f9d9e, 0x3f7ff7d5, 0x3f7ffee8, 0x3f800000});
}

TEST(OnnxLut, TanhIsOnnxRuntimes) {
  expect_bits(ort_tanh, {0xbf800000, 0xbf7fffef, 0xbf7a5fec, 0xbf42f7d6, 0xbe9526ed, 0xbc23d5a3,
                         0x00000000, 0x3ca3d171, 0x3edc33ff, 0x3f42f7d6, 0x3f6f76f8, 0x3f7fca51,
                         0x3f7fffb4, 0x3f800000, 0x3f800000, 0x3f800000});
}

TEST(OnnxLut, ExpAndErfAreOnnxRuntimes) {
  expect_bits(ort_exp, {0x30abd1d8, 0x3a3116a2, 0x3dd7db8d, 0x3ebc5ab2, 0x3f3da643, 0x3f7d73e8,
                        0x3f800000, 0x3f8295f5, 0x3fcac2f0, 0x402df854, 0x40af2a94, 0x42459c1d,
                        0x44264911, 0x45fab3a4, 0x4769e224, 0x4d2a36c8});
  expect_bits(ort_erf, {0xbf800000, 0xbf800000, 0xbf7fa024, 0xbf57bb3d, 0xbea841c5, 0xbc38de13,
                        0x00000000, 0x3cb8d957, 0x3ef824c0, 0x3f57bb3d, 0x3f7bd9b1, 0x3f7fffff,
                        0x3f800000, 0x3f800000, 0x3f800000, 0x3f800000});
}

TEST(OnnxLut, HardFormsAreOnnxRuntimes) {
  expect_bits([](float x) { return ort_hard_sigmoid(x, 0.2f, 0.5f); },
              {0x00000000, 0x00000000, 0x3d4cccc8, 0x3e99999a, 0x3ee147ae, 0x3efef9db, 0x3f000000,
               0x3f010625, 0x3f178d50, 0x3f333333, 0x3f570a3e, 0x3f800000, 0x3f800000, 0x3f800000,
               0x3f800000, 0x3f800000});
  expect_bits(ort_hard_swish,
              {0x80000000, 0x80000000, 0xbe900000, 0xbeaaaaaa, 0xbe0a3d71, 0xbba34b3b, 0x00000000,
               0x3c24eea9, 0x3e87d108, 0x3f2aaaab, 0x3faa740e, 0x4079999a, 0x40d00000, 0x410fd70a,
               0x41300000, 0x41980000});
  expect_bits([](float x) { return ort_leaky_relu(x, 0.01f); },
              {0xbe51eb85, 0xbd958106, 0xbcb851eb, 0xbc23d70a, 0xbb449ba6, 0xb8d1b717, 0x00000000,
               0x3ca3d70a, 0x3eeb851f, 0x3f800000, 0x3fd9999a, 0x4079999a, 0x40d00000, 0x410fd70a,
               0x41300000, 0x41980000});
}

TEST(OnnxLut, SoftsignAndGeluAreOnnxRuntimes) {
  expect_bits(ort_softsign, {0xbf7417d0, 0xbf612819, 0xbf313b14, 0xbf000000, 0xbe6c4ec6, 0xbc2237c3,
                             0x00000000, 0x3ca0a0a0, 0x3ea150a9, 0x3f000000, 0x3f212f68, 0x3f4bc14e,
                             0x3f5ddddf, 0x3f665fd7, 0x3f6aaaab, 0x3f733333});
  expect_bits(ort_gelu, {0x80000000, 0x80000000, 0xbce15244, 0xbe227686, 0xbdeac157, 0xbba28863,
                         0x00000000, 0x3c26744f, 0x3e9f8107, 0x3f57625e, 0x3fcfe70f, 0x40799687,
                         0x40d00000, 0x410fd70a, 0x41300000, 0x41980000});
}

TEST(OnnxLut, ExpBasedFormsAreOnnxRuntimes) {
  expect_bits([](float x) { return ort_elu(x, 1.5f); },
              {0xbfc00000, 0xbfbfdecc, 0xbfabc36a, 0xbf72bbfa, 0xbec70d37, 0xbc748900, 0x00000000,
               0x3ca3d70a, 0x3eeb851f, 0x3f800000, 0x3fd9999a, 0x4079999a, 0x40d00000, 0x410fd70a,
               0x41300000, 0x41980000});
  expect_bits(
      [](float x) { return ort_selu(x, 1.67326319217681884765625f, 1.05070102214813232421875f); },
      {0xbfe10966, 0xbfe0e27b, 0xbfc95169, 0xbf8e4016, 0xbee94d3b, 0xbc8f4e42, 0x00000000,
       0x3cac2598, 0x3ef7760b, 0x3f867d5f, 0x3fe4a1ef, 0x408320a3, 0x40da8bba, 0x41172201,
       0x4138ec63, 0x419fb4e1});
  expect_bits(ort_softplus, {0x30abd1d8, 0x3a310754, 0x3dcd3919, 0x3ea063d6, 0x3f0dea39, 0x3f302b3c,
                             0x3f317218, 0x3f3404ba, 0x3f7309bb, 0x3fa818f6, 0x3fef139d, 0x407ae1ef,
                             0x40d00c4f, 0x410fd78d, 0x41300012, 0x41980000});
  expect_bits(ort_mish, {0xb2dc24db, 0xbba189e2, 0xbe661b32, 0xbe9b576f, 0xbe1ac2a8, 0xbbc38f15,
                         0x00000000, 0x3c46b3f3, 0x3eae2a8d, 0x3f5d7718, 0x3fcf7554, 0x40796752,
                         0x40cfffc2, 0x410fd709, 0x41300000, 0x41980000});
}

TEST(OnnxLut, QuantizeRoundsHalfToEvenBeforeTheZeroPoint) {
  EXPECT_EQ(quantize_ort(0.5f, 1.0f, 1, 0, 255), 1);
  EXPECT_EQ(quantize_ort(1.5f, 1.0f, 1, 0, 255), 3);
  EXPECT_EQ(quantize_ort(-2.5f, 1.0f, 0, -128, 127), -2);
}

TEST(OnnxLut, QuantizeSaturatesAndSendsNanToTheLowestValue) {
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(quantize_ort(infinity, 1.0f, 7, 0, 255), 255);
  EXPECT_EQ(quantize_ort(-infinity, 1.0f, 7, -128, 127), -128);
  EXPECT_EQ(quantize_ort(1e30f, 1e-30f, 7, 0, 255), 255);
  EXPECT_EQ(quantize_ort(std::nanf(""), 1.0f, 7, 0, 255), 0);
}

TEST(OnnxLut, SoftmaxTableEndsAtTheLargestExponentThatCannotOverflowASum) {
  float table[256];
  ort_softmax_table(0.1f, 10, table);
  EXPECT_NEAR(std::log(table[255]), std::log(3.4e38 / 10) - 5, 1e-3);
  for (int i = 1; i < 256; ++i) ASSERT_NEAR(table[i] / table[i - 1], std::exp(0.1), 1e-5);
}

// Functions that run in float have the bits of those that make tables, on every instruction set.
TEST(OnnxLut, KernelsOfFloatsHaveTheSameBits) {
  if (is_integer_build()) GTEST_SKIP() << "this build leaves no layer in float";
  std::vector<float> x;
  for (uint32_t bits = 0; bits < 0xffff0000u; bits += 40503) {
    float v;
    memcpy(&v, &bits, 4);
    x.push_back(v);
  }
  for (int i = -200000; i <= 200000; ++i) x.push_back(static_cast<float>(i) * 1e-4f);
  const struct {
    FloatUnary f;
    float (*table)(float);
  } kPairs[] = {{FloatUnary::kOrtSigmoid, ort_logistic}, {FloatUnary::kOrtTanh, ort_tanh}};
  size_t count;
  const FloatKernel* kernels = float_kernels(&count);
  for (size_t k = 0; k < count; ++k) {
    if (!has(detected_isas() | static_cast<IsaSet>(Isa::kScalar), kernels[k].isa)) continue;
    SCOPED_TRACE(kernels[k].unary_name);
    for (const auto& [f, table] : kPairs) {
      std::vector<float> y(x.size());
      kernels[k].unary(f, x.data(), y.data(), x.size());
      for (size_t i = 0; i < x.size(); ++i) {
        const float want = table(x[i]);
        if (std::isnan(want) ? !std::isnan(y[i]) : memcmp(&y[i], &want, 4) != 0)
          ADD_FAILURE() << x[i] << ": " << y[i] << ", expected " << want;
      }
    }
  }
}

}  // namespace
}  // namespace qrt::convert::from_onnx::onnx_lut_test
