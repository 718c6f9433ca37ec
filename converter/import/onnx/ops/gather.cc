// SPDX-License-Identifier: Apache-2.0
// Operators whose output takes elements of the input at indices known at conversion: Tile, Expand,
// Gather and its relatives, DepthToSpace and SpaceToDepth.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "converter/import/onnx/move.h"
#include "converter/import/onnx/ops/handlers.h"
#include "converter/import/onnx/ops/integer.h"
#include "converter/import/onnx/ops/take.h"
#include "converter/import/onnx/run_integers.h"

namespace qrt::convert::from_onnx {
namespace {

std::vector<int64_t> dims_of(const Shape& shape, int begin, int end) {
  return {shape.begin() + begin, shape.begin() + end};
}

std::vector<int64_t> joined(std::vector<int64_t> a, const std::vector<int64_t>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

int64_t product(const std::vector<int64_t>& dims) {
  return std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<int64_t>());
}

// Gathers from input 0, taken as a vector over its first `axes` dimensions, at `linear`; the result
// has the dimensions `dims` and those behind.
Status gather_linear(Importer& importer, const NodeView& node, int axes, const Indices& linear,
                     const std::vector<int64_t>& dims) {
  const Shape& from = importer.input(node, 0).shape;
  const std::vector<int64_t> rest = dims_of(from, axes, from.rank());
  std::vector<Movement> movements(1);
  QRT_TRY(reshaped(from, joined({product(dims_of(from, 0, axes))}, rest), &movements[0]));
  IndexMaps maps(movements[0].to);
  maps.set(0, linear);
  movements.push_back(gathered(std::move(maps)));
  movements.emplace_back();
  QRT_TRY(reshaped(movements[1].to, joined(dims, rest), &movements[2]));
  return move(importer, node, std::move(movements));
}

}  // namespace

Status import_tile(Importer& importer, const NodeView& node) {
  const Shape& from = importer.input(node, 0).shape;
  std::vector<int64_t> repeats;
  if (!constant_integers(importer, node, 1, &repeats)) return Status();
  QRT_MODEL_CHECK(static_cast<int>(repeats.size()) == from.rank(),
                  "%zu repeats for %d dimensions, expected one for each", repeats.size(),
                  from.rank());
  IndexMaps maps(from);
  for (int d = 0; d < from.rank(); ++d) {
    const int64_t times = repeats[static_cast<size_t>(d)], n = from[d];
    QRT_MODEL_CHECK(times >= 0, "repeats[%d] is %lld, expected 0 or more", d,
                    static_cast<long long>(times));
    if (times == 1) continue;
    QRT_TRY(check_index_count(times));
    QRT_TRY(check_index_count(times * n));
    Indices indices = stepped(0, times * n, 1);
    for (int32_t& i : indices) i = static_cast<int32_t>(i % n);
    maps.set(d, std::move(indices));
  }
  return move(importer, node, {gathered(std::move(maps))});
}

namespace {

// Returns whether an Expand makes a grid of indices: of known numbers, but of lengths that a run decides. As a constant the grid
// would be as large as what it indexes.
bool is_grid_of_a_run(const Importer& importer, const NodeView& node, const Shape& to) {
  const Tensor& x = importer.input(node, 0);
  return to.rank() >= 3 && x.is_plain_constant() && (x.type == kInt64 || x.type == kInt32) &&
         importer.may_differ_at_other_sizes(node, 1);
}

// Returns input 0 of an Expand that makes a grid of row numbers. Indices from 0 on are counted in
// the run, which decides how many there are.
ValueId row_of_grid(Importer& importer, const NodeView& node) {
  const Tensor& x = importer.input(node, 0);
  bool counts = importer.may_differ_at_other_sizes(node, 0) &&
                RunIntegers::check_count(x.shape.elements()).ok();
  for (int64_t i = 0; counts && i < x.shape.elements(); ++i) counts = x.constant->integer(i) == i;
  if (!counts) return integer_value(importer, node, 0);
  RunIntegers r(importer, node);
  const ValueId row = r.indices(x.shape.elements());
  return x.type == kInt64 ? row : r.to_int32(row);
}

}  // namespace

Status import_expand(Importer& importer, const NodeView& node) {
  const Shape& from = importer.input(node, 0).shape;
  std::vector<int64_t> target;
  if (!constant_integers(importer, node, 1, &target)) return Status();
  std::vector<int64_t> dims(from.begin(), from.end());
  if (target.size() > dims.size()) dims.insert(dims.begin(), target.size() - dims.size(), 1);
  std::vector<Movement> movements(1);
  QRT_TRY(reshaped(from, dims, &movements[0]));
  IndexMaps maps(movements[0].to);
  const size_t ahead = dims.size() - target.size();
  for (size_t i = 0; i < target.size(); ++i) {
    const size_t d = ahead + i;
    if (target[i] == 1 || target[i] == dims[d]) continue;
    QRT_MODEL_CHECK(dims[d] == 1 && target[i] >= 0, "shape %s cannot expand to %lld along axis %zu",
                    from.to_string().c_str(), static_cast<long long>(target[i]), d);
    QRT_TRY(check_index_count(target[i]));
    maps.set(static_cast<int>(d), Indices(static_cast<size_t>(target[i]), 0));
  }
  const Tensor& x = importer.input(node, 0);
  if (is_grid_of_a_run(importer, node, maps.to())) {
    const ValueId row = importer.builder().reshape(node, row_of_grid(importer, node), maps.from());
    set_value(importer, node, x.type, importer.builder().gather(node, row, maps, 0));
    return Status();
  }
  movements.push_back(gathered(std::move(maps)));
  return move(importer, node, std::move(movements));
}

Status import_gather(Importer& importer, const NodeView& node) {
  const Shape& from = importer.input(node, 0).shape;
  int axis;
  QRT_TRY(read_axis(node.integer("axis", 0), from.rank(), &axis));
  const Tensor& index = importer.input(node, 1);
  if (is_index_of_a_run(importer, node, 1)) {
    const Shape& to = index.shape;
    std::vector<int64_t> dims = joined(dims_of(from, 0, axis), {to.begin(), to.end()});
    Taking taking = {from, axis, 0, index.value, Shape()};
    QRT_TRY(make_shape(joined(std::move(dims), dims_of(from, axis + 1, from.rank())), &taking.to));
    return take(importer, node, taking);
  }
  std::vector<int64_t> indices;
  if (!constant_integers(importer, node, 1, &indices)) return Status();
  QRT_TRY(check_index_count(static_cast<int64_t>(indices.size())));
  if (!indices.empty()) {
    const auto [least, most] = std::minmax_element(indices.begin(), indices.end());
    importer.note_distance(node, *least);  // below 0 it counts from the end
    importer.note_distance(node, *most);
  }
  const int64_t n = from[axis];
  Indices map;
  for (int64_t i : indices) {
    QRT_MODEL_CHECK(i >= -n && i < n, "index %lld is outside %lld", static_cast<long long>(i),
                    static_cast<long long>(n));
    map.push_back(static_cast<int32_t>(i < 0 ? i + n : i));
  }
  IndexMaps maps(from);
  maps.set(axis, std::move(map));
  const Shape& shape = importer.input(node, 1).shape;
  std::vector<int64_t> dims = joined(dims_of(from, 0, axis), {shape.begin(), shape.end()});
  dims = joined(std::move(dims), dims_of(from, axis + 1, from.rank()));
  std::vector<Movement> movements = {gathered(std::move(maps)), Movement()};
  QRT_TRY(reshaped(movements[0].to, dims, &movements[1]));
  return move(importer, node, std::move(movements));
}

Status import_gather_nd(Importer& importer, const NodeView& node) {
  const Shape& from = importer.input(node, 0).shape;
  const Shape& shape = importer.input(node, 1).shape;
  const int64_t batch_dims = node.integer("batch_dims", 0);
  if (is_index_of_a_run(importer, node, 1)) return take_points(importer, node);
  std::vector<int64_t> indices;
  if (!constant_integers(importer, node, 1, &indices)) return Status();
  QRT_TRY(check_index_count(static_cast<int64_t>(indices.size())));
  QRT_MODEL_CHECK(shape.rank() >= 1, "its indices are a scalar");
  const int64_t depth = shape[shape.rank() - 1];
  QRT_MODEL_CHECK(depth >= 1 && batch_dims >= 0 && batch_dims < shape.rank() &&
                      depth <= from.rank() - batch_dims,
                  "%lld indices behind %lld batch dimensions of %d", static_cast<long long>(depth),
                  static_cast<long long>(batch_dims), from.rank());
  const int batch = static_cast<int>(batch_dims), axes = batch + static_cast<int>(depth);
  int64_t batches = 1;
  for (int d = 0; d < batch; ++d) {
    QRT_MODEL_CHECK(from[d] == shape[d],
                    "batch dimension %d is %lld in the data and %lld in the indices", d,
                    static_cast<long long>(from[d]), static_cast<long long>(shape[d]));
    batches *= from[d];
  }
  const int64_t points = static_cast<int64_t>(indices.size()) / depth;
  const int64_t each = batches > 0 ? points / batches : 0;
  Indices linear;
  for (int64_t p = 0; p < points; ++p) {
    int64_t at = p / each;
    for (int64_t k = 0; k < depth; ++k) {
      const int64_t n = from[batch + static_cast<int>(k)];
      const int64_t i = indices[static_cast<size_t>(p * depth + k)];
      QRT_MODEL_CHECK(i >= -n && i < n, "index %lld is outside %lld", static_cast<long long>(i),
                      static_cast<long long>(n));
      at = at * n + (i < 0 ? i + n : i);
    }
    linear.push_back(static_cast<int32_t>(at));
  }
  return gather_linear(importer, node, axes, linear, dims_of(shape, 0, shape.rank() - 1));
}

Status import_gather_elements(Importer& importer, const NodeView& node) {
  const Shape& from = importer.input(node, 0).shape;
  const Shape shape = importer.input(node, 1).shape;
  int axis;
  QRT_TRY(read_axis(node.integer("axis", 0), from.rank(), &axis));
  // Constant indices need a map of all elements, for which no rule gives the map at other sizes.
  if (is_index_of_a_run(importer, node, 1) || importer.may_differ_at_other_sizes(node, 1))
    return take_elements(importer, node, axis);
  std::vector<int64_t> indices;
  if (!constant_integers(importer, node, 1, &indices)) return Status();
  QRT_TRY(check_index_count(static_cast<int64_t>(indices.size())));
  bool fits = shape.rank() == from.rank();
  for (int d = 0; fits && d < shape.rank(); ++d) fits = d == axis || shape[d] <= from[d];
  QRT_MODEL_CHECK(fits, "indices of shape %s for data of shape %s", shape.to_string().c_str(),
                  from.to_string().c_str());
  Indices linear;
  std::vector<int64_t> position(static_cast<size_t>(shape.rank()), 0);
  for (int64_t index : indices) {
    const int64_t n = from[axis];
    QRT_MODEL_CHECK(index >= -n && index < n, "index %lld is outside %lld",
                    static_cast<long long>(index), static_cast<long long>(n));
    int64_t at = 0;
    for (int d = 0; d < shape.rank(); ++d) {
      const int64_t i =
          d == axis ? (index < 0 ? index + n : index) : position[static_cast<size_t>(d)];
      at = at * from[d] + i;
    }
    linear.push_back(static_cast<int32_t>(at));
    for (int d = shape.rank(); d-- > 0;) {
      if (++position[static_cast<size_t>(d)] < shape[d]) break;
      position[static_cast<size_t>(d)] = 0;
    }
  }
  return gather_linear(importer, node, from.rank(), linear, {shape.begin(), shape.end()});
}

Status import_depth_to_space(Importer& importer, const NodeView& node) {
  const Shape& from = importer.input(node, 0).shape;
  const int64_t b = node.integer("blocksize", 0);
  const std::string mode = node.text("mode", "DCR");
  QRT_MODEL_CHECK(from.rank() == 4, "its input has %d dimensions, expected 4", from.rank());
  QRT_MODEL_CHECK(mode == "DCR" || mode == "CRD", "its mode is '%s', expected DCR or CRD",
                  mode.c_str());
  QRT_MODEL_CHECK(b >= 1 && b <= from[1] && from[1] % (b * b) == 0,
                  "%lld channels in blocks of %lld, expected a multiple of the square",
                  static_cast<long long>(from[1]), static_cast<long long>(b));
  const int64_t n = from[0], c = from[1] / (b * b), h = from[2], w = from[3];
  const bool depth_first = mode == "DCR";
  std::vector<Movement> movements(3);
  QRT_TRY(reshaped(
      from,
      depth_first ? std::vector<int64_t>{n, b, b, c, h, w} : std::vector<int64_t>{n, c, b, b, h, w},
      &movements[0]));
  movements[1] = transposed(movements[0].to, depth_first ? std::vector<int>{0, 3, 4, 1, 5, 2}
                                                         : std::vector<int>{0, 1, 4, 2, 5, 3});
  QRT_TRY(reshaped(movements[1].to, {n, c, h * b, w * b}, &movements[2]));
  return move(importer, node, std::move(movements));
}

Status import_space_to_depth(Importer& importer, const NodeView& node) {
  const Shape& from = importer.input(node, 0).shape;
  const int64_t b = node.integer("blocksize", 0);
  QRT_MODEL_CHECK(from.rank() == 4, "its input has %d dimensions, expected 4", from.rank());
  QRT_MODEL_CHECK(b >= 1 && b <= from[2] && from[2] % b == 0 && from[3] % b == 0,
                  "%lld x %lld in blocks of %lld, expected multiples",
                  static_cast<long long>(from[2]), static_cast<long long>(from[3]),
                  static_cast<long long>(b));
  std::vector<Movement> movements(3);
  QRT_TRY(reshaped(from, {from[0], from[1], from[2] / b, b, from[3] / b, b}, &movements[0]));
  movements[1] = transposed(movements[0].to, {0, 3, 5, 1, 2, 4});
  QRT_TRY(reshaped(movements[1].to, {from[0], from[1] * b * b, from[2] / b, from[3] / b},
                   &movements[2]));
  return move(importer, node, std::move(movements));
}

}  // namespace qrt::convert::from_onnx
