// SPDX-License-Identifier: Apache-2.0
// Trilu and OneHot, by comparisons of indices.
#include <cstring>

#include "converter/import/onnx/float_fallback/float_graph.h"
#include "converter/import/onnx/folding/constants.h"
#include "converter/import/onnx/move.h"
#include "converter/import/onnx/ops/attention.h"
#include "converter/import/onnx/ops/handlers.h"
#include "converter/import/onnx/ops/integer.h"
#include "converter/import/onnx/ops/take.h"
#include "converter/import/onnx/run_integers.h"

namespace qrt::convert::from_onnx {

namespace {

// The part of a matrix that a Trilu keeps.
struct Triangle {
  int64_t rows, columns, k;
  bool upper;

  bool keeps(int64_t row, int64_t column) const {
    // |k| may be anything.
    const int64_t from = column - row;
    return upper ? from >= k : from <= k;
  }
};

Tensor triangle_of_constant(const Constant& c, const Triangle& t) {
  auto made = std::make_shared<Constant>(c);
  const size_t bytes = element_bytes(c.type);
  const int64_t n = c.elements();
  for (int64_t i = 0; i < n; ++i)
    if (!t.keeps(i / t.columns % t.rows, i % t.columns))
      memset(made->data.data() + static_cast<size_t>(i) * bytes, 0, bytes);
  return constant_tensor(std::move(made));
}

// Sets x to 0 outside the triangle: to -0 by the mask, to which the triangle's complement adds 0, and -0 inside.
Status triangle_of_floats(FloatGraph* f, const Triangle& t, ValueId x, ValueId* y) {
  using F = fb::FloatFunction;
  std::vector<float> mask, zeros;
  for (int64_t row = 0; row < t.rows; ++row)
    for (int64_t column = 0; column < t.columns; ++column) {
      mask.push_back(t.keeps(row, column) ? 1.0f : 0.0f);
      zeros.push_back(t.keeps(row, column) ? -0.0f : 0.0f);
    }
  const Shape shape = {t.rows, t.columns};
  QRT_TRY(f->binary(F::KEEP_NONZERO, x, f->constant(shape, mask), y));
  return f->binary(F::ADD, *y, f->constant(shape, zeros), y);
}

}  // namespace

Status import_trilu(Importer& importer, const NodeView& node) {
  const Tensor& x = importer.input(node, 0);
  const int rank = x.shape.rank();
  QRT_MODEL_CHECK(rank >= 2, "its input has %d dimensions, expected 2 or more", rank);
  std::vector<int64_t> k = {0};
  if (node.has_input(1) && !constant_integers(importer, node, 1, &k)) return Status();
  QRT_MODEL_CHECK(k.size() == 1, "it has %zu diagonals", k.size());
  const Triangle t = {x.shape[rank - 2], x.shape[rank - 1], k[0], node.integer("upper", 1) != 0};
  if (x.is_plain_constant() && packed_bits(x.type) == 0) {
    QRT_TRY(importer.tensors().reserve(x.constant->data.size(), importer.graph()));
    importer.set_output(node, 0, triangle_of_constant(*x.constant, t));
    return Status();
  }
  QRT_TRY(
      importer.tensors().reserve(static_cast<uint64_t>(t.rows * t.columns) * 16, importer.graph()));
  int type;
  const ValueId value = value_of(importer, node, 0, &type);
  if (value == kNoValue) return importer.refuse_float(node, 0);
  if (type == kFloat) {
    if (!importer.allows_float()) return refuse_float_operator(importer, node);
    FloatGraph f(importer, node);
    ValueId y;
    QRT_TRY(triangle_of_floats(&f, t, value, &y));
    importer.became(node, "Float", "F");
    set_float_output(importer, node, 0, y);
    return Status();
  }
  if (type != kInt32 && type != kInt64 && type != kBool) return refuse_types(importer, node, type);
  std::vector<int64_t> kept;
  for (int64_t i = 0; i < t.rows * t.columns; ++i)
    kept.push_back(t.keeps(i / t.columns, i % t.columns));
  const ConstantPtr mask = integer_constant(type, {t.rows, t.columns}, kept);
  RunIntegers r(importer, node);
  const ValueId factors =
      importer.graph().add_constant("", importer.builder().type_of(value), mask->shape, mask->data);
  importer.became(node, "Integer", "I0");
  set_value(importer, node, type,
            type == kBool ? r.both(value, factors) : r.multiply(value, factors));
  return Status();
}

Status import_one_hot(Importer& importer, const NodeView& node) {
  const Tensor index = importer.input(node, 0);
  const Tensor& values = importer.input(node, 2);
  std::vector<int64_t> depth;
  if (!constant_integers(importer, node, 1, &depth)) return Status();
  QRT_MODEL_CHECK(depth.size() == 1 && depth[0] >= 1 && values.shape.elements() == 2,
                  "%zu depths and %lld values", depth.size(),
                  static_cast<long long>(values.shape.elements()));
  QRT_TRY(RunIntegers::check_count(depth[0]));
  if (!has_type(index, kInt64) && !has_type(index, kInt32)) return importer.refuse_float(node, 0);
  if (!values.is_plain_constant() ||
      (values.type != kFloat && values.type != kInt64 && values.type != kInt32))
    return refuse_form(importer, node, "its values are no constants of 32 or 64 bits");
  const int rank = index.shape.rank() + 1;
  int axis;
  QRT_TRY(read_axis(node.integer("axis", -1), rank, &axis));
  std::vector<int64_t> dims(index.shape.begin(), index.shape.end());
  dims.insert(dims.begin() + axis, 1);
  Shape broadcast_shape;
  QRT_TRY(make_shape(dims, &broadcast_shape));
  RunIntegers r(importer, node);
  const ValueId at = r.reshaped(r.to_int64(integer_value(importer, node, 0)), broadcast_shape);
  Shape places;
  for (int d = axis; d < rank; ++d) places.push_back(d == axis ? depth[0] : 1);
  const ValueId place = r.reshaped(r.indices(depth[0]), places);
  // Indices below 0 count from the end.
  const ValueId from_end = r.subtract(place, r.number(depth[0]));
  const ValueId is_there = r.either(r.is_equal(at, place), r.is_equal(at, from_end));
  if (values.type == kFloat) {
    FloatGraph f(importer, node);
    std::vector<float> table(256, values.constant->real(1));
    table[0] = values.constant->real(0);
    const ValueId y =
        f.add(fb::FloatFunction::TABLE, {is_there, f.constant({256}, table)}, f.shape_of(is_there));
    importer.became(node, "Float", "I1");
    set_float_output(importer, node, 0, y);
    return Status();
  }
  const int64_t off = values.constant->integer(0), on = values.constant->integer(1);
  const auto difference =
      static_cast<int64_t>(static_cast<uint64_t>(on) - static_cast<uint64_t>(off));
  const ValueId y =
      r.add(r.multiply(r.to_int64(is_there), r.constant(difference)), r.constant(off));
  importer.became(node, "Integer", "I0");
  set_value(importer, node, values.type, values.type == kInt64 ? y : r.to_int32(y));
  return Status();
}

}  // namespace qrt::convert::from_onnx
