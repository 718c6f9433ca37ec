// SPDX-License-Identifier: Apache-2.0
// A tool's messages to its user, and its exit status.
#ifndef QRT_RUNTIME_TOOLS_TERMINAL_H_
#define QRT_RUNTIME_TOOLS_TERMINAL_H_

#include <cstddef>
#include <string>

#include "runtime/status.h"

namespace qrt::tool {

// The exit statuses of all tools; tests and scripts rely on them.
enum ExitStatus : int {
  kDone = 0,
  kCheckFailed = 1,  // a check that was asked for failed, or a bug of qrt
  kUsage = 2,
  kBadFile = 3,      // a model or an input file is damaged or does not fit
  kUnsupported = 4,  // valid, but beyond this version
  kSystem = 5        // input, output or memory
};

ExitStatus exit_status(Code code);

// Writes "TOOL: error: message" to stderr, escaped (runtime/text.h). TOOL is the running program's
// name.
void complain(const std::string& message);
// Writes "TOOL: note: message" or "TOOL: warning: message" to stderr, escaped; nothing after set_quiet(true).
void note(const std::string& message);
void warn(const std::string& message);
// Keeps notes, warnings and progress (progress.h) back, as --quiet asks.
void set_quiet(bool quiet);
bool is_quiet();

// Complains about the status, and returns the exit status for it. REQUIRES: !status.ok().
int fail(const Status& status);
// Does so for a message of several lines, none of whose ends came from a file.
int fail_in_lines(const Status& status);

// Returns whether stderr is a terminal; and whether colours are wanted, too (NO_COLOR is not set).
bool is_terminal();
bool wants_color();

// Returns the greatest width of a line of text: COLUMNS of the environment, else the terminal's,
// else 80; at least 40.
size_t columns();
// Returns the text in exactly `width` columns: padded, or cut with "~" at its end. Counts
// characters, not bytes.
std::string fitted(const std::string& text, size_t width);

// Runs the body of a tool's main(), and turns exceptions (qrt::Error, memory) into a message and an
// exit status.
int guarded(int (*body)(int argc, char** argv), int argc, char** argv);

}  // namespace qrt::tool

#endif  // QRT_RUNTIME_TOOLS_TERMINAL_H_
