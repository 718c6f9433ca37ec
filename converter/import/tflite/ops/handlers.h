// The operators of TFLite that have an integer form: one handler each, and what handlers share.
#ifndef QRT_CONVERTER_IMPORT_TFLITE_OPS_HANDLERS_H_
#define QRT_CONVERTER_IMPORT_TFLITE_OPS_HANDLERS_H_

#include "converter/import/tflite/importer.h"

namespace qrt::convert::from_tflite {

struct Handler {
  tflite::BuiltinOperator code;
  int inputs;  // the first ones, which must be there
  Status (*handle)(Importer& importer, const Op& op);
  bool has_state = false;    // takes tensors that keep their content between runs
  bool takes_int16 = false;  // activations of 16 bits
};

// Null: there is none.
const Handler* find_handler(tflite::BuiltinOperator code);

// One axis of a window by the reference's rule: SAME puts the greater half of the padding behind.
struct WindowAxis {
  int64_t kernel = 1, stride = 1, dilation = 1, pad_before = 0, pad_after = 0, out = 0;
};
constexpr int64_t kMaxField = 65535;  // of strides, dilations and padding in qrt's options
// Checks kernel, stride and dilation and sets the rest. kInvalidModel where they make no window;
// kUnsupported where qrt's fields are too small for them.
Status place_window(int64_t in, tflite::Padding padding, WindowAxis* axis);

template <class Options>
void set_window(const WindowAxis& h, const WindowAxis& w, Options* o) {
  o->stride_h = static_cast<uint16_t>(h.stride);
  o->stride_w = static_cast<uint16_t>(w.stride);
  o->pad_top = static_cast<uint16_t>(h.pad_before);
  o->pad_bottom = static_cast<uint16_t>(h.pad_after);
  o->pad_left = static_cast<uint16_t>(w.pad_before);
  o->pad_right = static_cast<uint16_t>(w.pad_after);
}

template <class Options>
void set_dilation(const WindowAxis& h, const WindowAxis& w, Options* o) {
  o->dilation_h = static_cast<uint16_t>(h.dilation);
  o->dilation_w = static_cast<uint16_t>(w.dilation);
}

// The file's shape of output 0 is the one that follows from the operator.
Status check_output_shape(const Importer& importer, const Op& op, const Shape& expected);
// The same where the first two inputs broadcast.
Status check_broadcast(const Importer& importer, const Op& op);

// ops/linear.cc
Status import_conv_2d(Importer& importer, const Op& op);
Status import_depthwise_conv_2d(Importer& importer, const Op& op);
Status import_fully_connected(Importer& importer, const Op& op);
Status import_transpose_conv(Importer& importer, const Op& op);
// ops/unary.cc
Status import_logistic(Importer& importer, const Op& op);
Status import_tanh(Importer& importer, const Op& op);
Status import_relu(Importer& importer, const Op& op);
Status import_relu_n1_to_1(Importer& importer, const Op& op);
Status import_relu6(Importer& importer, const Op& op);
Status import_leaky_relu(Importer& importer, const Op& op);
Status import_prelu(Importer& importer, const Op& op);
Status import_hard_swish(Importer& importer, const Op& op);
Status import_elu(Importer& importer, const Op& op);
Status import_abs(Importer& importer, const Op& op);
Status import_quantize(Importer& importer, const Op& op);
Status import_dequantize(Importer& importer, const Op& op);
// ops/softmax.cc
Status import_softmax(Importer& importer, const Op& op);
// ops/move.cc
Status import_concatenation(Importer& importer, const Op& op);
Status import_shape(Importer& importer, const Op& op);
Status import_pack(Importer& importer, const Op& op);
// ops/gather.cc
Status import_reshape(Importer& importer, const Op& op);
Status import_transpose(Importer& importer, const Op& op);
Status import_strided_slice(Importer& importer, const Op& op);
Status import_slice(Importer& importer, const Op& op);
Status import_split(Importer& importer, const Op& op);
Status import_split_v(Importer& importer, const Op& op);
Status import_pad(Importer& importer, const Op& op);
Status import_pad_v2(Importer& importer, const Op& op);
Status import_mirror_pad(Importer& importer, const Op& op);
Status import_tile(Importer& importer, const Op& op);
Status import_broadcast_to(Importer& importer, const Op& op);
Status import_reverse_v2(Importer& importer, const Op& op);
Status import_gather(Importer& importer, const Op& op);
Status import_gather_nd(Importer& importer, const Op& op);
Status import_unpack(Importer& importer, const Op& op);
// ops/blocks.cc
Status import_depth_to_space(Importer& importer, const Op& op);
Status import_space_to_depth(Importer& importer, const Op& op);
Status import_space_to_batch_nd(Importer& importer, const Op& op);
Status import_batch_to_space_nd(Importer& importer, const Op& op);
// ops/resize.cc
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
// ops/select.cc
Status import_minimum(Importer& importer, const Op& op);
Status import_maximum(Importer& importer, const Op& op);
Status import_arg_max(Importer& importer, const Op& op);
Status import_arg_min(Importer& importer, const Op& op);
Status import_batch_matmul(Importer& importer, const Op& op);
// ops/recurrent.cc
Status import_svdf(Importer& importer, const Op& op);
Status import_unidirectional_sequence_lstm(Importer& importer, const Op& op);

}  // namespace qrt::convert::from_tflite

#endif  // QRT_CONVERTER_IMPORT_TFLITE_OPS_HANDLERS_H_
