// SPDX-License-Identifier: Apache-2.0
// A file of one tensor, as the test data beside ONNX models are.
#include "converter/convert.h"
#include "converter/import/onnx/file/constant.h"
#include "converter/import/onnx/file/parse.h"
#include "onnx/onnx_pb.h"
#include "runtime/tools/npy.h"

namespace qrt::convert {

Status read_onnx_tensor(const std::string& path, TestTensor* tensor) {
  onnx::TensorProto proto;
  Budget budget(0);
  QRT_TRY(from_onnx::parse_file(path, "tensor", "TensorProto", &proto, &budget));
  from_onnx::ExternalFiles files(path);
  from_onnx::ConstantPtr constant;
  QRT_TRY(from_onnx::read_constant(proto, &files, &constant).at(path));
  if (!from_onnx::ir_type(constant->type, &tensor->dtype))
    return error(Code::kUnsupported, "%s: element type %s is not supported", path.c_str(),
                 from_onnx::element_type_name(constant->type));
  tool::NpyArray array = {tool::npy_dtype(tensor->dtype), constant->shape, constant->data};
  QRT_TRY(tool::from_npy_form(tensor->dtype, &array).at(path));
  tensor->name = proto.name();
  tensor->shape = constant->shape;
  tensor->data = std::move(array.data);
  return {};
}

}  // namespace qrt::convert
