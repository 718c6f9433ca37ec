// SPDX-License-Identifier: Apache-2.0
#include "converter/import/tflite/floats/float_op.h"

#include <cfloat>
#include <limits>

namespace qrt::convert::from_tflite {
namespace {

using B = tflite::BuiltinOperator;
using F = fb::FloatFunction;

constexpr Handler kHandlers[] = {
    {import_dynamic_fully_connected, B::FULLY_CONNECTED, 2},
    {import_dynamic_conv_2d, B::CONV_2D, 2},
    {import_dynamic_depthwise_conv_2d, B::DEPTHWISE_CONV_2D, 2},
    {import_dynamic_batch_matmul, B::BATCH_MATMUL, 2},
    {import_dynamic_lstm, B::UNIDIRECTIONAL_SEQUENCE_LSTM, 1, true},
    {import_float_unary, B::ABS, 1},
    {import_float_unary, B::ELU, 1},
    {import_float_unary, B::EXP, 1},
    {import_float_unary, B::GELU, 1},
    {import_float_unary, B::HARD_SWISH, 1},
    {import_float_unary, B::LEAKY_RELU, 1},
    {import_float_unary, B::LOG, 1},
    {import_float_unary, B::LOGISTIC, 1},
    {import_float_unary, B::NEG, 1},
    {import_float_unary, B::RELU, 1},
    {import_float_unary, B::RELU6, 1},
    {import_float_unary, B::RELU_N1_TO_1, 1},
    {import_float_unary, B::RSQRT, 1},
    {import_float_unary, B::SQRT, 1},
    {import_float_unary, B::SQUARE, 1},
    {import_float_unary, B::TANH, 1},
    {import_float_binary, B::ADD, 2},
    {import_float_binary, B::DIV, 2},
    {import_float_binary, B::MAXIMUM, 2},
    {import_float_binary, B::MINIMUM, 2},
    {import_float_binary, B::MUL, 2},
    {import_float_binary, B::PRELU, 2},
    {import_float_binary, B::SQUARED_DIFFERENCE, 2},
    {import_float_binary, B::SUB, 2},
    {import_float_reduction, B::MEAN, 2},
    {import_float_reduction, B::REDUCE_MAX, 2},
    {import_float_reduction, B::REDUCE_MIN, 2},
    {import_float_reduction, B::SUM, 2},
    {import_float_softmax, B::SOFTMAX, 1},
    {import_float_softmax, B::LOG_SOFTMAX, 1},
    {import_float_l2_normalization, B::L2_NORMALIZATION, 1},
    {import_float_pool, B::AVERAGE_POOL_2D, 1},
    {import_float_pool, B::MAX_POOL_2D, 1},
    {import_float_resize_bilinear, B::RESIZE_BILINEAR, 2},
};

bool is_product(B code) {
  return code == B::FULLY_CONNECTED || code == B::CONV_2D || code == B::DEPTHWISE_CONV_2D ||
         code == B::BATCH_MATMUL || code == B::UNIDIRECTIONAL_SEQUENCE_LSTM;
}

}  // namespace

bool has_dynamic_range(const Model& model) {
  for (const Op& op : model.ops()) {
    const auto tensor = [&](int i) {
      return op.has_input(i)
                 ? &model.tensors()[static_cast<size_t>(op.inputs[static_cast<size_t>(i)])]
                 : nullptr;
    };
    // An LSTM has the weights of its forget gate in any case.
    const Tensor *x = tensor(0), *w = tensor(op.code == B::UNIDIRECTIONAL_SEQUENCE_LSTM ? 2 : 1);
    if (op.code == B::DEQUANTIZE && x && x->is_constant && x->type == TensorType::FLOAT16)
      return true;
    if (is_product(op.code) && x && w && x->type == TensorType::FLOAT32 && w->is_constant &&
        (w->type == TensorType::INT8 || w->type == TensorType::INT4 || w->type == TensorType::INT2))
      return true;
  }
  return false;
}

const Handler* find_dynamic_handler(const Op& op) {
  for (const Handler& handler : kHandlers)
    if (handler.code == op.code) return &handler;
  return nullptr;
}

bool FloatOp::read(int i, ValueId* x) {
  const Tensor& t = importer_.input(op_, i);
  *x = t.type == TensorType::FLOAT32 ? importer_.value(op_, i) : kNoValue;
  if (*x != kNoValue) return true;
  (void)importer_.refuse(op_,
                         importer_.quoted_input(op_, i) + " is " + type_name(t.type) +
                             ": beside float32 results only float32 is supported",
                         t.name, "convert the operator's inputs to float32 by a DEQUANTIZE");
  return false;
}

const Value* FloatOp::read_constant(int i) {
  ValueId x;
  if (!read(i, &x)) return nullptr;
  const Value& value = importer_.graph().values[x];
  if (value.is_constant) return &value;
  (void)importer_.refuse(op_, importer_.quoted_input(op_, i) + " is not a constant",
                         importer_.input(op_, i).name, "store it as a constant of the model");
  return nullptr;
}

// Limits y. The limit is the first operand, so that NaN stays NaN (kernels/float_fallback).
Status FloatOp::limit(float lo, float hi, ValueId* y) {
  if (lo > -FLT_MAX) QRT_TRY(binary(F::MAXIMUM, constant({}, {lo}), *y, y));
  if (hi < FLT_MAX) QRT_TRY(binary(F::MINIMUM, constant({}, {hi}), *y, y));
  return Status();
}

Status FloatOp::activate(tflite::ActivationFunctionType activation, ValueId* y) {
  using A = tflite::ActivationFunctionType;
  switch (activation) {
    case A::NONE: return Status();
    case A::RELU: return limit(0, FLT_MAX, y);
    case A::RELU6: return limit(0, 6, y);
    case A::RELU_N1_TO_1: return limit(-1, 1, y);
    case A::TANH: *y = add(F::TANH, {*y}, shape_of(*y)); return Status();
    default: return error(Code::kUnsupported, "it has a fused activation without a kernel");
  }
}

Status FloatOp::finish(ValueId y, const std::string& result, const std::string& level) {
  const Tensor& to = importer_.output(op_);
  const Shape made = shape_of(y);
  QRT_MODEL_CHECK(made.elements() == to.shape.elements(), "its output has shape %s, expected %s",
                  to.shape.to_string().c_str(), made.to_string().c_str());
  if (made != to.shape) y = builder().reshape(op_, y, to.shape);
  Value& value = importer_.graph().values[y];
  if (value.name.empty()) value.name = to.name;
  importer_.set_output(op_, y);
  importer_.became(op_, result, level);
  return Status();
}

}  // namespace qrt::convert::from_tflite
