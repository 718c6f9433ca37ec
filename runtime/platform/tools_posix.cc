// SPDX-License-Identifier: Apache-2.0
// The tools' system on Linux, macOS and other POSIX systems.
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#if defined(__GLIBC__)
#include <execinfo.h>
#endif
#if defined(__APPLE__)
#include <mach-o/dyld.h>
#endif
#if defined(__linux__)
#include <sys/auxv.h>
#endif

#include <algorithm>

#include "runtime/platform/tools.h"

namespace qrt::platform {

void prepare_exceptions() {
#if defined(__GLIBC__)
  void* frame;
  backtrace(&frame, 1);
#endif
}

int open_to_read(const std::string& path) { return open(path.c_str(), O_RDONLY | O_CLOEXEC); }
int open_to_write(const std::string& path) { return open(path.c_str(), O_WRONLY | O_CLOEXEC); }

std::string descriptor_path(int fd) {
  const std::string path = "/proc/self/fd/" + std::to_string(fd);
  return access(path.c_str(), F_OK) == 0 ? path : "";
}

namespace {

std::string folder_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash + 1);
}

#if defined(O_TMPFILE)
// Opens a file without a name, to be named later. Negative where the file system has no such files,
// or where /proc, through which they are named, is not mounted.
int open_nameless(const std::string& folder) {
  const int fd = open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
  if (fd < 0 || !descriptor_path(fd).empty()) return fd;
  close(fd);
  return -1;
}

bool give_name(int fd, const std::string& name) {
  return linkat(AT_FDCWD, descriptor_path(fd).c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) ==
         0;
}
#else
int open_nameless(const std::string&) { return -1; }
bool give_name(int, const std::string&) { return false; }
#endif

// Makes a nameless file the one called `path`.
bool take_place(int fd, const std::string& path) {
  if (give_name(fd, path)) return true;
  // A link replaces no other file, so the file gets a temporary name of its own first.
  constexpr int kMostTries = 1000;
  for (int i = 0; errno == EEXIST && i < kMostTries; ++i) {
    const std::string name = path + "." + std::to_string(getpid()) + "-" + std::to_string(i);
    if (!give_name(fd, name)) continue;
    if (rename(name.c_str(), path.c_str()) == 0) return true;
    const int why = errno;
    unlink(name.c_str());
    errno = why;
    return false;
  }
  return false;
}

// Signals wait until this object ends.
class SignalsHeld {
 public:
  SignalsHeld() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsHeld() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsHeld(const SignalsHeld&) = delete;
  SignalsHeld& operator=(const SignalsHeld&) = delete;

 private:
  sigset_t before_;
};

}  // namespace

Replacement::Replacement(const std::string& path)
    : path_(path), fd_(open_nameless(folder_of(path))) {
  if (fd_ >= 0) return;
  temporary_ = path + ".XXXXXX";
  fd_ = mkostemp(temporary_.data(), O_CLOEXEC);
  if (fd_ < 0) temporary_.clear();
}

Replacement::~Replacement() {
  if (fd_ < 0) return;
  if (!is_published_ && !temporary_.empty()) unlink(temporary_.c_str());
  close(fd_);
}

bool Replacement::publish() {
  const mode_t mask = umask(0);
  umask(mask);
  if (fchmod(fd_, 0666 & ~mask) != 0 || fsync(fd_) != 0) return false;
  const SignalsHeld held;
  is_published_ =
      temporary_.empty() ? take_place(fd_, path_) : rename(temporary_.c_str(), path_.c_str()) == 0;
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

std::string program_folder() {
  std::vector<char> path(1 << 16);
#if defined(__APPLE__)
  uint32_t bytes = static_cast<uint32_t>(path.size());
  if (_NSGetExecutablePath(path.data(), &bytes) != 0) return ".";
  const std::string name = path.data();
#else
  const ssize_t n = readlink("/proc/self/exe", path.data(), path.size());
  std::string name(path.data(), static_cast<size_t>(std::max<ssize_t>(n, 0)));
#if defined(__linux__)
  // Without /proc, as in a new chroot: the name that the kernel was given, which may be a link's.
  if (const unsigned long given = getauxval(AT_EXECFN); n <= 0 && given != 0)
    name = reinterpret_cast<const char*>(given);
#endif
#endif
  const size_t slash = name.rfind('/');
  return slash == std::string::npos ? "." : name.substr(0, slash);
}

int run_program(const std::string& path, const std::vector<std::string>& arguments) {
  std::vector<char*> words = {const_cast<char*>(path.c_str())};
  for (const std::string& argument : arguments)
    words.push_back(const_cast<char*>(argument.c_str()));
  words.push_back(nullptr);
  return execv(path.c_str(), words.data());
}

void make_streams_binary() {}

bool is_error_output_terminal() { return isatty(STDERR_FILENO) != 0; }

size_t terminal_columns() {
  winsize size{};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

}  // namespace qrt::platform
