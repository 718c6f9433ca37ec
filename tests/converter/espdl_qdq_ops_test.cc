// SPDX-License-Identifier: Apache-2.0
// The 21 operators of ESP-DL's quantisation specification as QDQ graphs of ONNX with powers of two, int8 and int16, against
// loops written from its arithmetic.
#include <algorithm>

#include "tests/support/qdq_net.h"

namespace qrt::testing::espdl_qdq_ops_test {
namespace {

using namespace qdq;  // NOLINT

template <class T>
void check_sum(const std::string& reference, Random* random, bool subtract) {
  Net<T> net(reference, random);
  Integers a, c, expected;
  // The finer operand is brought to the output's exponent first.
  const std::string x = net.input({2, 3, 4}, -5, &a), y = net.input({3, 4}, -4, &c);
  for (size_t i = 0; i < a.size(); ++i) {
    const int64_t left = net.shifted(a[i], 1), right = c[i % c.size()];
    expected.push_back(net.limited(static_cast<double>(subtract ? left - right : left + right)));
  }
  net.check(net.b.node(subtract ? "Sub" : "Add", {x, y}), -4, expected);
}
template <class T>
void add_2d(const std::string& reference, Random* random) {
  check_sum<T>(reference, random, false);
}
template <class T>
void sub_2d(const std::string& reference, Random* random) {
  check_sum<T>(reference, random, true);
}

template <class T>
void mul_2d(const std::string& reference, Random* random) {
  for (const int out : {-7, -2, 6}) {
    Net<T> net(reference, random);
    Integers a, c, expected;
    const std::string x = net.input({2, 30}, -5, &a), y = net.constant({1, 30}, {-4}, 0, &c);
    for (size_t i = 0; i < a.size(); ++i)
      expected.push_back(net.shifted(a[i] * c[i % 30], out + 9));
    net.check(net.b.node("Mul", {x, y}), out, expected);
  }
}

// Checks Max or Min of three tensors, with the output's exponent.
template <class T>
void check_extreme(const std::string& reference, Random* random, bool maximum) {
  Net<T> net(reference, random);
  Integers a, c, d, expected;
  const Names names = {net.input({2, 20}, -5, &a), net.input({2, 20}, -4, &c),
                       net.constant({20}, {-3}, 0, &d)};
  for (size_t i = 0; i < a.size(); ++i) {
    const auto values = {net.shifted(a[i], 1), c[i], net.shifted(d[i % 20], -1)};
    expected.push_back(maximum ? std::max(values) : std::min(values));
  }
  net.check(net.b.node(maximum ? "Max" : "Min", names), -4, expected);
}
template <class T>
void max_2d(const std::string& reference, Random* random) {
  check_extreme<T>(reference, random, true);
}
template <class T>
void min_2d(const std::string& reference, Random* random) {
  check_extreme<T>(reference, random, false);
}

template <class T>
void check_conv(const std::string& reference, Random* random, bool depthwise, bool per_channel,
                bool relu) {
  Net<T> net(reference, random);
  const int64_t n = depthwise ? 6 : 7, c = depthwise ? 6 : 5, depth = depthwise ? 1 : c, h = 6,
                w = 5;
  const bool is_int16 = sizeof(T) == 2;
  const int e = is_int16 ? -15 : -7, out = is_int16 ? -4 : 0;
  std::vector<int> exponents(per_channel ? at(n) : 1, e);
  for (size_t i = 0; i < exponents.size(); ++i) exponents[i] -= static_cast<int>(i % 3);
  const auto exponent_of = [&](int64_t o) { return exponents[per_channel ? at(o) : 0]; };
  Integers x, weights, expected;
  std::vector<float> bias;
  Names names = {net.input({2, c, h, w}, -4, &x),
                 net.constant({n, depth, 3, 3}, exponents, 0, &weights)};
  Integers rounded_bias;
  for (int64_t o = 0; o < n; ++o) {
    bias.push_back(static_cast<float>(random->integer(-40000, 40000)) / 64.0f);
    const double real = std::ldexp(static_cast<double>(bias.back()), 4 - exponent_of(o));
    rounded_bias.push_back(static_cast<int64_t>(reference == "espdl-p4" ? std::nearbyint(real)
                                                                        : std::floor(real + 0.5)));
  }
  names.push_back(net.b.constant({n}, bias));
  const int64_t oh = 3, ow = 5;  // strides 2 and 1, pads 1
  for (int64_t image = 0; image < 2; ++image)
    for (int64_t o = 0; o < n; ++o)
      for (int64_t p = 0; p < oh; ++p)
        for (int64_t q = 0; q < ow; ++q) {
          int64_t sum = rounded_bias[at(o)];
          for (int64_t i = 0; i < depth; ++i)
            for (int64_t t = 0; t < 9; ++t) {
              const int64_t r = 2 * p + t / 3 - 1, s = q + t % 3 - 1, ch = depthwise ? o : i;
              if (r < 0 || r >= h || s < 0 || s >= w) continue;
              sum +=
                  x[at(((image * c + ch) * h + r) * w + s)] * weights[at((o * depth + i) * 9 + t)];
            }
          const int64_t v = net.shifted(sum, out - exponent_of(o) + 4);
          expected.push_back(relu ? std::max<int64_t>(v, 0) : v);
        }
  std::string y = net.b.node(
      "Conv", names,
      {{"group", depthwise ? n : 1}, {"strides", Dims{2, 1}}, {"pads", Dims{1, 1, 1, 1}}});
  if (relu) y = net.b.node("Relu", {y});
  net.check(y, out, expected);
}
template <class T>
void conv_2d(const std::string& reference, Random* random) {
  check_conv<T>(reference, random, false, false, false);
  check_conv<T>(reference, random, false, false, true);
  if (reference == "espdl-p4") check_conv<T>(reference, random, false, true, true);
}
template <class T>
void depthwise_conv_2d(const std::string& reference, Random* random) {
  check_conv<T>(reference, random, true, false, true);
  if (reference == "espdl-p4") check_conv<T>(reference, random, true, true, false);
}

// Gemm with and without transB, and MatMul with the Add of a bias.
template <class T>
void fully_connected(const std::string& reference, Random* random) {
  const int64_t m = 3, k = 10, n = 9;
  for (const std::string op : {"Gemm", "GemmT", "MatMul"})
    for (const bool per_channel : {false, true}) {
      if (per_channel && reference != "espdl-p4") continue;
      Net<T> net(reference, random);
      const bool turned = op == "GemmT";
      const int e = sizeof(T) == 2 ? -15 : -7, out = sizeof(T) == 2 ? -4 : -1;
      std::vector<int> exponents(per_channel ? at(n) : 1, e);
      for (size_t i = 0; i < exponents.size(); ++i) exponents[i] -= static_cast<int>(i % 3);
      Integers x, w, expected;
      const std::string left = net.input({m, k}, -4, &x);
      const std::string right =
          net.constant(turned ? Dims{n, k} : Dims{k, n}, exponents, turned ? 0 : 1, &w);
      std::vector<int32_t> bias(at(n));
      std::vector<float> scales;
      random->fill(bias, -20000, 20000);
      for (const int exponent : exponents) scales.push_back(scale_of(exponent - 4));
      const std::string ints = net.b.constant({n}, bias);
      const std::string b =
          per_channel
              ? net.b.node("DequantizeLinear", {ints, net.b.constant({n}, scales)}, {{"axis", 0}})
              : net.b.node("DequantizeLinear", {ints, net.b.scalar(scales[0])});
      for (int64_t r = 0; r < m; ++r)
        for (int64_t o = 0; o < n; ++o) {
          int64_t sum = bias[at(o)];
          for (int64_t i = 0; i < k; ++i)
            sum += x[at(r * k + i)] * w[at(turned ? o * k + i : i * n + o)];
          expected.push_back(net.shifted(sum, out - exponents[per_channel ? at(o) : 0] + 4));
        }
      net.check(op == "MatMul" ? net.b.node("Add", {net.b.node("MatMul", {left, right}), b})
                               : net.b.node("Gemm", {left, right, b}, {{"transB", turned ? 1 : 0}}),
                out, expected);
    }
}

// The sum over a window times fl32(fl32(s_in * fl32(1 / area)) / s_out).
template <class T>
void avg_pool_2d(const std::string& reference, Random* random) {
  Net<T> net(reference, random);
  const int64_t c = 3, h = 5, w = 6;
  Integers x, expected;
  const std::string in = net.input({1, c, h, w}, -4, &x);
  const float scale = scale_of(-4) * (1.0f / 9.0f) * scale_of(5);
  for (int64_t ch = 0; ch < c; ++ch)
    for (int64_t p = 0; p < h; ++p)
      for (int64_t q = 0; q < w; ++q) {
        int64_t sum = 0;
        for (int64_t t = 0; t < 9; ++t) {
          const int64_t r = p + t / 3 - 1, s = q + t % 3 - 1;
          if (r >= 0 && r < h && s >= 0 && s < w) sum += x[at((ch * h + r) * w + s)];
        }
        expected.push_back(net.rounded(static_cast<float>(sum) * scale));
      }
  net.check(
      net.b.node(
          "AveragePool", {in},
          {{"kernel_shape", Dims{3, 3}}, {"pads", Dims{1, 1, 1, 1}}, {"count_include_pad", 1}}),
      -5, expected);
}

template <class T>
void check_global(const std::string& reference, Random* random, bool maximum) {
  Net<T> net(reference, random);
  const int64_t c = 5, area = 35;
  Integers x, expected;
  const std::string in = net.input({2, c, 5, 7}, -4, &x);
  const float scale = scale_of(-4) * (1.0f / static_cast<float>(area)) * scale_of(6);
  for (int64_t ch = 0; ch < 2 * c; ++ch) {
    int64_t sum = 0, most = std::numeric_limits<T>::min();
    for (int64_t i = 0; i < area; ++i) {
      sum += x[at(ch * area + i)];
      most = std::max(most, x[at(ch * area + i)]);
    }
    expected.push_back(maximum ? most : net.rounded(static_cast<float>(sum) * scale));
  }
  net.check(net.b.node(maximum ? "GlobalMaxPool" : "GlobalAveragePool", {in}), maximum ? -4 : -6,
            expected);
}
template <class T>
void global_average_pool_2d(const std::string& reference, Random* random) {
  check_global<T>(reference, random, false);
}
template <class T>
void global_max_pool_2d(const std::string& reference, Random* random) {
  check_global<T>(reference, random, true);
}

template <class T>
void max_pool_2d(const std::string& reference, Random* random) {
  Net<T> net(reference, random);
  Integers x, expected;
  const std::string in = net.input({1, 2, 4, 6}, -4, &x);
  for (int64_t ch = 0; ch < 2; ++ch)
    for (int64_t p = 0; p < 2; ++p)
      for (int64_t q = 0; q < 3; ++q) {
        const int64_t first = (ch * 4 + 2 * p) * 6 + 2 * q;
        expected.push_back(
            std::max({x[at(first)], x[at(first + 1)], x[at(first + 6)], x[at(first + 7)]}));
      }
  net.check(net.b.node("MaxPool", {in}, {{"kernel_shape", Dims{2, 2}}, {"strides", Dims{2, 2}}}),
            -4, expected);
}

template <class T>
void leaky_relu(const std::string& reference, Random* random) {
  Net<T> net(reference, random);
  Integers x, expected;
  const std::string in = net.input({4, 60}, -4, &x);
  for (const int64_t q : x) {
    const float v = static_cast<float>(q) * scale_of(-4) * scale_of(5);
    expected.push_back(net.rounded(q < 0 ? v * 0.3f : v));
  }
  net.check(net.b.node("LeakyRelu", {in}, {{"alpha", 0.3f}}), -5, expected);
}

// Floor, but half to even on the P4's vector unit, which has no int16 form.
template <class T>
void prelu(const std::string& reference, Random* random) {
  for (const bool one : {false, true}) {
    Net<T> net(reference, random);
    const int64_t c = 3, area = 20;
    Integers x, alpha, expected;
    const std::string in = net.input({2, c, 4, 5}, -4, &x),
                      slope = net.constant(one ? Dims{1} : Dims{c, 1, 1}, {-7}, 0, &alpha);
    for (size_t i = 0; i < x.size(); ++i) {
      const double v = static_cast<double>(x[i] * alpha[one ? 0 : i / area % c]) / 128;
      const bool even = reference == "espdl-p4" && sizeof(T) == 1;
      expected.push_back(x[i] >= 0 ? x[i] : net.limited(even ? std::nearbyint(v) : std::floor(v)));
    }
    net.check(net.b.node("PRelu", {in, slope}), -4, expected);
  }
}

template <class T>
void relu(const std::string& reference, Random* random) {
  for (const int out : {-4, -6}) {
    Net<T> net(reference, random);
    Integers x, expected;
    const std::string in = net.input({4, 60}, -4, &x);
    for (const int64_t q : x) expected.push_back(net.shifted(std::max<int64_t>(q, 0), out + 4));
    net.check(net.b.node("Relu", {in}), out, expected);
  }
}

template <class T>
void concat(const std::string& reference, Random* random) {
  Net<T> net(reference, random);
  Integers a, c, expected;
  const std::string x = net.input({1, 2, 3, 2}, -4, &a), y = net.input({1, 1, 3, 2}, -5, &c);
  expected = a;
  for (const int64_t q : c) expected.push_back(net.shifted(q, 1));
  net.check(net.b.node("Concat", {x, y}, {{"axis", 1}}), -4, expected);
}

// Operators that leave every value where it is.
template <class T>
void check_shape(const std::string& reference, Random* random, const std::string& op,
                 const Dims& from, const Dims& constant, const Dims& to) {
  Net<T> net(reference, random);
  Integers x;
  Names names = {net.input(from, -4, &x)};
  if (!constant.empty())
    names.push_back(net.b.constant({static_cast<int64_t>(constant.size())}, constant));
  net.output(net.b.node(op, names), -4);
  Imported imported = net.import();
  ASSERT_TRUE(imported.status.ok()) << imported.report.text(true);
  const Shape& made = imported.graph.values[imported.graph.outputs[0]].type.shape;
  ASSERT_EQ(Dims(made.begin(), made.end()), to);
  ASSERT_EQ(net.run(), std::vector<Bytes>{net.bytes(x)});
}
template <class T>
void expand_dims(const std::string& reference, Random* random) {
  check_shape<T>(reference, random, "Unsqueeze", {2, 3}, {0, 3}, {1, 2, 3, 1});
}
template <class T>
void flatten(const std::string& reference, Random* random) {
  check_shape<T>(reference, random, "Flatten", {2, 3, 4}, {}, {2, 12});
}
template <class T>
void reshape(const std::string& reference, Random* random) {
  check_shape<T>(reference, random, "Reshape", {2, 3, 4}, {0, -1, 2}, {2, 6, 2});
}
template <class T>
void squeeze(const std::string& reference, Random* random) {
  check_shape<T>(reference, random, "Squeeze", {2, 1, 3, 1}, {1, 3}, {2, 3});
}

template <class T>
void transpose(const std::string& reference, Random* random) {
  Net<T> net(reference, random);
  Integers x, expected;
  const std::string in = net.input({2, 3, 4}, -4, &x);
  for (int64_t k = 0; k < 4; ++k)
    for (int64_t i = 0; i < 2; ++i)
      for (int64_t j = 0; j < 3; ++j) expected.push_back(x[at((i * 3 + j) * 4 + k)]);
  net.check(net.b.node("Transpose", {in}, {{"perm", Dims{2, 0, 1}}}), -4, expected);
}

// The specification, by its own names.
struct Operation {
  const char* name;
  void (*int8)(const std::string& reference, Random* random);
  void (*int16)(const std::string& reference, Random* random);
};
#define OPERATION(name, function) \
  { name, function<int8_t>, function<int16_t> }
constexpr Operation kSpecification[] = {
    OPERATION("Add2D", add_2d),
    OPERATION("AvgPool2D", avg_pool_2d),
    OPERATION("Concat", concat),
    OPERATION("Conv2D", conv_2d),
    OPERATION("DepthwiseConv2D", depthwise_conv_2d),
    OPERATION("ExpandDims", expand_dims),
    OPERATION("Flatten", flatten),
    OPERATION("FullyConnected", fully_connected),
    OPERATION("GlobalAveragePool2D", global_average_pool_2d),
    OPERATION("GlobalMaxPool2D", global_max_pool_2d),
    OPERATION("LeakyReLU", leaky_relu),
    OPERATION("Max2D", max_2d),
    OPERATION("MaxPool2D", max_pool_2d),
    OPERATION("Min2D", min_2d),
    OPERATION("Mul2D", mul_2d),
    OPERATION("PReLU", prelu),
    OPERATION("ReLU", relu),
    OPERATION("Reshape", reshape),
    OPERATION("Squeeze", squeeze),
    OPERATION("Sub2D", sub_2d),
    OPERATION("Transpose", transpose),
};
#undef OPERATION

TEST(EspdlQdqOps, EveryOperatorOfTheSpecification) {
  ASSERT_EQ(std::size(kSpecification), 21u);
  Random random;
  for (const std::string reference : {"espdl-p4", "espdl-s3"})
    for (const Operation& operation : kSpecification)
      for (const bool is_int16 : {false, true}) {
        SCOPED_TRACE(reference + " " + operation.name + (is_int16 ? " int16" : " int8"));
        (is_int16 ? operation.int16 : operation.int8)(reference, &random);
        if (::testing::Test::HasFatalFailure()) return;
      }
}

}  // namespace
}  // namespace qrt::testing::espdl_qdq_ops_test
