// SPDX-License-Identifier: Apache-2.0
// Fields of a file's flatbuffer, and how long its lists may be.
#ifndef QRT_CONVERTER_IMPORT_ESPDL_FIELDS_H_
#define QRT_CONVERTER_IMPORT_ESPDL_FIELDS_H_

#include <cstring>
#include <string>

#include "flatbuffers/flatbuffers.h"

namespace qrt::convert::from_espdl {

constexpr size_t kMaxNameBytes = 4096, kMaxDims = 16;

inline std::string string_of(const flatbuffers::String* s) { return s ? s->str() : std::string(); }

// Reads an element. flatbuffers checks the alignment of a vector's length alone, which int64 elements exceed.
template <class T>
T element(const flatbuffers::Vector<T>& v, size_t i) {
  T value;
  memcpy(&value, v.Data() + i * sizeof(T), sizeof(T));
  return value;
}

template <class T>
size_t size_of(const flatbuffers::Vector<T>* v) {
  return v ? v->size() : 0;
}

}  // namespace qrt::convert::from_espdl

#endif  // QRT_CONVERTER_IMPORT_ESPDL_FIELDS_H_
