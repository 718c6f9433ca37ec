// SPDX-License-Identifier: Apache-2.0
// Chooses one of several models of a file for conversion.
#ifndef QRT_CONVERTER_IMPORT_COMMON_CHOICE_H_
#define QRT_CONVERTER_IMPORT_COMMON_CHOICE_H_

#include <string>
#include <vector>

#include "runtime/status.h"

namespace qrt::convert {

// The words that messages use for one model of a file, and for the option that selects it.
struct ChoiceWords {
  const char* one;     // "signature"
  const char* option;  // "--signature"
};

// Sets *index to the model whose name, or else whose index, is `selector`; without a selector to
// the only model. Fails with kInvalidArgument, in a message that lists the names, where there is no
// such model. REQUIRES: `names` is not empty.
Status choose_model(const std::vector<std::string>& names, const std::string& selector,
                    const ChoiceWords& words, size_t* index);

// Returns the models as --list prints them, "0 encode", one line each.
std::vector<std::string> listed(const std::vector<std::string>& names);

}  // namespace qrt::convert

#endif  // QRT_CONVERTER_IMPORT_COMMON_CHOICE_H_
