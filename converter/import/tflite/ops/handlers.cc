// SPDX-License-Identifier: Apache-2.0
// The table of handlers, made from handlers.inc, and the geometry of windows.
#include "converter/import/tflite/ops/handlers.h"

namespace qrt::convert::from_tflite {
namespace {

using B = tflite::BuiltinOperator;

constexpr Handler kHandlers[] = {
#define QRT_TFLITE_OP(handler, code, ...) {handler, B::code, __VA_ARGS__},
#include "converter/import/tflite/ops/handlers.inc"
};

}  // namespace

const Handler* find_handler(const Op& op) {
  for (const Handler& handler : kHandlers)
    if (handler.code == op.code && handler.custom_code == op.custom_code) return &handler;
  return nullptr;
}

namespace {

Status place_axis(int64_t in, tflite::Padding padding, Window* w, int i) {
  const int64_t kernel = w->kernel[i], stride = w->stride[i], dilation = w->dilation[i];
  QRT_MODEL_CHECK(kernel >= 1 && stride >= 1 && dilation >= 1 && in >= 1,
                  "a window of %lld with stride %lld and dilation %lld on %lld positions",
                  static_cast<long long>(kernel), static_cast<long long>(stride),
                  static_cast<long long>(dilation), static_cast<long long>(in));
  QRT_MODEL_CHECK(padding == tflite::Padding::SAME || padding == tflite::Padding::VALID,
                  "padding is %d, expected 0 or 1", static_cast<int>(padding));
  if (kernel > kMaxWindowField || stride > kMaxWindowField || dilation > kMaxWindowField)
    return error(Code::kUnsupported, "a kernel, stride or dilation is greater than 65535");
  const int64_t reach = (kernel - 1) * dilation + 1;
  if (padding == tflite::Padding::SAME) {
    w->output[i] = (in + stride - 1) / stride;
    const int64_t needed = (w->output[i] - 1) * stride + reach - in;
    const int64_t total = needed > 0 ? needed : 0;
    w->before[i] = total / 2;
    w->after[i] = total - w->before[i];
    if (w->after[i] > kMaxWindowField) return error(Code::kUnsupported, "padding is above 65535");
    return Status();
  }
  QRT_MODEL_CHECK(reach <= in, "a window of %lld positions on %lld", static_cast<long long>(reach),
                  static_cast<long long>(in));
  w->output[i] = (in - reach) / stride + 1;
  return Status();
}

}  // namespace

Status place_window(int64_t rows, int64_t columns, tflite::Padding padding, Window* window) {
  QRT_TRY(place_axis(rows, padding, window, 0));
  return place_axis(columns, padding, window, 1);
}

tflite::ActivationFunctionType fused_activation(const Op& op) {
  switch (op.code) {
    case B::ADD: return op.options<tflite::AddOptions>().fused_activation_function;
    case B::SUB: return op.options<tflite::SubOptions>().fused_activation_function;
    case B::MUL: return op.options<tflite::MulOptions>().fused_activation_function;
    case B::DIV: return op.options<tflite::DivOptions>().fused_activation_function;
    default: return tflite::ActivationFunctionType::NONE;
  }
}

Status check_output_shape(const Importer& importer, const Op& op, const Shape& expected) {
  const Shape& shape = importer.output(op).shape;
  QRT_MODEL_CHECK(shape == expected, "its output has shape %s, expected %s",
                  shape.to_string().c_str(), expected.to_string().c_str());
  return Status();
}

}  // namespace qrt::convert::from_tflite
