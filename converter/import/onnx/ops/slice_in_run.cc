// SPDX-License-Identifier: Apache-2.0
// Slice and Range that begin at a number of the run, with a length that follows from sizes.
#include <algorithm>
#include <iterator>

#include "converter/import/onnx/move.h"
#include "converter/import/onnx/ops/handlers.h"
#include "converter/import/onnx/ops/integer.h"
#include "converter/import/onnx/ops/slice.h"
#include "converter/import/onnx/ops/take.h"
#include "converter/import/onnx/run_integers.h"
#include "converter/import/onnx/run_lengths.h"
#include "converter/import/onnx/run_offsets.h"

namespace qrt::convert::from_onnx {
namespace {

// From `start` on, `count` numbers that are `step` apart.
struct Span {
  RunOffset start;
  int64_t count = 0;
};

// Returns whether it is known, but for one number that both ends are counted from, how far they are apart.
bool find_span(Importer& importer, const std::string& start, const std::string& end,
               int64_t element, Span* span) {
  RunOffset last;
  return find_run_offset(importer, start, element, &span->start) &&
         find_run_offset(importer, end, element, &last) && span->start.base == last.base &&
         span->start.element == last.element &&
         !__builtin_sub_overflow(last.offset, span->start.offset, &span->count);
}

Status refuse_span(Importer& importer, const NodeView& node, const std::string& start,
                   const std::string& end) {
  return importer.refuse(
      node, "its length depends on numbers of the run: from '" + start + "' to '" + end + "'",
      node.output(0),
      "export the model with a part whose length follows from the shapes of its "
      "inputs, as a cache that is used whole with a mask");
}

// Returns the number that a span begins with, a scalar.
ValueId start_of(Importer& importer, const NodeView& node, const RunOffset& start) {
  RunIntegers r(importer, node);
  if (start.base.empty()) return r.number(start.offset);
  const ValueId base = importer.tensors().at(start.base).value;
  const int64_t n = importer.builder().shape_of(base).elements();
  IndexMaps maps({n});
  maps.set(0, {static_cast<int32_t>(start.element)});
  ValueId x = r.to_int64(r.reshaped(base, {n}));
  if (n > 1) x = importer.builder().gather(node, x, maps, 0);
  return r.add(r.reshaped(x, Shape()), r.number(start.offset));
}

bool is_number_of_a_run(Importer& importer, const RunOffset& start) {
  if (start.base.empty()) return true;
  const Tensor& t = importer.tensors().at(start.base);
  return t.is_value() && (t.type == kInt64 || t.type == kInt32) &&
         t.shape.elements() > start.element;
}

// Operators between positions and the angles that are made of them.
constexpr const char* kOfAngles[] = {"Cast",    "Identity", "Unsqueeze", "Squeeze", "Reshape",
                                     "Flatten", "Expand",   "Transpose", "Concat",  "Mul",
                                     "Div",     "Add",      "MatMul",    "Einsum"};

// Returns whether a sine or a cosine is computed of the tensor.
bool leads_to_angles(const Importer& importer, const std::string& tensor) {
  constexpr size_t kMostTensors = 64;
  std::vector<std::string> tensors = {tensor};
  for (size_t i = 0; i < tensors.size() && i < kMostTensors; ++i) {
    const std::vector<int> readers = importer.model().readers(tensors[i]);
    for (const int reader : readers) {
      const NodeView& node = importer.node(reader);
      if (node.op() == "Sin" || node.op() == "Cos") return true;
      if (std::any_of(std::begin(kOfAngles), std::end(kOfAngles),
                      [&](const char* op) { return node.op() == op; }))
        tensors.push_back(node.output(0));
    }
  }
  return false;
}

// Makes a Range of numbers that follow from open sizes. *done: false where they are not whole numbers that are one apart.
Status count_positions(Importer& importer, const NodeView& node, bool* done) {
  int64_t ends[3];
  const int type = importer.input(node, 0).type;
  *done = type == kInt64 || type == kInt32;
  for (int i = 0; i < 3 && *done; ++i) {
    const Tensor& t = importer.input(node, i);
    *done = t.is_plain_constant() && t.constant->is_integer() && t.constant->elements() == 1;
    if (*done) ends[i] = t.constant->integer(0);
  }
  int64_t count = 0;
  *done = *done && ends[2] == 1 && !__builtin_sub_overflow(ends[1], ends[0], &count) && count >= 1;
  if (!*done) return Status();
  QRT_TRY(RunIntegers::check_count(count));
  importer.note_distance(node, count);
  RunIntegers r(importer, node);
  const ValueId y = r.add(r.number(ends[0]), r.indices(count));
  importer.became(node, "Integer", "I0");
  set_value(importer, node, type, type == kInt64 ? y : r.to_int32(y));
  return Status();
}

}  // namespace

Status slice_in_run(Importer& importer, const NodeView& node) {
  const Shape from = importer.input(node, 0).shape;
  const int64_t count = importer.input(node, 1).shape.elements();
  std::vector<int> axes;
  std::vector<int64_t> steps(static_cast<size_t>(count), 1);
  bool known;
  QRT_MODEL_CHECK(count == importer.input(node, 2).shape.elements() && count <= kMaxTensorRank,
                  "%lld starts and %lld ends", static_cast<long long>(count),
                  static_cast<long long>(importer.input(node, 2).shape.elements()));
  QRT_TRY(input_axes(importer, node, 3, from.rank(), static_cast<size_t>(count), &axes, &known));
  if (!known || (node.has_input(4) && !constant_integers(importer, node, 4, &steps)))
    return Status();
  QRT_MODEL_CHECK(static_cast<int64_t>(steps.size()) == count, "%zu steps for %lld axes",
                  steps.size(), static_cast<long long>(count));
  int type;
  ValueId y = value_of(importer, node, 0, &type);
  if (y == kNoValue) return importer.refuse_float(node, 0);
  GraphBuilder& builder = importer.builder();
  RunIntegers r(importer, node);
  for (size_t i = 0; i < axes.size(); ++i) {
    Span span;
    RunOffset end;
    const auto element = static_cast<int64_t>(i);
    const int axis = axes[i];
    const bool is_known = find_run_offset(importer, node.input(1), element, &span.start) &&
                          find_run_offset(importer, node.input(2), element, &end) &&
                          span.start.base.empty() && end.base.empty();
    if (is_known) {
      Indices indices;
      QRT_TRY(slice_indices(from[axis], span.start.offset, end.offset, steps[i], &indices));
      IndexMaps maps(builder.shape_of(y));
      maps.keep(axis, std::move(indices));
      y = builder.gather(node, y, maps, 0);
      continue;
    }
    const bool is_from_first = span.start.base.empty() && span.start.offset == 0 && steps[i] == 1 &&
                               is_number_of_a_run(importer, end);
    if (is_from_first && axes.size() == 1 && type == kFloat &&
        !importer.is_output(node.output(0))) {
      QRT_TRY(RunIntegers::check_count(from[axis]));
      y = cut_in_run(importer, node, y, axis, start_of(importer, node, end), end);
      continue;
    }
    if (steps[i] != 1 || !find_span(importer, node.input(1), node.input(2), element, &span) ||
        span.count < 1 || !is_number_of_a_run(importer, span.start))
      return refuse_span(importer, node, node.input(1), node.input(2));
    QRT_TRY(RunIntegers::check_count(span.count));
    // A negative start would count from the end, and the end from the beginning.
    const ValueId start = start_of(importer, node, span.start);
    const ValueId index =
        r.unless(r.is_less(start, r.constant(0)), r.add(start, r.indices(span.count)));
    Shape to = builder.shape_of(y);
    to[axis] = span.count;
    const ValueId taken = builder.new_value("", builder.type_of(y), to);
    auto& o = builder.add<fb::TakeOptionsT>(node, {y, index}, taken);
    o.axis = static_cast<uint32_t>(axis);
    o.is_checked = true;
    y = taken;
  }
  importer.became(node, "Take", "I0");
  set_value(importer, node, type, y);
  return Status();
}

Status import_range(Importer& importer, const NodeView& node) {
  // A constant that holds the angles of positions behind a past would need those of every past, so
  // they are computed.
  bool done =
      importer.may_differ_at_other_sizes(node, 0) && leads_to_angles(importer, node.output(0));
  if (done) QRT_TRY(count_positions(importer, node, &done));
  if (done) return Status();
  if (fold_node(importer, node)) return Status();
  Span span;
  const Tensor& step = importer.input(node, 2);
  const int type = step.type;
  if (!step.is_plain_constant() || !step.constant->is_integer() || step.constant->elements() != 1 ||
      step.constant->integer(0) != 1 || (type != kInt64 && type != kInt32))
    return import_folded(importer, node);
  if (!find_span(importer, node.input(0), node.input(1), 0, &span) || span.count < 1 ||
      !is_number_of_a_run(importer, span.start))
    return refuse_span(importer, node, node.input(0), node.input(1));
  QRT_TRY(RunIntegers::check_count(span.count));
  RunIntegers r(importer, node);
  const ValueId y = r.add(start_of(importer, node, span.start), r.indices(span.count));
  importer.became(node, "Integer", "I0");
  set_value(importer, node, type, type == kInt64 ? y : r.to_int32(y));
  return Status();
}

}  // namespace qrt::convert::from_onnx
