// SPDX-License-Identifier: Apache-2.0
// Gemm and MatMul, whose right side may be computed.
#include "converter/import/espdl/ops/linear.h"

namespace qrt::convert::from_espdl {
namespace {

// Multiplies x [rows, k] by the filter, to [rows, n]. *y stays kNoValue where it was refused.
Status fully_connected(Importer& importer, const Node& node, const Activation& x, Linear* linear,
                       std::string* note, ValueId* y) {
  LinearConstants constants;
  bool known;
  QRT_TRY(
      read_linear(importer, node, {linear->shape.n, linear->shape.c}, linear, &constants, &known));
  if (!known) return Status();
  *note = constants.note;
  *y = importer.builder().new_value("", linear->out,
                                    {importer.builder().shape_of(x.value)[0], linear->shape.n});
  importer.builder()
      .add<fb::FullyConnectedOptionsT>(node, {x.value, constants.weights, constants.bias}, *y)
      .requant = requant_of(importer, *linear);
  return Status();
}

}  // namespace

Status import_gemm(Importer& importer, const Node& node) {
  Linear linear;
  Activation x;
  if (!importer.read_pair(node, &x, &linear.out) || !read_activation(importer, node, &linear.relu))
    return Status();
  linear.in = x.format;
  if (node.real("alpha", 1) != 1 || node.real("beta", 1) != 1 || node.integer("transA", 0) != 0 ||
      node.integer("transB", 0) != 0)
    return importer.refuse(
        node, "alpha, beta, transA or transB are not the 1, 1, 0 and 0 that the runtime computes",
        importer.output(node).name,
        "export the model with ESP-PPQ, which folds these into the weights");
  const Shape dims = importer.input(node, 1).shape, from = importer.builder().shape_of(x.value);
  QRT_MODEL_CHECK(dims.rank() == 4 && dims[0] == 1 && dims[1] == 1 && dims.elements() > 0,
                  "the weights have shape %s, expected [1, 1, k, n]", dims.to_string().c_str());
  linear.shape = {1, 1, dims[2], dims[3]};
  const int64_t k = dims[2];
  QRT_MODEL_CHECK(from.rank() > 0 && from.elements() > 0 && from[from.rank() - 1] == k,
                  "an input of shape %s is no rows of %lld", from.to_string().c_str(),
                  static_cast<long long>(k));
  Shape to = from;
  to[to.rank() - 1] = dims[3];
  x.value = importer.builder().reshaped(node, x.value, {from.elements() / k, k});
  std::string note;
  ValueId y = kNoValue;
  QRT_TRY(fully_connected(importer, node, x, &linear, &note, &y));
  if (y == kNoValue) return Status();
  importer.finish(node, importer.builder().reshaped(node, y, to), linear.out);
  importer.became(node, "FullyConnected" + note, "I0");
  return Status();
}

namespace {

// Unpacks a computed right-hand side [..., k, n], whose bytes stand in the order of a packed
// filter, to [matrices, k, n].
Status unpack_computed(Importer& importer, const Node& node, const Format& format, ValueId* b) {
  const Shape dims = importer.builder().shape_of(*b);
  const int64_t k = dims[dims.rank() - 2], n = dims[dims.rank() - 1],
                matrices = dims.elements() / (k * n);
  if (importer.target() == Target::kC) {
    *b = importer.builder().transpose(node, importer.builder().reshaped(node, *b, {matrices, n, k}),
                                      {0, 2, 1});
    return Status();
  }
  const int64_t block = block_of(format.type), full = n / block * block, rest = n - full;
  QRT_TRY(check_index_count(k * n));
  const auto part = [&](int64_t begin, int64_t count) {
    const ValueId flat = importer.builder().reshaped(node, *b, {matrices, k * n});
    IndexMaps maps(importer.builder().shape_of(flat));
    if (count < k * n) maps.set(1, stepped(begin, count, 1));
    return importer.builder().gathered(node, flat, maps, 0);
  };
  std::vector<ValueId> parts;
  if (full > 0) {
    const ValueId blocks =
        importer.builder().reshaped(node, part(0, k * full), {matrices, full / block, k, block});
    parts.push_back(importer.builder().reshaped(
        node, importer.builder().transpose(node, blocks, {0, 2, 1, 3}), {matrices, k, full}));
  }
  if (rest > 0) {
    const ValueId rows =
        importer.builder().reshaped(node, part(k * full, k * rest), {matrices, rest, k});
    parts.push_back(importer.builder().transpose(node, rows, {0, 2, 1}));
  }
  *b = parts[0];
  if (parts.size() == 1) return Status();
  *b = importer.builder().new_value("", format, {matrices, k, n});
  importer.builder().add<fb::ConcatOptionsT>(node, parts, *b).axis = 2;
  return Status();
}

// Unpacks a constant right-hand side [..., k, n], every matrix packed as a filter of its own, to
// [matrices, k, n].
Status unpack_constant(Importer& importer, const Node& node, const Format& format, ValueId* b) {
  const Tensor& w = importer.input(node, 1);
  const int64_t k = w.shape[w.shape.rank() - 2], n = w.shape[w.shape.rank() - 1],
                matrices = w.shape.elements() / (k * n);
  std::vector<int16_t> all, one;
  for (int64_t m = 0; m < matrices; ++m) {
    QRT_TRY(unpack_filter(w, m * k * n, {1, 1, k, n}, &one));
    for (int64_t i = 0; i < k; ++i)
      for (int64_t j = 0; j < n; ++j) all.push_back(one[static_cast<size_t>(j * k + i)]);
  }
  Value v;
  v.name = w.name;
  v.type = {format.stored_type(), {matrices, k, n}};
  v.is_constant = true;
  const size_t bytes = element_bytes(format.type);
  v.data.resize(all.size() * bytes);
  for (size_t i = 0; i < all.size(); ++i) {
    const auto stored = static_cast<uint16_t>(all[i] + format.offset());
    for (size_t k2 = 0; k2 < bytes; ++k2)
      v.data[i * bytes + k2] = static_cast<uint8_t>(stored >> (8 * k2));
  }
  *b = importer.graph().add_value(std::move(v));
  return Status();
}

// Returns numpy's shape of a product. An operand of one dimension leaves its dimension out of the
// product's; two such give [1].
Shape product_shape(const Shape& leading, int64_t m, int64_t n, bool keeps_m, bool keeps_n) {
  Shape y = leading;
  if (keeps_m) y.push_back(m);
  if (keeps_n) y.push_back(n);
  if (y.rank() == 0) y.push_back(1);
  return y;
}

Shape leading_of(const Shape& shape) {
  Shape leading;
  for (int i = 0; i < shape.rank() - 2; ++i) leading.push_back(shape[i]);
  return leading;
}

Shape with_matrix(Shape leading, int64_t rows, int64_t columns) {
  leading.push_back(rows);
  leading.push_back(columns);
  return leading;
}

}  // namespace

Status import_matmul(Importer& importer, const Node& node) {
  Linear linear;
  Activation a, b;
  if (!importer.read_pair(node, &a, &linear.out) || !read_activation(importer, node, &linear.relu))
    return Status();
  linear.in = a.format;
  const Tensor& right = importer.input(node, 1);
  // A single constant matrix is a filter: it may have an exponent per channel, and needs no value of its own.
  const bool is_filter = right.is_constant && right.problem.empty() && right.shape.rank() >= 2 &&
                         right.bytes > 0 && leading_of(right.shape).elements() == 1 &&
                         (importer.is_plain() || !node.has_input(2));
  if (!is_filter && !importer.read_integer(node, 1, &b)) return Status();
  if (is_filter) b.format.type = right.type;
  if (b.format.type != a.format.type)
    return importer.refuse(node,
                           "its inputs are " + std::string(type_name(a.format.type)) + " and " +
                               type_name(b.format.type),
                           right.name, "quantise both inputs to one type, int8 or int16");
  const Shape sa = importer.builder().shape_of(a.value),
              sb = is_filter ? right.shape : importer.builder().shape_of(b.value);
  const bool is_row = sa.rank() == 1, is_column = sb.rank() == 1;
  QRT_MODEL_CHECK(sa.rank() >= 1 && sb.rank() >= 1 && sa.elements() > 0 && sb.elements() > 0,
                  "shapes %s and %s", sa.to_string().c_str(), sb.to_string().c_str());
  const int64_t k = sa[sa.rank() - 1], m = is_row ? 1 : sa[sa.rank() - 2],
                n = is_column ? 1 : sb[sb.rank() - 1];
  QRT_MODEL_CHECK(k == (is_column ? sb[0] : sb[sb.rank() - 2]),
                  "shapes %s and %s cannot be multiplied", sa.to_string().c_str(),
                  sb.to_string().c_str());
  Shape leading;
  QRT_TRY(broadcast_shape(leading_of(sa), leading_of(sb), &leading));
  const Shape to = product_shape(leading, m, n, !is_row, !is_column);
  std::string note;
  ValueId y = kNoValue;
  if (is_filter) {
    linear.shape = {1, 1, k, n};
    a.value = importer.builder().reshaped(node, a.value, {sa.elements() / k, k});
    QRT_TRY(fully_connected(importer, node, a, &linear, &note, &y));
    if (y == kNoValue) return Status();
  } else {
    if (node.has_input(2))
      return importer.refuse(node, "it has a bias beside matrices that are computed", right.name,
                             "add the bias in an operator of its own");
    if (!is_column && (right.is_constant || !importer.is_plain()))
      QRT_TRY(right.is_constant ? unpack_constant(importer, node, b.format, &b.value)
                                : unpack_computed(importer, node, b.format, &b.value));
    const ValueId left =
        importer.builder().reshaped(node, a.value, with_matrix(leading_of(sa), m, k));
    const ValueId matrices =
        importer.builder().reshaped(node, b.value, with_matrix(leading_of(sb), k, n));
    y = importer.builder().new_value("", linear.out, with_matrix(leading, m, n));
    auto& o = importer.builder().add<fb::BatchMatMulOptionsT>(node, {left, matrices}, y);
    set_zero_point(a.format, &o.a_zero_point, &o.a_zero_point_16);
    set_zero_point(b.format, &o.b_zero_point, &o.b_zero_point_16);
    linear.shifts = {linear.out.exponent - a.format.exponent - b.format.exponent};
    o.requant = requant_of(importer, linear);
  }
  importer.finish(node, importer.builder().reshaped(node, y, to), linear.out);
  importer.became(node, (linear.weights.empty() ? "BatchMatMul" : "FullyConnected") + note, "I0");
  return Status();
}

}  // namespace qrt::convert::from_espdl
