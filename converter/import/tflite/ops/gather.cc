// Operators that take elements of their input at indices known at conversion. Of the integers of
// shapes, which are known too, they are computed.
#include <algorithm>

#include "converter/import/tflite/moving.h"
#include "converter/import/tflite/ops/handlers.h"

namespace qrt::convert::from_tflite {
namespace {

Status check_axis(int64_t axis, int rank, int* result) {
  *result = 0;
  QRT_MODEL_CHECK(axis >= -rank && axis < rank, "axis %lld of %d dimensions",
                  static_cast<long long>(axis), rank);
  *result = static_cast<int>(axis < 0 ? axis + rank : axis);
  return Status();
}

// One scalar or one-element vector.
bool read_integer(Importer& importer, const Op& op, int i, int32_t* value) {
  std::vector<int32_t> values;
  if (!importer.read_integers(op, i, &values)) return false;
  if (values.size() == 1) {
    *value = values[0];
    return true;
  }
  (void)importer.refuse(op, importer.quoted_input(op, i) + " is not one number",
                        importer.input(op, i).name, "give one number");
  return false;
}

// The pairs [rank][2] of paddings, as maps.
Status read_paddings(Importer& importer, const Op& op, PadMode mode, IndexMaps* maps, bool* known) {
  std::vector<int32_t> pads;
  *known = importer.read_integers(op, 1, &pads);
  if (!*known) return Status();
  const Shape& from = maps->from();
  QRT_MODEL_CHECK(pads.size() == 2 * static_cast<size_t>(from.rank()),
                  "%zu paddings for %d dimensions", pads.size(), from.rank());
  for (int d = 0; d < from.rank(); ++d) {
    const int64_t before = pads[2 * static_cast<size_t>(d)];
    const int64_t after = pads[2 * static_cast<size_t>(d) + 1];
    const int64_t most = mode == PadMode::kReflect     ? from[d] - 1
                         : mode == PadMode::kSymmetric ? from[d]
                                                       : kMaxIndices;
    QRT_MODEL_CHECK(before >= 0 && after >= 0, "a padding is negative");
    QRT_MODEL_CHECK(mode == PadMode::kConstant || (before <= most && after <= most),
                    "padding %lld and %lld mirrors %lld indices", static_cast<long long>(before),
                    static_cast<long long>(after), static_cast<long long>(from[d]));
    QRT_TRY(check_index_count(from[d] + before + after));
    if (before + after > 0) maps->set(d, padded(from[d], before, after, mode));
  }
  return Status();
}

Status pad_with(Importer& importer, const Op& op, int64_t fill) {
  Moving x(importer, op, 0);
  if (!x.is_good()) return Status();
  IndexMaps maps(x.shape());
  bool known;
  QRT_TRY(read_paddings(importer, op, PadMode::kConstant, &maps, &known));
  if (!known) return Status();
  QRT_TRY(x.gather(maps, fill));
  return x.finish();
}

Status shape_of(const std::vector<int64_t>& dims, Shape* shape) {
  *shape = Shape();
  for (int64_t d : dims) shape->push_back(d);
  const int64_t elements = shape->elements();
  if (elements < 0 || elements > INT32_MAX)
    return error(Code::kUnsupported, "a shape %s has more than 2^31 - 1 elements",
                 shape->to_string().c_str());
  return Status();
}

Status import_split_at(Importer& importer, const Op& op, int input, int axis,
                       const std::vector<int64_t>& sizes) {
  QRT_MODEL_CHECK(sizes.size() == op.outputs.size(), "%zu sizes for %zu outputs", sizes.size(),
                  op.outputs.size());
  int64_t begin = 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    Moving x(importer, op, input);
    if (!x.is_good()) return Status();
    const int64_t n = x.shape()[axis];
    QRT_MODEL_CHECK(sizes[i] >= 0 && sizes[i] <= n - begin, "its sizes do not add up to %lld",
                    static_cast<long long>(n));
    QRT_TRY(check_index_count(sizes[i]));
    IndexMaps maps(x.shape());
    maps.set(axis, stepped(begin, sizes[i], 1));
    begin += sizes[i];
    QRT_MODEL_CHECK(i + 1 < sizes.size() || begin == n, "its sizes do not add up to %lld",
                    static_cast<long long>(n));
    QRT_TRY(x.gather(maps));
    QRT_TRY(x.finish(static_cast<int>(i)));
  }
  return Status();
}

// GATHER at indices that only a run knows.
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
  if (value == kNoValue)
    return importer.refuse(op, "it looks up known integers at run time", importer.output(op).name,
                           "compute shapes outside the model");
  const ValueId y =
      importer.new_value(importer.output(op).name, importer.graph().values[value].type.dtype, to);
  importer.graph().values[y].quantization = importer.graph().values[value].quantization;
  auto& o = importer.add_node<fb::TakeOptionsT>(op, {value, importer.value(op, 1)}, y);
  o.axis = static_cast<uint32_t>(axis);
  o.batch_dims = static_cast<uint32_t>(batch);
  return importer.finish_copy(op, y, "Take");
}

}  // namespace

