// QDQ graphs of ONNX with powers of two, converted with --reference espdl-p4 and espdl-s3: the 21 operators of ESP-DL's quantisation
// specification, int8 and int16, against loops written from its arithmetic; and what is refused.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/support/onnx_builder.h"
#include "tests/support/random.h"

namespace qrt::testing {
namespace {

using Integers = std::vector<int64_t>;

Imported import_as(const std::string& bytes, const std::string& reference) {
  return import_file(bytes.data(), bytes.size(), [&](const std::string& path, Imported* i) {
    return convert::import_onnx_as_espdl(path, reference, &i->graph, &i->report);
  });
}

float scale_of(int exponent) { return std::ldexp(1.0f, exponent); }

// One graph of integers of type T, and its inputs.
template <class T>
struct Net {
  OnnxBuilder b{21};
  std::string reference;
  Random* random;
  std::vector<Bytes> inputs;

  Net(const std::string& r, Random* numbers) : reference(r), random(numbers) {}

  static int64_t limited(double v) {
    return static_cast<int64_t>(
        std::clamp<double>(v, std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
  }
  // v / 2^shift, half to even on the P4, half up on the S3.
  int64_t shifted(int64_t v, int shift) const {
    const double real = std::ldexp(static_cast<double>(v), -shift);
    return limited(reference == "espdl-p4" ? std::nearbyint(real) : std::floor(real + 0.5));
  }
  // A float32, where half up is a float32 sum.
  int64_t rounded(float v) const {
    return limited(
        static_cast<double>(reference == "espdl-p4" ? std::nearbyint(v) : std::floor(v + 0.5f)));
  }

  static Bytes bytes(const Integers& v) { return to_bytes(std::vector<T>(v.begin(), v.end())); }
  Integers numbers(const Dims& dims) {
    int64_t count = 1;
    for (const int64_t d : dims) count *= d;
    Integers v(static_cast<size_t>(count));
    random->fill(v, std::numeric_limits<T>::min(), std::numeric_limits<T>::max());
    return v;
  }
  std::string input(const Dims& dims, int exponent, Integers* v) {
    *v = numbers(dims);
    inputs.push_back(bytes(*v));
    return b.integer_input<T>(dims, scale_of(exponent), T{0});
  }
  // A quantised constant, with a scale for each index of `axis` where there are several exponents.
  std::string constant(const Dims& dims, const std::vector<int>& exponents, int axis, Integers* v) {
    *v = numbers(dims);
    const std::string c = b.constant(dims, std::vector<T>(v->begin(), v->end()));
    if (exponents.size() == 1) return b.dq(c, scale_of(exponents[0]), T{0});
    std::vector<float> scales;
    for (const int e : exponents) scales.push_back(scale_of(e));
    const auto n = static_cast<int64_t>(scales.size());
    return b.node("DequantizeLinear",
                  {c, b.constant({n}, scales), b.constant({n}, std::vector<T>(scales.size()))},
                  {{"axis", axis}});
  }
  Imported import() const { return import_as(b.bytes(), reference); }
  std::vector<Bytes> run() const {
    Imported imported = import();
    EXPECT_TRUE(imported.status.ok()) << imported.status.message() << imported.report.text(true);
    if (!imported.status.ok()) return {};
    EXPECT_EQ(imported.graph.reference.substr(0, 8), reference);
    record_support(b.model, imported.report, "ONNX as ESP-DL");
    return run_graph(std::move(imported.graph), true, inputs).outputs;
  }
  void output(const std::string& y, int exponent) {
    b.integer_output<T>(y, scale_of(exponent), T{0});
  }
  // y quantised with 2^exponent is `expected`.
  void check(const std::string& y, int exponent, const Integers& expected) {
    output(y, exponent);
    ASSERT_EQ(run(), std::vector<Bytes>{bytes(expected)}) << random->trace();
  }
};

size_t at(int64_t i) { return static_cast<size_t>(i); }

// --- the operators, one function each

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

// Of three tensors, with the output's exponent.
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

TEST(EspdlQdq, EveryOperatorOfTheSpecification) {
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

// --- what stands around them

TEST(EspdlQdq, FloatsAreQuantisedAtTheEdgesByTheTarget) {
  for (const std::string reference : {"espdl-p4", "espdl-s3"}) {
    OnnxBuilder b(13);
    b.output(b.dq(b.q(b.input({4}), 0.5f, int8_t{0}), 0.5f, int8_t{0}));
    Imported imported = import_as(b.bytes(), reference);
    ASSERT_TRUE(imported.status.ok()) << imported.report.text(true);
    const std::vector<float> x = {0.25f, 0.75f, -0.25f, 1000.0f};  // ties, and too great
    const std::vector<float> y = reference == "espdl-p4"
                                     ? std::vector<float>{0.0f, 1.0f, 0.0f, 63.5f}
                                     : std::vector<float>{0.5f, 1.0f, 0.0f, 63.5f};
    ASSERT_EQ(run_graph(std::move(imported.graph), true, {to_bytes(x)}).outputs,
              std::vector<Bytes>{to_bytes(y)});
  }
}

// An int8 part and an int16 part: a layer computes in the wider of its types, with one rounding.
TEST(EspdlQdq, LayersBetweenInt8AndInt16) {
  Random random;
  Net<int8_t> net("espdl-p4", &random);
  Integers x, w;
  const std::string in = net.input({2, 8}, -4, &x), weights = net.constant({8, 5}, {-7}, 0, &w);
  net.b.integer_output<int16_t>(net.b.node("Gemm", {in, weights}), scale_of(-8), int16_t{0});
  std::vector<int16_t> expected;
  for (int64_t r = 0; r < 2; ++r)
    for (int64_t o = 0; o < 5; ++o) {
      int64_t sum = 0;
      for (int64_t i = 0; i < 8; ++i) sum += x[at(r * 8 + i)] * w[at(i * 5 + o)];
      expected.push_back(static_cast<int16_t>(std::nearbyint(static_cast<double>(sum) / 8)));
    }
  ASSERT_EQ(net.run(), std::vector<Bytes>{to_bytes(expected)}) << random.trace();
}

TEST(EspdlQdq, SigmoidAndItsProductAreSwish) {
  Random random;
  Net<int8_t> net("espdl-s3", &random);
  Integers x, expected;
  const std::string in = net.input({1, 256}, -4, &x);
  for (const int64_t q : x) {
    const float t = static_cast<float>(q) / 16.0f;
    const auto e = static_cast<float>(std::exp(-static_cast<double>(t)));
    const auto s = static_cast<float>(1.0 / (1.0 + static_cast<double>(e)));
    expected.push_back(net.rounded(s * t * 32.0f));
  }
  const std::string y = net.b.node("Mul", {in, net.b.node("Sigmoid", {in})});
  net.check(y, -5, expected);
  const Imported imported = net.import();
  ASSERT_EQ(imported.became("Sigmoid2"), "fused into Mul") << imported.report.text(true);
}

TEST(EspdlQdq, ProductsOfTwoComputedMatrices) {
  Random random;
  for (const std::string reference : {"espdl-p4", "espdl-s3"}) {
    Net<int8_t> net(reference, &random);
    Integers a, c, expected;
    const std::string x = net.input({2, 3, 20}, -4, &a), y = net.input({2, 20, 18}, -5, &c);
    for (int64_t i = 0; i < 2; ++i)
      for (int64_t r = 0; r < 3; ++r)
        for (int64_t o = 0; o < 18; ++o) {
          int64_t sum = 0;
          for (int64_t k = 0; k < 20; ++k)
            sum += a[at((i * 3 + r) * 20 + k)] * c[at((i * 20 + k) * 18 + o)];
          expected.push_back(net.shifted(sum, 9));
        }
    net.check(net.b.node("MatMul", {x, y}), 0, expected);
  }
}

// DepthToSpace of both modes and SpaceToDepth, in ONNX's orders of channels.
TEST(EspdlQdq, BlocksOfPixelsAndChannels) {
  Random random;
  const int64_t k = 2, c = 3, h = 2, w = 4;
  for (const std::string mode : {"DCR", "CRD", "SpaceToDepth"}) {
    Net<int8_t> net("espdl-p4", &random);
    const bool to_depth = mode == "SpaceToDepth";
    const Dims deep{1, c * k * k, h, w}, wide{1, c, h * k, w * k};
    Integers x, expected(at(c * k * k * h * w));
    const std::string in = net.input(to_depth ? wide : deep, -4, &x);
    for (int64_t ch = 0; ch < c; ++ch)
      for (int64_t i = 0; i < k; ++i)
        for (int64_t j = 0; j < k; ++j)
          for (int64_t r = 0; r < h; ++r)
            for (int64_t s = 0; s < w; ++s) {
              const int64_t channel = mode == "CRD" ? (ch * k + i) * k + j : (i * k + j) * c + ch;
              const size_t of_deep = at((channel * h + r) * w + s),
                           of_wide = at((ch * h * k + r * k + i) * w * k + s * k + j);
              expected[to_depth ? of_deep : of_wide] = x[to_depth ? of_wide : of_deep];
            }
    net.check(to_depth
                  ? net.b.node("SpaceToDepth", {in}, {{"blocksize", k}})
                  : net.b.node("DepthToSpace", {in}, {{"blocksize", k}, {"mode", mode.c_str()}}),
              -4, expected);
  }
}

// Convolutions in a row, a residual sum, limits and a classifier: the layouts between them cancel.
TEST(EspdlQdq, ANetworkNeedsNoTransposesInside) {
  Random random;
  Net<int8_t> net("espdl-p4", &random);
  Integers unused;
  OnnxBuilder& b = net.b;
  const auto conv = [&](const std::string& x, int64_t in, int64_t out) {
    return b.node("Conv", {x, net.constant({out, in, 3, 3}, {-8}, 0, &unused)},
                  {{"pads", Dims{1, 1, 1, 1}}});
  };
  const std::string x = net.input({1, 3, 8, 8}, -6, &unused);
  const std::string first = b.qdq(b.node("Relu", {conv(x, 3, 8)}), scale_of(-3), int8_t{0});
  const std::string clipped = b.node("Clip", {conv(first, 8, 8), b.scalar(0.0f), b.scalar(6.0f)});
  const std::string second = b.qdq(clipped, scale_of(-3), int8_t{0});
  const std::string sum = b.qdq(b.node("Add", {first, second}), scale_of(-3), int8_t{0});
  const std::string pooled = b.qdq(b.node("GlobalAveragePool", {sum}), scale_of(-4), int8_t{0});
  const std::string flat = b.node("Flatten", {pooled});
  b.integer_output<int8_t>(b.node("Gemm", {flat, net.constant({8, 10}, {-7}, 0, &unused)}),
                           scale_of(-2), int8_t{0});
  Imported imported = net.import();
  ASSERT_TRUE(imported.status.ok()) << imported.report.text(true);
  ASSERT_EQ(imported.became("Conv8"), "Conv2D") << imported.report.text(true);
  const RunResult ran = run_graph(std::move(imported.graph), true, net.inputs);
  int transposes = 0;
  for (const std::string& kernel : ran.kernels)
    transposes += kernel.find("transpose") != std::string::npos;
  ASSERT_LE(transposes, 1);  // of the model's input
}

TEST(EspdlQdq, TheFirstScaleThatIsNoPowerOfTwoIsNamed) {
  OnnxBuilder b(13);
  const std::string x = b.qdq(b.input({1, 4}, "image"), 0.25f, int8_t{0});
  const std::string h = b.qdq(b.node("Relu", {x}), 0.3f, int8_t{0});
  b.output(b.qdq(b.node("Sigmoid", {h}), 0.1f, int8_t{0}));
  const Imported imported = import_as(b.bytes(), "espdl-p4");
  ASSERT_EQ(imported.status.code(), Code::kUnsupported);
  ASSERT_NE(imported.rule().find("0.3"), std::string::npos) << imported.report.text(true);
  ASSERT_NE(imported.rule().find("not a power of two"), std::string::npos);
  for (const convert::Finding& f : imported.report.findings())
    if (f.outcome == convert::Outcome::kRefused) {
      ASSERT_EQ(f.tensor, b.model.graph().node(2).output(0));  // the Relu's result
      break;
    }
}

TEST(EspdlQdq, WhatEspDlHasNotIsRefused) {
  const auto refused = [](const OnnxBuilder& b, const std::string& part) {
    const Imported imported = import_as(b.bytes(), "espdl-s3");
    ASSERT_EQ(imported.status.code(), Code::kUnsupported) << part;
    ASSERT_NE(imported.report.text(true).find(part), std::string::npos)
        << part << "\n"
        << imported.report.text(true);
  };
  {
    OnnxBuilder b(13);
    b.output(b.qdq(b.input({4}), 0.5f, uint8_t{128}));
    refused(b, "zero point");
  }
  {
    OnnxBuilder b(13);
    b.output(b.qdq(b.input({4}), 0.5f, uint8_t{0}));
    refused(b, "ESP-DL has int8 and int16");
  }
  {
    OnnxBuilder b(13);
    const std::string x = b.integer_input<int8_t>({4}, 0.5f, 0);
    b.output(b.node("Sigmoid", {x}));
    refused(b, "is not quantised");
  }
  {
    OnnxBuilder b(13);
    const std::string x = b.integer_input<int8_t>({4}, 0.5f, 0);
    b.integer_output<int8_t>(b.node("Erf", {x}), 0.5f, 0);
    refused(b, "no form of this operator");
  }
  {  // the sum of integers of a greater exponent might saturate before it is added
    OnnxBuilder b(13);
    const std::string x = b.integer_input<int8_t>({4}, 0.5f, 0),
                      y = b.integer_input<int8_t>({4}, 0.25f, 0);
    b.integer_output<int8_t>(b.node("Add", {x, y}), 0.25f, 0);
    refused(b, "adds integers of one scale");
  }
  {  // a bias is no operand
    OnnxBuilder b(13);
    const std::string x = b.integer_input<int8_t>({4}, 0.5f, 0);
    const std::string c = b.node(
        "DequantizeLinear", {b.constant({4}, std::vector<int32_t>{1, 2, 3, 400}), b.scalar(0.5f)});
    b.integer_output<int8_t>(b.node("Mul", {x, c}), 0.25f, 0);
    refused(b, "is a constant");
  }
  {  // as many rows as columns, but one value for each row
    OnnxBuilder b(13);
    const std::string x = b.integer_input<int8_t>({2, 2}, 0.5f, 0);
    const std::string w =
        b.dq<int8_t>(b.constant({2, 2}, std::vector<int8_t>{1, 2, 3, 4}), 0.5f, 0);
    const std::string c = b.constant({2, 1}, std::vector<float>{10, 20});
    b.integer_output<int8_t>(b.node("Gemm", {x, w, c}), 1.0f, 0);
    refused(b, "differs from row to row");
  }
  {  // another domain's Relu is not ONNX's
    OnnxBuilder b(13);
    const std::string x = b.integer_input<int8_t>({2, 2}, 0.5f, 0);
    const std::string w =
        b.dq<int8_t>(b.constant({2, 2}, std::vector<int8_t>{1, 2, 3, 4}), 0.5f, 0);
    const std::string y = b.node("Relu", {b.node("Gemm", {x, w})}, {}, "someone");
    b.integer_output<int8_t>(y, 1.0f, 0);
    refused(b, "no form of this operator");
  }
  {  // the parts of a Split with scales of their own
    OnnxBuilder b(11);
    const std::string x = b.integer_input<int8_t>({4}, 0.5f, 0);
    const std::string first = b.node("Split", {b.node("Sigmoid", {x})}, {{"axis", 0}});
    b.graph().mutable_node(b.graph().node_size() - 1)->add_output("second");
    b.integer_output<int8_t>(first, 0.25f, 0);
    b.integer_output<int8_t>("second", 0.5f, 0);
    refused(b, "is not quantised");
  }
  {  // per channel is the P4's
    OnnxBuilder b(13);
    const std::string x = b.integer_input<int8_t>({1, 2}, 0.5f, 0);
    const std::string w = b.node("DequantizeLinear",
                                 {b.constant({2, 2}, std::vector<int8_t>{1, 2, 3, 4}),
                                  b.constant({2}, std::vector<float>{0.5f, 0.25f}),
                                  b.constant({2}, std::vector<int8_t>{0, 0})},
                                 {{"axis", 1}});
    b.integer_output<int8_t>(b.node("Gemm", {x, w}), 1.0f, 0);
    refused(b, "only the ESP32-P4");
  }
}

// Of a small network, bytes turned: refused or run, but never a crash.
TEST(EspdlQdq, DamagedFilesAreRefused) {
  Random random;
  Net<int8_t> net("espdl-p4", &random);
  Integers unused;
  OnnxBuilder& b = net.b;
  const std::string x = net.input({1, 3, 4, 4}, -6, &unused);
  const std::string y =
      b.qdq(b.node("Relu", {b.node("Conv", {x, net.constant({4, 3, 3, 3}, {-8}, 0, &unused)})}),
            0.125f, int8_t{0});
  b.integer_output<int8_t>(
      b.node("Reshape", {b.node("MaxPool", {y}, {{"kernel_shape", Dims{2, 2}}}),
                         b.constant({2}, Dims{1, -1})}),
      0.125f, 0);
  const std::string bytes = b.bytes();
  int accepted = 0;
  for (int i = 0; i < 500; ++i) {
    std::string damaged = bytes;
    const int turns = static_cast<int>(random.integer(1, 4));
    for (int k = 0; k < turns; ++k)
      damaged[at(random.integer(0, static_cast<int64_t>(bytes.size()) - 1))] ^=
          static_cast<char>(1 << random.integer(0, 7));
    const Imported imported = import_as(damaged, "espdl-p4");
    accepted += imported.status.ok();
    ASSERT_NE(imported.status.code(), Code::kInternal)
        << imported.status.message() << random.trace();
  }
  ASSERT_GT(accepted, 0);
}

}  // namespace
}  // namespace qrt::testing
