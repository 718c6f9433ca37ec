// SPDX-License-Identifier: Apache-2.0
// Operators that take elements of their inputs at indices known at conversion.
#include <algorithm>

#include "converter/import/espdl/ops.h"

namespace qrt::convert::from_espdl {
namespace {

// Reads an input that is moved as it is: the output has its type. *known stays false where the
// operator was refused.
Status read_moved(Importer& importer, const Node& node, Activation* x, std::vector<Format>* out,
                  bool* known) {
  *known = false;
  if (!importer.read(node, 0, x)) return Status();
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    Format format;
    if (!importer.read_format(node, static_cast<int>(i), &format)) return Status();
    if (format.type != x->format.type)
      return importer.refuse(
          node,
          std::string("it makes ") + type_name(format.type) + " of " + type_name(x->format.type),
          importer.output(node, static_cast<int>(i)).name, "quantise input and output to one type");
    out->push_back(format);
  }
  *known = true;
  return Status();
}

Status finish_gather(Importer& importer, const Node& node, const Activation& x,
                     const IndexMaps& maps, int64_t fill, const Format& out, int output = 0) {
  if (maps.to().elements() <= 0) return error(Code::kUnsupported, "its output has no elements");
  importer.finish(node, importer.builder().gathered(node, x.value, maps, fill), out, output);
  importer.became(node, "Gather", "I0");
  return Status();
}

}  // namespace

Status import_concat(Importer& importer, const Node& node) {
  Format out;
  if (!importer.read_format(node, 0, &out)) return Status();
  std::vector<ValueId> parts;
  Shape shape;
  int axis = 0;
  for (int i = 0; i < static_cast<int>(node.inputs.size()); ++i) {
    if (!node.has_input(i)) continue;
    Activation x;
    if (!importer.read(node, i, &x)) return Status();
    if (x.format.type != out.type)
      return importer.refuse(node,
                             importer.quoted_input(node, i) + " is " + type_name(x.format.type) +
                                 ", the output " + type_name(out.type),
                             importer.input(node, i).name,
                             "quantise all its tensors to one type, int8 or int16");
    if (x.format.exponent != out.exponent)
      importer.warn(node, "espdl-exponents",
                    importer.quoted_input(node, i) + " has the exponent " +
                        std::to_string(x.format.exponent) + ", the output " +
                        std::to_string(out.exponent) +
                        ": the runtime copies the integers as they are",
                    "export the model with a newer ESP-PPQ, which gives all of them one exponent");
    const Shape& from = importer.builder().shape_of(x.value);
    if (parts.empty()) {
      shape = from;
      int64_t given = node.integer("axis", 1);
      // Files without a batch name the axis of [n, c, h, w].
      constexpr int64_t kOfImages[] = {0, 3, 1, 2};
      if (importer.without_batch() && from.rank() == 4 && given >= 0 && given < 4)
        given = kOfImages[given];
      QRT_TRY(place_axis(given, from.rank(), &axis));
    } else {
      QRT_MODEL_CHECK(from.rank() == shape.rank(),
                      "inputs of %d and %d dimensions, expected as many", shape.rank(),
                      from.rank());
      for (int d = 0; d < from.rank(); ++d)
        QRT_MODEL_CHECK(d == axis || from[d] == shape[d],
                        "inputs of shapes %s and %s along axis %d", shape.to_string().c_str(),
                        from.to_string().c_str(), axis);
      shape[axis] += from[axis];
    }
    parts.push_back(x.value);
  }
  const ValueId y = importer.builder().new_value("", out, shape);
  importer.builder().add<fb::ConcatOptionsT>(node, parts, y).axis = static_cast<uint32_t>(axis);
  importer.finish(node, y, out);
  importer.became(node, "Concat", "I0");
  return Status();
}

