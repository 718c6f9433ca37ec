// SPDX-License-Identifier: Apache-2.0
// The options of a TFLite custom operator: a FlexBuffers map of numbers. Only what is asked for is
// read, within the buffer's bounds, so that it costs the same however the rest is linked together:
// the library's verifier visits a vector again for each reference to it.
#ifndef QRT_CONVERTER_IMPORT_TFLITE_OPTION_MAP_H_
#define QRT_CONVERTER_IMPORT_TFLITE_OPTION_MAP_H_

#include <cstddef>
#include <cstdint>

#include "runtime/status.h"

namespace qrt::convert::from_tflite {

class OptionMap {
 public:
  // Opens a map. Fails with kInvalidModel where the buffer's root is no map. REQUIRES: the bytes outlive it.
  static Status open(const uint8_t* bytes, size_t size, OptionMap* map);

  // Reads the number of a key, as TFLite converts it; *value keeps its content, and the result is OK, where
  // there is none or it is null. Fails with kInvalidModel where it is no number or lies outside the buffer.
  Status read(const char* key, int64_t* value) const;  // read as an int32
  Status read(const char* key, float* value) const;
  Status read(const char* key, bool* value) const;

 private:
  // Elements of one width, one after the other.
  struct Vector {
    size_t at = 0, width = 0, count = 0;
  };
  struct Slot {
    size_t at = 0;
    uint8_t packed_type = 0;
  };

  bool number(size_t at, size_t width, uint64_t* value) const;
  // Finds the vector that the offset at `at`, of `offset_width` bytes, leads to. Returns false
  // where that lies outside the buffer.
  bool vector(size_t at, size_t offset_width, size_t width, Vector* vector) const;
  Status find(const char* key, Slot* slot, bool* found) const;
  template <class T, class Convert>
  Status read_as(const char* key, T* value, const Convert& convert) const;

  const uint8_t* bytes_ = nullptr;
  size_t size_ = 0;
  Vector keys_, values_;
};

}  // namespace qrt::convert::from_tflite

#endif  // QRT_CONVERTER_IMPORT_TFLITE_OPTION_MAP_H_
