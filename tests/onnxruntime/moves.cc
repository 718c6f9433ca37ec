// SPDX-License-Identifier: Apache-2.0
// Data movement of whole dimensions.
#include <algorithm>
#include <numeric>

#include "tests/onnxruntime/graph_maker.h"

namespace qrt::random_onnx {

// Adds data movement, of the integers or of the floats between two pairs.
bool GraphMaker::moved() {
  const size_t x = pick({1, 2, 3, 3, 4, 4, 4, 5});
  const bool on_integers = dice_.one_in(4) && !live_[x].quant.is_int16();
  Moving m = {on_integers ? live_[x].name : read(x), live_[x].dims, live_[x], on_integers};
  if (!move(&m)) return false;
  live_[x].is_read = true;
  const Quant q = live_[x].quant;
  if (on_integers) {
    add_live(m.name, m.dims, q, live_[x].has_batch, live_[x].amplitude);
    return true;
  }
  if (dice_.one_in(4)) {
    Moving again = m;
    if (move(&again)) m = again;
  }
  if (dice_.one_in(8)) return finish(m.name, m.dims, live_[x].amplitude, live_[x].has_batch);
  const Quant other = random_quant(live_[x].amplitude);
  quantise(m.name, m.dims, live_[x].amplitude, live_[x].has_batch, dice_.one_in(3) ? &other : &q);
  return true;
}

bool GraphMaker::move(Moving* m) {
  static const std::vector<bool (GraphMaker::*)(Moving*)> kMoves = {&GraphMaker::reshape,
                                                                    &GraphMaker::reshape,
                                                                    &GraphMaker::flatten,
                                                                    &GraphMaker::transpose,
                                                                    &GraphMaker::transpose,
                                                                    &GraphMaker::transpose,
                                                                    &GraphMaker::slice,
                                                                    &GraphMaker::slice,
                                                                    &GraphMaker::pad,
                                                                    &GraphMaker::pad,
                                                                    &GraphMaker::tile,
                                                                    &GraphMaker::expand,
                                                                    &GraphMaker::gather,
                                                                    &GraphMaker::gather_nd,
                                                                    &GraphMaker::gather_elements,
                                                                    &GraphMaker::depth_to_space,
                                                                    &GraphMaker::unsqueeze,
                                                                    &GraphMaker::squeeze,
                                                                    &GraphMaker::reshape_by_shape};
  const int64_t rank = static_cast<int64_t>(m->dims.size());
  if (rank == 0 || (m->of.has_batch && rank < 2)) return false;
  // Moving axis 0 mixes images and closes the batch.
  m->first = m->of.has_batch ? !dice_.one_in(12) : !dice_.one_in(4);
  m->first = std::min(m->first, rank - 1);
  const Dims before = m->dims;
  if (!(this->*dice_.pick(kMoves))(m)) return false;
  return elements(m->dims) < 20000 && m->dims.size() < 6;
}

int64_t GraphMaker::axis_as_written(int64_t axis, size_t rank) {
  return opset_ >= 11 && dice_.one_in(3) ? axis - static_cast<int64_t>(rank) : axis;
}

// Reshapes two dimensions into one, or one into two.
bool GraphMaker::reshape(Moving* m) {
  const int64_t rank = static_cast<int64_t>(m->dims.size());
  Dims to = m->dims;
  if (rank > 2 && dice_.coin()) {
    const size_t i = static_cast<size_t>(dice_.integer(1, rank - 2));
    to[i] *= to[i + 1];
    to.erase(to.begin() + static_cast<int64_t>(i) + 1);
  } else if (rank < 5 && rank > 1) {
    const int64_t f = to.back() % 3 == 0 ? 3 : to.back() % 2 == 0 ? 2 : 1;
    to.back() /= f;
    to.push_back(f);
  } else {
    return false;
  }
  Dims said = to;
  if (m->of.has_batch)
    said[0] = dice_.coin() ? -1 : 0;
  else if (dice_.coin())
    said[static_cast<size_t>(dice_.integer(0, static_cast<int64_t>(to.size()) - 1))] = -1;
  std::vector<Attr> attributes;
  if (opset_ >= 14 && said[0] != 0 && dice_.one_in(4)) attributes.push_back(Attr("allowzero", 1));
  m->name = b_.node("Reshape", {m->name, integers64(said)}, attributes);
  m->dims = to;
  return true;
}

// Reshapes to a shape that the model computes: the first dimensions as they are, and the rest as one.
bool GraphMaker::reshape_by_shape(Moving* m) {
  const int64_t rank = static_cast<int64_t>(m->dims.size()), kept = dice_.integer(1, rank);
  if (rank < 2) return false;
  std::string shape = b_.node("Shape", {m->name});
  Names parts;
  if (dice_.coin()) {
    parts.push_back(
        b_.node("Slice", {shape, integers64({0}), integers64({kept}), integers64({0})}));
  } else {
    for (int64_t i = 0; i < kept; ++i) {
      const std::string one = b_.node("Gather", {shape, b_.scalar<int64_t>(i)}, {Attr("axis", 0)});
      parts.push_back(opset_ < 13 ? b_.node("Unsqueeze", {one}, {Attr("axes", Dims{0})})
                                  : b_.node("Unsqueeze", {one, integers64({0})}));
    }
  }
  Dims to(m->dims.begin(), m->dims.begin() + kept);
  if (kept < rank || dice_.coin()) {
    parts.push_back(integers64({-1}));
    to.push_back(elements(m->dims) / elements(to));
  }
  shape = parts.size() == 1 ? parts[0] : b_.node("Concat", parts, {Attr("axis", 0)});
  m->name = b_.node("Reshape", {m->name, shape});
  m->dims = to;
  return true;
}

bool GraphMaker::flatten(Moving* m) {
  const int64_t rank = static_cast<int64_t>(m->dims.size());
  const int64_t a = m->of.has_batch && !dice_.one_in(12) ? 1 : dice_.integer(0, rank);
  int64_t head = 1;
  for (int64_t i = 0; i < a; ++i) head *= m->dims[static_cast<size_t>(i)];
  m->name = a == 1 && dice_.coin()
                ? b_.node("Flatten", {m->name})
                : b_.node("Flatten", {m->name},
                          {Attr("axis", a < rank ? axis_as_written(a, m->dims.size()) : a)});
  m->dims = {head, elements(m->dims) / head};
  return true;
}

bool GraphMaker::transpose(Moving* m) {
  const int64_t rank = static_cast<int64_t>(m->dims.size());
  Dims perm(m->dims.size()), to;
  // ONNX Runtime moves the Transpose of a vector otherwise than others, and no exporter writes one.
  if (rank < 2) return false;
  if (m->first == 0 && dice_.one_in(4)) {  // all in reverse
    to.assign(m->dims.rbegin(), m->dims.rend());
    m->name = b_.node("Transpose", {m->name});
    m->dims = to;
    return true;
  }
  std::iota(perm.begin(), perm.end(), 0);
  for (int64_t i = rank - 1; i > m->first; --i)
    std::swap(perm[static_cast<size_t>(i)], perm[static_cast<size_t>(dice_.integer(m->first, i))]);
  for (int64_t p : perm) to.push_back(m->dims[static_cast<size_t>(p)]);
  m->name = b_.node("Transpose", {m->name}, {Attr("perm", perm)});
  m->dims = to;
  return true;
}

bool GraphMaker::tile(Moving* m) {
  Dims repeats(m->dims.size(), 1);
  for (size_t i = static_cast<size_t>(m->first); i < repeats.size(); ++i)
    if (dice_.coin()) repeats[i] = dice_.integer(1, 3);
  m->name = b_.node("Tile", {m->name, integers64(repeats)});
  for (size_t i = 0; i < repeats.size(); ++i) m->dims[i] *= repeats[i];
  return true;
}

bool GraphMaker::expand(Moving* m) {
  if (m->dims.size() > 4 || m->of.has_batch) return false;
  Dims to = m->dims, said;
  for (int64_t& d : to)
    if (d == 1 && dice_.coin()) d = dice_.integer(1, 3);
  said = to;
  for (size_t i = 0; i < said.size(); ++i)
    if (said[i] == m->dims[i] && dice_.one_in(3)) said[i] = 1;
  if (dice_.coin())
    to.insert(to.begin(), 2), said.insert(said.begin(), 2);
  else if (dice_.one_in(3) && to[0] == m->dims[0])
    said.erase(said.begin());
  m->name = b_.node("Expand", {m->name, integers64(said)});
  m->dims = to;
  return true;
}

bool GraphMaker::depth_to_space(Moving* m) {
  Dims& d = m->dims;
  if (d.size() != 4) return false;
  const int64_t b = dice_.one_in(3) ? 3 : 2;
  if (d[1] % (b * b) == 0) {
    std::vector<Attr> attributes = {Attr("blocksize", b)};
    if (opset_ >= 11 && dice_.coin())
      attributes.push_back(Attr("mode", dice_.coin() ? "CRD" : "DCR"));
    m->name = b_.node("DepthToSpace", {m->name}, attributes);
    d = {d[0], d[1] / (b * b), d[2] * b, d[3] * b};
    return true;
  }
  if (d[2] % b || d[3] % b) return false;
  m->name = b_.node("SpaceToDepth", {m->name}, {Attr("blocksize", b)});
  d = {d[0], d[1] * b * b, d[2] / b, d[3] / b};
  return true;
}

bool GraphMaker::unsqueeze(Moving* m) {
  const int64_t added = dice_.integer(1, 2), rank = static_cast<int64_t>(m->dims.size()) + added;
  if (rank > 5) return false;
  Dims axes;
  while (static_cast<int64_t>(axes.size()) < added) {
    const int64_t a = dice_.integer(m->of.has_batch ? 1 : 0, rank - 1);
    if (std::count(axes.begin(), axes.end(), a) == 0) axes.push_back(a);
  }
  Dims sorted = axes;
  std::sort(sorted.begin(), sorted.end());
  for (int64_t a : sorted) m->dims.insert(m->dims.begin() + a, 1);
  for (int64_t& a : axes) a = axis_as_written(a, m->dims.size());
  m->name = opset_ < 13 ? b_.node("Unsqueeze", {m->name}, {Attr("axes", axes)})
                        : b_.node("Unsqueeze", {m->name, integers64(axes)});
  return true;
}

bool GraphMaker::squeeze(Moving* m) {
  Dims axes, left;
  const bool all = !m->of.has_batch && dice_.one_in(4);
  for (size_t i = 0; i < m->dims.size(); ++i) {
    const bool can = m->dims[i] == 1 && !(i == 0 && m->of.has_batch);
    if (can && (all || dice_.coin()))
      axes.push_back(axis_as_written(static_cast<int64_t>(i), m->dims.size()));
    else
      left.push_back(m->dims[i]);
  }
  if (axes.empty() || left.empty()) return false;
  m->name = all           ? b_.node("Squeeze", {m->name})
            : opset_ < 13 ? b_.node("Squeeze", {m->name}, {Attr("axes", axes)})
                          : b_.node("Squeeze", {m->name, integers64(axes)});
  m->dims = left;
  return true;
}

}  // namespace qrt::random_onnx
