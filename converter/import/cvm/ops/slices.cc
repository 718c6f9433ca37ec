// SPDX-License-Identifier: Apache-2.0
// Operators that read elements at indices known from the file: repetition, tiles and slices. Each
// becomes index maps of a Gather.
#include <algorithm>

#include "converter/import/common/index_maps.h"
#include "converter/import/cvm/ops/ops.h"

namespace qrt::convert::from_cvm {
namespace {

// Sets the output to `maps` on the first input.
Status import_maps(Importer& importer, const Op& op, const IndexMaps& maps) {
  Stored x = importer.stored(op.input());
  const ValueId from = importer.graph().values[x.value].type.shape == maps.from()
                           ? x.value
                           : importer.reshaped(op, x.value, x.storage, maps.from());
  const ValueId made = importer.new_value("", x.storage, maps.to());
  importer.add_node<fb::GatherOptionsT>(op, {from}, made) = maps.options(0);
  x.value = made;
  importer.set_output(op, x, "Gather");
  return Status();
}

Status read_repeat(const Attributes& a, int rank, int64_t* repeats, int* axis) {
  int64_t value = 0;
  QRT_TRY(a.check_names({"repeats", "axis"}));
  QRT_TRY(a.required_integer("repeats", 1, 1 << 24, repeats));
  QRT_TRY(a.integer("axis", -rank, rank - 1, &value));
  *axis = static_cast<int>(value < 0 ? value + rank : value);
  return Status();
}

Status check_size(const Shape& shape) {
  QRT_MODEL_CHECK(shape.elements() >= 0 && shape.elements() <= (int64_t{1} << 30),
                  "its output %s has more than 2^30 elements", shape.to_string().c_str());
  return Status();
}

}  // namespace

Status infer_repeat(Inference* inference) {
  Shape shape = inference->input().shape;
  int64_t repeats = 1;
  int axis = 0;
  QRT_TRY(read_repeat(inference->attributes(), shape.rank(), &repeats, &axis));
  shape[axis] *= repeats;
  QRT_TRY(check_size(shape));
  return inference->output(shape, inference->input().precision);
}

Status import_repeat(Importer& importer, const Op& op) {
  const Shape& x = importer.shape(op.input());
  int64_t repeats = 1;
  int axis = 0;
  QRT_TRY(read_repeat(Attributes(op.node.attributes), x.rank(), &repeats, &axis));
  QRT_TRY(check_index_count(x[axis] * repeats));
  Indices indices;
  for (int64_t i = 0; i < x[axis] * repeats; ++i)
    indices.push_back(static_cast<int32_t>(i / repeats));
  IndexMaps maps(x);
  maps.set(axis, std::move(indices));
  return import_maps(importer, op, maps);
}

namespace {

// Reads the input's shape and the numbers of tiles, of one rank.
Status read_tile(const Attributes& a, const Shape& x, Shape* from, std::vector<int64_t>* reps) {
  QRT_TRY(a.check_names({"reps"}));
  QRT_TRY(a.required("reps"));
  QRT_TRY(a.tuple("reps", 1, 4096, reps));
  const size_t rank = std::max(reps->size(), static_cast<size_t>(x.rank()));
  QRT_MODEL_CHECK(rank <= kMaxTensorRank, "reps has %zu values, expected at most %d", reps->size(),
                  kMaxTensorRank);
  reps->insert(reps->begin(), rank - reps->size(), 1);
  for (size_t d = static_cast<size_t>(x.rank()); d < rank; ++d) from->push_back(1);
  for (int64_t d : x) from->push_back(d);
  return Status();
}

}  // namespace

Status infer_tile(Inference* inference) {
  Shape shape;
  std::vector<int64_t> reps;
  QRT_TRY(read_tile(inference->attributes(), inference->input().shape, &shape, &reps));
  for (int d = 0; d < shape.rank(); ++d) shape[d] *= reps[static_cast<size_t>(d)];
  QRT_TRY(check_size(shape));
  return inference->output(shape, inference->input().precision);
}

Status import_tile(Importer& importer, const Op& op) {
  Shape from;
  std::vector<int64_t> reps;
  QRT_TRY(read_tile(Attributes(op.node.attributes), importer.shape(op.input()), &from, &reps));
  IndexMaps maps(from);
  for (int d = 0; d < from.rank(); ++d) {
    const int64_t count = from[d] * reps[static_cast<size_t>(d)];
    if (count == from[d]) continue;
    QRT_TRY(check_index_count(count));
    Indices indices;
    for (int64_t i = 0; i < count; ++i) indices.push_back(static_cast<int32_t>(i % from[d]));
    maps.set(d, std::move(indices));
  }
  return import_maps(importer, op, maps);
}

namespace {

struct Slice {
  int64_t begin, count, step;
};

Status read_slices(const Attributes& a, const Shape& x, std::vector<Slice>* slices) {
  QRT_TRY(a.check_names({"begin", "end", "stride"}));
  std::vector<int64_t> begin = {0}, end = {1}, step;  // where the attributes are missing
  QRT_TRY(a.tuple("begin", INT32_MIN, INT32_MAX, &begin));
  QRT_TRY(a.tuple("end", INT32_MIN, INT32_MAX, &end));
  QRT_TRY(a.tuple("stride", INT32_MIN, INT32_MAX, &step));
  const size_t rank = static_cast<size_t>(x.rank());
  QRT_MODEL_CHECK(begin.size() <= rank && end.size() <= rank && step.size() <= rank,
                  "begin, end and stride have %zu, %zu and %zu values, its input %zu dimensions",
                  begin.size(), end.size(), step.size(), rank);
  for (size_t d = 0; d < rank; ++d) {
    const int64_t size = x[static_cast<int>(d)], stride = d < step.size() ? step[d] : 1;
    QRT_MODEL_CHECK(stride != 0, "stride has a 0");
    const auto place = [&](int64_t v) {
      if (v < 0) v += size;
      return stride < 0 ? std::clamp<int64_t>(v, -1, size - 1) : std::clamp<int64_t>(v, 0, size);
    };
    const int64_t first = place(d < begin.size() ? begin[d] : 0);
    const int64_t last = place(d < end.size() ? end[d] : size);
    const int64_t reach = stride < 0 ? first - last : last - first;
    QRT_MODEL_CHECK(reach > 0, "dimension %zu of its output is empty", d);
    const int64_t width = std::abs(stride);
    slices->push_back({first, (reach + width - 1) / width, stride});
  }
  return Status();
}

}  // namespace

Status infer_strided_slice(Inference* inference) {
  std::vector<Slice> slices;
  QRT_TRY(read_slices(inference->attributes(), inference->input().shape, &slices));
  Shape shape;
  for (const Slice& s : slices) shape.push_back(s.count);
  return inference->output(shape, inference->input().precision);
}

Status import_strided_slice(Importer& importer, const Op& op) {
  std::vector<Slice> slices;
  const Shape& x = importer.shape(op.input());
  QRT_TRY(read_slices(Attributes(op.node.attributes), x, &slices));
  IndexMaps maps(x);
  for (int d = 0; d < x.rank(); ++d) {
    const Slice& s = slices[static_cast<size_t>(d)];
    if (s.count == x[d] && s.step == 1) continue;
    QRT_TRY(check_index_count(s.count));
    maps.set(d, stepped(s.begin, s.count, s.step));
  }
  return import_maps(importer, op, maps);
}

Status infer_slice_like(Inference* inference) {
  const Shape &x = inference->input(0).shape, &like = inference->input(1).shape;
  const Attributes& a = inference->attributes();
  std::vector<int64_t> axes;
  QRT_TRY(a.check_names({"axis"}));
  QRT_TRY(a.tuple("axis", -x.rank(), x.rank() - 1, &axes));
  if (axes.empty()) {
    QRT_MODEL_CHECK(like.rank() == x.rank(), "its inputs have the shapes %s and %s",
                    x.to_string().c_str(), like.to_string().c_str());
    for (int d = 0; d < x.rank(); ++d) axes.push_back(d);
  }
  Shape shape = x;
  for (int64_t axis : axes) {
    const int d = static_cast<int>(axis < 0 ? axis + x.rank() : axis);
    QRT_MODEL_CHECK(d < like.rank() && like[d] <= x[d], "axis %lld cannot be cut from %s to %s",
                    static_cast<long long>(axis), x.to_string().c_str(), like.to_string().c_str());
    shape[d] = like[d];
  }
  return inference->output(shape, inference->input(0).precision);
}

Status import_slice_like(Importer& importer, const Op& op) {
  const Shape &x = importer.shape(op.input(0)), &y = importer.shape(op.output());
  IndexMaps maps(x);
  for (int d = 0; d < x.rank(); ++d) {
    if (x[d] == y[d]) continue;
    QRT_TRY(check_index_count(y[d]));
    maps.set(d, stepped(0, y[d], 1));
  }
  return import_maps(importer, op, maps);
}

}  // namespace qrt::convert::from_cvm
