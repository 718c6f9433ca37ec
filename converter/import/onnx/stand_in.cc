// SPDX-License-Identifier: Apache-2.0
#include "converter/import/onnx/stand_in.h"

#include <algorithm>

#include "onnx/onnx_pb.h"

namespace qrt::convert::from_onnx {
namespace {

// Operators whose first output has the shape of the first input.
bool keeps_shape(const std::string& op) {
  static const char* const kOps[] = {"QuantizeLinear",
                                     "DequantizeLinear",
                                     "Softmax",
                                     "LogSoftmax",
                                     "Hardmax",
                                     "LayerNormalization",
                                     "InstanceNormalization",
                                     "BatchNormalization",
                                     "GroupNormalization",
                                     "RMSNormalization",
                                     "MeanVarianceNormalization",
                                     "LpNormalization",
                                     "LRN",
                                     "Cast",
                                     "Identity",
                                     "Dropout",
                                     "Clip",
                                     "Relu",
                                     "LeakyRelu",
                                     "ThresholdedRelu",
                                     "Elu",
                                     "Selu",
                                     "Celu",
                                     "Sigmoid",
                                     "HardSigmoid",
                                     "Tanh",
                                     "Softplus",
                                     "Softsign",
                                     "Mish",
                                     "HardSwish",
                                     "Swish",
                                     "Gelu",
                                     "Erf",
                                     "Exp",
                                     "Log",
                                     "Sqrt",
                                     "Reciprocal",
                                     "Abs",
                                     "Neg",
                                     "Sign",
                                     "Floor",
                                     "Ceil",
                                     "Round",
                                     "Sin",
                                     "Cos",
                                     "Tan",
                                     "Sinh",
                                     "Cosh",
                                     "Asin",
                                     "Acos",
                                     "Atan",
                                     "Not",
                                     "CumSum",
                                     "QLinearSigmoid",
                                     "QLinearLeakyRelu",
                                     "QLinearSoftmax",
                                     "QuickGelu",
                                     "FastGelu"};
  return std::any_of(std::begin(kOps), std::end(kOps),
                     [&](const char* known) { return op == known; });
}

// Returns the distance between the operands of an operator that broadcasts them, or 0.
int operand_distance(const std::string& op) {
  for (const char* known :
       {"Add", "Sub", "Mul", "Div", "Min", "Max", "Pow", "Mod", "PRelu", "Mean", "Sum", "Where"})
    if (op == known) return 1;
  return op == "QLinearAdd" || op == "QLinearMul" ? 3 : 0;
}

bool value_info_shape(const onnx::ValueInfoProto& info, int64_t batch, Shape* shape) {
  if (!info.has_type() || !info.type().has_tensor_type()) return false;
  const onnx::TypeProto::Tensor& type = info.type().tensor_type();
  if (!type.has_shape()) return false;
  std::vector<int64_t> dims;
  for (int d = 0; d < type.shape().dim_size(); ++d) {
    const auto& dim = type.shape().dim(d);
    if (!dim.has_dim_value() && d > 0) return false;
    dims.push_back(dim.has_dim_value() ? dim.dim_value() : batch);
    if (dims.back() <= 0) return false;
  }
  return make_shape(dims, shape).ok();
}

bool broadcast_into(const Shape& other, std::vector<int64_t>* dims) {
  const size_t rank = static_cast<size_t>(other.rank());
  if (rank > dims->size()) dims->insert(dims->begin(), rank - dims->size(), 1);
  for (size_t i = 0; i < rank; ++i) {
    int64_t& d = (*dims)[dims->size() - rank + i];
    const int64_t o = other[static_cast<int>(i)];
    if (d != o && d != 1 && o != 1) return false;
    d = std::max(d, o);
  }
  return true;
}

// Computes the shape of a Reduce* operator's result. Returns false where an axis is outside the shape.
bool reduced_shape(const Shape& x, const std::vector<int64_t>& axes, bool keep,
                   std::vector<int64_t>* dims) {
  std::vector<bool> reduced(static_cast<size_t>(x.rank()), axes.empty());
  for (int64_t a : axes) {
    if (a < -x.rank() || a >= x.rank()) return false;
    reduced[static_cast<size_t>(a < 0 ? a + x.rank() : a)] = true;
  }
  for (int d = 0; d < x.rank(); ++d) {
    if (!reduced[static_cast<size_t>(d)])
      dims->push_back(x[d]);
    else if (keep)
      dims->push_back(1);
  }
  return true;
}

}  // namespace

Status note_shape(Importer& importer, const NodeView& node, int i) {
  if (!node.has_output(i)) return Status();
  Tensor& y = importer.tensors().at(node.output(i));
  if (!y.is_refused() || y.shape_known) return Status();
  if (const auto* info = importer.tensors().declared(node.output(i)))
    y.shape_known = value_info_shape(*info, importer.graph().default_batch, &y.shape);
  if (y.shape_known || i > 0) return Status();
  const auto known = [&](int k) {
    const Tensor& x = importer.input(node, k);
    return node.has_input(k) && (!x.is_refused() || x.shape_known);
  };
  for (int k = 0; k < node.input_count(); ++k)
    if (node.has_input(k)) QRT_TRY(importer.tensors().load_initializer(node.input(k)));
  std::vector<int64_t> dims;
  bool told = false;
  if (!known(0)) return Status();
  const Shape& x = importer.input(node, 0).shape;
  const int distance = operand_distance(node.op());
  if (keeps_shape(node.op())) {
    dims.assign(x.begin(), x.end());
    told = true;
  } else if (distance > 0) {
    told = true;
    for (int k = 0; k < (distance == 1 ? node.input_count() : 4); k += distance)
      told = told && known(k) && broadcast_into(importer.input(node, k).shape, &dims);
  } else if (node.op().rfind("Reduce", 0) == 0) {
    std::vector<int64_t> axes = node.integers("axes");
    const Tensor& given = importer.input(node, 1);
    told = !node.has_input(1) || (given.is_plain_constant() && given.constant->is_integer());
    for (int64_t a = 0; told && node.has_input(1) && a < given.constant->elements(); ++a)
      axes.push_back(given.constant->integer(a));
    told = told && reduced_shape(x, axes, node.integer("keepdims", 1) != 0, &dims);
  }
  y.shape_known = told && make_shape(dims, &y.shape).ok();
  return Status();
}

void drop_float_stand_in(Importer& importer, const NodeView& node) {
  if (node.op() != "QuantizeLinear" || !importer.outcomes().is_skipped(node.index())) return;
  Tensor unknown;
  unknown.shape = importer.input(node, 0).shape;
  unknown.shape_known = true;
  importer.tensors().at(node.input(0)) = std::move(unknown);
}

bool stand_in(Importer& importer, const NodeView& node, int i) {
  Tensor& t = importer.tensors().at(node.input(i));
  const bool dequantizes = node.op() == "DequantizeLinear" && i == 0;
  int type = kUndefined;
  if (const auto* info = importer.tensors().declared(node.input(i)))
    type = info->type().tensor_type().elem_type();
  // The type may be that of the zero point, the input behind the tensor and its scale.
  const bool typed = dequantizes || node.op().rfind("QLinear", 0) == 0;
  if (type == kUndefined && typed && importer.input(node, i + 2).is_plain_constant())
    type = importer.input(node, i + 2).type;
  const bool activation = type == kUint8 || type == kInt8 || type == kUint16 || type == kInt16;
  if (t.shape_known && node.op() == "QuantizeLinear" && i == 0) {
    t.kind = Tensor::Kind::kValue;
    t.type = kFloat;
    t.value = importer.builder().new_value(node.input(i), DType::kFloat32, t.shape);
    importer.outcomes().depends_on(node.index(), importer.outcomes().origin(node.input(i)));
    return true;
  }
  DType dtype;
  if (!t.shape_known || !(activation || (dequantizes && type == kInt32)) || !ir_type(type, &dtype))
    return false;
  t.kind = Tensor::Kind::kValue;
  t.type = type;
  if (type == kInt8) dtype = DType::kUInt8;
  if (type == kUint16) dtype = DType::kInt16;
  t.value = importer.builder().new_value(node.input(i), dtype, t.shape);
  return true;
}

}  // namespace qrt::convert::from_onnx
