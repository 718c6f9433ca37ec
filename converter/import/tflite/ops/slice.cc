// SPDX-License-Identifier: Apache-2.0
// Operators that take parts of a tensor: slices, splits and UNPACK.
#include <algorithm>

#include "converter/import/tflite/moving.h"
#include "converter/import/tflite/ops/handlers.h"

namespace qrt::convert::from_tflite {
namespace {

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

}  // namespace

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
      QRT_MODEL_CHECK(first >= 0 && first < n, "index %d, expected %lld to %lld", begin[at],
                      static_cast<long long>(-n), static_cast<long long>(n - 1));
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
