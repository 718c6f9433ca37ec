// SPDX-License-Identifier: Apache-2.0
#include "converter/sizes/fit_constants.h"

#include <algorithm>
#include <optional>
#include <set>

#include "converter/import/common/index_maps.h"
#include "converter/sizes/fit_map.h"

namespace qrt::convert {

std::vector<ValueId> differing_constants(const ImportedGraphs& imports) {
  const Graph& first = *imports.graphs[0];
  std::set<ValueId> found;
  for (const Node& node : first.nodes)
    for (const ValueId id : node.inputs) {
      const Value& v = first.values[id];
      // Only the first import keeps the bytes of constants that do not differ.
      const auto differs = [&](const Graph* other) {
        return id < other->values.size() &&
               ((!other->values[id].data.empty() && other->values[id].data != v.data) ||
                other->values[id].type.shape != v.type.shape);
      };
      if (v.is_constant && std::any_of(imports.graphs.begin(), imports.graphs.end(), differs))
        found.insert(id);
    }
  return {found.begin(), found.end()};
}

namespace {

// The way in which an axis of a constant at some sizes follows from that of the largest one, which the file holds.
enum class Axis {
  kFixed,     // it is that axis
  kRepeated,  // all its indices are alike
  kFirst,     // it has that axis's first indices
  kLast,      // it has the last ones
  kShifted    // it has those from an index on that follows from sizes
};

// Returns the first index of each axis where `axes` says that one is repeated, and all of the others.
std::vector<uint8_t> without_repeats(const Value& v, const std::vector<Axis>& axes, Shape* shape) {
  IndexMaps maps(v.type.shape);
  for (size_t d = 0; d < axes.size(); ++d)
    if (axes[d] == Axis::kRepeated) maps.set(static_cast<int>(d), {0});
  *shape = maps.to();
  return maps.apply(v.data.data(), dtype_bytes(v.type.dtype), 0);
}

// Returns the elements that maps read. `shift`: where an axis that is kShifted begins.
std::vector<uint8_t> read(const std::vector<uint8_t>& data, const Shape& from, const Shape& to,
                          const std::vector<Axis>& axes, size_t element_bytes, int64_t shift = 0) {
  IndexMaps maps(from);
  for (size_t d = 0; d < axes.size(); ++d) {
    const int axis = static_cast<int>(d);
    const int64_t begin = axes[d] == Axis::kLast      ? from[axis] - to[axis]
                          : axes[d] == Axis::kShifted ? shift
                                                      : 0;
    if (axes[d] != Axis::kFixed)
      maps.set(axis, stepped(begin, to[axis], axes[d] == Axis::kRepeated ? 0 : 1));
  }
  return maps.apply(data.data(), element_bytes, 0);
}

bool is_subset(const Value& v, const std::vector<uint8_t>& data, const Shape& from,
               const std::vector<Axis>& axes, int64_t shift = 0) {
  for (size_t d = 0; d < axes.size(); ++d) {
    const int64_t to = v.type.shape[static_cast<int>(d)], most = from[static_cast<int>(d)];
    if (axes[d] != Axis::kFixed && axes[d] != Axis::kRepeated &&
        to + (axes[d] == Axis::kShifted ? shift : 0) > most)
      return false;
  }
  return read(data, from, v.type.shape, axes, dtype_bytes(v.type.dtype), shift) == v.data;
}

// Returns where along `axis`, which is kShifted, the constant begins in the largest one; -1 where it does not, or where
// that is not found by the first index of the axis.
int64_t shift_of(const Value& v, const std::vector<uint8_t>& data, const Shape& from,
                 const std::vector<Axis>& axes, int axis) {
  const size_t bytes = dtype_bytes(v.type.dtype);
  IndexMaps maps(v.type.shape);
  maps.set(axis, {0});
  const std::vector<uint8_t> own = maps.apply(v.data.data(), bytes, 0);
  constexpr int kMostTries = 4;
  int tries = 0;
  for (int64_t shift = 0; tries < kMostTries && shift + v.type.shape[axis] <= from[axis]; ++shift) {
    if (read(data, from, maps.to(), axes, bytes, shift) != own) continue;
    if (is_subset(v, data, from, axes, shift)) return shift;
    ++tries;
  }
  return -1;
}

// Returns the constant of an import, whose bytes may be left with the first one.
Value whole_constant(const Graph& first, const Graph& import, ValueId id) {
  Value v = import.values[id];
  if (v.data.empty()) v.data = first.values[id].data;
  return v;
}

// Returns whether a value is a constant of which all elements are there, one behind the other. Another import may have
// another value in its place.
bool is_whole(const Value& v) {
  const size_t bytes = dtype_bytes(v.type.dtype);
  return v.is_constant && v.packing == fb::Packing::NONE && bytes != 0 && !v.data.empty() &&
         v.data.size() == static_cast<size_t>(v.type.shape.elements()) * bytes;
}

bool is_repeated(const Value& v, int axis) {
  std::vector<Axis> axes(static_cast<size_t>(v.type.shape.rank()), Axis::kFixed);
  axes[static_cast<size_t>(axis)] = Axis::kRepeated;
  Shape shape;
  const std::vector<uint8_t> one = without_repeats(v, axes, &shape);
  return read(one, shape, v.type.shape, axes, dtype_bytes(v.type.dtype)) == v.data;
}

// Returns whether all constants are parts of the largest one, and how: every axis that is marked kFirst becomes kFirst or
// kLast, or else one of them kShifted, which begins at (*shifts)[i] in import i, and all others kFirst.
bool choose_subsets(const std::vector<const Value*>& values, const std::vector<uint8_t>& data,
                    const Shape& from, std::vector<Axis>* axes, std::vector<int64_t>* shifts) {
  std::vector<size_t> parts;
  for (size_t d = 0; d < axes->size(); ++d)
    if ((*axes)[d] == Axis::kFirst) parts.push_back(d);
  for (size_t choice = 0; choice < (size_t{1} << parts.size()); ++choice) {
    for (size_t i = 0; i < parts.size(); ++i)
      (*axes)[parts[i]] = (choice >> i & 1) != 0 ? Axis::kLast : Axis::kFirst;
    if (std::all_of(values.begin(), values.end(),
                    [&](const Value* v) { return is_subset(*v, data, from, *axes); }))
      return true;
  }
  for (const size_t shifted : parts) {
    for (const size_t d : parts) (*axes)[d] = d == shifted ? Axis::kShifted : Axis::kFirst;
    shifts->clear();
    for (const Value* v : values) {
      shifts->push_back(shift_of(*v, data, from, *axes, static_cast<int>(shifted)));
      if (shifts->back() < 0) break;
    }
    if (!shifts->empty() && shifts->back() >= 0) return true;
  }
  return false;
}

// Puts a constant of this shape and data, and a Gather of it, in the place of constant `id`.
void read_by_gather(ValueId id, const Shape& from, std::vector<uint8_t> data,
                    std::unique_ptr<fb::GatherOptionsT> options, std::vector<fb::SizeRuleT> rules,
                    Graph* graph) {
  Value whole = graph->values[id];
  whole.type.shape = from;
  whole.data = std::move(data);
  Value part = graph->values[id];
  part.is_constant = false;
  part.data.clear();
  const ValueId whole_id = graph->add_value(std::move(whole));
  const ValueId part_id = graph->add_value(std::move(part));
  Node gather =
      make_node<fb::GatherOptionsT>(graph->values[id].name, "Constant", {whole_id}, {part_id});
  convert::options<fb::GatherOptionsT>(gather) = std::move(*options);
  gather.sizes = std::move(rules);
  for (Node& node : graph->nodes) std::replace(node.inputs.begin(), node.inputs.end(), id, part_id);
  graph->nodes.insert(graph->nodes.begin(), std::move(gather));
}

// Returns whether a node reads the constant as a table, which is no value of a run.
bool is_read_as_table(const Graph& graph, ValueId id) {
  for (const Node& node : graph.nodes)
    for (size_t slot = 0; slot < node.inputs.size(); ++slot)
      if (node.inputs[slot] == id && input_is_table(node, slot)) return true;
  return false;
}

// Different parts of constants along one axis, in the order in which they are met.
class Subsets {
 public:
  explicit Subsets(int axis) : axis_(axis) {}

