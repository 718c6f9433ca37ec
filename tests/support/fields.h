// SPDX-License-Identifier: Apache-2.0
// Every number and every reference of a .qrt or other flatbuffer file, found by the types that flatc knows: for tests and
// fuzzers that change a file field by field, or make it name one thing twice, and so reach what bytes
// changed at random hardly do.
#ifndef QRT_TESTS_SUPPORT_FIELDS_H_
#define QRT_TESTS_SUPPORT_FIELDS_H_

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "qrt_model_types.h"
// After the types, which it needs.
#include <flatbuffers/minireflect.h>

#include "runtime/unshared.h"

namespace qrt::testing {

using TypeTable = flatbuffers::TypeTable;

// A number: of a table's field, or an element of a vector that is one.
struct Field {
  size_t at, bytes;        // in the file
  const TypeTable* table;  // that has the field
  size_t index;            // of the field in it
};

// A reference to a table, a string, or a vector of numbers or references.
struct Reference {
  size_t at, to;          // where it stands, and what it names
  const TypeTable* type;  // of the table, or of the elements; null: neither are tables
  int element;            // of a vector: flatbuffers::ElementaryType, else -1
};

struct Fields {
  std::vector<Field> numbers;
  std::vector<Reference> references;
};

class FieldWalk {
 public:
  // REQUIRES: a verified flatbuffer, best built with ForceDefaults(): what a table leaves out is no
  // field of the file.
  FieldWalk(const std::vector<uint8_t>& file, const TypeTable* root) : file_(file.data()) {
    table(flatbuffers::GetRoot<uint8_t>(file_), root);
  }
  Fields take() { return std::move(fields_); }

 private:
  // The number of first and last elements that stand for all of a long vector (weights, tables).
  static constexpr size_t kFew = 3;

  size_t place(const uint8_t* p) const { return static_cast<size_t>(p - file_); }
  static const uint8_t* run_follower(const uint8_t* p) {
    return p + flatbuffers::ReadScalar<flatbuffers::uoffset_t>(p);
  }

  void table(const uint8_t* data, const TypeTable* type) {
    if (!seen_.insert({data, type, flatbuffers::ET_SEQUENCE}).second) return;
    const auto* t = reinterpret_cast<const flatbuffers::Table*>(data);
    const uint8_t* before = nullptr;
    for (size_t i = 0; i < type->num_elems; ++i) {
      const auto at = flatbuffers::FieldIndexToOffset(static_cast<flatbuffers::voffset_t>(i));
      const uint8_t* value = t->GetAddressOf(at);
      if (value != nullptr) field(value, *type, i, before);
      before = value;
    }
  }

  void field(const uint8_t* value, const TypeTable& type, size_t i, const uint8_t* before) {
    const flatbuffers::TypeCode code = type.type_codes[i];
    const auto element = static_cast<flatbuffers::ElementaryType>(code.base_type);
    const TypeTable* inner = code.sequence_ref < 0 ? nullptr : type.type_refs[code.sequence_ref]();
    if (code.is_repeating) return vector(value, type, i, element, inner);
    if (element == flatbuffers::ET_STRING) return string(value);
    if (element != flatbuffers::ET_SEQUENCE) return number(value, element, type, i);
    if (inner->st == flatbuffers::ST_STRUCT) return structure(value, *inner);
    if (inner->st == flatbuffers::ST_UNION) {
      inner = union_member(*inner, before != nullptr ? *before : 0);
      if (inner == nullptr) return;
    }
    fields_.references.push_back({place(value), place(run_follower(value)), inner, -1});
    table(run_follower(value), inner);
  }

  // REQUIRES: of numbers alone, as all of our schemas' are.
  void structure(const uint8_t* value, const TypeTable& type) {
    for (size_t i = 0; i < type.num_elems; ++i)
      number(value + type.values[i],
             static_cast<flatbuffers::ElementaryType>(type.type_codes[i].base_type), type, i);
  }

  void string(const uint8_t* value) {
    fields_.references.push_back({place(value), place(run_follower(value)), nullptr, -1});
  }

  void vector(const uint8_t* value, const TypeTable& type, size_t i,
              flatbuffers::ElementaryType element, const TypeTable* inner) {
    const bool has_tables = element == flatbuffers::ET_SEQUENCE;
    fields_.references.push_back({place(value), place(run_follower(value)),
                                  has_tables ? inner : nullptr, static_cast<int>(element)});
    if (!seen_.insert({run_follower(value), inner, element}).second) return;
    const auto* v = reinterpret_cast<const flatbuffers::Vector<uint8_t>*>(run_follower(value));
    const size_t n = v->size(), bytes = has_tables ? 4 : size_of(element);
    for (size_t k = 0; k < n; ++k) {
      const uint8_t* at = v->Data() + k * bytes;
      if (has_tables) {
        fields_.references.push_back({place(at), place(run_follower(at)), inner, -1});
        table(run_follower(at), inner);
      } else if (element == flatbuffers::ET_STRING) {
        string(at);
      } else if (k < kFew || k + kFew >= n) {
        number(at, element, type, i);
      }
    }
  }

  void number(const uint8_t* value, flatbuffers::ElementaryType element, const TypeTable& type,
              size_t i) {
    fields_.numbers.push_back({place(value), size_of(element), &type, i});
  }

  static size_t size_of(flatbuffers::ElementaryType type) {
    return flatbuffers::InlineSize(type, nullptr);
  }

  const uint8_t* file_;
  // A vector may be one of bytes and of int64 at once.
  std::set<std::tuple<const uint8_t*, const TypeTable*, flatbuffers::ElementaryType>> seen_;
  Fields fields_;
};

inline Fields fields_of(const std::vector<uint8_t>& file,
                        const TypeTable* root = fb_types::ModelTypeTable()) {
  return FieldWalk(file, root).take();
}

inline int64_t get(const std::vector<uint8_t>& file, const Field& field) {
  int64_t value = 0;
  memcpy(&value, file.data() + field.at, field.bytes);
  return value;
}

// Sets the lowest bytes of the value.
inline void set(std::vector<uint8_t>* file, const Field& field, int64_t value) {
  memcpy(file->data() + field.at, &value, field.bytes);
}

// Lets a link name what another of its kind names. False where that stands before it: references
// only lead on.
inline bool redirect(std::vector<uint8_t>* file, const Reference& reference,
                     const Reference& other) {
  if (other.type != reference.type || other.element != reference.element ||
      other.to <= reference.at)
    return false;
  const auto offset = static_cast<uint32_t>(other.to - reference.at);
  memcpy(file->data() + reference.at, &offset, sizeof offset);
  return true;
}

}  // namespace qrt::testing

#endif  // QRT_TESTS_SUPPORT_FIELDS_H_
