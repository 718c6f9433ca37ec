// SPDX-License-Identifier: Apache-2.0
#include "converter/import/common/index_maps.h"

#include <algorithm>
#include <cstring>
#include <limits>

namespace qrt::convert {
namespace {

// Copies an element. A copy whose length the compiler knows takes one instruction, which matters
// for millions of elements.
void copy_element(size_t bytes, const uint8_t* from, uint8_t* to) {
  switch (bytes) {
    case 1: *to = *from; break;
    case 2: memcpy(to, from, 2); break;
    case 4: memcpy(to, from, 4); break;
    case 8: memcpy(to, from, 8); break;
    default: memcpy(to, from, bytes);
  }
}

// An axis of the result: element n of it is element index(n) of the source's, or is filled where that is negative.
struct Axis {
  const int32_t* map;    // null: the elements in their order
  int64_t size, stride;  // of the result; between elements of the source

  int64_t index(int64_t n) const { return map != nullptr ? map[n] : n; }
};

}  // namespace

IndexMaps::IndexMaps(const Shape& from, const fb::GatherOptionsT& options) : IndexMaps(from) {
  for (const auto& map : options.axes) {
    set(map->axis, map->index);
    if (!has(map->axis)) keep(map->axis, map->index);
  }
}

void IndexMaps::keep(int axis, Indices indices) {
  const size_t d = static_cast<size_t>(axis);
  to_[axis] = static_cast<int64_t>(indices.size());
  has_[d] = is_kept_[d] = true;
  maps_[d] = std::move(indices);
}

void IndexMaps::set(int axis, Indices indices) {
  const size_t d = static_cast<size_t>(axis);
  bool in_order = static_cast<int64_t>(indices.size()) == from_[axis];
  for (size_t i = 0; in_order && i < indices.size(); ++i)
    in_order = indices[i] == static_cast<int32_t>(i);
  to_[axis] = static_cast<int64_t>(indices.size());
  has_[d] = !in_order;
  is_kept_[d] = false;
  maps_[d] = in_order ? Indices() : std::move(indices);
}

bool IndexMaps::fills() const {
  return std::any_of(maps_.begin(), maps_.end(), [](const Indices& map) {
    return std::find(map.begin(), map.end(), -1) != map.end();
  });
}

bool IndexMaps::is_identity() const {
  return std::none_of(has_.begin(), has_.end(), [](bool b) { return b; });
}

uint64_t IndexMaps::bytes() const {
  uint64_t bytes = 0;
  for (const Indices& map : maps_) bytes += map.size() * sizeof(map[0]);
  return bytes;
}

fb::GatherOptionsT IndexMaps::options(int64_t fill) const {
  fb::GatherOptionsT o;
  o.fill = fills() ? fill : 0;
  for (int d = 0; d < from_.rank(); ++d) {
    if (!has(d)) continue;
    o.axes.push_back(std::make_unique<fb::GatherAxisT>());
    o.axes.back()->axis = static_cast<uint8_t>(d);
    o.axes.back()->index = at(d);
  }
  return o;
}

std::vector<uint8_t> IndexMaps::apply(const uint8_t* data, size_t element_bytes,
                                      int64_t fill) const {
  // Leaves out axes of one element that keep it.
  std::vector<Axis> axes;
  int64_t stride = 1;
  for (int d = to_.rank(); d-- > 0; stride *= from_[d]) {
    const bool is_trivial = from_[d] == 1 && to_[d] == 1 && !has(d);
    if (!is_trivial) axes.insert(axes.begin(), {has(d) ? at(d).data() : nullptr, to_[d], stride});
  }
  if (axes.empty()) axes.push_back({nullptr, 1, 1});
  const size_t elements = static_cast<size_t>(to_.elements());
  std::vector<uint8_t> result(elements * element_bytes);
  if (elements == 0) return result;
  const Axis inner = axes.back();
  const size_t outer = axes.size() - 1;
  std::vector<int64_t> position(outer, 0);
  const auto* const filling = reinterpret_cast<const uint8_t*>(&fill);
  uint8_t* to = result.data();
  for (;;) {
    int64_t offset = 0;
    bool is_filled = false;
    for (size_t d = 0; d < outer; ++d) {
      const int64_t i = axes[d].index(position[d]);
      is_filled = is_filled || i < 0;
      offset += i * axes[d].stride;
    }
    for (int64_t n = 0; n < inner.size; ++n, to += element_bytes) {
      const int64_t i = inner.index(n);
      const bool fills = is_filled || i < 0;
      const int64_t element = offset + i * inner.stride;
      copy_element(element_bytes,
                   fills ? filling : data + static_cast<size_t>(element) * element_bytes, to);
    }
    size_t d = outer;
    for (; d > 0 && ++position[d - 1] == axes[d - 1].size; --d) position[d - 1] = 0;
    if (d == 0) return result;
  }
}

Status IndexMaps::check_constant(size_t element_bytes) const {
  const int64_t elements = to_.elements();
  if (elements < 0 || elements > kMaxGatheredBytes / static_cast<int64_t>(element_bytes))
    return error(Code::kUnsupported, "a constant grows to shape %s", to_.to_string().c_str());
  return Status();
}

Status make_shape(const std::vector<int64_t>& dims, Shape* shape) {
  if (dims.size() > kMaxTensorRank)
    return error(Code::kUnsupported, "%zu dimensions, at most %d are supported", dims.size(),
                 kMaxTensorRank);
  *shape = Shape();
  for (int64_t d : dims) {
    QRT_MODEL_CHECK(d >= 0, "dimension %lld is negative", static_cast<long long>(d));
    shape->push_back(d);
  }
  const int64_t limit = std::numeric_limits<int32_t>::max();
  bool fits = shape->elements() >= 0 && shape->elements() <= limit;
  for (int64_t d : dims) fits = fits && d <= limit;
  if (!fits)
    return error(Code::kUnsupported, "shape %s has more than 2^31 - 1 elements",
                 shape->to_string().c_str());
  return Status();
}

Status check_index_count(int64_t count) {
  if (count >= 0 && count <= kMaxIndices) return Status();
  return error(Code::kUnsupported, "it moves an axis of %lld indices, at most %lld are supported",
               static_cast<long long>(count), static_cast<long long>(kMaxIndices));
}

Indices stepped(int64_t first, int64_t count, int64_t step) {
  Indices indices(static_cast<size_t>(count));
  for (int32_t& index : indices) {
    index = static_cast<int32_t>(first);
    first += step;
  }
  return indices;
}

Indices padded(int64_t size, int64_t before, int64_t after, PadMode mode) {
  const auto modulo = [](int64_t i, int64_t period) { return ((i % period) + period) % period; };
  const int64_t count = size + before + after;
  Indices indices(static_cast<size_t>(count));
  for (int64_t k = 0; k < count; ++k) {
    int64_t i = k - before;
    if (i < 0 || i >= size) {
      switch (mode) {
        case PadMode::kConstant: i = -1; break;
        case PadMode::kEdge: i = std::clamp<int64_t>(i, 0, size - 1); break;
        case PadMode::kReflect:
          i = size == 1 ? 0 : modulo(i, 2 * (size - 1));
          if (i >= size) i = 2 * (size - 1) - i;
          break;
        case PadMode::kSymmetric:
          i = modulo(i, 2 * size);
          if (i >= size) i = 2 * size - 1 - i;
          break;
        case PadMode::kWrap: i = modulo(i, size); break;
      }
    }
    indices[static_cast<size_t>(k)] = static_cast<int32_t>(i);
  }
  return indices;
}

}  // namespace qrt::convert
