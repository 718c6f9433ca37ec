// SPDX-License-Identifier: Apache-2.0
// The table of handlers, made from ops.inc, and the geometry they share.
#include "converter/import/espdl/ops.h"

#include <algorithm>

namespace qrt::convert::from_espdl {
namespace {

constexpr Handler kHandlers[] = {
#define QRT_ESPDL_OP(handler, op, ...) {handler, op, __VA_ARGS__},
#include "converter/import/espdl/ops.inc"
};

constexpr const char* kUnspecified[] = {"GRU",
                                        "LSTM",
                                        "LayerNormalization",
                                        "RMSNormalization",
                                        "LpNormalization",
                                        "Pow",
                                        "Mod",
                                        "Neg",
                                        "LogSoftmax",
                                        "ReduceL1",
                                        "ReduceL2",
                                        "ReduceProd",
                                        "ReduceLogSum",
                                        "ReduceLogSumExp",
                                        "ReduceSumSquare",
                                        "ScatterND",
                                        "ReverseSequence"};
constexpr const char* kUnregistered[] = {"Max", "Min", "And", "Or", "Not", "Xor"};

Status place_window(int64_t in, WindowAxis* axis) {
  QRT_MODEL_CHECK(axis->kernel >= 1 && axis->stride >= 1 && axis->dilation >= 1 &&
                      axis->before >= 0 && axis->after >= 0,
                  "a window of %lld with stride %lld, dilation %lld and padding %lld and %lld",
                  static_cast<long long>(axis->kernel), static_cast<long long>(axis->stride),
                  static_cast<long long>(axis->dilation), static_cast<long long>(axis->before),
                  static_cast<long long>(axis->after));
  if (axis->kernel > kMaxWindowField || axis->stride > kMaxWindowField ||
      axis->dilation > kMaxWindowField || axis->before > kMaxWindowField ||
      axis->after > kMaxWindowField)
    return error(Code::kUnsupported, "a kernel, stride, dilation or padding is greater than 65535");
  const int64_t reach = (axis->kernel - 1) * axis->dilation + 1,
                padded = in + axis->before + axis->after;
  QRT_MODEL_CHECK(in >= 1 && reach <= padded, "a window of %lld positions on %lld",
                  static_cast<long long>(reach), static_cast<long long>(padded));
  axis->output = (padded - reach) / axis->stride + 1;
  return Status();
}

}  // namespace

const Handler* find_handler(const std::string& op) {
  for (const Handler& handler : kHandlers)
    if (op == handler.op) return &handler;
  return nullptr;
}

const char* why_refused(const std::string& op) {
  for (const char* name : kUnspecified)
    if (op == name)
      return "the arithmetic of this operator of ESP-DL's runtime is not specified bit for bit";
  for (const char* name : kUnregistered)
    if (op == name) return "ESP-DL's runtime does not load this operator";
  return nullptr;
}

Status broadcast_shape(const Shape& a, const Shape& b, Shape* shape) {
  *shape = Shape();
  QRT_MODEL_CHECK(broadcast(a, b, shape), "shapes %s and %s do not broadcast",
                  a.to_string().c_str(), b.to_string().c_str());
  return Status();
}

Status place_axis(int64_t axis, int rank, int* result) {
  *result = 0;
  QRT_MODEL_CHECK(axis >= -rank && axis < rank, "axis %lld of %d dimensions, expected one of them",
                  static_cast<long long>(axis), rank);
  *result = static_cast<int>(axis < 0 ? axis + rank : axis);
  return Status();
}

Status read_window(const Node& node, const std::vector<int64_t>& sizes,
                   const std::vector<int64_t>& kernel, Window* window) {
  const size_t axes = sizes.size();
  const auto list = [&](const char* name, size_t count, int64_t otherwise,
                        std::vector<int64_t>* values) -> Status {
    *values = node.integers(name);
    if (values->empty()) values->assign(count, otherwise);
    QRT_MODEL_CHECK(values->size() == count, "%s has %zu numbers, expected %zu", name,
                    values->size(), count);
    return Status();
  };
  const std::string auto_pad = node.text("auto_pad", "NOTSET");
  if (auto_pad != "NOTSET")
    return error(Code::kUnsupported, "auto_pad is '%s', which the runtime does not read",
                 auto_pad.c_str());
  QRT_MODEL_CHECK(kernel.size() == axes, "a kernel of %zu axes, expected %zu as the image has",
                  kernel.size(), axes);
  std::vector<int64_t> strides, dilations, pads;
  QRT_TRY(list("strides", axes, 1, &strides));
  QRT_TRY(list("dilations", axes, 1, &dilations));
  QRT_TRY(list("pads", 2 * axes, 0, &pads));
  *window = Window();
  for (size_t i = 0; i < axes; ++i) {
    WindowAxis axis = {kernel[i], strides[i], dilations[i], pads[i], pads[axes + i]};
    QRT_TRY(place_window(sizes[i], &axis));
    window->set_axis(static_cast<int>(i + 2 - axes), axis);
  }
  return Status();
}

Status as_image(Importer& importer, const Node& node, ValueId* x) {
  const Shape shape = importer.builder().shape_of(*x);
  if (shape.rank() == 4) return Status();
  if (shape.rank() != 3)
    return error(Code::kUnsupported, "the input has shape %s, expected [n, h, w, c] or [n, w, c]",
                 shape.to_string().c_str());
  *x = importer.builder().reshaped(node, *x, {shape[0], 1, shape[1], shape[2]});
  return Status();
}

ValueId from_image(Importer& importer, const Node& node, ValueId y, int rank) {
  const Shape shape = importer.builder().shape_of(y);
  return rank == 4 ? y : importer.builder().reshaped(node, y, {shape[0], shape[2], shape[3]});
}

}  // namespace qrt::convert::from_espdl
