// SPDX-License-Identifier: Apache-2.0
// ScatterND and ScatterElements: a tensor in which elements are replaced, or added to, at indices that a run checks.
#include "converter/import/onnx/move.h"
#include "converter/import/onnx/ops/attention.h"
#include "converter/import/onnx/ops/handlers.h"
#include "converter/import/onnx/ops/integer.h"
#include "converter/import/onnx/ops/take.h"
#include "converter/import/onnx/run_integers.h"

namespace qrt::convert::from_onnx {
namespace {

struct Scattered {
  ValueId data = kNoValue, index = kNoValue, updates = kNoValue;
  int type = kUndefined;
  bool adds = false;
};

// Reads the three inputs. *known stays false where the node was refused.
Status read_inputs(Importer& importer, const NodeView& node, Scattered* s, bool* known) {
  *known = false;
  const std::string reduction = node.text("reduction", "none");
  s->adds = reduction == "add";
  if (!s->adds && reduction != "none")
    return refuse_form(importer, node, "it combines elements by '" + reduction + "'");
  const Tensor& index = importer.input(node, 1);
  if (!has_type(index, kInt64) && !has_type(index, kInt32)) return importer.refuse_float(node, 1);
  int of_updates;
  s->data = value_of(importer, node, 0, &s->type);
  if (s->data == kNoValue) return importer.refuse_float(node, 0);
  s->updates = value_of(importer, node, 2, &of_updates);
  if (s->updates == kNoValue) return importer.refuse_float(node, 2);
  QRT_MODEL_CHECK(s->type == of_updates, "it puts elements of type %s into those of type %s",
                  element_type_name(of_updates), element_type_name(s->type));
  if (s->adds && s->type == kFloat && !importer.allows_float())
    return refuse_float_operator(importer, node);
  if (s->adds && s->type != kFloat && s->type != kInt32 && s->type != kInt64)
    return refuse_types(importer, node, s->type);
  s->index = RunIntegers(importer, node).to_int64(integer_value(importer, node, 1));
  *known = true;
  return Status();
}

ValueId scattered(Importer& importer, const NodeView& node, const Scattered& s,
                  uint32_t batch_dims) {
  GraphBuilder& builder = importer.builder();
  const ValueId y = builder.new_value("", builder.type_of(s.data), builder.shape_of(s.data));
  if (!s.adds) {
    builder.add<fb::ScatterOptionsT>(node, {s.data, s.index, s.updates}, y).batch_dims = batch_dims;
    importer.became(node, "Scatter", "I0");
    return y;
  }
  auto& o = builder.add<fb::ScatterAddOptionsT>(node, {s.data, s.index, s.updates}, y);
  o.batch_dims = batch_dims;
  o.is_float = s.type == kFloat;
  importer.became(node, "ScatterAdd", o.is_float ? "F" : "I0");
  return y;
}

}  // namespace

Status import_scatter_nd(Importer& importer, const NodeView& node) {
  Scattered s;
  bool known;
  QRT_TRY(read_inputs(importer, node, &s, &known));
  if (!known) return Status();
  GraphBuilder& builder = importer.builder();
  const Shape from = builder.shape_of(s.data), at = builder.shape_of(s.index),
              updates = builder.shape_of(s.updates);
  QRT_MODEL_CHECK(at.rank() >= 1 && at[at.rank() - 1] >= 1 && at[at.rank() - 1] <= from.rank(),
                  "indices of shape %s for data of shape %s", at.to_string().c_str(),
                  from.to_string().c_str());
  const int depth = static_cast<int>(at[at.rank() - 1]);
  std::vector<int64_t> expected(at.begin(), at.end() - 1);
  int64_t rows = 1, points = 1;
  std::vector<int64_t> flat = {1}, of_updates = {1};
  for (int d = 0; d < at.rank() - 1; ++d) points *= at[d];
  for (int d = 0; d < from.rank(); ++d) {
    if (d < depth) {
      rows *= from[d];
      continue;
    }
    expected.push_back(from[d]);
    flat.push_back(from[d]);
    of_updates.push_back(from[d]);
  }
  QRT_MODEL_CHECK(expected == std::vector<int64_t>(updates.begin(), updates.end()),
                  "updates of shape %s at indices of shape %s", updates.to_string().c_str(),
                  at.to_string().c_str());
  flat[0] = rows;
  of_updates[0] = points;
  Shape shape;
  QRT_TRY(make_shape(flat, &shape));
  s.data = builder.reshape(node, s.data, shape);
  QRT_TRY(make_shape(of_updates, &shape));
  s.updates = builder.reshape(node, s.updates, shape);
  s.index = linear_indices(importer, node, s.index, from, 0);
  set_value(importer, node, s.type, builder.reshape(node, scattered(importer, node, s, 0), from));
  return Status();
}

Status import_scatter_elements(Importer& importer, const NodeView& node) {
  Scattered s;
  bool known;
  QRT_TRY(read_inputs(importer, node, &s, &known));
  if (!known) return Status();
  GraphBuilder& builder = importer.builder();
  const Shape from = builder.shape_of(s.data), at = builder.shape_of(s.index);
  int axis;
  QRT_TRY(read_axis(node.integer("axis", 0), from.rank(), &axis));
  QRT_MODEL_CHECK(at == builder.shape_of(s.updates) && at.rank() == from.rank(),
                  "updates of shape %s at indices of shape %s",
                  builder.shape_of(s.updates).to_string().c_str(), at.to_string().c_str());
  for (int d = 0; d < from.rank(); ++d)
    if (d != axis && at[d] != from[d])
      return refuse_form(importer, node,
                         "its indices of shape " + at.to_string() +
                             " leave out some of the data of shape " + from.to_string());
  // Every row along the axis has indices of its own.
  for (ValueId* v : {&s.data, &s.index, &s.updates}) *v = builder.axis_last(node, *v, axis);
  const Shape turned = builder.shape_of(s.data);
  const int64_t n = from[axis], count = at[axis], lines = from.elements() / std::max<int64_t>(n, 1);
  s.data = builder.reshape(node, s.data, {lines, n});
  s.index = builder.reshape(node, s.index, {lines, count});
  s.updates = builder.reshape(node, s.updates, {lines, count});
  const ValueId y = builder.reshape(node, scattered(importer, node, s, 1), turned);
  set_value(importer, node, s.type, builder.axis_back(node, y, axis, ""));
  return Status();
}

}  // namespace qrt::convert::from_onnx
