// SPDX-License-Identifier: Apache-2.0
// Data movement by indices: Slice, Pad, Gather and its relatives.
#include <algorithm>

#include "tests/onnxruntime/graph_maker.h"

namespace qrt::random_onnx {

// Slices along one axis or several, forwards or backwards.
bool GraphMaker::slice(Moving* m) {
  Dims starts, ends, axes, steps;
  bool is_plain = true;
  for (size_t d = static_cast<size_t>(m->first); d < m->dims.size(); ++d) {
    if (dice_.coin()) continue;
    const int64_t n = m->dims[d], step = dice_.one_in(3) ? dice_.pick<int64_t>({2, 3, -1, -2}) : 1;
    int64_t begin = dice_.integer(0, n - 1);
    const int64_t count = dice_.integer(1, (step < 0 ? begin : n - 1 - begin) / std::abs(step) + 1);
    int64_t end = begin + count * step;
    if (step < 0 ? end < 0 : end >= n)
      end = dice_.coin() ? (step < 0 ? INT64_MIN + 1 : INT64_MAX) : step < 0 ? -n - 1 : n;
    else if (dice_.one_in(4) && (end > 0 || step < 0))
      end -= n;
    if (dice_.one_in(4)) begin -= n;
    starts.push_back(begin), ends.push_back(end);
    axes.push_back(axis_as_written(static_cast<int64_t>(d), m->dims.size())), steps.push_back(step);
    is_plain = is_plain && step == 1;
    m->dims[d] = count;
  }
  if (axes.empty()) return false;
  Names inputs = {m->name, integers64(starts), integers64(ends), integers64(axes)};
  if (axes.size() == m->dims.size() && dice_.coin()) inputs[3] = "";
  if (!is_plain || dice_.coin())
    inputs.push_back(integers64(steps));
  else if (inputs[3].empty())
    inputs.pop_back();
  m->name = b_.node("Slice", inputs);
  return true;
}

// Adds a Pad of any mode; a constant one also cuts.
bool GraphMaker::pad(Moving* m) {
  const size_t rank = m->dims.size();
  std::vector<std::string> modes = {"constant", "constant", "reflect", "edge"};
  if (opset_ >= 19) modes.push_back("wrap");
  const std::string mode = dice_.pick(modes);
  // ONNX Runtime takes cuts of other modes, too, and reads beside the tensor.
  const bool cuts = mode == "constant" && dice_.one_in(4);
  Dims before(rank, 0), after(rank, 0);
  for (size_t i = static_cast<size_t>(m->first); i < rank; ++i) {
    const int64_t n = m->dims[i], most = mode == "reflect" ? n - 1 : mode == "wrap" ? n : 3;
    for (Dims* side : {&before, &after})
      (*side)[i] = dice_.integer(cuts ? -(n - 1) / 2 : 0, std::min<int64_t>(3, most));
    m->dims[i] += before[i] + after[i];
  }
  std::vector<Attr> attributes;
  if (mode != "constant" || dice_.coin()) attributes.push_back(Attr("mode", mode.c_str()));
  const float value = dice_.coin() ? 0.0f : static_cast<float>(dice_.real(-1, 1) * m->of.amplitude);
  Dims pads = before;
  pads.insert(pads.end(), after.begin(), after.end());
  if (opset_ < 11) {
    attributes.push_back(Attr("pads", pads));
    if (m->on_integers) return false;
    if (mode == "constant" && dice_.coin()) attributes.push_back(Attr("value", value));
    m->name = b_.node("Pad", {m->name}, attributes);
    return true;
  }
  if (m->on_integers && opset_ < 13) return false;
  Names inputs = {m->name, "", ""};
  if (mode == "constant" && dice_.coin())
    inputs[2] = m->on_integers ? codes({}, m->of.quant) : b_.scalar(value);
  if (opset_ >= 18 && dice_.one_in(3)) {  // some axes, in another order
    Dims named;
    pads.clear();
    for (size_t i = rank; i-- > 0;)
      if (before[i] != 0 || after[i] != 0 || dice_.coin()) named.push_back(static_cast<int64_t>(i));
    for (const Dims* side : {&before, &after})
      for (int64_t i : named) pads.push_back((*side)[static_cast<size_t>(i)]);
    if (named.empty()) return false;
    for (int64_t& i : named) i = axis_as_written(i, rank);
    inputs.push_back(integers64(named));
  }
  inputs[1] = integers64(pads);
  while (inputs.back().empty()) inputs.pop_back();
  m->name = b_.node("Pad", inputs, attributes);
  return true;
}

// Gathers at one index, or at a vector or a matrix of indices.
bool GraphMaker::gather(Moving* m) {
  const int64_t rank = static_cast<int64_t>(m->dims.size());
  const int64_t axis = dice_.integer(m->first, rank - 1);
  Dims& d = m->dims;
  const int64_t n = d[static_cast<size_t>(axis)];
  Dims shape;
  if (rank == 1 || !dice_.one_in(4)) shape.push_back(dice_.integer(1, 4));
  if (!shape.empty() && rank < 4 && dice_.one_in(4)) shape.push_back(dice_.integer(1, 3));
  Dims indices(static_cast<size_t>(elements(shape)));
  for (int64_t& i : indices) i = dice_.integer(opset_ < 11 ? 0 : -n, n - 1);
  const std::string at =
      dice_.coin() ? b_.constant(shape, indices)
                   : b_.constant(shape, std::vector<int32_t>(indices.begin(), indices.end()));
  m->name = b_.node("Gather", {m->name, at}, {Attr("axis", axis_as_written(axis, d.size()))});
  d.erase(d.begin() + axis);
  d.insert(d.begin() + axis, shape.begin(), shape.end());
  return true;
}

bool GraphMaker::gather_nd(Moving* m) {
  const int64_t rank = static_cast<int64_t>(m->dims.size());
  if (opset_ < 11 || m->of.has_batch) return false;
  const int64_t batch = opset_ >= 12 && rank > 1 && dice_.one_in(3) ? 1 : 0;
  const int64_t depth = dice_.integer(1, rank - batch), points = dice_.integer(1, 4);
  Dims shape(m->dims.begin(), m->dims.begin() + batch), indices;
  shape.push_back(points);
  Dims to = shape;
  for (int64_t p = 0; p < elements(shape); ++p)
    for (int64_t i = 0; i < depth; ++i) {
      const int64_t n = m->dims[static_cast<size_t>(batch + i)];
      indices.push_back(dice_.integer(-n, n - 1));
    }
  shape.push_back(depth);
  to.insert(to.end(), m->dims.begin() + batch + depth, m->dims.end());
  std::vector<Attr> attributes;
  if (batch > 0) attributes.push_back(Attr("batch_dims", batch));
  m->name = b_.node("GatherND", {m->name, b_.constant(shape, indices)}, attributes);
  m->dims = to;
  return true;
}

bool GraphMaker::gather_elements(Moving* m) {
  const int64_t rank = static_cast<int64_t>(m->dims.size()), axis = dice_.integer(0, rank - 1);
  if (opset_ < 11 || m->of.has_batch) return false;
  const int64_t n = m->dims[static_cast<size_t>(axis)];
  Dims shape = m->dims;
  for (int64_t& d : shape)
    if (dice_.coin()) d = dice_.integer(1, d);
  shape[static_cast<size_t>(axis)] = dice_.integer(1, 4);
  Dims indices(static_cast<size_t>(elements(shape)));
  for (int64_t& i : indices) i = dice_.integer(-n, n - 1);
  m->name = b_.node("GatherElements", {m->name, b_.constant(shape, indices)},
                    {Attr("axis", axis_as_written(axis, m->dims.size()))});
  m->dims = shape;
  return true;
}

// Rows of a table at the indices of a run: an embedding.
bool GraphMaker::take() {
  const int64_t rows = dice_.integer(1, 12), axis = dice_.one_in(3) ? 1 : 0;
  const int64_t across = dice_.integer(1, 8);
  const Dims table = axis == 0 ? Dims{rows, across} : Dims{across, rows};
  const Quant q = random_quant(1);
  Dims dims = {dice_.integer(1, 3)}, declared;
  if (dice_.coin()) dims.push_back(dice_.integer(1, 4));
  declared = dims;
  const bool has_batch = symbolic_ && axis == 0;
  if (has_batch) dims[0] = 1, declared[0] = -1;
  const std::string at = b_.input<int32_t>(declared);
  limits_[at] = {-rows, rows - 1};
  const bool before = dice_.coin();  // the pair stands in front of the Gather
  std::string x = codes(table, q);
  if (before) x = dequantise_node(x, q);
  x = b_.node("Gather", {x, at}, {Attr("axis", axis)});
  if (axis == 0)
    dims.push_back(across);
  else
    dims.insert(dims.begin(), across);
  if (before) return finish(x, dims, 1, has_batch);
  add_live(x, dims, q, has_batch, 1);
  return true;
}

}  // namespace qrt::random_onnx