// RESHAPE, SQUEEZE and EXPAND_DIMS: the file's shape of the output says it all.
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

Status import_slice(Importer& importer, const Op& op) {
  Moving x(importer, op, 0);
  std::vector<int32_t> begin, size;
  if (!x.is_good() || !importer.read_integers(op, 1, &begin) ||
      !importer.read_integers(op, 2, &size))
    return Status();
  const size_t rank = static_cast<size_t>(x.shape().rank());
  QRT_MODEL_CHECK(begin.size() == rank && size.size() == rank,
                  "%zu begins and %zu sizes for %zu "
                  "dimensions",
                  begin.size(), size.size(), rank);
  IndexMaps maps(x.shape());
  for (int d = 0; d < x.shape().rank(); ++d) {
    const int64_t n = x.shape()[d], first = begin[static_cast<size_t>(d)];
    const int64_t given = size[static_cast<size_t>(d)], count = given == -1 ? n - first : given;
    QRT_MODEL_CHECK(first >= 0 && count >= 0 && first <= n && count <= n - first,
                    "%lld indices from %lld on of %lld", static_cast<long long>(count),
                    static_cast<long long>(first), static_cast<long long>(n));
    QRT_TRY(check_index_count(count));
    maps.set(d, stepped(first, count, 1));
  }
  QRT_TRY(x.gather(maps));
  return x.finish();
}

Status import_strided_slice(Importer& importer, const Op& op) {
  const auto o = op.options<tflite::StridedSliceOptions>();
  Moving x(importer, op, 0);
  std::vector<int32_t> begin, end, stride;
  if (!x.is_good() || !importer.read_integers(op, 1, &begin) ||
      !importer.read_integers(op, 2, &end) || !importer.read_integers(op, 3, &stride))
    return Status();
  QRT_MODEL_CHECK(begin.size() <= 32 && end.size() == begin.size() && stride.size() == begin.size(),
                  "%zu begins, %zu ends and %zu strides", begin.size(), end.size(), stride.size());
  const Shape from = x.shape();
  const int specs = static_cast<int>(begin.size());
  // The ellipsis stands for the dimensions that no other entry takes.
  int taken = 0, ellipses = 0;
  for (int i = 0; i < specs; ++i) {
    const bool ellipsis = o.ellipsis_mask >> i & 1;
    ellipses += ellipsis;
    taken += !ellipsis && !(o.new_axis_mask >> i & 1);
  }
  QRT_MODEL_CHECK(ellipses <= 1 && taken <= from.rank(), "%d ranges for %d dimensions", taken,
                  from.rank());
  IndexMaps maps(from);
  std::vector<int64_t> dims;
  int d = 0;
  for (int i = 0; i < specs; ++i) {
    if (o.ellipsis_mask >> i & 1) {
      for (int k = 0; k < from.rank() - taken; ++k) dims.push_back(from[d++]);
      continue;
    }
    if (o.new_axis_mask >> i & 1) {
      dims.push_back(1);
      continue;
    }
    const size_t at = static_cast<size_t>(i);
    const int64_t n = from[d], step = stride[at];
    int64_t first = begin[at], last = end[at], count = 0;
    QRT_MODEL_CHECK(step != 0, "a stride is 0");
    if (o.shrink_axis_mask >> i & 1) {
      if (first < 0) first += n;
      QRT_MODEL_CHECK(first >= 0 && first < n, "index %d of %lld", begin[at],
                      static_cast<long long>(n));
      maps.set(d++, {static_cast<int32_t>(first)});
      continue;
    }
    if (o.offset) last += first;
    const int64_t lowest = step > 0 ? 0 : -1, highest = step > 0 ? n : n - 1;
    const auto placed = [&](int64_t i) {
      return std::clamp<int64_t>(i < 0 ? i + n : i, lowest, highest);
    };
    first = o.begin_mask >> i & 1 ? (step > 0 ? 0 : n - 1) : placed(first);
    last = o.end_mask >> i & 1 ? (step > 0 ? n : -1) : placed(last);
    if (step > 0 && last > first) count = (last - first + step - 1) / step;
    if (step < 0 && last < first) count = (first - last - step - 1) / -step;
    QRT_TRY(check_index_count(count));
    maps.set(d++, stepped(first, count, step));
    dims.push_back(count);
  }
  for (; d < from.rank(); ++d) dims.push_back(from[d]);
  if (dims.size() > static_cast<size_t>(kMaxTensorRank))
    return error(Code::kUnsupported, "its result has %zu dimensions", dims.size());
  Shape to;
  for (int64_t size : dims) to.push_back(size);
  QRT_TRY(x.gather(maps));
  x.reshape(to);
  return x.finish();
}

