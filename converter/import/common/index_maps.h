// SPDX-License-Identifier: Apache-2.0
// The index maps of a Gather, as handlers and passes make them: axis d of the result reads the
// source's indices axis[d], -1 where it is filled; without a map all of them in order.
#ifndef QRT_CONVERTER_IMPORT_COMMON_INDEX_MAPS_H_
#define QRT_CONVERTER_IMPORT_COMMON_INDEX_MAPS_H_

#include <array>
#include <cstdint>
#include <vector>

#include "converter/ir.h"

namespace qrt::convert {

// More entries than this are refused before they are made: a file of a few bytes may ask for any.
constexpr int64_t kMaxIndices = int64_t{1} << 22;
// The limit for the bytes of a constant that a Gather makes, checked in the same way.
constexpr int64_t kMaxGatheredBytes = int64_t{1} << 28;

using Indices = std::vector<int32_t>;

class IndexMaps {
 public:
  explicit IndexMaps(const Shape& from) : from_(from), to_(from) {}
  IndexMaps(const Shape& from, const fb::GatherOptionsT& options);

  // REQUIRES: indices in -1 .. from[axis] - 1. Setting an axis again replaces its map.
  void set(int axis, Indices indices);
  // Sets a map as set() does, which stays even if it is all indices in order, because it is not at other sizes.
  void keep(int axis, Indices indices);
  bool is_kept(int axis) const { return is_kept_[static_cast<size_t>(axis)]; }

  const Shape& from() const { return from_; }
  const Shape& to() const { return to_; }
  bool has(int axis) const { return has_[static_cast<size_t>(axis)]; }
  const Indices& at(int axis) const { return maps_[static_cast<size_t>(axis)]; }
  bool fills() const;        // some index is -1
  bool is_identity() const;  // no axis has a map
  uint64_t bytes() const;    // size of all maps

  fb::GatherOptionsT options(int64_t fill) const;
  // Returns the elements of a row-major tensor of from()'s shape, moved.
  std::vector<uint8_t> apply(const uint8_t* data, size_t element_bytes, int64_t fill) const;
  // Checks that apply() stays within kMaxGatheredBytes.
  Status check_constant(size_t element_bytes) const;

 private:
  Shape from_, to_;
  std::array<bool, kMaxTensorRank> has_{}, is_kept_{};
  std::array<Indices, kMaxTensorRank> maps_;
};

// Makes a shape of dimensions: kInvalidModel for negative ones, kUnsupported for a rank or size beyond
// qrt's limits.
Status make_shape(const std::vector<int64_t>& dims, Shape* shape);

// Checks that `count` is a length that a map may have; kUnsupported otherwise.
Status check_index_count(int64_t count);

// first, first + step, ...
Indices stepped(int64_t first, int64_t count, int64_t step);

// The values of indices outside: a constant, the border's, mirrored without or with the border, or
// from the other side.
enum class PadMode { kConstant, kEdge, kReflect, kSymmetric, kWrap };
// Returns indices with padding. Negative `before` and `after` cut. REQUIRES: size + before + after
// >= 0, and size >= 1 where something is mirrored or repeated.
Indices padded(int64_t size, int64_t before, int64_t after, PadMode mode);

}  // namespace qrt::convert

#endif  // QRT_CONVERTER_IMPORT_COMMON_INDEX_MAPS_H_
