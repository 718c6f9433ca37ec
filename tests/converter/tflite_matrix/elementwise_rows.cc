// SPDX-License-Identifier: Apache-2.0
// Operators on elements.
#include <cmath>

#include "tests/converter/tflite_matrix/cell.h"

namespace qrt::tflite_matrix {
namespace {

using testing::reference_multiplier;

const std::vector<Dims> kShapes = {{7}, {3, 5}, {2, 3, 4}, {2, 3, 4, 5}};

Row row_of(B code, const std::vector<T>& types, const char* tested_in = "") {
  Row row;
  row.code = code, row.types = types, row.tested_in = tested_in;
  return row;
}

// A second operand: another tensor or a constant, of x's shape or one that broadcasts with it.
using Operand = std::function<Tensor(Cell& c, const Dims& dims)>;
struct OperandForm {
  std::string name;
  Dims dims;
  Operand make;
};
std::vector<OperandForm> operands() {
  std::vector<OperandForm> all;
  for (const Dims& dims : kShapes) {
    const std::string rank = std::to_string(dims.size()) + "-D, ";
    all.push_back({rank + "input", dims, [](Cell& c, const Dims& d) { return c.input(d); }});
    all.push_back({rank + "constant", dims, [](Cell& c, const Dims& d) { return c.constant(d); }});
    all.push_back({rank + "scalar", dims, [](Cell& c, const Dims&) { return c.constant({1}); }});
    for (size_t axis = 0; axis < dims.size(); ++axis) {
      const auto along = [axis](const Dims& d) {
        Dims v(d.size(), 1);
        v[axis] = d[axis];
        return v;
      };
      const std::string name = rank + "along axis " + std::to_string(axis);
      all.push_back(
          {name + ", input", dims, [=](Cell& c, const Dims& d) { return c.input(along(d)); }});
      all.push_back({name + ", constant", dims,
                     [=](Cell& c, const Dims& d) { return c.constant(along(d)); }});
    }
  }
  return all;
}

// f(cell, x, operand) for each of them.
template <class F>
Row binary(B code, const std::vector<T>& types, const F& f) {
  Row row = row_of(code, types);
  for (const OperandForm& operand : operands())
    row.forms.push_back({operand.name, operand.dims,
                         [=](Cell& c, const Tensor& x) { f(c, x, operand.make(c, x.dims)); }});
  return row;
}

// Adds sums. ADD computes its multipliers in double, SUB in float; `Real` is that type.
template <class Real, class Options>
void sum(Cell& c, const Tensor& a, const Tensor& b, B code, int sign) {
  const Real sa = a.scale, sb = b.scale, twice = 2 * std::max(sa, sb);
  const Tensor y = c.fresh(a.dims);
  const int left = c.is_int16() ? 15 : 20;
  const Real fine = static_cast<Real>(1 << left) * static_cast<Real>(y.scale);
  const auto ma = reference_multiplier(static_cast<double>(Real(sa / twice)));
  const auto mb = reference_multiplier(static_cast<double>(Real(sb / twice)));
  const auto mo = reference_multiplier(static_cast<double>(Real(twice / fine)));
  c.b.op(code, {a.id, b.id}, {}, Options());
  c.expect({c.filled(y, [&](const Index& i) {
    const int p = c.scaled((a.at(i) - a.zero_point) * (1 << left), ma);
    const int q = c.scaled((b.broadcast(i) - b.zero_point) * (1 << left), mb);
    return c.clamped(c.scaled(p + sign * q, mo) + y.zero_point);
  })});
}

Row add() {
  return binary(B::ADD, kSigned, [](Cell& c, const Tensor& x, const Tensor& y) {
    sum<double, tflite::AddOptionsT>(c, x, y, B::ADD, 1);
  });
}
Row sub() {
  return binary(B::SUB, kSigned, [](Cell& c, const Tensor& x, const Tensor& y) {
    sum<float, tflite::SubOptionsT>(c, x, y, B::SUB, -1);
  });
}

Row mul() {
  return binary(B::MUL, kSigned, [](Cell& c, const Tensor& a, const Tensor& b) {
    const Tensor y = c.fresh(a.dims);
    const auto m = reference_multiplier(
        static_cast<double>(a.scale) * static_cast<double>(b.scale) / static_cast<double>(y.scale));
    c.b.op(B::MUL, {a.id, b.id}, {}, tflite::MulOptionsT());
    c.expect({c.filled(y, [&](const Index& i) {
      return c.clamped(c.scaled((a.at(i) - a.zero_point) * (b.broadcast(i) - b.zero_point), m) +
                       y.zero_point);
    })});
  });
}

Row squared_difference() {
  return binary(B::SQUARED_DIFFERENCE, {T::INT8}, [](Cell& c, const Tensor& a, const Tensor& b) {
    const Tensor y = c.fresh(a.dims);
    const double sa = static_cast<double>(a.scale), sb = static_cast<double>(b.scale);
    const double twice = 2 * std::max(sa, sb);
    const auto ma = reference_multiplier(sa / twice), mb = reference_multiplier(sb / twice);
    const auto mo = reference_multiplier(
        twice * twice / (static_cast<double>(1 << 14) * static_cast<double>(y.scale)));
    c.b.op(B::SQUARED_DIFFERENCE, {a.id, b.id}, {});
    c.expect({c.filled(y, [&](const Index& i) {
      const int p = c.scaled((a.at(i) - a.zero_point) * (1 << 7), ma);
      const int q = c.scaled((b.broadcast(i) - b.zero_point) * (1 << 7), mb);
      return c.clamped(c.scaled((p - q) * (p - q), mo) + y.zero_point);
    })});
  });
}

Row extreme(B code, bool is_greatest) {
  return binary(code, kAllTypes, [=](Cell& c, const Tensor& a, const Tensor& b) {
    c.b.at(b.id).quantization->scale = {a.scale};
    c.b.at(b.id).quantization->zero_point = {a.zero_point};
    c.b.op(code, {a.id, b.id}, {});
    c.expect({c.filled(Cell::like(a, a.dims), [&](const Index& i) {
      const int p = a.at(i), q = b.broadcast(i);
      return is_greatest ? std::max(p, q) : std::min(p, q);
    })});
  });
}

// Returns a row for a unary operator, with one form for each rank, which f(cell, x) tests.
template <class F>
Row unary(B code, const std::vector<T>& types, const F& f) {
  Row row = row_of(code, types);
  for (const Dims& dims : kShapes)
    row.forms.push_back({std::to_string(dims.size()) + "-D", dims, f});
  return row;
}

// Expects f(v), v = code - zero point, before y's zero point is added.
template <class F>
void map(Cell& c, const Tensor& x, const Tensor& y, int lo, int hi, const F& f) {
  c.expect({c.filled(y, [&](const Index& i) {
    return std::clamp(f(x.at(i) - x.zero_point) + y.zero_point, lo, hi);
  })});
}

Row quantize() {
  return unary(B::QUANTIZE, kSigned, [](Cell& c, const Tensor& x) {
    const Tensor y = c.fresh(x.dims);
    const auto m =
        reference_multiplier(static_cast<double>(x.scale) / static_cast<double>(y.scale));
    c.b.op(B::QUANTIZE, {x.id}, {});
    map(c, x, y, least(c.type()), most(c.type()), [&](int v) { return c.scaled(v, m); });
  });
}

Row dequantize() {
  return unary(B::DEQUANTIZE, kAllTypes, [](Cell& c, const Tensor& x) {
    std::vector<float> values;
    for (const int v : x.codes)
      values.push_back(static_cast<float>(static_cast<double>(x.scale) * (v - x.zero_point)));
    c.b.op(B::DEQUANTIZE, {x.id}, {});
    c.expect_floats(x, values);
  });
}

Row absolute() {
  return unary(B::ABS, kSigned, [](Cell& c, const Tensor& x) {
    const Tensor y = c.fresh(x.dims);
    const auto m = reference_multiplier(static_cast<double>(x.scale / y.scale));
    c.b.op(B::ABS, {x.id}, {});
    map(c, x, y, least(c.type()), most(c.type()), [&](int v) { return c.scaled(std::abs(v), m); });
  });
}

Row relu() {
  return unary(B::RELU, kSigned, [](Cell& c, const Tensor& x) {
    const Tensor y = c.fresh(x.dims);
    const auto m = reference_multiplier(static_cast<double>(x.scale / y.scale));
    c.b.op(B::RELU, {x.id}, {});
    map(c, x, y, y.zero_point, most(c.type()), [&](int v) { return c.scaled(v, m); });
  });
}

Row leaky_relu() {
  return unary(B::LEAKY_RELU, kSigned, [](Cell& c, const Tensor& x) {
    const Tensor y = c.fresh(x.dims);
    tflite::LeakyReluOptionsT o;
    o.alpha = c.random.scale(-3);
    const float below = x.scale * o.alpha;
    const auto positive = reference_multiplier(static_cast<double>(x.scale / y.scale));
    const auto negative = reference_multiplier(static_cast<double>(below / y.scale));
    c.b.op(B::LEAKY_RELU, {x.id}, {}, o);
    map(c, x, y, least(c.type()), most(c.type()),
        [&](int v) { return c.scaled(v, v >= 0 ? positive : negative); });
  });
}

Row prelu() {
  Row row = row_of(B::PRELU, {T::INT8});
  for (const Dims& dims : {Dims{2, 3, 4, 5}, Dims{1, 6, 2, 9}}) {
    row.forms.push_back(
        {"by channel", dims, [](Cell& c, const Tensor& x) {
           const Tensor alpha = c.constant({1, 1, x.dims[3]}), y = c.fresh(x.dims);
           const double in = static_cast<double>(x.scale);
           const double out = static_cast<double>(y.scale);
           const auto positive = reference_multiplier(in / out);
           const auto negative = reference_multiplier(in * static_cast<double>(alpha.scale) / out);
           c.b.op(B::PRELU, {x.id, alpha.id}, {});
           c.expect({c.filled(y, [&](const Index& i) {
             const int v = x.at(i) - x.zero_point;
             const int a = alpha.codes[static_cast<size_t>(i[3])] - alpha.zero_point;
             return c.clamped((v >= 0 ? c.scaled(v, positive) : c.scaled(v * a, negative)) +
                              y.zero_point);
           })});
         }});
  }
  return row;
}

// Limits in x's own codes.
Row limits(B code, float lo, float hi) {
  return unary(code, {T::INT8}, [=](Cell& c, const Tensor& x) {
    const auto code_of = [&](float v) {
      return std::clamp(x.zero_point + static_cast<int>(std::round(v / x.scale)), -128, 127);
    };
    c.b.op(code, {x.id}, {});
    map(c, x, Cell::like(x, x.dims), code_of(lo), code_of(hi), [](int v) { return v; });
  });
}

}  // namespace

std::vector<Row> elementwise_rows() {
  std::vector<Row> all = {add(),
                          sub(),
                          mul(),
                          squared_difference(),
                          extreme(B::MAXIMUM, true),
                          extreme(B::MINIMUM, false),
                          quantize(),
                          dequantize(),
                          absolute(),
                          relu(),
                          leaky_relu(),
                          prelu(),
                          limits(B::RELU6, 0, 6),
                          limits(B::RELU_N1_TO_1, -1, 1)};
  const std::vector<std::pair<const char*, std::vector<B>>> elsewhere = {
      {"tflite_ops_test.cc",
       {B::LOGISTIC, B::TANH, B::HARD_SWISH, B::SOFTMAX, B::L2_NORMALIZATION}},
      {"tflite_function_test.cc", {B::ELU, B::EXP, B::LOG, B::SQRT, B::RSQRT, B::GELU}},
      {"tflite_softmax_test.cc", {B::LOG_SOFTMAX}},
      {"tflite_real_test.cc", {B::CAST, B::FLOOR_DIV, B::FLOOR_MOD}},
      {"tflite_compare_test.cc",
       {B::EQUAL, B::NOT_EQUAL, B::LESS, B::LESS_EQUAL, B::GREATER, B::GREATER_EQUAL,
        B::LOGICAL_AND, B::LOGICAL_OR, B::LOGICAL_NOT, B::SELECT, B::SELECT_V2}},
      {"tflite_arithmetic_test.cc", {B::DIV, B::CUMSUM, B::ADD_N}},
      {"tflite_update_test.cc", {B::ZEROS_LIKE, B::DYNAMIC_UPDATE_SLICE, B::EMBEDDING_LOOKUP}},
      {"tflite_resource_test.cc",
       {B::CALL_ONCE, B::VAR_HANDLE, B::READ_VARIABLE, B::ASSIGN_VARIABLE}},
      {"tflite_recurrent_test.cc", {B::SVDF, B::UNIDIRECTIONAL_SEQUENCE_LSTM}},
      {"tflite_detection_test.cc", {B::CUSTOM}}};
  for (const auto& [test, codes] : elsewhere)
    for (const B code : codes) all.push_back(row_of(code, {}, test));
  return all;
}

}  // namespace qrt::tflite_matrix