  // Appends the number of each index's part to the map. Returns false where there are too many parts.
  bool add(const Value& v, std::vector<int32_t>* map) {
    const Shape& shape = v.type.shape;
    size_t outer = 1, inner = dtype_bytes(v.type.dtype);
    for (int d = 0; d < axis_; ++d) outer *= static_cast<size_t>(shape[d]);
    for (int d = axis_ + 1; d < shape.rank(); ++d) inner *= static_cast<size_t>(shape[d]);
    const auto n = static_cast<size_t>(shape[axis_]);
    for (size_t i = 0; i < n; ++i) {
      std::vector<uint8_t> part;
      for (size_t o = 0; o < outer; ++o) {
        const auto from = v.data.begin() + static_cast<ptrdiff_t>((o * n + i) * inner);
        part.insert(part.end(), from, from + static_cast<ptrdiff_t>(inner));
      }
      const auto found = std::find(parts_.begin(), parts_.end(), part);
      map->push_back(static_cast<int32_t>(found - parts_.begin()));
      if (found == parts_.end()) parts_.push_back(std::move(part));
      if (parts_.size() > kMost) return false;
    }
    return true;
  }

  // Returns the parts side by side; *shape, that of a constant they are of, becomes theirs.
  std::vector<uint8_t> joined(Shape* shape) const {
    size_t outer = 1;
    for (int d = 0; d < axis_; ++d) outer *= static_cast<size_t>((*shape)[d]);
    (*shape)[axis_] = static_cast<int64_t>(parts_.size());
    std::vector<uint8_t> data;
    for (size_t o = 0; o < outer; ++o)
      for (const std::vector<uint8_t>& part : parts_) {
        const auto inner = static_cast<ptrdiff_t>(part.size() / outer);
        const auto from = part.begin() + static_cast<ptrdiff_t>(o) * inner;
        data.insert(data.end(), from, from + inner);
      }
    return data;
  }

