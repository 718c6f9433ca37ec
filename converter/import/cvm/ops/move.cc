// SPDX-License-Identifier: Apache-2.0
// Operators that move or rename elements: concatenation, shapes and transposition. They keep the
// storage of what they move.
#include <algorithm>

#include "converter/import/cvm/ops/ops.h"

namespace qrt::convert::from_cvm {
namespace {

Status read_axis(const Attributes& a, int rank, int* axis) {
  int64_t value = 1;
  QRT_TRY(a.check_names({"axis"}));
  QRT_TRY(a.integer("axis", -rank, rank - 1, &value));
  QRT_MODEL_CHECK(value < rank, "axis is %lld, its inputs have %d dimensions",
                  static_cast<long long>(value), rank);
  *axis = static_cast<int>(value < 0 ? value + rank : value);
  return Status();
}

}  // namespace

Status infer_concatenate(Inference* inference) {
  int axis = 1;
  Shape shape = inference->input(0).shape;
  QRT_TRY(read_axis(inference->attributes(), shape.rank(), &axis));
  int precision = inference->input(0).precision;
  for (int i = 1; i < inference->inputs(); ++i) {
    const Shape& x = inference->input(i).shape;
    precision = std::max(precision, inference->input(i).precision);
    bool fits = x.rank() == shape.rank();
    for (int d = 0; fits && d < x.rank(); ++d) fits = d == axis || x[d] == shape[d];
    QRT_MODEL_CHECK(fits, "input %d has the shape %s, it does not fit to %s along axis %d", i,
                    x.to_string().c_str(), shape.to_string().c_str(), axis);
    shape[axis] += x[axis];
  }
  return inference->output(shape, precision);
}

Status import_concatenate(Importer& importer, const Op& op) {
  int axis = 1;
  const Shape& y = importer.shape(op.output());
  QRT_TRY(read_axis(Attributes(op.node.attributes), y.rank(), &axis));
  Range range = importer.range(op.input(0));
  for (EntryId e : op.node.inputs) range = either(range, importer.range(e));
  const Storage storage = storage_for(range);
  std::vector<ValueId> parts;
  for (EntryId e : op.node.inputs) parts.push_back(importer.stored_as(e, storage));
  const ValueId made = importer.new_value("", storage, y);
  importer.add_node<fb::ConcatOptionsT>(op, std::move(parts), made).axis =
      static_cast<uint32_t>(axis);
  importer.set_output(op, {made, storage, range}, "Concat");
  return Status();
}

// Finds a Reshape's output by MXNet's codes: 0 copies a dimension, -1 is what is left, -2 copies
// the rest, -3 joins two, and -4 splits one into the two that follow.
Status infer_reshape(Inference* inference) {
  const Shape& x = inference->input().shape;
  const Attributes& a = inference->attributes();
  std::vector<int64_t> codes;
  QRT_TRY(a.check_names({"shape"}));
  QRT_TRY(a.required("shape"));
  QRT_TRY(a.tuple("shape", -4, 1 << 24, &codes));
  std::vector<int64_t> dims;
  int from = 0, inferred = -1;
  const auto next = [&](int64_t* d) {
    if (from >= x.rank()) return false;
    *d = x[from++];
    return true;
  };
  for (size_t i = 0; i < codes.size(); ++i) {
    int64_t d = codes[i], e;
    bool fits = true;
    if (d > 0 || d == -1) {
      if (d == -1) {
        QRT_MODEL_CHECK(inferred < 0, "shape has -1 twice");
        inferred = static_cast<int>(dims.size());
        d = 1;
      }
      ++from;
      dims.push_back(d);
    } else if (d == 0) {
      fits = next(&d);
      dims.push_back(d);
    } else if (d == -2) {
      while (next(&d)) dims.push_back(d);
    } else if (d == -3) {
      fits = next(&d) && next(&e);
      if (fits) dims.push_back(d * e);
    } else {
      QRT_MODEL_CHECK(i + 2 < codes.size(), "shape ends within a -4 and its two dimensions");
      int64_t first = codes[++i], second = codes[++i];
      fits = next(&d);
      QRT_MODEL_CHECK(
          (first > 0 || first == -1) && (second > 0 || second == -1) && (first > 0 || second > 0),
          "shape splits a dimension into %lld and %lld", static_cast<long long>(first),
          static_cast<long long>(second));
      if (fits && first == -1) first = d / second;
      if (fits && second == -1) second = d / first;
      QRT_MODEL_CHECK(!fits || first * second == d, "shape splits %lld into %lld and %lld",
                      static_cast<long long>(d), static_cast<long long>(first),
                      static_cast<long long>(second));
      dims.push_back(first);
      dims.push_back(second);
    }
    QRT_MODEL_CHECK(fits, "value %zu of shape goes beyond the %d dimensions of its input", i,
                    x.rank());
  }
  QRT_MODEL_CHECK(!dims.empty() && dims.size() <= kMaxTensorRank,
                  "its output would have %zu dimensions, expected 1 to %d", dims.size(),
                  kMaxTensorRank);
  Shape shape;
  for (int64_t d : dims) shape.push_back(d);
  const int64_t count = x.elements(), made = shape.elements();
  if (inferred >= 0 && made > 0 && count % made == 0) shape[inferred] = count / made;
  QRT_MODEL_CHECK(shape.elements() == count, "its output %s does not hold the elements of %s",
                  shape.to_string().c_str(), x.to_string().c_str());
  return inference->output(shape, inference->input().precision);
}

Status infer_flatten(Inference* inference) {
  const Shape& x = inference->input().shape;
  QRT_TRY(inference->attributes().check_names({}));
  return inference->output({x[0], x.elements() / x[0]}, inference->input().precision);
}

Status infer_expand_dims(Inference* inference) {
  const Shape& x = inference->input().shape;
  const Attributes& a = inference->attributes();
  int64_t axis = 0, count = 1;
  QRT_TRY(a.check_names({"axis", "num_newaxis"}));
  QRT_TRY(a.required_integer("axis", -x.rank() - 1, x.rank(), &axis));
  QRT_TRY(a.integer("num_newaxis", 0, kMaxTensorRank, &count));
  QRT_MODEL_CHECK(x.rank() + count <= kMaxTensorRank, "its output would have %lld dimensions",
                  static_cast<long long>(x.rank() + count));
  if (axis < 0) axis += x.rank() + 1;
  Shape shape;
  for (int d = 0; d <= x.rank(); ++d) {
    for (int64_t k = 0; d == axis && k < count; ++k) shape.push_back(1);
    if (d < x.rank()) shape.push_back(x[d]);
  }
  return inference->output(shape, inference->input().precision);
}

Status infer_squeeze(Inference* inference) {
  const Shape& x = inference->input().shape;
  const Attributes& a = inference->attributes();
  std::vector<int64_t> axes;
  QRT_TRY(a.check_names({"axis"}));
  QRT_TRY(a.tuple("axis", -x.rank(), x.rank() - 1, &axes));
  std::vector<bool> gone(static_cast<size_t>(x.rank()), false);
  for (int d = 0; d < x.rank() && axes.empty(); ++d) gone[static_cast<size_t>(d)] = x[d] == 1;
  for (int64_t axis : axes) {
    const int d = static_cast<int>(axis < 0 ? axis + x.rank() : axis);
    QRT_MODEL_CHECK(x[d] == 1 && !gone[static_cast<size_t>(d)],
                    "axis %lld is named twice or is not 1 in %s", static_cast<long long>(axis),
                    x.to_string().c_str());
    gone[static_cast<size_t>(d)] = true;
  }
  Shape shape;
  for (int d = 0; d < x.rank(); ++d)
    if (!gone[static_cast<size_t>(d)]) shape.push_back(x[d]);
  if (shape.rank() == 0) shape.push_back(1);
  return inference->output(shape, inference->input().precision);
}

Status import_reshape(Importer& importer, const Op& op) {
  Stored x = importer.stored(op.input());
  x.value = importer.reshaped(op, x.value, x.storage, importer.shape(op.output()));
  importer.set_output(op, x, "Reshape");
  return Status();
}

namespace {

Status read_axes(const Attributes& a, int rank, std::vector<uint8_t>* perm) {
  std::vector<int64_t> axes;
  QRT_TRY(a.check_names({"axes"}));
  QRT_TRY(a.tuple("axes", -rank, rank - 1, &axes));
  for (int d = rank - 1; d >= 0 && axes.empty(); --d) perm->push_back(static_cast<uint8_t>(d));
  for (int64_t axis : axes) {
    const auto d = static_cast<uint8_t>(axis < 0 ? axis + rank : axis);
    QRT_MODEL_CHECK(std::find(perm->begin(), perm->end(), d) == perm->end(),
                    "axis %lld stands twice", static_cast<long long>(axis));
    perm->push_back(d);
  }
  QRT_MODEL_CHECK(static_cast<int>(perm->size()) == rank, "axes has %zu values, expected %d",
                  perm->size(), rank);
  return Status();
}

}  // namespace

Status infer_transpose(Inference* inference) {
  const Shape& x = inference->input().shape;
  std::vector<uint8_t> perm;
  QRT_TRY(read_axes(inference->attributes(), x.rank(), &perm));
  Shape shape;
  for (uint8_t p : perm) shape.push_back(x[p]);
  return inference->output(shape, inference->input().precision);
}

Status import_transpose(Importer& importer, const Op& op) {
  std::vector<uint8_t> perm;
  QRT_TRY(read_axes(Attributes(op.node.attributes), importer.shape(op.input()).rank(), &perm));
  Stored x = importer.stored(op.input());
  x.value = importer.transposed(op, x.value, x.storage, std::move(perm));
  importer.set_output(op, x, "Transpose");
  return Status();
}

}  // namespace qrt::convert::from_cvm
