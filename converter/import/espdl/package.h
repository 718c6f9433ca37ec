// SPDX-License-Identifier: Apache-2.0
// The container around the flatbuffer of an ESP-DL model: the marks EDL1 and EDL2 of one model, and PDL1 to PDL3 of packs,
// which hold several. Nothing of the models themselves is looked at here.
#ifndef QRT_CONVERTER_IMPORT_ESPDL_PACKAGE_H_
#define QRT_CONVERTER_IMPORT_ESPDL_PACKAGE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/status.h"

namespace qrt::convert::from_espdl {

// Returns whether a file that starts with these bytes is an ESP-DL model or a pack of them.
bool is_espdl(const uint8_t* head, size_t bytes);

// One model of a pack, within the file. The only one of a file that is no pack has no name.
struct Entry {
  std::string name;
  size_t offset = 0, bytes = 0;
};

// Lists the models of a file. Fails with kInvalidModel where the file is neither a model nor a
// pack, or a pack's table leaves the file.
Status list_entries(const std::vector<uint8_t>& file, std::vector<Entry>* entries);

std::vector<std::string> names_of(const std::vector<Entry>& entries);

// The flatbuffer of one model [magic, mode, size, ...]: bytes from `header` on, without what stands before. Two headers exist,
// of 12 and of 16 bytes, and the mark does not tell which of them: `headers` are to be tried in this order.
struct Wrapper {
  std::vector<size_t> headers;
};
// Reads a model's header. Fails with kUnsupported where it is encrypted, kInvalidModel where there
// is no such model.
Status read_wrapper(const uint8_t* data, size_t bytes, Wrapper* wrapper);

}  // namespace qrt::convert::from_espdl

#endif  // QRT_CONVERTER_IMPORT_ESPDL_PACKAGE_H_
