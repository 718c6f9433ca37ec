// SPDX-License-Identifier: Apache-2.0
// Tables, elements by computed indices, and choice by a condition.
#include <algorithm>

#include "converter/import/cvm/ops/ops.h"

namespace qrt::convert::from_cvm {
namespace {

Status read_lut(const Attributes& a, const Shape& table) {
  int64_t size = 0;
  QRT_TRY(a.check_names({"in_dim"}));
  QRT_TRY(a.required_integer("in_dim", 1, INT32_MAX, &size));
  QRT_MODEL_CHECK(
      size == table.elements() && (table.rank() == 1 || (table.rank() == 2 && table[1] == 1)),
      "its table has the shape %s, expected [%lld] or [%lld, 1]", table.to_string().c_str(),
      static_cast<long long>(size), static_cast<long long>(size));
  return Status();
}

Shape index_shape(const Importer& importer, const Op& op, int i) {
  return importer.shape(op.input(i));
}

// Elements of flat x at the indices of input i, clamped to its size.
void take_flat(Importer& importer, const Op& op, int table, int indices) {
  Stored x = importer.stored(op.input(table));
  const int64_t size = importer.shape(op.input(table)).elements();
  const ValueId flat = importer.reshaped(op, x.value, x.storage, {size});
  const Stored index = importer.clamped_indices(op, op.input(indices), size);
  const ValueId made = importer.new_value("", x.storage, index_shape(importer, op, indices));
  importer.add_node<fb::TakeOptionsT>(op, {flat, index.value}, made);
  x.value = made;
  importer.set_output(op, x, "Take");
}

}  // namespace

Status infer_lut(Inference* inference) {
  const Form &x = inference->input(0), &table = inference->input(1);
  QRT_TRY(read_lut(inference->attributes(), table.shape));
  return inference->output(x.shape, table.precision);
}

// Makes, for bytes and a constant table, the table of all bytes.
Status import_lut(Importer& importer, const Op& op) {
  const auto* table = importer.constant(op.input(1));
  const Range x = importer.range(op.input(0));
  const Storage from = storage_for(x);
  if (!table || from.dtype != DType::kUInt8) {
    take_flat(importer, op, 1, 0);
    return Status();
  }
  const auto last = static_cast<int64_t>(table->size()) - 1;
  std::vector<int32_t> results;
  for (int64_t i = 0; i < 256; ++i) {
    const int64_t v = std::clamp(i - from.zero_point, x.lo, x.hi);
    results.push_back((*table)[static_cast<size_t>(std::clamp<int64_t>(v, 0, last))]);
  }
  const auto [lo, hi] = std::minmax_element(results.begin(), results.end());
  const Range range{*lo, *hi};
  if (storage_for(range).dtype == DType::kInt32) {
    take_flat(importer, op, 1, 0);
    return Status();
  }
  importer.set_output(op, importer.table_of(op, importer.stored(op.input(0)), results, range),
                      "Lut");
  return Status();
}

namespace {

// nullopt: over the flattened tensor.
Status read_take(const Attributes& a, int rank, std::optional<int64_t>* axis) {
  QRT_TRY(a.check_names({"axis"}));
  QRT_TRY(a.optional_integer("axis", axis));
  if (!*axis) return Status();
  QRT_MODEL_CHECK(**axis >= -rank && **axis < rank, "axis is %lld, its input has %d dimensions",
                  static_cast<long long>(**axis), rank);
  if (**axis < 0) **axis += rank;
  return Status();
}

}  // namespace

Status infer_take(Inference* inference) {
  const Form &x = inference->input(0), &index = inference->input(1);
  std::optional<int64_t> axis;
  QRT_TRY(read_take(inference->attributes(), x.shape.rank(), &axis));
  if (!axis) return inference->output(index.shape, x.precision);
  QRT_MODEL_CHECK(x.shape.rank() - 1 + index.shape.rank() <= kMaxTensorRank,
                  "its output would have %d dimensions, expected at most %d",
                  x.shape.rank() - 1 + index.shape.rank(), kMaxTensorRank);
  Shape shape;
  for (int d = 0; d < x.shape.rank(); ++d) {
    if (d != *axis) {
      shape.push_back(x.shape[d]);
    } else {
      for (int64_t s : index.shape) shape.push_back(s);
    }
  }
  return inference->output(shape, x.precision);
}

Status import_take(Importer& importer, const Op& op) {
  const Shape& from = importer.shape(op.input(0));
  std::optional<int64_t> axis;
  QRT_TRY(read_take(Attributes(op.node.attributes), from.rank(), &axis));
  if (!axis) {
    take_flat(importer, op, 0, 1);
    return Status();
  }
  Stored x = importer.stored(op.input(0));
  const Stored index = importer.clamped_indices(op, op.input(1), from[static_cast<int>(*axis)]);
  const ValueId made = importer.new_value("", x.storage, importer.shape(op.output()));
  importer.add_node<fb::TakeOptionsT>(op, {x.value, index.value}, made).axis =
      static_cast<uint32_t>(*axis);
  x.value = made;
  importer.set_output(op, x, "Take");
  return Status();
}

Status infer_where(Inference* inference) {
  const Shape &c = inference->input(0).shape, &x = inference->input(1).shape;
  QRT_TRY(inference->attributes().check_names({}));
  QRT_MODEL_CHECK(x == inference->input(2).shape, "its values have the shapes %s and %s",
                  x.to_string().c_str(), inference->input(2).shape.to_string().c_str());
  if (c.rank() == 1 && x.rank() > 1 && c[0] == x[0])
    return error(Code::kUnsupported,
                 "a condition of one value per row: CVM runtimes leave parts of its output unset");
  QRT_MODEL_CHECK(c == x, "its condition has the shape %s, its values %s", c.to_string().c_str(),
                  x.to_string().c_str());
  return inference->output(x, inference->input(0).precision);
}

// y + (c != 0) * (x - y), modulo 2^32.
Status import_where(Importer& importer, const Op& op) {
  const Range range = either(importer.range(op.input(1)), importer.range(op.input(2)));
  const Stored c = importer.stored(op.input(0)), x = importer.stored(op.input(1)),
               y = importer.stored(op.input(2));
  const Storage wide{DType::kInt32, 0};
  const Shape& shape = importer.shape(op.output());
  const ValueId difference = importer.new_value("", wide, shape);
  auto& d = importer.add_node<fb::FormulaOptionsT>(op, {x.value, y.value}, difference);
  d.pair = fb::FormulaPair::SUBTRACT;
  d.a_zero_point = x.storage.zero_point;
  d.b_zero_point = y.storage.zero_point;
  const ValueId chosen = importer.new_value("", wide, shape);
  auto& p = importer.add_node<fb::FormulaOptionsT>(op, {difference, c.value}, chosen);
  p.pair = fb::FormulaPair::MULTIPLY;
  p.b_zero_point = c.storage.zero_point;
  ElementOp not_zero;
  not_zero.function = fb::FormulaFunction::NOT_ZERO;
  p.b_steps = formula_steps({not_zero});
  const Storage storage = storage_for(range);
  const ValueId made = importer.new_value("", storage, shape);
  auto& s = importer.add_node<fb::FormulaOptionsT>(op, {chosen, y.value}, made);
  s.pair = fb::FormulaPair::ADD;
  s.b_zero_point = y.storage.zero_point;
  s.zero_point = storage.zero_point;
  importer.set_output(op, {made, storage, range}, "Formula");
  return Status();
}

}  // namespace qrt::convert::from_cvm