Status import_split(Importer& importer, const Node& node) {
  Activation x;
  std::vector<Format> out;
  bool known;
  QRT_TRY(read_moved(importer, node, &x, &out, &known));
  if (!known) return Status();
  const Shape from = importer.builder().shape_of(x.value);
  int axis;
  QRT_TRY(place_axis(node.integer("axis", 0), from.rank(), &axis));
  const auto parts = static_cast<int64_t>(out.size());
  std::vector<int64_t> sizes = node.integers("split");
  if (node.has_input(1) && !importer.read_integers(node, 1, &sizes)) return Status();
  if (sizes.empty()) {
    // All parts have one length, except that the last may be shorter.
    const int64_t each = (from[axis] + parts - 1) / parts;
    for (int64_t i = 0; i < parts; ++i) sizes.push_back(std::min(each, from[axis] - i * each));
  }
  QRT_MODEL_CHECK(sizes.size() == out.size(), "%zu sizes for %zu outputs", sizes.size(),
                  out.size());
  int64_t begin = 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    QRT_MODEL_CHECK(sizes[i] >= 0 && sizes[i] <= from[axis] - begin &&
                        (i + 1 < sizes.size() || begin + sizes[i] == from[axis]),
                    "its sizes do not add up to %lld", static_cast<long long>(from[axis]));
    QRT_TRY(check_index_count(sizes[i]));
    IndexMaps maps(from);
    maps.set(axis, stepped(begin, sizes[i], 1));
    begin += sizes[i];
    QRT_TRY(finish_gather(importer, node, x, maps, 0, out[i], static_cast<int>(i)));
  }
  return Status();
}

Status import_slice(Importer& importer, const Node& node) {
  Activation x;
  std::vector<Format> out;
  bool known;
  QRT_TRY(read_moved(importer, node, &x, &out, &known));
  std::vector<int64_t> starts, ends, axes, steps;
  if (!known || !importer.read_integers(node, 1, &starts) ||
      !importer.read_integers(node, 2, &ends) ||
      (node.has_input(3) && !importer.read_integers(node, 3, &axes)) ||
      (node.has_input(4) && !importer.read_integers(node, 4, &steps)))
    return Status();
  const Shape from = importer.builder().shape_of(x.value);
  if (!node.has_input(3))
    for (size_t i = 0; i < starts.size(); ++i) axes.push_back(static_cast<int64_t>(i));
  if (!node.has_input(4)) steps.assign(starts.size(), 1);
  QRT_MODEL_CHECK(
      ends.size() == starts.size() && axes.size() == starts.size() &&
          steps.size() == starts.size() && starts.size() <= 6,
      "%zu starts, %zu ends, %zu axes and %zu steps, expected as many of each, at most 6",
      starts.size(), ends.size(), axes.size(), steps.size());
  IndexMaps maps(from);
  for (size_t i = 0; i < starts.size(); ++i) {
    int d;
    QRT_TRY(place_axis(axes[i], from.rank(), &d));
    QRT_MODEL_CHECK(steps[i] != 0 && !maps.has(d), "a step is 0, or an axis stands twice");
    if (steps[i] < 0)
      return importer.refuse(node, "a step is negative, which the runtime does not do as ONNX does",
                             importer.input(node, 4).name, "build the slice with positive steps");
    const auto placed = [&](int64_t at) {
      return std::clamp<int64_t>(at < 0 ? std::max(at, -from[d] - 1) + from[d] : at, 0, from[d]);
    };
    const int64_t begin = placed(starts[i]), end = placed(ends[i]);
    const int64_t step = std::min(steps[i], from[d] + 1),
                  count = end > begin ? (end - begin + step - 1) / step : 0;
    QRT_TRY(check_index_count(count));
    maps.set(d, stepped(begin, count, step));
  }
  return finish_gather(importer, node, x, maps, 0, out[0]);
}

