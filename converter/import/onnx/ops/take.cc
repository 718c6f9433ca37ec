// SPDX-License-Identifier: Apache-2.0
#include "converter/import/onnx/ops/take.h"

#include "converter/import/onnx/deferred/pending.h"
#include "converter/import/onnx/deferred/table.h"
#include "converter/import/onnx/float_fallback/float_graph.h"
#include "converter/import/onnx/ops/integer.h"
#include "converter/import/onnx/run_integers.h"

namespace qrt::convert::from_onnx {
namespace {

// Stores constant data of the node as a constant of the graph. *known stays false where the node was refused.
Status store_data(Importer& importer, const NodeView& node, int axis, Tensor* x, bool* known) {
  *known = false;
  const bool is_wide = x->type == kFloat || x->type == kInt32 || x->type == kInt64;
  if (x->is_plain_constant() && is_wide) {
    DType dtype;
    ir_type(x->type, &dtype);
    x->value = importer.graph().add_constant(node.input(0), dtype, x->shape, x->constant->data);
    x->kind = Tensor::Kind::kValue;
  } else {
    Quant quant;
    ir_type(x->type, &quant.type);
    if (!is_byte(x->type) && x->type != kBool && x->type != kUint16 && x->type != kInt16)
      return importer.refuse(
          node, std::string("its data is a constant of type ") + element_type_name(x->type),
          node.input(0), "store the table as float32 or integers of 8, 16, 32 or 64 bits");
    if (x->quant) quant = *x->quant;
    if (quant.axis >= axis)
      return importer.refuse(
          node, "its data is quantised per axis", node.input(0),
          "give its QuantizeLinear and DequantizeLinear one scale for the whole tensor");
    x->value = stored_constant(importer, *x->constant, quant, node.input(0));
    x->kind = x->quant ? Tensor::Kind::kTable : Tensor::Kind::kValue;
  }
  x->constant.reset();
  *known = true;
  return Status();
}

// Returns the indices as INT64.
ValueId int64_indices(Importer& importer, const NodeView& node, int i) {
  return RunIntegers(importer, node).to_int64(integer_value(importer, node, i));
}

}  // namespace

Status take(Importer& importer, const NodeView& node, const Taking& t) {
  Tensor y = importer.input(node, 0);
  bool known = true;
  if (y.is_constant()) QRT_TRY(store_data(importer, node, t.axis, &y, &known));
  if (!known) return Status();
  const bool is_whole = t.from == y.shape;
  y.shape = t.to;
  const auto taken = [&importer, &node, t](ValueId x) {
    GraphBuilder& builder = importer.builder();
    if (builder.shape_of(x) != t.from) x = builder.reshape(node, x, t.from);
    const Shape index = builder.shape_of(t.index);
    Shape shape;
    for (int d = 0; d < t.axis; ++d) shape.push_back(t.from[d]);
    for (int d = t.batch_dims; d < index.rank(); ++d) shape.push_back(index[d]);
    for (int d = t.axis + 1; d < t.from.rank(); ++d) shape.push_back(t.from[d]);
    const ValueId value = builder.new_value("", builder.type_of(x), shape);
    importer.graph().values[value].quantization = importer.graph().values[x].quantization;
    auto& o = builder.add<fb::TakeOptionsT>(node, {x, t.index}, value);
    o.axis = static_cast<uint32_t>(t.axis);
    o.batch_dims = static_cast<uint32_t>(t.batch_dims);
    o.is_checked = true;
    importer.became(node, "Take", "I0");
    return shape == t.to ? value : builder.reshape(node, value, t.to);
  };
  const bool is_uniform =
      y.is_table() && (is_whole ? y.meaning_axis() < t.axis : y.meaning_axis() < 0);
  if (y.is_value() || is_uniform) {
    y.value = taken(y.value);
    importer.set_output(node, 0, std::move(y));
    return Status();
  }
  const auto pending = own_function(importer, node, 0);
  if (!pending) return importer.refuse_float(node, 0);
  follow(importer, node, pending, t.to, [taken](const Quant*, ValueId* v) {
    *v = taken(*v);
    return Status();
  });
  return Status();
}

bool is_index_of_a_run(const Importer& importer, const NodeView& node, int i) {
  const Tensor& t = importer.input(node, i);
  return t.is_value() && (t.type == kInt32 || t.type == kInt64);
}

ValueId value_of(Importer& importer, const NodeView& node, int i, int* type) {
  const Tensor& t = importer.input(node, i);
  *type = t.type;
  if (t.is_value()) return t.value;
  if (t.waits() || t.type == kFloat || t.quant) {
    ValueId x = kNoValue;
    *type = kFloat;
    return FloatGraph(importer, node).read(i, &x) ? x : kNoValue;
  }
  const bool has_form = is_byte(t.type) || t.type == kBool || t.type == kUint16 ||
                        t.type == kInt16 || t.type == kInt32 || t.type == kInt64;
  return t.is_plain_constant() && has_form ? integer_value(importer, node, i) : kNoValue;
}

ValueId linear_indices(Importer& importer, const NodeView& node, ValueId indices, const Shape& from,
                       int begin) {
  RunIntegers r(importer, node);
  GraphBuilder& builder = importer.builder();
  const Shape shape = builder.shape_of(indices);
  const int last = shape.rank() - 1;
  const int64_t depth = shape[last];
  Shape points;
  for (int d = 0; d < last; ++d) points.push_back(shape[d]);
  const int64_t count = points.elements();
  const ValueId rows = r.reshaped(indices, {count, depth});
  if (depth == 1) return r.reshaped(rows, {count});
  ValueId place = kNoValue, bad = kNoValue;
  for (int64_t k = 0; k < depth; ++k) {
    IndexMaps maps({count, depth});
    maps.set(1, {static_cast<int32_t>(k)});
    const ValueId at = r.reshaped(builder.gather(node, rows, maps, 0), {count});
    const ValueId n = r.number(from[begin + static_cast<int>(k)]);
    const ValueId zero = r.constant(0);
    const ValueId i = r.add(at, r.multiply(r.to_int64(r.is_less(at, zero)), n));
    const ValueId outside = r.add(r.to_int64(r.is_less(i, zero)), r.to_int64(r.is_at_most(n, i)));
    bad = k == 0 ? outside : r.add(bad, outside);
    place = k == 0 ? i : r.add(r.multiply(place, n), i);
  }
  return r.unless(r.is_less(r.constant(0), bad), place);
}

Status take_points(Importer& importer, const NodeView& node) {
  const Shape from = importer.input(node, 0).shape, shape = importer.input(node, 1).shape;
  const int64_t batch_dims = node.integer("batch_dims", 0);
  QRT_MODEL_CHECK(shape.rank() >= 1, "its indices are a scalar");
  const int last = shape.rank() - 1;
  const int64_t depth = shape[last];
  QRT_MODEL_CHECK(
      depth >= 1 && batch_dims >= 0 && batch_dims <= last && depth <= from.rank() - batch_dims,
      "%lld indices behind %lld batch dimensions of %d", static_cast<long long>(depth),
      static_cast<long long>(batch_dims), from.rank());
  const int batch = static_cast<int>(batch_dims), end = batch + static_cast<int>(depth);
  int64_t batches = 1, n = 1, each = 1;
  std::vector<int64_t> to, flat;
  for (int d = 0; d < batch; ++d) {
    QRT_MODEL_CHECK(from[d] == shape[d],
                    "batch dimension %d is %lld in the data and %lld in the indices", d,
                    static_cast<long long>(from[d]), static_cast<long long>(shape[d]));
    batches *= from[d];
  }
  for (int d = batch; d < end; ++d) n *= from[d];
  for (int d = batch; d < last; ++d) each *= shape[d];
  for (int d = 0; d < last; ++d) to.push_back(shape[d]);
  for (int d = end; d < from.rank(); ++d) to.push_back(from[d]);
  flat = {batches, n};
  for (int d = end; d < from.rank(); ++d) flat.push_back(from[d]);
  Taking t;
  QRT_TRY(make_shape(flat, &t.from));
  QRT_TRY(make_shape(to, &t.to));
  t.axis = t.batch_dims = 1;
  const ValueId places =
      linear_indices(importer, node, int64_indices(importer, node, 1), from, batch);
  t.index = importer.builder().reshape(node, places, {batches, each});
  return take(importer, node, t);
}

Status take_elements(Importer& importer, const NodeView& node, int axis) {
  const Shape from = importer.input(node, 0).shape, shape = importer.input(node, 1).shape;
  bool fits = shape.rank() == from.rank();
  for (int d = 0; fits && d < shape.rank(); ++d) fits = d == axis || shape[d] <= from[d];
  QRT_MODEL_CHECK(fits, "indices of shape %s for data of shape %s", shape.to_string().c_str(),
                  from.to_string().c_str());
  int type;
  ValueId x = value_of(importer, node, 0, &type);
  if (x == kNoValue) return importer.refuse_float(node, 0);
  GraphBuilder& builder = importer.builder();
  IndexMaps maps(from);
  for (int d = 0; d < shape.rank(); ++d)
    if (d != axis && shape[d] != from[d]) maps.set(d, stepped(0, shape[d], 1));
  if (!maps.is_identity()) x = builder.gather(node, x, maps, 0);
  // Lines along the axis, each with its own indices.
  x = builder.axis_last(node, x, axis);
  ValueId index = builder.axis_last(node, int64_indices(importer, node, 1), axis);
  const Shape lines = builder.shape_of(index);
  const int last = lines.rank() - 1;
  int64_t count = 1;
  for (int d = 0; d < last; ++d) count *= lines[d];
  x = builder.reshape(node, x, {count, from[axis]});
  index = builder.reshape(node, index, {count, lines[last]});
  ValueId y = builder.new_value("", builder.type_of(x), {count, lines[last]});
  auto& o = builder.add<fb::TakeOptionsT>(node, {x, index}, y);
  o.axis = o.batch_dims = 1;
  o.is_checked = true;
  y = builder.axis_back(node, builder.reshape(node, y, lines), axis, "");
  importer.became(node, "Take", "I0");
  set_value(importer, node, type, y);
  return Status();
}

}  // namespace qrt::convert::from_onnx
