// SPDX-License-Identifier: Apache-2.0
// Concat of quantised tensors: a table for every input whose parameters differ from the output's,
// then a copy.
#include <algorithm>
#include <memory>

#include "converter/import/onnx/float_fallback/float_fallback.h"
#include "converter/import/onnx/folding/constants.h"
#include "converter/import/onnx/model_edges.h"
#include "converter/import/onnx/ops/handlers.h"
#include "converter/import/onnx/ops/integer.h"
#include "converter/import/onnx/run_integers.h"

namespace qrt::convert::from_onnx {
namespace {

Status concat_shape(const std::vector<Tensor>& parts, int64_t axis_in, int* axis, Shape* shape) {
  *shape = parts[0].shape;
  const int rank = shape->rank();
  QRT_MODEL_CHECK(axis_in >= -rank && axis_in < rank, "axis %lld is outside %d dimensions",
                  static_cast<long long>(axis_in), rank);
  *axis = static_cast<int>(axis_in < 0 ? axis_in + rank : axis_in);
  int64_t total = 0;
  for (const Tensor& part : parts) {
    bool fits = part.shape.rank() == rank;
    for (int i = 0; fits && i < rank; ++i) fits = i == *axis || part.shape[i] == (*shape)[i];
    QRT_MODEL_CHECK(fits, "shapes %s and %s do not join along axis %d", shape->to_string().c_str(),
                    part.shape.to_string().c_str(), *axis);
    total += part.shape[*axis];
  }
  std::vector<int64_t> dims(shape->begin(), shape->end());
  dims[static_cast<size_t>(*axis)] = total;
  return make_shape(dims, shape);
}

// Removes the parts that have no elements: the result is that of the others.
void drop_empty(std::vector<Tensor>* parts) {
  const auto is_empty = [](const Tensor& part) { return part.shape.elements() == 0; };
  if (!std::all_of(parts->begin(), parts->end(), is_empty))
    parts->erase(std::remove_if(parts->begin(), parts->end(), is_empty), parts->end());
}

ValueId join(Importer& importer, const NodeView& node, const std::vector<ValueId>& parts,
             int axis) {
  const ValueId y = importer.builder().concat(node, parts, axis, node.output(0));
  importer.became(node, "Concat", "I0");
  return y;
}

// Joins the parts as bytes of the output's quantisation.
Status emit(Importer& importer, const NodeView& node, const std::vector<Tensor>& parts, int axis,
            const Shape& shape, const Quant& out, Limits limits, ValueId* result) {
  std::vector<ValueId> ids;
  for (const Tensor& part : parts) {
    ValueId id = kNoValue;
    QRT_TRY(quantize_tensor(importer, node, part, out, limits, &id));
    if (id == kNoValue) return Status();
    ids.push_back(id);
  }
  *result = join(importer, node, ids, axis);
  return Status();
}

// Parts that share one per-tensor quantisation stay what they are.
bool all_alike(const std::vector<Tensor>& parts) {
  for (const Tensor& part : parts)
    if (!part.is_dequantized() || !part.quant->per_tensor() || *part.quant != *parts[0].quant)
      return false;
  return true;
}

bool is_float_constant(const Tensor& part) {
  return part.is_plain_constant() && part.type == kFloat;
}

// Returns a constant of floats as a tensor that operators read.
Tensor as_value(Importer& importer, const Tensor& constant) {
  Tensor value;
  value.kind = Tensor::Kind::kValue;
  value.type = constant.type;
  value.shape = constant.shape;
  value.value = importer.graph().add_constant_bytes("", DType::kFloat32, constant.shape,
                                                    constant.constant->data.data(),
                                                    constant.constant->data.size());
  return value;
}

// Returns a constant of integers likewise; one that may be another number at other sizes is a number of the run.
Tensor integers_as_value(Importer& importer, const NodeView& node, int i) {
  const Tensor& t = importer.input(node, i);
  Tensor value;
  value.kind = Tensor::Kind::kValue;
  value.type = t.type;
  value.shape = t.shape;
  const bool is_wide = t.type == kInt64 || t.type == kInt32;
  value.value =
      is_wide && t.constant->elements() == 1 && importer.may_differ_at_other_sizes(node, i)
          ? RunIntegers(importer, node).numbers(*t.constant)
          : integer_value(importer, node, i);
  return value;
}

bool is_integer_constant(const Tensor& t) {
  return t.is_plain_constant() && t.shape.elements() > 0 &&
         (t.type == kInt32 || t.type == kInt64 || t.type == kBool || t.type == kUint8 ||
          t.type == kInt8 || t.type == kInt16 || t.type == kUint16);
}

// Joins constants of one type that are the same at all sizes, such as the gates of a recurrent layer in another order. Leaves
// *done false where a part is none.
Status join_constants(Importer& importer, const NodeView& node, bool* done) {
  std::vector<Tensor> parts;
  for (int i = 0; i < node.input_count(); ++i) {
    parts.push_back(importer.input(node, i));
    const bool is_known = is_float_constant(parts[0]) || is_integer_constant(parts[0]);
    if (!is_known || !parts.back().is_plain_constant() || parts.back().type != parts[0].type ||
        importer.may_differ_at_other_sizes(node, i))
      return Status();
  }
  int axis;
  auto joined = std::make_shared<Constant>();
  QRT_TRY(concat_shape(parts, node.integer("axis", 0), &axis, &joined->shape));
  if (joined->shape.elements() < 1) return Status();
  joined->type = parts[0].type;
  const size_t element = element_bytes(joined->type);
  QRT_TRY(importer.tensors().reserve(static_cast<uint64_t>(joined->shape.elements()) * element,
                                     importer.graph()));
  int64_t outer = 1;
  for (int d = 0; d < axis; ++d) outer *= joined->shape[d];
  for (int64_t row = 0; row < outer; ++row)
    for (const Tensor& part : parts) {
      const std::vector<uint8_t>& data = part.constant->data;
      const auto bytes = static_cast<std::ptrdiff_t>(data.size()) / outer;
      joined->data.insert(joined->data.end(), data.begin() + row * bytes,
                          data.begin() + (row + 1) * bytes);
    }
  importer.set_output(node, 0, constant_tensor(std::move(joined)));
  *done = true;
  return Status();
}

}  // namespace

Status import_concat(Importer& importer, const NodeView& node) {
  if (fold_node(importer, node)) return Status();
  bool done = false;
  QRT_TRY(join_constants(importer, node, &done));
  if (done) return Status();
  std::vector<Tensor> parts;
  bool values = true, functions = true;
  for (int i = 0; i < node.input_count(); ++i) {
    Tensor part = importer.input(node, i);
    if (is_integer_constant(part)) part = integers_as_value(importer, node, i);
    values = values && (part.is_value() || is_float_constant(part)) &&
             part.type == importer.input(node, 0).type;
    functions = functions && !values && read_function(importer, node, i, &part);
    if (!values && !functions) return importer.refuse_float(node, i);
    parts.push_back(std::move(part));
  }
  int axis;
  Shape shape;
  QRT_TRY(concat_shape(parts, node.integer("axis", 0), &axis, &shape));
  drop_empty(&parts);
  if (values || all_alike(parts)) {
    std::vector<ValueId> ids;
    for (Tensor& part : parts) {
      if (is_float_constant(part)) part = as_value(importer, part);
      ids.push_back(part.value);
    }
    Tensor y = parts[0];
    y.shape = shape;
    y.value = join(importer, node, ids, axis);
    if (y.quant) y.value = importer.builder().with_quant(node, y.value, *y.quant);
    importer.set_output(node, 0, std::move(y));
    return Status();
  }
  const auto pending = defer(importer, node, shape);
  pending->is_function = true;
  pending->emit = [&importer, &node, parts, axis, shape](const Quant& out, Limits limits,
                                                         ValueId* result) {
    return emit(importer, node, parts, axis, shape, out, limits, result);
  };
  pending->emit_float = [&importer, &node, parts, axis](ValueId* result) {
    std::vector<ValueId> ids;
    for (const Tensor& part : parts) {
      ValueId id = kNoValue;
      if (part.is_pending())
        QRT_TRY(float_function(importer, *part.pending, &id));
      else
        QRT_TRY(export_output(importer, "", part, &node, &id));
      if (id == kNoValue) return Status();
      ids.push_back(id);
    }
    *result = join(importer, node, ids, axis);
    importer.became(node, "Concat", "edge");
    return Status();
  };
  return Status();
}

Status import_qlinear_concat(Importer& importer, const NodeView& node) {
  QRT_MODEL_CHECK((node.input_count() - 2) % 3 == 0,
                  "it has %d inputs, expected 2 + 3 for each tensor", node.input_count());
  std::vector<Tensor> parts;
  for (int i = 2; i < node.input_count(); i += 3) {
    Tensor part = importer.input(node, i);
    if (!part.is_value() && !part.is_plain_constant()) return importer.refuse_float(node, i);
    if (part.type != kUint8 && part.type != kInt8) return importer.refuse_float(node, i);
    std::optional<Quant> quant;
    QRT_TRY(read_tensor_quant(importer, node, i + 1, i + 2, part.type, &quant));
    if (!quant) return Status();
    part.quant = *quant;
    if (part.is_value()) part.kind = Tensor::Kind::kTable;
    parts.push_back(std::move(part));
  }
  std::optional<Quant> out;
  QRT_TRY(read_tensor_quant(importer, node, 0, 1, kUndefined, &out));
  if (!out) return Status();
  int axis;
  Shape shape;
  QRT_TRY(concat_shape(parts, node.integer("axis", 1), &axis, &shape));
  drop_empty(&parts);
  Tensor y;
  y.kind = Tensor::Kind::kValue;
  y.type = onnx_type(out->type);
  y.shape = shape;
  QRT_TRY(emit(importer, node, parts, axis, shape, *out, Limits(), &y.value));
  if (y.value == kNoValue) return Status();
  y.value = importer.builder().with_quant(node, y.value, *out);
  importer.set_output(node, 0, std::move(y));
  return Status();
}

}  // namespace qrt::convert::from_onnx
