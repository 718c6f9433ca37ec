// SPDX-License-Identifier: Apache-2.0
// Words of a text, such as a metadata value.
#ifndef QRT_RUNTIME_TOOLS_WORDS_H_
#define QRT_RUNTIME_TOOLS_WORDS_H_

#include <string>
#include <vector>

namespace qrt::tool {

// Returns what stands between white space. Without streams, which are a tenth of a WebAssembly module.
inline std::vector<std::string> words_of(const std::string& text) {
  constexpr char kSpace[] = " \t\n\v\f\r";
  std::vector<std::string> words;
  for (size_t at = text.find_first_not_of(kSpace); at != std::string::npos;) {
    const size_t end = text.find_first_of(kSpace, at);
    words.push_back(text.substr(at, end == std::string::npos ? end : end - at));
    at = text.find_first_not_of(kSpace, end);
  }
  return words;
}

}  // namespace qrt::tool

#endif  // QRT_RUNTIME_TOOLS_WORDS_H_
