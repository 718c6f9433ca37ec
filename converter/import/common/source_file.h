// SPDX-License-Identifier: Apache-2.0
// A source model's file as bytes, of formats that are read at once.
#ifndef QRT_CONVERTER_IMPORT_COMMON_SOURCE_FILE_H_
#define QRT_CONVERTER_IMPORT_COMMON_SOURCE_FILE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/status.h"

namespace qrt::convert {

// The greatest size that flatbuffers can address.
constexpr size_t kMaxSourceBytes = (size_t{1} << 31) - 1;

// Reads a file. Fails with kIoError, or with kInvalidModel for a file of more than kMaxSourceBytes,
// in whose message `format` stands.
Status read_source_file(const std::string& path, const char* format, std::vector<uint8_t>* bytes);

}  // namespace qrt::convert

#endif  // QRT_CONVERTER_IMPORT_COMMON_SOURCE_FILE_H_
