// The operators of TFLite that have an integer form: one handler each, and what handlers share.
#ifndef QRT_CONVERTER_IMPORT_TFLITE_OPS_HANDLERS_H_
#define QRT_CONVERTER_IMPORT_TFLITE_OPS_HANDLERS_H_

#include "converter/import/common/layer_constants.h"
#include "converter/import/common/window.h"
#include "converter/import/tflite/importer.h"
#include "converter/import/tflite/requant.h"

namespace qrt::convert::from_tflite {

struct Handler {
  tflite::BuiltinOperator code;
  int inputs;  // the first ones, which must be there
  Status (*handle)(Importer& importer, const Op& op);
  bool has_state = false;    // takes tensors that keep their content between runs, or their handles
  bool takes_int16 = false;  // activations of 16 bits
  int outputs = 1;           // at least
  const char* custom_code = "";  // of a CUSTOM
};

// Null: there is none.
const Handler* find_handler(const Op& op);
// Of an operator whose output is float32 (real.h).
const Handler* find_float_handler(const Op& op);

// Places a window on an image by the reference's rule: SAME puts the greater half of the padding
// behind. Checks kernel, stride and dilation and sets the rest. kInvalidModel where they make no
// window; kUnsupported where qrt's fields are too small for them.
Status place_window(int64_t rows, int64_t columns, tflite::Padding padding, Window* window);

// The file's shape of output 0 is the one that follows from the operator.
Status check_output_shape(const Importer& importer, const Op& op, const Shape& expected);
// The same where the first two inputs broadcast.
Status check_broadcast(const Importer& importer, const Op& op);

// The activation that ADD, SUB, MUL and DIV may have within them.
tflite::ActivationFunctionType fused_activation(const Op& op);

// ops/convolution.cc
Status import_conv_2d(Importer& importer, const Op& op);
Status import_depthwise_conv_2d(Importer& importer, const Op& op);
Status import_fully_connected(Importer& importer, const Op& op);
// ops/transpose_conv.cc
Status import_transpose_conv(Importer& importer, const Op& op);
// ops/activation.cc
Status import_logistic(Importer& importer, const Op& op);
Status import_tanh(Importer& importer, const Op& op);
Status import_relu(Importer& importer, const Op& op);
Status import_relu_n1_to_1(Importer& importer, const Op& op);
Status import_relu6(Importer& importer, const Op& op);
Status import_leaky_relu(Importer& importer, const Op& op);
Status import_prelu(Importer& importer, const Op& op);
Status import_hard_swish(Importer& importer, const Op& op);
Status import_abs(Importer& importer, const Op& op);
// ops/function.cc
Status import_elu(Importer& importer, const Op& op);
Status import_exp(Importer& importer, const Op& op);
Status import_log(Importer& importer, const Op& op);
Status import_sqrt(Importer& importer, const Op& op);
Status import_rsqrt(Importer& importer, const Op& op);
Status import_gelu(Importer& importer, const Op& op);
// ops/real.cc: input i as a number, or what DEQUANTIZE or an operator of floats made. False: the operator
// was refused.
bool read_real(Importer& importer, const Op& op, int i, Real* real);
// ops/cast.cc
Status import_cast(Importer& importer, const Op& op);
// ops/compare.cc
Status import_comparison(Importer& importer, const Op& op);
Status import_logical_and(Importer& importer, const Op& op);
Status import_logical_or(Importer& importer, const Op& op);
Status import_logical_not(Importer& importer, const Op& op);
Status import_select(Importer& importer, const Op& op);
// ops/accumulate.cc
Status import_cumsum(Importer& importer, const Op& op);
Status import_add_n(Importer& importer, const Op& op);
// ops/update.cc
Status import_dynamic_update_slice(Importer& importer, const Op& op);
// ops/embedding.cc
Status import_embedding_lookup(Importer& importer, const Op& op);
// ops/integers.cc: of int32, folded where both are known
Status import_integers(Importer& importer, const Op& op, fb::IntegerFunction function);
Status import_floor_div(Importer& importer, const Op& op);
Status import_floor_mod(Importer& importer, const Op& op);
// ops/detection.cc
Status import_detection_post_process(Importer& importer, const Op& op);
// ops/quantize.cc
Status import_quantize(Importer& importer, const Op& op);
Status import_dequantize(Importer& importer, const Op& op);
// ops/softmax.cc
Status import_softmax(Importer& importer, const Op& op);
Status import_log_softmax(Importer& importer, const Op& op);
// ops/normalize.cc
Status import_l2_normalization(Importer& importer, const Op& op);
// ops/move.cc
Status import_concatenation(Importer& importer, const Op& op);
Status import_shape(Importer& importer, const Op& op);
Status import_zeros_like(Importer& importer, const Op& op);
Status import_pack(Importer& importer, const Op& op);
// ops/gather.cc
Status import_reshape(Importer& importer, const Op& op);
Status import_transpose(Importer& importer, const Op& op);
Status import_tile(Importer& importer, const Op& op);
Status import_broadcast_to(Importer& importer, const Op& op);
Status import_reverse_v2(Importer& importer, const Op& op);
Status import_gather(Importer& importer, const Op& op);
Status import_gather_nd(Importer& importer, const Op& op);
// ops/slice.cc
Status import_strided_slice(Importer& importer, const Op& op);
Status import_slice(Importer& importer, const Op& op);
Status import_split(Importer& importer, const Op& op);
Status import_split_v(Importer& importer, const Op& op);
Status import_unpack(Importer& importer, const Op& op);
// ops/pad.cc
Status import_pad(Importer& importer, const Op& op);
Status import_pad_v2(Importer& importer, const Op& op);
Status import_mirror_pad(Importer& importer, const Op& op);
// ops/blocks.cc
Status import_depth_to_space(Importer& importer, const Op& op);
Status import_space_to_depth(Importer& importer, const Op& op);
Status import_space_to_batch_nd(Importer& importer, const Op& op);
Status import_batch_to_space_nd(Importer& importer, const Op& op);
// ops/resize/resize.cc
Status import_resize_nearest_neighbor(Importer& importer, const Op& op);
Status import_resize_bilinear(Importer& importer, const Op& op);
// ops/pool.cc
Status import_average_pool_2d(Importer& importer, const Op& op);
Status import_max_pool_2d(Importer& importer, const Op& op);
Status import_mean(Importer& importer, const Op& op);
Status import_sum(Importer& importer, const Op& op);
Status import_reduce_max(Importer& importer, const Op& op);
Status import_reduce_min(Importer& importer, const Op& op);
// ops/binary.cc
Status import_add(Importer& importer, const Op& op);
Status import_sub(Importer& importer, const Op& op);
Status import_mul(Importer& importer, const Op& op);
Status import_div(Importer& importer, const Op& op);
Status import_squared_difference(Importer& importer, const Op& op);
// ops/select.cc
Status import_minimum(Importer& importer, const Op& op);
Status import_maximum(Importer& importer, const Op& op);
Status import_topk_v2(Importer& importer, const Op& op);
Status import_arg_max(Importer& importer, const Op& op);
Status import_arg_min(Importer& importer, const Op& op);
Status import_batch_matmul(Importer& importer, const Op& op);
// ops/recurrent.cc
Status import_svdf(Importer& importer, const Op& op);
Status import_unidirectional_sequence_lstm(Importer& importer, const Op& op);
// ops/resource.cc
Status import_call_once(Importer& importer, const Op& op);
Status import_var_handle(Importer& importer, const Op& op);
Status import_read_variable(Importer& importer, const Op& op);
Status import_assign_variable(Importer& importer, const Op& op);

}  // namespace qrt::convert::from_tflite

#endif  // QRT_CONVERTER_IMPORT_TFLITE_OPS_HANDLERS_H_
