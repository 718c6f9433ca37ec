// SPDX-License-Identifier: Apache-2.0
// Every operator of MRT/CVM models against its definition in the CVM's formal backend, written here
// as plain loops, at 8, 16 and more bits, on every instruction set.
#include <gtest/gtest.h>

#include <functional>

#include "tests/support/cvm_runner.h"
#include "tests/support/random.h"

namespace qrt::testing::cvm_ops_test {
namespace {

using Dims = CvmBuilder::Dims;
using Values = std::vector<int32_t>;

int64_t count(const Dims& d) {
  int64_t n = 1;
  for (int64_t v : d) n *= v;
  return n;
}

int32_t alpha(int precision) { return static_cast<int32_t>((int64_t{1} << (precision - 1)) - 1); }

Values random_of(Random* random, const Dims& shape, int precision) {
  return random_values<int32_t>(random, count(shape), -alpha(precision), alpha(precision));
}

// Returns the index of element i of a shape.
Dims index_of(int64_t i, const Dims& shape) {
  Dims at(shape.size());
  for (size_t d = shape.size(); d-- > 0; i /= shape[d]) at[d] = i % shape[d];
  return at;
}

int64_t element(const Dims& at, const Dims& shape) {
  int64_t i = 0;
  for (size_t d = 0; d < shape.size(); ++d) i = i * shape[d] + at[d];
  return i;
}

// y[at] = f(at).
Values table_of(const Dims& shape, const std::function<int32_t(const Dims&)>& f) {
  Values y;
  for (int64_t i = 0; i < count(shape); ++i) y.push_back(f(index_of(i, shape)));
  return y;
}

std::string attribute(const std::string& name, const std::string& value) {
  return "\"" + name + "\": \"" + value + "\"";
}
std::string attribute(const std::string& name, int64_t value) {
  return attribute(name, std::to_string(value));
}

int32_t shift_right(int32_t x, int bits, int precision) {
  const int64_t v = ((int64_t{x} >> (bits - 1)) + 1) >> 1, limit = alpha(precision);
  return static_cast<int32_t>(std::clamp(v, -limit, limit));
}

class CvmOps : public ::testing::Test {
 protected:
  // Checks one operator on the input; `out` is its shape.
  void check_unary(const std::string& function, const std::string& attributes, const Dims& shape,
                   int precision, const Dims& out, const Values& x, const Values& expected) {
    CvmBuilder b;
    const int data = b.data(shape, precision);
    const auto got = run_cvm(b.build({b.op(function, {data}, out, attributes)}), x, precision);
    ASSERT_EQ(got.size(), 1u);
    ASSERT_EQ(got[0], expected) << function << " " << attributes << ", precision " << precision;
  }

  // Checks a function of each element, for all bytes and for wide values.
  void check_elements(const std::string& function, const std::string& attributes,
                      const std::vector<int>& precisions,
                      const std::function<int32_t(int32_t, int)>& f) {
    for (int p : precisions) {
      const Dims shape = {1, 3, 5, 17};
      Values x = random_of(&random_, shape, p);
      for (size_t i = 0; i < x.size(); ++i)
        if (p == 8) x[i] = static_cast<int32_t>(i) - 127;
      x[1] = alpha(p), x[2] = -alpha(p), x[3] = 0;
      Values y;
      for (int32_t& v : x) {
        y.push_back(f(v, p));
      }
      check_unary(function, attributes, shape, p, shape, x, y);
      if (HasFatalFailure()) return;
    }
  }

