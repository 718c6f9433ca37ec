// SPDX-License-Identifier: Apache-2.0
// ESP-DL's operators against loops written from its arithmetic, for every target: int8 and int16,
// per tensor and per channel, shifts of both directions.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "kernels/integer_build.h"
#include "tests/support/espdl_arithmetic.h"

namespace qrt::testing::espdl_ops_test {
namespace {

// A filter [n][taps][c] as the file holds it, in blocks or, for the C code, row by row.
struct Packed {
  std::vector<int64_t> values;
  std::string layout;
};
Packed packed(const std::string& target, EspdlType type, const std::vector<int64_t>& w, int64_t n,
              int64_t taps, int64_t c, bool depthwise) {
  if (target == "c") {
    if (!depthwise) return {w, "NHWC"};
    std::vector<int64_t> turned;
    for (int64_t t = 0; t < taps; ++t)
      for (int64_t o = 0; o < n; ++o) turned.push_back(w[static_cast<size_t>(o * taps + t)]);
    return {turned, "HWCN"};
  }
  const int64_t block = is_int16(type) ? 8 : 16;
  Packed p;
  p.layout = is_int16(type) ? "(N/8)HWC8" : "(N/16)HWC16";
  if (n % block != 0) p.layout += "_UNALIGNED";
  const auto at = [&](int64_t o, int64_t t, int64_t i) {
    return w[static_cast<size_t>((o * taps + t) * c + i)];
  };
  for (int64_t first = 0; first + block <= n; first += block)
    for (int64_t t = 0; t < taps; ++t)
      for (int64_t i = 0; i < c; ++i)
        for (int64_t o = first; o < first + block; ++o) p.values.push_back(at(o, t, i));
  const int64_t rest = n / block * block;
  if (depthwise) {
    for (int64_t t = 0; t < taps; ++t)
      for (int64_t o = rest; o < n; ++o) p.values.push_back(at(o, t, 0));
  } else {
    for (int64_t o = rest; o < n; ++o)
      for (int64_t t = 0; t < taps; ++t)
        for (int64_t i = 0; i < c; ++i) p.values.push_back(at(o, t, i));
  }
  return p;
}

struct ConvCase {
  int64_t n = 18, c = 3, group = 1, stride = 1, pad = 1;
  bool relu = false, per_channel = false, has_bias = true;
  int out_exponent = -5;
};

// Checks a kernel of 3 x 3 on 5 x 4 pixels, or one filter per channel with group = c = n.
void check_conv(const std::string& target, EspdlType type, const ConvCase& k, Random& random) {
  const int64_t h = 5, w = 4, taps = 9, depth = k.group > 1 ? 1 : k.c;
  const std::vector<int64_t> x = random_values(random, type, static_cast<size_t>(h * w * k.c));
  const std::vector<int64_t> weights =
      random_values(random, type, static_cast<size_t>(k.n * taps * depth));
  std::vector<int64_t> exponents(k.per_channel ? static_cast<size_t>(k.n) : 1,
                                 is_int16(type) ? -15 : -7),
      bias_exponents, bias;
  for (size_t i = 0; i < exponents.size(); ++i) exponents[i] -= static_cast<int64_t>(i % 4);
  for (int64_t e : exponents) bias_exponents.push_back(e - 4);
  for (int64_t o = 0; o < k.n; ++o) bias.push_back(random.integer(-100000, 100000));

  EspdlBuilder b(target);
  const Packed p = packed(target, type, weights, k.n, taps, depth, k.group > 1);
  const std::vector<int64_t> dims =
      k.group > 1 ? std::vector<int64_t>{3, 3, k.n, 1} : std::vector<int64_t>{3, 3, k.c, k.n};
  std::vector<std::string> inputs = {b.input("x", type, {1, h, w, k.c}, -4),
                                     constant(b, "w", type, dims, p.values, exponents, p.layout)};
  if (k.has_bias && is_int16(type))
    inputs.push_back(b.constant("b", EspdlType::INT64, {k.n}, bias, bias_exponents));
  else if (k.has_bias)
    inputs.push_back(b.constant("b", EspdlType::INT32, {k.n},
                                std::vector<int32_t>(bias.begin(), bias.end()), bias_exponents));
  const int64_t oh = (h + 2 * k.pad - 3) / k.stride + 1, ow = (w + 2 * k.pad - 3) / k.stride + 1;
  auto& node = b.op("Conv", inputs, {b.output("y", type, {1, oh, ow, k.n}, k.out_exponent)});
  set(node, "group", k.group);
  set(node, "pads", std::vector<int64_t>(4, k.pad));
  set(node, "strides", {k.stride, k.stride});
  set(node, "activation", k.relu ? "Relu" : "Linear");

  std::vector<int64_t> expected;
  for (int64_t y = 0; y < oh; ++y)
    for (int64_t z = 0; z < ow; ++z)
      for (int64_t o = 0; o < k.n; ++o) {
        int64_t sum = k.has_bias ? bias[static_cast<size_t>(o)] : 0;
        for (int64_t t = 0; t < taps; ++t)
          for (int64_t i = 0; i < depth; ++i) {
            const int64_t r = y * k.stride + t / 3 - k.pad, s = z * k.stride + t % 3 - k.pad;
            if (r < 0 || r >= h || s < 0 || s >= w) continue;
            const int64_t channel = k.group > 1 ? o : i;
            sum += x[static_cast<size_t>((r * w + s) * k.c + channel)] *
                   weights[static_cast<size_t>((o * taps + t) * depth + i)];
          }
        const int shift = k.out_exponent -
                          static_cast<int>(exponents[k.per_channel ? static_cast<size_t>(o) : 0]) +
                          4;
        const int64_t v = shifted(target, type, static_cast<double>(sum), shift);
        expected.push_back(k.relu ? std::max<int64_t>(v, 0) : v);
      }
  ASSERT_EQ(b.run({bytes_of(type, x)}), std::vector<Bytes>{bytes_of(type, expected)})
      << random.trace();
}

TEST(EspdlConv, SumsAreShiftedByTheTarget) {
  Random random;
  for_all([&](const std::string& target, EspdlType type) {
    for (int out : {-5, 0, 4}) {
      ConvCase k;
      k.out_exponent = out;
      k.relu = out == 0;
      k.stride = out == 4 ? 2 : 1;
      k.has_bias = out != -5;
      check_conv(target, type, k, random);
      k.group = k.c = k.n = 21;
      check_conv(target, type, k, random);
    }
  });
}

// A left shift saturates.
TEST(EspdlConv, AFineOutputSaturates) {
  Random random;
  for_all([&](const std::string& target, EspdlType type) {
    ConvCase k;
    k.out_exponent = -40;
    check_conv(target, type, k, random);
  });
}

// Biases at the limits of int32, whose sums are beyond them, give outputs at their limit throughout.
TEST(EspdlConv, BiasesAtTheirLimitsSaturate) {
  const auto gemm = [](int32_t bias, int out_exponent, bool relu) {
    EspdlBuilder b("esp32p4");
    std::vector<int8_t> w(16 * 16, 100);
    for (size_t i = 0; i < w.size(); i += 2) w[i] = -100;
    std::vector<int32_t> biases(16, 5);
    biases[3] = bias;
    auto& node = b.op("Gemm",
                      {b.input("x", EspdlType::INT8, {1, 16}, -4),
                       b.constant("w", EspdlType::INT8, {1, 1, 16, 16}, w, {-7}, "(N/16)HWC16"),
                       b.constant("b", EspdlType::INT32, {16}, biases, {-11})},
                      {b.output("y", EspdlType::INT8, {1, 16}, out_exponent)});
    set(node, "alpha", 1.0f);
    set(node, "activation", relu ? "Relu" : "Linear");
    return b;
  };
  const std::vector<Bytes> x = {Bytes(16, 0x80)};
  for (const bool relu : {false, true}) {
    EXPECT_EQ(gemm(INT32_MAX, 0, relu).run(x)[0][3], 127);
    EXPECT_EQ(gemm(INT32_MIN, 0, relu).run(x)[0][3], relu ? 0 : 0x80);
  }
  // 2^31 / 2^25 is 64: sums decide.
  EXPECT_EQ(gemm(INT32_MAX, 14, false).import().status.code(), Code::kUnsupported);
}

TEST(EspdlConv, ExponentsPerChannelAreTheP4s) {
  Random random;
  for (const EspdlType type : kBoth) {
    ConvCase k;
    k.per_channel = true;
    k.out_exponent = is_int16(type) ? -4 : 0;
    check_conv("esp32p4", type, k, random);
    k.group = k.c = k.n = 20;
    check_conv("esp32p4", type, k, random);
  }
}

// A Gemm multiplies every row along the last dimension and keeps the dimensions in front of it.
TEST(EspdlGemm, KeepsTheDimensionsBeforeTheRows) {
  Random random;
  const std::vector<int64_t> x = random_values(random, EspdlType::INT8, 2 * 3 * 4),
                             w = random_values(random, EspdlType::INT8, 5 * 4);
  std::vector<int64_t> expected;
  for (size_t row = 0; row < 6; ++row)
    for (size_t n = 0; n < 5; ++n) {
      int64_t sum = 0;
      for (size_t k = 0; k < 4; ++k) sum += x[row * 4 + k] * w[n * 4 + k];
      expected.push_back(shifted("c", EspdlType::INT8, static_cast<double>(sum), 9));
    }
  EspdlBuilder b("c");
  const std::string weights = constant(b, "w", EspdlType::INT8, {1, 1, 4, 5}, w, {-7}, "NHWC");
  b.op("Gemm", {b.input("x", EspdlType::INT8, {2, 3, 4}, -4), weights},
       {b.output("y", EspdlType::INT8, {2, 3, 5}, -2)});
  ASSERT_EQ(b.run({bytes_of(EspdlType::INT8, x)}),
            std::vector<Bytes>{bytes_of(EspdlType::INT8, expected)});
  const Imported imported = b.import();
  ASSERT_EQ(imported.graph.values[imported.graph.outputs[0]].type.shape, (Shape{2, 3, 5}));
}

// The report says of each layer for the S3, and the file's reference, whether 20 bits hold every sum.
TEST(EspdlConv, TheS3sAccumulatorsAreProven) {
  for (const int64_t weight : {1, 100}) {
    EspdlBuilder b("esp32s3");
    const std::vector<int8_t> w(16 * 64, static_cast<int8_t>(weight));
    auto& node = b.op("Gemm",
                      {b.input("x", EspdlType::INT8, {1, 64}, -4),
                       b.constant("w", EspdlType::INT8, {1, 1, 64, 16}, w, {-7}, "(N/16)HWC16")},
                      {b.output("y", EspdlType::INT8, {1, 16}, -2)});
    set(node, "alpha", 1.0f);
    const Imported imported = b.import();
    ASSERT_TRUE(imported.status.ok()) << imported.status.message();
    const bool is_proven = weight == 1;
    ASSERT_EQ(imported.became("Gemm0").find("not proven") == std::string::npos, is_proven)
        << imported.became("Gemm0");
    ASSERT_EQ(imported.graph.reference,
              is_proven ? "espdl-s3" : "espdl-s3 (ESP_S3_ACC20_UNPROVEN)");
  }
}

// Either side of a product [3, 10] times [10, n] may be constant or computed; a computed one is
// packed by operators in front of it.
TEST(EspdlMatMul, BothSidesOfTheProduct) {
  Random random;
  for_all([&](const std::string& target, EspdlType type) {
    for (const bool is_constant : {true, false}) {
      const int64_t m = 3, k = 10, n = 20;
      const std::vector<int64_t> x = random_values(random, type, static_cast<size_t>(m * k));
      const std::vector<int64_t> w = random_values(random, type, static_cast<size_t>(n * k));
      const Packed p = packed(target, type, w, n, 1, k, false);
      EspdlBuilder b(target);
      std::vector<Bytes> inputs = {bytes_of(type, x)};
      std::vector<std::string> names = {b.input("x", type, {m, k}, -4)};
      const int e = is_int16(type) ? -15 : -7, out = is_int16(type) ? -5 : -1;
      if (is_constant) {
        names.push_back(constant(b, "w", type, {k, n}, p.values, {e}, p.layout));
      } else {
        names.push_back(b.input("w", type, {k, n}, e));
        inputs.push_back(bytes_of(type, p.values));
      }
      set(b.op("MatMul", names, {b.output("y", type, {m, n}, out)}), "activation", "Linear");
      std::vector<int64_t> expected;
      for (int64_t r = 0; r < m; ++r)
        for (int64_t o = 0; o < n; ++o) {
          int64_t sum = 0;
          for (int64_t i = 0; i < k; ++i)
            sum += x[static_cast<size_t>(r * k + i)] * w[static_cast<size_t>(o * k + i)];
          expected.push_back(shifted(target, type, static_cast<double>(sum), out - e + 4));
        }
      ASSERT_EQ(b.run(inputs), std::vector<Bytes>{bytes_of(type, expected)}) << random.trace();
    }
  });
}

// Checks y = f(q) for every int8, and for int16 over all of its range.
template <class F>
void check_unary(const std::string& op, const std::string& target, EspdlType type, int in, int out,
                 const F& f, const std::vector<std::pair<std::string, float>>& attributes = {}) {
  std::vector<int64_t> x, expected;
  for (int64_t q = least(type); q <= most(type); q += is_int16(type) ? 37 : 1) x.push_back(q);
  for (int64_t q : x) expected.push_back(f(q));
  EspdlBuilder b(target);
  const auto n = static_cast<int64_t>(x.size());
  auto& node = b.op(op, {b.input("x", type, {1, n}, in)}, {b.output("y", type, {1, n}, out)});
  for (const auto& [name, value] : attributes) set(node, name, value);
  ASSERT_EQ(b.run({bytes_of(type, x)}), std::vector<Bytes>{bytes_of(type, expected)}) << op;
}

TEST(EspdlUnary, FunctionsAreTablesOfFloats) {
  const auto sigmoid = [](float x) {
    return static_cast<float>(
        1 / (1 + static_cast<double>(static_cast<float>(std::exp(-static_cast<double>(x))))));
  };
  for_all([&](const std::string& target, EspdlType type) {
    const int in = is_int16(type) ? -12 : -5, out = is_int16(type) ? -14 : -6;
    const auto check = [&](const std::string& op, auto g,
                           const std::vector<std::pair<std::string, float>>& attributes = {}) {
      check_unary(
          op, target, type, in, out,
          [&](int64_t q) {
            return rounded(target, type,
                           std::ldexp(g(std::ldexp(static_cast<float>(q), in)), -out));
          },
          attributes);
    };
    check("Sigmoid", sigmoid);
    check("Tanh", [&](float x) { return 2.0f * sigmoid(2.0f * x) - 1.0f; });
    check("Swish", [&](float x) { return sigmoid(x) * x; });
    check("HardSigmoid", [](float x) { return std::max(0.0f, std::min(1.0f, 0.25f * x + 0.5f)); },
          {{"alpha", 0.25f}, {"beta", 0.5f}});
    check("LeakyRelu", [](float x) { return x < 0 ? x * 0.25f : x; }, {{"alpha", 0.25f}});
    check("Relu", [](float x) { return std::max(x, 0.0f); });
    check("Exp", [](float x) { return static_cast<float>(std::exp(static_cast<double>(x))); });
  });
}

TEST(EspdlUnary, RequantizingIsAShift) {
  for_all([&](const std::string& target, EspdlType type) {
    for (int out : {-9, -4, -2, 3})
      check_unary("RequantizeLinear", target, type, -4, out, [&](int64_t q) {
        return shifted(target, type, static_cast<double>(q), out + 4);
      });
  });
}

// A table of int16 with a step gives the nearest entry, with the target's rounding of ties.
TEST(EspdlUnary, TablesOfInt16TakeTheNearestEntry) {
  for (const std::string target : {"esp32p4", "esp32s3"}) {
    std::vector<int16_t> entries;
    for (int i = 0; i <= 256; ++i) entries.push_back(static_cast<int16_t>(i * 100 - 12800));
    EspdlBuilder b(target);
    b.constant("t", EspdlType::INT16, {257}, entries);
    auto& node = b.op("LUT", {b.input("x", EspdlType::INT16, {4}, -4)},
                      {b.output("y", EspdlType::INT16, {4}, -4)});
    set(node, "lut", "t");
    // u = q + 32768 in steps of 256: a tie between entries 0 and 1, and between 1 and 2.
    const std::vector<int16_t> x = {-32768, -32768 + 128, -32768 + 384, 32767};
    const bool even = target == "esp32p4";
    const std::vector<int16_t> expected = {entries[0], entries[even ? 0 : 1], entries[2],
                                           entries[256]};
    ASSERT_EQ(b.run({to_bytes(x)}), std::vector<Bytes>{to_bytes(expected)}) << target;
  }
}

// Returns what ESP-DL's code for a target makes of q, written from its sources: the vector code for int8 rounds both sides
// and brings both to the output's exponent, all other code rounds the negative side down and leaves the rest.
int64_t prelu_of(const std::string& target, EspdlType type, int64_t q, int64_t alpha, int in,
                 int out, int alpha_exponent) {
  const bool is_vector =
      !is_int16(type) && (target == "esp32p4" || (target == "esp32s3" && in != out));
  const int shift = out - in - alpha_exponent;
  if (is_vector && q > 0) return shifted(target, type, static_cast<double>(q), out - in);
  if (q >= 0) return q;
  if (is_vector) return shifted(target, type, static_cast<double>(q * alpha), shift);
  return limited(type, std::floor(std::ldexp(static_cast<double>(q * alpha), -shift)));
}

EspdlBuilder prelu_of_8x5(const std::string& target, EspdlType type,
                          const std::vector<int64_t>& alpha, int in, int out, int alpha_exponent) {
  EspdlBuilder b(target);
  b.op("PRelu",
       {b.input("x", type, {8, 5}, in), constant(b, "a", type, {5, 1, 1}, alpha, {alpha_exponent})},
       {b.output("y", type, {8, 5}, out)});
  return b;
}

TEST(EspdlUnary, PRelu) {
  Random random;
  for_all([&](const std::string& target, EspdlType type) {
    for (const int out : {-4, -3, -1, -5, -7, -10}) {
      // Slopes below 1, so that no product leaves 16 bits, which the S3 would not limit.
      const int in = -4, alpha_exponent = is_int16(type) ? -15 + (out - in < 0 ? out - in : 0) : -7;
      const std::vector<int64_t> x = random_values(random, type, 40);
      std::vector<int64_t> alpha = random_values(random, type, 5);
      for (int64_t& a : alpha) a = std::max(a, -most(type));
      std::vector<int64_t> expected;
      for (size_t i = 0; i < x.size(); ++i)
        expected.push_back(prelu_of(target, type, x[i], alpha[i % 5], in, out, alpha_exponent));
      ASSERT_EQ(prelu_of_8x5(target, type, alpha, in, out, alpha_exponent).run({bytes_of(type, x)}),
                std::vector<Bytes>{bytes_of(type, expected)})
          << target << (is_int16(type) ? " int16 " : " int8 ") << out << random.trace();
    }
  });
  // Every int8 times every slope, halves among them, for the rounding and the limits.
  std::vector<int64_t> x(256 * 5);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<int64_t>(i / 5) - 128;
  for (const std::string target : kTargets)
    for (const int out : {-4, -2, -6})
      for (int64_t first = -128; first < 128; first += 5) {
        std::vector<int64_t> alpha, expected;
        for (int64_t i = 0; i < 5; ++i) alpha.push_back(std::min<int64_t>(first + i, 127));
        for (size_t i = 0; i < x.size(); ++i)
          expected.push_back(prelu_of(target, EspdlType::INT8, x[i], alpha[i % 5], -4, out, -6));
        EspdlBuilder b(target);
        b.op("PRelu",
             {b.input("x", EspdlType::INT8, {256, 5}, -4),
              constant(b, "a", EspdlType::INT8, {5, 1, 1}, alpha, {-6})},
             {b.output("y", EspdlType::INT8, {256, 5}, out)});
        ASSERT_EQ(b.run({bytes_of(EspdlType::INT8, x)}),
                  std::vector<Bytes>{bytes_of(EspdlType::INT8, expected)})
            << target << " " << out << " " << first;
      }
}

// PRelu is refused, or a note says so, where the chip's registers or the C code's types are too small.
TEST(EspdlUnary, PReluOfWhatTheRuntimeCannotCompute) {
  struct Case {
    const char* target;
    EspdlType type;
    int out, alpha_exponent;
    int64_t alpha;
    const char* rule;
  };
  const std::vector<Case> cases = {
      {"esp32p4", EspdlType::INT8, -11, -20, 1,
       "the output's exponent is 7 less than the input's, and the chip's factor for it has 8 bits"},
      {"esp32s3", EspdlType::INT8, 28, 0, 1,
       "the output's exponent is 32 greater than the input's, and the chip shifts by at most 31"},
      {"esp32p4", EspdlType::INT8, -4, -32, 1,
       "the product of input and slope is to be shifted by 32 to the right, and the runtime shifts "
       "by at most 31"},
      {"esp32p4", EspdlType::INT8, -4, 1, 1,
       "the product of input and slope is to be shifted to the left, by 1, and the chip shifts to "
       "the right only"},
      {"esp32s3", EspdlType::INT16, -4, 1, 1,
       "the product of input and slope is to be shifted to the left, by 1, and the chip shifts to "
       "the right only"},
      {"c", EspdlType::INT8, -4, 16, 1,
       "the product of input and slope leaves the runtime's 16 bits"},
      {"esp32s3", EspdlType::INT16, -4, -14, 16385,
       "the greatest product of input and slope leaves 16 bits, of which the chip keeps the low "
       "ones alone"},
      {"c", EspdlType::INT16, -4, 16, -2,
       "the greatest product of input and slope leaves the runtime's 32 bits"},
  };
  for (const Case& c : cases) {
    const Imported imported =
        prelu_of_8x5(c.target, c.type, {c.alpha, 0, 0, 0, 0}, -4, c.out, c.alpha_exponent).import();
    ASSERT_EQ(imported.status.code(), Code::kUnsupported) << c.rule;
    ASSERT_EQ(imported.rule(), c.rule);
  }
  // Slopes of 0 may have any exponent, and 32 bits may just hold what 16 do not.
  const std::vector<int64_t> x(40, -32768), zero(5, 0);
  ASSERT_EQ(prelu_of_8x5("esp32s3", EspdlType::INT16, zero, -4, -4, -90)
                .run({bytes_of(EspdlType::INT16, x)}),
            std::vector<Bytes>{Bytes(80, 0)});
  ASSERT_EQ(prelu_of_8x5("c", EspdlType::INT16, std::vector<int64_t>(5, 1), -4, -4, 16)
                .run({bytes_of(EspdlType::INT16, x)}),
            std::vector<Bytes>{bytes_of(EspdlType::INT16, x)});
}

// For the S3 a note says whose bits a PRelu has: its vector code rounds otherwise than the C code,
// whose bits equal exponents have.
TEST(EspdlUnary, PReluOfTheS3SaysWhoseBitsItHas) {
  const std::vector<int64_t> alpha = {1, 2, 3, 4, 5};
  const Imported same = prelu_of_8x5("esp32s3", EspdlType::INT8, alpha, -4, -4, -7).import(),
                 other = prelu_of_8x5("esp32s3", EspdlType::INT8, alpha, -4, -3, -7).import();
  ASSERT_EQ(same.graph.reference, "espdl-s3 (ESP_S3_ACC20_UNPROVEN)");
  ASSERT_EQ(other.graph.reference, "espdl-s3");
}

// A filter with a single output channel, which fills no block of 16, is read as [h, w, c], whatever
// its layout is called.
TEST(EspdlConv, AFilterOfOneOutputInBlocksOf16) {
  Random random;
  for_all([&](const std::string& target, EspdlType type) {
    if (target == "c") return;
    const std::vector<int64_t> x = random_values(random, type, 2 * 3 * 4),
                               w = random_values(random, type, 4);
    for (const bool names_rest : {false, true}) {
      std::vector<int64_t> expected;
      for (size_t i = 0; i < 6; ++i) {
        double sum = 0;
        for (size_t c = 0; c < 4; ++c) sum += static_cast<double>(x[i * 4 + c] * w[c]);
        expected.push_back(shifted(target, type, sum, is_int16(type) ? 14 : 6));
      }
      EspdlBuilder b(target);
      const std::string layout = is_int16(type) ? "(N/8)HWC8" : "(N/16)HWC16";
      b.op("Conv",
           {b.input("x", type, {1, 2, 3, 4}, -4),
            constant(b, "w", type, {1, 1, 4, 1}, w, {is_int16(type) ? -15 : -7},
                     layout + (names_rest ? "_UNALIGNED" : ""))},
           {b.output("y", type, {1, 2, 3, 1}, -5)});
      ASSERT_EQ(b.run({bytes_of(type, x)}), std::vector<Bytes>{bytes_of(type, expected)})
          << target << random.trace();
    }
  });
}

// The runtime's mode DCR is right where it makes as many channels as a block has rows.
TEST(EspdlMove, DepthToSpaceOfModeDcr) {
  for (const int64_t c : {2, 3}) {
    EspdlBuilder b("esp32p4");
    auto& node = b.op("DepthToSpace", {b.input("x", EspdlType::INT8, {1, 1, 1, 4 * c}, -4)},
                      {b.output("y", EspdlType::INT8, {1, 2, 2, c}, -4)});
    set(node, "blocksize", int64_t{2});
    set(node, "mode", "DCR");
    if (c == 3) {
      ASSERT_NE(b.import().rule().find("mode is DCR"), std::string::npos);
      continue;
    }
    const std::vector<int8_t> x = {1, 2, 3, 4, 5, 6, 7, 8};  // [i, j, channel], as it is read
    ASSERT_EQ(b.run({to_bytes(x)}), std::vector<Bytes>{to_bytes(x)});
  }
}

// Averages divide by the whole window, also at the borders.
TEST(EspdlPool, AveragesDivideByTheWindow) {
  Random random;
  for_all([&](const std::string& target, EspdlType type) {
    for (const int64_t kernel : {2, 3}) {
      const int64_t h = 5, w = 6, c = 3, pad = kernel - 2, oh = h + 2 * pad - kernel + 1,
                    ow = w + 2 * pad - kernel + 1;
      const std::vector<int64_t> x = random_values(random, type, static_cast<size_t>(h * w * c));
      const float scale = std::ldexp(1.0f / static_cast<float>(kernel * kernel), 1);
      std::vector<int64_t> expected;
      for (int64_t y = 0; y < oh; ++y)
        for (int64_t z = 0; z < ow; ++z)
          for (int64_t o = 0; o < c; ++o) {
            int64_t sum = 0;
            for (int64_t r = std::max<int64_t>(y - pad, 0); r < std::min(y - pad + kernel, h); ++r)
              for (int64_t s = std::max<int64_t>(z - pad, 0); s < std::min(z - pad + kernel, w);
                   ++s)
                sum += x[static_cast<size_t>((r * w + s) * c + o)];
            expected.push_back(rounded(target, type, static_cast<float>(sum) * scale));
          }
      EspdlBuilder b(target);
      auto& node = b.op("AveragePool", {b.input("x", type, {1, h, w, c}, -4)},
                        {b.output("y", type, {1, oh, ow, c}, -5)});
      set(node, "kernel_shape", {kernel, kernel});
      set(node, "pads", std::vector<int64_t>(4, pad));
      set(node, "count_include_pad", int64_t{1});
      ASSERT_EQ(b.run({bytes_of(type, x)}), std::vector<Bytes>{bytes_of(type, expected)})
          << kernel << random.trace();
    }
  });
}

// Large averages are planned in little time: a product's rounding is compared with the quotient's where
// outputs begin, not at every sum. A small file may have a thousand pools over images of 100,000 pixels.
TEST(EspdlPool, ManyLargeAveragesTakeLittleTime) {
  EspdlBuilder b("esp32p4");
  const std::string x = b.input("x", EspdlType::INT8, {1, 350, 370, 1}, -4);
  for (int i = 0; i < 1000; ++i)
    b.op("GlobalAveragePool", {x},
         {b.output("y" + std::to_string(i), EspdlType::INT8, {1, 1, 1, 1}, -5 - i % 7)});
  const Imported imported = b.import();
  ASSERT_TRUE(imported.status.ok()) << imported.status.message();
  EXPECT_EQ(imported.graph.outputs.size(), 1000u);
}

TEST(EspdlPool, Reductions) {
  Random random;
  for_all([&](const std::string& target, EspdlType type) {
    const int64_t pixels = 21, c = 4;
    const std::vector<int64_t> x = random_values(random, type, static_cast<size_t>(pixels * c));
    for (const std::string op :
         {"ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin", "GlobalAveragePool"}) {
      const int out = op == "ReduceMax" || op == "ReduceMin" ? -4 : op == "ReduceSum" ? 0 : -6;
      std::vector<int64_t> expected;
      for (int64_t o = 0; o < c; ++o) {
        int64_t sum = 0, hi = least(type), lo = most(type);
        for (int64_t p = 0; p < pixels; ++p) {
          const int64_t v = x[static_cast<size_t>(p * c + o)];
          sum += v, hi = std::max(hi, v), lo = std::min(lo, v);
        }
        const auto f = static_cast<float>(sum);
        expected.push_back(op == "ReduceMax"   ? hi
                           : op == "ReduceMin" ? lo
                           : op == "ReduceSum" ? shifted(target, type, static_cast<double>(sum), 4)
                           : op == "ReduceMean"
                               ? rounded(target, type, f / 21.0f * 4.0f)
                               : rounded(target, type, f * (std::ldexp(1.0f / 21.0f, -4) * 64.0f)));
      }
      EspdlBuilder b(target);
      std::vector<std::string> inputs = {b.input("x", type, {1, 3, 7, c}, -4)};
      if (op != "GlobalAveragePool")
        inputs.push_back(b.constant("axes", EspdlType::INT64, {2}, std::vector<int64_t>{1, 2}));
      auto& node = b.op(op, inputs, {b.output("y", type, {1, 1, 1, c}, out)});
      if (op != "GlobalAveragePool") set(node, "keepdims", int64_t{1});
      ASSERT_EQ(b.run({bytes_of(type, x)}), std::vector<Bytes>{bytes_of(type, expected)})
          << op << random.trace();
    }
  });
}

TEST(EspdlPool, TheGreatestOfAWindow) {
  for (const EspdlType type : kBoth) {
    EspdlBuilder b;
    auto& node = b.op("MaxPool", {b.input("x", type, {1, 2, 2, 1}, -4)},
                      {b.output("y", type, {1, 1, 1, 1}, -4)});
    set(node, "kernel_shape", {2, 2});
    ASSERT_EQ(b.run({bytes_of(type, {-3, 5, -128, 4})}), std::vector<Bytes>{bytes_of(type, {5})});
  }
}

TEST(EspdlMove, DataMovement) {
  for (const EspdlType type : kBoth) {
    EspdlBuilder b;
    b.op("Concat",
         {b.input("x", type, {1, 3, 2}, -4), constant(b, "k", type, {1, 1, 2}, {7, 8}, {-4})},
         {b.value("c", type, {1, 4, 2}, -4)});
    set(*b.model.graph->node.back(), "axis", int64_t{-2});
    b.constant("starts", EspdlType::INT64, {1}, std::vector<int64_t>{-3});
    b.constant("ends", EspdlType::INT64, {1}, std::vector<int64_t>{1000});
    b.constant("axes", EspdlType::INT64, {1}, std::vector<int64_t>{1});
    b.op("Slice", {"c", "starts", "ends", "axes"}, {b.value("s", type, {1, 3, 2}, -4)});
    set(b.op("Transpose", {"s"}, {b.value("t", type, {1, 2, 3}, -4)}), "perm", {0, -1, -2});
    b.constant("pads", EspdlType::INT64, {6}, std::vector<int64_t>{0, 0, 1, 0, 0, 0});
    b.op("Pad", {"t", "pads"}, {b.value("p", type, {1, 2, 4}, -4)});
    set(b.op("Flatten", {"p"}, {b.output("y", type, {1, 8}, -4)}), "axis", int64_t{1});
    ASSERT_EQ(b.run({bytes_of(type, {1, 2, 3, 4, 5, 6})}),
              std::vector<Bytes>{bytes_of(type, {0, 3, 5, 7, 0, 4, 6, 8})});
  }
}

// A streaming cache keeps the last two frames of a run, zeros at first, in front of those of the next run.
TEST(EspdlMove, StreamingCachesKeepFramesBetweenRuns) {
  for (const EspdlType type : kBoth) {
    EspdlBuilder b;
    auto& node = b.op("StreamingCache", {b.input("x", type, {1, 1, 2}, -4)},
                      {b.output("y", type, {1, 3, 2}, -4)});
    set(node, "window_size", int64_t{3});
    set(node, "frame_axis", int64_t{1});
    Imported imported = b.import();
    ASSERT_TRUE(imported.status.ok()) << imported.status.message();
    ASSERT_TRUE(convert::run_passes(&imported.graph, nullptr).ok());
    Bytes file;
    ASSERT_TRUE(convert::write_model(imported.graph, &file).ok());
    qrt_model* model = nullptr;
    qrt_session* session = nullptr;
    ASSERT_EQ(qrt_model_load_memory(file.data(), file.size(), nullptr, &model, nullptr), QRT_OK);
    ASSERT_EQ(qrt_session_create(model, nullptr, &session, nullptr), QRT_OK);
    for (const int round : {0, 1}) {
      if (round == 1) {
        ASSERT_EQ(qrt_session_reset(session), QRT_OK);
      }
      std::vector<int64_t> frames(4, 0);
      for (int64_t frame = 1; frame <= 5; ++frame) {
        frames.insert(frames.end(), {frame, -frame});
        const Bytes x = bytes_of(type, {frame, -frame});
        ASSERT_EQ(qrt_session_set_input_bytes(session, 0, x.data(), x.size(), nullptr), QRT_OK);
        ASSERT_EQ(qrt_session_run(session, nullptr), QRT_OK);
        Bytes y(3 * x.size());
        ASSERT_EQ(qrt_session_get_output_bytes(session, 0, y.data(), y.size(), nullptr), QRT_OK);
        ASSERT_EQ(y, bytes_of(type, {frames.end() - 6, frames.end()})) << frame;
      }
    }
    qrt_session_destroy(session);
    qrt_model_destroy(model);
  }
}

}  // namespace
}  // namespace qrt::testing::espdl_ops_test
