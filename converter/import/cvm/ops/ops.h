// What infers and what imports each operator; functions.cc has the table. One file per group.
#ifndef QRT_CONVERTER_IMPORT_CVM_OPS_OPS_H_
#define QRT_CONVERTER_IMPORT_CVM_OPS_OPS_H_

#include "converter/import/cvm/importer.h"
#include "converter/import/cvm/infer.h"

namespace qrt::convert::from_cvm {

// linear.cc
Status infer_conv2d(Inference* inference);
Status import_conv2d(Importer& importer, const Op& op);
Status infer_dense(Inference* inference);
Status import_dense(Importer& importer, const Op& op);
// elementwise.cc
Status infer_plain(Inference* inference);
Status import_relu(Importer& importer, const Op& op);
Status import_abs(Importer& importer, const Op& op);
Status import_negative(Importer& importer, const Op& op);
Status infer_bits(Inference* inference);
Status import_bits(Importer& importer, const Op& op);
Status infer_clip(Inference* inference);
Status import_clip(Importer& importer, const Op& op);
Status infer_cvm_clip(Inference* inference);
Status import_cvm_clip(Importer& importer, const Op& op);
Status infer_right_shift(Inference* inference);
Status import_right_shift(Importer& importer, const Op& op);
Status infer_left_shift(Inference* inference);
Status import_left_shift(Importer& importer, const Op& op);
// pairs.cc
Status infer_elementwise_sum(Inference* inference);
Status infer_broadcast_sum(Inference* inference);
Status infer_broadcast_product(Inference* inference);
Status infer_broadcast_maximum(Inference* inference);
Status infer_broadcast_first(Inference* inference);
Status import_add(Importer& importer, const Op& op);
Status import_subtract(Importer& importer, const Op& op);
Status import_multiply(Importer& importer, const Op& op);
Status import_maximum(Importer& importer, const Op& op);
Status import_divide(Importer& importer, const Op& op);
Status import_greater(Importer& importer, const Op& op);
// windows.cc
Status infer_max_pool2d(Inference* inference);
Status import_max_pool2d(Importer& importer, const Op& op);
Status infer_upsampling(Inference* inference);
Status import_upsampling(Importer& importer, const Op& op);
// reduce.cc
Status infer_sum(Inference* inference);
Status import_sum(Importer& importer, const Op& op);
Status infer_max(Inference* inference);
Status import_max(Importer& importer, const Op& op);
// move.cc
Status infer_concatenate(Inference* inference);
Status import_concatenate(Importer& importer, const Op& op);
Status infer_reshape(Inference* inference);
Status infer_flatten(Inference* inference);
Status infer_expand_dims(Inference* inference);
Status infer_squeeze(Inference* inference);
Status import_reshape(Importer& importer, const Op& op);
Status infer_transpose(Inference* inference);
Status import_transpose(Importer& importer, const Op& op);
// slices.cc
Status infer_repeat(Inference* inference);
Status import_repeat(Importer& importer, const Op& op);
Status infer_tile(Inference* inference);
Status import_tile(Importer& importer, const Op& op);
Status infer_strided_slice(Inference* inference);
Status import_strided_slice(Importer& importer, const Op& op);
Status infer_slice_like(Inference* inference);
Status import_slice_like(Importer& importer, const Op& op);
// lookup.cc
Status infer_lut(Inference* inference);
Status import_lut(Importer& importer, const Op& op);
Status infer_take(Inference* inference);
Status import_take(Importer& importer, const Op& op);
Status infer_where(Inference* inference);
Status import_where(Importer& importer, const Op& op);
// boxes.cc
Status infer_get_valid_counts(Inference* inference);
Status import_get_valid_counts(Importer& importer, const Op& op);
Status infer_non_max_suppression(Inference* inference);
Status import_non_max_suppression(Importer& importer, const Op& op);

}  // namespace qrt::convert::from_cvm

#endif  // QRT_CONVERTER_IMPORT_CVM_OPS_OPS_H_
