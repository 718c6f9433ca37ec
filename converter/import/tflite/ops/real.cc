// SPDX-License-Identifier: Apache-2.0
// Operators of float32 tensors that stand between DEQUANTIZE and QUANTIZE (real.h).
#include "converter/import/tflite/real.h"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstring>

#include "converter/import/tflite/ops/handlers.h"
#include "converter/portable_math.h"

namespace qrt::convert::from_tflite {
bool read_real(Importer& importer, const Op& op, int i, Real* real) {
  const Tensor& t = importer.input(op, i);
  if (const Real* known = importer.real(op, i)) {
    *real = *known;
    return true;
  }
  if (t.is_constant && t.type == TensorType::FLOAT32 && t.shape.elements() == 1) {
    real->table.resize(1);
    memcpy(real->table.data(), t.data, sizeof(float));
    return true;
  }
  (void)importer.refuse(op,
                        "tensor '" + t.name + "' is " + type_name(t.type) +
                            ": only integer operators are supported, and functions of one or two "
                            "tensors of bytes that DEQUANTIZE makes",
                        t.name,
                        "convert the model with full integer quantisation: representative_dataset "
                        "and TFLITE_BUILTINS_INT8 in TFLite's converter");
  return false;
}

namespace {

using B = tflite::BuiltinOperator;

struct Function {
  B code;
  float (*unary)(float);  // or
  float (*binary)(float, float);
};

float float_exp(float x) {
  if (!(x > -110 && x < 89)) return x < 0 ? 0 : x > 0 ? INFINITY : x;
  const double e = portable_exp(static_cast<double>(x));
  return e < 0x1.ffffffp127 ? static_cast<float>(e) : INFINITY;
}

float float_log(float x) {
  if (!(x > 0)) return x == 0 ? -INFINITY : NAN;
  return std::isinf(x) ? x : static_cast<float>(portable_log(static_cast<double>(x)));
}

// Rounds half to even; what lies above -0.5 becomes 0 without a sign.
float rounded(float x) {
  const float below = std::floor(x), part = x - below;
  const bool stays = part < 0.5f || (part == 0.5f && std::fmod(below, 2.0f) == 0);
  return stays ? below : below + 1;
}

// The float functions, as the reference's kernels compute them.
constexpr Function kFunctions[] = {
    {B::ABS, [](float x) { return std::fabs(x); }, nullptr},
    {B::CEIL, [](float x) { return std::ceil(x); }, nullptr},
    {B::EXP, float_exp, nullptr},
    {B::FLOOR, [](float x) { return std::floor(x); }, nullptr},
    {B::LOG, float_log, nullptr},
    {B::NEG, [](float x) { return -x; }, nullptr},
    {B::RELU, [](float x) { return x < 0 ? 0 : x; }, nullptr},
    {B::RELU6, [](float x) { return x > 6   ? 6
                                    : x < 0 ? 0
                                            : x; }, nullptr},
    {B::ROUND, rounded, nullptr},
    {B::RSQRT, [](float x) { return 1 / std::sqrt(x); }, nullptr},
    {B::SQRT, [](float x) { return std::sqrt(x); }, nullptr},
    {B::SQUARE, [](float x) { return x * x; }, nullptr},
    {B::ADD, nullptr, [](float x, float y) { return x + y; }},
    {B::DIV, nullptr, [](float x, float y) { return x / y; }},
    {B::MAXIMUM, nullptr, [](float x, float y) { return x > y ? x : y; }},
    {B::MINIMUM, nullptr, [](float x, float y) { return x < y ? x : y; }},
    {B::MUL, nullptr, [](float x, float y) { return x * y; }},
    {B::SQUARED_DIFFERENCE, nullptr, [](float x, float y) { return (x - y) * (x - y); }},
    {B::SUB, nullptr, [](float x, float y) { return x - y; }},
};

const Function* find_function(const Op& op) {
  for (const Function& f : kFunctions)
    if (f.code == op.code) return &f;
  return nullptr;
}

float within(float x, float lo, float hi) { return std::min(std::max(x, lo), hi); }

// Limits results as the reference does, also without an activation: infinities become numbers.
Real activated(const Real& x, tflite::ActivationFunctionType activation) {
  using A = tflite::ActivationFunctionType;
  switch (activation) {
    case A::RELU: return mapped(x, [](float v) { return within(v, 0, FLT_MAX); });
    case A::RELU6: return mapped(x, [](float v) { return within(v, 0, 6); });
    case A::RELU_N1_TO_1: return mapped(x, [](float v) { return within(v, -1, 1); });
    default: return mapped(x, [](float v) { return within(v, -FLT_MAX, FLT_MAX); });
  }
}

bool has_activation(B code) {
  return code == B::ADD || code == B::SUB || code == B::MUL || code == B::DIV;
}

Status import_function(Importer& importer, const Op& op) {
  const Function& f = *find_function(op);
  Real x, y, result;
  if (!read_real(importer, op, 0, &x)) return Status();
  if (f.unary) {
    QRT_TRY(check_output_shape(importer, op, importer.input(op, 0).shape));
    result = mapped(x, f.unary);
  } else {
    if (!read_real(importer, op, 1, &y)) return Status();
    QRT_TRY(check_broadcast(importer, op));
    QRT_TRY(combined(x, y, f.binary, &result));
    if (has_activation(op.code)) result = activated(result, fused_activation(op));
  }
  if (result.is_constant())
    return importer.refuse(op, "it computes a constant", importer.output(op).name,
                           "make its result a constant of the model, computed before conversion");
  importer.became(op, result.is_pair() ? "PairLut" : "Lut", "I0");
  importer.set_real(op, std::move(result));
  return Status();
}

constexpr Handler kUnary = {import_function, B::ABS, 1}, kBinary = {import_function, B::ADD, 2};

}  // namespace

const Handler* find_float_handler(const Op& op) {
  const Function* f = find_function(op);
  if (!f) return nullptr;
  return f->unary ? &kUnary : &kBinary;
}

}  // namespace qrt::convert::from_tflite
