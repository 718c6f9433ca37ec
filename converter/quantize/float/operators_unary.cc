// SPDX-License-Identifier: Apache-2.0
// Functions of one element.
#include <algorithm>
#include <cmath>
#include <limits>

#include "converter/quantize/float/operators.h"

namespace qrt::quantize {
namespace {

// The number of elements of a block, in functions that take several passes.
constexpr size_t kAtOnce = 1024;

// Calls f(x, y, n) on all elements, in blocks of n <= kAtOnce.
template <class F>
void in_blocks(Call& call, const Tensor& x, Tensor* y, const F& f) {
  constexpr size_t kGrain = 16 * kAtOnce;  // elements that are worth a task
  call.machine.parallel.chunks(x.reals.size(), kGrain, [&](size_t, size_t begin, size_t end) {
    for (size_t i = begin; i < end; i += kAtOnce)
      f(x.reals.data() + i, y->reals.data() + i, std::min(kAtOnce, end - i));
  });
}

// Computes y = f(x), element by element.
template <class F>
void map(Call& call, const Tensor& x, Tensor* y, const F& f) {
  in_blocks(call, x, y, [&](const float* from, float* to, size_t n) {
    for (size_t i = 0; i < n; ++i) to[i] = f(from[i]);
  });
}

// Computes y = f(x, g(h(x))), g being one of the exact functions of kernels/float_fallback.
template <class H, class F>
void map_through(Call& call, const Tensor& x, Tensor* y, FloatUnary g, const H& h, const F& f) {
  const FloatKernel& math = *call.machine.math;
  in_blocks(call, x, y, [&](const float* from, float* to, size_t n) {
    float part[kAtOnce] = {}, made[kAtOnce];
    for (size_t i = 0; i < n; ++i) part[i] = h(from[i]);
    math.unary(g, part, made, n);
    for (size_t i = 0; i < n; ++i) to[i] = f(from[i], made[i]);
  });
}

void exact(Call& call, const Tensor& x, Tensor* y, FloatUnary f) {
  const FloatKernel& math = *call.machine.math;
  in_blocks(call, x, y,
            [&](const float* from, float* to, size_t n) { math.unary(f, from, to, n); });
}

// Computes y = min(max(x, lo), hi); NaN stays NaN.
void limit(Call& call, const Tensor& x, float lo, float hi, Tensor* y) {
  map(call, x, y, [=](float v) {
    const float above = v < lo ? lo : v;
    return above > hi ? hi : above;
  });
}

bool exponentials(Call& call, const Tensor& x, Tensor* y) {
  const std::string& op = call.node.op;
  const Node& node = call.node;
  if (op == "Elu" || op == "Selu" || op == "Celu") {
    const bool selu = op == "Selu";
    const float alpha = node.real("alpha", selu ? 1.67326319217681884765625f : 1.0f);
    const float gamma = selu ? node.real("gamma", 1.05070102214813232421875f) : 1.0f;
    const float divisor = op == "Celu" ? alpha : 1.0f;
    map_through(
        call, x, y, FloatUnary::kExp, [=](float v) { return v / divisor; },
        [=](float v, float e) { return gamma * (v < 0 ? alpha * (e - 1.0f) : v); });
  } else if (op == "Softplus") {
    // log(1 + e) for e <= 1, plus x where that is above 0.
    const FloatKernel& math = *call.machine.math;
    in_blocks(call, x, y, [&](const float* from, float* to, size_t n) {
      float part[kAtOnce] = {};
      for (size_t i = 0; i < n; ++i) part[i] = -std::fabs(from[i]);
      math.unary(FloatUnary::kExp, part, part, n);
      for (size_t i = 0; i < n; ++i) part[i] = 1.0f + part[i];
      math.unary(FloatUnary::kLog, part, part, n);
      for (size_t i = 0; i < n; ++i) to[i] = part[i] + (from[i] < 0 ? 0.0f : from[i]);
    });
  } else if (op == "Mish") {
    // tanh(log(1 + e)) = n / (n + 2), n = e (e + 2).
    map_through(
        call, x, y, FloatUnary::kExp, [](float v) { return v > 20.0f ? 20.0f : v; },
        [](float v, float e) {
          const float n = e * (e + 2.0f);
          return v * (n / (n + 2.0f));
        });
  } else if (op == "Gelu" && node.text("approximate", "none") == "tanh") {
    map_through(
        call, x, y, FloatUnary::kTanh,
        [](float v) { return 0.797884560802865356f * (v + 0.044715f * v * v * v); },
        [](float v, float t) { return 0.5f * v * (1.0f + t); });
  } else {
    return false;
  }
  return true;
}

bool simple(Call& call, const Tensor& x, Tensor* y) {
  const std::string& op = call.node.op;
  const Node& node = call.node;
  const float infinity = std::numeric_limits<float>::infinity();
  if (op == "Relu") {
    limit(call, x, 0.0f, infinity, y);
  } else if (op == "LeakyRelu") {
    const float alpha = node.real("alpha", 0.01f);
    map(call, x, y, [=](float v) { return v < 0 ? alpha * v : v; });
  } else if (op == "ThresholdedRelu") {
    const float alpha = node.real("alpha", 1.0f);
    map(call, x, y, [=](float v) { return v > alpha ? v : 0.0f; });
  } else if (op == "HardSigmoid" || op == "HardSwish") {
    const bool swish = op == "HardSwish";
    const float alpha = swish ? 1.0f / 6.0f : node.real("alpha", 0.2f);
    const float beta = swish ? 0.5f : node.real("beta", 0.5f);
    map(call, x, y, [=](float v) {
      float s = alpha * v + beta;
      s = s < 0 ? 0.0f : s > 1 ? 1.0f : s;
      return swish ? v * s : s;
    });
  } else if (op == "Reciprocal") {
    map(call, x, y, [](float v) { return 1.0f / v; });
  } else if (op == "Softsign") {
    map(call, x, y, [](float v) { return v / (1.0f + std::fabs(v)); });
  } else if (op == "Neg") {
    map(call, x, y, [](float v) { return -v; });
  } else if (op == "Abs") {
    map(call, x, y, [](float v) { return std::fabs(v); });
  } else if (op == "Floor") {
    map(call, x, y, [](float v) { return std::floor(v); });
  } else if (op == "Ceil") {
    map(call, x, y, [](float v) { return std::ceil(v); });
  } else if (op == "Round") {
    map(call, x, y, [](float v) { return std::nearbyint(v); });
  } else if (op == "Sign") {
    map(call, x, y, [](float v) { return v > 0 ? 1.0f : v < 0 ? -1.0f : v; });
  } else {
    return false;
  }
  return true;
}

// Computes Neg, Abs, Sign or Relu of integers, which occur in shape arithmetic.
Status integer_unary(Call& call) {
  const Tensor& x = call.in(0);
  const std::string& op = call.node.op;
  if (op != "Neg" && op != "Abs" && op != "Sign" && op != "Relu")
    return call.unsupported("of %s", element_name(x.element));
  Tensor* y;
  QRT_TRY(call.make(0, x.shape, x.element, &y));
  for (size_t i = 0; i < x.integers.size(); ++i) {
    const int64_t v = x.integers[i];
    const auto negated = static_cast<int64_t>(0 - static_cast<uint64_t>(v));
    y->integers[i] = op == "Neg"    ? negated
                     : op == "Abs"  ? (v < 0 ? negated : v)
                     : op == "Relu" ? std::max<int64_t>(v, 0)
                                    : (v > 0) - (v < 0);
  }
  return Status();
}

// Reads the one element of an optional limit.
Status limit_of(const Call& call, size_t i, float otherwise, float* value) {
  *value = otherwise;
  if (!call.has(i)) return Status();
  const Tensor& t = call.in(i);
  if (t.size() != 1 || !t.is_real()) return call.wrong("limit %zu is no single float32", i);
  *value = t.reals[0];
  return Status();
}

}  // namespace

Status run_unary(Call& call) {
  if (call.has(0) && !call.in(0).is_real()) return integer_unary(call);
  QRT_TRY(call.need_reals(0, 1));
  const Tensor& x = call.in(0);
  Tensor* y;
  QRT_TRY(call.make(x.shape, &y));
  static constexpr struct {
    const char* op;
    FloatUnary f;
  } kExact[] = {{"Sigmoid", FloatUnary::kSigmoid}, {"Tanh", FloatUnary::kTanh},
                {"Exp", FloatUnary::kExp},         {"Log", FloatUnary::kLog},
                {"Sqrt", FloatUnary::kSqrt},       {"Erf", FloatUnary::kErf}};
  for (const auto& entry : kExact)
    if (call.node.op == entry.op) {
      exact(call, x, y, entry.f);
      return Status();
    }
  if (exponentials(call, x, y) || simple(call, x, y)) return Status();
  exact(call, x, y, FloatUnary::kGelu);
  return Status();
}

Status run_clip(Call& call) {
  if (call.has(0) && !call.in(0).is_real()) {
    const Tensor& x = call.in(0);
    Tensor* y;
    QRT_TRY(call.make(0, x.shape, x.element, &y));
    int64_t limits[2] = {std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()};
    for (size_t i = 0; i < 2; ++i) {
      if (!call.has(i + 1)) continue;
      if (call.in(i + 1).is_real() || call.in(i + 1).size() != 1)
        return call.wrong("limit %zu is no single integer", i + 1);
      limits[i] = call.in(i + 1).integers[0];
    }
    for (size_t i = 0; i < x.integers.size(); ++i)
      y->integers[i] = std::min(std::max(x.integers[i], limits[0]), limits[1]);
    return Status();
  }
  QRT_TRY(call.need_reals(0, 1));
  const float infinity = std::numeric_limits<float>::infinity();
  float lo, hi;
  QRT_TRY(limit_of(call, 1, -infinity, &lo));
  QRT_TRY(limit_of(call, 2, infinity, &hi));
  Tensor* y;
  QRT_TRY(call.make(call.in(0).shape, &y));
  limit(call, call.in(0), lo, hi, y);
  return Status();
}

Status run_identity(Call& call) {
  if (!call.has(0)) return call.wrong("input 0 is absent");
  const Tensor& x = call.in(0);
  Tensor* y;
  QRT_TRY(call.make(0, x.shape, x.element, &y));
  y->reals = x.reals;
  y->integers = x.integers;
  return Status();
}

Status run_cast(Call& call) {
  if (!call.has(0)) return call.wrong("input 0 is absent");
  const Tensor& x = call.in(0);
  static constexpr struct {
    Element element;
    int64_t lo, hi;
  } kRanges[] = {
      {Element::kInt64, std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()},
      {Element::kInt32, std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max()},
      {Element::kBool, 0, 1},
      {Element::kUint8, 0, 255},
      {Element::kInt8, -128, 127}};
  const int64_t to = call.node.integer("to", 0);
  Tensor* y;
  if (to == onnx_element(Element::kFloat)) {
    if (x.is_real()) return run_identity(call);
    QRT_TRY(call.make(x.shape, &y));
    for (size_t i = 0; i < x.integers.size(); ++i) y->reals[i] = static_cast<float>(x.integers[i]);
    return Status();
  }
  for (const auto& range : kRanges) {
    if (to != onnx_element(range.element)) continue;
    QRT_TRY(call.make(0, x.shape, range.element, &y));
    for (size_t i = 0; i < y->integers.size(); ++i) {
      int64_t v;
      if (range.element == Element::kBool) {
        v = x.is_real() ? x.reals[i] != 0.0f : x.integers[i] != 0;
      } else if (x.is_real()) {
        // Clamps to limits within int64; NaN becomes the type's lowest value.
        const double bounded = std::min(std::max(static_cast<double>(x.reals[i]), -9.2e18), 9.2e18);
        v = x.reals[i] == x.reals[i] ? static_cast<int64_t>(bounded) : range.lo;
      } else {
        v = x.integers[i];
      }
      y->integers[i] = std::min(std::max(v, range.lo), range.hi);
    }
    return Status();
  }
  return call.unsupported("to element type %lld", static_cast<long long>(to));
}

}  // namespace qrt::quantize
