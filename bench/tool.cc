// What the command line tools share.
#include "bench/tool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <new>

#include "qrt/qrt.hpp"

namespace qrt::tool {
namespace {

std::string version_text() {
  std::string text = std::string(program_invocation_short_name) + " " + qrt_version() +
                     "\ninstruction sets of this machine:";
  for (size_t i = 0; qrt_isa(i) != nullptr; ++i) text += std::string(" ") + qrt_isa(i);
  return text;
}

Status io_error(const std::string& path) {
  return error(Code::kIoError, "%s: %s", path.c_str(), strerror(errno));
}

Status write_all(int fd, const void* data, size_t bytes, const std::string& path) {
  const auto* p = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t n = write(fd, p, bytes);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return io_error(path);
    p += n;
    bytes -= static_cast<size_t>(n);
  }
  return {};
}

// Closes on the way out.
struct File {
  int fd;
  explicit File(int descriptor) : fd(descriptor) {}
  ~File() {
    if (fd >= 0) close(fd);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
};

}  // namespace

ExitStatus exit_status(Code code) {
  switch (code) {
    case Code::kOk: return kDone;
    case Code::kInvalidArgument: return kUsage;
    case Code::kInvalidModel: return kBadFile;
    case Code::kUnsupported: return kUnsupported;
    case Code::kOutOfMemory:
    case Code::kIoError: return kSystem;
    case Code::kInternal: break;
  }
  return kCheckFailed;
}

bool is_terminal() { return isatty(STDERR_FILENO) != 0; }

bool wants_color() {
  const char* no_color = getenv("NO_COLOR");
  return is_terminal() && (no_color == nullptr || no_color[0] == '\0');
}

void complain(const std::string& message) {
  const bool color = wants_color();
  fprintf(stderr, "%s: %serror:%s %s\n", program_invocation_short_name, color ? "\033[1;31m" : "",
          color ? "\033[0m" : "", message.c_str());
}

int fail(const Status& status) {
  complain(status.message());
  return exit_status(status.code());
}

void set_up(CLI::App* app, const std::string& description, const std::string& examples) {
  app->description(description);
  app->footer("Examples:\n" + examples +
              "\n\nExit status: 0 done, 1 a check failed, 2 usage, 3 the model or an input file is "
              "bad,\n4 valid but not supported, 5 I/O or memory. Messages go to stderr, data to "
              "stdout.");
  app->set_version_flag("--version", version_text, "Print version, commit and instruction sets");
}

bool parse(CLI::App* app, int argc, char** argv, int* exit) {
  try {
    app->parse(argc, argv);
    return true;
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) {  // --help, --version
      app->exit(e);
      *exit = kDone;
    } else {
      complain(std::string(e.what()) + " (see --help)");
      *exit = kUsage;
    }
    return false;
  }
}

int guarded(int (*body)(int argc, char** argv), int argc, char** argv) {
  try {
    const int status = body(argc, argv);
    if (fflush(stdout) != 0 || ferror(stdout) != 0) {
      complain(std::string("standard output: ") + strerror(errno));
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

Status check_readable(const std::string& path) {
  struct stat info;
  if (stat(path.c_str(), &info) != 0) return io_error(path);
  if (S_ISDIR(info.st_mode))
    return error(Code::kInvalidModel, "%s: is a directory, expected a file", path.c_str());
  if (!S_ISREG(info.st_mode))
    return error(Code::kInvalidModel, "%s: is not a regular file", path.c_str());
  if (access(path.c_str(), R_OK) != 0) return io_error(path);
  return {};
}

Status read_head(const std::string& path, size_t count, std::vector<uint8_t>* bytes) {
  const File file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.fd < 0) return io_error(path);
  bytes->resize(count);
  size_t have = 0;
  while (have < count) {
    const ssize_t n = read(file.fd, bytes->data() + have, count - have);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return io_error(path);
    if (n == 0) break;
    have += static_cast<size_t>(n);
  }
  bytes->resize(have);
  return {};
}

Status write_file(const std::string& path, const void* data, size_t bytes) {
  struct stat info;
  if (stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode)) {
    const File file(open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (file.fd < 0) return io_error(path);
    return write_all(file.fd, data, bytes, path);
  }
  std::string temporary = path + ".XXXXXX";
  const File file(mkostemp(temporary.data(), O_CLOEXEC));
  if (file.fd < 0) return io_error(path);
  const mode_t mask = umask(0);
  umask(mask);
  Status status = write_all(file.fd, data, bytes, path);
  if (status.ok() && (fchmod(file.fd, 0666 & ~mask) != 0 || fsync(file.fd) != 0 ||
                      rename(temporary.c_str(), path.c_str()) != 0))
    status = io_error(path);
  if (!status.ok()) unlink(temporary.c_str());
  return status;
}

}  // namespace qrt::tool
