// SPDX-License-Identifier: Apache-2.0
// Names of files from outside in commands that a user may copy.
#ifndef QRT_CONVERTER_IMPORT_COMMON_SHELL_WORD_H_
#define QRT_CONVERTER_IMPORT_COMMON_SHELL_WORD_H_

#include <string>

namespace qrt::convert {

// Returns the text as one word of a shell's command line.
inline std::string shell_word(const std::string& text) {
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

}  // namespace qrt::convert

#endif  // QRT_CONVERTER_IMPORT_COMMON_SHELL_WORD_H_