Status import_split(Importer& importer, const Op& op) {
  int32_t axis_in;
  int axis;
  if (!read_integer(importer, op, 0, &axis_in)) return Status();
  const Shape& from = importer.input(op, 1).shape;
  QRT_TRY(check_axis(axis_in, from.rank(), &axis));
  const auto parts = static_cast<int64_t>(op.outputs.size());
  QRT_MODEL_CHECK(from[axis] % parts == 0, "%lld indices in %lld parts",
                  static_cast<long long>(from[axis]), static_cast<long long>(parts));
  return import_split_at(importer, op, 1, axis,
                         std::vector<int64_t>(static_cast<size_t>(parts), from[axis] / parts));
}

Status import_split_v(Importer& importer, const Op& op) {
  std::vector<int32_t> given;
  int32_t axis_in;
  int axis;
  if (!importer.read_integers(op, 1, &given) || !read_integer(importer, op, 2, &axis_in))
    return Status();
  const Shape& from = importer.input(op, 0).shape;
  QRT_TRY(check_axis(axis_in, from.rank(), &axis));
  std::vector<int64_t> sizes(given.begin(), given.end());
  int64_t known = 0, *open = nullptr;
  for (int64_t& size : sizes) {
    QRT_MODEL_CHECK(size >= -1 && (size >= 0 || !open), "a size is %lld",
                    static_cast<long long>(size));
    if (size < 0)
      open = &size;
    else
      known += size;
  }
  if (open) *open = from[axis] - known;
  return import_split_at(importer, op, 0, axis, sizes);
}

Status import_pad(Importer& importer, const Op& op) {
  const Tensor& y = importer.output(op);
  Quant quant;
  int64_t fill = 0;
  if (y.type != TensorType::INT16 && y.type != TensorType::INT32) {
    if (!importer.read_quant(op, y, &quant)) return Status();
    fill = quant.stored_zero_point();
  }
  return pad_with(importer, op, fill);
}

Status import_pad_v2(Importer& importer, const Op& op) {
  const Tensor &value = importer.input(op, 2), &y = importer.output(op);
  if (value.type == TensorType::INT32) {
    int32_t fill;
    if (!read_integer(importer, op, 2, &fill)) return Status();
    return pad_with(importer, op, fill);
  }
  if (!value.is_constant || value.type != y.type || value.shape.elements() != 1)
    return importer.refuse(
        op, importer.quoted_input(op, 2) + " is not one constant number of the output's type",
        value.name, "pad with a constant");
  int64_t fill = 0;
  memcpy(&fill, value.data, value.bytes);
  if (y.type == TensorType::INT8) fill = (fill + 128) & 255;
  return pad_with(importer, op, fill);
}

