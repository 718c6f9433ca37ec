// SPDX-License-Identifier: Apache-2.0
// A tool's messages to its user, and its exit status.
#include "runtime/tools/terminal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>

#include "qrt/qrt.hpp"
#include "runtime/allowed_isas.h"
#include "runtime/platform/tools.h"
#include "runtime/text.h"
#include "runtime/tools/files.h"

namespace qrt::tool {

ExitStatus exit_status(Code code) {
  switch (code) {
    case Code::kOk: return kDone;
    case Code::kInvalidArgument:
    case Code::kOutOfRange: return kUsage;
    case Code::kInvalidModel: return kBadFile;
    case Code::kUnsupported: return kUnsupported;
    case Code::kOutOfMemory:
    case Code::kIoError: return kSystem;
    case Code::kInternal:
    case Code::kCancelled: break;
  }
  return kCheckFailed;
}

bool is_terminal() { return platform::is_error_output_terminal(); }

bool wants_color() {
  const char* no_color = getenv("NO_COLOR");
  return is_terminal() && (no_color == nullptr || no_color[0] == '\0');
}

size_t columns() {
  constexpr size_t kLeast = 40, kUsual = 80, kMost = 1000;
  const char* text = getenv("COLUMNS");
  size_t told = text == nullptr ? 0 : strtoul(text, nullptr, 10);
  if (told == 0) told = platform::terminal_columns();
  return told == 0 ? kUsual : std::clamp(told, kLeast, kMost);
}

std::string fitted(const std::string& text, size_t width) {
  size_t characters = 0, kept = 0;  // `kept`: bytes of the first width - 1 characters
  for (size_t i = 0; i < text.size(); ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xc0) == 0x80) continue;  // within a character
    if (characters++ + 1 == width) kept = i;
  }
  if (characters > width) return text.substr(0, kept) + "~";
  return text + std::string(width - characters, ' ');
}

namespace {

bool keeps_quiet = false;

// Writes a message to standard error. `color`: the kind's, in a terminal's numbers.
void say(const char* kind, const char* color, const std::string& message) {
  const std::string text = escaped(with_stdin_named(message));
  if (wants_color())
    fprintf(stderr, "%s: \033[%sm%s:\033[0m %s\n", platform::program_name(), color, kind,
            text.c_str());
  else
    fprintf(stderr, "%s: %s: %s\n", platform::program_name(), kind, text.c_str());
}

}  // namespace

void complain(const std::string& message) { say("error", "1;31", message); }

void note(const std::string& message) {
  if (!keeps_quiet) say("note", "1", message);
}

void warn(const std::string& message) {
  if (!keeps_quiet) say("warning", "1;35", message);
}

void set_quiet(bool quiet) { keeps_quiet = quiet; }
bool is_quiet() { return keeps_quiet; }

int fail(const Status& status) {
  complain(status.message());
  return exit_status(status.code());
}

int fail_in_lines(const Status& status) {
  const std::string text = status.message();
  size_t end = std::min(text.find('\n'), text.size());
  complain(text.substr(0, end));
  for (size_t at = end + 1; at < text.size(); at = end + 1) {
    end = std::min(text.find('\n', at), text.size());
    fprintf(stderr, "%s\n", escaped(text.substr(at, end - at)).c_str());
  }
  return exit_status(status.code());
}

namespace {

std::terminate_handler usual_end;

// Destructors and functions that promise not to throw may need memory all the same, in libraries that we use: nothing
// can be caught then.
[[noreturn]] void end_without_memory() {
  try {
    if (const std::exception_ptr thrown = std::current_exception()) std::rethrow_exception(thrown);
  } catch (const std::bad_alloc&) {
    complain("out of memory");
    _Exit(kSystem);
  } catch (...) {
  }
  usual_end();
  abort();
}

}  // namespace

int guarded(int (*body)(int argc, char** argv), int argc, char** argv) {
  platform::make_streams_binary();
  platform::prepare_exceptions();
  usual_end = std::set_terminate(end_without_memory);
  try {
    const int status = body(argc, argv);
    const bool is_flushed = fflush(stdout) == 0;
    if (!is_flushed || ferror(stdout) != 0) {
      if (status != kSystem)  // else it has been told
        complain(std::string("standard output: ") +
                 (is_flushed ? "not all of it could be written" : strerror(errno)));
      return status == kDone ? kSystem : status;
    }
    return status;
  } catch (const Error& e) {
    complain(e.what());
    return exit_status(static_cast<Code>(e.status()));
  } catch (const std::bad_alloc&) {
    complain("out of memory");
    return kSystem;
  } catch (const std::exception& e) {
    complain(std::string("internal error: ") + e.what());
    return kCheckFailed;
  }
}

}  // namespace qrt::tool
