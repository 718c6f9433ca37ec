// The table of handlers, and the geometry of windows.
#include "converter/import/tflite/ops/handlers.h"

namespace qrt::convert::from_tflite {
namespace {

using B = tflite::BuiltinOperator;

constexpr Handler kHandlers[] = {
    {B::ADD, 2, import_add, false, true},
    {B::AVERAGE_POOL_2D, 1, import_average_pool_2d, false, true},
    {B::CONCATENATION, 1, import_concatenation, false, true},
    {B::CONV_2D, 2, import_conv_2d, false, true},
    {B::DEPTHWISE_CONV_2D, 2, import_depthwise_conv_2d, false, true},
    {B::DEQUANTIZE, 1, import_dequantize, false, true},
    {B::FULLY_CONNECTED, 2, import_fully_connected, false, true},
    {B::LOGISTIC, 1, import_logistic, false, true},
    {B::MAX_POOL_2D, 1, import_max_pool_2d, false, true},
    {B::MUL, 2, import_mul, false, true},
    {B::RELU, 1, import_relu, false, true},
    {B::RELU_N1_TO_1, 1, import_relu_n1_to_1, false, true},
    {B::RELU6, 1, import_relu6, false, true},
    {B::RESHAPE, 1, import_reshape, false, true},
    {B::SOFTMAX, 1, import_softmax, false, true},
    {B::LOG_SOFTMAX, 1, import_log_softmax},
    {B::L2_NORMALIZATION, 1, import_l2_normalization},
    {B::SVDF, 3, import_svdf, true},
    {B::TANH, 1, import_tanh, false, true},
    {B::TRANSPOSE, 2, import_transpose, false, true},
    {B::MEAN, 2, import_mean, false, true},
    {B::SUB, 2, import_sub, false, true},
    {B::SQUEEZE, 1, import_reshape, false, true},
    {B::TRANSPOSE_CONV, 3, import_transpose_conv, false, true},
    {B::UNIDIRECTIONAL_SEQUENCE_LSTM, 9, import_unidirectional_sequence_lstm, true, true},
    {B::STRIDED_SLICE, 4, import_strided_slice, false, true},
    {B::PRELU, 2, import_prelu, false, true},
    {B::EXPAND_DIMS, 1, import_reshape, false, true},
    {B::SUM, 2, import_sum, false, true},
    {B::SHAPE, 1, import_shape},
    {B::REDUCE_MAX, 2, import_reduce_max, false, true},
    {B::REDUCE_MIN, 2, import_reduce_min, false, true},
    {B::PACK, 1, import_pack, false, true},
    {B::MINIMUM, 2, import_minimum, false, true},
    {B::MAXIMUM, 2, import_maximum, false, true},
    {B::ARG_MAX, 2, import_arg_max},
    {B::ARG_MIN, 2, import_arg_min},
    {B::BATCH_MATMUL, 2, import_batch_matmul, false, true},
    {B::LEAKY_RELU, 1, import_leaky_relu, false, true},
    {B::ELU, 1, import_elu},
    {B::ABS, 1, import_abs, false, true},
    {B::QUANTIZE, 1, import_quantize, false, true},
    {B::HARD_SWISH, 1, import_hard_swish},
    {B::SLICE, 3, import_slice, false, true},
    {B::SPLIT, 2, import_split, false, true},
    {B::SPLIT_V, 3, import_split_v, false, true},
    {B::PAD, 2, import_pad, false, true},
    {B::PADV2, 3, import_pad_v2, false, true},
    {B::MIRROR_PAD, 2, import_mirror_pad, false, true},
    {B::TILE, 2, import_tile, false, true},
    {B::BROADCAST_TO, 2, import_broadcast_to, false, true},
    {B::REVERSE_V2, 2, import_reverse_v2, false, true},
    {B::GATHER, 2, import_gather, false, true},
    {B::GATHER_ND, 2, import_gather_nd, false, true},
    {B::UNPACK, 1, import_unpack, false, true},
    {B::DEPTH_TO_SPACE, 1, import_depth_to_space, false, true},
    {B::SPACE_TO_DEPTH, 1, import_space_to_depth, false, true},
    {B::SPACE_TO_BATCH_ND, 3, import_space_to_batch_nd, false, true},
    {B::BATCH_TO_SPACE_ND, 3, import_batch_to_space_nd, false, true},
    {B::RESIZE_NEAREST_NEIGHBOR, 2, import_resize_nearest_neighbor, false, true},
    {B::RESIZE_BILINEAR, 2, import_resize_bilinear, false, true},
    {B::EXP, 1, import_exp, false, true},
    {B::LOG, 1, import_log, false, true},
    {B::SQRT, 1, import_sqrt, false, true},
    {B::RSQRT, 1, import_rsqrt, false, true},
    {B::GELU, 1, import_gelu},
    {B::SQUARED_DIFFERENCE, 2, import_squared_difference, false, true},
    {B::CAST, 1, import_cast, false, true},
    {B::EQUAL, 2, import_comparison, false, true},
    {B::NOT_EQUAL, 2, import_comparison, false, true},
    {B::LESS, 2, import_comparison, false, true},
    {B::LESS_EQUAL, 2, import_comparison, false, true},
    {B::GREATER, 2, import_comparison, false, true},
    {B::GREATER_EQUAL, 2, import_comparison, false, true},
    {B::LOGICAL_AND, 2, import_logical_and},
    {B::LOGICAL_OR, 2, import_logical_or},
    {B::LOGICAL_NOT, 1, import_logical_not},
    {B::SELECT, 3, import_select, false, true},
    {B::SELECT_V2, 3, import_select, false, true},
    {B::DIV, 2, import_div},
    {B::CUMSUM, 2, import_cumsum},
    {B::ADD_N, 2, import_add_n},
    {B::ZEROS_LIKE, 1, import_zeros_like, false, true},
    {B::DYNAMIC_UPDATE_SLICE, 3, import_dynamic_update_slice, false, true},
    {B::EMBEDDING_LOOKUP, 2, import_embedding_lookup, false, true},
    {B::FLOOR_DIV, 2, import_floor_div},
    {B::FLOOR_MOD, 2, import_floor_mod},
    {B::TOPK_V2, 2, import_topk_v2, false, true, 2},
    {B::CALL_ONCE, 0, import_call_once, false, false, 0},
    {B::VAR_HANDLE, 0, import_var_handle, true},
    {B::READ_VARIABLE, 1, import_read_variable, true, true},
    {B::ASSIGN_VARIABLE, 2, import_assign_variable, true, true, 0},
    {B::CUSTOM, 3, import_detection_post_process, false, false, 4, "TFLite_Detection_PostProcess"},
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
