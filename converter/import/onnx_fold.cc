// Constants behind simple operators, mostly the integer arithmetic with which exporters compute the
// targets of Reshape.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "converter/import/onnx_ops.h"

namespace qrt::convert::from_onnx {
namespace {

// Shape arithmetic is small; anything longer is data and is not folded.
constexpr int64_t kMaxFolded = 4096;

template <class T>
ConstantPtr make_constant(int type, const Shape& shape, const std::vector<T>& elements) {
  auto c = std::make_shared<Constant>();
  c->type = type;
  c->shape = shape;
  c->data.resize(elements.size() * sizeof(T));
  if (!elements.empty()) memcpy(c->data.data(), elements.data(), c->data.size());
  return c;
}

Tensor constant_tensor(ConstantPtr constant) {
  Tensor t;
  t.kind = Tensor::Kind::kConstant;
  t.type = constant->type;
  t.shape = constant->shape;
  t.constant = std::move(constant);
  return t;
}

bool is_small_integer(const Tensor& t) {
  return t.is_plain_constant() && t.constant->is_integer() && t.constant->elements() <= kMaxFolded;
}

std::vector<int64_t> integers_of(const Constant& c) {
  std::vector<int64_t> v(static_cast<size_t>(c.elements()));
  for (size_t i = 0; i < v.size(); ++i) v[i] = c.integer(static_cast<int64_t>(i));
  return v;
}

ConstantPtr integer_constant(int type, const Shape& shape, const std::vector<int64_t>& v) {
  if (type != kInt32) return make_constant(kInt64, shape, v);
  return make_constant(kInt32, shape, std::vector<int32_t>(v.begin(), v.end()));
}

Status refuse_values(Importer& importer, const NodeView& node) {
  return importer.refuse(node, "qrt computes this operator only on small integer constants",
                         node.output(0), "simplify the model (constant folding) before conversion");
}

}  // namespace

Status import_constant(Importer& importer, const NodeView& node) {
  ConstantPtr constant;
  if (const onnx::TensorProto* tensor = node.tensor("value")) {
    Status s = importer.read(*tensor, &constant);
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
  if (x.type == to && !x.is_table() && !x.is_pending() && !x.quant) {
    importer.set_output(node, 0, x);
    return Status();
  }
  if (to == kFloat && (x.is_table() || x.is_pending() || (x.is_constant() && x.quant))) {
    importer.set_output(node, 0, x);
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

Status import_gather(Importer& importer, const NodeView& node) {
  const Tensor &data = importer.input(node, 0), &indices = importer.input(node, 1);
  if (!is_small_integer(data) || !is_small_integer(indices) || data.shape.rank() != 1 ||
      indices.shape.rank() > 1)
    return refuse_values(importer, node);
  const std::vector<int64_t> from = integers_of(*data.constant);
  std::vector<int64_t> v = integers_of(*indices.constant);
  const int64_t n = static_cast<int64_t>(from.size());
  for (int64_t& i : v) {
    QRT_MODEL_CHECK(i >= -n && i < n, "index %lld is outside %lld elements",
                    static_cast<long long>(i), static_cast<long long>(n));
    i = from[static_cast<size_t>(i < 0 ? i + n : i)];
  }
  importer.set_output(node, 0, constant_tensor(integer_constant(data.type, indices.shape, v)));
  return Status();
}

Status import_slice(Importer& importer, const NodeView& node) {
  const Tensor& data = importer.input(node, 0);
  bool small = is_small_integer(data) && data.shape.rank() == 1;
  for (int i = 1; i < node.input_count(); ++i)
    small = small && (!node.has_input(i) || is_small_integer(importer.input(node, i)));
  if (!small) return refuse_values(importer, node);
  const auto scalar = [&](int i, int64_t otherwise) {
    if (!node.has_input(i) || importer.input(node, i).constant->elements() != 1) return otherwise;
    return importer.input(node, i).constant->integer(0);
  };
  const std::vector<int64_t> from = integers_of(*data.constant);
  const int64_t n = static_cast<int64_t>(from.size());
  int64_t start = scalar(1, 0), end = scalar(2, n);
  const int64_t step = scalar(4, 1);
  if (step != 1) return refuse_values(importer, node);
  start = std::clamp<int64_t>(start < 0 ? start + n : start, 0, n);
  end = std::clamp<int64_t>(end < 0 ? end + n : end, start, n);
  const std::vector<int64_t> v(from.begin() + start, from.begin() + end);
  importer.set_output(
      node, 0, constant_tensor(integer_constant(data.type, {static_cast<int64_t>(v.size())}, v)));
  return Status();
}

bool fold_integers(Importer& importer, const NodeView& node) {
  std::vector<std::vector<int64_t>> in;
  int64_t longest = 0;
  int type = kInt64;
  Shape shape;
  for (int i = 0; i < node.input_count(); ++i) {
    const Tensor& t = importer.input(node, i);
    if (!is_small_integer(t) || t.shape.rank() > 1 || (t.type != kInt64 && t.type != kInt32))
      return false;
    in.push_back(integers_of(*t.constant));
    type = t.type;
    if (t.shape.rank() >= shape.rank() && t.constant->elements() >= longest) shape = t.shape;
    longest = std::max(longest, t.constant->elements());
  }
  std::vector<int64_t> v;
  if (node.op() == "Concat") {
    for (const auto& part : in) v.insert(v.end(), part.begin(), part.end());
    shape = {static_cast<int64_t>(v.size())};
  } else {
    if (in.size() != 2) return false;
    for (int64_t i = 0; i < longest; ++i) {
      int64_t operand[2], y = 0;
      for (size_t k = 0; k < 2; ++k) {
        if (in[k].empty() || (in[k].size() != 1 && static_cast<int64_t>(in[k].size()) != longest))
          return false;
        operand[k] = in[k].size() == 1 ? in[k][0] : in[k][static_cast<size_t>(i)];
      }
      const std::string& op = node.op();
      bool ok = false;
      if (op == "Add") ok = !__builtin_add_overflow(operand[0], operand[1], &y);
      if (op == "Sub") ok = !__builtin_sub_overflow(operand[0], operand[1], &y);
      if (op == "Mul") ok = !__builtin_mul_overflow(operand[0], operand[1], &y);
      if (op == "Div" && operand[1] > 0) ok = true, y = operand[0] / operand[1];
      if (!ok) return false;
      v.push_back(y);
    }
  }
  importer.set_output(node, 0, constant_tensor(integer_constant(type, shape, v)));
  return true;
}

}  // namespace qrt::convert::from_onnx
