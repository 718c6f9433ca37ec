// SPDX-License-Identifier: Apache-2.0
// Which format a file is of, by its first bytes and its name.
#ifndef QRT_CONVERTER_IMPORT_RECOGNISE_H_
#define QRT_CONVERTER_IMPORT_RECOGNISE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "converter/import/frontend.h"
#include "runtime/status.h"

namespace qrt::convert {

// Finds the format called `from`, or if that is "", of a file with this name and these first kHeadBytes. kInvalidModel
// for empty files, .qrt files, and files that are known to be something else. REQUIRES: `from` is a front end's name or "".
Status find_format(const std::string& input, const std::vector<uint8_t>& head,
                   const std::string& from, const Frontend** format);

// Returns whether a file is a .qrt file.
bool is_qrt(const std::vector<uint8_t>& head);

}  // namespace qrt::convert

#endif  // QRT_CONVERTER_IMPORT_RECOGNISE_H_
