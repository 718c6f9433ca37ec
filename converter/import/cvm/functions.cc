// The table of operators.
#include "converter/import/cvm/functions.h"

#include <climits>

#include "converter/import/cvm/ops/ops.h"

namespace qrt::convert::from_cvm {
namespace {

constexpr Function kFunctions[] = {
    {"conv2d", 2, 3, 1, infer_conv2d, import_conv2d},
    {"dense", 2, 3, 1, infer_dense, import_dense},
    {"relu", 1, 1, 1, infer_plain, import_relu},
    {"abs", 1, 1, 1, infer_plain, import_abs},
    {"negative", 1, 1, 1, infer_plain, import_negative},
    {"cvm_precision", 1, 1, 1, infer_bits, import_bits},
    {"clip", 1, 1, 1, infer_clip, import_clip},
    {"cvm_clip", 1, 1, 1, infer_cvm_clip, import_cvm_clip},
    {"cvm_right_shift", 1, 1, 1, infer_right_shift, import_right_shift},
    {"cvm_left_shift", 1, 1, 1, infer_left_shift, import_left_shift},
    {"elemwise_add", 2, 2, 1, infer_elementwise_sum, import_add},
    {"elemwise_sub", 2, 2, 1, infer_elementwise_sum, import_subtract},
    {"broadcast_add", 2, 2, 1, infer_broadcast_sum, import_add},
    {"broadcast_sub", 2, 2, 1, infer_broadcast_sum, import_subtract},
    {"broadcast_mul", 2, 2, 1, infer_broadcast_product, import_multiply},
    {"broadcast_max", 2, 2, 1, infer_broadcast_maximum, import_maximum},
    {"broadcast_div", 2, 2, 1, infer_broadcast_first, import_divide},
    {"broadcast_greater", 2, 2, 1, infer_broadcast_first, import_greater},
    {"max_pool2d", 1, 1, 1, infer_max_pool2d, import_max_pool2d},
    {"upsampling", 1, 1, 1, infer_upsampling, import_upsampling},
    {"sum", 1, 1, 1, infer_sum, import_sum},
    {"max", 1, 1, 1, infer_max, import_max},
    {"concatenate", 1, INT_MAX, 1, infer_concatenate, import_concatenate},
    {"reshape", 1, 1, 1, infer_reshape, import_reshape},
    {"flatten", 1, 1, 1, infer_flatten, import_reshape},
    {"expand_dims", 1, 1, 1, infer_expand_dims, import_reshape},
    {"squeeze", 1, 1, 1, infer_squeeze, import_reshape},
    {"transpose", 1, 1, 1, infer_transpose, import_transpose},
    {"repeat", 1, 1, 1, infer_repeat, import_repeat},
    {"tile", 1, 1, 1, infer_tile, import_tile},
    {"strided_slice", 1, 1, 1, infer_strided_slice, import_strided_slice},
    {"slice_like", 2, 2, 1, infer_slice_like, import_slice_like},
    {"cvm_lut", 2, 2, 1, infer_lut, import_lut},
    {"take", 2, 2, 1, infer_take, import_take},
    {"where", 3, 3, 1, infer_where, import_where},
    {"get_valid_counts", 1, 1, 2, infer_get_valid_counts, import_get_valid_counts},
    {"non_max_suppression", 2, 2, 1, infer_non_max_suppression, import_non_max_suppression},
};

}  // namespace

const Function* find_function(const std::string& name) {
  for (const Function& f : kFunctions)
    if (name == f.name) return &f;
  return nullptr;
}

}  // namespace qrt::convert::from_cvm
