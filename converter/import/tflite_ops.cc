// The table of handlers, and the geometry of windows.
#include "converter/import/tflite_ops.h"

namespace qrt::convert::from_tflite {
namespace {

using B = tflite::BuiltinOperator;

constexpr Handler kHandlers[] = {
    {B::ADD, 2, import_add},
    {B::AVERAGE_POOL_2D, 1, import_average_pool_2d},
    {B::CONCATENATION, 1, import_concatenation},
    {B::CONV_2D, 2, import_conv_2d},
    {B::DEPTHWISE_CONV_2D, 2, import_depthwise_conv_2d},
    {B::DEQUANTIZE, 1, import_dequantize},
    {B::FULLY_CONNECTED, 2, import_fully_connected},
    {B::LOGISTIC, 1, import_logistic},
    {B::MAX_POOL_2D, 1, import_max_pool_2d},
    {B::MUL, 2, import_mul},
    {B::RELU, 1, import_relu},
    {B::RELU_N1_TO_1, 1, import_relu_n1_to_1},
    {B::RELU6, 1, import_relu6},
    {B::RESHAPE, 1, import_reshape},
    {B::SOFTMAX, 1, import_softmax},
    {B::SVDF, 3, import_svdf, true},
    {B::TANH, 1, import_tanh},
    {B::TRANSPOSE, 2, import_transpose},
    {B::TRANSPOSE_CONV, 3, import_transpose_conv},
    {B::MEAN, 2, import_mean},
    {B::SUB, 2, import_sub},
    {B::SQUEEZE, 1, import_reshape},
    {B::UNIDIRECTIONAL_SEQUENCE_LSTM, 9, import_unidirectional_sequence_lstm, true},
    {B::STRIDED_SLICE, 4, import_strided_slice},
    {B::PRELU, 2, import_prelu},
    {B::EXPAND_DIMS, 1, import_reshape},
    {B::SUM, 2, import_sum},
    {B::SHAPE, 1, import_shape},
    {B::REDUCE_MAX, 2, import_reduce_max},
    {B::REDUCE_MIN, 2, import_reduce_min},
    {B::PACK, 1, import_pack},
    {B::LEAKY_RELU, 1, import_leaky_relu},
    {B::ELU, 1, import_elu},
    {B::ABS, 1, import_abs},
    {B::QUANTIZE, 1, import_quantize},
    {B::HARD_SWISH, 1, import_hard_swish},
};

constexpr int64_t kMaxField = 65535;

}  // namespace

const Handler* find_handler(tflite::BuiltinOperator code) {
  for (const Handler& handler : kHandlers)
    if (handler.code == code) return &handler;
  return nullptr;
}

Status place_window(int64_t in, tflite::Padding padding, WindowAxis* axis) {
  QRT_MODEL_CHECK(axis->kernel >= 1 && axis->stride >= 1 && axis->dilation >= 1 && in >= 1,
                  "a window of %lld with stride %lld and dilation %lld on %lld positions",
                  static_cast<long long>(axis->kernel), static_cast<long long>(axis->stride),
                  static_cast<long long>(axis->dilation), static_cast<long long>(in));
  QRT_MODEL_CHECK(padding == tflite::Padding::SAME || padding == tflite::Padding::VALID,
                  "padding is %d, expected 0 or 1", static_cast<int>(padding));
  if (axis->kernel > kMaxField || axis->stride > kMaxField || axis->dilation > kMaxField)
    return error(Code::kUnsupported, "a kernel, stride or dilation is greater than 65535");
  const int64_t reach = (axis->kernel - 1) * axis->dilation + 1;
  if (padding == tflite::Padding::SAME) {
    axis->out = (in + axis->stride - 1) / axis->stride;
    const int64_t needed = (axis->out - 1) * axis->stride + reach - in;
    const int64_t total = needed > 0 ? needed : 0;
    axis->pad_before = total / 2;
    axis->pad_after = total - axis->pad_before;
    if (axis->pad_after > kMaxField) return error(Code::kUnsupported, "padding is above 65535");
    return Status();
  }
  QRT_MODEL_CHECK(reach <= in, "a window of %lld positions on %lld", static_cast<long long>(reach),
                  static_cast<long long>(in));
  axis->out = (in - reach) / axis->stride + 1;
  return Status();
}

Status check_output_shape(const Importer& importer, const Op& op, const Shape& expected) {
  const Shape& shape = importer.output(op).shape;
  QRT_MODEL_CHECK(shape == expected, "its output has shape %s, expected %s",
                  shape.to_string().c_str(), expected.to_string().c_str());
  return Status();
}

}  // namespace qrt::convert::from_tflite