  // Checks an operator of two tensors, one of which is constant, in both orders.
  void check_pair(const std::string& function, int precision, const Dims& a, const Dims& b,
                  const Dims& out, const std::function<int32_t(int32_t, int32_t)>& f) {
    const Values x = random_of(&random_, a, precision), c = random_of(&random_, b, precision);
    const auto at = [&](const Values& v, const Dims& shape, const Dims& index) {
      Dims own(shape.size());
      for (size_t d = 0; d < shape.size(); ++d) {
        const int64_t i = index[index.size() - shape.size() + d];
        own[d] = shape[d] == 1 ? 0 : i;
      }
      return v[static_cast<size_t>(element(own, shape))];
    };
    for (bool swaps : {false, true}) {
      CvmBuilder builder;
      const int data = builder.data(a, precision);
      const int constant = builder.param("c", b, precision, c);
      const std::vector<int> inputs =
          swaps ? std::vector<int>{constant, data} : std::vector<int>{data, constant};
      const auto got = run_cvm(builder.build({builder.op(function, inputs, out)}), x, precision);
      const Values expected = table_of(out, [&](const Dims& i) {
        const int32_t u = at(x, a, i), v = at(c, b, i);
        return swaps ? f(v, u) : f(u, v);
      });
      ASSERT_EQ(got, (std::vector<Values>{expected})) << function << " swapped " << swaps;
    }
  }

  // y[at] = x[map(at)].
  void check_move(const std::string& function, const std::string& attributes, const Dims& shape,
                  const Dims& out, const std::function<Dims(const Dims&)>& map) {
    for (int p : {8, 16, 24}) {
      const Values x = random_of(&random_, shape, p);
      const Values y = table_of(
          out, [&](const Dims& at) { return x[static_cast<size_t>(element(map(at), shape))]; });
      check_unary(function, attributes, shape, p, out, x, y);
      if (HasFatalFailure()) return;
    }
  }
  // Checks a function that gives the same elements in another shape.
  void check_same(const std::string& function, const std::string& attributes, const Dims& shape,
                  const Dims& out) {
    ASSERT_EQ(count(shape), count(out));
    for (int p : {8, 16, 24}) {
      const Values x = random_of(&random_, shape, p);
      check_unary(function, attributes, shape, p, out, x, x);
      if (HasFatalFailure()) return;
    }
  }