Status import_mirror_pad(Importer& importer, const Op& op) {
  const auto o = op.options<tflite::MirrorPadOptions>();
  QRT_MODEL_CHECK(
      o.mode == tflite::MirrorPadMode::REFLECT || o.mode == tflite::MirrorPadMode::SYMMETRIC,
      "its mode is %d, expected 0 or 1", static_cast<int>(o.mode));
  Moving x(importer, op, 0);
  if (!x.is_good()) return Status();
  IndexMaps maps(x.shape());
  bool known;
  QRT_TRY(read_paddings(
      importer, op,
      o.mode == tflite::MirrorPadMode::REFLECT ? PadMode::kReflect : PadMode::kSymmetric, &maps,
      &known));
  if (!known) return Status();
  QRT_TRY(x.gather(maps));
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
  Shape wide;
  for (int d = 0; d < rank - from.rank(); ++d) wide.push_back(1);
  for (int64_t d : from) wide.push_back(d);
  x.reshape(wide);
  IndexMaps maps(wide);
  for (int d = 0; d < rank; ++d) {
    const int64_t n = target[static_cast<size_t>(d)];
    if (n == wide[d]) continue;
    QRT_MODEL_CHECK(wide[d] == 1 && n >= 0, "dimension %lld becomes %lld",
                    static_cast<long long>(wide[d]), static_cast<long long>(n));
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
    QRT_MODEL_CHECK(i >= 0 && i < n, "index %d of %lld", i, static_cast<long long>(n));
  // What is in front of the axis behind the batch dimensions stays; the batch dimensions and the
  // axis are read together where there are any.
  std::vector<int64_t> to;
  int64_t batches = 1;
  for (int d = 0; d < batch; ++d) {
    QRT_MODEL_CHECK(from[d] == shape[d], "batch dimension %d is %lld and %lld", d,
                    static_cast<long long>(from[d]), static_cast<long long>(shape[d]));
    batches *= from[d];
  }
  for (int d = 0; d < axis; ++d) to.push_back(from[d]);
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
    if (axis != batch)
      return importer.refuse(op, "its axis does not follow its batch dimensions",
                             importer.output(op).name, "gather along the axis behind the batch");
    const int64_t each = static_cast<int64_t>(indices.size()) / batches;
    for (size_t i = 0; i < indices.size(); ++i)
      indices[i] += static_cast<int32_t>(static_cast<int64_t>(i) / each * n);
    std::vector<int64_t> flat = {batches * n};
    for (int d = axis + 1; d < from.rank(); ++d) flat.push_back(from[d]);
    Shape rows;
    QRT_TRY(shape_of(flat, &rows));
    x.reshape(rows);
    IndexMaps maps(rows);
    maps.set(0, indices);
    QRT_TRY(x.gather(maps));
  }
  x.reshape(result);
  return x.finish();
}

Status import_gather_nd(Importer& importer, const Op& op) {
  const Shape& from = importer.input(op, 0).shape;
  const Shape& shape = importer.input(op, 1).shape;
  std::vector<int32_t> indices;
  Moving x(importer, op, 0);
  if (!x.is_good() || !importer.read_integers(op, 1, &indices)) return Status();
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
  Indices linear;
  for (size_t p = 0; p < indices.size(); p += static_cast<size_t>(depth)) {
    int64_t at = 0;
    for (int d = 0; d < depth; ++d) {
      const int32_t i = indices[p + static_cast<size_t>(d)];
      QRT_MODEL_CHECK(i >= 0 && i < from[d], "index %d of %lld", i,
                      static_cast<long long>(from[d]));
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

Status import_unpack(Importer& importer, const Op& op) {
  const auto o = op.options<tflite::UnpackOptions>();
  const Shape& from = importer.input(op, 0).shape;
  int axis;
  QRT_TRY(check_axis(o.axis, from.rank(), &axis));
  QRT_MODEL_CHECK(from[axis] == static_cast<int64_t>(op.outputs.size()), "%zu outputs of %lld",
                  op.outputs.size(), static_cast<long long>(from[axis]));
  Shape to;
  for (int d = 0; d < from.rank(); ++d)
    if (d != axis) to.push_back(from[d]);
  for (size_t i = 0; i < op.outputs.size(); ++i) {
    Moving x(importer, op, 0);
    if (!x.is_good()) return Status();
    IndexMaps maps(from);
    maps.set(axis, {static_cast<int32_t>(i)});
    QRT_TRY(x.gather(maps));
    x.reshape(to);
    QRT_TRY(x.finish(static_cast<int>(i)));
  }
  return Status();
}

}  // namespace qrt::convert::from_tflite
