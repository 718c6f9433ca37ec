// The tools' system on Linux, macOS and other POSIX systems.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/platform/tools.h"

namespace qrt::platform {

int open_to_read(const std::string& path) { return open(path.c_str(), O_RDONLY | O_CLOEXEC); }
int open_to_write(const std::string& path) { return open(path.c_str(), O_WRONLY | O_CLOEXEC); }

Replacement::Replacement(const std::string& path)
    : path_(path), temporary_(path + ".XXXXXX"), fd_(mkostemp(temporary_.data(), O_CLOEXEC)) {}

Replacement::~Replacement() {
  if (fd_ < 0) return;
  if (!is_published_) unlink(temporary_.c_str());
  close(fd_);
}

bool Replacement::publish() {
  const mode_t mask = umask(0);
  umask(mask);
  is_published_ = fchmod(fd_, 0666 & ~mask) == 0 && fsync(fd_) == 0 &&
                  rename(temporary_.c_str(), path_.c_str()) == 0;
  return is_published_;
}

// Folders that only let files be made, and file systems that sync no folders, have to do without.
bool sync_folder(const std::string& folder) {
  const int fd = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return true;
  const bool ok = fsync(fd) == 0 || errno == EINVAL;
  const int why = errno;
  close(fd);
  errno = why;
  return ok;
}

bool is_same_file(const std::string& a, const std::string& b) {
  struct stat x, y;
  return stat(a.c_str(), &x) == 0 && stat(b.c_str(), &y) == 0 && x.st_dev == y.st_dev &&
         x.st_ino == y.st_ino;
}

bool is_descriptor(const std::string& path) {
  struct stat proc, info;
  if (lstat("/proc/self", &proc) != 0) return false;
  std::string name = path;
  constexpr int kMostLinks = 40;
  for (int i = 0; i < kMostLinks; ++i) {
    if (lstat(name.c_str(), &info) != 0 || !S_ISLNK(info.st_mode)) return false;
    if (info.st_dev == proc.st_dev) return true;
    char target[4096];
    const ssize_t n = readlink(name.c_str(), target, sizeof target);
    if (n <= 0) return false;
    const std::string folder = target[0] == '/' ? "" : name.substr(0, name.rfind('/') + 1);
    name = folder + std::string(target, static_cast<size_t>(n));
  }
  return false;
}

bool make_folder(const std::string& path) {
  return mkdir(path.c_str(), 0777) == 0 || errno == EEXIST;
}

const char* program_name() {
#if defined(__GLIBC__)
  return program_invocation_short_name;
#else
  return getprogname();
#endif
}

void make_streams_binary() {}

bool is_error_output_terminal() { return isatty(STDERR_FILENO) != 0; }

size_t terminal_columns() {
  winsize size{};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

}  // namespace qrt::platform