  Random random_;
};

TEST_F(CvmOps, InputsAreClamped) {
  check_unary("abs", "", {1, 3}, 8, {1, 3}, {-128, 127, -5}, {127, 127, 5});
  check_unary("negative", "", {1, 3}, 6, {1, 3}, {-128, 127, -5}, {31, -31, 5});
  check_unary("abs", "", {1, 3}, 20, {1, 3}, {INT32_MIN, INT32_MAX, -5}, {524287, 524287, 5});
}

TEST_F(CvmOps, FunctionsOfEachElement) {
  const std::vector<int> all = {3, 8, 12, 16, 24, 32};
  check_elements("relu", "", all, [](int32_t x, int) { return std::max(x, 0); });
  check_elements("abs", "", all, [](int32_t x, int) { return std::abs(x); });
  check_elements("negative", "", all, [](int32_t x, int) { return -x; });
  check_elements("cvm_precision", "", all, [](int32_t x, int) {
    int bits = 0;
    for (uint32_t v = static_cast<uint32_t>(std::abs(x)); v != 0; v >>= 1) ++bits;
    return std::max(bits, 1);
  });
  check_elements("clip", attribute("a_min", -30) + ", " + attribute("a_max", 99), all,
                 [](int32_t x, int) { return std::clamp(x, -30, 99); });
  for (int p : {4, 8, 15}) {
    check_elements("cvm_clip", attribute("precision", p), all,
                   [p](int32_t x, int) { return std::clamp(x, -alpha(p), alpha(p)); });
    for (int bits : {1, 3, 9, 20, 32}) {
      check_elements("cvm_right_shift",
                     attribute("precision", p) + ", " + attribute("shift_bit", bits),
                     {8, 16, 24, 31}, [&](int32_t x, int) { return shift_right(x, bits, p); });
      if (HasFatalFailure()) return;
    }
    for (int bits : {1, 3, 8})
      check_elements("cvm_left_shift",
                     attribute("precision", p) + ", " + attribute("shift_bit", bits), {8, 16, 24},
                     [&](int32_t x, int) {
                       const int64_t v = int64_t{x} * (1 << bits), limit = alpha(p);
                       return static_cast<int32_t>(std::clamp(v, -limit, limit));
                     });
  }
}

TEST_F(CvmOps, FunctionsOfTwoTensors) {
  const auto sum = [](int32_t a, int32_t b) { return a + b; };
  const auto difference = [](int32_t a, int32_t b) { return a - b; };
  for (int p : {7, 8, 12, 16, 30}) {
    check_pair("elemwise_add", p, {2, 3, 4, 5}, {2, 3, 4, 5}, {2, 3, 4, 5}, sum);
    check_pair("elemwise_sub", p, {2, 3, 4, 5}, {2, 3, 4, 5}, {2, 3, 4, 5}, difference);
    for (const auto& [b, out] : {std::pair<Dims, Dims>{{1}, {2, 3, 4, 5}},
                                 {{3, 1, 1}, {2, 3, 4, 5}},
                                 {{2, 1, 4, 1}, {2, 3, 4, 5}},
                                 {{7, 2, 3, 4, 5}, {7, 2, 3, 4, 5}}}) {
      check_pair("broadcast_add", p, {2, 3, 4, 5}, b, out, sum);
      check_pair("broadcast_sub", p, {2, 3, 4, 5}, b, out, difference);
      check_pair("broadcast_max", p, {2, 3, 4, 5}, b, out,
                 [](int32_t x, int32_t y) { return std::max(x, y); });
      check_pair("broadcast_div", p, {2, 3, 4, 5}, b, out,
                 [](int32_t x, int32_t y) { return y == 0 ? 0 : x / y; });
      check_pair("broadcast_greater", p, {2, 3, 4, 5}, b, out,
                 [](int32_t x, int32_t y) { return x > y ? 1 : 0; });
      if (p <= 16)
        check_pair("broadcast_mul", p, {2, 3, 4, 5}, b, out,
                   [](int32_t x, int32_t y) { return x * y; });
      if (HasFatalFailure()) return;
    }
  }
}

struct ConvCase {
  int64_t channels, out, groups, kernel, stride, pad, dilation;
  bool bias;
};

TEST_F(CvmOps, Convolutions) {
  for (const ConvCase& c : {ConvCase{3, 8, 1, 3, 1, 1, 1, true},
                            {4, 6, 2, 3, 2, 1, 1, false},
                            {16, 16, 16, 3, 1, 1, 1, true},
                            {8, 16, 8, 3, 2, 0, 1, true},
                            {5, 7, 1, 1, 1, 0, 1, true},
                            {4, 4, 1, 2, 1, 3, 2, false}}) {
    const Dims x_shape = {2, c.channels, 9, 8};
    const Dims w_shape = {c.out, c.channels / c.groups, c.kernel, c.kernel};
    const auto size = [&](int64_t n) {
      return (n + 2 * c.pad - c.dilation * (c.kernel - 1) - 1) / c.stride + 1;
    };
    const Dims out = {2, c.out, size(9), size(8)};
    const Values x = random_of(&random_, x_shape, 8), w = random_of(&random_, w_shape, 8),
                 bias = random_of(&random_, {c.out}, 14);
    const Values sums = table_of(out, [&](const Dims& at) {
      int32_t sum = c.bias ? bias[static_cast<size_t>(at[1])] : 0;
      const int64_t per_group = c.channels / c.groups, group = at[1] / (c.out / c.groups);
      for (int64_t i = 0; i < count({per_group, c.kernel, c.kernel}); ++i) {
        const Dims k = index_of(i, {per_group, c.kernel, c.kernel});
        const int64_t y = at[2] * c.stride - c.pad + k[1] * c.dilation,
                      z = at[3] * c.stride - c.pad + k[2] * c.dilation;
        if (y < 0 || y >= 9 || z < 0 || z >= 8) continue;
        const int64_t channel = group * per_group + k[0];
        sum += x[static_cast<size_t>(element({at[0], channel, y, z}, x_shape))] *
               w[static_cast<size_t>(element({at[1], k[0], k[1], k[2]}, w_shape))];
      }
      return sum;
    });
    const auto pair = [](int64_t v) {
      return "(" + std::to_string(v) + ", " + std::to_string(v) + ")";
    };
    const std::string attributes =
        attribute("channels", c.out) + ", " + attribute("kernel_size", pair(c.kernel)) + ", " +
        attribute("strides", pair(c.stride)) + ", " + attribute("padding", pair(c.pad)) + ", " +
        attribute("dilation", pair(c.dilation)) + ", " + attribute("groups", c.groups) + ", " +
        attribute("use_bias", c.bias ? "True" : "False");
    // The sums themselves, and nodes that requantise them in one stage, in two, and to 16 bits.
    for (int stages : {0, 1, 2, 16}) {
      CvmBuilder b;
      std::vector<int> inputs = {b.data(x_shape, 8), b.param("w", w_shape, 8, w)};
      if (c.bias) inputs.push_back(b.param("b", {c.out}, 14, bias));
      int node = b.op("conv2d", inputs, out, attributes);
      Values expected = sums;
      const auto shift = [&](int bits, int precision) {
        node = b.op("cvm_right_shift", {node}, out,
                    attribute("precision", precision) + ", " + attribute("shift_bit", bits));
        for (int32_t& v : expected) v = shift_right(v, bits, precision);
      };
      const auto multiply = [&](int32_t factor) {
        node = b.op("broadcast_mul", {node, b.param("m", {1}, 12, {factor})}, out);
        for (int32_t& v : expected) v *= factor;
      };
      if (stages == 1) shift(9, 8);
      if (stages == 2) shift(4, 16), multiply(1777), shift(17, 8);
      if (stages == 16) {
        shift(2, 16);
        node = b.op("relu", {node}, out);
        for (int32_t& v : expected) v = std::max(v, 0);
      }
      ASSERT_EQ(run_cvm(b.build({node}), x, 8), (std::vector<Values>{expected}))
          << attributes << ", stages " << stages;
    }
  }
}

TEST_F(CvmOps, Dense) {
  for (bool has_bias : {false, true}) {
    for (int64_t k : {1, 33, 300}) {
      const Values x = random_of(&random_, {3, k}, 8), w = random_of(&random_, {11, k}, 8),
                   bias = random_of(&random_, {11}, 20);
      const Values y = table_of({3, 11}, [&](const Dims& at) {
        int32_t sum = has_bias ? bias[static_cast<size_t>(at[1])] : 0;
        for (int64_t i = 0; i < k; ++i)
          sum += x[static_cast<size_t>(at[0] * k + i)] * w[static_cast<size_t>(at[1] * k + i)];
        return sum;
      });
      CvmBuilder b;
      std::vector<int> inputs = {b.data({3, k}, 8), b.param("w", {11, k}, 8, w)};
      if (has_bias) inputs.push_back(b.param("b", {11}, 20, bias));
      const int node =
          b.op("dense", inputs, {3, 11},
               attribute("units", 11) + ", " + attribute("use_bias", has_bias ? "True" : "False"));
      ASSERT_EQ(run_cvm(b.build({node}), x, 8), (std::vector<Values>{y}));
    }
  }
}

TEST_F(CvmOps, MaxPoolAndUpsampling) {
  const Dims shape = {2, 3, 9, 8};
  for (int p : {8, 16, 24}) {
    for (const auto& [pad, ceils] : {std::pair<int64_t, bool>{0, false}, {1, false}, {1, true}}) {
      const Values x = random_of(&random_, shape, p);
      const auto size = [pad = pad, ceils = ceils](int64_t n) {
        return (n + 2 * pad - 3 + (ceils ? 1 : 0)) / 2 + 1;
      };
      const Dims out = {2, 3, size(9), size(8)};
      const Values y = table_of(out, [&, pad = pad](const Dims& at) {
        int32_t most = INT32_MIN;
        for (int64_t i = 0; i < 9; ++i) {
          const int64_t r = at[2] * 2 - pad + i / 3, c = at[3] * 2 - pad + i % 3;
          if (r >= 0 && r < 9 && c >= 0 && c < 8)
            most = std::max(most, x[static_cast<size_t>(element({at[0], at[1], r, c}, shape))]);
        }
        return most;
      });
      check_unary("max_pool2d",
                  attribute("pool_size", "(3, 3)") + ", " + attribute("strides", "(2, 2)") + ", " +
                      attribute("padding", std::to_string(pad)) + ", " +
                      attribute("ceil_mode", ceils ? "True" : "False"),
                  shape, p, out, x, y);
      if (HasFatalFailure()) return;
    }
  }
  check_move("upsampling", attribute("scale", 3), {1, 2, 4, 5}, {1, 2, 12, 15}, [](const Dims& at) {
    return Dims{at[0], at[1], at[2] / 3, at[3] / 3};
  });
}

TEST_F(CvmOps, Reductions) {
  const Dims shape = {2, 3, 4, 5};
  for (int p : {8, 16, 20}) {
    const Values x = random_of(&random_, shape, p);
    const auto reduce = [&](const std::vector<size_t>& axes, bool sums, int32_t start) {
      Dims kept = shape;
      for (size_t a : axes) kept[a] = 1;
      Values y(static_cast<size_t>(count(kept)), start);
      for (int64_t i = 0; i < count(shape); ++i) {
        Dims at = index_of(i, shape);
        for (size_t a : axes) at[a] = 0;
        int32_t& to = y[static_cast<size_t>(element(at, kept))];
        const int32_t v = x[static_cast<size_t>(i)];
        to = sums ? to + v : std::max(to, v);
      }
      return y;
    };
    for (const char* function : {"sum", "max"}) {
      const bool sums = function[0] == 's';
      const int32_t start = sums ? 0 : INT32_MIN;
      check_unary(function, attribute("axis", "(2, 3)"), shape, p, {2, 3}, x,
                  reduce({2, 3}, sums, start));
      check_unary(function, attribute("axis", "1") + ", " + attribute("keepdims", "True"), shape, p,
                  {2, 1, 4, 5}, x, reduce({1}, sums, start));
      check_unary(function, attribute("axis", "(-4, 2)") + ", " + attribute("exclude", "true"),
                  shape, p, {2, 4}, x, reduce({1, 3}, sums, start));
      // Without axes all are reduced; the formal backend's maximum starts from 0 then.
      check_unary(function, "", shape, p, {1}, x, reduce({0, 1, 2, 3}, sums, 0));
      if (HasFatalFailure()) return;
    }
  }
  check_unary("max", "", {1, 3}, 8, {1}, {-5, -9, -128}, {0});
}

TEST_F(CvmOps, Moves) {
  const Dims shape = {2, 3, 4, 5};
  check_same("flatten", "", shape, {2, 60});
  check_same("reshape", attribute("shape", "(0, -1)"), shape, {2, 60});
  check_same("reshape", attribute("shape", "(-3, -2)"), shape, {6, 4, 5});
  check_same("reshape", attribute("shape", "(-4, 1, -1, -2)"), shape, {1, 2, 3, 4, 5});
  check_same("expand_dims", attribute("axis", "1") + ", " + attribute("num_newaxis", "2"), shape,
             {2, 1, 1, 3, 4, 5});
  check_same("expand_dims", attribute("axis", "-1"), {2, 3}, {2, 3, 1});
  check_same("squeeze", "", {1, 3, 1, 5}, {3, 5});
  check_same("squeeze", attribute("axis", "(2,)"), {1, 3, 1, 5}, {1, 3, 5});
  check_move("transpose", "", shape, {5, 4, 3, 2}, [](const Dims& at) {
    return Dims{at[3], at[2], at[1], at[0]};
  });
  check_move("transpose", attribute("axes", "(0, 2, 3, 1)"), shape, {2, 4, 5, 3},
             [](const Dims& at) {
               return Dims{at[0], at[3], at[1], at[2]};
             });
  check_move("repeat", attribute("repeats", "3") + ", " + attribute("axis", "1"), shape,
             {2, 9, 4, 5}, [](const Dims& at) {
               return Dims{at[0], at[1] / 3, at[2], at[3]};
             });
  check_move("tile", attribute("reps", "(2, 1, 3)"), {2, 4, 5}, {4, 4, 15}, [](const Dims& at) {
    return Dims{at[0] % 2, at[1], at[2] % 5};
  });
  check_move("tile", attribute("reps", "(2, 1, 1)"), {4, 5}, {2, 4, 5}, [](const Dims& at) {
    return Dims{at[1], at[2]};
  });
  check_move("strided_slice",
             attribute("begin", "(0, -1, 1)") + ", " + attribute("end", "(2, 0, 4)") + ", " +
                 attribute("stride", "(1, -1, 2)"),
             shape, {2, 2, 2, 5}, [](const Dims& at) {
               return Dims{at[0], 2 - at[1], 1 + 2 * at[2], at[3]};
             });
}

TEST_F(CvmOps, SliceLikeConcatenateAndWhere) {
  for (int p : {8, 16, 24}) {
    const Dims shape = {2, 6, 4};
    const Values x = random_of(&random_, shape, p), c = random_of(&random_, {2, 3, 2}, p);
    {
      CvmBuilder b;
      const int data = b.data(shape, p), like = b.param("c", {2, 3, 2}, p, c);
      const Values y = table_of(
          {2, 3, 2}, [&](const Dims& at) { return x[static_cast<size_t>(element(at, shape))]; });
      ASSERT_EQ(run_cvm(b.build({b.op("slice_like", {data, like}, {2, 3, 2})}), x, p),
                (std::vector<Values>{y}));
    }
    {
      CvmBuilder b;
      const Values other = random_of(&random_, {2, 3, 4}, p);
      const int data = b.data(shape, p), more = b.param("c", {2, 3, 4}, p, other);
      const Values y = table_of({2, 15, 4}, [&](const Dims& at) {
        if (at[1] < 3) return other[static_cast<size_t>(element(at, {2, 3, 4}))];
        const int64_t row = (at[1] - 3) % 6;
        return x[static_cast<size_t>(element({at[0], row, at[2]}, shape))];
      });
      const int node = b.op("concatenate", {more, data, data}, {2, 15, 4}, attribute("axis", -2));
      ASSERT_EQ(run_cvm(b.build({node}), x, p), (std::vector<Values>{y}));
    }
    {
      CvmBuilder b;
      Values condition = random_of(&random_, shape, 2), other = random_of(&random_, shape, p);
      const int data = b.data(shape, p);
      const int c_node = b.param("condition", shape, p, condition);
      const int o_node = b.param("other", shape, p, other);
      Values y;
      for (size_t i = 0; i < x.size(); ++i) y.push_back(condition[i] != 0 ? x[i] : other[i]);
      ASSERT_EQ(run_cvm(b.build({b.op("where", {c_node, data, o_node}, shape)}), x, p),
                (std::vector<Values>{y}));
    }
  }
}

TEST_F(CvmOps, Lookups) {
  const Values table = random_of(&random_, {100}, 18);
  for (int p : {8, 16, 24}) {
    const Dims shape = {3, 40};
    const Values x = random_of(&random_, shape, p);
    Values y;
    for (int32_t v : x) y.push_back(table[static_cast<size_t>(std::clamp(v, 0, 99))]);
    {
      CvmBuilder b;
      const int data = b.data(shape, p), t = b.param("table", {100}, 18, table);
      const int node = b.op("cvm_lut", {data, t}, shape, attribute("in_dim", 100));
      ASSERT_EQ(run_cvm(b.build({node}), x, p), (std::vector<Values>{y}));
    }
    {
      CvmBuilder b;
      const int data = b.data(shape, p), t = b.param("table", {10, 10}, 18, table);
      ASSERT_EQ(run_cvm(b.build({b.op("take", {t, data}, shape)}), x, p), (std::vector<Values>{y}));
    }
    {
      CvmBuilder b;
      const Values indices = {2, 0, -3, 99};
      const int data = b.data(shape, p), i = b.param("indices", {4}, 8, indices);
      const Values rows = table_of({4, 40}, [&](const Dims& at) {
        const int32_t row = std::clamp(indices[static_cast<size_t>(at[0])], 0, 2);
        return x[static_cast<size_t>(row * 40 + at[1])];
      });
      ASSERT_EQ(run_cvm(b.build({b.op("take", {data, i}, {4, 40}, attribute("axis", 0))}), x, p),
                (std::vector<Values>{rows}));
    }
  }
}

// A sum of few bits is stored in few bits, also in front of an operator on bytes.
TEST_F(CvmOps, NarrowSumsGoOn) {
  const Dims shape = {3, 4, 5};
  const Values x = random_of(&random_, shape, 3), w = random_of(&random_, {7, 5}, 8),
               table = random_of(&random_, {9}, 12);
  const Values sums = table_of({3, 5}, [&](const Dims& at) {
    int32_t sum = 0;
    for (int64_t i = 0; i < 4; ++i) sum += x[static_cast<size_t>((at[0] * 4 + i) * 5 + at[1])];
    return sum;
  });
  const Values products = table_of({3, 7}, [&](const Dims& at) {
    int32_t sum = 0;
    for (int64_t i = 0; i < 5; ++i)
      sum += sums[static_cast<size_t>(at[0] * 5 + i)] * w[static_cast<size_t>(at[1] * 5 + i)];
    return sum;
  });
  Values found;
  for (int32_t v : sums) found.push_back(table[static_cast<size_t>(std::clamp(v, 0, 8))]);
  CvmBuilder b;
  const int data = b.data(shape, 3), weights = b.param("w", {7, 5}, 8, w),
            entries = b.param("table", {9}, 12, table);
  const int sum = b.op("sum", {data}, {3, 5}, attribute("axis", 1));
  const int dense = b.op("dense", {sum, weights}, {3, 7},
                         attribute("units", 7) + ", " + attribute("use_bias", "False")),
            lut = b.op("cvm_lut", {sum, entries}, {3, 5}, attribute("in_dim", 9));
  ASSERT_EQ(run_cvm(b.build({sum, dense, lut}), x, 3),
            (std::vector<Values>{sums, products, found}));
}

// Suppression keeps one of overlapping boxes: of five [class, score, x1, y1, x2, y2], the second
// and fourth overlap the first.
TEST_F(CvmOps, Boxes) {
  const Values x = {0,  90, 0,  0, 10, 10, 0, 80, 0,  0,  10, 9,  0,  5,  40,
                    40, 50, 50, 1, 70, 0,  0, 10, 10, -1, 60, 20, 20, 30, 30};
  CvmBuilder b;
  const int data = b.data({1, 5, 6}, 8), valid = b.param("count", {1}, 8, {5});
  const int kept =
      b.op("non_max_suppression", {data, valid}, {1, 5, 6}, attribute("iou_threshold", 50));
  const Values none(6, -1);
  Values expected(x.begin(), x.begin() + 6);
  expected.insert(expected.end(), x.begin() + 18, x.begin() + 24);  // of another class
  expected.insert(expected.end(), x.begin() + 12, x.begin() + 18);
  expected.resize(30, -1);
  ASSERT_EQ(run_cvm(b.build({kept}), x, 8), (std::vector<Values>{expected}));
}

// Damaged bytes of either file lead to a refusal with a message, or to a model that converts.
TEST(CvmHostile, ByteFlips) {
  Random random;
  SCOPED_TRACE(random.trace());
  const CvmModel good = sample_cvm_model();
  int converted = 0, refused = 0;
  for (int i = 0; i < 2000; ++i) {
    CvmModel bad = good;
    for (int64_t flips = random.coin() ? 1 : random.integer(2, 6); flips > 0; --flips) {
      const size_t bytes = i % 2 == 0 ? bad.symbol.size() : bad.params.size();
      const auto at = static_cast<size_t>(random.integer(0, static_cast<int64_t>(bytes) - 1));
      const auto bit = static_cast<uint8_t>(1 << random.integer(0, 7));
      if (i % 2 == 0) {
        bad.symbol[at] = static_cast<char>(bad.symbol[at] ^ bit);
      } else {
        bad.params[at] ^= bit;
      }
    }
    Imported imported = import_cvm_model(bad);
    Bytes file;
    if (imported.status.ok()) imported.status = convert::run_passes(&imported.graph, nullptr);
    if (imported.status.ok()) imported.status = convert::write_model(imported.graph, &file);
    const Code code = imported.status.code();
    ASSERT_TRUE(imported.status.ok() || code == Code::kInvalidModel || code == Code::kUnsupported)
        << static_cast<int>(code) << ": " << imported.status.message();
    if (imported.status.ok()) {
      ++converted;
    } else {
      ++refused;
      ASSERT_STRNE(imported.status.message(), "");
    }
  }
  EXPECT_GT(converted, 0);
  EXPECT_GT(refused, 1000);
}

}  // namespace
}  // namespace qrt::testing::cvm_ops_test
