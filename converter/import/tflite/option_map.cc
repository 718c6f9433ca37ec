// SPDX-License-Identifier: Apache-2.0
#include "converter/import/tflite/option_map.h"

#include <flatbuffers/flexbuffers.h>

#include <cstring>
#include <type_traits>

namespace qrt::convert::from_tflite {
namespace {

Status no_map() { return error(Code::kInvalidModel, "its options are no map"); }

bool is_width(size_t width) { return width == 1 || width == 2 || width == 4 || width == 8; }

// Returns the upper six bits of a packed type; the lower two are the width of what it refers to.
flexbuffers::Type type_of(uint8_t packed) { return static_cast<flexbuffers::Type>(packed >> 2); }
size_t width_of(uint8_t packed) { return size_t{1} << (packed & 3); }

}  // namespace

bool OptionMap::number(size_t at, size_t width, uint64_t* value) const {
  if (at > size_ || width > size_ - at) return false;
  *value = 0;
  for (size_t i = 0; i < width; ++i) *value |= uint64_t{bytes_[at + i]} << (8 * i);
  return true;
}

bool OptionMap::vector(size_t at, size_t offset_width, size_t width, Vector* vector) const {
  uint64_t offset = 0, count = 0;
  if (!number(at, offset_width, &offset) || offset > at) return false;
  vector->at = at - static_cast<size_t>(offset);
  vector->width = width;
  if (vector->at < width || !number(vector->at - width, width, &count)) return false;
  vector->count = static_cast<size_t>(count);
  return count <= (size_ - vector->at) / width;
}

// The root's value, its packed type and its width are the last bytes. In front of a map's values:
//   offset of the keys, width of the keys, number of values
Status OptionMap::open(const uint8_t* bytes, size_t size, OptionMap* map) {
  map->bytes_ = bytes;
  map->size_ = size;
  if (bytes == nullptr || size < 3) return no_map();
  const size_t root_width = bytes[size - 1];
  const uint8_t packed = bytes[size - 2];
  if (!is_width(root_width) || root_width > size - 2 || type_of(packed) != flexbuffers::FBT_MAP)
    return no_map();
  const size_t width = width_of(packed);
  if (!map->vector(size - 2 - root_width, root_width, width, &map->values_)) return no_map();
  uint64_t key_width = 0;
  if (map->values_.at < 3 * width || !map->number(map->values_.at - 2 * width, width, &key_width) ||
      !is_width(static_cast<size_t>(key_width)) ||
      !map->vector(map->values_.at - 3 * width, width, static_cast<size_t>(key_width), &map->keys_))
    return no_map();
  // Behind the values each has the byte of its type.
  const size_t types_at = map->values_.at + map->values_.count * width;
  if (map->keys_.count != map->values_.count || map->values_.count > size - types_at)
    return no_map();
  return Status();
}

// Searches a key as the library does, which relies on their order, so that the same one is found.
Status OptionMap::find(const char* key, Slot* slot, bool* found) const {
  const size_t length = strlen(key) + 1;
  *found = false;
  for (size_t first = 0, end = keys_.count; first < end;) {
    const size_t middle = (first + end) / 2, at = keys_.at + middle * keys_.width;
    uint64_t offset = 0;
    if (!number(at, keys_.width, &offset) || offset > at) return no_map();
    const char* name = reinterpret_cast<const char*>(bytes_ + at - offset);
    const size_t left = size_ - (at - static_cast<size_t>(offset));
    const size_t compared = left < length ? left : length;
    const int order = strncmp(key, name, compared);
    if (order == 0 && compared < length && memchr(name, 0, compared) == nullptr) return no_map();
    if (order == 0) {
      slot->at = values_.at + middle * values_.width;
      slot->packed_type = bytes_[values_.at + values_.count * values_.width + middle];
      *found = true;
      return Status();
    }
    (order < 0 ? end : first) = order < 0 ? middle : middle + 1;
  }
  return Status();
}

template <class T, class Convert>
Status OptionMap::read_as(const char* key, T* value, const Convert& convert) const {
  Slot slot;
  bool found = false;
  QRT_TRY(find(key, &slot, &found));
  const flexbuffers::Type type = found ? type_of(slot.packed_type) : flexbuffers::FBT_NULL;
  if (type == flexbuffers::FBT_NULL) return Status();
  switch (type) {
    case flexbuffers::FBT_INT:
    case flexbuffers::FBT_UINT:
    case flexbuffers::FBT_FLOAT:
    case flexbuffers::FBT_BOOL: break;
    case flexbuffers::FBT_INDIRECT_INT:
    case flexbuffers::FBT_INDIRECT_UINT:
    case flexbuffers::FBT_INDIRECT_FLOAT: {
      uint64_t offset = 0, pointed = 0;
      QRT_MODEL_CHECK(
          number(slot.at, values_.width, &offset) && offset <= slot.at &&
              number(slot.at - static_cast<size_t>(offset), width_of(slot.packed_type), &pointed),
          "its option '%s' lies outside its options", key);
      break;
    }
    default: return error(Code::kInvalidModel, "its option '%s' is no number", key);
  }
  const flexbuffers::Reference option(bytes_ + slot.at, static_cast<uint8_t>(values_.width),
                                      slot.packed_type);
  // The library leaves open what becomes of a real number that no integer holds.
  constexpr double kLeast = std::is_same_v<T, bool> ? -1 : -0x1p63, kMost = 0x1p63;
  if (!std::is_floating_point_v<T> && option.IsFloat()) {
    const double real = option.AsDouble();
    QRT_MODEL_CHECK(real > kLeast && real < kMost, "its option '%s' is %g, expected an integer",
                    key, real);
  }
  *value = convert(option);
  return Status();
}

Status OptionMap::read(const char* key, int64_t* value) const {
  return read_as(key, value, [](const flexbuffers::Reference& r) { return r.AsInt32(); });
}

Status OptionMap::read(const char* key, float* value) const {
  return read_as(key, value, [](const flexbuffers::Reference& r) { return r.AsFloat(); });
}

Status OptionMap::read(const char* key, bool* value) const {
  return read_as(key, value, [](const flexbuffers::Reference& r) { return r.AsBool(); });
}

}  // namespace qrt::convert::from_tflite