Status import_gather(Importer& importer, const Node& node) {
  Activation x;
  std::vector<Format> out;
  bool known;
  QRT_TRY(read_moved(importer, node, &x, &out, &known));
  std::vector<int64_t> given;
  if (!known || !importer.read_integers(node, 1, &given)) return Status();
  const Shape from = importer.builder().shape_of(x.value), index = importer.input(node, 1).shape;
  int axis;
  QRT_TRY(place_axis(node.integer("axis", 0), from.rank(), &axis));
  QRT_TRY(check_index_count(static_cast<int64_t>(given.size())));
  Indices indices;
  for (const int64_t i : given) {
    if (i < 0 && i >= -from[axis])
      return importer.refuse(
          node, "an index is negative, which the runtime does not do as ONNX does",
          importer.input(node, 1).name, "build the Gather with indices from 0 on");
    QRT_MODEL_CHECK(i >= 0 && i < from[axis], "index %lld of %lld", static_cast<long long>(i),
                    static_cast<long long>(from[axis]));
    indices.push_back(static_cast<int32_t>(i));
  }
  if (from.rank() - 1 + index.rank() > kMaxTensorRank)
    return error(Code::kUnsupported, "its result has more than 6 dimensions");
  Shape to;
  for (int d = 0; d < axis; ++d) to.push_back(from[d]);
  for (int64_t d : index) to.push_back(d);
  for (int d = axis + 1; d < from.rank(); ++d) to.push_back(from[d]);
  IndexMaps maps(from);
  maps.set(axis, std::move(indices));
  if (maps.to().elements() <= 0) return error(Code::kUnsupported, "its output has no elements");
  importer.finish(
      node,
      importer.builder().reshaped(node, importer.builder().gathered(node, x.value, maps, 0), to),
      out[0]);
  importer.became(node, "Gather", "I0");
  return Status();
}

Status import_pad(Importer& importer, const Node& node) {
  Activation x;
  std::vector<Format> out;
  bool known;
  QRT_TRY(read_moved(importer, node, &x, &out, &known));
  std::vector<int64_t> pads;
  if (!known || !importer.read_integers(node, 1, &pads)) return Status();
  const std::string name = node.text("mode", "constant");
  if (name != "constant" && name != "edge" && name != "reflect")
    return importer.refuse(node, "its mode is '" + name + "', expected constant, edge or reflect",
                           importer.output(node).name,
                           "build the Pad in mode constant, edge or reflect");
  const PadMode mode = name == "edge"      ? PadMode::kEdge
                       : name == "reflect" ? PadMode::kReflect
                                           : PadMode::kConstant;
  if (node.has_input(3))
    return importer.refuse(node, "it pads some axes by a fourth input",
                           importer.input(node, 3).name,
                           "build the Pad with pads of all axes, without its fourth input");
  int64_t fill = x.format.offset();
  if (mode == PadMode::kConstant && node.has_input(2)) {
    const Tensor& t = importer.input(node, 2);
    if (!t.is_constant || t.type != x.format.type || !t.problem.empty() || t.shape.elements() != 1)
      return importer.refuse(
          node, importer.quoted_input(node, 2) + " is not one constant number of the input's type",
          t.name, "store the padding value as a constant of the input's type");
    fill = 0;
    __builtin_memcpy(&fill, t.data, t.bytes);
    if (x.format.type == DataType::INT8) fill ^= 128;
  }
  const Shape from = importer.builder().shape_of(x.value);
  const auto rank = static_cast<size_t>(from.rank());
  QRT_MODEL_CHECK(pads.size() == 2 * rank, "%zu pads for %zu dimensions, expected two for each",
                  pads.size(), rank);
  IndexMaps maps(from);
  for (int d = 0; d < from.rank(); ++d) {
    const int64_t before = pads[static_cast<size_t>(d)],
                  after = pads[rank + static_cast<size_t>(d)];
    QRT_MODEL_CHECK(before >= 0 && after >= 0 && before <= kMaxIndices && after <= kMaxIndices,
                    "pads of %lld and %lld", static_cast<long long>(before),
                    static_cast<long long>(after));
    QRT_MODEL_CHECK(mode != PadMode::kReflect || (before < from[d] && after < from[d]),
                    "pads of %lld and %lld mirror %lld indices", static_cast<long long>(before),
                    static_cast<long long>(after), static_cast<long long>(from[d]));
    QRT_TRY(check_index_count(from[d] + before + after));
    if (before + after > 0) maps.set(d, padded(from[d], before, after, mode));
  }
  return finish_gather(importer, node, x, maps, fill, out[0]);
}

