// SPDX-License-Identifier: Apache-2.0
// Operators that take a part of a tensor, or put elements around it: Slice, Split and Pad.
#include "converter/import/onnx/ops/slice.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "converter/import/onnx/move.h"
#include "converter/import/onnx/ops/handlers.h"

namespace qrt::convert::from_onnx {

Status input_axes(Importer& importer, const NodeView& node, int input, int rank, size_t count,
                  std::vector<int>* axes, bool* known) {
  std::vector<int64_t> named(count);
  std::iota(named.begin(), named.end(), 0);
  *known = !node.has_input(input) || constant_integers(importer, node, input, &named);
  if (!*known) return Status();
  QRT_MODEL_CHECK(named.size() == count, "%zu axes for %zu values", named.size(), count);
  std::vector<bool> seen(static_cast<size_t>(rank), false);
  for (int64_t a : named) {
    int axis;
    QRT_TRY(read_axis(a, rank, &axis));
    QRT_MODEL_CHECK(!seen[static_cast<size_t>(axis)], "axis %d is named twice", axis);
    seen[static_cast<size_t>(axis)] = true;
    axes->push_back(axis);
  }
  return Status();
}

Status slice_indices(int64_t n, int64_t start, int64_t end, int64_t step, Indices* indices) {
  QRT_MODEL_CHECK(step != 0, "a step is 0");
  if (n == 0) {
    indices->clear();
    return Status();
  }
  const int64_t lowest = step > 0 ? 0 : -1, highest = step > 0 ? n : n - 1;
  start = std::clamp<int64_t>(start < 0 ? start + n : start, std::max<int64_t>(lowest, 0), highest);
  end = std::clamp<int64_t>(end < 0 ? end + n : end, lowest, highest);
  step = std::clamp<int64_t>(step, -n - 1, n + 1);
  int64_t count = 0;
  if (step > 0 && end > start) count = (end - start + step - 1) / step;
  if (step < 0 && end < start) count = (start - end - step - 1) / -step;
  QRT_TRY(check_index_count(count));
  *indices = stepped(start, count, step);
  return Status();
}

namespace {

// Returns whether the bound lies beyond `n` indices but would cut a larger axis. A bound that means
// "all" would not.
bool cuts_larger(int64_t n, int64_t bound) {
  return (bound > n && bound < INT32_MAX) || (bound < -n && bound > -INT32_MAX);
}

Status pad(Importer& importer, const NodeView& node, IndexMaps maps) {
  const Tensor& x = importer.input(node, 0);
  if (!maps.fills()) return move(importer, node, {gathered(std::move(maps))});
  int64_t bits = 0;
  float value = node.real("value", 0);
  const Tensor& given = importer.input(node, 2);
  if (node.has_input(2)) {
    if (!given.is_constant() || given.constant->elements() != 1)
      return importer.refuse(node, "the value '" + node.input(2) + "' is not one constant number",
                             node.input(2), "make the padding value an initialiser of the model");
    std::vector<float> real;
    if (constant_floats(given, &real)) value = real[0];
  }
  if (x.waits()) return move_filled(importer, node, std::move(maps), value);
  if (x.is_constant() && x.quant)
    return importer.refuse(node, "its input '" + node.input(0) + "' is a dequantised constant",
                           node.input(0), "pad the integers before their DequantizeLinear");
  if (node.has_input(2)) {
    QRT_MODEL_CHECK(given.is_plain_constant() && given.type == x.type,
                    "the value '%s' is %s, its input %s", node.input(2).c_str(),
                    element_type_name(given.type), element_type_name(x.type));
    memcpy(&bits, given.constant->data.data(), given.constant->data.size());
  } else if (x.type == kFloat) {
    memcpy(&bits, &value, sizeof value);
  } else if (value != 0) {
    return importer.refuse(node, "it pads integers with a number", node.input(0),
                           "pad with an initialiser of the input's type");
  }
  if (x.is_value() && x.type == kInt8) bits = (bits + 128) & 255;
  return move(importer, node, {gathered(std::move(maps), bits)});
}

}  // namespace

Status import_slice(Importer& importer, const NodeView& node) {
  const Shape& from = importer.input(node, 0).shape;
  std::vector<int64_t> starts, ends, steps;
  std::vector<int> axes;
  bool known;
  if (!importer.input(node, 1).is_constant() || !importer.input(node, 2).is_constant())
    return slice_in_run(importer, node);
  if (!constant_integers(importer, node, 1, &starts) ||
      !constant_integers(importer, node, 2, &ends))
    return Status();
  QRT_TRY(input_axes(importer, node, 3, from.rank(), starts.size(), &axes, &known));
  if (!known) return Status();
  steps.assign(starts.size(), 1);
  if (node.has_input(4) && !constant_integers(importer, node, 4, &steps)) return Status();
  QRT_MODEL_CHECK(ends.size() == starts.size() && steps.size() == starts.size(),
                  "%zu starts, %zu ends and %zu steps, expected as many of each", starts.size(),
                  ends.size(), steps.size());
  IndexMaps maps(from);
  for (size_t i = 0; i < axes.size(); ++i) {
    Indices indices;
    QRT_TRY(slice_indices(from[axes[i]], starts[i], ends[i], steps[i], &indices));
    for (const int64_t at : {starts[i], ends[i]})
      importer.note_distance(node, from[axes[i]] - (at < 0 ? -std::max(at, -INT64_MAX) : at));
    if (axes[i] == 0 && importer.may_have_symbolic_batch(importer.input(node, 0)) &&
        (cuts_larger(from[0], starts[i]) || cuts_larger(from[0], ends[i])))
      importer.graph().batch_closed =
          "node '" + node.name() + "' (Slice) cuts batches beyond a number of images";
    const bool is_cut_elsewhere = ends[i] > from[axes[i]] && ends[i] < INT32_MAX;
    if (importer.may_differ_at_other_sizes(node, 1) ||
        importer.may_differ_at_other_sizes(node, 2) ||
        (importer.has_open_sizes() && is_cut_elsewhere))
      maps.keep(axes[i], std::move(indices));
    else
      maps.set(axes[i], std::move(indices));
  }
  return move(importer, node, {gathered(std::move(maps))});
}

Status import_split(Importer& importer, const NodeView& node) {
  const Shape& from = importer.input(node, 0).shape;
  int axis;
  QRT_TRY(read_axis(node.integer("axis", 0), from.rank(), &axis));
  std::vector<int64_t> sizes = node.integers("split");
  if (node.has_input(1) && !constant_integers(importer, node, 1, &sizes)) return Status();
  const int64_t n = from[axis], parts = node.output_count();
  if (!node.has("split") && !node.has_input(1)) {
    QRT_MODEL_CHECK(node.integer("num_outputs", parts) == parts, "num_outputs is not %lld",
                    static_cast<long long>(parts));
    const int64_t each = (n + parts - 1) / parts;
    for (int64_t i = 0; i < parts; ++i) sizes.push_back(std::clamp<int64_t>(n - i * each, 0, each));
  }
  QRT_MODEL_CHECK(static_cast<int64_t>(sizes.size()) == parts, "%zu sizes for %lld outputs",
                  sizes.size(), static_cast<long long>(parts));
  int64_t begin = 0;
  for (int i = 0; i < node.output_count(); ++i) {
    const int64_t size = sizes[static_cast<size_t>(i)];
    QRT_MODEL_CHECK(size >= 0 && size <= n - begin, "its sizes do not add up to %lld",
                    static_cast<long long>(n));
    if (node.has_output(i)) {
      QRT_TRY(check_index_count(size));
      IndexMaps maps(from);
      maps.set(axis, stepped(begin, size, 1));
      QRT_TRY(move(importer, node, {gathered(std::move(maps))}, i));
    }
    begin += size;
  }
  QRT_MODEL_CHECK(begin == n, "its sizes do not add up to %lld", static_cast<long long>(n));
  return Status();
}

Status import_pad(Importer& importer, const NodeView& node) {
  const Shape& from = importer.input(node, 0).shape;
  const std::string mode_name = node.text("mode", "constant");
  PadMode mode;
  if (mode_name == "constant")
    mode = PadMode::kConstant;
  else if (mode_name == "edge")
    mode = PadMode::kEdge;
  else if (mode_name == "reflect")
    mode = PadMode::kReflect;
  else if (mode_name == "wrap")
    mode = PadMode::kWrap;
  else
    return error(Code::kInvalidModel, "its mode is '%s', expected constant, edge, reflect or wrap",
                 mode_name.c_str());
  std::vector<int64_t> pads = node.integers("pads");  // before opset 11
  if (node.has_input(1) && !constant_integers(importer, node, 1, &pads)) return Status();
  QRT_MODEL_CHECK(pads.size() % 2 == 0, "%zu pads, expected two for each axis", pads.size());
  const size_t count = pads.size() / 2;
  QRT_MODEL_CHECK(node.has_input(3) || count == static_cast<size_t>(from.rank()),
                  "%zu pads for %d dimensions, expected two for each", pads.size(), from.rank());
  std::vector<int> axes;
  bool known;
  QRT_TRY(input_axes(importer, node, 3, from.rank(), count, &axes, &known));
  if (!known) return Status();
  IndexMaps maps(from);
  for (size_t i = 0; i < count; ++i) {
    const int64_t n = from[axes[i]], before = pads[i], after = pads[i + count];
    for (int64_t p : {before, after}) {
      if (p < 0 && mode != PadMode::kConstant)
        return importer.refuse(node, "it cuts and pads in mode '" + mode_name + "'", node.input(0),
                               "pad with numbers of 0 or more, and cut by a Slice");
      QRT_TRY(
          check_index_count(std::abs(std::clamp<int64_t>(p, -kMaxIndices - 1, kMaxIndices + 1))));
    }
    QRT_MODEL_CHECK(n + before + after >= 0 && (n > 0 || mode == PadMode::kConstant),
                    "it cuts %lld and %lld of %lld indices", static_cast<long long>(before),
                    static_cast<long long>(after), static_cast<long long>(n));
    QRT_TRY(check_index_count(n + before + after));
    for (const int64_t p : {before, after}) importer.note_distance(node, p);
    if (importer.may_differ_at_other_sizes(node, 1))
      maps.keep(axes[i], padded(n, before, after, mode));
    else if (before != 0 || after != 0)
      maps.set(axes[i], padded(n, before, after, mode));
  }
  return pad(importer, node, std::move(maps));
}

}  // namespace qrt::convert::from_onnx
