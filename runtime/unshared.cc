// SPDX-License-Identifier: Apache-2.0
// Walks a flatbuffer by the tables of types that flatc writes; see unshared.h.
#include "runtime/unshared.h"

#include <flatbuffers/flatbuffers.h>

#include <cstdint>

namespace qrt {

using flatbuffers::TypeTable;

const TypeTable* union_member(const TypeTable& of, uint8_t member) {
  size_t i = member;
  if (of.values != nullptr)  // the enum's values are not 0, 1, 2 ...
    for (i = 0; i < of.num_elems && of.values[i] != member;) ++i;
  if (i >= of.num_elems || of.type_codes[i].sequence_ref < 0) return nullptr;
  return of.type_refs[of.type_codes[i].sequence_ref]();
}

namespace {

// Bytes of an element of a vector of numbers.
size_t scalar_bytes(flatbuffers::ElementaryType type) {
  switch (type) {
    case flatbuffers::ET_SHORT:
    case flatbuffers::ET_USHORT: return 2;
    case flatbuffers::ET_INT:
    case flatbuffers::ET_UINT:
    case flatbuffers::ET_FLOAT: return 4;
    case flatbuffers::ET_LONG:
    case flatbuffers::ET_ULONG:
    case flatbuffers::ET_DOUBLE: return 8;
    default: return 1;
  }
}

template <class T>
const T* target(const uint8_t* offset) {
  return reinterpret_cast<const T*>(offset +
                                    flatbuffers::ReadScalar<flatbuffers::uoffset_t>(offset));
}

class Walk {
 public:
  explicit Walk(size_t limit) : left_(limit) {}

  // Counts a table with all that it refers to. Returns false where the limit is passed.
  bool table(const flatbuffers::Table* table, const TypeTable* type) {
    if (!take(kTableBytes)) return false;
    const uint8_t union_type_none = 0;
    const uint8_t* before = &union_type_none;  // the field before a union holds the union's type
    for (size_t i = 0; i < type->num_elems; ++i) {
      const flatbuffers::TypeCode code = type->type_codes[i];
      const auto kind = static_cast<flatbuffers::ElementaryType>(code.base_type);
      const bool is_number =
          !code.is_repeating && kind != flatbuffers::ET_STRING && kind != flatbuffers::ET_SEQUENCE;
      if (is_number && kind != flatbuffers::ET_UTYPE) continue;
      const uint8_t* value = table->GetAddressOf(
          flatbuffers::FieldIndexToOffset(static_cast<flatbuffers::voffset_t>(i)));
      if (value != nullptr && !is_number && !field(value, code, type, before)) return false;
      before = value != nullptr ? value : &union_type_none;
    }
    return true;
  }

 private:
  // The bytes that a table counts for, with its numbers: as many as the schema has.
  static constexpr size_t kTableBytes = 32;

  bool take(size_t bytes) {
    if (bytes > left_) return false;
    left_ -= bytes;
    return true;
  }

  bool field(const uint8_t* value, flatbuffers::TypeCode code, const TypeTable* of,
             const uint8_t* before) {
    const auto type = static_cast<flatbuffers::ElementaryType>(code.base_type);
    const TypeTable* inner = code.sequence_ref < 0 ? nullptr : of->type_refs[code.sequence_ref]();
    if (code.is_repeating) return vector(value, type, inner);
    if (type == flatbuffers::ET_STRING) return take(target<flatbuffers::String>(value)->size() + 8);
    if (inner->st == flatbuffers::ST_TABLE) return table(target<flatbuffers::Table>(value), inner);
    if (inner->st != flatbuffers::ST_UNION) return take(sizeof(flatbuffers::uoffset_t));
    const TypeTable* member = union_member(*inner, *before);
    return member == nullptr || table(target<flatbuffers::Table>(value), member);
  }

  bool vector(const uint8_t* value, flatbuffers::ElementaryType type, const TypeTable* inner) {
    const auto* v = target<flatbuffers::Vector<uint8_t>>(value);
    const size_t n = v->size();
    const bool is_offset = type == flatbuffers::ET_STRING ||
                           (type == flatbuffers::ET_SEQUENCE && inner->st == flatbuffers::ST_TABLE);
    if (!is_offset) return take(8 + n * scalar_bytes(type));
    if (!take(8 + n * sizeof(flatbuffers::uoffset_t))) return false;
    for (size_t i = 0; i < n; ++i) {
      const uint8_t* element = v->Data() + i * sizeof(flatbuffers::uoffset_t);
      const bool fits = type == flatbuffers::ET_STRING
                            ? take(target<flatbuffers::String>(element)->size() + 8)
                            : table(target<flatbuffers::Table>(element), inner);
      if (!fits) return false;
    }
    return true;
  }

  size_t left_;
};

}  // namespace

Status check_unshared(const flatbuffers::Table* root, const TypeTable* type, size_t file_bytes) {
  const size_t limit = kFewUnsharedBytes + kMaxSharing * file_bytes;
  QRT_MODEL_CHECK(Walk(limit).table(root, type),
                  "the file names the same tables again and again: counted at every use they are "
                  "more than %zu bytes, expected at most %zu and %zu times the file's %zu",
                  limit, kFewUnsharedBytes, kMaxSharing, file_bytes);
  return {};
}

}  // namespace qrt
