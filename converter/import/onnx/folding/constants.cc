// SPDX-License-Identifier: Apache-2.0
// Makes constants at conversion, and imports Constant and Shape, whose results are constants.
#include "converter/import/onnx/folding/constants.h"

#include <algorithm>

#include "converter/import/onnx/ops/handlers.h"
#include "onnx/onnx_pb.h"

namespace qrt::convert::from_onnx {
ConstantPtr integer_constant(int type, const Shape& shape, const std::vector<int64_t>& v) {
  if (type == kBool) return make_constant(type, shape, std::vector<uint8_t>(v.begin(), v.end()));
  if (type == kInt32) return make_constant(type, shape, std::vector<int32_t>(v.begin(), v.end()));
  return make_constant(kInt64, shape, v);
}

Tensor constant_tensor(ConstantPtr constant) {
  Tensor t;
  t.kind = Tensor::Kind::kConstant;
  t.type = constant->type;
  t.shape = constant->shape;
  t.constant = std::move(constant);
  return t;
}

Status import_constant(Importer& importer, const NodeView& node) {
  ConstantPtr constant;
  if (const onnx::TensorProto* tensor = node.tensor("value")) {
    Status s = importer.tensors().read(*tensor, &constant);
    if (!s.ok()) return s;
  } else if (node.has("value_float")) {
    constant = make_constant(kFloat, {}, std::vector<float>{node.real("value_float", 0)});
  } else if (node.has("value_floats")) {
    const std::vector<float> v = node.reals("value_floats");
    constant = make_constant(kFloat, {static_cast<int64_t>(v.size())}, v);
  } else if (node.has("value_int")) {
    constant = make_constant(kInt64, {}, std::vector<int64_t>{node.integer("value_int", 0)});
  } else if (node.has("value_ints")) {
    const std::vector<int64_t> v = node.integers("value_ints");
    constant = make_constant(kInt64, {static_cast<int64_t>(v.size())}, v);
  } else {
    return importer.refuse(node, "it holds neither numbers nor a tensor", node.output(0),
                           "store the constant as an initialiser of numbers");
  }
  importer.set_output(node, 0, constant_tensor(std::move(constant)));
  return Status();
}

Status import_shape(Importer& importer, const NodeView& node) {
  const Shape& shape = importer.input(node, 0).shape;
  const int64_t rank = shape.rank();
  int64_t start = node.integer("start", 0), end = node.integer("end", rank);
  start = std::clamp<int64_t>(start < 0 ? start + rank : start, 0, rank);
  end = std::clamp<int64_t>(end < 0 ? end + rank : end, 0, rank);
  std::vector<int64_t> v;
  for (int64_t i = start; i < end; ++i) v.push_back(shape[static_cast<int>(i)]);
  importer.set_output(node, 0,
                      constant_tensor(make_constant(kInt64, {static_cast<int64_t>(v.size())}, v)));
  return Status();
}

}  // namespace qrt::convert::from_onnx
