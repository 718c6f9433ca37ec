// What the command line tools share: exit statuses, messages, the version text, files.
#ifndef QRT_BENCH_TOOL_H_
#define QRT_BENCH_TOOL_H_

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/status.h"

namespace qrt::tool {

// The same for all tools; tests and scripts rely on them.
enum ExitStatus : int {
  kDone = 0,
  kCheckFailed = 1,  // a check that was asked for failed, or a bug of qrt
  kUsage = 2,
  kBadFile = 3,      // a model or an input file is damaged or does not fit
  kUnsupported = 4,  // valid, but beyond this version
  kSystem = 5        // input, output or memory
};

ExitStatus exit_status(Code code);

// Writes "TOOL: error: message" to stderr. TOOL is the running program's name.
void complain(const std::string& message);
// complain() and the exit status for it. REQUIRES: !status.ok().
int fail(const Status& status);

// True if stderr is a terminal; the same and colours are wanted (NO_COLOR is not set).
bool is_terminal();
bool wants_color();

// App with --help, --version and examples; `examples` are the lines below the options' help.
void set_up(CLI::App* app, const std::string& description, const std::string& examples);

// Parses. True to go on; otherwise *exit holds the status to end with, and everything was printed.
bool parse(CLI::App* app, int argc, char** argv, int* exit);

// main() of a tool: calls body(), turning what it throws (qrt::Error, memory) into a message and a
// status.
int guarded(int (*body)(int argc, char** argv), int argc, char** argv);

// kIoError if the file cannot be opened, kInvalidModel if it is not a regular file.
Status check_readable(const std::string& path);

// The first bytes of a file, at most `count`.
Status read_head(const std::string& path, size_t count, std::vector<uint8_t>* bytes);

// Replaces `path` in one step: readers see the old content or all of the new. Pipes and devices are
// written directly.
Status write_file(const std::string& path, const void* data, size_t bytes);

}  // namespace qrt::tool

#endif  // QRT_BENCH_TOOL_H_
