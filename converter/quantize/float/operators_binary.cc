// SPDX-License-Identifier: Apache-2.0
// Functions of two and more operands that are broadcast to one shape.
#include <algorithm>
#include <cmath>
#include <limits>

#include "converter/portable_math.h"
#include "converter/quantize/float/broadcast.h"
#include "converter/quantize/float/operators.h"

namespace qrt::quantize {
namespace {

Status result_shape(const Call& call, const std::vector<const Dims*>& shapes, Dims* shape) {
  if (broadcast_shape(shapes, shape)) return Status();
  std::string text;
  for (const Dims* s : shapes) text += (text.empty() ? "" : ", ") + to_string(*s);
  return call.wrong("operands of shapes %s cannot be broadcast", text.c_str());
}

// Computes y[i] = f(a, b), in the order of y, on the elements in Tensor's members `from` and `to`.
template <class T, class U, class F>
void pairs(const Tensor& a, const Tensor& b, const std::vector<T> Tensor::*from,
           std::vector<U> Tensor::*to, Tensor* y, const F& f) {
  const Walk walk(y->shape,
                  {broadcast_steps(a.shape, y->shape), broadcast_steps(b.shape, y->shape)});
  const T *x0 = (a.*from).data(), *x1 = (b.*from).data();
  U* out = (y->*to).data();
  walk.runs([&](const int64_t* offsets, int64_t n, const int64_t* steps) {
    for (int64_t i = 0; i < n; ++i)
      *out++ = f(x0[offsets[0] + i * steps[0]], x1[offsets[1] + i * steps[1]]);
  });
}

float power(float x, float y) {
  if (y == 2.0f) return x * x;
  if (y == 0.5f) return std::sqrt(x);
  constexpr float kMostFactors = 64;
  if (y == std::floor(y) && std::fabs(y) <= kMostFactors) {
    double product = 1;
    for (float i = 0; i < std::fabs(y); i += 1.0f) product *= static_cast<double>(x);
    return static_cast<float>(y < 0 ? 1.0 / product : product);
  }
  const float infinity = std::numeric_limits<float>::infinity();
  if (x == 0.0f) return y > 0 ? 0.0f : infinity;
  if (!(x > 0) || !(y == y)) return std::numeric_limits<float>::quiet_NaN();
  if (x == infinity) return y > 0 ? infinity : 0.0f;
  const double exponent = static_cast<double>(y) * convert::portable_log(static_cast<double>(x));
  if (exponent > 100) return infinity;
  if (exponent < -150) return 0.0f;
  return static_cast<float>(convert::portable_exp(exponent));
}

float remainder_of(float a, float b) {
  const float r = std::fmod(a, b);  // exact
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

Status real_pair(Call& call, const Tensor& a, const Tensor& b, Tensor* y) {
  static constexpr struct {
    const char* op;
    FloatBinary f;
  } kFunctions[] = {{"Add", FloatBinary::kAdd}, {"Sum", FloatBinary::kAdd},
                    {"Sub", FloatBinary::kSub}, {"Mul", FloatBinary::kMul},
                    {"Div", FloatBinary::kDiv}, {"Min", FloatBinary::kMin},
                    {"Max", FloatBinary::kMax}};
  const std::string& op = call.node.op;
  if (op == "Pow") {
    pairs(a, b, &Tensor::reals, &Tensor::reals, y, power);
    return Status();
  }
  if (op == "Mod") {
    const bool truncated = call.node.integer("fmod", 0) != 0;
    pairs(a, b, &Tensor::reals, &Tensor::reals, y,
          [&](float u, float v) { return truncated ? std::fmod(u, v) : remainder_of(u, v); });
    return Status();
  }
  const auto* found = std::find_if(std::begin(kFunctions), std::end(kFunctions),
                                   [&](const auto& entry) { return op == entry.op; });
  const FloatKernel& math = *call.machine.math;
  const float *x0 = a.reals.data(), *x1 = b.reals.data();
  float* out = y->reals.data();
  const Walk walk(y->shape,
                  {broadcast_steps(a.shape, y->shape), broadcast_steps(b.shape, y->shape)});
  walk.runs([&](const int64_t* offsets, int64_t n, const int64_t* steps) {
    math.binary(found->f, x0 + offsets[0], static_cast<size_t>(steps[0]), x1 + offsets[1],
                static_cast<size_t>(steps[1]), out, static_cast<size_t>(n));
    out += n;
  });
  return Status();
}

// Wraps modulo 2^64, as the processor does.
int64_t wrapped(uint64_t v) { return static_cast<int64_t>(v); }

Status integer_pair(Call& call, const Tensor& a, const Tensor& b, Tensor* y) {
  const std::string& op = call.node.op;
  bool divides_by_zero = false;
  const bool truncated = call.node.integer("fmod", 0) != 0;
  const auto each = [&](const auto& f) {
    pairs(a, b, &Tensor::integers, &Tensor::integers, y, f);
    return Status();
  };
  const auto unsigned_of = [](int64_t v) { return static_cast<uint64_t>(v); };
  if (op == "Add" || op == "Sum")
    return each([&](int64_t u, int64_t v) { return wrapped(unsigned_of(u) + unsigned_of(v)); });
  if (op == "Sub")
    return each([&](int64_t u, int64_t v) { return wrapped(unsigned_of(u) - unsigned_of(v)); });
  if (op == "Mul")
    return each([&](int64_t u, int64_t v) { return wrapped(unsigned_of(u) * unsigned_of(v)); });
  if (op == "Min") return each([](int64_t u, int64_t v) { return std::min(u, v); });
  if (op == "Max") return each([](int64_t u, int64_t v) { return std::max(u, v); });
  if (op != "Div" && op != "Mod") return call.unsupported("of %s", element_name(a.element));
  const bool is_quotient = op == "Div";
  QRT_TRY(each([&](int64_t u, int64_t v) -> int64_t {
    divides_by_zero |= v == 0;
    if (v == 0) return 0;
    if (v == -1) return is_quotient ? wrapped(0 - unsigned_of(u)) : 0;
    if (is_quotient) return u / v;
    const int64_t r = u % v;
    return !truncated && r != 0 && (r < 0) != (v < 0) ? r + v : r;
  }));
  return divides_by_zero ? call.wrong("divides an integer by zero") : Status();
}

Tensor as_reals(const Tensor& x) {
  Tensor y;
  y.shape = x.shape;
  y.reals.assign(x.integers.begin(), x.integers.end());
  return y;
}

}  // namespace

Status run_binary(Call& call) {
  const size_t count = call.input_count();
  if (count == 0 || !call.has(0)) return call.wrong("has no operands");
  const std::string& op = call.node.op;
  const bool variadic = op == "Sum" || op == "Min" || op == "Max";
  if (!variadic && count != 2) return call.wrong("has %zu operands, expected 2", count);
  if (variadic && count == 1) return run_identity(call);
  const bool real = call.in(0).is_real();
  Tensor power_of;  // float to the power of an integer
  const Tensor* left = &call.in(0);
  Tensor step;
  for (size_t i = 1; i < count; ++i) {
    if (!call.has(i)) return call.wrong("operand %zu is absent", i);
    const Tensor* right = &call.in(i);
    if (op == "Pow" && real && !right->is_real()) {
      power_of = as_reals(*right);
      right = &power_of;
    }
    if (right->is_real() != real || (!real && right->element != left->element))
      return call.wrong("operands are %s and %s", element_name(left->element),
                        element_name(right->element));
    Dims shape;
    QRT_TRY(result_shape(call, {&left->shape, &right->shape}, &shape));
    Tensor* y;
    QRT_TRY(call.make(0, shape, left->element, &y));
    QRT_TRY(real ? real_pair(call, *left, *right, y) : integer_pair(call, *left, *right, y));
    if (i + 1 == count) break;
    if (real) call.machine.buffers.give(std::move(step.reals));
    step = std::move(*y);
    left = &step;
  }
  return Status();
}

Status run_prelu(Call& call) {
  QRT_TRY(call.need_reals(0, 2));
  const Tensor& x = call.in(0);
  Dims shape;
  QRT_TRY(result_shape(call, {&x.shape, &call.in(1).shape}, &shape));
  Tensor* y;
  QRT_TRY(call.make(shape, &y));
  pairs(x, call.in(1), &Tensor::reals, &Tensor::reals, y,
        [](float v, float slope) { return v < 0 ? slope * v : v; });
  return Status();
}

Status run_compare(Call& call) {
  if (!call.has(0) || !call.has(1)) return call.wrong("an operand is absent");
  const Tensor &a = call.in(0), &b = call.in(1);
  if (a.element != b.element)
    return call.wrong("operands are %s and %s", element_name(a.element), element_name(b.element));
  Dims shape;
  QRT_TRY(result_shape(call, {&a.shape, &b.shape}, &shape));
  Tensor* y;
  QRT_TRY(call.make(0, shape, Element::kBool, &y));
  const std::string& op = call.node.op;
  const auto compare = [&](auto u, auto v) -> int64_t {
    if (op == "Equal") return u == v;
    if (op == "Less") return u < v;
    if (op == "LessOrEqual") return u <= v;
    return op == "Greater" ? u > v : u >= v;
  };
  if (a.is_real())
    pairs(a, b, &Tensor::reals, &Tensor::integers, y, compare);
  else
    pairs(a, b, &Tensor::integers, &Tensor::integers, y, compare);
  return Status();
}

Status run_logic(Call& call) {
  const std::string& op = call.node.op;
  const size_t count = op == "Not" ? 1 : 2;
  QRT_TRY(call.need_integers(0, count));
  const Tensor &a = call.in(0), &b = call.in(count - 1);
  Dims shape;
  QRT_TRY(result_shape(call, {&a.shape, &b.shape}, &shape));
  Tensor* y;
  QRT_TRY(call.make(0, shape, Element::kBool, &y));
  pairs(a, b, &Tensor::integers, &Tensor::integers, y, [&](int64_t u, int64_t v) -> int64_t {
    if (op == "Not") return u == 0;
    if (op == "And") return u != 0 && v != 0;
    if (op == "Or") return u != 0 || v != 0;
    return (u != 0) != (v != 0);
  });
  return Status();
}

Status run_where(Call& call) {
  QRT_TRY(call.need_integers(0, 1));
  if (!call.has(1) || !call.has(2)) return call.wrong("an operand is absent");
  const Tensor &condition = call.in(0), &a = call.in(1), &b = call.in(2);
  if (a.element != b.element)
    return call.wrong("operands are %s and %s", element_name(a.element), element_name(b.element));
  if (call.node.has(kChoice) && a.shape != b.shape)
    return call.unsupported("the branches of the If before it give shapes %s and %s",
                            to_string(a.shape).c_str(), to_string(b.shape).c_str());
  Dims shape;
  QRT_TRY(result_shape(call, {&condition.shape, &a.shape, &b.shape}, &shape));
  Tensor* y;
  QRT_TRY(call.make(0, shape, a.element, &y));
  const Walk walk(shape, {broadcast_steps(condition.shape, shape), broadcast_steps(a.shape, shape),
                          broadcast_steps(b.shape, shape)});
  const auto choose = [&](const auto* u, const auto* v, auto* out) {
    walk.runs([&](const int64_t* offsets, int64_t n, const int64_t* steps) {
      for (int64_t i = 0; i < n; ++i)
        *out++ = condition.integers[static_cast<size_t>(offsets[0] + i * steps[0])] != 0
                     ? u[offsets[1] + i * steps[1]]
                     : v[offsets[2] + i * steps[2]];
    });
  };
  if (a.is_real())
    choose(a.reals.data(), b.reals.data(), y->reals.data());
  else
    choose(a.integers.data(), b.integers.data(), y->integers.data());
  return Status();
}

}  // namespace qrt::quantize
