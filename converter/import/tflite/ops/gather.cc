// SPDX-License-Identifier: Apache-2.0
// Operators that take elements of their input at indices, known at conversion or (GATHER, GATHER_ND) in a run;
// TILE, BROADCAST_TO and REVERSE_V2; and those that only change the shape.
#include <algorithm>

#include "converter/import/tflite/moving.h"
#include "converter/import/tflite/ops/handlers.h"

namespace qrt::convert::from_tflite {
namespace {

Status shape_of(const std::vector<int64_t>& dims, Shape* shape) {
  *shape = Shape();
  for (int64_t d : dims) shape->push_back(d);
  const int64_t elements = shape->elements();
  if (elements < 0 || elements > INT32_MAX)
    return error(Code::kUnsupported, "a shape %s has more than 2^31 - 1 elements",
                 shape->to_string().c_str());
  return Status();
}

// Imports GATHER at indices that only a run knows.
Status take(Importer& importer, const Op& op, int axis, int batch) {
  Moving x(importer, op, 0);
  if (!x.is_good()) return Status();
  const Shape &from = x.shape(), index = importer.input(op, 1).shape;
  Shape to;
  if (from.rank() - 1 + index.rank() - batch > kMaxTensorRank)
    return error(Code::kUnsupported, "its result has more than 6 dimensions");
  for (int d = 0; d < axis; ++d) to.push_back(from[d]);
  for (int d = batch; d < index.rank(); ++d) to.push_back(index[d]);
  for (int d = axis + 1; d < from.rank(); ++d) to.push_back(from[d]);
  QRT_TRY(check_output_shape(importer, op, to));
  const ValueId value = x.value();
  const ValueId y = importer.builder().new_value(importer.output(op).name,
                                                 importer.graph().values[value].type.dtype, to);
  importer.graph().values[y].quantization = importer.graph().values[value].quantization;
  auto& o = importer.builder().add<fb::TakeOptionsT>(op, {value, importer.value(op, 1)}, y);
  o.axis = static_cast<uint32_t>(axis);
  o.batch_dims = static_cast<uint32_t>(batch);
  return importer.finish_copy(op, y, "Take");
}

// Imports GATHER_ND at indices that only a run knows: a Take of rows from x reshaped to `flat`,
// each at the sum of its indices times their strides; `to` is the output's shape. An index outside
// x, at which the reference fails, gives some other row of x.
Status take_nd(Importer& importer, const Op& op, Moving& x, const std::vector<int64_t>& flat,
               const std::vector<int64_t>& to) {
  const Shape& from = importer.input(op, 0).shape;
  Shape index = importer.input(op, 1).shape, rows, result;
  const int last = index.rank() - 1;
  const auto depth = static_cast<int>(index[last]);
  QRT_TRY(shape_of(flat, &rows));
  QRT_TRY(shape_of(to, &result));
  QRT_TRY(check_output_shape(importer, op, result));
  std::vector<int32_t> strides(static_cast<size_t>(depth), 1);
  for (int d = depth - 1; d > 0; --d)
    strides[static_cast<size_t>(d - 1)] =
        static_cast<int32_t>(strides[static_cast<size_t>(d)] * from[d]);
  GraphBuilder& builder = importer.builder();
  const ValueId stride = importer.graph().add_constant("", DType::kInt32, {depth}, strides);
  const ValueId steps = builder.new_value("", DType::kInt32, index);
  builder.add<fb::IntegerOptionsT>(op, {importer.value(op, 1), stride}, steps).function =
      fb::IntegerFunction::MUL;
  index[last] = 1;
  const ValueId sum = builder.new_value("", DType::kInt32, index);
  builder.add<fb::ReduceOptionsT>(op, {steps}, sum).axis = static_cast<uint32_t>(last);
  Shape at;
  for (int d = 0; d < last; ++d) at.push_back(index[d]);
  x.reshape(rows);
  const ValueId value = x.value();
  const ValueId y = builder.new_value(importer.output(op).name, builder.type_of(value), result);
  importer.graph().values[y].quantization = importer.graph().values[value].quantization;
  builder.add<fb::TakeOptionsT>(op, {value, builder.reshape(op, sum, at)}, y);
  return importer.finish_copy(op, y, "Take");
}

}  // namespace

// Imports RESHAPE, SQUEEZE and EXPAND_DIMS by the file's shape of the output.
Status import_reshape(Importer& importer, const Op& op) {
  const Shape &from = importer.input(op, 0).shape, &to = importer.output(op).shape;
  QRT_MODEL_CHECK(from.elements() == to.elements(), "shape %s cannot become %s",
                  from.to_string().c_str(), to.to_string().c_str());
  Moving x(importer, op, 0);
  if (!x.is_good()) return Status();
  x.reshape(to);
  return x.finish();
}

Status import_transpose(Importer& importer, const Op& op) {
  Moving x(importer, op, 0);
  std::vector<int32_t> given;
  if (!x.is_good() || !importer.read_integers(op, 1, &given)) return Status();
  const int rank = x.shape().rank();
  std::vector<bool> used(static_cast<size_t>(rank));
  QRT_MODEL_CHECK(static_cast<int>(given.size()) == rank, "%zu indices permute %d dimensions",
                  given.size(), rank);
  std::vector<uint8_t> perm;
  for (int32_t p : given) {
    if (p < 0) p += rank;
    QRT_MODEL_CHECK(p >= 0 && p < rank && !used[static_cast<size_t>(p)],
                    "its indices are not a permutation of %d dimensions", rank);
    used[static_cast<size_t>(p)] = true;
    perm.push_back(static_cast<uint8_t>(p));
  }
  x.transpose(perm);
  return x.finish();
}

Status import_tile(Importer& importer, const Op& op) {
  Moving x(importer, op, 0);
  std::vector<int32_t> multiples;
  if (!x.is_good() || !importer.read_integers(op, 1, &multiples)) return Status();
  QRT_MODEL_CHECK(multiples.size() == static_cast<size_t>(x.shape().rank()),
                  "%zu multiples for %d dimensions", multiples.size(), x.shape().rank());
  IndexMaps maps(x.shape());
  for (int d = 0; d < x.shape().rank(); ++d) {
    const int64_t n = x.shape()[d], times = multiples[static_cast<size_t>(d)];
    QRT_MODEL_CHECK(times >= 0, "a multiple is negative");
    QRT_TRY(check_index_count(n * times));
    Indices indices = stepped(0, n * times, 1);
    for (int32_t& i : indices) i = static_cast<int32_t>(i % n);
    maps.set(d, std::move(indices));
  }
  QRT_TRY(x.gather(maps));
  return x.finish();
}

Status import_broadcast_to(Importer& importer, const Op& op) {
  Moving x(importer, op, 0);
  std::vector<int32_t> target;
  if (!x.is_good() || !importer.read_integers(op, 1, &target)) return Status();
  const Shape& from = importer.input(op, 0).shape;
  const int rank = static_cast<int>(target.size());
  if (rank > kMaxTensorRank) return error(Code::kUnsupported, "its result has %d dimensions", rank);
  QRT_MODEL_CHECK(rank >= from.rank(), "%d dimensions become %d", from.rank(), rank);
  Shape stretched;
  for (int d = 0; d < rank - from.rank(); ++d) stretched.push_back(1);
  for (int64_t d : from) stretched.push_back(d);
  x.reshape(stretched);
  IndexMaps maps(stretched);
  for (int d = 0; d < rank; ++d) {
    const int64_t n = target[static_cast<size_t>(d)];
    if (n == stretched[d]) continue;
    QRT_MODEL_CHECK(stretched[d] == 1 && n >= 0, "dimension %lld becomes %lld",
                    static_cast<long long>(stretched[d]), static_cast<long long>(n));
    QRT_TRY(check_index_count(n));
    maps.set(d, Indices(static_cast<size_t>(n), 0));
  }
  QRT_TRY(x.gather(maps));
  return x.finish();
}

Status import_reverse_v2(Importer& importer, const Op& op) {
  Moving x(importer, op, 0);
  std::vector<int32_t> axes;
  if (!x.is_good() || !importer.read_integers(op, 1, &axes)) return Status();
  IndexMaps maps(x.shape());
  for (int32_t a : axes) {
    int axis;
    QRT_TRY(check_axis(a, x.shape().rank(), &axis));
    const int64_t n = x.shape()[axis];
    QRT_TRY(check_index_count(n));
    maps.set(axis, stepped(n - 1, n, -1));
  }
  QRT_TRY(x.gather(maps));
  return x.finish();
}

// Indices known at conversion; behind batch dimensions each has its own.
Status import_gather(Importer& importer, const Op& op) {
  const auto o = op.options<tflite::GatherOptions>();
  const Shape& from = importer.input(op, 0).shape;
  const Shape& shape = importer.input(op, 1).shape;
  std::vector<int32_t> indices;
  int axis, batch = o.batch_dims;
  QRT_TRY(check_axis(o.axis, from.rank(), &axis));
  if (batch < 0) batch += shape.rank();
  QRT_MODEL_CHECK(batch >= 0 && batch <= axis && batch <= shape.rank(),
                  "%d batch dimensions in front of axis %d", o.batch_dims, axis);
  const Tensor& index = importer.input(op, 1);
  if (index.type == TensorType::INT32 && !index.is_constant && !importer.folded(op, 1))
    return take(importer, op, axis, batch);
  Moving x(importer, op, 0);
  if (!x.is_good() || !importer.read_integers(op, 1, &indices)) return Status();
  QRT_TRY(check_index_count(static_cast<int64_t>(indices.size())));
  const int64_t n = from[axis];
  for (int32_t i : indices)
    QRT_MODEL_CHECK(i >= 0 && i < n, "index %d, expected 0 to %lld", i,
                    static_cast<long long>(n - 1));
  // Behind batch dimensions, all that stand in front of the axis are read with it as rows, which each
  // have the indices of their batch.
  std::vector<int64_t> to;
  int64_t batches = 1, fronts = 1;
  for (int d = 0; d < batch; ++d) {
    QRT_MODEL_CHECK(from[d] == shape[d],
                    "batch dimension %d is %lld in the data and %lld in the indices", d,
                    static_cast<long long>(from[d]), static_cast<long long>(shape[d]));
    batches *= from[d];
  }
  for (int d = 0; d < axis; ++d) to.push_back(from[d]);
  for (int d = batch; d < axis; ++d) fronts *= from[d];
  for (int d = batch; d < shape.rank(); ++d) to.push_back(shape[d]);
  for (int d = axis + 1; d < from.rank(); ++d) to.push_back(from[d]);
  if (to.size() > static_cast<size_t>(kMaxTensorRank))
    return error(Code::kUnsupported, "its result has %zu dimensions", to.size());
  Shape result;
  QRT_TRY(shape_of(to, &result));
  if (batches == 1) {
    IndexMaps maps(from);
    maps.set(axis, indices);
    QRT_TRY(x.gather(maps));
  } else {
    const int64_t each = batches > 0 ? static_cast<int64_t>(indices.size()) / batches : 0;
    QRT_TRY(check_index_count(batches * fronts * each));
    Indices rows_read;
    for (int64_t row = 0; row < batches * fronts; ++row)
      for (int64_t i = 0; i < each; ++i)
        rows_read.push_back(
            static_cast<int32_t>(row * n + indices[static_cast<size_t>(row / fronts * each + i)]));
    std::vector<int64_t> flat = {batches * fronts * n};
    for (int d = axis + 1; d < from.rank(); ++d) flat.push_back(from[d]);
    Shape rows;
    QRT_TRY(shape_of(flat, &rows));
    x.reshape(rows);
    IndexMaps maps(rows);
    maps.set(0, std::move(rows_read));
    QRT_TRY(x.gather(maps));
  }
  x.reshape(result);
  return x.finish();
}

Status import_gather_nd(Importer& importer, const Op& op) {
  const Shape& from = importer.input(op, 0).shape;
  const Tensor& index = importer.input(op, 1);
  const Shape& shape = index.shape;
  std::vector<int32_t> indices;
  Moving x(importer, op, 0);
  const bool is_known =
      index.type != TensorType::INT32 || index.is_constant || importer.folded(op, 1);
  if (!x.is_good() || (is_known && !importer.read_integers(op, 1, &indices))) return Status();
  QRT_TRY(check_index_count(static_cast<int64_t>(indices.size())));
  QRT_MODEL_CHECK(shape.rank() >= 1, "its indices are a scalar");
  const int64_t depth = shape[shape.rank() - 1];
  QRT_MODEL_CHECK(depth >= 1 && depth <= from.rank(), "%lld indices of %d dimensions",
                  static_cast<long long>(depth), from.rank());
  std::vector<int64_t> flat(1, 1), to(shape.begin(), shape.end() - 1);
  for (int d = 0; d < from.rank(); ++d) {
    if (d < depth) {
      flat[0] *= from[d];
    } else {
      flat.push_back(from[d]);
      to.push_back(from[d]);
    }
  }
  if (to.size() > static_cast<size_t>(kMaxTensorRank))
    return error(Code::kUnsupported, "its result has %zu dimensions", to.size());
  if (!is_known) return take_nd(importer, op, x, flat, to);
  Indices linear;
  for (size_t p = 0; p < indices.size(); p += static_cast<size_t>(depth)) {
    int64_t at = 0;
    for (int d = 0; d < depth; ++d) {
      const int32_t i = indices[p + static_cast<size_t>(d)];
      QRT_MODEL_CHECK(i >= 0 && i < from[d], "index %d, expected 0 to %lld", i,
                      static_cast<long long>(from[d] - 1));
      at = at * from[d] + i;
    }
    linear.push_back(static_cast<int32_t>(at));
  }
  Shape rows, result;
  QRT_TRY(shape_of(flat, &rows));
  QRT_TRY(shape_of(to, &result));
  x.reshape(rows);
  IndexMaps maps(rows);
  maps.set(0, std::move(linear));
  QRT_TRY(x.gather(maps));
  x.reshape(result);
  return x.finish();
}

}  // namespace qrt::convert::from_tflite