// Zeros between and behind the positions of every spatial axis, for a transposed convolution.
Status import_insert_zeros(Importer& importer, const Node& node) {
  Activation x;
  std::vector<Format> out;
  bool known;
  QRT_TRY(read_moved(importer, node, &x, &out, &known));
  if (!known) return Status();
  const Shape from = importer.builder().shape_of(x.value);
  std::vector<int64_t> strides = node.integers("stride"), behind = node.integers("output_padding");
  if (strides.empty()) strides = node.integers("strides");
  const int axes = from.rank() - 2;
  QRT_MODEL_CHECK(axes >= 1, "the input has shape %s, expected [n, spatial dimensions, c]",
                  from.to_string().c_str());
  if (behind.empty()) behind.assign(strides.size(), 0);
  QRT_MODEL_CHECK(strides.size() == static_cast<size_t>(axes) && behind.size() == strides.size(),
                  "%zu strides for %d axes, expected one for each", strides.size(), axes);
  IndexMaps maps(from);
  for (int d = 1; d <= axes; ++d) {
    const int64_t stride = strides[static_cast<size_t>(d - 1)],
                  rest = behind[static_cast<size_t>(d - 1)];
    QRT_MODEL_CHECK(stride >= 1 && stride <= kMaxIndices && rest >= 0 && rest <= kMaxIndices,
                    "a stride of %lld and %lld behind", static_cast<long long>(stride),
                    static_cast<long long>(rest));
    const int64_t count = (from[d] - 1) * stride + 1 + rest;
    QRT_TRY(check_index_count(count));
    Indices indices(static_cast<size_t>(count), -1);
    for (int64_t i = 0; i < from[d]; ++i)
      indices[static_cast<size_t>(i * stride)] = static_cast<int32_t>(i);
    maps.set(d, std::move(indices));
  }
  return finish_gather(importer, node, x, maps, x.format.offset(), out[0]);
}

// Imports a cache of a stream: the last frames of the previous run stand in front of those of this run.
Status import_streaming_cache(Importer& importer, const Node& node) {
  Activation x;
  std::vector<Format> out;
  bool known;
  QRT_TRY(read_moved(importer, node, &x, &out, &known));
  if (!known) return Status();
  const Shape from = importer.builder().shape_of(x.value);
  int axis;
  QRT_TRY(place_axis(node.integer("frame_axis", 1), from.rank(), &axis));
  const int64_t kept = node.integer("window_size", 1) - 1;
  QRT_MODEL_CHECK(kept >= 0 && kept <= kMaxIndices, "window_size is %lld, expected at least 1",
                  static_cast<long long>(kept + 1));
  if (!x.format.is_integer())
    return importer.refuse(node, std::string("it keeps ") + type_name(x.format.type),
                           importer.output(node).name,
                           "quantise the input of the StreamingCache to int8 or int16");
  for (int d = 0; d < axis; ++d)
    if (from[d] != 1)
      return importer.refuse(node,
                             "the dimensions before its frames are not 1: " + from.to_string(),
                             importer.output(node).name,
                             "build the model for one sequence at a time, with a batch of 1");
  if (kept == 0) {
    importer.finish(node, x.value, out[0]);
    return Status();
  }
  Shape state = from, to = from;
  state[axis] = kept;
  to[axis] += kept;
  QRT_TRY(check_index_count(to[axis]));
  const ValueId before =
      importer.new_variable(importer.output(node).name + ".state", x.format, state);
  const ValueId y = importer.builder().new_value("", out[0], to);
  importer.builder().add<fb::ConcatOptionsT>(node, {before, x.value}, y).axis =
      static_cast<uint32_t>(axis);
  IndexMaps last(to);
  last.set(axis, stepped(to[axis] - kept, kept, 1));
  importer.set_next(before, importer.builder().gathered(node, y, last, 0));
  importer.graph().batch_closed =
      "node '" + node.name + "' (StreamingCache) keeps the state of one sequence";
  importer.finish(node, y, out[0]);
  importer.became(node, "Concat, Gather", "I0");
  return Status();
}

}  // namespace qrt::convert::from_espdl
