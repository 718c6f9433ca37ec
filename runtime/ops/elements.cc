// SPDX-License-Identifier: Apache-2.0
// Operators on integers without quantisation; see elements.h.
#include "runtime/ops/elements.h"

#include "runtime/ops/broadcast.h"
#include "runtime/ops/check.h"

namespace qrt {

Status check_integer(const InferContext& context, size_t i, const char* what) {
  const DType dtype = context.inputs[i].type.dtype;
  switch (dtype) {
    case DType::kUInt8:
    case DType::kInt8:
    case DType::kUInt16:
    case DType::kInt16:
    case DType::kInt32:
    case DType::kInt64: return Status();
    default: break;
  }
  return error(Code::kInvalidModel, "input %zu (%s) is %s, expected an integer type", i, what,
               dtype_name(dtype));
}

Status infer_integers(const InferContext& context, Shape* shape) {
  QRT_TRY(check_input_count(context, 2));
  QRT_TRY(check_integer(context, 0, "a"));
  QRT_TRY(check_dtype(context, 1, "b", context.inputs[0].type.dtype));
  return infer_broadcast_shape(context, shape);
}

Status declared_index_dtype(const InferContext& context, size_t output, DType* dtype) {
  const auto& outputs = *context.op->outputs();
  const auto at = static_cast<flatbuffers::uoffset_t>(output);
  *dtype = static_cast<DType>(context.model->tensors()->Get(outputs.Get(at))->dtype());
  QRT_MODEL_CHECK(*dtype == DType::kInt32 || *dtype == DType::kInt64,
                  "output %zu (indices) is %s, expected int32 or int64", output,
                  dtype_name(*dtype));
  return Status();
}

}  // namespace qrt
