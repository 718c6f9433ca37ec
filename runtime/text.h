// SPDX-License-Identifier: Apache-2.0
// Text that came from a file, as it may go to a terminal, into a message or into a graph.
#ifndef QRT_RUNTIME_TEXT_H_
#define QRT_RUNTIME_TEXT_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace qrt {

// Returns the text with \xNN for every byte that a terminal could take for more than a letter: control
// characters of ASCII (NUL, ESC, BEL, line ends) and of Unicode (C1), those that turn the direction of
// writing or break lines, and what is no UTF-8. All else stays, accents and other scripts included.
// Everything that a tool writes for people and that holds a name from a file passes through here once.
std::string escaped(std::string_view text);

// Returns the first `most` bytes of a text, cut between characters and escaped.
std::string escaped(std::string_view text, size_t most);

// Returns a text of at most `most` bytes: a longer one loses its middle, so that a message keeps its beginning
// and, at its end, the cause. Cuts between characters. REQUIRES: most >= 16.
std::string shortened(const std::string& text, size_t most);

}  // namespace qrt

#endif  // QRT_RUNTIME_TEXT_H_
