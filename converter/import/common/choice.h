// SPDX-License-Identifier: Apache-2.0
// Chooses one of several models of a file for conversion.
#ifndef QRT_CONVERTER_IMPORT_COMMON_CHOICE_H_
#define QRT_CONVERTER_IMPORT_COMMON_CHOICE_H_

#include <string>
#include <vector>

#include "runtime/status.h"

namespace qrt::convert {

// The words by which messages call the models of a file.
struct ChoiceWords {
  const char* one;     // "signature"
  const char* option;  // "--signature"
};

// Finds the model that `selector` names, by its name or else by its index; without a selector the only
// one. kInvalidArgument, with the names, where there is none. REQUIRES: names are not empty.
Status choose_model(const std::vector<std::string>& names, const std::string& selector,
                    const ChoiceWords& words, size_t* index);

// Returns the models as --list prints them, "0 encode", one line each.
std::vector<std::string> listed(const std::vector<std::string>& names);

}  // namespace qrt::convert

#endif  // QRT_CONVERTER_IMPORT_COMMON_CHOICE_H_
