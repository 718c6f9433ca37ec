// Constants, their conversion, and shapes, which are known.
#include "converter/import/onnx/folding/constants.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "converter/import/onnx/ops/handlers.h"
#include "onnx/onnx_pb.h"

namespace qrt::convert::from_onnx {
namespace {

std::vector<int64_t> integers_of(const Constant& c) {
  std::vector<int64_t> v(static_cast<size_t>(c.elements()));
  for (size_t i = 0; i < v.size(); ++i) v[i] = c.integer(static_cast<int64_t>(i));
  return v;
}

// Toward zero. False: a value is no int64.
bool truncated(const Constant& c, std::vector<int64_t>* v) {
  for (int64_t i = 0; i < c.elements(); ++i) {
    const float real = c.real(i);
    if (!(real > -9.0e18f && real < 9.0e18f)) return false;
    v->push_back(static_cast<int64_t>(real));
  }
  return true;
}

}  // namespace

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
                           "store the constant as an initialiser");
  }
  importer.set_output(node, 0, constant_tensor(std::move(constant)));
  return Status();
}

Status import_cast(Importer& importer, const NodeView& node) {
  const Tensor& x = importer.input(node, 0);
  const int to = static_cast<int>(node.integer("to", kUndefined));
  if (x.type == to && !x.is_table() && !x.is_pending() && !x.is_pair_function() && !x.quant) {
    importer.set_output(node, 0, x);
    return Status();
  }
  if (to == kFloat &&
      (x.is_table() || x.is_pending() || x.is_pair_function() || (x.is_constant() && x.quant))) {
    importer.set_output(node, 0, x);
    return Status();
  }
  DType stored;
  if (to == kFloat && x.is_value() && ir_type(x.type, &stored) &&
      (x.type == kUint8 || x.type == kInt8 || x.type == kUint16 || x.type == kInt16)) {
    Tensor y = x;
    y.kind = Tensor::Kind::kTable;
    y.quant = tensor_quant(stored, 1.0f, 0);
    auto table = std::make_shared<std::vector<float>>();
    if (!entries(y, table.get())) return importer.refuse_float(node, 0);
    y.table = std::move(table);
    importer.set_output(node, 0, std::move(y));
    return Status();
  }
  if (to == kFloat && x.is_value() && x.type == kInt32) {
    Tensor y;
    y.kind = Tensor::Kind::kValue;
    y.type = kFloat;
    y.shape = x.shape;
    y.is_dynamic = x.is_dynamic;
    y.value = importer.builder().dequantize_accumulators(node, x.value, {1.0f}, -1);
    importer.became(node, "Dequantize", "edge");
    importer.set_output(node, 0, std::move(y));
    return Status();
  }
  if (!x.is_plain_constant())
    return importer.refuse(node,
                           std::string("it casts ") + element_type_name(x.type) + " to " +
                               element_type_name(to) + " at run time",
                           node.input(0), "keep type conversions out of the quantised model");
  const Constant& c = *x.constant;
  const size_t n = static_cast<size_t>(c.elements());
  ConstantPtr result;
  if (to == kFloat && (c.is_integer() || c.is_real())) {
    std::vector<float> v(n);
    for (size_t i = 0; i < n; ++i) {
      const int64_t at = static_cast<int64_t>(i);
      v[i] = c.is_real() ? c.real(at) : static_cast<float>(c.integer(at));
    }
    result = make_constant(kFloat, c.shape, v);
  } else if (std::vector<int64_t> v;
             (to == kInt32 || to == kInt64) && c.is_real() && truncated(c, &v)) {
    result = integer_constant(to, c.shape, v);
  } else if (to == kBool && c.is_integer()) {
    std::vector<int64_t> v = integers_of(c);
    for (int64_t& i : v) i = i != 0;
    result = integer_constant(to, c.shape, v);
  } else if ((to == kInt32 || to == kInt64) && c.is_integer()) {
    result = integer_constant(to, c.shape, integers_of(c));
  } else if ((to == kInt8 || to == kUint8) && c.is_integer()) {
    std::vector<uint8_t> v(n);
    for (size_t i = 0; i < n; ++i) v[i] = static_cast<uint8_t>(c.integer(static_cast<int64_t>(i)));
    result = make_constant(to, c.shape, v);
  } else {
    return importer.refuse(node,
                           std::string("a constant of type ") + element_type_name(c.type) +
                               " is cast to " + element_type_name(to),
                           node.input(0), "store the constant in its final type");
  }
  importer.set_output(node, 0, constant_tensor(std::move(result)));
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