 private:
  static constexpr size_t kMost = 8;
  const int axis_;
  std::vector<std::vector<uint8_t>> parts_;
};

}  // namespace

bool fit_constant_by_index(const ImportedGraphs& imports, ValueId id, Graph* graph) {
  if (is_read_as_table(*graph, id)) return false;
  const Value& own = graph->values[id];
  const int rank = own.type.shape.rank();
  std::vector<Value> values;
  int axis = -1;
  for (const Graph* g : imports.graphs) {
    values.push_back(whole_constant(*imports.graphs[0], *g, id));
    const TensorType& type = values.back().type;
    if (type.dtype != own.type.dtype || type.shape.rank() != rank || !is_whole(values.back()))
      return false;
    for (int d = 0; d < rank; ++d) {
      if (type.shape[d] == own.type.shape[d]) continue;
      if (axis >= 0 && axis != d) return false;
      axis = d;
    }
  }
  if (axis < 0) return false;
  Subsets parts(axis);
  std::vector<std::vector<int32_t>> maps(values.size());
  for (size_t i = 0; i < values.size(); ++i)
    if (!parts.add(values[i], &maps[i])) return false;
  Shape from = own.type.shape;
  std::vector<uint8_t> data = parts.joined(&from);
  Imports sizes;
  std::vector<const std::vector<int32_t>*> pointers;
  for (const auto& symbols : imports.symbols) sizes.at.push_back({symbols, {from}});
  for (const auto& map : maps) pointers.push_back(&map);
  sizes.others = &imports.dimensions;
  sizes.rounds_floats = imports.rounds_floats();
  std::vector<fb::SizeRuleT> rules(1);
  rules[0].field = fb::SizeField::MAP;
  if (!fit_map(sizes, pointers, axis, &rules[0]) || rules[0].resize != nullptr) return false;
  auto options = std::make_unique<fb::GatherOptionsT>();
  options->axes.push_back(std::make_unique<fb::GatherAxisT>());
  options->axes[0]->axis = static_cast<uint8_t>(axis);
  options->axes[0]->index = maps[0];
  read_by_gather(id, from, std::move(data), std::move(options), std::move(rules), graph);
  return true;
}

size_t kept_bytes(const Value& constant) {
  if (!is_whole(constant)) return constant.data.size();
  std::vector<Axis> axes;
  for (int d = 0; d < constant.type.shape.rank(); ++d)
    axes.push_back(is_repeated(constant, d) ? Axis::kRepeated : Axis::kFixed);
  Shape shape;
  return without_repeats(constant, axes, &shape).size();
}

bool fit_constant(const ImportedGraphs& imports, const Graph& largest, ValueId id, Graph* graph) {
  if (id >= largest.values.size()) return false;
  if (is_read_as_table(*graph, id)) return false;
  const Value& most = largest.values[id];
  const int rank = most.type.shape.rank();
  std::vector<Value> copies;
  std::vector<const Value*> values;
  for (const Graph* g : imports.graphs)
    copies.push_back(whole_constant(*imports.graphs[0], *g, id));
  for (const Value& v : copies) values.push_back(&v);
  values.push_back(&most);
  for (const Value* v : values)
    if (v->type.dtype != most.type.dtype || v->type.shape.rank() != rank || !is_whole(*v))
      return false;
  values.pop_back();
  std::vector<Axis> axes;
  Imports sizes;
  for (const auto& symbols : imports.symbols) sizes.at.push_back({symbols, {}});
  sizes.others = &imports.dimensions;
  sizes.rounds_floats = imports.rounds_floats();
  std::vector<std::optional<Expression>> counts_of_axes(static_cast<size_t>(rank));
  for (int d = 0; d < rank; ++d) {
    std::vector<int64_t> counts;
    bool repeats = is_repeated(most, d);
    for (const Value* v : values) {
      counts.push_back(v->type.shape[d]);
      repeats = repeats && is_repeated(*v, d);
    }
    if (std::all_of(counts.begin(), counts.end(), [&](int64_t n) { return n == counts[0]; })) {
      axes.push_back(Axis::kFixed);
      continue;
    }
    axes.push_back(repeats ? Axis::kRepeated : Axis::kFirst);
    counts_of_axes[static_cast<size_t>(d)] = fit_number(sizes, counts);
    if (!counts_of_axes[static_cast<size_t>(d)]) return false;
  }
  Shape from;
  const std::vector<uint8_t> data = without_repeats(most, axes, &from);
  std::vector<int64_t> shifts;
  if (!choose_subsets(values, data, from, &axes, &shifts)) return false;
  std::optional<Expression> shift = Expression(0);
  if (!shifts.empty()) shift = fit_number(sizes, shifts);
  if (!shift) return false;
  auto options = std::make_unique<fb::GatherOptionsT>();
  std::vector<fb::SizeRuleT> rules;
  for (int d = 0; d < rank; ++d) {
    const Axis axis = axes[static_cast<size_t>(d)];
    if (axis == Axis::kFixed) continue;
    const Expression& count = *counts_of_axes[static_cast<size_t>(d)];
    const int64_t own = values[0]->type.shape[d];
    const int64_t begin = axis == Axis::kLast      ? from[d] - own
                          : axis == Axis::kShifted ? shifts[0]
                                                   : 0;
    const int step = axis == Axis::kRepeated ? 0 : 1;
    fb::SizeRuleT rule;
    rule.field = fb::SizeField::MAP;
    rule.index = static_cast<uint32_t>(rules.size());
    auto piece = std::make_unique<fb::IndexPieceT>();
    piece->count = std::make_unique<fb::SizeT>(count.stored());
    piece->begin = std::make_unique<fb::SizeT>((axis == Axis::kLast ? Expression(from[d]) - count
                                                : axis == Axis::kShifted ? *shift
                                                                         : Expression(0))
                                                   .stored());
    piece->step = step;
    rule.pieces.push_back(std::move(piece));
    rules.push_back(std::move(rule));
    auto map = std::make_unique<fb::GatherAxisT>();
    map->axis = static_cast<uint8_t>(d);
    map->index = stepped(begin, own, step);
    options->axes.push_back(std::move(map));
  }
  if (rules.empty()) return false;
  read_by_gather(id, from, data, std::move(options), std::move(rules), graph);
  return true;
}

}  // namespace qrt::convert
